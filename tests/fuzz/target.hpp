// Functions common to all fuzz targets.
//
// A target is one function, LLVMFuzzerTestOneInput: for any bytes it returns 0, without a crash, an
// endless loop or a violated property. Properties are checked by `must`, which ends the process
// where one is violated, in every build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "dsl/syntax/load.hpp"
#include "dsl/syntax/parse.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace vphi::fuzz {

inline void must(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline std::shared_ptr<const dsl::Source> source_of(std::string text) {
  return std::make_shared<const dsl::Source>("fuzz.vphi", std::move(text));
}

/// The library texts, read once.
inline const std::vector<dsl::ModelText>& library() {
  static const std::vector<dsl::ModelText> kLibrary = [] {
    dsl::Diagnostics reading;
    return dsl::load_library(reading);
  }();
  return kLibrary;
}

}  // namespace vphi::fuzz
