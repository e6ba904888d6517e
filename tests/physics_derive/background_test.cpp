// The expanding background: homogeneous trajectories against the digits of docs/formulas.md 1.10,
// the same physics in every choice of program time, and the Friedmann constraint along the way.
#include <gtest/gtest.h>

#include "derive_text.hpp"

namespace vphi::physics::test {
namespace {

/// Homogeneous fields and scalars as one vector of numbers, stepped by the classical Runge-Kutta
/// method in program time.
class Trajectory {
 public:
  explicit Trajectory(const System& system) : system_(system) {
    for (const Variable& v : system.variables) {
      names_.push_back("#" + std::to_string(v.array));
      rates_.push_back(homogeneous(v.rate));
    }
    for (const ScalarVariable& v : system.scalars) {
      names_.push_back(v.symbol);
      rates_.push_back(homogeneous(v.rate));
    }
    state_.assign(names_.size(), 0);
    for (const InitialValue& initial : system.initial) {
      set("#" + std::to_string(initial.array), evaluate(homogeneous(initial.value), state_));
    }
    for (const ScalarVariable& v : system.scalars) {
      set(v.symbol, evaluate(homogeneous(v.initial), state_));
    }
  }

  void step(double h) {
    const auto k1 = slopes(state_), k2 = slopes(moved(k1, h / 2)), k3 = slopes(moved(k2, h / 2));
    const auto k4 = slopes(moved(k3, h));
    for (std::size_t i = 0; i < state_.size(); ++i) {
      state_[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
  }

  double value(Expr e) const { return evaluate(homogeneous(e), state_); }
  double operator[](const std::string& name) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return state_[i];
    }
    throw std::runtime_error("no " + name);
  }

 private:
  void set(const std::string& name, double value) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) state_[i] = value;
    }
  }
  std::vector<double> moved(const std::vector<double>& k, double h) const {
    std::vector<double> result = state_;
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += h * k[i];
    return result;
  }
  std::vector<double> slopes(const std::vector<double>& at) const {
    std::vector<double> result;
    for (const Expr rate : rates_) result.push_back(evaluate(rate, at));
    return result;
  }
  double evaluate(Expr e, const std::vector<double>& at) const {
    algebra::Environment environment;
    environment.leaf = [&](const algebra::Node& node) {
      const std::string name = node.op == Op::Load ? "#" + std::to_string(node.index) : node.name;
      for (std::size_t i = 0; i < names_.size(); ++i) {
        if (names_[i] == name) return at[i];
      }
      throw std::runtime_error("no " + name);
    };
    return algebra::evaluate(e, environment);
  }

  const System& system_;
  std::vector<std::string> names_;
  std::vector<Expr> rates_;
  std::vector<double> state_;
};

std::string chaotic(const std::string& rescale) {
  return "model test \"t\"\nunits reduced_planck\nparam m = 5e-6, g = 100*m\n"
         "param phi0 = 1.0093430384226378929425913902459\n"
         "param dphi0 = -0.7137133070120812430962278466136*m\n"
         "lattice box: 8^3, length = 10/m, boundary = periodic\nmetric frw(a)\n"
         "field phi, chi: real\npotential V = m^2*phi^2/2 + g^2*phi^2*chi^2/2\n" +
         rescale +
         "init phi = phi0, phi' = dphi0, chi = 0\n"
         "evolve leapfrog, dt = 2^-10/m, until = t > 256/m\n"
         "every 1 step: t, a, H, w, mean(rho), mean(phi), mean(phi') -> \"x.h5\"\n"
         "expect abs(mean(rho)/(3*H^2) - 1) < 1e-3\n";
}

