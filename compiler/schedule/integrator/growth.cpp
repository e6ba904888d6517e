#include "compiler/schedule/integrator/growth.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "compiler/algebra/matrix.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/noise/noise.hpp"
#include "compiler/schedule/integrator/small_step.hpp"
#include "compiler/schedule/integrator/waves.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/steps/noise.hpp"

namespace vphi::schedule {
namespace {

using algebra::Expr;
using algebra::Matrix;
using algebra::Op;
using algebra::product;

constexpr std::size_t kMostVariables = 12;
constexpr double kGrows = 1.05;  ///< a step; slower growth is an integrator's order, not its limit
constexpr double kSteady = 1.005;  ///< of the dt that the message names
constexpr int kHalvings = 24;

double spectral_radius(const Matrix& a) {
  constexpr int kSquarings = 10;
  return algebra::spectral_radius(a, kSquarings);
}

/// exp(a), by scaling and squaring.
Matrix exponential(Matrix a) {
  const std::size_t n = a.size();
  int halvings = 0;
  for (double s = algebra::largest_entry(a) * static_cast<double>(n); s > 0.25; s /= 2) ++halvings;
  for (auto& row : a)
    for (double& x : row) x = std::ldexp(x, -halvings);
  Matrix sum(n, std::vector<double>(n, 0)), term = sum;
  for (std::size_t i = 0; i < n; ++i) sum[i][i] = term[i][i] = 1;
  for (int k = 1; k <= 12; ++k) {
    term = product(term, a);
    for (auto& row : term)
      for (double& x : row) x /= k;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) sum[i][j] += term[i][j];
  }
  for (int i = 0; i < halvings; ++i) sum = product(sum, sum);
  return sum;
}

using Values = std::map<int, double>;  ///< array -> value, about which rates are linear

/// The state of the start at a site; 0 for what is drawn at random or not known.
Values start_at(const physics::System& system, const std::array<std::int64_t, 4>& site) {
  Values state;
  for (const auto& v : system.variables) state[v.array] = 0;
  for (const auto& initial : system.initial) {
    if (!state.contains(initial.array)) continue;
    try {
      const double value = algebra::evaluate(initial.value, {[&](const algebra::Node& node) {
                                               if (node.op == Op::Site)
                                                 return static_cast<double>(site[node.index & 3]);
                                               if (node.op == Op::Load) return 0.0;
                                               throw std::invalid_argument("not a number");
                                             }});
      if (std::isfinite(value)) state[initial.array] = value;
    } catch (const std::invalid_argument&) {
    }
  }
  return state;
}

/// States of the start: of no site, as if everything that varies were 0, and where a variable is
/// smallest and largest among some sites.
std::vector<Values> start_states(const physics::System& system) {
  constexpr int kSamples = 8;  ///< along an axis
  Values middle;
  for (const auto& v : system.variables) middle[v.array] = 0;
  for (const auto& initial : system.initial)
    if (const auto number = algebra::constant(initial.value))
      middle[initial.array] = static_cast<double>(number->real);
  std::vector<Values> states{middle};
  if (system.lattice.dims == 0) return states;
  std::map<int, std::pair<Values, Values>> extremes;
  int points = 1;
  for (int axis = 0; axis < system.lattice.dims; ++axis) points *= kSamples;
  for (int point = 0; point < points; ++point) {
    std::array<std::int64_t, 4> site{};
    for (int axis = 0, rest = point; axis < system.lattice.dims; ++axis, rest /= kSamples) {
      const auto a = static_cast<std::size_t>(axis);
      site[a] = system.lattice.extent[a] * (rest % kSamples) / kSamples;
    }
    const Values here = start_at(system, site);
    for (const auto& [array, value] : here) {
      auto& [low, high] = extremes.try_emplace(array, here, here).first->second;
      if (value < low.at(array)) low = here;
      if (value > high.at(array)) high = here;
    }
  }
  for (const auto& [array, ends] : extremes)
    for (const Values& state : {ends.first, ends.second})
      if (std::ranges::count(states, state) == 0) states.push_back(state);
  return states;
}

/// Derivatives of the rates on waves about one state; averages and sums over pairs are held.
class Linearised {
 public:
  Linearised(const physics::System& system, const Values& state) : system_(system) {
    for (const auto& v : system.variables)
      rates_.emplace_back(physics::split_noise(v.rate).rest, system.lattice.dx,
                          [&system, state](const algebra::Node& node) -> double {
                            if (node.op == Op::Load && state.contains(node.index))
                              return state.at(node.index);
                            if (node.op == Op::Symbol && node.name == system.time) return 0;
                            const bool held = node.op == Op::PairSum ||
                                              (node.op >= Op::Mean && node.op <= Op::Maximum);
                            if (held) return 0;
                            throw std::invalid_argument("not a number");
                          });
  }

