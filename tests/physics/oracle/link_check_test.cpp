// The oracle of `vphi test` for links that flow or are drawn, and for linear systems. Right models
// pass; each fault of a table is found.
#include <gtest/gtest.h>

#include "compiler/algebra/transform.hpp"
#include "tests/physics/oracle/planted.hpp"

namespace vphi {
namespace {

using namespace planted;

// ---- models that the faults are planted in ------------------------------------------------------

const std::map<std::string, std::string>& link_texts() {
  static const std::map<std::string, std::string> kTexts{
      {"flow", R"(model flow "SU(2), plaquettes and rectangles"
param c = 0.1
lattice grid: 3*3*2
gauge U: SU(2)
P[mu,nu] = loop(mu, nu, -mu, -nu)
R[mu,nu] = loop(2*mu, nu, -2*mu, -nu)
S = sum(2 - re(tr(P[mu,nu])), mu < nu) - c*sum(re(tr(R[mu,nu])), mu != nu)
U' = -2*d(S, U)
init U ~ hot
evolve luscher3, dt = 0.01, until = t > 1
every 1 step: mean(re(tr(P[x,y]))) -> "m.h5"
)"},
      {"phases", R"(model phases "U(1) with an imaginary part"
lattice grid: 3*4
gauge U: U(1)
S = sum(1 - re(loop(mu, nu, -mu, -nu)) + 0.2*im(loop(mu, nu, -mu, -nu)), mu < nu)
U' = -d(S, U)
init U ~ hot
evolve rk4, dt = 0.01, until = t > 1
every 1 step: mean(re(loop(x, y, -x, -y))) -> "m.h5"
)"},
      {"ends", R"(model ends "links of the first and the last sites along y stay"
lattice grid: 3*4
gauge U: SU(2), boundary(y) = fixed
P[mu,nu] = loop(mu, nu, -mu, -nu)
S = sum(2 - re(tr(P[mu,nu])), mu < nu)
U' = -d(S, U)
init U ~ hot
evolve rk4, dt = 0.01, until = t > 1
every 1 step: mean(re(tr(P[x,y]))) -> "m.h5"
)"},
      {"walls", R"(model walls "charges and links between walls that conduct"
lattice grid: 4*3, spacing = 1
gauge U: U(1), E: real, boundary(x) = fixed
field phi, q: complex
P[i,j] = loop(i, j, -i, -j)
D[i] = U[i]*phi@i - phi
H = total(norm2(q) + sum(norm2(D[i]), i) + sum(E[i]^2, i)/2 + sum(1 - re(P[i,j]), i < j))
init U ~ hot, E ~ normal, phi = 0.5, q = 0
evolve leapfrog, dt = 0.01, until = t > 1
every 1 step: H -> "m.h5"
)"},
      {"slanted", R"(model slanted "links in a shifted box"
lattice grid: 3*4, spacing = 1, boundary(y) = shifted(x = 1)
gauge U: SU(2), E: su(2)
P[i,j] = loop(i, j, -i, -j)
H = total(sum(norm2(E[i]), i) + 2*sum(2 - re(tr(P[i,j])), i < j))
init U ~ hot, E ~ normal
evolve leapfrog, dt = 0.01, until = t > 1
every 1 step: H -> "m.h5"
)"},
      {"carried", R"(model carried "a gradient that is carried along links"
lattice grid: 3*3
gauge U: SU(3)
P[mu,nu] = loop(mu, nu, -mu, -nu)
S = sum(3 - re(tr(P[mu,nu])), mu < nu)
Z[mu] = d(S, U[mu])
U[mu]' = -(5/6*Z[mu] + (U[mu]*Z[mu]@mu*adj(U[mu]) + adj(U[mu]@-mu)*Z[mu]@-mu*U[mu]@-mu)/12)
init U ~ hot
evolve luscher3, dt = 0.01, until = t > 1
every 1 step: mean(re(tr(P[x,y]))) -> "m.h5"
)"},
      {"angles", R"(model angles "phases by heatbath and overrelaxation"
lattice grid: 8^2
gauge U: U(1)
action S = 2*sum(1 - re(loop(mu, nu, -mu, -nu)), mu < nu)
sample heatbath, sweeps = 10, overrelax = 1
init U ~ hot
every 1 sweep: mean(re(loop(x, y, -x, -y))) -> "m.h5"
)"},
      {"quaternions", R"(model quaternions "heatbath of SU(2), two actions"
lattice grid: 4*4*2
gauge U: SU(2)
P[mu,nu] = loop(mu, nu, -mu, -nu)
action S = sum(2 - re(tr(P[mu,nu])), mu < nu)
action T = 0.6*(2 - re(tr(P[x,y])))
sample heatbath, sweeps = 10, overrelax = 1
init U ~ hot
every 1 sweep: mean(re(tr(P[x,y]))) -> "m.h5"
)"},
      {"proposals", R"(model proposals "quaternions by Metropolis"
lattice grid: 8^2
gauge U: SU(2)
P[mu,nu] = loop(mu, nu, -mu, -nu)
action S = 1.5*sum(2 - re(tr(P[mu,nu])), mu < nu)
sample metropolis, sweeps = 10, width = 0.7, hits = 4
init U ~ hot
every 1 sweep: mean(re(tr(P[x,y]))) -> "m.h5"
)"},
      {"rows", R"(model rows "heatbath of SU(3) in two rows"
lattice grid: 8^2
gauge U: SU(3), store = rows(2)
P[mu,nu] = loop(mu, nu, -mu, -nu)
action S = 1.4*sum(3 - re(tr(P[mu,nu])), mu < nu)
sample heatbath, sweeps = 10, overrelax = 1
init U ~ hot
every 1 sweep: mean(re(tr(P[x,y]))) -> "m.h5"
)"},
      {"screened", R"(model screened "a linear system with walls of its own"
param m = 0.7
lattice box: 7*5, spacing = 0.5, boundary = [fixed, periodic]
charge = exp(-x^2)*(1 + 0.3*sin(y))
A(u) = m^2*u - lap(u) - 0.2*u@y - 0.2*u@-y
phi = solve(A, charge, solver = cg(1e-12))
at end: total(phi) -> "m.h5"
)"},
      {"hopping", R"(model hopping "a complex system that is not hermitian"
lattice box: 5*4, spacing = 1, boundary = [periodic, antiperiodic]
A(u) = (4 + 0.7i)*u - exp(0.3i)*u@x - u@-x/2 - 0.8i*u@y
b = (2 - 1i)*(1 if index(x) == 0 and index(y) == 1 else 0)
phi = solve(A, b, solver = bicgstab(1e-13))
at end: total(re(phi)) -> "m.h5"
)"},
      {"quark", R"(model quark "a twisted quark in two dimensions of space and time"
param kappa = 0.12, mu_q = 0.25
lattice grid: 2*2*2*4
gauge   U: SU(2)
fermion psi: spinor, boundary(t) = antiperiodic
P[mu,nu] = loop(mu, nu, -mu, -nu)
hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))
D(psi)   = psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)
here     = index(x) == 0 and index(y) == 0 and index(z) == 0 and index(t) == 0
S[s,c]   = solve(D, here*spinor(s, c), solver = bicgstab(1e-12))
init U ~ hot
at end: total(norm2(S[1,0])), total(norm2(S[2,1])) -> "m.h5"
)"},
  };
  return kTexts;
}

