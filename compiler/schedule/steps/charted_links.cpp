#include "compiler/schedule/steps/charted_links.hpp"

#include <algorithm>

#include "dsl/syntax/parse.hpp"
#include "dsl/syntax/walk.hpp"

namespace vphi::schedule {

using physics::LinkChart;

bool takes_charts(const Head& head) {
  if (head.parts.size() != 1 || head.parts[0].size() != 1) return false;
  const Part& part = head.parts[0][0];
  return part.kind == Part::Kind::Hole && !part.negative &&
         std::ranges::count(part.arguments, head.variables[0]) == 1;
}

bool at_the_middle(const text::Integrator& integrator, const Head& head) {
  if (!takes_charts(head)) return false;
  const Part& hole = head.parts[0][0];
  const auto time = std::ranges::find_if(
      hole.arguments, [&](const std::string& argument) { return argument != head.variables[0]; });
  if (time == hole.arguments.end()) return false;
  const auto place = static_cast<std::size_t>(time - hole.arguments.begin());
  bool any = false, all = true;
  for (const text::Statement& statement : integrator.body) {
    dsl::for_each(statement.value, [&](const dsl::Expr& e) {
      if (e.kind != dsl::ExprKind::Call || e.text != hole.name || place >= e.args.size()) return;
      any = true;
      all = all && dsl::to_text(*e.args[place]) == *time + " + dt/2";
    });
  }
  return any && all;
}

namespace {

/// The state in which a chart's expressions are evaluated: theta has its values.
State with_coordinates(const LinkChart& chart, const State& coordinates, State named) {
  for (std::size_t a = 0; a < chart.arrays.size(); ++a)
    named.scalars[chart.link->displacement[a]->name] = coordinates.arrays.at(chart.arrays[a]);
  return named;
}

}  // namespace

bool ChartedLinks::holds_coordinate(int array) const {
  return std::ranges::any_of(charts_, [&](const LinkChart& chart) {
    return std::ranges::count(chart.link->arrays, array) > 0;
  });
}

bool ChartedLinks::holds_nothing(int array) const {
  return std::ranges::any_of(charts_, [&](const LinkChart& chart) {
    return std::ranges::count(chart.link->arrays, array) > 0 &&
           std::ranges::count(chart.arrays, array) == 0;
  });
}

void ChartedLinks::open(State& state) {
  for (const LinkChart& chart : charts_) {
    for (const int array : chart.link->arrays) {
      const Expr link = state.arrays.at(array);
      start_.arrays[array] = link;
      state.arrays[array] = link->arena->integer(0);
    }
    for (const int array : chart.momenta) start_.arrays[array] = state.arrays.at(array);
  }
}

State ChartedLinks::closed(Block& block, const State& state, bool at_end) const {
  State result = state;
  for (const LinkChart& chart : charts_) {
    const bool moved = std::ranges::any_of(
        chart.arrays, [&](int array) { return !state.arrays.at(array).is_zero(); });
    const std::vector<Expr> links = at(with_coordinates(chart, state, start_), chart.link->moved);
    for (std::size_t i = 0; i < links.size(); ++i) {
      const int array = chart.link->arrays[i];
      const std::string name = name_of(block.system(), array) + (at_end ? "" : "_there");
      result.arrays[array] =
          moved ? block.array(name, links[i], at_end ? array : -1) : start_.arrays.at(array);
    }
    if (!at_the_middle_ || at_end || !moved) continue;
    State named = with_coordinates(chart, state, {});
    for (std::size_t a = 0; a < chart.momenta.size(); ++a) {
      const Expr own = state.arrays.at(chart.momenta[a]);
      named.scalars[chart.momentum[a]->name] = own;
      named.scalars[chart.change[a]->name] =
          block.array("change", own - start_.arrays.at(chart.momenta[a]));
    }
    const std::vector<Expr> middle = at(named, chart.middle);
    for (std::size_t a = 0; a < middle.size(); ++a) {
      const int array = chart.momenta[a];
      result.arrays[array] = block.array(name_of(block.system(), array) + "_middle", middle[a]);
    }
  }
  return result;
}

void ChartedLinks::to_coordinates(Block& block, const State& state, const State& there,
                                  std::map<int, Expr>& rates) const {
  for (const LinkChart& chart : charts_) {
    State named = with_coordinates(chart, state, {});
    const std::vector<Expr> velocity = at(there, chart.link->velocity);
    for (std::size_t a = 0; a < velocity.size(); ++a)
      named.scalars[chart.velocity[a]->name] = block.array("velocity", velocity[a]);
    const std::vector<Expr> turn = at(named, at_the_middle_ ? chart.velocity : chart.turn_rate);
    for (const int array : chart.link->arrays) rates[array] = block.arena().integer(0);
    for (std::size_t a = 0; a < turn.size(); ++a) rates[chart.arrays[a]] = turn[a];
  }
}

}  // namespace vphi::schedule
