#include "compiler/physics/lower/sample.hpp"

#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/lower/mixed_bits.hpp"

namespace vphi::physics {

using algebra::Arena;
using algebra::Expr;

double sample_number(std::initializer_list<std::int64_t> key, std::string_view name) {
  std::uint64_t mixed = 0;
  const auto mix = [&](auto part) { mixed = mixed_bits(mixed ^ static_cast<std::uint64_t>(part)); };
  for (const std::int64_t part : key) mix(part);
  for (const char letter : name) mix(letter);
  return static_cast<double>(mixed >> 11U) * 0x1p-53 + 0.25;
}

Expr without_stencils(Expr e) {
  const auto is_stencil = [](Expr node) { return node.is(algebra::Op::Stencil); };
  if (!algebra::contains(e, is_stencil)) return e;
  return algebra::rewrite(e, [](Expr node) {
    if (!node.is(algebra::Op::Stencil)) return node;
    Arena& arena = *node->arena;
    return algebra::written_out(arena.stencil_data(node->index), node.arg(0), arena.symbol("dx"));
  });
}

}  // namespace vphi::physics
