// The audit finds every kind of planted violation, in all three dialects, and counts rightly.
#include "compiler/audit/audit.hpp"

#include <gtest/gtest.h>

#include "runtime/device/self_test.hpp"

namespace vphi::audit {
namespace {

using program::Target;

constexpr Target kTargets[] = {Target::Native, Target::OpenCL, Target::Cuda};

/// A site function with `body`, in the words of a dialect; `before` comes ahead of it.
std::string source(Target target, const std::string& body, const std::string& before = {}) {
  const std::string specifier = target == Target::Cuda ? "static __device__ " : "static ";
  std::string text = before;
  for (auto at = text.find("FUNCTION "); at != std::string::npos; at = text.find("FUNCTION "))
    text.replace(at, 9, specifier);
  if (target == Target::Native) text = "#include <cmath>\n" + text;
  return text + "typedef struct { double phi; double pi; } vphi_in_sweep;\n" +
         "typedef struct { double phi_new; } vphi_out_sweep;\n" +
         "typedef struct { double drift; int flag; } vphi_par_sweep;\n" + specifier +
         "vphi_out_sweep vphi_site_sweep(const vphi_in_sweep in, const vphi_par_sweep par) {\n" +
         "  vphi_out_sweep out;\n" + body + "  return out;\n}\n" +
         (target == Target::Cuda     ? "extern \"C\" __global__ void vphi_sweep(double* field) {\n"
          : target == Target::OpenCL ? "__kernel void vphi_sweep(__global double* field) {\n"
                                     : "extern \"C\" void vphi_sweep(double* field) {\n") +
         "  vphi_in_sweep in;\n  vphi_par_sweep par;\n  par.drift = 1.0;\n  par.flag = 1;\n"
         "  for (int i = 0; i < 8; ++i) {\n    in.phi = field[i];\n    in.pi = field[i + 8];\n"
         "    field[i] = vphi_site_sweep(in, par).phi_new;\n  }\n}\n";
}

class AuditTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const AuditResult result = audit("", Target::Native);
    if (!result.available) GTEST_SKIP() << result.reason;
  }
};

std::string joined(const AuditResult& result) {
  std::string text = result.reason + result.log;
  for (const std::string& violation : result.violations) text += violation + "\n";
  return text;
}

TEST(AuditWithoutPlugin, SaysWhy) {
  const AuditResult result = audit("", Target::Native);
  EXPECT_EQ(result.available, result.reason.empty());
}

TEST_F(AuditTest, StraightCodeIsProvedAndCounted) {
  for (Target target : kTargets) {
    const AuditResult result =
        audit(source(target,
                     "  const double force = in.phi * in.phi * in.phi - exp(in.phi);\n"
                     "  out.phi_new = in.phi > 0.5 ? in.phi + par.drift * in.pi : force;\n"),
              target);
    ASSERT_TRUE(result.proved()) << joined(result);
    const FunctionFacts* site = result.find("vphi_site_sweep");
    ASSERT_TRUE(site);
    EXPECT_TRUE(site->site);
    EXPECT_EQ(site->selects, 1);
    EXPECT_EQ(site->loads, 2);  // phi, pi; the per-step number is not counted
    EXPECT_EQ(site->stores, 1);
    EXPECT_EQ(site->flops, 6);  // three products, a difference, a sum and a comparison
    EXPECT_EQ(site->special, 1);
    EXPECT_EQ(site->ifs + site->loops + site->gotos + site->switches + site->branches, 0);
    const FunctionFacts* kernel = result.find("vphi_sweep");
    ASSERT_TRUE(kernel);
    EXPECT_FALSE(kernel->site);
    EXPECT_EQ(kernel->loops, 1);
  }
}

