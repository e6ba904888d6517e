#include "compiler/schedule/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/draw.hpp"
#include "compiler/schedule/integrator/choose.hpp"
#include "compiler/schedule/outputs/averages.hpp"
#include "compiler/schedule/outputs/initial.hpp"
#include "compiler/schedule/outputs/observe.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/solver/solver.hpp"

namespace vphi::schedule {
namespace {

using algebra::Op;
using kernel::ScalarAssign;

program::Precision precision_of(physics::Precision p) {
  return p == physics::Precision::F32 ? program::Precision::F32 : program::Precision::F64;
}

class Scheduler {
 public:
  Scheduler(const physics::System& system, const dsl::Resolved& resolved,
            const std::string& stop_after, dsl::Diagnostics& diagnostics)
      : system_(system),
        resolved_(resolved),
        stop_after_(stop_after),
        diagnostics_(diagnostics),
        arena_(*system.arena),
        storage_(system.arrays) {}

  std::optional<Plan> make() {
    general();
    allocate_state();
    for (const auto& s : system_.scalars) {
      slots_.add(s.symbol);
      if (is_clock(system_, s.symbol)) slots_.add(rest_name(s.symbol));
    }
    for (const physics::Axis& axis : system_.axes) slots_.add(axis.symbol, axis.values.front());
    slots_.add(slot::kStep);
    slots_.add(slot::kStop);
    slots_.add(slot::kStarted);
    slots_.add(slot::kStage);
    slots_.add(kLast, 1);
    reserve_slots(system_, slots_);
    const bool draws = moves_links(system_.dynamics) || !system_.noise.streams.empty();
    if (draws || kernels_of_start_draw(system_)) {
      slots_.add(slot::kEnsemble, static_cast<double>(system_.ensemble));
    }

    auto stepping = choose_step(system_, slots_, storage_, diagnostics_);
    if (!stepping) return std::nullopt;
    stepping_ = std::move(*stepping);
    plan_.remarks.assign(stepping_.remarks.begin(), stepping_.remarks.end());
    step_chain();
    initial_ = initial_state(system_, slots_, storage_);
    checks();
    for (const physics::LinearSystem& solve : system_.solves) {
      slots_.add(solve.iterations);
      slots_.add(solve.residual);
      for (const int array : solve.arrays) allocate_solution(array);
    }
    outputs();
    watch();
    if (!solves()) return std::nullopt;

    std::vector<LoopSequence*> chains{&initial_.chain, &first_, &step_, &checks_.chain,
                                      &watch_.chain};
    for (Observer::Result* result : all_observers())
      if (!result->transforms.empty()) chains.push_back(&result->before);
    for (Observer::Result& output : outputs_) {
      chains.push_back(&output.chain);
      for (LoopSequence& stage : output.stages) chains.push_back(&stage);
    }
    for (LoopSequence& part : parts_) chains.push_back(&part);
    for (auto& [place, solve] : solves_) {
      for (SolveLoops* part = &solve; part; part = part->inner.get())
        chains.insert(chains.end(),
                      {&part->start, &part->restart, &part->iteration, &part->finish, &part->rest});
    }
    for (auto& [place, copies] : copies_) {
      chains.insert(chains.end(), {&copies.load, &copies.save});
    }
    if (!run_passes(chains, slots_, stop_after_, diagnostics_)) return std::nullopt;
    link_all();
    finish();
    return std::move(plan_);
  }

 private:
  /// Streams of initial values count from 0.
  static constexpr std::uint32_t kNoiseStream = 0x80000000U;
  static constexpr std::uint32_t kStartStream = 0x80000001U;  ///< draws of kernels before the first
  static constexpr const char* kLast = "last";  ///< 1 in the epilogue that ends a step

  program::Program& program() { return plan_.program; }
  Expr symbol(const char* name) const { return arena_.symbol(name); }

  // ---- what the program is called and made of ---------------------------------------------------

  void general() {
    program::Program& p = program();
    p.model = resolved_.model.name;
    p.title = resolved_.model.title;
    if (resolved_.model.source) p.model_text = std::string(resolved_.model.source->text());
    p.compiler_version = VPHI_VERSION;
    p.dims = system_.lattice.dims;
    p.extent = system_.lattice.extent;
    p.dx = system_.lattice.dx;
    p.dx_physical = system_.lattice.dx_physical;
    p.dt = system_.dt;
    p.dt_physical = system_.dt_physical;
    p.seed = system_.seed;
    p.parameters = system_.folded;
    p.chain = is_chain(system_.dynamics);
    if (const auto* chain = std::get_if<physics::MarkovChain>(&system_.dynamics))
      p.steps = chain->sweeps;
    if (const auto* trajectory = std::get_if<physics::Trajectory>(&system_.dynamics))
      p.steps = trajectory->count;
    if (system_.variables.empty()) p.steps = 0;
    if (system_.end_time > 0 && system_.dt_physical > 0) {
      p.steps = static_cast<std::int64_t>(
                    std::floor(system_.end_time / system_.dt_physical * (1 + 1e-12))) +
                1;
    }
  }

