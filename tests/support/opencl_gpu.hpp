// Code as GPUs take it, for an OpenCL device that is a processor: its source runs there too.
#pragma once

#include <fstream>
#include <string>

#include "compiler/compile.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::testing {

/// A GPU of `compute_units`, to which a model is compiled in place of the processor.
inline emit::TargetInfo opencl_gpu(int compute_units, std::size_t local_bytes = 227 * 1024) {
  emit::TargetInfo target;
  target.target = program::Target::OpenCL;
  target.is_cpu = false;
  target.compute_units = compute_units;
  target.local_bytes = local_bytes;
  return target;
}

inline Compilation compile_for_gpu(const std::string& text, const emit::TargetInfo& gpu) {
  const ScratchFolder folder;
  const std::string path = folder / "model.vphi";
  std::ofstream(path) << text;
  return compile_model(path, {}, gpu);
}

}  // namespace vphi::testing