TEST_F(AuditTest, RoundsOfACountedLoopAreProvedAndCounted) {
  for (Target target : kTargets) {
    const AuditResult result =
        audit(source(target,
                     "  double u = in.pi;\n"
                     "  for (int i = 0; i < 7; ++i) {\n    const double below = 1.0 + u * u;\n"
                     "    for (int k = 0; k < 2; ++k) u = u > in.phi ? u : below;\n"
                     "    u = sqrt(u);\n  }\n"
                     "  out.phi_new = u;\n"),
              target);
    ASSERT_TRUE(result.proved()) << joined(result);
    const FunctionFacts* site = result.find("vphi_site_sweep");
    ASSERT_TRUE(site);
    EXPECT_EQ(site->loops, 2);
    EXPECT_EQ(site->flops, 7 * (2 + 2));  // a product and a sum, and two comparisons
    EXPECT_EQ(site->special, 7);
    EXPECT_EQ(site->loads, 2);
  }
}

TEST_F(AuditTest, AnIterationMayBeLeftOutWhereItsValueIsKnown) {
  for (Target target : kTargets) {
    const AuditResult result = audit(source(target,
                                            "  const int known = in.phi == in.pi;\n"
                                            "  double u;\n"
                                            "  if (known) {\n    u = in.pi;\n  } else {\n"
                                            "    double v = in.phi;\n"
                                            "    for (int i = 0; i < 5; ++i) v = sqrt(v);\n"
                                            "    u = v;\n  }\n"
                                            "  out.phi_new = u;\n"),
                                     target);
    ASSERT_TRUE(result.proved()) << joined(result);
    const FunctionFacts* site = result.find("vphi_site_sweep");
    ASSERT_TRUE(site);
    EXPECT_EQ(site->ifs, 0);
    EXPECT_EQ(site->selects, 1);
    EXPECT_EQ(site->choices, 1);
    EXPECT_EQ(site->special, 5);
  }
}

TEST_F(AuditTest, PlantedViolationsInASiteAreFound) {
  struct Row {
    const char* body;
    const char* words;
  };
  const Row table[] = {
      {"  if (par.flag) out.phi_new = in.pi;\n", "an if"},
      {"  const int known = par.flag;\n  double u;\n  if (known) { u = 1.0; } else { u = 2.0; }\n"
       "  out.phi_new = u;\n",
       "an if"},
      {"  const int known = par.flag;\n  double u = 0.0, v = 0.0;\n  if (known) { u = 1.0; } else "
       "{\n"
       "  for (int i = 0; i < 3; ++i) u = sqrt(in.phi);\n  v = 1.0; }\n  out.phi_new = u + v;\n",
       "an if"},
      {"  switch (par.flag) { case 0: out.phi_new = 1.0; }\n", "a switch"},
      {"  goto end;\n  end: out.phi_new = 1.0;\n", "a goto"},
      {"  for (int i = 0; i < par.flag; ++i) out.phi_new = in.phi;\n", "a loop"},
      {"  for (int i = 0; i < (int)in.phi; ++i) out.phi_new = in.phi;\n", "a loop"},
      {"  for (int i = 0; i < 3; ++i) { out.phi_new = in.phi; i += 1; }\n", "a loop"},
      {"  for (int i = 0; i < 3; i += 2) out.phi_new = in.phi;\n", "a loop"},
      {"  for (int i = 0; i < 3; ++i) { out.phi_new = in.phi; break; }\n", "a loop"},
      {"  for (int i = 0; i < 3; ++i) { if (i == 1) out.phi_new = in.phi; }\n", "an if"},
      {"  int i = 0;\n  while (i < 3) ++i;\n", "a loop"},
      {"  int i = 0;\n  do ++i; while (i < 3);\n", "a loop"},
      {"  out.phi_new = in.phi > 0.0 && in.pi > 0.0;\n", "a short-circuit"},
      {"  out.phi_new = in.phi > 0.0 || in.pi > 0.0;\n", "a short-circuit"},
      {"  out.phi_new = in.phi > 0.0 ? exp(in.phi) : 0.0;\n", "a conditional operator"},
      {"  int n = 0;\n  out.phi_new = in.phi > 0.0 ? ++n : 0;\n", "a conditional operator"},
      {"  out.phi_new = vphi_helper(in.phi);\n", "an if"},
      {"  out.phi_new = vphi_outside(in.phi);\n", "not known to be pure"},
      {"  __asm__ volatile(\"\");\n", "inline assembly"},
  };
  const std::string before =
      "FUNCTION double vphi_helper(double x) {\n  if (x > 0.0) return 1.0;\n  return x;\n}\n";
  for (Target target : kTargets) {
    std::string outside = "double vphi_outside(double x);\n";
    if (target == Target::Cuda) outside = "__device__ " + outside;
    for (const Row& row : table) {
      const AuditResult result =
          audit(source(target, row.body,
                       (std::string(row.body).find("helper") < 99 ? before : "") + outside),
                target);
      ASSERT_TRUE(result.available) << row.body << joined(result);
      EXPECT_FALSE(result.proved()) << row.body;
      EXPECT_NE(joined(result).find(row.words), std::string::npos) << row.body << joined(result);
    }
  }
}

