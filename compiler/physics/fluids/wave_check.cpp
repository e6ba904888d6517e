#include "compiler/physics/fluids/wave_check.hpp"

#include <algorithm>
#include <cmath>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/physics/fluids/curvature.hpp"
#include "compiler/physics/fluids/recovery_equation.hpp"
#include "compiler/physics/fluids/relaxation.hpp"
#include "compiler/physics/fluids/wave_errors.hpp"

namespace vphi::physics {

namespace {

/// The state with vectors of this part of their length, and 0 for what relaxes.
TrialState slowed(const Space& d, TrialState state, double part) {
  for (const StateField& field : d.fields) {
    if (!field.primitive) continue;
    const dsl::Symbol* symbol = d.resolved.find(field.name);
    const bool vector = symbol && symbol->type.base == dsl::Type::Base::Vector;
    for (const int array : field.arrays) {
      double& number = state.primitives.at(array);
      if (field.relaxed)
        number = 0;
      else if (vector)
        number *= part;
    }
  }
  return state;
}

/// The signals of these laws if what this one relaxes stood still.
Signals signals_without(const Space& d, std::vector<Law> laws, std::size_t standing,
                        const std::map<int, int>& rates) {
  std::vector<Expr>& source = laws[standing].source;
  source.assign(source.size(), d.arena().integer(0));
  return Signals(d, per_coordinate(d, laws), rates);
}

/// The law with `relax` without whose target the velocities are real; null where none makes them.
const Law* carrier_of_growth(const Space& d, const std::vector<Law>& laws,
                             const std::map<int, int>& rates, const GrowingWave& wave) {
  for (std::size_t i = 0; i < laws.size(); ++i) {
    if (!laws[i].time) continue;
    const Signals signals = signals_without(d, laws, i, rates);
    if (!signals.velocities(wave.state, wave.axis).empty() &&
        !growing_wave(signals, wave.state, wave.axis + 1))
      return &laws[i];
  }
  return nullptr;
}

dsl::Diagnostic growth(const Space& d, const std::vector<Law>& laws,
                       const std::map<int, int>& rates, const GrowingWave& wave, bool at_start) {
  const Law* carrier = carrier_of_growth(d, laws, rates, wave);
  TrialState state;
  state.primitives = wave.state;
  return errors::waves_grow(carrier ? carrier->span : laws.front().span,
                            carrier ? carrier->name : std::string(), wave.velocity,
                            algebra::kAxisNames[wave.axis], shown_state(d, state), at_start);
}

std::vector<TrialState> resting_states(const Space& d, const TrialStates& trials, int count) {
  std::vector<TrialState> states;
  for (TrialState& state : trials.drawn(count)) {
    state = slowed(d, state, 0);
    if (trials.complete(state)) states.push_back(std::move(state));
  }
  return states;
}

/// Whether the targets of what relaxes damp.
void check_targets(const Program& d, const Signals& signals,
                   const std::vector<TrialState>& resting) {
  constexpr double kClose = 1.01;
  for (std::size_t i = 0; i < d.laws.size(); ++i) {
    const Law& law = d.laws[i];
    if (!law.time) continue;
    const Signals without = signals_without(d, d.laws, i, d.primitive_rates);
    for (const TrialState& state : resting) {
      const auto with = signals.largest(state.primitives, 0);
      const auto still = without.largest(state.primitives, 0);
      if (!with || !still || !(*still > kClose * *with)) continue;
      d.diagnostics.add(
          errors::target_drives(law.span, law.name, *with, *still, shown_state(d, state)));
      break;
    }
  }
}

}  // namespace

void check_waves(const Program& d, const System& system, const Signals& signals,
                 const TrialStates& trials) {
  if (system.conservation->diffusion.rate) return;
  if (const auto wave = growing_at_start(system, signals))
    d.fail(growth(d, d.laws, d.primitive_rates, *wave, true));
  const std::vector<TrialState> resting = resting_states(d, trials, 24);
  std::optional<GrowingWave> first;
  std::size_t growing = 0;
  for (const TrialState& state : resting) {
    const auto wave = growing_wave(signals, state.primitives, d.grid.dims);
    if (!wave) continue;
    ++growing;
    if (!first) first = wave;
  }
  if (first && growing == resting.size())
    d.fail(growth(d, d.laws, d.primitive_rates, *first, false));
  check_targets(d, signals, resting);
}

namespace {

std::optional<dsl::Diagnostic> fault_of_laws(const Equations& d, const TrialState& state) {
  const Signals signals(d, per_coordinate(d, d.laws), d.primitive_rates);
  const TrialState resting = slowed(d, state, 0);
  if (const auto wave = growing_wave(signals, resting.primitives, d.grid.dims))
    return growth(d, d.laws, d.primitive_rates, *wave, false);
  const auto sign = [&](double part) {
    return signals.orientation(slowed(d, state, part).primitives).value_or(0);
  };
  const int at_rest = sign(0), there = sign(1);
  if (at_rest * there != -1) return std::nullopt;
  double low = 0, high = 1;
  for (int halving = 0; halving < 40; ++halving) {
    const double middle = (low + high) / 2;
    (sign(middle) == at_rest ? low : high) = middle;
  }
  const TrialState place = slowed(d, state, low);
  return errors::state_not_determined(d.laws.front().span, d.laws.front().name,
                                      shown_state(d, place), shown_state(d, slowed(d, state, 1)),
                                      signals.largest(resting.primitives, 0, false).value_or(0));
}

}  // namespace

void fail_at(const Equations& d, const TrialState& state, const dsl::Diagnostic& otherwise) {
  d.fail(fault_of_laws(d, state).value_or(otherwise));
}

}  // namespace vphi::physics