// ---- faults that another text has ---------------------------------------------------------------

const std::vector<Words>& words() {
  static const std::vector<Words> kWords{
      // flows
      {"a flow of the other sign", "flow", "-2*d(S", "2*d(S"},
      {"a flow one in a million too fast", "flow", "-2*d(S", "-2.000002*d(S"},
      {"rectangles dropped", "flow", "- c*", "- 0.000001*c*"},
      {"rectangles of another coefficient", "flow", "c = 0.1", "c = 0.11"},
      {"rectangles along one direction alone", "flow", "mu != nu", "mu < nu"},
      {"a flow along an imaginary part", "phases", "+ 0.2*im", "- 0.2*im"},
      {"links at open ends that flow", "ends", "= fixed", "= open"},
      {"a gradient carried from the wrong side", "carried", "Z[mu]@-mu", "Z[mu]"},
      {"a gradient carried with the link for its adjoint", "carried", "@mu*adj(U[mu])",
       "@mu*U[mu]"},
      {"a carried gradient of another weight", "carried", "/12", "/13"},
      // draws
      {"a coupling a tenth too large", "angles", "S = 2*", "S = 2.2*"},
      {"a coupling a tenth too small", "angles", "S = 2*", "S = 1.8*"},
      {"a weight of the other sign", "angles", "S = 2*", "S = -2*"},
      {"an action dropped", "quaternions", "T = 0.6", "T = 0.000001"},
      {"a coupling of SU(2) a tenth too large", "quaternions", "S = sum", "S = 1.1*sum"},
      {"a weight of SU(2) of the other sign", "quaternions", "S = sum", "S = -sum"},
      {"acceptance of another coupling", "proposals", "S = 1.5", "S = 1.65"},
      {"acceptance of the other sign", "proposals", "S = 1.5", "S = -1.5"},
      {"a coupling of SU(3) a tenth too large", "rows", "S = 1.4", "S = 1.54"},
      {"a weight of SU(3) of the other sign", "rows", "S = 1.4", "S = -1.4"},
      // links that move by H
      {"links at an end that move", "walls", "= fixed", "= open"},
      {"links across an end", "walls", ", boundary(x) = fixed", ""},
      {"a row that goes on elsewhere", "slanted", "x = 1", "x = 2"},
      {"a straight box", "slanted", ", boundary(y) = shifted(x = 1)", ""},
      // linear systems
      {"a mass one in a hundred thousand too large", "screened", "m = 0.7", "m = 0.700007"},
      {"a Laplacian of the other sign", "screened", "- lap(u)", "+ 0.3*lap(u)"},
      {"a hop to the wrong side", "screened", "0.2*u@-y", "0.2*u@y"},
      {"a mirror for a wall", "screened", "[fixed", "[neumann"},
      {"a source of half the size", "screened", "= exp(", "= exp(0*x)/2*exp("},
      {"a phase of the other sign", "hopping", "exp(0.3i)", "exp(-0.3i)"},
      {"periodic for antiperiodic in a solve", "hopping", "antiperiodic]", "periodic]"},
      {"the conjugate of a source", "hopping", "2 - 1i", "2 + 1i"},
      {"a source at another site", "hopping", "index(y) == 1", "index(y) == 2"},
      {"quarks that hop the other way", "quark", "(1 - gamma[mu])", "(1 + gamma[mu])"},
      {"quarks with another hop", "quark", "kappa = 0.12", "kappa = 0.120001"},
      {"a twist of the other sign", "quark", "+ 2i", "- 2i"},
      {"periodic quarks", "quark", ", boundary(t) = antiperiodic", ""},
      {"quarks in another basis", "quark", "psi: spinor", "psi: spinor, basis = degrand_rossi"},
  };
  return kWords;
}

