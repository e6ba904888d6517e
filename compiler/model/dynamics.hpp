// What moves a system: one of a few kinds, each with all that it needs.
//
// Code that makes a step of it or rewrites its expressions visits the variant, so a new kind does
// not compile until every such place handles it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "compiler/model/texts.hpp"
#include "dsl/syntax/text.hpp"

namespace vphi::physics {

using algebra::Expr;

/// One equation as a reader wants to see it.
struct ShownEquation {
  std::string left;  ///< "phi''"
  Expr right;
  dsl::Span span;
};

/// Values of options of an integrator's or solver's head, by name.
using Options = std::vector<std::pair<std::string, Expr>>;

/// Nothing moves: outputs are those of the initial state.
struct Still {};

/// The variables follow their rates by the text of an integrator.
struct Evolution {
  text::Integrator integrator;
  Options options;  ///< as `evolve` sets them
};

/// A flux scheme that is a step by itself (System::conservation).
struct FluxStep {};

/// New values of some arrays, computed from the site and its neighbours: for one colour of sites
/// after the other (kernel::Colours), or for all sites at once.
struct Update {
  std::string name;                          ///< "heatbath_x"
  std::string shown;                         ///< one line for people
  int modulus = 1;                           ///< number of colours
  std::array<int, 4> weights{};              ///< colour of a site: weights.x mod modulus
  std::vector<std::pair<int, Expr>> values;  ///< array of state and its new value, all at once
  std::vector<std::string> proof = {};       ///< why the colours are right, for `explain`
  Expr accepted = {};                        ///< proposals that a site took; null: none are made
  dsl::Span span;
};

/// `sample ..., sweeps = N`: links are drawn anew, sweep after sweep. Without updates: the initial
/// state is measured.
struct MarkovChain {
  std::string method;       ///< as written: "heatbath"
  std::int64_t sweeps = 0;  ///< of the run
  std::vector<Update> updates;
  /// Numbers of the updates of successive sweeps; each update goes through all its colours.
  std::vector<std::vector<int>> cycle;
  std::vector<ShownEquation> actions;
  std::int64_t proposals = 0;  ///< of a sweep, that `Update::accepted` count among; 0: no count
  static constexpr const char* kAccept = "accept";      ///< share of them, in the last sweep
  static constexpr const char* kAccepted = "accepted";  ///< sum of these since the start
};

/// Links follow a rate in their algebra, U' = A U (compiler/physics/chains/link_flow.hpp).
struct LinkFlow {
  /// Gradients that right sides read at neighbours: arrays of their own. May be empty.
  std::vector<Update> gradients;
  /// For each axis that moves: coordinates z_a of A = i z_a T_a, under the numbers that `moves`
  /// know them by.
  std::vector<Update> rates;
  /// Of the same axes, links that have gone along A: exp(i z_a T_a) U, brought back into the group;
  /// z_a as Loads of numbers that have no memory.
  std::vector<Update> moves;
  ShownEquation equation;
  double fastest_decay = 0;  ///< rate of the fastest wave about U = 1; 0: not known
  text::Integrator integrator;
  Options options;
};

/// `sample hmc`: trajectories of hybrid Monte Carlo. Every update is of all sites.
struct Trajectory {
  /// One action with its integrator; `steps` of it for each drift of the level outside.
  struct Level {
    std::string shown;  ///< of the action
    std::int64_t steps = 1;
    text::Integrator integrator;
    std::vector<Update> kicks;  ///< of momenta, by the length in `kLength`; at least one
    dsl::Span span;
  };
  struct Memory {
    int array = 0;
    std::string name;
    bool wide = false;  ///< f64 whatever the fields are
  };
  std::int64_t count = 0;      ///< trajectories of the run
  double length = 1;           ///< tau
  std::vector<Level> levels;   ///< from outer to inner
  std::vector<Memory> memory;  ///< arrays beside the links
  Update refresh, begin, drift, close;
  Expr increase;  ///< of H, of each site, since `begin`
  Expr draw;      ///< a uniform number of each site; that of the first one is taken
  std::vector<ShownEquation> actions;
  static constexpr const char* kLength = "flow_length";
  static constexpr const char* kAccept = "accept";
  static constexpr const char* kAccepted = "accepted";  ///< how many, since the start
  static constexpr const char* kDelta = "deltaH";
};

using Dynamics = std::variant<Still, Evolution, FluxStep, MarkovChain, LinkFlow, Trajectory>;

/// One function for each kind: std::visit(Kinds{[](const Still&) {...}, ...}, dynamics).
template <typename... Functions>
struct Kinds : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Kinds(Functions...) -> Kinds<Functions...>;

/// A chain of configurations, counted in sweeps or trajectories; `t` is that count.
bool is_chain(const Dynamics& dynamics);
/// Whether links are moved in another way than by rates: drawn, by trajectories, or by a flow.
bool moves_links(const Dynamics& dynamics);
/// Its text, where the equations follow one; null else.
const text::Integrator* integrator_of(const Dynamics& dynamics);
/// What is shown in the place of equations: actions, or the equation of links.
std::vector<ShownEquation> shown_actions(const Dynamics& dynamics);
/// `change` on every expression.
template <typename Change>
void for_each_expression(Dynamics& dynamics, const Change& change);

namespace detail {
template <typename Change>
void of_update(Update& update, const Change& change) {
  for (auto& [array, value] : update.values) change(value);
  if (update.accepted) change(update.accepted);
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
                 [&](Evolution& e) { detail::of_options(e.options, change); },
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
                   for (Trajectory::Level& level : t.levels)
                     detail::of_updates(level.kicks, change);
                 },
             },
             dynamics);
}

}  // namespace vphi::physics
