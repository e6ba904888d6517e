// What the compiler must know of a device.
#pragma once

#include <string>

#include "compiler/emit/emit.hpp"
#include "runtime/device/device.hpp"

namespace vphi::embed {

emit::TargetInfo target_of(const runtime::DeviceInfo& device);
/// The usual device of a kind, where nothing is run: "cuda", "opencl", "hip", "native".
emit::TargetInfo default_target(const std::string& kind);

}  // namespace vphi::embed
