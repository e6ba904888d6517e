#include "compiler/physics/output_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

Diagnostic output_time_of_chain(Span span) {
  return dsl::error("E0901", span, "a chain has no time", "",
                    "outputs of a chain are counted in sweeps or trajectories",
                    "write `every 10 sweeps: ...` or `every 1 trajectory: ...`");
}

Diagnostic output_time_of_clock(Span span) {
  return dsl::error(
      "E0901", span, "output by time where t is not a count of steps is not there yet", "",
      "with `rescale ..., s` other than 0 steps of one size in program time differ in t",
      "write `every N steps: ...`; t is written beside each value");
}

Diagnostic output_between_steps(Span span, double steps) {
  const double near = std::max(1.0, std::round(steps));
  return dsl::error("E0764", span, fmt::format("outputs would be {:.6g} steps apart", steps), "",
                    "the time between two outputs is a whole number of steps",
                    fmt::format("write `every {:.0f}*dt: ...`, or a dt that divides it", near));
}

}  // namespace vphi::physics::errors
