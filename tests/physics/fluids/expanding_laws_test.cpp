// Expanding boxes with several fluids, with laws of a curl, with noise in laws, and with a field
// that couples to the curvature beside laws.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::refusal_of_text;
using testing::run_text;

/// Runge and Kutta's method of order 4 in the numbers of ordinary equations.
template <std::size_t N>
std::array<long double, N> integrated(
    std::array<long double, N> y, long double t, int steps,
    const std::function<std::array<long double, N>(const std::array<long double, N>&)>& rate) {
  const long double h = t / steps;
  const auto along = [&](const std::array<long double, N>& k, long double by) {
    auto z = y;
    for (std::size_t i = 0; i < N; ++i) z[i] += by * k[i];
    return z;
  };
  for (int s = 0; s < steps; ++s) {
    const auto a = rate(y), b = rate(along(a, h / 2)), c = rate(along(b, h / 2)),
               d = rate(along(c, h));
    for (std::size_t i = 0; i < N; ++i) y[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
  }
  return y;
}

// ---- several fluids -----------------------------------------------------------------------------

/// Cold matter that moves and decays into radiation at the rate 0.4 of its own time.
std::string two_fluids(const std::string& metric, int steps) {
  return fmt::format(R"(model pair "cold matter that decays into radiation, each with laws"
units reduced_planck
lattice line: 8, length = 8, boundary = periodic
metric frw(a), {}
primitive eps, n: real, v, u: vec(1)
W2 = 1/(1 - norm2(v))
G = 1/sqrt(1 - norm2(u))
lost = 0.4*n
conserve E = 4/3*eps*W2 - eps/3: div(M) - lost*G
conserve M = 4/3*eps*W2*v:       div(M*v) + grad(eps/3) - lost*G*u
conserve K = n*G^2:              div(P) + lost*G
conserve P = n*G^2*u:            div(P*u) + grad(0*n) + lost*G*u
recover {{
  eps = sqrt(4*E^2 - 3*norm2(M)) - E
  v   = M/(E + eps/3)
  n   = K*(1 - norm2(P)/K^2)
  u   = P/K
}}
scheme kt, speed = 1
precision real = f64
evolve rk4, dt = 4/{}, until = step == {}
init eps = 0.2, v = 0, n = 2, u = [0.5]
every 1 step: off = mean(rho)/(3*H^2) - 1 -> "d.h5"
at end: energy = mean(E), momentum = mean(M), mass = mean(K), of_mass = mean(P), scale = a -> "d.h5"
)",
                     metric, steps, steps);
}

/// E, M, K, P and a of the same.
std::array<long double, 5> decayed_matter() {
  const auto rate = [](const std::array<long double, 5>& y) {
    const auto [e, m, k, p, a] = y;
    const long double u = p / k, n = k * (1 - u * u), g = 1 / std::sqrt(1 - u * u);
    const long double eps = std::sqrt(4 * e * e - 3 * m * m) - e, v = m / (e + eps / 3);
    const long double h = std::sqrt((e + k) / 3), lost = 0.4L * n * g;
    return std::array<long double, 5>{-3 * h * e - h * (m * v + eps) + lost, -4 * h * m + lost * u,
                                      -3 * h * k - h * p * u - lost, -4 * h * p - lost * u, h * a};
  };
  const long double g2 = 1 / 0.75L;
  return integrated<5>({0.2L, 0, 2 * g2, g2, 1}, 4, 20000, rate);
}

double error_of_pair(int steps) {
  const auto result = run_text(two_fluids("energy = [E, K], momentum = [M, P]", steps), {});
  const auto right = decayed_matter();
  constexpr std::array kNames{"energy", "momentum", "mass", "of_mass", "scale"};
  double error = std::fabs(last(result, "off"));
  for (std::size_t i = 0; i < kNames.size(); ++i)
    error = std::max(error, std::fabs(last(result, kNames[i]) - static_cast<double>(right[i])));
  return error;
}

