// Densities, fluxes and sources of conservation laws, of one cell; recovery: written_recovery.cpp.
#include "tools/oracle/text/written_fluid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tools/oracle/text/slope.hpp"
#include "tools/oracle/text/written_scope.hpp"

namespace vphi::tools {

using dsl::ExprKind;

Numbers together(const Cell& cell, int first, int size) {
  std::vector<Complex> parts;
  for (int i = 0; i < size; ++i) parts.emplace_back(cell.at(static_cast<std::size_t>(first + i)));
  return Numbers::vector(std::move(parts));
}

Numbers Written::value(const dsl::Expr& e, const Given& given, const Place* place) {
  Scope scope;
  scope.dynamic = true;
  for (const auto& [name, numbers] : given.values) {
    Local local;
    local.fixed = numbers;
    scope.names.emplace(name, std::move(local));
  }
  for (const auto& [name, formula] : given.formulas) {
    Local local;
    local.text = formula;
    local.scope = &scope;
    scope.names.emplace(name, std::move(local));
  }
  for (const auto& [name, of_place] : given.places) {
    Local local;
    local.of_place = of_place;
    scope.names.insert_or_assign(name, std::move(local));
  }
  for (const auto& [name, axis] : given.axes) {
    Local local;
    local.index = Index{axis, 1, Index::Kind::Direction};
    scope.names.emplace(name, std::move(local));
  }
  if (!root_) known_.clear();
  const OtherState other(*this, ++states_, &scope);
  try {
    return at(e, scope, place);
  } catch (const NeedsPlace&) {
    throw NotCovered{e.span, "a value of each site where a number is meant"};
  }
}

// ---- what the model says --------------------------------------------------------------------

WrittenFluid::WrittenFluid(const dsl::Resolved& resolved, Written& text)
    : resolved_(resolved), text_(text) {
  int first = 0;
  for (const physics::FieldFact& fact : text.facts().fields) {
    if (!fact.primitive) continue;
    const int size = text.fields.at(fact.name).rows;
    primitives_.push_back({fact.name, size, first});
    first += size;
    text.fields.erase(fact.name);
  }
  first = 0;
  for (const dsl::Clause* clause : resolved.clauses("conserve")) {
    Law law;
    law.item = &clause->items.front();
    const std::string& name = law.item->head->name;
    const dsl::Symbol* symbol = resolved.find(name);
    const bool vector = symbol && symbol->type.base == dsl::Type::Base::Vector;
    quantities_.push_back({name, vector ? symbol->type.rows : 1, first});
    first += quantities_.back().size;
    for (const dsl::Item* right : dsl::positional(*clause)) law.right.push_back(right->value.get());
    laws_.push_back(std::move(law));
  }
  for (const dsl::Clause* clause : resolved.clauses("relax")) {
    Law law;
    law.item = &clause->items.front();
    if (const dsl::ExprPtr time = dsl::option(*clause, "time")) law.time = time.get();
    if (const dsl::ExprPtr along = dsl::option(*clause, "along")) law.along = along.get();
    for (Name& p : primitives_) {
      if (p.name != law.item->head->name) continue;
      p.relaxed = true;
      quantities_.push_back({p.name, p.size, first, true});
      first += p.size;
    }
    laws_.push_back(std::move(law));
  }
  for (const physics::FieldFact& fact : text.facts().fields) {
    if (fact.primitive) continue;
    const WrittenField& field = text.fields.at(fact.name);
    if (field.complex || field.columns > 1 || field.symmetric) continue;  // read in sources alone
    const int end = components(true);
    quantities_.push_back({fact.name, field.rows, first, false, true});
    primitives_.push_back({fact.name, field.rows, end, false, true});
    first += field.rows;
  }
  if (const dsl::Clause* metric = resolved.clause("metric")) {
    const dsl::Expr& form = *metric->items.front().value;
    if (form.text == "scale")
      for (const dsl::ExprPtr& factor : form.args) factors_.push_back(factor.get());
    if (form.text == "frw") factors_.assign(3, nullptr);
    read_expanding(*metric);
  }
  const dsl::Clause* recover = resolved.clause("recover");
  if (!recover) return;  // fields alone, of whose coordinates this knows
  for (const dsl::Line& line : recover->body) {
    if (line.kind == dsl::Line::Kind::Definition)
      facts_[line.definition.head.name] = line.definition.value.get();
    if (line.kind != dsl::Line::Kind::Clause || line.clause.keyword != "solve") continue;
    WrittenSolve& solve = solves_.emplace_back();
    for (const dsl::Item& item : line.clause.items) {
      const auto number = [&] { return text_.value(*item.value, nullptr).parts[0].real(); };
      if (!item.head) {
        if (item.value) solve.name = item.value->text;
        for (const auto& [word, method] : item.words)
          if (word == "by" && method) solve.iterates = method->text == "fixed_point";
        for (const Name& p : primitives_)
          if (p.name == solve.name) solve.size = p.size;
      } else if (item.head->name == "start") {
        solve.start = item.value.get();
      } else if (item.head->name == "from") {
        solve.from = number();
      } else if (item.head->name == "to") {
        solve.to = number();
      }
    }
  }
}

int WrittenFluid::components(bool of_primitives) const {
  const auto& names = of_primitives ? primitives_ : quantities_;
  return names.empty() ? 0 : names.back().first + names.back().size;
}

int WrittenFluid::components_beside() const {
  int count = 0;
  for (const Name& name : primitives_) count += name.beside ? name.size : 0;
  return count;
}

Written::Given WrittenFluid::given(const Cell* quantities, const Cell* primitives) const {
  Written::Given names;
  if (quantities)
    for (const Name& q : quantities_) names.values[q.name] = together(*quantities, q.first, q.size);
  if (primitives)
    for (const Name& p : primitives_) names.values[p.name] = together(*primitives, p.first, p.size);
  return names;
}

Cell WrittenFluid::densities(const Cell& primitives, const Place& place) {
  const Written::Given names = given(nullptr, &primitives);
  Cell cell;
  for (const Law& law : laws_) {
    const Numbers v = law.time ? names.values.at(law.item->head->name)
                               : text_.value(*law.item->value, names, &place);
    for (const Complex z : v.parts) cell.push_back(z.real());
  }
  for (const Name& p : primitives_)
    for (int i = 0; p.beside && i < p.size; ++i)
      cell.push_back(primitives.at(static_cast<std::size_t>(p.first + i)));
  return cell;
}

// ---- fluxes ---------------------------------------------------------------------------------

int WrittenFluid::axis_of(const dsl::Expr& e) const {
  constexpr const char* kAxes[] = {"x", "y", "z"};
  for (int axis = 0; axis < dims() && axis < 3; ++axis)
    if (e.kind == ExprKind::Name && e.text == kAxes[axis]) return axis;
  return -1;
}

/// M*v of two vectors is their outer product, rows first.
Numbers WrittenFluid::matrix(const dsl::Expr& e, const Written::Given& names, const Place& place) {
  if (e.kind == ExprKind::Unary && e.text == "-") {
    Numbers v = matrix(*e.args[0], names, place);
    for (Complex& z : v.parts) z = -z;
    return v;
  }
  const bool known = e.text == "*" || e.text == "+" || e.text == "-" || e.text == "/";
  if (e.kind != ExprKind::Binary || !known) return text_.value(e, names, &place);
  const Numbers x = matrix(*e.args[0], names, place), y = matrix(*e.args[1], names, place);
  if (e.text == "*" && x.rows > 1 && x.columns == 1 && y.rows > 1 && y.columns == 1) {
    Numbers outer{x.rows, y.rows, {}, 0};
    for (const Complex row : x.parts)
      for (const Complex column : y.parts) outer.parts.push_back(row * column);
    return outer;
  }
  if (e.text == "*") return multiplied(x, y);
  if (e.text == "/") {
    if (!y.scalar()) throw NotCovered{e.span, "a quotient by a vector in a flux"};
    return multiplied(x, Numbers::of(Complex(1) / y.parts[0]));
  }
  if (x.parts.size() != y.parts.size()) throw NotCovered{e.span, "a sum of two shapes in a flux"};
  Numbers sum = x;
  for (std::size_t i = 0; i < sum.parts.size(); ++i)
    sum.parts[i] += (e.text == "+" ? 1.0L : -1.0L) * y.parts[i];
  return sum;
}

void WrittenFluid::read_flux(const dsl::Expr& e, long double sign, const Written::Given& names,
                             const Place& place, std::size_t first, std::size_t size,
                             std::vector<Cell>& out) {
  const auto more = [&](const dsl::Expr& part, long double by) {
    read_flux(part, by, names, place, first, size, out);
  };
  const auto axes = static_cast<std::size_t>(dims());
  const auto call = [&](const char* name, std::size_t args) {
    return e.kind == ExprKind::Call && e.text == name && e.args.size() == args;
  };
  const auto part = [&](const Numbers& v, std::size_t i) {
    if (i >= v.parts.size()) throw NotCovered{e.span, "a flux of this shape"};
    return v.parts[i].real();
  };
  if (e.kind == ExprKind::Binary && (e.text == "+" || e.text == "-")) {
    more(*e.args[0], sign);
    more(*e.args[1], e.text == "-" ? -sign : sign);
  } else if (e.kind == ExprKind::Unary && e.text == "-") {
    more(*e.args[0], -sign);
  } else if (call("div", 1)) {
    const Numbers v = matrix(*e.args[0], names, place);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t k = 0; k < axes; ++k) out[first + i][k] += sign * part(v, i * axes + k);
  } else if (call("grad", 1)) {
    const Numbers v = text_.value(*e.args[0], names, &place);
    for (std::size_t i = 0; i < size; ++i) out[first + i].at(i) += sign * part(v, 0);
    isotropic_[first] += sign * part(v, 0);
  } else if (call("curl", 1)) {
    const Numbers v = text_.value(*e.args[0], names, &place);
    for (int k = axes == 2 ? 2 : 0; k < 3; ++k) {
      const auto i = static_cast<std::size_t>((k + 1) % 3),
                 j = static_cast<std::size_t>((k + 2) % 3);
      const long double field = part(v, axes == 2 ? 0 : static_cast<std::size_t>(k));
      out[first + i].at(j) += sign * field;
      out[first + j].at(i) -= sign * field;
    }
  } else if (call("d", 2) && axis_of(*e.args[1]) >= 0) {
    const Numbers v = text_.value(*e.args[0], names, &place);
    const auto k = static_cast<std::size_t>(axis_of(*e.args[1]));
    for (std::size_t i = 0; i < size; ++i) out[first + i][k] += sign * part(v, i);
  } else if (!fluxes_alone_) {  // on the other side of U' = -flux + source
    const Numbers v = text_.value(e, names, &place);
    for (std::size_t i = 0; i < size; ++i) out[first + i][axes] -= sign * part(v, i);
  }
}

