// Links of definitions in the actions of a trajectory of U: `V[mu] = exp(A)*U[mu]` and
// `V[mu, nu] = project(M)`.
//
// V is computed from U where a level's kicks need it, and the slopes of the action by V are carried
// back to U by the chain rule, definition after definition. With dV V^-1 = i v_a T_a, dU U^-1 = i
// w_a T_a and slopes f_a = -dS/dv_a, for an exponent
//   -dS = z_a dp_a + u_a w_a   with A = i p_a T_a, z and u by gauge::carried_slope,
// and z_a dp_a is the change of sum z_a dB/dw_a with z fixed, where A is the gradient of B: words
// of B's loops with Z = i z_a T_a in front of one letter. For a projection
//   -dS = Re tr(K dM)          with K by gauge::carried_projection,
// words of M with K in front. Both kinds of words have the staples of gauge::inserted_staples. A
// must be a sum of gradients, M a sum of products of links, times fixed numbers (E0778). Nothing
// here knows a kind of smearing.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiler/gauge/action.hpp"
#include "compiler/physics/chains/link_definition.hpp"

namespace vphi::physics {

/// By axis: -dS/dw_a of the links there; empty: 0.
using LinkSlopes = std::array<std::vector<Expr>, 4>;
void add_slope(LinkSlopes& to, int axis, const std::vector<Expr>& parts);

class TrajectoryLinks {
 public:
  /// `links`: those of the model; null: there are none, and no definitions of links.
  TrajectoryLinks(const Motion& d, const StateField* links);

  /// The meaning of the names of definitions in actions (Reading::made_links, Reading::links).
  Reading reading(Reading with = {}) const;
  /// Number 0 is the links of the model.
  int count() const;
  const StateField& field(int number) const;
  /// The links of all fields (gauge::kOtherLinks).
  gauge::LinkOf link() const;

  /// Updates that compute these links, and those that they are made of, from the links of the
  /// model. `numbers` without 0.
  std::vector<Update> made(const std::set<int>& numbers) const;
  /// Carries slopes of an action, `name`, back: `updates` are to be run before the slopes of the
  /// model's links, which are returned, are read.
  LinkSlopes carried(const std::string& name, std::map<int, LinkSlopes> slopes,
                     std::vector<Update>& updates) const;
  /// Arrays of all links that have been asked for.
  std::vector<Trajectory::Memory> memory() const;

 private:
  struct Layer;
  class Reader;
  Layer& layer(int number) const;
  std::shared_ptr<const Layer> layer(const std::string& name, const dsl::Expr& at,
                                     const std::set<int>& axes,
                                     const std::vector<int>& labels) const;
  void add_projections(Layer& to, const LinkDefinition& definition,
                       const std::set<int>& axes) const;
  std::vector<int> new_arrays(const Layer& of, const char* what, int axis, int number) const;
  /// These definitions and those that they are made of, each behind what it is made of; without 0.
  std::vector<int> with_sources(const std::set<int>& numbers) const;
  void carry_projection(const std::string& name, const Layer& own, const LinkSlopes& f,
                        std::map<int, LinkSlopes>& slopes, std::vector<Update>& updates) const;
  void carry_exponent(const std::string& name, const Layer& own, const LinkSlopes& slope,
                      std::map<int, LinkSlopes>& slopes, std::vector<Update>& updates) const;

  struct State;
  const Motion& d_;
  const StateField* links_;
  std::shared_ptr<State> state_;
};

}  // namespace vphi::physics
