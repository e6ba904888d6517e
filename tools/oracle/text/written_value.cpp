// Expressions of the text: names, arithmetic, components.
#include "tools/oracle/text/written_value.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "tools/oracle/text/slope.hpp"
#include "tools/oracle/text/written_scope.hpp"

namespace vphi::tools {

using dsl::ExprKind;
using physics::NamedFact;

namespace {

constexpr long double kPi = std::numbers::pi_v<long double>;
constexpr int kDeepest = 200;

bool is_real(Complex z) { return z.imag() == 0; }

}  // namespace

Numbers each(const Numbers& a, const std::function<Complex(Complex)>& f) {
  Numbers result{a.rows, a.columns, {}, 0};
  for (const Complex z : a.parts) result.parts.push_back(f(z));
  return result;
}

Numbers multiplied(const Numbers& x, const Numbers& y) {
  if (x.scalar()) return each(y, [&](Complex z) { return x.parts[0] * z; });
  if (y.scalar()) return each(x, [&](Complex z) { return z * y.parts[0]; });
  Numbers result{x.rows, y.columns, {}, 0};
  for (int i = 0; i < x.rows; ++i)
    for (int j = 0; j < y.columns; ++j) {
      Complex sum = 0;
      for (int k = 0; k < x.columns; ++k)
        sum += x.parts[static_cast<std::size_t>(i * x.columns + k)] *
               y.parts[static_cast<std::size_t>(k * y.columns + j)];
      result.parts.push_back(sum);
    }
  return result;
}

Numbers Numbers::vector(std::vector<Complex> parts) {
  return {static_cast<int>(parts.size()), 1, std::move(parts), 0};
}

Written::Written(const dsl::Resolved& resolved)
    : resolved_(resolved), facts_(physics::collect_facts(resolved)) {
  const dsl::Clause* metric = resolved.clause("metric");
  if (!metric || metric->items.empty() || !metric->items.front().value) return;
  const dsl::Expr& form = *metric->items.front().value;
  if (form.kind != ExprKind::Call || form.text != "frw") return;
  if (!form.named.empty()) {
    scale_factor_ = form.named[0].name;
    prescribed_ = form.named[0].value;
  } else if (form.args.size() == 1) {
    scale_factor_ = form.args[0]->text;
  }
}

bool Written::hamiltonian() const {
  const NamedFact* h = facts_.find("H");
  return h && h->kind == NamedFact::Kind::Definition && !facts_.fields.empty();
}

Numbers Written::value(const dsl::Expr& e, const Place* place) {
  try {
    return at(e, {}, place);
  } catch (const NeedsPlace&) {
    throw NotCovered{e.span, "a value of each site where a number is meant"};
  }
}

Complex Written::number(const dsl::Expr& e, const Scope& scope, const Place* place) {
  const Numbers v = at(e, scope, place);
  if (!v.scalar()) throw NotCovered{e.span, "a vector where a number is meant"};
  return v.parts[0];
}

long double Written::real(const dsl::Expr& e, const Scope& scope, const Place* place) {
  return number(e, scope, place).real();
}

Numbers Written::at(const dsl::Expr& e, const Scope& scope, const Place* place) {
  struct Depth {
    int& n;
    ~Depth() { --n; }
  } depth{depth_};
  if (++depth_ > kDeepest) throw NotCovered{e.span, "a definition of this depth"};
  switch (e.kind) {
    case ExprKind::Number: {
      const long double x = std::strtold(e.text.c_str(), nullptr);
      return Numbers::of(e.imaginary ? Complex(0, x) : Complex(x));
    }
    case ExprKind::Name:
      return name(e, scope, place);
    case ExprKind::Unary:
      if (e.text == "not") return Numbers::of(real(*e.args[0], scope, place) == 0);
      return each(at(*e.args[0], scope, place), [](Complex z) { return -z; });
    case ExprKind::Binary:
      return binary(e, scope, place);
    case ExprKind::Select: {
      const bool first = real(*e.args[1], scope, place) != 0;
      Numbers v = at(*e.args[first ? 0 : 2], scope, place);
      if (v.scalar() && v.parts[0] == Complex(0)) {  // 0 is a vector of zeros as well
        const Numbers other = at(*e.args[first ? 2 : 0], scope, place);
        return each(other, [](Complex) { return Complex(0); });
      }
      return v;
    }
    case ExprKind::Call:
      return call(e, scope, place);
    case ExprKind::Index:
      return index(e, scope, place);
    case ExprKind::Prime:
      return prime(e, scope, place);
    case ExprKind::Shift:
      return shifted(e, scope, place);
    case ExprKind::Unit: {
      const auto size = resolved_.units.find(e.text);
      if (size == resolved_.units.end()) throw NotCovered{e.span, "the unit " + e.text};
      const Complex unit(size->second);
      return each(at(*e.args[0], scope, place), [&](Complex z) { return z * unit; });
    }
    case ExprKind::List: {
      Numbers all{static_cast<int>(e.args.size()), 1, {}, 0};  // of lists a matrix
      for (const auto& arg : e.args) {
        const Numbers row = at(*arg, scope, place);
        if (row.columns != 1) throw NotCovered{arg->span, "a list of matrices"};
        all.columns = row.rows;
        all.parts.insert(all.parts.end(), row.parts.begin(), row.parts.end());
      }
      return all;
    }
    case ExprKind::String:
    case ExprKind::Sign:
    case ExprKind::Range:
      break;
  }
  throw NotCovered{e.span, "this expression"};
}

/// The value of `e`, which has not changed since it was evaluated in this state at this place.
Numbers Written::remembered(Remembered& known, const dsl::Expr& e, const Scope& scope,
                            const Place* place) {
  if (state_ == 0) return at(e, scope, place);
  const std::pair key(state_, place ? std::optional(*place) : std::nullopt);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  Numbers v = at(e, scope, place);
  known.emplace(key, v);
  return v;
}

Numbers Written::name(const dsl::Expr& e, const Scope& scope, const Place* place) {
  if (const Local* local = scope.find(e.text)) {
    if (local->index) return Numbers::of(local->index->sign * local->index->value);
    if (local->fixed) return *local->fixed;
    if (local->of_place) {
      if (!place) throw NeedsPlace{};
      return local->of_place(*place);
    }
    return remembered(local->known, *local->text, *local->scope, place);
  }
  if (e.text == "derived" && derived_) {
    Numbers v{derived_of_->rows, derived_of_->columns, {}, 0};
    for (std::size_t i = 0; i < derived_->size(); i += 2)
      v.parts.emplace_back((*derived_)[i], (*derived_)[i + 1]);
    return v;
  }
  if (const auto field = fields.find(e.text); field != fields.end()) {
    if (!place) throw NeedsPlace{};
    if (read_links_ && field->second.link) throw NotCovered{e.span, "all links of a site at once"};
    return field_at(field->second, *place, false);
  }
  if (e.text == "noise" && !facts_.find("noise"))
    return Numbers::of(noise ? Complex(noise(e, place)) : Complex(0));
  if (const NamedFact* fact = facts_.find(e.text)) {
    if (fact->kind == NamedFact::Kind::Indexed) throw NotCovered{e.span, "`" + e.text + "`"};
    if (fact->kind == NamedFact::Kind::Swept) {
      const auto value = swept.find(e.text);
      if (value == swept.end()) throw NotCovered{e.span, "the swept name `" + e.text + "`"};
      return Numbers::of(value->second);
    }
    Scope inner;
    inner.parent = scope.dynamic_part();
    if (fact->kind == NamedFact::Kind::Function) {
      // p stands for p(eps, rho), looked up where it stands
      std::vector<dsl::Expr> arguments(fact->parameters.size());
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        arguments[i].kind = ExprKind::Name;
        arguments[i].text = fact->parameters[i];
        arguments[i].span = e.span;
        Local local;
        local.text = &arguments[i];
        local.scope = &scope;
        inner.names.emplace(fact->parameters[i], std::move(local));
      }
      return at(*fact->value, inner, place);
    }
    if (inner.parent != root_) return at(*fact->value, inner, place);
    return remembered(known_[fact], *fact->value, inner, place);
  }
  if (const auto v = given(e.text, place)) return *v;
  if (draw)
    if (const auto v = draw(e.text, {})) return *v;
  throw NotCovered{e.span, "`" + e.text + "`"};
}

