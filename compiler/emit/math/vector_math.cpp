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

}  // namespace

std::string vector_function(Op op, Precision precision) {
  const char* name = name_of(op);
  if (name == nullptr) return {};
  return std::string("vphi_") + name + (precision == Precision::F32 ? "_f32" : "_f64");
}

Code vector_functions_for(const kernel::Kernel& kernel, const Dialect& dialect) {
  if (!dialect.can.vector_functions) return {};
  std::vector<algebra::Expr> values = kernel.values();
  for (const kernel::ScalarAssign& assign : kernel.epilogue) values.push_back(assign.value);
  const bool any =
      algebra::contains(values, [](algebra::Expr e) { return name_of(e.op()) != nullptr; });
  return any ? fill("vector_math.txt", {}) : Code();
}

}  // namespace vphi::emit
