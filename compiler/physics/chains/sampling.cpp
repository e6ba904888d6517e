#include "compiler/physics/chains/sampling.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/action.hpp"
#include "compiler/gauge/heatbath.hpp"
#include "compiler/physics/chains/colours.hpp"
#include "compiler/physics/chains/draws.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/chains/link_values.hpp"
#include "compiler/physics/chains/loop_actions.hpp"
#include "compiler/physics/chains/sample_options.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/chains/site_sampling.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/motion.hpp"
#include "dsl/equations.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;

namespace {

class SamplingReader {
 public:
  SamplingReader(const Motion& d, Lowerer& lower) : d_(d), lower_(lower) {}

  MarkovChain read() {
    clause_ = d_.ledger.clause("sample");
    options_ = read_sample_options(d_, lower_, *clause_);
    sampling_.method = options_.method;
    sampling_.sweeps = options_.sweeps;
    for (const StateField& field : d_.fields) {
      if (field.spinor) continue;  // stays as it is
      if (!field.links)
        d_.fail(errors::links_beside_field(field.span, field.name, options_.method));
      if (field_) d_.fail(errors::not_yet(field.span, "a second gauge field in a Markov chain"));
      field_ = &field;
    }
    if (field_->roots > 0) check_roots();
    read_actions();
    colour_directions();
    make_updates();
    return std::move(sampling_);
  }

 private:
  Arena& arena() { return d_.arena(); }

  /// What links of Z(N) cannot obey.
  void check_roots() {
    if (field_->roots == 2 && (options_.method == "overrelax" || options_.overrelax > 0))
      d_.fail(errors::signs_without_mirror(field_->span, field_->name, clause_->keyword_span));
    for (const dsl::Item* item :
         {options_.tries_item, options_.width_item, options_.reunitarise_item})
      if (item) d_.fail(errors::option_of_roots(item->span, item->head->name, field_->roots));
  }

  // ---- the actions ------------------------------------------------------------------------------

  void read_actions() {
    const auto actions = read_loop_actions(d_, *field_, *clause_, options_.method);
    gauge::LoopAction all;
    for (const NamedAction& action : actions) {
      sampling_.actions.push_back(action.shown);
      all.insert(all.end(), action.loops.begin(), action.loops.end());
    }
    action_ = gauge::collected(all);
    twice_ = gauge::twice(action_, box());
    const bool any = options_.method == "metropolis" && options_.overrelax == 0;
    if (!twice_ || any) return;
    dsl::Span span = clause_->keyword_span;
    for (const NamedAction& action : actions)
      for (const gauge::LoopTerm& term : action.loops)
        if (term.loop == twice_->loop) span = action.shown.span;
    d_.fail(errors::link_twice(span, options_.method, shown_loop(twice_->loop),
                               fmt::format("U[{}]", algebra::kAxisNames[twice_->link.axis]),
                               clause_->keyword_span));
  }

  gauge::Box box() const { return {d_.grid.dims, d_.grid.extent, d_.grid.shift}; }

  // ---- colours ----------------------------------------------------------------------------------

  void colour_directions() {
    const std::vector<gauge::Word> words = gauge::loops(action_);
    std::size_t longest = 0;
    for (const gauge::Word& word : words) longest = std::max(longest, word.size());
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      const auto conflicts = gauge::conflicts(words, axis);
      colourings_.push_back(
          colouring_of(d_, conflicts,
                       {"links", "loop of the action", fmt::format("loops of {} links", longest)}));
      proofs_.push_back(
          fmt::format("links along {}: {}; {} separations share a loop, none has two links of one "
                      "colour (every site looked at)",
                      algebra::kAxisNames[axis], colours_text(colourings_.back(), d_.grid.dims),
                      conflicts.size()));
    }
  }

  // ---- updates ----------------------------------------------------------------------------------

  /// V of the weight exp(Re tr(U V)) of the link along `axis`: that of -S.
  gauge::Matrix staple(int axis, const gauge::LinkOf& link, gauge::LinkPathPlan& plan) {
    gauge::LoopAction weight = action_;
    for (gauge::LoopTerm& term : weight) term.coefficient = -term.coefficient;
    return gauge::staple_sum(weight, axis, link, &plan);
  }

  /// The kind of proposals. Those for small alpha are needed where the sum of the staples can only
  /// be small.
  gauge::Proposal proposal(int axis) {
    constexpr long double kSmall = 4;
    long double most = 0;
    for (const gauge::LoopTerm& term : action_) {
      const auto c = algebra::constant(term.coefficient);
      if (!c) return gauge::Proposal::Either;
      most += std::fabs(c->real) * static_cast<long double>(gauge::rests(term.loop, axis).size());
    }
    return most < kSmall ? gauge::Proposal::Either : gauge::Proposal::KennedyPendleton;
  }

