// Links that move by H in boxes whose rows go on in other rows: waves of the momenta of such a box,
// and what is kept when everything is excited.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "tests/physics/waves_of_boxes.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using std::numbers::pi;
using testing::largest;
using testing::last;
using testing::run_text;
using testing::Simulation;

// The curl of psi = A cos(p x + q y) on plaquettes is a wave without divergence: its plaquettes are
// K^2 psi cos(w t), K^2 = 4 sin^2(p/2) + 4 sin^2(q/2). The shift allows q 6 - p 5 = 2 pi n.
TEST(ShiftedLinks, WavesHaveTiedMomenta) {
  const double p = 2 * pi * 2 / 12, q = (-2 * pi + 5 * p) / 6;
  const double K = 2 * std::hypot(std::sin(p / 2), std::sin(q / 2)), dt = 0.05;
  const double omega = 2 / dt * std::asin(dt * K / 2);
  for (const bool matrices : {false, true}) {
    const std::string angle =
        "0.0001*(psi(0, -1) - psi(0, 0) if k == x else psi(0, 0) - psi(-1, 0))";
    const std::string text =
        "model oblique \"a wave of links\"\nlattice plane: 12*6, spacing = 1, boundary(y) = "
        "shifted(x = 5)\ngauge U: " +
        std::string(matrices ? "SU(2), E: su(2)" : "U(1), E: real") +
        "\nP[i,j] = loop(i, j, -i, -j)\nH = " +
        (matrices ? "total(sum(norm2(E[i]), i) + 2*sum(2 - re(tr(P[i,j])), i < j))"
                  : "total(sum(E[i]^2, i)/2 + sum(1 - re(P[i,j]), i < j))") +
        "\np = 2*pi*2/12\nq = (5*p - 2*pi)/6\n"
        "psi(a, b) = cos(p*(index(x) + a) + q*(index(y) + b))\ninit E = 0, U[k] = " +
        (matrices ? "[[exp(0.5i*" + angle + "), 0], [0, exp(-0.5i*" + angle + ")]]"
                  : "exp(1i*" + angle + ")") +
        "\nprecision real = f64\nevolve leapfrog, dt = 0.05, until = t > 7.99\n"
        "every 8 steps: flux = 10^8*mean(" +
        (matrices ? "(2*im(P[x,y][0,0]))" : "im(P[x,y])") + "^2), max(abs(gauss)) -> \"w.h5\"\n";
    const auto result = run_text(text, {});
    const double size = std::pow(K, 4) / 2;
    double lowest = size;
    for (const auto& [t, value] : result.find("flux")->points) {
      EXPECT_NEAR(value, size * std::pow(std::cos(omega * t), 2), 1e-6 * size) << matrices << t;
      lowest = std::min(lowest, value);
    }
    EXPECT_LT(lowest, 0.1 * size) << "the wave stands still";
    EXPECT_LT(largest(result, "max(abs(gauss))"), 1e-15);
  }
}

TEST(ShiftedLinks, HotLinksKeepEnergyAndGaussLaw) {
  for (const auto& setup : testing::native_and_opencl()) {
    const auto result = run_text(R"(model slanted "hot links in a shifted box"
lattice plane: 5*4, spacing = 1, boundary(y) = shifted(x = 2)
gauge U: SU(2), E: su(2)
field phi, q: vec(2, complex)
P[i,j] = loop(i, j, -i, -j)
D[i] = U[i]*phi@i - phi
H = total(norm2(q) + sum(norm2(D[i]), i) + sum(norm2(E[i]), i) + 2*sum(2 - re(tr(P[i,j])), i < j))
init U ~ hot, E = 0, phi = [1, 0.2i], q = 0
precision real = f64
evolve yoshida4, dt = 0.02, until = t > 2
every 5 steps: max(abs(gauss)), drift = abs(H/first(H, t >= 0) - 1), moved = total(norm2(q)) -> "s.h5"
)",
                                 setup);
    EXPECT_LT(largest(result, "max(abs(gauss))"), 1e-12) << setup.device;
    EXPECT_LT(largest(result, "drift"), 1e-6) << setup.device;
    EXPECT_GT(last(result, "moved"), 1) << setup.device;
  }
}

}  // namespace
}  // namespace vphi
