#include "compiler/model/recovery_equations.hpp"

#include <algorithm>
#include <optional>

namespace vphi::physics {

using algebra::Op;

namespace {

/// The array of `arrays` that an expression is a sum with: x - g(x) is one of x.
std::optional<int> summed(Expr e, const std::vector<int>& arrays) {
  if (!e.is(Op::Add)) return std::nullopt;
  for (const Expr& part : e.args())
    if (part.is(Op::Load) && std::ranges::find(arrays, part->index) != arrays.end())
      return part->index;
  return std::nullopt;
}

/// Takes the largest |x - g(x)| apart.
void take_apart(Expr residual, const std::vector<int>& arrays,
                std::vector<std::pair<int, Expr>>& to) {
  if (residual.is(Op::Max)) {
    for (const Expr& part : residual.args()) take_apart(part, arrays, to);
  } else if (residual.is(Op::Abs)) {
    if (const auto array = summed(residual.arg(0), arrays))
      to.emplace_back(*array, residual.arg(0));
  }
}

}  // namespace

std::vector<std::pair<int, Expr>> equations_of(const Conservation::Solved& solved) {
  std::vector<std::pair<int, Expr>> equations;
  take_apart(solved.residual, solved.arrays, equations);
  if (equations.size() != solved.arrays.size()) equations.clear();
  return equations;
}

}  // namespace vphi::physics
