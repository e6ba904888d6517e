#include "compiler/audit/clang/functions.hpp"

#include <algorithm>
#include <array>

namespace vphi::plugin {
namespace {

constexpr std::array<std::string_view, 38> kSpecial = {
    "sqrt",  "rsqrt", "cbrt", "exp",   "exp2",  "exp10", "expm1",  "log",   "log2",   "log10",
    "log1p", "sin",   "cos",  "tan",   "sinpi", "cospi", "asin",   "acos",  "atan",   "atan2",
    "sinh",  "cosh",  "tanh", "asinh", "acosh", "atanh", "erf",    "erfc",  "tgamma", "lgamma",
    "pow",   "powr",  "pown", "hypot", "fmod",  "recip", "divide", "sincos"};

// One operation each.
constexpr std::array<std::string_view, 16> kSimple = {
    "fabs", "floor", "ceil", "trunc", "rint",     "round", "fmin",  "fmax",
    "min",  "max",   "abs",  "sign",  "copysign", "isnan", "isinf", "isfinite"};

// Not arithmetic: bits seen as another type, neutral hints.
constexpr std::array<std::string_view, 13> kFree = {
    "__longlong_as_double",    "__double_as_longlong", "__int_as_float",  "__uint_as_float",
    "__double2loint",          "__float_as_int",       "__float_as_uint", "__builtin_inf",
    "__builtin_inff",          "__builtin_nan",        "__builtin_nanf",  "__builtin_expect",
    "__builtin_assume_aligned"};

// PTX ISA, floating-point instructions with an approximate form, and those with a rounding of
// their own.
constexpr std::array<std::string_view, 13> kInstructions = {
    "rsqrt", "sqrt", "rcp", "div", "sin", "cos", "lg2", "ex2", "add", "fma", "cvt", "max", "min"};

constexpr std::array<std::string_view, 8> kRounded = {"add",    "sub",    "mul",    "div",
                                                      "add_rn", "sub_rn", "mul_rn", "div_rn"};

template <std::size_t n>
bool holds(const std::array<std::string_view, n>& table, std::string_view name) {
  return std::find(table.begin(), table.end(), name) != table.end();
}

std::string_view without(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

}  // namespace

KnownCost known_cost(std::string_view name) {
  if (holds(kFree, name)) return {0, 0};
  // __fadd_rn, __dmul_rn: additions and products that are not merged.
  if ((name.starts_with("__f") || name.starts_with("__d")) && name.ends_with("_rn") &&
      holds(kRounded, name.substr(3)))
    return {1, 0};
  if (name == "__fmaf_rn" || name == "__fma_rn") return {2, 0};
  // __logf, __fdividef: CUDA's approximations, in f32 alone.
  if (name == "__fdividef") return {0, 1};
  if (name.starts_with("__") && name.ends_with("f") &&
      holds(kSpecial, name.substr(2, name.size() - 3)))
    return {0, 1};
  for (std::string_view prefix : {"__builtin_", "native_", "half_"}) name = without(name, prefix);
  for (int single = 0; single < 2; ++single) {
    if (name == "fma" || name == "mad") return {2, 0};
    if (holds(kSpecial, name)) return {0, 1};
    if (holds(kSimple, name)) return {1, 0};
    if (!name.ends_with("f")) break;
    name.remove_suffix(1);
  }
  return {};
}

bool is_arithmetic_instruction(std::string_view text) {
  return holds(kInstructions, text.substr(0, text.find('.'))) &&
         text.find(';') == text.size() - 1 && text.find_first_of("@{\n") == text.npos;
}

}  // namespace vphi::plugin
