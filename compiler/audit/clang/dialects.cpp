#include "compiler/audit/clang/dialects.hpp"

namespace vphi::plugin {
namespace {

// CUDA C++ Programming Guide: execution space specifiers, built-in variables and functions.
constexpr const char* kCuda = R"(#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
typedef __SIZE_TYPE__ size_t;
typedef __UINTPTR_TYPE__ uintptr_t;
struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };
struct __align__(8) float2 { float x, y; };
struct __align__(16) float4 { float x, y, z, w; };
struct __align__(16) double2 { double x, y; };
struct __align__(8) int2 { int x, y; };
struct __align__(16) int4 { int x, y, z, w; };
struct __align__(8) uint2 { unsigned x, y; };
struct __align__(16) uint4 { unsigned x, y, z, w; };
__device__ float2 make_float2(float, float);
__device__ float4 make_float4(float, float, float, float);
__device__ double2 make_double2(double, double);
__device__ int4 make_int4(int, int, int, int);
__device__ uint4 make_uint4(unsigned, unsigned, unsigned, unsigned);
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern const __device__ int warpSize;
__device__ void __syncthreads();
__device__ void __syncwarp(unsigned = 0xffffffffu);
__device__ void __threadfence();
__device__ void __threadfence_block();
#define VPHI_ATOMIC(type) \
  __device__ type atomicAdd(type*, type); __device__ type atomicMax(type*, type); \
  __device__ type atomicMin(type*, type); __device__ type atomicExch(type*, type); \
  __device__ type atomicCAS(type*, type, type);
VPHI_ATOMIC(int) VPHI_ATOMIC(unsigned) VPHI_ATOMIC(unsigned long long)
__device__ float atomicAdd(float*, float);
__device__ double atomicAdd(double*, double);
__device__ unsigned atomicInc(unsigned*, unsigned);
#define VPHI_TYPES(V) V(float) V(double) V(int) V(unsigned) V(float2) V(float4) V(double2) V(int4)
#define VPHI_ACCESS(type) \
  __device__ type __ldg(const type*); __device__ type __ldcg(const type*); \
  __device__ type __ldca(const type*); __device__ type __ldcs(const type*); \
  __device__ type __ldlu(const type*); __device__ type __ldcv(const type*); \
  __device__ void __stcg(type*, type); __device__ void __stcs(type*, type); \
  __device__ void __stwb(type*, type); __device__ void __stwt(type*, type);
VPHI_TYPES(VPHI_ACCESS)
#define VPHI_SHUFFLE(type) \
  __device__ type __shfl_sync(unsigned, type, int, int = 32); \
  __device__ type __shfl_up_sync(unsigned, type, unsigned, int = 32); \
  __device__ type __shfl_down_sync(unsigned, type, unsigned, int = 32); \
  __device__ type __shfl_xor_sync(unsigned, type, int, int = 32);
VPHI_SHUFFLE(int) VPHI_SHUFFLE(unsigned) VPHI_SHUFFLE(float) VPHI_SHUFFLE(double)
__device__ size_t __cvta_generic_to_shared(const void*);
__device__ double __longlong_as_double(long long);
__device__ long long __double_as_longlong(double);
__device__ float __int_as_float(int);
__device__ float __uint_as_float(unsigned);
__device__ int __float_as_int(float);
__device__ int __double2loint(double);
__device__ unsigned __float_as_uint(float);
__device__ unsigned __umulhi(unsigned, unsigned);
#define VPHI_ROUNDED(name) \
  __device__ float __f##name##_rn(float, float); __device__ double __d##name##_rn(double, double);
VPHI_ROUNDED(add) VPHI_ROUNDED(sub) VPHI_ROUNDED(mul) VPHI_ROUNDED(div)
__device__ float __fmaf_rn(float, float, float);
__device__ double __fma_rn(double, double, double);
__device__ float __fdividef(float, float);
__device__ float __sinf(float);
__device__ float __cosf(float);
__device__ float __tanf(float);
__device__ float __expf(float);
__device__ float __exp10f(float);
__device__ float __logf(float);
__device__ float __log2f(float);
__device__ float __log10f(float);
__device__ float __powf(float, float);
__device__ float __frcp_rn(float);
__device__ double __drcp_rn(double);
__device__ float __fsqrt_rn(float);
__device__ double __dsqrt_rn(double);
#define VPHI_1(name) __device__ double name(double); __device__ float name##f(float);
#define VPHI_2(name) __device__ double name(double, double); __device__ float name##f(float, float);
VPHI_1(sqrt) VPHI_1(rsqrt) VPHI_1(cbrt) VPHI_1(exp) VPHI_1(exp2) VPHI_1(exp10) VPHI_1(expm1)
VPHI_1(log) VPHI_1(log2) VPHI_1(log10) VPHI_1(log1p) VPHI_1(sin) VPHI_1(cos) VPHI_1(tan)
VPHI_1(sinpi) VPHI_1(cospi) VPHI_1(asin) VPHI_1(acos) VPHI_1(atan) VPHI_1(sinh) VPHI_1(cosh)
VPHI_1(tanh) VPHI_1(asinh) VPHI_1(acosh) VPHI_1(atanh) VPHI_1(fabs) VPHI_1(floor) VPHI_1(ceil)
VPHI_1(trunc) VPHI_1(rint) VPHI_1(erf) VPHI_1(erfc) VPHI_1(tgamma) VPHI_1(lgamma)
VPHI_2(pow) VPHI_2(atan2) VPHI_2(fmod) VPHI_2(fmin) VPHI_2(fmax) VPHI_2(hypot) VPHI_2(copysign)
__device__ double fma(double, double, double);
__device__ float fmaf(float, float, float);
__device__ int min(int, int);
__device__ int max(int, int);
__device__ int isnan(double);
__device__ int isfinite(double);
)";

