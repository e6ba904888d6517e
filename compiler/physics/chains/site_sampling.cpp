#include "compiler/physics/chains/site_sampling.hpp"

#include <algorithm>
#include <numbers>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/heatbath.hpp"
#include "compiler/physics/chains/colours.hpp"
#include "compiler/physics/chains/draws.hpp"
#include "compiler/physics/chains/loop_actions.hpp"
#include "compiler/physics/chains/sample_options.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/chains/site_action.hpp"
#include "compiler/physics/chains/site_change.hpp"
#include "compiler/physics/clauses/twists.hpp"
#include "compiler/physics/lower/displacement.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/motion.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

class SiteSamplingReader {
 public:
  SiteSamplingReader(const Motion& d, Lowerer& lower)
      : d_(d), lower_(lower), clause_(*d.ledger.clause("sample")), draws_(d.arena()) {}

  MarkovChain read() {
    options_ = read_sample_options(d_, lower_, clause_);
    chain_.method = options_.method;
    chain_.sweeps = options_.sweeps;
    find_fields();
    const Expr density = read_density();
    const SiteAction action(d_, density);
    check_edges(action, density);
    const std::int64_t times = options_.method == "overrelax" ? 1 : options_.overrelax;
    std::vector<int> first;
    std::vector<std::vector<int>> relax(static_cast<std::size_t>(std::max<std::int64_t>(times, 0)));
    for (const StateField* field : fields_) {
      const Expr here = action.at_site(*field);
      if (!here)
        d_.fail(errors::field_without_action(field->span, field->name, clause_.keyword_span));
      colour(*field, action.conflicts(*field));
      const SiteChange change(arena(), *field, here, period(*field));
      if (options_.method == "metropolis") first.push_back(metropolis(*field, change));
      if (options_.method == "heatbath") first.push_back(heatbath(*field, change));
      int mirror = -1;
      for (std::vector<int>& sweep : relax) {  // what draws has numbers of its own in each
        if (mirror < 0 || !field->values.empty()) mirror = overrelax(*field, change);
        sweep.push_back(mirror);
      }
    }
    if (options_.tries_item && (!proposes_ || options_.tries < 1))
      d_.fail(errors::option_of_links(options_.tries_item->span, "tries"));
    for (const std::vector<int>& sweep : relax)
      first.insert(first.end(), sweep.begin(), sweep.end());
    chain_.cycle = {first};
    return std::move(chain_);
  }

 private:
  Arena& arena() { return d_.arena(); }

  void find_fields() {
    if (!d_.grid.present)
      d_.fail(errors::not_yet(clause_.keyword_span, "a Markov chain without a lattice"));
    for (const dsl::Item* item : {options_.reunitarise_item})
      if (item) d_.fail(errors::option_of_links(item->span, item->head->name));
    for (const StateField& field : d_.fields) {
      if (field.spinor || field.drawn) continue;  // stay as they are
      if (field.particle) d_.fail(errors::not_yet(field.span, "a Markov chain of such a field"));
      if (!field.walls.closed(d_.grid.dims))
        d_.fail(errors::not_yet(field.span, "local updates of a field in a box with walls"));
      fields_.push_back(&field);
    }
    if (fields_.empty())
      d_.fail(errors::not_yet(clause_.keyword_span, "a Markov chain without links or fields"));
  }

  void check_edges(const SiteAction& action, Expr density) {
    check_twists(d_, density, clause_.keyword_span, false);  // signs: odd_action
    for (const StateField* field : fields_)
      for (int axis = 0; axis < d_.grid.dims; ++axis)
        if (field->walls.boundary[static_cast<std::size_t>(axis)] == Boundary::Antiperiodic &&
            !action.even(axis))
          d_.fail(errors::odd_action(field->span, field->name, algebra::kAxisNames[axis],
                                     clause_.keyword_span));
  }

  /// The sum of all actions.
  Expr read_density() {
    Expr sum = arena().integer(0);
    for (const NamedAction& action : read_actions(d_, nullptr, options_.method)) {
      if (!action.determinants.empty())
        d_.fail(errors::not_yet(action.shown.span, "a determinant in a model without links"));
      chain_.actions.push_back(action.shown);
      if (action.rest) sum = sum + action.rest;
    }
    return sum;
  }

  double period(const StateField& field) const {
    return field.periodic ? angle_period(d_, field) : 0;
  }

  // ---- colours ----------------------------------------------------------------------------------

