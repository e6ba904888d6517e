// Lagrangians in the text: their slopes by coordinates and velocities, and the equations of fields.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/oracle/text/slope.hpp"
#include "tools/oracle/text/written_scope.hpp"

namespace vphi::tools {

using physics::NamedFact;

std::vector<Written::Term> Written::lagrangian_terms() const {
  std::vector<Term> parts;
  for (const NamedFact* fact : facts_.lagrangians) terms(*fact->value, 1, true, parts);
  return parts;
}

long double Written::lagrangian_at(const Place& place) {
  long double l = 0;
  for (const NamedFact* fact : facts_.lagrangians) l += real(*fact->value, {}, &place);
  return l;
}

// ---- the curvature of a metric that follows the averages ----------------------------------------

bool Written::curves() const {
  if (!closed()) return false;
  std::set<std::string> seen;
  const std::function<bool(const dsl::Expr&)> within = [&](const dsl::Expr& e) {
    const std::string of = e.kind == dsl::ExprKind::Prime ? e.args[0]->text : "";
    if (of == "H" || of == "frw.H" || (of == scale_factor_ && e.primes == 2)) return true;
    const bool names = e.kind == dsl::ExprKind::Name || e.kind == dsl::ExprKind::Call;
    const NamedFact* fact = names ? facts_.find(e.text) : nullptr;
    return (fact && fact->value && seen.insert(e.text).second && within(*fact->value)) ||
           std::ranges::any_of(e.args, [&](const auto& arg) { return within(*arg); });
  };
  return std::ranges::any_of(facts_.lagrangians,
                             [&](const NamedFact* fact) { return within(*fact->value); });
}

long double Written::lagrangian_without_curvature(const Place& place) {
  if (!curves()) return lagrangian_at(place);
  const OtherState nothing(*this, 0, root_);
  const auto told = std::exchange(hubble_rate, -2 * hubble * hubble);  // R = 0
  const long double l = lagrangian_at(place);
  hubble_rate = told;
  return l;
}

/// f = dL/dR, in which L is linear, R = 6 (H' + 2 H^2).
Written::OfCurvature Written::of_curvature(const Place& place, bool twice) {
  const OtherState nothing(*this, 0, root_);
  const int site = box.site(place);
  const auto told = hubble_rate;
  const auto f = [&] {
    hubble_rate = 1;
    const long double above = lagrangian_at(place);
    hubble_rate = -1;
    return (above - lagrangian_at(place)) / 12;
  };
  const auto later = [&](long double by) {
    std::map<std::string, std::vector<long double>> here;
    for (auto& [name, field] : fields) {
      if (field.order != 2 && facts_.equation(name))
        throw NotCovered{{}, "a field of first order beside R"};
      if (field.order != 2) continue;
      here[name] = field.values;
      const auto u2 = accelerations.find(name);
      for (int k = 0; k < field.reals(); ++k) {
        const auto i = static_cast<std::size_t>(site * field.reals() + k);
        field.values[i] += by * field.rates[i];
        if (twice) field.values[i] += by * by / 2 * u2->second.at(i);
      }
    }
    const long double value = f();
    for (const auto& [name, values] : here) fields.at(name).values = values;
    return value;
  };
  if (twice && accelerations.empty()) throw NotCovered{{}, "the pressure of what couples to R"};
  long double fastest = 1e-300L;
  for (const auto& [name, field] : fields)
    for (int k = 0; field.order == 2 && k < field.reals(); ++k)
      fastest = std::max(
          fastest, std::fabs(field.rates.at(static_cast<std::size_t>(site * field.reals() + k))) /
                       field.scale);
  const long double h = step / fastest;
  OfCurvature result{f(), 0, 0};
  const long double a1 = later(h), b1 = later(-h), a2 = later(2 * h), b2 = later(-2 * h);
  result.first = slope_of_four(b2, b1, a1, a2, h);
  if (twice) result.second = (16 * (a1 + b1) - (a2 + b2) - 30 * result.f) / (12 * h * h);
  hubble_rate = told;
  return result;
}

// ---- equations of motion ------------------------------------------------------------------------

/// d(a^3 p)/dt = a^3 dL/du with p = dL/du', as written: p is followed along the flow by difference
/// quotients, and its dependence on the accelerations of the site is solved for.
std::vector<long double> Written::from_lagrangian(const WrittenField& field, int site) {
  struct Real {
    WrittenField* field;
    std::size_t at;
  };
  std::vector<Real> all;
  std::size_t own = 0;
  for (auto& [name, f] : fields) {
    if (f.order != 2 || !follows_lagrangian(f)) continue;
    for (int i = 0; i < f.reals(); ++i) {
      if (i % 2 == 1 && !f.complex) continue;
      if (name == field.name && i == 0) own = all.size();
      all.push_back({&f, static_cast<std::size_t>(site * f.reals() + i)});
    }
  }
  if (std::ranges::any_of(all, [](const Real& r) { return r.field->symmetric; }))
    throw NotCovered{{}, "a Lagrangian of a symmetric matrix"};
  const std::vector<Term> parts = lagrangian_terms();
  const auto momentum = [&](const Real& r) {
    return slope_of(parts, r.field->rates[r.at], r.field->scale);
  };
  // all sites move with the flow
  const auto along_flow = [&](const Real& r, long double by) {
    const auto move = [&](long double sign) {
      for (auto& [name, f] : fields)
        if (f.order == 2)
          for (std::size_t i = 0; i < f.values.size(); ++i) f.values[i] += sign * by * f.rates[i];
    };
    const long double a_here = a, t_here = t, h_here = hubble;
    move(1);
    t += by;
    if (prescribed_)
      set_background();
    else if (expanding())
      a += by * a * hubble;
    const long double p = momentum(r);
    move(-1);
    a = a_here, t = t_here, hubble = h_here;
    return p;
  };
  const std::size_t n = all.size();
  std::vector<std::vector<long double>> m(n, std::vector<long double>(n));
  std::vector<long double> right(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Real& r = all[i];
    for (std::size_t j = 0; j < n; ++j) {
      long double& v = all[j].field->rates[all[j].at];
      const long double here = v;
      m[i][j] = slope_at_zero(step * all[j].field->scale, [&](long double by) {
        v = here + by;
        const long double p = momentum(r);
        v = here;
        return p;
      });
    }
    right[i] = slope_of(parts, r.field->values[r.at], r.field->scale) - 3 * hubble * momentum(r) -
               slope_at_zero(step, [&](long double by) { return along_flow(r, by); });
  }
  for (std::size_t k = 0; k < n; ++k) {  // with the largest pivot of each column
    std::size_t best = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::fabs(m[i][k]) > std::fabs(m[best][k])) best = i;
    std::swap(m[k], m[best]), std::swap(right[k], right[best]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const long double factor = m[i][k] / m[k][k];
      for (std::size_t j = k; j < n; ++j) m[i][j] -= factor * m[k][j];
      right[i] -= factor * right[k];
    }
  }
  std::vector<long double> result(static_cast<std::size_t>(field.reals()));
  std::size_t at = own;
  for (std::size_t i = 0; i < result.size(); ++i)
    if (i % 2 == 0 || field.complex) result[i] = right[at] / m[at][at], ++at;
  return result;
}