  void allocate_state() {
    for (const physics::Variable& v : system_.variables) {
      program::Buffer buffer;
      buffer.name = v.name;
      const auto own = system_.numerics.stores.find(v.array);
      const bool other = own != system_.numerics.stores.end();
      buffer.precision = precision_of(other ? own->second : system_.numerics.store);
      buffer.state = true;
      storage_.allocate(v.array, buffer);
      program::StateVariable state;
      state.buffer = static_cast<int>(storage_.buffer_index(v.array));
      state.shown = v.shown;
      line_of(v.span, state);
      program().state.push_back(state);
    }
    for (const physics::PairMatrix& m : system_.matrices) {
      program::Buffer buffer;
      buffer.name = "matrix";
      buffer.precision = precision_of(std::min(system_.numerics.store, system_.numerics.pair));
      buffer.file = m.file;
      buffer.transposed = m.transposed;
      // a block of rows may hang over the last one
      constexpr std::int64_t kPadding = 2048;
      buffer.elements = system_.lattice.sites() * system_.lattice.sites() + kPadding;
      storage_.allocate(m.array, buffer);
    }
    for (const physics::RandomField& r : system_.random) {
      if (storage_.allocated(r.array)) continue;
      program::Buffer buffer;
      buffer.name = "random";
      buffer.precision = precision_of(system_.numerics.store);
      buffer.scratch = true;
      storage_.allocate(r.array, buffer);
    }
    for (const physics::RandomField& r : system_.random) {
      program::RandomField field;
      field.kind = static_cast<program::RandomField::Kind>(r.kind);
      field.buffer = static_cast<int>(storage_.buffer_index(r.array));
      field.stream = r.stream;
      field.velocity = r.velocity;
      field.mass2 = r.mass2;
      field.amplitude = r.amplitude;
      field.low = r.low;
      field.high = r.high;
      field.cutoff = r.cutoff;
      field.kernel_form = r.kernel_form;
      field.masses = r.masses;
      field.file = r.file;
      field.colours = r.colours;
      field.entry = r.entry;
      field.components = r.components;
      field.as_it_is = r.as_it_is;
      field.leading = r.leading;
      field.members = r.members;
      program().random.push_back(field);
    }
  }

  void line_of(dsl::Span span, program::StateVariable& state) const {
    if (span.empty()) return;
    for (const dsl::Source* source : resolved_.sources()) {
      if (!source || source->file() != span.file || span.end > source->text().size()) continue;
      state.line_number = source->position(span.begin).line;
      state.line = std::string(source->line(state.line_number));
      return;
    }
  }

  // ---- the step ---------------------------------------------------------------------------------

  void step_chain() {
    for (FluxPart& from : stepping_.parts) {
      LoopSequence& part = parts_.emplace_back();
      part.sweeps = std::move(from.sweeps.sweeps);
      part.swaps = std::move(from.sweeps.swaps);
      part.finish = std::move(from.finish);
    }
    first_.sweeps = std::move(stepping_.first.sweeps);
    first_.swaps = std::move(stepping_.first.swaps);
    first_.finish = stepping_.first_finish;
    step_.sweeps = std::move(stepping_.sweeps.sweeps);
    step_.swaps = std::move(stepping_.sweeps.swaps);
    if (step_.sweeps.empty()) {
      step_.sweeps.emplace_back().kernel = scalar_kernel("step", {});
      step_.sweeps.back().before = stepping_.sweeps.alone;
      step_.swaps.emplace_back();
    }
    step_.sweeps.front().kernel.comment = fmt::format("{}", fmt::join(plan_.remarks, "\n"));
    // A value that is another scalar's present one is kept aside before that is overwritten.
    std::vector<ScalarAssign> kept;
    for (ScalarAssign& assign : stepping_.finish) {
      if (!assign.value.is(Op::Symbol)) continue;
      const std::string& name = assign.value->name;
      const bool state =
          std::ranges::any_of(system_.scalars, [&](const auto& s) { return s.symbol == name; });
      if (!state) continue;
      const std::string aside = slots_.fresh(name + "_old");
      kept.push_back({aside, assign.value});
      assign.value = arena_.symbol(aside);
    }
    auto& finish = step_.finish;
    finish = kept;
    finish.insert(finish.end(), stepping_.finish.begin(), stepping_.finish.end());
    const Expr one = arena_.integer(1), zero = arena_.integer(0);
    Expr last = one;
    if (stepping_.stages > 1) {
      const Expr at_last =
          arena_.make(Op::LessEqual, {arena_.integer(stepping_.stages - 1), symbol(slot::kStage)});
      finish.push_back({kLast, arena_.make(Op::Select, {at_last, one, zero})});
      last = symbol(kLast);
      finish.push_back({slot::kStage, (one - last) * (symbol(slot::kStage) + one)});
    }
    const Expr runs = last * (one - symbol(slot::kStop));
    finish.push_back({slot::kStep, symbol(slot::kStep) + runs});
    if (needs_ran(system_)) finish.push_back({slot::kRan, runs});
    if (!stepping_.missing.empty()) {
      finish.push_back({slot::kStarted, arena_.make(Op::Max, {symbol(slot::kStarted), runs})});
    }
  }

