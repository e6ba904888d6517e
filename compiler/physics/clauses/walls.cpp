// What reads beyond the edges of the box give, for each field.
//
// A kernel applies one boundary rule to each edge. Where all arrays read across an edge have the
// same walls, that is the kernel's rule. Where they differ, the kernel's rule is periodic, and a
// read is written out as a choice by the coordinate of the site: a value, a sign, or the mirror
// site.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/box_errors.hpp"
#include "compiler/physics/clauses/end_sums.hpp"
#include "compiler/physics/clauses/system_expressions.hpp"
#include "compiler/physics/clauses/twists.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/lower/turns.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/checks.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;

namespace {

std::size_t place(int axis) { return static_cast<std::size_t>(axis); }

bool same(const Walls& a, const Walls& b, int axis) {
  const std::size_t k = place(axis);
  return a.boundary[k] == b.boundary[k] &&
         (a.boundary[k] != Boundary::Fixed || a.fixed_value[k] == b.fixed_value[k]);
}

/// Whether reads of the field follow its walls. Signs of spinors and reads of links are handled
/// elsewhere.
}  // namespace

bool Walls::any_open() const { return std::ranges::any_of(open, std::identity{}); }

bool Walls::shifted(int axis) const {
  return std::ranges::any_of(shift[place(axis)], [](std::int64_t sites) { return sites != 0; });
}

bool Walls::shifted() const { return shifted(0) || shifted(1) || shifted(2) || shifted(3); }

bool Walls::by_parts(int dims) const {
  for (int axis = 0; axis < dims; ++axis) {
    const Boundary b = boundary[place(axis)];
    const bool wall_at_zero = b == Boundary::Fixed && fixed_value[place(axis)] == 0;
    if (b != Boundary::Periodic && b != Boundary::Antiperiodic && !wall_at_zero) return false;
  }
  return true;
}

bool Walls::closed(int dims) const {
  return std::all_of(boundary.begin(), boundary.begin() + dims, [](Boundary b) {
    return b == Boundary::Periodic || b == Boundary::Antiperiodic;
  });
}

bool Walls::periodic(int dims) const {
  return !twisted(*this) && !shifted() &&
         std::all_of(boundary.begin(), boundary.begin() + dims,
                     [](Boundary b) { return b == Boundary::Periodic; });
}

Walls Declared::walls_of(int array) const {
  if (is_gradient(array)) array -= kGradientBase;
  for (const Companions& c : collected.companions)
    if (c.start == array || c.winding == array) array = c.array;
  const StateField* field = field_of(array);
  if (!field || !has_walls(*field)) return grid;
  Walls walls = field->walls;
  // what is fixed does not move
  if (std::ranges::count(field->velocities, array) > 0) walls.fixed_value = {};
  return walls;
}

bool Declared::periodic() const {
  return grid.periodic(grid.dims) && std::ranges::all_of(fields, [&](const StateField& f) {
           return !has_walls(f) || f.walls.periodic(grid.dims);
         });
}

void check_coupled_walls(const Declared& d, Expr density, dsl::Span span) {
  check_twists(d, density, span, true);
  check_end_sums(d, density, span);
  const auto differs = [&](int axis) {
    return std::ranges::any_of(d.fields, [&](const StateField& f) {
      return !same(d.walls_of(f.arrays[0]), d.walls_of(d.fields[0].arrays[0]), axis);
    });
  };
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    if (!differs(axis)) continue;
    for (const Expr term : flat_terms(density)) {
      std::set<int> arrays;
      bool across = false;
      algebra::visit(term, [&](Expr node) {
        if (node.is(Op::Stencil)) across = true;
        if (!node.is(Op::Load)) return;
        across = across || is_gradient(node->index) || node->offset.d[axis] != 0;
        arrays.insert(is_gradient(node->index) ? node->index - kGradientBase : node->index);
      });
      if (!across) continue;
      const StateField* first = nullptr;
      for (const int array : arrays) {
        const StateField* field = d.field_of(array);
        if (!field) continue;
        if (!first) first = field;
        if (!same(d.walls_of(first->arrays[0]), d.walls_of(field->arrays[0]), axis))
          d.fail(errors::walls_differ(span, first->name, field->name, algebra::kAxisNames[axis],
                                      field->span));
      }
    }
  }
}

