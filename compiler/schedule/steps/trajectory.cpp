#include "compiler/schedule/steps/trajectory.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/hmc.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/steps/lattice_kernel.hpp"
#include "compiler/schedule/steps/side_by_side.hpp"

namespace vphi::schedule {

using algebra::Arena;
using algebra::Op;
using physics::Trajectory;

namespace {

/// Kicks at the same links commute: one of the level since the last drift takes the length.
void put(std::vector<TrajectoryFlow>& flows, int level, long double length) {
  if (length == 0) return;
  for (auto flow = flows.rbegin(); flow != flows.rend(); ++flow) {
    if (flow->level == level) {
      flow->length += length;
      return;
    }
    if (level < 0 || flow->level < 0) break;
  }
  flows.push_back({level, length});
}

void run(const std::vector<LevelFlows>& levels, std::size_t level, long double length,
         std::vector<TrajectoryFlow>& flows) {
  if (level == levels.size()) return put(flows, -1, length);
  const LevelFlows& own = levels[level];
  std::size_t inner = level + 1;
  while (inner < levels.size() && levels[inner].steps == physics::kWithLevelBefore) ++inner;
  const long double step = length / static_cast<long double>(own.steps);
  for (std::int64_t n = 0; n < own.steps; ++n) {
    for (const LevelFlows::Flow& flow : own.flows) {
      if (flow.kick) {
        for (std::size_t i = level; i < inner; ++i)
          put(flows, static_cast<int>(i), flow.weight * step);
      } else {
        run(levels, inner, flow.weight * step, flows);
      }
    }
  }
}

/// Whether the flows are the same in reverse order, so that reversing the momenta reverses a
/// trajectory.
bool symmetric(const std::vector<LevelFlows::Flow>& flows) {
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const LevelFlows::Flow &a = flows[i], &b = flows[flows.size() - 1 - i];
    if (a.kick != b.kick || std::fabs(a.weight - b.weight) > 1e-15L) return false;
  }
  return true;
}

/// After how many trajectories a scalar is needed again: the largest common divisor of the numbers
/// after which outputs write it. 1 where an average over trajectories reads it, or where none of
/// these is known; 0: nothing reads it.
int needed_every(const physics::System& system, const char* name) {
  const auto reads = [&](Expr e) {
    return e && algebra::contains(
                    e, [&](Expr node) { return node.is(Op::Symbol) && node->name == name; });
  };
  int every = 0;
  bool other = false;
  for (const physics::OutputClause& output : system.outputs) {
    const bool observed = std::ranges::any_of(output.observables, [&](const auto& o) {
      return reads(o.value) || reads(o.error) || reads(o.factor);
    });
    if (observed && output.every > 0)
      every = std::gcd(every, output.every);
    else if (observed)
      other = true;
    if (reads(output.after)) return 1;
  }
  if (std::ranges::any_of(system.statistics, [&](const auto& s) { return reads(s.value); }))
    return 1;
  other = other || std::ranges::any_of(system.expectations, [&](const auto& e) {
            return reads(e.value) || reads(e.ok) || reads(e.scale);
          });
  return every == 0 && other ? 1 : every;
}

class TrajectoryStepBuilder {
 public:
  TrajectoryStepBuilder(const physics::System& system, const Trajectory& trajectory, Slots& slots,
                        Storage& storage, dsl::Diagnostics& diagnostics)
      : system_(system),
        trajectory_(trajectory),
        slots_(slots),
        storage_(storage),
        diagnostics_(diagnostics),
        arena_(*system.arena) {}

