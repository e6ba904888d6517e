#include "runtime/run/starts/search.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/run/state/checkpoints.hpp"

namespace vphi::runtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kShare = 0.01;         ///< of the run's time, for copies
constexpr double kLeastInterval = 1;    ///< seconds between copies
constexpr std::size_t kMemoryPart = 8;  ///< a copy takes at most this part of the host's memory

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

std::function<double(int, const std::array<std::int64_t, 4>&)> reader_of(
    const program::Program& program, const GoodState& state) {
  struct Place {
    std::size_t array = 0;  ///< among the buffers that are not scratch
    program::Precision precision = program::Precision::F64;
  };
  std::vector<Place> places;
  for (const auto& variable : program.state) {
    Place place{0, program.buffers[variable.buffer].precision};
    for (int b = 0; b < variable.buffer; ++b) place.array += program.buffers[b].changes() ? 1 : 0;
    places.push_back(place);
  }
  return [state, places, extent = program.extent](int variable,
                                                  const std::array<std::int64_t, 4>& site) {
    std::size_t index = 0;
    for (int axis = 3; axis >= 0; --axis)
      index = index * static_cast<std::size_t>(extent[axis]) + static_cast<std::size_t>(site[axis]);
    const Place& place = places.at(variable);
    const auto& bytes = state.arrays[place.array];
    if (place.precision == program::Precision::F32) {
      float value;
      std::memcpy(&value, &bytes[index * sizeof(float)], sizeof(float));
      return static_cast<double>(value);
    }
    double value;
    std::memcpy(&value, &bytes[index * sizeof(double)], sizeof(double));
    return value;
  };
}

GoodStates::GoodStates(Session& session) : session_(session) {
  const auto& p = session.program();
  for (std::size_t b = 0; b < p.buffers.size(); ++b)
    if (p.buffers[b].changes()) buffers_.push_back(static_cast<int>(b));
}

void GoodStates::take(std::int64_t step, GoodState& into) {
  into.arrays.resize(buffers_.size());
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    into.arrays[i].resize(session_.bytes_of(buffers_[i]));
    session_.read_bytes(buffers_[i], into.arrays[i]);
  }
  into.scalars = session_.scalars();
  into.step = step;
}

void GoodStates::put(const GoodState& from) {
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    session_.write_bytes(buffers_[i], from.arrays[i]);
  session_.set_scalars(from.scalars);
}

bool GoodStates::sound(const GoodState& state) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (!all_finite(state.arrays[i], session_.program().buffers[buffers_[i]].precision))
      return false;
  return true;
}

bool GoodStates::due() const {
  if (decided_ && !affordable_) return false;
  return last_.step < 0 || since(taken_) >= std::max(kLeastInterval, cost_ / kShare);
}

void GoodStates::remember(std::int64_t step) {
  if (!decided_) {
    decided_ = true;
    std::size_t total = 0;
    for (int b : buffers_) total += session_.bytes_of(b);
    const std::size_t room = host_memory_free();
    affordable_ = room > 0 && total < room / kMemoryPart;
  }
  if (!affordable_ || !due()) return;
  const auto begun = Clock::now();
  GoodState fresh = std::move(last_);
  take(step, fresh);
  last_ = std::move(fresh);
  cost_ = since(begun);
  taken_ = Clock::now();
}

GoodStates::Interval GoodStates::first_bad_step(std::int64_t bad, double seconds,
                                                const std::function<bool()>& holds) {
  if (last_.step < 0 || last_.step >= bad) return {-1, bad};
  if (!sound(last_)) {  // the run began with it
    put(last_);
    return {-1, last_.step};
  }
  if (holds) {
    put(last_);
    if (!holds()) return {-1, last_.step};
  }
  const auto begun = Clock::now();
  GoodState probe;
  std::int64_t good = last_.step;
  while (bad - good > 1 && since(begun) < seconds) {
    const std::int64_t middle = good + (bad - good) / 2;
    put(last_);
    session_.advance(middle - last_.step);
    session_.synchronise();
    take(middle, probe);
    if (sound(probe) && (!holds || holds())) {
      std::swap(last_, probe);
      good = middle;
    } else {
      bad = middle;
    }
  }
  put(last_);
  session_.advance(bad - last_.step);
  session_.synchronise();
  return {good, bad};
}

}  // namespace vphi::runtime
