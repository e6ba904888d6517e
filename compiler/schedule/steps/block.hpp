// A block: straight-line code on whole arrays and scalars, in which every value is defined once.
//
// The integrator's step, the initial state and each set of observables are written as a block
// first, independent of memory and sweeps. A definition uses values defined before it. A defined
// array has a number, by which Loads refer to it, and a defined scalar a slot. Means become
// reductions with the scalar factors in front, so that the summed terms have none.
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
  std::string name;  ///< Reduction, Scalar: slot; Array: its name
  kernel::ReduceKind reduce = kernel::ReduceKind::Sum;
  Expr value;
  int version_of = -1;  ///< Array: the state array of which this is a later value
  /// Computed (Array) or summed (Reduction) at sites of this parity only; -1: at all sites.
  int parity = -1;
  int column = 0;  ///< the one of several right sides to which it belongs (Block::for_column)
};

class Block {
 public:
  Block(const physics::System& system, Slots& slots, Storage& storage)
      : system_(system), slots_(slots), storage_(storage) {}

  /// Defines an array and returns its Load. A bare Load at the site itself is returned as it is.
  Expr array(const std::string& name, Expr value, int version_of = -1);
  /// The same for a value that is needed only at sites of one parity (x + y + z + t mod 2 over the
  /// axes of even extent). It is computed in a sweep over these sites; elsewhere the array is
  /// undefined.
  Expr parity_array(const std::string& name, Expr value, int parity);
  /// Later definitions of arrays and reductions are restricted to sites of this parity; -1: all
  /// sites.
  void at_sites(int parity) { parity_ = parity; }
  int parity() const { return parity_; }
  /// Later definitions belong to this one of several right sides of one system. Sweeps compute
  /// those of all columns in step, so that what they share is read once.
  void for_column(int column) { column_ = column; }
  /// Defines a scalar and returns its Symbol; Symbols and Numbers are returned as they are.
  Expr scalar(const std::string& name, Expr value);
  /// The value with its reductions replaced by slots.
  Expr without_reductions(Expr value);
  /// Defines the slot even where the value is a Symbol or Number, as for outputs.
  void assign(const std::string& slot, Expr value);

  /// Defines the slot as a reduction of the value.
  void reduce(const std::string& slot, kernel::ReduceKind kind, Expr value);

  /// Removes and returns the reductions over stored state at the site itself, which the step before
  /// can compute from its final state. Their slots become inputs of the block.
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
  int parity_ = -1, column_ = 0;
  using Known = std::map<std::pair<const algebra::Node*, int>, Expr>;  ///< key: value and parity
  Known arrays_;
  Known reductions_[3];  ///< by ReduceKind
};

/// Whether the operation takes values of more sites than its own: a stencil, a sum over pairs, a
/// reduction. A Load with an offset does not count.
bool takes_other_sites(Expr node);

/// Stencils with integer weights and the factor dx^p/denominator in front. Rounded weights would
/// make averages inaccurate in f32, and the factor becomes part of a scalar in any case.
Expr with_integer_stencils(Expr expr, double dx);

}  // namespace vphi::schedule
