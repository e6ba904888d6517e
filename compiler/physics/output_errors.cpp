#include "compiler/physics/output_errors.hpp"

#include <fmt/format.h>

#include "dsl/error.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

Diagnostic same_output_name(Span span, const std::string& name, const std::string& file, Span first,
                            bool twice) {
  const std::string where = file.empty() ? "" : fmt::format(" of \"{}\"", file);
  Diagnostic d =
      dsl::error("E0798", span, fmt::format("`{}` names two outputs{}", name, where), "",
                 twice ? "each output of a clause is a dataset of its own"
                       : "outputs of one name in one file are one dataset, and one quantity",
                 twice ? "leave one away, or give one a name: `name = ...`"
                       : "give one a name of its own, `name = ...`, or another file");
  d.labels.push_back({first, "this is the first"});
  return d;
}

}  // namespace vphi::physics::errors
