#include "compiler/emit/dialects/dialect.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "compiler/algebra/ops.hpp"
#include "compiler/emit/math/vector_math.hpp"

namespace vphi::emit {
namespace {

using algebra::Op;

template <class T>
std::string shortest(T value, const char* suffix) {
  if (std::isnan(value)) return "VPHI_NAN";
  if (std::isinf(value)) return value > 0 ? "VPHI_INFINITY" : "(-VPHI_INFINITY)";
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  text += suffix;
  return text.front() == '-' ? "(" + text + ")" : text;
}

// num/den rounded once. A quotient of 64-bit integers that is not the middle between two doubles
// differs from it by more than 2^-117 of itself, so 113 bits for the intermediate result are
// enough.
template <class T>
T quotient(const algebra::Rational& r) {
  return static_cast<T>(static_cast<__float128>(r.num) / static_cast<__float128>(r.den));
}

}  // namespace

const Dialect& dialect_of(const TargetInfo& target) {
  switch (target.target) {
    case program::Target::Cuda:
      return cuda_dialect();
    case program::Target::OpenCL:
      return opencl_dialect(target.is_cpu, target.nvidia);
    case program::Target::Hip:
      return hip_dialect();
    case program::Target::Native:
      break;
  }
  return native_dialect();
}

const char* type_name(Precision precision) {
  return precision == Precision::F32 ? "float" : "double";
}

int bytes_of(Precision precision) { return precision == Precision::F32 ? 4 : 8; }

std::string literal(const algebra::Number& number, Precision precision) {
  if (!number.exact) return literal(number.real, precision);
  if (precision == Precision::F32) return shortest(quotient<float>(number.rational), "f");
  return shortest(quotient<double>(number.rational), "");
}

std::string literal(long double value, Precision precision) {
  if (precision == Precision::F32) return shortest(static_cast<float>(value), "f");
  return shortest(static_cast<double>(value), "");
}

std::string spelled(const Dialect& dialect, const std::string& name, Precision precision) {
  const Words& words = dialect.words;
  return words.function_prefix + name +
         (precision == Precision::F32 ? words.suffix_f32 : words.suffix_f64);
}

std::string function_name(Op op, Precision precision, const Dialect& dialect) {
  if (dialect.can.vector_functions)
    if (std::string own = vector_function(op, precision); !own.empty()) return own;
  const std::string_view name = algebra::row(op).c_name;
  return name.empty() ? std::string() : spelled(dialect, std::string(name), precision);
}

}  // namespace vphi::emit
