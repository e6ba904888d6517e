// The scalars of a Session: their initial values for every instance, and copies of them on the
// host.
//
// In kernels they are ordered by instance, or for paths by slot (program::scalars_by_slot). Callers
// get all of them by instance (`scalars`) or a single one (`slot`). For a million paths,
// transposing all of them costs more than the steps, so a caller that needs one uses `slot`.
#include <algorithm>
#include <cmath>
#include <memory>

#include "program/axes.hpp"
#include "runtime/run/exchange.hpp"
#include "runtime/run/session.hpp"
#include "runtime/run/starts/transpose.hpp"

namespace vphi::runtime {

namespace {

/// Numbers up to which all are copied at once.
constexpr std::size_t kTogether = std::size_t{1} << 13;

}  // namespace

/// Initial numbers of every instance: its values along the axes, its number in the ensemble.
std::vector<double> Session::initial_scalars() const {
  const std::size_t width = program_.scalars.size();
  const std::int64_t all = program_.all_instances();
  std::vector<double> initial(width * static_cast<std::size_t>(program_.instances));
  const program::EnsembleNumbers ensemble_number(program_);
  for (std::int64_t i = 0; i < program_.instances; ++i) {
    double* own = initial.data() + static_cast<std::size_t>(i) * width;
    for (std::size_t slot = 0; slot < width; ++slot) own[slot] = program_.scalars[slot].initial;
    const std::int64_t instance = std::min(first_instance_ + i, all - 1);
    for (std::size_t k = 0; k < program_.axes.size(); ++k) {
      const program::Axis& axis = program_.axes[k];
      if (axis.slot >= 0)
        own[axis.slot] = axis.values[static_cast<std::size_t>(program_.place(instance, k))];
    }
    if (program_.ensemble_slot >= 0)
      own[program_.ensemble_slot] = static_cast<double>(ensemble_number(instance));
    if (program_.exchange.axis >= 0) start_exchange(program_, instance, own);
    if (first_instance_ + i >= all && program_.stop_slot >= 0) own[program_.stop_slot] = 1;
  }
  return initial;
}

void Session::forget_scalars() {
  scalars_known_ = false;
  slot_known_.assign(slot_known_.size(), false);
}

void Session::fetch_slots(std::size_t first, std::size_t end) {
  const auto instances = static_cast<std::size_t>(program_.instances);
  while (first < end) {
    if (slot_known_[first]) {
      ++first;
      continue;
    }
    std::size_t last = first;
    while (last < end && !slot_known_[last]) slot_known_[last++] = true;
    const std::span<double> to =
        std::span(slots_).subspan(first * instances, (last - first) * instances);
    device_.download(std::as_writable_bytes(to), scalars_, sizeof(double) * first * instances);
    first = last;
  }
}

Slot Session::slot(int slot) {
  const auto at = static_cast<std::size_t>(slot);
  if (!by_slot_)
    return {Session::scalars().data() + at, program_.scalars.size(), program_.instances};
  if (slots_.size() <= kTogether)
    fetch_slots(0, program_.scalars.size());
  else
    fetch_slots(at, at + 1);
  return {slots_.data() + at * static_cast<std::size_t>(program_.instances), 1, program_.instances};
}

const std::vector<double>& Session::scalars() {
  if (scalars_known_) return known_scalars_;
  const std::size_t width = program_.scalars.size(),
                    instances = static_cast<std::size_t>(program_.instances);
  known_scalars_.resize(width * instances);
  if (!known_scalars_.empty() && by_slot_) {
    fetch_slots(0, width);
    transpose(slots_, width, instances, known_scalars_, threads_);
  } else if (!known_scalars_.empty()) {
    device_.download(std::as_writable_bytes(std::span(known_scalars_)), scalars_, 0);
  }
  scalars_known_ = true;
  return known_scalars_;
}

void Session::set_scalar(int slot, double value, std::int64_t instance) {
  const std::size_t at =
      static_cast<std::size_t>(instance) * program_.scalars.size() + static_cast<std::size_t>(slot);
  const std::size_t there =
      by_slot_ ? static_cast<std::size_t>(slot * program_.instances + instance) : at;
  device_.upload(scalars_, sizeof(double) * there, std::as_bytes(std::span(&value, 1)));
  if (scalars_known_) known_scalars_[at] = value;
  if (by_slot_ && slot_known_[static_cast<std::size_t>(slot)]) slots_[there] = value;
}

void Session::put_scalars(std::span<const double> values) {
  if (values.empty()) return;
  if (lattice_) {  // one instance
    std::vector<double> own(values.begin(), values.end());
    own.at(static_cast<std::size_t>(program_.cut.origin_slot)) =
        static_cast<double>(lattice_->first());
    if (program_.cut.second.ranks > 1)
      own.at(static_cast<std::size_t>(program_.cut.second.origin_slot)) =
          static_cast<double>(lattice_->first_line());
    device_.upload(scalars_, 0, std::as_bytes(std::span(own)));
    return;
  }
  if (!by_slot_) {
    device_.upload(scalars_, 0, std::as_bytes(values));
    return;
  }
  const auto memory = std::make_unique_for_overwrite<double[]>(values.size());
  const std::span<double> there(memory.get(), values.size());
  const std::size_t width = program_.scalars.size();
  transpose(values, values.size() / width, width, there, threads_);
  device_.upload(scalars_, 0, std::as_bytes(there));
}

void Session::set_scalars(std::span<const double> values) {
  put_scalars(values);
  forget_scalars();
  multi_step_set_ = -1;
  if ((program_.cycle.empty() && program_.multi_step_unit == 0) || program_.step_slot < 0) return;
  double most = 0;  // an instance that has ended stays at its last step
  for (auto i = static_cast<std::size_t>(program_.step_slot); i < values.size();
       i += program_.scalars.size())
    most = std::fmax(most, values[i]);
  step_ = std::llround(most);
}

}  // namespace vphi::runtime