/// One number of a site, or one link along a generator; as it was when this ends.
class Written::Displaced {
 public:
  Displaced(const Coordinate& c, bool velocity)
      : c_(c),
        velocity_(velocity),
        first_(static_cast<std::size_t>(c.site * c.field->reals())),
        values_(part(c.field->values)),
        rates_(part(c.field->rates)) {}
  ~Displaced() { back(); }
  Displaced(const Displaced&) = delete;
  Displaced& operator=(const Displaced&) = delete;

  void by(long double w) {
    back();
    auto& moved = velocity_ ? c_.field->rates : c_.field->values;
    if (c_.axis >= 0 && c_.field->colours > 0) return turn(w);
    const std::size_t real = c_.axis >= 0 ? 2 * static_cast<std::size_t>(c_.axis) : c_.real;
    moved[first_ + real] += w;
    if (c_.mirror) moved[first_ + *c_.mirror] += w;
  }

 private:
  std::vector<long double> part(const std::vector<long double>& all) const {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(first_);
    return {from, from + c_.field->reals()};
  }
  void back() {
    std::copy(values_.begin(), values_.end(),
              c_.field->values.begin() + static_cast<std::ptrdiff_t>(first_));
    std::copy(rates_.begin(), rates_.end(),
              c_.field->rates.begin() + static_cast<std::ptrdiff_t>(first_));
  }
  /// U' = (U' of now) + 1i*w*T_a*U, or U and U' times exp(i w T_a) from the left.
  void turn(long double w) {
    const int n = c_.field->colours;
    const auto size = static_cast<std::size_t>(n * n);
    const std::size_t from = 2 * size * static_cast<std::size_t>(c_.axis);
    const auto matrix = [&](const std::vector<long double>& reals) {
      std::vector<Complex> m;
      for (std::size_t i = 0; i < size; ++i)
        m.emplace_back(reals[from + 2 * i], reals[from + 2 * i + 1]);
      return m;
    };
    const auto set = [&](std::vector<long double>& all, const std::vector<Complex>& m) {
      for (std::size_t i = 0; i < size; ++i) {
        all[first_ + from + 2 * i] = m[i].real();
        all[first_ + from + 2 * i + 1] = m[i].imag();
      }
    };
    std::vector<Complex> u = matrix(values_), rate = matrix(rates_);
    if (!velocity_) {
      set(c_.field->values, rotated_link(u, n, c_.generator, w));
      set(c_.field->rates, rotated_link(rate, n, c_.generator, w));
      return;
    }
    const std::vector<Complex> t = link_generator(n, c_.generator);
    const auto m = static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t k = 0; k < m; ++k)
        for (std::size_t j = 0; j < m; ++j)
          rate[i * m + j] += Complex(0, w) * t[i * m + k] * u[k * m + j];
    set(c_.field->rates, rate);
  }

  const Coordinate& c_;
  bool velocity_;
  std::size_t first_;
  std::vector<long double> values_, rates_;
};

long double Written::lagrangian_slope(const Coordinate& c, bool velocity) {
  const OtherState nothing(*this, 0, root_);
  const long double h = step * (c.axis < 0 ? c.field->scale : 1);
  long double slope = 0;
  for (const Term& term : lagrangian_terms()) {
    const std::vector<Place> places = readers(term, *c.field, c.site);
    Displaced moved(c, velocity);
    std::array<std::vector<long double>, 5> values;
    for (const int k : {-2, -1, 1, 2}) {
      moved.by(static_cast<long double>(k) * h);
      for (const Place& p : places)
        values[static_cast<std::size_t>(k + 2)].push_back(real(*term.text, {}, &p));
    }
    for (std::size_t i = 0; i < places.size(); ++i)
      slope += term.sign * slope_of_four(values[0][i], values[1][i], values[3][i], values[4][i], h);
  }
  return slope;
}

}  // namespace vphi::tools
