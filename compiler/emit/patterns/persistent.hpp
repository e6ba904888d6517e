// Many steps of a small system in one launch: the kernels of a step one after the other, as often
// as a scalar says, without the host.
//
// Between two kernels everything that one has stored must be known to the next. Three ways:
//   - one group of threads has all sites of an instance, and barriers separate the kernels
//     (kernel::Reach::Group). Many instances are many groups at once;
//   - CUDA: so many groups that all run at the same time share an instance, and each waits until
//     the last has arrived (Reach::Wave);
//   - on a processor a task has an instance, and kernels are calls one after the other.
// Stages of one name are one kernel: its functions stand there once, and where a step has many
// stages, those that repeat stand in a loop.
//
// Sites, groups and sums are cut as for a launch of each kernel by itself, which the kernels of the
// step know by `reach` and `threads`: the numbers are the same, bit for bit.
#pragma once

#include <optional>
#include <string>

#include "compiler/emit/emit.hpp"

namespace vphi::emit {

struct PersistentShape {
  kernel::Reach reach = kernel::Reach::Group;
  int threads = 1;
  std::string why;  ///< for people, with the counts that decided
};

/// `evolve ..., launch = auto`, `group` or `groups`: by the sizes, or as the model says.
enum class PersistentChoice { ByCounts, Group, Groups };

/// How the stages of `persistent` are synchronised on this device, or, with the reason in `why`,
/// that each of them is launched by itself: by counts, or as the model says where that is possible.
std::optional<PersistentShape> persistent_shape(const kernel::Kernel& persistent,
                                                const TargetInfo& target, std::string& why,
                                                PersistentChoice wish = PersistentChoice::ByCounts);

/// Throws std::invalid_argument where stages bring functions of one name that differ.
program::Kernel emit_persistent(const kernel::Kernel& kernel, const TargetInfo& target,
                                const Bindings& bindings);

}  // namespace vphi::emit