  /// Real and imaginary parts one below the other where the matrix is not real; nothing where one
  /// of its entries is not a constant.
  std::optional<Matrix> at(const Wave& k) {
    const std::size_t n = rates_.size();
    std::vector<std::vector<std::complex<double>>> j(n);
    bool real = true;
    for (std::size_t i = 0; i < n; ++i) {
      for (const auto& u : system_.variables) {
        try {
          j[i].push_back(rates_[i](u.array, k));
        } catch (const std::invalid_argument&) {
          return std::nullopt;
        }
        const auto entry = j[i].back();
        if (!std::isfinite(std::abs(entry))) return std::nullopt;
        real = real && std::abs(entry.imag()) <= 1e-12 * std::abs(entry);
      }
    }
    const std::size_t size = real ? n : 2 * n;
    Matrix m(size, std::vector<double>(size, 0));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t l = 0; l < n; ++l) {
        m[i][l] = j[i][l].real();
        if (real) continue;
        m[n + i][n + l] = j[i][l].real();
        m[n + i][l] = j[i][l].imag();
        m[i][n + l] = -j[i][l].imag();
      }
    }
    return m;
  }

 private:
  const physics::System& system_;
  std::vector<WaveSlope> rates_;
};

/// The map of one step on x' = J x, with the variables' roles and silent noise where there is one.
std::optional<Matrix> step_map(const physics::System& system, const Matrix& j, double dt,
                               const physics::Evolution& evolution, const Head& head) {
  physics::System small = small_system(dt);
  algebra::Arena& arena = *small.arena;
  const std::size_t n = j.size(), variables = system.variables.size();
  const auto place = [&](int array, std::size_t half) {
    for (std::size_t i = 0; i < variables; ++i)
      if (system.variables[i].array == array) return static_cast<int>(half * variables + i);
    return -1;
  };
  int streams = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& v = system.variables[i % variables];
    Expr rate = arena.integer(0);
    for (std::size_t k = 0; k < n; ++k) {
      if (j[i][k] == 0) continue;
      const Expr x = arena.load(static_cast<int>(k));
      rate = rate + (j[i][k] == 1 ? x : arena.real(j[i][k]) * x);
    }
    if (physics::split_noise(v.rate).noisy()) rate = rate + arena.random(Op::Noise, streams++);
    add_variable(small, "x" + std::to_string(i), v.role,
                 v.partner < 0 ? -1 : place(v.partner, i / variables), rate);
  }
  if (streams > 0) small.noise.kind = physics::NoiseClass::Additive;
  const auto step = SmallStep::of(small, evolution.integrator, head, evolution.options);
  if (!step) return std::nullopt;
  const std::vector<double> silent(static_cast<std::size_t>(step->draws()), 0.0);
  Matrix m(n, std::vector<double>(n, 0));
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<double> unit(n, 0);
    unit[k] = 1;
    const auto after = (*step)(unit, silent);
    for (std::size_t i = 0; i < n; ++i) m[i][k] = after.at(i);
  }
  return m;
}

Matrix scaled(Matrix a, double factor) {
  for (auto& row : a)
    for (double& x : row) x *= factor;
  return a;
}

}  // namespace

void warn_of_growth(physics::System& system, dsl::Diagnostics& diagnostics) {
  const auto* evolution = std::get_if<physics::Evolution>(&system.dynamics);
  if (!evolution || system.conservation || !(system.dt > 0)) return;
  const std::size_t n = system.variables.size();
  if (n == 0 || n > kMostVariables) return;
  for (const dsl::Diagnostic& d : diagnostics.all())
    if (d.code == "W0762") return;  // reported for the noise already
  dsl::Diagnostics silent;
  const auto head = read_head(evolution->integrator, silent);
  if (!head) return;
  const auto grows = [&](const Matrix& j, double dt) {
    const auto m = step_map(system, j, dt, *evolution, *head);
    if (!m) return 0.0;
    const double exact = std::max(1.0, spectral_radius(exponential(scaled(j, dt))));
    const double ratio = spectral_radius(*m) / exact;
    return std::isnan(ratio) ? 0.0 : ratio;
  };
  double growth = 0, equations = 1;
  Matrix worst;
  Wave wave{};
  const auto see = [&](const Matrix& j, const Wave& k) {
    const double here = grows(j, system.dt);
    if (here > growth) growth = here, worst = j, wave = k;
  };
  for (const Values& state : start_states(system)) {
    Linearised linearised(system, state);
    std::optional<Matrix> fastest;
    Wave at{};
    double rate = -1;
    for (const Wave& k : waves_of(system.lattice.dims)) {
      auto j = linearised.at(k);
      if (!j) break;
      equations = std::max(equations, spectral_radius(exponential(scaled(*j, system.dt))));
      if (k == Wave{}) see(*j, k);
      const double here = spectral_radius(*j);
      if (here > rate * (1 + 1e-9)) rate = here, fastest = std::move(j), at = k;
    }
    if (fastest && at != Wave{}) see(*fastest, at);
  }
  if (growth < kGrows) return;
  double dt = system.dt;
  for (int i = 0; i < kHalvings && grows(worst, dt) >= kSteady; ++i) dt /= 2;
  const double fits = dt * system.dt_physical / system.dt;
  system.step_growth = {growth, equations, fits};
  diagnostics.add(errors::step_grows(system.dt_span, evolution->integrator.name, growth,
                                     spectral_radius(worst) * system.dt / system.dt_physical,
                                     wave == Wave{} ? "" : shown(wave, system.lattice.dims),
                                     system.dt_physical, fits));
}

}  // namespace vphi::schedule
