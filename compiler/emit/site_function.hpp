// What a site of a kernel computes on a device, in expressions: what the emitter prints.
//
// Which pattern takes a kernel decides it: a walk computes one step, a sum over pairs of sites what
// a pair does, a path what paths do not have in common. The passes for devices
// (kernel/device.hpp) come behind it.
#pragma once

#include "compiler/emit/emit.hpp"
#include "compiler/kernel/device.hpp"

namespace vphi::emit {

/// Before the passes for devices.
kernel::SiteFunction site_function(const kernel::Kernel& kernel, const TargetInfo& target);

/// The same where sites are taken one by one, whatever the pattern.
kernel::SiteFunction site_by_site(const kernel::Kernel& kernel, const TargetInfo& target);

}  // namespace vphi::emit
