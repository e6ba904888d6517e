// Lattices that are cut along two axes: the same bits as on one device, and what is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/device/cuda/nvrtc.hpp"
#include "runtime/run/ranks/cut_model.hpp"
#include "tests/run/command.hpp"
#include "tests/support/cut_ranks.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

struct Family {
  const char* name;
  const char* model;
  const char* lattice;
  int ranks, beside;
};

void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

/// On native, `beside` of the ranks along the second axis.
void expect_the_bits_of_one(const std::string& model, int ranks, const std::string& lattice,
                            int beside) {
  testing::CutSetup setup;
  setup.lattice = lattice, setup.beside = beside;
  const auto result = testing::cut_and_compare(model, ranks, setup);
  EXPECT_EQ(result.refused, "");
  EXPECT_EQ(result.differs, "");
}

class SecondAxis : public ::testing::TestWithParam<Family> {};

/// 3 ranks along z have different numbers of planes.
TEST_P(SecondAxis, HasTheBitsOfOneDevice) {
  const Family& family = GetParam();
  expect_the_bits_of_one(testing::shipped(family.model), family.ranks, family.lattice,
                         family.beside);
}

INSTANTIATE_TEST_SUITE_P(
    Families, SecondAxis,
    ::testing::Values(Family{"Points27", "cosmology/preheating", "48 * 48 * 5", 6, 2},
                      Family{"Noise", "noise/thermal", "48 * 48 * 6", 4, 2},
                      Family{"Walks", "hydro/fireball", "32 * 64 * 15", 4, 2},
                      Family{"Windings", "gauge/su2", "4 * 16 * 32 * 4", 4, 2}),
    [](const auto& info) { return info.param.name; });

/// Links that are updated in turns, with staples around corners.
TEST(SecondAxisOfLinks, HasTheBitsOfOneDevice) {
  const testing::ScratchFolder folder;
  const std::string path = (folder / "links.vphi").string();
  std::ofstream(path) << R"(model links "U(1) links, heatbath and overrelaxation"
lattice grid: 8^4
gauge U: U(1)
P[mu,nu] = loop(mu, nu, -mu, -nu)
plaquette = mean(re(P[mu,nu]), mu < nu)
action S = sum(1 - re(P[mu,nu]), mu < nu)
sample heatbath, sweeps = 20, overrelax = 1
init U ~ hot
every 1 sweep: plaquette -> "links.h5"
)";
  expect_the_bits_of_one(path, 4, "8 * 16 * 16 * 4", 2);
}

/// Solves whose sums go over the sites of a parity.
TEST(SecondAxisOfSpinors, HasTheBitsOfOneDevice) {
  const testing::ScratchFolder folder;
  const std::string path = (folder / "quark.vphi").string();
  std::ofstream(path) << R"(model quark "Propagators on U(1) links of a heatbath, by two solvers"
param kappa = 0.12, mu_q = 0.25
lattice grid: 4^4
gauge   U: U(1)
fermion psi: spinor, boundary(t) = antiperiodic
P[mu,nu] = loop(mu, nu, -mu, -nu)
action S_gauge = 2*sum(1 - re(P[mu,nu]), mu < nu)
sample heatbath, sweeps = 20
hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))
D(psi)   = psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)
here     = index(x) == 0 and index(y) == 0 and index(z) == 0 and index(t) == 0
S        = solve(D, here*spinor(0, 0), solver = bicgstab(1e-12))
R        = solve(D, here*spinor(1, 0), solver = cgne(1e-12))
init U ~ hot
every 20 sweeps: profile(norm2(S), along = t), total(norm2(S)), iterations(S) -> "quark.h5"
every 20 sweeps: total(norm2(R)), residual(R), iterations(R) -> "quark.h5"
)";
  expect_the_bits_of_one(path, 4, "4 * 16 * 32 * 4", 2);
}

/// Starts and outputs that are made of waves, in four dimensions.
TEST(SecondAxisWaves, InFourDimensionsHaveTheBitsOfOneDevice) {
  const testing::ScratchFolder folder;
  const std::string path = (folder / "waves.vphi").string();
  std::ofstream(path) << R"(model waves "Waves in four dimensions"
lattice box: 8 * 16 * 16 * 6, spacing = 0.5
field phi: real
potential V = phi^2/2 + phi^4/4
init phi ~ spectrum(1/(1 + k^2)), phi' = 0
evolve leapfrog, dt = 0.05, until = t > 0.2
every 2 steps: mean(phi^2), spectrum(phi), spectrum(phi, bins = single) -> "waves.csv"
)";
  expect_the_bits_of_one(path, 4, "8 * 16 * 16 * 6", 2);
}

