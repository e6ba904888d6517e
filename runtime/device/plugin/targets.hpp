// The back ends of LLVM that this plug-in uses: that of the processor alone.
#pragma once

namespace vphi::plugin {

/// Makes it known to LLVM, once in the process, whoever comes first. LLVM keeps a list of its back
/// ends without a lock: two threads that enter the same one together can close the list to a ring,
/// which every later search follows for ever.
void register_targets();

}  // namespace vphi::plugin