  std::optional<Stepping> make() {
    std::vector<LevelFlows> levels;
    for (const Trajectory::Level& level : trajectory_.levels) {
      const auto flows = flows_of(level);
      if (!flows) return std::nullopt;
      levels.push_back(*flows);
    }
    flows_ = trajectory_flows(levels, static_cast<long double>(trajectory_.length));
    if (flows_.size() > kMostFlows) {
      diagnostics_.add(
          errors::not_yet(trajectory_.levels.front().span,
                          fmt::format("a trajectory of {} kicks and drifts (at most {})",
                                      flows_.size(), kMostFlows)));
      return std::nullopt;
    }
    for (const char* name : {kFlow, Trajectory::kLength, Trajectory::kDelta, kChance})
      slots_.add(name);
    slots_.add(Trajectory::kAccept, 1);
    slots_.add(Trajectory::kAccepted);
    for (const Trajectory::Level& level : trajectory_.levels) {
      if (!level.watched) continue;
      for (const char* what : kWatched) {
        slots_.add(of_last(what, level));
        slots_.add(of_now(what, level));
      }
      for (const auto& [what, ends] : ends_of(level)) {
        slots_.add(of_last(what, level));
        for (const std::string& end : *ends) slots_.add(end);
      }
    }
    for (const Trajectory::Memory& m : trajectory_.memory) allocate(m);
    there_and_back_ = turned_after(needed_every(system_, physics::kReversibility));
    lengths_ = arena_.add_table(table());
    make_parts();
    move_clocks(system_, slots_, storage_, result_);
    return std::move(result_);
  }

 private:
  static constexpr std::size_t kMostFlows = 20000;
  /// Different trajectories in turn, each a list of launches.
  static constexpr int kMostInTurn = 16;

  /// The largest divisor of `needed` that so many lists in turn allow.
  static int turned_after(int needed) {
    int after = std::min(needed, kMostInTurn);
    while (after > 1 && needed % after != 0) --after;
    return after;
  }
  static constexpr const char* kFlow = "flow";      ///< number of the flow that runs next
  static constexpr const char* kChance = "chance";  ///< random number of the choice
  static constexpr const char* kWatched[] = {"iterations", "residual", "force"};

  Expr symbol(const std::string& name) const { return arena_.symbol(name); }
  /// The scalar of a watched level in the last trajectory, and in the one that runs.
  std::string of_last(const std::string& what, const Trajectory::Level& level) const {
    return Trajectory::of_level(what, static_cast<std::size_t>(&level - trajectory_.levels.data()));
  }
  std::string of_now(const std::string& what, const Trajectory::Level& level) const {
    return of_last(what, level) + "_now";
  }

  /// The ends of the spectrum that a level knows.
  static std::vector<std::pair<const char*, const std::vector<std::string>*>> ends_of(
      const Trajectory::Level& level) {
    if (level.smallest.empty()) return {};
    return {{"smallest", &level.smallest}, {"largest", &level.largest}};
  }
  /// The value of an end of the spectra of all fields of a level.
  Expr end_of(const char* what, const std::vector<std::string>& ends) const {
    Expr value = symbol(ends.front());
    const Op op = what == std::string_view("smallest") ? Op::Min : Op::Max;
    for (std::size_t i = 1; i < ends.size(); ++i) value = arena_.make(op, {value, symbol(ends[i])});
    return value;
  }

  std::optional<LevelFlows> flows_of(const Trajectory::Level& level) {
    const auto head = read_head(level.integrator, diagnostics_);
    if (!head) return std::nullopt;
    LevelFlows result;
    result.steps = level.steps;
    if (level.steps == physics::kWithLevelBefore) return result;
    result.flows = flows_of(level.integrator, *head);
    if (result.flows.empty()) {
      diagnostics_.add(
          physics::errors::no_composition(level.span, level.integrator.name, compositions()));
      return std::nullopt;
    }
    return result;
  }

  /// Of a step; empty where the text is not a symmetric composition of kicks and drifts.
  std::vector<LevelFlows::Flow> flows_of(const Integrator& integrator, const Head& head) const {
    if (head.variables.size() != 2) return {};
    const auto flows = read_flows(integrator, head, arena_);
    if (!flows) return {};
    // `x' = v` marks the coordinate; else it is the first of the head
    const bool swapped = head.parts[1][0].kind == Part::Kind::Variable;
    const int coordinate = swapped ? 1 : 0;
    std::vector<LevelFlows::Flow> result;
    for (const Flow& flow : *flows)
      result.push_back({flow.equation != coordinate, flow.weight->number.real});
    return symmetric(result) ? result : std::vector<LevelFlows::Flow>{};
  }

