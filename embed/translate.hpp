// Converts exceptions of the compiler and the runtime to Error (embed/error.hpp), with the codes
// that the command prints.
#pragma once

#include <utility>

#include "compiler/compile.hpp"
#include "embed/error.hpp"
#include "runtime/device/cuda/cuda.hpp"

namespace vphi::embed {

/// To be called while an exception is handled: throws it again as an Error. `compilation`: of the
/// run, to find the term that made the state NaN; null where there is none.
[[noreturn]] void throw_translated(const Compilation* compilation = nullptr);

/// Around a call of the library: errors become Errors, and the caller's GPU stays current.
template <class Work>
decltype(auto) translated(Work&& work, const Compilation* compilation = nullptr) {
  const runtime::CallersContext context;
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    throw_translated(compilation);
  }
}

}  // namespace vphi::embed
