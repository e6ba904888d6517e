// HIP for AMD's GPUs. Its prelude defines the names that the OpenCL texts use, so copies, groups
// and logarithms are written as in OpenCL. Functions are those of the device library.
#include "compiler/emit/dialects/dialect.hpp"

namespace vphi::emit {

const Dialect& hip_dialect() {
  static const Dialect kHip{
      .name = "hip",
      .shown = "HIP",
      .words = {.function_prefix = "__ocml_",
                .suffix_f32 = "_f32",
                .suffix_f64 = "_f64",
                .table = "static __attribute__((device, aligned(16))) const {} {}[{}]",
                .staging = "VPHI_LOCAL {} {}[{}];",
                .product = "return (unsigned long long)a * b;",
                .group = "(unsigned)get_group_id(0)",
                .rematerialise = "__asm__ volatile(\"\" ::: \"memory\");"},
      .texts = {.prelude = "prelude_hip.txt",
                .groups = "groups_opencl.txt",
                .copies = "async_none.txt",
                .line_copies = "lines_copy_none.txt",
                .unit_log = "log_of_unit_opencl.txt"},
      .can = {.sincos_for_all = true},
      .tuned = {.pair_threads = 256},
  };
  return kHip;
}

}  // namespace vphi::emit
