// The parts of standard headers that emitted C++ may use, for the in-process compiler, which reads
// no files.
#pragma once

namespace vphi::plugin {

struct Header {
  const char* name;
  const char* text;
};

inline constexpr const char* kCmath = R"(#pragma once
#define VPHI_1(name) \
  extern "C" double name(double) noexcept; \
  extern "C" float name##f(float) noexcept; \
  namespace std { using ::name; inline float name(float x) { return ::name##f(x); } }
#define VPHI_2(name) \
  extern "C" double name(double, double) noexcept; \
  extern "C" float name##f(float, float) noexcept; \
  namespace std { using ::name; inline float name(float x, float y) { return ::name##f(x, y); } }
VPHI_1(sqrt) VPHI_1(cbrt) VPHI_1(exp) VPHI_1(exp2) VPHI_1(expm1) VPHI_1(log) VPHI_1(log2)
VPHI_1(log10) VPHI_1(log1p) VPHI_1(sin) VPHI_1(cos) VPHI_1(tan) VPHI_1(asin) VPHI_1(acos)
VPHI_1(atan) VPHI_1(sinh) VPHI_1(cosh) VPHI_1(tanh) VPHI_1(asinh) VPHI_1(acosh) VPHI_1(atanh)
VPHI_1(fabs) VPHI_1(floor) VPHI_1(ceil) VPHI_1(trunc) VPHI_1(rint) VPHI_1(erf) VPHI_1(erfc)
VPHI_1(tgamma) VPHI_1(lgamma)
VPHI_2(pow) VPHI_2(atan2) VPHI_2(fmod) VPHI_2(fmin) VPHI_2(fmax) VPHI_2(hypot) VPHI_2(copysign)
#undef VPHI_1
#undef VPHI_2
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
namespace std {
using ::fma;
inline float fma(float x, float y, float z) { return ::fmaf(x, y, z); }
inline double abs(double x) { return __builtin_fabs(x); }
inline float abs(float x) { return __builtin_fabsf(x); }
inline bool isnan(double x) { return __builtin_isnan(x); }
inline bool isinf(double x) { return __builtin_isinf(x); }
inline bool isfinite(double x) { return __builtin_isfinite(x); }
}
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
)";

inline constexpr const char* kCstddef = R"(#pragma once
using size_t = decltype(sizeof 0);
using ptrdiff_t = decltype((char*)0 - (char*)0);
namespace std { using ::size_t; using ::ptrdiff_t; using nullptr_t = decltype(nullptr); }
#define NULL nullptr
)";

inline constexpr const char* kCstdint = R"(#pragma once
using int8_t = __INT8_TYPE__;
using int16_t = __INT16_TYPE__;
using int32_t = __INT32_TYPE__;
using int64_t = __INT64_TYPE__;
using uint8_t = __UINT8_TYPE__;
using uint16_t = __UINT16_TYPE__;
using uint32_t = __UINT32_TYPE__;
using uint64_t = __UINT64_TYPE__;
using uintptr_t = __UINTPTR_TYPE__;
using intptr_t = __INTPTR_TYPE__;
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::uintptr_t; using ::intptr_t;
}
)";

inline constexpr const char* kCstring = R"(#pragma once
#include <cstddef>
extern "C" void* memcpy(void*, const void*, size_t) noexcept;
extern "C" void* memmove(void*, const void*, size_t) noexcept;
extern "C" void* memset(void*, int, size_t) noexcept;
namespace std { using ::memcpy; using ::memmove; using ::memset; }
)";

inline constexpr Header kHeaders[] = {
    {"cmath", kCmath},     {"math.h", kCmath},     {"cstddef", kCstddef}, {"stddef.h", kCstddef},
    {"cstdint", kCstdint}, {"stdint.h", kCstdint}, {"cstring", kCstring}, {"string.h", kCstring},
};

}  // namespace vphi::plugin
