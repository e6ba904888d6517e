// The progress line: step, t, time to go, site updates per second, share of the device's measured
// copy bandwidth, drift. Rewritten in a terminal, one line every ten seconds elsewhere; on stderr.
#pragma once

#include <string>

#include "runtime/run/run.hpp"

namespace vphi::tools {

class ProgressLine {
 public:
  /// `copy_bandwidth` 0: not known, the share is left out. `chain`: what a chain counts in place of
  /// steps and t; empty: it is none.
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
  std::size_t width_ = 0;  ///< of the line on the screen
};

/// "1.2 G", "310 M": for people.
std::string with_prefix(double value);
std::string duration_text(double seconds);

}  // namespace vphi::tools
