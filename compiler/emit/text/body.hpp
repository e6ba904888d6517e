// The site function of a kernel: what happens at one site, apart from any loop or memory.
//
//   struct vphi_in_K    the values a site reads: its own, its neighbours', sums of a stencil
//   struct vphi_out_K   what it stores and what it contributes to the reductions
//   struct vphi_par_K   what is the same at every site of a sweep, from the scalar block
//   vphi_site_K(in, par) -> out    straight-line, without a branch
//   vphi_par_of_K(scalars) -> par  in f64, rounded once to the type of the sweep
//   vphi_before_of_K(scalars)      the scalars that the epilogue reads
//   vphi_epilogue_K(scalars, before, total)  after the last site, in f64
//
// The patterns (sites, march, rows) fill `in`, call, and put `out` away. Where a site reads many
// numbers on a GPU they may write out the pieces of the function instead, each behind what it
// reads: a compiler takes the order of the loads for that of their arrival.
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
  int copy = 0;  ///< read so many times before: not the value at hand, but that in memory
  bool centre() const { return offsets.size() == 1 && offsets[0].zero() && weights[0] == 1; }
};

/// A random number that a site takes.
struct Draw {
  algebra::Op op = algebra::Op::Normal;  ///< or Uniform
  int index = 0;                         ///< within the step
  std::string member;                    ///< of the `in` struct
};

/// A piece of the site function where a site reads many numbers: what it reads and draws comes
/// right before the first piece that wants it.
struct Piece {
  std::vector<std::size_t> reads;  ///< places in Body::reads
  std::size_t draws = 0;           ///< of Body::draws, from the first on, are there by then
  Code lines;
};

struct Body {
  std::string suffix;  ///< K above
  Precision real = Precision::F64;
  std::vector<Read> reads;
  std::vector<Draw> draws;  ///< in ascending order of their index
  /// Values that come with the step, as symbol and member of the `in` struct
  /// (kernel/common_values.hpp).
  std::vector<std::pair<std::string, std::string>> shared;
  std::array<bool, 4> site_axis{};             ///< in.x, in.y, ... are wanted
  std::vector<std::string> array_names;        ///< as the kernel's arrays: identifier parts
  std::vector<std::string> store_members;      ///< as the kernel's stores
  std::vector<std::string> reduction_members;  ///< as the kernel's reductions
  std::vector<std::string> handed_members;     ///< of the `out` struct, as `handed` of make_body
  std::vector<int> slots_read, slots_written;  ///< scalars, by their index, ascending
  int parameters = 0;                          ///< members of the `par` struct
  int held = 0;  ///< numbers that a site holds at once, where it computes in written order
  std::vector<Piece> pieces;  ///< then: the site function once more; empty elsewhere
  Code structs;               ///< types of what goes in and out
  Code site;                  ///< the site function
  Code rest;                  ///< the other functions
  Calls calls;                ///< what these call
  /// The structs and functions.
  Code code() const { return structs + site + rest; }
};

/// `private_scalars`: the functions take the scalars of one instance in private memory. `shared`:
/// symbols that are not scalars: each step brings them along with what the site reads. `handed`:
/// further values that the site function gives, with their names. `few_registers`: a GPU's thread
/// runs it, so that a long site function is written in the order that holds few numbers at once.
using Handed = std::vector<std::pair<std::string, algebra::Expr>>;
Body make_body(const kernel::Kernel& kernel, const Dialect& dialect, const Bindings& bindings,
               bool private_scalars = false, const std::vector<std::string>& shared = {},
               const Handed& handed = {}, bool few_registers = false);

/// dx^power / denominator of a stencil, the factor that integer sums lack.
long double stencil_factor(const algebra::StencilData& stencil, double dx);

/// "xp1_ym2" for an offset, "c" for none.
std::string offset_name(const algebra::Offset& offset);

}  // namespace vphi::emit
