// Equations of Lagrangians with links or with R against their text: right models pass, and faults
// that are planted in the System or come of another text are found.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/physics/oracle/planted.hpp"

namespace vphi {
namespace {

using namespace planted;

const Texts& moving_links() {
  static const Texts kTexts{
      {"photons", R"(model photons "an axion, photons and charges in a box that they expand"
units reduced_planck
param alpha = 4, m = 0.5, e = 0.8
lattice box: 3*2*3, spacing = 0.5, boundary = periodic
metric frw(a)
field phi: real, chi: complex
gauge U: U(1), E: real
P[i,j] = loop(i, j, -i, -j)
C[i,j] = im(P[i,j] + loop(j, -i, -j, i) + loop(-i, -j, i, j) + loop(-j, i, j, -i))/(4*e*dx^2)
B = [C[y,z], C[z,x], C[x,y]]
D[i] = (U[i]*chi@i - chi)/dx
electric[i] = im(U[i]'*adj(U[i]))/(e*dx)
at_site[i] = (electric[i] + electric[i]@-i)/2
matter = phi'^2/2 + norm2(chi') - (norm2(grad(phi))/2 + sum(norm2(D[i]), i))/a^2 - m^2*phi^2/2
photons = sum(electric[i]^2, i)/(2*a^2) - sum(1 - re(P[i,j]), i < j)/(e^2*dx^4*a^4)
lagrangian L = matter + photons + alpha*phi*sum(at_site[i]*B[i], i)/a^3
init phi = 1, chi = 0.3, phi' = 0, chi' = 0, U[i] = 1, E = 0
precision real = f64
evolve rk4, dt = 0.02, until = t > 1
at end: e = mean(E[x]^2), light = mean(electric[y]^2), v = mean(phi'^2) -> "p.h5"
)"},
      {"colours", R"(model colours "links of two colours, a doublet and a triplet that decays"
param g = 0.9, kappa = 0.6
lattice box: 2*3, spacing = 0.7, boundary = periodic
field chi: vec(2, complex), S: su(2), c: real
gauge U: SU(2), E: su(2)
P[i,j] = loop(i, j, -i, -j)
D[i] = (U[i]*chi@i - chi)/dx
electric[i] = U[i]'*adj(U[i])/(1i*g*dx)
magnetic = 2*sum(2 - re(tr(P[i,j])), i < j)/(g^2*dx^4)
moving = norm2(chi') + norm2(S') + sum(norm2(electric[i]), i)
bound = norm2(chi) + norm2(S) + sum(norm2(D[i]), i)
lagrangian L = moving - magnetic - bound + kappa*sum(2*re(tr(electric[i]*S)), i)
c' = norm2(chi) - 0.3*c
init U[i] = 1, E[i] = 0*[[1, 0], [0, -1]], chi = [0.5, 0.2i], S = [[0.3, 0.1], [0.1, -0.3]]
init chi' = 0, S' = 0*[[1, 0], [0, -1]], c = 0
precision real = f64
evolve rk4, dt = 0.02, until = t > 1
at end: e = mean(norm2(E[y])), light = mean(norm2(electric[x])), v = mean(norm2(chi')) -> "c.h5"
)"},
      {"three", R"(model three "links of three colours"
param s = 1
lattice box: 2*2, spacing = 1, boundary = periodic
gauge U: SU(3), E: su(3)
electric[i] = U[i]'*adj(U[i])/1i
lagrangian L = s*(sum(norm2(electric[i]), i) - sum(3 - re(tr(loop(i, j, -i, -j))), i < j))
init U ~ hot, E = 0
precision real = f64
evolve leapfrog, dt = 0.02, until = t > 1
at end: e = mean(norm2(electric[y])) -> "c.h5"
)"},
  };
  return kTexts;
}

// of a matrix of two stored rows the third one moves as well
TEST(LagrangianCheck, LinksOfTwoStoredRowsMoveByTheirHamiltonian) {
  const std::string text = R"(model rows "links of three colours by two rows"
lattice box: 2*2, spacing = 1, boundary = periodic
gauge U: SU(3), E: su(3), store = rows(2)
H = total(sum(norm2(E[i]), i) + 2*sum(3 - re(tr(loop(i, j, -i, -j))), i < j))
init U = 1, E = 0
precision real = f64
evolve leapfrog, dt = 0.02, until = t > 1
every 5 steps: mean(norm2(E[x])) -> "r.h5"
)";
  expect_right(text);
  EXPECT_TRUE(judged(text, in("U_0_2", times(1.001))).found);
}

TEST(LagrangianCheck, RightModelsPass) {
  for (const auto& [name, text] : moving_links()) EXPECT_GT(expect_right(text).size(), 10u) << name;
}

const std::vector<Fault>& in_systems() {
  static const std::vector<Fault> kFaults{
      {"force on the axion", "photons", in("pi_phi", times(1.000001))},
      {"sign of a force on links", "photons", in("E_1", times(-1))},
      {"a term of a force on links", "photons", in("E_2", term(-1, 0))},
      {"velocity of a charge", "photons", in("chi_im", times(0.5))},
      {"velocity of a link", "photons", in("U_0", plus(0.01))},
      {"acceleration of the scale factor", "photons", in_scalar(1, times(1.00001))},
      {"velocity of a stored number", "colours", in("U_0_2", times(1.001))},
      {"force of a doublet on links", "colours", in("E_1_0", term(0, 0))},
      {"equation beside", "colours", in("c", term(0, 0))},
  };
  return kFaults;
}

const std::vector<Words>& in_texts() {
  static const std::vector<Words> kFaults{
      {"coupling", "photons", "+ alpha*phi", "+ 0.9*alpha*phi"},
      {"mean of links ahead", "photons", "electric[i]@-i", "electric[i]@i"},
      {"power of a", "photons", "i)/a^3", "i)/a^2"},
      {"charge", "photons", "(U[i]*chi@i", "(conj(U[i])*chi@i"},
      {"an output of another link", "photons", "e = mean(E[x]^2)", "e = mean(E[y]^2)"},
      {"an output of a velocity", "photons", "mean(electric[y]^2)", "mean(electric[y]^2)/a"},
      {"sign of what is linear in velocities", "colours", "+ kappa", "- kappa"},
      {"triplet at the other end", "colours", "re(tr(electric[i]*S))", "re(tr(electric[i]*S@i))"},
      {"order of factors", "colours", "(U[i]*chi@i", "(adj(U[i])*chi@i"},
      {"an output of another field", "colours", "mean(norm2(chi'))", "mean(norm2(S'))"},
      {"momenta of twice the Lagrangian, which moves the same", "three", "s = 1", "s = 2"},
  };
  return kFaults;
}

// ---- the curvature of a metric that follows the averages ----------------------------------------

const Texts& coupled_to_curvature() {
  static const Texts kTexts{
      {"two", R"(model two "two fields that couple to the curvature and to each other"
units reduced_planck
lattice box: 3*2, spacing = 1.2, boundary = periodic
metric frw(a), rho_r = 0.1
field phi, chi: real
R = 6*(H' + 2*H^2)
V = phi^2/2 + 0.3*phi^2*chi^2
moving = phi'^2/2 + (1 + phi^2)*chi'^2/2
bent = (norm2(grad(phi)) + (1 + phi^2)*norm2(grad(chi)))/(2*a^2)
lagrangian L = moving - bent - V + (0.2*phi*chi - 0.3*phi^2)*R/2
init phi = 0.8, phi' = -0.2, chi = 0.3, chi' = 0.3
precision real = f64
evolve rk4, dt = 0.02, until = t > 1
every 5 steps: R, density = mean(rho), pressure = mean(p), w, v = mean(phi'^2) -> "c.h5"
)"},
      {"damped", R"(model damped "program units, large numbers, and a field that is damped"
units planck
param lambda = 1e-6, xi = 3, k = 2e-3
lattice box: 3*2, length = 6/k, boundary = periodic
metric frw(a)
field phi: real, chi: complex
R = 6*(H' + 2*H^2)
kinetic_part = phi'^2/2 + norm2(chi') - (norm2(grad(phi))/2 + norm2(grad(chi)))/a^2
lagrangian L = kinetic_part - xi*R*norm2(chi) - lambda*phi^4/4
phi'' = derived - 0.3*k*phi'
rescale A = 1/2, B = k, s = -1
init phi = 2, phi' = 0, chi = 0.1, chi' = 0
precision real = f64
evolve rk4, dt = 0.02/k, until = t > 1/k
at end: R, density = mean(rho), pressure = mean(p), w -> "c.h5"
)"},
      {"gas", R"(model gas "a coupled field that decays into a gas"
units reduced_planck
lattice line: 6, length = 8, boundary = periodic
metric frw(a), energy = E
field phi: real
primitive eps: real, v: vec(1)
friction = 0.3*(phi' + v[0]*d(phi, x)/a)
R = 6*(H' + 2*H^2)
lagrangian L = (phi'^2 - norm2(grad(phi))/a^2)/2 - 0.1*R*phi^2/2 - phi^2/2
phi'' = derived - friction
conserve E = eps: div(v) - friction*phi'
conserve M = v:   grad(eps/3) + [friction*d(phi, x)/a]
recover {
  eps = E
  v   = M
}
scheme central
init phi = 1, phi' = 0, eps = 0.5, v = 0
precision real = f64
evolve rk4, dt = 0.02, until = t > 1
every 5 steps: mean(phi) -> "g.h5"
)"},
  };
  return kTexts;
}

TEST(LagrangianCheck, RightModelsWithCurvaturePass) {
  EXPECT_GT(expect_right(coupled_to_curvature().at("two")).size(), 7u);
  EXPECT_GT(expect_right(coupled_to_curvature().at("damped")).size(), 6u);
  const auto rows = expect_right(coupled_to_curvature().at("gas"));
  for (const char* name : {"phi''", "a''", "E'", "M'"})
    EXPECT_TRUE(std::ranges::any_of(rows, [&](const auto& row) { return row.variable == name; }))
        << name << "\n"
        << report(rows);
}

const std::vector<Fault>& in_systems_with_curvature() {
  static const std::vector<Fault> kFaults{
      {"force with R", "two", in("pi_phi", times(1.000001))},
      {"acceleration of a damped box", "damped",
       in_scalar(1, first(is(Op::Mean), [](Expr e) { return e->arena->real(1.001) * e; }))},
      {"a term of a force", "two", in("pi_chi", term(0, 1.001))},
      {"acceleration of the scale factor", "two", in_scalar(1, times(1.00001))},
      {"a mean in the acceleration", "two",
       in_scalar(1, first(is(Op::Mean), [](Expr e) { return e->arena->real(1.001) * e; }))},
      {"the coupled field", "damped", in("pi_chi_im", term(-1, 0.999))},
      {"force beside laws", "gas", in("pi_phi", times(1.00001))},
      {"acceleration beside laws", "gas", in_scalar(1, times(1.00001))},
      {"acceleration in program units", "damped", in_scalar(1, times(1.00001))},
  };
  return kFaults;
}

const std::vector<Words>& in_texts_with_curvature() {
  static const std::vector<Words> kFaults{
      {"sign of a coupling", "two", "- 0.3*phi^2)", "+ 0.3*phi^2)"},
      {"half a coupling", "two", "*R/2", "*R/4"},
      {"size of R", "two", "6*(H'", "5.999*(H'"},
      {"field of a coupling", "two", "0.2*phi*chi", "0.2*chi^2"},
      {"a fluid beside", "two", "rho_r = 0.1", "rho_r = 0.1001"},
      {"the potential", "two", "0.3*phi^2*chi^2", "0.29*phi^2*chi^2"},
      {"an output of the pressure", "two", "pressure = mean(p)", "pressure = mean(p) - 1e-7"},
      {"an output of w", "two", "mean(p), w,", "mean(p), w = 1.0001*mean(p)/mean(rho),"},
      {"coupling", "damped", "xi = 3", "xi = 3.001"},
      {"coupling beside laws", "gas", "0.1*R", "0.11*R"},
      {"pressure of the laws", "gas", "grad(eps/3)", "grad(eps/2)"},
      {"Planck mass", "damped", "units planck", "units reduced_planck"},
      {"friction", "damped", "- 0.3*k", "- 0.31*k"},
  };
  return kFaults;
}

TEST(LagrangianCheck, FaultsBesideCurvatureAreFound) {
  for (const Fault& fault : in_systems_with_curvature())
    expect_found(fault, coupled_to_curvature());
  for (const Words& fault : in_texts_with_curvature()) expect_found(fault, coupled_to_curvature());
}

// ---- planted in Systems -------------------------------------------------------------------------

TEST(LagrangianCheck, FaultsInSystemsAreFound) {
  for (const Fault& fault : in_systems()) expect_found(fault, moving_links());
}

TEST(LagrangianCheck, FaultsInTextsAreFound) {
  for (const Words& fault : in_texts()) expect_found(fault, moving_links());
}

}  // namespace
}  // namespace vphi