  /// Names of the integrators that a level may have.
  std::vector<std::string> compositions() const {
    std::vector<std::string> names;
    for (const Integrator& other : system_.integrators) {
      dsl::Diagnostics silent;
      const auto head = read_head(other, silent);
      if (head && !flows_of(other, *head).empty()) names.push_back(other.name);
    }
    return names;
  }

  /// Length by the number of the flow.
  std::vector<double> table() const {
    std::vector<double> lengths;
    for (const TrajectoryFlow& flow : flows_) lengths.push_back(static_cast<double>(flow.length));
    return lengths;
  }

  void allocate(const Trajectory::Memory& m) {
    program::Buffer buffer;
    buffer.name = m.name;
    buffer.precision = m.wide ? program::Precision::F64 : system_.numerics.store;
    storage_.allocate(m.array, buffer);
  }

  // ---- kernels ----------------------------------------------------------------------------------

  kernel::Kernel kernel_of(const physics::Update& update, bool wide) const {
    kernel::Kernel k = lattice_kernel(system_, update.name);
    k.comment = update.shown;
    if (wide) k.compute = kernel::Precision::F64;
    for (const auto& [array, value] : update.values) k.stores.push_back({array, value});
    return k;
  }

  int add(const physics::Update& update, bool wide) {
    if (update.solve < 0) return add(kernel_of(update, wide), {});
    FluxPart& part = result_.parts.emplace_back();
    part.solve = update.solve;
    return static_cast<int>(result_.parts.size()) - 1;
  }

  std::vector<int> add(const std::vector<physics::Update>& updates, bool wide) {
    std::vector<int> parts;
    for (const auto& group : side_by_side(system_, updates)) {
      for (const physics::Update* update : group) {
        parts.push_back(add(*update, wide));
        if (group.size() > 1) result_.parts.back().leader = group.front()->solve;
      }
      for (const physics::Update* update : group)
        if (const Trajectory::Level* level = watches(*update))
          parts.push_back(count(*update, *level));
    }
    return parts;
  }

  /// The watched level whose action the solve is for; null: none.
  const Trajectory::Level* watches(const physics::Update& update) const {
    if (update.solve < 0) return nullptr;
    for (const Trajectory::Level& level : trajectory_.levels)
      if (level.watched && std::ranges::count(level.solves, update.solve) > 0) return &level;
    return nullptr;
  }

  /// Adds the rounds of a solve to those of its action, and keeps the largest residual.
  int count(const physics::Update& update, const Trajectory::Level& level) {
    const physics::LinearSystem& solve = system_.solves[static_cast<std::size_t>(update.solve)];
    slots_.add(solve.iterations);
    slots_.add(solve.residual);
    const std::string rounds = of_now("iterations", level), worst = of_now("residual", level);
    physics::Update counts;
    counts.name = "count_" + level.shown;
    counts.shown = fmt::format("rounds and residual of a solve for {}", level.shown);
    return add(kernel_of(counts, true),
               {{rounds, symbol(rounds) + symbol(solve.iterations)},
                {worst, arena_.make(Op::Max, {symbol(worst), symbol(solve.residual)})}});
  }

