#include "compiler/physics/hmc.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/action.hpp"
#include "compiler/gauge/prepared.hpp"
#include "compiler/physics/link_field.hpp"
#include "compiler/physics/loop_actions.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/sampling_errors.hpp"
#include "compiler/physics/trajectory.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

constexpr const char* kAxes[] = {"x", "y", "z", "t"};
constexpr const char* kMethod = "hmc";

class Reader {
 public:
  Reader(Derivation& d, Lowerer& lower)
      : d_(d), lower_(lower), clause_(*d.resolved.clause("sample")) {}

  void read() {
    sampling_.method = kMethod;
    for (const StateField& field : d_.fields) {
      if (!field.links) d_.fail(errors::not_yet(field.span, "a Markov chain of such a field"));
      if (field_) d_.fail(errors::not_yet(field.span, "a second gauge field in a Markov chain"));
      field_ = &field;
    }
    if (!field_) d_.fail(errors::not_yet(clause_.keyword_span, "a Markov chain without links"));
    read_options();
    actions_ = read_loop_actions(d_, *field_, clause_, kMethod);
    for (const NamedAction& action : actions_) sampling_.actions.push_back(action.shown);
    make_momenta();
    read_levels();
    make_parts();
    d_.system.sampling = std::move(sampling_);
    put_trajectory(d_.system, std::move(trajectory_));
  }

 private:
  Arena& arena() { return d_.arena(); }
  const gauge::Group& group() const { return field_->links->group; }
  int dims() const { return d_.grid.dims; }

  void read_options() {
    sampling_.sweeps = -1;
    for (const dsl::Item& item : clause_.items) {
      if (!item.head || !item.value) continue;
      const std::string& name = item.head->name;
      if (name == "trajectories") {
        sampling_.sweeps = lower_.fixed_integer(*item.value, "`trajectories`");
      } else if (name == "tau") {
        const auto tau = algebra::constant(lower_.fixed(*item.value, "`tau`"));
        trajectory_.length = tau ? static_cast<double>(tau->real) : 0;
        if (!(trajectory_.length > 0))
          d_.fail(errors::not_positive(item.span, name, trajectory_.length));
      } else {
        d_.fail(errors::sample_option(item.span, name, kMethod));
      }
    }
    if (sampling_.sweeps < 0) d_.fail(errors::trajectories_missing(clause_.keyword_span));
  }

  int array(const std::string& name, bool wide = false) {
    const int number = d_.system.arrays++;
    trajectory_.memory.push_back({number, name, wide});
    return number;
  }

  void make_momenta() {
    for (int axis = 0; axis < dims(); ++axis)
      for (int a = 0; a < group().generators(); ++a)
        momenta_.push_back(array(fmt::format("momentum_{}_{}", kAxes[axis], a + 1)));
    for (std::size_t i = 0; i < field_->arrays.size(); ++i)
      kept_.push_back(array(fmt::format("kept_{}", i + 1)));
    energy_ = array("energy", true);
  }

  std::vector<int> momenta_of(int axis) const {
    const auto count = static_cast<std::ptrdiff_t>(group().generators());
    return {momenta_.begin() + axis * count, momenta_.begin() + (axis + 1) * count};
  }

  // ---- levels -----------------------------------------------------------------------------------

  void read_levels() {
    std::vector<bool> used(actions_.size());
    for (const dsl::Line& line : clause_.body) {
      if (line.kind != dsl::Line::Kind::Clause || line.clause.keyword != "level") continue;
      read_level(line.clause, used);
    }
    for (std::size_t i = 0; i < actions_.size(); ++i) {
      if (!used[i] && !actions_[i].loops.empty())
        d_.fail(errors::action_without_level(actions_[i].shown.span, actions_[i].name));
    }
  }

  void read_level(const dsl::Clause& clause, std::vector<bool>& used) {
    Trajectory::Level level;
    level.span = clause.keyword_span;
    for (const dsl::Item& item : clause.items) {
      if (!item.value) continue;
      if (!item.head) {
        level.shown = item.value->text;
      } else if (item.head->name == "steps") {
        level.steps = lower_.fixed_integer(*item.value, "`steps`");
        if (level.steps < 1)
          d_.fail(errors::not_positive(item.span, "steps", static_cast<double>(level.steps)));
      } else if (item.head->name == "scheme") {
        level.scheme = item.value->text;
        level.span = item.value->span;
      }
    }
    if (level.scheme.empty()) d_.fail(errors::level_without_scheme(clause.keyword_span));
    const auto action = std::ranges::find(actions_, level.shown, &NamedAction::name);
    if (action == actions_.end()) return;  // the language has said so
    const auto place = static_cast<std::size_t>(action - actions_.begin());
    if (used[place]) d_.fail(errors::level_twice(clause.keyword_span, level.shown));
    used[place] = true;
    make_kicks(level, action->loops);
    if (!level.kicks.empty()) trajectory_.levels.push_back(std::move(level));
  }

