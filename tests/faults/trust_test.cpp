// Checks that a run makes of itself: the error of its step, the term that made it fail, the tests
// of its model.
#include <nlohmann/json.hpp>

#include "tests/faults/child.hpp"

namespace vphi::test {
namespace {

using Json = nlohmann::json;

class Trust : public Faults {
 protected:
  /// One anharmonic oscillator at every site of a line; `sign` of phi^4/4.
  void write_oscillator(const std::string& sign) {
    std::ofstream(folder_ / "one.vphi")
        << "model one \"Anharmonic\"\nlattice box: 64, length = 64, boundary = periodic\n"
           "field phi: real\npotential V = phi^2/2 "
        << sign
        << " phi^4/4\ninit phi = 1.5, phi' = 0\nevolve leapfrog, dt = 0.05, until = t > 100\n"
           "precision real = f64\nevery 20 steps: mean(phi) -> \"one.h5\"\n";
  }
};

TEST_F(Trust, BrokenRunNamesStepSiteAndTerm) {
  write_oscillator("-");  // no lower bound: infinite after a finite time
  Child run(folder_, {"run", "one.vphi", "--device", "native", "--quiet"});
  EXPECT_EQ(run.wait(), 1);
  EXPECT_TRUE(holds(run.error(), "E0801")) << run.error();
  EXPECT_TRUE(holds(run.error(), " in step ")) << run.error();
  EXPECT_TRUE(holds(run.error(), "line 4: potential V")) << run.error();
  EXPECT_TRUE(holds(run.error(), "inf from phi^3")) << run.error();
}

TEST_F(Trust, ErrorCheckIsTheDifferenceOfTwoRuns) {
  write_oscillator("+");
  Child run(folder_, {"run", "one.vphi", "--device", "native", "--json", "--quiet", "--steps",
                      "400", "--error-check", "--out", "r"});
  ASSERT_EQ(run.wait(), 0) << run.error();
  const Json one = Json::parse(run.out());
  std::string finer = text_of(folder_ / "one.vphi");
  finer.replace(finer.find("0.05"), 4, "0.025");
  finer.replace(finer.find("every 20"), 8, "every 40");
  std::ofstream(folder_ / "finer.vphi") << finer;
  Child half(folder_, {"run", "finer.vphi", "--device", "native", "--json", "--quiet", "--steps",
                       "800", "--out", "h"});
  ASSERT_EQ(half.wait(), 0) << half.error();
  const Json two = Json::parse(half.out());
  const double difference = std::abs(one["scalars"]["mean(phi)"].get<double>() -
                                     two["scalars"]["mean(phi)"].get<double>());
  EXPECT_GT(difference, 1e-6);
  EXPECT_NEAR(one["error_check"]["mean(phi)"]["last"].get<double>(), difference, 1e-14);
  EXPECT_TRUE(fs::exists(folder_ / "r" / "one.error_check.csv"));
}

// s = -1: t is a result of both runs, and differs. Compared are step n and step 2n.
TEST_F(Trust, ErrorCheckInConformalTime) {
  Child run(folder_, {"run", std::string(VPHI_SOURCE_DIR) + "/models/cosmology/lphi4.vphi",
                      "--device", "native", "--json", "--quiet", "--lattice", "8^3", "--steps",
                      "400", "--error-check", "--out", "r"});
  ASSERT_EQ(run.wait(), 0) << run.error();
  const Json r = Json::parse(run.out());
  EXPECT_GT(r["error_check_apart"].get<double>(), 0);
  // a(eta) of the second-order step, known to its error: between nothing and a per cent
  const double a = r["error_check"]["a"]["last"].get<double>();
  EXPECT_GT(a, 0);
  EXPECT_LT(a, 1e-2 * r["scalars"]["a"].get<double>());
  const double t = r["error_check"]["t"]["last"].get<double>();
  EXPECT_GT(t, 0);
  EXPECT_LT(t, 1e-2 * r["scalars"]["t"].get<double>());
}

/// Small fluctuations on a mean, in 24 bits.
void write_mean(const fs::path& folder, const std::string& store) {
  std::ofstream(folder / "mean.vphi")
      << "model mean \"small fluctuations\"\nlattice box: 8^3, length = 8, boundary = periodic\n"
         "field u: real, store = "
      << store
      << "\npotential V = u^2/2\ninit u ~ 1 + normal(0, 1e-6)\nprecision real = f32\n"
         "evolve leapfrog, dt = 0.05, until = step >= 200\n"
         "every 100 steps: mean(u), var(u), spectrum(u) -> \"mean.h5\"\n";
}

TEST_F(Trust, PrecisionCheckIsTheDifferenceOfTwoRuns) {
  write_mean(folder_, "value");
  const auto run_with = [&](const std::vector<std::string>& more, int status) {
    std::vector<std::string> words = {"run",    "mean.vphi", "--device",
                                      "native", "--json",    "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    Child run(folder_, words);
    EXPECT_EQ(run.wait(), status) << run.error();
    return Json::parse(run.out());
  };
  const Json checked = run_with({"--precision-check", "--out", "r"}, 2);
  const Json f32 = run_with({"--out", "s"}, 0);
  const Json f64 = run_with({"--precision", "f64", "--out", "d"}, 0);
  double worst = 0;
  for (std::size_t i = 0; i < f64["series"]["var(u)"].size(); ++i) {
    const double exact = f64["series"]["var(u)"][i][1].get<double>();
    worst = std::max(worst, std::abs(f32["series"]["var(u)"][i][1].get<double>() / exact - 1));
  }
  const Json& check = checked["precision_check"];
  EXPECT_FALSE(check["ok"].get<bool>());
  EXPECT_EQ(check["shown"], "f32");
  ASSERT_EQ(check["rows"].size(), 3U);
  EXPECT_GT(worst, 1e-4);
  EXPECT_NEAR(check["rows"][1]["difference"].get<double>(), worst, 1e-9 * worst);
  EXPECT_EQ(check["rows"][2]["name"], "spectrum(u)");
  EXPECT_GT(check["rows"][2]["difference"].get<double>(), 0.01);
  EXPECT_GT(check["rows"][2]["k"].get<double>(), 0);
  run_with({"--precision-check=1e9", "--out", "w"}, 0);
  write_mean(folder_, "deviation");
  EXPECT_TRUE(run_with({"--precision-check=1e-3", "--out", "v"}, 0)["precision_check"]["ok"]);
}

TEST_F(Trust, TestMeasuresOrderAndForces) {
  write_oscillator("+");
  Child run(folder_, {"test", "one.vphi", "--device", "native", "--json"});
  ASSERT_EQ(run.wait(), 0) << run.error();
  const Json r = Json::parse(run.out());
  EXPECT_TRUE(r["ok"].get<bool>());
  EXPECT_NEAR(r["order"][0]["order"].get<double>(), 2, 0.1);  // leapfrog
  ASSERT_EQ(r["derivatives"].size(), 1U);
  EXPECT_LT(r["derivatives"][0]["deviation"].get<double>(), 1e-10);
}

}  // namespace
}  // namespace vphi::test
