// Changes of a model outside of its text, as strings: options of the command, of a checkpoint that
// is continued, or of a call from C++ or Python.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/model/options.hpp"

namespace vphi::embed {

struct Overrides {
  std::vector<std::string> set;   ///< "NAME=EXPR"
  std::vector<std::string> free;  ///< names of parameters: CompileOptions::free
  std::string lattice, until, precision, seed;
  std::int64_t steps = -1, batch = 0;

  /// Throws Error (E0810) where a string is not valid.
  CompileOptions compile_options() const;
};

/// Options in the form stored in a checkpoint, and back: options missing in `given` are taken from
/// `call`. --steps and --until exclude each other.
std::vector<std::pair<std::string, std::string>> call_of(const Overrides& options);
Overrides continued(const Overrides& given,
                    const std::vector<std::pair<std::string, std::string>>& call);

}  // namespace vphi::embed
