#include "compiler/physics/chains/hmc.hpp"

#include <algorithm>
#include <map>
#include <numbers>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/action.hpp"
#include "compiler/gauge/link_products.hpp"
#include "compiler/physics/chains/energy_density.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/chains/loop_actions.hpp"
#include "compiler/physics/chains/pseudofermions.hpp"
#include "compiler/physics/chains/sample_options.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/chains/trajectory_links.hpp"
#include "compiler/physics/lower/angles.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/lower/variation.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/motion.hpp"
#include "compiler/text/integrator.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

constexpr const char* kMethod = "hmc";

class TrajectoryReader {
 public:
  TrajectoryReader(const Motion& d, Lowerer& lower)
      : d_(d), lower_(lower), clause_(*d.resolved.clause("sample")) {}

  Trajectory read() {
    d_.ledger.use(clause_);
    d_.ledger.body(clause_);
    find_fields();
    read_options();
    made_.emplace(d_, field_);
    actions_ = read_actions(d_, field_, kMethod, &*made_);
    for (const NamedAction& action : actions_) trajectory_.actions.push_back(action.shown);
    check_fields();
    make_momenta();
    read_levels();
    check_matter();
    make_parts();
    return std::move(trajectory_);
  }

 private:
  Arena& arena() const { return d_.arena(); }
  const gauge::Group& group() const { return field_->links->group; }
  int dims() const { return d_.grid.dims; }

  /// Collects the links and the fields at sites that move.
  void find_fields() {
    if (!d_.grid.present)
      d_.fail(errors::not_yet(clause_.keyword_span, "a Markov chain without a lattice"));
    for (const StateField& field : d_.fields) {
      if (field.drawn) continue;  // stays as it is
      if (field.particle) d_.fail(errors::not_yet(field.span, "a Markov chain of such a field"));
      if (field.spinor) {
        if (drawn_at_start(field))
          noise_.insert(noise_.end(), field.arrays.begin(), field.arrays.end());
        continue;  // another one stays as it is
      }
      if (field.links) {
        if (field.roots > 0)
          d_.fail(errors::roots_outside_of_chain(field.span, field.name, field.roots));
        if (field_) d_.fail(errors::not_yet(field.span, "a second gauge field in a Markov chain"));
        field_ = &field;
        continue;
      }
      for (int axis = 0; axis < dims(); ++axis) {
        const Boundary b = field.walls.boundary[static_cast<std::size_t>(axis)];
        if (b != Boundary::Periodic && b != Boundary::Antiperiodic)
          d_.fail(errors::not_yet(field.span, "a Markov chain of a field in a box with walls"));
      }
      if (!field.values.empty() || field.length)
        d_.fail(errors::constrained_in_trajectory(field.span, field.name, !field.values.empty()));
      matter_.push_back(&field);
    }
  }

  /// Whether `init psi ~ normal` draws the spinor: each trajectory then draws it anew.
  bool drawn_at_start(const StateField& field) const {
    for (const dsl::Clause* clause : d_.resolved.clauses("init")) {
      for (const dsl::Item& item : clause->items) {
        if (!item.head || item.head->name != field.name || !item.value ||
            item.relation != dsl::Item::Relation::Drawn)
          continue;
        if (item.head->form != dsl::Head::Form::Plain || item.value->text != "normal" ||
            !item.value->args.empty())
          d_.fail(errors::noise_of_trajectory(item.span, field.name));
        return true;
      }
    }
    return false;
  }

  bool holds(const NamedAction& action, int array) {
    return action.rest && (algebra::contains(action.rest, [&](Expr node) {
             return node.is(Op::Load) &&
                    (node->index == array || node->index == gradient_of(array));
           }));
  }

  void check_fields() {
    const bool loops =
        std::ranges::any_of(actions_, [](const NamedAction& a) { return !a.empty(); });
    if (field_ && !loops)
      d_.fail(errors::action_not_linear(clause_.keyword_span, kMethod,
                                        "no action holds a loop of links", clause_.keyword_span));
  }

  void check_matter() {
    for (const StateField* field : matter_) {
      const bool held = std::ranges::any_of(field->arrays, [&](int array) {
        return in_numbers_.contains(array) ||
               std::ranges::any_of(actions_, [&](const NamedAction& a) { return holds(a, array); });
      });
      if (!held)
        d_.fail(errors::field_without_action(field->span, field->name, clause_.keyword_span));
    }
  }

