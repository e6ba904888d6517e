// Every option that a row of program/outputs.def allows changes the derived output: an option that
// is not read, or a new kind or option without a row here, fails.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <sstream>

#include "derive_text.hpp"
#include "program/outputs.hpp"

namespace vphi::physics::test {
namespace {

/// A value that is not the one taken without the option, and whether it is of two fields. A kind's
/// own value of an option comes first, "spectrum bins".
struct Value {
  const char* text;
  bool two = false;
};
const std::map<std::string, Value>& values() {
  static const std::map<std::string, Value> all{
      {"type", {"1"}},
      {"version", {"2"}},
      {"k", {"effective"}},
      {"weights", {"defrost"}},
      {"factor", {"3"}},
      {"mass", {"0.5"}},
      {"hubble", {"on"}},
      {"cross", {"on", true}},
      {"x", {"0.3"}},
      {"y", {"0.3"}},
      {"z", {"0.3"}},
      {"bins", {"7"}},
      {"over", {"g"}},
      {"low", {"0.1"}},
      {"high", {"0.9"}},
      {"scale", {"log"}},
      {"along", {"y"}},
      {"every", {"3"}},
      {"spectrum bins", {"single"}},
      {"level", {"0.7"}},
      {"carry", {"v"}},
      {"time", {"on"}},
      {"snapshot x", {"[-1, 1]"}},
      {"snapshot y", {"[-1, 1]"}},
      {"snapshot z", {"[-1, 1]"}},
      {"snapshot t", {"[-1, 1]"}},
  };
  return all;
}

/// An option that an output cannot do without.
std::string needed(std::string_view output, const std::string& given) {
  return output == "surface" && given != "level" ? ", level = 0.5" : "";
}

/// All that an option may change.
std::string fingerprint(const Observable& o) {
  const auto shown = [](Expr e) { return e ? algebra::to_text(e, algebra::Names{}) : "none"; };
  std::ostringstream text;
  const program::SpectrumForm& s = o.form.spectrum;
  text << o.form.axis << ' ' << o.form.bins << ' ' << o.coordinate << ' ' << s.type << s.version
       << s.two_bins << s.cross << s.single << s.laplacian.size() << ' ' << o.form.over.size()
       << ' ' << shown(o.factor) << ' ' << shown(o.mass2) << ' ' << shown(o.value);
  for (const Observable::Part& part : o.more) text << ' ' << shown(part.value);
  for (const program::HistogramAxis& axis : o.form.histogram)
    text << ' ' << axis.bins << ' ' << axis.low << ' ' << axis.high << axis.find_low
         << axis.find_high << axis.log;
  text << ' ' << o.form.in_time;
  for (const std::string& column : o.form.carried) text << ' ' << column;
  for (const program::SitesOfAxis& sites : o.form.sites)
    text << ' ' << sites.first << ' ' << sites.last << ' ' << sites.every;
  return text.str();
}

/// `four`: on a lattice of four dimensions, whose last axis is t. `alone`: of one run at some
/// steps, not at the end of a sweep.
std::string derived_from(const std::string& call, bool four, bool alone) {
  const char* const chain = R"(model test "t"
lattice box: 4^4, spacing = 1
field u: real
action S = norm2(grad(u))/2 + u^2/2
sample hmc, trajectories = 3, tau = 1 {
  level S: steps = 5, scheme = omelyan2
}
init u = 0
at end: )";
  const std::string evolution = R"(model test "t"
units reduced_planck
)" + std::string(alone ? "param g = 1\n" : "sweep g = [1, 2]\n") +
                                R"(lattice box: 8^3, length = 4, boundary = periodic
metric frw(a)
field u, v: real
potential V = u^2/2 + g*v^2/2
init u = 1, u' = 0, v = 0.1, v' = 0
evolve leapfrog, dt = 0.05*dx, until = t > 1
)" + (alone ? "every 1 step: " : "at end: ");
  const Derived d = derived((four ? chain : evolution) + call + " -> \"x.h5\"\n");
  for (const OutputClause& clause : d.system->outputs)
    for (const Observable& o : clause.observables)
      if (o.kind) return fingerprint(o);
  throw std::runtime_error("no output of fields: " + call);
}

TEST(OutputOptions, EachIsRead) {
  for (const program::OutputRow& row : program::kOutputs) {
    if (!row.called) continue;
    std::istringstream options{std::string(row.options)};
    for (std::string option; options >> option;) {
      auto value = values().find(fmt::format("{} {}", row.name, option));
      if (value == values().end()) value = values().find(option);
      ASSERT_NE(value, values().end()) << row.name << ": " << option;
      const std::string plain = fmt::format("{}(u{})", row.name, needed(row.name, ""));
      const std::string given =
          fmt::format("{}(u{}{}, {} = {})", row.name, value->second.two ? ", v" : "",
                      needed(row.name, option), option, value->second.text);
      const bool four = option == "t", alone = !needed(row.name, "").empty();
      EXPECT_NE(derived_from(plain, four, alone), derived_from(given, four, alone)) << given;
    }
  }
}

}  // namespace
}  // namespace vphi::physics::test
