// Observables, computed by sweeps of their own from the synchronised state.
//
// The part of a step that the stored state lacks (compiler/schedule/integrator/composition.hpp) is
// added in the expressions, not in memory. Outputs therefore do not change the trajectory by a bit.
// Scalars get slots, fields get scratch buffers. With a projection (physics::Projection) its input
// is computed first, the host transforms it in place, and the rest is computed after it. Spectral
// Laplacians are made by maps from what they are applied to, before all sweeps.
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
  /// `maps`: spectral Laplacians are made by maps; else they stay in the sweeps.
  Observer(const physics::System& system, const Stepping& stepping, Slots& slots, Storage& storage,
           bool maps = false)
      : system_(system),
        block_(system, slots, storage),
        state_(synchronised(block_, stepping)),
        ahead_(system.projections.empty()
                   ? nullptr
                   : std::make_unique<Ahead>(system, stepping, slots, storage)),
        stepping_(maps ? &stepping : nullptr) {}

  /// The slot of a new scalar with this value of the synchronised state.
  int scalar(const std::string& hint, Expr value);
  /// Assigns the value to the slot of this name.
  void assign(const std::string& name, Expr value);
  /// Arrays of one field output: the buffer of the state where it holds the value, otherwise
  /// scratch memory. Where the scratch memory does not suffice for all, they are computed in
  /// stages.
  struct Fields {
    std::vector<int> buffers;  ///< one for each value
    std::size_t stage = 0;
  };
  /// Quantities of one output share a stage as long as their scratch memory does not exceed `room`
  /// arrays.
  Fields fields(const std::string& hint, const std::vector<Expr>& values, std::size_t room);

  struct Result {
    std::set<std::size_t> solves;  ///< indices into System::solves; they are solved first
    LoopSequence chain;
    std::vector<kernel::ScalarAssign> alone;  ///< scalars computed without a sweep
    LoopSequence before;                      ///< fills the inputs of the projections
    std::vector<kernel::ScalarAssign> before_alone;
    std::vector<program::Transform> transforms;
    std::vector<LoopSequence> stages;  ///< after `chain`
    LoopSequence sources;              ///< fills what `maps` read, before all else
    std::vector<kernel::ScalarAssign> sources_alone;
    std::vector<ArrayMap> maps;  ///< after `sources`
  };
  Result finish(const std::string& name);

 private:
  /// Sweeps before those of the output, with a block of their own.
  struct Before {
    Before(const physics::System& system, const Stepping& stepping, Slots& slots, Storage& storage)
        : block(system, slots, storage), state(synchronised(block, stepping)) {}
    SiteLoops loops(const std::string& name);
    Block block;
    State state;
    Wanted wanted;
  };

  /// The sweeps before the projections.
  struct Ahead : Before {
    using Before::Before;
    std::vector<program::Transform> transforms;
    std::map<int, Expr> projected;  ///< array number -> the expression of the projected value
  };

  /// Spectral Laplacians, and the sweeps before them.
  struct Images : Before {
    using Before::Before;
    std::vector<ArrayMap> maps;
    std::map<const algebra::Node*, Expr> known;
  };

  Expr image(Expr node);
  int place(const std::string& hint, Expr load);
  Expr seen(Expr value);
  void want_solves(Expr value);
  void project(const physics::Projection& projection);
  program::Buffer scratch(const std::string& hint) const;

  const physics::System& system_;
  Block block_;
  State state_;
  Wanted wanted_;                            ///< arrays and slots of the first stage
  std::vector<std::map<int, Expr>> stages_;  ///< further arrays, as Wanted::arrays
  std::unique_ptr<Ahead> ahead_;
  const Stepping* stepping_;        ///< null: spectral Laplacians stay
  std::unique_ptr<Images> images_;  ///< made with the first one
  std::set<std::size_t> solves_;
};

/// Letters, digits and `_` of a name, for slots and buffers: "mean(phi)" -> "mean_phi".
std::string plain(const std::string& name);

}  // namespace vphi::schedule
