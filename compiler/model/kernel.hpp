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
// Sums over pairs: a store whose value is an Op::PairSum makes its kernel one over pairs of sites.
// All its stores are such, each a bare PairSum of own and other Loads, and it has no reductions and
// no epilogue; the schedule gives these sums arrays of their own.
//
// Instances: a kernel may be launched for many copies of the lattice at once. Everything here is
// written for one of them; no value passes between instances.
//
// Scalars: an epilogue reads the slots as they are when it starts, then the reductions of its own
// kernel, then every assignment before it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "compiler/model/numerics.hpp"

namespace vphi::kernel {

using algebra::Expr;
using physics::Boundary;
using physics::Generator;
using physics::Precision;
using physics::SumKind;

struct ArrayParam {
  int array = 0;     ///< number in Loads
  std::string name;  ///< plain ASCII, from the model; emitters prefix it
  Precision store = Precision::F64;
  bool read = false;
  bool written = false;
  bool next = false;          ///< stores go to the second buffer
  std::int64_t elements = 0;  ///< > 0: a matrix for pairs of sites, one for all instances
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

/// Where the draws Op::Normal and Op::Uniform of a kernel come from: Philox4x32-10 (Salmon et al.,
/// SC11, 2011), a function of (seed, stream, walker, step) alone, so that every device, every split
/// of the work and every resumed run meets the same numbers. A step of a site takes w words (its
/// draws as 1, 2 or a multiple of 4) and draw i is word i of them. Words come in blocks of four,
/// and what is left of a block serves
///   - neighbouring sites, where an instance has several: m = 4/w of them (at least 1) share a
///   block
///     a step. The walker is instance*ceil(sites/m) + site/m, and word i of a site is word
///     (site mod m)*w + i of block n at step n (blocks n*w/4 to (n + 1)*w/4 - 1 for w >= 4);
///   - successive steps of an instance of one site: the walker is the instance, and word i of step
///   n
///     is word n*w + i of its sequence.
/// Block b has the seed as key and the counter (walker low, b low, stream, walker high * 2^16 + b
/// high). Uniform: (word + 1/2)/2^32. Normal: words 2k and 2k+1 of a block give u and v, and
/// sqrt(-2 ln u) times cos and sin of 2 pi v; no Uniform may therefore be the other word of a
/// Normal's pair (kernel/draw.hpp).
///
/// Philox4x32-7: the same with seven rounds. Xorshift32 (Marsaglia, J. Stat. Softw. 8 (2003) 14;
/// shifts 13, 17, 5): block b is four steps of a state; every 8 blocks the state is set to the
/// first word of Philox4x32-10 block b/8 (1 instead of 0). So nothing needs to be stored between
/// launches, and the numbers of any step can be computed directly.
///
/// Bits (`accuracy = weak1`): all draws are Uniform and one bit each, 1/4 or 3/4. Draw i of step n
/// is bit d = n*w + i (w: draws as a power of 2), that is bit d mod 32, from the lowest, of word
/// d/32 mod 4 of block d/128 of walker instance*sites + site.
struct Random {
  Generator generator = Generator::Philox10;
  bool bits = false;
  std::uint64_t seed = 1;
  std::uint32_t stream = 0;
  int draws = 0;           ///< numbers a step
  std::int64_t sites = 1;  ///< of an instance
  /// Steps of a finer run on the same path whose numbers a step takes, one after the other; `draws`
  /// counts them all.
  int finer = 1;
  std::string step;  ///< slot with the number of the step, a whole number
  std::string
      instance;  ///< slot with the number of the instance in its ensemble; "": in the launch
};

/// A sweep over the sites of one colour: those whose weights.x mod `modulus` is the number in a
/// slot. No site of a colour reads what another site of it stores (this was proved when the weights
/// were chosen), so stores go in place although neighbours are read: every order of the sites, and
/// a second buffer instead of the first, give the same bits. Reductions are over the sites of the
/// colour.
struct Colours {
  int modulus = 1;
  std::array<int, 4> weights{};  ///< each with weight*extent a multiple of `modulus`
  /// Along which the sites of a colour are counted: its weight has an inverse modulo `modulus`,
  /// which divides its extent.
  int axis = 0;
  std::string slot;  ///< number of the colour, 0 to modulus - 1

