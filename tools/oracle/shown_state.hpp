// The state of a System as its text sees it: coordinates, rates and the background in physical
// units, by the System's own scalars.
#pragma once

#include "tools/oracle/both_sides.hpp"

namespace vphi::tools {

/// An array of state that the text knows.
struct Coordinate {
  const physics::Variable* variable = nullptr;  ///< the coordinate of a second-order equation
  const physics::Variable* momentum = nullptr;  ///< of second order: of its partner
  RunPosition at;
};

class ShownState {
 public:
  ShownState(const physics::System& system, Written& text, DerivedValue& derived)
      : system_(system), text_(text), derived_(derived) {}

  const physics::Variable* variable(int array) const;
  static bool second_order_momentum(const physics::Variable& v);
  const physics::ScalarVariable& scale() const { return system_.scalars.front(); }
  const physics::ScalarVariable& scale_slope() const { return system_.scalars.at(1); }
  /// What an array holds at a site and the scalar that it is counted from, and their rate.
  long double stored(const physics::Variable& v, int site) const;
  long double rate(const physics::Variable& v, const Place& place);
  /// Rate of t.
  long double time_rate();
  /// Program units of a field's values.
  long double unit(const WrittenField& f) const;
  /// du/dt of psi = A a^r u, from the rate of the coordinate.
  long double velocity(const Coordinate& c, int site);
  /// What the text calls t, a and H.
  void background();
  /// All coordinates and rates.
  void show();

 private:
  bool powers(const Coordinate& c) const { return c.momentum && system_.r != 0; }
  long double power(const Coordinate& c) const;

  const physics::System& system_;
  Written& text_;
  DerivedValue& derived_;
};

}  // namespace vphi::tools
