// Fields and their arrays: what is declared, component by component.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/spin_bases.hpp"
#include "compiler/physics/chains/hmc.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/chains/sampling.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/clauses/box_errors.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/particles/particle_errors.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/theory.hpp"
#include "dsl/equations.hpp"
#include "dsl/syntax/parse.hpp"

namespace vphi::physics {

using dsl::ExprKind;

const StateField* Declared::field(const std::string& name) const {
  for (const StateField& f : fields) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

const StateField* Declared::field_of(int array) const {
  for (const StateField& f : fields) {
    for (const int own : f.arrays) {
      if (own == array) return &f;
    }
    for (const int own : f.velocities) {
      if (own == array) return &f;
    }
  }
  return nullptr;
}

int StateField::place(int array) const {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i] == array) return static_cast<int>(i);
  }
  return -1;
}

const StateField* Declared::conjugate(const StateField& field) const {
  const StateField* coordinate = nullptr;
  for (const StateField& f : fields) {
    if (!f.hamiltonian) continue;
    if (!coordinate) {
      coordinate = &f;
      continue;
    }
    if (f.name == field.name) return coordinate;
    if (coordinate->name == field.name) return &f;
    coordinate = nullptr;
  }
  return nullptr;
}

bool Declared::is_momentum(const StateField& field) const {
  const StateField* other = field.hamiltonian ? conjugate(field) : nullptr;
  return other && other < this->field(field.name);
}

namespace {

bool names(const dsl::Expr& e, std::string_view name) {
  if (e.kind == ExprKind::Name && e.text == name) return true;
  return std::ranges::any_of(e.args, [&](const dsl::ExprPtr& arg) { return names(*arg, name); });
}

}  // namespace

bool Theory::follows_lagrangian(const StateField& field) const {
  if (!lagrangian || field.order != 2 || field.drawn) return false;
  const EquationFact* written = facts.equation(field.name);
  return !written || names(*written->definition->value, "derived");
}

bool Theory::gravitates(const StateField& field) const {
  if (field.order != 2 || lagrangian) return false;
  const EquationFact* written = facts.equation(field.name);
  if (facts.potentials.empty() || !written || !potential) return true;
  if (names(*written->definition->value, "derived")) return true;
  return algebra::contains(potential, [&](Expr node) {
    return node.is(algebra::Op::Load) && std::ranges::count(field.arrays, node->index) > 0;
  });
}

namespace {

/// The first `boundary = ...` or `boundary(t) = ...` of the line that declares a field.
const dsl::Item* own_boundary(const FieldFact& fact) {
  if (!fact.line) return nullptr;
  for (const dsl::Item& item : fact.line->items)
    if (item.head && item.head->name == "boundary") return &item;
  return nullptr;
}

void periodic_box(const Setting& d, dsl::Span span) {
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    if (d.grid.boundary[axis] != Boundary::Periodic) {
      d.fail(errors::not_yet(span, "a gauge field in a box that is not periodic"));
    }
  }
}

/// `gauge U: SU(3), store = rows(2)`.
void read_links(const Setting& d, Lowerer& lower, const FieldFact& fact, StateField& field) {
  constexpr int kMostColours = 8;
  const dsl::Expr& type = *fact.type;
  const auto n = type.args.size() == 1 ? lower.fixed_integer(*type.args[0], "n") : 0;
  if (n < 2 || n > kMostColours) {
    d.fail(
        errors::group_of_links(type.span, dsl::to_text(type), fmt::format("SU({})", kMostColours)));
  }
  gauge::LinkType links = gauge::default_storage({gauge::Kind::SU, static_cast<int>(n)});
  if (fact.store) {
    for (const dsl::Clause* clause : d.resolved.clauses("gauge"))
      d.ledger.value(*clause, fact.store);
    const bool rows = fact.store->text == "rows";
    const auto kept = rows && fact.store->args.size() == 1
                          ? lower.fixed_integer(*fact.store->args[0], "the number of rows")
                          : 0;
    links.storage = rows && kept + 1 == n ? gauge::Storage::Rows : gauge::Storage::Full;
    const bool known = fact.store->text == "full" || (rows && kept == n) ||
                       (links.storage == gauge::Storage::Rows && links.valid());
    if (!known) {
      d.fail(errors::option_value(fact.store->span, "store",
                                  n <= 3
                                      ? fmt::format("full or rows({})", n - 1)
                                      : std::string("full: the last row of SU(n) follows from "
                                                    "the others cheaply for n = 2 and 3 alone")));
    }
  }
  field.links = links;
  field.columns = links.reals();
  periodic_box(d, fact.span);
}