  /// p += length Im tr(T_a U V), one update for each axis, behind those of the products that all
  /// staples share.
  void make_kicks(Trajectory::Level& level, const gauge::LoopAction& loops) {
    std::vector<std::vector<gauge::WeightedLinks>> staples;
    for (int axis = 0; axis < dims(); ++axis)
      staples.push_back(gauge::as_links(gauge::staple_paths(loops, axis)));
    const gauge::Prepared prepared = gauge::prepare(staples, *field_->links);
    const gauge::LinkOf link = make_products(level, prepared);
    const Expr length = arena().symbol(Trajectory::kLength);
    for (int axis = 0; axis < dims(); ++axis) {
      const auto& words = staples[static_cast<std::size_t>(axis)];
      if (words.empty()) continue;
      gauge::PathPlan plan;
      const gauge::Matrix v =
          gauge::sum_of_links(gauge::with_products(words, prepared), link, &plan);
      const std::vector<Expr> slope = gauge::projection(group(), gauge::times(link(axis, {}), v));
      Update kick;
      kick.name = fmt::format("kick_{}_{}", level.shown, kAxes[axis]);
      kick.shown =
          fmt::format("force of {} on links along {}: {} links read, {} products of matrices",
                      level.shown, kAxes[axis], plan.links + 1, plan.products + 1);
      kick.span = clause_.keyword_span;
      const std::vector<int> momenta = momenta_of(axis);
      for (std::size_t a = 0; a < momenta.size(); ++a) {
        kick.values.emplace_back(
            momenta[a], gauge::plus(arena().load(momenta[a]), gauge::times(length, slope[a])));
      }
      level.kicks.push_back(std::move(kick));
    }
  }

  /// Updates that make the products, each with the memory of a link; gives links and products.
  gauge::LinkOf make_products(Trajectory::Level& level, const gauge::Prepared& prepared) {
    const auto arrays = std::make_shared<std::vector<std::vector<int>>>();
    const gauge::LinkOf own = links_of(arena(), *field_);
    const gauge::LinkType type = *field_->links;
    const gauge::LinkOf link =
        gauge::remembered([this, arrays, own, type](int axis, algebra::Offset at) {
          if (axis < gauge::kPrepared) return own(axis, at);
          std::vector<Expr> stored;
          for (const int number : (*arrays)[static_cast<std::size_t>(axis - gauge::kPrepared)])
            stored.push_back(arena().load(number, at));
          return gauge::load(type, stored);
        });
    for (std::size_t k = 0; k < prepared.products.size(); ++k) {
      Update product;
      product.name = fmt::format("product_{}_{}", level.shown, k + 1);
      product.shown = fmt::format(
          "{} products of two links are kept for the force of {}: {} products of matrices a site "
          "in place of {}",
          prepared.products.size(), level.shown, prepared.after + dims(), prepared.before + dims());
      product.span = clause_.keyword_span;
      gauge::Matrix value;
      for (const gauge::LinkAt& l : prepared.products[k]) {
        const gauge::Matrix u = link(l.axis, l.at), part = l.adjoint ? gauge::adjoint(u) : u;
        value = value.parts.empty() ? part : gauge::times(value, part);
      }
      std::vector<int>& own_arrays = arrays->emplace_back();
      const std::vector<Expr> stored = gauge::store(type, value);
      for (std::size_t i = 0; i < stored.size(); ++i) {
        own_arrays.push_back(array(fmt::format("{}_{}", product.name, i)));
        product.values.emplace_back(own_arrays.back(), stored[i]);
      }
      level.kicks.push_back(std::move(product));
    }
    return link;
  }

  // ---- the rest ---------------------------------------------------------------------------------

  Update update(const char* name, const char* shown) {
    Update u;
    u.name = name;
    u.shown = shown;
    u.span = clause_.keyword_span;
    return u;
  }

