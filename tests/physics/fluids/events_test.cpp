// Events in a batch: nucleons drawn by the number of their event against exact means, and viscous
// fluids that start from these, many in one launch, with the bits that each has alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/support/places.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

namespace fs = std::filesystem;

/// Mean and its standard error.
std::pair<double, double> mean_with_error(const std::vector<double>& all) {
  const auto n = static_cast<double>(all.size());
  const double mean = std::accumulate(all.begin(), all.end(), 0.0) / n;
  double squares = 0;
  for (const double v : all) squares += (v - mean) * (v - mean);
  return {mean, std::sqrt(squares / (n - 1) / n)};
}

class Events : public ::testing::Test {
 protected:
  /// Nucleons, their cross section in fm^2, and radius and skin of the density in fm.
  struct Nucleus {
    int nucleons;
    const char* sigma;
    double radius, skin;
  };
  static constexpr Nucleus kGold{197, "4.2", 6.38, 0.535}, kLead{208, "6.4", 6.62, 0.546};

  /// Whether nucleons of a nucleus see each other: `apart` and `centred` of the page's text.
  enum class Nucleons { Independent, AsWritten };

  /// Nucleons of so many events with the text of docs/viscous.md and more lines; results in
  /// `folder_`.
  runtime::RunResult nuclei(const std::string& events, const std::string& b = "7 [fm]",
                            const Nucleus& of = kGold, Nucleons draw = Nucleons::Independent,
                            const std::string& more = "") const {
    std::ifstream page(VPHI_SOURCE_DIR "/docs/viscous.md");
    std::string text{std::istreambuf_iterator<char>(page), {}};
    text.erase(0, text.find("model nucleons \""));
    text.erase(text.find("```"));
    const auto change = [&](const std::string& from, const std::string& to) {
      const auto place = text.find(from);
      ASSERT_NE(place, std::string::npos) << from;
      text.replace(place, from.size(), to);
    };
    change("6.38 [fm]", fmt::format("{} [fm]", of.radius));
    change("0.535 [fm]", fmt::format("{} [fm]", of.skin));
    for (const char* name : {"one: ", "two: "})
      change(name + std::string("197"), name + std::to_string(of.nucleons));
    change("4.2 [fm^2]", of.sigma + std::string(" [fm^2]"));
    if (!more.empty()) change("sweep event = 0..99", "sweep event = 0..99, keep = N_coll > 0");
    if (draw == Nucleons::Independent)
      change(",\n                 apart = 0.4 [fm], centred = on", "");
    if (!more.empty()) change("param b = 7 [fm], ", more + "param ");
    std::ofstream(folder_ / "nucleons.vphi") << text;
    testing::Simulation setup;
    setup.set = {{"event", events}};
    if (more.empty()) setup.set.emplace_back("b", b);
    setup.keep_state = events.find("..") == std::string::npos;
    setup.out = folder_.path().string();
    return testing::run_file((folder_ / "nucleons.vphi").string(), setup);
  }

  /// A conformal fluid with shear stress that starts from these nucleons, half a fm further.
  std::string fluid(const std::string& sweep, const std::string& width = "0.6 [fm]") const {
    return fmt::format(R"(model events "viscous fluids from nucleons"
units fm
{}
lattice plane: 24^2, length = 24 [fm], boundary = outflow
metric scale(1, 1, t), energy = E
primitive eps: real, q: vec(3), v: vec(2)
W = 1/sqrt(1 - norm2(v))
u = W*v
s = [[q[0], q[1]], [q[1], q[2]]]
conserve E = eps*(4*W^2 - 1)/3 + dot(s*v, v):  div(M) + third(s, v)/t
conserve M = 4/3*eps*W^2*v + s*v:  div(M*v) + div(s - outer(s*v, v)) + grad(eps/3)
tau = 1/eps^(1/4)
relax q = shear_target(s, flow_strain(u, W, v, 1/t), u, v, acceleration(u, W, v), expansion(u, W, 1/t), 4/3*eps, tau),
  time = W*tau, along = v
recover {{
  eps = E - dot(M, v)
  v   = (M - s*v)/(E - dot(s*v, v) + eps/3)
  solve v by fixed_point, tol = 1e-4, max = 60, start = 0
}}
limit q = q*min(1, eps/(3*norm(q) + 1e-30))
scheme kt_primitive, speed = 1, theta = 1.8
evolve heun, dt = 0.1 [fm], until = t > 1.05 [fm]
init t = 0.6 [fm], q = 0, M = 0
init E = 10*file("{}:/snapshots/snapshot(lump)/00000001", spread = {})[event] + 0.01
precision real = f64
eps_2 = sqrt(mean(E*(x^2 - y^2))^2 + mean(2*E*x*y)^2)/mean(E*(x^2 + y^2))
every 5 steps: energy = total(E)*dx^2/t, eps_2, mean(eps_2, over = event) -> "events.h5"
)",
                       sweep, (folder_ / "nucleons.h5").string(), width);
  }
  bool written() const { return fs::exists(folder_ / "nucleons.h5"); }

  const testing::ScratchFolder folder_;
};