  kernel::Kernel scalar_kernel(const std::string& name, std::vector<ScalarAssign> epilogue) const {
    kernel::Kernel k;
    k.name = name;
    k.dims = system_.lattice.dims;
    k.extent = system_.lattice.extent;
    k.boundary = system_.lattice.boundary;
    k.dx = system_.lattice.dx;
    k.compute = system_.numerics.real;
    k.sum = system_.numerics.sum;
    k.epilogue = std::move(epilogue);
    return k;
  }

  /// Time, end of the run, conditions of outputs: judged on the synchronised state at every step.
  void checks() {
    Observer observer(system_, stepping_, slots_, storage_);
    const bool has_time = std::ranges::any_of(
        system_.scalars, [&](const auto& s) { return s.symbol == system_.time; });
    const Expr time = has_time ? arena_.symbol(system_.time)
                               : symbol(slot::kStep) * arena_.real(system_.dt_physical);
    const std::string time_slot = slots_.fresh("time");
    observer.assign(time_slot, time);
    program().time_slot = slots_.index(time_slot);
    watch_passages(system_, slots_, observer, stepping_.stages > 1 ? symbol(kLast) : Expr());
    want_averages(time_slot);
    for (std::size_t i = 0; i < averages_.size(); ++i) {
      averages_[i].accumulate(observer, i < system_.outputs.size()
                                            ? system_.outputs[i].averages_from
                                            : system_.averages_from);
    }
    if (system_.until) {
      const Expr stop = symbol(slot::kStop);
      const Expr last = stepping_.stages > 1 ? symbol(kLast) : arena_.integer(1);
      observer.assign(
          slot::kStop,
          arena_.make(Op::Select, {system_.until, arena_.make(Op::Max, {stop, last}), stop}));
    }
    for (const physics::OutputClause& output : system_.outputs) {
      if (!output.after || after_.contains(output.after.get())) continue;
      const std::string name = slots_.fresh("after");
      observer.assign(
          name, arena_.make(Op::Select, {output.after, arena_.integer(1), arena_.integer(0)}));
      after_[output.after.get()] = slots_.index(name);
    }
    checks_ = observer.finish("check");
  }

  /// One set of averages for each output clause, and one for the promises.
  void want_averages(const std::string& time_slot) {
    for (std::size_t i = 0; i <= system_.outputs.size(); ++i) {
      averages_.emplace_back(system_, slots_);
    }
    // what nothing drives at random has averages over time, and no standard errors of them
    const bool random =
        system_.noise.kind != physics::NoiseClass::None || moves_links(system_.dynamics);
    for (std::size_t i = 0; i < system_.outputs.size(); ++i) {
      if (random && !system_.outputs[i].regular()) averages_[i].at_end();
      for (const physics::Observable& o : system_.outputs[i].observables) {
        averages_[i].want(o.value);
        averages_[i].want(o.error);
        for (const physics::Observable::Part& part : o.more) averages_[i].want(part.value);
      }
    }
    averages_.back().at_end();
    for (const physics::Expectation& e : system_.expectations) {
      averages_.back().want(e.value);
      averages_.back().want(e.ok);
    }
    for (Averages& averages : averages_) averages.time_slot(time_slot);
  }

  // ---- what is looked at ------------------------------------------------------------------------

  void outputs() {
    std::map<std::tuple<int, double, int>, std::size_t> known;  // cadence -> place in outputs_
    for (std::size_t i = 0; i < system_.outputs.size(); ++i) {
      const physics::OutputClause& clause = system_.outputs[i];
      const int after = clause.after ? after_.at(clause.after.get()) : -1;
      const auto [place, fresh] =
          known.try_emplace({clause.every, clause.interval, after}, observers_.size());
      if (fresh) {
        observers_.emplace_back(system_, stepping_, slots_, storage_);
        first_clause_.push_back(i);
      }
      averages_[i].inputs(observers_[place->second]);
      program().outputs.push_back(output(clause, after, place->second, averages_[i]));
    }
    for (auto& [stage, outputs] : staged_) {
      first_staged_[stage] = program().outputs.size();
      for (program::Output& output : outputs) program().outputs.push_back(std::move(output));
    }
    for (std::size_t i = 0; i < observers_.size(); ++i) {
      outputs_.push_back(observers_[i].finish("observe_" + std::to_string(i + 1)));
    }
  }

