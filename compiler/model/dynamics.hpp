// The dynamics of a system: one of a few kinds, each with its own data.
//
// Code that makes a step or rewrites expressions visits the variant. A new kind therefore does not
// compile until every such place handles it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "compiler/model/texts.hpp"
#include "dsl/syntax/text.hpp"

namespace vphi::physics {

using algebra::Expr;

/// One equation in the form in which it is printed.
struct ShownEquation {
  std::string left;  ///< "phi''"
  Expr right;
  dsl::Span span;
};

/// Options in the head of an integrator or solver: name and value.
using Options = std::vector<std::pair<std::string, Expr>>;

/// No dynamics: outputs are those of the initial state.
struct Still {};

/// A link of SU(n) that an integrator moves along its group: U' = i w_a T_a U
/// (compiler/gauge/group.hpp). Its arrays have the rates of the stored numbers as well, but a step
/// of length h multiplies by exp(i h w_a T_a).
struct LinkMotion {
  std::vector<int> arrays;         ///< the stored numbers of one link
  std::vector<Expr> velocity;      ///< w_a
  std::vector<Expr> displacement;  ///< a symbol for each h w_a
  std::vector<Expr> moved;         ///< new numbers, by Loads of `arrays` and `displacement`
};

/// `evolve ..., tol = 1e-8`: each step is as long as an estimate of its error allows
/// (compiler/schedule/steps/tolerance.hpp).
struct Tolerance {
  double tol = 0;        ///< largest error of a step, relative to the largest value of a variable
  double floor = 0;      ///< added to the largest values, program units
  double first = 0;      ///< length of the first trial, program units
  bool bounded = false;  ///< no step is longer than `first`
  static constexpr const char* kNext = "next_trial";   ///< length of the next trial, program units
  static constexpr const char* kTaken = "step_taken";  ///< the last accepted one, physical units
  static constexpr const char* kAccepted = "steps_accepted";
  static constexpr const char* kRejected = "steps_rejected";
  static constexpr const char* kFailed = "step_failed";  ///< 1: no step is short enough
};

/// The variables are integrated by the text of an integrator.
struct Evolution {
  text::Integrator integrator;
  Options options;  ///< as `evolve` sets them
  std::vector<LinkMotion> links = {};
  std::optional<Tolerance> tolerance = {};
};

/// A flux scheme whose text gives a whole step, not a rate (System::conservation).
struct FluxStep {};

/// An assignment to some arrays, computed from the site and its neighbours: for one colour of sites
/// after the other (kernel::Colours), or for all sites at once.
struct Update {
  std::string name;              ///< "heatbath_x"
  std::string shown;             ///< one line for `explain`
  int modulus = 1;               ///< number of colours
  std::array<int, 4> weights{};  ///< colour of a site: weights.x mod modulus
  /// Array of state and its new value; all are assigned at once.
  std::vector<std::pair<int, Expr>> values;
  std::vector<std::string> proof = {};  ///< why the colours are right, for `explain`
  /// Number of proposals that a site accepted; null: the update makes none.
  Expr accepted = {};
  /// Index in System::solves: the new values are the solution of this system, and `values` is
  /// empty.
  int solve = -1;
  /// Of a kick: the sum over its momenta of (dS/dw)^2 at a site; null: it is not known.
  Expr force2 = {};
  dsl::Span span;
};

/// `sample ..., sweeps = N`: every sweep draws new links. Without updates only the initial state is
/// measured.
struct MarkovChain {
  std::string method;       ///< as written: "heatbath"
  std::int64_t sweeps = 0;  ///< number of sweeps of the run
  std::vector<Update> updates;
  /// For each sweep of a cycle, which updates it consists of; each update goes through all its
  /// colours.
  std::vector<std::vector<int>> cycle;
  std::vector<ShownEquation> actions;
  /// Proposals of a sweep, of which `Update::accepted` counts the accepted ones; 0: none are
  /// counted.
  std::int64_t proposals = 0;
  static constexpr const char* kAccept = "accept";      ///< accepted fraction in the last sweep
  static constexpr const char* kAccepted = "accepted";  ///< sum of these fractions since the start
};

/// A flow of links, U' = A U with A in the algebra of the group
/// (compiler/physics/chains/link_flow.hpp).
struct LinkFlow {
  /// Gradients that right sides read at neighbouring sites; each has arrays of its own. May be
  /// empty.
  std::vector<Update> gradients;
  /// For each axis that moves: the coordinates z_a of A = i z_a T_a, by the array numbers that
  /// `moves` uses for them.
  std::vector<Update> rates;
  /// For the same axes: the new links exp(i z_a T_a) U, projected onto the group. The z_a are Loads
  /// of array numbers without memory.
  std::vector<Update> moves;
  ShownEquation equation;
  double fastest_decay = 0;  ///< decay rate of the fastest wave about U = 1; 0: not known
  text::Integrator integrator;
  Options options;
};

/// `sample hmc`: trajectories of hybrid Monte Carlo. Every update is done at all sites.
struct Trajectory {
  /// One action with its integrator, which makes `steps` steps in each drift of the next outer
  /// level.
  struct Level {
    std::string shown;  ///< the action in messages
    std::int64_t steps = 1;
    text::Integrator integrator;
    /// Updates of the momenta by a step of the length in `kLength`; at least one.
    std::vector<Update> kicks;
    /// Values at the links of now that the kicks read: run before them, once after each drift.
    std::vector<Update> before_kicks = {};
    /// Values at the last links that `increase` reads; empty: those of `before_kicks`.
    std::vector<Update> at_end = {};
    /// Indices in System::solves of all systems of the action.
    std::vector<int> solves = {};
    /// Names of the scalars with the smallest and the largest eigenvalue at the start of the
    /// trajectory, of each field whose power is a fraction.
    std::vector<std::string> smallest = {}, largest = {};
    /// Whether outputs read the rounds, the residual, the force or the eigenvalues of the action.
    bool watched = false;
    dsl::Span span;
  };
  struct Memory {
    int array = 0;
    std::string name;
    bool wide = false;  ///< in f64, whatever the precision of the fields
  };
  std::int64_t count = 0;      ///< number of trajectories of the run
  double length = 1;           ///< tau
  std::vector<Level> levels;   ///< from outer to inner
  std::vector<Memory> memory;  ///< arrays in addition to the links
  Update refresh, begin, drift, close;
  std::vector<Update> drawn;  ///< after `refresh`: values made of what it has drawn
  Expr increase;              ///< each site's part of the change of H since `begin`
  Expr draw;  ///< a uniform random number at each site; the one of the first site is used
  std::vector<ShownEquation> actions;
  static constexpr const char* kLength = "flow_length";
  static constexpr const char* kAccept = "accept";
  /// Number of accepted trajectories since the start.
  static constexpr const char* kAccepted = "accepted";
  static constexpr const char* kDelta = "deltaH";
  /// The scalar with "iterations", "residual", "force", "smallest" or "largest" of a watched level
  /// (its index) in the last trajectory.
  static std::string of_level(const std::string& what, std::size_t level) {
    return "trajectory_" + what + "_" + std::to_string(level + 1);
  }
};

using Dynamics = std::variant<Still, Evolution, FluxStep, MarkovChain, LinkFlow, Trajectory>;

/// A visitor with one function for each kind: std::visit(Kinds{[](const Still&) {...}, ...},
/// dynamics).
template <typename... Functions>
struct Kinds : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Kinds(Functions...) -> Kinds<Functions...>;

/// Whether it is a Markov chain of configurations, counted in sweeps or trajectories; `t` is this
/// count.
bool is_chain(const Dynamics& dynamics);
/// Whether links are updated by a Markov chain, by trajectories, or by a flow.
bool moves_links(const Dynamics& dynamics);
/// The motion along its group that the array takes part in; null for other arrays.
const LinkMotion* link_motion_of(const Dynamics& dynamics, int array);
/// The bound of a step's error; null where steps have the length dt.
const Tolerance* tolerance_of(const Dynamics& dynamics);
/// The text of the integrator; null where there is none.
const text::Integrator* integrator_of(const Dynamics& dynamics);
/// What is printed instead of equations: the actions, or the equation of the links.
std::vector<ShownEquation> shown_actions(const Dynamics& dynamics);
/// Calls `change` with every expression of the dynamics.
template <typename Change>
void for_each_expression(Dynamics& dynamics, const Change& change);

namespace detail {
template <typename Change>
void of_update(Update& update, const Change& change) {
  for (auto& [array, value] : update.values) change(value);
  if (update.accepted) change(update.accepted);
  if (update.force2) change(update.force2);
}
template <typename Change>
void of_updates(std::vector<Update>& updates, const Change& change) {
  for (Update& update : updates) of_update(update, change);
}
template <typename Change>
void of_options(Options& options, const Change& change) {
  for (auto& [name, value] : options) change(value);
}
}  // namespace detail

template <typename Change>
void for_each_expression(Dynamics& dynamics, const Change& change) {
  std::visit(Kinds{
                 [](Still&) {},
                 [&](Evolution& e) {
                   detail::of_options(e.options, change);
                   for (LinkMotion& link : e.links)
                     for (auto* values : {&link.velocity, &link.moved})
                       for (Expr& value : *values) change(value);
                 },
                 [](FluxStep&) {},
                 [&](MarkovChain& chain) { detail::of_updates(chain.updates, change); },
                 [&](LinkFlow& flow) {
                   detail::of_options(flow.options, change);
                   detail::of_updates(flow.gradients, change);
                   detail::of_updates(flow.rates, change);
                   detail::of_updates(flow.moves, change);
                 },
                 [&](Trajectory& t) {
                   change(t.increase);
                   change(t.draw);
                   for (Update* update : {&t.refresh, &t.begin, &t.drift, &t.close})
                     detail::of_update(*update, change);
                   detail::of_updates(t.drawn, change);
                   for (Trajectory::Level& level : t.levels)
                     for (auto* updates : {&level.before_kicks, &level.kicks, &level.at_end})
                       detail::of_updates(*updates, change);
                 },
             },
             dynamics);
}

}  // namespace vphi::physics