  void colour(const StateField& field, const std::vector<algebra::Offset>& conflicts) {
    colouring_ = colouring_of(d_, conflicts,
                              {"sites", "term of the action", fmt::format("`{}`", field.name)});
    if (conflicts.empty()) {
      proof_ = fmt::format("sites of {}: no term of the action holds two of them; all at once",
                           field.name);
      return;
    }
    proof_ = fmt::format(
        "sites of {}: {}; {} separations share a term of the action, none has two sites of one "
        "colour (every site looked at)",
        field.name, colours_text(colouring_, d_.grid.dims), conflicts.size());
  }

  // ---- updates ----------------------------------------------------------------------------------

  int add(const StateField& field, const std::string& what, const std::string& how,
          const std::vector<Expr>& values) {
    Update update;
    update.name = fmt::format("{}_{}", what, field.name);
    update.modulus = colouring_.colours;
    update.weights = colouring_.a;
    update.proof.push_back(proof_);
    update.span = clause_.keyword_span;
    for (std::size_t i = 0; i < values.size(); ++i)
      update.values.emplace_back(field.arrays[i], values[i]);
    std::set<const algebra::Node*> read;
    for (const Expr value : algebra::reads(values)) {
      const bool own = field.place(value->index) >= 0 && value->offset.zero();
      if (value.is(Op::Load) && !own) read.insert(value.get());
    }
    update.shown = fmt::format("{} of {}: {}; {} numbers of other sites and fields read", what,
                               field.name, how, read.size());
    chain_.updates.push_back(std::move(update));
    return static_cast<int>(chain_.updates.size()) - 1;
  }

  int metropolis(const StateField& field, const SiteChange& change) {
    const bool discrete = !field.values.empty();
    if (!discrete && !options_.width)
      d_.fail(errors::width_missing(clause_.keyword_span, field.name));
    if (discrete && options_.width_item && fields_.size() == 1)
      d_.fail(errors::width_of_values(options_.width_item->span, field.name));
    const std::int64_t hits = options_.hits_item ? options_.hits : 1;
    std::vector<Expr> now = change.present();
    Expr accepted = arena().integer(0);
    for (std::int64_t hit = 0; hit < hits; ++hit) {
      const std::vector<Expr> proposed = change.proposed(now, options_.width, draws_);
      const Expr takes = gauge::metropolis_takes(change.increase(now, proposed), draws_.uniform());
      for (std::size_t i = 0; i < now.size(); ++i)
        now[i] = gauge::select(takes, proposed[i], now[i]);
      accepted =
          accepted + arena().make(Op::Select, {takes, arena().integer(1), arena().integer(0)});
    }
    const int number = add(
        field, "metropolis",
        hits == 1 ? std::string("a proposal a sweep") : fmt::format("{} proposals a sweep", hits),
        now);
    chain_.updates.back().accepted = accepted;
    chain_.proposals += hits * d_.grid.sites();
    return number;
  }

  int heatbath(const StateField& field, const SiteChange& change) {
    if (field.values.empty()) {
      constexpr int kTries = 2;
      const bool proposes = field.periodic || (field.length && field.arrays.size() == 2);
      proposes_ = proposes_ || proposes;
      const int tries = options_.tries_item ? static_cast<int>(options_.tries) : kTries;
      std::string how, why;
      const auto drawn = change.drawn(tries, draws_, how, why);
      if (!drawn) d_.fail(errors::no_heatbath(field.span, field.name, why, clause_.keyword_span));
      return add(field, "heatbath", how, *drawn);
    }
    return add(field, "heatbath",
               fmt::format("one of {} values by their weights", field.values.size()),
               {change.heatbath(draws_)});
  }

  int overrelax(const StateField& field, const SiteChange& change) {
    if (!field.values.empty() && options_.method != "overrelax")
      return add(field, "reorder", "with the next one in the order of their actions",
                 {change.reordered(draws_)});
    std::string how, why;
    const auto mirrored = change.mirrored(how, why);
    if (!mirrored)
      d_.fail(errors::no_reflection(field.span, field.name, why, !field.values.empty(),
                                    clause_.keyword_span));
    return add(field, "overrelax", how, *mirrored);
  }

  const Motion& d_;
  Lowerer& lower_;
  const dsl::Clause& clause_;
  SampleOptions options_;
  MarkovChain chain_;
  std::vector<const StateField*> fields_;
  gauge::Colouring colouring_;
  std::string proof_;
  bool proposes_ = false;  ///< some heatbath draws by proposals
  Draws draws_;
};

}  // namespace

MarkovChain read_site_sampling(const Motion& d, Lowerer& lower) {
  return SiteSamplingReader(d, lower).read();
}

}  // namespace vphi::physics
