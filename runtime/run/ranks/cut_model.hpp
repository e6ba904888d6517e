// How long a step takes of a lattice that ranks share, before any run.
//
// A step of a rank is its kernels, at the limits of the device (device/limits.hpp), and then its
// exchanges. An exchange takes a time of its own and that of its bytes. Where it goes beside the
// rest of a launch (program/parts.hpp), what is longer than this rest counts. Numbers of machines
// are measured where docs/scaling.md says so, else taken from their makers. Iterations of linear
// solves are not counted. Pure functions.
#pragma once

#include "program/program.hpp"
#include "runtime/device/limits.hpp"

namespace vphi::runtime {

/// What a rank between two others does in one step beside its kernels.
struct Traffic {
  double exchanges = 0;
  double beside = 0;  ///< exchanges among them that go beside a part of a launch
  double planes = 0;  ///< bytes that it sends to both neighbours together, or to all ranks
  double sums = 0;    ///< bytes of partial sums, which go to every other rank
};
Traffic traffic_of_step(const program::Program& of_a_rank);

/// An exchange takes `seconds` and its bytes over `rate`.
struct Link {
  double seconds = 0, rate = 0;
};

/// GPUs of one kind in machines of one kind.
struct Cluster {
  const char* name;  ///< "H200"
  int units;         ///< multiprocessors
  int gpus_a_machine;
  Ceilings ceilings;     ///< of a GPU
  Link inside, between;  ///< ranks on one machine; on several of them
};
/// Figures of H200 with eight GPUs a machine: docs/scaling.md.
const Cluster& usual_cluster();

/// Seconds of a step of a rank. `hidden`: of exchanges that pass beside kernels; `exchanges` are
/// the others.
struct StepOfRank {
  double kernels = 0, exchanges = 0, hidden = 0;
  double all() const { return kernels + exchanges; }
};
StepOfRank step_of_rank(const program::Program& of_a_rank, int ranks, const Cluster& cluster);

}  // namespace vphi::runtime
