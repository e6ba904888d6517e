// One kernel of a program: what happens at each site in one sweep, and after the last of them.
//
// A kernel reads lattice arrays (Load, Stencil), per-step scalars (Symbol) and the site's own
// coordinates (Site), and has three kinds of effect: stores at the site itself, reductions over all
// sites, and a scalar epilogue that runs once, in f64, when every site is done. There is no control
// flow: conditions are Selects. A kernel without stores and reductions is its epilogue alone.
//
// An array that is read at other sites and written in the same sweep is double-buffered: reads see
// the current buffer, stores go to the next one, and the schedule swaps them after the launch.
//
// Order of a Sum where the bits matter (native code and the interpreter agree on it): the term of
// each site is evaluated in the compute precision and converted to f64. The rows along x are cut
// into units of at most 2048 sites and the units into tasks, sites/8192 of them (at least 1, at
// most 512 or the number of units), task k of n taking the units from U*k/n on. Within a task lane
// j of eight adds the terms of the sites with x mod 8 = j, units in order, x ascending, from 0.0
// (with compensation where `sum` is Kahan and the precision f64). The lanes are added as
// ((0+4)+(2+6))+((1+5)+(3+7)), and the tasks in order. GPUs have an order of their own, the same
// from run to run.
//
// Scalars: an epilogue reads the slots as they are when it starts, then the reductions of its own
// kernel, then every assignment before it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "compiler/physics/system.hpp"

namespace vphi::kernel {

using algebra::Expr;
using physics::Boundary;
using physics::Precision;
using physics::SumKind;

struct ArrayParam {
  int array = 0;     ///< number in Loads
  std::string name;  ///< plain ASCII, from the model; emitters prefix it
  Precision store = Precision::F64;
  bool read = false;
  bool written = false;
  bool next = false;  ///< stores go to the second buffer
};

struct Store {
  int array = 0;
  Expr value;
};

enum class ReduceKind { Sum, Minimum, Maximum };

/// slot = reduction of value over all sites (a Sum is not divided by the number of sites).
struct Reduction {
  std::string slot;
  ReduceKind kind = ReduceKind::Sum;
  Expr value;
};

/// slot = value, in f64, after the reductions, in order. Reads scalars and reduction slots.
struct ScalarAssign {
  std::string slot;
  Expr value;
};

struct Kernel {
  std::string name;     ///< "sweep", "observe_1"; emitters prefix it
  std::string comment;  ///< what it does, one or two lines with the equation
  int dims = 3;
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  std::array<Boundary, 4> boundary{};
  double fixed_value = 0;  ///< value outside, Boundary::Fixed
  double dx = 1;           ///< folded into Stencil factors by passes
  Precision compute = Precision::F64;
  SumKind sum = SumKind::F64;
  std::vector<ArrayParam> arrays;
  std::vector<Store> stores;
  std::vector<Reduction> reductions;
  std::vector<ScalarAssign> epilogue;

  const ArrayParam* find(int array) const;
  std::int64_t sites() const;
};

/// What one site costs; counted on the expressions, compared with the emitted code by the audit.
struct Cost {
  int loads = 0, stores = 0;  ///< words moved to and from memory, each array once a site
  int bytes = 0;
  int flops = 0, special = 0;
};
Cost cost(const Kernel& kernel);

/// Structural errors: unknown array, per-site value in the epilogue, unknown slot, a store to an
/// array read elsewhere without `next`, a canonical op after ordering. Empty when sound.
std::vector<std::string> verify(const Kernel& kernel, const std::vector<std::string>& slots);

}  // namespace vphi::kernel