/// A stencil that reaches two sites along each axis, coordinates, and ends of other kinds on each
/// axis.
constexpr const char* kEnds = R"(model ends "Waves between ends of several kinds"
lattice box: 48 * 48 * 8, spacing = 0.5, boundary = [{}]
field phi: real
potential V = phi^2*(1 + 0.01*x + 0.02*y + 0.03*z)/2 + phi^4/4
laplacian = {}
init phi ~ sin(x) + cos(0.3*y) + 0.1*z + 0.2*normal, phi' = 0
evolve leapfrog, dt = 0.05, until = t > 1
every 5 steps: mean(phi), var(phi), max(phi), energies -> "ends.csv"
)";

TEST(SecondAxisEnds, HaveTheBitsOfOneDevice) {
  const testing::ScratchFolder folder;
  for (const auto& [ends, laplacian] : {std::pair("periodic, neumann, fixed", "iso27"),
                                        {"periodic, fixed, neumann", "star2"},
                                        {"neumann, antiperiodic, outflow", "iso27"},
                                        {"periodic, periodic, periodic", "axis4"}}) {
    const std::string path = (folder / "ends.vphi").string();
    std::ofstream(path) << fmt::format(kEnds, ends, laplacian);
    testing::CutSetup setup;
    const bool quarters = std::string(laplacian) == "axis4";
    setup.lattice = quarters ? "64 * 64 * 4" : "48 * 48 * 8", setup.beside = quarters ? 4 : 2;
    const auto result = testing::cut_and_compare(path, 2 * setup.beside, setup);
    EXPECT_EQ(result.refused, "") << ends;
    EXPECT_EQ(result.differs, "") << ends;
  }
}

/// On a GPU sums agree to rounding, and so do fields that depend on them.
TEST(SecondAxisAsOnGpu, AgreesWithOneDevice) {
  if (testing::device("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  for (const char* model : {"cosmology/preheating", "noise/thermal"}) {
    testing::CutSetup setup{"opencl", true, "f64", 1e-11};
    setup.lattice = "64 * 64 * 16", setup.beside = 2;
    const auto result = testing::cut_and_compare(testing::shipped(model), 4, setup);
    EXPECT_EQ(result.refused, "") << model;
    EXPECT_EQ(result.differs, "") << model;
  }
}

/// Walks along all axes, between ends that are not periodic.
constexpr const char* kBlown = R"(model blown "A density that the wind carries across a box, SHASTA"
lattice box: 32 * 64 * 16, spacing = 1/32, boundary = outflow
primitive n: real
conserve N = n: div(N*[0.3, 0.2, -0.25])
recover { n = N }
scheme shasta, mask = 1, half_step = on
split [xyz, zyx]
evolve scheme, dt = 0.3*dx, until = step == 12
init n = (1 if r < 0.3 else 0.1 + 0.02*sin(9*x + 5*y))
every 4 steps: total(N), max(n), histogram(n, bins = 8) -> "blown.csv"
)";

