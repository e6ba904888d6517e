// Displacements of folded variables: exact over many turns in single precision, and diffusion
// coefficients with their errors against closed forms and an independent program's number.
// Seeds are fixed; statistical bounds are in standard errors.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;
using testing::Simulation;

/// Steps of 2^-5 + 2^-12, which single precision holds: 2^22 of them are 132096. A real variable
/// loses the 2^-12 on its way; the folded one loses nothing.
double way(const std::string& type, const std::string& device, const std::string& scheme) {
  Simulation setup;
  setup.device = device;
  setup.precision = "f32";
  setup.steps = 1 << 22;
  const auto r =
      run_text("model way\nsweep copy = 1..4\nvar x: " + type +
                   "\nx' = 2^-5 + 2^-12\ninit x = 0.25\nevolve " + scheme +
                   ", dt = 1, until = t > 1e7\n"
                   "every 1048576 steps: way = mean(displacement(x), over = copy) -> \"w.h5\"\n",
               setup);
  return last(r, "way");
}

TEST(Displacement, ExactOverManyTurns) {
  EXPECT_EQ(way("angle(1)", "native", "symplectic_euler"), 132096);
  EXPECT_EQ(way("angle(1)", "native", "heun"), 132096);
  EXPECT_GT(std::abs(way("real", "native", "heun") - 132096), 100);
  if (testing::device("opencl") != nullptr) {
    EXPECT_EQ(way("angle(1)", "opencl", "heun"), 132096);
  }
}

/// It counts from the start, wherever that was, and in each component.
TEST(Displacement, CountsFromTheStart) {
  const auto r = run_text(
      "model turn\nparticles body: 3\nvar theta[k]: angle, p[k]: real\n"
      "H = sum(p[k]^2/2, k)\ninit theta[k] = 100*k + 1, p[k] = k - 1\n"
      "evolve yoshida4, dt = 0.1, until = t > 99.95\n"
      "every 100 steps: w = mean(displacement(theta)), msd(theta), "
      "max(displacement(theta)) -> \"t.h5\"\n",
      {});
  EXPECT_NEAR(last(r, "w"), 0, 1e-12);
  EXPECT_NEAR(last(r, "msd(theta)"), 2 * 1e4 / 3, 1e-8);
  EXPECT_NEAR(last(r, "max(displacement(theta))"), 100, 1e-10);
  const auto v = run_text(
      "model fly\nparticles body: 50\nvar x[k]: vec(3), p[k]: vec(3)\n"
      "H = sum(norm2(p[k])/2, k)\ninit x ~ ball(1), p = [1, 2, 2]\n"
      "evolve leapfrog, dt = 0.1, until = t > 1.95\nevery 100 steps: msd(x) -> \"f.h5\"\n",
      {});
  EXPECT_NEAR(last(v, "msd(x)"), 36, 1e-10);
}

/// Overdamped in V = cos(x): D = T/(I0(1/T))^2. (Lifson and Jackson, J. Chem. Phys. 36 (1962)
/// 2410.)
TEST(Diffusion, LifsonAndJackson) {
  const double bessel = 1.2660658777520084, expected = 1 / (bessel * bessel);
  for (const char* precision : {"f64", "f32"}) {
    Simulation setup;
    setup.precision = precision;
    const auto r = run_text(
        "model hops\nparam T = 1\nsweep path = 1..8192\nvar x: angle\n"
        "x' = sin(x) + sqrt(2*T)*noise\ninit x ~ uniform(0, 2*pi)\n"
        "evolve srk2, dt = 0.02, until = t > 100\nD = var(displacement(x), over = path)/(2*t)\n"
        "every 2500 steps: D, msd(x, over = path)/(2*t), error(D) -> \"h.h5\"\n",
        setup);
    const auto* D = r.find("D");
    ASSERT_TRUE(D != nullptr && !D->errors.empty() && D->axes.empty());
    const double error = D->errors.back().at(0);
    EXPECT_NEAR(error / expected, std::sqrt(2.0 / 8192), 0.1 * std::sqrt(2.0 / 8192));
    EXPECT_EQ(last(r, "error(D)"), error);
    EXPECT_NEAR(D->values.back().at(0), expected, 4 * error) << precision;
    EXPECT_NEAR(last(r, "msd(x, over = path)/(2*t)"), expected, 4 * error) << precision;
  }
}

/// The Josephson junction at its published parameters: an independent program found 0.163 to 0.167.
TEST(Diffusion, JosephsonJunction) {
  const auto r = run_text(
      "model junction\nparam gamma = 0.9, omega = 4.9, f = 0.1, T = 1e-3, a = 4.2\n"
      "sweep path = 1..1024\nvar x: angle(1)\nV = sin(2*pi*x)\n"
      "x'' = -gamma*x' - d(V, x) + a*cos(omega*t) + f + sqrt(2*gamma*T)*noise\n"
      "period = 2*pi/omega\ninit x ~ uniform(0, 1), x' ~ uniform(-2, 2)\n"
      "evolve baoab, dt = 0.01*period, until = t > 400*period\n"
      "every 40000 steps: D = var(displacement(x), over = path)/(2*t), "
      "v = mean(displacement(x), over = path)/t -> \"j.h5\"\n",
      {});
  const auto *D = r.find("D"), *v = r.find("v");
  ASSERT_TRUE(D != nullptr && v != nullptr && !D->errors.empty());
  EXPECT_NEAR(last(r, "D"), 0.165, 0.002 + 4 * D->errors.back().at(0));
  // <v> = (x(t) - x(0))/t: sigma^2 = 2 D/(t n), and the transient of 1/t beside it
  EXPECT_NEAR(v->errors.back().at(0) / std::sqrt(2 * 0.165 / (r.time * 1024)), 1, 0.15);
  EXPECT_NEAR(last(r, "v"), -0.01471, 4 * v->errors.back().at(0) + 0.5 / r.time);
}

