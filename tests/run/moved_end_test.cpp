// A run that had reached its end goes on to a later one: every row is that of a run with that end.
#include <fmt/format.h>

#include "tests/run/command.hpp"

namespace vphi {
namespace {

class MovedEnd : public test::CommandTest {
 protected:
  /// Of the model in `name`.vphi, with its end and then with a later one.
  void expect_same_rows(const std::string& name, const std::string& later,
                        const std::string& words) {
    const std::string run = fmt::format("run {}.vphi --device native --quiet {} ", name, words);
    ASSERT_EQ(vphi(run + "--out whole --until '" + later + "'").status, 0);
    ASSERT_EQ(vphi(run + "--out parts --checkpoint-every '5 steps'").status, 0);
    const std::string series = "/" + name + ".series.csv";
    const std::string first = text("parts" + series);
    const auto then = vphi(run + "--resume=parts --out parts --until '" + later + "'");
    ASSERT_EQ(then.status, 0) << then.error;
    EXPECT_GT(text("parts" + series).size(), first.size()) << "no step was made";
    EXPECT_EQ(text("parts" + series), text("whole" + series));
    std::filesystem::remove_all(folder_ / "whole");
    std::filesystem::remove_all(folder_ / "parts");
  }
};

TEST_F(MovedEnd, OfAFieldByEveryKindOfStep) {
  for (const char* step : {"leapfrog", "velocity_verlet", "yoshida4", "rk4"}) {
    SCOPED_TRACE(step);
    write("box.vphi", fmt::format("model box \"A field in a box\"\n"
                                  "lattice box: 8^3, spacing = 0.5\nfield phi: real\n"
                                  "potential V = phi^4/4\n"
                                  "init phi ~ 1 + 0.1*normal, phi' = 0\n"
                                  "evolve {}, dt = 0.05, until = t > 1\n"
                                  "every 1 step: mean(phi), var(phi) -> \"box.csv\"\n",
                                  step));
    expect_same_rows("box", "t > 2", "");
    if (step == std::string("leapfrog")) expect_same_rows("box", "t > 2", "--ranks 2");
  }
}

/// Rows have one time for all instances: those that ended first would be late in later rows.
TEST_F(MovedEnd, OfInstancesThatEndedAtTheirOwnTimesIsRefused) {
  write("decay.vphi",
        "model decay \"Decays\"\nsweep g = [1, 0.5, 0.25]\nvar x: real\nx' = -g*x\ninit x = 1\n"
        "evolve rk4, dt = 0.05, until = x < 0.6\nevery 1 step: x -> \"decay.csv\"\n");
  const std::string run = "run decay.vphi --device native --quiet --out out ";
  ASSERT_EQ(vphi(run + "--checkpoint-every '5 steps'").status, 0);
  const std::string rows = text("out/decay.series.csv");
  const auto then = vphi(run + "--resume=out --until 'x < 0.3'");
  EXPECT_EQ(then.status, 1);
  EXPECT_NE(then.error.find("error[E0851]: the end has changed, and instances had ended at "
                            "different steps, 11 to 41"),
            std::string::npos)
      << then.error;
  EXPECT_EQ(text("out/decay.series.csv"), rows);
}

TEST_F(MovedEnd, OfInstancesThatEndTogether) {
  write("decay.vphi",
        "model decay \"Decays\"\nsweep g = [1, 0.5, 0.25]\nvar x: real\nx' = -g*x\ninit x = 1\n"
        "evolve rk4, dt = 0.05, until = t > 1\nevery 1 step: x -> \"decay.csv\"\n");
  expect_same_rows("decay", "t > 2", "");
}

TEST_F(MovedEnd, OfAnExpandingBox) {
  write("grows.vphi",
        "model grows \"A field in an expanding box\"\nparam m = 1, phi0 = 0.5\n"
        "lattice box: 8^3, spacing = 0.5\nmetric frw(a)\nfield phi: real\n"
        "potential V = m^2*phi^2/2\ninit phi ~ phi0 + 0.01*normal, phi' = 0\n"
        "evolve leapfrog, dt = 0.02, until = t > 0.4\n"
        "every 1 step: a, mean(phi) -> \"grows.csv\"\n");
  expect_same_rows("grows", "t > 0.8", "");
}

}  // namespace
}  // namespace vphi
