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
  EXPECT_EQ(stores(additive), 4U);  // dW, the first rate and its end; then the field
  EXPECT_EQ(stores(by_site), 6U);   // beside these its strength at both ends
}

}  // namespace
}  // namespace vphi
