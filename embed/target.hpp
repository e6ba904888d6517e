// The properties of a device that the compiler needs.
#pragma once

#include <string>

#include "compiler/emit/emit.hpp"
#include "runtime/device/device.hpp"

namespace vphi::embed {

emit::TargetInfo target_of(const runtime::DeviceInfo& device);
/// A typical device of a kind, for compilation without a run: "cuda", "opencl", "hip", "native".
emit::TargetInfo default_target(const std::string& kind);

}  // namespace vphi::embed