TEST_F(AuditTest, OneArithmeticInstructionIsAFunction) {
  const AuditResult result = audit(
      source(Target::Cuda,
             "  float r;\n  __asm__(\"rsqrt.approx.f32 %0, %1;\" : \"=f\"(r) : \"f\"(2.0f));\n"
             "  out.phi_new = r + __fdividef(r, 2.0f) * __logf(r);\n",
             ""),
      Target::Cuda);
  EXPECT_TRUE(result.proved()) << joined(result);
}

TEST_F(AuditTest, OtherAssemblyIsNot) {
  for (const char* text : {"ld.global.f32 %0, [%1];", "rsqrt.approx.f32 %0, %1; bra out;",
                           "@p rsqrt.approx.f32 %0, %1;"}) {
    const AuditResult result =
        audit(source(Target::Cuda, std::string("  float r;\n  __asm__(\"") + text +
                                       "\" : \"=f\"(r) : \"f\"(2.0f));\n  out.phi_new = r;\n"),
              Target::Cuda);
    ASSERT_TRUE(result.available) << text << joined(result);
    EXPECT_NE(joined(result).find("inline assembly"), std::string::npos) << text << joined(result);
  }
}

TEST_F(AuditTest, ControlFlowThatDependsOnDataIsFoundOutsideToo) {
  struct Row {
    const char* function;
    bool sound;
  };
  const Row table[] = {
      {"FUNCTION int vphi_f(const double* a, int n) { if (n > 3) return 1; return 0; }\n", true},
      {"FUNCTION int vphi_f(const double* a, int n) { if (a[0] > 3.0) return 1; return 0; }\n",
       false},
      // A counter kept behind the numbers is not one of them.
      {"FUNCTION int vphi_f(double* a, int n) { a[0] = a[1]; const int* c = (const int*)(a + n);\n"
       "  if (*c > 3) return 1; return 0; }\n",
       true},
      {"FUNCTION int vphi_f(const double* a, int n) { int m = (int)a[n]; int s = 0;\n"
       "  for (int i = 0; i < m; ++i) s += i; return s; }\n",
       false},
      {"FUNCTION int vphi_f(const double* a, int n) { int m = 0; m = a[n] < a[0]; int k = m + n;\n"
       "  while (k) --k; return k; }\n",
       false},
      {"FUNCTION int vphi_test(const double* a) { return *a > 1.0; }\n"
       "FUNCTION int vphi_f(const double* a, int n) { if (vphi_test(a)) return n; return 0; }\n",
       false},
      {"FUNCTION int vphi_inner(int n) { if (n) return 1; return 0; }\n"
       "FUNCTION int vphi_f(const double* a, int n) { return vphi_inner(a[n] > 0.0); }\n",
       false},
      {"FUNCTION int vphi_f(const double* a, int n) { return a[n] > 0.0 ? n : 0; }\n", true},
      {"FUNCTION int vphi_f(const double* a, int n) { int s = 0; const double* end = a + n;\n"
       "  for (const double* p = a; p < end; ++p) ++s; return s; }\n",
       true},
  };
  for (Target target : {Target::Native, Target::Cuda})
    for (const Row& row : table) {
      const AuditResult result =
          audit(source(target, "  out.phi_new = in.phi;\n", row.function), target);
      ASSERT_TRUE(result.available) << row.function << joined(result);
      EXPECT_EQ(result.proved(), row.sound) << row.function << joined(result);
    }
}