TEST(Background, QuadraticPotentialToThePrintedDigits) {
  const auto d = derived(chaotic("rescale A = 1/phi0, B = m, s = 0\n"));
  const System& s = *d.system;
  Trajectory run(s);
  struct Row {
    int t;
    double a, H;
  };
  const Row rows[] = {{1, 1.473440630787, 2.827999270852e-1},
                      {4, 2.396249522117, 1.254470251873e-1},
                      {16, 5.060606500460, 3.781603353340e-2}};
  int t = 0;
  for (const Row& row : rows) {
    for (; t < row.t; ++t) {
      for (int i = 0; i < 1000; ++i) run.step(1e-3);
    }
    EXPECT_NEAR(run["a"], row.a, 3e-12 * row.a) << "t = " << t;
    EXPECT_NEAR(run.value(observable(s, "H")) / 5e-6, row.H, 3e-12) << "t = " << t;
    EXPECT_NEAR(run["t"] * 5e-6, row.t, 1e-9);
    // b follows its own equation: the constraint is a result
    EXPECT_NEAR(run.value(s.progress.at(0).value), 0, 1e-10);
    EXPECT_NEAR(run.value(s.expectations.at(0).value), 0, 1e-10);
  }
}

TEST(Background, QuarticPotentialInConformalTime) {
  const auto d = derived(
      "model test \"t\"\nunits reduced_planck\nparam lambda = 9e-14, f = 5.6964e18/2.435e18\n"
      "lattice box: 8^3, length = 10/(sqrt(lambda)*f), boundary = periodic\nmetric frw(a)\n"
      "field phi: real\npotential V = lambda*phi^4/4\nrescale auto(lambda*phi^4/4)\n"
      "init phi = f, phi' = -0.5000004167*sqrt(lambda)*f^2\n"
      "evolve leapfrog, dt = 0.01/(sqrt(lambda)*f), until = a > 100\n");
  Trajectory run(*d.system);
  for (int i = 0; i < 1000; ++i) run.step(1e-3);
  EXPECT_NEAR(run["a"], 2.0959862572, 2e-10);
  for (int i = 0; i < 9000; ++i) run.step(1e-3);
  EXPECT_NEAR(run["a"], 10.0771569055, 1e-8);
  // radiation: a grows by 0.874 in conformal time, on average
  for (int i = 0; i < 20000; ++i) run.step(2e-3);
  EXPECT_NEAR(run["a"], 45.0294787699, 1e-7);
}

TEST(Background, ProgramTimeDoesNotMatter) {
  // the same physical history with three choices of A, B and s
  std::map<std::string, double> first;
  for (const char* rescale :
       {"", "rescale A = 3, B = 2*m, s = -1\n", "rescale A = 1/phi0, B = m, s = -1/2\n"}) {
    const auto d = derived(chaotic(rescale));
    const System& s = *d.system;
    Trajectory run(s);
    const double m = 5e-6, end = 2 / m;
    // steps of program time until t is reached; the last one by a secant on t
    const double h = 1e-3 / m * d.system->B;
    while (run["t"] + 2e-3 / m < end) run.step(h);
    for (int i = 0; i < 6; ++i) {
      const double rate = run.value(scalar(s, "t").rate);
      run.step((end - run["t"]) / rate);
    }
    ASSERT_NEAR(run["t"] / end, 1, 1e-12);
    for (const char* name : {"a", "H", "w", "mean(rho)", "mean(phi)", "mean(phi')"}) {
      const double value = run.value(observable(s, name));
      if (rescale[0] == 0) first[name] = value;
      EXPECT_NEAR(value / first[name], 1, 1e-9) << name << " with " << rescale;
    }
  }
}

