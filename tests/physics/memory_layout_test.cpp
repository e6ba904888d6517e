// Numbers of a site that share their memory on a GPU (emit/memory/memory_layout.hpp): the host sees
// the same fields, and the chains are those of the interpreter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "compiler/interpret/interpret.hpp"
#include "runtime/run/session.hpp"
#include "tests/support/opencl_gpu.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// PoCL takes long over such kernels where it optimises them.
runtime::Device* opencl() {
  setenv("VPHI_OPENCL_OPTIONS", "-cl-opt-disable", 1);
  return testing::device("opencl");
}

Compilation for_gpu(const std::string& text) {
  emit::TargetInfo gpu = testing::opencl_gpu(2);
  gpu.contract = false;
  return testing::compile_for_gpu(text, gpu);
}

std::string links(const std::string& lattice, const std::string& group, const std::string& rest) {
  const std::string counted = rest.find("sample hmc") == std::string::npos ? "sweep" : "trajectory";
  return "model places \"links\"\nlattice grid: " + lattice + "\ngauge U: " + group +
         "\nP[mu,nu] = loop(mu, nu, -mu, -nu)\n" + rest + "init U ~ hot\nevery 1 " + counted +
         ": u = mean(re(tr(P[mu,nu])), mu < nu) -> \"p.h5\"\n";
}

struct Case {
  const char* name;
  std::string text;
  int steps;
  int modulus;  ///< classes of sites
  int lanes;    ///< most numbers of a site side by side
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const std::string kHop =
    "model places \"a hop\"\nlattice grid: 2*4*2*6\ngauge U: U(1)\n"
    "fermion psi, chi: spinor, boundary(t) = antiperiodic\n"
    "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
    "init U ~ hot\ninit psi ~ normal, chi = hop(psi)\n"
    "at end: a = total(dot(chi, chi)) -> \"p.h5\"\n";

class Places : public ::testing::TestWithParam<Case> {};

TEST_P(Places, AreTheFieldsOfTheInterpreter) {
  runtime::Device* device = opencl();
  if (!device) GTEST_SKIP() << "no OpenCL here";
  const Case& c = GetParam();
  const Compilation compilation = for_gpu(c.text);
  ASSERT_TRUE(compilation.program);
  const program::Program& program = *compilation.program;
  EXPECT_EQ(program.order.modulus, c.modulus);
  int lanes = 1;
  for (const program::Buffer& b : program.buffers) lanes = std::max(lanes, b.lanes);
  EXPECT_EQ(lanes, c.lanes);
  kernel::Interpreter oracle(*compilation.plan);
  oracle.start();
  oracle.step(c.steps);
  runtime::Session session(program, *device);
  session.start();
  session.advance(c.steps);
  double most = 0;
  int seen = 0;
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    if (!program.buffers[b].state) continue;
    const auto values = session.read(static_cast<int>(b));
    const auto& expected = oracle.buffer(static_cast<int>(b));
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      most = std::max(most, std::fabs(values[i] - expected[i]));
    ++seen;
  }
  EXPECT_GT(seen, 7);
  EXPECT_LT(most, 1e-9);
}

const std::string kQuaternions = "action S = 2*sum(2 - re(tr(P[mu,nu])), mu < nu)\n";

INSTANTIATE_TEST_SUITE_P(
    Models, Places,
    ::testing::Values(
        Case{"two axes of like extent",
             links("4*2*2*4", "SU(2)", kQuaternions + "sample heatbath, sweeps = 3\n"), 2, 2, 2},
        Case{"unlike extents",
             links("2*4*6*2", "SU(2)", kQuaternions + "sample overrelax, sweeps = 3\n"), 2, 2, 2},
        Case{"trajectory",
             links("4*2*2*2", "SU(2)",
                   kQuaternions + "sample hmc, trajectories = 1, tau = 0.1 {\n"
                                  "  level S: steps = 1, scheme = leapfrog\n}\n"),
             1, 2, 2},
        Case{"three dimensions",
             links("4*2*6", "SU(2)", kQuaternions + "sample heatbath, sweeps = 3\n"), 2, 2, 2},
        Case{"two dimensions",
             links("8*6", "SU(2)", kQuaternions + "sample overrelax, sweeps = 3\n"), 2, 2, 2},
        Case{"odd",
             kHop.substr(0, kHop.find("2*4*2*6")) + "3*4*2*2" +
                 kHop.substr(kHop.find("2*4*2*6") + 7),
             0, 1, 2},
        Case{"hop", kHop, 0, 2, 2}));

/// Numbers of the outputs after two sweeps.
std::map<std::string, double> numbers(const program::Program& program, runtime::Device& device) {
  runtime::Session session(program, device);
  session.start();
  session.advance(2);
  std::map<std::string, double> found;
  for (const program::Output& output : program.outputs) {
    session.launch(output.averages);
    session.launch(output.before);
    session.launch(output.launches);
    session.launch(output.then);
    for (const program::ScalarOutput& scalar : output.scalars)
      found[scalar.name] = session.scalars()[static_cast<std::size_t>(scalar.slot)];
    session.release_scratch();
  }
  return found;
}

