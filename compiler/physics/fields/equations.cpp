// Equations of motion: from a potential, as written, or both (docs/rules.md rules 14 and 15).
//
//   phi'' = lap(phi)/a^2 - 3*H*phi' - d(V, phi);  complex: d(V, conj(phi))
#include <algorithm>
#include <numbers>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fields/canonical_form.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/fields/link_motion.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/fields/source_errors.hpp"
#include "compiler/physics/lower/angles.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/displacement.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/lower/variation.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/checks.hpp"
#include "dsl/equations.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/syntax/walk.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// Where e names rho, p or w, itself or through what it names, or the rate of the Hubble rate that
/// follows from them; null where nowhere. `curvature`: that rate is allowed.
const dsl::Expr* names_energy(const Space& d, const dsl::Expr& e, bool curvature,
                              std::set<std::string>& seen) {
  if (e.kind == dsl::ExprKind::Prime && d.background.metric == Metric::SelfConsistent &&
      !curvature) {
    const std::string& base = e.args[0]->text;
    if ((base == "H" && !d.facts.find(base)) || base == "frw.H") return &e;
  }
  if (e.kind == dsl::ExprKind::Name || e.kind == dsl::ExprKind::Call) {
    static const std::set<std::string, std::less<>> kEnergies{"rho", "p", "w"};
    const NamedFact* fact = d.facts.find(e.text);
    const bool given = !fact && !d.facts.field(e.text) && e.kind == dsl::ExprKind::Name;
    if (given && kEnergies.contains(e.text)) return &e;
    if (fact && fact->value && seen.insert(e.text).second) {
      for (const std::string& parameter : fact->parameters) seen.insert(parameter);
      if (names_energy(d, *fact->value, curvature, seen)) return &e;
    }
  }
  for (const dsl::ExprPtr& arg : e.args) {
    if (const dsl::Expr* found = names_energy(d, *arg, curvature, seen)) return found;
  }
  return nullptr;
}

}  // namespace

void refuse_energies(const Space& d, const dsl::Expr& e, const std::string& source,
                     bool curvature) {
  std::set<std::string> seen;
  if (const dsl::Expr* energy = names_energy(d, e, curvature, seen))
    d.fail(errors::source_of_itself(energy->span, dsl::to_text(*energy), source));
}

void refuse_velocities(const Declared& d, Expr source, dsl::Span span, const std::string& what) {
  for (const StateField& field : d.fields) {
    const bool moves = algebra::contains(source, [&](Expr node) {
      return node.is(Op::Load) && std::ranges::count(field.velocities, node->index) > 0;
    });
    if (moves) d.fail(errors::velocity_in_source(span, what, field.name));
  }
}

Potentials read_potentials(const Theory& known, bool keep_parameters) {
  Theory d = known;
  static_cast<Potentials&>(d) = {};
  for (const NamedFact* fact : d.facts.potentials) {
    Lowerer lower(d, keep_parameters);
    refuse_energies(d, *fact->value, "potential");
    const Expr v = lower.real(*fact->value, fmt::format("the potential `{}`", fact->name));
    refuse_velocities(d, v, fact->value->span, fmt::format("the potential `{}`", fact->name));
    check_coupled_walls(d, v, fact->value->span);
    d.potential = d.potential ? d.potential + v : v;
    d.potentials.emplace_back(fact, v);
    if (v.is(Op::Add)) {
      // a constant belongs to the term before it: 1 - cos(phi)
      Expr constant = d.arena().integer(0);
      for (const Expr term : v.args()) {
        if (algebra::per_site(term)) {
          d.potential_terms.emplace_back("", term);
        } else {
          constant = constant + term;
        }
      }
      if (!d.potential_terms.empty()) {
        Expr& last = d.potential_terms.back().second;
        last = last + constant;
      }
    } else {
      d.potential_terms.emplace_back("", v);
    }
  }
  for (std::size_t i = 0; i < d.potential_terms.size(); ++i) {
    d.potential_terms[i].first =
        d.potential_terms.size() == 1 ? "potential" : fmt::format("potential_{}", i + 1);
  }
  return d;
}

