// Signal velocities of conservation laws against closed forms, and steps that are too long for
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <sstream>

#include "derive_text.hpp"
#include "tests/support/places.hpp"

namespace vphi::physics::test {
namespace {

struct Fluid {
  std::string laws;
  std::string init;
  std::string dt = "0.01*dx";
  std::string scheme = "scheme shasta\nevolve scheme";
  std::string lattice = "line: 16, length = 1";
};

std::string text(const Fluid& f) {
  return "model fluid \"test\"\nlattice " + f.lattice + ", boundary = periodic\n" + f.laws +
         f.scheme + ", dt = " + f.dt + ", until = t > 1\ninit " + f.init +
         "\nprecision real = f64\n";
}

const std::string kEuler =
    "param gamma = 7/5\nprimitive rho, p: real, v: vec(1)\n"
    "conserve n = rho: div(n*v)\nconserve M = rho*v: div(M*v) + grad(p)\n"
    "conserve E = p/(gamma - 1) + rho*norm2(v)/2: div((E + p)*v)\n"
    "recover {\n  rho = n\n  v = M/n\n  p = (gamma - 1)*(E - norm2(M)/(2*n))\n}\n";
const std::string kShallowWater =
    "param g = 9.81\nprimitive depth: real, v: vec(1)\n"
    "conserve h = depth: div(h*v)\nconserve q = depth*v: div(q*v) + grad(g*depth^2/2)\n"
    "recover {\n  depth = h\n  v = q/h\n}\n";
const std::string kBurgers =
    "primitive w: real\nconserve u = w: d(u*w/2, x)\nrecover {\n  w = u\n}\n";
const std::string kRelativistic =
    "primitive eps, rho: real, v: vec(1)\np(eps, rho) = eps/3\nW = 1/sqrt(1 - norm2(v))\n"
    "conserve N = rho*W: div(N*v)\nconserve M = (eps + p)*W^2*v: div(M*v) + grad(p)\n"
    "conserve E = (eps + p)*W^2 - p: div((E + p)*v)\n"
    "recover {\n  u = norm(M)/(E + p)\n  eps = E - norm(M)*u\n  rho = N*sqrt(1 - u^2)\n"
    "  v = M/(E + p)\n  solve u by fixed_point, tol = 1e-12, max = 40, start = 0\n}\n";
const std::string kEuler2d =
    "param gamma = 7/5\nprimitive rho, p: real, v: vec(2)\n"
    "conserve n = rho: div(n*v)\nconserve M = rho*v: div(M*v) + grad(p)\n"
    "conserve E = p/(gamma - 1) + rho*norm2(v)/2: div((E + p)*v)\n"
    "recover {\n  rho = n\n  v = M/n\n  p = (gamma - 1)*(E - norm2(M)/(2*n))\n}\n";

/// The velocity of a site along an axis at a state of the primitive variables, by their names.
double speed(const System& system, std::size_t axis, const std::map<std::string, double>& state) {
  std::map<int, double> numbers;
  for (const physics::Derived& fact : system.conservation->recovered) {
    if (state.contains(fact.name)) numbers[fact.array] = state.at(fact.name);
  }
  const Expr found = system.conservation->speeds.at(axis);
  const algebra::Environment site{
      [&](const algebra::Node& leaf) { return numbers.at(leaf.index); }};
  return std::abs(algebra::evaluate(found, site));
}

TEST(Signals, OfAGasAtRestAndMoving) {
  const auto d = derived(text({kEuler, "rho = 1, p = 1, v = 0"}));
  const double c = std::sqrt(1.4);
  EXPECT_NEAR(speed(*d.system, 0, {{"rho", 1}, {"p", 1}, {"v", 0}}), c, 1e-12);
  EXPECT_NEAR(speed(*d.system, 0, {{"rho", 4}, {"p", 1e6}, {"v", 0}}), 500 * c, 1e-9);
  for (const double v : {-3.0, -0.4, 0.2, 1.0, 10.0, 1e4}) {
    const double exact = std::abs(v) + c;
    const double found = speed(*d.system, 0, {{"rho", 1}, {"p", 1}, {"v", v}});
    EXPECT_LE(found, exact * (1 + 1e-9)) << v;
    EXPECT_GE(found, exact * (1 - 0.027)) << v;
  }
}

TEST(Signals, OfShallowWater) {
  const auto d = derived(text({kShallowWater, "depth = 1, v = 0"}));
  for (const double v : {0.0, -0.5, 2.0, 40.0}) {
    const double exact = std::abs(v) + std::sqrt(9.81 * 2);
    const double found = speed(*d.system, 0, {{"depth", 2}, {"v", v}});
    EXPECT_LE(found, exact * (1 + 1e-9)) << v;
    EXPECT_GE(found, exact * (1 - (v == 0 ? 1e-9 : 0.017))) << v;
  }
}

TEST(Signals, OfBurgersEquationAreTwiceWhatCarriesIt) {
  const auto d = derived(text({kBurgers, "w = 1"}));
  for (const double w : {-3.0, 0.5}) {
    EXPECT_NEAR(speed(*d.system, 0, {{"w", w}}), std::abs(w), 1e-12);
  }
}

TEST(Signals, OfARelativisticFluidAddAsVelocitiesDo) {
  const auto d = derived(text({kRelativistic, "eps = 1, rho = 1, v = 0"}));
  const double cs = 1 / std::sqrt(3.0);
  for (const double v : {0.0, 0.3, -0.9, 0.999}) {
    const double exact = (std::abs(v) + cs) / (1 + std::abs(v) * cs);
    const double found = speed(*d.system, 0, {{"eps", 2}, {"rho", 0.1}, {"v", v}});
    EXPECT_LE(found, exact * (1 + 1e-6)) << v;
    EXPECT_GE(found, exact * (1 - 0.027)) << v;
  }
}

TEST(Signals, AlongEachAxisOfThePlane) {
  const auto d = derived(text(
      {kEuler2d, "rho = 1, p = 1, v = [0, 0]", "0.01*dx", Fluid{}.scheme, "s: 8^2, length = 1"}));
  const double c = std::sqrt(1.4);
  const std::map<std::string, double> state{{"rho", 1}, {"p", 1}, {"v_0", 5}, {"v_1", 0}};
  EXPECT_NEAR(speed(*d.system, 1, state), c, 1e-9);
  EXPECT_NEAR(speed(*d.system, 0, state), 5 + c, 0.042 * (5 + c));
}

TEST(Signals, OfAVacuumAreThoseOfTheVelocityAlone) {
  const auto d = derived(text({kEuler, "rho = 1, p = 1, v = 0"}));
  EXPECT_EQ(speed(*d.system, 0, {{"rho", 0}, {"p", 0}, {"v", -0.25}}), 0.25);
  EXPECT_EQ(speed(*d.system, 0, {{"rho", 0}, {"p", 0}, {"v", 0}}), 0);
  // cold, but not empty
  EXPECT_NEAR(speed(*d.system, 0, {{"rho", 1e-20}, {"p", 0}, {"v", 0.5}}), 0.5, 1e-9);
}

/// The message of a text that is refused; empty where it is not.
std::string refused(const Fluid& f) {
  const auto d = derive_text(text(f));
  return d.system ? "" : d.messages();
}

struct Limit {
  const char* name;
  Fluid fluid;
  std::string below, above;  ///< time steps
  std::string speed;         ///< as the message says it
};

void PrintTo(const Limit& row, std::ostream* out) { *out << row.name; }

class StepBeyondSignals : public ::testing::TestWithParam<Limit> {};

TEST_P(StepBeyondSignals, IsRefusedAtTheStart) {
  Limit row = GetParam();
  row.fluid.dt = row.below;
  EXPECT_EQ(refused(row.fluid), "");
  row.fluid.dt = row.above;
  const std::string message = refused(row.fluid);
  EXPECT_NE(message.find("E0312"), std::string::npos) << message;
  EXPECT_NE(message.find(row.speed), std::string::npos) << message;
}

const std::string kTold = "scheme kt, speed = 0.1\nevolve heun";
const std::string kLax =
    "scheme lax(U' = -d(F(U), k), courant = 1) {\n"
    "  Fk = (F(U) + F(U@k))/2 - dx/dt/2*(U@k - U)\n  U = U - dt/dx*(Fk - Fk@-k)\n}\n"
    "scheme lax\nevolve scheme";

INSTANTIATE_TEST_SUITE_P(
    Laws, StepBeyondSignals,
    ::testing::Values(
        Limit{"gas", {kEuler, "rho = 1, p = 1, v = 0"}, "0.42*dx", "0.43*dx", "as fast as 1.183"},
        Limit{"wind",
              {kEuler, "rho = 1, p = 1, v = [2 if x < 0 else 0]"},
              "0.157*dx",
              "0.158*dx",
              "as fast as 3.183"},
        Limit{"water",
              {kShallowWater, "depth = 1 + exp(-20*x^2), v = 0"},
              "0.11*dx",
              "0.12*dx",
              "as fast as 4.4"},
        Limit{"burgers", {kBurgers, "w = 2*sin(2*pi*x)"}, "0.24*dx", "0.26*dx", "as fast as 1.9"},
        Limit{"relativistic",
              {kRelativistic, "eps = 1, rho = 1, v = 0"},
              "0.5*dx",
              "0.51*dx",
              "as fast as 1"},
        Limit{"told_too_little",
              {kEuler, "rho = 1, p = 1, v = 0", "", kTold},
              "0.42*dx",
              "0.43*dx",
              "as fast as 1.183"},
        Limit{"told_nothing",
              {kEuler, "rho = 1, p = 1, v = 0", "", kLax},
              "0.84*dx",
              "0.85*dx",
              "as fast as 1.183"}),
    [](const auto& row) { return std::string(row.param.name); });

bool watched(const System& system) {
  return std::ranges::any_of(system.expectations, [](const Expectation& x) {
    return x.text.find("max(courant) < ") != std::string::npos;
  });
}

TEST(TooLongAStep, AlongBothAxesOfARateTheyAddUp) {
  Fluid gas{kEuler2d, "rho = 1, p = 1, v = [0, 0]", "0.2*dx", "scheme kt, speed = 2\nevolve heun",
            "s: 8^2, length = 1"};
  EXPECT_EQ(refused(gas), "");
  gas.dt = "0.22*dx";
  EXPECT_NE(refused(gas).find("as fast as 2.366"), std::string::npos) << refused(gas);
}

TEST(TooLongAStep, WhereTheStartIsNotKnownTheRunIsWatched) {
  const auto d = derived(text({kEuler, "rho = 1 + mean(x^2), p = 1, v = 0", "0.43*dx"}));
  EXPECT_TRUE(watched(*d.system));
}

/// A shipped model; none of its steps is too long.
Derived shipped(const std::string& name) {
  const std::filesystem::path path =
      std::filesystem::path(VPHI_SOURCE_DIR) / "models" / "hydro" / (name + ".vphi");
  std::ifstream file(path);
  std::ostringstream all;
  all << file.rdbuf();
  Derived out = derive_text(all.str(), {}, path.string());
  EXPECT_TRUE(out.system) << name << "\n" << out.messages();
  return out;
}

TEST(ShippedFluids, OnlyThoseWithoutALargestSpeedAreWatched) {
  for (const char* name : {"bag_model", "ball", "bjorken", "fireball", "gubser", "shock", "slab",
                           "smooth_wave", "sod", "synge"}) {
    const Derived d = shipped(name);
    EXPECT_FALSE(d.system && watched(*d.system)) << name;
  }
  for (const char* name : {"burgers", "euler", "shallow_water"}) {
    const Derived d = shipped(name);
    EXPECT_TRUE(d.system && watched(*d.system)) << name;
  }
}

}  // namespace
}  // namespace vphi::physics::test
