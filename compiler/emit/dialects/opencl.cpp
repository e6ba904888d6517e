// OpenCL C: on processors a thread takes rows, on GPUs groups share local memory, and on NVIDIA's
// GPUs instructions of PTX stand in the text.
#include "compiler/emit/dialects/dialect.hpp"

namespace vphi::emit {
namespace {

Dialect general() {
  return {
      .name = "opencl",
      .shown = "OpenCL",
      .words = {.quick_prefix = "native_",
                .global = "__global ",
                .constant = "__constant ",
                .table = "__constant {} {}[{}] __attribute__((aligned(16)))",
                .staging = "__local {} {}[{}];",
                .draw_type = "ulong",
                .product = "return (ulong)a * b;",
                .group = "(unsigned)get_group_id(0)",
                .fence = "mem_fence(CLK_GLOBAL_MEM_FENCE);",
                .assembler = "__asm__",
                .bits_of_float = "as_int",
                .float_of_bits = "as_float",
                .double_of_bits = "as_double",
                .long_suffix = "l"},
      .texts = {.prelude = "prelude_opencl.txt",
                .main = "main_opencl.txt",
                .groups = "groups_opencl.txt",
                .copies = "async_none.txt",
                .line_copies = "lines_copy_none.txt",
                .quick = "fast_math_nvidia.txt",
                .quick_draws = "fast_math_draws_nvidia.txt",
                .quick_lines = "fast_math_lines_nvidia.txt",
                .seeds = "seeds_nvidia.txt",
                .unit_log = "log_of_unit_opencl.txt"},
      .can = {.sincos_for_all = true},
  };
}

Dialect on_processor() {
  Dialect dialect = general();
  dialect.work = Work::Rows;
  return dialect;
}

Dialect on_nvidia() {
  Dialect dialect = general();
  dialect.words.fence = "__asm__ volatile(\"membar.gl;\" ::: \"memory\");";
  dialect.words.product =
      "ulong product;\n"
      "__asm__(\"mul.wide.u32 %0, %1, %2;\" : \"=l\"(product) : \"r\"(a), \"r\"(b));\n"
      "return product;";
  dialect.words.rematerialise = "__asm__ volatile(\"\" ::: \"memory\");";
  dialect.words.keep = "__asm__ volatile(\"\" : \"+l\"(kept));";
  dialect.words.low_bits_f32 = "as_int({})";
  dialect.words.low_bits_f64 = "as_int2({}).x";
  dialect.texts.copies = "async_nvidia.txt";
  dialect.texts.lanes_f32 = "lanes_f32.txt";
  dialect.texts.lanes_f64 = "lanes_f64.txt";
  dialect.texts.line_copies = "lines_copy_nvidia.txt";
  dialect.texts.near = "near_math_f32.txt";
  dialect.texts.unit_log = "log_of_unit_nvidia.txt";
  dialect.can.approximate = dialect.can.exchange_lanes = dialect.can.copy_together = true;
  dialect.can.ordered_fence = dialect.can.asks_registers = true;
  return dialect;
}

}  // namespace

const Dialect& opencl_dialect(bool processor, bool nvidia) {
  static const Dialect kProcessor = on_processor(), kGeneral = general(), kNvidia = on_nvidia();
  return processor ? kProcessor : nvidia ? kNvidia : kGeneral;
}

}  // namespace vphi::emit
