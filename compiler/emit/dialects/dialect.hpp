// What differs between devices when a kernel is printed. The emitter asks a Dialect and never
// which device it is for: a new device is one Dialect, one prelude (templates/preludes), and a file
// of runtime/device that compiles and launches the text.
//
// A Dialect says how things are spelled (Words), which texts of templates/ do what differs between
// devices (Texts; an empty name: the device has no such text, and the emitter does without), what
// the device can do (Abilities), and which counts were measured to be best on it (Tuned). Native,
// OpenCL on processors, OpenCL on GPUs, OpenCL on NVIDIA's GPUs, CUDA and HIP each have one.
#pragma once

#include <string>

#include "compiler/algebra/expr.hpp"
#include "compiler/emit/emit.hpp"

namespace vphi::emit {

using kernel::Precision;

/// Who does the work of a kernel.
enum class Work {
  Tasks,   ///< calls of a C function with a task's number; the host ends a sweep by another call
  Rows,    ///< groups of one thread of a processor, each with rows of sites
  Threads  ///< groups of threads with local memory
};

/// How things are spelled.
struct Words {
  const char* function_prefix = "";  ///< of sqrt, exp, ...: "__builtin_" makes __builtin_sqrt
  const char* suffix_f32 = "";       ///< sqrtf
  const char* suffix_f64 = "";
  const char* quick_prefix = "";  ///< of the approximate sin, cos, exp, log in f32
  const char* global = "";        ///< qualifier of memory of the device, with a space behind it
  const char* constant = "";      ///< of tables
  /// Declaration of a table: type {0}, name {1}, entries {2}.
  const char* table = "";
  /// Declaration of a march's local memory: type {0}, name {1}, elements {2}.
  const char* staging = "";
  const char* index_suffix = "u";                ///< of a literal of the index type
  const char* wide_index_suffix = "ul";          ///< where that has 64 bits
  const char* wide_suffix = "ul";                ///< of a literal of wide_type
  const char* wide_type = "unsigned long";       ///< vphi_wide
  const char* draw_type = "unsigned long long";  ///< 64 bits, of random numbers
  const char* product = "";                      ///< body: the 64-bit product of `a` and `b`
  const char* group = "";                        ///< number of the group where the grid is a line
  const char* fence = "";                        ///< statement: vphi_fence of OpenCL's prelude
  const char* assembler = "";                    ///< keyword of PTX
  const char* rematerialise = "";                ///< statement: what is in memory may have changed
  const char* keep = "";                         ///< statement: `kept` is not to be made again
  const char* bits_of_float = "";                ///< functions between numbers and their bits
  const char* float_of_bits = "";
  const char* double_of_bits = "";
  const char* long_suffix = "";  ///< of a literal with 64 bits
  const char* reference = "";    ///< of a parameter that is not copied
};

/// Names of texts in templates/.
struct Texts {
  const char* prelude = "";
  const char* main = "";       ///< of a file that runs by itself
  const char* groups = "";     ///< numbers of the groups
  const char* copies = "";     ///< a march's copies into local memory, and exchange of lanes
  const char* lanes_f32 = "";  ///< that exchange, where it is a text of its own
  const char* lanes_f64 = "";
  const char* line_copies = "";  ///< the same of lines
  const char* quick = "";        ///< approximate quotients and roots, f32
  const char* near = "";         ///< quotients and roots to the last place, f32
  const char* quick_draws = "";  ///< of random numbers
  const char* quick_lines = "";  ///< of lines
  const char* seeds = "";        ///< seeds of quotients and roots in f64
  const char* unit_log = "";     ///< bits for the logarithm of a uniform number
  const char* wait = "";         ///< groups that wait for each other
};

/// What a device can do.
struct Abilities {
  bool approximate = false;       ///< functions of a few units in the last place, denormals are 0
  bool exchange_lanes = false;    ///< neighbouring threads hand each other numbers
  bool copy_together = false;     ///< threads of a warp fill local memory for each other
  bool ordered_fence = false;     ///< one thread's fence covers what a barrier ordered before it
  bool launch_memory = false;     ///< local memory is given with the launch, not by the text
  bool safe_index = false;        ///< NaN becomes 0 where it is made an integer
  bool vector_functions = false;  ///< tanh and others are best made of exp, sin, cos
  bool turns_for_all = false;   ///< in f64 the functions of sincos.hpp cost less than the device's
  bool asks_registers = false;  ///< takes `// vphi: registers=N`, not a number of groups
};

/// Counts that measurements gave.
struct Tuned {
  int pair_threads = 128;            ///< of a group that sums over pairs
  std::int64_t round_threads = 256;  ///< most of a group that has the only instance
  std::int64_t round_sites = 4096;   ///< most sites of such a group
};

struct Dialect {
  const char* name = "";   ///< what `vphi emit --to` takes
  const char* shown = "";  ///< in messages
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

/// How the C function `name` is spelled: "fmin" may be fminf.
std::string spelled(const Dialect& dialect, const std::string& name, Precision precision);
/// Name of the function for `op` (one or two real arguments) in a dialect; empty where `op` is not
/// a function call.
std::string function_name(algebra::Op op, Precision precision, const Dialect& dialect);

}  // namespace vphi::emit
