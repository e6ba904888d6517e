// Lattices that ranks share, one model of each family: the same bits as on one device. All shipped
// models: tests/long/cut_test.cpp.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "runtime/device/cuda/nvrtc.hpp"
#include "tests/support/cut_ranks.hpp"
#include "tests/support/model_name.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

class CutLattice : public ::testing::TestWithParam<const char*> {};

TEST_P(CutLattice, HasTheBitsOfOneDevice) {
  for (const int ranks : {2, 3}) {
    const auto result = testing::cut_and_compare(testing::shipped(GetParam()), ranks);
    EXPECT_EQ(result.refused, "") << ranks;
    EXPECT_EQ(result.differs, "") << ranks;
  }
}

/// Sums of a GPU's groups are added in another order on one device: the numbers agree to rounding.
class CutAsOnGpu : public ::testing::TestWithParam<const char*> {};

TEST_P(CutAsOnGpu, AgreesWithOneDevice) {
  if (testing::device("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  const testing::CutSetup setup{"opencl", true, "f64", 1e-11};
  const auto result = testing::cut_and_compare(testing::shipped(GetParam()), 3, setup);
  EXPECT_EQ(result.refused, "");
  EXPECT_EQ(result.differs, "");
}

/// Marches: the groups of a rank are groups of one device, and their sums are added in the same
/// order.
TEST(CutAsOnGpuMarches, HaveTheBitsOfOneDevice) {
  if (testing::device("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  testing::CutSetup setup{"opencl", true, "f64", 0};
  setup.lattice = "32 * 32 * 96";
  const auto result = testing::cut_and_compare(testing::shipped("cosmology/preheating"), 2, setup);
  EXPECT_EQ(result.refused, "");
  // outputs have sums over sites that read no neighbours, which are no marches
  for (const char* when : {"start", "steps"})
    EXPECT_EQ(result.differs.find(when), std::string::npos) << result.differs;
}

TEST(CutOnOpenCl, AProcessorHasTheNumbersOfOneDevice) {
  if (testing::device("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  const testing::CutSetup setup{"opencl", false, "f64", 1e-11};
  const auto result = testing::cut_and_compare(testing::shipped("cosmology/preheating"), 3, setup);
  EXPECT_EQ(result.refused, "");
  EXPECT_EQ(result.differs, "");
}

INSTANTIATE_TEST_SUITE_P(Patterns, CutAsOnGpu,
                         ::testing::Values("cosmology/lphi4", "cosmology/preheating",
                                           "noise/thermal", "teaching/drum", "gauge/u1_2d",
                                           "hydro/gubser", "teaching/sine_gordon", "hydro/sod"),
                         testing::model_name);

/// Walks along lines: across the cut, and along it, where ghosts are cells of the lines. 3 ranks
/// have different numbers of planes.
TEST(CutAsOnGpuWalks, AgreeWithOneDevice) {
  if (testing::device("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  const testing::ScratchFolder folder;
  const std::string path = (folder / "blown.vphi").string();
  std::ofstream(path) << R"(model blown "A density that the wind carries across a box, SHASTA"
lattice box: 48^3, length = 1, boundary = outflow
primitive n: real
conserve N = n: div(N*[0.3, 0.2, -0.25])
recover { n = N }
scheme shasta, mask = 1, half_step = on
split [xyz, zyx]
evolve scheme, dt = 0.3*dx, until = t > 1
init n = (1 if r < 0.3 else 0.1)
every 10 steps: total(N), max(n) -> "blown.h5"
)";
  const auto result = testing::cut_and_compare(path, 3, {"opencl", true, "f64", 1e-11});
  EXPECT_EQ(result.refused, "");
  EXPECT_EQ(result.differs, "");
}

/// Those of the second of three ranks.
void every_kernel_compiles_for_cuda(const std::string& path, const std::string& lattice = "") {
  emit::TargetInfo cuda;
  cuda.target = program::Target::Cuda;
  cuda.is_cpu = false;
  CompileOptions options;
  options.ranks = 3, options.rank = 1, options.batch = 1;
  options.lattice = lattice;
  const Compilation c = compile_model(path, options, cuda);
  ASSERT_TRUE(c.program) << path;
  for (const program::Kernel& kernel : c.program->kernels) {
    std::string log;
    EXPECT_NO_THROW(runtime::nvrtc_compile(kernel.source, "sm_90", &log)) << log;
  }
}

/// A jet through a part of the first plane and a pressure beside all planes: states beyond the ends
/// of the axis that is cut and of the other.
constexpr const char* kJet = R"(model jet "A jet that comes in"
lattice plane: [64, 48], length = 1, boundary = outflow
primitive eps: real, v: vec(2)
p(eps) = eps/3
W = 1/sqrt(1 - norm2(v))
conserve M = (eps + p)*W^2*v:    div(M*v) + grad(p)
conserve E = (eps + p)*W^2 - p:  div((E + p)*v)
recover {
  u   = norm(M)/(E + p)
  eps = E - norm(M)*u
  v   = M/(E + p)
  solve u by fixed_point, tol = 1e-13, max = 60, start = 0
}
beyond low(y): eps = (2 if abs(x) < 0.1 else eps), v = ([0, 0.5 + 0.1*sin(20*t)] if abs(x) < 0.1 else v)
beyond high(x): eps = 1 + 0.1*y
cs = 1/sqrt(3)
speed[i] = (abs(v[i]) + cs)/(1 + abs(v[i])*cs)
scheme kt, speed = speed
evolve heun, dt = 0.2*dx, until = step == 40
init eps = 1, v = [0, 0]
precision real = f64
every 20 steps: snapshot(eps), max(eps), mean(M[1]) -> "jet.h5"
)";

TEST(CutFluids, GivenEndsHaveTheBitsOfOneDevice) {
  const testing::ScratchFolder folder;
  const std::string path = (folder / "jet.vphi").string();
  std::ofstream(path) << kJet;
  for (const int ranks : {2, 3}) {
    const auto result = testing::cut_and_compare(path, ranks);
    EXPECT_EQ(result.refused, "") << ranks;
    EXPECT_EQ(result.differs, "") << ranks;
  }
}

/// Bodies that feel a mean field, with noise: ranks send each other sums alone.
constexpr const char* kRotors = R"(model rotors "Noisy oscillators that are coupled globally"
param K = 3, T = 0.5, N = 16384
particles rotor: N
var x[i]: angle
x[i]' = K/N*sum(sin(x[j] - x[i]), j) + sqrt(2*T)*noise[i]
init x ~ uniform(0, 6)
evolve euler_maruyama, dt = 0.05, until = t > 4
every 2 steps: mean(cos(x)), max(sin(x)), histogram(x, bins = 16) -> "rotors.h5"
)";

/// Sums over pairs of bodies whose charges follow from their numbers.
constexpr const char* kIons = R"(model ions "Charged bodies in a plane"
param N = 4096, eps = 0.05
particles ion: N
var x[k]: vec(2), p[k]: vec(2)
q[k] = 1 if k < N/3 else -0.5
H = sum(norm2(p[k])/2, k) + sum(q[k]*q[l]/sqrt(norm2(x[k] - x[l]) + eps^2), k < l)/N
init x ~ ball(1), p ~ 0.3*normal
evolve leapfrog, dt = 0.01, until = t > 1
precision store = f64, pair = f32, sum = f64
every 2 steps: H, kinetic, mean(norm2(x)), mean(p) -> "ions.h5"
)";

class CutBodies : public ::testing::TestWithParam<const char*> {
 protected:
  std::string path() const {
    const std::string path = (folder_ / "bodies.vphi").string();
    std::ofstream(path) << GetParam();
    return path;
  }

 private:
  testing::ScratchFolder folder_;
};

TEST_P(CutBodies, HaveTheBitsOfOneDevice) {
  for (const int ranks : {2, 3, 4}) {
    const auto result = testing::cut_and_compare(path(), ranks);
    EXPECT_EQ(result.refused, "") << ranks;
    EXPECT_EQ(result.differs, "") << ranks;
  }
}

TEST_P(CutBodies, OnAGpuAgreeWithOneDevice) {
  if (testing::device("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  const auto result = testing::cut_and_compare(path(), 3, {"opencl", true, "", 1e-10});
  EXPECT_EQ(result.refused, "");
  EXPECT_EQ(result.differs, "");
}

/// With many ranks the last group of each adds up the rank's sums before they are sent.
TEST(CutBodiesOnAGpu, FoldTheSumsOfManyRanks) {
  if (testing::device("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  const testing::ScratchFolder folder;
  const std::string path = (folder / "rotors.vphi").string();
  std::string text = kRotors;
  text.replace(text.find("16384"), 5, "81920");
  std::ofstream(path) << text;
  const auto result = testing::cut_and_compare(path, 10, {"opencl", true, "", 1e-10});
  EXPECT_EQ(result.refused, "");
  EXPECT_EQ(result.differs, "");
}

TEST_P(CutBodies, CompileForCuda) {
  if (runtime::nvrtc_version().empty()) GTEST_SKIP() << "no NVRTC";
  every_kernel_compiles_for_cuda(path());
}

INSTANTIATE_TEST_SUITE_P(Models, CutBodies, ::testing::Values(kRotors, kIons),
                         [](const auto& info) { return info.index == 0 ? "MeanField" : "Pairs"; });

TEST(CutForCuda, EveryKernelCompiles) {
  if (runtime::nvrtc_version().empty()) GTEST_SKIP() << "no NVRTC";
  for (const char* model :
       {"cosmology/preheating", "noise/thermal", "gauge/su2_2d", "hydro/fireball"})
    every_kernel_compiles_for_cuda(testing::shipped(model));
  every_kernel_compiles_for_cuda(testing::shipped("spins/ising"), "16384");
  for (const char* model : {"teaching/wave", "hydro/shock"})  // rows
    every_kernel_compiles_for_cuda(testing::shipped(model), "16384");
}

/// The functions of the sites of a program, by name, without the line for parameters that none
/// reads.
std::map<std::string, std::string> site_functions(const program::Program& program) {
  std::map<std::string, std::string> found;
  for (const program::Kernel& kernel : program.kernels) {
    const std::string& text = kernel.source;
    for (std::size_t at = text.find(" vphi_site_"); at != std::string::npos;
         at = text.find(" vphi_site_", at + 1)) {
      const std::size_t end = text.find("\n}\n", at), open = text.find('{', at);
      if (text.find(';', at) < open) continue;  // it is called there
      std::string function = text.substr(at, end - at);
      const std::string unused = "  (void)par;\n";
      if (const auto none = function.find(unused); none != std::string::npos)
        function.erase(none, unused.size());
      found[kernel.name + function.substr(0, function.find('('))] = function;
    }
  }
  return found;
}

/// What a site computes has the same text on all ranks, also where it asks for its place: a
/// compiler may round the same operations otherwise where they are written otherwise.
class CutText : public ::testing::TestWithParam<const char*> {};

TEST_P(CutText, SitesComputeWhatThoseOfOneDeviceDo) {
  const auto compiled = [&](int ranks) {
    CompileOptions options;
    options.ranks = ranks, options.rank = ranks > 1 ? 1 : 0, options.batch = 1;
    options.precision = "f64";
    Compilation c = compile_model(testing::shipped(GetParam()), options, emit::TargetInfo{});
    EXPECT_TRUE(c.program.has_value()) << ranks;
    return c.program ? std::move(*c.program) : program::Program{};
  };
  const program::Program one = compiled(1), several = compiled(2);
  const auto alone = site_functions(one), shared = site_functions(several);
  EXPECT_FALSE(alone.empty());
  for (const auto& [name, text] : alone) {
    const auto found = shared.find(name);
    ASSERT_NE(found, shared.end()) << name;
    EXPECT_EQ(found->second, text) << name;
  }
  // how products and sums are fused is a matter of the kernel with its end
  const auto within = [](const program::Kernel& kernel) {
    return kernel.source.find("// vphi: contract=expression") != std::string::npos;
  };
  std::map<std::string, bool> fused;
  for (const program::Kernel& kernel : one.kernels)
    fused[kernel.name] = fused[kernel.name + "_end"] = within(kernel);
  for (const program::Kernel& kernel : several.kernels)
    EXPECT_EQ(within(kernel), fused.at(kernel.name)) << kernel.name;
}

INSTANTIATE_TEST_SUITE_P(Places, CutText,
                         ::testing::Values("gauge/twisted_quark", "teaching/absorbing",
                                           "teaching/condensate", "hydro/gubser"),
                         testing::model_name);

/// The piece of a row that a rank has is walked as the whole row is, in the same tiles.
TEST(CutForCuda, PiecesOfARowAreMarched) {
  emit::TargetInfo cuda;
  cuda.target = program::Target::Cuda;
  cuda.is_cpu = false;
  const auto sweep_on = [&](int ranks) {
    CompileOptions options;
    options.ranks = ranks, options.rank = ranks > 1 ? 1 : 0;
    options.lattice = "65536", options.precision = "f32";
    const Compilation c = compile_model(testing::shipped("teaching/sine_gordon"), options, cuda);
    for (const program::Kernel& kernel : c.program.value().kernels)
      if (kernel.name == "sweep") return kernel;
    throw std::logic_error("no sweep");
  };
  const program::Kernel one = sweep_on(1), several = sweep_on(3);
  EXPECT_NE(one.source.find("A group marches"), std::string::npos);
  EXPECT_NE(several.source.find("A group marches"), std::string::npos);
  EXPECT_EQ(several.block, one.block);
  EXPECT_LT(several.grid[0], one.grid[0]);
}

INSTANTIATE_TEST_SUITE_P(Families, CutLattice,
                         ::testing::Values("cosmology/lphi4", "cosmology/walls",
                                           "cosmology/preheating", "cosmology/gw_lphi4",
                                           "cosmology/lphi4_su2u1", "noise/thermal",
                                           "teaching/drum", "teaching/absorbing", "gauge/u1_2d",
                                           "spins/ising", "hydro/gubser", "teaching/sine_gordon",
                                           "teaching/wave", "hydro/sod"),
                         testing::model_name);

}  // namespace
}  // namespace vphi
