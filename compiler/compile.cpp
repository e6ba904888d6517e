// The stages in order. Each adds its diagnostics; the first that fails ends the compilation.
#include "compiler/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/coarse_path.hpp"
#include "compiler/emit/memory/memory_layout.hpp"
#include "compiler/emit/patterns/persistent.hpp"
#include "compiler/emit/patterns/single_site.hpp"
#include "compiler/emit/patterns/wave.hpp"
#include "compiler/emit/site_function.hpp"
#include "compiler/emit/text/reading.hpp"
#include "compiler/emit/walks/march_steps.hpp"
#include "compiler/kernel/kernel.hpp"
#include "compiler/physics/derive.hpp"
#include "compiler/schedule/cut.hpp"
#include "compiler/schedule/division.hpp"
#include "compiler/schedule/ends_of_sums.hpp"
#include "compiler/schedule/exchange.hpp"
#include "compiler/schedule/integrator/brownian.hpp"
#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/prepare.hpp"
#include "compiler/schedule/schedule.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/steps/multi_step.hpp"
#include "compiler/schedule/steps/neighbour_values.hpp"
#include "compiler/schedule/steps/parts.hpp"
#include "compiler/schedule/steps/persistent.hpp"
#include "compiler/schedule/steps/together.hpp"
#include "compiler/schedule/steps/wide_sweeps.hpp"
#include "program/parts.hpp"

namespace vphi {

namespace {
constexpr const char *kDerive = "derive", *kPrepare = "prepare";
}  // namespace

std::vector<std::string> stage_names() {
  std::vector<std::string> names{kDerive, kPrepare};
  for (std::string& pass : schedule::pass_names()) names.push_back(std::move(pass));
  for (const kernel::DevicePass& pass : kernel::device_passes()) names.emplace_back(pass.name);
  return names;
}

Compilation derive_model(const dsl::ModelSource& source, const CompileOptions& options) {
  Compilation result;
  dsl::Diagnostics& diagnostics = result.diagnostics;
  dsl::ModelText model = dsl::load_model(source, diagnostics);
  std::vector<dsl::ModelText> library = dsl::load_library(diagnostics);
  dsl::apply_overrides(model, library, options.set, diagnostics);
  dsl::apply_free(model, options.free, diagnostics);
  if (!options.until.empty()) dsl::apply_end(model, library, options.until, diagnostics);
  if (!options.lattice.empty()) dsl::add_text(library, "--lattice", options.lattice);
  if (diagnostics.has_errors()) {
    // A line that could not be parsed leaves names undefined, so only the first cause is reported.
    result.resolved.model = std::move(model);
    result.resolved.library = std::move(library);
    return result;
  }
  result.resolved = dsl::resolve(std::move(model), std::move(library));
  for (const dsl::Diagnostic& d : result.resolved.diagnostics.all()) diagnostics.add(d);
  if (diagnostics.has_errors()) return result;
  result.system = system_of(result.resolved, options, diagnostics);
  return result;
}

std::optional<physics::System> system_of(const dsl::Resolved& resolved,
                                         const CompileOptions& options,
                                         dsl::Diagnostics& diagnostics) {
  auto system = physics::derive(resolved, options, diagnostics);
  if (system && !diagnostics.has_errors() && options.stop_after != kDerive)
    system = schedule::prepare(std::move(*system), diagnostics);
  if (diagnostics.has_errors()) system.reset();
  return system;
}

namespace {

emit::PersistentChoice persistent_choice(physics::Launches launches) {
  switch (launches) {
    case physics::Launches::Group:
      return emit::PersistentChoice::Group;
    case physics::Launches::Groups:
      return emit::PersistentChoice::Groups;
    case physics::Launches::ByCounts:
    case physics::Launches::Step:
      break;
  }
  return emit::PersistentChoice::ByCounts;
}

/// Many steps a launch, where the device and the counts allow it.
void add_persistent_kernel(schedule::Plan& plan, const emit::TargetInfo& target, bool single,
                           emit::PersistentChoice wish) {
  auto persistent = schedule::persistent_kernel_of(plan);
  if (!persistent) return;
  std::string why = single ? "`launch = step` asks for it" : "";
  std::optional<emit::PersistentShape> shape;
  if (!single) shape = emit::persistent_shape(*persistent, target, why, wish);
  if (shape) {
    schedule::add_persistent(plan, std::move(*persistent), shape->reach, shape->threads);
    plan.remarks.push_back("many steps a launch: " + shape->why);
  } else {
    plan.remarks.push_back("a launch for each kernel of a step: " + why);
  }
}

/// Several steps in one pass over memory: the choice that follows from the launches, the counts,
/// the model's options and the device.
class StepsOfAPass {
 public:
  StepsOfAPass(schedule::Plan& plan, const emit::TargetInfo& target, physics::Together wish)
      : plan_(plan), target_(target), wish_(wish) {
    candidate_ = schedule::together_candidate(plan, why_);
    if (candidate_ && wish.steps == 1) {
      candidate_ = nullptr;
      why_ = "`together = 1` asks for it";
    }
  }

