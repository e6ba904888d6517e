// Links that end at the box: which paths leave it, which links stay, and that they do.
#include <algorithm>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
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

bool held_across(const StateField& field, int axis) {
  const auto k = static_cast<std::size_t>(axis);
  return field.walls.open[k] && field.walls.boundary[k] == Boundary::Fixed;
}

namespace {

/// Whether the site is in a plane that is held across another axis than `along`, or `known` is so.
Expr or_in_held_plane(const Declared& d, const StateField& field, int along, Expr known) {
  Arena& arena = d.arena();
  for (int across = 0; across < d.grid.dims; ++across) {
    if (across == along || !held_across(field, across)) continue;
    const std::int64_t last = d.grid.extent[static_cast<std::size_t>(across)] - 1;
    for (const std::int64_t plane : {std::int64_t{0}, last}) {
      const Expr here = arena.make(Op::Equal, {arena.site(across), arena.integer(plane)});
      known = known ? arena.make(Op::Max, {known, here}) : here;
    }
  }
  return known;
}

}  // namespace

Expr stays(const Declared& d, const StateField& field, int axis) {
  return or_in_held_plane(d, field, axis, leaves_box(d, field, {{axis, {}, false}}));
}

Expr in_held_plane(const Declared& d, const StateField& field) {
  return or_in_held_plane(d, field, -1, {});
}

Expr where_it_moves(const Declared& d, const StateField& field, int axis, Expr value,
                    Expr otherwise) {
  const Expr at_rest = stays(d, field, axis);
  return at_rest ? d.arena().make(Op::Select, {at_rest, otherwise, value}) : value;
}

Expr of_moving(const Declared& d, const StateField& field, int axis, Expr rate) {
  bool any = false;
  for (int across = 0; across < d.grid.dims; ++across) any = any || held_across(field, across);
  if (!any) return rate;
  return where_it_moves(d, field, axis, rate, d.arena().integer(0));
}

std::int64_t moving_links(const Declared& d, const StateField& field, int axis) {
  std::int64_t count = 1;
  for (int k = 0; k < d.grid.dims; ++k) {
    const auto place = static_cast<std::size_t>(k);
    const std::int64_t n = d.grid.extent[place];
    if (k == axis)
      count *= n - (field.walls.open[place] ? 1 : 0);
    else
      count *= held_across(field, k) ? std::max<std::int64_t>(n - 2, 0) : n;
  }
  return count;
}

namespace {

class Keeper {
 public:
  Keeper(const Program& d, const StateField& field) : d_(d), field_(field) {}

  void update(Update& update) const {
    for (auto& [array, value] : update.values) {
      const int place = field_.place(array);
      if (place < 0) continue;
      value = where_it_moves(d_, field_, axis(place), value, d_.arena().load(array));
      if (update.accepted)
        update.accepted =
            where_it_moves(d_, field_, axis(place), update.accepted, d_.arena().integer(0));
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

/// Forces are 0 on links outside of the box, and rates on links that are held are left out where
/// they are made (of_moving). No field is read across an end.
void check_ends_in_time(const Program& d, const StateField& links) {
  if (!d.hamiltonian)
    d.fail(errors::not_yet(links.span, "links with open ends that move without a written H"));
  for (const StateField& other : d.fields)
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(d.grid.dims); ++axis) {
      if (!links.walls.open[axis] || other.links || other.link) continue;
      if (other.walls.boundary[axis] != Boundary::Periodic || other.walls.twist[axis])
        d.fail(errors::not_yet(
            other.span, fmt::format("a boundary of `{}` along {} beside links that end there",
                                    other.name, algebra::kAxisNames[axis])));
    }
}

}  // namespace

void keep_links_that_stay(const Program& d, System& system) {
  for (const StateField& field : d.fields) {
    if (!field.links || !field.walls.any_open()) continue;
    const Keeper keeper(d, field);
    std::visit(
        Kinds{[](const Still&) {}, [&](const Evolution&) { check_ends_in_time(d, field); },
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