bool written_hamiltonian(const Declared& d) {
  const NamedFact* h = d.facts.find("H");
  return h && h->kind == NamedFact::Kind::Definition && !d.fields.empty();
}

namespace {

/// Beside links a Lagrangian makes momenta, and there is no acceleration to add to.
void refuse_derived(const Space& d, const EquationFact& equation) {
  dsl::for_each(equation.definition->value, [&](const dsl::Expr& e) {
    if (e.kind == dsl::ExprKind::Name && e.text == "derived")
      d.fail(errors::not_yet(e.span, "`derived` of a field beside links that a Lagrangian moves"));
  });
}

}  // namespace

std::vector<StateField> decide_orders(const Space& d) {
  const bool hamiltonian = written_hamiltonian(d);
  if (hamiltonian && !d.facts.potentials.empty()) {
    d.fail(errors::two_sources(d.facts.find("H")->span, "H", d.facts.potentials.front()->span));
  }
  if (!d.facts.lagrangians.empty()) {
    const NamedFact* other = hamiltonian                  ? d.facts.find("H")
                             : d.facts.potentials.empty() ? nullptr
                                                          : d.facts.potentials.front();
    if (other)
      d.fail(
          errors::lagrangian_beside(d.facts.lagrangians.front()->span, hamiltonian, other->span));
  }
  std::vector<StateField> fields = d.fields;
  for (const EquationFact& fact : d.facts.equations) {
    const dsl::Head& head = fact.definition->head;
    const auto field = std::ranges::find(fields, head.name, &StateField::name);
    if (field == fields.end()) d.fail(errors::equation_without_variable(head.span, head.name));
    const bool of_body = field->particle && head.form == dsl::Head::Form::Indexed &&
                         head.args.size() == 1 && head.args[0]->kind == dsl::ExprKind::Name;
    const bool of_links = field->link && !field->links && head.form == dsl::Head::Form::Indexed &&
                          head.args.size() == 1 && head.args[0]->kind == dsl::ExprKind::Name;
    if (head.form != dsl::Head::Form::Plain && !of_body && !of_links) {
      d.fail(errors::not_yet(head.span, "an equation of motion with indices"));
    }
    if (field->order) {
      d.fail(errors::two_equations(head.span, head.name, d.facts.equation(head.name)->span));
    }
    if (head.primes > 2) d.fail(errors::not_yet(head.span, "an equation of third order"));
    field->order = head.primes;
  }
  const bool by_lagrangian = moves_links_by_lagrangian(d);
  const std::set<std::string> canonical =
      hamiltonian || by_lagrangian ? dsl::canonical_names(d.resolved) : std::set<std::string>{};
  for (StateField& field : fields) {
    if (field.order && canonical.contains(field.name)) {
      const EquationFact& own = *d.facts.equation(field.name);
      if (by_lagrangian && !field.link) {
        refuse_derived(d, own);
        continue;
      }
      if (field.order != 1) d.fail(errors::canonical_order(own.span, field.name));
      field.hamiltonian = true;
    }
    if (field.order || by_lagrangian) continue;
    if (hamiltonian) {
      field.order = 1;
      field.hamiltonian = true;
    } else if (!d.facts.potentials.empty() || !d.facts.lagrangians.empty()) {
      field.order = 2;
    } else {
      d.fail(errors::no_equation(field.span, field.name));
    }
  }
  if (by_lagrangian) fields = with_momenta(d, fields);
  for (StateField& field : fields) {
    if (field.order != 2) continue;
    for (std::size_t i = 0; i < field.arrays.size(); ++i) field.velocities.push_back(d.new_array());
  }
  return fields;
}

