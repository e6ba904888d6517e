// Names of the data sets of a result file: each name stands for one quantity.
#pragma once

#include "compiler/physics/stages/context.hpp"

#include <map>
#include <string>
#include <utility>

namespace vphi::physics {

/// How the model writes an output.
struct OutputOptions {
  std::string text;    ///< "type = 1, k = effective"
  bool named = false;  ///< the output has a name of its own
};
/// The key: number of the clause and number of the observable in it.
using WrittenOptions = std::map<std::pair<std::size_t, std::size_t>, OutputOptions>;

/// Outputs of one file that differ only in their options get these options in their names. Any
/// remaining pair of outputs with one name, or an output that is twice in a clause, is an error
/// (E0798).
void settle_names(const Context& d, std::vector<OutputClause>& outputs,
                  const WrittenOptions& options);

}  // namespace vphi::physics
