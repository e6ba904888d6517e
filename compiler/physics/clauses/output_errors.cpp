#include "compiler/physics/clauses/output_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dsl/messages/error.hpp"

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
                 twice ? "remove one, or give one a name: `name = ...`"
                       : "give one a name of its own, `name = ...`, or another file");
  d.labels.push_back({first, "this is the first"});
  return d;
}

Diagnostic last_configuration(Span span, const std::string& name, const std::string& unit) {
  Diagnostic d = dsl::error(
      "W0774", span, fmt::format("`{}` is that of the last configuration alone", name),
      "no average over the chain",
      "a mean over sites is of one configuration; `over = time` averages over the chain",
      fmt::format("write the averages with `over = time`, for instance `mean(x, over = time)`, or "
                  "`every 1 {}: ...` for a series",
                  unit));
  d.severity = dsl::Severity::Warning;
  return d;
}

Diagnostic array_in_csv(Span span, const std::string& name, const std::string& file) {
  return dsl::error("E0838", span, fmt::format("`{}` cannot be written to `{}`", name, file),
                    "an array without columns", "a .csv file holds series and tables with columns",
                    fmt::format("-> \"{}.h5\"", file.substr(0, file.rfind('.'))));
}

Diagnostic surface_format(Span span, const std::string& word, const std::string& what,
                          const std::string& rule, const std::string& fix) {
  return dsl::error("E0837", span, fmt::format("`{}` cannot hold this surface: {}", word, what), "",
                    rule, fix);
}

Diagnostic links_in_file(Span span, const std::string& kind, const std::string& holds) {
  return dsl::error("E0411", span, fmt::format("the links do not fit into a file of `{}`", kind),
                    "", fmt::format("the format `{}` holds {}", kind, holds),
                    "write them with ildg(\"name\") or nersc(\"name\")");
}

Diagnostic no_spinor_in_file(Span span, const std::string& text, const std::string& file) {
  return dsl::error("E0411", span, fmt::format("`{}` is no snapshot of a spinor", text), "",
                    fmt::format("{} holds spinors at all sites, and numbers beside them", file),
                    "write snapshot(S[0,0]) of a spinor there, and this into \"results.h5\"");
}

Diagnostic output_time_of_chain(Span span) {
  return dsl::error(
      "E0901", span, "a chain has no time", "",
      "a chain draws configurations: its outputs are counted in sweeps or trajectories",
      "write `every 10 sweeps: ...` or `every 1 trajectory: ...`");
}

Diagnostic output_below_step(Span span, double steps) {
  return dsl::error("E0764", span, fmt::format("outputs would be {:.6g} steps apart", steps), "",
                    "an output is written after a step: there is none between two steps",
                    "write `every 1 step: ...`, or take a smaller dt");
}

Diagnostic average_of_one_step(Span span, const std::string& name, const std::string& unit) {
  return dsl::error(
      "E0764", span, fmt::format("`{}` would average over one {} at a time", name, unit),
      "a variance of one value is 0, a mean the value itself",
      "`over = time` is over the steps since the output before; `at end:` over the whole run",
      fmt::format("write it in `at end: ...` or in `every 100 {}: ...`, or leave `over = time` out",
                  unit == "trajectory" ? "trajectories" : unit + "s"));
}

Diagnostic output_between_steps(Span span, double steps) {
  const double near = std::max(1.0, std::round(steps));
  return dsl::error("E0764", span, fmt::format("outputs would be {:.6g} steps apart", steps), "",
                    "steps are counted in whole numbers",
                    fmt::format("write `every {:.0f} steps: ...`, or the time itself, `every {:.6g}"
                                "*dt: ...`: the first step at or after each multiple of it",
                                near, steps));
}

dsl::Diagnostic several_outputs(dsl::Span span, const std::string& name, const std::string& doc) {
  return dsl::error(
      "E0111", span, fmt::format("`{}` ({}) is no number of a formula", name, doc),
      "several outputs in one word",
      fmt::format("`{}` is an item of `every` and `at end`, which writes each by its name", name),
      "write the quantity itself, as in drift(mean(phi'^2/2 + norm2(grad(phi))/2 + V)); "
      "under `metric frw(a)` mean(rho)");
}

}  // namespace vphi::physics::errors