  program::Output output(const physics::OutputClause& clause, int after, std::size_t place,
                         Averages& averages) {
    Observer& observer = observers_[place];
    std::map<std::size_t, std::vector<program::FieldOutput>> later;  ///< by stage
    program::Output result;
    result.every = clause.every;
    result.interval = clause.interval;
    result.from = clause.from;
    result.after_slot = after;
    result.file = clause.file;
    result.statistics = averages.statistics();
    for (std::size_t k = 0; k < system_.axes.size(); ++k) {
      if (system_.axes[k].name == clause.plot_against) result.plot_axis = static_cast<int>(k);
    }
    for (const physics::Observable& o : clause.observables) {
      if (o.kind == physics::Observable::Kind::Scalar && averages.holds(o.value)) {
        refuse_state(averages, o.value, o.span);
        result.scalars.push_back(averages.output(o.name, o.value, o.error));
        continue;
      }
      if (o.kind == physics::Observable::Kind::Scalar) {
        program::ScalarOutput scalar;
        scalar.name = o.name;
        scalar.slot = observer.scalar(o.name, o.value);
        for (std::size_t k = 0; k < system_.axes.size(); ++k) {
          scalar.axes.push_back(static_cast<int>(k));
        }
        scalar.passage = std::ranges::any_of(system_.passages, [&](const auto& first) {
          return first.condition && algebra::depends_on(o.value, arena_.symbol(first.symbol));
        });
        result.scalars.push_back(scalar);
        continue;
      }
      program::FieldOutput field = o.form;
      field.kind = field_kind(o.kind);
      field.name = o.name;
      // at every site an array; of an instance a scalar
      std::vector<Expr> values, arrays{o.value};
      for (const physics::Observable::Part& part : o.more) arrays.push_back(part.value);
      values = arrays;
      std::erase_if(arrays, [](Expr value) { return !algebra::per_site(value); });
      const Observer::Fields placed =
          arrays.empty() ? Observer::Fields{} : observer.fields(o.name, arrays, room());
      std::size_t next = 0;
      const auto place = [&](Expr value, int& buffer, int& slot) {
        if (algebra::per_site(value)) {
          buffer = placed.buffers[next++];
        } else if (const Expr own = averages.of_instance(value); own) {
          slot = observer.scalar(o.name, own);
          slots_.set(slots_.names()[static_cast<std::size_t>(slot)],
                     std::numeric_limits<double>::quiet_NaN());
        } else {
          diagnostics_.add(error::not_yet(o.span, "a histogram of averages over the sweep"));
        }
      };
      place(o.value, field.buffer, field.slot);
      field.more.clear();
      for (std::size_t k = 0; k < o.more.size(); ++k) {
        program::FieldPart& more = field.more.emplace_back();
        place(values[k + 1], more.buffer, more.slot);
        more.weight = o.more[k].weight;
      }
      if (o.factor) field.factor_slot = observer.scalar(o.name, o.factor);
      if (o.mass2) field.mass2_slot = observer.scalar(o.name, o.mass2);
      if (field.kind == program::FieldOutput::Kind::Slice && field.axis >= 0)
        field.plane = nearest_plane(field.axis, o.coordinate);
      (placed.stage == 0 ? result.fields : later[placed.stage]).push_back(field);
    }
    for (auto& [stage, fields] : later) {
      program::Output& more = staged_[{place, stage}].emplace_back();
      more.every = result.every;
      more.interval = result.interval;
      more.from = result.from;
      more.after_slot = result.after_slot;
      more.file = result.file;
      more.fields = std::move(fields);
    }
    return result;
  }

  /// Second copies that lie idle between steps: outputs borrow them, so that as many scratch arrays
  /// cost no memory. What a projection made has to stay for all: no stages then.
  std::size_t room() const {
    if (!system_.projections.empty()) return std::numeric_limits<std::size_t>::max();
    return static_cast<std::size_t>(std::ranges::count_if(
        storage_.buffers(), [](const program::Buffer& b) { return b.doubled; }));
  }

  /// What is made of averages is made after the sweep's instances have met: the state is not at
  /// hand there.
  void refuse_state(const Averages& averages, Expr value, dsl::Span span) {
    if (!averages.needs_state(value)) return;
    diagnostics_.add(error::not_yet(
        span, "a value that needs averages over time or the sweep and the present state at once"));
  }

  static program::FieldOutput::Kind field_kind(physics::Observable::Kind kind) {
    using From = physics::Observable::Kind;
    using To = program::FieldOutput::Kind;
    switch (kind) {
      case From::Spectrum:
        return To::Spectrum;
      case From::Slice:
        return To::Slice;
      case From::Histogram:
        return To::Histogram;
      case From::Profile:
        return To::Profile;
      case From::Correlator:
        return To::Correlator;
      case From::Occupation:
        return To::Occupation;
      case From::Links:
        return To::Links;
      default:
        return To::Snapshot;
    }
  }

  /// Coordinates count from the centre of the box: x = (i - (n - 1)/2) dx.
  std::int64_t nearest_plane(int axis, double coordinate) const {
    const auto n = system_.lattice.extent[static_cast<std::size_t>(axis)];
    const double i = coordinate / system_.lattice.dx_physical + 0.5 * static_cast<double>(n - 1);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::llround(i)), 0, n - 1);
  }

  void watch() {
    Observer observer(system_, stepping_, slots_, storage_);
    Averages& averages = averages_.back();
    averages.inputs(observer);
    program().watch_statistics = averages.statistics();
    const auto slot_of = [&](const char* hint, Expr value, dsl::Span span) {
      if (!averages.holds(value)) return observer.scalar(hint, value);
      refuse_state(averages, value, span);
      return averages.slot_of(hint, value);
    };
    for (const physics::Expectation& e : system_.expectations) {
      program::Expectation expectation;
      expectation.kind = static_cast<program::Expectation::Kind>(e.kind);
      expectation.text = e.text;
      expectation.bound = e.bound;
      expectation.at_end = e.at_end;
      if (e.value) expectation.value_slot = slot_of("value", e.value, e.span);
      if (e.ok) expectation.ok_slot = slot_of("ok", e.ok, e.span);
      if (e.scale) expectation.scale_slot = slot_of("scale", e.scale, e.span);
      program().expectations.push_back(expectation);
    }
    for (const physics::Observable& o : system_.progress) {
      program::ScalarOutput scalar;
      scalar.name = o.name;
      scalar.slot = observer.scalar(o.name, o.value);
      scalar.drift = o.drift;
      program().progress.push_back(scalar);
    }
    if (system_.conservation && system_.conservation->unsound) {
      program().unsound_slot = observer.scalar("unsound", system_.conservation->unsound);
    }
    if (system_.friedmann) {
      program::Expansion& e = program().expansion;
      e.scale_slot = observer.scalar("scale", system_.arena->symbol(system_.scale_factor));
      e.residual_slot = observer.scalar("friedmann", system_.friedmann);
      e.explained = system_.friedmann_explained;
    }
    watch_ = observer.finish("watch");
  }

