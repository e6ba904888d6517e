// C++ for the processor, compiled in the process.
#include "compiler/emit/dialects/dialect.hpp"

namespace vphi::emit {

const Dialect& native_dialect() {
  static const Dialect kNative{
      .name = "native",
      .shown = "C++",
      .work = Work::Tasks,
      .words = {.function_prefix = "__builtin_",
                .suffix_f32 = "f",
                .table = "alignas(16) static const {} {}[{}]",
                .index_suffix = "",
                .wide_index_suffix = "",
                .wide_suffix = "",
                .product = "return (unsigned long long)a * b;",
                .reference = "&"},
      .texts = {.prelude = "prelude_cpp.txt", .main = "main_cpp.txt"},
      .can = {.vector_functions = true},
  };
  return kNative;
}

}  // namespace vphi::emit
