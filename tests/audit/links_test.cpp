// Updates of SU(3) links, and rounds of a solver with them, as machine code of a GPU: no spills,
// and few enough registers for the number of groups of 128 threads that hides the latency of
// memory.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "compiler/compile.hpp"
#include "tests/audit/machine.hpp"
#include "tests/audit/ways.hpp"
#include "tests/support/places.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::audit {
namespace {

struct Case {
  const char* precision;
  const char* store;
  const char* kernel;
  int registers;  ///< at most
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.kernel << " " << c.precision; }

class Links : public ::testing::TestWithParam<Case> {};

TEST_P(Links, SpillNothing) {
  if (std::string why; runtime::nvrtc_version(&why).empty()) GTEST_SKIP() << why;
  const Case c = GetParam();
  const vphi::testing::ScratchFolder folder;
  const std::string model = folder / "links.vphi";
  std::ofstream(model) << "model links \"SU(3)\"\nlattice grid: 16^4\ngauge U: SU(3)" << c.store
                       << "\naction S = 2*sum(3 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)\n"
                          "sample heatbath, sweeps = 1, overrelax = 1\ninit U ~ hot\n"
                          "at end: mean(re(tr(loop(mu, nu, -mu, -nu))), mu < nu) -> \"a.h5\"\n";
  CompileOptions options;
  options.precision = c.precision;
  const Compilation compilation = compile_model(model, options, ways().back().target);
  ASSERT_TRUE(compilation.program);
  bool seen = false;
  for (const program::Kernel& kernel : compilation.program->kernels) {
    if (kernel.name != c.kernel) continue;
    seen = true;
    const Machine machine = compiled(kernel.source);
    EXPECT_EQ(machine.spilled, 0) << machine.log;
    EXPECT_GT(machine.registers, 0) << machine.log;
    EXPECT_LE(machine.registers, c.registers) << machine.log;
  }
  EXPECT_TRUE(seen);
}

INSTANTIATE_TEST_SUITE_P(Updates, Links,
                         ::testing::Values(Case{"f32", ", store = rows(2)", "heatbath_x", 168},
                                           Case{"f32", "", "overrelax_t", 255},
                                           Case{"f64", ", store = rows(2)", "heatbath_x", 255},
                                           Case{"f64", "", "overrelax_t", 255}));

TEST(LongUpdates, AreMarkedForTheCompiler) {
  const std::string root = VPHI_SOURCE_DIR;
  const std::string mark = "// vphi: long\n";
  for (const auto& [model, wanted] : {std::pair("/tests/audit/three_loops.vphi", true),
                                      std::pair("/models/gauge/su3.vphi", false)}) {
    const Compilation compilation = compile_model(root + model, {}, ways().front().target);
    ASSERT_TRUE(compilation.program) << model;
    int updates = 0;
    for (const program::Kernel& kernel : compilation.program->kernels) {
      if (!kernel.name.starts_with("heatbath_")) continue;
      ++updates;
      EXPECT_EQ(kernel.source.starts_with(mark), wanted) << model << " " << kernel.name;
    }
    EXPECT_EQ(updates, 4) << model;
  }
}

// The loop over a row of long sites says what clang would find by a long analysis, where no sites
// are left over; and a short site, or a row with a rest, leaves the choice to clang.
TEST(LongSites, TellTheLanesOfTheirRows) {
  struct Row {
    const char *model, *kernel, *lattice, *wanted;
  };
  for (const Row& row : {
           Row{"gauge/su3", "observe_1", "24*4^3", "vectorize_width(8)"},
           Row{"gauge/su3", "observe_1", "4^4", "vectorize_width(4)"},
           Row{"gauge/su3", "observe_1", "6^4", nullptr},
           Row{"gauge/su3", "reunitarise", "4^4", nullptr},
       }) {
    CompileOptions options;
    options.lattice = row.lattice;
    const std::string path = std::string(VPHI_SOURCE_DIR) + "/models/" + row.model + ".vphi";
    const Compilation compilation = compile_model(path, options, ways().front().target);
    ASSERT_TRUE(compilation.program) << row.lattice;
    bool seen = false;
    for (const program::Kernel& kernel : compilation.program->kernels) {
      if (kernel.name != row.kernel) continue;
      seen = true;
      const bool told = kernel.source.find("VPHI_WHOLE_ROW") != std::string::npos;
      EXPECT_EQ(told, row.wanted != nullptr) << row.lattice << " " << row.kernel;
      if (row.wanted != nullptr) {
        EXPECT_NE(kernel.source.find(row.wanted), std::string::npos) << row.lattice;
      }
    }
    EXPECT_TRUE(seen) << row.kernel;
  }
}

constexpr int kMostRegisters = 255;  ///< of a thread

using Traffic = std::map<std::string, std::pair<int, int>>;  ///< of a site: numbers read, written

/// That of the kernels of a solver's iteration, which spill nothing and take so many registers at
/// most.
Traffic traffic_of_rounds(const program::Program& program, int registers) {
  const bool machine_code = !runtime::nvrtc_version(nullptr).empty();
  Traffic traffic;
  for (const program::Kernel& kernel : program.kernels) {
    const bool number = kernel.name.find_first_not_of("0123456789", 8) == std::string::npos;
    if (kernel.name != "solve_1" && !(kernel.name.starts_with("solve_1_") && number)) continue;
    traffic[kernel.name] = {kernel.loads, kernel.stores};
    if (!machine_code) continue;
    const Machine machine = compiled(kernel.source);
    EXPECT_EQ(machine.spilled, 0) << kernel.name << machine.log;
    EXPECT_LE(machine.registers, registers) << kernel.name << machine.log;
  }
  return traffic;
}

class SolverIterations : public ::testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(SolverIterations, ReadWhatTheyMust) {
  const auto [precision, registers] = GetParam();
  const vphi::testing::ScratchFolder folder;
  const std::string model = folder / "quark.vphi";
  std::ofstream(model) << "model quark \"Wilson\"\nlattice grid: 24^4\n"
                          "gauge U: SU(3), store = rows(2)\nfermion psi: spinor, basis = dirac\n"
                          "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
                          "D(psi) = psi + 0.02i*gamma5*psi - 0.12*hop(psi)\n"
                          "chi = solve(D, psi, solver = cgne(1e-5))\n"
                          "init U ~ hot\ninit psi ~ normal\n"
                          "at end: total(norm2(chi)) -> \"a.h5\"\n";
  CompileOptions options;
  options.precision = precision;
  const Compilation compilation = compile_model(model, options, ways().back().target);
  ASSERT_TRUE(compilation.program);
  // A(p) and adj(A, r) in two hops each, with eight links a site, those ahead and those behind; r
  // with |r|^2; then x and p, which both read the old p
  const Traffic least = {{"solve_1", {120, 24}},   {"solve_1_2", {144, 24}},
                         {"solve_1_3", {48, 24}},  {"solve_1_4", {120, 24}},
                         {"solve_1_5", {144, 24}}, {"solve_1_6", {72, 48}}};
  EXPECT_EQ(traffic_of_rounds(*compilation.program, registers), least);
}

INSTANTIATE_TEST_SUITE_P(Precisions, SolverIterations,
                         ::testing::Values(std::pair{"f32", 128}, std::pair{"f64", 255}));

Compilation determinant(const std::string& more, const std::string& local,
                        const std::string& precision) {
  const vphi::testing::ScratchFolder folder;
  const std::string model = folder / "determinant.vphi";
  std::ofstream(model) << "model determinant \"Wilson\"\nlattice grid: 24^4\n"
                          "gauge U: SU(3), store = rows(2)\nfermion psi: spinor\n"
                          "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
                       << more << "D(psi) = psi - 0.12*hop(psi)" << local << "\n"
                       << "action quarks = pseudofermion(D, solver = cg(1e-8), even_odd = on)\n"
                          "sample hmc, trajectories = 1, tau = 1 {\n  level quarks: steps = 1, "
                          "scheme = leapfrog\n}\n"
                          "init U ~ hot\nevery 1 trajectory: deltaH -> \"a.h5\"\n";
  CompileOptions options;
  options.precision = precision;
  return compile_model(model, options, ways().back().target);
}

// A round of cg on M adj(M): two hops for each factor, |adj(M) p|^2 with the second, r and |r|^2 in
// the fourth, in which the product stays in registers; then x and p. 6144 bytes in f64.
TEST(RoundsOfADeterminant, ReadWhatTheyMust) {
  const Compilation compilation = determinant("", " + 0.02i*gamma5*psi", "f64");
  ASSERT_TRUE(compilation.program);
  const Traffic least = {{"solve_1", {120, 24}},
                         {"solve_1_2", {144, 24}},
                         {"solve_1_3", {120, 24}},
                         {"solve_1_4", {168, 24}},
                         {"solve_1_5", {72, 48}}};
  EXPECT_EQ(traffic_of_rounds(*compilation.program, kMostRegisters), least);
}

// The 24 leaves of a clover term share six antihermitian matrices of a site, made in one sweep; a
// kick reads 18 of its neighbours' and no other spinors than those of the hops.
TEST(ForceOfACloverTerm, ReadsSharedMatrices) {
  const Compilation compilation = determinant(
      "C[mu,nu] = loop(mu, nu, -mu, -nu) + loop(nu, -mu, -nu, mu) + loop(-mu, -nu, mu, nu)"
      " + loop(-nu, mu, nu, -mu)\nF[mu,nu] = (C[mu,nu] - adj(C[mu,nu]))/8\n",
      " - 0.12*sum(gamma[mu]*gamma[nu]*F[mu,nu]*psi, mu < nu)", "f32");
  ASSERT_TRUE(compilation.program);
  int made = 0, kicks = 0;
  for (const program::Kernel& kernel : compilation.program->kernels) {
    if (kernel.name.starts_with("at_sites")) made += kernel.stores;
    if (!kernel.name.starts_with("kick_quarks_")) continue;
    EXPECT_LE(kernel.loads, 131) << kernel.name;
    ++kicks;
  }
  EXPECT_EQ(made, 6 * 9);
  EXPECT_EQ(kicks, 4);
}

class Propagators : public ::testing::TestWithParam<std::pair<const char*, int>> {};

// Twelve columns, as many in one go as fit the registers: a round reads each link once for all of
// them, and nothing else more often than for one.
TEST_P(Propagators, ReadALinkOnceForSeveralColumns) {
  const auto [precision, columns] = GetParam();
  const vphi::testing::ScratchFolder folder;
  const std::string model = folder / "propagator.vphi";
  std::ofstream(model) << "model propagator \"Wilson\"\nlattice grid: 24^4\n"
                          "gauge U: SU(3), store = rows(2)\nfermion psi: spinor, basis = dirac\n"
                          "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
                          "D(psi) = psi + 0.02i*gamma5*psi - 0.12*hop(psi)\n"
                          "here = index(x) + index(y) + index(z) + index(t) == 0\n"
                          "S[s,c] = solve(D, here*spinor(s, c), solver = cgne(1e-5))\n"
                          "init U ~ hot\nat end: total(sum(norm2(S[s,c]), s, c)) -> \"a.h5\"\n";
  CompileOptions options;
  options.precision = precision;
  const Compilation compilation = compile_model(model, options, ways().back().target);
  ASSERT_TRUE(compilation.program);
  std::string told;
  for (const std::string& remark : compilation.plan->remarks)
    if (remark.starts_with("12 right sides of ")) told = remark;
  EXPECT_NE(told.find(" are solved " + std::to_string(columns) + " at a time"), told.npos) << told;
  const bool machine_code = !runtime::nvrtc_version(nullptr).empty();
  std::map<std::string, std::pair<int, int>> traffic;  // of a site: numbers read, written
  for (const program::Kernel& kernel : compilation.program->kernels) {
    const std::string name = kernel.name.substr(0, kernel.name.find("_part_"));
    const bool number = name.find_first_not_of("0123456789", 9) == std::string::npos;
    if (name != "solve_s1" && !(name.starts_with("solve_s1_") && number)) continue;
    traffic[kernel.name] = {kernel.loads, kernel.stores};
    if (!machine_code) continue;
    const Machine machine = compiled(kernel.source);
    EXPECT_EQ(machine.spilled, 0) << kernel.name << machine.log;
    EXPECT_LE(machine.registers, 255) << kernel.name << machine.log;
  }
  const int k = columns, links = 8 * 12;
  std::map<std::string, std::pair<int, int>> least = {
      {"solve_s1", {links + 24 * k, 24 * k}},   {"solve_s1_2", {links + 48 * k, 24 * k}},
      {"solve_s1_3", {48 * k, 24 * k}},         {"solve_s1_4", {links + 24 * k, 24 * k}},
      {"solve_s1_5", {links + 48 * k, 24 * k}}, {"solve_s1_6", {72 * k, 48 * k}}};
  if (std::string(precision) == "f64")  // x and p share nothing: a kernel for each column
    least["solve_s1_6"] = least["solve_s1_6_part_2"] = {72, 48};
  EXPECT_EQ(traffic, least);
}

INSTANTIATE_TEST_SUITE_P(Precisions, Propagators,
                         ::testing::Values(std::pair{"f32", 3}, std::pair{"f64", 2}));

}  // namespace
}  // namespace vphi::audit
