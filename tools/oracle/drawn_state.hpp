// Random states of a System for comparisons with its text.
#pragma once

#include <random>

#include "tools/oracle/both_sides.hpp"
#include "tools/oracle/shown_state.hpp"

namespace vphi::tools {

class DrawnState {
 public:
  DrawnState(const physics::System& system, Written& text, DerivedValue& derived, ShownState& state)
      : system_(system), text_(text), derived_(derived), state_(state) {}

  /// All variables, links in their groups.
  void variables(std::mt19937_64& random);
  /// Time some steps on; in a closed background a = 1.3.
  void start_scalars();
  /// The slope of a for which 3 M^2 H^2 is the mean energy density, with `beside` that of others
  /// than the text's fields; false where none is found.
  bool close_background(long double beside = 0);
  /// Whether the scalar counts what laws have lost or limits have changed.
  bool counts(const physics::ScalarVariable& s) const;

 private:
  const physics::System& system_;
  Written& text_;
  DerivedValue& derived_;
  ShownState& state_;
};

}  // namespace vphi::tools
