#include "embed/prepare.hpp"

#include <future>

#include "embed/target.hpp"
#include "runtime/device/native/native.hpp"
#include "runtime/run/session.hpp"

namespace vphi::embed {
namespace {

/// A sweep of more instances than memory holds is compiled again for as many as fit.
void fit_memory(Prepared& made, const dsl::ModelSource& model, CompileOptions options) {
  const auto& program = made.compilation.program;
  if (!program || program->instances <= 1 || options.batch > 0) return;
  const auto info = made.device->info();
  if (info.memory_free == 0) return;
  const std::int64_t batch = runtime::largest_batch(*program, info.memory_free);
  if (batch < 1 || batch >= program->instances) return;
  // parts of one size, so that the last is not nearly empty
  const std::int64_t all = program->all_instances(), parts = (all + batch - 1) / batch;
  options.batch = (all + parts - 1) / parts;
  made.compilation = compile_model(model, options, target_of(info));
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
      made.compilation = compiling.get();
      if (!made.compilation.diagnostics.has_errors()) throw;
      return made;  // errors of the model take precedence
    }
    made.compilation = compiling.get();
    return made;
  }
  made.device = runtime::open_device(device);
  made.compilation = compile_model(model, options, target_of(made.device->info()));
  return made;
}

}  // namespace

Prepared prepare(const dsl::ModelSource& model, const CompileOptions& options,
                 const std::string& device) {
  Prepared made = compiled(model, options, device);
  if (made.device) fit_memory(made, model, options);
  made.in_results = notes_for_results(made.compilation);
  made.endless = endless(made.compilation);
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

}  // namespace vphi::embed