std::vector<Cell> WrittenFluid::fluxes(const FluidCell& cell, const Place& place) {
  const Written::Given names =
      with_sources_ ? of_sources_ : given(&cell.quantities, &cell.primitives);
  std::vector<Cell> out(static_cast<std::size_t>(components(false)),
                        Cell(static_cast<std::size_t>(dims()) + 1));
  isotropic_.clear();
  for (std::size_t i = 0; i < laws_.size(); ++i)
    if (laws_[i].time) read_relaxation(laws_[i], quantities_[i], names, place, out);
  for (std::size_t i = 0; i < laws_.size(); ++i)
    for (const dsl::Expr* right : laws_[i].right)
      read_flux(*right, 1, names, place, static_cast<std::size_t>(quantities_[i].first),
                static_cast<std::size_t>(quantities_[i].size), out);
  if (in_coordinates()) turn(cell, place, out);
  return out;
}

/// X' + v.grad(X) = (target - X)/time as a law with the flux X*v.
void WrittenFluid::read_relaxation(const Law& law, const Name& name, const Written::Given& names,
                                   const Place& place, std::vector<Cell>& out) {
  const auto first = static_cast<std::size_t>(name.first), axes = static_cast<std::size_t>(dims());
  const auto value = [&](const dsl::Expr& e) { return text_.value(e, names, &place); };
  dsl::Expr own;
  own.kind = ExprKind::Name;
  own.text = name.name;
  const Numbers x = value(own);
  for (std::size_t i = 0; law.along && i < x.parts.size(); ++i) {
    const Numbers v = value(*law.along);
    for (std::size_t k = 0; k < axes; ++k)
      out[first + i][k] += x.parts[i].real() * v.parts.at(k).real();
  }
  if (!with_sources_) return;
  const Numbers target = value(*law.item->value);
  const long double time = value(*law.time).parts.at(0).real();
  const long double thinner = law.along ? divergence(*law.along, names, place) : 0;
  for (std::size_t i = 0; i < x.parts.size(); ++i) {
    const long double here = x.parts[i].real();
    out[first + i][axes] += (target.parts.at(i).real() - here) / time + here * thinner;
  }
}