/// `su(3)`
void read_algebra(const Setting& d, Lowerer& lower, const dsl::Expr& type, StateField& field) {
  constexpr int kMostColours = 8;
  const auto n = type.args.size() == 1 ? lower.fixed_integer(*type.args[0], "n") : 0;
  if (n < 2 || n > kMostColours)
    d.fail(
        errors::wrong_shape(type.span, fmt::format("algebras are su(2) to su({})", kMostColours)));
  field.algebra = gauge::Group{gauge::Kind::SU, static_cast<int>(n)};
}

/// -1 of antiperiodic spinors times that of a twist, which is a sign where its angle is a multiple
/// of pi.
EdgePhase edge_phase(bool turned, Expr angle) {
  constexpr long double kHalfTurn = std::numbers::pi_v<long double>, kRounding = 1e-15L;
  const auto number = angle ? algebra::constant(angle) : std::nullopt;
  if (!number) return {turned, angle};
  const long double turns = number->real / kHalfTurn, whole = std::round(turns);
  if (std::fabs(turns - whole) > kRounding * (1 + std::fabs(turns))) return {turned, angle};
  return {turned != (std::fmod(whole, 2.0L) != 0), {}};
}

/// Whether a type of a `gauge` line is that of the momentum of links.
bool of_electric_field(const dsl::Expr* type) {
  return !type || type->text == "real" || type->text == "su";
}

/// Links go around the box, or end at it.
void check_ends_of_links(const Setting& d, const dsl::Item& own, const StateField& field,
                         bool momentum) {
  Walls around = field.walls;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(d.grid.dims); ++axis) {
    if (!field.walls.open[axis]) continue;
    around.boundary[axis] = Boundary::Periodic;
    if (momentum) continue;
    d.remark(
        fmt::format("{}: no link leads from the last site along {} to the first; products "
                    "of links through it are 0{}",
                    field.name, algebra::kAxisNames[axis],
                    held_across(field, static_cast<int>(axis))
                        ? ". Links within its first and its last sites stay"
                        : ""));
  }
  if (!around.periodic(d.grid.dims))
    d.fail(errors::not_yet(own.span, "a boundary of links that is neither periodic nor open"));
}

/// A phase on an axis that no link crosses would change nothing.
void check_phase_on_open_axis(const Declared& d, const FieldFact& fact, const StateField& field) {
  for (const StateField& links : d.fields)
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(d.grid.dims); ++axis)
      if (links.walls.open[axis] && !field.edges[axis].one())
        d.fail(errors::phase_on_open_axis(fact.span, fact.name, algebra::kAxisNames[axis],
                                          links.name, links.span));
}

/// `fermion psi: spinor, boundary(t) = antiperiodic, boundary(x) = twisted(0.3), basis = chiral`.
void read_spinor(const Declared& d, Lowerer& lower, const FieldFact& fact, StateField& field) {
  field.spinor = field.complex = true;
  field.rows = d.spins;
  field.columns = 1;  // no gauge field: one colour
  for (const FieldFact& other : d.facts.fields) {
    if (!other.gauge) continue;
    for (const StateField& links : d.fields) {
      if (links.name == other.name && links.links) field.columns = links.links->group.n;
    }
  }
  Walls walls = d.grid;
  read_boundaries(d, lower, *fact.fermion, d.grid.dims, walls);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(d.grid.dims); ++axis) {
    const Boundary own = walls.boundary[axis], all = d.grid.boundary[axis];
    const auto closed = [](Boundary b) {
      return b == Boundary::Periodic || b == Boundary::Antiperiodic;
    };
    if (own != all && !(closed(own) && closed(all))) {
      d.fail(errors::not_yet(fact.span, "a boundary of its own for this field that is open"));
    }
    field.edges[axis] = edge_phase(own != all, walls.twist[axis]);
  }
  check_phase_on_open_axis(d, fact, field);
}

const dsl::Item* option_of(const FieldFact& fact, const std::string& name) {
  if (!fact.line) return nullptr;
  for (const dsl::Item& item : fact.line->items)
    if (item.head && item.head->name == name) return &item;
  return nullptr;
}

