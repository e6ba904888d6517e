// The fields that are stored as deviations by default, and the remarks on the others.
#include <gtest/gtest.h>

#include <algorithm>

#include "dsl/messages/diagnostic.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::compile_text;

struct Parts {
  std::string option = "", real = "f32", init = "u ~ 1 + normal(0, 1e-7)";
  std::string potential = "potential V = u^2/2", boundary = "periodic";
  std::string step = "evolve leapfrog, dt = 0.1, until = t > 1";
  std::string output = "spectrum(u)";
};

Compilation compiled(const Parts& parts) {
  return compile_text(
      "model small \"a mean\"\nlattice box: 8^2, length = 8, boundary = " + parts.boundary +
          "\nfield u: real" + parts.option + "\n" + parts.potential + "\ninit " + parts.init +
          "\nprecision real = " + parts.real + "\n" + parts.step + "\nevery 5 steps: mean(u), " +
          parts.output + " -> \"w.h5\"\n",
      {});
}

bool deviates(const Compilation& c) {
  return std::ranges::any_of(c.system->variables,
                             [](const auto& v) { return !v.reference.empty(); });
}

/// The remark that says why `u` is stored as its value.
std::string reason(const Compilation& c) {
  for (const std::string& remark : c.system->remarks)
    if (remark.starts_with("`u` is stored as its value")) return remark;
  return {};
}

/// What W0614 advises.
std::string hint(const Compilation& c) {
  for (const auto& d : c.diagnostics.all())
    if (d.code == "W0614") return d.hint;
  return {};
}

bool warned(const Compilation& c) {
  return std::ranges::any_of(c.diagnostics.all(), [](const auto& d) { return d.code == "W0614"; });
}

TEST(DeviationChoice, SinglePrecisionAndAStartAboutAMean) {
  const Compilation chosen = compiled({});
  EXPECT_TRUE(deviates(chosen));
  EXPECT_FALSE(warned(chosen));
  const Compilation asked = compiled({.option = ", store = deviation"});
  ASSERT_EQ(chosen.program->kernels.size(), asked.program->kernels.size());
  for (std::size_t i = 0; i < asked.program->kernels.size(); ++i)
    EXPECT_EQ(chosen.program->kernels[i].source, asked.program->kernels[i].source);
  EXPECT_TRUE(deviates(compiled({.init = "u ~ normal(0, 1), u' ~ 1 + normal(0, 1)"})));
  EXPECT_TRUE(deviates(compiled({.real = "f64, store = f32"})));
}

TEST(DeviationChoice, NothingElse) {
  EXPECT_FALSE(deviates(compiled({.real = "f64"})));
  EXPECT_FALSE(deviates(compiled({.init = "u ~ normal(0, 1e-7)"})));
  EXPECT_FALSE(deviates(compiled({.init = "u = 1 + 1e-7*cos(2*pi*index(x)/8)"})));
  EXPECT_TRUE(reason(compiled({.real = "f64"})).empty());
}

TEST(DeviationChoice, TheLineOfAFieldDecides) {
  const Compilation value = compiled({.option = ", store = value"});
  EXPECT_FALSE(deviates(value));
  EXPECT_TRUE(warned(value));
  EXPECT_TRUE(reason(value).empty());
  EXPECT_TRUE(deviates(compiled({.option = ", store = deviation", .real = "f64"})));
  EXPECT_FALSE(warned(compiled({.option = ", store = value", .init = "u ~ 1 + normal(0, 1e-3)"})));
}

TEST(DeviationChoice, SaysWhyNot) {
  const auto why = [](const Parts& parts) {
    const Compilation c = compiled(parts);
    EXPECT_FALSE(deviates(c));
    EXPECT_TRUE(warned(c));
    return reason(c);
  };
  EXPECT_NE(why({.potential = "potential V = u^2/2 + abs(u)^3"}).find("closed form"),
            std::string::npos);
  EXPECT_NE(why({.boundary = "fixed(0)", .output = "energies"}).find("walls that are no mirrors"),
            std::string::npos);
  EXPECT_NE(why({.option = ", boundary = fixed(0)", .output = "energies"}).find("of its own"),
            std::string::npos);
  EXPECT_NE(why({.potential = "u'' = lap(u) - u - u' + noise",
                 .step = "evolve baoab, dt = 0.1, until = t > 1"})
                .find("noise"),
            std::string::npos);
  EXPECT_NE(why({.potential = "u' = lap(u) - u^3", .step = "evolve rk4, dt = 0.01, until = t > 1"})
                .find("first order"),
            std::string::npos);
}

TEST(DeviationChoice, TheHintIsWhatHelps) {
  const std::string cubic = "potential V = u^2/2 + abs(u)^3";
  EXPECT_NE(hint(compiled({.option = ", store = value"})).find("leave out `store = value`"),
            std::string::npos);
  // leaving it out would not help
  for (const char* option : {"", ", store = value"}) {
    const std::string refused = hint(compiled({.option = option, .potential = cubic}));
    EXPECT_NE(refused.find("`precision real = f64`"), std::string::npos) << refused;
    EXPECT_NE(refused.find("closed form"), std::string::npos) << refused;
    EXPECT_EQ(refused.find("leave out"), std::string::npos) << refused;
  }
  // the field in f32 and its momentum in f64: nothing is chosen, and asking for it helps
  const auto partly = [](const std::string& option) {
    return compile_text(
        "model part \"in part\"\nlattice box: 8^2, length = 8, boundary = periodic\n"
        "field u, p: real" +
            option +
            "\nH = total(p^2/2 + norm2(grad(u))/2 + u^2/2)\n"
            "init u ~ 1 + normal(0, 1e-7), p = 0\nprecision real = f64, u = f32\n"
            "evolve leapfrog, dt = 0.1, until = t > 1\n"
            "every 5 steps: mean(u), spectrum(u) -> \"w.h5\"\n",
        {});
  };
  EXPECT_FALSE(deviates(partly("")));
  EXPECT_NE(hint(partly("")).find("`store = deviation` on the line of `u`"), std::string::npos);
  EXPECT_TRUE(deviates(partly(", store = deviation")));
}

// The second field's force holds a function without a difference: the first is stored so anyway.
TEST(DeviationChoice, FieldByField) {
  const Compilation c = compile_text(R"(model two "two fields"
lattice box: 8^2, length = 8, boundary = periodic
field u, v: real
potential V = u^2/2 + abs(v)^3/3
init u ~ 1 + normal(0, 1e-7), v ~ 1 + normal(0, 1e-7)
precision real = f32
evolve leapfrog, dt = 0.1, until = t > 1
every 5 steps: mean(u), mean(v) -> "w.h5"
)",
                                     {});
  for (const auto& v : c.system->variables)
    EXPECT_EQ(!v.reference.empty(), v.name == "u" || v.name == "pi_u") << v.name;
}

}  // namespace
}  // namespace vphi