/// Through both faces along each axis, as much as half of the values on their two sides.
long double WrittenFluid::divergence(const dsl::Expr& v, const Written::Given& names,
                                     const Place& place) {
  long double sum = 0;
  for (int axis = 0; axis < dims(); ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    const auto at = [&](int steps) {
      Place there = place;
      there[k] += steps;
      return there;
    };
    const auto of = [&](const Place& p) { return text_.value(v, names, &p).parts.at(k).real(); };
    const Place next = at(1), back = at(-1);
    const long double right = in_coordinates() ? area(place, axis) : 1;
    const long double left = in_coordinates() ? area(back, axis) : 1;
    const long double here = of(place);
    sum += (right * (here + of(next)) - left * (of(back) + here)) / 2;
  }
  return sum / text_.box.dx / (in_coordinates() ? volume(place) : 1);
}

Cell WrittenFluid::sources(const FluidCell& cell,
                           const std::function<Cell(const Place&)>& primitives,
                           const Cell& derivatives, const Place& place) {
  long double moved = 0;
  of_sources_ = given(&cell.quantities, nullptr);
  for (const Name& p : primitives_) {
    of_sources_.values.erase(p.name);
    if (p.beside) continue;  // as the text has it
    of_sources_.places[p.name] = [&, p](const Place& there) {
      Cell values = primitives(there);
      for (std::size_t i = 0; there == place && i < derivatives.size(); ++i)
        values[i] += moved * derivatives[i];
      return together(values, p.first, p.size);
    };
  }
  struct Within {
    WrittenFluid& fluid;
    ~Within() {
      fluid.with_sources_ = false;
      fluid.text_.moves = nullptr;
    }
  } within{*this};
  with_sources_ = true;
  text_.moves = &moved;
  // so short that no primitive variable moves by more than a small part of itself
  constexpr long double kPart = 1e-4L, kSmall = 0.1L;
  long double fastest = 1;
  for (std::size_t i = 0; i < derivatives.size(); ++i)
    fastest = std::max(
        fastest, std::fabs(derivatives[i]) / std::max(kSmall, std::fabs(cell.primitives.at(i))));
  text_.move_step = kPart / fastest;
  text_.was_moved = false;
  const std::vector<Cell> out = fluxes(cell, place);
  Cell result;
  for (const Cell& component : out) result.push_back(component.back());
  return result;
}