/// `field s: int, values = [-1, 1]`.
void read_values(const Declared& d, Lowerer& lower, const FieldFact& fact, StateField& field) {
  constexpr std::int64_t kMostValues = 64, kLargest = 1 << 20;
  const dsl::Item* item = option_of(fact, "values");
  if (!item) d.fail(errors::values_missing(fact.type->span, fact.name));
  const dsl::Expr& list = *item->value;
  const auto whole = [&](const dsl::Expr& e) { return lower.fixed_integer(e, "a value"); };
  if (list.kind == ExprKind::Range) {
    const std::int64_t first = whole(*list.args[0]), last = whole(*list.args[1]);
    for (std::int64_t v = first; v <= last && v - first <= kMostValues; ++v)
      field.values.push_back(v);
  } else {
    for (const dsl::ExprPtr& one : list.args) field.values.push_back(whole(*one));
  }
  std::ranges::sort(field.values);
  if (std::ranges::adjacent_find(field.values) != field.values.end())
    d.fail(errors::values_wrong(list.span, fact.name, "a value is given twice"));
  if (field.values.size() < 2)
    d.fail(errors::values_wrong(list.span, fact.name, "there are fewer than two"));
  if (std::ssize(field.values) > kMostValues)
    d.fail(errors::values_wrong(list.span, fact.name, "there are more than 64"));
  if (field.values.front() < -kLargest || field.values.back() > kLargest)
    d.fail(errors::values_wrong(list.span, fact.name, "a value is larger than 2^20"));
}

/// Discrete values and lengths are kept by the updates of a chain alone.
void check_moves(const Declared& d, const FieldFact& fact, const StateField& field) {
  const dsl::Item* values = option_of(fact, "values");
  const dsl::Item* norm = option_of(fact, "norm");
  if (values && field.values.empty()) d.fail(errors::values_of_type(values->span, fact.name));
  if (norm && !field.length) d.fail(errors::norm_of_type(norm->span, fact.name));
  const dsl::Item* item = values ? values : norm;
  if (!item) return;
  d.ledger.use(*item);
  if (!d.resolved.clause("sample") && !dsl::measures(d.resolved))
    d.fail(errors::constrained_outside_of_chain(item->span, fact.name, item->head->name));
}

/// Links are read at neighbours as other fields are.
void check_shifted_box(const Declared& d, const FieldFact& fact) {
  if (fact.fermion) d.fail(errors::shifted_box(fact.span, "a spinor", d.grid.span));
}

/// `boundary(x) = twisted(angle)` of a complex field; angles of 0 and pi are the other boundaries.
void read_twists(const Setting& d, const FieldFact& fact, const dsl::Item& own, StateField& field) {
  const dsl::Expr* type = fact.type.get();
  const bool vector = type && (type->text == "vec" || type->text == "mat") && !type->args.empty();
  const bool complex =
      type && (type->text == "complex" || (vector && type->args.back()->text == "complex"));
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(d.grid.dims); ++axis) {
    Expr& twist = field.walls.twist[axis];
    if (!twist) continue;
    const char* name = algebra::kAxisNames[axis];
    if (!complex) d.fail(errors::twist_of_real(own.span, fact.name, name));
    const EdgePhase edge = edge_phase(false, twist);
    twist = edge.angle;
    if (edge.turned) field.walls.boundary[axis] = Boundary::Antiperiodic;
    if (!twist) continue;
    d.remark(
        fmt::format("{}: beyond the last site along {} times exp(1i*theta), before the first "
                    "times its conjugate",
                    fact.name, name));
  }
}

