// The equation of state of lattice QCD (HotQCD, Phys. Rev. D 90 (2014) 094503, eq. 16) as a text of
// T: eps and the speed of sound are its derivatives, T is recovered. Boost-invariant expansion with
// shear and bulk stress by the 14-moment equations (Denicol and others, Phys. Rev. C 90 (2014)
// 024912), against an independent integration to 1e-13.
#include <gtest/gtest.h>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;

TEST(HotQcd, ViscousExpansionIsThatOfAnIndependentIntegration) {
  const auto result = testing::run_text(
      R"(model hotqcd "Viscous Bjorken expansion with the HotQCD equation of state"
units fm
lattice line: 16, length = 1, boundary = periodic
metric scale(1, 1, t), energy = E
primitive T, phi, Pi: real, v: vec(1)
x_T = T/(0.154 [GeV])
hot = T^4*(1 + tanh(3.8706*(x_T - 0.9761)))/2*
    (95*pi^2/180 - 8.7704/x_T + 3.92/x_T^2 + 0.3419/x_T^4)/
    (1 - 1.26/x_T + 0.8425/x_T^2 - 0.0475/x_T^4)
# below 0.1 GeV, where the fit ends: the same eps and p there, and a constant speed of sound
cold = 0.22068589*(0.01609345 [GeV/fm^3])*(T/(0.1 [GeV]))^(1/0.18078844)
p = (hot if T > 0.1 [GeV] else cold)
s = d(p, T)
eps = T*s - p
c2 = s/(T*d(s, T))
W = 1/sqrt(1 - norm2(v))
h = eps + p
gauss(T, w) = exp(-((T - 0.16 [GeV])/w)^2)
zeta = 0.13*s*(gauss(T, 0.01 [GeV]) if T < 0.16 [GeV] else gauss(T, 0.12 [GeV]))
eta = 0.12*s
tau = 5*eta/h
tau_bulk = zeta/(14.55*(1/3 - c2)^2*h)
# targets of phi = -pi^ee and of the bulk stress
shear_target = 4*eta/(3*t) + 9/(70*p)*phi^2/2 - tau*((4/3 + 10/21)*phi/t - 4/5*Pi/t)
bulk_target = -zeta/t - tau_bulk*(2/3*Pi/t - 8/5*(1/3 - c2)*phi/t)
conserve M = h*W^2*v:    div(M*v) + grad(p)
conserve E = h*W^2 - p:  div((E + p)*v) + (Pi - phi)/t
relax phi = shear_target, time = W*tau, along = v
relax Pi = bulk_target, time = W*tau_bulk, along = v
recover {
  T   = T*((E - dot(M, v))/eps)^(1/4)
  v   = M/(E + p)
  solve T by newton, tol = 1e-13, start = 0.25 [GeV], from = 1e-5 [GeV], to = 1000 [GeV]
}
scheme kt, speed = 1
evolve ssp_rk3, dt = 0.002 [fm], until = t >= 10 [fm]
init t = 0.6 [fm], T = 0.35 [GeV], phi = 0, Pi = 0, v = 0
precision real = f64
bulk = mean(Pi)/(1 [GeV/fm^3])
shear = mean(phi)/(1 [GeV/fm^3])
every 100 steps: t, T_GeV = mean(T)/(1 [GeV]), shear, bulk, mean(c2) -> "hotqcd.h5"
expect abs(shear - 0.020098562)*(t > 9.99 [fm]) < 1e-8
)",
      {});
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
  EXPECT_NEAR(last(result, "T_GeV"), 0.180119545, 2e-9);
  EXPECT_NEAR(last(result, "shear"), 0.020098562, 2e-9);
  EXPECT_NEAR(last(result, "bulk"), -0.017077661, 2e-9);
}

}  // namespace
}  // namespace vphi
