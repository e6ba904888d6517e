// Which values of a step have memory between its sweeps.
#include <gtest/gtest.h>

#include "compiler/algebra/transform.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

Compilation noisy_field(const std::string& strength) {
  return testing::compile_text(
      "model field \"a field with noise\"\nlattice box: 8^3, spacing = 1, boundary = periodic\n"
      "field phi: real\nphi' = lap(phi) - phi^3 + " +
          strength +
          "*noise\nnoise stratonovich\ninit phi = 0\n"
          "evolve srk2, dt = 0.02, until = t > 1\nevery 10 steps: mean(phi^2) -> \"f.h5\"\n",
      {});
}

/// Stores of the step whose value is the same at all sites.
int same_everywhere(const Compilation& c) {
  int count = 0;
  for (const auto& launch : c.program->step)
    for (const auto& store : c.plan->kernels[static_cast<std::size_t>(launch.kernel)].stores)
      count += !store.value->per_site && !algebra::contains(store.value, [](algebra::Expr node) {
        return node.is(algebra::Op::Normal);
      });
  return count;
}

std::size_t stores(const Compilation& c) {
  std::size_t count = 0;
  for (const auto& launch : c.program->step)
    count += c.plan->kernels[static_cast<std::size_t>(launch.kernel)].stores.size();
  return count;
}

// The strength of additive noise is a number: a sweep that needs it again does not read it.
TEST(StoredValues, WhatIsTheSameAtAllSitesHasNoMemory) {
  const Compilation additive = noisy_field("0.5"), by_site = noisy_field("sqrt(1 + phi^2)");
  ASSERT_TRUE(additive.plan && by_site.plan);
  EXPECT_EQ(same_everywhere(additive), 0);
  EXPECT_EQ(stores(additive), 3U);  // dW and the end of the first rate; then the field
  EXPECT_EQ(stores(by_site), 5U);   // beside these its strength at both ends
}

Compilation two_stages(const std::string& clauses, const std::string& integrator) {
  return testing::compile_text(
      "model field \"two stages\"\nlattice box: 16^2, spacing = 1, boundary = periodic\n"
      "field u: real\nu' = lap(u) - u^3\ninit u = sin(2*pi*x/16)\n" +
          clauses + "evolve " + integrator +
          ", until = t > 1\nevery 10 steps: mean(u^2) -> \"f.h5\"\n",
      {});
}

// After y = u + dt*F(u) the mean of F(u) and F(y) needs no F(u): it is (y - u)/dt.
TEST(StoredValues, AFirstRateIsToldByWhatItMakes) {
  const Compilation heun = two_stages("", "heun, dt = 0.02");
  ASSERT_TRUE(heun.plan);
  EXPECT_EQ(stores(heun), 2U);  // y, then u
  const Compilation rk4 = two_stages("", "rk4, dt = 0.02");
  ASSERT_TRUE(rk4.plan);
  EXPECT_EQ(stores(rk4), 4U);  // the states of three stages, then u
}

// A rate that enters otherwise than by a number in front has memory of its own.
TEST(StoredValues, ARateInAProductIsStored) {
  const Compilation weighted = two_stages(
      "integrator weighted(x' = f(x, t)) {\n"
      "  F = f(x, t)\n  G = f(x + dt*F, t + dt)\n  x = x + dt*(F + G)/2 + dt^2*F*G\n}\n",
      "weighted, dt = 0.02");
  ASSERT_TRUE(weighted.plan);
  EXPECT_EQ(stores(weighted), 3U);
}

}  // namespace
}  // namespace vphi
