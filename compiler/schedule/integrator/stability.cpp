#include "compiler/schedule/integrator/stability.hpp"

#include <array>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "compiler/algebra/stencil.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/schedule/integrator/small_step.hpp"
#include "compiler/schedule/schedule_errors.hpp"

namespace vphi::schedule {
namespace {

using physics::FastestWaves;
using physics::Options;
using physics::System;

/// The map of one step on (x, v/w), row by row.
using Turn = std::array<double, 4>;

/// Heads that these equations can fill: holes and variables alone.
std::optional<Head> plain_head(const text::Integrator& integrator) {
  dsl::Diagnostics silent;
  auto head = read_head(integrator, silent);
  if (!head) return std::nullopt;
  for (const std::vector<Part>& parts : head->parts)
    for (const Part& part : parts)
      if (part.kind != Part::Kind::Hole && part.kind != Part::Kind::Variable) return std::nullopt;
  return head;
}

/// A text on a linear equation whose rate is the symbol `rate`.
class LinearText {
 public:
  /// x'' = -rate x
  static std::optional<LinearText> wave(const text::Integrator& integrator, double dt,
                                        const Options& options) {
    System small = small_system(dt);
    algebra::Arena& arena = *small.arena;
    add_variable(small, "x", physics::Role::Coordinate, 1, arena.load(1));
    add_variable(small, "v", physics::Role::Momentum, 0, -(arena.symbol(kRate) * arena.load(0)));
    return of(std::move(small), integrator, options);
  }

  /// x' = -rate x
  static std::optional<LinearText> decay(const text::Integrator& integrator, double dt,
                                         const Options& options) {
    System small = small_system(dt);
    algebra::Arena& arena = *small.arena;
    add_variable(small, "x", physics::Role::FirstOrder, -1, -(arena.symbol(kRate) * arena.load(0)));
    return of(std::move(small), integrator, options);
  }

  /// The same with noise that is 0, for heads with noise.
  static std::optional<LinearText> quiet_decay(const text::Integrator& integrator, double dt,
                                               const Options& options) {
    System small = small_system(dt);
    algebra::Arena& arena = *small.arena;
    add_variable(small, "x", physics::Role::FirstOrder, -1,
                 arena.random(algebra::Op::Noise, 0) - arena.symbol(kRate) * arena.load(0));
    small.noise.kind = physics::NoiseClass::Additive;
    dsl::Diagnostics silent;
    const auto head = read_head(integrator, silent);
    if (!head) return std::nullopt;
    auto step = SmallStep::of(small, integrator, *head, options);
    if (!step) return std::nullopt;
    return LinearText(std::move(small), std::move(*step));
  }

  Turn turn(double theta) const {
    const double w = theta / system_.dt;
    const auto from_x = step_({1, 0}, {}, {{kRate, w * w}});
    const auto from_v = step_({0, w}, {}, {{kRate, w * w}});
    return {from_x[0], from_v[0], from_x[1] / w, from_v[1] / w};
  }

  double factor(double rate_dt) const {
    const std::vector<double> silent(static_cast<std::size_t>(step_.draws()), 0.0);
    return step_({1}, silent, {{kRate, rate_dt / system_.dt}})[0];
  }

 private:
  static constexpr const char* kRate = "rate of the waves";

  LinearText(System system, SmallStep step) : system_(std::move(system)), step_(std::move(step)) {}

  static std::optional<LinearText> of(System small, const text::Integrator& integrator,
                                      const Options& options) {
    const auto head = plain_head(integrator);
    if (!head) return std::nullopt;
    auto step = SmallStep::of(small, integrator, *head, options);
    if (!step || step->draws() > 0) return std::nullopt;
    return LinearText(std::move(small), std::move(*step));
  }