  void put_links(Update& to, int axis, const std::vector<Expr>& stored) {
    for (std::size_t i = 0; i < stored.size(); ++i)
      to.values.emplace_back(link_array(axis, i), stored[i]);
  }
  int link_array(int axis, std::size_t part) const {
    const auto reals = static_cast<std::size_t>(field_->links->reals());
    return field_->arrays[static_cast<std::size_t>(axis) * reals + part];
  }

  void make_parts() {
    Trajectory& t = trajectory_;
    t.refresh = update("refresh", "new momenta; links kept aside");
    for (std::size_t i = 0; i < momenta_.size(); ++i)
      t.refresh.values.emplace_back(momenta_[i], arena().random(Op::Normal, static_cast<int>(i)));
    for (std::size_t i = 0; i < kept_.size(); ++i)
      t.refresh.values.emplace_back(kept_[i], arena().load(field_->arrays[i]));
    const Expr h = hamiltonian();
    t.begin = update("energy_before", "H of each site, in f64");
    t.begin.values.emplace_back(energy_, h);
    t.increase = gauge::minus(h, arena().load(energy_));
    // the other word of a normal number's pair is not free
    const int draws = static_cast<int>(momenta_.size() + momenta_.size() % 2);
    t.draw = arena().random(Op::Uniform, draws);
    make_drift();
    make_close();
  }

  /// p_a p_a/2 + S at a site.
  Expr hamiltonian() {
    const gauge::LinkOf link = links_of(arena(), *field_);
    Expr kinetic;
    for (const int p : momenta_) {
      const Expr square = gauge::square(arena().load(p));
      kinetic = kinetic ? gauge::plus(kinetic, square) : square;
    }
    gauge::LoopAction all;
    for (const NamedAction& action : actions_)
      all.insert(all.end(), action.loops.begin(), action.loops.end());
    return gauge::plus(gauge::times(arena().rational(1, 2), kinetic),
                       gauge::density(gauge::collected(all), link));
  }

  void make_drift() {
    const gauge::LinkOf link = links_of(arena(), *field_);
    const Expr length = arena().symbol(Trajectory::kLength);
    const bool single = d_.system.numerics.real == Precision::F32;
    const int terms = gauge::exponential_terms(single ? 0x1p-24 : 0x1p-53);
    trajectory_.drift = update("drift", "U = exp(length p) U");
    for (int axis = 0; axis < dims(); ++axis) {
      std::vector<Expr> p;
      for (const int momentum : momenta_of(axis))
        p.push_back(gauge::times(length, arena().load(momentum)));
      if (field_->angle) {  // the angle itself: exp(i p) is never made
        const int angle = link_array(axis, 0);
        trajectory_.drift.values.emplace_back(angle, gauge::plus(arena().load(angle), p[0]));
        continue;
      }
      const gauge::Matrix step = gauge::exponential(group(), p, terms);
      put_links(trajectory_.drift, axis,
                gauge::store(*field_->links, gauge::times(step, link(axis, {}))));
    }
  }

  /// The links of the trajectory, brought back into the group, where it was accepted.
  void make_close() {
    const gauge::LinkOf link = links_of(arena(), *field_);
    const Expr accept = arena().symbol(Trajectory::kAccept);
    trajectory_.close = update("close", "the new links, or those that were kept");
    std::size_t k = 0;
    for (int axis = 0; axis < dims(); ++axis) {
      const gauge::Matrix u = link(axis, {});
      std::vector<Expr> stored =
          gauge::store(*field_->links, field_->angle ? u : gauge::reunitarised(group(), u));
      for (Expr& part : stored) part = gauge::select(accept, part, arena().load(kept_[k++]));
      put_links(trajectory_.close, axis, stored);
    }
  }

  Derivation& d_;
  Lowerer& lower_;
  const dsl::Clause& clause_;
  const StateField* field_ = nullptr;
  Sampling sampling_;
  Trajectory trajectory_;
  std::vector<NamedAction> actions_;
  std::vector<int> momenta_, kept_;
  int energy_ = -1;
};

}  // namespace

bool is_hmc(const Derivation& d) {
  const dsl::Clause* clause = d.resolved.clause("sample");
  if (clause == nullptr) return false;
  return std::ranges::any_of(clause->items, [](const dsl::Item& item) {
    return !item.head && item.value && item.value->text == kMethod;
  });
}

void read_hmc(Derivation& d, Lowerer& lower) { Reader(d, lower).read(); }

}  // namespace vphi::physics
