#include "embed/target.hpp"

namespace vphi::embed {

emit::TargetInfo target_of(const runtime::DeviceInfo& device) {
  emit::TargetInfo target;
  target.target = device.target;
  target.is_cpu = device.is_cpu;
  target.nvidia = device.nvidia;
  target.compute_units = device.compute_units;
  target.local_bytes = device.local_bytes;
  return target;
}

emit::TargetInfo default_target(const std::string& kind) {
  emit::TargetInfo target;
  target.target = program::target_named(kind).value_or(program::Target::Native);
  const auto is = [&](program::Target one) { return target.target == one; };
  target.is_cpu = is(program::Target::Native);
  target.nvidia = is(program::Target::Cuda);
  if (is(program::Target::OpenCL)) target.local_bytes = 48 * 1024;
  if (target.is_cpu) target.compute_units = 1;
  if (is(program::Target::Hip)) {  // an MI210
    target.compute_units = 104;
    target.local_bytes = 64 * 1024;
  }
  return target;
}

}  // namespace vphi::embed
