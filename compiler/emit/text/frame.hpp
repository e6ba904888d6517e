// What all patterns share: the parameter list, the prelude of the language, reductions on GPUs.
#pragma once

#include <string>
#include <vector>

#include "compiler/emit/text/body.hpp"
#include "compiler/emit/text/fill.hpp"

namespace vphi::emit {

/// One kernel on its way to source text.
struct Job {
  const kernel::Kernel& kernel;
  const TargetInfo& target;
  const Dialect& dialect;
  Body body;
  std::string entry;                     ///< "vphi_sweep"
  bool signed_index = false;             ///< the pattern counts below 0
  Handed handed = {};                    ///< as make_job was given it
  std::vector<MemoryPlace> places = {};  ///< of kernel.arrays
  program::SiteOrder order = {};         ///< of those that have a home
  bool inside = false;                   ///< Bindings::inside
  /// Axes of the model that those of `kernel` are, where the walk goes through a lattice of fewer
  /// dimensions as through one of three (walks/march.hpp).
  std::array<int, 4> model_axis{0, 1, 2, 3};

  bool epilogue() const { return !kernel.reductions.empty() || !kernel.epilogue.empty(); }
  bool per_site() const { return !kernel.reductions.empty() || !kernel.stores.empty(); }
};

Job make_job(const kernel::Kernel& kernel, const TargetInfo& target, const Bindings& bindings,
             const std::vector<std::string>& shared = {}, const Handed& handed = {});

/// Number `slot` of the instance whose scalars begin at `pointer`, as text (Bindings::by_slot).
Code scalar_of(const Job& job, const Bindings& bindings, const Code& pointer, std::ptrdiff_t slot);

/// Arguments in the order of the parameter list: arrays, scalars, and where there is something to
/// do after the last site, partials and counter (the counter only where work groups finish
/// together). `partials` counts one instance.
std::vector<program::Argument> arguments(const Job& job, const Bindings& bindings, bool counter,
                                         std::int64_t partials);
/// Work groups of one instance along x, y, z.
using Groups = std::array<std::int64_t, 3>;
/// Launch shape on a GPU: the groups as they are, or those of all instances in a row.
std::array<std::uint32_t, 3> grid_of(const Job& job, const Groups& groups);
/// Statements that move the parameters on to their instance, where there are many, and find the
/// place of its random numbers.
Code instance_pointers(const Job& job, const Bindings& bindings, std::int64_t partials,
                       bool counter);
/// Whether some of its arrays lie in an order of the sites of their own (Job::places).
bool has_site_order(const Job& job);
/// Whether a site reads nothing of other sites.
bool centred(const Job& job);
/// Entry of kernel.arrays in whose memory entry `array` lies.
std::size_t home_of(const Job& job, std::size_t array);
/// Type of what lies at a place of that memory: "float", "float4".
std::string place_type(const Job& job, std::size_t array);
/// Names of the pointers for an entry of kernel.arrays.
std::string read_pointer(const Job& job, std::size_t array);
std::string write_pointer(const Job& job, std::size_t array);
std::vector<std::string> array_pointers(const Job& job);  ///< to read, of all of them
/// Position of array number `array` in kernel.arrays.
std::size_t position(const kernel::Kernel& kernel, int array);

/// Parameters of a CUDA or OpenCL kernel.
Code gpu_parameters(const Job& job);
/// name, entry, comment, prelude, choices, wrap, body, threads, parameters; `groups` of an instance
/// where the kernel is laid out by grid_of, else nothing.
Slots common_slots(const Job& job, int threads, const Groups* groups = nullptr);

/// Declaration of vphi_wide, which counts numbers of all instances.
Code wide_typedef(const Dialect& dialect);

/// Head of what a thread of a GPU does for each of its sites, `name` its number among all of
/// `count`. `once`: it has one at most, and nothing goes round: NVIDIA's compiler then has some 20
/// loads on their way where in a loop it has 5.
Code each_site(const std::string& name, const std::string& count, int threads, bool once);

/// Groups of so many threads that a multiprocessor should hold: as many as leave each thread the
/// registers that its site needs, by Body::held. 1 where the device's compiler may choose.
int occupancy(const Job& job, int threads);

/// An array in the memory of a group.
struct LocalArray {
  std::string type, name;
  std::int64_t elements = 0;
};
/// Their declarations, a line each.
Code declared(const std::vector<LocalArray>& arrays);

/// What a kernel is in a launch that takes many steps (patterns/persistent.hpp): statements between
/// barriers. They take `thread`, `scalars`, the pointers of its arrays, `tree` and `last` in local
/// memory, and where several groups share an instance `partials` and `counter`.
struct Stage {
  Code functions;                        ///< file scope: choices, tables, the site's functions
  std::vector<LocalArray> local_memory;  ///< beside `tree` and `last`
  Code text;
  bool names_last = false;            ///< the text has `last`, whoever arrives last
  std::vector<std::string> pointers;  ///< what it calls those of its arrays, as kernel.arrays
  int tree_doubles = 0;               ///< of `tree`
  std::int64_t partials = 0;          ///< doubles of an instance
};

/// Reductions of a kernel whose groups have `threads` threads.
struct GpuReductions {
  Code functions;        ///< file scope
  Code sums;             ///< declarations of the thread's sums
  Code finish;           ///< after the last site; reads the tree called `tree`
  int tree_doubles = 0;  ///< local memory
};
/// Where one group has all sites of an instance (kernel::Reach) it finishes alone, without partials
/// and counter. `in_tree`: reductions, sums, whose share each thread adds up in `tree` itself.
GpuReductions gpu_reductions(const Job& job, int threads, const std::vector<bool>& in_tree = {});
/// vphi_join_K(which, a, b) and vphi_neutral_K(which): how shares of a reduction combine.
Code join_functions(const Job& job);
/// Statement that adds `value` to the thread's sum of reduction `i`.
Code accumulate(const Job& job, std::size_t i, const Code& value);

/// Beside the noise of a step in f32 the errors of the device's own functions cannot be seen.
bool noise_hides_errors(const kernel::Kernel& kernel, const TargetInfo& target);
/// An unsigned literal of the index type.
std::string index_literal(const Job& job, std::int64_t value);
bool wide_index(const kernel::Kernel& kernel);

}  // namespace vphi::emit
