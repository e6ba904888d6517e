#include "compiler/emit/math/vector_math.hpp"

#include "compiler/algebra/transform.hpp"
#include "compiler/emit/text/fill.hpp"

namespace vphi::emit {
namespace {

using algebra::Op;

const char* name_of(Op op) {
  switch (op) {
    case Op::Tanh:
      return "tanh";
    case Op::Sinh:
      return "sinh";
    case Op::Cosh:
      return "cosh";
    case Op::Tan:
      return "tan";
    case Op::Atan:
      return "atan";
    case Op::Atan2:
      return "atan2";
    case Op::Asin:
      return "asin";
    case Op::Acos:
      return "acos";
    case Op::Asinh:
      return "asinh";
    case Op::Acosh:
      return "acosh";
    case Op::Atanh:
      return "atanh";
    case Op::Erf:
      return "erf";
    default:
      return nullptr;
  }
}

bool has_one(algebra::Expr value) {
  return algebra::contains(value, [](algebra::Expr e) { return name_of(e.op()) != nullptr; });
}

}  // namespace

std::string vector_function(Op op, Precision precision) {
  const char* name = name_of(op);
  if (name == nullptr) return {};
  return std::string("vphi_") + name + (precision == Precision::F32 ? "_f32" : "_f64");
}

Code vector_functions_for(const kernel::Kernel& kernel, const Dialect& dialect) {
  if (!dialect.can.vector_functions) return {};
  bool any = false;
  for (const algebra::Expr value : kernel.values()) any = any || has_one(value);
  for (const kernel::ScalarAssign& assign : kernel.epilogue) any = any || has_one(assign.value);
  return any ? fill("vector_math.txt", {}) : Code();
}

}  // namespace vphi::emit
