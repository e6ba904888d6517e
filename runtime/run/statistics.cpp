// Averages over instances.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "runtime/run/averaged_class.hpp"

namespace vphi::runtime {

using program::Program;
using program::Statistic;

namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Remaining::Remaining(const Program& program, const std::vector<int>& kept)
    : program_(program), kept_(kept) {
  for (const int axis : kept_)
    size_ *= static_cast<std::int64_t>(program.axes[static_cast<std::size_t>(axis)].values.size());
}

std::vector<int> Remaining::all_but(const Program& program, const std::vector<int>& gone) {
  std::vector<int> kept;
  for (int axis = 0; axis < static_cast<int>(program.axes.size()); ++axis)
    if (std::find(gone.begin(), gone.end(), axis) == gone.end()) kept.push_back(axis);
  return kept;
}

std::int64_t Remaining::cell(std::int64_t instance) const {
  std::int64_t cell = 0;
  for (const int axis : kept_) {
    const auto k = static_cast<std::size_t>(axis);
    cell = cell * static_cast<std::int64_t>(program_.axes[k].values.size()) +
           program_.place(instance, k);
  }
  return cell;
}

namespace {

/// Errors of variances s^2 of n values each: sqrt((m4 - s^4 (n - 3)/(n - 1))/n), m4 the fourth
/// central moment (Kendall and Stuart, The Advanced Theory of Statistics, section 10.15).
std::vector<double> errors_of_variances(const Remaining& left, const Statistic& statistic,
                                        const Table& table, const std::vector<double>& count,
                                        const std::vector<double>& mean,
                                        const std::vector<double>& spread) {
  std::vector<double> fourth(count.size(), 0), error(count.size(), kNoValue);
  for (std::int64_t i = 0; i < table.instances; ++i) {
    const auto c = static_cast<std::size_t>(left.cell(i));
    const double off = table.at(i, statistic.slot) - mean[c];
    if (!std::isnan(off)) fourth[c] += off * off * off * off;
  }
  for (std::size_t c = 0; c < count.size(); ++c) {
    const double n = count[c];
    if (n < 2) continue;
    const double s2 = spread[c] / n;
    error[c] = std::sqrt(std::max(0.0, (fourth[c] / n - s2 * s2 * (n - 3) / (n - 1)) / n));
  }
  return error;
}

/// Errors of means over an ensemble and over parameters; none where only one kind is averaged over.
std::vector<double> errors_by_place(const Program& program, const Statistic& statistic,
                                    const Table& table, const Remaining& left) {
  const auto drawn = [&](int axis) {
    return program.axes[static_cast<std::size_t>(axis)].ensemble;
  };
  const auto ensembles = std::count_if(statistic.axes.begin(), statistic.axes.end(), drawn);
  if (ensembles == 0 || ensembles == static_cast<std::ptrdiff_t>(statistic.axes.size())) return {};
  std::vector<int> gone;
  std::copy_if(statistic.axes.begin(), statistic.axes.end(), std::back_inserter(gone), drawn);
  Statistic inner = statistic;
  inner.axes = gone;
  const Averaged places = average(program, inner, table);
  const Remaining finer(program, Remaining::all_but(program, gone));
  const auto fine = static_cast<std::size_t>(finer.size());
  std::vector<double> count(fine, 0), of_place(fine, 0);
  for (std::int64_t i = 0; i < table.instances; ++i) {
    if (std::isnan(table.at(i, statistic.slot))) continue;
    const auto place = static_cast<std::size_t>(finer.cell(i));
    count[place] += 1;
    of_place[place] = static_cast<double>(left.cell(i));
  }
  const auto cells = static_cast<std::size_t>(left.size());
  std::vector<double> squares(cells, 0), all(cells, 0);
  for (std::size_t place = 0; place < fine; ++place) {
    if (count[place] == 0) continue;
    const auto cell = static_cast<std::size_t>(of_place[place]);
    squares[cell] += std::pow(count[place] * places.error[place], 2);
    all[cell] += count[place];
  }
  for (std::size_t cell = 0; cell < cells; ++cell)
    squares[cell] = std::sqrt(squares[cell]) / all[cell];
  return squares;
}

}  // namespace

void keep_class(const Program& program, const Statistic& statistic, Table& table) {
  const auto leave_out = [&](std::int64_t i) { table.at(i, statistic.slot) = kNoValue; };
  if (!statistic.by_rank) {
    for (std::int64_t i = 0; i < table.instances; ++i)
      if (!(table.at(i, statistic.member_slot) != 0)) leave_out(i);
    return;
  }
  const Remaining left(program, Remaining::all_but(program, statistic.axes));
  std::vector<std::vector<std::int64_t>> order(static_cast<std::size_t>(left.size()));
  for (std::int64_t i = 0; i < table.instances; ++i) {
    if (std::isfinite(table.at(i, statistic.member_slot)))
      order[static_cast<std::size_t>(left.cell(i))].push_back(i);
    else
      leave_out(i);
  }
  for (auto& cell : order) {
    std::ranges::stable_sort(cell, {},
                             [&](std::int64_t i) { return table.at(i, statistic.member_slot); });
    const auto place = [&](double share) {
      return std::llround(share * static_cast<double>(cell.size()));
    };
    for (std::int64_t k = 0; k < std::ssize(cell); ++k)
      if (k < place(statistic.from) || k >= place(statistic.to))
        leave_out(cell[static_cast<std::size_t>(k)]);
  }
}

// Welford's form: m_n = m + (x - m)/n, S_n = S + (x - m)(x - m_n); one pass in the order of the
// instances.
Averaged average(const Program& program, const Statistic& statistic, const Table& table) {
  using Kind = Statistic::Kind;
  const Remaining left(program, Remaining::all_but(program, statistic.axes));
  const auto cells = static_cast<std::size_t>(left.size());
  std::vector<double> count(cells, 0), mean(cells, 0), spread(cells, 0), least(cells, kNoValue),
      greatest(cells, kNoValue);
  Averaged result;
  result.missing.assign(cells, 0);
  for (std::int64_t i = 0; i < table.instances; ++i) {
    const auto c = static_cast<std::size_t>(left.cell(i));
    const double x = table.at(i, statistic.slot);
    if (std::isnan(x)) {
      ++result.missing[c];
      continue;
    }
    count[c] += 1;
    const double off = x - mean[c];
    mean[c] += off / count[c];
    spread[c] += off * (x - mean[c]);
    least[c] = count[c] == 1 ? x : std::min(least[c], x);
    greatest[c] = count[c] == 1 ? x : std::max(greatest[c], x);
  }
  result.value.assign(cells, kNoValue);
  result.error.assign(cells, kNoValue);
  for (std::size_t c = 0; c < cells; ++c) {
    if (count[c] == 0) continue;
    result.value[c] = statistic.kind == Kind::Mean       ? mean[c]
                      : statistic.kind == Kind::Variance ? spread[c] / count[c]
                      : statistic.kind == Kind::Minimum  ? least[c]
                                                         : greatest[c];
    if (statistic.kind == Kind::Mean && count[c] > 1)
      result.error[c] = std::sqrt(spread[c] / (count[c] - 1) / count[c]);
  }
  if (statistic.kind == Kind::Mean)
    if (auto errors = errors_by_place(program, statistic, table, left); !errors.empty())
      result.error = std::move(errors);
  if (statistic.kind == Kind::Variance && statistic.error_slot >= 0)
    result.error = errors_of_variances(left, statistic, table, count, mean, spread);
  return result;
}

}  // namespace vphi::runtime
