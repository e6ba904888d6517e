// Motion in the text: potentials, a written Hamiltonian, equations and the background, and their
// declarations.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "dsl/equations.hpp"
#include "tools/oracle/text/slope.hpp"
#include "tools/oracle/text/written_scope.hpp"

namespace vphi::tools {

using dsl::ExprKind;
using physics::NamedFact;

namespace {

constexpr long double kWrittenPi = std::numbers::pi_v<long double>;

}  // namespace

// ---- sources of motion --------------------------------------------------------------------------

long double Written::potential_at(const Place& place) {
  long double v = 0;
  for (const NamedFact* fact : facts_.potentials) v += real(*fact->value, {}, &place);
  return v;
}

void Written::terms(const dsl::Expr& e, long double sign, bool total,
                    std::vector<Term>& out) const {
  if (e.kind == ExprKind::Binary && (e.text == "+" || e.text == "-")) {
    terms(*e.args[0], sign, total, out);
    terms(*e.args[1], e.text == "-" ? -sign : sign, total, out);
  } else if (e.kind == ExprKind::Unary && e.text == "-") {
    terms(*e.args[0], -sign, total, out);
  } else if (e.kind == ExprKind::Call && e.text == "total" && !total && e.args.size() == 1 &&
             e.named.empty() && !facts_.find(e.text)) {
    terms(*e.args[0], sign, true, out);
  } else {
    const NamedFact* fact = e.kind == ExprKind::Name ? facts_.find(e.text) : nullptr;
    const bool names =
        fact && !fields.contains(e.text) &&
        (fact->kind == NamedFact::Kind::Definition || fact->kind == NamedFact::Kind::Potential);
    if (names)
      terms(*fact->value, sign, total, out);
    else
      out.push_back({&e, sign, total});
  }
}

long double Written::slope_of(const std::vector<Term>& terms, long double& u, long double scale) {
  const long double here = u;
  return slope_along(terms, step * scale, [&](long double by) { u = here + by; });
}

long double Written::slope_along(const std::vector<Term>& terms, long double h,
                                 const std::function<void(long double)>& move) {
  const OtherState nothing(*this, 0, root_);
  const auto profile = [&](const Term& term, int steps) {
    move(steps * h);
    std::vector<long double> values;
    const auto add = [&](const Place& p) {
      Numbers v = at(*term.text, {}, &p);
      values.push_back(v.parts.at(0).real());
      return v;
    };
    try {
      if (term.total)
        summed(add);
      else
        try {
          values.push_back(real(*term.text, {}, nullptr));
        } catch (const NeedsPlace&) {
          values.clear();
          summed(add);
        }
    } catch (...) {
      move(0);
      throw;
    }
    move(0);
    return values;
  };
  long double slope = 0;
  for (const Term& term : terms) {
    const auto a = profile(term, 1), b = profile(term, -1), c = profile(term, 2),
               d = profile(term, -2);
    for (std::size_t i = 0; i < a.size(); ++i)
      slope += term.sign * slope_of_four(d.at(i), b.at(i), a[i], c.at(i), h);
  }
  return slope;
}

std::vector<long double> Written::from_potential(const WrittenField& field, int site) {
  const Place place = box.place(site);
  WrittenField& f = fields.at(field.name);
  dsl::Expr u;
  u.kind = ExprKind::Name;
  u.text = f.name;
  std::vector<long double> result(static_cast<std::size_t>(f.reals()));
  const Numbers waves = box.dims > 0 ? laplacian(u, {}, place) : Numbers{};
  const long double norm = f.complex ? 2 : 1;
  const auto n = static_cast<std::size_t>(f.columns);
  std::vector<Term> potential;
  for (const NamedFact* fact : facts_.potentials) terms(*fact->value, 1, true, potential);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (i % 2 == 1 && !f.complex) continue;
    const std::size_t at = static_cast<std::size_t>(site * f.reals()) + i;
    const std::size_t k = i / 2, other = k % n * n + k / n;
    const bool twice = f.symmetric && other != k;
    // an off-diagonal component of a symmetric field stands at two places
    long double force = slope_of(potential, f.values[at], f.scale);
    if (twice)
      force += slope_of(potential, f.values[static_cast<std::size_t>(site * f.reals()) + 2 * other],
                        f.scale);
    const long double wave =
        box.dims > 0 ? (i % 2 == 0 ? waves.parts[k].real() : waves.parts[k].imag()) : 0;
    const long double thinned = 3 * hubble + (cells.growth ? cells.growth(place) : 0);
    result[i] = wave / (a * a) - thinned * f.rates[at] - force / (norm * (twice ? 2 : 1));
  }
  return result;
}

