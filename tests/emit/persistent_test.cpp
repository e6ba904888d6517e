// Many steps of a small system in one launch against a launch for each kernel: the same bits.
#include "compiler/emit/patterns/persistent.hpp"

#include <gtest/gtest.h>

#include "compiler/algebra/pairs.hpp"
#include "runtime/device/cuda/nvrtc.hpp"
#include "tests/emit/fixture.hpp"

namespace vphi::emit_test {
namespace {

using kernel::Reach;
using program::Target;

constexpr int kSteps = 5;

/// Rotors in a mean field with noise: a kick by the sums of the stage before, a drift that makes
/// the next ones; then a kernel of scalars alone. `c.kernel` is the round.
Case rotors(std::int64_t sites, std::int64_t instances, Precision real) {
  Case c;
  c.kernel.name = "rotors";
  c.shape({sites});
  c.kernel.compute = real;
  const int x = c.array("x", true, true), p = c.array("p", true, true);
  for (auto& array : c.kernel.arrays) array.store = real;
  const Expr dt = c.slot("dt", 0.1), a = c.slot("cosines", 0.3), b = c.slot("sines", 0.1),
             n = c.slot("n");
  c.slot("count"), c.slot("who"), c.slot("multi_step", kSteps);
  Arena& m = *c.arena;
  const auto mul = [&](std::vector<Expr> f) { return m.raw(Op::Mul, std::move(f)); };
  const auto add = [&](std::vector<Expr> f) { return m.raw(Op::Add, std::move(f)); };
  const Expr angle = c.load(x), sine = m.raw(Op::Sin, {angle}), cosine = m.raw(Op::Cos, {angle});
  Case kick = c, drift = c, clock = c;
  kick.kernel.name = "kick";
  kick.store(p, add({c.load(p), mul({dt, b, cosine}), mul({m.integer(-1), dt, a, sine}),
                     mul({dt, m.random(Op::Normal, 0)})}));
  kick.kernel.random.draws = 1;
  kick.kernel.random.sites = sites;
  kick.kernel.random.step = "n";
  kick.kernel.random.instance = "who";
  drift.kernel.name = "drift";
  const Expr moved = add({angle, mul({dt, c.load(p)})});
  drift.store(x, moved);
  const Expr inverse = m.real(1.0 / static_cast<double>(sites));
  drift.sum("cosines", mul({inverse, m.raw(Op::Cos, {moved})}));
  drift.sum("sines", mul({inverse, m.raw(Op::Sin, {moved})}));
  drift.assign("n", add({n, m.integer(1)}));
  clock.kernel.name = "clock";
  clock.kernel.arrays.clear();
  clock.assign("count", add({m.symbol("count"), m.symbol("cosines")}));
  c.kernel.stages = {kick.kernel, drift.kernel, clock.kernel};
  c.kernel.stages[0].arrays[0].written = c.kernel.stages[1].arrays[1].written = false;
  c.kernel.stage_repeats = 2;
  c.kernel.steps_slot = "multi_step";
  for (Kernel& stage : c.kernel.stages) stage.instances = instances;
  c.kernel.instances = instances;
  return c;
}

/// Forces of all pairs and a step of Euler's method in their field.
Case pairs(std::int64_t sites, std::int64_t instances) {
  Case c;
  c.kernel.name = "charges";
  c.shape({sites});
  const int x = c.array("x", true, true), f = c.array("f", true, true);
  const Expr dt = c.slot("dt", 0.01), n = c.slot("n");
  c.slot("multi_step", kSteps);
  Arena& m = *c.arena;
  const auto add = [&](std::vector<Expr> e) { return m.raw(Op::Add, std::move(e)); };
  Case force = c, move = c;
  force.kernel.name = "force";
  force.kernel.pair = Precision::F32;
  const Expr gap = m.raw(Op::Sub, {c.load(x), algebra::other(c.load(x))});
  force.store(f, algebra::pair_sum(m.raw(Op::Sin, {gap}), true));
  force.kernel.arrays[0].written = force.kernel.arrays[1].read = false;
  move.kernel.name = "move";
  move.store(x, add({c.load(x), m.raw(Op::Mul, {dt, c.load(f)})}));
  move.kernel.arrays[1].written = false;
  move.assign("n", add({n, m.integer(1)}));
  c.kernel.stages = {force.kernel, move.kernel};
  c.kernel.steps_slot = "multi_step";
  for (Kernel& stage : c.kernel.stages) stage.instances = instances;
  c.kernel.instances = instances;
  return c;
}

/// A long step: a kick, then a drift, a clock and a kick, `turns` times.
Case long_step(std::int64_t sites, std::int64_t instances, int turns) {
  Case c = rotors(sites, instances, Precision::F64);
  const std::vector<Kernel> parts = c.kernel.stages;
  c.kernel.stage_repeats = 1;
  c.kernel.stages = {parts[0]};
  for (int turn = 0; turn < turns; ++turn)
    c.kernel.stages.insert(c.kernel.stages.end(), {parts[1], parts[2], parts[0]});
  return c;
}

int count_of(const std::string& text, const std::string& what) {
  int count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

/// The kernel of many steps, as the counts would have it.
std::string source_of(Case c, const emit::TargetInfo& target) {
  std::string why;
  const auto shape = emit::persistent_shape(c.kernel, target, why);
  if (!shape) return {};
  c.kernel.reach = shape->reach, c.kernel.threads = shape->threads;
  for (Kernel& stage : c.kernel.stages) stage.reach = shape->reach, stage.threads = shape->threads;
  return emit::emit(c.kernel, target, c.bindings).source;
}

State start_of(const Case& c) {
  State all;
  for (std::int64_t i = 0; i < c.kernel.instances; ++i) {
    State one = random_state(c, static_cast<unsigned>(7 + i));
    for (std::size_t slot = 0; slot < c.bindings.slots.size(); ++slot)
      if (c.bindings.slots[slot] == "who") one.scalars[slot] = static_cast<double>(2 * i);
    if (i == 0) {
      all = std::move(one);
      continue;
    }
    for (std::size_t a = 0; a < all.arrays.size(); ++a)
      for (std::size_t copy = 0; copy < 2; ++copy)
        all.arrays[a][copy].insert(all.arrays[a][copy].end(), one.arrays[a][copy].begin(),
                                   one.arrays[a][copy].end());
    all.scalars.insert(all.scalars.end(), one.scalars.begin(), one.scalars.end());
  }
  return all;
}

using Runner = std::function<State(const Case&, const program::Kernel&, const State&)>;

void same_bits(Case c, const emit::TargetInfo& target, const Runner& run, Reach expected) {
  std::string why;
  const auto wish =
      expected == Reach::Wave ? emit::PersistentChoice::Groups : emit::PersistentChoice::ByCounts;
  const auto shape = emit::persistent_shape(c.kernel, target, why, wish);
  ASSERT_TRUE(shape) << why;
  EXPECT_EQ(shape->reach, expected) << shape->why;
  const auto cut = [&](Kernel& k) { k.reach = shape->reach, k.threads = shape->threads; };
  cut(c.kernel);
  for (Kernel& stage : c.kernel.stages) cut(stage);
  const State start = start_of(c);
  State single = start;
  for (std::int64_t i = 0; i < kSteps * c.kernel.stage_repeats; ++i)
    for (const Kernel& stage : c.kernel.stages) {
      Case one = c;
      one.kernel = stage;
      single = run(one, emit::emit(stage, target, c.bindings), single);
    }
  const program::Kernel many = emit::emit(c.kernel, target, c.bindings);
  EXPECT_EQ(many.together, expected == Reach::Wave);
  EXPECT_EQ(difference(run(c, many, start), single), 0) << many.source;
  EXPECT_GT(difference(start, single), 0);
}

emit::TargetInfo target(Target which, bool cpu, int units) {
  emit::TargetInfo info;
  info.target = which;
  info.is_cpu = cpu;
  info.compute_units = units;
  info.local_bytes = 48 * 1024;
  info.contract = false;
  return info;
}

std::vector<Case> small_cases() {
  return {rotors(300, 3, Precision::F64), pairs(90, 3), long_step(50, 3, 7)};
}

TEST(Persistent, Native) {
  const Runner run = [](const Case& c, const program::Kernel& kernel, const State& start) {
    return run_native(c, kernel, start, "g++",
                      "-O1 -march=native -Wall -Wextra -Werror -Wno-unknown-pragmas");
  };
  for (const Case& c : small_cases())
    same_bits(c, target(Target::Native, true, 1), run, Reach::Group);
  for (const Case& c : {rotors(41, 1, Precision::F32), pairs(70, 1)})
    same_bits(c, target(Target::Native, true, 1), run, Reach::Group);
}

TEST(Persistent, OpenCLOnAProcessor) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  for (const Case& c : small_cases())
    same_bits(c, target(Target::OpenCL, true, 2), run_opencl, Reach::Group);
}

TEST(Persistent, OpenCLAsOnAGpu) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  for (const Case& c : small_cases())
    same_bits(c, target(Target::OpenCL, false, 2), run_opencl, Reach::Group);
}

TEST(Persistent, CudaOnThreads) {
  for (const Case& c : {rotors(300, 3, Precision::F64), rotors(41, 1, Precision::F32), pairs(90, 3),
                        long_step(50, 3, 7)})
    same_bits(c, target(Target::Cuda, false, 2), run_cuda_on_threads, Reach::Group);
}

// Groups that wait for each other, each in a thread of the system: values of few sites a thread
// stay in registers, those of many pass through memory.
TEST(Persistent, CudaGroupsThatWait) {
  const emit::TargetInfo info = target(Target::Cuda, false, 2);
  for (const std::int64_t sites : {1024, 1100, 2100, 17000}) {
    for (const Precision real : {Precision::F64, Precision::F32}) {
      Case c = rotors(sites, 1, real);
      same_bits(c, info, run_cuda_on_threads, Reach::Wave);
      c.kernel.reach = Reach::Wave, c.kernel.threads = 256;
      for (Kernel& stage : c.kernel.stages) stage.reach = Reach::Wave, stage.threads = 256;
      const std::string text = emit::emit(c.kernel, info, c.bindings).source;
      const bool few = sites < 17000 || real == Precision::F32;  // 64 words or less
      EXPECT_EQ(text.find("own_0[k]") != std::string::npos, few) << sites;
    }
  }
}

// Stages that repeat stand there once, however many turns a step has.
TEST(Persistent, ALongStepIsALoop) {
  for (const auto& [info, call] :
       {std::pair{target(Target::OpenCL, true, 2), "= vphi_site_drift("},
        std::pair{target(Target::Cuda, false, 2), "= vphi_site_drift("},
        std::pair{target(Target::Native, true, 2), "vphi_share_drift(of_"}}) {
    EXPECT_EQ(count_of(source_of(long_step(50, 3, 30), info), call), 1);
    EXPECT_EQ(count_of(source_of(long_step(50, 3, 2), info), call), 2) << "a short step is none";
  }
  Case c = long_step(50, 3, 30);
  for (std::size_t i = 0; i < c.kernel.stages.size(); ++i)
    c.kernel.stages[i].name += "_" + std::to_string(i);
  std::string why;
  EXPECT_FALSE(emit::persistent_shape(c.kernel, target(Target::Native, true, 2), why));
  EXPECT_EQ(why, "91 kernels one after the other are more than one launch takes");
}

// PoCL does not come to an end over dozens of barriers.
TEST(Persistent, AGroupOfOneWaitsForNobody) {
  const emit::TargetInfo info = target(Target::OpenCL, true, 2);
  EXPECT_EQ(count_of(source_of(rotors(300, 3, Precision::F64), info), "barrier(CLK"), 0);
  EXPECT_GT(count_of(source_of(pairs(90, 3), info), "barrier(CLK"), 0) << "a group of many does";
}

TEST(Persistent, TheCountsDecide) {
  const auto why = [](const Case& c, const emit::TargetInfo& info) {
    std::string text;
    const auto shape = emit::persistent_shape(c.kernel, info, text);
    return shape ? "" : text;
  };
  const emit::TargetInfo cuda = target(Target::Cuda, false, 132),
                         opencl = target(Target::OpenCL, false, 132),
                         native = target(Target::Native, true, 8);
  EXPECT_EQ(why(rotors(4096, 2, Precision::F64), cuda), "");
  EXPECT_NE(why(rotors(5000, 2, Precision::F64), cuda), "");
  EXPECT_EQ(why(rotors(5000, 528, Precision::F64), cuda), "");
  EXPECT_NE(why(rotors(9000, 528, Precision::F64), cuda), "");
  EXPECT_EQ(why(rotors(2048, 1, Precision::F64), cuda), "");
  EXPECT_NE(why(rotors(3000, 1, Precision::F64), cuda), "") << "launches are as fast";
  EXPECT_EQ(why(rotors(3000, 1, Precision::F64), opencl), "");
  EXPECT_EQ(why(rotors(1 << 18, 1, Precision::F64), cuda), "");
  EXPECT_EQ(why(rotors(1 << 20, 1, Precision::F64), cuda), "");
  EXPECT_NE(why(rotors(1 << 21, 1, Precision::F64), cuda), "");
  EXPECT_NE(why(rotors(1 << 14, 1, Precision::F64), opencl).find("OpenCL"), std::string::npos);
  EXPECT_EQ(why(pairs(256, 1), cuda), "");
  EXPECT_NE(why(pairs(1024, 1), cuda), "") << "one group would be slower than many";
  EXPECT_EQ(why(pairs(1024, 132), cuda), "");
  EXPECT_NE(why(pairs(1024, 100), cuda), "") << "multiprocessors would idle";
  EXPECT_EQ(why(rotors(4096, 1, Precision::F64), native), "");
  EXPECT_NE(why(pairs(4096, 1), native), "") << "its pairs are work for all threads";
  EXPECT_EQ(why(pairs(4096, 100), native), "");
}

// `launch = group` and `groups`: as asked, where the device can.
TEST(Persistent, AWishGoesBeforeTheCounts) {
  using emit::PersistentChoice;
  const emit::TargetInfo cuda = target(Target::Cuda, false, 132),
                         opencl = target(Target::OpenCL, false, 132),
                         native = target(Target::Native, true, 8);
  const auto reach = [](const Case& c, const emit::TargetInfo& info, PersistentChoice wish) {
    std::string why;
    const auto shape = emit::persistent_shape(c.kernel, info, why, wish);
    EXPECT_EQ(why.empty(), shape.has_value());
    return shape ? shape->reach : Reach::Launch;
  };
  const Case few = rotors(300, 1, Precision::F64), lots = rotors(1 << 21, 1, Precision::F64),
             copies = rotors(1 << 14, 3, Precision::F64), far = pairs(1 << 12, 1);
  EXPECT_EQ(reach(few, cuda, PersistentChoice::Groups), Reach::Wave);
  EXPECT_EQ(reach(few, cuda, PersistentChoice::Group), Reach::Group);
  EXPECT_EQ(reach(few, opencl, PersistentChoice::Groups), Reach::Launch);
  EXPECT_EQ(reach(few, native, PersistentChoice::Groups), Reach::Launch);
  EXPECT_EQ(reach(lots, cuda, PersistentChoice::Groups), Reach::Wave);
  EXPECT_EQ(reach(lots, cuda, PersistentChoice::ByCounts), Reach::Launch);
  EXPECT_EQ(reach(copies, cuda, PersistentChoice::Group), Reach::Group);
  EXPECT_EQ(reach(copies, cuda, PersistentChoice::Groups), Reach::Launch);
  EXPECT_EQ(reach(far, opencl, PersistentChoice::Group), Reach::Group);
  EXPECT_EQ(reach(far, native, PersistentChoice::Group), Reach::Group);
}

// Cooperative or not, the device's compiler takes it and nothing is spilled.
TEST(Persistent, NvrtcTakesThem) {
  if (runtime::nvrtc_version().empty()) GTEST_SKIP() << "no NVRTC";
  for (Case c :
       {rotors(1024, 100, Precision::F64), rotors(1 << 17, 1, Precision::F64), pairs(1024, 200)}) {
    const emit::TargetInfo cuda = target(Target::Cuda, false, 132);
    std::string why, log;
    const auto shape = emit::persistent_shape(c.kernel, cuda, why);
    ASSERT_TRUE(shape) << why;
    c.kernel.reach = shape->reach, c.kernel.threads = shape->threads;
    for (Kernel& stage : c.kernel.stages)
      stage.reach = shape->reach, stage.threads = shape->threads;
    EXPECT_NO_THROW(
        runtime::nvrtc_compile(emit::emit(c.kernel, cuda, c.bindings).source, "sm_90", &log));
  }
}

// A stage that draws takes the GPU's own functions in f32, the next one those with fused steps.
TEST(Persistent, AStageThatDrawsIsBesideOneThatDoesNot) {
  Case c = rotors(1024, 100, Precision::F32);
  Arena& m = *c.arena;
  for (Kernel& stage : c.kernel.stages)
    for (kernel::Store& store : stage.stores)
      store.value = m.raw(Op::Atan2, {store.value, m.real(2)});
  emit::TargetInfo cuda = target(Target::Cuda, false, 132);
  cuda.contract = cuda.nvidia = true;
  const std::string source = source_of(c, cuda);
  EXPECT_NE(source.find("= vphi_atan2_quick_f32("), std::string::npos);
  EXPECT_NE(source.find("= vphi_atan2_near_f32("), std::string::npos);
  if (runtime::nvrtc_version().empty()) GTEST_SKIP() << "no NVRTC";
  std::string log;
  EXPECT_NO_THROW(runtime::nvrtc_compile(source, "sm_90", &log)) << log;
}

// What is compared bit for bit is compiled without fused multiply-adds, for every device.
TEST(Persistent, NvrtcFusesNothingWhereItIsToldSo) {
  if (runtime::nvrtc_version().empty()) GTEST_SKIP() << "no NVRTC";
  const Case c = pairs(64, 3);
  for (const bool contract : {true, false}) {
    emit::TargetInfo cuda = target(Target::Cuda, false, 132);
    cuda.contract = contract;
    bool fused = false;
    for (const Kernel& stage : c.kernel.stages) {
      const std::string source = emit::emit(stage, cuda, c.bindings).source;
      const std::string code = runtime::nvrtc_compile(source, "compute_90");
      fused = fused || code.find("fma.rn.f") != std::string::npos;
    }
    EXPECT_EQ(fused, contract);
  }
}

}  // namespace
}  // namespace vphi::emit_test