void for_each_expression(System& system, const std::function<void(Expr&)>& see) {
  const auto one = [&](Expr& e) {
    if (e) see(e);
  };
  const auto observable = [&](Observable& o) {
    one(o.value), one(o.error), one(o.factor), one(o.mass2);
    for (Observable::Part& part : o.more) one(part.value);
  };
  const auto map = [&](LinearMap& m) {
    for (LinearMap::Stage& stage : m.stages) std::ranges::for_each(stage.values, one);
    std::ranges::for_each(m.image, one);
  };
  for (Variable& v : system.variables) one(v.rate);
  for (Derived& limit : system.limits) one(limit.value);
  for (ScalarVariable& s : system.scalars) one(s.rate), one(s.initial);
  for (Statistic& s : system.statistics) one(s.value);
  for (FirstPassage& f : system.passages) one(f.value), one(f.condition), one(f.margin);
  for (InitialValue& v : system.initial) one(v.value);
  for (Projection& p : system.projections) std::ranges::for_each(p.values, one);
  for (LinearSystem& s : system.solves) {
    map(s.op), map(s.adjoint);
    std::ranges::for_each(s.source, one);
    for (auto& [name, value] : s.options) one(value);
    if (s.even_odd)
      map(s.even_odd->op), map(s.even_odd->adjoint), map(s.even_odd->source), map(s.even_odd->back);
  }
  if (auto& law = system.gauss_projection) {
    one(law->size);
    for (auto& [array, change] : law->change) one(change);
  }
  for (OutputClause& out : system.outputs) {
    one(out.after), one(out.averages_from);
    std::ranges::for_each(out.observables, observable);
  }
  for (Expectation& x : system.expectations) one(x.value), one(x.ok), one(x.scale);
  std::ranges::for_each(system.progress, observable);
  one(system.averages_from), one(system.until), one(system.friedmann);
  for_each_expression(system.dynamics, one);
}

namespace {

class Settle {
 public:
  Settle(const Program& d, ProgramUnits& units, System& system)
      : d_(d), units_(units), system_(system) {}

  void run() {
    if (d_.grid.shifted()) check_shifted();
    check_sources();
    std::map<int, std::array<bool, 4>> read = read_across();
    Lattice& lattice = system_.lattice;
    std::vector<int> own;  // axes along which kernels go around the box
    Expr outside;          // kernels have one value for all their fixed walls
    for (const int axis : shifted_first()) {
      std::vector<int> arrays;
      for (const auto& [array, axes] : read)
        if (axes[place(axis)]) arrays.push_back(array);
      const Boundary first = arrays.empty() ? d_.grid.boundary[place(axis)]
                                            : d_.walls_of(arrays[0]).boundary[place(axis)];
      bool common = std::ranges::none_of(arrays, [&](int array) {
        return static_cast<bool>(d_.walls_of(array).twist[place(axis)]);
      });
      turns_ = turns_ || !common;
      common = common && (arrays.empty() || !in_a_shift(axis, first));
      Expr value = outside;
      for (const int array : arrays) {
        common = common && d_.walls_of(array).boundary[place(axis)] == first;
        if (!common || first != Boundary::Fixed) continue;
        const Expr here = value_at(array, axis);
        if (!value) value = here;
        common = here.is_number() && here == value;
      }
      lattice.boundary[place(axis)] = common ? first : Boundary::Periodic;
      if (common)
        outside = value;
      else
        own.push_back(axis);
    }
    if (outside) lattice.fixed_value = static_cast<double>(outside->number.real);
    if (own.empty()) return;
    if (const LinearSystem* solve = solved_in_a_run())
      d_.fail(errors::not_yet(
          solve->span, turns_
                           ? "a linear system beside neighbours across a twisted boundary"
                           : "a linear system in a box whose fields differ in their boundaries"));
    if (system_.conservation)
      d_.fail(errors::not_yet(d_.grid.span, "these boundaries beside conservation laws"));
    own_ = own;
    for_each_expression(system_, [&](Expr& e) { e = rewritten(e); });
  }

