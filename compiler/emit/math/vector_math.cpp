#include "compiler/emit/math/vector_math.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/algebra/transform.hpp"
#include "compiler/emit/text/fill.hpp"

namespace vphi::emit {
namespace {

using algebra::Op;

/// Those without a vector function in libmvec.
const char* name_of(Op op) {
  static constexpr std::pair<Op, const char*> kNames[] = {
      {Op::Tanh, "tanh"},   {Op::Sinh, "sinh"},   {Op::Cosh, "cosh"},   {Op::Tan, "tan"},
      {Op::Atan, "atan"},   {Op::Atan2, "atan2"}, {Op::Asin, "asin"},   {Op::Acos, "acos"},
      {Op::Asinh, "asinh"}, {Op::Acosh, "acosh"}, {Op::Atanh, "atanh"}, {Op::Erf, "erf"},
  };
  const auto row = std::ranges::find(kNames, op, &std::pair<Op, const char*>::first);
  return row == std::end(kNames) ? nullptr : row->second;
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