std::optional<Numbers> Written::given(const std::string& text, const Place* place) {
  const auto coordinate = [&](int axis) {
    if (!place) throw NeedsPlace{};
    const auto k = static_cast<std::size_t>(axis);
    return (static_cast<long double>((*place)[k]) + beyond[k] -
            static_cast<long double>(box.extent[k] - 1) / 2) *
           box.dx;
  };
  if (box.dims > 0) {
    constexpr const char* kAxes[] = {"x", "y", "z"};
    for (int axis = 0; axis < std::min(box.dims, 3); ++axis)
      if (text == kAxes[axis]) return Numbers::of(coordinate(axis));
    if (text == "r") {
      long double square = 0;
      for (int axis = 0; axis < box.dims; ++axis) square += coordinate(axis) * coordinate(axis);
      return Numbers::of(std::sqrt(square));
    }
    if (text == "dx") return Numbers::of(box.dx);
    if (text == "volume") return Numbers::of(box.sites() * std::pow(box.dx, box.dims));
  }
  if (text == "t") return Numbers::of(t);
  if (text == "pi") return Numbers::of(kPi);
  if (text == "gamma5" && has_fermions()) return gamma5();
  if (expanding() && text == scale_factor_) return Numbers::of(a);
  if (expanding() && (text == "H" || text == "frw.H")) return Numbers::of(hubble);
  if (!hamiltonian() &&
      (expanding() || !facts_.potentials.empty() || !facts_.lagrangians.empty())) {
    if ((text == "rho" || text == "p") && !place) throw NeedsPlace{};
    if (text == "rho") return Numbers::of(energy_density(*place));
    if (text == "p") return Numbers::of(pressure(*place));
    if (text == "w") {
      const Energies mean = energies();
      return Numbers::of(mean.p / mean.rho);
    }
  }
  return std::nullopt;
}

