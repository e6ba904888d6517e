// Links of SU(n) in a step that is made of sums of rates.
//
// A sum of rates of a link's numbers leaves the group. In such a step the text of the integrator
// therefore sees coordinates of every link about the link at the start (compiler/gauge/chart.hpp),
// which are 0 there. Where the text evaluates a right side, links are those of the coordinates, and
// velocities are turned into rates of the coordinates. The end of the step has links again. Texts
// keep their order and links stay in their group.
//
// A text that evaluates right sides at t + dt/2 alone is one of the midpoint rule
// (gauge/chart.hpp): velocities are rates of coordinates as they are, and momenta those of the
// middle. It keeps Gauss's law as far as its equation is solved.
#pragma once

#include <vector>

#include "compiler/physics/fields/link_chart.hpp"
#include "compiler/schedule/integrator/match.hpp"
#include "compiler/schedule/steps/block.hpp"
#include "compiler/schedule/steps/flow.hpp"

namespace vphi::schedule {

/// Whether links move in coordinates by a text with this head: `x' = f(x)` or `x' = f(x, t)`.
bool takes_charts(const Head& head);
/// Whether every right side that the text evaluates is one at t + dt/2.
bool at_the_middle(const text::Integrator& integrator, const Head& head);

class ChartedLinks {
 public:
  ChartedLinks(const physics::System& system, bool at_the_middle)
      : charts_(physics::link_charts(system)), at_the_middle_(at_the_middle) {}

  /// Whether the array is a number of a link: its place holds a coordinate, or nothing.
  bool holds_coordinate(int array) const;
  bool holds_nothing(int array) const;

  /// Replaces links by their coordinates about them.
  void open(State& state);
  /// The state that coordinates stand for. `at_end`: as what is stored.
  State closed(Block& block, const State& state, bool at_end = false) const;
  /// Rates of links become rates of coordinates. `there`: what the coordinates in `state` stand
  /// for.
  void to_coordinates(Block& block, const State& state, const State& there,
                      std::map<int, Expr>& rates) const;

 private:
  std::vector<physics::LinkChart> charts_;
  bool at_the_middle_;
  State start_;  ///< of the coordinates and the momenta
};

}  // namespace vphi::schedule
