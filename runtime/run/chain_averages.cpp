#include "runtime/run/chain_averages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/run/ensemble.hpp"

namespace vphi::runtime {

namespace {

using Chains = std::vector<std::vector<double>>;

constexpr std::size_t kLeastForEarly = 32;  ///< values needed to compare the quarters
constexpr double kFarOff = 4;               ///< standard errors that are not due to chance

/// The difference between the first quarter of the chains and the rest, in standard errors.
double early(const Chains& chains, const observe::ChainAverage& all) {
  if (all.values < kLeastForEarly) return 0;
  double first = 0, rest = 0, n_first = 0, n_rest = 0;
  for (const auto& chain : chains)
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const bool quarter = i < chain.size() / 4;
      (quarter ? first : rest) += chain[i];
      (quarter ? n_first : n_rest) += 1;
    }
  // The error of the rest alone: a first quarter that differs would be taken for fluctuations.
  Chains later;
  for (const auto& chain : chains)
    later.emplace_back(chain.begin() + static_cast<std::ptrdiff_t>(chain.size() / 4), chain.end());
  const double error = observe::chain_average(later).at_least;
  const double distance = std::abs(first / n_first - rest / n_rest);
  const double width = error * std::sqrt(n_rest / n_first + 1);
  return width > 0 ? distance / width : 0;
}

ChainSeries of_chains(const std::string& name, const Chains& chains) {
  ChainSeries result{.name = name, .average = observe::chain_average(chains)};
  result.early = early(chains, result.average);
  return result;
}

ChainSeries of_points(const Series& series) {
  Chains chains(1);
  for (const auto& [time, value] : series.points)
    if (time > 0 && std::isfinite(value)) chains[0].push_back(value);
  return of_chains(series.name, chains);
}

/// A series over axes: chains of one place along those that are not ensembles.
void of_rows(const RunResult& result, const Series& series, std::vector<ChainSeries>& out) {
  std::size_t cells = 1;
  for (const int axis : series.axes)
    cells *= result.axes[static_cast<std::size_t>(axis)].values.size();
  std::map<std::string, Chains> of_place;
  std::vector<std::string> order;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    std::string place;
    std::size_t rest = cell;
    for (auto axis = series.axes.rbegin(); axis != series.axes.rend(); ++axis) {
      const SweptAxis& swept = result.axes[static_cast<std::size_t>(*axis)];
      const double value = swept.values[rest % swept.values.size()];
      rest /= swept.values.size();
      if (swept.ensemble) continue;
      place = fmt::format("{} = {:.6g}{}{}", swept.name, value, place.empty() ? "" : ", ", place);
    }
    if (!of_place.contains(place)) order.push_back(place);
    std::vector<double>& chain = of_place[place].emplace_back();
    for (std::size_t row = 0; row < series.values.size() && row < series.times.size(); ++row)
      if (series.times[row] > 0 && cell < series.values[row].size() &&
          std::isfinite(series.values[row][cell]))
        chain.push_back(series.values[row][cell]);
  }
  for (const std::string& place : order)
    out.push_back(
        of_chains(place.empty() ? series.name : series.name + " at " + place, of_place.at(place)));
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kShown ? fmt::format("{} and {} more", text, names.size() - kShown) : text;
}

}  // namespace

std::vector<ChainSeries> chain_series(const RunResult& result) {
  std::vector<ChainSeries> all;
  for (const Series& series : result.series) {
    if (!series.errors.empty()) continue;  // averages themselves
    if (series.axes.empty() && !series.points.empty())
      all.push_back(of_points(series));
    else if (!series.values.empty())
      of_rows(result, series, all);
  }
  return all;
}

std::vector<std::string> chain_notes(const std::vector<ChainSeries>& all, const std::string& unit) {
  std::vector<std::string> far;
  std::map<observe::Known, std::vector<std::string>> unknown;
  for (const ChainSeries& one : all) {
    if (one.early > kFarOff)
      far.push_back(one.name);
    else if (!one.average.is_known() && one.average.values > 1)
      unknown[one.average.known].push_back(one.name);
  }
  std::vector<std::string> notes;
  if (!far.empty())
    notes.push_back(fmt::format(
        "{}: the first quarter lies off the rest by more than {:.0f} standard errors: the averages "
        "hold what came before equilibrium; begin them later with `after = {} > ...`",
        listed(far), kFarOff, unit));
  for (const auto& [known, names] : unknown)
    notes.push_back(fmt::format("{}: the error is not known: {}{}", listed(names),
                                observe::reason(known),
                                known == observe::Known::Frozen ? "" : "; make the chain longer"));
  return notes;
}

std::vector<double> acceptance(const program::Program& program, std::span<const double> scalars,
                               std::int64_t instances, std::int64_t steps) {
  const std::size_t width = program.scalars.size();
  const auto slot = static_cast<std::size_t>(
      std::ranges::find(program.scalars, "accepted", &program::Scalar::name) -
      program.scalars.begin());
  std::vector<double> shares;
  if (!program.chain || slot == width || steps == 0) return shares;
  for (std::size_t i = 0; i < static_cast<std::size_t>(instances); ++i)
    shares.push_back(scalars[i * width + slot] / static_cast<double>(steps));
  return shares;
}

std::string acceptance_text(const std::vector<double>& acceptance) {
  if (acceptance.empty()) return {};
  const auto [low, high] = std::ranges::minmax(acceptance);
  const std::string range =
      low == high ? fmt::format("{:.3g}", low) : fmt::format("{:.3g} to {:.3g}", low, high);
  return range + " of all proposals";
}

std::vector<std::string> refused_all(const program::Program& program,
                                     std::span<const double> scalars, std::int64_t first,
                                     std::int64_t instances, std::int64_t steps) {
  const std::vector<double> shares = acceptance(program, scalars, instances, steps);
  std::vector<std::string> notes;
  const bool sweeps = chain_unit(program) == "sweep";
  for (std::int64_t i = 0; i < std::ssize(shares); ++i) {
    if (shares[static_cast<std::size_t>(i)] != 0) continue;
    notes.push_back(fmt::format(
        "{}no proposal was accepted in {} {}: the chain has not moved, and its averages are those "
        "of the initial state; {}",
        program.axes.empty() ? "" : program.where(first + i) + ": ", steps,
        sweeps ? "sweeps" : "trajectories",
        sweeps ? "a smaller `width`" : "more `steps` in its levels, or a smaller `tau`"));
  }
  return notes;
}

// Trajectories alone have a change of H.
std::string chain_unit(const program::Program& program) {
  if (!program.chain) return "";
  const bool trajectories = std::ranges::any_of(
      program.scalars, [](const program::Scalar& s) { return s.name == "deltaH"; });
  return trajectories ? "trajectory" : "sweep";
}

}  // namespace vphi::runtime