Value equation_from_potential(const Theory& d, Lowerer& lower, const StateField& field) {
  Arena& arena = d.arena();
  const Value u = lower.field_value(field);
  const Value v = lower.field_velocity(field, field.span);
  const Expr norm = arena.integer(field.norm());
  const dsl::Span source =
      d.facts.potentials.empty() ? field.span : d.facts.potentials.front()->value->span;
  // an off-diagonal component of a symmetric field is written once and counts twice
  const auto right = [&](Expr x, Expr velocity, int multiplicity) {
    Expr sum = d.grid.present ? laplacian(d, x) : arena.integer(0);
    if (d.expanding()) {
      sum = sum * algebra::pow(d.scale(), -2) - arena.integer(3) * d.hubble() * velocity;
    }
    for (int k = 0; k < static_cast<int>(d.coordinates.factors.size()); ++k)
      sum = sum - stretching(d, k) * velocity;
    if (d.potential) {
      const std::size_t before = arena.size();
      const Expr slope = variation(d, d.potential, Functional::Density, x->index, source);
      const Expr force = -(slope / (norm * arena.integer(multiplicity)));
      mark_origins(d, force, d.potential, x->index, source, before);
      sum = sum + force;
    }
    return sum;
  };
  Value result{u.rows, u.columns, {}};
  for (int i = 0; i < u.rows; ++i) {
    for (int j = 0; j < u.columns; ++j) {
      const int k = i * u.columns + j;
      const int twice = field.symmetric && i != j ? 2 : 1;
      const Component x = u.parts[k], w = v.parts[k];
      result.parts.push_back({right(x.re, w.re, twice), x.im ? right(x.im, w.im, twice) : Expr{}});
    }
  }
  return result;
}

namespace {

/// Marks the potentials that make forces on this field. One that depends on no field states that
/// there are no forces: `potential V = 0*phi`.
void use_potentials(const Theory& d, const StateField& field) {
  for (const auto& [fact, value] : d.lagrangian ? d.lagrangians : d.potentials) {
    const bool here = algebra::contains(value, [&](Expr node) {
      if (!node.is(Op::Load)) return false;
      const auto own = [&](int array) {
        return node->index == array || node->index == gradient_of(array);
      };
      return std::ranges::any_of(field.arrays, own) || std::ranges::any_of(field.velocities, own);
    });
    const bool nowhere = !algebra::contains(value, [](Expr node) { return node.is(Op::Load); });
    if (here || nowhere) use_source(d, *fact);
  }
}

/// Right sides of one field, as one value of the field's shape.
Value right_side(const Theory& d, Lowerer& lower, const StateField& field,
                 const std::map<int, Expr>& accelerations) {
  const auto from_source = [&] {
    return d.lagrangian ? equation_from_lagrangian(accelerations, field)
                        : equation_from_potential(d, lower, field);
  };
  if (field.drawn) return Value::of(d.arena().integer(0));
  const EquationFact* fact = d.facts.equation(field.name);
  if (!fact) {
    use_potentials(d, field);
    return from_source();
  }
  const bool source = field.order == 2 &&
                      (d.lagrangian ? d.follows_lagrangian(field) : !d.facts.potentials.empty());
  std::optional<Value> derived;
  if (source) derived = from_source();
  if (field.hamiltonian) derived = lower.field_velocity(field, field.span);
  const dsl::Expr& e = *fact->definition->value;
  bool derived_read = false;
  Reading reading;
  reading.equation = true;
  if (derived) {
    reading.derived = [&] {
      derived_read = true;
      return *derived;
    };
  }
  Scope scope = Scope::in(reading);
  if (!fact->definition->head.args.empty()) {
    IndexValue own;
    own.body = IndexValue::Body::Own;
    scope.indices.emplace(fact->definition->head.args[0]->text, own);
  }
  Value v = lower.value(e, scope);
  if (!field.link && !field.spinor) lower.with_noise_of_its_own(v, lower.field_value(field));
  if (derived_read && source) use_potentials(d, field);
  if (v.rows != field.rows || v.columns != field.columns) {
    const bool zero = v.scalar() && v.parts[0].re.is_zero();
    if (!zero) {
      d.fail(errors::wrong_shape(
          e.span,
          fmt::format("the equation of `{}` has another shape than the field", field.name)));
    }
    v = Value{field.rows, field.columns, std::vector<Component>(field.cells.size(), v.parts[0])};
  }
  if (v.complex() && !field.complex) {
    d.fail(errors::not_real(e.span, fmt::format("the equation of `{}`", field.name)));
  }
  return v;
}

/// Whether the equation is E[i]' = ... of the momentum of links.
bool of_each_axis(const EquationFact* fact, const StateField& field) {
  return fact && field.link && fact->definition->head.form == dsl::Head::Form::Indexed;
}

/// Right sides of the momentum of links, axis by axis: `derived` is the rate by H of the same axis.
std::vector<Expr> right_sides_of_axes(const Theory& d, Lowerer& lower, const StateField& field) {
  const dsl::Definition& equation = *d.facts.equation(field.name)->definition;
  const dsl::Expr& e = *equation.value;
  const std::size_t count = field.arrays.size() / static_cast<std::size_t>(d.grid.dims);
  std::vector<Expr> result;
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    Reading reading;
    reading.equation = true;
    reading.derived = [&] {
      std::vector<Expr> rates;
      for (std::size_t a = 0; a < count; ++a)
        rates.push_back(d.rates.at(field.arrays[static_cast<std::size_t>(axis) * count + a]));
      return field.algebra ? lower.algebra_value(*field.algebra, rates) : Value::of(rates[0]);
    };
    Scope scope = Scope::in(reading);
    IndexValue direction;
    direction.value = axis;
    direction.direction = true;
    scope.indices.emplace(equation.head.args[0]->text, direction);
    if (!field.algebra) {
      result.push_back(lower.real(e, fmt::format("the equation of `{}`", field.name), scope));
      continue;
    }
    const Value v = lower.value(e, scope);
    for (const Expr u : algebra_coordinates(d, *field.algebra, v, field.name, e.span))
      result.push_back(u);
  }
  return result;
}

}  // namespace

