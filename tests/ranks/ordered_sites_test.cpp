// Arrays of links and spinors whose even and odd sites lie apart on a GPU
// (emit/memory/memory_layout.hpp), on lattices that ranks share: the order stays, and fields have
// the bits of one device. Kernels as for GPUs on OpenCL's processor, planes through the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "runtime/comm/team.hpp"
#include "runtime/device/cuda/nvrtc.hpp"
#include "runtime/device/opencl/opencl.hpp"
#include "runtime/run/ranks/parts_beside.hpp"
#include "runtime/run/session.hpp"
#include "tests/support/opencl_gpu.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

struct Shared {
  const char* name;
  std::string text;
  int steps = 1;
  int ranks = 2, beside = 1;
  int classes = 2;         ///< of sites
  bool parts = false;      ///< launches of steps are divided
  bool one_class = false;  ///< some halos are of the sites of one class
  double rounding = 0;     ///< by which links differ: those that depend on sums of a solver
};

void PrintTo(const Shared& row, std::ostream* out) { *out << row.name; }

std::string quaternions(const std::string& lattice, const std::string& rest) {
  const std::string counted = rest.find("sample hmc") == std::string::npos ? "sweep" : "trajectory";
  return "model shared \"links\"\nlattice grid: " + lattice +
         "\ngauge U: SU(2)\nP[mu,nu] = loop(mu, nu, -mu, -nu)\n"
         "action S = 2*sum(2 - re(tr(P[mu,nu])), mu < nu)\n" +
         rest + "init U ~ hot\nevery 1 " + counted +
         ": u = mean(re(tr(P[mu,nu])), mu < nu), polyakov -> \"p.h5\"\n";
}

const std::string kHopOfRanks =
    "model shared \"a hop\"\nlattice grid: 2*4*4*8\ngauge U: U(1)\n"
    "fermion psi, chi: spinor, boundary(t) = antiperiodic\n"
    "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
    "init U ~ hot\ninit psi ~ normal, chi = hop(psi)\n"
    "at end: a = total(dot(chi, chi)) -> \"p.h5\"\n";

/// Solves at odd sites: hops from even to odd ones and back.
const std::string kOddSites =
    "model shared \"quarks\"\nlattice grid: 2*2*4*8, parity = even_odd\ngauge U: U(1)\n"
    "fermion psi: spinor, boundary(t) = antiperiodic\nP[mu,nu] = loop(mu, nu, -mu, -nu)\n"
    "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
    "D(psi) = psi + 0.024i*gamma5*psi - 0.12*hop(psi)\n"
    "action S = sum(1 - re(P[mu,nu]), mu < nu)\n"
    "action Q = pseudofermion(D, solver = cg(1e-10), even_odd = on)\n"
    "sample hmc, trajectories = 1, tau = 0.1 {\n  level Q: steps = 1, scheme = leapfrog\n"
    "  level S: steps = 1, scheme = leapfrog\n}\ninit U ~ hot\n"
    "every 1 trajectory: u = mean(re(P[mu,nu]), mu < nu) -> \"p.h5\"\n";

std::optional<program::Program> program_of(const Shared& row, int rank, bool alone) {
  emit::TargetInfo gpu = testing::opencl_gpu(0);
  gpu.contract = false;
  const testing::ScratchFolder folder;
  const std::string path = folder / "model.vphi";
  std::ofstream(path) << row.text;
  CompileOptions options;
  options.precision = "f64";
  if (!alone) options.ranks = row.ranks, options.rank = rank, options.ranks_beside = row.beside;
  Compilation c = compile_model(path, options, gpu);
  for (const dsl::Diagnostic& d : c.diagnostics.all()) ADD_FAILURE() << d.code << d.message;
  return std::move(c.program);
}

using Arrays = std::map<std::string, std::vector<double>>;

/// All arrays of the state, and what the outputs made of them.
struct Seen {
  Arrays arrays;
  std::map<std::string, double> scalars;
};