/// The sides of a comparison as numbers. Directions are compared by their axes, and by their sense
/// too where a minus is written.
std::pair<long double, long double> Written::sides(const dsl::Expr& e, const Scope& scope,
                                                   const Place* place) {
  const dsl::Expr &left = *e.args[0], &right = *e.args[1];
  if (scope.runs_over_directions(left) || scope.runs_over_directions(right)) {
    const auto a = direction(left, scope), b = direction(right, scope);
    const bool sense = left.kind == ExprKind::Unary || right.kind == ExprKind::Unary;
    if (a && b && sense) return {a->value - 0.1L * a->sign, b->value - 0.1L * b->sign};
    if (a && b) return {a->value, b->value};
  }
  return {real(left, scope, place), real(right, scope, place)};
}

Numbers Written::binary(const dsl::Expr& e, const Scope& scope, const Place* place) {
  const std::string& op = e.text;
  if (op == "and" || op == "or") {
    const bool first = real(*e.args[0], scope, place) != 0;
    const bool second = real(*e.args[1], scope, place) != 0;
    return Numbers::of(op == "and" ? first && second : first || second);
  }
  const bool compares =
      op == "<" || op == ">" || op == "<=" || op == ">=" || op == "==" || op == "!=";
  if (compares) {
    const auto [x, y] = sides(e, scope, place);
    const bool holds = op == "<"    ? x < y
                       : op == ">"  ? x > y
                       : op == "<=" ? x <= y
                       : op == ">=" ? x >= y
                       : op == "==" ? x == y
                                    : x != y;
    return Numbers::of(holds);
  }
  if (op == "*" && has_fermions()) return acting(e, scope, place);
  Numbers x = at(*e.args[0], scope, place), y = at(*e.args[1], scope, place);
  if (op == "+" || op == "-") {
    const long double sign = op == "+" ? 1 : -1;
    // noise added to a vector is noise in each component; a number beside a matrix is that number
    // times 1
    const auto widened = [](Numbers& small, const Numbers& wide) {
      if (!small.scalar() || wide.scalar()) return;
      const Complex z = small.parts[0];
      small = {wide.rows, wide.columns, std::vector(wide.parts.size(), z), 0};
      const bool square = wide.rows == wide.columns;
      for (std::size_t i = 0; square && i < small.parts.size(); ++i)
        if (i % static_cast<std::size_t>(wide.columns + 1) != 0) small.parts[i] = 0;
    };
    widened(x, y);
    widened(y, x);
    if (x.parts.size() != y.parts.size()) throw NotCovered{e.span, "a sum of two shapes"};
    Numbers result{x.rows, x.columns, {}, 0};
    for (std::size_t i = 0; i < x.parts.size(); ++i)
      result.parts.push_back(x.parts[i] + sign * y.parts[i]);
    return result;
  }
  if (op == "*") {
    if (!x.scalar() && !y.scalar() && x.columns != y.rows)
      throw NotCovered{e.span, "a product of these shapes"};
    return multiplied(x, y);
  }
  if (!y.scalar()) throw NotCovered{e.span, "a vector on this side of `" + op + "`"};
  const Complex n = y.parts[0];
  if (guarded && op == "/" && is_real(n)) guarded(e, n.real());
  if (op == "/") {
    return each(x, [&](Complex z) {
      return is_real(z) && is_real(n) ? Complex(z.real() / n.real()) : z / n;
    });
  }
  if (op != "^" || !x.scalar() || !is_real(n)) throw NotCovered{e.span, "`" + op + "` of this"};
  const Complex z = x.parts[0];
  const bool product = n.real() >= 0 && n.real() == std::round(n.real());
  if (guarded && is_real(z) && !product) guarded(e, z.real());
  if (is_real(z)) return Numbers::of(std::pow(z.real(), n.real()));
  const long double whole = std::round(n.real());
  if (whole == n.real() && std::fabs(whole) < 64) {
    Complex product = 1;
    for (int i = 0; i < static_cast<int>(std::fabs(whole)); ++i) product *= z;
    return Numbers::of(whole < 0 ? Complex(1) / product : product);
  }
  return Numbers::of(std::pow(z, n.real()));
}