std::vector<Expr> by_array(const Declared& d, const StateField& field, const Value& v) {
  if (field.algebra) return algebra_coordinates(d, *field.algebra, v, field.name, field.span);
  std::vector<Expr> result(field.arrays.size());
  for (std::size_t k = 0; k < field.cells.size(); ++k) {
    const int cell = field.cells[k];
    if (field.complex) {
      result[2 * cell] = v.parts[k].re;
      result[2 * cell + 1] = v.parts[k].im ? v.parts[k].im : d.arena().integer(0);
    } else {
      result[cell] = v.parts[k].re;
    }
  }
  return result;
}

namespace {

/// c in the momentum a^c*u': the number in a friction -c*H*u' (docs/rules.md rule 19), 0 where
/// there is none.
Expr momentum_weight(const Theory& d, Expr right, int velocity) {
  Arena& arena = d.arena();
  if (!d.expanding()) return arena.integer(0);
  const Expr v = arena.load(velocity);
  if (!algebra::depends_on(right, v)) return arena.integer(0);
  Expr slope = algebra::local_derivative(right, v);
  slope = algebra::local_derivative(slope, d.hubble());
  const auto number = algebra::constant(slope);
  return number ? arena.number(*number) * arena.integer(-1) : arena.integer(0);
}

}  // namespace

