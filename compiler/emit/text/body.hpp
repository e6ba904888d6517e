// The functions of a kernel that do not depend on loops and memory, first of all its site function.
//
//   struct vphi_in_K    the values a site reads: its own, its neighbours', sums of a stencil
//   struct vphi_out_K   what it stores and what it contributes to the reductions
//   struct vphi_par_K   what is the same at every site of a sweep, from the scalar block
//   vphi_site_K(in, par) -> out    straight-line, without a branch
//   vphi_par_of_K(scalars) -> par  in f64, rounded once to the type of the sweep
//   vphi_before_of_K(scalars)      the scalars that the epilogue reads
//   vphi_epilogue_K(scalars, before, total)  after the last site, in f64
//
// On processors a site function with iterations is in parts, between which the lanes of vectors
// make rounds together (patterns/lane_rounds.hpp); struct vphi_lane_K has what is handed on:
//
//   vphi_site_before_1_K(in, lane, par) -> lane   before the first loop of rounds
//   vphi_site_round_1_K(lane, par) -> lane        one of its rounds
//   vphi_site_K(in, lane, par) -> out             after the last loop
//
// The patterns (sites, march, rows) fill `in`, call the site function, and store `out`. Where a
// site reads many numbers on a GPU, they may emit the pieces of the function instead, each after
// its reads: the device's compiler keeps the order of the loads.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/emit/text/printer.hpp"

namespace vphi::emit {

/// A linear combination of one array's values near a site, with integer weights.
struct Read {
  int array = 0;
  std::string member;  ///< of the `in` struct
  std::vector<algebra::Offset> offsets;
  std::vector<std::int64_t> weights;
  int copy = 0;  ///< > 0: the value is read from memory again; the number of earlier reads
  bool centre() const { return offsets.size() == 1 && offsets[0].zero() && weights[0] == 1; }
};

/// A random number of a site.
struct Draw {
  algebra::Op op = algebra::Op::Normal;  ///< or Uniform
  int index = 0;                         ///< within the step
  std::string member;                    ///< of the `in` struct
};

/// A piece of the site function, where a site reads many numbers. Reads and random numbers come
/// right before the first piece that uses them.
struct Piece {
  std::vector<std::size_t> reads;  ///< indices into Body::reads
  std::size_t draws = 0;           ///< how many of Body::draws are computed by then
  Code lines;
};

/// A loop of rounds that the lanes of a vector make together, where the site function is in parts
/// (kernel/round_parts.hpp). Names are members of struct vphi_lane_K.
struct LaneLoop {
  int times = 0;
  std::vector<std::string> made;     ///< what the part before the loop hands on
  std::vector<std::string> values;   ///< what a round changes; their first values are in `made`
  std::vector<std::string> watched;  ///< those of them that a round reads
};

struct Body {
  std::string suffix;  ///< K above
  Precision real = Precision::F64;
  std::vector<Read> reads;
  std::vector<Draw> draws;  ///< in ascending order of their index
  /// Values of the clock (kernel/common_values.hpp): symbol and member of the `in` struct.
  std::vector<std::pair<std::string, std::string>> shared;
  std::array<bool, 4> site_axis{};  ///< whether in.x, in.y, ... are used
  /// Of axes that ranks cut: the member of `par` with the number in the whole lattice of the first
  /// site in memory (in_whole_lattice).
  std::array<std::string, 4> first_site{};
  std::vector<std::string> array_names;        ///< identifiers of the kernel's arrays
  std::vector<std::string> store_members;      ///< for each of the kernel's stores
  std::vector<std::string> reduction_members;  ///< for each of the kernel's reductions
  /// Of the `out` struct, for each entry of `handed` (make_body).
  std::vector<std::string> handed_members;
  std::vector<int> slots_read, slots_written;  ///< indices of scalars, ascending
  int parameters = 0;                          ///< members of the `par` struct
  /// Largest number of live values of a site, where it computes in the order of register_order.hpp.
  int held = 0;
  bool rolled = false;          ///< some values are found by loops of rounds
  std::vector<Piece> pieces;    ///< in that case the site function in pieces; otherwise empty
  std::vector<LaneLoop> loops;  ///< between parts of the site function
  std::vector<std::string> lane_members;  ///< of all loops
  Code structs;                           ///< the structs
  Code site;                              ///< the site function
  Code rest;                              ///< the other functions
  Calls calls;                            ///< functions of the emitter that these call
  /// The structs and functions.
  Code code() const { return structs + site + rest; }
};

/// How a pattern takes the site function: as one; in parts, between which lanes of vectors make
/// rounds together (patterns/lane_rounds.hpp); or as a phase of a tile (kernel::Tile).
enum class Taken { Whole, InParts, AsPhase };
using Handed = std::vector<std::pair<std::string, algebra::Expr>>;

/// `private_scalars`: the functions take the scalars of one instance in private memory. `shared`:
/// symbols that are members of `in` instead of scalars. `handed`: further results of the site
/// function, with their names. `few_registers`: for GPUs; a long site function is emitted in an
/// order with few live values.
Body make_body(const kernel::Kernel& kernel, const Dialect& dialect, const Bindings& bindings,
               bool private_scalars = false, const std::vector<std::string>& shared = {},
               const Handed& handed = {}, bool few_registers = false, Taken taken = Taken::Whole);

/// The coordinate of a site in the whole lattice, of that in memory: both are numbers of the site
/// function's type. Sites that know their place by it alone have the same text on all ranks.
Code in_whole_lattice(const Body& body, std::size_t axis, const Code& in_memory,
                      const Code& par = "par");

/// dx^power / denominator of a stencil, the factor of its integer sum.
long double stencil_factor(const algebra::StencilData& stencil, double dx);

/// "xp1_ym2" for an offset, "c" for none.
std::string offset_name(const algebra::Offset& offset);

}  // namespace vphi::emit