Seen seen_after(runtime::Session& session, const program::Program& p, int steps) {
  session.start();
  session.advance(steps);
  Seen seen;
  for (std::size_t b = 0; b < p.buffers.size(); ++b)
    if (p.buffers[b].state) seen.arrays[p.buffers[b].name] = session.read(static_cast<int>(b));
  for (const program::Output& output : p.outputs) {
    for (const auto* list : {&output.averages, &output.before, &output.launches, &output.then})
      session.launch(*list);
    for (const program::ScalarOutput& scalar : output.scalars)
      seen.scalars[scalar.name] = session.scalars()[static_cast<std::size_t>(scalar.slot)];
    session.release_scratch();
  }
  return seen;
}

/// Number of a site of the whole lattice, from that in a rank's memory; ghosts go around.
std::int64_t in_whole(const program::Program& p, int ranks, int rank, std::int64_t site) {
  const program::Cut& cut = p.cut;
  const std::array<std::int64_t, 4> whole = p.whole_extent();
  std::int64_t number = 0, stride = 1;
  for (int axis = 0; axis < p.dims; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    std::int64_t x = site % p.extent[a];
    site /= p.extent[a];
    if (axis == cut.axis) x += cut.planes(ranks, rank).first - cut.ghost[0];
    if (cut.second.ranks > 1 && axis == cut.axis - 1)
      x += cut.lines(rank).first - cut.second.ghost[0];
    number += stride * ((x + whole[a]) % whole[a]);
    stride *= whole[a];
  }
  return number;
}

bool own_site(const program::Program& p, std::int64_t site) {
  std::int64_t stride = 1;
  for (int axis = 0; axis < p.cut.axis - 1; ++axis)
    stride *= p.extent[static_cast<std::size_t>(axis)];
  const auto beside = static_cast<std::size_t>(p.cut.axis - 1);
  const std::int64_t line = site / stride % p.extent[beside] - p.cut.second.ghost[0],
                     plane = site / stride / p.extent[beside] - p.cut.ghost[0];
  const std::int64_t lines = p.cut.second.ranks > 1 ? p.cut.second.own : p.extent[beside];
  return plane >= 0 && plane < p.cut.own && line >= 0 && line < lines;
}

/// The own sites of a rank have the bits of one device.
void compare_own(const program::Program& p, const Shared& row, int rank, const Seen& all,
                 const Seen& own) {
  for (const auto& [name, values] : own.arrays) {
    const std::vector<double>& expected = all.arrays.at(name);
    std::size_t differ = 0, compared = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto site = static_cast<std::int64_t>(i);
      if (!own_site(p, site)) continue;
      const double there = expected[static_cast<std::size_t>(in_whole(p, row.ranks, rank, site))];
      const bool same =
          std::bit_cast<std::uint64_t>(values[i]) == std::bit_cast<std::uint64_t>(there);
      differ += !same && !(std::abs(values[i] - there) <= row.rounding);
      ++compared;
    }
    EXPECT_EQ(compared, expected.size() / static_cast<std::size_t>(p.cut.whole) *
                            static_cast<std::size_t>(p.cut.own) /
                            static_cast<std::size_t>(row.beside))
        << name;
    EXPECT_EQ(differ, 0U) << name << " of rank " << rank;
  }
  for (const auto& [name, value] : all.scalars)
    EXPECT_NEAR(own.scalars.at(name), value, 1e-12 * std::max(1.0, std::abs(value))) << name;
}