/// The rates of all fields. Those of a Hamiltonian are known already (read_hamiltonian); an
/// equation that is written replaces them.
Rates equations_of_motion(const Equations& known, bool keep_parameters) {
  Equations d = known;
  std::map<int, Expr> from_lagrangian;
  if (d.lagrangian) from_lagrangian = accelerations(d, keep_parameters);
  for (const StateField& field : d.fields) {
    if (field.hamiltonian && !d.facts.equation(field.name)) continue;
    if (field.conserved || field.primitive) continue;
    Lowerer lower(d, keep_parameters);
    const EquationFact* fact = d.facts.equation(field.name);
    const std::vector<Expr> right =
        of_each_axis(fact, field)
            ? right_sides_of_axes(d, lower, field)
            : by_array(d, field, right_side(d, lower, field, from_lagrangian));
    const auto& sources = d.lagrangian ? d.facts.lagrangians : d.facts.potentials;
    const dsl::Span span = fact ? fact->span : sources.empty() ? field.span : sources.front()->span;
    for (std::size_t i = 0; i < field.arrays.size(); ++i) {
      const int array = field.order == 2 ? field.velocities[i] : field.arrays[i];
      d.rates[array] = right[i];
      d.rate_spans[field.arrays[i]] = d.rate_spans[array] = span;
      if (field.order == 2) d.weights[field.arrays[i]] = momentum_weight(d, right[i], array);
    }
  }
  return {d.rates, d.rate_spans, d.weights};
}

// ---- variables
// -----------------------------------------------------------------------------------

namespace {

struct Naming {
  std::string name, shown;
};

/// phi, phi_re, u_0_re: plain ASCII; and as the user reads it: phi, re(phi), u[0].
Naming component_name(const StateField& field, std::size_t array) {
  const int cell = static_cast<int>(field.complex ? array / 2 : array);
  Naming naming{field.name, field.name};
  if (field.cells.size() > 1) {
    int place = 0;
    while (field.cells[place] != cell) ++place;
    const int row = place / field.columns, column = place % field.columns;
    naming.name += fmt::format("_{}", row);
    naming.shown +=
        field.columns > 1 ? fmt::format("[{},{}]", row, column) : fmt::format("[{}]", row);
    if (field.columns > 1) naming.name += fmt::format("_{}", column);
  }
  if (field.complex) {
    const char* part = array % 2 == 0 ? "re" : "im";
    naming.name += fmt::format("_{}", part);
    naming.shown = fmt::format("{}({})", part, naming.shown);
  }
  return naming;
}

std::string with_prime(const std::string& shown) {
  if (!shown.empty() && shown.back() == ')') return shown.substr(0, shown.size() - 1) + "')";
  return shown + "'";
}

}  // namespace

std::vector<Variable> program_equations(const Motion& d, ProgramUnits& units) {
  std::vector<Variable> variables;
  for (const StateField& field : d.fields) {
    if (field.primitive) continue;
    for (std::size_t i = 0; i < field.arrays.size(); ++i) {
      const Naming naming = component_name(field, i);
      const int array = field.arrays[i];
      Variable u;
      u.name = naming.name;
      u.shown = naming.shown;
      u.array = array;
      if (const auto span = d.rate_spans.find(array); span != d.rate_spans.end())
        u.span = span->second;
      if (field.periodic) {
        if (d.rescaled() && field.order == 2 && !d.rescaling.r.is_zero()) {
          d.fail(errors::not_yet(field.span, "an angle stored as a^r times its value"));
        }
        const auto unit = algebra::constant(d.rescaling.A);  // of what is stored
        u.period = angle_period(d, field) * (unit ? static_cast<double>(unit->real) : 1);
      }
      u.field = static_cast<int>(&field - d.fields.data());
      u.component = static_cast<int>(i);
      u.frozen = field.drawn != nullptr;
      if (field.order == 2) {
        const int velocity = field.velocities[i];
        const Expr c = d.weights.at(array);
        u.role = Role::Coordinate;
        u.partner = velocity;
        u.rate = units.coordinate_rate(velocity, c);
        Variable v;
        v.name = (d.rescaled() ? "rate_" : "pi_") + naming.name;
        v.shown = with_prime(naming.shown);
        v.array = velocity;
        v.role = Role::Momentum;
        v.partner = array;
        v.field = u.field;
        v.component = u.component;
        v.rate = units.momentum_rate(d.rates.at(velocity), velocity, c);
        v.span = u.span;
        variables.push_back(std::move(u));
        variables.push_back(std::move(v));
        continue;
      }
      // the operations of a flux scheme keep their order
      u.rate =
          field.conserved ? d.rates.at(array) : units.first_order_rate(d.rates.at(array), array);
      variables.push_back(std::move(u));
    }
  }
  // canonical pairs of a written Hamiltonian: coordinate, momentum, coordinate, ...
  const StateField* coordinate = nullptr;
  for (const StateField& field : d.fields) {
    if (!field.hamiltonian) continue;
    if (!coordinate) {
      coordinate = &field;
      continue;
    }
    if (coordinate->matrices()) {  // numbers of links have no momenta one by one
      for (Variable& v : variables) {
        if (coordinate->place(v.array) >= 0) v.role = Role::Coordinate;
        if (field.place(v.array) >= 0) v.role = Role::Momentum;
      }
      coordinate = nullptr;
      continue;
    }
    for (std::size_t i = 0; i < field.arrays.size(); ++i) {
      for (Variable& v : variables) {
        if (v.array == coordinate->arrays[i])
          v.role = Role::Coordinate, v.partner = field.arrays[i];
        if (v.array == field.arrays[i]) v.role = Role::Momentum, v.partner = coordinate->arrays[i];
      }
    }
    coordinate = nullptr;
  }
  std::ranges::sort(variables, {}, &Variable::array);
  return variables;
}