  /// On GPUs, a kernel of its own; before kernels are emitted.
  void add_kernel(const emit::Bindings& bindings) {
    if (!candidate_ || tasks()) return;
    const auto steps = emit::steps_of_a_pass(*candidate_, target_, bindings, wish_.steps, why_);
    if (!steps) return;
    schedule::add_together(plan_, *steps);
    steps_ = *steps;
  }

  /// On processors, launches that overlap; when the tasks of the kernels are known.
  void add_wave(const program::Program& emitted) {
    if (!candidate_ || !tasks()) return;
    const auto tasks = emitted.kernels[static_cast<std::size_t>(emitted.step[0].kernel)].grid[0];
    const auto wave = emit::wave_of(*candidate_, tasks, wish_.steps, why_);
    if (!wave) return;
    schedule::add_wave(plan_, wave->steps, wave->reach);
    steps_ = wave->steps;
  }

  void tell(dsl::Diagnostics& diagnostics) {
    if (steps_ > 1)
      plan_.remarks.push_back(fmt::format("{} steps a pass over memory: {}", steps_, why_));
    else if (!why_.empty())
      plan_.remarks.push_back("one pass over memory for each step: " + why_);
    if (wish_.steps > 1 && steps_ != wish_.steps)
      diagnostics.add(schedule::errors::not_together(wish_.span, wish_.steps, why_));
  }

 private:
  bool tasks() const { return target_.target == program::Target::Native; }