TEST(SecondAxisAsOnGpuWalks, AgreesWithOneDevice) {
  if (testing::device("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  const testing::ScratchFolder folder;
  const std::string path = (folder / "blown.vphi").string();
  std::ofstream(path) << kBlown;
  testing::CutSetup setup{"opencl", true, "f64", 1e-11};
  setup.lattice = "32 * 64 * 32", setup.beside = 2;
  const auto result = testing::cut_and_compare(path, 4, setup);
  EXPECT_EQ(result.refused, "");
  EXPECT_EQ(result.differs, "");
}

/// Lines along each axis: in pieces along x.
TEST(SecondAxisForCuda, WalksCompile) {
  if (runtime::nvrtc_version().empty()) GTEST_SKIP() << "no NVRTC";
  const testing::ScratchFolder folder;
  const std::string path = (folder / "blown.vphi").string();
  std::ofstream(path) << kBlown;
  emit::TargetInfo cuda;
  cuda.target = program::Target::Cuda;
  cuda.is_cpu = false;
  CompileOptions options;
  options.ranks = 4, options.rank = 3, options.ranks_beside = 2, options.lattice = "128^3";
  const Compilation c = compile_model(path, options, cuda);
  ASSERT_TRUE(c.program);
  int walks = 0;
  for (const program::Kernel& kernel : c.program->kernels) {
    walks += kernel.source.find("A thread walks along") != std::string::npos;
    std::string log;
    EXPECT_NO_THROW(runtime::nvrtc_compile(kernel.source, "sm_90", &log)) << kernel.name << log;
  }
  EXPECT_GE(walks, 3);
}

TEST(SecondAxisForCuda, KernelsMarchAndCompile) {
  emit::TargetInfo cuda;
  cuda.target = program::Target::Cuda;
  cuda.is_cpu = false;
  CompileOptions options;
  options.ranks = 4, options.rank = 3, options.ranks_beside = 2, options.lattice = "128^3";
  const Compilation c = compile_model(testing::shipped("cosmology/preheating"), options, cuda);
  ASSERT_TRUE(c.program);
  bool marched = false;
  for (const program::Kernel& kernel : c.program->kernels) {
    marched = marched || kernel.source.find("A group marches") != std::string::npos;
    if (kernel.name != "sweep" || runtime::nvrtc_version().empty()) continue;
    std::string log;
    EXPECT_NO_THROW(runtime::nvrtc_compile(kernel.source, "sm_90", &log)) << log;
  }
  EXPECT_TRUE(marched);
}

program::Program share_for_cuda(int ranks, int beside) {
  emit::TargetInfo cuda;
  cuda.target = program::Target::Cuda;
  cuda.is_cpu = false;
  CompileOptions options;
  options.ranks = ranks, options.ranks_beside = beside;
  options.lattice = "128^3", options.precision = "f32";
  return compile_model(testing::shipped("cosmology/preheating"), options, cuda).program.value();
}

/// Two fields, one plane and one line on each side: 32 planes with 64 of 128 lines, and beside
/// these and the ghosts below and above them a line.
TEST(SecondAxisModel, CountsLinesOfPlanes) {
  const runtime::Traffic traffic = runtime::traffic_of_step(share_for_cuda(8, 2));
  EXPECT_EQ(traffic.planes, 2 * sizeof(float) * 128 * (2 * 64 + 2 * (32 + 2)));
}

/// An array of 1000 bytes that all ranks gather for a kernel of a step: seven of eight shares.
TEST(SecondAxisModel, CountsWhatAllRanksGather) {
  program::Program share = share_for_cuda(8, 2);
  share.cycle.clear();
  share.step = {program::Launch{}};
  share.kernels[0].arguments = {{program::Argument::Kind::Whole, 0, 1000}};
  const runtime::Traffic traffic = runtime::traffic_of_step(share);
  EXPECT_DOUBLE_EQ(traffic.planes, 875);
  EXPECT_DOUBLE_EQ(traffic.exchanges, 1);
}

/// Steps in Fourier space.
constexpr const char* kCube = R"(model cube "Swift and Hohenberg's equation in a box"
lattice box: 32 * 64 * 12, spacing = 0.8
field u: real
laplacian = spectral
u' = 0.1*u - (u + 2*lap(u) + lap(lap(u))) - u^3
init u ~ 0.1*normal
evolve etd2, dt = 0.2, until = step == 12
precision real = f64
every 4 steps: mean(u^2), max(u), spectrum(u) -> "cube.csv"
)";

/// Of 32 * 64 * 12 sites and 17 * 64 * 12 modes a rank of 2 x 2 has a quarter: half of its sites go
/// to the rank beside it, in f64, and three quarters of its modes to the three others.
TEST(SecondAxisModel, CountsTransforms) {
  const testing::ScratchFolder folder;
  const std::string path = (folder / "cube.vphi").string();
  std::ofstream(path) << kCube;
  CompileOptions options;
  options.ranks = 4, options.ranks_beside = 2;
  program::Program share = compile_model(path, options, emit::TargetInfo{}).program.value();
  share.cycle.clear();
  double arrays = 0;
  for (program::Launch& launch : share.step) {
    launch.halos.clear();
    launch.kernel = 0;
    for (const int map : launch.maps) {
      const program::FourierMap& of = share.maps[static_cast<std::size_t>(map)];
      arrays += static_cast<double>(of.from.size() + of.to.size());
    }
  }
  share.kernels[0].arguments.clear();
  ASSERT_GT(arrays, 0);
  const runtime::Traffic traffic = runtime::traffic_of_step(share);
  EXPECT_DOUBLE_EQ(traffic.exchanges, 2 * arrays);
  EXPECT_DOUBLE_EQ(traffic.planes,
                   arrays * (8 * 32 * 64 * 12 / 4 / 2 + 16 * 17 * 64 * 12 / 4 * 3 / 4));
}

class SecondAxisCommand : public test::CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write("box.vphi", R"(model box "A field in a box that is cut along two axes"
lattice box: 48 * 48 * 16, spacing = 0.5
field phi: real
potential V = phi^2/2 + phi^4/4
init phi ~ 1 + 0.1*normal, phi' = 0
evolve leapfrog, dt = 0.05, until = t > 1
every 5 steps: mean(phi), var(phi), energies, spectrum(phi), histogram(phi, bins = 8) -> "box.csv"
)");
  }

  void expect_same_tables(const std::string& one, const std::string& other, int least) {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / one)) {
      if (entry.path().extension() != ".csv") continue;
      const std::string name = "/" + entry.path().filename().string();
      EXPECT_EQ(text(one + name), text(other + name)) << name;
      ++files;
    }
    EXPECT_GE(files, least);
  }
};

