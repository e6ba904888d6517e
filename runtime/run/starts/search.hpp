// Finds the step and the site at which a value became NaN, starting from the last good state.
//
// A GoodState is a copy of all state on the host, taken from time to time (about one hundredth of
// the run's time, and only where the host has enough memory). `first_bad_step` repeats the steps
// from it by bisection, which works because a run gives the same bits every time. It stops early
// when it takes too long, and then gives an interval only.
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

/// Values of a copied state, whatever becomes of the program: (place in Program::state, site).
std::function<double(int, const std::array<std::int64_t, 4>&)> reader_of(
    const program::Program& program, const GoodState& state);

class GoodStates {
 public:
  explicit GoodStates(Session& session);
  /// Takes a copy if the last one is old enough.
  void remember(std::int64_t step);
  const GoodState& last() const { return last_; }

  struct Interval {
    std::int64_t good = -1;  ///< the last step whose state is sound; -1: not known
    std::int64_t bad = -1;   ///< the first whose state is not
  };
  /// Afterwards the session stands at step `bad`, and `last()` at step `good`, where bad is
  /// good + 1; else the interval is as narrow as `seconds` allowed. Where the copy itself is not
  /// sound the run began with it: then `bad` is its step.
  /// A state is good where all its values are numbers and `holds`, if given, is true of the
  /// session.
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
