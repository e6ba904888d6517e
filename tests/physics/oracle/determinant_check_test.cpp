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

void expect_passes(const std::string& text, std::size_t least = 5) {
  const auto d = physics::test::derived(text);
  const auto rows = tools::check_derivatives(*d.resolved, *d.system);
  std::size_t compared = 0;
  for (const tools::DerivativeRow& row : rows) {
    if (row.not_checked.empty()) ++compared;
    EXPECT_TRUE(row.right() || !row.not_checked.empty()) << report(rows);
  }
  EXPECT_GE(compared, least) << report(rows);
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

constexpr const char* kBelow = "1/pseudofermion(D, solver = cg(1e-12))";
constexpr const char* kBelowHalves = "pseudofermion(D, solver = cgne(1e-12), even_odd = on)^(-1)";

TEST(DeterminantCheck, ThoseBelowTheLineAreCompared) {
  for (const char* action : {kBelow, kBelowHalves}) {
    expect_passes(quarks(action), 4);
    const std::string others[] = {quarks(action, "0.21"),
                                  quarks(action, "0.2", "(1 + gamma[mu])*U[mu]*psi@mu"),
                                  quarks(action, "0.2", kHop, "periodic")};
    for (const std::string& other : others) {
      const Verdict verdict = judged(quarks(action), other);
      EXPECT_TRUE(verdict.found) << other << verdict.rows;
    }
  }
}

/// Quarks of two or one components on links of U(1), whose fields are small enough for
/// eigenvectors.
std::string powers(const std::string& action, bool staggered = false,
                   const std::string& m = "0.3") {
  const std::string own =
      staggered ? "spinor(1), boundary(y) = antiperiodic\neta[k] = 1 if k == x else 1 - "
                  "2*mod(index(x), 2)\nD(psi) = m*psi + sum(eta[k]*(U[k]*psi@k - "
                  "U[-k]*psi@-k), k)/2\n"
                : "spinor(2), boundary(y) = antiperiodic\nD(psi) = psi + 1i*m*gamma5*psi - "
                  "0.15*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n";
  return "model powers \"a power of a determinant\"\nparam m = " + m +
         "\nlattice grid: 4*2\ngauge U: U(1)\nfermion psi: " + own + "action S = " + action +
         "\nsample hmc, trajectories = 2, tau = 1 {\n  level S: steps = 2, scheme = omelyan2\n}\n" +
         "init U ~ hot\nevery 1 trajectory: deltaH -> \"m.csv\"\n";
}

constexpr const char* kRoot = "pseudofermion(D, solver = multishift(1e-11), tol = 1e-9)^(1/2)";
constexpr const char* kRootOfHalves =
    "pseudofermion(D, solver = multishift(1e-11), tol = 1e-9, even_odd = on)^(-3/4)";
constexpr const char* kRootWithoutFraction =
    "pseudofermion(D, solver = cg(1e-11), even_odd = on)^(1/2)";

TEST(DeterminantCheck, PowersAreCompared) {
  expect_passes(powers(kRoot), 3);
  expect_passes(powers(std::string(kRoot) + "*pseudofermion(D, solver = cg(1e-11), m = 1)"));
  expect_passes(powers(kRootOfHalves), 3);
  expect_passes(powers(kRoot, true), 3);
  expect_passes(powers(kRootWithoutFraction, true), 3);
  const std::string third = "pseudofermion(D, solver = multishift(1e-11), tol = 1e-9)^(1/3)";
  const std::pair<std::string, std::string> faults[] = {
      {powers(kRoot), powers(kRoot, false, "0.301")},
      {powers(kRoot), powers(third)},
      {powers(kRootOfHalves), powers(kRootOfHalves, false, "0.301")},
      {powers(kRootWithoutFraction, true), powers(kRootWithoutFraction, true, "0.301")},
  };
  for (const auto& [text, other] : faults) {
    const Verdict verdict = judged(text, other);
    EXPECT_TRUE(verdict.found) << other << verdict.rows;
  }
}

/// Fields at sites in the numbers of the operator: phi, X and Y, and the momenta of both.
TEST(DeterminantCheck, FieldsInNumbersAreCompared) {
  const auto with = [](const std::string& coupling, const std::string& action) {
    std::string text = powers(action);
    const auto put = [&](const std::string& before, const std::string& words) {
      text.insert(text.find(before), words);
    };
    put("fermion", "field phi: real\nparam g = " + coupling + "\n");
    put("- 0.15*sum", "+ g*phi@x*psi ");
    put("sample", "action T = phi^2/2\n");
    put("init U", "init phi ~ normal\n");
    text.replace(text.find("level S"), 7, "level S, T");
    return text;
  };
  for (const std::string& action : {std::string(kOne), std::string(kQuotient), std::string(kBelow),
                                    std::string("pseudofermion(D, solver = multishift(1e-11), tol "
                                                "= 1e-9, range = [1e-3, 20])^(1/2)")}) {
    expect_passes(with("0.3", action), 4);
    const Verdict verdict = judged(with("0.3", action), with("0.31", action));
    EXPECT_TRUE(verdict.found) << verdict.rows;
  }
  const Verdict fault = judged(with("0.3", kOne), [](System& s) {
    for (physics::Update& kick : std::get<physics::Trajectory>(s.dynamics).levels.at(0).kicks) {
      if (kick.name != "kick_S_numbers") continue;
      auto& [array, value] = kick.values.at(0);
      const Expr p = s.arena->load(array);
      value = p + s.arena->real(1 + 1e-6) * (value - p);
    }
  });
  EXPECT_TRUE(fault.found) << fault.rows;
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