class OtherWords : public ::testing::TestWithParam<std::size_t> {};

TEST_P(OtherWords, AreFound) { expect_found(words()[GetParam()], link_texts()); }

INSTANTIATE_TEST_SUITE_P(Table, OtherWords, ::testing::Range<std::size_t>(0, words().size()),
                         names_of(words()));

// ---- faults of the compiler's own ---------------------------------------------------------------

/// In every value of the updates whose names begin so.
Plant in_updates(const std::string& name, const Change& change) {
  return [=](System& s) {
    bool planted = false;
    const auto each = [&](std::vector<physics::Update>& updates) {
      for (physics::Update& update : updates) {
        if (!update.name.starts_with(name)) continue;
        for (auto& [array, value] : update.values) {
          const Expr before = value;
          value = change(s, value);
          planted = planted || !(value == before);
        }
      }
    };
    if (auto* chain = std::get_if<physics::MarkovChain>(&s.dynamics)) each(chain->updates);
    if (auto* flow = std::get_if<physics::LinkFlow>(&s.dynamics)) {
      each(flow->gradients);
      each(flow->rates);
      each(flow->moves);
    }
    if (!planted) throw std::runtime_error("nothing was planted");
  };
}
Change each_neighbour(const std::function<Expr(Expr)>& to) { return first(neighbour, to); }

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults{
      {"a rate of one direction", "flow", in_updates("rate_y", times(1 + 1e-6))},
      {"one neighbour of a staple taken for the site", "flow",
       in_updates("rate_x", each_neighbour(at_the_site))},
      {"a direction without a rate", "flow",
       [](System& s) {
         auto& flow = std::get<physics::LinkFlow>(s.dynamics);
         flow.rates.pop_back();
         flow.moves.pop_back();
       }},
      {"links that move by twice the rate", "flow",
       [](System& s) {
         auto& flow = std::get<physics::LinkFlow>(s.dynamics);
         const int number = flow.rates[0].values[0].first;
         for (auto& [array, value] : flow.moves[0].values)
           value = algebra::substitute(value, s.arena->load(number),
                                       s.arena->integer(2) * s.arena->load(number));
       }},
      {"a gradient of the other sign", "carried", in_updates("gradient_x", times(-1))},
      {"all proposals taken", "proposals",
       in_updates("metropolis",
                  nodes(is(Op::Uniform), [](Expr e) { return e->arena->integer(0); }))},
      {"one neighbour of a weight taken for the site", "angles",
       in_updates("heatbath", each_neighbour(at_the_site))},
      {"overrelaxation about the wrong staple", "quaternions",
       in_updates("overrelax", each_neighbour(at_the_site))},
      {"overrelaxation that leaves the group", "rows", in_updates("overrelax", times(1 + 1e-6))},
      {"links of one direction that are never drawn", "proposals",
       [](System& s) {
         auto& chain = std::get<physics::MarkovChain>(s.dynamics);
         for (auto& [array, value] : chain.updates.front().values) value = s.arena->load(array);
       }},
  };
  return kFaults;
}

class PlantedInLinks : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PlantedInLinks, IsFound) { expect_found(faults()[GetParam()], link_texts()); }

INSTANTIATE_TEST_SUITE_P(Table, PlantedInLinks, ::testing::Range<std::size_t>(0, faults().size()),
                         names_of(faults()));

class RightLinks : public ::testing::TestWithParam<std::string> {};

TEST_P(RightLinks, AgreeWithTheirText) { expect_right(link_texts().at(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Texts, RightLinks,
                         ::testing::Values("flow", "phases", "ends", "walls", "slanted", "carried",
                                           "angles", "quaternions", "proposals", "rows", "screened",
                                           "hopping", "quark"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace vphi
