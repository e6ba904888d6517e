// Iterations that are written out as loops: which rounds are found, and that the emitted loops
// agree with the slow reference, which evaluates all rounds.
#include <gtest/gtest.h>

#include <utility>

#include "compiler/kernel/rounds.hpp"
#include "tests/emit/fixture.hpp"

namespace vphi::emit_test {
namespace {

using kernel::Rounds;

bool is_load(const algebra::Node& node) { return node.op == Op::Load; }

/// A site with an unknown that is found by iteration, in the ways that recoveries use.
struct Iteration {
  Case c;
  Expr p, q;
  Arena& a;

  explicit Iteration(Precision real = Precision::F64) : a(*c.arena) {
    c.kernel.name = "iterated";
    c.shape({33, 5});
    c.kernel.compute = real;
    const int u = c.array("u", true, false), m = c.array("m", true, false);
    c.array("found", false, true);
    c.slot("sum");
    const auto positive = [&](Expr x) { return a.raw(Op::Add, {a.integer(1), mul(x, x)}); };
    p = positive(c.load(u)), q = positive(c.load(m));
  }
  Expr mul(Expr x, Expr y) { return a.raw(Op::Mul, {x, y}); }
  Expr add(Expr x, Expr y) { return a.raw(Op::Add, {x, y}); }
  Expr half(Expr x) { return mul(a.rational(1, 2), x); }

