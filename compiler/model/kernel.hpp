// One kernel of a program: the work at each site of the lattice, and the work after the last site.
//
// A kernel reads lattice arrays (Load, Stencil), per-step scalars (Symbol) and the site's own
// coordinates (Site), and has three kinds of effect: stores at the site itself, reductions over all
// sites, and a scalar epilogue that runs once, in f64, when every site is done. There is no control
// flow: conditions are Selects. A kernel without stores and reductions consists of its epilogue.
//
// An array that is read at other sites and written in the same sweep is double-buffered: reads see
// the current buffer, stores go to the next one, and the schedule swaps them after the launch.
//
// Order of a Sum where the bits matter (native code and the interpreter agree on it): the term of
// each site is evaluated in the compute precision and converted to f64. The rows along x are
// divided into U units of at most 2048 sites, and the units among n tasks: some for each slab of
// the lattice (kernel/slabs.hpp). Task k has the units from U*k/n on. Within a task lane j of eight
// adds the terms of the sites with x mod 8 = j, units in order, x ascending, from 0.0 (with
// compensation where `sum` is Kahan and the precision f64). The lanes are added as
// ((0+4)+(2+6))+((1+5)+(3+7)), and the tasks in order. GPUs have an order of their own, the same
// from run to run.
//
// Sums over pairs: a kernel whose stores are Op::PairSum is one over pairs of sites. Each of its
// stores is then a PairSum of own and other Loads and nothing around it, and it has no reductions
// and no epilogue. The schedule gives these sums arrays of their own.
//
// Instances: a kernel may be launched for many copies of the lattice at once. A kernel describes
// one of them; no value passes between instances.
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
  int array = 0;     ///< `index` of the Loads that read it
  std::string name;  ///< plain ASCII, from the model; emitters prefix it
  Precision store = Precision::F64;
  bool read = false;
  bool written = false;
  bool next = false;          ///< stores go to the next buffer
  std::int64_t elements = 0;  ///< > 0: a matrix over pairs of sites that all instances share
};

struct Store {
  int array = 0;
  Expr value;
};

enum class ReduceKind { Sum, Minimum, Maximum };

/// slot = reduction of `value` over all sites. A Sum is not divided by the number of sites.
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

/// The random numbers of a kernel (Op::Normal, Op::Uniform). They are made by Philox4x32-10 (Salmon
/// et al., SC11, 2011), a function of (seed, stream, walker, step) alone. They are therefore the
/// same on every device, for every division of the work and in a resumed run. A step of a site
/// takes w words (its draws as 1, 2 or a multiple of 4) and draw i is word i of them. Words come in
/// blocks of four. If a step of a site does not use a whole block, the rest of it serves
///   - neighbouring sites, where an instance has several: m = 4/w of them (at least 1) share a
///     block in a step. The walker is instance*ceil(sites/m) + site/m, and word i of a site is word
///     (site mod m)*w + i of block n at step n (blocks n*w/4 to (n + 1)*w/4 - 1 for w >= 4);
///     Where a kernel takes the sites of one colour, whose neighbours along x lie `apart` sites
///     from each other, a block serves m of these: of m*apart sites that follow one another along
///     x, site j has the numbers of site (j mod apart)*m + j/apart of the rule above;
///   - successive steps, where an instance has one site: the walker is the instance, and word i of
///     step n is word n*w + i of its sequence.
///
/// Block b has the seed as key and the counter (walker low, b low, stream, walker high * 2^16 + b
/// high). Uniform: (word + 1/2)/2^32. Normal: words 2k and 2k+1 of a block give u and v, and
/// sqrt(-2 ln u) times cos and sin of 2 pi v; no Uniform may therefore be the other word of a
/// Normal's pair (kernel/draw.hpp).
///
/// Philox4x32-7: the same with seven rounds. Xorshift32 (Marsaglia, J. Stat. Softw. 8 (2003) 14;
/// shifts 13, 17, 5): block b is four steps of a state; every 8 blocks the state is set to the
/// first word of Philox4x32-10 block b/8 (1 instead of 0). So no state is stored between launches,
/// and the numbers of any step can be computed directly.
///
/// Bits (`accuracy = weak1`): all draws are Uniform and take one bit each; the value is 1/4 or 3/4.
/// Draw i of step n is bit d = n*w + i (w: draws as a power of 2), that is bit d mod 32, from the
/// lowest, of word d/32 mod 4 of block d/128 of walker instance*sites + site.
struct Random {
  Generator generator = Generator::Philox10;
  bool bits = false;
  std::uint64_t seed = 1;
  std::uint32_t stream = 0;
  int draws = 0;           ///< random numbers a step
  std::int64_t sites = 1;  ///< sites of an instance
  /// Distance along x of sites that share a block. Such groups of sites fill the rows.
  int apart = 1;
  /// A step uses the random numbers of this many steps of a finer run on the same path, one after
  /// the other. `draws` counts them all.
  int finer = 1;
  std::string step;  ///< slot with the number of the step
  std::string
      instance;  ///< slot with the number of the instance in its ensemble; "": in the launch
};