  // ---- linear systems ---------------------------------------------------------------------------

  void allocate_solution(int array) {
    program::Buffer buffer;
    buffer.name = "solution";
    buffer.precision = precision_of(system_.numerics.store);
    buffer.scratch = true;
    storage_.allocate(array, buffer);
  }

  /// The text of the solver for each system that anything wants solved.
  bool solves() {
    for (Observer::Result* result : all_observers()) {
      for (const std::size_t place : result->solves) {
        if (!prepare_solve(place)) return false;
      }
    }
    return true;
  }

  /// Place of the system whose kernels solve this one.
  std::size_t first_alike(std::size_t place) const {
    const int like = system_.solves[place].like;
    return like < 0 ? place : static_cast<std::size_t>(like);
  }

  bool prepare_solve(std::size_t place) {
    const std::size_t first = first_alike(place);
    const bool many = std::ranges::any_of(system_.solves, [&](const physics::LinearSystem& other) {
      return other.like == static_cast<int>(first);
    });
    if (many && !shared_.contains(first)) {
      shared_.emplace(first, share_solve(system_, system_.solves[first],
                                         fmt::format("s{}", shared_.size() + 1), slots_, storage_));
    }
    if (!solves_.contains(first)) {
      const physics::LinearSystem& solve = many ? shared_.at(first).system : system_.solves[first];
      auto made = make_solve(system_, solve, stepping_, slots_, storage_, diagnostics_);
      if (!made) return false;
      program::StateVariable where;
      line_of(solve.span, where);
      for (SolveLoops* part = &*made; part; part = part->inner.get()) {
        part->described.line = where.line;
        part->described.line_number = where.line_number;
      }
      if (solve.even_odd) {
        plan_.remarks.push_back(
            fmt::format("`{}` is solved at odd sites alone: every other term of its operator leads "
                        "to the other parity, and what is left at even ones has an inverse",
                        solve.name));
      }
      solves_.emplace(first, std::move(*made));
    }
    if (many && !copies_.contains(place)) {
      SolveCopies copies =
          copies_of(system_, shared_.at(first), system_.solves[place], stepping_, slots_, storage_);
      Copies& own = copies_[place];
      own.load = {std::move(copies.load.sweeps), std::move(copies.load.swaps), {}};
      own.load_alone = std::move(copies.load.alone);
      own.save = {std::move(copies.save.sweeps), std::move(copies.save.swaps), {}};
    }
    return true;
  }

  /// The launches that solve system `place`, made once.
  std::vector<program::Launch> solve_launches(std::size_t place) {
    const auto known = solve_launches_.find(place);
    if (known != solve_launches_.end()) return known->second;
    const std::size_t first = first_alike(place);
    if (!shared_kernels_.contains(first))
      shared_kernels_.emplace(first, kernels_of(solves_.at(first)).start);
    std::vector<program::Launch> launches = shared_kernels_.at(first);
    if (const auto copies = copies_.find(place); copies != copies_.end()) {
      Copies& own = copies->second;
      const std::string name = own.load.sweeps.front().kernel.name + "_scalars";
      order_scalars(own.load_alone);
      std::vector<ScalarAssign> before = own.load_alone;
      append(before, link(own.load));
      const std::vector<ScalarAssign> then = link(own.save);
      std::vector<program::Launch> all;
      if (!before.empty()) all.push_back({add(scalar_kernel(name, before)), {}});
      for (program::Launch& launch : add(own.load)) all.push_back(launch);
      all.insert(all.end(), launches.begin(), launches.end());
      if (!then.empty()) all.push_back({add(scalar_kernel(name + "_end", then)), {}});
      for (program::Launch& launch : add(own.save)) all.push_back(launch);
      launches = std::move(all);
    }
    solve_launches_.emplace(place, launches);
    return launches;
  }

  /// What begins a solve: the first time, and where it goes on after another.
  struct SolveLaunches {
    std::vector<program::Launch> start, restart;
  };