  /// The first coordinate along `axis` of a site of this colour, where the others are given.
  int first_along(const std::array<std::int64_t, 4>& site, int colour) const;
  int inverse() const;  ///< of weights[axis], modulo `modulus`
};

/// Which groups of threads of a GPU share the sites of an instance.
enum class Reach {
  Launch,  ///< as many as fill the device; they meet at the end of a launch
  Group,   ///< one, whose threads meet at barriers
  Wave,    ///< as many as run at the same time, so that they may wait for each other
};

struct Kernel {
  std::string name;     ///< "sweep", "observe_1"; emitters prefix it
  std::string comment;  ///< what it does, one or two lines with the equation
  int dims = 3;
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  /// Independent copies in one launch: arrays are [instance][site], scalars [instance][slot]; the
  /// reductions and the epilogue are done for each instance apart. See program::Program.
  std::int64_t instances = 1;
  /// Steps in one launch. More than one: a kernel that reads its own site alone and has no
  /// reductions goes through stores and epilogue that often, arrays and scalars in registers.
  std::int64_t steps = 1;
  /// Slot of the first instance with the number of steps in the place of `steps`, which then is
  /// what that number is a multiple of; "": `steps` are all.
  std::string steps_slot;
  /// Steps that one pass over memory makes, one after the other at each place, for a kernel that
  /// reads its neighbours and has no reductions: its reads see the arrays before all of them, its
  /// stores go to the next buffers after the last, and the epilogue is run behind each of them.
  std::int64_t together = 1;
  /// Slots with the same value in every instance that moves (time, step): what depends on them
  /// alone is computed once for many instances (kernel/common_values.hpp).
  std::vector<std::string> common;
  /// Slot that is not 0 where an instance stands still: its arrays stay as they are. One of
  /// `common` (with colours: any), or "": the kernel's values say themselves what becomes of it.
  std::string still;
  Reach reach = Reach::Launch;
  int threads = 0;  ///< of a group, where `reach` is not Launch (1: rows on a processor)
  /// Kernels of a launch that takes many steps (schedule/steps/persistent.hpp). They are executed
  /// in their order, each with the arrays and scalars that the ones before have written, and
  /// `stage_repeats` passes through the list are a step. `steps_slot` says how many steps. The
  /// launch has `arrays` and nothing else of its own.
  std::vector<Kernel> stages;
  std::int64_t stage_repeats = 1;
  Random random;
  std::array<Boundary, 4> boundary{};
  double fixed_value = 0;  ///< value outside, Boundary::Fixed
  double dx = 1;           ///< folded into Stencil factors by passes
  /// The only axis along which sites read each other (kernel/line.hpp): the sweep is walked along
  /// lines, and neighbouring sites share values. -1: site by site.
  int along = -1;
  std::optional<Colours> colours;  ///< nothing: every site
  Precision compute = Precision::F64;
  SumKind sum = SumKind::F64;
  /// Of the terms of sums over pairs; they are added in it over a tile, and the tiles in f64.
  Precision pair = Precision::F64;
  /// On a GPU: in f32 its own approximate quotients, roots, functions (1e-6); in f64 written out
  /// ones.
  bool fast = false;
  /// On a GPU, in f32 without `fast`: quotients and roots written out, without a call or a branch,
  /// to the last place.
  bool written_out = false;
  std::vector<ArrayParam> arrays;
  std::vector<Store> stores;
  std::vector<Reduction> reductions;
  std::vector<ScalarAssign> epilogue;

  const ArrayParam* find(int array) const;
  std::int64_t sites() const;  ///< of one instance
  /// The values of a site: those that are stored, then those that are reduced.
  std::vector<Expr> values() const;
};

/// Whether the kernel sums over pairs of sites.
bool sums_pairs(const Kernel& kernel);

}  // namespace vphi::kernel
