// Finds the step and the site at which a value became NaN, starting from the last good state.
//
// A GoodState is a copy of the state on the host. Copies are taken from time to time, where the
// host has enough memory; they take about one hundredth of the run's time. `first_bad_step` repeats
// the steps from the last copy by bisection, which works because a run gives the same bits every
// time. It stops early when it takes too long, and then gives only an interval.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/run/session.hpp"

namespace vphi::runtime {

struct GoodState {
  std::int64_t step = -1;                      ///< -1: there is none
  std::vector<std::vector<std::byte>> arrays;  ///< of the buffers that are not scratch
  std::vector<double> scalars;
};

/// A function that reads a copied state: (index in Program::state, site). It does not refer to the
/// program afterwards.
std::function<double(int, const std::array<std::int64_t, 4>&)> reader_of(
    const program::Program& program, const GoodState& state);

class GoodStates {
 public:
  explicit GoodStates(Session& session);
  /// Takes a copy if the last one is old enough.
  void remember(std::int64_t step);
  const GoodState& last() const { return last_; }

  struct Interval {
    std::int64_t good = -1;  ///< the last step whose state is valid; -1: not known
    std::int64_t bad = -1;   ///< the first whose state is not valid
  };
  /// If the step is found, bad is good + 1, the session is at step `bad`, and `last()` at step
  /// `good`. Otherwise the interval is as narrow as `seconds` allowed. If the copy itself is not
  /// valid, `bad` is its step. A state is valid where all its values are finite and `holds`, if
  /// given, is true for the session.
  Interval first_bad_step(std::int64_t bad, double seconds,
                          const std::function<bool()>& holds = {});
  /// Whether `remember` would take a copy now.
  bool due() const;

  void take(std::int64_t step, GoodState& into);
  void put(const GoodState& from);
  bool sound(const GoodState& state) const;

 private:
  Session& session_;
  std::vector<int> buffers_;
  GoodState last_;
  bool decided_ = false, affordable_ = false;
  double cost_ = 0;  ///< seconds of one copy
  std::chrono::steady_clock::time_point taken_;
};

}  // namespace vphi::runtime
