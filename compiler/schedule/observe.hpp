// Observables as sweeps of their own, over a copy of the state at one moment.
//
// What the integrator still owes (compiler/schedule/composition.hpp) is paid in the expressions,
// not in memory: writing output never changes the trajectory, not by a bit. Scalars get slots,
// fields get scratch buffers.
#pragma once

#include <string>
#include <vector>

#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/step.hpp"

namespace vphi::schedule {

class Observer {
 public:
  Observer(const physics::System& system, const Stepping& stepping, Slots& slots, Storage& storage)
      : block_(system, slots, storage), state_(synchronised(block_, stepping)) {}

  /// Slot of a value of the synchronised state.
  int scalar(const std::string& hint, Expr value);
  /// The same into a slot of this name.
  void assign(const std::string& name, Expr value);
  /// Buffer that holds the value at every site: the state's own where it is stored as it is.
  int field(const std::string& hint, Expr value);

  struct Result {
    Chain chain;
    std::vector<kernel::ScalarAssign> alone;  ///< scalars that need no sweep
  };
  Result finish(const std::string& name);

 private:
  Block block_;
  State state_;
  Wanted wanted_;
};

/// Letters, digits and `_` of a name, for slots and buffers: "mean(phi)" -> "mean_phi".
std::string plain(const std::string& name);

}  // namespace vphi::schedule