// ---- scale factors --------------------------------------------------------------------------

long double WrittenFluid::factor(std::size_t k, const Place& place,
                                 const std::array<int, 3>& halves) {
  if (!factors_.at(k)) return text_.a;
  const std::tuple key(text_.t, k, place, halves);
  if (const auto known = known_factors_.find(key); known != known_factors_.end())
    return known->second;
  constexpr const char* kAxes[] = {"x", "y", "z"};
  Written::Given names;
  long double square = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dims()); ++axis) {
    const long double first = static_cast<long double>(1 - text_.box.extent[axis]) / 2;
    const long double position =
        (first + place[axis] + static_cast<long double>(halves[axis]) / 2) * text_.box.dx;
    names.values[kAxes[axis]] = Numbers::of(position);
    square += position * position;
  }
  names.values["r"] = Numbers::of(std::sqrt(square));
  const long double value = text_.value(*factors_.at(k), names, &place).parts.at(0).real();
  constexpr std::size_t kMost = 100000;
  if (known_factors_.size() > kMost) known_factors_.clear();
  known_factors_.emplace(key, value);
  return value;
}

/// Simpson's mean over a cell, or over the face across the axis `without`.
long double WrittenFluid::mean(int without,
                               const std::function<long double(const std::array<int, 3>&)>& value) {
  long double sum = 0, weights = 0;
  for (int point = 0; point < 27; ++point) {
    const std::array<int, 3> halves{point % 3 - 1, point / 3 % 3 - 1, point / 9 - 1};
    long double weight = 1;
    bool meant = true;
    for (int axis = 0; axis < 3; ++axis) {
      const int half = halves[static_cast<std::size_t>(axis)];
      if (axis >= dims() || axis == without) meant = meant && half == 0;
      weight *= half == 0 ? 4 : 1;
    }
    if (!meant) continue;
    sum += weight * value(halves);
    weights += weight;
  }
  return sum / weights;
}