  System system_;  ///< keeps the expressions of the step
  SmallStep step_;
};

/// Largest modulus of an eigenvalue.
double spectral_radius(const Turn& m) {
  const double half_trace = (m[0] + m[3]) / 2;
  const double determinant = m[0] * m[3] - m[1] * m[2];
  const double discriminant = half_trace * half_trace - determinant;
  if (discriminant <= 0) return std::sqrt(determinant);
  return std::fabs(half_trace) + std::sqrt(discriminant);
}

/// The end of the interval from 0 on where a step is stable, in steps of 1/256 at first.
std::optional<double> end_of_stability(const std::function<bool(double)>& stable) {
  constexpr double kStep = 1.0 / 256;
  double low = 0, high = 0;
  for (int i = 1; i <= 4096 && high == 0; ++i) {
    if (!stable(i * kStep))
      high = i * kStep;
    else
      low = i * kStep;
  }
  if (high == 0 || low < 0.1) return std::nullopt;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (stable(middle) ? low : high) = middle;
  }
  return low;
}

// rounding at a double eigenvalue costs the root of the arithmetic's precision
constexpr double kMargin = 1e-6;

std::optional<double> limit_of_decay(const std::optional<LinearText>& text) {
  if (!text) return std::nullopt;
  return end_of_stability(
      [&](double rate) { return std::fabs(text->factor(rate)) <= 1 + kMargin; });
}

/// w*dt up to which a step on a wave is stable.
std::optional<double> limit_of(const LinearText& wave) {
  return end_of_stability(
      [&](double theta) { return spectral_radius(wave.turn(theta)) <= 1 + kMargin; });
}

/// The order of a step on a wave, from its errors at two sizes.
std::optional<double> order_of(const LinearText& wave) {
  const auto error = [&](double h) {
    const Turn m = wave.turn(h);
    const double c = std::cos(h), s = std::sin(h);
    return std::hypot(std::hypot(m[0] - c, m[3] - c), std::hypot(m[1] - s, m[2] + s)) / h;
  };
  const double coarse = error(1), fine = error(0.5);
  if (!(coarse > 0) || !(fine > 0)) return std::nullopt;
  return std::fmax(1, std::round(std::log2(coarse / fine)));
}

// a step on the limit itself is allowed for rounding's sake
constexpr double kOnLimit = 1 + 1e-6;

/// A Friedmann error of this size is blamed on the step at any step size.
constexpr double kFloorFriedmann = 0.05;
/// The same where the stability limit is not known.
constexpr double kOpenFriedmann = 0.5;

std::string in_units_of_dx(double ratio) { return fmt::format("{:.4g}*dx", ratio); }

/// Why dt is too large: the Laplacian's largest eigenvalue, and masses.
std::string reason_of(const System& system, const FastestWaves& waves, double theta) {
  const double dx = system.lattice.dx;
  const auto& stencil = system.arena->stencil_data(waves.stencil);
  const auto eigenvalue = algebra::largest_eigenvalue(stencil);
  std::string value = fmt::format("{:.6g}", eigenvalue.value);
  std::string where;
  if (eigenvalue.exact) {
    value = eigenvalue.rational.den == 1
                ? fmt::format("{}", eigenvalue.rational.num)
                : fmt::format("{}/{}", eigenvalue.rational.num, eigenvalue.rational.den);
    for (int axis = 0; axis < stencil.dims; ++axis)
      where += fmt::format("{}{}", axis ? "," : "", eigenvalue.at[axis] == 0 ? "0" : "pi");
    where = fmt::format(" (at k*dx = ({}))", where);
  }
  const double speed2 = waves.waves2 * dx * dx / eigenvalue.value;
  std::string coefficient, product = value;
  if (std::abs(speed2 - 1) > 1e-6) {
    coefficient = fmt::format(" and a coefficient of {:.5g}", speed2);
    product = fmt::format("{:.5g}*{}", speed2, value);
  }
  const double mass = waves.mass2 * dx * dx;
  if (mass > 1e-6 * waves.waves2 * dx * dx)
    return fmt::format(
        "`{}` has the largest eigenvalue {}{}{}, and the fields have masses up to "
        "m^2 = {:.5g}/dx^2 at the start; the limit is {:.5g}*dx/sqrt({} + {:.5g})",
        stencil.name, value, where, coefficient, mass, theta, product, mass);
  return fmt::format("`{}` has the largest eigenvalue {}{}{}; the limit is {:.5g}*dx/sqrt({})",
                     stencil.name, value, where, coefficient, theta, product);
}

/// Beside conservation laws, whose equations are not linearised: waves of the fields that grow in
/// every step (as Heun's method makes them).
void warn_of_waves(System& system, const FastestWaves& waves, const LinearText& text,
                   const physics::Evolution& evolution, dsl::Diagnostics& diagnostics) {
  constexpr double kGrows = 1.05, kSteady = 1.005;
  const double frequency = std::sqrt(waves.stencil >= 0 ? waves.frequency2() : waves.written_out2);
  const auto growth = [&](double theta) { return spectral_radius(text.turn(theta)); };
  double theta = frequency * system.dt;
  const double here = growth(theta);
  if (!(here > kGrows)) return;
  while (growth(theta) >= kSteady) theta /= 2;
  const double fits = theta / frequency * system.dt_physical / system.dt;
  system.step_growth = {here, 1, fits};
  diagnostics.add(errors::step_grows(system.dt_span, evolution.integrator.name, here,
                                     frequency * system.dt / system.dt_physical, "",
                                     system.dt_physical, fits));
}

/// Of what derivatives in conservation laws damp: false where dt is above the limit at the start.
/// The expectation that it stays below gets the limit.
bool judge_diffusion(System& system, const physics::Evolution& evolution,
                     dsl::Diagnostics& diagnostics) {
  physics::Conservation::Diffusion& diffusion = system.conservation->diffusion;
  if (!diffusion.rate) return true;
  const bool noisy = system.noise.kind != physics::NoiseClass::None;
  const auto limit = evolution.tolerance ? std::nullopt
                                         : (noisy ? quiet_decay_limit : decay_limit)(
                                               evolution.integrator, system.dt, evolution.options);
  if (diffusion.promise) {
    const auto place =
        system.expectations.begin() + static_cast<std::ptrdiff_t>(*diffusion.promise);
    if (limit) {
      place->text = fmt::format("max(diffusion)*dt < {:.4g}, the limit of `{}`", *limit,
                                evolution.integrator.name);
      place->ok = system.arena->make(algebra::Op::LessEqual,
                                     {place->value, system.arena->real(*limit * kOnLimit)});
    } else {
      system.expectations.erase(place);
      diffusion.promise.reset();
    }
  }
  if (!limit || !diffusion.at_start) return true;
  system.remarks.push_back(
      fmt::format("dt = {:.6g} is {:.3g} of the limit {:.6g} of what {} damps at the start",
                  system.dt_physical, *diffusion.at_start / *limit,
                  system.dt_physical * *limit / *diffusion.at_start, diffusion.laws));
  if (*diffusion.at_start <= *limit * kOnLimit) return true;
  diagnostics.add(errors::damped_beyond_step(system.dt_span, diffusion.laws, system.dt_physical,
                                             *diffusion.at_start / system.dt_physical,
                                             evolution.integrator.name, *limit));
  return false;
}

/// False where dt is above the limit.
bool judge(System& system, const physics::Evolution& evolution, dsl::Diagnostics& diagnostics) {
  if (system.conservation && !judge_diffusion(system, evolution, diagnostics)) return false;
  system.friedmann_explained = kOpenFriedmann;
  if (evolution.tolerance) return true;  // the error of a step that is too long is too large
  if (!system.fastest) return true;      // signals of conservation laws are checked elsewhere
  const FastestWaves& waves = *system.fastest;
  const auto text = LinearText::wave(evolution.integrator, system.dt, evolution.options);
  const auto theta = text ? limit_of(*text) : std::nullopt;
  if (text && !theta && system.conservation)
    warn_of_waves(system, waves, *text, evolution, diagnostics);
  if (!theta) return true;
  if (!waves.masses.empty()) system.remarks.push_back(waves.masses);
  if (const auto order = order_of(*text)) {
    const double turn = system.dt * std::sqrt(std::fmax(0, waves.frequency2()));
    system.friedmann_explained = kFloorFriedmann + std::pow(turn, *order);
  }
  const bool stencil = waves.stencil >= 0;
  const double frequency2 = stencil ? waves.frequency2() : waves.written_out2;
  if (!stencil && !(frequency2 > 0)) return true;
  const double dx = system.lattice.dx, limit = *theta / std::sqrt(frequency2);
  system.remarks.push_back(fmt::format("dt = {} is {:.3g} of the stability limit {}{}",
                                       in_units_of_dx(system.dt / dx), system.dt / limit,
                                       in_units_of_dx(limit / dx),
                                       stencil ? "" : " of waves about the homogeneous start"));
  if (system.dt <= limit * kOnLimit) return true;
  const std::string reason =
      stencil ? reason_of(system, waves, *theta)
              : fmt::format(
                    "the fastest wave about the homogeneous start has the frequency "
                    "{:.5g}/dx; the limit is {:.5g} divided by it",
                    *theta * dx / limit, *theta);
  diagnostics.add(physics::errors::unstable_step(system.dt_span, system.dt / dx, limit / dx,
                                                 evolution.integrator.name, reason));
  return false;
}

/// Of links that flow: dt against the fastest wave about U = 1.
bool judge(System& system, const physics::LinkFlow& flow, dsl::Diagnostics& diagnostics) {
  if (!(flow.fastest_decay > 0)) return true;
  const auto limit = decay_limit(flow.integrator, system.dt, flow.options);
  if (!limit) return true;
  const double most = *limit / flow.fastest_decay;
  system.remarks.push_back(
      fmt::format("dt = {:.6g} is {:.3g} of the stability limit {:.6g} of waves about U = 1",
                  system.dt, system.dt / most, most));
  if (system.dt <= most * kOnLimit) return true;
  diagnostics.add(
      physics::errors::flow_unstable(system.dt_span, system.dt, most, flow.fastest_decay, *limit));
  return false;
}

}  // namespace