/// A loop of lanes that make rounds together, with its end and what else the body does.
std::string lanes_with(const std::string& loop, const std::string& end, const std::string& call) {
  return "typedef struct { double x; } vphi_lane_sweep;\n"
         "FUNCTION vphi_lane_sweep vphi_site_round_1_sweep(const vphi_lane_sweep lane) {\n"
         "  vphi_lane_sweep held; held.x = 0.5*(lane.x + 2.0/lane.x); return held;\n}\n"
         "FUNCTION double vphi_other(const vphi_lane_sweep lane) { return lane.x; }\n"
         "FUNCTION void vphi_f(double* x) {\n  " +
         loop +
         " {\n    int open = 0;\n    for (int i = 0; i < 8; ++i) {\n"
         "      vphi_lane_sweep lane; lane.x = x[i];\n      const double y = " +
         call + ";\n      open |= !(y == x[i]);\n      x[i] = y;\n    }\n    " + end + "\n  }\n}\n";
}

TEST_F(AuditTest, LanesMayEndAfterWholeRounds) {
  const std::string round = "vphi_site_round_1_sweep(lane).x", loop = "for (int r = 0; r < 9; ++r)",
                    end = "const int done = !open; if (done) break;";
  const auto proved = [&](const std::string& text) {
    return audit(source(Target::Native, "  out.phi_new = in.phi;\n", text), Target::Native);
  };
  const AuditResult good = proved(lanes_with(loop, end, round));
  EXPECT_TRUE(good.proved()) << joined(good);
  const FunctionFacts* site = good.find("vphi_site_sweep");
  ASSERT_NE(site, nullptr);
  EXPECT_EQ(site->parts, 1);
  EXPECT_EQ(site->flops, 2 * 9);  // nine rounds of a sum and a product
  EXPECT_EQ(site->special, 9);
  EXPECT_EQ(good.find("vphi_site_round_1_sweep"), nullptr);
  for (const std::string& bad :
       {lanes_with("for (int r = 0; r < (int)x[0]; ++r)", end, round),
        lanes_with(loop, end, "vphi_other(lane)"),
        lanes_with(loop, "const int done = !open; if (done) break; x[0] = 0.0;", round),
        lanes_with(loop, "if (open) { x[0] = 1.0; }", round),
        lanes_with(loop, "if (!open) r = 9;", round)})
    EXPECT_FALSE(proved(bad).proved()) << bad;
}

TEST_F(AuditTest, UnreadableSourceIsSaidWithTheLog) {
  for (Target target : kTargets) {
    const AuditResult result = audit("nonsense here;\n", target);
    EXPECT_FALSE(result.available);
    EXPECT_FALSE(result.proved());
    EXPECT_FALSE(result.reason.empty());
    EXPECT_NE(result.log.find("nonsense"), std::string::npos);
  }
}

TEST_F(AuditTest, ReadsTheDevicesSelfTest) {
  for (Target target : kTargets) {
    const AuditResult result = audit(runtime::self_test_kernel(target).source, target);
    EXPECT_TRUE(result.proved()) << joined(result);
  }
}

}  // namespace
}  // namespace vphi::audit
