// Events in a batch: nucleons drawn by the number of their event against exact means, and viscous
// fluids that start from these, many in one launch, with the bits that each has alone.
#include <gtest/gtest.h>

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

  /// Nucleons of so many events with the text of docs/viscous.md; results in `folder_`.
  runtime::RunResult nuclei(const std::string& events, const std::string& b = "7 [fm]",
                            const Nucleus& of = kGold) const {
    std::ifstream page(VPHI_SOURCE_DIR "/docs/viscous.md");
    std::string text{std::istreambuf_iterator<char>(page), {}};
    text.erase(0, text.find("model nucleons \""));
    text.erase(text.find("```"));
    const std::string ball = "6.38 [fm]*share[k]^(1/3)";
    const auto place = text.find(ball);
    EXPECT_NE(place, std::string::npos);
    text.replace(place, ball.size(), "table(\"gold.txt\", share[k])*(1 [fm])");
    for (const char* name : {"one: ", "two: "})
      text.replace(text.find(name) + 5, 3, std::to_string(of.nucleons));
    text.replace(text.find("4.2 [fm^2]"), 3, of.sigma);
    std::ofstream(folder_ / "nucleons.vphi") << text;
    write_shares(of);
    testing::Simulation setup;
    setup.set = {{"event", events}, {"b", b}};
    setup.out = folder_.path().string();
    return testing::run_file((folder_ / "nucleons.vphi").string(), setup);
  }

  /// The share of the nucleons within a radius, by the middles of thin shells.
  void write_shares(const Nucleus& of) const {
    std::vector<double> within{0};
    constexpr int kRows = 560, kParts = 50;
    constexpr double kStep = 0.025;  // fm
    for (int row = 0; row < kRows; ++row) {
      double sum = within.back();
      for (int part = 0; part < kParts; ++part) {
        const double r = kStep * (row + (part + 0.5) / kParts);
        sum += r * r / (1 + std::exp((r - of.radius) / of.skin));
      }
      within.push_back(sum);
    }
    std::ofstream out(folder_ / "gold.txt");
    for (std::size_t row = 0; row < within.size(); ++row)
      out << fmt::format("{:.13g} {:.6g}\n", within[row] / within.back(),
                         kStep * static_cast<double>(row));
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