// ---- runs that end at a target ------------------------------------------------------------------

const std::string kOrnstein =
    "model ou\nsweep path = 1..2000\nvar x: real\nx' = -x + noise\ninit x ~ sqrt(1/2)*normal\n";

/// The mean of x over a time T has the variance 2 D/(theta^2 T) = 1/T for each of 2000 paths, so an
/// error of 0.002 takes T = 125.
TEST(Target, EndsWhenTheErrorIsSmallEnough) {
  const auto r = run_text(kOrnstein +
                              "evolve baoab_free, dt = 0.02, until = t > 1000 or error(m) < 0.002\n"
                              "m = mean(x, over = [path, time])\n"
                              "integrator baoab_free(x' = f(x) + g*noise) {\n"
                              "  x = x + dt*f(x) + g*sqrt(dt)*normal\n}\n"
                              "every 250 steps: mean(x^2, over = path) -> \"o.h5\"\n"
                              "every 500 steps: histogram(x, bins = 4, over = path) -> \"o.h5\"\n"
                              "at end: m -> \"o.h5\"\n",
                          {});
  EXPECT_NEAR(r.time, 125, 15);
  EXPECT_EQ(r.steps % 250, 0);
  ASSERT_FALSE(r.find("m")->errors.empty());
  EXPECT_LT(r.find("m")->errors.back().at(0), 0.002);
  EXPECT_GT(r.find("m")->errors.back().at(0), 0.0017);
  EXPECT_NEAR(last(r, "m"), 0, 4 * 0.002);
  EXPECT_EQ(r.find("mean(x^2, over = path)")->steps.back(), r.steps);
  EXPECT_TRUE(r.expectations.empty()) << "a target is not a promise";
  bool told = false;
  for (const std::string& note : r.notes)
    told = told || note.find("with 2000 of 2000 instances") != std::string::npos;
  EXPECT_TRUE(told);
}

TEST(Target, ThatIsNotReachedIsTold) {
  const auto r = run_text(kOrnstein +
                              "evolve srk2, dt = 0.02, until = t > 2 or error(mean(x, over = "
                              "[path, time])) < 1e-5\n"
                              "every 50 steps: mean(x^2, over = path) -> \"o.h5\"\n",
                          {});
  EXPECT_NEAR(r.time, 2, 0.03);
  bool told = false;
  for (const std::string& note : r.notes)
    told = told || note.find("did not hold before the end") != std::string::npos;
  EXPECT_TRUE(told);
}

/// In parts of 100 paths: sqrt(1/(2 n)) < 0.045 from 247 paths on.
TEST(Target, PartsAreAddedUntilItHolds) {
  Simulation setup;
  setup.batch = 100;
  const auto r = run_text(kOrnstein +
                              "evolve srk2, dt = 0.02, until = t > 5 or error(mean(x, over = "
                              "path)) < 0.045\n"
                              "every 50 steps: mean(x, over = path) -> \"o.h5\"\n",
                          setup);
  const auto* m = r.find("mean(x, over = path)");
  ASSERT_TRUE(m != nullptr && !m->errors.empty());
  EXPECT_LT(m->errors.back().at(0), 0.045);
  EXPECT_GT(m->errors.back().at(0), 0.036);
  bool told = false;
  for (const std::string& note : r.notes)
    told = told || note.find("with 300 of 2000 instances") != std::string::npos;
  EXPECT_TRUE(told);
}

/// A spring that counts turns pulls an angle as it would pull a position, path by path.
TEST(Displacement, InAnEquation) {
  const auto end = [](const std::string& type, const std::string& force, const std::string& scheme,
                      const std::string& device) {
    Simulation setup;
    setup.device = device;
    return last(run_text("model spring\nsweep copy = 1..5\nvar x: " + type + "\nx' = 3 - " + force +
                             "/2 + noise\ninit x = 0.25\nevolve " + scheme +
                             ", dt = 0.02, until = t > 4\n"
                             "at end: way = mean(displacement(x), over = copy) -> \"s.h5\"\n",
                         setup),
                "way");
  };
  for (const char* scheme : {"srk2", "euler_maruyama", "sra1"}) {
    const double way = end("real", "(x - 0.25)", scheme, "native");
    EXPECT_NEAR(end("angle(1)", "displacement(x)", scheme, "native"), way, 1e-12) << scheme;
    EXPECT_GT(way, 2) << "some turns";
    if (testing::device("opencl") != nullptr) {
      EXPECT_NEAR(end("angle(1)", "displacement(x)", scheme, "opencl"), way, 1e-12) << scheme;
    }
  }
}

/// The same from a Hamiltonian: theta = 1 + 50 sin(t), its energy kept.
TEST(Displacement, InAHamiltonian) {
  const auto r = run_text(
      "model reel\nparticles body: 3\nvar theta[k]: angle, p[k]: real\n"
      "H = sum(p[k]^2/2 + displacement(theta[k])^2/2, k)\n"
      "init theta = 1, p = 50\nevolve yoshida4, dt = 0.01, until = t > 3.995\n"
      "at end: w = mean(displacement(theta)), H, t -> \"r.h5\"\n",
      {});
  EXPECT_NEAR(last(r, "w"), 50 * std::sin(last(r, "t")), 1e-5);
  EXPECT_NEAR(last(r, "H"), 3 * 1250, 1e-3);
}

}  // namespace
}  // namespace vphi