TEST(ExpandingFluids, MatterAndRadiationThatDoNotMoveTogetherExpandTheBox) {
  const double fine = error_of_pair(800);
  EXPECT_LT(fine, 2e-9);
  EXPECT_NEAR(std::log2(error_of_pair(400) / fine), 4, 0.2);
}

TEST(ExpandingFluids, EachEnergyHasAMomentum) {
  const auto said = [](const char* metric) { return refusal_of_text(two_fluids(metric, 800)); };
  EXPECT_NE(said("energy = E").find("`energy = E` beside 2 momenta"), std::string::npos);
  EXPECT_NE(said("energy = [E, K], momentum = M").find("2 energies beside 1 momentum"),
            std::string::npos);
  EXPECT_NE(said("energy = [E, K], momentum = [M, M]").find("`M` belongs to two fluids"),
            std::string::npos);
  EXPECT_NE(said("energy = [E, K], momentum = [M, E]").find("is not the law of a momentum"),
            std::string::npos);
  EXPECT_EQ(said("energy = E, momentum = M"), "");  // the other one is diluted alone
}

// ---- laws of a curl -----------------------------------------------------------------------------

// Light: a^2 e and a^2 b are waves of flat space in conformal time, with the wave number of the
// central differences of means over four faces.
TEST(ExpandingFluids, LightIsThatOfFlatSpaceInConformalTime) {
  const auto result = run_text(R"(model light "light in an expanding box"
lattice box: 32*4*4, spacing = 2*pi/32, boundary = periodic
metric frw(a = sqrt(1 + t))
primitive e, b: vec(3)
conserve B = b: curl(e)
conserve D = e: curl(-b)
recover {
  b = B
  e = D
}
scheme central
precision real = f64
evolve rk4, dt = 0.01, until = step == 400
k = sin(dx)/dx*(3 + cos(dx))/4
wave = cos(x - k*2*(sqrt(1 + t) - 1))
init e = [0, cos(x), 0], b = [0, 0, cos(x)]
at end: off = max(abs(a^2*e[1] - wave) + abs(a^2*b[2] - wave)), max(abs(div(b))), scale = a -> "x.h5"
)",
                               {});
  EXPECT_NEAR(last(result, "scale"), std::sqrt(5.0), 1e-12);
  EXPECT_LT(last(result, "off"), 1e-8);
  EXPECT_LT(last(result, "max(abs(div(b)))"), 1e-13);
}

// A field that a medium at rest carries: b ~ a^-2 in two dimensions too, whatever its direction.
TEST(ExpandingFluids, AFieldInAMediumAtRestThinsAsTheSurfaceGrows) {
  const auto result = run_text(R"(model frozen "a field in a medium at rest"
lattice box: 8^2, spacing = 0.5, boundary = periodic
metric frw(a = exp(t))
primitive b: vec(2)
conserve B = b: curl(0*b[0])
recover {
  b = B
}
scheme central
precision real = f64
evolve rk4, dt = 0.005, until = step == 200
init b = [cos(pi*y/2), 3]
at end: off = max(norm(a^2*b - [cos(pi*y/2), 3])), scale = a -> "x.h5"
)",
                               {});
  EXPECT_NEAR(last(result, "scale"), std::exp(1.0), 1e-12);
  EXPECT_LT(last(result, "off"), 1e-9);
}

// ---- noise --------------------------------------------------------------------------------------

double noisy_variance(const std::string& law) {
  return last(run_text("model spread \"a density with noise in an expanding box\"\n"
                       "lattice line: 8192, spacing = 0.5, boundary = periodic\n"
                       "metric frw(a = 1 + t)\nprimitive n: real\nconserve N = n: " +
                           law + R"(
recover {
  n = N
}
scheme central
precision real = f64
evolve srk2, dt = 0.01, until = step == 200
init n = 0
at end: square = mean(n^2) -> "x.h5"
)",
                       {}),
              "square");
}