std::optional<double> wave_limit(const text::Integrator& integrator, double dt,
                                 const Options& options) {
  const auto text = LinearText::wave(integrator, dt, options);
  return text ? limit_of(*text) : std::nullopt;
}

std::optional<double> decay_limit(const text::Integrator& integrator, double dt,
                                  const Options& options) {
  return limit_of_decay(LinearText::decay(integrator, dt, options));
}

std::optional<double> quiet_decay_limit(const text::Integrator& integrator, double dt,
                                        const Options& options) {
  return limit_of_decay(LinearText::quiet_decay(integrator, dt, options));
}

std::optional<double> wave_order(const text::Integrator& integrator, double dt,
                                 const Options& options) {
  const auto text = LinearText::wave(integrator, dt, options);
  return text ? order_of(*text) : std::nullopt;
}

std::optional<System> judge_waves(System system, dsl::Diagnostics& diagnostics) {
  const physics::Dynamics dynamics = system.dynamics;
  const bool good = std::visit(
      physics::Kinds{
          [](const physics::Still&) { return true; },
          [&](const physics::Evolution& e) { return judge(system, e, diagnostics); },
          [](const physics::FluxStep&) { return true; },  // the scheme has its own limit
          [](const physics::MarkovChain&) { return true; },
          [&](const physics::LinkFlow& flow) { return judge(system, flow, diagnostics); },
          [](const physics::Trajectory&) {
            return true;
          },  // the Metropolis test corrects errors of the step
      },
      dynamics);
  if (!good) return std::nullopt;
  return system;
}

}  // namespace vphi::schedule