 private:
  /// The solution of a linear system of numbers at sites has the boundary of the lattice, which its
  /// source then has too.
  void check_sources() {
    for (const LinearSystem& solve : system_.solves)
      algebra::visit(solve.source, [&](Expr, Expr node) {
        const StateField* field = node.is(Op::Load) ? d_.field_of(node->index) : nullptr;
        if (!field || !has_walls(*field)) return;
        for (int axis = 0; axis < d_.grid.dims; ++axis)
          if (!same(field->walls, d_.grid, axis) || field->walls.twist[place(axis)])
            d_.fail(errors::not_yet(
                solve.span, fmt::format("a linear system of `{}`, whose boundary along {} is not "
                                        "that of the lattice",
                                        field->name, algebra::kAxisNames[axis])));
      });
  }

  /// A linear system other than that of a start, whose numbers have the ends of the lattice.
  const LinearSystem* solved_in_a_run() const {
    const auto found =
        std::ranges::find_if(system_.solves, [](const LinearSystem& s) { return !s.at_start; });
    return found == system_.solves.end() ? nullptr : &*found;
  }

  /// What reads neighbours by itself knows no shifted ends.
  void check_shifted() {
    const auto refuse = [&](dsl::Span span, const std::string& what) {
      d_.fail(errors::shifted_box(span, what, d_.grid.span));
    };
    if (system_.conservation) refuse(d_.grid.span, "conservation laws");
    if (const LinearSystem* solve = solved_in_a_run()) refuse(solve->span, "a linear system");
    std::vector<Expr> all;
    for_each_expression(system_, [&](Expr& e) { all.push_back(e); });
    algebra::visit(all, [&](Expr, Expr node) {
      const bool random = node.is(Op::Noise) || node.is(Op::Normal) || node.is(Op::Uniform);
      if (random && !node->offset.zero())
        refuse(node->span.empty() ? d_.grid.span : node->span, "random numbers of neighbours");
    });
  }

  /// Array -> axes along which it is read at a neighbour.
  std::map<int, std::array<bool, 4>> read_across() {
    std::map<int, std::array<bool, 4>> read;
    const auto see = [&](int array, const Offset& offset) {
      for (int axis = 0; axis < d_.grid.dims; ++axis) {
        if (offset.d[axis] == 0) continue;
        read[array][place(axis)] = true;
        for (int other = 0; other < d_.grid.dims; ++other)
          if (d_.grid.shift[place(axis)][place(other)] != 0) read[array][place(other)] = true;
      }
    };
    std::vector<Expr> all;
    for_each_expression(system_, [&](Expr& e) { all.push_back(e); });
    algebra::visit(all, [&](Expr, Expr node) {
      if (node.is(Op::Load)) see(node->index, node->offset);
      if (!node.is(Op::Stencil) || !node.arg(0).is(Op::Load)) return;
      for (const Offset& offset : d_.arena().stencil_data(node->index).offsets)
        see(node.arg(0)->index, algebra::sum_of(offset, node.arg(0)->offset));
    });
    return read;
  }

  /// The axes in the order in which their ends are applied: a shift moves on along another axis.
  std::vector<int> shifted_first() const {
    std::vector<int> axes;
    for (const bool shifted : {true, false})
      for (int axis = 0; axis < d_.grid.dims; ++axis)
        if (d_.grid.shifted(axis) == shifted) axes.push_back(axis);
    return axes;
  }

  /// Whether the end of this axis is written out because of a shift: its own, or one along it that
  /// may cross an end with a sign.
  bool in_a_shift(int axis, Boundary end) const {
    return d_.grid.shifted(axis) ||
           (end != Boundary::Periodic && std::ranges::any_of(d_.grid.shift, [&](const auto& along) {
              return along[place(axis)] != 0;
            }));
  }