/// The mean over waves of the variance of n at t = 2: of c = a^3 n, S' = -2 D k^2/a^2 S + 2 D chi
/// a k^2/dx with k of the lattice.
double variance_by_waves(double diffusion, double chi) {
  constexpr int kWaves = 256;
  const double dx = 0.5;
  double sum = 0;
  for (int j = 0; j < kWaves; ++j) {
    const double half = M_PI * (j + 0.5) / (2 * kWaves);
    const double k2 = std::pow(2 * std::sin(half) / dx, 2);
    const auto rate = [&](const std::array<long double, 2>& y) {
      const long double a = y[1];
      return std::array<long double, 2>{
          -2 * diffusion * k2 / (a * a) * y[0] + 2 * diffusion * chi * a * k2 / dx, 1};
    };
    sum += static_cast<double>(integrated<2>({0, 1}, 2, 400, rate)[0]) / kWaves;
  }
  return sum / std::pow(3.0, 6);
}

TEST(ExpandingFluids, NoiseHasTheVolumeOfTheCell) {
  const double of_flux = noisy_variance("div(-0.3*grad(n)/a + sqrt(2*0.3*0.7)*noise)");
  EXPECT_NEAR(of_flux / variance_by_waves(0.3, 0.7), 1, 0.05);
  // a^3 n is the integral of a^(3/2) times noise: (a^4 - 1)/4 of it
  const double of_source = noisy_variance("-sqrt(0.7)*noise");
  EXPECT_NEAR(of_source / (0.7 / 0.5 * 20 / 729), 1, 0.05);
}

TEST(ExpandingFluids, NoiseInAStressThatExpandsTheBoxIsRefused) {
  const auto said = refusal_of_text(R"(model noisy "a stress with noise"
units reduced_planck
lattice line: 8, spacing = 0.5, boundary = periodic
metric frw(a), energy = E
primitive eps: real, m: vec(1)
conserve E = eps: div(m)
conserve M = m: div(0.1*[noise]) + grad(eps/3)
recover {
  eps = E
  m = M
}
scheme kt, speed = 1
init eps = 1, m = 0
evolve srk2, dt = 0.01, until = t > 1
)");
  EXPECT_NE(said.find("noise in a stress beside a metric that follows"), std::string::npos) << said;
  EXPECT_NE(said.find("a'' would jump with its mean"), std::string::npos) << said;
}

// ---- a coupling to the curvature ----------------------------------------------------------------

/// phi, phi', eps, H and log(a) of V = lambda phi^4/4 with xi phi^2 R and friction eta phi' against
/// radiation. The trace of Einstein's equations: R (1 + (6 xi - 1) xi phi^2) = 4 V - 6 xi phi (V' +
/// eta phi') + (6 xi - 1) phi'^2.
struct Coupled {
  double xi;
  static constexpr double kQuartic = 0.3, kFriction = 0.3;

  long double curvature(const std::array<long double, 5>& y) const {
    const long double phi = y[0], v = y[1], six = 6 * xi - 1, phi3 = phi * phi * phi;
    return (kQuartic * phi * phi3 - 6 * xi * phi * (kQuartic * phi3 + kFriction * v) +
            six * v * v) /
           (1 + six * xi * phi * phi);
  }
  std::array<long double, 5> at(double phi, double v, double eps, double t) const {
    const double lead = 3 * (1 - xi * phi * phi), middle = -6 * xi * phi * v;
    const double rest = v * v / 2 + kQuartic * std::pow(phi, 4) / 4 + eps;
    const double h = (-middle + std::sqrt(middle * middle + 4 * lead * rest)) / (2 * lead);
    return integrated<5>({phi, v, eps, h, 0}, t, 40000, [&](const auto& y) {
      const long double r = curvature(y);
      return std::array<long double, 5>{
          y[1], -(3 * y[3] + kFriction) * y[1] - kQuartic * y[0] * y[0] * y[0] - xi * r * y[0],
          -4 * y[3] * y[2] + kFriction * y[1] * y[1], r / 6 - 2 * y[3] * y[3], y[3]};
    });
  }
};

