// Equations of Lagrangians with links against their text: right models pass, and faults that are
// planted in the System or come of another text are found.
#include <gtest/gtest.h>

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

TEST(LagrangianCheck, FaultsInSystemsAreFound) {
  for (const Fault& fault : in_systems()) expect_found(fault, moving_links());
}

TEST(LagrangianCheck, FaultsInTextsAreFound) {
  for (const Words& fault : in_texts()) expect_found(fault, moving_links());
}

}  // namespace
}  // namespace vphi
