#include "runtime/run/bad_site.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "runtime/run/number_text.hpp"
#include "runtime/run/session.hpp"

namespace vphi::runtime {

using program::Program;

std::optional<BadSite> find_bad_site(Session& session, std::int64_t instance) {
  const Program& p = session.program();
  for (std::size_t v = 0; v < p.state.size(); ++v) {
    const auto values = session.read(p.state[v].buffer, instance);
    BadSite bad;
    bad.instance = instance;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(values[i])) continue;
      if (bad.count++ > 0) continue;
      bad.variable = static_cast<int>(v);
      bad.value = values[i];
      auto rest = static_cast<std::int64_t>(i);
      for (int axis = 0; axis < 4; ++axis) {
        bad.site[axis] = rest % p.extent[axis];
        rest /= p.extent[axis];
      }
    }
    if (bad.count > 0) return bad;
  }
  return std::nullopt;
}

std::optional<BadSite> find_bad_site(Session& session) {
  for (std::int64_t i = 0; i < session.program().instances; ++i)
    if (auto bad = find_bad_site(session, i)) return bad;
  return std::nullopt;
}

std::string bad_site_text(const Program& program, const BadSite& bad, std::int64_t good_step,
                          std::int64_t bad_step, const std::string& cause) {
  const auto& variable = program.state[bad.variable];
  const auto dims = static_cast<std::size_t>(program.dims);
  const std::string where = fmt::format(
      "({})",
      fmt::join(bad.site.begin(), bad.site.begin() + static_cast<std::ptrdiff_t>(dims), ", "));
  const bool exact = bad_step - good_step <= 1;
  const std::string when = bad_step == 0 ? "in the initial state"
                           : exact       ? fmt::format("in step {}", bad_step)
                                   : fmt::format("between steps {} and {}", good_step, bad_step);
  std::string line;
  if (!variable.line.empty() && bad_step > 0)
    line =
        fmt::format("; its equation comes from line {}: {}", variable.line_number, variable.line);
  if (!cause.empty()) line = "; " + cause;
  return fmt::format("`{}` {} {} {}, at site {}{}{}", variable.shown,
                     bad_step == 0 ? "is" : "became", number_text(bad.value, 4), when, where,
                     bad.count > 1 ? fmt::format(" and {} others", bad.count - 1) : "", line);
}

std::string recovery_text(const Program& program, std::int64_t plane, const std::string& when) {
  constexpr const char* kAxes[] = {"x", "y", "z", "t"};
  const int last = program.dims - 1;
  return fmt::format("the primitive variables cannot be recovered {}, first at {} = {}", when,
                     last == 0 ? "site" : std::string("plane ") + kAxes[last], plane);
}

std::string rough_recovery_text(const Program& program, std::int64_t plane, std::int64_t step) {
  constexpr const char* kAxes[] = {"x", "y", "z", "t"};
  const int last = program.dims - 1;
  return fmt::format(
      "`recover` has not reached its `tol`: in the state of step {}, first at {} = {}, a variable "
      "is "
      "off by more than 1e-3 of its largest value; its iterations are as many as the states tried "
      "by the compiler need: take a smaller `tol`, or Newton's method",
      step, last == 0 ? "site" : std::string("plane ") + kAxes[last], plane);
}

}  // namespace vphi::runtime