  SolveLaunches kernels_of(SolveLoops& solve) {
    SolveLaunches inner;
    if (solve.inner) inner = kernels_of(*solve.inner);
    order_scalars(solve.alone);
    std::vector<ScalarAssign> iteration_needs = link(solve.iteration);
    append(iteration_needs, link(solve.rest));
    std::vector<ScalarAssign> first = solve.alone;
    append(first, link(solve.start));
    append(solve.start.sweeps.back().kernel.epilogue, iteration_needs);
    append(solve.iteration.sweeps.back().kernel.epilogue, iteration_needs);
    const std::vector<ScalarAssign> last = link(solve.finish);
    std::vector<program::Launch> launches;
    const std::string name = solve.start.sweeps.front().kernel.name;
    if (!first.empty()) launches.push_back({add(scalar_kernel(name + "_scalars", first)), {}});
    for (program::Launch& launch : add(solve.start)) launches.push_back(launch);
    const std::size_t kernels = plan_.kernels.size();
    const std::vector<program::Launch> rest = add(solve.rest), iteration = add(solve.iteration);
    const auto of_iteration = [&](const std::vector<program::Launch>& within) {
      std::vector<program::Launch> all = rest;
      all.insert(all.end(), within.begin(), within.end());
      all.insert(all.end(), iteration.begin(), iteration.end());
      return all;
    };
    solve.described.iterate = of_iteration(inner.restart.empty() ? inner.start : inner.restart);
    if (!inner.restart.empty()) {  // the first round begins the inner solve
      const std::vector<program::Launch> once = of_iteration(inner.start);
      launches.insert(launches.end(), once.begin(), once.end());
    }
    int bytes = 0;
    for (std::size_t i = kernels; i < plan_.kernels.size(); ++i) {
      bytes += kernel::cost(plan_.kernels[i]).bytes;
    }
    plan_.remarks.push_back(fmt::format(
        "`{}` takes {} {} and {} bytes a site in each round of `{}`", solve.described.name,
        plan_.kernels.size() - kernels, plan_.kernels.size() - kernels == 1 ? "kernel" : "kernels",
        bytes, solve.described.solver));
    if (!last.empty()) {
      solve.described.finish.push_back({add(scalar_kernel(name + "_scalars_end", last)), {}});
    }
    for (program::Launch& launch : add(solve.finish)) solve.described.finish.push_back(launch);
    std::vector<program::Launch> restart;
    if (!solve.restart.sweeps.empty()) {
      const std::vector<ScalarAssign> before = link(solve.restart);
      if (!before.empty()) restart.push_back({add(scalar_kernel(name + "_again", before)), {}});
      for (program::Launch& launch : add(solve.restart)) restart.push_back(launch);
      restart.back().solve = static_cast<int>(program().solves.size());
    }
    launches.back().solve = static_cast<int>(program().solves.size());
    program().solves.push_back(solve.described);
    return {std::move(launches), std::move(restart)};
  }

  // ---- linking ----------------------------------------------------------------------------------

  int add(kernel::Kernel kernel) {
    plan_.kernels.push_back(std::move(kernel));
    return static_cast<int>(plan_.kernels.size()) - 1;
  }

  std::vector<program::Launch> add(LoopSequence& chain) {
    std::vector<program::Launch> launches;
    for (std::size_t i = 0; i < chain.sweeps.size(); ++i) {
      program::Launch launch;
      kernel::Kernel& sweep = chain.sweeps[i].kernel;
      // sums over pairs end without an epilogue: what comes after them runs by itself
      std::vector<ScalarAssign> after;
      if (kernel::sums_pairs(sweep)) after = std::exchange(sweep.epilogue, {});
      const std::string name = sweep.name + "_scalars";
      launch.kernel = add(std::move(sweep));
      for (const int array : chain.swaps[i]) {
        launch.swap.push_back(static_cast<int>(storage_.buffer_index(array)));
      }
      launches.push_back(launch);
      if (!after.empty()) launches.push_back({add(scalar_kernel(name, std::move(after))), {}});
    }
    return launches;
  }