// OpenCL C 1.2, what clang does not declare by itself (its own header is opencl-c-base.h).
constexpr const char* kOpenCl = R"(
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
#define VPHI_VECTORS(type) \
  typedef type type##2 __attribute__((ext_vector_type(2))); \
  typedef type type##3 __attribute__((ext_vector_type(3))); \
  typedef type type##4 __attribute__((ext_vector_type(4))); \
  typedef type type##8 __attribute__((ext_vector_type(8))); \
  typedef type type##16 __attribute__((ext_vector_type(16)));
VPHI_VECTORS(char) VPHI_VECTORS(uchar) VPHI_VECTORS(short) VPHI_VECTORS(ushort) VPHI_VECTORS(int)
VPHI_VECTORS(uint) VPHI_VECTORS(long) VPHI_VECTORS(ulong) VPHI_VECTORS(float) VPHI_VECTORS(double)
typedef uint cl_mem_fence_flags;
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define NULL ((void*)0)
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define HUGE_VAL (__builtin_huge_val())
#define M_PI 3.14159265358979323846
#define as_int(x) __builtin_astype((x), int)
#define as_int2(x) __builtin_astype((x), int2)
#define as_int4(x) __builtin_astype((x), int4)
#define as_uint(x) __builtin_astype((x), uint)
#define as_uint2(x) __builtin_astype((x), uint2)
#define as_uint4(x) __builtin_astype((x), uint4)
#define as_long(x) __builtin_astype((x), long)
#define as_long2(x) __builtin_astype((x), long2)
#define as_ulong(x) __builtin_astype((x), ulong)
#define as_ulong2(x) __builtin_astype((x), ulong2)
#define as_float(x) __builtin_astype((x), float)
#define as_float2(x) __builtin_astype((x), float2)
#define as_float4(x) __builtin_astype((x), float4)
#define as_double(x) __builtin_astype((x), double)
#define as_double2(x) __builtin_astype((x), double2)
)";

}  // namespace

Dialect dialect(const std::string& name) {
  const std::vector<std::string> common{"-fsyntax-only",     "-w",
                                        "-nostdsysteminc",   "-nobuiltininc",
                                        "-internal-isystem", "/vphi/include"};
  Dialect result;
  if (name == "cuda") {
    result.file = "/vphi/kernel.cu";
    result.declarations = kCuda;
    result.arguments = {"-triple",
                        "nvptx64-nvidia-cuda",
                        "-aux-triple",
                        "x86_64-unknown-linux-gnu",
                        "-x",
                        "cuda",
                        "-std=c++17",
                        "-fcuda-is-device",
                        "-target-cpu",
                        "sm_90",
                        "-target-feature",
                        "+ptx80",
                        "-include",
                        "/vphi/include/vphi_dialect.h"};
  } else if (name == "opencl") {
    result.file = "/vphi/kernel.cl";
    result.declarations = kOpenCl;
    result.arguments = {
        "-triple",       "nvptx64-nvidia-nvcl",       "-x",       "cl",
        "-cl-std=CL1.2", "-fdeclare-opencl-builtins", "-include", "/vphi/include/vphi_dialect.h"};
  } else {
    result.file = "/vphi/kernel.cpp";
    result.arguments = {"-triple", "x86_64-unknown-linux-gnu", "-x", "c++", "-std=c++20"};
  }
  result.arguments.insert(result.arguments.end(), common.begin(), common.end());
  result.arguments.push_back(result.file);
  return result;
}

}  // namespace vphi::plugin