  /// The root of p by Heron's method.
  Expr fixed_point(int rounds) {
    Expr x = q;
    for (int i = 0; i < rounds; ++i) x = half(add(x, a.raw(Op::Div, {p, x})));
    return x;
  }
  /// Values that come again after two, three or four rounds: p/x, 1/(1 - x) and (x - 1)/(x + 1).
  Expr in_turn(int period, int rounds) {
    const Expr one = a.integer(1), minus = a.integer(-1);
    Expr x = q;
    for (int i = 0; i < rounds; ++i) {
      if (period == 2) x = a.raw(Op::Div, {p, x});
      if (period == 3) x = a.raw(Op::Div, {one, add(one, mul(minus, x))});
      if (period == 4) x = a.raw(Op::Div, {add(x, minus), add(x, one)});
    }
    return x;
  }
  /// The same by bisection, which hands on both ends.
  Expr bisection(int rounds) {
    Expr low = half(a.raw(Op::Div, {q, add(q, q)})), high = add(p, q);
    for (int i = 0; i < rounds; ++i) {
      const Expr middle = half(add(low, high));
      const Expr below = a.raw(Op::Less, {mul(middle, middle), p});
      low = a.raw(Op::Select, {below, middle, low});
      high = a.raw(Op::Select, {below, high, middle});
    }
    return add(low, high);
  }
  /// The roots of `of` and of that root, by rounds that stay where they are once both move by less
  /// than 1e-5.
  std::pair<Expr, Expr> settling(Expr of, Expr x, Expr y, int rounds) {
    const auto close = [&](Expr then, Expr now) {
      const Expr apart = a.raw(Op::Abs, {a.raw(Op::Sub, {then, now})});
      return a.raw(Op::LessEqual, {apart, a.real(1e-5L)});
    };
    for (int i = 0; i < rounds; ++i) {
      const Expr one = half(add(x, a.raw(Op::Div, {of, x})));
      const Expr other = half(add(y, a.raw(Op::Div, {one, y})));
      const Expr stays = a.raw(Op::And, {close(one, x), close(other, y)});
      x = a.raw(Op::Select, {stays, x, one}), y = a.raw(Op::Select, {stays, y, other});
    }
    return {x, y};
  }
  std::vector<Rounds> rounds(std::vector<Expr> roots) {
    return kernel::find_rounds(roots, is_load);
  }
  /// Stores the value, and adds up another.
  void finish(Expr value, Expr more) {
    c.store(2, value);
    c.sum("sum", more);
  }
};

TEST(Rounds, OfAFixedPointHandOnOneNumber) {
  Iteration site;
  const auto found = site.rounds({site.fixed_point(40)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GE(found[0].times, 38);
  EXPECT_EQ(found[0].body.size(), 3U);
  ASSERT_EQ(found[0].values.size(), 1U);
  EXPECT_TRUE(found[0].values[0].before);
}

TEST(Rounds, OfABisectionHandOnBothEnds) {
  Iteration site;
  const auto found = site.rounds({site.bisection(30)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GE(found[0].times, 28);
  EXPECT_EQ(found[0].values.size(), 2U);
}

TEST(Rounds, OfTwoIterationsAreTwoLoops) {
  Iteration site;
  const Expr first = site.fixed_point(12);
  site.p = first;
  EXPECT_EQ(site.rounds({site.fixed_point(20), site.bisection(9)}).size(), 3U);
}

// A value that is used between the rounds is not the last one.
TEST(Rounds, EndWhereAValueIsUsedElsewhere) {
  Iteration site;
  const Expr early = site.fixed_point(10), late = site.fixed_point(30);
  for (const Rounds& rounds : site.rounds({late, site.mul(early, site.q)}))
    EXPECT_LE(rounds.times, 20);
}

TEST(Rounds, AreNotFoundWhereEachReadsAnotherNumber) {
  Iteration site;
  Expr x = site.q;
  for (int i = 0; i < 20; ++i) x = site.add(site.mul(x, site.p), site.c.load(0, i % 7 - 3));
  EXPECT_TRUE(site.rounds({x}).empty());
}

emit::TargetInfo target_of(program::Target language, bool is_cpu) {
  emit::TargetInfo target;
  target.target = language;
  target.is_cpu = is_cpu;
  target.compute_units = 3;
  return target;
}
emit::TargetInfo gpu(program::Target language) { return target_of(language, false); }
emit::TargetInfo processor(program::Target language) { return target_of(language, true); }

/// The text for CUDA of a site that stores this number.
std::string cuda_text(Iteration& site, Expr root) {
  site.finish(root, root);
  return emit::emit(site.c.kernel, gpu(program::Target::Cuda), site.c.bindings).source;
}

/// Long computations with rounds of every kind.
std::vector<Case> iterations() {
  std::vector<Case> list;
  for (const Precision real : {Precision::F64, Precision::F32}) {
    Iteration one(real);
    const Expr root = one.fixed_point(300);
    one.finish(root, one.mul(root, root));
    list.push_back(one.c);
    Iteration two(real);
    const Expr pair = two.bisection(700);
    two.p = two.add(pair, two.q);
    two.finish(two.fixed_point(250), pair);
    list.push_back(two.c);
    // an early value is wanted too, and the first value in all rounds
    Iteration mixed(real);
    mixed.p = mixed.q;
    const Expr early = mixed.fixed_point(90);
    mixed.finish(mixed.fixed_point(400), early);
    list.push_back(mixed.c);
    // what loops find is wanted at some sites: by one condition twice, and by it once more where
    // the first two are read
    Iteration chosen(real);
    const Expr here = chosen.a.raw(Op::Less, {chosen.p, chosen.q});
    const auto choice = [&](Expr yes, Expr no) {
      return chosen.a.raw(Op::Select, {here, yes, no});
    };
    const Expr found = chosen.fixed_point(300);
    const Expr first = choice(chosen.q, found), second = choice(chosen.mul(found, chosen.q), first);
    const Expr other = choice(chosen.mul(found, found), chosen.p);
    chosen.finish(chosen.add(first, other), chosen.mul(second, chosen.p));
    list.push_back(chosen.c);
    // a loop for two numbers that ends by a condition of its own, and one at some sites after it
    Iteration settled(real);
    const auto [x, y] = settled.settling(settled.p, settled.q, settled.q, 200);
    const auto again = settled.settling(settled.add(settled.p, settled.q), x, y, 200);
    const Expr there = settled.a.raw(Op::Less, {settled.p, settled.q});
    settled.finish(settled.a.raw(Op::Select, {there, x, again.first}), settled.mul(x, x));
    list.push_back(settled.c);
    // a loop that is left early still has the value of its last round
    for (const int period : {2, 3, 4}) {
      for (const int rounds : {450, 451, 452}) {
        Iteration turning(real);
        const Expr value = turning.in_turn(period, rounds);
        turning.finish(value, turning.mul(value, turning.q));
        list.push_back(turning.c);
      }
    }
  }
  return list;
}

void check(program::Target language,
           const std::function<State(const Case&, const program::Kernel&, const State&)>& run) {
  for (const Case& c : iterations()) {
    const program::Kernel kernel = emit::emit(c.kernel, gpu(language), c.bindings);
    EXPECT_NE(kernel.source.find("for (int round_1 = 0"), std::string::npos) << kernel.source;
    EXPECT_LT(kernel.source.size(), 20000U);
    const State start = random_state(c, 3), expected = reference(c, start);
    // quotients in f32 are off by up to three units in the last place
    const double most = c.kernel.compute == Precision::F32 ? 4e-6 : 1e-14;
    EXPECT_LT(difference(run(c, kernel, start), expected), most) << kernel.source;
  }
}

TEST(Rounds, AsLoopsOfCudaAgreeWithTheReference) {
  check(program::Target::Cuda, run_cuda_on_threads);
}

TEST(Rounds, AsLoopsOfOpenCLAgreeWithTheReference) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  check(program::Target::OpenCL, run_opencl);
}

/// The lanes of a processor make rounds together; rows of 33 sites end in a strip of fewer lanes.
void check_lanes(
    program::Target language,
    const std::function<State(const Case&, const program::Kernel&, const State&)>& run) {
  for (const Case& c : iterations()) {
    const program::Kernel kernel = emit::emit(c.kernel, processor(language), c.bindings);
    EXPECT_NE(kernel.source.find("vphi_site_round_1_iterated(lane, par)"), std::string::npos);
    const State start = random_state(c, 3), expected = reference(c, start);
    // quotients in f32 are off by up to three units in the last place
    const double most = c.kernel.compute == Precision::F32 ? 4e-6 : 1e-14;
    EXPECT_LT(difference(run(c, kernel, start), expected), most) << kernel.source;
  }
}

TEST(Rounds, OfLanesAgreeWithTheReference) {
  check_lanes(program::Target::Native,
              [](const Case& c, const program::Kernel& kernel, const State& start) {
                return run_native(c, kernel, start, "g++",
                                  "-O2 -march=native -ffp-contract=off -Wall -Wextra -Werror "
                                  "-Wno-unknown-pragmas -Wno-unused-variable");
              });
}

TEST(Rounds, OfLanesInOpenCLAgreeWithTheReference) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  check_lanes(program::Target::OpenCL, run_opencl);
}

TEST(Rounds, EndWhereTheyRepeat) {
  Iteration site;
  const std::string text = cuda_text(site, site.fixed_point(400));
  EXPECT_NE(text.find("round_1_known) break;"), std::string::npos) << text;
}

TEST(Rounds, OfSeveralNumbersEndByTheirOwnCondition) {
  Iteration site;
  const auto [x, y] = site.settling(site.p, site.q, site.q, 200);
  const auto found = site.rounds({x, y});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(kernel::settling(found.front()));
  const std::string text = cuda_text(site, site.mul(x, y));
  EXPECT_NE(text.find("if (round_1_settled) break;"), std::string::npos) << text;
  EXPECT_EQ(text.find("_kept"), std::string::npos) << text;
  EXPECT_FALSE(kernel::settling(site.rounds({site.bisection(40)}).front()));
}

// Nothing else needs the loop, and p is read by the condition too.
TEST(Rounds, ThatNothingElseNeedsAreLeftOutWhereTheyAreNotChosen) {
  Iteration site;
  const Expr here = site.a.raw(Op::Less, {site.p, site.q});
  const std::string text =
      cuda_text(site, site.a.raw(Op::Select, {here, site.q, site.fixed_point(400)}));
  const auto arms = text.find("if (chosen_1) {"), loop = text.find("for (int round_1 = 0");
  ASSERT_NE(arms, std::string::npos) << text;
  EXPECT_GT(loop, text.find("} else {", arms)) << text;
}

TEST(Rounds, ThatOthersNeedAreMadeBeforeAChoice) {
  Iteration site;
  const Expr here = site.a.raw(Op::Less, {site.p, site.q}), root = site.fixed_point(400);
  const std::string text =
      cuda_text(site, site.add(root, site.a.raw(Op::Select, {here, site.q, site.mul(root, root)})));
  EXPECT_NE(text.find("for (int round_1 = 0"), std::string::npos) << text;
  EXPECT_EQ(text.find("if (chosen_1)"), std::string::npos) << text;
}

// A comparison costs as much as a round of bisection.
TEST(Rounds, OfLittleWorkAreNotWatched) {
  Iteration site;
  const std::string text = cuda_text(site, site.bisection(1500));
  EXPECT_NE(text.find("for (int round_1 = 0"), std::string::npos);
  EXPECT_EQ(text.find("break;"), std::string::npos);
}

// What fits the caches of instructions stays written out, unless it looks for one number and may
// end early.
TEST(Rounds, OfAShortComputationAreWrittenOutOrEndEarly) {
  Iteration two, one;
  const std::string written = cuda_text(two, two.bisection(20));
  EXPECT_EQ(written.find("for (int round_1 = 0"), std::string::npos);
  const std::string looped = cuda_text(one, one.fixed_point(20));
  EXPECT_NE(looped.find("for (int round_1 = 0"), std::string::npos);
  EXPECT_NE(looped.find("break;"), std::string::npos);
}

}  // namespace
}  // namespace vphi::emit_test
