// The progress line: step, t, time to go, site updates per second, share of the device's measured
// copy bandwidth, drift. It is on stderr, rewritten in a terminal; elsewhere there is a new line
// every ten seconds.
#pragma once

#include <string>

#include "runtime/run/run.hpp"

namespace vphi::tools {

class ProgressLine {
 public:
  /// `copy_bandwidth` 0: not known, the share is omitted. `chain`: the unit that a Markov chain
  /// counts instead of steps and t; empty: no chain.
  ProgressLine(double copy_bandwidth, bool terminal, std::string chain = {});
  void show(const runtime::Progress& now);
  /// Ends a rewritten line, so that other output starts on its own.
  void finish();
  double interval() const { return terminal_ ? 0.1 : 10; }

 private:
  std::string text(const runtime::Progress& now) const;

  double copy_bandwidth_;
  bool terminal_;
  std::string chain_;
  std::size_t width_ = 0;  ///< width of the line on the screen
};

/// "1.2 G", "310 M".
std::string with_prefix(double value);
std::string duration_text(double seconds);

}  // namespace vphi::tools
