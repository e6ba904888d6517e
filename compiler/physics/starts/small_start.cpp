#include "compiler/physics/starts/small_start.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/linear.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/fields/background_errors.hpp"
#include "compiler/physics/fields/deviation.hpp"
#include "program/wave_numbers.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// Root mean square of the vacuum's waves between the box and the lattice spacing, physical.
double vacuum_rms(int dims, double longest, double dx, double mass2, double cutoff) {
  constexpr int kPoints = 400;
  constexpr double kPi = std::numbers::pi;
  constexpr double kSphere[] = {2, 2 * kPi, 4 * kPi, 2 * kPi * kPi};
  const double low = 2 * std::numbers::pi / longest, high = std::numbers::pi / dx;
  const double step = std::log(high / low) / kPoints;
  double sum = 0;
  for (int i = 0; i < kPoints; ++i) {
    const double k = low * std::exp((i + 0.5) * step), cut = k / cutoff;
    const double omega = std::sqrt(std::fmax(k * k + mass2, low * low));
    sum += std::pow(k / (2 * std::numbers::pi), dims) * std::exp(-2 * cut * cut) / (2 * omega);
  }
  return std::sqrt(sum * step * kSphere[dims - 1]);
}

bool shows_fluctuations(const dsl::Resolved& resolved) {
  bool found = false;
  for (const char* keyword : {"every", "at end"}) {
    for (const dsl::Clause* clause : resolved.clauses(keyword)) {
      for (const dsl::Item& item : clause->items) {
        if (!item.value) continue;
        const std::string& text = item.value->text;
        const program::OutputRow* row = program::output_named(text);
        found = found || text == "energies" ||
                (row != nullptr && row->shape == program::OutputShape::WaveNumbers);
      }
    }
  }
  return found;
}

/// The root mean square of a drawn array, in the units of the initial values.
std::optional<double> rms_of(const System& system, const RandomField& random) {
  const Lattice& box = system.lattice;
  switch (random.kind) {
    case RandomField::Kind::Normal:
      return random.amplitude;
    case RandomField::Kind::Uniform:
      return random.amplitude * (random.high - random.low) / std::sqrt(12.0);
    case RandomField::Kind::Vacuum: {
      const auto n = *std::max_element(box.extent.begin(), box.extent.begin() + box.dims);
      if (n < 2) return std::nullopt;
      const double longest = static_cast<double>(n) * box.dx;
      const double half_nyquist = (static_cast<double>(n) / 2 + 1) * std::numbers::pi / longest;
      double mass2 = random.mass2;
      for (const double other : random.masses) mass2 = std::fmin(mass2, other);
      return random.amplitude * vacuum_rms(box.dims, longest, box.dx, mass2,
                                           random.cutoff > 0 ? random.cutoff : half_nyquist);
    }
    case RandomField::Kind::Spectrum: {
      const auto numbers = program::WaveNumbers::of(box.extent);
      if (!numbers) return std::nullopt;
      const auto modes = numbers->modes();
      double sum = 0;  // of the first instance
      for (std::size_t i = 1; i < modes.size(); ++i)
        sum += static_cast<double>(modes[i]) * random.powers[i];
      return random.amplitude * std::sqrt(sum);
    }
    case RandomField::Kind::File:
    case RandomField::Kind::Link:
    case RandomField::Kind::Points:
      break;
  }
  return std::nullopt;
}

struct Fluctuations {
  double rms = 0;
  dsl::Span span;  ///< of the first drawn field
};

/// The fluctuations of a sum of independent draws, each times a number; nothing where the value is
/// not of this form.
std::optional<Fluctuations> fluctuations(const System& system, Expr rest) {
  Fluctuations result;
  for (const kernel::Term& term : kernel::linear_terms(rest)) {
    const auto factor = algebra::constant(term.coefficient);
    if (!factor || !term.site || !term.site.is(Op::Load)) return std::nullopt;
    const auto random = std::ranges::find(system.random, term.site->index, &RandomField::array);
    const auto rms = random == system.random.end() ? std::nullopt : rms_of(system, *random);
    if (!rms) return std::nullopt;
    result.rms = std::hypot(result.rms, static_cast<double>(factor->real) * *rms);
    if (result.span.empty()) result.span = term.site->span;
  }
  return result;
}

}  // namespace

void warn_of_small_starts(const Program& d, const System& system,
                          const std::map<int, StoredAsValue>& values) {
  constexpr double kSmall = 1e-5;
  if (!shows_fluctuations(d.resolved)) return;
  Splitting split(system, {});
  for (const InitialValue& start : system.initial) {
    const auto v = std::ranges::find(system.variables, start.array, &Variable::array);
    if (v == system.variables.end() || v->role == Role::Momentum || v->field < 0) continue;
    const auto own = system.numerics.stores.find(start.array);
    const Precision stored =
        own != system.numerics.stores.end() ? own->second : system.numerics.store;
    if (stored != Precision::F32 || system.numerics.deviations.contains(start.array)) continue;
    const BaseAndRest parts = split(start.value);
    if (!parts.base || !parts.rest) continue;
    const auto mean = range_of(d, parts.base);
    const auto drawn = fluctuations(system, parts.rest);
    if (!mean || !drawn) continue;
    const double least = std::fmin(std::fabs(mean->low), std::fabs(mean->high));
    if (drawn->rms > kSmall * least) continue;
    const auto as_value = values.find(start.array);
    d.diagnostics.add(errors::small_in_f32(
        drawn->span, d.fields[static_cast<std::size_t>(v->field)].name, least / system.A,
        drawn->rms / system.A, as_value == values.end() ? StoredAsValue{} : as_value->second));
  }
}

}  // namespace vphi::physics