/// What the host writes comes back, ghosts are the neighbours' planes, and parts are read alone.
void look_through_host(runtime::Session& session, const program::Program& p, const Shared& row,
                       int rank) {
  const auto number = [&](std::size_t b, std::int64_t site) {
    return static_cast<double>(1 + in_whole(p, row.ranks, rank, site)) +
           1e-3 * static_cast<double>(b);
  };
  for (std::size_t b = 0; b < p.buffers.size(); ++b) {
    if (!p.buffers[b].state || p.buffers[b].home < 0) continue;
    std::vector<double> values(static_cast<std::size_t>(p.sites()));
    for (std::int64_t site = 0; site < p.sites(); ++site)
      values[static_cast<std::size_t>(site)] = own_site(p, site) ? number(b, site) : -1;
    const auto buffer = static_cast<int>(b);
    session.write(buffer, values);
    const auto bytes = std::as_bytes(std::span(values));
    session.write_bytes(buffer, bytes);
    std::vector<double> again = session.read(buffer);
    std::size_t differ = 0;
    const bool turned = p.cut.ends[0] == program::Cut::End::Antiperiodic;
    for (std::int64_t site = 0; site < p.sites(); ++site) {
      const double value = again[static_cast<std::size_t>(site)];
      differ += (turned ? std::abs(value) : value) != number(b, site);
    }
    EXPECT_EQ(differ, 0U) << p.buffers[b].name;
    const auto first = session.read_own_sites(buffer, 3, 2);
    for (std::size_t k = 0; k < first.size(); ++k)
      EXPECT_EQ(std::floor(first[k]), static_cast<double>(4 + k));
  }
}

bool sends_one_class(program::Program& p) {
  bool one = false;
  p.each_list([&](const std::vector<program::Launch>& list) {
    for (const program::Launch& launch : list)
      for (const program::Halo& halo : launch.halos) one = one || std::popcount(halo.classes) == 1;
  });
  return one;
}

class OrderedSites : public ::testing::TestWithParam<Shared> {};

/// In parts (schedule/division.hpp), where a rank has planes enough.
TEST_P(OrderedSites, HaveTheBitsOfOneDevice) {
  setenv("VPHI_OPENCL_OPTIONS", "-cl-opt-disable", 1);
  runtime::Device* device = testing::device("opencl");
  if (!device) GTEST_SKIP() << "no OpenCL here";
  const Shared& row = GetParam();
  const auto whole = program_of(row, 0, true);
  ASSERT_TRUE(whole);
  runtime::Session one(*whole, *device);
  const Seen all = seen_after(one, *whole, row.steps);
  ASSERT_GE(all.arrays.size(), 4U);
  comm::Team team(row.ranks);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < row.ranks; ++rank)
    threads.emplace_back([&, rank] {
      const auto comm = team.comm(rank);
      auto own = program_of(row, rank, false);
      ASSERT_TRUE(own);
      EXPECT_EQ(own->order.modulus, row.classes);
      EXPECT_TRUE(std::ranges::any_of(own->buffers, [](const auto& b) { return b.lanes == 2; }));
      EXPECT_EQ(runtime::has_parts(*own, own->step), row.parts);
      EXPECT_EQ(sends_one_class(*own), row.one_class);
      const auto here = runtime::open_device("opencl");
      runtime::SessionOptions options;
      options.comm = comm.get();
      runtime::Session session(*own, *here, options);
      const Seen seen = seen_after(session, *own, row.steps);
      compare_own(*own, row, rank, all, seen);
      look_through_host(session, *own, row, rank);
    });
}

const std::string kTrajectory =
    "sample hmc, trajectories = 1, tau = 0.1 {\n  level S: steps = 1, scheme = leapfrog\n}\n";

INSTANTIATE_TEST_SUITE_P(
    Links, OrderedSites,
    ::testing::Values(
        Shared{"heatbath", quaternions("2*4*2*16", "sample heatbath, sweeps = 3, overrelax = 1\n"),
               1, 2, 1, 2, true},
        Shared{"trajectory", quaternions("2*2*4*8", kTrajectory), 1, 2, 1, 2, true},
        Shared{"unlike shares of three dimensions",
               quaternions("4*4*16", "sample heatbath, sweeps = 3\n"), 2, 3},
        Shared{"two axes", quaternions("2*32*32*4", "sample heatbath, sweeps = 3\n"), 1, 4, 2},
        Shared{"odd extent", quaternions("3*2*2*8", kTrajectory), 1, 2, 1, 1, true},
        Shared{"odd sites", kOddSites, 1, 2, 1, 2, true, true, 1e-12},
        Shared{"hop", kHopOfRanks, 0}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::ranges::replace(name, ' ', '_');
      return name;
    });