/// Restricts a kernel to the sites of one colour: those whose weights.x mod `modulus` is the number
/// in a slot. No site of a colour reads what another site of the colour stores; this was proved
/// when the weights were chosen. Stores therefore go in place although neighbours are read, and
/// every order of the sites gives the same bits, with one buffer or two. Reductions are over the
/// sites of the colour.
struct Colours {
  int modulus = 1;
  std::array<int, 4> weights{};  ///< each with weight*extent a multiple of `modulus`
  /// The axis along which the sites of a colour are enumerated. Its weight has an inverse modulo
  /// `modulus`, and `modulus` divides its extent.
  int axis = 0;
  std::string slot;  ///< number of the colour, 0 to modulus - 1

  /// The smallest coordinate along `axis` of a site of this colour, with the other coordinates of
  /// `site`.
  int first_along(const std::array<std::int64_t, 4>& site, int colour) const;
  int inverse() const;  ///< inverse of weights[axis] modulo `modulus`
  int apart() const;    ///< distance along x of neighbouring sites of a colour
};

/// Which groups of GPU threads share the sites of an instance, and where they wait for each other.
enum class Reach {
  Launch,  ///< as many as fill the device; synchronised by the end of the launch
  Group,   ///< one group, synchronised by barriers
  Wave,    ///< as many as run at the same time; they wait for each other (cooperative launch)
};

/// The planes that a kernel computes of a lattice that ranks share (schedule/cut.hpp). Below and
/// above them memory has ghosts, copies of the neighbours' planes, which are read and not computed.
struct Planes {
  int axis = 0;            ///< across which the lattice is cut: its slowest one
  std::int64_t first = 0;  ///< number of the first own plane in memory
  std::int64_t own = 0;    ///< planes that are computed
  std::int64_t whole = 0;  ///< planes of the whole lattice
  std::int64_t slab = 1;   ///< cuts lie at multiples of this
  std::int64_t ranks = 1;  ///< that share the lattice
  std::string origin;      ///< slot: number of the first own plane in the whole lattice
  /// Of a part of a kernel (schedule/division.hpp), whose `first`, `own` and `slab` are those of
  /// the part: the own planes of the rank below it, which other parts compute.
  std::int64_t below = 0;
  /// Of each plane, the lines along the next faster axis that are computed, likewise.
  struct Second {
    std::int64_t first = 0, own = 0, whole = 0;
    std::string origin;
  };
  std::optional<Second> second = {};  ///< none: the lattice is cut across one axis
  /// Planes between the first half of `own` and the second, which other parts compute: a part of
  /// both ends of a rank. 0: `own` planes follow one another.
  std::int64_t gap = 0;
};