long double WrittenFluid::volume(const Place& place) {
  return mean(-1, [&](const std::array<int, 3>& at) {
    long double product = 1;
    for (std::size_t k = 0; k < factors_.size(); ++k) product *= factor(k, place, at);
    return product;
  });
}

long double WrittenFluid::area(const Place& place, int axis) {
  return mean(axis, [&](std::array<int, 3> at) {
    at[static_cast<std::size_t>(axis)] = 1;
    long double product = 1;
    for (std::size_t k = 0; k < factors_.size(); ++k)
      if (k != static_cast<std::size_t>(axis)) product *= factor(k, place, at);
    return product;
  });
}

long double WrittenFluid::widening(std::size_t k, const Place& place) {
  if (!factors_.at(k)) return text_.hubble;
  const long double now = text_.t, h = 1e-3L * std::max(1.0L, std::fabs(now));
  const auto after = [&](long double steps) {
    text_.t = now + steps * h;
    return factor(k, place);
  };
  const long double slope = slope_of_four(after(-2), after(-1), after(1), after(2), h);
  text_.t = now;
  return slope / factor(k, place);
}

Written::Cells WrittenFluid::cells() {
  if (!in_coordinates() || !factors_.front()) return {};
  Written::Cells cells;
  cells.volume = [this](const Place& place) { return volume(place); };
  cells.face_over_length = [this](const Place& place, int axis) {
    std::array<int, 3> face{};
    face[static_cast<std::size_t>(axis)] = 1;
    return area(place, axis) / factor(static_cast<std::size_t>(axis), place, face);
  };
  cells.growth = [this](const Place& place) {
    long double sum = 0;
    for (std::size_t k = 0; k < factors_.size(); ++k) sum += widening(k, place);
    return sum;
  };
  return cells;
}

/// `energy = E`, the momentum of which is the one vector among the laws, or lists of both.
void WrittenFluid::read_expanding(const dsl::Clause& metric) {
  const auto names = [&](const char* option) {
    std::vector<std::string> out;
    const dsl::ExprPtr given = dsl::option(metric, option);
    if (given && given->kind == ExprKind::List)
      for (const dsl::ExprPtr& one : given->args) out.push_back(one->text);
    else if (given && given->text != "none")
      out.push_back(given->text);
    return out;
  };
  const std::vector<std::string> energies = names("energy"), momenta = names("momentum");
  for (std::size_t i = 0; i < energies.size(); ++i) {
    std::string momentum = i < momenta.size() ? momenta[i] : std::string();
    for (const Name& q : quantities_)
      if (momentum.empty() && !q.beside && turns(q)) momentum = q.name;
    momentum_of_[energies[i]] = momentum;
  }
}

/// Whether it is a vector of components along the axes that is no field of a curl.
bool WrittenFluid::turns(const Name& q) const {
  const dsl::Symbol* symbol = resolved_.find(q.name);
  const bool vector = symbol && symbol->type.base == dsl::Type::Base::Vector;
  return !q.relaxed && vector && q.size == dims() && !of_curl(q);
}

bool WrittenFluid::of_curl(const Name& q) const {
  const std::vector<Name> all = curls();
  return std::any_of(all.begin(), all.end(), [&](const Name& c) { return c.name == q.name; });
}

long double WrittenFluid::energy_density(const Cell& quantities) const {
  long double rho = 0;
  for (const Name& q : quantities_)
    if (momentum_of_.count(q.name) > 0) rho += quantities.at(static_cast<std::size_t>(q.first));
  return rho;
}

