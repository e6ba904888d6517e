#include "runtime/run/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/random/philox.hpp"

namespace vphi::runtime {

namespace {

constexpr std::uint32_t kStream = 0x78636e67;  ///< of no random field and no draw of a kernel
constexpr std::size_t kShown = 12;             ///< pairs of values in the note

std::size_t axis_of(const program::Program& p) { return static_cast<std::size_t>(p.exchange.axis); }

std::int64_t size_of(const program::Program& p) { return std::ssize(p.axes[axis_of(p)].values); }

/// From an instance to the one with the next value.
std::int64_t stride_of(const program::Program& p) {
  std::int64_t stride = 1;
  for (std::size_t k = axis_of(p) + 1; k < p.axes.size(); ++k)
    stride *= std::ssize(p.axes[k].values);
  return stride;
}

double uniform_of(const program::Program& p, std::int64_t step, std::int64_t instance) {
  const random::Counter words =
      philox::generate({static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32),
                        kStream, static_cast<std::uint32_t>(instance)},
                       random::key_of(p.seed));
  return random::uniform(words[0], words[1]);
}

}  // namespace

void start_exchange(const program::Program& p, std::int64_t instance, double* scalars) {
  const program::Exchange& e = p.exchange;
  const std::vector<double>& values = p.axes[axis_of(p)].values;
  const std::int64_t place = p.place(instance, axis_of(p)), last = size_of(p) - 1;
  scalars[e.above_value_slot] = values[static_cast<std::size_t>(std::min(place + 1, last))];
  scalars[e.below_value_slot] =
      values[static_cast<std::size_t>(std::max<std::int64_t>(place - 1, 0))];
  scalars[e.replica_slot] = static_cast<double>(place);
  // Exchanges need instances that are independent of each other.
  const program::Axis& axis = p.axes[axis_of(p)];
  if (p.ensemble_slot >= 0 && !axis.ensemble && !axis.fresh)
    scalars[p.ensemble_slot] =
        scalars[p.ensemble_slot] * static_cast<double>(size_of(p)) + static_cast<double>(place);
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
  std::vector<double> scalars = session.scalars();
  const auto at = [&](std::int64_t instance, int slot) -> double& {
    return scalars[static_cast<std::size_t>(instance) * p.scalars.size() +
                   static_cast<std::size_t>(slot)];
  };
  const std::int64_t stride = stride_of(p), last = size_of(p) - 1, odd = step / e.every % 2;
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
  std::vector<int> done;  // some buffers share their memory
  for (const int buffer : e.buffers) {
    const int home = p.home(buffer);
    if (std::ranges::find(done, home) != done.end()) continue;
    done.push_back(home);
    session.exchange(buffer, pairs);
  }
}

std::string exchange_note(const program::Program& p, std::span<const double> scalars) {
  const program::Exchange& e = p.exchange;
  if (e.axis < 0) return {};
  const auto values = static_cast<std::size_t>(size_of(p));
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
