// The native device against the interpreter of the same kernels, contraction off: bit for bit where
// a model has no transcendental function, to rounding where it has one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/interpret/interpret.hpp"
#include "runtime/run/session.hpp"
#include "runtime/run/starts/random_field.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

struct Row {
  const char* model;
  const char* lattice;
  const char* precision;
  int steps;
  double tolerance;  ///< 0: the same bits
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.model << ' ' << row.lattice << ' ' << row.precision;
}

class Interpreted : public ::testing::TestWithParam<Row> {};

void expect_same(const std::vector<double>& a, const std::vector<double>& b, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  double largest = 0, scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_TRUE(std::isfinite(a[i])) << what << " at " << i;
    largest = std::max(largest, std::abs(a[i] - b[i]));
    scale = std::max(scale, std::abs(b[i]));
  }
  EXPECT_LE(largest, tolerance * scale) << what;
}

TEST_P(Interpreted, AgreesWithNative) {
  const Row row = GetParam();
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  testing::Simulation setup;
  setup.lattice = row.lattice;
  setup.precision = row.precision;
  setup.contract = false;
  const Compilation compilation = testing::compile_file(testing::shipped(row.model), setup);
  const program::Program& program = *compilation.program;

  runtime::Session native(program, *testing::device("native"));
  native.start();
  kernel::Interpreter oracle(*compilation.plan);
  for (const program::RandomField& field : program.random) {
    std::vector<double> values = runtime::random_field(program, field, 1);
    if (program.buffers[static_cast<std::size_t>(field.buffer)].precision ==
        program::Precision::F32) {
      for (double& value : values) value = static_cast<float>(value);
    }
    oracle.buffer(field.buffer) = values;
  }
  oracle.start();

  const auto compare = [&](const std::string& when, double tolerance) {
    for (std::size_t i = 0; i < program.buffers.size(); ++i) {
      if (!program.buffers[i].state) continue;
      expect_same(native.read(static_cast<int>(i)), oracle.buffer(static_cast<int>(i)), tolerance,
                  program.buffers[i].name + " " + when);
    }
    const std::vector<double> now = native.scalars();
    for (std::size_t i = 0; i < now.size(); ++i) {
      const double expected = oracle.scalar(static_cast<int>(i));
      // Small numbers may be what is left of a sum over the lattice.
      EXPECT_NEAR(now[i], expected, tolerance * std::max(1.0, std::abs(expected)))
          << program.scalars[i].name << " " << when;
    }
  };
  // The random fields are made twice, and a Fourier transform may round in another order where its
  // memory lies otherwise; from here on both have the same numbers.
  compare("at the start", program.random.empty() ? row.tolerance : 1e-12);
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const int buffer = static_cast<int>(i);
    if (program.buffers[i].state) oracle.buffer(buffer) = native.read(buffer);
  }
  const std::vector<double> scalars = native.scalars();
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    oracle.set_scalar(program.scalars[i].name, scalars[i]);
  }
  native.advance(row.steps);
  oracle.step(row.steps);
  compare("after the steps", row.tolerance);
  native.launch(program.watch);
  oracle.watch();
  compare("after looking at it", row.tolerance);
}

INSTANTIATE_TEST_SUITE_P(ShippedModels, Interpreted,
                         ::testing::Values(Row{"cosmology/preheating", "8^3", "f64", 20, 0},
                                           Row{"cosmology/preheating", "[24, 20, 22]", "f64", 4, 0},
                                           Row{"cosmology/preheating", "8^3", "f32", 20, 0},
                                           Row{"cosmology/lphi4", "8^3", "f64", 20, 0},
                                           Row{"cosmology/curvaton", "8^3", "f64", 10, 0},
                                           Row{"cosmology/walls", "24^2", "f64", 20, 0},
                                           Row{"teaching/fput", "32", "f64", 20, 1e-13},
                                           Row{"teaching/wave", "64", "f64", 50, 1e-13},
                                           Row{"teaching/bright_soliton", "32", "f64", 5, 1e-12},
                                           Row{"teaching/rolls", "8^2", "f64", 5, 1e-12},
                                           Row{"teaching/sine_gordon", "128", "f64", 10, 1e-12},
                                           Row{"cosmology/qball", "8^3", "f64", 5, 1e-12}));

}  // namespace
}  // namespace vphi