TEST_F(SecondAxisCommand, ResultsAreThoseOfOneDeviceAndGoOnWithAnotherCut) {
  ASSERT_EQ(vphi("run box.vphi --device native --quiet --out whole").status, 0);
  const auto four = vphi("run box.vphi --device native --json --cut z=3,y=2 --out cut");
  ASSERT_EQ(four.status, 0) << four.error;
  EXPECT_EQ(nlohmann::json::parse(four.out)["ranks"].size(), 6u);
  expect_same_tables("whole", "cut", 3);
  for (const auto& [before, after] :
       {std::pair("--cut z=2,y=2", "--cut z=3"), {"--ranks 3", "--cut z=4,y=2"}}) {
    std::filesystem::remove_all(folder_ / "parts");
    const auto first = vphi(fmt::format(
        "run box.vphi --device native --quiet --out parts --steps 10 --checkpoint-every '5 steps' "
        "{}",
        before));
    ASSERT_EQ(first.status, 0) << first.error;
    const auto then = vphi(fmt::format(
        "run box.vphi --device native --quiet --resume=parts --steps 21 --out parts {}", after));
    ASSERT_EQ(then.status, 0) << then.error;
    EXPECT_EQ(text("whole/box.series.csv"), text("parts/box.series.csv")) << before << after;
  }
}

/// Walks, windings and steps in Fourier space: the same, with another number of ranks after a
/// checkpoint.
TEST_F(SecondAxisCommand, OtherFamiliesGoOnWithAnotherCut) {
  write("cube.vphi", kCube);
  write("blown.vphi", kBlown);
  write("lines.vphi", R"(model lines "U(1) links with lines along time, and some that wind"
lattice grid: 8 * 16 * 16 * 8
gauge U: U(1)
P[mu,nu] = loop(mu, nu, -mu, -nu)
action S = sum(1 - re(P[mu,nu]), mu < nu)
sample metropolis, sweeps = 12
init U ~ hot
every 4 sweeps: re(mean(polyakov)), mean(re(P[mu,nu]), mu < nu), accept -> "lines.csv"
)");
  for (const auto& [model, two, one] : {std::tuple("blown", "--cut z=2,y=2", "--cut z=2"),
                                        {"cube", "--cut z=3,y=2", "--ranks 2"},
                                        {"lines", "--cut t=2,z=2", "--ranks 3"}}) {
    const std::string run = fmt::format("run {}.vphi --device native --quiet ", model);
    ASSERT_EQ(vphi(run + "--out whole").status, 0) << model;
    const auto cut = vphi(run + two + " --out cut");
    ASSERT_EQ(cut.status, 0) << model << cut.error;
    expect_same_tables("whole", "cut", 1);
    const auto first = vphi(run + two + " --out parts --steps 4 --checkpoint-every '4 steps'");
    ASSERT_EQ(first.status, 0) << model << first.error;
    const auto then = vphi(run + one + " --resume=parts --steps 12 --out parts");
    ASSERT_EQ(then.status, 0) << model << then.error;
    const std::string series = fmt::format("/{}.series.csv", model);
    EXPECT_EQ(text("whole" + series), text("parts" + series)) << model;
    for (const char* folder : {"whole", "cut", "parts"})
      std::filesystem::remove_all(folder_ / folder);
  }
}

