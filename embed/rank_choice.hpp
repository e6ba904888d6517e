// How many ranks are fastest, by the model of their speed (runtime/run/ranks/cut_model.hpp).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/compile.hpp"
#include "runtime/run/ranks/cut_model.hpp"

namespace vphi::embed {

/// A number of ranks that can share a model, on GPUs of the usual cluster.
struct ModelledRanks {
  int ranks = 1;
  std::string cut;           ///< "z=4,y=2" of a lattice that they cut along two axes
  runtime::StepOfRank step;  ///< of the rank with the most
  std::size_t memory = 0;    ///< bytes that a rank needs
  bool solves_uncounted =
      false;  ///< steps have linear solves, whose iterations the model leaves out
};

/// 1, 2, 4, ... and `most`, those of them that can share it; empty where the model has errors.
/// Compiles it for each.
std::vector<ModelledRanks> modelled_ranks(const dsl::ModelSource& model,
                                          const CompileOptions& options, int most);
/// The one with the shortest step, of equal ones that with the fewest ranks, among those that need
/// at most `free` bytes (0: any); the last where none does. `list` is not empty.
const ModelledRanks& fastest(const std::vector<ModelledRanks>& list, std::size_t free = 0);

/// The first of the GPUs of `device` (embed/ranks.hpp; auto, cuda: all CUDA GPUs), as many as are
/// fastest; one device where they are processors, whose threads share the work already.
std::vector<std::string> fastest_devices(const dsl::ModelSource& model,
                                         const CompileOptions& options, const std::string& device);

}  // namespace vphi::embed
