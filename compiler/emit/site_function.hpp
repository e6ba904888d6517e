// The computation of one site of a kernel on a device, as expressions for the emitter.
//
// It depends on the pattern of the kernel: one step of a walk along lines, the function of a pair,
// or the part of an instance that is not common to all instances. The passes for devices
// (kernel/device.hpp) run on it.
#pragma once

#include "compiler/emit/emit.hpp"
#include "compiler/kernel/device.hpp"

namespace vphi::emit {

/// The site function before the passes for devices.
kernel::SiteFunction site_function(const kernel::Kernel& kernel, const TargetInfo& target);

/// The same for kernels that go site by site, whatever the pattern.
kernel::SiteFunction site_by_site(const kernel::Kernel& kernel, const TargetInfo& target);

}  // namespace vphi::emit
