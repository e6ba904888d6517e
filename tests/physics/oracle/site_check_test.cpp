// The oracle of `vphi test` for fields at sites that are drawn by local updates. Right models pass;
// each fault of a table is found.
#include <gtest/gtest.h>

#include "compiler/algebra/transform.hpp"
#include "tests/physics/oracle/planted.hpp"

namespace vphi {
namespace {

using namespace planted;

const std::map<std::string, std::string>& site_texts() {
  static const std::map<std::string, std::string> kTexts{
      {"quartic", R"(model quartic "a real field by Metropolis"
param lambda = 0.5
lattice grid: 4^2
field phi: real
action S = norm2(grad(phi))/2 + phi^2/2
action T = lambda*phi^4
sample metropolis, width = 1, hits = 2, sweeps = 10
init phi ~ normal
every 1 sweep: mean(phi^2) -> "m.h5"
)"},
      {"coupled", R"(model coupled "a complex field beside a vector"
lattice grid: 4^2
field z: complex, v: vec(2)
action S = norm2(z) + norm2(v) + norm2(z)*norm2(v)/2 - 0.3*re(z*conj(z@x)) - 0.2*dot(v, v@y)
sample metropolis, width = 0.8, sweeps = 10
init z = 0, v = [0, 0]
every 1 sweep: mean(norm2(z)) -> "m.h5"
)"},
      {"widths", R"(model widths "numbers whose widths another field changes, by heatbath"
lattice grid: 4^2
field z: complex, v: vec(2)
action S = norm2(z) + norm2(v) + norm2(z)*norm2(v)/2 - 0.3*re(z*conj(z@x)) - 0.2*dot(v, v@y)
sample heatbath, sweeps = 10
init z = 0, v = [0, 0]
every 1 sweep: mean(norm2(z)) -> "m.h5"
)"},
      {"mirrored", R"(model mirrored "a quadratic action by overrelaxation alone"
lattice grid: 4^2
field phi: real
action S = norm2(grad(phi))/2 + phi^2/4
sample overrelax, sweeps = 10
init phi ~ normal
every 1 sweep: mean(phi^2) -> "m.h5"
)"},
      {"angles", R"(model angles "spins of the plane"
lattice grid: 4^2
field th: angle
action S = -0.9*sum(cos(th@k - th), k)
sample metropolis, width = 1.5, sweeps = 10, overrelax = 1
init th ~ uniform(0, 2*pi)
every 1 sweep: mean(cos(th)) -> "m.h5"
)"},
      {"unit", R"(model unit "unit vectors in space, in a field"
lattice grid: 4^2
field n: vec(3), norm = 1
action S = -0.9*sum(dot(n, n@k), k) - 0.3*n[2]
sample metropolis, width = 1.2, sweeps = 10, overrelax = 1
init n ~ hot
every 1 sweep: mean(n[2]) -> "m.h5"
)"},
      {"ising", R"(model ising "two values by heatbath"
param K = 0.3
lattice grid: 4^2
field s: int, values = [-1, 1]
action S = -K*sum(s*s@k, k) - 0.2*s
sample heatbath, sweeps = 10
init s ~ hot
every 1 sweep: mean(s) -> "m.h5"
)"},
      {"potts", R"(model potts "four values by Metropolis"
param q = 4
lattice grid: 4^2
field s: int, values = 0..q-1
action S = -0.7*sum(s == s@k, k)
sample metropolis, sweeps = 10
init s ~ hot
every 1 sweep: mean(s) -> "m.h5"
)"},
  };
  return kTexts;
}

const std::vector<Words>& site_words() {
  static const std::vector<Words> kWords{
      {"a self coupling too large", "quartic", "lambda = 0.5", "lambda = 0.8"},
      {"an action that is left out", "quartic", "lambda = 0.5", "lambda = 0.0001"},
      {"a gradient of another size", "quartic", "grad(phi))/2", "grad(phi))/1.7"},
      {"a coupling of two fields dropped", "coupled", "norm2(v)/2", "norm2(v)/1000"},
      {"a hop of the wrong sign", "coupled", "- 0.3*re", "+ 0.3*re"},
      {"overrelaxation of another mass", "mirrored", "phi^2/4", "phi^2/4.1"},
      {"angles of another coupling", "angles", "-0.9", "-1"},
      {"unit vectors of another coupling", "unit", "-0.9", "-1"},
      {"unit vectors in the opposite field", "unit", "- 0.3", "+ 0.3"},
      {"Ising spins of another coupling", "ising", "K = 0.3", "K = 0.33"},
      {"Ising spins with the other sign", "ising", "K = 0.3", "K = -0.3"},
      {"Ising spins without their field", "ising", "- 0.2*s", "- 0.0001*s"},
      {"another set of values", "ising", "[-1, 1]", "[-1, 1, 3]"},
      {"Potts spins of another coupling", "potts", "-0.7", "-0.8"},
      {"a Potts spin too few", "potts", "q = 4", "q = 3"},
  };
  return kWords;
}

class OtherSites : public ::testing::TestWithParam<std::size_t> {};

TEST_P(OtherSites, AreFound) { expect_found(site_words()[GetParam()], site_texts()); }

INSTANTIATE_TEST_SUITE_P(Table, OtherSites, ::testing::Range<std::size_t>(0, site_words().size()),
                         names_of(site_words()));

/// In every value of the updates whose names begin so.
Plant in_site_updates(const std::string& name, const Change& change) {
  return [=](System& s) {
    bool planted = false;
    for (physics::Update& update : std::get<physics::MarkovChain>(s.dynamics).updates) {
      if (!update.name.starts_with(name)) continue;
      for (auto& [array, value] : update.values) {
        const Expr before = value;
        value = change(s, value);
        planted = planted || !(value == before);
      }
    }
    if (!planted) throw std::runtime_error("nothing was planted");
  };
}

const std::vector<Fault>& site_faults() {
  static const std::vector<Fault> kFaults{
      {"one neighbour taken for the site", "ising",
       in_site_updates("heatbath", first(neighbour, at_the_site))},
      {"one neighbour of a number taken for the site", "quartic",
       in_site_updates("metropolis", first(neighbour, at_the_site))},
      {"overrelaxation about another field", "unit",
       in_site_updates("overrelax", first(neighbour, at_the_site))},
      {"an angle turned too little", "angles", in_site_updates("overrelax", times(0.99))},
      {"a component that is never drawn", "coupled",
       [](System& s) {
         auto& values = std::get<physics::MarkovChain>(s.dynamics).updates.back().values;
         values.pop_back();
       }},
      {"every proposal taken", "potts",
       in_site_updates("metropolis",
                       nodes(is(Op::Exp), [](Expr e) { return e->arena->integer(2); }))},
  };
  return kFaults;
}

class PlantedAtSites : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PlantedAtSites, IsFound) { expect_found(site_faults()[GetParam()], site_texts()); }

INSTANTIATE_TEST_SUITE_P(Table, PlantedAtSites,
                         ::testing::Range<std::size_t>(0, site_faults().size()),
                         names_of(site_faults()));

class RightSites : public ::testing::TestWithParam<std::string> {};

TEST_P(RightSites, AgreeWithTheirText) { expect_right(site_texts().at(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Texts, RightSites,
                         ::testing::Values("quartic", "coupled", "mirrored", "angles", "unit",
                                           "ising", "potts"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace vphi
