#include "tools/oracle/drawn_state.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace vphi::tools {

using physics::Variable;

void DrawnState::variables(std::mt19937_64& random) {
  std::uniform_real_distribution<double> between(0.2, 1.8);
  std::uniform_real_distribution<double> around(0, 1);
  for (const Variable& v : system_.variables) {
    const bool counter = v.frozen && v.name.starts_with("turns_of_");
    const auto at = standing(text_, v.shown);
    for (long double& x : derived_.arrays[v.array]) {
      x = counter                           ? 0
          : v.period > 0                    ? v.period * around(random)
          : state_.second_order_momentum(v) ? between(random) - 1
                                            : between(random);
      if (at && at->field->phase) x = 2 * std::numbers::pi * around(random);
    }
  }
  for (StoredLinks& links : links_of(text_, system_)) {
    if (links.field().phase) continue;  // drawn as angles above
    links.draw(random);
    for (const int array : links.arrays()) derived_.arrays[array] = links.stored(array);
  }
}

bool DrawnState::counts(const physics::ScalarVariable& s) const {
  if (!system_.conservation) return false;
  const auto& laws = *system_.conservation;
  return s.symbol == laws.fixes || std::ranges::any_of(laws.outflow, [&](const auto& scalar) {
           return scalar.second == s.symbol;
         });
}

void DrawnState::start_scalars() {
  auto& symbols = derived_.symbols;
  derived_.changed();
  for (const auto& s : system_.scalars) symbols[s.symbol] = 1.3L;
  std::vector<const physics::ScalarVariable*> clock;
  for (const physics::ScalarVariable& s : system_.scalars) {
    const bool scale = text_.closed() && (&s == &state_.scale() || &s == &state_.scale_slope());
    if (!scale && !counts(s)) clock.push_back(&s);
  }
  if (text_.closed()) symbols[state_.scale_slope().symbol] = 0;
  for (const auto* s : clock) symbols[s->symbol] = derived_.scalar(s->initial);
  constexpr int kParts = 400;
  const long double h = 10 * static_cast<long double>(system_.dt) / kParts;
  const auto rates = [&] {
    derived_.changed();
    std::vector<long double> result;
    for (const auto* s : clock) result.push_back(derived_.scalar(s->rate));
    return result;
  };
  for (int part = 0; part < kParts; ++part) {  // Runge and Kutta
    std::vector<long double> start;
    for (const auto* s : clock) start.push_back(symbols[s->symbol]);
    const auto move = [&](const std::vector<long double>& by, long double length) {
      for (std::size_t i = 0; i < clock.size(); ++i)
        symbols[clock[i]->symbol] = start[i] + length * by[i];
    };
    const auto k1 = rates();
    move(k1, h / 2);
    const auto k2 = rates();
    move(k2, h / 2);
    const auto k3 = rates();
    move(k3, h);
    const auto k4 = rates();
    std::vector<long double> k(k1.size());
    for (std::size_t i = 0; i < k.size(); ++i) k[i] = (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]) / 6;
    move(k, h);
  }
  derived_.changed();
  state_.background();
}

bool DrawnState::close_background(long double beside) {
  long double& slope = derived_.symbols[state_.scale_slope().symbol];
  const auto miss = [&](long double value) {
    slope = value;
    derived_.changed();
    state_.background();
    state_.show();
    const long double rho = text_.mean_density() + beside;
    return text_.hubble * text_.hubble - rho / (3 * text_.planck2());
  };
  long double x = 0, y = 1, fx = miss(x), fy = miss(y);
  // H grows with the slope: the first sign change, then secants
  for (int i = 0; i < 30 && std::isfinite(fy) && fy < 0; ++i) fy = miss(y *= 2);
  for (int i = 0; i < 200 && std::isfinite(fy) && fy > 1e3L * std::fabs(fx); ++i) {
    const long double half = y / 2, f = miss(half);
    if (f < 0) break;
    y = half;
    fy = f;
  }
  if (!(fx < 0) || !(fy > 0)) return false;
  // a line through both ends; the value of an end that stays is halved (Illinois)
  long double best = y, least = fy;
  for (int i = 0, last = 0; i < 100 && least > 1e-17L * text_.hubble * text_.hubble; ++i) {
    const long double z = std::clamp((x * fy - y * fx) / (fy - fx), x, y), f = miss(z);
    if (z == x || z == y) break;
    if (std::fabs(f) < least) best = z, least = std::fabs(f);
    const int side = f < 0 ? -1 : 1;
    (f < 0 ? x : y) = z;
    (f < 0 ? fx : fy) = f;
    if (side == last) (f < 0 ? fy : fx) /= 2;
    last = side;
  }
  miss(best);
  return true;
}

}  // namespace vphi::tools