  int add(int axis, const std::string& what, const gauge::Matrix& value,
          const gauge::LinkPathPlan& plan) {
    return add_update(axis, what, plan, [&](Update& update) { put(update, axis, value); });
  }

  /// Of links that are stored as an angle.
  int add(int axis, const std::string& what, Expr angle, const gauge::LinkPathPlan& plan) {
    return add_update(axis, what, plan, [&](Update& update) {
      update.values.emplace_back(field_->arrays[static_cast<std::size_t>(axis)], angle);
    });
  }

  template <class Fill>
  int add_update(int axis, const std::string& what, const gauge::LinkPathPlan& plan,
                 const Fill& fill) {
    Update update;
    update.name = fmt::format("{}_{}", what, algebra::kAxisNames[axis]);
    const auto& colouring = colourings_[static_cast<std::size_t>(axis)];
    update.modulus = colouring.colours;
    update.weights = colouring.a;
    update.shown = fmt::format("{} of links along {}: {} links read, {} products of matrices", what,
                               algebra::kAxisNames[axis], plan.links + 1, plan.products);
    update.proof.push_back(proofs_[static_cast<std::size_t>(axis)]);
    update.span = clause_->keyword_span;
    fill(update);
    sampling_.updates.push_back(std::move(update));
    return static_cast<int>(sampling_.updates.size()) - 1;
  }

