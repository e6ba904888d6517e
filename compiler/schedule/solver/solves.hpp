// The linear systems to be solved, as loops and then as launches.
//
// In: the step, the memory of solutions, and the systems to be solved. Systems with one operator
// share the loops of the first of them (`share_solve`): their right sides are copied before it and
// their solutions after it. Out: the loops, by index in System::solves. Refused here: a solver's
// text that cannot be used. After the passes `SolveLauncher` gives each system its launches.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/layout.hpp"
#include "compiler/schedule/linking.hpp"
#include "compiler/schedule/solver/solver.hpp"

namespace vphi::schedule {

struct Solves {
  /// Copies the right side of a system to the memory of the shared loops, and the solution from
  /// there.
  struct Copies {
    LoopSequence load, save;
    Assigns load_alone;
  };
  std::map<std::size_t, std::size_t> first;  ///< system -> the one whose loops solve it
  std::map<std::size_t, SolveLoops> loops;   ///< loops of each of these
  std::map<std::size_t, Copies> copies;      ///< copies of systems that share loops
  std::vector<std::string> remarks;
};

std::optional<Solves> make_solves(const physics::System& system, const dsl::Resolved& resolved,
                                  const Stepping& stepping, const SolutionMemory& solutions,
                                  const std::vector<std::size_t>& wanted, Tables& tables,
                                  dsl::Diagnostics& diagnostics);

/// Adds the kernels of a solve to the list when its launches are first requested.
class SolveLauncher {
 public:
  SolveLauncher(Solves solves, KernelList& kernels)
      : solves_(std::move(solves)), kernels_(kernels) {}

  /// The launches that solve a system (its index in System::solves).
  const Launches& launches(std::size_t place);

  /// The solves, by the index in Launch::solve.
  const std::vector<program::Solve>& described() const { return described_; }
  const std::vector<std::string>& remarks() const { return solves_.remarks; }

 private:
  /// The launches that begin a solve: the first one, and one that continues after another.
  struct Begin {
    Launches start, restart;
  };
  Begin begin(SolveLoops loops);
  Launches with_copies(const Launches& solve, Solves::Copies copies);

  Solves solves_;
  KernelList& kernels_;
  std::map<std::size_t, Launches> shared_, known_;
  std::vector<program::Solve> described_;
};

}  // namespace vphi::schedule
