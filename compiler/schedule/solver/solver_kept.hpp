// What a solve keeps in memory and in slots: values that its rounds read and its start makes, and
// the residual that is made of the solution at its end.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// Each value once: the start fills it, the rounds read it.
class Kept {
 public:
  /// `wanted`: of the start. `name`: of the solve, before names of slots and buffers.
  Kept(Block& start, Wanted& wanted, std::string name)
      : start_(start), wanted_(wanted), name_(std::move(name)) {}

  /// A slot with the value.
  Expr number(const std::string& hint, Expr value);
  /// A Load of memory with the value, which the start fills where the value has none.
  Expr array(const std::string& hint, Expr value);
  /// The map as the rounds see it: what it is made of besides its argument (`unknowns`) is state as
  /// it lies in memory, or is kept. `here`: the state at the start.
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

/// What the map makes of the arrays that are given; stages are arrays of the block.
std::vector<Expr> mapped(Block& block, const physics::LinearMap& map, State given);

/// The loops of a block of a solve: what they keep between them is scratch.
SiteLoops solve_loops(const Block& block, Wanted& wanted, const std::string& name, bool pure);

/// norm(b - A(x))/norm(b) of the solution as it lies in memory. `right`: b at the sites that are
/// solved for, where these are half of them; then the other half is made first.
SiteLoops residual_loops(const physics::System& system, const physics::LinearSystem& solve,
                         const Stepping& stepping, const std::vector<Expr>& right,
                         const std::string& name, Slots& slots, Storage& storage);

}  // namespace vphi::schedule