WrittenField& Written::partner_of(const WrittenField& field) {
  const std::set<std::string> canonical = dsl::canonical_names(resolved_);
  std::vector<std::string> line;
  for (const physics::FieldFact& fact : facts_.fields)
    if (!facts_.equation(fact.name) || canonical.contains(fact.name)) line.push_back(fact.name);
  const auto place = std::find(line.begin(), line.end(), field.name);
  const auto i = static_cast<std::size_t>(place - line.begin());
  if (place == line.end() || (i ^ 1) >= line.size())
    throw NotCovered{facts_.find("H")->span, "the partner of `" + field.name + "`"};
  const auto found = fields.find(line[i ^ 1]);
  if (found == fields.end())
    throw NotCovered{facts_.find("H")->span, "the partner of `" + field.name + "`"};
  return found->second;
}

std::vector<Written::Term> Written::terms_of_hamiltonian() const {
  std::vector<Term> parts;
  terms(*facts_.find("H")->value, 1, false, parts);
  return parts;
}

std::vector<long double> Written::from_hamiltonian(const WrittenField& field, int site,
                                                   std::optional<std::size_t> only) {
  WrittenField& partner = partner_of(field);
  bool momentum = false;  // the second of its pair
  for (const physics::FieldFact& fact : facts_.fields) {
    if (fact.name == field.name) break;
    momentum = momentum || fact.name == partner.name;
  }
  const long double sign = momentum ? -1 : 1, norm = field.complex ? 2 : 1;
  const std::vector<Term> parts = terms_of_hamiltonian();
  std::vector<long double> result(static_cast<std::size_t>(field.reals()));
  for (std::size_t k = 0; k < result.size(); ++k) {
    if ((k % 2 == 1 && !field.complex) || (only && *only != k)) continue;
    const WrittenField& links = field.phase ? field : partner;
    if (links.phase && stays(links, site, static_cast<int>(k / 2))) continue;
    if (partner.colours > 0) {  // the momentum of a link
      for (const Term& term : parts)
        if (!term.total) throw NotCovered{term.text->span, "a force on links outside of `total`"};
      const auto columns = static_cast<std::size_t>(field.columns);
      if (stays(partner, site, static_cast<int>(k / 2 / columns))) continue;
      const int axis = static_cast<int>(k / 2 / columns), a = static_cast<int>(k / 2 % columns);
      result[k] = turn_of_momentum(partner, site, axis, a) -
                  along_link(parts, partner, site, axis, a, false).first;
      continue;
    }
    long double& u = partner.values[static_cast<std::size_t>(site * partner.reals()) + k];
    result[k] = sign / norm * slope_of(parts, u, partner.scale);
  }
  return result;
}

/// A momentum turns with its link: i[w, E], and 0 where that is within what slopes are off.
long double Written::turn_of_momentum(const WrittenField& links, int site, int axis, int a) {
  constexpr long double kOff = 1e-9L;  // of slopes, relative
  const WrittenField& momentum = partner_of(links);
  std::vector<long double> velocity, own;
  long double size = 0, own_size = 0;
  for (int b = 0; b < momentum.columns; ++b) {
    velocity.push_back(link_velocity(links, site, axis, b));
    own.push_back(momentum.values[static_cast<std::size_t>(site * momentum.reals()) +
                                  2 * static_cast<std::size_t>(axis * momentum.columns + b)]);
  }
  for (const long double w : velocity) size = std::max(size, std::fabs(w));
  for (const long double e : own) own_size = std::max(own_size, std::fabs(e));
  const long double turn = bracket_along(links.colours, velocity, own, a);
  return std::fabs(turn) <= kOff * size * own_size ? 0 : turn;
}

