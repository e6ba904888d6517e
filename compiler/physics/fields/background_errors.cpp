#include "compiler/physics/fields/background_errors.hpp"

#include <fmt/format.h>

#include "dsl/messages/error.hpp"

namespace vphi::physics::errors {

using dsl::error;
using dsl::with_label;

Diagnostic not_autonomous(Span span, const std::string& name, const std::string& source,
                          const std::string& scale, Span metric) {
  const std::string rule =
      name == "t" ? "the energy would change with t, without a term of rho for it: the Friedmann "
                    "equation would not stay true"
                  : "H follows from rho: an energy that holds H changes the Friedmann equation "
                    "itself";
  return with_label(
      error("E0611", span,
            fmt::format("the {} of a box that expands with its own averages holds `{}`", source,
                        name),
            "", rule,
            fmt::format("prescribe the background, metric frw({} = t^(1/2)), or write this term in "
                        "an equation of motion of a field of its own, which has no part in rho",
                        scale)),
      metric, "closed by the averages");
}

Diagnostic scale_at_start(Span span, const std::string& scale, double value, double time) {
  return error("E0735", span,
               fmt::format("`{}` is {:.6g} at the start, t = {:.6g}", scale, value, time), "",
               "a scale factor is a length: positive, or 0 where a box begins, as t^(1/2) at t = 0",
               "check the formula, or begin at another time: init t = 1, say");
}

Diagnostic scale_in_run(Span span, const std::string& scale, double value, double time) {
  return error(
      "E0735", span,
      fmt::format("`{}` is {:.6g} at t = {:.6g}, before the end of the run", scale, value, time),
      "", "a scale factor is a length: it stays positive while the box evolves",
      "check the formula, or end before: until = t > ...");
}

Diagnostic vacuum_of_tachyon(Span span, const std::string& field, double mass2, double longest,
                             double edge) {
  dsl::Diagnostic d =
      error("W0613", span,
            fmt::format("the longest waves of `{}` have no vacuum: k^2 + m^2 < 0 below k = {:.4g}",
                        field, edge),
            fmt::format("m^2 = {:.4g}, and the box begins at k = {:.4g}", mass2, longest),
            "m^2 is V'' - (9/4) H^2 at the homogeneous start; where it is negative all modes are "
            "drawn as "
            "those of a field without mass",
            "start before the instability sets in, or take a box whose waves are shorter");
  d.severity = dsl::Severity::Warning;
  return d;
}

Diagnostic small_in_f32(Span span, const std::string& field, double mean, double rms,
                        const StoredAsValue& stored) {
  std::string hint = "`precision real = f64`";
  if (!stored.refused.empty()) {
    hint += fmt::format("; the fluctuation cannot be stored by itself: {}", stored.refused);
  } else if (stored.said) {
    hint = "leave out `store = value`: the fluctuation is then stored by itself";
  } else {
    hint = fmt::format("`store = deviation` on the line of `{}` stores the fluctuation by itself",
                       field);
  }
  dsl::Diagnostic d = error(
      "W0614", span,
      fmt::format("f32 stores `{}` as a mean of {:.3g} with fluctuations of {:.1g} of it", field,
                  mean, rms / mean),
      "",
      "each step rounds the stored number: noise in var and in the upper half of the spectrum, "
      "until the fluctuations are 1e-5 of the mean; averages and gradient energies keep their "
      "digits",
      hint);
  d.severity = dsl::Severity::Warning;
  return d;
}

}  // namespace vphi::physics::errors