  static void append(std::vector<ScalarAssign>& to, const std::vector<ScalarAssign>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  void order_scalars(std::vector<ScalarAssign>& assigns) const {
    const auto names = pass_names();
    if (!stop_after_.empty() && stop_after_ != names.back() &&
        std::ranges::count(names, stop_after_) > 0) {
      return;
    }
    for (ScalarAssign& assign : assigns) assign.value = kernel::with_fixed_order(assign.value);
  }

  void link_all() {
    order_scalars(checks_.alone);
    order_scalars(initial_.alone);
    // Scalars that every step starts from, wherever the one before ended.
    std::vector<ScalarAssign> step_needs = link(step_);
    for (LoopSequence& part : parts_) append(step_needs, link(part));
    const bool check_loops = !checks_.chain.sweeps.empty();
    const std::vector<ScalarAssign> check_needs = link(checks_.chain);
    std::vector<ScalarAssign> end = checks_.alone;
    append(end, check_needs);
    if (check_loops) append(checks_.chain.sweeps.back().kernel.epilogue, step_needs);
    append(end, step_needs);
    append(step_.sweeps.back().kernel.epilogue, end);

    // Before the first step: initial values, what is done ahead, what the first step needs.
    std::vector<ScalarAssign> start = initial_.alone;
    append(start, link(initial_.chain));
    if (initial_.chain.sweeps.empty()) append(start, initial_.chain.finish);
    if (initial_.chain.sweeps.empty() || !start.empty()) {
      auto& sweeps = initial_.chain.sweeps;
      sweeps.insert(sweeps.begin(), {scalar_kernel("start", start), {}, {}});
      initial_.chain.swaps.insert(initial_.chain.swaps.begin(), std::vector<int>{});
    }
    std::vector<ScalarAssign>& started = initial_.chain.sweeps.back().kernel.epilogue;
    order_scalars(stepping_.first.alone);
    append(started, stepping_.first.alone);
    append(started, link(first_));
    if (first_.sweeps.empty()) append(started, first_.finish);
    LoopSequence& before_step = first_.sweeps.empty() ? initial_.chain : first_;
    append(before_step.sweeps.back().kernel.epilogue, end);
    std::vector<program::Launch>& prologue = program().prologue;
    for (program::Launch& launch : add(initial_.chain)) {
      starting_.insert(launch.kernel);
      prologue.push_back(launch);
    }
    for (program::Launch& launch : add(first_)) prologue.push_back(launch);

    const std::vector<program::Launch> stage = add(step_);
    for (int i = 0; i < stepping_.stages; ++i) {
      program().step.insert(program().step.end(), stage.begin(), stage.end());
    }
    const std::vector<program::Launch> check = add(checks_.chain);
    program().step.insert(program().step.end(), check.begin(), check.end());
    add_parts();
    prologue.insert(prologue.end(), check.begin(), check.end());
    link_observers();
  }

  /// The parts of a flux scheme before the rest of the step, in the order of each step.
  void add_parts() {
    if (parts_.empty()) return;
    std::vector<std::vector<program::Launch>> launches;
    for (LoopSequence& part : parts_) launches.push_back(add(part));
    const std::vector<program::Launch> rest = program().step;
    for (const std::vector<int>& order : stepping_.cycle) {
      std::vector<program::Launch> step;
      for (const int part : order) {
        const auto& own = launches[static_cast<std::size_t>(part)];
        step.insert(step.end(), own.begin(), own.end());
      }
      step.insert(step.end(), rest.begin(), rest.end());
      program().cycle.push_back(std::move(step));
    }
    program().step = program().cycle.front();
    if (program().cycle.size() == 1) program().cycle.clear();
  }

  std::vector<Observer::Result*> all_observers() {
    std::vector<Observer::Result*> all{&watch_};
    for (Observer::Result& output : outputs_) all.push_back(&output);
    return all;
  }

  /// One kernel brings the scalars of all observers up to date.
  void link_observers() {
    std::vector<ScalarAssign> scalars;
    const auto needs = [&](Observer::Result& result) {
      order_scalars(result.alone);
      order_scalars(result.before_alone);
      std::vector<ScalarAssign> before = result.before_alone;
      append(before, link(result.before));
      append(before, link(result.chain));
      for (LoopSequence& stage : result.stages) append(before, link(stage));
      append(scalars, result.alone);
      append(scalars, before);
      return !result.alone.empty() || !before.empty();
    };
    std::vector<bool> synchronise;
    for (Observer::Result& result : outputs_) synchronise.push_back(needs(result));
    const bool for_watch = needs(watch_);
    const int kernel = scalars.empty() ? -1 : add(scalar_kernel("synchronise", scalars));
    using Launches = std::vector<program::Launch>;
    const auto launches = [&](Observer::Result& result, bool first, Launches& before,
                              Launches& after) {
      const bool split = !result.transforms.empty();
      for (const std::size_t place : result.solves) {
        for (program::Launch& launch : solve_launches(place))
          (split ? before : after).push_back(launch);
      }
      if (first) (split ? before : after).push_back({kernel, {}});
      if (split)
        for (program::Launch& launch : add(result.before)) before.push_back(launch);
      for (program::Launch& launch : add(result.chain)) after.push_back(launch);
    };
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      program::Output& output = program().outputs[first_clause_[i]];
      output.transforms = outputs_[i].transforms;
      launches(outputs_[i], synchronise[i], output.before, output.launches);
      for (std::size_t k = 0; k < outputs_[i].stages.size(); ++k) {
        program().outputs[first_staged_.at({i, k + 1})].launches = add(outputs_[i].stages[k]);
      }
    }
    program().watch_transforms = watch_.transforms;
    launches(watch_, for_watch, program().watch_before, program().watch);
    for (std::size_t i = 0; i < averages_.size(); ++i) add_averages(i);
  }

  /// The scalar kernels before and after the launches of a clause.
  void add_averages(std::size_t i) {
    const bool watch = i == system_.outputs.size();
    std::vector<program::Launch>& launches =
        watch ? program().watch : program().outputs[i].averages;
    std::vector<program::Launch>& then = watch ? program().watch_then : program().outputs[i].then;
    std::vector<ScalarAssign> before = averages_[i].windows(!watch), after = averages_[i].then();
    order_scalars(before);
    order_scalars(after);
    if (!before.empty()) {
      program::Launch launch;
      launch.kernel = add(scalar_kernel("averages", before));
      launches.insert(launches.begin(), launch);
    }
    if (!after.empty()) then.push_back({add(scalar_kernel("of_averages", after)), {}});
  }

  /// All kernels of a step share one sequence of random numbers: a draw that is needed in two of
  /// them is the same number.
  void number_draws() {
    int draws = 0;
    const auto count = [&](const kernel::Kernel& k) {
      algebra::visit(k.values(), [&](Expr, Expr node) {
        if (node.is(Op::Normal) || node.is(Op::Uniform)) draws = std::max(draws, node->index + 1);
      });
    };
    for (const kernel::Kernel& k : plan_.kernels) count(k);
    const int all = draws;
    for (kernel::Kernel& k : plan_.kernels) {
      draws = 0;
      count(k);
      if (draws == 0) continue;
      k.random.generator = system_.generator;
      k.random.bits = system_.noise.points == 2 && all <= kernel::kMostBits;
      k.random.seed = system_.seed;
      k.random.stream = starting_.contains(&k - plan_.kernels.data()) ? kStartStream : kNoiseStream;
      k.random.draws = all;
      k.random.sites = k.sites();
      k.random.step = slot::kStep;
      k.random.instance = slot::kEnsemble;
    }
  }