  /// The fixed value beyond a wall, converted to what the array stores.
  Expr value_at(int array, int axis) {
    const double value = d_.walls_of(array).fixed_value[place(axis)];
    Expr& known = values_[{array, axis}];
    if (known) return known;
    Arena& arena = d_.arena();
    const Expr physical = arena.real(value);
    known = d_.field_of(array) && value != 0 ? units_.stored(array, physical) : physical;
    return known;
  }

  Expr rewritten(Expr e) {
    Arena& arena = d_.arena();
    return algebra::rewrite(e, [&](Expr node) -> Expr {
      if (node.is(Op::Load) && !node->offset.zero()) return read(node->index, node->offset, 0);
      if (!node.is(Op::Stencil)) return node;
      // its argument lies at the site itself, so the rule above has left it alone
      const Expr u = node.arg(0);
      const auto& data = arena.stencil_data(node->index);
      const Walls walls = d_.walls_of(u->index);
      const bool as_kernels = std::ranges::none_of(own_, [&](int axis) {
        return (walls.boundary[place(axis)] != Boundary::Periodic || walls.twist[place(axis)] ||
                walls.shifted(axis)) &&
               std::ranges::any_of(data.offsets,
                                   [&](const Offset& offset) { return offset.d[axis] != 0; });
      });
      if (as_kernels) return node;
      std::vector<Expr> terms;
      for (std::size_t i = 0; i < data.offsets.size(); ++i)
        terms.push_back(arena.integer(data.weights[i]) * read(u->index, data.offsets[i], 0));
      const Expr factor =
          arena.rational(1, data.denominator) * algebra::pow(units_.spacing(), data.dx_power);
      return distribute(factor, arena.make(Op::Add, std::move(terms), node->span));
    });
  }

  /// The array read at `offset`, with its walls applied along the axes from `own_[next]` on.
  Expr read(int array, Offset offset, std::size_t next) {
    if (next == own_.size()) return d_.arena().load(array, shortest(offset));
    const int axis = own_[next], step = offset.d[axis];
    if (step == 0) return read(array, offset, next + 1);
    if (d_.grid.shifted(axis)) return shifted_read(array, offset, next);
    if (d_.walls_of(array).twist[place(axis)]) return twisted_read(array, offset, next);
    switch (d_.walls_of(array).boundary[place(axis)]) {
      case Boundary::Antiperiodic:
        return antiperiodic_read(array, offset, next);
      case Boundary::Fixed:
        return at_inside(axis, step, read(array, offset, next + 1), value_at(array, axis));
      case Boundary::Neumann:  // the mirror is the face behind the last site
        return shown(array, offset, next, [&](int behind) { return 2 * behind + 1; });
      case Boundary::Outflow:
        return shown(array, offset, next, [&](int behind) { return behind + 1; });
      case Boundary::Periodic:
      case Boundary::Absorbing:
        break;
    }
    return read(array, offset, next + 1);
  }

  /// Whether the site `step` further on is one of the box.
  Expr at_inside(int axis, int step, Expr inside, Expr outside) {
    Arena& arena = d_.arena();
    const Expr n = arena.integer(d_.grid.extent[place(axis)] - step), site = arena.site(axis);
    const Expr test = step > 0 ? arena.make(Op::Less, {site, n})
                               : arena.make(Op::LessEqual, {arena.integer(-step), site});
    return arena.make(Op::Select, {test, inside, outside});
  }

  /// The read times -1 for each turn around the box.
  Expr antiperiodic_read(int array, const Offset& offset, std::size_t next) {
    const int axis = own_[next];
    const std::int64_t n = d_.grid.extent[place(axis)];
    const auto [times, rest] = turns_of(offset.d[axis], n);
    const std::int64_t here = times % 2 == 0 ? 1 : -1;
    Arena& arena = d_.arena();
    const Expr inside = arena.make(Op::Less, {arena.site(axis), arena.integer(n - rest)});
    const Expr sign = arena.make(Op::Select, {inside, arena.integer(here), arena.integer(-here)});
    return sign * read(array, offset, next + 1);
  }

