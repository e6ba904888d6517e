#include "compiler/schedule/steps/noise.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/noise/noise.hpp"
#include "compiler/schedule/integrator/match.hpp"
#include "compiler/schedule/integrator/trial.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "dsl/messages/suggest.hpp"

namespace vphi::schedule {

using algebra::Expr;
using algebra::Op;
using physics::Calculus;
using physics::NoiseClass;

namespace {

/// Streams that drive more than one array.
std::map<int, int> uses_of(const physics::System& system) {
  std::map<int, int> uses;
  for (const auto& v : system.variables) {
    for (const int stream : physics::split_noise(v.rate).streams()) ++uses[stream];
  }
  return uses;
}

}  // namespace

NoisyRate noisy_rate(const physics::System& system, int array) {
  const physics::Variable* variable = variable_of(system, array);
  const auto split = physics::split_noise(variable->rate);
  NoisyRate result{split.rest, system.arena->integer(0), -1};
  if (split.spread) {
    result.stream = *split.streams().begin();
    result.factor = system.arena->integer(1);
    result.spread = split.spread;
    return result;
  }
  if (split.factors.empty()) return result;
  if (split.factors.size() == 1) {
    result.stream = split.factors.begin()->first;
    result.factor = split.factors.begin()->second;
    return result;
  }
  const auto uses = uses_of(system);
  Expr square = system.arena->integer(0);
  for (const auto& [stream, factor] : split.factors) {
    if (uses.at(stream) > 1) result.stream = -2;
    square = square + algebra::pow(factor, 2);
  }
  if (result.stream == -2) return result;
  result.stream = split.factors.begin()->first;
  result.factor = algebra::pow(square, system.arena->rational(1, 2));
  return result;
}

namespace {

class Preparation {
 public:
  Preparation(physics::System& system, const Integrator& integrator,
              const physics::Options& options, dsl::Diagnostics& diagnostics)
      : system_(system), integrator_(integrator), options_(options), diagnostics_(diagnostics) {}

  bool run() {
    if (system_.noise.kind == NoiseClass::None) return true;
    for (const auto& v : system_.variables) {
      if (noisy_rate(system_, v.array).stream < -1) {
        return fail(
            errors::not_yet(v.span, "an equation with several noises that other equations share"));
      }
    }
    const auto head = read_head(integrator_, diagnostics_);
    if (!head) return false;
    const bool noisy = std::ranges::any_of(head->parts, [](const std::vector<Part>& parts) {
      return std::ranges::count(parts, Part::Kind::Noise, &Part::kind) > 0;
    });
    const bool multiplies = std::ranges::any_of(head->parts, [&](const std::vector<Part>& parts) {
      return std::ranges::any_of(parts, [&](const Part& part) {
        const auto state = [&](const std::string& name) { return head->index(name) >= 0; };
        return part.kind == Part::Kind::Noise && std::ranges::any_of(part.arguments, state);
      });
    });
    const bool additive = system_.noise.kind == NoiseClass::Additive;
    if (!noisy || !(additive || multiplies)) return true;  // the matcher lists what would fit
    const bool negative =
        std::ranges::any_of(integrator_.weights, [](const auto& w) { return w.real < 0; });
    if (negative) return fail(errors::noise_backwards(system_.evolve_span, integrator_.name));
    if (system_.noise.kind == NoiseClass::General) {
      diagnostics_.add(errors::noise_general(system_.noise.streams.front(), integrator_.name));
    }
    return calculus(*head) && bias(*head);
  }

 private:
  bool fail(dsl::Diagnostic diagnostic) {
    diagnostics_.add(std::move(diagnostic));
    return false;
  }

  /// The drift of the calculus that the integrator's text converges to.
  bool calculus(const Head& head) {
    if (system_.noise.kind == NoiseClass::Additive) return true;
    const auto found = measured_calculus(integrator_, head, options_);
    if (!found) return fail(errors::noise_calculus_unknown(system_.evolve_span, integrator_.name));
    const Calculus declared = *system_.noise.calculus;
    const auto shown = [](Calculus c) {
      return c == Calculus::Ito ? std::string("Ito") : std::string("Stratonovich");
    };
    if (*found == declared) return true;
    std::vector<std::pair<int, Expr>> corrections;
    for (const auto& v : system_.variables) {
      corrections.emplace_back(v.array, physics::drift_correction(system_, v.array));
    }
    const int sign = declared == Calculus::Ito ? -1 : 1;
    for (auto& v : system_.variables) {
      for (const auto& [array, correction] : corrections) {
        if (array == v.array) v.rate = v.rate + system_.arena->integer(sign) * correction;
      }
    }
    system_.remarks.push_back(fmt::format(
        "`{}` converges to the {} solution and the noise is declared {}: the drift {}1/2*g*d(g, x) "
        "is added",
        integrator_.name, shown(*found), shown(declared), sign < 0 ? "-" : "+"));
    return true;
  }

  /// Stationary state of the linearised equation at this step against the exact one.
  bool bias(const Head& head) {
    constexpr double kLarge = 0.02, kLargeOfWave = 0.05;  // the fastest wave is one of many
    const auto worst = largest_bias(system_, integrator_, head, options_);
    if (!worst || worst->relative < (worst->wave ? kLargeOfWave : kLarge)) return true;
    diagnostics_.add(errors::noise_bias(system_.evolve_span, integrator_.name, worst->what,
                                        worst->relative, worst->where, better(worst->relative)));
    return true;
  }

  /// Library integrators for this system whose bias is at most a tenth.
  std::vector<std::string> better(double bias) const {
    std::vector<std::string> names;
    for (const Integrator& other : system_.integrators) {
      dsl::Diagnostics silent;
      const auto head = read_head(other, silent);
      if (!head) continue;
      const bool fits = std::ranges::any_of(groupings(system_, *head), [&](const auto& groups) {
        return !share_out(system_, *head, groups).leftover;
      });
      if (!fits) continue;
      const auto its = largest_bias(system_, other, *head, {});
      if (its && its->relative < 0.1 * bias) names.push_back(other.name);
    }
    return names;
  }

  physics::System& system_;
  const Integrator& integrator_;
  const physics::Options& options_;  ///< of the model
  dsl::Diagnostics& diagnostics_;
};

}  // namespace

std::optional<physics::System> with_calculus(physics::System system,
                                             dsl::Diagnostics& diagnostics) {
  const auto* evolution = std::get_if<physics::Evolution>(&system.dynamics);
  if (evolution &&
      !Preparation(system, evolution->integrator, evolution->options, diagnostics).run())
    return std::nullopt;
  return system;
}

}  // namespace vphi::schedule