  /// The kicks of a level. Those of an action whose force is read sum the squares of their forces;
  /// the last of them takes the root of the mean.
  std::vector<int> add_kicks(const Trajectory::Level& level) {
    std::vector<int> parts;
    Expr sum = arena_.integer(0);
    std::int64_t momenta = 0;
    for (const physics::Update& kick : level.kicks) {
      result_.remarks.insert(kick.shown);
      kernel::Kernel k = kernel_of(kick, false);
      if (level.watched && kick.force2) {
        const std::string square = slots_.fresh("force2_" + kick.name);
        k.sum = kernel::SumKind::F64;
        k.reductions.push_back({square, kernel::ReduceKind::Sum, kick.force2});
        sum = sum + symbol(square);
        momenta += static_cast<std::int64_t>(kick.values.size());
      }
      std::vector<kernel::ScalarAssign> finish;
      if (level.watched && momenta > 0 && &kick == &level.kicks.back())
        finish.push_back({of_now("force", level),
                          algebra::pow(sum / arena_.integer(momenta * system_.lattice.sites()),
                                       arena_.rational(1, 2))});
      parts.push_back(add(std::move(k), std::move(finish)));
    }
    return parts;
  }

  int add(kernel::Kernel kernel, std::vector<kernel::ScalarAssign> finish) {
    declare_arrays(kernel, storage_);
    FluxPart& part = result_.parts.emplace_back();
    part.sweeps.sweeps.push_back({std::move(kernel), {}, {}});
    part.sweeps.swaps.emplace_back();
    part.finish = std::move(finish);
    return static_cast<int>(result_.parts.size()) - 1;
  }

  /// Sets the length of the flow that comes now: a kernel of its own, so that another number of
  /// steps changes no other one.
  kernel::Kernel next_kernel() const {
    physics::Update next;
    next.name = "next_flow";
    next.shown = "the length of the kick or drift that comes now";
    return kernel_of(next, true);
  }

  void make_parts() {
    std::vector<kernel::ScalarAssign> from_now{{kFlow, arena_.integer(0)}};
    for (const Trajectory::Level& level : trajectory_.levels) {
      if (!level.watched) continue;
      for (const char* what : {"iterations", "residual"})
        from_now.push_back({of_now(what, level), arena_.integer(0)});
    }
    const int refresh = add(kernel_of(trajectory_.refresh, false), std::move(from_now));
    const std::vector<int> drawn = add(trajectory_.drawn, true);
    const int begin = add(trajectory_.begin, true);
    const int next =
        add(next_kernel(), {{Trajectory::kLength, arena_.lookup(lengths_, symbol(kFlow))},
                            {kFlow, symbol(kFlow) + arena_.integer(1)}});
    std::vector<LevelParts> levels;
    for (const Trajectory::Level& level : trajectory_.levels) {
      levels.push_back({add(level.before_kicks, true), add_kicks(level), add(level.at_end, true)});
    }
    const int drift = add(trajectory_.drift, false);
    const int end = add(end_kernel(), choice());
    const int close = add(trajectory_.close, false);

    std::vector<int> order;
    const auto append = [&](const std::vector<int>& parts) {
      order.insert(order.end(), parts.begin(), parts.end());
    };
    order = {refresh};
    append(drawn);
    order.push_back(begin);
    std::set<int> known;  // levels whose values at the links of now are there
    const auto append_flows = [&] {
      for (const TrajectoryFlow& flow : flows_) {
        order.push_back(next);
        if (flow.level < 0) {
          order.push_back(drift);
          known.clear();
          continue;
        }
        const LevelParts& own = levels[static_cast<std::size_t>(flow.level)];
        if (known.insert(flow.level).second) append(own.before_kicks);
        append(own.kicks);
      }
    };
    append_flows();
    for (std::size_t i = 0; i < levels.size(); ++i) {
      // some fields of an action may have no updates of their own at the end
      if (!known.contains(static_cast<int>(i))) append(levels[i].before_kicks);
      append(levels[i].at_end);
    }
    order.push_back(end);
    std::vector<int> alone = order;
    alone.push_back(close);
    say();
    result_.cycle.assign(static_cast<std::size_t>(std::max(1, there_and_back_)), alone);
    if (there_and_back_ == 0) return;
    find_coordinates();
    order.push_back(add_turn());
    append(add_forgotten());
    known.clear();
    append_flows();
    order.push_back(add_comparison());
    order.push_back(close);
    result_.cycle.back() = order;
    result_.remarks.insert(
        there_and_back_ == 1
            ? std::string("each trajectory is made back as well, for `reversibility`")
            : fmt::format("one of {} trajectories is made back as well, for `reversibility`",
                          there_and_back_));
  }

