// CUDA C++ for NVIDIA's GPUs.
#include "compiler/emit/dialects/dialect.hpp"

namespace vphi::emit {

const Dialect& cuda_dialect() {
  static const Dialect kCuda{
      .name = "cuda",
      .shown = "CUDA",
      .words = {.suffix_f32 = "f",
                .quick_prefix = "__",
                .table = "static __device__ const __align__(16) {} {}[{}]",
                .staging = "extern __shared__ {} {}[];",
                .wide_suffix = "ull",
                .wide_type = "unsigned long long",
                .product = "unsigned long long product;\n"
                           "asm(\"mul.wide.u32 %0, %1, %2;\" : \"=l\"(product) : \"r\"(a), "
                           "\"r\"(b));\nreturn product;",
                .group = "blockIdx.x",
                .assembler = "asm",
                .rematerialise = "asm volatile(\"\" ::: \"memory\");",
                .keep = "asm volatile(\"\" : \"+l\"(kept));",
                .bits_of_float = "__float_as_int",
                .float_of_bits = "__int_as_float",
                .double_of_bits = "__longlong_as_double",
                .low_bits_f32 = "__float_as_int({})",
                .low_bits_f64 = "__double2loint({})",
                .long_suffix = "ll"},
      .texts = {.prelude = "prelude_cuda.txt",
                .main = "main_cuda.txt",
                .groups = "groups_cuda.txt",
                .copies = "async_cuda.txt",
                .line_copies = "lines_copy_cuda.txt",
                .quick = "fast_math_cuda.txt",
                .near = "near_math_f32.txt",
                .extremes = "extremes_cuda.txt",
                .quick_draws = "fast_math_draws_cuda.txt",
                .quick_lines = "fast_math_lines_cuda.txt",
                .seeds = "seeds_cuda.txt",
                .unit_log = "log_of_unit_cuda.txt",
                .wait = "persistent_wait_cuda.txt"},
      .can = {.approximate = true,
              .exchange_lanes = true,
              .copy_together = true,
              .ordered_fence = true,
              .launch_memory = true,
              .one_address_space = true,
              .safe_index = true,
              .sincos_for_all = true},
      .tuned = {.pair_threads = 256, .persistent_threads = 512, .persistent_sites = 2048},
  };
  return kCuda;
}

}  // namespace vphi::emit
