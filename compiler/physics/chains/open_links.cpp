// Links that end at the box: which paths leave it, and that what is stored beyond stays.
#include <algorithm>
#include <set>
#include <variant>

#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Op;

Expr leaves_box(const Declared& d, const StateField& field,
                const std::vector<gauge::LinkAt>& links) {
  Arena& arena = d.arena();
  std::set<std::pair<int, std::int64_t>> outside;  // axis, place of the site from which one leaves
  for (const gauge::LinkAt& link : links) {
    const int axis = link.axis;
    if (!field.walls.open[static_cast<std::size_t>(axis)]) continue;
    const std::int64_t n = d.grid.extent[static_cast<std::size_t>(axis)];
    outside.emplace(axis, (((n - 1 - link.at.d[axis]) % n) + n) % n);
  }
  Expr any;
  for (const auto& [axis, place] : outside) {
    const Expr here = arena.make(Op::Equal, {arena.site(axis), arena.integer(place)});
    any = any ? arena.make(Op::Max, {any, here}) : here;
  }
  return any;
}

Expr in_box(const Declared& d, const StateField& field, int axis, Expr value, Expr otherwise) {
  const Expr outside = leaves_box(d, field, {{axis, {}, false}});
  return outside ? d.arena().make(Op::Select, {outside, otherwise, value}) : value;
}

namespace {

class Keeper {
 public:
  Keeper(const Program& d, const StateField& field) : d_(d), field_(field) {}

  void update(Update& update) const {
    for (auto& [array, value] : update.values) {
      const int place = field_.place(array);
      if (place < 0) continue;
      const Expr outside = leaves_box(d_, field_, {{axis(place), {}, false}});
      value = in_box(d_, field_, axis(place), value, d_.arena().load(array));
      if (outside && update.accepted)
        update.accepted =
            d_.arena().make(Op::Select, {outside, d_.arena().integer(0), update.accepted});
    }
  }

  void updates(std::vector<Update>& all) const {
    for (Update& one : all) update(one);
  }

 private:
  int axis(int place) const { return place / field_.links->reals(); }
  const Program& d_;
  const StateField& field_;
};

}  // namespace

void keep_links_outside(const Program& d, System& system) {
  for (const StateField& field : d.fields) {
    if (!field.links || !field.walls.any_open()) continue;
    const Keeper keeper(d, field);
    std::visit(
        Kinds{[](const Still&) {},
              [&](const Evolution&) {
                d.fail(errors::not_yet(field.span,
                                       "links with open ends that move by an equation of motion"));
              },
              [](const FluxStep&) {}, [&](MarkovChain& chain) { keeper.updates(chain.updates); },
              [&](LinkFlow& flow) { keeper.updates(flow.moves); },
              [&](Trajectory& trajectory) {
                keeper.update(trajectory.drift);
                keeper.update(trajectory.close);
              }},
        system.dynamics);
  }
}

}  // namespace vphi::physics