long double Written::link_velocity(const WrittenField& links, int site, int axis, int a) {
  WrittenField& momentum = partner_of(links);
  if (momentum.algebra != links.colours) throw NotCovered{{}, "the momentum of these links"};
  if (stays(links, site, axis)) return 0;
  const auto place = static_cast<std::size_t>(site * momentum.reals()) +
                     2 * static_cast<std::size_t>(axis * momentum.columns + a);
  return slope_of(terms_of_hamiltonian(), momentum.values[place], momentum.scale);
}

std::vector<Written::Term> Written::terms_of_action(const std::string& name) const {
  const NamedFact* action = facts_.find(name);
  if (!action || !action->value) throw NotCovered{{}, "the action `" + name + "`"};
  const dsl::Expr* density = action->value.get();
  if (density->kind == ExprKind::Call && density->text == "total") density = density->args[0].get();
  std::vector<Term> parts;
  terms(*density, 1, true, parts);
  return parts;
}

long double Written::from_action(const std::string& name, const WrittenField& field, int site,
                                 std::size_t real) {
  WrittenField& f = fields.at(field.name);
  if (f.phase && stays(f, site, static_cast<int>(real))) return 0;
  long double& u = f.values[static_cast<std::size_t>(site * f.reals()) + real];
  return -slope_of(terms_of_action(name), u, f.scale);
}

long double Written::from_action(const std::string& name, const WrittenField& links, int site,
                                 int axis, int a) {
  WrittenField& f = fields.at(links.name);
  if (stays(f, site, axis)) return 0;
  const int n = f.colours;
  const auto first = static_cast<std::size_t>(site * f.reals() + axis * n * n * 2);
  std::vector<Complex> here;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n * n); ++i)
    here.emplace_back(f.values[first + 2 * i], f.values[first + 2 * i + 1]);
  return -slope_along(terms_of_action(name), step, [&](long double w) {
    const std::vector<Complex> u = w == 0 ? here : rotated_link(here, n, a, w);
    for (std::size_t i = 0; i < u.size(); ++i) {
      f.values[first + 2 * i] = u[i].real();
      f.values[first + 2 * i + 1] = u[i].imag();
    }
  });
}

Numbers Written::beside_derived(const dsl::Expr& e, const Scope& scope, const Place& place,
                                const std::vector<long double>* derived,
                                const WrittenField& field) {
  derived_ = derived;
  derived_of_ = &field;
  try {
    Numbers v = at(e, scope, &place);
    derived_ = nullptr;
    return v;
  } catch (...) {
    derived_ = nullptr;
    throw;
  }
}

std::vector<long double> Written::of_each_axis(const physics::EquationFact& fact,
                                               const WrittenField& field, int site,
                                               const std::vector<long double>& derived) {
  const dsl::Expr& e = *fact.definition->value;
  if (field.algebra != 0) throw NotCovered{e.span, "equations of momenta of links of SU(n)"};
  WrittenField one;
  std::vector<long double> result;
  for (int axis = 0; axis < field.rows; ++axis) {
    Scope scope;
    Local local;
    local.index = Index{axis, 1, Index::Kind::Direction};
    scope.names.emplace(fact.definition->head.args[0]->text, std::move(local));
    std::vector<long double> own;
    const auto first = derived.begin() + 2 * static_cast<std::ptrdiff_t>(axis);
    if (!derived.empty()) own.assign(first, first + 2);
    const Numbers v = beside_derived(e, scope, box.place(site), own.empty() ? nullptr : &own, one);
    result.push_back(v.parts.at(0).real());
    result.push_back(v.parts.at(0).imag());
  }
  return result;
}

std::vector<long double> Written::right_side(const physics::EquationFact& fact,
                                             const WrittenField& field, int site) {
  const dsl::Head& head = fact.definition->head;
  const Place place = box.place(site);
  std::vector<long double> derived;
  bool asked = false;
  const std::function<void(const dsl::Expr&)> look = [&](const dsl::Expr& e) {
    asked = asked || (e.kind == ExprKind::Name && e.text == "derived");
    for (const auto& arg : e.args) look(*arg);
  };
  look(*fact.definition->value);
  if (asked) derived = from_source(field, site);
  if (field.link && !head.args.empty()) return of_each_axis(fact, field, site, derived);
  Scope scope;
  if (!head.args.empty()) {
    Local local;
    local.index = Index{site, 1, Index::Kind::Body};
    scope.names.emplace(head.args[0]->text, std::move(local));
  }
  Numbers v =
      beside_derived(*fact.definition->value, scope, place, asked ? &derived : nullptr, field);
  const auto count = static_cast<std::size_t>(field.rows * field.columns);
  if (v.scalar() && count > 1) v.parts.assign(count, v.parts[0]);
  std::vector<long double> result;
  for (const Complex z : v.parts) {
    result.push_back(z.real());
    result.push_back(z.imag());
  }
  return result;
}