void read_type(const Declared& d, Lowerer& lower, const FieldFact& fact, StateField& field) {
  const dsl::Expr* type = fact.type.get();
  if (d.grid.shifted()) check_shifted_box(d, fact);
  field.walls = d.grid;
  if (const dsl::Item* own = own_boundary(fact); own && !fact.fermion) {
    read_boundaries(d, lower, *fact.line, d.grid.dims, field.walls);
    if (fact.gauge && d.grid.shifted() && field.walls.any_open())
      d.fail(errors::shifted_box(own->span, "links that end", d.grid.span));
    if (fact.gauge) check_ends_of_links(d, *own, field, of_electric_field(type));
    if (fact.field) read_twists(d, fact, *own, field);
  }
  if (fact.fermion) {
    if (type && type->text != "spinor") {
      d.fail(errors::not_yet(type->span, fmt::format("a fermion of type `{}`", type->text)));
    }
    return read_spinor(d, lower, fact, field);
  }
  if (fact.gauge) {
    field.link = true;
    field.rows = d.grid.dims;
    if (type && type->text == "SU") return read_links(d, lower, fact, field);
    if (type && type->text == "su") {
      read_algebra(d, lower, *type, field);
      field.columns = field.algebra->generators();
      return periodic_box(d, fact.span);
    }
    const bool roots = type && type->text == "Z";
    field.angle = roots || (type && type->text == "U");
    if (roots) {
      field.roots = static_cast<int>(lower.fixed_integer(*type->args.at(0), "N of Z(N)"));
      if (!d.resolved.clause("sample") && !dsl::measures(d.resolved))
        d.fail(errors::roots_outside_of_chain(type->span, fact.name, field.roots));
    }
    if (field.angle) field.links = gauge::LinkType{{gauge::Kind::U1, 1}, gauge::Storage::Angle};
    if (!field.angle && type && type->text != "real") {
      d.fail(errors::not_yet(type->span, "a momentum of a link of this type"));
    }
    if (field.angle && !roots &&
        (type->args.size() != 1 || lower.fixed_integer(*type->args[0], "n") != 1)) {
      d.fail(errors::group_of_links(type->span, dsl::to_text(*type),
                                    type->args.empty() ? "U(1)" : "U(1) or SU(3)"));
    }
    periodic_box(d, fact.span);
    return;
  }
  if (!type || type->text == "real") return;
  if (type->text == "angle") {  // for its period see angle_period
    field.periodic = true;
    return;
  }
  if (type->text == "complex") {
    field.complex = true;
    return;
  }
  const auto size = [&](std::size_t i) {
    if (i >= type->args.size()) {
      d.fail(errors::wrong_shape(type->span, fmt::format("`{}` needs a size", type->text)));
    }
    const auto n = lower.fixed_integer(*type->args[i], "the number of components");
    if (n < 1 || n > 64) d.fail(errors::wrong_shape(type->span, "a vector has 1 to 64 components"));
    return static_cast<int>(n);
  };
  if (type->text == "int") return read_values(d, lower, fact, field);
  const bool with_complex =
      type->kind == ExprKind::Call && !type->args.empty() && type->args.back()->text == "complex";
  if (type->text == "su") {
    read_algebra(d, lower, *type, field);
    field.rows = field.algebra->generators();
  } else if (type->text == "vec") {
    field.rows = size(0);
    field.complex = with_complex;
    if (const dsl::Item* norm = option_of(fact, "norm"); norm && !field.complex && field.rows > 1)
      field.length = lower.fixed(*norm->value, "`norm`");
  } else if (type->text == "mat") {
    field.rows = size(0);
    field.columns = size(1);
    field.complex = with_complex;
  } else if (type->text == "sym") {
    field.rows = field.columns = size(0);
    field.symmetric = true;
  } else {
    d.fail(errors::not_yet(type->span, fmt::format("a field of type `{}`", type->text)));
  }
}

}  // namespace

namespace {

/// Declares `w[i] ~ cauchy(0, 1)`: one number for each body, drawn before the first step. Without
/// an index it is one number for each site; an instance without lattice has one site (docs/rules.md
/// rule 5).
void declare_drawn(Declared& d) {
  for (const dsl::Line& line : d.resolved.model.lines) {
    if (line.kind != dsl::Line::Kind::Definition || !line.definition.drawn) continue;
    const dsl::Head& head = line.definition.head;
    const bool of_body = head.form == dsl::Head::Form::Indexed && head.args.size() == 1 &&
                         head.args[0]->kind == ExprKind::Name && d.particles.present;
    const bool of_site = head.form == dsl::Head::Form::Plain && !d.particles.present;
    if (!of_body && !of_site) {
      d.fail(errors::not_yet(head.span, d.particles.present
                                            ? "a number drawn once for all particles"
                                            : "a drawn number with indices on a lattice"));
    }
    StateField field;
    field.name = head.name;
    field.span = head.span;
    field.particle = of_body;
    field.drawn = &line.definition;
    field.walls = d.grid;
    field.order = 1;
    field.cells = {0};
    field.arrays = {d.new_array()};
    d.fields.push_back(std::move(field));
  }
}

}  // namespace

