// Instances of one site against the slow reference, step by step and many steps a launch.
#include <gtest/gtest.h>

#include "compiler/emit/patterns/single_site.hpp"
#include "tests/emit/fixture.hpp"

namespace vphi::emit_test {
namespace {

constexpr std::size_t kInstances = 70;  // two vectors of a processor and a rest

// A damped pendulum with noise, one Euler step: x and v, a running sum, time and step.
Case pendulum(int draws, Precision real, bool bits = false) {
  Case c;
  c.kernel.name = "path";
  c.shape({1});
  c.kernel.compute = real;
  const int x = c.array("x", true, true, true), v = c.array("v", true, true);
  const Expr dt = c.slot("dt", 0.01), t = c.slot("t"), n = c.slot("n", 8),
             a = c.slot("amplitude", 0.5), sum = c.slot("sum");
  const Expr square = c.slot("square");
  c.slot("who");
  Arena& m = *c.arena;
  const auto mul = [&](std::vector<Expr> f) { return m.raw(Op::Mul, std::move(f)); };
  const auto add = [&](std::vector<Expr> f) { return m.raw(Op::Add, std::move(f)); };
  std::vector<Expr> force{c.load(v), mul({dt, m.raw(Op::Sin, {c.load(x)})}),
                          mul({dt, mul({a, m.raw(Op::Cos, {t})})})};
  for (int i = 0; i < draws; ++i)
    force.push_back(mul({dt, m.random(i == 4 || bits ? Op::Uniform : Op::Normal, i)}));
  const Expr kicked = add(force);
  c.store(v, kicked);
  c.store(x, add({c.load(x), mul({dt, kicked})}));
  c.sum("square", mul({kicked, kicked}));
  c.assign("sum", add({sum, square}));
  c.assign("n", add({n, m.integer(1)}));
  c.assign("t", mul({dt, m.symbol("n")}));
  c.kernel.random.draws = draws;
  c.kernel.random.bits = bits;
  c.kernel.random.step = "n";
  c.kernel.random.instance = "who";
  return c;
}

// The copies of doubled arrays are exchanged after a launch.
State exchanged(const Case& c, State state) {
  for (std::size_t i = 0; i < c.kernel.arrays.size(); ++i)
    if (c.kernel.arrays[i].next) std::swap(state.arrays[i][0], state.arrays[i][1]);
  return state;
}

State start_of(const Case& c) {
  State all = random_state(c, 3);
  for (std::size_t i = 1; i < kInstances; ++i) {
    State one = random_state(c, static_cast<unsigned>(3 + i));
    for (std::size_t slot = 0; slot < c.bindings.slots.size(); ++slot) {
      if (c.bindings.slots[slot] == "who") one.scalars[slot] = static_cast<double>(3 * i);
      if (c.bindings.slots[slot] == "amplitude") one.scalars[slot] = 0.1 * static_cast<double>(i);
    }
    for (std::size_t a = 0; a < all.arrays.size(); ++a)
      for (std::size_t copy = 0; copy < 2; ++copy)
        all.arrays[a][copy].push_back(one.arrays[a][copy][0]);
    all.scalars.insert(all.scalars.end(), one.scalars.begin(), one.scalars.end());
  }
  return all;
}

State expected(const Case& c, const State& start, int steps) {
  State end = start;
  const std::size_t slots = c.bindings.slots.size();
  for (std::size_t i = 0; i < kInstances; ++i) {
    State one;
    for (const auto& array : start.arrays)
      one.arrays.push_back({std::vector<double>{array[0][i]}, std::vector<double>{array[1][i]}});
    one.scalars.assign(start.scalars.begin() + static_cast<std::ptrdiff_t>(i * slots),
                       start.scalars.begin() + static_cast<std::ptrdiff_t>((i + 1) * slots));
    for (int s = 0; s < steps; ++s) one = exchanged(c, reference(c, one));
    for (std::size_t a = 0; a < end.arrays.size(); ++a) end.arrays[a][0][i] = one.arrays[a][0][0];
    std::copy(one.scalars.begin(), one.scalars.end(),
              end.scalars.begin() + static_cast<std::ptrdiff_t>(i * slots));
  }
  return end;
}

using Run = std::function<State(const Case&, const program::Kernel&, const State&)>;

void check(program::Target language, bool cpu, Precision real, const Run& run) {
  emit::TargetInfo target;
  target.target = language;
  target.is_cpu = cpu;
  target.contract = false;
  constexpr int kSteps = 8;
  // a thread of the system for each of the device's is slow: fewer combinations there
  const bool threads = language == program::Target::Cuda;
  for (int draws : threads ? std::vector{0, 1} : std::vector{0, 1, 2, 5}) {
    SCOPED_TRACE(std::to_string(draws) + " draws");
    Case c = pendulum(draws, real);
    const State start = start_of(c), want = expected(c, start, kSteps);
    c.kernel.instances = kInstances;
    // by themselves, and with what they have in common taken out
    for (int variant = 0; variant < 4; ++variant) {
      const int steps = variant % 2 == 0 ? 1 : kSteps;
      c.kernel.common.clear();
      if (variant >= 2) c.kernel.common = {"dt", "t", "n"};
      SCOPED_TRACE("variant " + std::to_string(variant));
      c.kernel.steps = steps;
      const program::Kernel kernel = emit::emit(c.kernel, target, c.bindings);
      EXPECT_EQ(kernel.partials, 0);
      State got = start;
      for (int done = 0; done < kSteps; done += steps) got = exchanged(c, run(c, kernel, got));
      const double tolerance = real == Precision::F32 ? 1e-5 : 1e-12;
      for (std::size_t a = 0; a < got.arrays.size(); ++a)
        for (std::size_t i = 0; i < kInstances; ++i)
          ASSERT_NEAR(got.arrays[a][0][i], want.arrays[a][0][i], tolerance) << kernel.source;
      for (std::size_t i = 0; i < got.scalars.size(); ++i)
        ASSERT_NEAR(got.scalars[i], want.scalars[i], tolerance * 10) << i;
    }
  }
}

// The number of steps comes with the launch; those that move end when the clock's `stop` holds.
void check_many(program::Target language, bool cpu, const Run& run, int draws = 1,
                kernel::Generator generator = kernel::Generator::Philox10, bool bits = false) {
  SCOPED_TRACE(std::to_string(draws) + " draws of generator " +
               std::to_string(static_cast<int>(generator)) + (bits ? ", bits" : ""));
  emit::TargetInfo target;
  target.target = language;
  target.is_cpu = cpu;
  target.contract = false;
  Case c = pendulum(draws, Precision::F64, bits);
  c.kernel.random.generator = generator;
  const Expr stop = c.slot("stop");
  c.slot("multi_step", 40);
  Arena& m = *c.arena;
  c.assign("stop",
           m.raw(Op::Select, {m.raw(Op::Less, {m.real(42.5), m.symbol("n")}), m.integer(1), stop}));
  const State start = start_of(c), want = expected(c, start, 35);  // from step 8 to 43
  c.kernel.instances = kInstances;
  c.kernel.steps = 4;
  c.kernel.steps_slot = "multi_step";
  c.kernel.common = {"dt", "t", "n", "stop"};
  c.kernel.still = "stop";
  const program::Kernel kernel = emit::emit(c.kernel, target, c.bindings);
  const State got = exchanged(c, run(c, kernel, start));
  for (std::size_t a = 0; a < got.arrays.size(); ++a)
    for (std::size_t i = 0; i < kInstances; ++i)
      ASSERT_NEAR(got.arrays[a][0][i], want.arrays[a][0][i], 1e-12) << kernel.source;
  for (std::size_t i = 0; i < got.scalars.size(); ++i)
    ASSERT_NEAR(got.scalars[i], want.scalars[i], 1e-11) << i;
}

TEST(SingleSite, Native) {
  for (const Precision real : {Precision::F64, Precision::F32})
    check(program::Target::Native, true, real,
          [](const Case& c, const program::Kernel& kernel, const State& start) {
            return run_native(c, kernel, start, "g++",
                              "-O2 -march=native -Wall -Wextra -Werror -Wno-unknown-pragmas");
          });
}
TEST(SingleSite, NativeManySteps) {
  check_many(program::Target::Native, true,
             [](const Case& c, const program::Kernel& kernel, const State& start) {
               return run_native(c, kernel, start, "g++",
                                 "-O2 -march=native -Wall -Wextra -Werror -Wno-unknown-pragmas");
             });
}
// A state is kept from step to step: the launch begins and ends in the middle of a run.
void check_generators(program::Target language, bool cpu, const Run& run) {
  using kernel::Generator;
  check_many(language, cpu, run, 1, Generator::Philox7);
  check_many(language, cpu, run, 1, Generator::Philox10, true);
  if (language == program::Target::OpenCL && cpu) return;  // PoCL compiles the rest for minutes
  check_many(language, cpu, run, 1, Generator::Xorshift32);
  check_many(language, cpu, run, 3, Generator::Xorshift32, true);
  if (language == program::Target::Cuda) return;  // slow there
  for (int draws : {2, 4, 5}) check_many(language, cpu, run, draws, Generator::Xorshift32);
  for (int draws : {2, 9}) check_many(language, cpu, run, draws, Generator::Philox7, true);
}
TEST(SingleSite, NativeGenerators) {
  check_generators(program::Target::Native, true,
                   [](const Case& c, const program::Kernel& kernel, const State& start) {
                     return run_native(
                         c, kernel, start, "g++",
                         "-O2 -march=native -Wall -Wextra -Werror -Wno-unknown-pragmas");
                   });
}
TEST(SingleSite, OpenCLGenerators) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  check_generators(program::Target::OpenCL, true, run_opencl);
  check_generators(program::Target::OpenCL, false, run_opencl);
}
TEST(SingleSite, CudaOnThreadsGenerators) {
  check_generators(program::Target::Cuda, false, run_cuda_on_threads);
}
TEST(SingleSite, OpenCLManySteps) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  check_many(program::Target::OpenCL, true, run_opencl);
  check_many(program::Target::OpenCL, false, run_opencl);
}
TEST(SingleSite, CudaOnThreadsManySteps) {
  check_many(program::Target::Cuda, false, run_cuda_on_threads);
}
TEST(SingleSite, OpenCL) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  check(program::Target::OpenCL, true, Precision::F64, run_opencl);
}
TEST(SingleSite, CudaOnThreads) {
  check(program::Target::Cuda, false, Precision::F64, run_cuda_on_threads);
}

