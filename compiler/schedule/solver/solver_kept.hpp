// Values that the start of a solve computes and its iterations read from memory or slots, and the
// residual of the solution.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// Stores each value once: the start computes it, the iterations read it.
class Kept {
 public:
  /// `wanted`: values to be stored by the start. `name`: of the solve, a prefix for names of slots
  /// and buffers.
  Kept(Block& start, Wanted& wanted, std::string name)
      : start_(start), wanted_(wanted), name_(std::move(name)) {}

  /// The symbol of a slot with the value.
  Expr number(const std::string& hint, Expr value);
  /// A Load of the value; the start stores it where it is not in memory yet.
  Expr array(const std::string& hint, Expr value);
  /// The map for the iterations: its expressions apart from the argument (`unknowns`) are either
  /// stored state, or stored by the start. `here`: the state at the start.
  physics::LinearMap constant_parts(const physics::LinearMap& map, const std::vector<int>& unknowns,
                                    const State& here);
  program::Buffer scratch(const std::string& hint) const;

 private:
  std::vector<Expr> constant_parts(const std::vector<Expr>& list, const std::set<int>& own,
                                   const State& here);

  Block& start_;
  Wanted& wanted_;
  std::string name_;
  std::map<const algebra::Node*, Expr> numbers_, arrays_;
};

/// The map applied to the arrays in `given`; its stages become arrays of the block.
std::vector<Expr> mapped(Block& block, const physics::LinearMap& map, State given);
/// The same of several columns, maps of one form, with their operations in step.
std::vector<std::vector<Expr>> mapped_in_step(Block& block,
                                              const std::vector<const physics::LinearMap*>& maps,
                                              std::vector<State> given);

/// The loops of a block of a solve; values passed between them are scratch memory.
SiteLoops solve_loops(const Block& block, Wanted& wanted, const std::string& name, bool pure);

/// norm(b - A(x))/norm(b) of the stored solution. `right`: b at the sites that are solved for, if
/// these are half of the sites; the other half of the solution is then computed first.
SiteLoops residual_loops(const physics::System& system, const physics::LinearSystem& solve,
                         const Stepping& stepping, const std::vector<Expr>& right,
                         const std::string& name, Slots& slots, Storage& storage);

}  // namespace vphi::schedule