// A solver's vectors, sites of one parity and copies between them, beside a processor's.
TEST(Places, SolvesAreThoseOfAProcessor) {
  runtime::Device* device = opencl();
  if (!device) GTEST_SKIP() << "no OpenCL here";
  const std::string text =
      "model places \"a quark\"\nlattice grid: 2*4*2*4\ngauge U: U(1)\n"
      "fermion psi: spinor, boundary(t) = antiperiodic\nP[mu,nu] = loop(mu, nu, -mu, -nu)\n"
      "action S = sum(1 - re(tr(P[mu,nu])), mu < nu)\nsample heatbath, sweeps = 2\n"
      "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
      "D(psi) = psi + 0.1i*gamma5*psi - 0.12*hop(psi)\n"
      "here = index(x) == 0 and index(y) == 0 and index(z) == 0 and index(t) == 0\n"
      "q = solve(D, here*spinor(0, 0), solver = cgne(1e-12))\ninit U ~ hot\n"
      "every 2 sweeps: a = total(norm2(q)), b = total(re(dot(q, gamma5*q))), iterations(q), "
      "c = total(here*im(dot(spinor(0, 0), q))) -> \"p.h5\"\n";
  const Compilation gpu = for_gpu(text);
  ASSERT_TRUE(gpu.program);
  EXPECT_TRUE(std::ranges::any_of(gpu.program->buffers, [](const auto& b) { return b.lanes > 1; }));
  const auto here = numbers(*gpu.program, *device);
  const auto there = numbers(*testing::compile_text(text, {}).program, *testing::device("native"));
  ASSERT_GE(there.size(), 4U);
  ASSERT_EQ(here.size(), there.size());
  for (const auto& [name, value] : there)
    EXPECT_NEAR(here.at(name), value, 1e-9 * std::max(1.0, std::fabs(value))) << name;
  EXPECT_GT(there.at("a"), 0.5);
}

// What the host writes it reads again, number by number and as bytes, whatever lies beside it.
TEST(Places, TheHostSeesPlainFields) {
  runtime::Device* device = opencl();
  if (!device) GTEST_SKIP() << "no OpenCL here";
  for (const char* real : {"f32", "f64"}) {
    const Compilation compilation = for_gpu(kHop + "precision real = " + real + "\n");
    ASSERT_TRUE(compilation.program);
    const program::Program& program = *compilation.program;
    runtime::Session session(program, *device);
    session.start();
    const auto sites = static_cast<std::size_t>(program.sites());
    const auto number = [&](std::size_t b, std::size_t site) {
      return static_cast<double>(b * sites + site);
    };
    std::vector<std::size_t> shared;
    for (std::size_t b = 0; b < program.buffers.size(); ++b)
      if (program.buffers[b].state && program.buffers[b].home >= 0) shared.push_back(b);
    ASSERT_GE(shared.size(), 16U);
    for (const std::size_t b : shared) {
      std::vector<double> values(sites);
      for (std::size_t i = 0; i < sites; ++i) values[i] = number(b, i);
      session.write(static_cast<int>(b), values);
    }
    for (const std::size_t b : shared) {
      const auto buffer = static_cast<int>(b);
      const auto values = session.read(buffer);
      std::vector<std::byte> bytes(session.bytes_of(buffer));
      session.read_bytes(buffer, bytes);
      for (std::size_t i = 0; i < sites; ++i) {
        ASSERT_EQ(values[i], number(b, i));
        if (bytes.size() == 8 * sites)
          ASSERT_EQ(reinterpret_cast<const double*>(bytes.data())[i], number(b, i));
        else
          ASSERT_EQ(reinterpret_cast<const float*>(bytes.data())[i], number(b, i));
      }
      std::reverse(bytes.begin(), bytes.end());
      session.write_bytes(buffer, bytes);
      std::vector<std::byte> again(bytes.size());
      session.read_bytes(buffer, again);
      EXPECT_EQ(again, bytes);
    }
  }
}

TEST(SiteOrder, GivesEachSiteItsPlace) {
  const program::SiteOrder orders[] = {
      {2, {1, 1, 1, 1}, 0}, {2, {1, 0, 1, 1}, 2}, {4, {2, 1, 1, 1}, 1}, {1, {0, 0, 0, 0}, 0}};
  const std::array<std::int64_t, 4> extent{4, 8, 2, 4};
  for (const program::SiteOrder& order : orders) {
    std::set<std::int64_t> places;
    for (std::int64_t site = 0; site < 256; ++site) {
      const std::int64_t place = order.place(site, extent);
      EXPECT_TRUE(place >= 0 && place < 256);
      places.insert(place);
    }
    EXPECT_EQ(places.size(), 256U);
  }
  // neighbours along x, even ones first
  EXPECT_EQ(orders[0].place(0, extent), 0);
  EXPECT_EQ(orders[0].place(1, extent), 128);
  EXPECT_EQ(orders[0].place(2, extent), 1);
  EXPECT_EQ(orders[0].place(4, extent), 130);
}

// Fields of three dimensions are marched through, and processors take vectors along x.
TEST(Places, OthersStayPlain) {
  const std::string cube =
      "model places \"waves\"\nlattice box: 8^3, spacing = 1\nfield u, v: real\n"
      "u'' = lap(u) - v\nv'' = lap(v) - u\ninit u = sin(x), v = 0\n"
      "evolve leapfrog, dt = 0.1, until = t > 1\nevery 1 step: a = mean(u) -> \"p.h5\"\n";
  const Compilation three = for_gpu(cube), native = testing::compile_text(kHop, {});
  ASSERT_TRUE(three.program);
  for (const program::Buffer& b : three.program->buffers) EXPECT_EQ(b.home, -1);
  for (const program::Buffer& b : native.program->buffers) EXPECT_EQ(b.home, -1);
}

}  // namespace
}  // namespace vphi