void show_equations(const Program& d, System& system) {
  const auto variable = [&](int array) {
    for (const Variable& v : system.variables) {
      if (v.array == array) return v;
    }
    return Variable{};
  };
  // once more with the parameters as symbols
  const bool links = moves_links(system.dynamics);
  try {
    Equations shown = d;
    static_cast<Potentials&>(shown) = read_potentials(shown, true);
    static_cast<Lagrangian&>(shown) = read_lagrangian(shown, true);
    static_cast<Hamiltonian&>(shown) = read_hamiltonian(shown, true);
    if (!links) shown.rates = equations_of_motion(shown, true).rates;
    for (auto& [array, rate] : shown.rates)
      if (shown.curvature)
        rate = algebra::substitute(rate, shown.curvature_scalar, d.arena().symbol("R"));
    for (const StateField& field : d.fields) {
      if (links) break;                                  // actions instead of equations
      if (field.conserved || field.primitive) continue;  // shown by show_laws
      if (field.drawn) continue;
      for (std::size_t i = 0; i < field.arrays.size(); ++i) {
        const int array = field.order == 2 ? field.velocities[i] : field.arrays[i];
        system.physical.push_back(
            {with_prime(variable(array).shown), shown.rates.at(array), variable(array).span});
      }
    }
  } catch (const Failure&) {
    // reported when the equations were derived the first time
  }
  Arena& arena = d.arena();
  if (d.background.metric == Metric::SelfConsistent) {
    system.physical.push_back(
        {"H^2", hubble2(d, arena.make(Op::Mean, {arena.symbol("rho")})), d.background.span});
  } else if (d.background.metric == Metric::Prescribed) {
    system.physical.push_back({d.background.scale, d.background.prescribed, d.background.span});
  }
  for (const ShownEquation& action : shown_actions(system.dynamics))
    system.physical.push_back(action);
  for (const Variable& v : system.variables) {
    if (system.conservation || links) break;
    if (v.frozen) continue;
    system.program.push_back({fmt::format("d({})/d(eta)", v.name), v.rate, v.span});
  }
  for (const ScalarVariable& s : system.scalars) {
    system.program.push_back({fmt::format("d({})/d(eta)", s.symbol), s.rate, d.background.span});
  }
  for (const auto& [name, fact] : d.facts.named) {
    if (fact.kind != NamedFact::Kind::Parameter) continue;
    Lowerer lower(d);
    const auto number = algebra::constant(lower.real(*fact.value, name));
    if (number) system.folded.emplace_back(name, static_cast<double>(number->real));
  }
}

}  // namespace vphi::physics
