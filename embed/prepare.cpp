#include "embed/prepare.hpp"

#include <future>

#include "embed/rank_choice.hpp"
#include "embed/ranks.hpp"
#include "embed/target.hpp"
#include "runtime/device/native/native.hpp"
#include "runtime/run/ranks/lattice_session.hpp"
#include "runtime/run/session.hpp"

namespace vphi::embed {
namespace {

/// Instances at once, at most `batch`: parts of one size, so that the last is not nearly empty.
std::int64_t in_equal_parts(std::int64_t all, std::int64_t batch) {
  const std::int64_t parts = (all + batch - 1) / batch;
  return (all + parts - 1) / parts;
}

/// A sweep of more instances than memory holds is compiled again for as many as fit.
void fit_memory(Prepared& made, const dsl::ModelSource& model, CompileOptions options) {
  const auto& program = made.compilation->program;
  if (!program || program->instances <= 1 || options.batch > 0) return;
  const auto info = made.device->info();
  if (info.memory_free == 0) return;
  const std::int64_t batch = runtime::largest_batch(*program, info.memory_free);
  if (batch < 1 || batch >= program->instances) return;
  options.batch = in_equal_parts(program->all_instances(), batch);
  *made.compilation = compile_model(model, options, target_of(info));
}

Prepared compiled(const dsl::ModelSource& model, const CompileOptions& options,
                  const std::string& device) {
  Prepared made;
  if (device == "native") {
    auto target = default_target("native");
    target.compute_units = runtime::native_info().compute_units;
    auto compiling =
        std::async(std::launch::async, [&] { return compile_model(model, options, target); });
    try {
      made.device = runtime::open_device("native");
    } catch (const runtime::DeviceError&) {
      *made.compilation = compiling.get();
      if (!made.compilation->diagnostics.has_errors()) throw;
      return made;  // errors of the model take precedence
    }
    *made.compilation = compiling.get();
    return made;
  }
  made.device = runtime::open_device(device);
  *made.compilation = compile_model(model, options, target_of(made.device->info()));
  return made;
}

}  // namespace

void Compiled::share(runtime::RunOptions& options) const {
  options.batch = batch;
  options.other_planes = other_planes ? &*other_planes : nullptr;
}

void Prepared::share(runtime::RunOptions& options) const {
  Compiled::share(options);
  options.ranks = ranks.get();
}

Compiled compile_for_group(const dsl::ModelSource& model, CompileOptions options,
                           runtime::RankGroup& ranks, const std::string& cut,
                           const Compiler& compiler) {
  const emit::TargetInfo target = target_of(ranks.device().info());
  Compiled made;
  *made.compilation = compile_for_ranks(model, options, target, ranks.size(), cut, compiler);
  const auto& program = made.compilation->program;
  if (!program) return made;
  if (program->cut.axis >= 0) {
    made.batch = 1;
    made.whole = runtime::whole_lattice(*program);
    made.other_planes = other_planes(model, options, target, ranks.size(), *program, compiler);
    return made;
  }
  made.batch = batch_of_ranks(*program, options, ranks.size());
  const std::size_t free = ranks.memory_free();
  if (free == 0 || options.batch > 0) return made;
  const std::int64_t fit = runtime::largest_batch(*program, free);
  if (fit < 1 || fit >= program->instances) return made;
  options.batch = made.batch = in_equal_parts(program->all_instances(), fit * ranks.size());
  *made.compilation = compile_for_ranks(model, options, target, ranks.size(), {}, compiler);
  return made;
}

Prepared prepare(const dsl::ModelSource& model, const CompileOptions& options,
                 std::unique_ptr<runtime::RankGroup> ranks, const std::string& cut) {
  Prepared made;
  made.ranks = std::move(ranks);
  static_cast<Compiled&>(made) = compile_for_group(model, options, *made.ranks, cut);
  made.in_results = notes_for_results(*made.compilation);
  made.endless = endless(*made.compilation);
  return made;
}

Prepared prepare(const dsl::ModelSource& model, const CompileOptions& options,
                 const std::string& device, const RanksWish& ranks) {
  const std::vector<std::string> devices = ranks.fastest && ranks.ranks() == 0
                                               ? fastest_devices(model, options, device)
                                               : devices_of_ranks(device, ranks.ranks());
  if (devices.size() > 1) return prepare(model, options, open_ranks(devices), ranks.cut);
  Prepared made = compiled(model, options, devices[0]);
  if (made.device) fit_memory(made, model, options);
  made.in_results = notes_for_results(*made.compilation);
  made.endless = endless(*made.compilation);
  return made;
}

std::vector<std::string> notes_for_results(const Compilation& compilation) {
  for (const dsl::Diagnostic& d : compilation.diagnostics.all())
    if (d.code == "W0316")
      return {
          "dt is too large for these equations (W0316): what grew here may have grown by the step "
          "alone"};
  return {};
}

bool endless(const Compilation& compilation) {
  return compilation.program && compilation.program->steps < 0 && compilation.system &&
         !compilation.system->until;
}

bool ends_by_state(const Compilation& compilation) {
  return compilation.program->steps < 0 && compilation.system->until;
}

}  // namespace vphi::embed