  void put(Update& update, int axis, const gauge::Matrix& value) {
    const auto stored = gauge::store(*field_->links, value);
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const int array = field_->arrays[static_cast<std::size_t>(axis) * stored.size() + i];
      if (!(stored[i] == arena().load(array))) update.values.emplace_back(array, stored[i]);
    }
  }

  void make_updates() {
    const gauge::Group& group = field_->links->group;
    const gauge::LinkOf link = links_of(d_, *field_);
    std::vector<int> first, relax;
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      gauge::LinkPathPlan plan;
      if (gauge::staple_paths(action_, axis).empty()) continue;  // free links
      const gauge::Matrix v = twice_ ? gauge::Matrix{} : staple(axis, link, plan);
      const gauge::Matrix u = link(axis, {});
      if (options_.method == "heatbath" && field_->roots > 0) {
        first.push_back(
            add(axis, "heatbath", root_by_weight(arena(), field_->roots, v, draws_), plan));
      } else if (options_.method == "heatbath") {
        gauge::Heatbath how;
        if (options_.tries > 0) how.proposals = static_cast<int>(options_.tries);
        how.proposal = proposal(axis);
        const auto random = draws_.uniforms(gauge::heatbath_draws(group, how));
        first.push_back(add(axis, "heatbath",
                            gauge::heatbath(group, u, v, arena().integer(1), random, how), plan));
      } else if (options_.method == "metropolis") {
        Expr accepted = arena().integer(0);
        if (field_->roots > 0)
          first.push_back(add(axis, "metropolis", root_metropolis(axis, link, v, accepted), plan));
        else
          first.push_back(add(axis, "metropolis", metropolis(axis, link, v, accepted), plan));
        sampling_.updates.back().accepted = accepted;
        sampling_.proposals += hits() * moving_links(d_, *field_, axis);
      }
      if (options_.overrelax > 0 || options_.method == "overrelax") {
        relax.push_back(field_->roots > 0
                            ? add(axis, "mirror", mirrored_root(axis, u, v), plan)
                            : add(axis, "overrelax", gauge::overrelaxed(group, u, v), plan));
      }
    }
    std::vector<int> sweep = first;
    const std::int64_t times = options_.method == "overrelax" ? 1 : options_.overrelax;
    for (std::int64_t i = 0; i < times; ++i) sweep.insert(sweep.end(), relax.begin(), relax.end());
    add_reunitarisation(link, sweep);
  }

  std::int64_t hits() const { return options_.hits > 0 ? options_.hits : kHits; }

  Expr mirrored_root(int axis, const gauge::Matrix& u, const gauge::Matrix& v) {
    const Expr angle = arena().load(field_->arrays[static_cast<std::size_t>(axis)]);
    return root_mirrored(field_->roots, u, angle, v, draws_);
  }

  /// The angle of a link of Z(N) after Metropolis proposals; `accepted` as below.
  Expr root_metropolis(int axis, const gauge::LinkOf& link, const gauge::Matrix& v,
                       Expr& accepted) {
    gauge::Matrix u = link(axis, {});
    const Expr angle = arena().load(field_->arrays[static_cast<std::size_t>(axis)]);
    const LinkIncrease increase = [&](const gauge::Matrix& now, const gauge::Matrix& proposed) {
      if (!twice_) return gauge::trace_of_product(gauge::minus(now, proposed), v).re;
      const gauge::LinkOf present = [&](int along, Offset at) {
        return along == axis && gauge::wrapped(at, box()).zero() ? now : link(along, at);
      };
      return gauge::increase(action_, axis, proposed, present, box());
    };
    return root_by_proposals(field_->roots, u, angle, hits(), increase, draws_, accepted);
  }

  /// The link after Metropolis proposals; `accepted` grows by the number of those accepted.
  gauge::Matrix metropolis(int axis, const gauge::LinkOf& link, const gauge::Matrix& v,
                           Expr& accepted) {
    const gauge::Group& group = field_->links->group;
    const Expr width = options_.width ? options_.width : arena().rational(1, 4);
    const double unit = d_.numerics.real == Precision::F32 ? 0x1p-24 : 0x1p-53;
    const int terms = gauge::exponential_terms(unit);
    gauge::Matrix u = link(axis, {});
    const gauge::LinkOf now = [&](int along, Offset at) {
      return along == axis && gauge::wrapped(at, box()).zero() ? u : link(along, at);
    };
    for (std::int64_t hit = 0; hit < hits(); ++hit) {
      const auto random = draws_.normals(group.generators());
      const gauge::Matrix step = gauge::near_identity(group, random, width, terms);
      const gauge::Matrix proposed = gauge::times(step, u);
      const Expr increase = twice_ ? gauge::increase(action_, axis, proposed, now, box())
                                   : gauge::trace_of_product(gauge::minus(u, proposed), v).re;
      const Expr uniform = draws_.uniform();
      u = gauge::metropolis(u, proposed, increase, uniform);
      accepted = accepted + arena().make(Op::Select, {gauge::metropolis_takes(increase, uniform),
                                                      arena().integer(1), arena().integer(0)});
    }
    return u;
  }

  /// Projects links back onto their group, from which rounding moves them: each sweep in f32, each
  /// tenth in f64.
  void add_reunitarisation(const gauge::LinkOf& link, const std::vector<int>& sweep) {
    const bool single = d_.numerics.real == Precision::F32 || d_.numerics.store == Precision::F32;
    std::int64_t every = options_.reunitarise >= 0 ? options_.reunitarise : single ? 1 : 10;
    if (!field_->matrices()) every = 0;
    sampling_.cycle.assign(static_cast<std::size_t>(std::max<std::int64_t>(every, 1)), sweep);
    if (every == 0) return;
    Update update;
    update.name = "reunitarise";
    update.shown = fmt::format("links are brought back into the group every {} sweeps", every);
    if (every == 1) update.shown = "links are brought back into the group after every sweep";
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      put(update, axis, gauge::reunitarised(field_->links->group, link(axis, {})));
    }
    sampling_.cycle.back().push_back(static_cast<int>(sampling_.updates.size()));
    sampling_.updates.push_back(std::move(update));
  }

  static constexpr int kHits = 4;

  const Motion& d_;
  Lowerer& lower_;
  const dsl::Clause* clause_ = nullptr;
  const StateField* field_ = nullptr;
  SampleOptions options_;
  MarkovChain sampling_;
  gauge::LoopAction action_;
  std::optional<gauge::Twice> twice_;
  std::vector<gauge::Colouring> colourings_;
  std::vector<std::string> proofs_;
  Draws draws_{d_.arena()};
};

}  // namespace

bool samples(const Context& d) { return d.resolved.clause("sample") || dsl::measures(d.resolved); }

std::vector<StateField> sampled_fields(const Declared& d) {
  if (const dsl::Clause* evolve = d.resolved.clause("evolve")) {
    d.fail(errors::not_yet(evolve->keyword_span, "`evolve` beside `sample`"));
  }
  std::vector<StateField> fields = d.fields;
  for (StateField& field : fields) field.order = 1;
  return fields;
}

Dynamics read_sampling(const Motion& d) {
  if (dsl::measures(d.resolved)) {
    MarkovChain still;
    still.method = "measure";
    still.cycle.emplace_back();
    d.remark("nothing moves: the initial state is measured");
    return still;
  }
  Lowerer lower(d);
  const bool links = std::ranges::any_of(
      d.fields, [](const StateField& field) { return field.links.has_value(); });
  return links ? SamplingReader(d, lower).read() : read_site_sampling(d, lower);
}

}  // namespace vphi::physics