  void read_options() {
    trajectory_.count = -1;
    for (const dsl::Item& item : clause_.items) {
      if (!item.head || !item.value) continue;
      const std::string& name = item.head->name;
      d_.ledger.use(item);
      if (name == "trajectories") {
        trajectory_.count = lower_.fixed_integer(*item.value, "`trajectories`");
      } else if (name == "tau") {
        const auto tau = algebra::constant(lower_.fixed(*item.value, "`tau`"));
        trajectory_.length = tau ? static_cast<double>(tau->real) : 0;
        if (!(trajectory_.length > 0))
          d_.fail(errors::not_positive(item.span, name, trajectory_.length));
      } else if (!is_exchange_option(d_, item)) {
        d_.fail(errors::sample_option(item.span, name, kMethod));
      }
    }
    if (trajectory_.count < 0) d_.fail(errors::trajectories_missing(clause_.keyword_span));
  }

  int array(const std::string& name, bool wide = false) {
    const int number = d_.new_array();
    trajectory_.memory.push_back({number, name, wide});
    return number;
  }

  void make_momenta() {
    for (int axis = 0; field_ && axis < dims(); ++axis)
      for (int a = 0; a < group().generators(); ++a)
        momenta_.push_back(array(fmt::format("momentum_{}_{}", algebra::kAxisNames[axis], a + 1)));
    if (field_) moved_ = field_->arrays;
    for (const StateField* field : matter_) {
      for (const int coordinate : field->arrays) {
        momenta_.push_back(array(fmt::format("momentum_{}", matter_momenta_.size() + 1)));
        matter_momenta_.emplace_back(coordinate, momenta_.back());
        moved_.push_back(coordinate);
      }
    }
    for (std::size_t i = 0; i < moved_.size(); ++i)
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
      if (!used[i] && !actions_[i].empty())
        d_.fail(errors::action_without_level(actions_[i].shown.span, actions_[i].name));
    }
  }

  void read_level(const dsl::Clause& clause, std::vector<bool>& used) {
    Trajectory::Level level;
    std::vector<const dsl::Expr*> names;
    level.span = clause.keyword_span;
    d_.ledger.use(clause);
    for (const dsl::Item& item : clause.items) {
      d_.ledger.use(item);
      if (!item.value) continue;
      if (!item.head) {
        names.push_back(item.value.get());
      } else if (item.head->name == "steps") {
        level.steps = lower_.fixed_integer(*item.value, "`steps`");
        if (level.steps < 1)
          d_.fail(errors::not_positive(item.span, "steps", static_cast<double>(level.steps)));
      } else if (item.head->name == "scheme") {
        level.span = item.value->span;
        auto scheme =
            text::read_integrator(item.value->text, level.span, d_.resolved, d_.diagnostics);
        if (!scheme) throw Failure{};
        level.integrator = std::move(*scheme);
      }
    }
    if (level.integrator.name.empty()) d_.fail(errors::level_without_scheme(clause.keyword_span));
    for (const dsl::Expr* name : names) {
      const auto action = std::ranges::find(actions_, name->text, &NamedAction::name);
      if (action == actions_.end()) continue;  // reported by the language
      const auto place = static_cast<std::size_t>(action - actions_.begin());
      if (used[place])
        d_.fail(
            errors::level_twice(names.size() > 1 ? name->span : clause.keyword_span, action->name));
      used[place] = true;
      if (add_level(level, *action)) level.steps = kWithLevelBefore;
    }
  }

  /// Adds the kicks of an action; none where it holds nothing that moves. `level` has the steps.
  bool add_level(Trajectory::Level level, const NamedAction& action) {
    level.shown = action.name;
    std::map<int, LinkSlopes> slopes;  // by links of definitions
    if (!action.loops.empty()) make_kicks(level, action.loops);
    for (const auto& [number, loops] : action.made_loops) add_slopes(slopes[number], number, loops);
    if (action.rest) make_kicks(level, action.rest, slopes);
    if (!action.determinants.empty()) make_kicks(level, action, slopes);
    if (!slopes.empty()) carry(level, std::move(slopes));
    if (at_end_) level.at_end.push_back(std::move(*at_end_));
    at_end_.reset();
    if (level.kicks.empty()) return false;
    trajectory_.levels.push_back(std::move(level));
    return true;
  }

  /// Adds p += length Im tr(T_a U V), one update for each axis, after the updates of the products
  /// that all staples share.
  void make_kicks(Trajectory::Level& level, const gauge::LoopAction& loops) {
    std::vector<std::vector<gauge::WeightedLinks>> staples;
    for (int axis = 0; axis < dims(); ++axis)
      staples.push_back(gauge::as_links(gauge::staple_paths(loops, axis)));
    const gauge::LinkProducts link_products = gauge::find_link_products(staples, *field_->links);
    const gauge::LinkOf link = make_products(level, link_products);
    for (int axis = 0; axis < dims(); ++axis) {
      const auto& words = staples[static_cast<std::size_t>(axis)];
      if (words.empty()) continue;
      gauge::LinkPathPlan plan;
      const gauge::Matrix v =
          gauge::sum_of_links(gauge::with_products(words, link_products), link, &plan);
      Update kick = kick_of(level, axis, gauge::times(link(axis, {}), v));
      kick.shown =
          fmt::format("force of {} on links along {}: {} links read, {} products of matrices",
                      level.shown, algebra::kAxisNames[axis], plan.links + 1, plan.products + 1);
      level.kicks.push_back(std::move(kick));
    }
  }

  /// Adds what the loops of links of a definition give to their slopes.
  void add_slopes(LinkSlopes& to, int number, const gauge::LoopAction& loops) const {
    const gauge::LinkOf link = links_of(d_, made_->field(number));
    for (int axis = 0; axis < dims(); ++axis) {
      if (gauge::staple_paths(loops, axis).empty()) continue;
      add_slope(to, axis, gauge::force(group(), loops, axis, link));
    }
  }

  /// Makes links of definitions before what reads them, and carries their slopes to the momenta.
  void carry(Trajectory::Level& level, std::map<int, LinkSlopes> slopes) {
    std::set<int> used;
    for (const auto& [number, own] : slopes) used.insert(number);
    made_used_.insert(used.begin(), used.end());
    const std::vector<Update> made = made_->made(used);
    for (auto* updates : {&level.before_kicks, &level.at_end})
      if (updates == &level.before_kicks || !updates->empty())
        updates->insert(updates->begin(), made.begin(), made.end());
    const LinkSlopes own = made_->carried(level.shown, std::move(slopes), level.before_kicks);
    std::string names;
    for (const int number : used) names += (names.empty() ? "" : ", ") + made_->field(number).name;
    d_.remark(fmt::format("{}: {} made of {} before its kicks, and its slopes are carried back",
                          level.shown, names + (used.size() == 1 ? " is" : " are"), field_->name));
    for (int axis = 0; axis < dims(); ++axis) {
      const std::vector<Expr>& slope = own[static_cast<std::size_t>(axis)];
      if (slope.empty()) continue;
      level.kicks.push_back(kick_of(level, axis, slope));
      level.kicks.back().name += "_carried";
      level.kicks.back().shown = fmt::format("force of {} on links along {}, carried back from {}",
                                             level.shown, algebra::kAxisNames[axis], names);
    }
  }

  /// dS/dw_a of the links of a number along `axis`, of an action of any fields: along i T_a U, by
  /// the chain rule through the numbers that are stored of the link.
  template <class Slope>
  std::vector<Expr> forces_by_links(int number, int axis, const Slope& slope) {
    const StateField& links = made_->field(number);
    const std::vector<Expr> variations = link_variations(links, axis);
    const auto first = static_cast<std::size_t>(axis * links.links->reals());
    std::vector<Expr> forces(static_cast<std::size_t>(group().generators()), arena().integer(0));
    for (std::size_t i = 0; i < variations.size(); ++i) {
      const Expr by = slope(links.arrays[first + i]);
      if (by.is_zero()) continue;
      for (std::size_t a = 0; a < forces.size(); ++a)
        forces[a] = forces[a] + by * algebra::derivative(variations[i], coordinate(a));
    }
    return forces;
  }

  /// Adds p -= length dS/dq for an action of any fields, and the slopes of links of definitions.
  void make_kicks(Trajectory::Level& level, Expr density, std::map<int, LinkSlopes>& slopes) {
    const Expr length = arena().symbol(Trajectory::kLength);
    const auto slope = [&](int of) {
      return written_out(d_, hamiltonian_force(d_, density, of, level.span));
    };
    const auto kicked = [&](int momentum, Expr force) {
      return gauge::plus(arena().load(momentum), gauge::times(length, -force));
    };
    for (int number = 1; field_ && number < made_->count(); ++number) {
      for (int axis = 0; axis < dims(); ++axis) {
        std::vector<Expr> forces = forces_by_links(number, axis, slope);
        if (std::ranges::all_of(forces, [](Expr f) { return f.is_zero(); })) continue;
        for (Expr& force : forces) force = -force;
        add_slope(slopes[number], axis, forces);
      }
    }
    for (int axis = 0; field_ && axis < dims(); ++axis) {
      Update kick;
      kick.name = fmt::format("kick_{}_any_{}", level.shown, algebra::kAxisNames[axis]);
      kick.shown =
          fmt::format("force of {} on links along {}", level.shown, algebra::kAxisNames[axis]);
      kick.span = clause_.keyword_span;
      const std::vector<int> momenta = momenta_of(axis);
      const std::vector<Expr> forces = forces_by_links(0, axis, slope);
      for (std::size_t a = 0; a < momenta.size(); ++a) {
        if (forces[a].is_zero()) continue;
        const Expr force = of_moving(d_, *field_, axis, forces[a]);
        kick.values.emplace_back(momenta[a], kicked(momenta[a], force));
        add_square(kick, force);
      }
      if (!kick.values.empty()) level.kicks.push_back(std::move(kick));
    }
    Update kick;
    kick.name = fmt::format("kick_{}_fields", level.shown);
    kick.shown = fmt::format("force of {} on fields at sites", level.shown);
    kick.span = clause_.keyword_span;
    for (const auto& [q, p] : matter_momenta_) {
      const Expr force = slope(q);
      if (force.is_zero()) continue;
      kick.values.emplace_back(p, kicked(p, force));
      add_square(kick, force);
    }
    if (!kick.values.empty()) level.kicks.push_back(std::move(kick));
  }

  /// The fields of a determinant, and p += length Im tr(T_a U V) with the V that they make; that of
  /// links of definitions goes to their slopes.
  void make_kicks(Trajectory::Level& level, const NamedAction& action,
                  std::map<int, LinkSlopes>& slopes) {
    if (!field_)
      d_.fail(errors::not_yet(action.shown.span, "a determinant in a model without links"));
    Pseudofermions fields = read_pseudofermions(d_, lower_, action, *made_);
    for (const auto& [number, staples] : fields.staples) {
      const gauge::LinkOf link = links_of(d_, made_->field(number));
      for (int axis = 0; axis < dims(); ++axis) {
        const gauge::Matrix& v = staples[static_cast<std::size_t>(axis)];
        if (v.parts.empty()) continue;
        const gauge::Matrix w = gauge::times(link(axis, {}), v);
        if (number > 0) {
          add_slope(slopes[number], axis, gauge::projection(group(), w));
          continue;
        }
        level.kicks.push_back(kick_of(level, axis, w));
        level.kicks.back().shown =
            fmt::format("force of {} on links along {}: outer products of X and Y", level.shown,
                        algebra::kAxisNames[axis]);
      }
    }
    if (fields.form) push_fields(level, fields.form);
    if (level.kicks.empty() && slopes.empty()) {
      d_.remark(fmt::format("{} holds no links: its determinant is a number", level.shown));
      return;
    }
    level.before_kicks = std::move(fields.for_kicks);
    level.at_end = std::move(fields.for_energy);
    for (const auto* updates : {&fields.made, &level.before_kicks, &level.at_end})
      for (const Update& update : *updates)
        if (update.solve >= 0 &&
            !d_.collected.solves[static_cast<std::size_t>(update.solve)].eigenvalue)
          level.solves.push_back(update.solve);
    level.smallest = fields.smallest;
    level.largest = fields.largest;
    auto& memory = trajectory_.memory;
    memory.insert(memory.end(), fields.memory.begin(), fields.memory.end());
    drawn_.insert(drawn_.end(), fields.drawn.begin(), fields.drawn.end());
    trajectory_.drawn.insert(trajectory_.drawn.end(), fields.made.begin(), fields.made.end());
    determinants_ = determinants_ ? gauge::plus(determinants_, fields.density) : fields.density;
    keep_action(action.name, fields);
  }

  /// p -= length dS/dq of fields at sites in the numbers of an operator.
  void push_fields(Trajectory::Level& level, Expr form) {
    Update kick = update("kick", "");
    kick.name = fmt::format("kick_{}_numbers", level.shown);
    kick.shown = fmt::format("force of {} on fields in the numbers of its operator", level.shown);
    const Expr length = arena().symbol(Trajectory::kLength);
    const algebra::Mover move = around(d_);  // X and Y are held: no derivative of solutions
    for (const auto& [q, p] : matter_momenta_) {
      if (algebra::contains(
              form, [&](Expr node) { return node.is(Op::Load) && node->index == gradient_of(q); }))
        d_.fail(errors::not_yet(level.span, "norm2(grad(phi)) in the numbers of an operator"));
      const Expr force = written_out(d_, applied(arena(), algebra::variation(form, q, move), move));
      if (force.is_zero()) continue;
      kick.values.emplace_back(p, gauge::plus(arena().load(p), gauge::times(length, -force)));
      add_square(kick, force);
      in_numbers_.insert(q);
    }
    if (!kick.values.empty()) level.kicks.push_back(std::move(kick));
  }

  /// S and log|det R| of each site at the end of a trajectory, for outputs that read them
  /// (finish_solves leaves them out elsewhere).
  void keep_action(const std::string& name, const Pseudofermions& fields) {
    ActionAtEnd& own = d_.collected.actions_at_end[name];
    at_end_ = update("action", "");
    at_end_->name += "_" + name;
    at_end_->shown = fmt::format("{} of each site, for what is written", name);
    own.action = array(fmt::format("action_{}", name), true);
    at_end_->values.emplace_back(own.action, fields.density);
    if (!fields.logarithm) return;
    own.logarithm = array(fmt::format("logdet_{}", name), true);
    at_end_->values.emplace_back(own.logarithm, fields.logarithm);
  }

  /// p += length Im tr(T_a W).
  Update kick_of(const Trajectory::Level& level, int axis, const gauge::Matrix& w) {
    return kick_of(level, axis, gauge::projection(group(), w));
  }
  Update kick_of(const Trajectory::Level& level, int axis, const std::vector<Expr>& slope) {
    Update kick;
    kick.name = fmt::format("kick_{}_{}", level.shown, algebra::kAxisNames[axis]);
    kick.span = clause_.keyword_span;
    const Expr length = arena().symbol(Trajectory::kLength);
    const std::vector<int> momenta = momenta_of(axis);
    for (std::size_t a = 0; a < momenta.size(); ++a) {
      const Expr own = of_moving(d_, *field_, axis, slope[a]);
      kick.values.emplace_back(momenta[a],
                               gauge::plus(arena().load(momenta[a]), gauge::times(length, own)));
      add_square(kick, own);
    }
    return kick;
  }

  static void add_square(Update& kick, Expr force) {
    const Expr square = gauge::square(force);
    kick.force2 = kick.force2 ? gauge::plus(kick.force2, square) : square;
  }

  /// The symbol of a coordinate w_a of the algebra; derivatives are taken at w = 0.
  Expr coordinate(std::size_t a) { return arena().symbol(fmt::format("w_{}", a + 1)); }

  /// The stored numbers of i w_a T_a U for the links along `axis`; they are linear in w.
  std::vector<Expr> link_variations(const StateField& links, int axis) {
    if (links.angle) return {coordinate(0)};
    std::vector<Expr> w;
    for (int a = 0; a < group().generators(); ++a)
      w.push_back(coordinate(static_cast<std::size_t>(a)));
    const gauge::LinkOf link = links_of(d_, links);
    return gauge::store(*links.links,
                        gauge::times(gauge::algebra_element(group(), w), link(axis, {})));
  }

  /// Adds the updates that compute the products, each stored as a link is. Returns links and
  /// products.
  gauge::LinkOf make_products(Trajectory::Level& level, const gauge::LinkProducts& link_products) {
    const auto arrays = std::make_shared<std::vector<std::vector<int>>>();
    const gauge::LinkOf own = links_of(d_, *field_);
    const gauge::LinkType type = *field_->links;
    const gauge::LinkOf link =
        gauge::remembered([this, arrays, own, type](int axis, algebra::Offset at) {
          if (axis < gauge::kFirstProduct) return own(axis, at);
          std::vector<Expr> stored;
          for (const int number : (*arrays)[static_cast<std::size_t>(axis - gauge::kFirstProduct)])
            stored.push_back(arena().load(number, at));
          return gauge::load(type, stored);
        });
    for (std::size_t k = 0; k < link_products.products.size(); ++k) {
      Update product;
      product.name = fmt::format("product_{}_{}", level.shown, k + 1);
      product.shown = fmt::format(
          "{} products of two links are kept for the force of {}: {} products of matrices a site "
          "in place of {}",
          link_products.products.size(), level.shown, link_products.after + dims(),
          link_products.before + dims());
      product.span = clause_.keyword_span;
      gauge::Matrix value;
      for (const gauge::LinkAt& l : link_products.products[k]) {
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
    const std::vector<Update> made = made_->made(made_used_);
    t.drawn.insert(t.drawn.begin(), made.begin(), made.end());
    const std::vector<Trajectory::Memory> more = made_->memory();
    t.memory.insert(t.memory.end(), more.begin(), more.end());
    t.refresh = update("refresh", "new momenta; links kept aside");
    for (std::size_t i = 0; i < momenta_.size(); ++i)
      t.refresh.values.emplace_back(momenta_[i], arena().random(Op::Normal, static_cast<int>(i)));
    const Expr width = arena().real(1 / std::numbers::sqrt2_v<long double>);
    for (const int array : drawn_)
      t.refresh.values.emplace_back(
          array, gauge::times(
                     width, arena().random(Op::Normal, static_cast<int>(t.refresh.values.size()))));
    for (const int array : noise_)
      t.refresh.values.emplace_back(
          array, arena().random(Op::Normal, static_cast<int>(t.refresh.values.size())));
    if (!noise_.empty()) t.refresh.shown += ", spinors of noise";
    const std::size_t normals = t.refresh.values.size();
    for (std::size_t i = 0; i < kept_.size(); ++i)
      t.refresh.values.emplace_back(kept_[i], arena().load(moved_[i]));
    const Expr h = hamiltonian();
    t.begin = update("energy_before", "H of each site, in f64");
    t.begin.values.emplace_back(energy_, h);
    t.increase = gauge::minus(h, arena().load(energy_));
    // normal numbers are made in pairs, so the second one of an incomplete pair is taken too
    const int draws = static_cast<int>(normals + normals % 2);
    t.draw = arena().random(Op::Uniform, draws);
    make_drift();
    make_close();
  }

  /// p_a p_a/2 + S at a site.
  Expr hamiltonian() {
    Expr kinetic;
    for (const int p : momenta_) {
      const Expr square = gauge::square(arena().load(p));
      kinetic = kinetic ? gauge::plus(kinetic, square) : square;
    }
    Expr h = gauge::times(arena().rational(1, 2), kinetic);
    std::map<int, gauge::LoopAction> all;  // by number of links
    for (const NamedAction& action : actions_) {
      if (!action.loops.empty()) add_loops(all[0], action.loops);
      for (const auto& [number, loops] : action.made_loops) add_loops(all[number], loops);
      if (action.rest) h = gauge::plus(h, energy_written_out(d_, action.rest));
    }
    if (determinants_) h = gauge::plus(h, determinants_);
    for (const auto& [number, loops] : all) {
      const gauge::LinkOf link = links_of(d_, made_->field(number));
      h = gauge::plus(h, gauge::density(gauge::collected(loops), link));
    }
    return h;
  }

  static void add_loops(gauge::LoopAction& to, const gauge::LoopAction& loops) {
    to.insert(to.end(), loops.begin(), loops.end());
  }

  void make_drift() {
    const Expr length = arena().symbol(Trajectory::kLength);
    const bool single = d_.numerics.real == Precision::F32;
    // the series of SU(3) and above holds for eigenvalues up to 2: of a quarter for those up to 8,
    // so that momenta of a coarse trajectory do not lead out of the group
    const int squarings = field_ && !field_->angle && group().n > 2 ? 2 : 0;
    const int terms = gauge::exponential_terms(single ? 0x1p-24 : 0x1p-53);
    const char* shown = "q = q + length p";
    if (field_)
      shown = matter_.empty() ? "U = exp(length p) U" : "U = exp(length p) U, q = q + length p";
    trajectory_.drift = update("drift", shown);
    for (const auto& [q, p] : matter_momenta_)
      trajectory_.drift.values.emplace_back(
          q, gauge::plus(arena().load(q), gauge::times(length, arena().load(p))));
    if (!field_) return;
    const gauge::LinkOf link = links_of(d_, *field_);
    for (int axis = 0; axis < dims(); ++axis) {
      std::vector<Expr> p;
      for (const int momentum : momenta_of(axis))
        p.push_back(gauge::times(length, arena().load(momentum)));
      if (field_->angle) {  // the angle itself: exp(i p) is never made
        const int angle = link_array(axis, 0);
        trajectory_.drift.values.emplace_back(angle, gauge::plus(arena().load(angle), p[0]));
        continue;
      }
      if (squarings > 0)
        for (Expr& one : p) one = gauge::times(arena().rational(1, 1 << squarings), one);
      gauge::Matrix step = gauge::exponential(group(), p, terms);
      for (int n = 0; n < squarings; ++n) step = gauge::times(step, step);
      put_links(trajectory_.drift, axis,
                gauge::store(*field_->links, gauge::times(step, link(axis, {}))));
    }
  }

  /// Writes the fields of an accepted trajectory, links projected onto their group, or else those
  /// that were kept.
  void make_close() {
    const Expr accept = arena().symbol(Trajectory::kAccept);
    trajectory_.close = update("close", "the new fields, or those that were kept");
    std::size_t k = field_ ? field_->arrays.size() : 0;
    for (const StateField* field : matter_) {
      const Expr two_pi = arena().real(2 * std::numbers::pi_v<long double>);
      for (const int q : field->arrays) {
        Expr value = arena().load(q);
        if (field->periodic) value = value - two_pi * arena().make(Op::Floor, {value / two_pi});
        trajectory_.close.values.emplace_back(
            q, gauge::select(accept, value, arena().load(kept_[k++])));
      }
    }
    if (!field_) return;
    const gauge::LinkOf link = links_of(d_, *field_);
    k = 0;
    for (int axis = 0; axis < dims(); ++axis) {
      const gauge::Matrix u = link(axis, {});
      std::vector<Expr> stored =
          gauge::store(*field_->links, field_->angle ? u : gauge::reunitarised(group(), u));
      for (Expr& part : stored) part = gauge::select(accept, part, arena().load(kept_[k++]));
      put_links(trajectory_.close, axis, stored);
    }
  }

  const Motion& d_;
  Lowerer& lower_;
  const dsl::Clause& clause_;
  const StateField* field_ = nullptr;      ///< links; null without
  std::vector<const StateField*> matter_;  ///< fields at sites
  Trajectory trajectory_;
  std::optional<TrajectoryLinks> made_;
  std::set<int> made_used_;  ///< numbers of links of definitions whose slopes are asked for
  std::vector<NamedAction> actions_;
  std::vector<int> momenta_;                         ///< of links, then of fields
  std::vector<std::pair<int, int>> matter_momenta_;  ///< array of a field and of its momentum
  std::vector<int> moved_, kept_;
  std::vector<int> drawn_;    ///< arrays of pseudofermions that each trajectory draws
  std::vector<int> noise_;    ///< arrays of spinors that each trajectory draws for what is measured
  Expr determinants_;         ///< S of all determinants at a site; null: there are none
  std::set<int> in_numbers_;  ///< arrays of fields that are held by numbers of operators
  std::optional<Update> at_end_;  ///< what is kept of the action that is read now
  int energy_ = -1;
};

}  // namespace

bool is_hmc(const Context& d) {
  const dsl::Clause* clause = d.resolved.clause("sample");
  if (clause == nullptr) return false;
  return std::ranges::any_of(clause->items, [](const dsl::Item& item) {
    return !item.head && item.value && item.value->text == kMethod;
  });
}

Trajectory read_hmc(const Motion& d) {
  Lowerer lower(d);
  return TrajectoryReader(d, lower).read();
}

}  // namespace vphi::physics