// Steps that do not fill whole blocks of random numbers cannot share them.
TEST(SingleSite, StepsThatShareNoBlock) {
  Case c = pendulum(1, Precision::F64);
  c.kernel.instances = 2;
  c.kernel.steps = 6;
  EXPECT_THROW(emit::emit(c.kernel, {}, c.bindings), std::invalid_argument);
  c.kernel.steps = 12;
  EXPECT_NO_THROW(emit::emit(c.kernel, {}, c.bindings));
}

TEST(SingleSite, CudaCompilesWithoutSpills) {
  const std::string nvcc = "/usr/local/cuda/bin/nvcc";
  if (shell(nvcc + " --version").first != 0) GTEST_SKIP() << "no nvcc";
  Case c = pendulum(2, Precision::F32);
  c.kernel.instances = 1 << 22;
  c.kernel.steps = 100;
  emit::TargetInfo target;
  target.target = program::Target::Cuda;
  target.is_cpu = false;
  const program::Kernel kernel = emit::emit(c.kernel, target, c.bindings);
  const std::string path = write_file("paths.cu", kernel.source);
  const auto [status, log] =
      shell(nvcc + " -arch=sm_90 -cubin -Xptxas -v -o " + path + ".cubin " + path);
  ASSERT_EQ(status, 0) << log << kernel.source;
  EXPECT_NE(log.find("0 bytes spill stores"), std::string::npos) << log;
  if (std::getenv("VPHI_SHOW")) std::cout << kernel.source << log;
}

