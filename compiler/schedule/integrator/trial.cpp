#include "compiler/schedule/integrator/trial.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <limits>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/integrator/small_step.hpp"
#include "compiler/schedule/integrator/waves.hpp"
#include "compiler/schedule/steps/noise.hpp"

namespace vphi::schedule {
namespace {

using algebra::Arena;
using algebra::Expr;
using algebra::Op;

/// Mean of f over `count` independent Gaussians, by the five-point Gauss-Hermite rule.
template <class F>
double gaussian_mean(int count, const F& f) {
  // roots of the Hermite polynomial of degree 5 and their weights, for variance 1
  static const double outer = std::sqrt(5 + std::sqrt(10.0)),
                      inner = std::sqrt(5 - std::sqrt(10.0));
  static const std::array<double, 5> node{-outer, -inner, 0, inner, outer};
  static const double heavy = (7 + 2 * std::sqrt(10.0)) / 60,
                      light = (7 - 2 * std::sqrt(10.0)) / 60;
  static const std::array<double, 5> weight{light, heavy, 8.0 / 15, heavy, light};
  int all = 1;
  for (int i = 0; i < count; ++i) all *= 5;
  double sum = 0;
  std::vector<double> z(static_cast<std::size_t>(count));
  for (int k = 0; k < all; ++k) {
    double w = 1;
    for (int i = 0, rest = k; i < count; ++i, rest /= 5) {
      const auto at = static_cast<std::size_t>(rest % 5);
      z[static_cast<std::size_t>(i)] = node[at];
      w *= weight[at];
    }
    sum += w * f(z);
  }
  return sum;
}

}  // namespace

std::optional<physics::Calculus> measured_calculus(const Integrator& integrator, const Head& head,
                                                   const physics::Options& options) {
  constexpr int kMostDraws = 4;
  std::array<double, 2> drift{};
  const std::array<double, 2> steps{1e-3, 5e-4};
  for (std::size_t i = 0; i < 2; ++i) {
    physics::System system = small_system(steps[i]);
    Arena& arena = *system.arena;
    add_variable(system, "x", physics::Role::FirstOrder, -1,
                 arena.load(0) * arena.random(Op::Noise, 0));
    const auto step = SmallStep::of(system, integrator, head, options);
    if (!step || step->draws() > kMostDraws) return std::nullopt;
    const double mean = gaussian_mean(
        step->draws(), [&](const std::vector<double>& z) { return (*step)({1.0}, z).at(0); });
    drift[i] = (mean - 1) / steps[i];
  }
  const double limit = 2 * drift[1] - drift[0];
  if (std::abs(limit) < 1e-2) return physics::Calculus::Ito;
  if (std::abs(limit - 0.5) < 1e-2) return physics::Calculus::Stratonovich;
  return std::nullopt;
}

namespace {

/// Stationary covariance S = M S M^T + sum_i b_i b_i^T of the linear map, (xx, xv, vv); infinite
/// where the map grows.
std::array<double, 3> stationary(const std::array<double, 4>& m, const std::array<double, 3>& q) {
  // the powers of M, doubled: S = q + M q M^T + M^2 (...) (M^2)^T + ...
  std::array<double, 4> power = m;
  std::array<double, 3> s = q;
  for (int i = 0; i < 60; ++i) {
    const auto [a, b, c, d] = power;
    const std::array<double, 3> moved{a * a * s[0] + 2 * a * b * s[1] + b * b * s[2],
                                      a * c * s[0] + (a * d + b * c) * s[1] + b * d * s[2],
                                      c * c * s[0] + 2 * c * d * s[1] + d * d * s[2]};
    for (std::size_t k = 0; k < 3; ++k) s[k] += moved[k];
    power = {a * a + b * c, a * b + b * d, c * a + d * c, c * b + d * d};
    double size = 0;
    for (const double p : power) size = std::max(size, std::abs(p));
    if (size < 1e-30) return s;
    if (!(size < 1e30)) break;
  }
  const double inf = std::numeric_limits<double>::infinity();
  return {inf, inf, inf};
}

struct Linear {
  std::complex<double> slope;  ///< d(force)/dx, or d(rate)/dx of a first-order equation
  double friction = 0;         ///< of v' = ... - gamma v
  double at = 0;               ///< x there
  Wave wave{};
};

/// Values that the state has at the start: numbers, or the range of a uniform distribution.
std::vector<double> start_values(const physics::System& system, int array) {
  constexpr int kSamples = 64;
  for (const auto& initial : system.initial) {
    if (initial.array != array) continue;
    if (const auto number = algebra::constant(initial.value)) {
      return {static_cast<double>(number->real)};
    }
    std::vector<double> values;
    for (const auto& random : system.random) {
      if (random.kind == physics::RandomField::Kind::Vacuum ||
          random.kind == physics::RandomField::Kind::Spectrum)
        return {};
      const bool uniform = random.kind == physics::RandomField::Kind::Uniform ||
                           random.kind == physics::RandomField::Kind::Points;
      for (int i = 0; i <= kSamples; ++i) {
        const double u = static_cast<double>(i) / kSamples;
        const double draw = uniform ? random.low + (random.high - random.low) * u : 4 * u - 2;
        try {
          values.push_back(algebra::evaluate(initial.value, {[&](const algebra::Node& node) {
                                               if (node.op == Op::Load &&
                                                   node.index == random.array)
                                                 return draw;
                                               if (node.op == Op::Load || node.op == Op::Symbol)
                                                 return 0.0;
                                               throw std::invalid_argument("not a number");
                                             }}));
        } catch (const std::invalid_argument&) {
          return {};
        }
      }
    }
    return values;
  }
  return {0.0};
}

/// The rate about the values of the start, on waves: k = 0 where it is steepest downwards, and the
/// wave at which it is. `v`: the array of a friction, or -1. Scalars are 0, the scale factor 1.
std::vector<Linear> steepest(const physics::System& system, const physics::Variable& x, Expr rate,
                             int v) {
  std::optional<Linear> still, wave;
  for (const double value : start_values(system, x.array)) {
    WaveSlope slope(rate, system.lattice.dx, [&](const algebra::Node& node) {
      if (node.op == Op::Load) return node.index == x.array ? value : 0.0;
      if (node.op == Op::Symbol) return 0.0;
      throw std::invalid_argument("not a number");
    });
    try {
      for (const Wave& k : waves_of(system.lattice.dims)) {
        Linear here{slope(x.array, k), v < 0 ? 0 : -slope(v, k).real(), value, k};
        if (!std::isfinite(std::abs(here.slope)) || !std::isfinite(here.friction)) return {};
        auto& most = k == Wave{} ? still : wave;
        if (!most || here.slope.real() < most->slope.real() * (1 + 1e-9)) most = here;
      }
    } catch (const std::invalid_argument&) {
      return {};
    }
  }
  std::vector<Linear> result;
  // a mean that is conserved has the slope 0 but for rounding
  const double fastest = wave ? std::abs(wave->slope.real()) : 0;
  for (const auto& linear : {still, wave})
    if (linear && linear->slope.real() < -1e-9 * fastest) result.push_back(*linear);
  return result;
}

/// " at k = (pi, pi)/dx".
std::string at_wave(const physics::System& system, const Linear& linear) {
  return linear.wave == Wave{} ? "" : " at " + shown(linear.wave, system.lattice.dims);
}

/// One step of the text on a linear system of two variables: its map and the covariance it adds.
struct LinearStep {
  std::array<double, 4> map{};
  std::array<double, 3> noise{};
};
std::optional<LinearStep> linear_step(const physics::System& small, const Integrator& integrator,
                                      const Head& head, const physics::Options& options) {
  const auto step = SmallStep::of(small, integrator, head, options);
  if (!step) return std::nullopt;
  const std::vector<double> silent(static_cast<std::size_t>(step->draws()), 0.0);
  const auto from_x = (*step)({1, 0}, silent), from_v = (*step)({0, 1}, silent);
  LinearStep result{{from_x[0], from_v[0], from_x[1], from_v[1]}, {}};
  for (std::size_t i = 0; i < silent.size(); ++i) {
    auto one = silent;
    one[i] = 1;
    const auto b = (*step)({0, 0}, one);
    result.noise[0] += b[0] * b[0], result.noise[1] += b[0] * b[1], result.noise[2] += b[1] * b[1];
  }
  return result;
}

std::optional<Bias> second_order(const physics::System& system, const physics::Variable& v,
                                 const Linear& linear, const Integrator& integrator,
                                 const Head& head, const physics::Options& options) {
  const physics::Variable& x = *variable_of(system, v.partner);
  const double gamma = linear.friction, w2 = -linear.slope.real();
  if (!(gamma > 0)) return std::nullopt;
  physics::System small = small_system(system.dt);
  Arena& arena = *small.arena;
  add_variable(small, "x", physics::Role::Coordinate, 1, arena.load(1));
  add_variable(small, "v", physics::Role::Momentum, 0,
               -arena.real(w2) * arena.load(0) - arena.real(gamma) * arena.load(1) +
                   arena.real(std::sqrt(2 * gamma)) * arena.random(Op::Noise, 0));
  const auto step = linear_step(small, integrator, head, options);
  if (!step) return std::nullopt;
  const auto s = stationary(step->map, step->noise);
  Bias bias;
  bias.relative = std::abs(s[2] - 1);
  bias.what = fmt::format("<{}^2>{}", v.shown, at_wave(system, linear));
  if (std::abs(w2 * s[0] - 1) > bias.relative) {
    bias.relative = std::abs(w2 * s[0] - 1);
    bias.what = fmt::format("the variance of {}{}", x.shown, at_wave(system, linear));
  }
  bias.wave = linear.wave != Wave{};
  bias.where = fmt::format("near {} = {:.3g}, where the force has the slope {:.3g}", x.shown,
                           linear.at, -w2);
  return bias;
}

/// Real and imaginary part of a wave turn into each other where its slope is not real.
std::optional<Bias> first_order(const physics::System& system, const physics::Variable& x,
                                const Linear& linear, const Integrator& integrator,
                                const Head& head, const physics::Options& options) {
  const double slope = linear.slope.real(), frequency = linear.slope.imag();
  physics::System small = small_system(system.dt);
  Arena& arena = *small.arena;
  const Expr strength = arena.real(std::sqrt(-2 * slope));
  for (int part = 0; part < 2; ++part) {
    Expr rate = arena.real(slope) * arena.load(part);
    if (frequency != 0)
      rate = rate + arena.real(part == 0 ? -frequency : frequency) * arena.load(1 - part);
    add_variable(small, part == 0 ? "x" : "y", physics::Role::FirstOrder, -1,
                 rate + strength * arena.random(Op::Noise, part));
  }
  const auto step = linear_step(small, integrator, head, options);
  if (!step) return std::nullopt;
  Bias bias;
  bias.relative = std::abs(stationary(step->map, step->noise)[0] - 1);
  bias.wave = linear.wave != Wave{};
  bias.what = fmt::format("the variance of {}{}", x.shown, at_wave(system, linear));
  bias.where = fmt::format("near {} = {:.3g}, where the rate has the slope {:.3g}", x.shown,
                           linear.at, slope);
  return bias;
}

}  // namespace

std::optional<Bias> largest_bias(const physics::System& system, const Integrator& integrator,
                                 const Head& head, const physics::Options& options) {
  std::optional<Bias> worst;
  for (const auto& v : system.variables) {
    const NoisyRate noisy = noisy_rate(system, v.array);
    if (noisy.stream < 0 ||
        algebra::contains(noisy.factor, [](Expr e) { return e.is(Op::Load); })) {
      continue;
    }
    const bool momentum = v.role == physics::Role::Momentum;
    const physics::Variable* x = momentum ? variable_of(system, v.partner) : &v;
    if (!x || (!momentum && v.role != physics::Role::FirstOrder)) continue;
    if (momentum) {
      const auto unit =
          algebra::constant(algebra::local_derivative(x->rate, system.arena->load(v.array)));
      if (!unit || unit->real != 1) continue;
    }
    for (const Linear& linear : steepest(system, *x, noisy.rest, momentum ? v.array : -1)) {
      const auto bias = momentum ? second_order(system, v, linear, integrator, head, options)
                                 : first_order(system, v, linear, integrator, head, options);
      if (bias && (!worst || bias->relative > worst->relative)) worst = bias;
    }
  }
  return worst;
}

}  // namespace vphi::schedule