Numbers Written::index(const dsl::Expr& e, const Scope& scope, const Place* place) {
  const dsl::Expr& base = *e.args[0];
  const bool bare = base.kind == ExprKind::Name && !scope.find(base.text);
  if (bare && base.text == "gamma" && has_fermions() && !facts_.find("gamma")) {
    const auto k = direction(*e.args[1], scope);
    if (!k) throw NotCovered{e.span, "a gamma matrix of this direction"};
    return multiplied(Numbers::of(k->sign), gamma(k->value));
  }
  if (bare && base.text == "noise")
    return Numbers::of(noise ? Complex(noise(e, place)) : Complex(0));
  if (bare) {
    if (const auto found = fields.find(base.text); found != fields.end()) {
      const WrittenField& f = found->second;
      if (f.particle) {
        const Place body{static_cast<int>(real(*e.args[1], scope, place)), 0, 0, 0};
        const Numbers v = field_at(f, body, false);
        if (e.args.size() == 2) return v;
        return Numbers::of(v.parts.at(static_cast<std::size_t>(real(*e.args[2], scope, place))));
      }
      if (f.link && e.args.size() == 2) {
        const auto k = direction(*e.args[1], scope);
        if (!k) throw NotCovered{e.span, "a link of this direction"};
        if (!place) throw NeedsPlace{};
        Place from = *place;
        if (k->sign < 0) --from[static_cast<std::size_t>(k->value)];
        return link_at(f, from, k->value, k->sign);
      }
    }
    std::vector<int> labels;
    bool labelled = true;
    for (std::size_t i = 2; i < e.args.size(); ++i) {
      const auto k = direction(*e.args[i], scope);
      labelled = labelled && k;
      labels.push_back(k ? k->value : 0);
    }
    if (const WrittenField* made = labelled ? made_links(base.text, labels) : nullptr) {
      const auto k = direction(*e.args[1], scope);
      if (!k) throw NotCovered{e.span, "a link of this direction"};
      if (!place) throw NeedsPlace{};
      Place from = *place;
      if (k->sign < 0) --from[static_cast<std::size_t>(k->value)];
      return made_link_at(*made, from, k->value, k->sign);
    }
    const NamedFact* fact = facts_.find(base.text);
    if (fact && fact->kind == NamedFact::Kind::Indexed) {
      Scope inner;
      inner.parent = scope.dynamic_part();
      for (std::size_t i = 0; i + 1 < e.args.size() && i < fact->parameters.size(); ++i) {
        Local local;
        local.index = direction(*e.args[i + 1], scope);
        if (!local.index)
          local.index = Index{static_cast<int>(real(*e.args[i + 1], scope, place)), 1, {}};
        inner.names.emplace(fact->parameters[i], std::move(local));
      }
      return at(*fact->value, inner, place);
    }
  }
  if (base.kind == ExprKind::Call && base.text == "file") return file_entry(e, scope, place);
  const Numbers v = at(base, scope, place);
  const auto i = static_cast<std::size_t>(real(*e.args[1], scope, place));
  if (e.args.size() == 2) return Numbers::of(v.parts.at(i));
  const auto j = static_cast<std::size_t>(real(*e.args[2], scope, place));
  return Numbers::of(v.parts.at(i * static_cast<std::size_t>(v.columns) + j));
}