  // ---- there and back ---------------------------------------------------------------------------

  /// What a trajectory moves: drifts write coordinates and read momenta, and what `refresh` copies
  /// is the start.
  void find_coordinates() {
    for (const auto& [array, value] : trajectory_.drift.values) {
      program::Buffer buffer;
      buffer.name = fmt::format("ahead_{}", coordinates_.size() + 1);
      buffer.precision = storage_.of(array).precision;
      const int ahead = storage_.allocate_new(buffer);
      coordinates_.push_back({array, -1, ahead});
    }
    const auto of_array = [&](int array) {
      return std::ranges::find(coordinates_, array, &Coordinate::array);
    };
    for (const auto& [array, value] : trajectory_.drift.values)
      algebra::visit(value, [&](Expr node) {
        if (node.is(Op::Load) && of_array(node->index) == coordinates_.end())
          momenta_.insert(node->index);
      });
    for (const auto& [array, value] : trajectory_.refresh.values)
      if (value.is(Op::Load))
        if (const auto moved = of_array(value->index); moved != coordinates_.end())
          moved->start = array;
  }

  /// The end is kept, and the momenta are turned.
  int add_turn() {
    physics::Update turn;
    turn.name = "turn";
    turn.shown = "momenta turned, to see whether the trajectory leads back to its start";
    for (const int momentum : momenta_) turn.values.emplace_back(momentum, -arena_.load(momentum));
    for (const Coordinate& one : coordinates_)
      turn.values.emplace_back(one.ahead, arena_.load(one.array));
    return add(kernel_of(turn, false), {{kFlow, arena_.integer(0)}});
  }

  /// The way back begins without earlier solutions, as the way there.
  std::vector<int> add_forgotten() {
    std::set<int> past;
    for (const physics::LinearSystem& solve : system_.solves)
      for (const std::vector<int>& arrays : solve.past) past.insert(arrays.begin(), arrays.end());
    std::vector<int> parts;
    for (const physics::Update& update : trajectory_.drawn)
      if (!update.values.empty() && past.contains(update.values.front().first))
        parts.push_back(add(update, true));
    return parts;
  }

  /// The distance from the start; then the end is put back.
  int add_comparison() {
    physics::Update back;
    back.name = "back";
    back.shown = "how far the way back ends from the start; the end of the trajectory again";
    Expr most;
    for (const Coordinate& one : coordinates_) {
      const Expr gap = arena_.make(Op::Abs, {arena_.load(one.array) - arena_.load(one.start)});
      most = most ? arena_.make(Op::Max, {most, gap}) : gap;
      back.values.emplace_back(one.array, arena_.load(one.ahead));
    }
    kernel::Kernel k = kernel_of(back, true);
    k.reductions.push_back({kGap, kernel::ReduceKind::Maximum, most});
    slots_.add(kGap);
    slots_.add(physics::kReversibility);
    const Expr last = symbol(physics::kReversibility);
    return add(std::move(k),
               {{physics::kReversibility,
                 arena_.make(Op::Select, {symbol(slot::kStop), last, symbol(kGap)})}});
  }
  static constexpr const char* kGap = "gap_of_reversal";

  /// An array that drifts move, where its start is kept, and where its end is kept meanwhile.
  struct Coordinate {
    int array = -1, start = -1, ahead = -1;
  };