/// On CUDA a link of SU(2) in f32 is read by one load, in shares as on one GPU, and each kernel of
/// a share compiles.
TEST(SharesOfLinks, LieAsOnOneGpu) {
  emit::TargetInfo cuda = testing::opencl_gpu(132);
  cuda.target = program::Target::Cuda;
  const testing::ScratchFolder folder;
  const std::string path = folder / "model.vphi";
  std::ofstream(path) << quaternions("8*8*8*16", "sample overrelax, sweeps = 3\n");
  CompileOptions options;
  options.precision = "f32";
  const Compilation one = compile_model(path, options, cuda);
  options.ranks = 2, options.rank = 1;
  const Compilation share = compile_model(path, options, cuda);
  ASSERT_TRUE(one.program && share.program);
  EXPECT_EQ(share.program->order.modulus, 2);
  ASSERT_EQ(share.program->buffers.size(), one.program->buffers.size());
  int fours = 0;
  for (std::size_t b = 0; b < one.program->buffers.size(); ++b) {
    const program::Buffer &here = share.program->buffers[b], &there = one.program->buffers[b];
    EXPECT_EQ(std::tuple(here.home, here.lane, here.lanes),
              std::tuple(there.home, there.lane, there.lanes))
        << here.name;
    fours += here.lanes == 4;
  }
  EXPECT_EQ(fours, 16);  // four directions, four numbers
  if (runtime::nvrtc_version().empty()) GTEST_SKIP() << "no NVRTC";
  for (const program::Kernel& kernel : share.program->kernels) {
    std::string log;
    EXPECT_NO_THROW(runtime::nvrtc_compile(kernel.source, "sm_90", &log)) << log;
  }
}

/// A sweep of links sends what is read before it is written again, of the plaquette action by hand:
/// an update of links along x, y or z reads such links in the planes on both sides and those along
/// t in the plane below, and one of links along t reads the others in the plane above. So links
/// along x, y, z go to both sides after each colour, for the other colour and the next update, and
/// those along t to one side, once both colours are done.
TEST(SharesOfLinks, SendWhatIsReadNext) {
  emit::TargetInfo cuda = testing::opencl_gpu(0);
  cuda.target = program::Target::Cuda;
  CompileOptions options;
  options.lattice = "8*8*8*16", options.ranks = 2;
  const Compilation c = compile_model(testing::shipped("gauge/su2"), options, cuda);
  ASSERT_TRUE(c.program);
  const program::Program& p = *c.program;
  int exchanges = 0, below = 0, above = 0;
  std::map<std::string, int> launches;
  for (const program::Launch& launch : p.launches(0)) {
    const program::Kernel& kernel = p.kernels[static_cast<std::size_t>(launch.kernel)];
    ++launches[kernel.name.substr(kernel.name.rfind('_') + 1)];
    exchanges += !launch.halos.empty();
    for (const program::Halo& halo : launch.halos) below += halo.depth[0], above += halo.depth[1];
  }
  // a heatbath and an overrelaxation of links with four numbers, along three axes and the one cut
  constexpr int kUpdates = 2, kNumbers = 4, kOthers = 3, kColours = 2;
  EXPECT_EQ(exchanges, kUpdates * (kColours * kOthers + 1));
  EXPECT_EQ(below, kNumbers * exchanges);
  EXPECT_EQ(above, kNumbers * kUpdates * kColours * kOthers);
  // a launch that sends is two: both ends and the rest, the last group of which has its epilogue
  for (const char* part : {"ends", "rest"}) EXPECT_EQ(launches[part], exchanges);
  EXPECT_EQ(launches["then"], 0);
  EXPECT_EQ(launches["t"], kUpdates);  // after which nothing is sent
}

}  // namespace
}  // namespace vphi
