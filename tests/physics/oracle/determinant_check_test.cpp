// The oracle of `vphi test` for determinants in trajectories: right models pass, and each planted
// fault is found. The System is that of a changed text, or one expression of it is changed.
#include <gtest/gtest.h>

#include "tests/physics/oracle/planted.hpp"

namespace vphi {
namespace {

using namespace planted;

std::string quarks(const std::string& action, const std::string& kappa = "0.2",
                   const std::string& hop = "(1 - gamma[mu])*U[mu]*psi@mu",
                   const std::string& wall = "antiperiodic") {
  return "model quarks \"a determinant\"\nparam kappa = " + kappa +
         ", m = 0.3\nlattice grid: 4*2\ngauge U: SU(2)\nfermion psi: spinor, boundary(y) = " +
         wall + "\nhop(psi) = sum(" + hop + ", mu = directions(+,-))\n" +
         "D(psi) = psi + 1i*m*gamma5*psi - kappa*hop(psi)\naction S = " + action +
         "\nsample hmc, trajectories = 2, tau = 1 {\n  level S: steps = 2, scheme = omelyan2\n}\n" +
         "init U ~ hot\nevery 1 trajectory: deltaH -> \"m.csv\"\n";
}

constexpr const char* kOne = "pseudofermion(D, solver = cg(1e-12))";
constexpr const char* kQuotient =
    "pseudofermion(D, solver = cgne(1e-12))/pseudofermion(D, m = 0.6, solver = cgne(1e-12))";
constexpr const char* kKappas =
    "pseudofermion(D, solver = cg(1e-12))/pseudofermion(D, kappa = 0.1, solver = cg(1e-12))*"
    "pseudofermion(D, m = 1, solver = cg(1e-12))";

constexpr const char* kHalves = "pseudofermion(D, solver = cg(1e-12), even_odd = on)";
constexpr const char* kQuotientOfHalves =
    "pseudofermion(D, solver = cgne(1e-12), even_odd = on, start = past(2))/pseudofermion(D, kappa "
    "= 0.1, m = 0.6, solver = cg(1e-12), even_odd = on)";

/// The determinant on smeared links, or the plaquettes of these links.
std::string smeared(const std::string& rho, bool loops = false) {
  std::string text = quarks(
      loops ? "sum(2 - re(tr(loop(V, mu, nu, -mu, -nu))), mu < nu) - im(tr(P[x,y]))*0.3" : kOne,
      "0.2", "(1 - gamma[mu])*V[mu]*psi@mu");
  const std::string lines =
      "P[mu,nu] = loop(mu, nu, -mu, -nu)\nB = sum(2 - re(tr(P[mu,nu])), mu < nu)\n"
      "V[mu] = exp(-" +
      rho + "*d(B, U[mu]))*U[mu]\n";
  const std::size_t fermion = text.find("fermion"), action = text.find("action");
  if (loops) text.erase(fermion, action - fermion);
  return text.insert(fermion, lines);
}

void expect_passes(const std::string& text) {
  const auto d = physics::test::derived(text);
  const auto rows = tools::check_derivatives(*d.resolved, *d.system);
  std::size_t compared = 0;
  for (const tools::DerivativeRow& row : rows) {
    if (row.not_checked.empty()) ++compared;
    EXPECT_TRUE(row.right() || !row.not_checked.empty()) << report(rows);
  }
  EXPECT_GE(compared, 5U) << report(rows);
}

TEST(DeterminantCheck, RightModelsPass) {
  expect_passes(quarks(kOne));
  expect_passes(quarks(kQuotient));
  expect_passes(quarks(kKappas));
  expect_passes(quarks(kHalves));
  expect_passes(quarks(kQuotientOfHalves));
  expect_passes(smeared("0.2"));
  expect_passes(smeared("0.2", true));
}

constexpr const char* kHop = "(1 - gamma[mu])*U[mu]*psi@mu";

TEST(DeterminantCheck, OtherTwistsAreFound) {
  const auto twisted = [](const std::string& angle) {
    return quarks(kOne, "0.2", kHop, "twisted(" + angle + ")");
  };
  expect_passes(twisted("0.9"));
  for (const char* other : {"0.91", "-0.9", "0.9 + pi"}) {
    const Verdict verdict = judged(twisted("0.9"), twisted(other));
    EXPECT_TRUE(verdict.found) << other << verdict.rows;
  }
}

/// Links that end along x: in the derived model alone, and in both.
TEST(DeterminantCheck, OtherEndsAreFound) {
  const std::string periodic = quarks(kOne, "0.2", kHop, "periodic");
  std::string open = periodic;
  const std::string gauge = "gauge U: SU(2)";
  open.insert(open.find(gauge) + gauge.size(), ", boundary(x) = open");
  expect_passes(open);
  const Verdict verdict = judged(periodic, open);
  EXPECT_TRUE(verdict.found) << verdict.rows;
  std::string held = open;  // no force on links along y and z at the first and the last site
  held.replace(held.find("= open"), 6, "= fixed");
  expect_passes(held);
  const Verdict moved = judged(held, open);
  EXPECT_TRUE(moved.found) << moved.rows;
}

TEST(DeterminantCheck, OtherWordsAreFound) {
  const std::string right = quarks(kOne);
  const std::string others[] = {
      quarks(kOne, "0.21"),
      quarks(kOne, "-0.2"),
      quarks(kOne, "0.2", "(1 + gamma[mu])*U[mu]*psi@mu"),
      quarks(kOne, "0.2", "(1 - gamma[mu])*U[-mu]*psi@-mu"),
      quarks(kOne, "0.2", "(1 - gamma[mu])*U[mu]*psi@mu", "periodic"),
      quarks("pseudofermion(D, m = 0.31, solver = cg(1e-12))"),
  };
  for (const std::string& other : others) {
    const Verdict verdict = judged(right, other);
    EXPECT_TRUE(verdict.found) << other << verdict.rows;
  }
  const Verdict verdict =
      judged(quarks(kQuotient),
             quarks("pseudofermion(D, solver = cgne(1e-12))/pseudofermion(D, m = 0.61, solver = "
                    "cgne(1e-12))"));
  EXPECT_TRUE(verdict.found) << verdict.rows;
}

TEST(DeterminantCheck, OtherLinksAreFound) {
  for (const bool loops : {false, true}) {
    const Verdict other = judged(smeared("0.2", loops), smeared("0.21", loops));
    EXPECT_TRUE(other.found) << other.rows;
    for (const char* part : {"links_V_x", "exponent_V_y", "carried_S_V_x"}) {
      const Verdict fault = judged(smeared("0.2", loops), [&](System& s) {
        auto& level = std::get<physics::Trajectory>(s.dynamics).levels.at(0);
        for (physics::Update& update : level.before_kicks) {
          if (update.name != part) continue;
          Expr& value = update.values.at(0).second;
          value = s.arena->real(1 + 1e-5) * value;
        }
      });
      EXPECT_TRUE(fault.found) << part << fault.rows;
    }
  }
}

TEST(DeterminantCheck, OtherWordsOfHalvesAreFound) {
  for (const char* action : {kHalves, kQuotientOfHalves}) {
    const std::string others[] = {
        quarks(action, "0.21"),
        quarks(action, "0.2", "(1 + gamma[mu])*U[mu]*psi@mu"),
        quarks(action, "0.2", "(1 - gamma[mu])*U[mu]*psi@mu", "periodic"),
    };
    for (const std::string& other : others) {
      const Verdict verdict = judged(quarks(action), other);
      EXPECT_TRUE(verdict.found) << other << verdict.rows;
    }
  }
}

/// A level of the trajectory, changed.
Plant in_level(const std::function<void(System&, physics::Trajectory::Level&)>& change) {
  return [=](System& s) { change(s, std::get<physics::Trajectory>(s.dynamics).levels.at(0)); };
}

TEST(DeterminantCheck, PlantedFaultsAreFound) {
  const Plant faults[] = {
      // the kick off by a millionth, with the other sign, along one axis alone
      in_level([](System& s, auto& level) {
        auto& [array, value] = level.kicks.at(0).values.at(1);
        const Expr p = s.arena->load(array);
        value = p + s.arena->real(1 + 1e-6) * (value - p);
      }),
      in_level([](System& s, auto& level) {
        auto& [array, value] = level.kicks.at(1).values.at(2);
        value = s.arena->integer(2) * s.arena->load(array) - value;
      }),
      in_level([](System&, auto& level) { level.kicks.pop_back(); }),
      // Y of another operator, and an X that is solved for another right side
      in_level([](System& s, auto& level) {
        auto& [array, value] = level.before_kicks.back().values.at(3);
        value = s.arena->real(1 + 1e-6) * value;
      }),
      [](System& s) { s.solves.at(0).source.at(2) = -s.solves.at(0).source.at(2); },
      [](System& s) {
        s.solves.at(0).op.image.at(5) = s.arena->integer(2) * s.solves.at(0).op.image.at(5);
      },
      // phi is not D eta
      [](System& s) {
        auto& [array, value] = std::get<physics::Trajectory>(s.dynamics).drawn.at(0).values.at(4);
        value = s.arena->real(1 + 1e-6) * value;
      },
  };
  for (std::size_t i = 0; i < std::size(faults); ++i) {
    const Verdict verdict = judged(quarks(kOne), faults[i]);
    EXPECT_TRUE(verdict.found) << i << "\n" << verdict.rows;
  }
}

}  // namespace
}  // namespace vphi