// ---- background ---------------------------------------------------------------------------------

void Written::set_background() {
  if (!prescribed_) return;
  const auto scale = [&] { return real(*prescribed_, {}, nullptr); };
  a = scale();
  hubble = difference_quotient(t, std::max(std::fabs(t), 1e-6L), scale) / a;
}

long double Written::planck2() {
  const dsl::Clause* units = resolved_.clause("units");
  for (const dsl::Item& item : units ? units->items : std::vector<dsl::Item>{})
    if (item.value && item.value->text == "planck") return 1 / (8 * kWrittenPi);
  return 1;
}

std::vector<long double> Written::from_source(const WrittenField& field, int site) {
  if (hamiltonian()) return from_hamiltonian(field, site);
  return facts_.lagrangians.empty() ? from_potential(field, site) : from_lagrangian(field, site);
}

bool Written::follows_lagrangian(const WrittenField& f) const {
  const physics::EquationFact* own = facts_.equation(f.name);
  const std::function<bool(const dsl::Expr&)> derived = [&](const dsl::Expr& e) {
    return (e.kind == ExprKind::Name && e.text == "derived") ||
           std::any_of(e.args.begin(), e.args.end(),
                       [&](const auto& arg) { return derived(*arg); });
  };
  return !own || derived(*own->definition->value);
}

bool Written::gravitates(const WrittenField& f) {
  if (f.order != 2 || !facts_.lagrangians.empty()) return false;
  const physics::EquationFact* own = facts_.equation(f.name);
  if (!own) return true;
  const std::function<bool(const dsl::Expr&, const std::string&, std::set<std::string>&)> names =
      [&](const dsl::Expr& e, const std::string& name, std::set<std::string>& seen) {
        if (e.kind == ExprKind::Name && e.text == name) return true;
        const NamedFact* fact =
            e.kind == ExprKind::Name || e.kind == ExprKind::Call || e.kind == ExprKind::Index
                ? facts_.find(e.text)
                : nullptr;
        if (fact && fact->value && seen.insert(e.text).second && names(*fact->value, name, seen))
          return true;
        return std::any_of(e.args.begin(), e.args.end(),
                           [&](const auto& arg) { return names(*arg, name, seen); });
      };
  std::set<std::string> seen;
  if (facts_.potentials.empty() || names(*own->definition->value, "derived", seen)) return true;
  for (const NamedFact* v : facts_.potentials) {
    seen.clear();
    if (names(*v->value, f.name, seen)) return true;
  }
  return false;
}

long double Written::energy_density(const Place& place) {
  const auto lagrangian = [&] { return lagrangian_without_curvature(place); };
  long double rho = potential_at(place) - lagrangian();
  if (!facts_.lagrangians.empty())  // the sum of u' dL/du', also of velocities at neighbours
    rho += difference_quotient(speed_, 1, lagrangian);
  if (curves()) {
    const OfCurvature r = of_curvature(place, false);
    rho -= 6 * hubble * (hubble * r.f + r.first);
  }
  for (const auto& [name, f] : fields) {
    if (!gravitates(f)) continue;
    const long double norm = f.complex ? 1 : 0.5L;
    const Numbers rate = field_at(f, place, true);
    for (const Complex z : rate.parts) rho += norm * std::norm(z);
    if (box.dims > 0) rho += norm * gradient_square(f, place) / (a * a);
  }
  const dsl::Clause* metric = resolved_.clause("metric");
  if (!metric) return rho;
  if (const auto r = dsl::option(*metric, "rho_r")) rho += real(*r, {}, nullptr) / (a * a * a * a);
  if (const auto m = dsl::option(*metric, "rho_m")) rho += real(*m, {}, nullptr) / (a * a * a);
  return rho;
}