// A thread of a GPU takes several instances side by side where there are many: the same numbers,
// and none lost where they do not fill the last group.
TEST(SingleSite, SeveralOfAThread) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  struct Generated {
    kernel::Generator generator;
    bool bits;
  };
  for (const auto& [generator, bits] :
       {Generated{kernel::Generator::Philox10, false}, Generated{kernel::Generator::Philox10, true},
        Generated{kernel::Generator::Philox7, false}}) {
    Case c = pendulum(1, Precision::F32, bits);
    c.kernel.random.generator = generator;
    c.slot("multi_step", 200);
    const std::size_t count = 256 * 5 * 4 + 77, slots = c.bindings.slots.size();
    State start;
    const State one = random_state(c, 4);
    start.arrays.resize(one.arrays.size());
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t a = 0; a < one.arrays.size(); ++a)
        for (std::size_t copy = 0; copy < 2; ++copy)
          start.arrays[a][copy].push_back(one.arrays[a][copy][0] +
                                          1e-3 * static_cast<double>(i % 97));
      start.scalars.insert(start.scalars.end(), one.scalars.begin(), one.scalars.end());
      for (std::size_t slot = 0; slot < slots; ++slot)
        if (c.bindings.slots[slot] == "who")
          start.scalars[i * slots + slot] = static_cast<double>(i);
    }
    c.kernel.instances = static_cast<std::int64_t>(count);
    c.kernel.steps = 4;
    c.kernel.steps_slot = "multi_step";
    c.kernel.common = {"dt", "t", "n"};
    emit::TargetInfo target;
    target.target = program::Target::OpenCL;
    target.is_cpu = false;
    target.contract = false;
    target.compute_units = 1;
    const auto run = [&] { return run_opencl(c, emit::emit(c.kernel, target, c.bindings), start); };
    EXPECT_NE(emit::emit(c.kernel, target, c.bindings).source.find("4 instances side by side"),
              std::string::npos);
    const State together = run();
    target.compute_units = 100;
    EXPECT_NE(emit::emit(c.kernel, target, c.bindings).source.find("1 instances side by side"),
              std::string::npos);
    const State apart = run();
    for (std::size_t a = 0; a < start.arrays.size(); ++a)
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(together.arrays[a][0][i], apart.arrays[a][0][i]) << a << " of " << i;
    EXPECT_EQ(together.scalars, apart.scalars);
    EXPECT_NE(together.scalars, start.scalars);
  }
}

}  // namespace
}  // namespace vphi::emit_test