/// Integrals over the thickness of gold and lead: the exact means of nucleons that are drawn
/// independently.
TEST_F(Events, NucleonsAndCollisionsHaveTheirExactMeans) {
  struct Exact {
    const char* b;
    double hit, collisions;
    Nucleus of = kGold;
  };
  for (const Exact& exact :
       {Exact{"7 [fm]", 179.807154, 416.175688}, Exact{"0", 380.356362, 1212.083648},
        Exact{"0", 408.336093, 1907.215512, kLead}}) {
    const auto result = nuclei("0..3999", exact.b, exact.of);
    for (const char* name : {"N_part", "N_coll"}) {
      const auto [mean, error] = mean_with_error(result.find(name)->values.back());
      const double expected = name[2] == 'p' ? exact.hit : exact.collisions;
      EXPECT_NEAR(mean, expected, 4 * error) << name;
      EXPECT_LT(error, 0.003 * expected) << name;
    }
  }
}

/// Nucleons that keep a distance of 0.4 fm, each nucleus about its mean: the numbers of an
/// independent code with their errors.
TEST_F(Events, NucleonsThatKeepTheirDistance) {
  const auto result = nuclei("0..3999", "7 [fm]", kGold, Nucleons::AsWritten);
  const auto& hit = result.find("N_part")->values.back();
  const auto [mean, error] = mean_with_error(hit);
  EXPECT_NEAR(mean, 180.38, 4 * std::hypot(error, 0.05));
  const double deviation = error * std::sqrt(static_cast<double>(hit.size()));
  EXPECT_NEAR(deviation, 10.61, 4 * 10.61 / std::sqrt(2.0 * static_cast<double>(hit.size())));
  const auto [collisions, of_collisions] = mean_with_error(result.find("N_coll")->values.back());
  EXPECT_NEAR(collisions, 415.7, 4 * std::hypot(of_collisions, 0.2));
  for (const auto& [name, expected] : {std::pair("eps_2", 0.2698), std::pair("eps_3", 0.1824)}) {
    const auto [eps, of_eps] = mean_with_error(result.find(name)->values.back());
    EXPECT_NEAR(eps, expected, 4 * std::hypot(of_eps, 0.0005)) << name;
  }
}

/// The places of an event: of each nucleus, by nucleon, three components.
TEST_F(Events, NoTwoNucleonsOfANucleusAreCloserThanTheirDistance) {
  constexpr std::size_t kNucleons = 197;
  for (const auto draw : {Nucleons::AsWritten, Nucleons::Independent}) {
    const auto result = nuclei("17", "7 [fm]", kGold, draw);
    double closest = 1e9, off = 0;
    for (const std::size_t first : {std::size_t{0}, kNucleons}) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        double sum = 0;
        for (std::size_t k = first; k < first + kNucleons; ++k) sum += result.state[axis][k];
        off = std::max(off, std::abs(sum));
      }
      for (std::size_t k = first; k < first + kNucleons; ++k)
        for (std::size_t l = first; l < k; ++l) {
          double square = 0;
          for (std::size_t axis = 0; axis < 3; ++axis) {
            const double d = result.state[axis][k] - result.state[axis][l];
            square += d * d;
          }
          closest = std::min(closest, std::sqrt(square));
        }
    }
    const bool apart = draw == Nucleons::AsWritten;
    EXPECT_EQ(closest >= 0.4 * (1 - 1e-5), apart) << closest;
    EXPECT_EQ(off < 1e-3, apart) << off;
  }
}