Written::Energies WrittenFluid::energies(const FluidCell& cell, const Place& place) {
  Written::Energies sum{energy_density(cell.quantities), 0};
  const auto axes = static_cast<std::size_t>(dims());
  const std::vector<Cell> flux = fluxes(cell, place);
  for (const Name& q : quantities_) {
    const auto first = static_cast<std::size_t>(q.first);
    const bool presses = std::any_of(momentum_of_.begin(), momentum_of_.end(),
                                     [&](const auto& fluid) { return fluid.second == q.name; });
    for (std::size_t k = 0; presses && k < 3; ++k)
      sum.p += (k < axes ? flux[first + k][k] : isotropic_[first]) / 3;
  }
  return sum;
}

/// Sources of the frame: by how much each factor widens a cell along each axis and with time.
void WrittenFluid::turn(const FluidCell& cell, const Place& place, std::vector<Cell>& out) {
  const auto axes = static_cast<std::size_t>(dims()), count = factors_.size();
  const long double inside = volume(place) * text_.box.dx;
  const auto rate = [&](std::size_t k) { return widening(k, place); };
  const auto widens = [&](std::size_t k, std::size_t along) {
    return mean(static_cast<int>(along), [&](std::array<int, 3> at) {
      std::array<int, 3> back = at;
      at[along] = 1;
      back[along] = -1;
      long double right = 1, left = 1;
      for (std::size_t j = 0; j < count; ++j) {
        if (j == k || j == along) continue;
        right *= factor(j, place, at);
        left *= factor(j, place, back);
      }
      return (factor(k, place, at) - factor(k, place, back)) * (right + left) / 2;
    });
  };
  const std::vector<Cell> flux = out;
  const auto stress = [&](const Name& q, std::size_t k) {
    const auto first = static_cast<std::size_t>(q.first);
    return k < axes ? flux[first + k][k] : isotropic_[first];
  };
  for (const Name& q : quantities_) {
    if (q.relaxed || q.beside) continue;  // no density
    const auto fluid = momentum_of_.find(q.name);
    const bool vector = turns(q), crosses = of_curl(q);
    for (std::size_t i = 0; i < static_cast<std::size_t>(q.size); ++i) {
      const std::size_t c = static_cast<std::size_t>(q.first) + i;
      for (std::size_t k = 0; k < count; ++k) {
        const long double h = rate(k);
        if (!crosses || k != i) out[c][axes] -= h * cell.quantities[c];
        for (const Name& m : quantities_)
          if (fluid != momentum_of_.end() && m.name == fluid->second)
            out[c][axes] -= h * stress(m, k);
        if (!vector) continue;
        if (k == i) out[c][axes] -= h * cell.quantities[c];
        if (k == i) continue;
        out[c][axes] += stress(q, k) * widens(k, i) / inside;
        if (k < axes) out[c][axes] -= flux[c][k] * widens(i, k) / inside;
      }
    }
  }
}

long double WrittenFluid::of_cell(const dsl::Expr& option, const std::string& axis_name, int axis,
                                  const FluidCell& cell, const Place& place) {
  Written::Given names = given(&cell.quantities, &cell.primitives);
  names.axes[axis_name] = axis;
  const physics::NamedFact* fact =
      option.kind == ExprKind::Name ? text_.facts().find(option.text) : nullptr;
  if (!fact || fact->kind != physics::NamedFact::Kind::Indexed)
    return text_.value(option, names, &place).parts.at(0).real();
  dsl::Expr of_axis, index;
  index.kind = ExprKind::Name;
  index.text = axis_name;
  of_axis.kind = ExprKind::Index;
  of_axis.span = option.span;
  of_axis.args = {std::make_shared<dsl::Expr>(option), std::make_shared<dsl::Expr>(index)};
  return text_.value(of_axis, names, &place).parts.at(0).real();
}

