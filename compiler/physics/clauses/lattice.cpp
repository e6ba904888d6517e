// The lattice clause: shape, spacing, boundaries.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/physics/clauses/box_errors.hpp"
#include "compiler/physics/clauses/stop_criteria.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/setting.hpp"
#include "dsl/syntax/parse.hpp"

namespace vphi::physics {

using dsl::ExprKind;
using dsl::Item;

std::int64_t Grid::sites() const { return extent[0] * extent[1] * extent[2] * extent[3]; }

namespace {

constexpr std::int64_t kMostSites = std::int64_t{1} << 40;
/// Neighbours are that far away at most.
constexpr std::int64_t kFarthestShift = std::numeric_limits<std::int16_t>::max();

bool closes(Boundary b) { return b == Boundary::Periodic || b == Boundary::Antiperiodic; }

/// Reads `24^3 * 48`, `n^2`, `[64, 32]` or `800` as written (docs/rules.md rule 8).
void read_shape(const Setting& d, Lowerer& lower, const dsl::Expr& e,
                std::vector<std::int64_t>& out) {
  if (e.kind == ExprKind::List) {
    for (const dsl::ExprPtr& arg : e.args)
      out.push_back(lower.fixed_integer(*arg, "the number of sites"));
    return;
  }
  if (e.kind == ExprKind::Binary && e.text == "*") {
    read_shape(d, lower, *e.args[0], out);
    read_shape(d, lower, *e.args[1], out);
    return;
  }
  if (e.kind == ExprKind::Binary && e.text == "^") {
    const auto n = lower.fixed_integer(*e.args[0], "the number of sites");
    const auto times = lower.fixed_integer(*e.args[1], "the number of dimensions");
    if (times < 1 || times > 4) {
      d.fail(errors::lattice_shape(e.span, fmt::format("{} dimensions", times)));
    }
    out.insert(out.end(), static_cast<std::size_t>(times), n);
    return;
  }
  out.push_back(lower.fixed_integer(e, "the number of sites"));
}

/// The angle of `twisted(angle)`: numbers and swept values.
Expr read_twist(const Setting& d, Lowerer& lower, const dsl::Expr& e) {
  if (e.kind != ExprKind::Call || e.args.size() != 1 || !e.named.empty())
    d.fail(errors::option_value(e.span, "boundary",
                                "twisted(angle), the phase beyond the last site in radians"));
  const Expr angle = lower.real(*e.args[0], "the angle of a twist");
  if (known_per_instance(d, angle)) return angle;
  return lower.fixed(*e.args[0], "the angle of a twist");
}

/// `shifted(x = 3, y = -1)`: sites further along other axes beyond the last site of this one.
std::array<std::int64_t, 4> read_shift(const Setting& d, Lowerer& lower, const dsl::Expr& e,
                                       std::size_t own) {
  if (e.kind != ExprKind::Call || !e.args.empty() || e.named.empty())
    d.fail(errors::option_value(e.span, "boundary",
                                "shifted(x = n): n sites further along x beyond the last site"));
  std::array<std::int64_t, 4> shift{};
  for (const dsl::NamedArgument& along : e.named) {
    const auto named = std::ranges::find(algebra::kAxisNames, along.name);
    const auto axis = static_cast<std::size_t>(named - std::begin(algebra::kAxisNames));
    if (axis >= static_cast<std::size_t>(d.grid.dims) || axis == own)
      d.fail(errors::shift_along(along.span, along.name, algebra::kAxisNames[own]));
    shift[axis] = lower.fixed_integer(*along.value, "a shift");
    if (std::abs(shift[axis]) > kFarthestShift)
      d.fail(errors::shift_too_far(along.value->span, kFarthestShift));
  }
  return shift;
}

Boundary read_boundary(const Setting& d, Lowerer& lower, const dsl::Expr& e, std::size_t axis,
                       Walls& walls) {
  walls.fixed_value[axis] = 0;
  walls.twist[axis] = {};
  walls.shift[axis] = {};
  walls.open[axis] = false;
  const bool one = e.text == "fixed" && e.args.size() == 1 && e.named.empty();
  const bool own_check = e.text == "twisted" || e.text == "shifted" || e.text == "absorbing";
  if (e.kind == ExprKind::Call && !one && !own_check)
    d.fail(errors::option_value(
        e.span, "boundary",
        "one value in `fixed(1)`, the field beyond the wall, and none in the others"));
  if (e.text == "periodic") return Boundary::Periodic;
  if (e.text == "antiperiodic") return Boundary::Antiperiodic;
  if (e.text == "neumann") return Boundary::Neumann;
  if (e.text == "outflow") return Boundary::Outflow;
  if (e.text == "absorbing") d.fail(errors::absorbing_boundary(e.span));
  if (e.text == "twisted") {
    walls.twist[axis] = read_twist(d, lower, e);
    return Boundary::Periodic;
  }
  if (e.text == "shifted") {
    walls.shift[axis] = read_shift(d, lower, e, axis);
    return Boundary::Periodic;
  }
  if (e.text == "fixed") {
    if (one)
      walls.fixed_value[axis] =
          static_cast<double>(lower.fixed_number(*e.args[0], "the boundary value"));
    return Boundary::Fixed;
  }
  d.fail(errors::option_value(e.span, "boundary",
                              "periodic, antiperiodic, fixed(value), neumann or outflow"));
}

/// An axis along which a shift moves on closes by itself.
void check_shifts(const Setting& d) {
  const Grid& grid = d.grid;
  for (std::size_t axis = 0; axis < 4; ++axis)
    for (std::size_t along = 0; along < 4; ++along) {
      if (grid.shift[axis][along] == 0) continue;
      if (grid.shifted(static_cast<int>(along)) || !closes(grid.boundary[along]))
        d.fail(errors::shift_meets_end(grid.span, algebra::kAxisNames[along],
                                       algebra::kAxisNames[axis]));
      d.remark(fmt::format(
          "beyond the last site along {} a row goes on at the first, {} sites "
          "further along {}",
          algebra::kAxisNames[axis], grid.shift[axis][along], algebra::kAxisNames[along]));
    }
}

/// Ends of one field, in a lattice with shifts: those of the lattice, or a sign or a phase along an
/// axis that a shift moves along.
void check_own_end(const Setting& d, const dsl::Expr& e, std::size_t axis, Boundary boundary) {
  const char* name = algebra::kAxisNames[axis];
  if (d.grid.shifted(static_cast<int>(axis))) d.fail(errors::own_end_of_shift(e.span, name));
  for (std::size_t shifted = 0; shifted < 4; ++shifted)
    if (d.grid.shift[shifted][axis] != 0 && !closes(boundary))
      d.fail(errors::shift_meets_end(e.span, name, algebra::kAxisNames[shifted]));
}

/// Of links, whose words are checked by dsl/words/clauses.cpp: they go around, or end at the box.
/// `Fixed` are those of which some stay (compiler/physics/chains/link_field.hpp).
Boundary read_link_boundary(const Setting& d, const dsl::Expr& e, std::size_t axis, Walls& walls) {
  if (!e.args.empty() || !e.named.empty())
    d.fail(errors::option_value(e.span, "boundary",
                                "periodic, open or fixed; `init` gives links that stay"));
  const bool held = e.text == "fixed";
  walls.fixed_value[axis] = 0;
  walls.open[axis] = held || e.text == "open";
  return held ? Boundary::Fixed : Boundary::Periodic;
}

/// dx, the same along each axis. A length as a number is that of the axis x; a list has one for
/// each axis.
Expr common_spacing(const Setting& d, Lowerer& lower, const dsl::Expr& given, bool length) {
  constexpr long double kRounding = 1e-12L;
  const Grid& grid = d.grid;
  const char* option = length ? "length" : "spacing";
  const bool list = given.kind == ExprKind::List;
  if (list && given.args.size() != static_cast<std::size_t>(grid.dims))
    d.fail(errors::not_one_for_each_axis(given.span, option, given.args.size(), grid.dims));
  std::vector<double> each;
  Expr first;
  bool equal = true;
  for (int axis = 0; axis < (list ? grid.dims : 1); ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    Expr dx = lower.fixed(list ? *given.args[k] : given, fmt::format("the {}", option));
    if (length) dx = dx / d.arena().integer(grid.extent[k]);
    if (!first) first = dx;
    equal = equal && std::fabs(dx->number.real / first->number.real - 1) < kRounding;
    each.push_back(static_cast<double>(dx->number.real));
  }
  if (!equal) {
    const auto has = [&](const char* keyword) { return d.resolved.clause(keyword) != nullptr; };
    constexpr std::array kUnstretched{"metric", "gauge",  "lagrangian", "spinor",
                                      "noise",  "action", "rescale"};
    const bool stretches =
        !has("metric") && (has("conserve") || std::ranges::none_of(kUnstretched, has));
    d.fail(errors::unequal_spacings(given.span, each, length, stretches));
  }
  const auto longest = std::max_element(grid.extent.begin(), grid.extent.begin() + grid.dims);
  const auto shortest = std::min_element(grid.extent.begin(), grid.extent.begin() + grid.dims);
  if (length && !list && *longest != *shortest) {
    std::vector<double> lengths;
    for (int axis = 0; axis < grid.dims; ++axis)
      lengths.push_back(each[0] * static_cast<double>(grid.extent[static_cast<std::size_t>(axis)]));
    d.diagnostics.add(errors::length_of_one_axis(given.span, lengths));
  }
  return first;
}

void read_spacing(Setting& d, Lowerer& lower, const dsl::Clause& clause) {
  Arena& arena = d.arena();
  Grid& grid = d.grid;
  const dsl::ExprPtr spacing = d.ledger.option(clause, "spacing");
  const dsl::ExprPtr length = spacing ? nullptr : d.ledger.option(clause, "length");
  if (const dsl::ExprPtr given = spacing ? spacing : length) {
    grid.dx = common_spacing(d, lower, *given, length != nullptr);
  } else {
    grid.dx = arena.integer(1);
    d.remark("no length or spacing is given: dx = 1");
    grid.counted = true;
  }
  if (!(grid.dx->number.real > 0)) d.fail(errors::spacing_not_positive(clause.keyword_span));
}

/// Refuses a shape given for a model without lattice.
void refuse_shape(const Setting& d) {
  dsl::Span span;
  std::string count;
  if (const dsl::Clause* model = d.resolved.clause("model")) span = model->keyword_span;
  if (const dsl::Clause* particles = d.resolved.clause("particles")) {
    span = particles->keyword_span;
    for (const Item& item : particles->items)
      if (!item.head && item.value && item.value->kind == ExprKind::Name) count = item.value->text;
  }
  d.fail(errors::no_lattice_to_shape(span, count));
}

}  // namespace

void read_boundaries(const Setting& d, Lowerer& lower, const dsl::Clause& clause, int axes,
                     Walls& walls) {
  const auto dims = static_cast<std::size_t>(axes);
  const bool of_lattice = clause.keyword == "lattice";
  const auto set = [&](std::size_t axis, const dsl::Expr& e) {
    if (!of_lattice && e.text == "shifted") d.fail(errors::shift_of_field(e.span));
    walls.boundary[axis] = clause.keyword == "gauge" ? read_link_boundary(d, e, axis, walls)
                                                     : read_boundary(d, lower, e, axis, walls);
    if (!of_lattice) check_own_end(d, e, axis, walls.boundary[axis]);
  };
  for (const Item& item : clause.items) {
    if (!item.head || item.head->name != "boundary") continue;
    d.ledger.use(item);
    if (item.head->form == dsl::Head::Form::Function) {
      constexpr const char* kAxes[] = {"x", "y", "z", "t"};
      std::size_t axis = 4;
      for (std::size_t k = 0; k < dims; ++k) {
        if (item.head->args.size() == 1 && item.head->args[0]->text == kAxes[k]) axis = k;
      }
      if (axis == 4)
        d.fail(errors::option_value(
            item.span, "boundary(axis)",
            fmt::format("one axis of the lattice: {}", fmt::join(kAxes, kAxes + dims, ", "))));
      set(axis, *item.value);
    } else if (item.value->kind == ExprKind::List) {
      if (item.value->args.size() != dims)
        d.fail(errors::not_one_for_each_axis(item.value->span, "boundary", item.value->args.size(),
                                             axes));
      for (std::size_t k = 0; k < dims; ++k) set(k, *item.value->args[k]);
    } else {
      for (std::size_t k = 0; k < dims; ++k) set(k, *item.value);
    }
  }
}

Grid read_lattice(const Setting& known) {
  Setting d = known;
  Lowerer lower(d);
  const auto clauses = d.ledger.clauses("lattice");
  if (clauses.empty()) {  // variables alone: one site
    if (!d.options.lattice.empty()) refuse_shape(d);
    d.grid.dims = 1;
    return d.grid;
  }
  if (clauses.size() > 1) {
    d.fail(errors::second_lattice(clauses[1]->keyword_span, clauses[0]->keyword_span));
  }
  const dsl::Clause& clause = *clauses[0];
  const dsl::Expr* shape = nullptr;
  for (const Item& item : clause.items) {
    if (item.leading == Item::Leading::Colon && !item.head) shape = item.value.get();
  }
  if (!shape) {
    for (const Item& item : clause.items) {
      if (!item.head && item.value && item.value->kind != ExprKind::Name) shape = item.value.get();
    }
  }
  if (!shape) d.fail(errors::lattice_shape(clause.keyword_span, "none is given"));

  std::vector<std::int64_t> sizes;
  read_shape(d, lower, *shape, sizes);
  dsl::ExprPtr given;
  if (!d.options.lattice.empty()) {
    given = dsl::parse_expression(given_text(d, "--lattice", d.options.lattice), d.diagnostics);
    if (!given) throw Failure{};
    shape = given.get();
    const std::size_t axes = sizes.size();
    sizes.clear();
    read_shape(d, lower, *given, sizes);
    if (sizes.size() == 1) sizes.assign(axes, sizes[0]);  // the same along every axis
    if (sizes.size() != axes) {
      d.fail(errors::other_dimensions(given->span, static_cast<int>(sizes.size()),
                                      static_cast<int>(axes), sizes.empty() ? 0 : sizes[0],
                                      clause.keyword_span));
    }
  }
  if (sizes.empty() || sizes.size() > 4) {
    d.fail(errors::lattice_shape(shape->span, fmt::format("{} dimensions", sizes.size())));
  }
  Grid& grid = d.grid;
  grid.present = true;
  grid.span = clause.keyword_span;
  grid.dims = static_cast<int>(sizes.size());
  std::int64_t sites = 1;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis] > kMostSites || (sizes[axis] > 0 && sites > kMostSites / sizes[axis]))
      d.fail(errors::too_many_sites(shape->span));
    if (sizes[axis] < 1) {
      d.fail(errors::lattice_shape(shape->span, fmt::format("{} sites", sizes[axis])));
    }
    grid.extent[axis] = sizes[axis];
    sites *= sizes[axis];
  }
  if (const dsl::ExprPtr parity = d.ledger.option(clause, "parity");
      parity && parity->text == "even_odd") {
    constexpr const char* kAxes[] = {"x", "y", "z", "t"};
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
      if (sizes[axis] % 2 != 0)
        d.fail(errors::odd_extent(parity->span, kAxes[axis], sizes[axis], shape->span));
  }
  Lowerer in_box(d);
  read_boundaries(d, in_box, clause, grid.dims, grid);
  for (const Expr angle : grid.twist)
    if (angle) d.fail(errors::twist_of_lattice(clause.keyword_span));
  check_shifts(d);
  read_spacing(d, in_box, clause);
  return grid;
}

}  // namespace vphi::physics