/// The first rank tells the others what to launch for the start and for outputs: sums over
/// neighbours need lines beside planes there too.
TEST_F(SecondAxisCommand, OutputsOfNeighboursAreThoseOfOneDevice) {
  write("strings.vphi", R"(model strings "A charged field and its links"
lattice box: 48 * 48 * 8, spacing = 0.5
field phi, pi: complex
gauge U: U(1), E: real
D[i] = (U[i]*phi@i - phi)/dx
H = total(norm2(pi) + sum(norm2(D[i]), i) + norm2(phi)^2 + sum(E[i]^2, i)/2)
init phi ~ 1 + 0.1*normal, pi = 0, U = 1, E = 0
evolve leapfrog, dt = 0.05, until = t > 1
every 5 steps: H, kinetic, gradient, total(norm2(D[x] - D[y])), max(abs(gauss)) -> "strings.csv"
)");
  ASSERT_EQ(vphi("run strings.vphi --device native --quiet --out whole").status, 0);
  const auto four = vphi("run strings.vphi --device native --quiet --cut z=2,y=2 --out cut");
  ASSERT_EQ(four.status, 0) << four.error;
  expect_same_tables("whole", "cut", 1);
}

/// Kernels of a rank's box and those that add the sums of all, and what goes between ranks.
TEST_F(SecondAxisCommand, KernelsOfARankAreEmitted) {
  const auto one = vphi("emit box.vphi"), four = vphi("emit box.vphi --cut z=2,y=2");
  ASSERT_EQ(four.status, 0) << four.error;
  EXPECT_EQ(one.out.find("Between ranks"), std::string::npos);
  EXPECT_NE(four.out.find("ghosts of phi, 1 and 1 planes, 1 and 1 lines"), std::string::npos);
  const auto sums = vphi("emit preheating --lattice 64^3 --cut z=2,y=2");
  EXPECT_NE(sums.out.find("// before sweep_end: the sums of sweep of all ranks"), std::string::npos)
      << sums.out.substr(0, 400);
  const auto along_z = vphi("emit box.vphi --to cuda --ranks 2");
  ASSERT_EQ(along_z.status, 0) << along_z.error;
  EXPECT_NE(along_z.out.find("ghosts of phi, 1 and 1 planes\n"), std::string::npos);
  for (const char* words : {"--to latex --ranks 2", "--to program --cut z=2", "--main --ranks 2"}) {
    const auto refused = vphi(std::string("emit box.vphi ") + words);
    EXPECT_EQ(refused.status, 1) << words;
    EXPECT_NE(refused.error.find("E0810"), std::string::npos) << refused.error;
  }
}

/// More ranks than planes, and what a check says.
TEST_F(SecondAxisCommand, IsChosenWherePlanesDoNotSuffice) {
  const auto said = vphi("check box.vphi --ranks 32");
  EXPECT_EQ(said.status, 0) << said.error;
  EXPECT_NE(said.out.find("32: 1 of 16 planes along z, 24 of their 48 lines along y for the first, "
                          "1 and 1 copies of its neighbours' planes below and above them, 1 and 1 "
                          "of their lines beside them"),
            std::string::npos)
      << said.out;
  EXPECT_EQ(vphi("explain box.vphi --cut z=2,y=2").status, 0);
}

TEST_F(SecondAxisCommand, WhatCannotBeCutAlongTwoAxesIsRefusedWithTheWayOut) {
  for (const auto& [words, message, way] :
       {std::tuple("box.vphi --cut z=2,x=2", "is cut along its slowest, z, and the next one, y",
                   "--cut z=4"),
        std::tuple("box.vphi --cut z=2,y=4", "its planes are cut along y into 2 equal parts",
                   "--cut z=8"),
        std::tuple("box.vphi --lattice 16^3 --cut z=2,y=2",
                   "its planes of 16 lines along y are too small for a cut", "--cut z=4"),
        std::tuple("box.vphi --cut z=32,y=2", "its 16 planes along z are cut between slabs of 1",
                   "16 ranks along z at most"),
        std::tuple("drum --lattice 64^2 --cut y=2,x=2", "rows along x stay whole", "--cut y=4")}) {
    const auto refused = vphi(std::string("check ") + words);
    EXPECT_EQ(refused.status, 1) << words;
    EXPECT_NE(refused.error.find(message), std::string::npos) << words << refused.error;
    EXPECT_NE(refused.error.find(way), std::string::npos) << words << refused.error;
  }
}

}  // namespace
}  // namespace vphi
