// Numbers of instances as they lie in memory and as they are asked for.
#include <gtest/gtest.h>

#include <vector>

#include "program/json.hpp"
#include "runtime/run/session.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

const char* const kWalkers =
    "model walkers\nparam g = 1\nsweep T = [0.5, 1, 2]\nsweep path = 1..5\nvar x: real\n"
    "x' = -g*x + sqrt(2*T)*noise\ninit x ~ uniform(0, 1)\n"
    "evolve euler_maruyama, dt = 0.01, until = t > 1\nat end: mean(x^2) -> \"w.h5\"\n";

// All kernels of paths have the scalars of one number side by side; a session shows them by
// instance, whichever way they are set and read.
TEST(Scalars, OfPathsLieSlotBySlot) {
  const Compilation compiled = testing::compile_text(kWalkers, {});
  const program::Program& program = *compiled.program;
  for (const program::Kernel& kernel : program.kernels)
    for (const program::Argument& argument : kernel.arguments) {
      if (argument.kind == program::Argument::Kind::Scalars) {
        EXPECT_EQ(argument.index, 1);
      }
    }
  runtime::Session session(program, *testing::device("native"));
  session.start();
  const std::size_t width = program.scalars.size();
  std::vector<double> values = session.scalars();
  ASSERT_EQ(values.size(), 15 * width);
  const auto axis = static_cast<std::size_t>(program.axes[0].slot);
  for (std::size_t i = 0; i < 15; ++i)
    EXPECT_EQ(values[i * width + axis], (std::vector<double>{0.5, 1, 2}[i / 5])) << i;
  values[7 * width + axis] = 3;
  session.set_scalars(values);
  EXPECT_EQ(session.scalars(), values);
  session.set_scalar(static_cast<int>(axis), 4, 9);
  values[9 * width + axis] = 4;
  EXPECT_EQ(session.scalars(), values);
}

// One scalar alone is what all of them show of it: as it was set, and after steps.
TEST(Scalars, OneOfPathsIsThatOfAll) {
  for (const int paths : {5, 5000}) {  // copied together, and each alone
    std::string text = kWalkers;
    text.replace(text.find("1..5"), 4, "1.." + std::to_string(paths));
    const Compilation compiled = testing::compile_text(text, {});
    const program::Program& program = *compiled.program;
    runtime::Session session(program, *testing::device("native"));
    session.start();
    const auto width = static_cast<int>(program.scalars.size());
    const auto agree = [&] {
      std::vector<double> by_instance(static_cast<std::size_t>(width * 3 * paths));
      for (int k = 0; k < width; ++k) {
        const runtime::Slot slot = session.slot(k);
        ASSERT_EQ(slot.instances, 3 * paths);
        for (int i = 0; i < 3 * paths; ++i)
          by_instance[static_cast<std::size_t>(i * width + k)] = slot[i];
      }
      EXPECT_EQ(by_instance, session.scalars());
    };
    agree();
    const int time = program.time_slot;
    ASSERT_GE(time, 0);
    EXPECT_EQ(session.slot(time)[7], 0);
    session.advance(3);
    EXPECT_NEAR(session.slot(time)[7], 0.03, 1e-15);  // not the copy from before
    agree();
    session.slot(time);
    session.set_scalar(time, 2, 9);
    EXPECT_EQ(session.slot(time)[9], 2);
    EXPECT_NEAR(session.slot(time)[8], 0.03, 1e-15);
    agree();
    std::vector<double> values = session.scalars();
    values[static_cast<std::size_t>(8 * width + time)] = 5;
    session.set_scalars(values);
    EXPECT_EQ(session.slot(time)[8], 5);
    agree();
  }
}

// Kernels that do not agree on it are not a program.
TEST(Scalars, LieOneWayForAllKernels) {
  Compilation compiled = testing::compile_text(kWalkers, {});
  program::Program program = *compiled.program;
  EXPECT_TRUE(program::problems(program).empty());
  program.kernels.back().arguments.back().index = 0;
  EXPECT_FALSE(program::problems(program).empty());
}

}  // namespace
}  // namespace vphi
