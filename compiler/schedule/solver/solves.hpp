// The linear systems that anything wants solved, as loops and then as launches.
//
// In: the step, the memory of solutions, and the systems that are wanted. Systems with one operator
// share the loops of the first of them (`share_solve`): their right sides and solutions are copied
// before and behind. Out: the loops, by place in System::solves. What fails is a solver's text that
// cannot be run. Behind the passes `SolveLauncher` gives each system its launches.
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
  /// What puts the right side of a system where the shared loops take it, and fetches the solution.
  struct Copies {
    LoopSequence load, save;
    Assigns load_alone;
  };
  std::map<std::size_t, std::size_t> first;  ///< system -> the one whose loops solve it
  std::map<std::size_t, SolveLoops> loops;   ///< of each of these
  std::map<std::size_t, Copies> copies;      ///< of systems that share them
  std::vector<std::string> remarks;
};

std::optional<Solves> make_solves(const physics::System& system, const dsl::Resolved& resolved,
                                  const Stepping& stepping, const SolutionMemory& solutions,
                                  const std::vector<std::size_t>& wanted, Tables& tables,
                                  dsl::Diagnostics& diagnostics);

/// Gives kernels their numbers when a solve is asked for first.
class SolveLauncher {
 public:
  SolveLauncher(Solves solves, KernelList& kernels)
      : solves_(std::move(solves)), kernels_(kernels) {}

  /// The launches that solve a system (its place in System::solves).
  const Launches& launches(std::size_t place);

  /// What launches name by Launch::solve.
  const std::vector<program::Solve>& described() const { return described_; }
  const std::vector<std::string>& remarks() const { return solves_.remarks; }

 private:
  /// What begins a solve: the first time, and where it goes on after another.
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
