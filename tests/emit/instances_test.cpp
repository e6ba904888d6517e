// Several instances in one launch against launches of each alone: the same bits, in every pattern.
#include <gtest/gtest.h>

#include "compiler/emit/walks/march.hpp"
#include "tests/emit/fixture.hpp"

namespace vphi::emit_test {
namespace {

constexpr int kInstances = 3;

// States of all instances, one behind the other in every array; and one of them.
State together(const std::vector<State>& states) {
  State all = states[0];
  for (std::size_t i = 1; i < states.size(); ++i) {
    const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    for (std::size_t a = 0; a < all.arrays.size(); ++a)
      for (std::size_t copy = 0; copy < 2; ++copy)
        append(all.arrays[a][copy], states[i].arrays[a][copy]);
    append(all.scalars, states[i].scalars);
  }
  return all;
}

State part(const State& all, std::size_t i, std::size_t instances) {
  State one;
  const auto cut = [&](const std::vector<double>& from) {
    const auto n = static_cast<std::ptrdiff_t>(from.size() / instances);
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(i) * n;
    return std::vector<double>(begin, begin + n);
  };
  for (const auto& array : all.arrays) one.arrays.push_back({cut(array[0]), cut(array[1])});
  one.scalars = cut(all.scalars);
  return one;
}

// Different fields and different parameters in each.
std::vector<State> starts(const Case& c) {
  std::vector<State> list;
  for (unsigned i = 0; i < kInstances; ++i) {
    list.push_back(random_state(c, 20 + i));
    for (double& s : list.back().scalars) s *= 1 + 0.125 * i;
  }
  return list;
}

Case many(Case c) {
  c.kernel.instances = kInstances;
  return c;
}

Case scalars_only() {
  Case c;
  c.kernel.name = "clock";
  c.shape({4, 4, 4});
  const Expr t = c.slot("t", 1.0), dt = c.slot("dt", 0.5);
  c.assign("t", c.arena->raw(Op::Add, {t, dt}));
  return c;
}

// Without reductions: the last group takes the scalars on.
Case stores_and_clock() {
  Case c = scalars_only();
  c.kernel.name = "drift";
  const int u = c.array("u", true, true);
  c.store(u, c.arena->raw(Op::Add, {c.load(u), c.arena->symbol("dt")}));
  return c;
}

std::vector<Case> cases() {
  Case kahan = preheating({12, 6, 4}, Precision::F64);
  kahan.kernel.sum = physics::SumKind::Kahan;
  Case fixed = preheating({16, 10, 12}, Precision::F32, true);
  fixed.kernel.boundary[1] = Boundary::Fixed;
  // More than one share an instance on processors.
  return {preheating({32, 32, 24}, Precision::F64), kahan, fixed, scalars_only(),
          stores_and_clock()};
}

using Run = std::function<State(const Case&, const program::Kernel&, const State&)>;

// `exact_sums`: the launch of one and of many add up in the same order.
void check(const Case& c, const emit::TargetInfo& target, bool exact_sums, const Run& run) {
  SCOPED_TRACE(c.kernel.name);
  const Case all = many(c);
  const program::Kernel one = emit::emit(c.kernel, target, c.bindings);
  const program::Kernel batch = emit::emit(all.kernel, target, c.bindings);
  const auto begin = starts(c);
  const State end = run(all, batch, together(begin));
  for (std::size_t i = 0; i < kInstances; i += 2) {
    const State got = part(end, i, kInstances), alone = run(c, one, begin[i]);
    EXPECT_EQ(array_difference(got, alone), 0) << batch.source;
    if (exact_sums)
      EXPECT_EQ(got.scalars, alone.scalars) << batch.source;
    else
      EXPECT_LT(difference(got, alone), 1e-6) << batch.source;
  }
  std::int64_t expected = 0;
  for (const program::Argument& argument : one.arguments) expected += argument.bytes;
  for (const program::Argument& argument : batch.arguments)
    if (argument.kind != program::Argument::Kind::Partials)
      expected -= argument.bytes / kInstances;
    else
      EXPECT_EQ(argument.bytes, 8 * batch.partials);
  for (const program::Argument& argument : one.arguments)
    if (argument.kind == program::Argument::Kind::Partials) expected -= argument.bytes;
  EXPECT_EQ(expected, 0);
}

emit::TargetInfo target(program::Target which, bool cpu, int units) {
  emit::TargetInfo info;
  info.target = which;
  info.is_cpu = cpu;
  info.compute_units = units;
  info.local_bytes = 48 * 1024;
  info.contract = false;
  return info;
}

const Run kNative = [](const Case& c, const program::Kernel& kernel, const State& start) {
  return run_native(c, kernel, start, "g++",
                    "-O1 -march=native -Wall -Wextra -Werror -Wno-unknown-pragmas");
};

// With many threads an instance is shared among them, with one a task takes it whole.
TEST(Instances, Native) {
  for (const Case& c : cases())
    for (int units : {64, 0}) check(c, target(program::Target::Native, true, units), true, kNative);
}

TEST(Instances, OpenCLRows) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  for (const Case& c : cases())
    check(c, target(program::Target::OpenCL, true, 2), true, run_opencl);
}

TEST(Instances, OpenCLThreads) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  for (const Case& c : cases())
    check(c, target(program::Target::OpenCL, false, 2), false, run_opencl);
}

