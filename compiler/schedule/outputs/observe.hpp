// Observables as sweeps of their own, over a copy of the state at one moment.
//
// The part of a step that the stored state lacks (compiler/schedule/integrator/composition.hpp) is
// added in the expressions, not in memory, so output does not change the trajectory by a bit.
// Scalars get slots, fields get scratch buffers. A projection (physics::Projection) splits the
// work: its input is made first, the host transforms it in place, and everything else runs after.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

class Observer {
 public:
  Observer(const physics::System& system, const Stepping& stepping, Slots& slots, Storage& storage)
      : system_(system),
        block_(system, slots, storage),
        state_(synchronised(block_, stepping)),
        ahead_(system.projections.empty()
                   ? nullptr
                   : std::make_unique<Ahead>(system, stepping, slots, storage)) {}

  /// Slot of a value of the synchronised state.
  int scalar(const std::string& hint, Expr value);
  /// The same into a slot of this name.
  void assign(const std::string& name, Expr value);
  /// Arrays of one field output: the state's own buffer where a value is stored as it is, else
  /// scratch. Where there is not room for all at once, they are made in stages.
  struct Fields {
    std::vector<int> buffers;  ///< as the values
    std::size_t stage = 0;
  };
  /// Quantities that are wanted together share a stage as long as their scratch does not exceed
  /// `room` arrays.
  Fields fields(const std::string& hint, const std::vector<Expr>& values, std::size_t room);

  struct Result {
    std::set<std::size_t> solves;  ///< places in System::solves: before everything else
    LoopSequence chain;
    std::vector<kernel::ScalarAssign> alone;  ///< scalars that need no sweep
    LoopSequence before;                      ///< fills what the projections take
    std::vector<kernel::ScalarAssign> before_alone;
    std::vector<program::Transform> transforms;
    std::vector<LoopSequence> stages;  ///< after `chain`
  };
  Result finish(const std::string& name);

 private:
  /// What runs before the projections.
  struct Ahead {
    Ahead(const physics::System& system, const Stepping& stepping, Slots& slots, Storage& storage)
        : block(system, slots, storage), state(synchronised(block, stepping)) {}
    Block block;
    State state;
    Wanted wanted;
    std::vector<program::Transform> transforms;
    std::map<int, Expr> projected;  ///< number in Loads -> what stands for it here
  };

  int place(const std::string& hint, Expr load);
  Expr seen(Expr value);
  void want_solves(Expr value);
  void project(const physics::Projection& projection);
  program::Buffer scratch(const std::string& hint) const;

  const physics::System& system_;
  Block block_;
  State state_;
  Wanted wanted_;                            ///< of the first stage
  std::vector<std::map<int, Expr>> stages_;  ///< further arrays, as Wanted::arrays
  std::unique_ptr<Ahead> ahead_;
  std::set<std::size_t> solves_;
};

/// Letters, digits and `_` of a name, for slots and buffers: "mean(phi)" -> "mean_phi".
std::string plain(const std::string& name);

}  // namespace vphi::schedule
