// The linear systems to be solved, as loops and then as launches.
//
// In: the step, the memory of solutions, and the systems to be solved. Systems with one operator
// share the loops of the first of them (`share_solve`), as many at a time as solver/columns.hpp
// says: their right sides are copied before it and their solutions after it. Out: the loops, by
// index in System::solves. Refused here: a solver's text that cannot be used. After the passes
// `SolveLauncher` gives each system its launches.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/layout.hpp"
#include "compiler/schedule/linking.hpp"
#include "compiler/schedule/solver/columns.hpp"
#include "compiler/schedule/solver/solver.hpp"

namespace vphi::schedule {

struct Solves {
  /// Copies the right side of a system to the memory of the shared loops, and the solution from
  /// there.
  struct Copies {
    LoopSequence load, save;
    Assigns load_alone;
  };
  /// Loops of the first system with an operator, for so many right sides.
  using Key = std::pair<std::size_t, int>;
  std::map<std::size_t, ColumnPlace> places;  ///< system -> how it is solved
  std::map<Key, SolveLoops> loops;
  std::map<std::size_t, Copies> copies;  ///< copies of systems that share loops
  std::vector<std::string> remarks;
};

std::optional<Solves> make_solves(const physics::System& system, const dsl::Resolved& resolved,
                                  const Stepping& stepping, const SolutionMemory& solutions,
                                  ColumnPlan columns, Tables& tables,
                                  dsl::Diagnostics& diagnostics);

/// Adds the kernels of a solve to the list when its launches are first requested.
class SolveLauncher {
 public:
  SolveLauncher(Solves solves, KernelList& kernels)
      : solves_(std::move(solves)), kernels_(kernels) {}

  /// The launches that solve a system (its index in System::solves), and those after it that are
  /// solved in one go with it; none for one of these.
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
  /// The solve between the copies of its right sides and of its solutions.
  Launches with_copies(const Launches& solve, const std::vector<std::size_t>& systems);

  Solves solves_;
  KernelList& kernels_;
  std::map<Solves::Key, Launches> shared_;
  std::map<std::size_t, Launches> known_;
  std::vector<program::Solve> described_;
};

}  // namespace vphi::schedule