/// The pressure of a potential is -V - (a/3) dV/da, the work that the volume does on it; that of a
/// Lagrangian, d(a^3 l, a)/(3 a^2), has the same form.
long double Written::pressure(const Place& place) {
  const auto source = [&] { return lagrangian_without_curvature(place) - potential_at(place); };
  long double p = source();
  if (expanding()) p += a / 3 * difference_quotient(a, a, source);
  if (curves()) {
    if (!hubble_rate) throw NotCovered{{}, "the pressure of what couples to R"};
    const OfCurvature r = of_curvature(place, true);
    p += 2 * r.f * (2 * *hubble_rate + 3 * hubble * hubble) + 4 * hubble * r.first + 2 * r.second;
  }
  for (const auto& [name, f] : fields) {
    if (!gravitates(f)) continue;
    const long double norm = f.complex ? 1 : 0.5L;
    const Numbers rate = field_at(f, place, true);
    for (const Complex z : rate.parts) p += norm * std::norm(z);
    if (box.dims > 0) p -= norm * gradient_square(f, place) / (3 * a * a);
  }
  const dsl::Clause* metric = resolved_.clause("metric");
  if (!metric) return p;
  if (const auto r = dsl::option(*metric, "rho_r"))
    p += real(*r, {}, nullptr) / (3 * a * a * a * a);
  return p;
}

long double Written::fluid_density(const char* name, long double power) {
  const dsl::Clause* metric = resolved_.clause("metric");
  const auto v = metric ? dsl::option(*metric, name) : nullptr;
  return v ? real(*v, {}, nullptr) / std::pow(a, power) : 0;
}

long double Written::mean_density() {
  if (hamiltonian())
    return functional(*facts_.find("H")->value, {}).real() / (a * a * a * box.sites()) +
           fluid_density("rho_r", 4) + fluid_density("rho_m", 3);
  long double rho = 0;
  for (int s = 0; s < box.sites(); ++s) rho += energy_density(box.place(s)) / box.sites();
  return rho;
}

Written::Energies Written::energies() {
  Energies mean{mean_density(), 0};
  if (hamiltonian()) {
    const auto value = [&] { return functional(*facts_.find("H")->value, {}).real(); };
    mean.p = -difference_quotient(a, a, value) / (3 * a * a * box.sites()) +
             fluid_density("rho_r", 4) / 3;
    return mean;
  }
  for (int s = 0; s < box.sites(); ++s) mean.p += pressure(box.place(s)) / box.sites();
  return mean;
}

// ---- declarations -------------------------------------------------------------------------------

void Written::read_box(int dims, const std::array<int, 4>& extent) {
  box.dims = dims;
  box.extent = extent;
  weights_.clear();
  const dsl::Clause* lattice = resolved_.clause("lattice");
  if (!lattice) return;
  for (const dsl::Item& item : lattice->items) {
    if (!item.head || !item.value) continue;
    if (item.head->name == "length") box.dx = real(*item.value, {}, nullptr) / extent[0];
    if (item.head->name == "spacing") box.dx = real(*item.value, {}, nullptr);
  }
  read_walls(*lattice, box.walls);
}

void Written::read_walls(const dsl::Clause& clause, WallsWritten& walls) {
  const auto set = [&](std::size_t axis, const dsl::Expr& e) {
    static const std::map<std::string, Wall, std::less<>> kWalls{
        {"periodic", Wall::Periodic}, {"antiperiodic", Wall::Antiperiodic},
        {"fixed", Wall::Fixed},       {"neumann", Wall::Neumann},
        {"outflow", Wall::Outflow},   {"twisted", Wall::Twisted},
        {"open", Wall::Open},
    };
    if (e.text == "shifted") {
      walls.wall.at(axis) = Wall::Periodic;
      for (const dsl::NamedArgument& along : e.named)
        walls.shift.at(axis).at(static_cast<std::size_t>(axis_named(along.name))) =
            static_cast<int>(real(*along.value, {}, nullptr));
      return;
    }
    const auto wall = kWalls.find(e.text);
    if (wall == kWalls.end()) throw NotCovered{e.span, "the boundary `" + e.text + "`"};
    const bool held = clause.keyword == "gauge" && wall->second == Wall::Fixed;
    walls.wall.at(axis) = held ? Wall::Held : wall->second;
    walls.fixed.at(axis) = e.args.empty() ? 0 : real(*e.args[0], {}, nullptr);
  };
  for (const dsl::Item& item : clause.items) {
    if (!item.head || !item.value || item.head->name != "boundary") continue;
    const dsl::Expr& v = *item.value;
    if (item.head->form == dsl::Head::Form::Function) {
      for (const auto& axis : item.head->args)
        set(static_cast<std::size_t>(axis_named(axis->text)), v);
    } else {
      for (std::size_t k = 0; k < static_cast<std::size_t>(box.dims); ++k)
        set(k, v.kind == ExprKind::List ? *v.args.at(k) : v);
    }
  }
}

