// Ranks of one run: which devices they take, how the instances or the planes of a lattice are
// shared, what cannot be shared. Throws Error (kind Usage) and runtime::DeviceError.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.hpp"
#include "runtime/run/ranks/rank_group.hpp"

namespace vphi::embed {

/// How many ranks are wanted, and along which axes they cut a lattice.
struct RanksWish {
  RanksWish(std::int64_t wanted = 0) : number(wanted) {}
  RanksWish(std::int64_t wanted, std::string along) : number(wanted), cut(std::move(along)) {}

  std::int64_t number;   ///< 0: as many as `cut` says, or else as the devices that are named
  bool fastest = false;  ///< as many of the GPUs as are by their model: embed/rank_choice.hpp
  /// "z=4": four ranks along z; "z=4,y=2": eight along two axes; empty: along the slowest axis, or
  /// along two where that has too few planes.
  std::string cut;

  /// Ranks that these together want; 0: none of them says. Throws Error where they differ or `cut`
  /// cannot be read.
  std::int64_t ranks() const;
};

/// Whether ranks may have one GPU between them, as VPHI_SHARED_GPU=1 says: to try a cut where there
/// is one GPU. The results are those of GPUs of their own, the speed is not. Throws Error where it
/// is neither 1 nor 0.
bool may_share_gpu();

/// One device for each rank: of "cuda:0,1", "cuda:0-7", "cuda:all" (opencl alike), or `ranks` times
/// a processor (0: as many as `device` names). One entry: no ranks are wanted.
std::vector<std::string> devices_of_ranks(const std::string& device, std::int64_t ranks);

/// A thread of this process for each.
std::unique_ptr<runtime::RankGroup> open_ranks(const std::vector<std::string>& devices);
/// What a rank opens; processors are shared by `beside` ranks.
std::unique_ptr<runtime::Device> open_for_rank(const std::string& device, int beside);

/// compile_model, or a function like it.
using Compiler = std::function<Compilation(const dsl::ModelSource&, const CompileOptions&,
                                           const emit::TargetInfo&)>;

/// A model for one of so many ranks, which share the instances: options.batch are those of all of
/// them at once. A lattice with a single instance is cut, and the program is that of rank 0. `cut`:
/// RanksWish. Where they cannot share it, or not as `cut` says, the result has no program and E0860
/// or E0862.
Compilation compile_for_ranks(const dsl::ModelSource& model, CompileOptions options,
                              const emit::TargetInfo& target, int ranks,
                              const std::string& cut = {},
                              const Compiler& compiler = compile_model);
/// Of a lattice that is cut the program of ranks with another number of planes than rank 0; nothing
/// where there are none.
std::optional<program::Program> other_planes(const dsl::ModelSource& model, CompileOptions options,
                                             const emit::TargetInfo& target, int ranks,
                                             const program::Program& of_rank_0,
                                             const Compiler& compiler = compile_model);
/// Instances at once of all ranks together, for a program made by `compile_for_ranks`.
std::int64_t batch_of_ranks(const program::Program& of_a_rank, const CompileOptions& options,
                            int ranks);

/// "z=4,y=2" of a lattice that is cut along two axes; empty elsewhere.
std::string two_axes(const program::Program& of_a_rank, int ranks);

/// What each rank has, for people: lines that end in a line feed.
std::string ranks_text(const program::Program& of_a_rank, const CompileOptions& options, int ranks);

}  // namespace vphi::embed