runtime::RunResult coupled_run(double xi, int steps) {
  return run_text(fmt::format(R"(model decaying "a field with xi phi^2 R that decays into radiation"
units reduced_planck
lattice line: 8, length = 32, boundary = periodic
metric frw(a), energy = E
field phi: real
primitive eps: real, v: vec(1)
W2 = 1/(1 - norm2(v))
friction = 0.3*sqrt(W2)*(phi' + v[0]*d(phi, x)/a)
R = 6*(H' + 2*H^2)
lagrangian L = (phi'^2 - norm2(grad(phi))/a^2)/2 - {}*R*phi^2/2 - 0.3*phi^4/4
phi'' = derived - friction
conserve E = 4/3*eps*W2 - eps/3: div(M) - friction*phi'
conserve M = 4/3*eps*W2*v:       div(M*v) + grad(eps/3) + [friction*d(phi, x)/a]
recover {{
  eps = sqrt(4*E^2 - 3*norm2(M)) - E
  v   = M/(E + eps/3)
}}
scheme kt, speed = 1
precision real = f64
evolve rk4, dt = 4/{}, until = step == {}
init phi = 1.3, phi' = -0.2, eps = 0.5, v = 0
every 1 step: off = mean(rho)/(3*frw.H^2) - 1 -> "d.h5"
at end: f = mean(phi), g = mean(phi'), e = mean(eps), frw.H, n = log(a), r = R,
  trace = mean(rho - 3*p) -> "d.h5"
)",
                              exact(xi), steps, steps),
                  {});
}

TEST(ExpandingFluids, AFieldThatCouplesToTheCurvatureDecaysIntoAFluid) {
  for (const double xi : {-2.0, 0.1}) {
    const Coupled own{xi};
    const auto right = own.at(1.3, -0.2, 0.5, 4);
    const auto error = [&](int steps) {
      const auto result = coupled_run(xi, steps);
      constexpr std::array kNames{"f", "g", "e", "frw.H", "n"};
      double largest = std::fabs(last(result, "off"));
      for (std::size_t i = 0; i < kNames.size(); ++i)
        largest =
            std::max(largest, std::fabs(last(result, kNames[i]) - static_cast<double>(right[i])));
      for (const char* name : {"r", "trace"})
        largest = std::max(
            largest, std::fabs(last(result, name) - static_cast<double>(own.curvature(right))));
      return largest;
    };
    const double fine = error(800);
    EXPECT_LT(fine, 1e-9) << xi;
    if (xi > 0) {
      EXPECT_NEAR(std::log2(error(400) / fine), 4, 0.5) << xi;
    }
  }
}

// With waves of the field: its energy goes into the fluid and expands the box with it.
TEST(ExpandingFluids, TheConstraintOfACoupledFieldWithWavesIsOfTheIntegratorsOrder) {
  const auto off = [](int steps) {
    return std::fabs(last(run_text(fmt::format(R"(model waves "a coupled field with waves in a gas"
units reduced_planck
lattice line: 16, length = 8, boundary = periodic
metric frw(a), energy = E
field phi: real
primitive eps: real, v: vec(1)
friction = 0.3*(phi' + v[0]*d(phi, x)/a)
R = 6*(H' + 2*H^2)
lagrangian L = (phi'^2 - norm2(grad(phi))/a^2)/2 - 0.1*R*phi^2/2 - phi^2/2
phi'' = derived - friction
conserve E = eps:     div(v) - friction*phi'
conserve M = v:       grad(eps/3) + [friction*d(phi, x)/a]
recover {{
  eps = E
  v   = M
}}
scheme central
precision real = f64
evolve rk4, dt = 2/{}, until = step == {}
init phi = 1 + 0.3*cos(2*pi*x/8), phi' = 0.2*sin(2*pi*x/8), eps = 0.5, v = 0
every 1 step: off = mean(rho)/(3*frw.H^2) - 1 -> "d.h5"
)",
                                               steps, steps),
                                   {}),
                          "off"));
  };
  const double coarse = off(100), fine = off(200);
  EXPECT_LT(fine, 1e-7);
  EXPECT_NEAR(std::log2(coarse / fine), 4, 0.4) << coarse << " " << fine;
}

}  // namespace
}  // namespace vphi