void Written::declare(int sites) {
  std::map<std::string, int> orders;
  for (const physics::EquationFact& fact : facts_.equations)
    orders[fact.definition->head.name] = fact.definition->head.primes;
  const auto add = [&](WrittenField f, bool primitive) {
    const auto order = orders.find(f.name);
    if (order != orders.end())
      f.order = order->second;
    else if (!primitive && !hamiltonian() &&
             (!facts_.potentials.empty() || !facts_.lagrangians.empty()))
      f.order = 2;
    const auto size = static_cast<std::size_t>(sites * f.reals());
    f.values.assign(size, 0);
    if (f.order == 2) f.rates.assign(size, 0);
    fields.insert_or_assign(f.name, std::move(f));
  };
  for (const physics::FieldFact& fact : facts_.fields) {
    WrittenField f;
    f.name = fact.name;
    f.particle = fact.particle;
    f.walls = box.walls;
    if (fact.line && fact.field) read_walls(*fact.line, f.walls);
    const std::string type = fact.type ? fact.type->text : "real";
    const auto size = [&](std::size_t i) {
      return static_cast<int>(real(*fact.type->args.at(i), {}, nullptr));
    };
    const auto option = [&](const char* name) -> const dsl::Expr* {
      if (!fact.line) return nullptr;
      for (const dsl::Item& item : fact.line->items)
        if (item.head && item.head->name == name) return item.value.get();
      return nullptr;
    };
    if (fact.gauge) {
      f.link = true;
      f.rows = box.dims;
      f.phase = type == "U" || type == "Z";
      if (type == "Z") f.roots = size(0);
      if (type == "SU") {
        f.colours = size(0);
        f.rows = box.dims * f.colours;
        f.columns = f.colours;
        f.complex = true;
      } else if (type == "su") {
        f.algebra = size(0);
        f.columns = f.algebra * f.algebra - 1;
      } else if (!f.phase && type != "real") {
        continue;  // what names it is not covered
      }
    } else if (type == "su") {
      f.algebra = size(0);
      f.rows = f.algebra * f.algebra - 1;
    } else if (type == "complex") {
      f.complex = true;
    } else if (type == "angle") {
      f.period = fact.type->args.empty() ? 2 * kWrittenPi : real(*fact.type->args[0], {}, nullptr);
    } else if (type == "vec") {
      f.rows = size(0);
      f.complex = fact.type->args.size() > 1;
      if (const dsl::Expr* norm = option("norm")) f.norm = real(*norm, {}, nullptr);
    } else if (type == "int") {
      const dsl::Expr* values = option("values");
      if (!values) continue;
      if (values->kind == ExprKind::Range) {
        const long double last = real(*values->args.at(1), {}, nullptr);
        for (long double v = real(*values->args.at(0), {}, nullptr); v <= last; ++v)
          f.allowed.push_back(v);
      } else {
        for (const auto& one : values->args) f.allowed.push_back(real(*one, {}, nullptr));
      }
    } else if (type == "sym" || type == "mat") {
      f.rows = size(0);
      f.columns = type == "sym" ? f.rows : size(1);
      f.symmetric = type == "sym";
    } else if (type != "real") {
      continue;
    }
    add(std::move(f), fact.primitive);
  }
  for (const auto& [name, symbol] : resolved_.symbols) {  // w[i] ~ cauchy(0, 1)
    if (symbol.kind != dsl::SymbolKind::Drawn) continue;
    WrittenField f;
    f.name = name;
    f.particle = symbol.indexed;
    add(std::move(f), false);
  }
}

}  // namespace vphi::tools
