// Pattern: many steps of a small system in one launch. It executes the kernels of a step one after
// the other, for the number of steps in a scalar, without the host.
//
// All stores of a kernel must be visible to the next one. There are three methods:
//   - one group of threads has all sites of an instance, and barriers separate the kernels
//     (kernel::Reach::Group). Many instances are many groups at once;
//   - CUDA: so many groups that all run at the same time share an instance, and each waits until
//     the last has arrived (Reach::Wave);
//   - on a processor a task has an instance, and kernels are calls one after the other.
// Stages of one name are one kernel, whose functions are emitted once. Where a step has many
// stages, those that repeat are put into a loop.
//
// Sites and sums are divided among groups as in a separate launch of each kernel; the kernels of
// the step have the same `reach` and `threads`. The results are the same, bit for bit.
#pragma once

#include <optional>
#include <string>

#include "compiler/emit/emit.hpp"

namespace vphi::emit {

struct PersistentShape {
  kernel::Reach reach = kernel::Reach::Group;
  int threads = 1;
  std::string why;  ///< the reason, with the counts that decided, for messages
};

/// `evolve ..., launch = auto`, `group` or `groups`: chosen by counts, or set by the model.
enum class PersistentChoice { ByCounts, Group, Groups };

/// The method of synchronisation for the stages of `persistent` on this device, chosen by counts,
/// or as the model says where that is possible. Nothing, with the reason in `why`, where each stage
/// is launched separately.
std::optional<PersistentShape> persistent_shape(const kernel::Kernel& persistent,
                                                const TargetInfo& target, std::string& why,
                                                PersistentChoice wish = PersistentChoice::ByCounts);

/// Throws std::invalid_argument where stages contain different functions of one name.
program::Kernel emit_persistent(const kernel::Kernel& kernel, const TargetInfo& target,
                                const Bindings& bindings);

}  // namespace vphi::emit