  schedule::Plan& plan_;
  const emit::TargetInfo& target_;
  const physics::Together wish_;
  const kernel::Kernel* candidate_ = nullptr;
  std::string why_;
  int steps_ = 1;
};

/// The names of scalars and the lines of the model (not of its library) for the readable form.
emit::Reading reading_of(const Compilation& c) {
  emit::Reading reading;
  reading.slots = emit::slot_names(c.plan->program);
  const auto source = c.resolved.model.source;
  reading.line = [source](const dsl::Span& span) -> std::string {
    if (!source || span.file != 0) return {};
    const int number = source->position(span.begin).line;
    std::string text(source->line(number));
    text.erase(0, text.find_first_not_of(" \t"));
    return fmt::format("line {}: {}", number, text);
  };
  return reading;
}

emit::Bindings bindings_of(const schedule::Plan& plan) {
  emit::Bindings bindings;
  for (const program::Scalar& scalar : plan.program.scalars) bindings.slots.push_back(scalar.name);
  bindings.buffer_of = plan.buffer_of;
  return bindings;
}

/// Whether a kernel may be divided so that its rest passes the time of an exchange. Processors wait
/// for what they send. A march goes over planes that follow one another. A walk along lines has too
/// few of them in the ends: steps of SHASTA with 200^3 cells a GPU took 1.06 times as long on two
/// H200 with divided sweeps, with 100 planes a rank 1.11 times. Where a launch moves few bytes,
/// more launches cost more than an exchange: it takes 6 us on two H200, and then all of their
/// multiprocessors move 4e7 bytes in 10 us. The same for all ranks, whatever their planes.
bool divisible(const kernel::Kernel& kernel, const emit::TargetInfo& target,
               const emit::Bindings& bindings) {
  constexpr double kBytesOfAUnit = 3e5;
  if (target.is_cpu || emit::walks_lines(kernel, target)) return false;
  const kernel::Planes& planes = kernel.planes.value();
  const double colours = kernel.colours ? kernel.colours->modulus : 1;
  const double sites = static_cast<double>(kernel.walked_sites() / planes.own * planes.whole) /
                       static_cast<double>(planes.ranks) / colours;
  if (kernel::cost(kernel).bytes * sites < kBytesOfAUnit * target.compute_units) return false;
  return emit::planes_of_march(kernel, target, bindings) == 0;
}

/// Between classes of sites that `bindings` store apart, or, where the lattice has no room for such
/// cuts, with one class. The same on all ranks.
std::optional<schedule::NotCut> cut_between_classes(schedule::Plan& plan,
                                                    const CompileOptions& options,
                                                    std::int64_t planes, emit::Bindings& bindings) {
  schedule::Place place{options.ranks, options.rank, options.ranks_beside, bindings.order.modulus};
  auto refused = schedule::cut(plan, place, planes);
  if (!refused || place.classes == 1) return refused;
  bindings.order = plan.program.order = {};
  place.classes = 1;
  return schedule::cut(plan, place, planes);
}

/// For one of the ranks that share the lattice, with arrays that lie as on one device
/// (emit/memory/memory_layout.hpp): places and order of `bindings`. False, with a message, where
/// they cannot.
bool cut_lattice(Compilation& c, const CompileOptions& options, const emit::TargetInfo& target,
                 emit::Bindings& bindings, schedule::Division& division) {
  program::Program& p = c.plan->program;
  emit::share_memory(c.plan->kernels, target, bindings, p);
  if (std::ranges::all_of(p.buffers, [](const program::Buffer& b) { return b.home < 0; }))
    bindings.order = p.order = {};
  const auto planes =
      emit::planes_of_slab(c.plan->kernels, target, bindings, options.ranks / options.ranks_beside);
  const auto refused = cut_between_classes(*c.plan, options, planes, bindings);
  if (!refused) {
    schedule::exchange(*c.plan);
    bindings.slots = bindings_of(*c.plan).slots;
    division = schedule::divide(
        *c.plan, options.ranks,
        [&](const kernel::Kernel& kernel) { return divisible(kernel, target, bindings); },
        target.target != program::Target::Native);
    return true;
  }
  dsl::Span at = refused->span;
  for (const char* keyword : {"lattice", "particles", "model"})
    if (const dsl::Clause* clause = c.resolved.clause(keyword); clause && at.empty())
      at = clause->keyword_span;
  c.diagnostics.add(schedule::errors::not_cut(at, options.ranks, refused->why, refused->way));
  c.plan.reset();
  return false;
}

/// Adds the kernels that add the sums of all ranks, and their launches (schedule/ends_of_sums.hpp).
void add_ends_of_sums(const schedule::Plan& plan, const schedule::Division& division,
                      const emit::TargetInfo& target, const emit::Bindings& bindings,
                      program::Program& program) {
  std::map<int, int> end_of;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    if (!kernel::sums_of_ranks(plan.kernels[k])) continue;
    const auto number = static_cast<int>(k);
    end_of[number] = static_cast<int>(program.kernels.size());
    program.kernels.push_back(
        emit::emit_end(plan.kernels[k], target, bindings, program.kernels[k], number));
  }
  std::set<int> parts = division.ends;
  for (const auto& [rest, exchanged] : division.rests) parts.insert(rest);
  program.each_list([&](std::vector<program::Launch>& list) {
    list = schedule::with_ends_of_sums(plan, std::move(list), end_of, parts);
  });
}

/// Emits parts that count their groups together: in the word of the first of them. Only then is it
/// known how many groups all of them have.
void count_together(const schedule::Division& division, const schedule::Plan& plan,
                    const emit::TargetInfo& target, emit::Bindings bindings,
                    program::Program& program) {
  for (const std::vector<int>& parts : division.counted) {
    bindings.arrivals = 0;
    for (const int part : parts) {
      const auto& grid = program.kernels[static_cast<std::size_t>(part)].grid;
      bindings.arrivals += std::int64_t{grid[0]} * grid[1] * grid[2];
    }
    for (const int part : parts) {
      const auto number = static_cast<std::size_t>(part);
      program.kernels[number] = emit::emit(plan.kernels[number], target, bindings);
      for (program::Argument& a : program.kernels[number].arguments)
        if (a.kind == program::Argument::Kind::Counter) a.index = parts.front();
    }
  }
}

/// Parts say that they are parts. The rest of a launch begins after its arrays were exchanged.
void mark_parts(const schedule::Division& division, program::Program& program) {
  const auto kernel = [&](int number) -> program::Kernel& {
    return program.kernels[static_cast<std::size_t>(number)];
  };
  for (const int end : division.ends) program::mark_part(kernel(end), program::Part::End);
  using Kind = program::Argument::Kind;
  for (const auto& [rest, exchanged] : division.rests) {
    program::mark_part(kernel(rest), program::Part::Rest);
    for (program::Argument& a : kernel(rest).arguments) {
      if (std::ranges::find(exchanged, a.index) == exchanged.end()) continue;
      if (a.kind == Kind::Current)
        a.kind = Kind::Next;
      else if (a.kind == Kind::Next)
        a.kind = Kind::Current;
    }
  }
}

bool is_device_pass(const std::string& name) {
  return std::ranges::any_of(kernel::device_passes(),
                             [&](const kernel::DevicePass& pass) { return name == pass.name; });
}

Compilation compiled(const dsl::ModelSource& source, const CompileOptions& options,
                     const emit::TargetInfo& target, bool coarse) {
  Compilation result = derive_model(source, options);
  if (!result.system) return result;
  if (options.stop_after == kDerive || options.stop_after == kPrepare) return result;
  result.plan =
      schedule::schedule(*result.system, result.resolved, result.diagnostics, options.stop_after,
                         options.renewal, target.is_cpu ? 0 : schedule::kRegistersOfThread);
  if (!result.plan || result.diagnostics.has_errors()) {
    result.plan.reset();
    return result;
  }
  if (coarse && !schedule::sum_draws(*result.plan)) return result;
  program::Program& planned = result.plan->program;
  planned.target = target.target;
  if (options.steps >= 0) planned.steps = options.steps;
  if (options.batch > 0) planned.instances = std::min(options.batch, planned.all_instances());
  for (kernel::Kernel& kernel : result.plan->kernels) kernel.instances = planned.instances;
  schedule::store_neighbour_values(*result.plan, [&](const kernel::Kernel& kernel) {
    if (emit::walks_lines(kernel, target)) return schedule::Walked::Lines;
    const auto bindings = bindings_of(*result.plan);
    return emit::planes_of_march(kernel, target, bindings) > 0 ? schedule::Walked::March
                                                               : schedule::Walked::Sites;
  });
  if (!target.is_cpu) {
    schedule::cut_long_kernels(*result.plan);
    const emit::Bindings bindings = bindings_of(*result.plan);
    schedule::divide_wide_sweeps(*result.plan, [&](const kernel::Kernel& kernel) {
      return emit::planes_of_march(kernel, target, bindings) > 0;
    });
  }
  const bool cut = options.ranks > 1;
  schedule::Division division;
  emit::Bindings bindings = bindings_of(*result.plan);
  if (cut && !cut_lattice(result, options, target, bindings, division)) return result;
  const bool single = cut || result.system->launches == physics::Launches::Step;
  if (!cut) schedule::prepare_multi_step(*result.plan, single);
  if (is_device_pass(options.stop_after)) {
    for (const kernel::Kernel& kernel : result.plan->kernels)
      result.site_functions.push_back(
          kernel::for_device(emit::site_function(kernel, target), options.stop_after));
  }
  if (!options.stop_after.empty()) return result;
  if (!cut)
    add_persistent_kernel(*result.plan, target, single, persistent_choice(result.system->launches));

  StepsOfAPass together(*result.plan, target,
                        cut ? physics::Together{1, {}} : result.system->together);
  if (!cut) bindings = bindings_of(*result.plan);  // with what the steps before have added
  bindings.by_slot = std::ranges::all_of(result.plan->kernels, emit::is_single_site);
  std::optional<emit::Reading> reading;
  if (options.reading) bindings.reading = &reading.emplace(reading_of(result));
  together.add_kernel(bindings);
  program::Program program = planned;
  program.kernels.clear();
  if (!cut) emit::share_memory(result.plan->kernels, target, bindings, program);
  for (const kernel::Kernel& kernel : result.plan->kernels) {
    program.kernels.push_back(emit::emit(kernel, target, bindings));
  }
  if (cut) add_ends_of_sums(*result.plan, division, target, bindings, program);
  count_together(division, *result.plan, target, bindings, program);
  mark_parts(division, program);
  together.add_wave(program);
  program.together = planned.together;
  program.together_steps = planned.together_steps;
  program.together_reach = planned.together_reach;
  together.tell(result.diagnostics);
  if (!result.diagnostics.has_errors()) result.program = std::move(program);
  return result;
}

}  // namespace

Compilation compile_model(const dsl::ModelSource& source, const CompileOptions& options,
                          const emit::TargetInfo& target) {
  return compiled(source, options, target, false);
}

Compilation compile_coarse(const dsl::ModelSource& source, const CompileOptions& options,
                           const emit::TargetInfo& target) {
  return compiled(source, options, target, true);
}

}  // namespace vphi
