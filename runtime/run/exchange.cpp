#include "runtime/run/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/random/philox.hpp"

namespace vphi::runtime {

namespace {

constexpr std::size_t kShown = 12;  ///< pairs of values in the note

std::size_t axis_of(const program::Program& p) { return static_cast<std::size_t>(p.exchange.axis); }

double uniform_of(const program::Program& p, std::int64_t step, std::int64_t instance) {
  const random::Counter words =
      philox::generate({static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32),
                        kExchangeStream, static_cast<std::uint32_t>(instance)},
                       random::key_of(p.seed));
  return random::uniform(words[0], words[1]);
}

/// Buffers of the configuration, one for all that share their memory.
std::vector<int> moved_buffers(const program::Program& p) {
  std::vector<int> moved, homes;
  for (const int buffer : p.exchange.buffers) {
    const int home = p.home(buffer);
    if (std::ranges::find(homes, home) != homes.end()) continue;
    homes.push_back(home);
    moved.push_back(buffer);
  }
  return moved;
}

}  // namespace

std::int64_t exchange_values(const program::Program& p) {
  return std::ssize(p.axes[axis_of(p)].values);
}

std::int64_t exchange_stride(const program::Program& p) {
  std::int64_t stride = 1;
  for (std::size_t k = axis_of(p) + 1; k < p.axes.size(); ++k)
    stride *= std::ssize(p.axes[k].values);
  return stride;
}

void start_exchange(const program::Program& p, std::int64_t instance, double* scalars) {
  const program::Exchange& e = p.exchange;
  const std::vector<double>& values = p.axes[axis_of(p)].values;
  const std::int64_t place = p.place(instance, axis_of(p)), last = exchange_values(p) - 1;
  scalars[e.above_value_slot] = values[static_cast<std::size_t>(std::min(place + 1, last))];
  scalars[e.below_value_slot] =
      values[static_cast<std::size_t>(std::max<std::int64_t>(place - 1, 0))];
  scalars[e.replica_slot] = static_cast<double>(place);
  // Exchanges need instances that are independent of each other.
  const program::Axis& axis = p.axes[axis_of(p)];
  if (p.ensemble_slot >= 0 && !axis.ensemble && !axis.fresh)
    scalars[p.ensemble_slot] = scalars[p.ensemble_slot] * static_cast<double>(exchange_values(p)) +
                               static_cast<double>(place);
}

std::int64_t next_exchange(const program::Program& p, std::int64_t step) {
  if (p.exchange.axis < 0) return -1;
  return (step / p.exchange.every + 1) * p.exchange.every;
}

void check_exchange(const program::Program& p) {
  if (p.exchange.axis < 0 || p.instances >= p.all_instances()) return;
  throw RunError("E0802",
                 fmt::format("configurations are exchanged along `{}`, but only {} of the {} "
                             "instances of the sweep fit at once",
                             p.axes[axis_of(p)].name, p.instances, p.all_instances()),
                 "leave --batch out, or take fewer instances, a smaller lattice or a device with "
                 "more memory");
}

void exchange_configurations(Session& session, std::int64_t step) {
  const program::Program& p = session.program();
  const program::Exchange& e = p.exchange;
  if (e.axis < 0 || step == 0 || step % e.every != 0) return;
  session.launch(e.launches);
  session.release_scratch();
  if (session.exchanges_on_device()) return session.exchange_on_device(step, moved_buffers(p));
  std::vector<double> scalars = session.scalars();
  const auto at = [&](std::int64_t instance, int slot) -> double& {
    return scalars[static_cast<std::size_t>(instance) * p.scalars.size() +
                   static_cast<std::size_t>(slot)];
  };
  const std::int64_t stride = exchange_stride(p), last = exchange_values(p) - 1,
                     odd = step / e.every % 2;
  std::vector<InstancePair> pairs;
  for (std::int64_t i = 0; i < p.instances; ++i) {
    const std::int64_t place = p.place(i, axis_of(p)), j = i + stride;
    if (place % 2 == odd || place == last) continue;
    if (p.stop_slot >= 0 && (at(i, p.stop_slot) != 0 || at(j, p.stop_slot) != 0)) continue;
    at(i, e.tried_slot) += 1;
    const double change = at(i, e.above_slot) + at(j, e.below_slot);
    if (!(uniform_of(p, step, i) < std::exp(-change))) continue;  // nor where it is NaN
    at(i, e.made_slot) += 1;
    std::swap(at(i, e.replica_slot), at(j, e.replica_slot));
    pairs.emplace_back(i, j);
  }
  session.set_scalars(scalars);
  if (pairs.empty()) return;
  for (const int buffer : moved_buffers(p)) session.exchange(buffer, pairs);
}

std::string exchange_note(const program::Program& p, std::span<const double> scalars) {
  const program::Exchange& e = p.exchange;
  if (e.axis < 0) return {};
  const auto values = static_cast<std::size_t>(exchange_values(p));
  std::vector<double> tried(values), made(values);
  for (std::int64_t i = 0; i < p.instances; ++i) {
    const auto place = static_cast<std::size_t>(p.place(i, axis_of(p)));
    const std::size_t row = static_cast<std::size_t>(i) * p.scalars.size();
    tried[place] += scalars[row + static_cast<std::size_t>(e.tried_slot)];
    made[place] += scalars[row + static_cast<std::size_t>(e.made_slot)];
  }
  const program::Axis& axis = p.axes[axis_of(p)];
  std::string text;
  double least = 1, most = 0;
  for (std::size_t k = 0; k + 1 < values; ++k) {
    if (tried[k] == 0) return {};
    const double share = made[k] / tried[k];
    least = std::min(least, share), most = std::max(most, share);
    text += fmt::format("{}{:.3g} ({:.6g} and {:.6g})", k > 0 ? ", " : "", share, axis.values[k],
                        axis.values[k + 1]);
  }
  if (values > kShown) text = fmt::format("{:.3g} to {:.3g}", least, most);
  return fmt::format("exchanges along {} that were made: {}", axis.name, text);
}

}  // namespace vphi::runtime
