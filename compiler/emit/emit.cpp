#include "compiler/emit/emit.hpp"

#include "compiler/emit/rows.hpp"
#include "compiler/emit/sites.hpp"

namespace vphi::emit {
namespace {

program::Kernel by_pattern(const Job& job, const Bindings& bindings) {
  if (job.signed_index) return emit_rows(job, bindings);
  if (!job.per_site()) return emit_epilogue_gpu(job, bindings);
  return emit_sites(job, bindings);
}

}  // namespace

program::Kernel emit(const kernel::Kernel& kernel, const TargetInfo& target,
                     const Bindings& bindings) {
  const Language language = language_of(target.target);
  Job job{kernel, target, language, make_body(kernel, language, bindings), {}};
  job.entry = "vphi_" + job.body.suffix;
  job.signed_index = language == Language::Cpp || (language == Language::OpenCL && target.is_cpu);
  program::Kernel out = by_pattern(job, bindings);
  out.source = prune(std::move(out.source));
  out.name = kernel.name;
  out.entry = job.entry;
  const kernel::Cost cost = kernel::cost(kernel);
  out.loads = cost.loads;
  out.stores = cost.stores;
  out.bytes = cost.bytes;
  out.flops = cost.flops;
  out.special = cost.special;
  return out;
}

}  // namespace vphi::emit
