// Gradient flow of links against plain loops over matrices (plain_links.hpp): Luescher's scheme
// step by step, orders of schemes on groups, gauge covariance, a falling action, exact solutions.
// SU(3) in four dimensions and configurations of other programs: tests/long.
#include "tests/physics/gauge/plain_links.hpp"

namespace vphi {
namespace {

using namespace testing::flow;

TEST(LinkFlow, StepsAreLueschers) {
  if (!native()) GTEST_SKIP() << "no native device";
  expect_as_written(random_box(2, {3, 3, 2, 4}, 0.7, 3),
                    {.gauge = "SU(2)", .lattice = "3*3*2*4", .n = 2, .dt = 0.05, .steps = 4},
                    1e-13);
  Model plane{.gauge = "SU(3)", .lattice = "3*5", .dt = 0.05, .steps = 3, .clover = false};
  expect_as_written(random_box(3, {3, 5}, 0.7, 1), plane, 1e-13);
  plane.gauge = "SU(3), store = rows(2)";
  expect_as_written(random_box(3, {3, 5}, 0.7, 2), plane, 1e-13);
  plane.gauge = "SU(4)";
  plane.n = 4;
  expect_as_written(random_box(4, {3, 5}, 0.7, 4), plane, 1e-13);
  expect_as_written(
      random_box(1, {5, 3, 4}, 0.7, 5),
      {.gauge = "U(1)", .lattice = "5*3*4", .n = 1, .dt = 0.05, .steps = 5, .clover = false},
      1e-13);
}

TEST(LinkFlow, ImprovedActions) {
  if (!native()) GTEST_SKIP() << "no native device";
  for (const double c1 : {-1.0 / 12, -0.331}) {
    Model model{.gauge = "SU(2)", .lattice = "3*5", .n = 2, .dt = 0.02, .c1 = c1};
    model.steps = 4;
    model.clover = false;
    expect_as_written(random_box(2, {3, 5}, 0.7, 6), model, 1e-13);
  }
}

/// A constant abelian field with one unit of flux through x-y and one through z-t solves the
/// equations: its charge 2 (sin(phi)/phi)^2 and energy 4 sin^2(phi), phi = 2 pi/L^2, do not move.
TEST(LinkFlow, SelfDualFluxStays) {
  if (!native()) GTEST_SKIP() << "no native device";
  constexpr int kEdge = 4;
  Box box = random_box(2, {kEdge, kEdge, kEdge, kEdge}, 0, 1);
  const double phi = 2 * M_PI / (kEdge * kEdge);
  for (std::int64_t s = 0; s < box.sites(); ++s) {
    const Box::Site x = box.site(s);
    for (const int plane : {0, 2}) {
      const auto k = static_cast<std::size_t>(plane);
      const auto turn = [&](int mu, double angle) {
        Matrix& u = box.links[box.place(x, mu)];
        u.at(0, 0) = std::polar(1.0, angle);
        u.at(1, 1) = std::polar(1.0, -angle);
      };
      turn(plane + 1, phi * static_cast<double>(x[k]));
      if (x[k] == kEdge - 1) turn(plane, -phi * kEdge * static_cast<double>(x[k + 1]));
    }
  }
  const testing::ScratchFolder scratch;
  box.save(scratch / "flux.ildg");
  Model model{.gauge = "SU(2)", .lattice = "4^4", .n = 2, .dt = 0.1, .steps = 20};
  model.start = from_file(scratch / "flux.ildg");
  const runtime::RunResult result = testing::run_text(model.text(), {});
  EXPECT_NEAR(testing::last(result, "plaquette"), (2 * std::cos(phi) + 4) / 6, 1e-13);
  EXPECT_NEAR(testing::last(result, "mean(E)"), 4 * std::pow(std::sin(phi), 2), 1e-12);
  EXPECT_NEAR(testing::last(result, "Q"), 2 * std::pow(std::sin(phi) / phi, 2), 1e-12);
}

/// Halves of the step change the error by 2^order; schemes whose lines move x along one element of
/// the algebra keep their order on groups, others keep it on U(1) alone.
TEST(LinkFlow, Orders) {
  if (!native()) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  random_box(2, {4, 3, 4}, 0.8, 8).save(scratch / "su2.ildg");
  random_box(1, {4, 3, 4}, 0.8, 9).save(scratch / "u1.ildg");
  struct Case {
    std::string scheme, group;
    double order;
  };
  const Case cases[] = {{"euler", "SU(2)", 1},    {"heun", "SU(2)", 2},  {"rk3_3", "SU(2)", 3},
                        {"luscher3", "SU(2)", 3}, {"rk4", "SU(2)", 2},   {"rk4", "U(1)", 4},
                        {"luscher3", "U(1)", 3},  {"rk4_5", "SU(2)", 4}, {"heun", "U(1)", 2}};
  for (const Case& c : cases) {
    Model model{.gauge = c.group, .lattice = "4*3*4", .n = c.group == "SU(2)" ? 2 : 1};
    model.clover = false;
    model.start = from_file(scratch / (model.n == 2 ? "su2.ildg" : "u1.ildg"));
    const auto value = [&](const std::string& scheme, int steps) {
      model.scheme = scheme;
      model.steps = steps;
      model.dt = 0.64 / steps;
      return last(model, "plaquette");
    };
    const double exact = value("luscher3", 512);
    const int steps = c.scheme == "rk4" ? 32 : 16;  // behind a change of sign
    const double coarse = value(c.scheme, steps) - exact, fine = value(c.scheme, 2 * steps) - exact;
    EXPECT_NEAR(std::log2(std::abs(coarse / fine)), c.order, 0.2)
        << c.scheme << " " << c.group << " " << coarse << " " << fine;
  }
}

TEST(LinkFlow, CovariantAndFalling) {
  if (!native()) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  Box box = random_box(2, {3, 4, 3, 2}, 0.9, 10);
  box.save(scratch / "start.ildg");
  Model model{.gauge = "SU(2)", .lattice = "3*4*3*2", .n = 2, .dt = 0.04, .steps = 10};
  model.start = from_file(scratch / "start.ildg");
  const runtime::RunResult result = testing::run_text(model.text(), {});
  const auto& plaquette = result.find("plaquette")->points;
  for (std::size_t i = 1; i < plaquette.size(); ++i)
    EXPECT_GT(plaquette[i].second, plaquette[i - 1].second) << i;
  // U_mu(x) -> g(x) U_mu(x) g(x + mu)^+
  std::mt19937 random(11);
  std::vector<Matrix> g;
  for (std::int64_t s = 0; s < box.sites(); ++s) g.push_back(random_element(2, 1.5, random));
  for (std::int64_t s = 0; s < box.sites(); ++s) {
    for (int mu = 0; mu < 4; ++mu) {
      Matrix& u = box.links[static_cast<std::size_t>(4 * s + mu)];
      const auto next = box.place(box.moved(box.site(s), mu, 1), 0) / 4;
      u = g[static_cast<std::size_t>(s)] * u * adjoint(g[next]);
    }
  }
  box.save(scratch / "turned.ildg");
  model.start = from_file(scratch / "turned.ildg");
  const runtime::RunResult turned = testing::run_text(model.text(), {});
  for (const char* name : {"plaquette", "mean(E)", "Q"})
    EXPECT_NEAR(testing::last(turned, name), testing::last(result, name), 1e-12) << name;
}

/// A plane wave of small angles decays as exp(-lambda t): of Wilson's action lambda is the squared
/// lattice momentum p2, of c0 plaquettes and c1 rectangles p2*(1 - c1*p2) where it is transverse.
TEST(LinkFlow, PlaneWavesDecayAsTheyMust) {
  if (!native()) GTEST_SKIP() << "no native device";
  for (const double c1 : {0.0, -1.0 / 12}) {
    Model model{.gauge = "U(1)", .lattice = "8*4*4", .n = 1, .scheme = "rk4", .dt = 0.01, .c1 = c1};
    model.clover = false;
    const testing::ScratchFolder scratch;
    Box box = random_box(1, {8, 4, 4}, 0, 1);
    const double k = 2 * M_PI / 8;
    for (std::int64_t s = 0; s < box.sites(); ++s)
      box.links[static_cast<std::size_t>(3 * s + 1)].at(0, 0) =
          std::polar(1.0, 1e-4 * std::cos(k * static_cast<double>(box.site(s)[0])));
    box.save(scratch / "wave.ildg");
    model.start = from_file(scratch / "wave.ildg");
    const runtime::RunResult result = testing::run_text(model.text(), {});
    const auto& plaquette = result.find("plaquette")->points;
    const double p2 = 4 * std::pow(std::sin(k / 2), 2), rate = p2 * (1 - c1 * p2);
    const double measured =
        std::log((1 - plaquette.front().second) / (1 - plaquette.back().second)) /
        (2 * 0.01 * static_cast<double>(plaquette.size() - 1));
    EXPECT_NEAR(measured / rate, 1, 1e-5) << c1;
  }
}

constexpr const char* kZeuthen =
    "Z[mu] = d(S, U[mu])\n"
    "U[mu]' = -(5/6*Z[mu] + (U[mu]*Z[mu]@mu*adj(U[mu])"
    " + adj(U[mu]@-mu)*Z[mu]@-mu*U[mu]@-mu)/12)";

TEST(LinkFlow, GradientsCarriedAlongLinks) {
  if (!native()) GTEST_SKIP() << "no native device";
  Model model{.gauge = "SU(2)", .lattice = "3*5*4", .n = 2, .flow = kZeuthen, .dt = 0.02};
  model.c1 = -1.0 / 12;
  model.steps = 3;
  model.clover = false;
  Box box = random_box(2, {3, 5, 4}, 0.7, 12);
  box.zeuthen = true;
  expect_as_written(box, model, 1e-13);
  model.gauge = "SU(3)";
  model.n = 3;
  model.lattice = "3*5";
  box = random_box(3, {3, 5}, 0.7, 13);
  box.zeuthen = true;
  expect_as_written(box, model, 1e-13);
}

/// Of a wave along the diagonal p = (k, k): p2*(1 + p2/12)*(1 - p2/24), p2 = 8 sin^2(k/2).
TEST(LinkFlow, ZeuthenWave) {
  if (!native()) GTEST_SKIP() << "no native device";
  Model model{.gauge = "U(1)", .lattice = "8^2", .n = 1, .flow = kZeuthen, .scheme = "rk4"};
  model.dt = 0.01;
  model.c1 = -1.0 / 12;
  model.clover = false;
  const testing::ScratchFolder scratch;
  Box box = random_box(1, {8, 8}, 0, 1);
  const double k = 2 * M_PI / 8;
  for (std::int64_t s = 0; s < box.sites(); ++s)
    for (int mu = 0; mu < 2; ++mu) {
      const auto x = box.site(s);
      const double phase = k * (static_cast<double>(x[0] + x[1]) + 0.5);
      box.links[box.place(x, mu)].at(0, 0) =
          std::polar(1.0, (mu == 0 ? 1e-4 : -1e-4) * std::cos(phase));
    }
  box.save(scratch / "wave.ildg");
  model.start = from_file(scratch / "wave.ildg");
  const runtime::RunResult result = testing::run_text(model.text(), {});
  const auto& plaquette = result.find("plaquette")->points;
  const double p2 = 8 * std::pow(std::sin(k / 2), 2), rate = p2 * (1 + p2 / 12) * (1 - p2 / 24);
  const double measured = std::log((1 - plaquette.front().second) / (1 - plaquette.back().second)) /
                          (2 * 0.01 * static_cast<double>(plaquette.size() - 1));
  EXPECT_NEAR(measured / rate, 1, 1e-5);
}

TEST(LinkFlow, DevicesAndPrecision) {
  if (!native()) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  random_box(2, {3, 5}, 0.7, 14).save(scratch / "start.ildg");
  Model model{.gauge = "SU(2)", .lattice = "3*5", .n = 2, .flow = kZeuthen, .dt = 0.05};
  model.clover = false;
  model.start = from_file(scratch / "start.ildg");
  const auto run = [&](const testing::Simulation& setup) {
    return testing::last(testing::run_text(model.text(), setup), "plaquette");
  };
  const double native = run({});
  testing::Simulation single;
  single.precision = "f32";
  EXPECT_NEAR(run(single), native, 2e-6);
  for (const char* other : {"opencl", "cuda"}) {
    testing::Simulation setup;
    setup.device = other;
    if (!testing::device(other)) continue;
    EXPECT_NEAR(run(setup), native, 1e-13) << other;
  }
}

TEST(LinkFlow, SumsOfGradients) {
  if (!native()) GTEST_SKIP() << "no native device";
  Model whole{.gauge = "SU(2)", .lattice = "5^2", .n = 2, .dt = 0.02, .steps = 5, .clover = false};
  whole.c1 = -1.0 / 12;
  Model parts = whole;
  parts.flow =
      "A = 2*sum(n - re(tr(P[mu,nu])), mu < nu)\n"
      "action B = sum(n - re(tr(R[mu,nu])), mu != nu)\n"
      "G = d(A, U)\n"
      "U' = -(1 - 8*c1)*G - 2*c1*d(B, U)";
  Model indexed = whole;
  indexed.flow = "U[k]' = -d(S, U[k])";
  EXPECT_NEAR(last(parts, "plaquette"), last(whole, "plaquette"), 1e-14);
  EXPECT_EQ(last(indexed, "plaquette"), last(whole, "plaquette"));
  Model total = whole;
  total.flow = "T = total(S)\nU' = -d(T, U)";
  EXPECT_EQ(last(total, "plaquette"), last(whole, "plaquette"));
  Model swept = whole;  // half as fast and as fast
  swept.flow = "sweep b = [0.5, 1]\nU' = -b*d(S, U)";
  const runtime::RunResult both = testing::run_text(swept.text(), {});
  Model slow = whole;
  slow.flow = "U' = -d(S, U)/2";
  const auto& row = both.find("plaquette")->values.back();
  EXPECT_NEAR(row.at(0), last(slow, "plaquette"), 1e-14);
  EXPECT_NEAR(row.at(1), last(whole, "plaquette"), 1e-14);
}

}  // namespace
}  // namespace vphi