/// Lead on lead at all impact parameters below 20 fm: the cross section and two classes of
/// centrality by the impact parameter, numbers of an independent code.
TEST_F(Events, ClassesOfCentrality) {
  const std::string drawn =
      "u[k] ~ uniform(0, 1)\nb = 20 [fm]*sqrt(sum((u[k] if k == 0 else 0), k))\n"
      "at end: nearness = 20 [fm] - b, draws -> \"nucleons.h5\"\n";
  constexpr double kEvents = 2000;
  const auto all = nuclei("0..1999", "", kLead, Nucleons::AsWritten, drawn);
  const auto& near = all.find("nearness")->values.back();
  const auto [draws, of_draws] = mean_with_error(all.find("draws")->values.back());
  const double section = 400 * 3.14159265358979 / draws;
  EXPECT_NEAR(section, 760, 4 * std::hypot(2, section * of_draws / draws));
  EXPECT_GT(std::ranges::min(all.find("N_coll")->values.back()), 0);
  if (!written()) GTEST_SKIP() << "this build writes no HDF5";
  fs::rename(folder_ / "nucleons.h5", folder_ / "all.h5");
  const auto of_class = [&](const char* shares) {
    return nuclei(fmt::format("ranked(\"all.h5:/series/nearness\", {})", shares), "", kLead,
                  Nucleons::AsWritten, drawn);
  };
  const auto central = of_class("0.95..1"), middle = of_class("0.7..0.8");
  const auto check = [&](const runtime::RunResult& result, const char* name, double expected,
                         double known) {
    const auto [mean, error] = mean_with_error(result.find(name)->values.back());
    EXPECT_NEAR(mean, expected, 4 * std::hypot(error, known)) << name;
  };
  check(central, "N_part", 383.1, 0.3);
  check(central, "N_coll", 1685.9, 2.6);
  check(central, "eps_2", 0.0731, 0.0007);
  check(central, "eps_3", 0.0846, 0.0008);
  check(middle, "N_part", 184.95, 0.28);
  check(middle, "N_coll", 552.1, 1.2);
  check(middle, "eps_2", 0.2614, 0.0014);
  check(middle, "eps_3", 0.1881, 0.0012);
  // the classes by hand: the members are those of the first run, with their numbers
  std::vector<double> sorted = near;
  std::ranges::sort(sorted);
  auto top = central.find("nearness")->values.back();
  std::ranges::sort(top);
  const auto n = static_cast<std::ptrdiff_t>(std::llround(0.95 * kEvents));
  EXPECT_EQ(top, std::vector<double>(sorted.begin() + n, sorted.end()));
}

/// Event k among many is event k alone, whatever stands beside it.
TEST_F(Events, AnEventIsItsNumber) {
  const auto many = nuclei("0..19"), few = nuclei("[3, 17]"), one = nuclei("17");
  const auto& all = many.find("N_part")->values.back();
  EXPECT_EQ(few.find("N_part")->values.back(), (std::vector<double>{all[3], all[17]}));
  EXPECT_EQ(testing::last(one, "N_part"), all[17]);
}

TEST_F(Events, AViscousBatchHasTheBitsOfItsEvents) {
  const auto hit = nuclei("0..4").find("N_part")->values.back();
  if (!written()) GTEST_SKIP() << "this build writes no HDF5";
  for (const char* device : {"native", "opencl"}) {
    if (!testing::device(device)) continue;
    SCOPED_TRACE(device);
    testing::Simulation setup;
    setup.device = device;
    const auto batch = testing::run_text(fluid("sweep event = 0..4"), setup);
    EXPECT_TRUE(batch.failures.empty());
    const auto& energy = batch.find("energy")->values;
    const auto& eps_2 = batch.find("eps_2")->values;
    // a Gaussian for each nucleon that is hit, of integral 1
    for (std::size_t event = 0; event < 5; ++event)
      EXPECT_NEAR(energy.front()[event], 10 * hit[event] + 0.01 * 576,
                  1e-6 * energy.front()[event]);
    const auto [mean, error] = mean_with_error(eps_2.back());
    const auto* average = batch.find("mean(eps_2, over = event)");
    EXPECT_NEAR(average->values.back()[0], mean, 1e-12);
    EXPECT_NEAR(average->errors.back()[0], error, 1e-12);
    EXPECT_GT(error, 0.01);
    for (const int event : {1, 4}) {
      setup.set = {{"event", std::to_string(event)}};
      const auto one = testing::run_text(fluid("sweep event = 0..4"), setup);
      for (const char* name : {"energy", "eps_2"})
        EXPECT_EQ(testing::last(one, name),
                  batch.find(name)->values.back()[static_cast<std::size_t>(event)])
            << name << " of event " << event;
    }
    setup.set = {};
    setup.batch = 2;  // in parts
    EXPECT_EQ(testing::run_text(fluid("sweep event = 0..4"), setup).find("eps_2")->values.back(),
              eps_2.back());
  }
}

std::string refusal(const std::string& text) {
  try {
    testing::run_text(text, {});
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST_F(Events, WhatCannotBeSpreadIsRefused) {
  nuclei("0..1");
  if (!written()) GTEST_SKIP() << "this build writes no HDF5";
  const auto says = [](const std::string& text, const std::string& part) {
    const std::string said = refusal(text);
    EXPECT_NE(said.find(part), std::string::npos) << said;
  };
  says(fluid("sweep event = 0..1", "0*dx"), "a positive length");
  says(fluid("sweep event = 0..2"), "has 2 of them");
  std::string ring = fluid("sweep event = 0..1");
  ring.replace(ring.find("outflow"), 7, "periodic");
  says(ring, "ends are joined");
}

}  // namespace
}  // namespace vphi