Numbers Written::prime(const dsl::Expr& e, const Scope& scope, const Place* place) {
  const dsl::Expr& base = *e.args[0];
  const bool indexed = base.kind == ExprKind::Index && base.args[0]->kind == ExprKind::Name;
  const std::string& text = indexed ? base.args[0]->text : base.text;
  const auto found = fields.find(text);
  const bool plain = found != fields.end() && !scope.find(text);
  if (e.primes == 2 && text == scale_factor_ && hubble_rate && !scope.find(text))
    return Numbers::of(a * (*hubble_rate + hubble * hubble));
  if (e.primes != 1) throw NotCovered{e.span, "a second time derivative"};
  const bool stored = plain && found->second.order == 2;
  const bool hubble_itself = base.kind == ExprKind::Name && (text == "H" || text == "frw.H") &&
                             !scope.find(text) && !facts_.find(text);
  if (hubble_itself && hubble_rate) return Numbers::of(*hubble_rate);
  if (hubble_itself && closed() && !curves() && !resolved_.clause("conserve")) {
    const Energies mean = energies();
    return Numbers::of(-(mean.rho + mean.p) / (2 * planck2()));
  }
  if (moves && !stored) {
    const auto after = [&](long double steps) {
      const OtherState other(*this, next_state(), root_);
      *moves = steps * move_step;
      Numbers v = later(*moves, [&] { return at(base, scope, place); });
      *moves = 0;
      return v;
    };
    was_moved = true;
    const Numbers a = after(1), b = after(-1), c = after(2), d = after(-2);
    Numbers slope = a;
    for (std::size_t i = 0; i < slope.parts.size(); ++i)
      slope.parts[i] = slope_of_four(d.parts[i], b.parts[i], a.parts[i], c.parts[i], move_step);
    return slope;
  }
  if (!stored) return rate_of_formula(base, scope, place);
  const WrittenField& f = found->second;
  if (!indexed) {
    if (!place) throw NeedsPlace{};
    return field_at(f, *place, true);
  }
  if (f.phase || f.colours > 0) {
    const auto k = direction(*base.args[1], scope);
    if (!k) throw NotCovered{e.span, "the rate of a link of this direction"};
    if (!place) throw NeedsPlace{};
    Place from = *place;
    if (k->sign < 0) --from[static_cast<std::size_t>(k->value)];
    return link_speed_at(f, from, k->value, k->sign);
  }
  if (!f.particle) {
    if (!place) throw NeedsPlace{};
    const Numbers v = field_at(f, *place, true);
    return Numbers::of(v.parts.at(static_cast<std::size_t>(real(*base.args[1], scope, place))));
  }
  const Place body{static_cast<int>(real(*base.args[1], scope, place)), 0, 0, 0};
  return field_at(f, body, true);
}

}  // namespace vphi::tools
