// The oracle of `vphi test`: equations as derived against the text as written. Right models pass,
// and each of a table of faults that are planted in what was derived is found.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/transform.hpp"
#include "tests/physics/oracle/planted.hpp"
#include "tests/physics/oracle/shipped_models.hpp"
#include "tests/physics_derive/derive_text.hpp"
#include "tests/support/simulate.hpp"
#include "tools/oracle/derivative_check.hpp"

namespace vphi {
namespace {

using namespace planted;
using physics::Variable;
using tools::DerivativeRow;

// ---- models that the faults are planted in ------------------------------------------------------

const std::map<std::string, std::string>& texts() {
  static const std::map<std::string, std::string> kTexts{
      {"closed", R"(model closed "two fields in a box that expands by itself"
units reduced_planck
param m = 2, g = 3, c = 0.1
lattice box: 4*3*3, length = 8/m, boundary = periodic
metric frw(a), rho_r = 0.5
field phi, chi: real
laplacian = iso27
potential V = m^2*phi^2/2 + g^2*phi^2*chi^2/2 + c*phi^4/4
rescale A = 1/2, B = m, s = 0
init phi = 1, phi' = 0.1, chi = 0.2, chi' = 0
evolve leapfrog, dt = 0.01/m, until = t > 1
every 1 step: a -> "m.h5"
)"},
      {"work", R"(model work "gradients and the scale factor in the potential of a closed box"
units reduced_planck
lattice box: 5*4, length = 3, boundary = periodic
metric frw(a)
field phi, chi: real
potential V = phi^2/2 + (1 + 0.3*chi^2)*norm2(grad(phi))/a^2 + 0.1*a*chi^2 + mean(phi^2)*chi^2
init phi = 1, phi' = 0.1, chi = 0.2, chi' = 0
evolve leapfrog, dt = 0.01, until = t > 1
every 1 step: a -> "m.h5"
)"},
      {"wall", R"(model wall "gradients in the potential, between walls"
param k = 0.7
lattice line: 9, spacing = 0.5, boundary = fixed(0)
field u, v: real
potential V = u^3/3 + k*u*v + (1 + v^2)*norm2(grad(u))/2 + d(v, x)^2*u@x
init u = 1, u' = 0, v = 0.3, v' = 0
evolve leapfrog, dt = 0.01, until = t > 1
every 1 step: mean(u) -> "m.h5"
)"},
      {"chain", R"(model chain "a written Hamiltonian of neighbours and totals"
param al = 0.25
lattice line: 7, spacing = 1, boundary = periodic
field q, p: real
r = q@x - q
H = total(p^2/2 + r^2/2 + al*r^3/3) + total(q^2)*total(p^4)/50
init q = sin(x), p = 0
evolve rk4, dt = 0.1, until = t > 1
every 1 step: H -> "m.h5"
)"},
      {"angle", R"(model angle "a phase on a ring"
lattice ring: 11, length = 3, boundary = periodic
field th: angle
potential V = 1 - cos(th) + 0.2*norm2(grad(th))*sin(th)
th'' = derived - 0.3*th'
init th = 1, th' = 0
evolve rk4, dt = 0.1, until = t > 1
every 1 step: mean(th') -> "m.h5"
)"},
      {"complex", R"(model complex "a complex field in a given background"
param l = 0.4
lattice box: 4*3, length = 5, boundary = [periodic, antiperiodic]
metric frw(a = 1 + t^2/3)
field psi: complex
potential V = l*(norm2(psi) - 1)^2 + 0.2*re(psi^3) + 0.1*norm2(psi@x)*norm2(psi)
init psi = 1, psi' = 0
evolve leapfrog, dt = 0.1, until = t > 1
every 1 step: a -> "m.h5"
)"},
      {"twist", R"(model twist "a complex field with phases around the box"
param theta = 0.7
lattice box: 4*3, length = 5
field z, w: complex, boundary(x) = twisted(theta), boundary(y) = twisted(-2)
field u: real
potential V = norm2(z)^2/4 + 0.3*norm2(grad(z))*u^2 + 0.2*im(conj(z)*w@x)*re(z@y*conj(w))
            + norm2(z@[1, -2])*u@x/5 + mean(norm2(w@x - w))*u/3
init z = 1, z' = 0, w = 1, w' = 0, u = 1, u' = 0
evolve leapfrog, dt = 0.1, until = t > 1
every 1 step: mean(norm2(z)) -> "m.h5"
)"},
      {"shift", R"(model shift "rows that go on in other rows"
lattice box: 4*3*2, spacing = 0.8, boundary(z) = shifted(x = 1, y = -1), boundary(x) = antiperiodic
field u: real
field w: complex, boundary(y) = twisted(0.7)
c = 1 + 0.3*cos(index(x)) + 0.1*sin(index(y)*index(z))
potential V = c*u^4/4 + c*(u@z - u)^2 + norm2(grad(w))*u^2 + c*re(conj(w@[1, -2, 3])*w)
            + mean(norm2(w@z - w))*u^2/3
init w = 1, w' = 0, u = 1, u' = 0
evolve leapfrog, dt = 0.1, until = t > 1
every 1 step: mean(norm2(w)) -> "m.h5"
)"},
      {"bodies", R"(model bodies "pairs of bodies"
particles body: 5
var x[k]: vec(2), p[k]: vec(2)
w[k] = 1 + 0.1*k
H = sum(norm2(p[k])/(2*w[k]), k) - sum(1/sqrt(norm2(x[k] - x[l]) + 0.3), k < l)/5 + sum(cos(x[k][0] - x[l][0]), k, l)/10
init x ~ ball(1), p ~ normal
evolve yoshida4, dt = 0.01, until = t > 1
every 1 step: H -> "m.h5"
)"},
      {"bath", R"(model bath "noise and friction"
param gamma = 0.6, T = 0.4
lattice line: 8, spacing = 0.5, boundary = periodic
field phi: real
potential V = phi^4/4 - phi^2/2
phi'' = derived - gamma*phi' + sqrt(2*gamma*T)*noise + 0.3*cos(2*t)
init phi = 0.1, phi' = 0
evolve baoab, dt = 0.05, until = t > 1
every 1 step: mean(phi) -> "m.h5"
)"},
      {"flow", R"(model flow "an equation of first order"
param D = 0.7, r = 1.3
lattice box: 5*4, spacing = 0.4, boundary = neumann
field u: real, n: vec(2)
u' = D*lap(u) + r*u - u^3 - d(u^2/2, x) + dot(n, grad(u)) + 0.2*mean(u)
n' = grad(u)*norm2(n) - n + [0.1, 0]*x
init u = 1, n = [0, 1]
evolve rk4, dt = 0.01, until = t > 1
every 1 step: mean(u) -> "m.h5"
)"},
      {"averages", R"(model averages "averages in the potential"
param g = 1.1
lattice line: 6, spacing = 0.5, boundary = periodic
field phi, chi: real
potential V = phi^2/2 + g^2*mean(phi^2)*chi^2/2 + var(chi)*phi^4/7
init phi = 1, phi' = 0, chi = 0.3, chi' = 0
evolve leapfrog, dt = 0.05, until = t > 1
every 1 step: mean(phi) -> "m.h5"
)"},
      {"tensor", R"(model tensor "a symmetric tensor"
lattice box: 3*3*3, spacing = 0.5, boundary = periodic
field u: sym(3)
potential V = tr(u*u)/2 + 0.3*(u[0,1] + u[2,2])^3
init u = 0, u' = 0
evolve leapfrog, dt = 0.05, until = t > 1
every 1 step: mean(tr(u)) -> "m.h5"
)"},
      {"gauge", R"(model gauge "links, their electric field and a charge"
param e = 0.8
lattice box: 3*3*2, spacing = 0.7
field phi, pi: complex
gauge U: U(1), E: real
P[i,j] = loop(i, j, -i, -j)
D[i] = (U[i]*phi@i - phi)/dx
H = total(norm2(pi) + sum(norm2(D[i]), i) + (norm2(phi) - 1)^2/4 + e^2*sum(E[i]^2, i)/2 + sum(1 - re(P[i,j]), i < j)/(e^2*dx^4))
init phi = 1, pi = 0, U = 1, E = 0
evolve yoshida4, dt = 0.05, until = t > 1
every 1 step: H -> "m.h5"
)"},
  };
  return kTexts;
}

// ---- faults -------------------------------------------------------------------------------------

/// The Laplacian with one weight more and one less.
Expr skewed(Expr e) {
  algebra::StencilData data = e->arena->stencil_data(e->index);
  for (std::size_t i = 0; i < data.offsets.size(); ++i)
    if (!data.offsets[i].zero()) {
      data.weights[i] += 1;
      break;
    }
  for (std::size_t i = 0; i < data.offsets.size(); ++i)
    if (data.offsets[i].zero()) data.weights[i] -= 1;
  return e->arena->stencil(e->arena->add_stencil(data), e.arg(0));
}
/// Applied to the other array.
Expr of_array(Expr e, int array) { return e->arena->stencil(e->index, e->arena->load(array)); }
Expr other_power(Expr e) { return algebra::pow(e.arg(0), e.arg(1) + e->arena->integer(1)); }

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults{
      // signs and factors
      {"sign of a force", "closed", in("pi_phi", times(-1))},
      {"a force one in a million too large", "closed", in("pi_phi", times(1 + 1e-6))},
      {"half a force", "closed", in("pi_chi", times(0.5))},
      {"sign of the coordinate's rate", "closed", in("phi", times(-1))},
      {"the coordinate moves twice as fast", "closed", in("chi", times(2))},
      {"sign of the Laplacian", "closed",
       in("pi_phi", nodes(is(Op::Stencil), [](Expr e) { return -e; }))},
      {"sign of the first term", "closed", in("pi_phi", term(0, -1))},
      {"sign of the last term", "closed", in("pi_chi", term(-1, -1))},
      {"a term by 3/2", "wall", in("pi_u", term(1, 1.5))},
      {"a constant beside the force", "wall", in("pi_v", plus(1e-6))},
      {"twice the pull of a pair", "bodies", in("p_0", term(-1, 2))},
      {"twice an off-diagonal force", "tensor", in("pi_u_0_1", times(2))},
      {"half a diagonal force", "tensor", in("pi_u_2_2", times(0.5))},
      {"sign of the imaginary part", "complex", in("pi_psi_im", times(-1))},
      {"2 of a complex field's norm", "gauge", in("phi_re", times(2))},
      // dropped terms
      {"a term of the potential dropped", "closed", in("pi_phi", term(1, 0))},
      {"the Laplacian dropped", "bath",
       in("pi_phi", nodes(is(Op::Stencil), [](Expr e) { return e->arena->integer(0); }))},
      {"friction dropped", "bath",
       in("pi_phi", nodes([](Expr e) { return e.is(Op::Load) && e->index == 1; },
                          [](Expr e) { return e->arena->integer(0); }))},
      {"the drive dropped", "bath",
       in("pi_phi", nodes(is(Op::Cos), [](Expr e) { return e->arena->integer(0); }))},
      {"a gradient's coefficient dropped", "wall", in("pi_u", term(-1, 0))},
      {"the reaction of a coefficient dropped", "wall", in("pi_v", term(-1, 0))},
      {"the reaction of an average dropped", "averages",
       in("pi_phi", nodes(is(Op::Mean), [](Expr e) { return e->arena->integer(0); }))},
      {"the force of an average dropped", "averages",
       in("pi_chi", nodes(is(Op::Mean), [](Expr e) { return e->arena->integer(0); }))},
      {"a total's share dropped", "chain",
       in("p", nodes(is(Op::Total), [](Expr e) { return e->arena->integer(0); }))},
      {"a component dropped", "flow",
       in("u", nodes([](Expr e) { return e.is(Op::Load) && e->index == 2; },
                     [](Expr e) { return e->arena->integer(0); }))},
      {"a source that depends on the place dropped", "flow",
       in("n_0", nodes(is(Op::Site), [](Expr e) { return e->arena->integer(0); }))},
      // operators
      {"a weight of the Laplacian", "closed", in("pi_phi", nodes(is(Op::Stencil), skewed))},
      {"the Laplacian of the other field", "closed",
       in("pi_phi", nodes(is(Op::Stencil), [](Expr e) { return of_array(e, 1); }))},
      {"no neighbour in a gradient", "wall", in("pi_u", nodes(neighbour, at_the_site))},
      {"one neighbour taken for the site", "chain", in("p", first(neighbour, at_the_site))},
      {"a neighbour on the other side", "chain",
       in("p", first(neighbour,
                     [](Expr e) {
                       return algebra::shift(at_the_site(e),
                                             {{static_cast<std::int16_t>(-e->offset.d[0])}});
                     }))},
      {"a flux one site off", "flow",
       in("u", first(neighbour, [](Expr e) { return algebra::shift(e, {{1}}); }))},
      {"an angle that is not wrapped", "angle",
       in("pi_th", nodes(is(Op::Floor), [](Expr e) { return e->arena->integer(0); }))},
      {"an angle that is wrapped elsewhere", "angle",
       in("pi_th", nodes(is(Op::Floor),
                         [](Expr e) {
                           return e->arena->make(Op::Floor, {e.arg(0) + e->arena->rational(1, 4)});
                         }))},
      {"a link that is not turned", "gauge",
       in("E_0", first(is(Op::Sin), [](Expr e) { return e->arena->integer(0); }))},
      // functions and powers
      {"sine for cosine", "bath",
       in("pi_phi", nodes(is(Op::Cos), [](Expr e) { return as(Op::Sin, e); }))},
      {"cosine for sine", "angle",
       in("pi_th", first(is(Op::Sin), [](Expr e) { return as(Op::Cos, e); }))},
      {"a power too high", "wall", in("pi_u", first(is(Op::Pow), other_power))},
      {"a power of the distance", "bodies",
       in("p_1", nodes(
                     [](Expr e) {
                       return e.is(Op::Pow) && e.arg(1).is_number() && e.arg(1)->number.real < 0;
                     },
                     other_power))},
      {"one field for the other", "averages",
       in("pi_chi",
          [](System& s, Expr e) {
            return algebra::substitute(e, s.arena->load(rate_of(s, "chi").array),
                                       s.arena->load(rate_of(s, "phi").array));
          })},
      {"the rates of two fields exchanged", "closed",
       [](System& s) { std::swap(rate_of(s, "pi_phi").rate, rate_of(s, "pi_chi").rate); }},
      // averages and sums
      {"a total for a mean", "flow",
       in("u", nodes(is(Op::Mean), [](Expr e) { return as(Op::Total, e); }))},
      {"the site for its mean", "averages", in("pi_chi", nodes(is(Op::Mean), argument))},
      {"a body that pulls itself", "bodies",
       in("p_0", first(is(Op::PairSum),
                       [](Expr e) {
                         return algebra::pair_sum(e.arg(0), e->index == 0) + e->arena->real(1e-5);
                       }))},
      {"a pair taken once", "bodies",
       in("p_1", nodes(is(Op::PairSum), [](Expr e) { return e * e->arena->rational(1, 2); }))},
      // noise
      {"noise too strong by a root of 2", "bath",
       in("pi_phi",
          nodes(is(Op::Noise), [](Expr e) { return e * e->arena->real(std::sqrt(2.0L)); }))},
      {"noise dropped at some strength", "bath",
       in("pi_phi", nodes(is(Op::Noise), [](Expr e) { return e * e->arena->real(1e-3); }))},
      // background and time
      {"a scale factor dropped", "closed",
       in("pi_chi", first(named("a"), [](Expr e) { return e->arena->integer(1); }))},
      {"all powers of the scale factor dropped", "closed",
       in("pi_phi", nodes(named("a"), [](Expr e) { return e->arena->integer(1); }))},
      {"sign of the acceleration of a", "closed", in_scalar(1, times(-1))},
      {"the pressure's part in the acceleration of a", "closed", in_scalar(1, times(1.01))},
      {"the work of the potential", "work", in_scalar(1, term(-1, 0))},
      {"time runs faster", "closed", in_scalar(2, times(1.1))},
      {"a given scale factor of another time", "complex",
       in("pi_psi_re", nodes(named("t"), [](Expr e) { return e * e->arena->real(1.1L); }))},
      // the box
      {"periodic for fixed walls", "wall",
       [](System& s) { s.lattice.boundary.fill(physics::Boundary::Periodic); }},
      {"another value of the walls", "wall", [](System& s) { s.lattice.fixed_value = 0.1; }},
      {"periodic for antiperiodic", "complex",
       [](System& s) { s.lattice.boundary.fill(physics::Boundary::Periodic); }},
      {"periodic for a twist", "twist",
       in("pi_z_re", nodes(is(Op::Select), [](Expr e) { return e.arg(1); }))},
      {"no shift", "shift", in("pi_u", nodes(is(Op::Select), [](Expr e) { return e.arg(1); }))},
      {"outflow for periodic", "bath",
       [](System& s) { s.lattice.boundary.fill(physics::Boundary::Outflow); }},
      {"walls for a mirror", "flow",
       [](System& s) { s.lattice.boundary.fill(physics::Boundary::Fixed); }},
      {"another spacing", "closed", [](System& s) { s.lattice.dx *= 1.001; }},
  };
  return kFaults;
}

TEST(Forces, RightModelsAgreeWithTheirText) {
  for (const auto& [name, text] : texts()) {
    const auto d = physics::test::derived(text);
    const auto rows = tools::check_derivatives(*d.resolved, *d.system);
    EXPECT_FALSE(rows.empty()) << name;
    for (const DerivativeRow& row : rows) EXPECT_TRUE(row.right()) << name << "\n" << report(rows);
  }
}

class PlantedFault : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PlantedFault, IsFound) {
  const Fault& fault = faults()[GetParam()];
  const Verdict verdict = judged(texts().at(fault.text), fault.plant);
  EXPECT_TRUE(verdict.found) << fault.name << "\n" << verdict.rows;
}

INSTANTIATE_TEST_SUITE_P(Table, PlantedFault, ::testing::Range<std::size_t>(0, faults().size()),
                         [](const auto& info) { return test_name(faults()[info.param].name); });

TEST(Forces, AtLeastFiftyFaultsArePlanted) { EXPECT_GE(faults().size(), 50u); }

// Models with links are in tests/long: hundreds of sweeps of each.
class ShippedText : public ::testing::TestWithParam<std::string> {};

TEST_P(ShippedText, AgreesWithWhatIsDerived) { shipped::expect_right(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Models, ShippedText, ::testing::ValuesIn(shipped::models(false)),
                         [](const auto& info) { return test_name(info.param); });

// A site's own action, a neighbour's, a phase of a link: -dS/dq of the kicks.
TEST(Forces, KicksOfHybridMonteCarloAgreeWithTheAction) {
  const char* const kTexts[] = {R"(model m "fields"
lattice box: 4*3, spacing = 0.7
field u: real, z: complex, th: angle
action S = u^2/2 + 0.1*lap(u)^2 + norm2(z)*norm2(grad(u)) + norm2(z@x - z) + norm2(z)^2
action W = 1 - cos(th@x - th) + u*sin(th)
sample hmc, trajectories = 10, tau = 1 {
  level S: steps = 4, scheme = omelyan2
  level W: steps = 4, scheme = omelyan2
}
init u ~ normal, z = 1, th ~ uniform(0, 2*pi)
every 1 trajectory: deltaH -> "m.h5"
)",
                                R"(model m "links of U(1) and charges"
lattice grid: 4^2
gauge U: U(1)
field z: complex
P[i,j] = loop(i, j, -i, -j)
action S = 2*sum(1 - re(P[i,j]), i < j)
action M = norm2(z) + norm2(z)^2/4 - sum(re(conj(z)*U[i]*z@i), i)/3
sample hmc, trajectories = 10, tau = 1 {
  level S: steps = 4, scheme = omelyan2
  level M: steps = 4, scheme = omelyan2
}
init U ~ hot, z = 1
every 1 trajectory: deltaH -> "m.h5"
)",
                                R"(model m "links of projections of projections"
lattice grid: 3*2
gauge U: SU(2)
X[mu,p] = project(U[mu] + 0.2*(path(p, mu, -p) + path(-p, mu, p)))
V[mu] = project(U[mu] + 0.1*sum(X[q,mu]*X[mu,q]@q*adj(X[q,mu]@mu)
      + X[-q,mu]*X[mu,q]@-q*adj(X[-q,mu]@mu), q != mu))
action S = 2*sum(2 - re(tr(loop(V, mu, nu, -mu, -nu))), mu < nu)
sample hmc, trajectories = 10, tau = 1 {
  level S: steps = 4, scheme = omelyan2
}
init U ~ hot
every 1 trajectory: deltaH -> "m.h5"
)"};
  for (const char* text : kTexts) {
    auto d = physics::test::derived(text);
    const auto rows = tools::check_derivatives(*d.resolved, *d.system);
    EXPECT_GT(rows.size(), 3u);
    for (const DerivativeRow& row : rows) EXPECT_TRUE(row.right()) << report(rows);

    auto& trajectory = std::get<physics::Trajectory>(d.system->dynamics);
    auto& value = trajectory.levels[0].kicks[0].values[0];
    value.second = value.second + value.second->arena->load(value.first) +
                   value.second->arena->real(1e-5);  // a planted one
    EXPECT_TRUE(differ(tools::check_derivatives(*d.resolved, *d.system)));
  }
}

}  // namespace
}  // namespace vphi