  /// The read as many shifts further along the other axes as the end is crossed.
  Expr shifted_read(int array, const Offset& offset, std::size_t next) {
    const int axis = own_[next];
    const std::int64_t n = d_.grid.extent[place(axis)];
    const auto [times, rest] = turns_of(offset.d[axis], n);
    const auto after = [&](std::int64_t crossings) {
      constexpr std::int64_t kFarthest = std::numeric_limits<std::int16_t>::max();
      Offset moved = offset;
      for (int other = 0; other < d_.grid.dims; ++other) {
        const std::int64_t sites =
            offset.d[other] + crossings * d_.grid.shift[place(axis)][place(other)];
        if (std::abs(sites) > kFarthest) d_.fail(errors::shift_too_far(d_.grid.span, kFarthest));
        moved.d[other] = static_cast<std::int16_t>(sites);
      }
      return read(array, moved, next + 1);
    };
    if (rest == 0) return after(times);
    Arena& arena = d_.arena();
    const Expr inside = arena.make(Op::Less, {arena.site(axis), arena.integer(n - rest)});
    return arena.make(Op::Select, {inside, after(times), after(times + 1)});
  }

  /// The same site by the shortest way along axes that a shift moves along.
  Offset shortest(Offset offset) const {
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      const bool moved = std::ranges::any_of(
          d_.grid.shift, [&](const auto& along) { return along[place(axis)] != 0; });
      if (!moved) continue;
      const std::int64_t n = d_.grid.extent[place(axis)];
      const std::int64_t rest = turns_of(offset.d[axis], n).rest;
      offset.d[axis] = static_cast<std::int16_t>(2 * rest > n ? rest - n : rest);
    }
    return offset;
  }

  /// The read with the phase of each crossing of the end.
  Expr twisted_read(int array, const Offset& offset, std::size_t next) {
    const int axis = own_[next];
    const std::int64_t n = d_.grid.extent[place(axis)];
    const auto [times, rest] = turns_of(offset.d[axis], n);
    const auto after = [&](std::int64_t crossings) {
      return turned_read(d_, array, axis, crossings,
                         [&](int part) { return read(part, offset, next + 1); });
    };
    if (rest == 0) return after(times);
    Arena& arena = d_.arena();
    const Expr inside = arena.make(Op::Less, {arena.site(axis), arena.integer(n - rest)});
    return arena.make(Op::Select, {inside, after(times), after(times + 1)});
  }

  /// A read b sites beyond a wall (0: the first site beyond) takes the site `back(b)` before the
  /// wall.
  Expr shown(int array, const Offset& offset, std::size_t next,
             const std::function<int(int)>& back) {
    Arena& arena = d_.arena();
    const int axis = own_[next], step = offset.d[axis], far = std::abs(step);
    const std::int64_t n = d_.grid.extent[place(axis)];
    Expr result = read(array, offset, next + 1);
    for (int site = 0; site < far && site < n; ++site) {  // counted from the wall
      Offset image = offset;
      const int distance = far - back(far - 1 - site);
      image.d[axis] = static_cast<std::int16_t>(step > 0 ? distance : -distance);
      const Expr here =
          arena.make(Op::Equal, {arena.site(axis), arena.integer(step > 0 ? n - 1 - site : site)});
      result = arena.make(Op::Select, {here, read(array, image, next + 1), result});
    }
    return result;
  }

  const Program& d_;
  ProgramUnits& units_;
  System& system_;
  std::vector<int> own_;
  bool turns_ = false;  ///< a field is read across a twisted boundary
  std::map<std::pair<int, int>, Expr> values_;
};

}  // namespace

void settle_walls(const Program& d, ProgramUnits& units, System& system) {
  if (d.grid.present) Settle(d, units, system).run();
}

}  // namespace vphi::physics