namespace {

/// Whether the field only names the argument of operators, so that it has no memory: a spinor
/// without initial value, or a field that is used nowhere else.
bool is_argument(const Context& d, const FieldFact& fact) {
  const dsl::Symbol* symbol = d.resolved.find(fact.name);
  if (symbol && dsl::names_argument(d.resolved, *symbol)) return true;
  if (!fact.fermion) return false;
  for (const dsl::Clause* clause : d.resolved.clauses("init")) {
    for (const dsl::Item& item : clause->items) {
      if (item.head && item.head->name == fact.name) return false;
    }
  }
  return true;
}

/// `basis = dirac`: of all gamma matrices of the model.
void read_basis(Declared& d) {
  const dsl::Expr* first = nullptr;
  for (const dsl::Clause* clause : d.resolved.clauses("fermion")) {
    const dsl::ExprPtr basis =
        d.spins > 1 ? d.ledger.option(*clause, "basis") : dsl::option(*clause, "basis");
    if (!basis) continue;
    if (first && first->text != basis->text)
      d.fail(errors::option_value(basis->span, "basis",
                                  fmt::format("one word in a model, here {}: the gammas act on all "
                                              "of its spinors",
                                              first->text)));
    first = basis.get();
    if (basis->text == "chiral") {
      d.gammas = gauge::gammas(gauge::GammaBasis::Chiral);
    } else if (basis->text == "degrand_rossi") {
      d.gammas = gauge::gammas(gauge::GammaBasis::DeGrandRossi);
    } else if (basis->text == "dirac") {
      d.gammas = gauge::dirac_gammas();
    } else {
      d.fail(errors::option_value(basis->span, "basis", "chiral, dirac or degrand_rossi"));
    }
  }
}

/// `spinor(2)`: Pauli's matrices for x, y and z, gamma5 that of z; `spinor(1)`: no spin.
void read_spins(Declared& d, Lowerer& lower) {
  const FieldFact* first = nullptr;
  for (const FieldFact& fact : d.facts.fields) {
    const dsl::Expr* type = fact.fermion ? fact.type.get() : nullptr;
    if (!type) continue;
    const int spins =
        type->args.empty() ? 4 : static_cast<int>(lower.fixed_integer(*type->args[0], "the spins"));
    if (first && spins != d.spins)
      d.fail(errors::not_yet(type->span, "spinors with different numbers of components"));
    first = &fact;
    d.spins = spins;
  }
  if (d.spins != 2) return;
  for (const dsl::Clause* clause : d.resolved.clauses("fermion")) {
    if (const dsl::ExprPtr basis = d.ledger.option(*clause, "basis"))
      d.fail(errors::not_yet(basis->span, "a basis of the gammas of a spinor(2)"));
  }
}

/// Refuses bodies of which no variable has a value for each.
void check_bodies(const Declared& d) {
  if (!d.particles.present || d.fields.empty()) return;
  if (std::ranges::any_of(d.fields, &StateField::particle)) return;
  d.fail(errors::bodies_without_state(d.particles.span, d.fields.front().name));
}

}  // namespace

Declared declare_fields(const Setting& setting) {
  Declared d(setting);
  Lowerer lower(setting);
  for (const char* keyword : {"field", "gauge", "fermion", "var"}) d.ledger.clauses(keyword);
  read_spins(d, lower);
  read_basis(d);
  if (d.spins == 2) d.gammas = gauge::two_component_gammas();
  // links first: a spinor has the number of colours of its links
  std::vector<FieldFact> declared = d.facts.fields;
  std::ranges::stable_partition(declared, [](const FieldFact& f) { return !f.fermion; });
  for (const FieldFact& fact : declared) {
    if (is_argument(d, fact)) {
      StateField field;
      read_type(d, lower, fact, field);
      if (field.spinor) d.spinor_edges[fact.name] = field.edges;
      continue;
    }
    if (!d.grid.present && fact.field) d.fail(errors::no_lattice(fact.span, fact.name));
    if (d.grid.present && !fact.field)
      d.fail(errors::not_yet(fact.span, "a variable beside the fields of a lattice"));
    if (fact.particle && !d.particles.present) d.fail(errors::no_lattice(fact.span, fact.name));
    StateField field;
    field.particle = fact.particle;
    field.primitive = fact.primitive;
    if (field.primitive) field.order = 1;
    field.name = fact.name;
    field.span = fact.span;
    read_type(d, lower, fact, field);
    check_moves(d, fact, field);
    if (field.spinor) d.spinor_edges[fact.name] = field.edges;
    int distinct = 0;
    for (int i = 0; i < field.rows; ++i) {
      for (int j = 0; j < field.columns; ++j) {
        if (field.symmetric && j < i) {
          field.cells.push_back(field.cells[j * field.columns + i]);
        } else {
          field.cells.push_back(distinct++);
        }
      }
    }
    const int reals = distinct * (field.complex ? 2 : 1);
    for (int i = 0; i < reals; ++i) field.arrays.push_back(d.new_array());
    d.fields.push_back(std::move(field));
  }
  check_bodies(d);
  declare_drawn(d);
  std::vector<StateField> conserved = conserved_fields(d, d.fields);
  for (StateField& field : conserved) d.fields.push_back(std::move(field));
  return d;
}

}  // namespace vphi::physics
