#include "compiler/emit/math/sincos.hpp"

#include <fmt/format.h>

#include <numbers>
#include <span>

#include "compiler/emit/text/fill.hpp"

namespace vphi::emit {
namespace {

const char* suffix(Precision precision) { return precision == Precision::F32 ? "f32" : "f64"; }

// Chebyshev fits on 0 <= z <= (pi/4)^2, highest power first: (sin x - x)/x^3 and
// (cos x - 1 + z/2)/z^2 with z = x^2; absolute errors 2e-17 and 1e-18, in f32 2e-8 and 2e-9.
constexpr long double kSine64[] = {1.591811526326597519e-10L, -2.505113165023518147e-8L,
                                   2.755731610161787444e-6L,  -1.984126983675677253e-4L,
                                   8.333333333330947294e-3L,  -1.666666666666666462e-1L};
constexpr long double kCosine64[] = {-1.138262364747460463e-11L, 2.087614614655861158e-9L,
                                     -2.755731727114514596e-7L,  2.480158729876456077e-5L,
                                     -1.388888888888739649e-3L,  4.166666666666666539e-2L};
constexpr long double kSine32[] = {-1.958786570210187513e-4L, 8.332748154085032145e-3L,
                                   -1.666666466171469846e-1L};
constexpr long double kCosine32[] = {2.454791685369101693e-5L, -1.388830291911363281e-3L,
                                     4.166664465890140372e-2L};

// pi/2 in parts of 33 bits and the rest, in f32 of 8 and 11.
struct Parts {
  long double first, second, third, limit, magic;
};
constexpr Parts kParts64{0x1.921fb544p0L, 0x1.0b4611a6p-34L, 0x1.3198a2e037073p-69L, 0x1p49L,
                         0x1.8p52L};
constexpr Parts kParts32{0x1.92p0L, 0x1.fb4p-12L, 0x1.4442d2p-24L, 0x1p21L, 0x1.8p23L};

std::string horner(std::span<const long double> coefficients, Precision precision) {
  std::string text = literal(coefficients[0], precision);
  for (std::size_t i = 1; i < coefficients.size(); ++i)
    text = (i > 1 ? "(" + text + ")" : text) + "*z + " + literal(coefficients[i], precision);
  return text;
}

}  // namespace

std::string sincos_function(algebra::Op op, Precision precision) {
  return std::string(op == algebra::Op::Sin ? "vphi_sin_" : "vphi_cos_") + suffix(precision);
}

Code sincos_functions(Precision precision, const Dialect& dialect) {
  const bool f32 = precision == Precision::F32;
  const Parts& parts = f32 ? kParts32 : kParts64;
  const auto number = [&](long double v) { return literal(v, precision); };
  Slots slots;
  slots["real"] = type_name(precision);
  slots["suffix"] = suffix(precision);
  slots["fabs"] = function_name(algebra::Op::Abs, precision, dialect);
  slots["two_over_pi"] = number(2 * std::numbers::inv_pi_v<long double>);
  slots["magic"] = number(parts.magic);
  slots["limit"] = number(parts.limit);
  slots["pi_first"] = number(parts.first);
  slots["pi_second"] = number(parts.second);
  slots["pi_third"] = number(parts.third);
  slots["half"] = number(0.5L);
  slots["one"] = number(1);
  const char* low_bits = f32 ? dialect.words.low_bits_f32 : dialect.words.low_bits_f64;
  if (*low_bits != '\0') {
    slots["whole"] = "";
    slots["number"] = fmt::format(fmt::runtime(low_bits), "turned");
  } else {
    slots["whole"] = code("const {} whole = ({}*quarters + {}) - {};\n", type_name(precision),
                          number(0.25L), number(parts.magic), number(parts.magic));
    slots["number"] = code("(int)vphi_select_{}(near, quarters - {}*whole, {})", suffix(precision),
                           number(4), number(0));
  }
  slots["sine"] = f32 ? horner(kSine32, precision) : horner(kSine64, precision);
  slots["cosine"] = f32 ? horner(kCosine32, precision) : horner(kCosine64, precision);
  return fill("sincos.txt", slots);
}

Code sincos_functions_for(const Calls& calls, const Dialect& dialect) {
  Code text;
  for (const Precision precision : {Precision::F32, Precision::F64})
    if (calls.turns(precision)) text += sincos_functions(precision, dialect);
  return text;
}

}  // namespace vphi::emit
