// Parameters that kernels read as numbers of the run: one compilation serves every value.
#include <gtest/gtest.h>

#include "embed/simulation.hpp"
#include "embed/target.hpp"

namespace vphi {
namespace {

const std::string kField = R"(model field "A field with a cubic force"
param m = 1, g = 0.5*m, n = 16
lattice box: n^2, spacing = 1, boundary = periodic
field u: real
u' = lap(u) - g*u^3
init u = sin(2*pi*x/16)
evolve heun, dt = 0.02, until = t > 1
precision real = f64
every 10 steps: mean(u^2) -> "field.h5"
)";

embed::Overrides with(const std::vector<std::string>& set, const std::vector<std::string>& free) {
  embed::Overrides changes;
  changes.set = set, changes.free = free;
  return changes;
}

std::vector<std::string> kernels(const embed::Overrides& changes) {
  const embed::Model model = embed::Model::from_text(kField, "model", changes);
  const Compilation made = model.compile(embed::default_target("native"));
  std::vector<std::string> texts;
  for (const program::Kernel& kernel : made.program->kernels) texts.push_back(kernel.source);
  return texts;
}

double last(const embed::Overrides& changes) {
  embed::StartOptions options;
  options.device = "native";
  const embed::Model model = embed::Model::from_text(kField, "model", changes);
  const auto series = embed::run(model, options).run.series.at(0);
  return series.axes.empty() ? series.points.back().second : series.values.back().at(0);
}

TEST(Free, KernelsAreTheSameForEveryValue) {
  EXPECT_EQ(kernels(with({"g=0.25"}, {"g"})), kernels(with({"g=3"}, {"g"})));
  EXPECT_NE(kernels(with({"g=0.25"}, {})), kernels(with({"g=3"}, {})));
}

TEST(Free, NumbersAreThoseOfTheFoldedProgram) {
  for (const char* g : {"g=0.25", "g=3"}) {
    const double folded = last(with({g}, {}));
    EXPECT_NEAR(last(with({g}, {"g"})), folded, 1e-13 * folded) << g;
  }
  // as the text says, and where a free name is in the value of another one
  EXPECT_NEAR(last(with({}, {"g"})), last({}), 1e-13);
  EXPECT_NEAR(last(with({"m=2"}, {"m"})), last(with({"m=2"}, {})), 1e-13);
}

std::string refusal(const embed::Overrides& changes) {
  try {
    kernels(changes);
  } catch (const embed::Error& error) {
    return error.code + ": " + error.what();
  }
  return {};
}

TEST(Free, WhatDecidesTheShapeIsRefused) {
  EXPECT_EQ(refusal(with({}, {"n"})),
            "E0423: `n` is free, and the shape of the lattice is compiled");
  EXPECT_EQ(refusal(with({}, {"gg"})), "E0114: free gg: no parameter has this name");
}

}  // namespace
}  // namespace vphi
