#include "compiler/physics/chains/site_action.hpp"

#include <algorithm>
#include <functional>

#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/word.hpp"
#include "compiler/physics/chains/energy_density.hpp"
#include "compiler/physics/clauses/twists.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;
using gauge::operator-;

SiteAction::SiteAction(const Motion& d, Expr density) : d_(d) {
  const Expr plain = algebra::rewrite(energy_written_out(d, density), [&](Expr node) {
    if (!node.is(Op::Stencil)) return node;
    return algebra::written_out(d.arena().stencil_data(node->index), node.arg(0), d.grid.dx);
  });
  const Expr sum = algebra::expand(plain);
  if (sum.is(Op::Add)) {
    terms_.assign(sum.args().begin(), sum.args().end());
  } else {
    terms_ = {sum};
  }
}

bool SiteAction::returns(Offset offset) const {
  const std::array<std::int64_t, 4> left = unwound(offset);
  for (std::size_t k = 0; k < 4; ++k)
    if (left[k] % d_.grid.extent[k] != 0) return false;
  return true;
}

std::array<std::int64_t, 4> SiteAction::unwound(Offset offset) const {
  std::array<std::int64_t, 4> left{};
  for (std::size_t k = 0; k < 4; ++k) left[k] = offset.d[k];
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t other = 0; other < 4; ++other)
      left[other] += left[k] / d_.grid.extent[k] * d_.grid.shift[k][other];
  return left;
}

Expr SiteAction::after(const StateField& field, int array, Offset way) const {
  Arena& arena = d_.arena();
  int sign = 1;
  std::function<Expr(int)> read = [&](int part) { return arena.load(part); };
  const std::array<std::int64_t, 4> left = unwound(way);
  for (std::size_t k = 0; k < 4; ++k) {
    const std::int64_t times = left[k] / d_.grid.extent[k];
    if (field.walls.boundary[k] == Boundary::Antiperiodic && times % 2 != 0) sign = -sign;
    if (!field.walls.twist[k] || times == 0) continue;
    read = [this, before = read, times, axis = static_cast<int>(k)](int part) {
      return turned_read(d_, part, axis, times, before);
    };
  }
  return arena.integer(sign) * read(array);
}

bool SiteAction::even(int axis) const {
  return std::ranges::all_of(terms_, [&](Expr term) {
    return algebra::expand(with_signs(d_, term, axis) - term).is_zero();
  });
}

std::vector<Offset> SiteAction::offsets(Expr term, const StateField& field) const {
  std::vector<Offset> result;
  algebra::visit(term, [&](Expr node) {
    if (!node.is(Op::Load) || field.place(node->index) < 0) return;
    const bool known = std::ranges::any_of(
        result, [&](const Offset& other) { return returns(node->offset - other); });
    if (!known) result.push_back(node->offset);
  });
  return result;
}

Expr SiteAction::at_site(const StateField& field) const {
  Arena& arena = d_.arena();
  std::vector<Expr> parts;
  for (const Expr term : terms_) {
    for (const Offset& o : offsets(term, field)) {
      const Expr here = algebra::shift(term, Offset{} - o);
      parts.push_back(algebra::rewrite(here, [&](Expr node) {
        const bool own =
            node.is(Op::Load) && field.place(node->index) >= 0 && returns(node->offset);
        return own ? after(field, node->index, node->offset) : node;
      }));
    }
  }
  if (parts.empty()) return {};
  return arena.make(Op::Add, std::move(parts));
}

std::vector<Offset> SiteAction::conflicts(const StateField& field) const {
  std::vector<Offset> result;
  for (const Expr term : terms_) {
    const std::vector<Offset> all = offsets(term, field);
    for (const Offset& a : all) {
      for (const Offset& b : all) {
        const Offset separation = b - a;
        if (!returns(separation) && std::ranges::find(result, separation) == result.end())
          result.push_back(separation);
      }
    }
  }
  return result;
}

}  // namespace vphi::physics
