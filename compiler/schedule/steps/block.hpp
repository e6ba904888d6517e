// A block: straight-line code on whole arrays and scalars, every value defined once.
//
// The integrator's step, the initial state and each set of observables are written as a block
// first, without any thought of memory or of sweeps. Values are defined from values before them;
// a definition of an array gets a number of its own (a Load names it), one of a scalar a slot.
// Means become reductions with the scalar factors in front, so that what is summed has none.
// compiler/schedule/steps/site_loops.hpp turns a block into kernels.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/model/kernel.hpp"
#include "compiler/model/system.hpp"
#include "compiler/schedule/tables.hpp"

namespace vphi::schedule {

using algebra::Expr;

struct Item {
  enum class Kind { Array, Reduction, Scalar };
  Kind kind = Kind::Scalar;
  int array = -1;    ///< Array: its number
  std::string name;  ///< Reduction, Scalar: slot; Array: what to call it
  kernel::ReduceKind reduce = kernel::ReduceKind::Sum;
  Expr value;
  int version_of = -1;  ///< Array: the state array whose later value this is
  int parity = -1;      ///< made (Array) or summed (Reduction) at sites of this parity alone
};

class Block {
 public:
  Block(const physics::System& system, Slots& slots, Storage& storage)
      : system_(system), slots_(slots), storage_(storage) {}

  /// Defines an array and returns its Load. A bare Load at the site itself is returned as it is.
  Expr array(const std::string& name, Expr value, int version_of = -1);
  /// The same for a value that is wanted at sites of one parity alone (x + y + z + t mod 2 over the
  /// axes of even extent): in a sweep over these sites. Elsewhere the array holds anything.
  Expr parity_array(const std::string& name, Expr value, int parity);
  /// From now on arrays are made, and reductions are taken, at sites of this parity alone; -1:
  /// everywhere.
  void at_sites(int parity) { parity_ = parity; }
  int parity() const { return parity_; }
  /// Defines a scalar and returns its Symbol; Symbols and Numbers are returned as they are.
  Expr scalar(const std::string& name, Expr value);
  /// The value with its reductions replaced by slots.
  Expr without_reductions(Expr value);
  /// Always a definition of its own: of an output slot, say.
  void assign(const std::string& slot, Expr value);

  /// A reduction that fills this slot.
  void reduce(const std::string& slot, kernel::ReduceKind kind, Expr value);

  /// Takes out the reductions over stored state of the site itself alone: the step before can make
  /// them of its end. Their slots are inputs of the block from now on.
  std::vector<Item> take_carried();

  const std::vector<Item>& items() const { return items_; }
  const physics::System& system() const { return system_; }
  algebra::Arena& arena() const { return *system_.arena; }
  Slots& slots() const { return slots_; }
  Storage& storage() const { return storage_; }

 private:
  Expr prepared(Expr value);
  Expr stencil_on_array(Expr stencil);
  Expr pair_array(Expr sum);
  Expr sum(Expr argument);
  Expr reduction(kernel::ReduceKind kind, Expr argument);
  std::int64_t summed_sites() const;

  const physics::System& system_;
  Slots& slots_;
  Storage& storage_;
  std::vector<Item> items_;
  int parity_ = -1;
  using Known = std::map<std::pair<const algebra::Node*, int>, Expr>;  ///< by value and parity
  Known arrays_;
  Known reductions_[3];  ///< by ReduceKind
};

/// Stencils as integer weights, with dx^p/denominator as a number in front: rounded weights would
/// spoil the averages in f32, and the number goes into a scalar anyway.
Expr with_integer_stencils(Expr expr, double dx);

}  // namespace vphi::schedule
