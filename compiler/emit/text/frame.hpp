// Text common to all patterns: the parameter list, the prelude of the language, reductions on GPUs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/emit/text/body.hpp"
#include "compiler/emit/text/fill.hpp"

namespace vphi::emit {

/// One kernel that is being emitted.
struct Job {
  const kernel::Kernel& kernel;
  const TargetInfo& target;
  const Dialect& dialect;
  Body body;
  std::string entry;                     ///< "vphi_sweep"
  bool signed_index = false;             ///< indices of the pattern can be negative
  Handed handed = {};                    ///< the argument of make_job
  std::vector<MemoryPlace> places = {};  ///< for each of kernel.arrays
  program::SiteOrder order = {};         ///< order of the sites in memory with a home
  bool inside = false;                   ///< Bindings::inside
  std::int64_t arrivals = 0;             ///< Bindings::arrivals
  /// For each axis of `kernel` the axis of the model. They differ where a lattice of fewer
  /// dimensions is marched through as one of three (walks/march.hpp).
  std::array<int, 4> model_axis{0, 1, 2, 3};

  bool epilogue() const { return !kernel.reductions.empty() || !kernel.epilogue.empty(); }
  /// Whether its last group of a launch has the epilogue, and groups are counted for that.
  bool counts_groups() const {
    return epilogue() && (totals() > 0 || !kernel::sums_of_ranks(kernel));
  }
  /// Sums that its last group adds up for other ranks, at the start of the partial sums; 0: ranks
  /// send each other the shares of all groups or tasks.
  std::int64_t totals() const {
    if (signed_index || !kernel::folds_sums_on_rank(kernel)) return 0;
    return static_cast<std::int64_t>(kernel.reductions.size());
  }
  bool per_site() const { return !kernel.reductions.empty() || !kernel.stores.empty(); }
};

/// On a GPU a site function is not in parts.
Job make_job(const kernel::Kernel& kernel, const TargetInfo& target, const Bindings& bindings,
             const std::vector<std::string>& shared = {}, const Handed& handed = {},
             Taken taken = Taken::Whole);

/// Text that reads scalar number `slot` of the instance whose scalars begin at `pointer`
/// (Bindings::by_slot).
Code scalar_of(const Job& job, const Bindings& bindings, const Code& pointer, std::ptrdiff_t slot);

/// Arguments in the order of the parameter list: arrays, scalars, and, for kernels with reductions
/// or an epilogue, partials and counter. The counter is needed where the last group finishes the
/// work. `partials`: numbers for one instance.
std::vector<program::Argument> arguments(const Job& job, const Bindings& bindings, bool counter,
                                         std::int64_t partials);
/// A line of C++ where sites beside their neighbours choose a number by their place along an axis
/// that ranks may cut: products and sums are fused within an expression alone, so that their bits
/// do not depend on what stands around it (runtime/device/native/host_compiler.hpp). Else empty.
Code fusing_line(const kernel::Kernel& kernel, const TargetInfo& target);
/// Work groups of one instance along x, y, z.
using Groups = std::array<std::int64_t, 3>;
/// Launch shape on a GPU: the given groups, or those of all instances one after the other.
std::array<std::uint32_t, 3> grid_of(const Job& job, const Groups& groups);
/// Statements that advance the pointers of the parameters to the instance of the group, and find
/// the position of its random numbers.
Code instance_pointers(const Job& job, const Bindings& bindings, std::int64_t partials,
                       bool counter);
/// Whether some of its arrays have a special order of the sites (Job::places).
bool has_site_order(const Job& job);
/// Whether a site reads no other sites.
bool centred(const Job& job);
/// Sites of a thread, of an instance among many and of a kernel with many sums.
inline constexpr std::int64_t kSitesPerThread = 8;
/// Groups of an instance among many, of those with a thread a site: few, since each adds up its
/// sums by itself, but where a site reads many numbers enough that few small instances fill a
/// device.
std::int64_t most_groups_of_instance(const Job& job, std::int64_t wanted);
/// Entry of kernel.arrays in whose memory entry `array` lies.
std::size_t home_of(const Job& job, std::size_t array);
/// Type of an element of that memory: "float", "float4".
std::string place_type(const Job& job, std::size_t array);
/// Names of the pointers for an entry of kernel.arrays.
std::string read_pointer(const Job& job, std::size_t array);
std::string write_pointer(const Job& job, std::size_t array);
std::vector<std::string> array_pointers(const Job& job);  ///< read pointers of all arrays
/// Position of array number `array` in kernel.arrays.
std::size_t position(const kernel::Kernel& kernel, int array);

/// Parameters of a CUDA or OpenCL kernel.
Code gpu_parameters(const Job& job);
/// Approximate quotients, roots and angles in f32, of a device that has them.
Code quick_functions(const Dialect& dialect);
/// name, entry, comment, prelude, choices, wrap, body, threads, parameters; `groups`: of an
/// instance, where the grid is made by grid_of; otherwise null.
Slots common_slots(const Job& job, int threads, const Groups* groups = nullptr);

/// Declaration of vphi_wide, the index type for the numbers of all instances.
Code wide_typedef(const Dialect& dialect);

/// Head of the loop of a GPU thread over its sites; `name` is the number of the site, of `count` in
/// all. `once`: a thread has at most one site and there is no loop. NVIDIA's compiler then has some
/// 20 loads in flight instead of 5.
Code each_site(const std::string& name, const std::string& count, int threads, bool once);

/// The number of groups of `threads` threads that a multiprocessor should hold, so that each thread
/// has the registers that its site needs (Body::held), and not more than there are of the `groups`
/// of a launch. 1 where the device's compiler may choose.
int occupancy(const Job& job, int threads, std::int64_t groups);
/// As many groups as fit, or as the launch has, where sites of a row have few numbers and little to
/// compute, so that 32 registers hold them: then as many threads as there can be hide the time that
/// memory takes. 1 elsewhere.
int occupancy_of_row(const Job& job, int threads, std::int64_t groups);

/// An array in the memory of a group.
struct LocalArray {
  std::string type, name;
  std::int64_t elements = 0;
};
/// Their declarations, a line each.
Code declared(const std::vector<LocalArray>& arrays);

/// A kernel as part of a launch that takes many steps (patterns/persistent.hpp): statements between
/// barriers. They use `thread`, `scalars`, the pointers of the arrays, `tree` and `last` in local
/// memory, and, where several groups share an instance, `partials` and `counter`.
struct Stage {
  Code functions;                        ///< file scope: choices, tables, the site's functions
  std::vector<LocalArray> local_memory;  ///< in addition to `tree` and `last`
  Code text;
  bool names_last = false;            ///< the text uses `last`, the flag of the last group
  std::vector<std::string> pointers;  ///< names of the pointers, for each of kernel.arrays
  int tree_doubles = 0;               ///< number of doubles in `tree`
  std::int64_t partials = 0;          ///< number of doubles for an instance
};

/// Reductions of a kernel whose groups have `threads` threads.
struct GpuReductions {
  Code functions;        ///< file scope
  Code sums;             ///< declarations of the thread's sums
  Code finish;           ///< after the last site; reads the tree called `tree`
  int tree_doubles = 0;  ///< local memory
  bool last = true;      ///< `finish` uses `last`, the flag of the last group
};
/// How many of so many sums a thread adds shares to at once: a divisor, at most eight.
std::size_t sums_at_once(std::size_t count);
/// A group that has all sites of an instance (kernel::Reach) finishes without partials and counter.
/// `in_tree`: sums that each thread accumulates in `tree` itself.
GpuReductions gpu_reductions(const Job& job, int threads, const std::vector<bool>& in_tree = {});
/// vphi_join_K(which, a, b) and vphi_neutral_K(which): how partial results of a reduction are
/// combined.
Code join_functions(const Job& job);
/// Statement that adds `value` to the thread's sum of reduction `i`.
Code accumulate(const Job& job, std::size_t i, const Code& value);

/// Whether the kernel adds noise in f32 whose size hides the errors of the device's approximate
/// functions.
bool noise_hides_errors(const kernel::Kernel& kernel, const TargetInfo& target);
/// An unsigned literal of the index type.
std::string index_literal(const Job& job, std::int64_t value);
bool wide_index(const kernel::Kernel& kernel);

/// Whether the rows that a kernel walks do not all follow one another in memory: where the lattice
/// is cut along two axes, and in a part of both ends of a rank.
bool rows_apart(const kernel::Kernel& kernel);

/// Rows of x in the memory of a kernel where they are apart: rows of sites, or of the cells of a
/// colour. Of both ends of a rank all planes of an end count as one.
struct RowsOfLines {
  explicit RowsOfLines(const kernel::Kernel& kernel);
  /// The place in memory of what has the number `own` among those that are walked. `each`: a row
  /// counts so many. `literal` writes a number.
  Code place(const Code& own, std::int64_t each,
             const std::function<Code(std::int64_t)>& literal) const;

  std::int64_t of_line = 1;   ///< of a line along the second axis of a cut
  std::int64_t of_plane = 1;  ///< of a plane of the first, ghosts included
  std::int64_t own = 1;       ///< of a plane, without ghosts
  std::int64_t first = 0;     ///< before the first own one
};

}  // namespace vphi::emit