  /// Steps are recorded once and replayed: an array that they use stays where it is, also one that
  /// was made for looking at the state (a running mean of sums over pairs).
  void keep_what_steps_use() {
    program::Program& p = program();
    const auto keep = [&](const std::vector<program::Launch>& launches) {
      for (const program::Launch& launch : p.with_iterations(launches)) {
        for (const kernel::ArrayParam& array :
             plan_.kernels[static_cast<std::size_t>(launch.kernel)].arrays) {
          const int buffer = plan_.buffer_of[static_cast<std::size_t>(array.array)];
          if (buffer >= 0) p.buffers[static_cast<std::size_t>(buffer)].scratch = false;
        }
      }
    };
    keep(p.step);
    keep(p.multi_step);
    for (const auto& step : p.cycle) keep(step);
  }

  void finish() {
    program::Program& p = program();
    p.buffers = storage_.buffers();
    plan_.buffer_of = storage_.buffer_of();
    keep_what_steps_use();
    for (std::size_t i = 0; i < slots_.names().size(); ++i) {
      p.scalars.push_back({slots_.names()[i], slots_.initial()[i]});
    }
    for (const physics::ScalarVariable& s : system_.scalars) {
      const auto number = algebra::constant(s.initial);
      if (number) {
        p.scalars[static_cast<std::size_t>(slots_.index(s.symbol))].initial =
            static_cast<double>(number->real);
      }
    }
    number_draws();
    for (const physics::Axis& axis : system_.axes) {
      p.axes.push_back(
          {axis.name, axis.values, axis.ensemble, axis.fresh, slots_.index(axis.symbol)});
    }
    p.ensemble = system_.ensemble;
    if (slots_.has(slot::kEnsemble)) p.ensemble_slot = slots_.index(slot::kEnsemble);
    p.instances = p.all_instances();
    const bool transforms =
        !p.watch_transforms.empty() ||
        std::ranges::any_of(p.outputs, [](const auto& o) { return !o.transforms.empty(); });
    if (p.instances > 1 && transforms) {
      const dsl::Clause* sweep = resolved_.clause("sweep");
      diagnostics_.add(error::not_yet(sweep ? sweep->keyword_span : dsl::Span{},
                                      "a sweep of a model that transforms its fields for outputs"));
    }
    p.step_slot = slots_.index(slot::kStep);
    p.stop_slot = slots_.index(slot::kStop);
    for (const kernel::Kernel& k : plan_.kernels) {
      program::Kernel described;
      described.name = k.name;
      const kernel::Cost cost = kernel::cost(k);
      described.loads = cost.loads;
      described.stores = cost.stores;
      described.bytes = cost.bytes;
      described.flops = cost.flops;
      described.special = cost.special;
      p.kernels.push_back(described);
    }
  }

  const physics::System& system_;
  const dsl::Resolved& resolved_;
  const std::string stop_after_;
  dsl::Diagnostics& diagnostics_;
  algebra::Arena& arena_;
  Slots slots_;
  Storage storage_;
  Plan plan_;
  Stepping stepping_;
  LoopSequence first_, step_;
  std::vector<LoopSequence> parts_;  ///< of a flux scheme
  Initial initial_;
  Observer::Result checks_, watch_;
  std::vector<Observer> observers_;
  /// Arrays of later stages, as outputs of their own, by observer and stage; the first of each
  /// has the launches.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<program::Output>> staged_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> first_staged_;
  std::vector<std::size_t> first_clause_;  ///< of each observer
  std::vector<Observer::Result> outputs_;
  std::vector<Averages> averages_;  ///< of each output clause, then of the promises
  std::map<const algebra::Node*, int> after_;
  std::set<std::ptrdiff_t> starting_;         ///< kernels that make the initial state
  std::map<std::size_t, SolveLoops> solves_;  ///< by place in System::solves
  struct Copies {
    LoopSequence load, save;
    std::vector<ScalarAssign> load_alone;
  };
  std::map<std::size_t, SharedSolve> shared_;  ///< of systems with one operator: by the first
  std::map<std::size_t, Copies> copies_;       ///< of each of these
  std::map<std::size_t, std::vector<program::Launch>> shared_kernels_;
  std::map<std::size_t, std::vector<program::Launch>> solve_launches_;
};

}  // namespace

std::optional<Plan> schedule(const physics::System& system, const dsl::Resolved& resolved,
                             dsl::Diagnostics& diagnostics) {
  return schedule(system, resolved, diagnostics, {});
}

std::optional<Plan> schedule(const physics::System& system, const dsl::Resolved& resolved,
                             dsl::Diagnostics& diagnostics, const std::string& stop_after) {
  return Scheduler(system, resolved, stop_after, diagnostics).make();
}

}  // namespace vphi::schedule