struct Kernel {
  std::string name;     ///< "sweep", "observe_1"; emitters prefix it
  std::string comment;  ///< one or two lines of explanation, with the equation
  int dims = 3;
  /// What lies in memory, and without `planes` what is computed.
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  std::optional<Planes> planes = {};  ///< none: the whole lattice lies in memory
  /// Each rank computes the kernel for the whole lattice, with arrays gathered from all ranks:
  /// sites read farther away than a rank has planes. It stores nothing at sites.
  bool gathers = false;
  /// Independent copies in one launch: arrays are [instance][site], scalars [instance][slot]. Each
  /// instance has its own reductions and epilogue. See program::Program.
  std::int64_t instances = 1;
  /// Steps in one launch. More than one is for kernels that read their own site alone and have no
  /// reductions: stores and epilogue are repeated, with arrays and scalars in registers.
  std::int64_t steps = 1;
  /// Slot of the first instance that holds the number of steps of the launch, a multiple of
  /// `steps`. "": a launch makes `steps` steps.
  std::string steps_slot;
  /// Steps that are made in one pass over memory, for a kernel that reads its neighbours and has no
  /// reductions. Reads from memory see the arrays before the first of these steps, stores write the
  /// next buffers after the last, and the epilogue runs after each.
  std::int64_t together = 1;
  /// Slots with the same value in every instance that has not stopped (time, step). What depends on
  /// them alone is computed once for many instances (kernel/common_values.hpp).
  std::vector<std::string> common;
  /// Slot that is nonzero where an instance has stopped: its arrays stay as they are. It is one of
  /// `common` (with colours: any). "": the kernel's own expressions keep the values of a stopped
  /// instance.
  std::string still;
  Reach reach = Reach::Launch;
  int threads = 0;  ///< threads of a group, where `reach` is not Launch (1: rows on a processor)
  /// Kernels of a launch that takes many steps (schedule/steps/persistent.hpp). They are executed
  /// in order, and each sees the arrays and scalars that the ones before have written. A step is
  /// `stage_repeats` passes through the list, and `steps_slot` gives the number of steps. The
  /// launch itself has `arrays` and no other effects.
  std::vector<Kernel> stages;
  std::int64_t stage_repeats = 1;
  Random random;
  std::array<Boundary, 4> boundary{};
  double fixed_value = 0;  ///< value outside the box for Boundary::Fixed
  double dx = 1;           ///< lattice spacing; passes fold it into the factors of Stencils
  /// The only axis along which sites read each other (kernel/line.hpp): the kernel walks along
  /// lines, and neighbouring sites share values. -1: site by site.
  int along = -1;
  std::optional<Colours> colours;  ///< none: every site
  Precision compute = Precision::F64;
  SumKind sum = SumKind::F64;
  /// Precision of the terms of sums over pairs. The terms of a tile are added in it, and the tiles
  /// in f64.
  Precision pair = Precision::F64;
  /// On a GPU: f32 uses the device's approximate quotients, roots and functions (relative error
  /// 1e-6), f64 uses quotients and roots that are computed inline.
  bool fast = false;
  /// On NVIDIA's GPUs, without `fast`: quotients and roots are computed inline, without a call or a
  /// branch, accurate to the last place.
  bool written_out = false;
  /// Angles whose sine and cosine are both used: one reduction of the angle serves both.
  std::vector<Expr> paired_angles;
  /// All angles in f64, and in f32 where functions are written out (kernel/device.hpp).
  bool pairs_all_angles = false;
  std::vector<ArrayParam> arrays;
  std::vector<Store> stores;
  std::vector<Reduction> reductions;
  std::vector<ScalarAssign> epilogue;

  const ArrayParam* find(int array) const;
  std::int64_t sites() const;  ///< of one instance, in memory
  /// Extents of what is computed, and of the whole lattice.
  std::array<std::int64_t, 4> walked() const;
  std::array<std::int64_t, 4> whole() const;
  std::int64_t walked_sites() const;
  /// The values of a site: those that are stored, then those that are reduced.
  std::vector<Expr> values() const;
};

/// Whether the kernel sums over pairs of sites.
bool sums_pairs(const Kernel& kernel);
/// Whether its sums are a part of those of a lattice that ranks share: a kernel of its own adds
/// them and has the epilogue.
bool sums_of_ranks(const Kernel& kernel);
/// Whether the last group of GPU threads adds up the sums of its rank before they are sent. Where
/// few ranks share the lattice it is faster to send the sums of all groups: one kernel then adds
/// them all (measured on two H200: 1 % of a step of a march, 5 % of three sweeps along lines).
bool folds_sums_on_rank(const Kernel& kernel);

}  // namespace vphi::kernel