long double WrittenFluid::over_cells(const dsl::Expr& e, const std::vector<FluidCell>& cells) {
  const auto part = [&](std::size_t i) { return over_cells(*e.args.at(i), cells); };
  const bool reduces = e.kind == ExprKind::Call && e.args.size() == 1 &&
                       (e.text == "max" || e.text == "min" || e.text == "mean");
  if (reduces) {
    Cell values;
    for (std::size_t s = 0; s < cells.size(); ++s) {
      const Place place = text_.box.place(static_cast<int>(s));
      const Written::Given names = given(&cells[s].quantities, &cells[s].primitives);
      values.push_back(text_.value(*e.args[0], names, &place).parts.at(0).real());
    }
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    if (e.text == "max") return *high;
    if (e.text == "min") return *low;
    return std::accumulate(values.begin(), values.end(), 0.0L) /
           static_cast<long double>(values.size());
  }
  if (e.kind == ExprKind::Unary && e.text == "-") return -part(0);
  if (e.kind == ExprKind::Binary) {
    if (e.text == "+") return part(0) + part(1);
    if (e.text == "-") return part(0) - part(1);
    if (e.text == "*") return part(0) * part(1);
    if (e.text == "/") return part(0) / part(1);
    if (e.text == "^") return std::pow(part(0), part(1));
  }
  if (e.kind == ExprKind::Call && (e.text == "max" || e.text == "min")) {
    long double value = part(0);
    for (std::size_t i = 1; i < e.args.size(); ++i)
      value = e.text == "max" ? std::max(value, part(i)) : std::min(value, part(i));
    return value;
  }
  return text_.value(e, nullptr).parts.at(0).real();
}

// ---- the start ------------------------------------------------------------------------------

Cell WrittenFluid::start(const Place& place) {
  Written::Given names;
  for (const dsl::Clause* clause : resolved_.clauses("init")) {
    for (const dsl::Item& item : clause->items) {
      if (!item.head || !item.value) continue;
      if (item.relation != dsl::Item::Relation::Equals || item.head->form != dsl::Head::Form::Plain)
        throw NotCovered{item.span, "a start that is drawn"};
      if (item.head->primes == 0) names.formulas[item.head->name] = item.value.get();
    }
  }
  const auto all = [&](const std::vector<Name>& wanted) {
    Cell cell;
    for (const Name& name : wanted) {
      const auto given = names.formulas.find(name.name);
      Numbers v = given == names.formulas.end() ? Numbers::of(0)
                                                : text_.value(*given->second, names, &place);
      if (v.scalar()) v.parts.resize(static_cast<std::size_t>(name.size), v.parts[0]);
      for (const Complex z : v.parts) cell.push_back(z.real());
    }
    return cell;
  };
  const bool conserved = std::any_of(quantities_.begin(), quantities_.end(), [&](const Name& q) {
    return !q.relaxed && !q.beside && names.formulas.contains(q.name);
  });
  return conserved ? all(quantities_) : densities(all(primitives_), place);
}

void WrittenFluid::put_given(FluidCell& cell, const Place& place, long double later) {
  const Box& box = text_.box;
  const Written::Given names = given(&cell.quantities, &cell.primitives);
  for (std::size_t k = 0; k < static_cast<std::size_t>(box.dims); ++k) {
    const bool low = place[k] < 0, high = place[k] >= box.extent[k];
    if (!low && !high) continue;
    Cell now = cell.primitives, then = now;
    bool any = false;
    for (const dsl::Clause* clause : resolved_.clauses("beyond")) {
      const dsl::Expr& where = *clause->items.front().value;
      const bool one = where.kind == ExprKind::Call;
      const dsl::Expr& axis = one ? *where.args[0] : where;
      if (axis.text != std::string(1, "xyz"[k]) || (one && (where.text == "low") != low)) continue;
      for (const dsl::Item& item : clause->items) {
        if (!item.head || !item.value) continue;
        const auto name = std::find_if(primitives_.begin(), primitives_.end(),
                                       [&](const Name& n) { return n.name == item.head->name; });
        const auto put = [&](Cell& into) {
          Numbers v = text_.value(*item.value, names, &place);
          v.parts.resize(static_cast<std::size_t>(name->size), v.parts[0]);
          for (int i = 0; i < name->size; ++i)
            into[static_cast<std::size_t>(name->first + i)] =
                v.parts[static_cast<std::size_t>(i)].real();
        };
        put(now);
        text_.advance(later);
        put(then);
        text_.advance(-later);
        any = true;
      }
    }
    if (!any) continue;
    cell.quantities = densities(now, place);
    cell.primitives = then;
  }
}

}  // namespace vphi::tools