// psi'' = ... + (r(s-r+2) h^2 + r a''/a) psi (docs/formulas.md 1.2; printed with r(s-r-2) in the
// paper).
TEST(Background, TermOfTheRescaledForm) {
  const struct { double r, s; } rows[] = {{1.5, 0}, {1, -1}, {0.5, 0.25}, {2, 1}};
  for (const auto& row : rows) {
    const std::string power = "r = " + std::to_string(row.r) + ", s = " + std::to_string(row.s);
    const auto d = derived(
        "model test \"t\"\nunits reduced_planck\nlattice box: 8^3, length = 10\nmetric frw(a)\n"
        "field phi: real\npotential V = phi^2/2\nrescale A = 3, B = 2, " +
        power + "\ninit phi = 1, phi' = 0.2\nevolve rk4, dt = 0.01, until = t > 1\n");
    const System& system = *d.system;
    const double a = 1.7, slope = 0.6, psi = 1.3, velocity = -0.4;
    const auto value = [&](Expr e) {
      algebra::Environment environment;
      environment.leaf = [&](const algebra::Node& node) {
        if (node.op == Op::Load)
          return node.index == variable(system, "phi").array ? psi : velocity;
        return node.name == "a" ? a : slope;
      };
      return algebra::evaluate(homogeneous(e), environment);
    };
    const double second = value(scalar(system, "a_slope").rate);
    // a'' = -(s+2) a'^2/a + a^(1-2s)/(2 B^2) (rho - p), rho - p = 2 V = (psi/(A a^r))^2
    const double field2 = std::pow(psi / 3 * std::pow(a, -row.r), 2);
    EXPECT_NEAR(second, -(row.s + 2) * slope * slope / a + std::pow(a, 1 - 2 * row.s) / 8 * field2,
                1e-14);
    const double h = slope / a;
    const double mass = std::pow(a, -2 * row.s) / 4;  // of V'' = 1 in program units
    const double expected = -(row.s + 3 - 2 * row.r) * h * velocity +
                            (row.r * (row.s - row.r + 2) * h * h + row.r * second / a) * psi -
                            mass * psi;
    EXPECT_NEAR(value(variable(system, "rate_phi").rate), expected, 1e-14) << power;
  }
}

TEST(Background, FluidsExpandAsTheyShould) {
  const auto d = derived(
      "model test \"t\"\nunits reduced_planck\n"
      "lattice box: 8^3, length = 10, boundary = periodic\n"
      "metric frw(a), rho_r = 3\nfield phi: real\npotential V = 1e-30*phi^2\n"
      "init phi = 1\nevolve leapfrog, dt = 0.01, until = t > 1\n"
      "every 1 step: a, H, w -> \"x.h5\"\n");
  Trajectory run(*d.system);
  for (int i = 0; i < 2000; ++i) run.step(1e-3);
  // H0 = 1 and radiation alone: a = (1 + 2 t)^(1/2), w = 1/3
  EXPECT_NEAR(run["a"], std::sqrt(5.0), 1e-11);
  EXPECT_NEAR(run.value(observable(*d.system, "H")), 1.0 / 5, 1e-11);
  EXPECT_NEAR(run.value(observable(*d.system, "w")), 1.0 / 3, 1e-12);
}

TEST(Background, PrescribedPower) {
  const auto d = derived(
      "model test \"t\"\nlattice sheet: 16^2, spacing = 0.5, boundary = periodic\n"
      "metric frw(a = t^(2/3))\nfield phi: real\npotential V = phi^2/2\nrescale s = -1\n"
      "init t = 1, phi = 1\nevolve leapfrog, dt = 0.01, until = a > 4\n"
      "every 1 step: a, H, mean(phi) -> \"x.h5\"\n");
  const System& s = *d.system;
  // t is a function of program time, so that no rate depends on its own variable
  for (const Variable& v : s.variables) {
    EXPECT_FALSE(algebra::depends_on(v.rate, s.arena->symbol("t"))) << v.name;
  }
  EXPECT_FALSE(algebra::depends_on(scalar(s, "t").rate, s.arena->symbol("t")));
  Trajectory run(s);
  while (run["t"] < 4) run.step(1e-3);
  const double t = run["t"];
  EXPECT_NEAR(run.value(observable(s, "a")), std::pow(t, 2.0 / 3), 1e-9);
  EXPECT_NEAR(run.value(observable(s, "H")), 2 / (3 * t), 1e-12);
  // matter era, m = 1: phi = (c1 sin t + c2 cos t)/t with phi(1) = 1, phi'(1) = 0
  const double c1 = std::sin(1) + std::cos(1), c2 = std::cos(1) - std::sin(1);
  EXPECT_NEAR(run.value(observable(s, "mean(phi)")), (c1 * std::sin(t) + c2 * std::cos(t)) / t,
              1e-9);
}

}  // namespace
}  // namespace vphi::physics::test
