// The state of a System in the terms of its text: coordinates, rates and the background in physical
// units, converted by the System's own scalars.
#pragma once

#include "tools/oracle/both_sides.hpp"

namespace vphi::tools {

/// An array of state that belongs to a variable of the text.
struct Coordinate {
  const physics::Variable* variable = nullptr;  ///< the coordinate of a second-order equation
  const physics::Variable* momentum = nullptr;  ///< its momentum, for a second-order equation
  RunPosition at;
};

class ShownState {
 public:
  ShownState(const physics::System& system, Written& text, DerivedValue& derived)
      : system_(system), text_(text), derived_(derived) {}

  const physics::Variable* variable(int array) const;
  static bool second_order_momentum(const physics::Variable& v);
  /// Those of a scale factor that follows the averages.
  const physics::ScalarVariable& scale() const { return system_.scalars.at(place_of_scale()); }
  const physics::ScalarVariable& scale_slope() const {
    return system_.scalars.at(place_of_scale() + 1);
  }
  /// The value at a site (an array, plus its reference scalar), and its rate.
  long double stored(const physics::Variable& v, int site) const;
  long double rate(const physics::Variable& v, const Place& place);
  /// Rate of t.
  long double time_rate();
  /// Factor from a field's values to program units.
  long double unit(const WrittenField& f) const;
  /// du/dt of psi = A a^r u, from the rate of the coordinate.
  long double velocity(const Coordinate& c, int site);
  /// Sets t, a and H of the text.
  void background();
  /// Sets all coordinates and rates of the text.
  void show();

 private:
  std::size_t place_of_scale() const;
  bool powers(const Coordinate& c) const { return c.momentum && system_.r != 0; }
  long double power(const Coordinate& c) const;

  const physics::System& system_;
  Written& text_;
  DerivedValue& derived_;
};

}  // namespace vphi::tools