  kernel::Kernel end_kernel() {
    physics::Update end;
    end.name = "energy_after";
    end.shown = "the change of H, site by site, summed in f64; accepted with min(1, exp(-deltaH))";
    kernel::Kernel k = kernel_of(end, true);
    k.sum = kernel::SumKind::F64;
    Expr first = arena_.integer(1);
    for (int axis = 0; axis < k.dims; ++axis) {
      const Expr here = arena_.make(Op::Equal, {arena_.site(axis), arena_.integer(0)});
      first = axis == 0 ? here : arena_.make(Op::And, {first, here});
    }
    k.reductions.push_back({kSum, kernel::ReduceKind::Sum, trajectory_.increase});
    k.reductions.push_back({kChance, kernel::ReduceKind::Sum,
                            arena_.make(Op::Select, {first, trajectory_.draw, arena_.integer(0)})});
    slots_.add(kSum);
    return k;
  }
  static constexpr const char* kSum = "increase";

  /// The parts of a level, by their numbers.
  struct LevelParts {
    std::vector<int> before_kicks, kicks, at_end;
  };

  /// The assignments of the Metropolis test. A run that has ended keeps its values. NaN is
  /// rejected.
  std::vector<kernel::ScalarAssign> choice() const {
    const Expr stop = symbol(slot::kStop), one = arena_.integer(1), zero = arena_.integer(0);
    const Expr chance = arena_.make(Op::Exp, {-symbol(kSum)});
    const Expr accepted =
        arena_.make(Op::Select, {arena_.make(Op::LessEqual, {symbol(kChance), chance}), one, zero});
    std::vector<kernel::ScalarAssign> all{
        {Trajectory::kDelta,
         arena_.make(Op::Select, {stop, symbol(Trajectory::kDelta), symbol(kSum)})},
        {Trajectory::kAccept, arena_.make(Op::Select, {stop, zero, accepted})},
        {Trajectory::kAccepted,
         symbol(Trajectory::kAccepted) + arena_.make(Op::Select, {stop, zero, accepted})}};
    for (const Trajectory::Level& level : trajectory_.levels) {
      if (!level.watched) continue;
      for (const char* what : kWatched) {
        const std::string last = of_last(what, level);
        all.push_back(
            {last, arena_.make(Op::Select, {stop, symbol(last), symbol(of_now(what, level))})});
      }
      for (const auto& [what, ends] : ends_of(level)) {
        const std::string last = of_last(what, level);
        all.push_back({last, arena_.make(Op::Select, {stop, symbol(last), end_of(what, *ends)})});
      }
    }
    return all;
  }

  /// Kicks of each level and drifts; the launches are counted where they are known (schedule.cpp).
  void say() {
    std::vector<std::size_t> kicks(trajectory_.levels.size());
    std::size_t drifts = 0;
    for (const TrajectoryFlow& flow : flows_)
      ++(flow.level < 0 ? drifts : kicks[static_cast<std::size_t>(flow.level)]);
    for (std::size_t i = 0; i < kicks.size(); ++i)
      result_.remarks.insert(fmt::format("{}: {} kicks a trajectory, by {}",
                                         trajectory_.levels[i].shown, kicks[i],
                                         trajectory_.levels[i].integrator.name));
    result_.remarks.insert(fmt::format("a trajectory is {} drifts of the links", drifts));
  }

  const physics::System& system_;
  const Trajectory& trajectory_;
  Slots& slots_;
  Storage& storage_;
  dsl::Diagnostics& diagnostics_;
  Arena& arena_;
  std::vector<TrajectoryFlow> flows_;
  int lengths_ = -1;
  int there_and_back_ = 0;  ///< trajectories after which one is made back as well; 0: none
  std::vector<Coordinate> coordinates_;
  std::set<int> momenta_;
  Stepping result_;
};

}  // namespace

std::vector<TrajectoryFlow> trajectory_flows(const std::vector<LevelFlows>& levels,
                                             long double length) {
  std::vector<TrajectoryFlow> flows;
  run(levels, 0, length, flows);
  return flows;
}

std::optional<Stepping> make_trajectory_step(const physics::System& system,
                                             const physics::Trajectory& trajectory, Slots& slots,
                                             Storage& storage, dsl::Diagnostics& diagnostics) {
  return TrajectoryStepBuilder(system, trajectory, slots, storage, diagnostics).make();
}

}  // namespace vphi::schedule
