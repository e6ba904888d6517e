// Names of the datasets of one result file: each means one quantity.
#pragma once

#include "compiler/physics/stages/context.hpp"

#include <map>
#include <string>
#include <utility>

namespace vphi::physics {

/// What is written of an output besides its values.
struct OutputOptions {
  std::string text;    ///< "type = 1, k = effective"
  bool named = false;  ///< the output has a name of its own
};
/// By the numbers of the clause and of the observable there.
using WrittenOptions = std::map<std::pair<std::size_t, std::size_t>, OutputOptions>;

/// Outputs of one file that differ in their options only get these in their names. What still has
/// the name of another quantity, or stands twice in one clause, is an error (E0798).
void settle_names(const Context& d, std::vector<OutputClause>& outputs,
                  const WrittenOptions& options);

}  // namespace vphi::physics
