// One step of an integrator's text, evaluated with numbers on a small system of one site.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/integrator/match.hpp"
#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// An empty system of one site with the step dt; the caller adds variables with arrays 0, 1, ...
inline physics::System small_system(double dt) {
  physics::System system;
  system.arena = std::make_shared<algebra::Arena>();
  system.lattice.dims = 1;
  system.dt = system.dt_physical = dt;
  return system;
}

inline void add_variable(physics::System& system, const std::string& name, physics::Role role,
                         int partner, algebra::Expr rate) {
  physics::Variable v;
  v.name = v.shown = name;
  v.array = system.arrays++;
  v.role = role;
  v.partner = partner;
  v.rate = rate;
  system.variables.push_back(std::move(v));
}

/// The arrays after one step as functions of the arrays before it and of the random numbers.
class SmallStep {
 public:
  static std::optional<SmallStep> of(const physics::System& system, const Integrator& integrator,
                                     const Head& head, const physics::Options& options = {}) {
    physics::Options own;  // numbers, in the arena of the small system
    for (const auto& [name, value] : options)
      if (const auto number = algebra::constant(value))
        own.emplace_back(name, system.arena->number(*number));
    for (const auto& groups : groupings(system, head)) {
      const Sharing sharing = share_out(system, head, groups);
      if (sharing.leftover) continue;
      const Ingredients from{system, integrator, own, head, groups};
      Slots slots;
      Storage storage(system.arrays);
      Block block(system, slots, storage);
      dsl::Diagnostics silent;
      const auto result = run_body(from, sharing.shares, block, silent);
      if (!result) continue;
      return SmallStep(block, *result);
    }
    return std::nullopt;
  }

  int draws() const { return draws_; }

  /// The arrays after the step. `scalars`: symbols in the rates; others are 0.
  std::vector<double> operator()(const std::vector<double>& state,
                                 const std::vector<double>& random,
                                 std::map<std::string, double> scalars = {}) const {
    std::map<int, double> arrays;
    for (std::size_t i = 0; i < state.size(); ++i) arrays[static_cast<int>(i)] = state[i];
    algebra::Environment environment;
    environment.leaf = [&](const algebra::Node& node) -> double {
      if (node.op == algebra::Op::Load) return arrays.at(node.index);
      if (node.op == algebra::Op::Normal) return random.at(static_cast<std::size_t>(node.index));
      const auto found = scalars.find(node.name);
      return found == scalars.end() ? 0 : found->second;
    };
    for (const Item& item : items_) {
      const double value = algebra::evaluate(item.value, environment);
      if (item.kind == Item::Kind::Array) {
        arrays[item.array] = value;
      } else {
        scalars[item.name] = value;
      }
    }
    std::vector<double> after;
    for (const auto& [array, expr] : state_.arrays) {
      after.push_back(algebra::evaluate(expr, environment));
    }
    return after;
  }

 private:
  SmallStep(const Block& block, const BodyResult& result)
      : items_(block.items()), state_(result.state), draws_(result.draws) {}

  std::vector<Item> items_;
  State state_;
  int draws_ = 0;
};

}  // namespace vphi::schedule
