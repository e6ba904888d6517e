// Everything in the printed text of a kernel that differs between devices. The emitter uses a
// Dialect and does not test for a device by name. A new device takes one Dialect, one prelude
// (templates/preludes), and a file of runtime/device that compiles and launches the text.
//
// A Dialect contains spellings (Words), names of device-dependent texts in templates/ (Texts; an
// empty name: the device has no such text and needs none), properties of the device (Abilities),
// and numbers that were tuned by measurements (Tuned). Native, OpenCL on processors, OpenCL on
// GPUs, OpenCL on NVIDIA's GPUs, CUDA and HIP each have one.
#pragma once

#include <string>

#include "compiler/algebra/expr.hpp"
#include "compiler/emit/emit.hpp"

namespace vphi::emit {

using kernel::Precision;

/// The unit that executes a kernel.
enum class Work {
  /// Calls of a C function, one for each task; the host calls a second function at the end of a
  /// kernel.
  Tasks,
  Rows,    ///< groups of one thread on a processor, each with rows of sites
  Threads  ///< groups of threads with local memory
};

/// Spellings. In `table` and `staging` numbers in braces are places of arguments.
struct Words {
  /// Prefix of sqrt, exp, ...: "__builtin_" makes __builtin_sqrt.
  const char* function_prefix = "";
  const char* suffix_f32 = "";  ///< suffix of functions in f32: "f" makes sqrtf
  const char* suffix_f64 = "";
  const char* quick_prefix = "";  ///< prefix of the approximate sin, cos, exp, log in f32
  const char* global = "";        ///< qualifier of global memory, followed by a space
  const char* constant = "";      ///< qualifier of tables
  /// Declaration of a table: type {0}, name {1}, entries {2}.
  const char* table = "";
  /// Declaration of a march's local memory: type {0}, name {1}, elements {2}.
  const char* staging = "";
  const char* index_suffix = "u";                ///< suffix of a literal of the index type
  const char* wide_index_suffix = "ul";          ///< the same where the index type has 64 bits
  const char* wide_suffix = "ul";                ///< suffix of a literal of wide_type
  const char* wide_type = "unsigned long";       ///< the type vphi_wide
  const char* draw_type = "unsigned long long";  ///< 64-bit type for random numbers
  /// Body of a function: the 64-bit product of `a` and `b`.
  const char* product = "";
  const char* group = "";  ///< number of the group in a one-dimensional grid
  /// Statement of a memory fence (vphi_fence in OpenCL's prelude).
  const char* fence = "";
  const char* assembler = "";  ///< keyword for inline PTX
  /// Statement after which the compiler assumes that memory may have changed.
  const char* rematerialise = "";
  /// Statement that keeps the compiler from recomputing `kept`.
  const char* keep = "";
  /// Functions that convert between numbers and their bits.
  const char* bits_of_float = "";
  const char* float_of_bits = "";
  const char* double_of_bits = "";
  /// The lowest 32 bits of the number {} as an integer; where they are empty, the quarter of a turn
  /// of an angle is found by arithmetic (emit/math/sincos.hpp).
  const char* low_bits_f32 = "";
  const char* low_bits_f64 = "";
  const char* long_suffix = "";  ///< suffix of a literal with 64 bits
  const char* reference = "";    ///< qualifier of a parameter passed by reference
};

/// Names of texts in templates/.
struct Texts {
  const char* prelude = "";
  const char* main = "";    ///< main function of a stand-alone file
  const char* groups = "";  ///< functions for the numbers of groups
  /// A march's copies into local memory, and the exchange of numbers between lanes.
  const char* copies = "";
  const char* lanes_f32 = "";  ///< the exchange between lanes in f32, where it is a separate text
  const char* lanes_f64 = "";
  const char* line_copies = "";  ///< copies into local memory for walks along lines
  const char* quick = "";        ///< approximate quotients and roots in f32
  const char* near = "";         ///< quotients, roots and powers in f32; f64 has seeds
  const char* extremes = "";     ///< the larger and the smaller of two numbers in f32
  const char* quick_draws = "";  ///< approximate functions for random numbers
  const char* quick_lines = "";  ///< approximate functions for walks along lines
  const char* seeds = "";        ///< seeds of quotients and roots in f64
  const char* unit_log = "";     ///< access to bits, for the logarithm of a uniform number
  const char* wait = "";         ///< synchronisation between groups
};

/// Properties of a device.
struct Abilities {
  /// Has functions with errors of a few units in the last place, where denormal numbers are 0.
  bool approximate = false;
  bool exchange_lanes = false;  ///< threads of a warp can exchange numbers
  bool copy_together = false;   ///< threads of a warp fill local memory together
  /// A fence of one thread covers the writes that a barrier ordered before it.
  bool ordered_fence = false;
  /// The size of local memory is an argument of the launch, not part of the text.
  bool launch_memory = false;
  /// A pointer may point to local memory and to the memory of the device alike.
  bool one_address_space = false;
  bool safe_index = false;  ///< the conversion of NaN to an integer gives 0
  /// Tanh and others are made of exp, sin and cos (vector_math.hpp).
  bool vector_functions = false;
  /// In f64 the functions of sincos.hpp are cheaper than the device's.
  bool sincos_for_all = false;
  /// The number of registers is limited by `// vphi: registers=N`, not by a number of groups.
  bool asks_registers = false;
};

/// Numbers that were tuned by measurements.
struct Tuned {
  int pair_threads = 128;  ///< threads of a group for sums over pairs
  /// Largest number of threads of a group that has the only instance.
  std::int64_t persistent_threads = 256;
  std::int64_t persistent_sites = 4096;  ///< largest number of sites of such a group
};

struct Dialect {
  const char* name = "";   ///< name for `vphi emit --to`
  const char* shown = "";  ///< name in messages
  Work work = Work::Threads;
  Words words = {};
  Texts texts = {};
  Abilities can = {};
  Tuned tuned = {};

  bool tasks() const { return work == Work::Tasks; }
  bool processor() const { return work != Work::Threads; }
};

const Dialect& native_dialect();
const Dialect& opencl_dialect(bool processor, bool nvidia);
const Dialect& cuda_dialect();
const Dialect& hip_dialect();
/// The dialect of a device.
const Dialect& dialect_of(const TargetInfo& target);

/// Spelling of a floating-point type.
const char* type_name(Precision precision);
int bytes_of(Precision precision);

/// A literal that reads back as the number rounded once to `precision`; negative ones in brackets.
std::string literal(const algebra::Number& number, Precision precision);
std::string literal(long double value, Precision precision);

/// The spelling of the C function `name`: "fmin" may be fminf.
std::string spelled(const Dialect& dialect, const std::string& name, Precision precision);
/// Name of the function for `op` (one or two real arguments) in a dialect; empty where `op` is not
/// a function call.
std::string function_name(algebra::Op op, Precision precision, const Dialect& dialect);

}  // namespace vphi::emit