TEST(Instances, CudaOnThreads) {
  const auto list = cases();
  for (const Case& c : {list[1], list[2], list[3], list[4]})
    check(c, target(program::Target::Cuda, false, 2), false, run_cuda_on_threads);
}

// The march with one shape: the same bits alone and in company.
void march(program::Target language, const Run& run) {
  const Case c = preheating({32, 16, 8}, Precision::F32), all = many(c);
  const emit::TargetInfo info = target(language, false, 2);
  const emit::MarchShape shape{8, 4, 1, 3, 2, 1};
  const emit::Job one = emit::make_job(c.kernel, info, c.bindings);
  const emit::Job batch = emit::make_job(all.kernel, info, c.bindings);
  ASSERT_TRUE(emit::fits(one, shape));
  const auto begin = starts(c);
  const program::Kernel kernel = emit::emit_march(batch, c.bindings, shape);
  const State end = run(all, kernel, together(begin));
  for (std::size_t i = 0; i < kInstances; ++i) {
    const State alone = run(c, emit::emit_march(one, c.bindings, shape), begin[i]);
    EXPECT_EQ(difference(part(end, i, kInstances), alone), 0) << kernel.source;
  }
}

TEST(Instances, MarchOpenCL) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  march(program::Target::OpenCL, run_opencl);
}
TEST(Instances, MarchCudaOnThreads) { march(program::Target::Cuda, run_cuda_on_threads); }

// An instance's numbers do not depend on how many there are.
TEST(Instances, ShapeDoesNotDependOnTheirNumber) {
  Case c = preheating({32, 32, 32}, Precision::F32);
  const emit::TargetInfo info = target(program::Target::Cuda, false, 132);
  c.kernel.instances = 2;
  const program::Kernel two = emit::emit(c.kernel, info, c.bindings);
  c.kernel.instances = 1000;
  const program::Kernel thousand = emit::emit(c.kernel, info, c.bindings);
  EXPECT_EQ(thousand.grid[0], 500 * two.grid[0]);
  EXPECT_EQ(thousand.block, two.block);
  EXPECT_EQ(thousand.partials, 500 * two.partials);
  EXPECT_NE(thousand.source.find("cp.async"), std::string::npos);
}

TEST(Instances, StandAlone) {
  const Case c = many(preheating({16, 16, 16}, Precision::F64));
  const program::Kernel cpp =
      emit::emit(c.kernel, target(program::Target::Native, true, 64), c.bindings);
  const std::string path = write_file("many.cpp", emit::stand_alone(cpp, program::Target::Native));
  const auto [status, log] =
      shell("g++ -std=c++17 -O1 -o " + path + ".run " + path + " && " + path + ".run");
  ASSERT_EQ(status, 0) << log;
  EXPECT_NE(log.find("scalars 6: sum"), std::string::npos) << log;
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  const program::Kernel cl =
      emit::emit(c.kernel, target(program::Target::OpenCL, true, 64), c.bindings);
  const std::string host =
      write_file("many_cl.cpp", emit::stand_alone(cl, program::Target::OpenCL));
  const auto [cl_status, cl_log] =
      shell("g++ -std=c++17 -O1 -o " + host + ".run " + host + " -lOpenCL && " + host + ".run");
  ASSERT_EQ(cl_status, 0) << cl_log;
  const auto number = [](const std::string& text) {
    return std::stod(text.substr(text.find("array 1: sum ") + 13));
  };
  EXPECT_NEAR(number(log), number(cl_log), 1e-8);
}

}  // namespace
}  // namespace vphi::emit_test
