// Quark propagators: plane waves and free propagators against momentum sums made here, solutions on
// random links against explicit sums, mesons of any gamma, even and odd sites
// (docs/formulas.md 3.1, 3.4 and 3.5).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "compiler/algebra/transform.hpp"
#include "runtime/run/session.hpp"
#include "tests/physics/gauge/free_quarks.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::run_text;
using testing::Simulation;
using namespace testing::dirac;  // NOLINT: names of the explicit sums

Simulation at_start(const std::string& device = "native") {
  Simulation setup;
  setup.device = device;
  setup.steps = 0;
  return setup;
}

// D exp(ipx) w = exp(ipx) D(p) w, component by component, with a start that is written so.
TEST(Quark, PlaneWavesAreMultipliedByTheSymbol) {
  const Free f{{4, 2, 6, 4}, 0.15, 0.3, true};
  const std::array<int, 4> k{1, 1, 2, 1};
  const auto p = momentum(f, k);
  std::string phase;
  const char* const axes[] = {"x", "y", "z", "t"};
  for (int a = 0; a < 4; ++a)
    phase += (a == 0 ? "" : " + ") + exact(p[a]) + "*index(" + axes[a] + ")";
  const auto result = run_text(
      quarks(
          f,
          "wave = " + phase +
              "\ninit U ~ cold, psi[s, c] = exp(1i*wave)*(1 + 2*s - 3i*c*(s == 2)), phi = D(psi)\n"
              "at end: scale = total(norm2(psi)), " +
              [] {
                std::string items;
                for (const char* const part : {"re", "im"})
                  for (int s = 0; s < 4; ++s)
                    for (int c = 0; c < 3; ++c) {
                      const std::string at = std::to_string(s) + std::to_string(c);
                      items += std::string(items.empty() ? "" : ", ") + part + at + " = mean(" +
                               part + "(exp(-1i*wave)*phi[" + std::to_string(s) + ", " +
                               std::to_string(c) + "]))";
                    }
                return items;
              }() +
              " -> \"d.h5\"\n"),
      at_start());
  const Spin d = dirac_of(f, p);
  for (int s = 0; s < 4; ++s) {
    for (int c = 0; c < 3; ++c) {
      C sum = 0;
      for (int r = 0; r < 4; ++r)
        sum += d[s][r] * (1.0 + 2 * r - 3.0 * kI * double(c) * (r == 2 ? 1. : 0.));
      const std::string at = std::to_string(s) + std::to_string(c);
      EXPECT_NEAR(last(result, "re" + at), sum.real(), 2e-14) << at;
      EXPECT_NEAR(last(result, "im" + at), sum.imag(), 2e-14) << at;
    }
  }
}

// Traces over spins are the same in every basis, on any links.
TEST(Quark, TracesDoNotDependOnTheBasis) {
  std::vector<double> found[2];
  for (const char* const basis : {"chiral", "degrand_rossi", "dirac"}) {
    const auto result =
        run_text(std::string("model bases \"one pion\"\nlattice grid: 2*4*2*4\ngauge U: U(1)\n") +
                     "fermion psi: spinor, boundary(t) = antiperiodic, basis = " + basis +
                     "\nhop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
                     "D(psi) = psi + 0.3i*gamma5*psi - 0.13*hop(psi)\n"
                     "here = index(x) == 0 and index(y) == 0 and index(z) == 0 and index(t) == 0\n"
                     "S[s,c] = solve(D, here*spinor(s, c), solver = cgne(1e-13))\n"
                     "at end: pion = total(sum(norm2(S[s,c]), s, c)), source = "
                     "total(here*im(sum(dot(spinor(s, c), gamma5*S[s,c]), s, c))) -> \"b.h5\"\n"
                     "init U ~ hot\n",
                 at_start());
    found[0].push_back(last(result, "pion"));
    found[1].push_back(last(result, "source"));
    // Ward's identity
    EXPECT_NEAR(-found[1].back() / 0.3, found[0].back(), 1e-10);
  }
  for (const auto& values : found)
    for (const double value : values) EXPECT_NEAR(value, values[0], 1e-10);
  EXPECT_GT(found[0][0], 1);
}

// A sign at the edge or a phase at each step in time: one is the other in another gauge.
TEST(Quark, AntiperiodicByPhase) {
  const auto pion = [](const std::string& boundary, const std::string& turned) {
    return run_text(
        "model phases \"one pion\"\nlattice grid: 2*4*2*4\ngauge U: U(1)\n"
        "fermion psi: spinor" +
            boundary +
            "\nturn = exp(1i*pi/4)\n"
            "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))" +
            turned +
            "\nD(psi) = psi + 0.3i*gamma5*psi - 0.13*hop(psi)\n"
            "here = index(x) == 0 and index(y) == 0 and index(z) == 0 and index(t) == 0\n"
            "S[s,c] = solve(D, here*spinor(s, c), solver = cgne(1e-13))\n"
            "pion = sum(norm2(S[s,c]), s, c)\ninit U ~ hot\n"
            "at end: a = total(pion*(index(t) == 1)), b = total(pion*(index(t) == 2)) "
            "-> \"p.h5\"\n",
        at_start());
  };
  const auto sign = pion(", boundary(t) = antiperiodic", "");
  const auto phase = pion("",
                          " + (turn - 1)*(1 - gamma[t])*U[t]*psi@t + "
                          "(conj(turn) - 1)*(1 + gamma[t])*U[-t]*psi@-t");
  EXPECT_NEAR(last(phase, "a"), last(sign, "a"), 1e-11);
  EXPECT_NEAR(last(phase, "b"), last(sign, "b"), 1e-11);
  EXPECT_GT(std::fabs(last(pion("", ""), "b") / last(sign, "b") - 1), 1e-5);
}

// Where gamma_t is diagonal, a hop in time reads half a spinor.
TEST(Quark, HopsInTimeReadHalfASpinor) {
  const auto reads = [](const std::string& basis) {
    const auto compiled = testing::compile_text(
        "model hop \"a hop\"\nlattice grid: 4^4\ngauge U: U(1)\nfermion psi, chi: spinor, basis "
        "= " +
            basis +
            "\nhop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
            "init U ~ cold, psi ~ normal, chi = hop(psi)\nat end: a = total(norm2(chi)) -> "
            "\"h.h5\"\n",
        at_start());
    std::size_t most = 0;
    for (const kernel::Kernel& k : compiled.plan->kernels) {
      std::set<std::pair<int, int>> found;
      for (const kernel::Store& store : k.stores)
        for (const algebra::Expr load : algebra::reads(store.value))
          if (load.is(algebra::Op::Load) && load->offset.d[3] > 0)
            found.insert({load->index, load->offset.d[3]});
      most = std::max(most, found.size());
    }
    return most;
  };
  EXPECT_EQ(reads("chiral"), 8u);
  EXPECT_EQ(reads("dirac"), 4u);
}

// Real and imaginary parts of a component have the width that is written, one by one.
TEST(Quark, NoiseByComponent) {
  const auto result =
      run_text(quarks({{8, 8, 8, 8}},
                      "init U ~ cold, psi[s, c] ~ (1 + s)*normal/sqrt(2), phi ~ normal\n"
                      "at end: a = mean(norm2(psi[0, 1])), b = mean(norm2(psi[3, 2])), "
                      "c = mean(norm2(phi[3, 2])), mixed = mean(re(dot(psi, phi))), same = "
                      "mean(re(conj(psi[0, 1])*psi[0, 2])) -> \"n.h5\"\n"),
               at_start());
  // 4096 sites of two numbers: the error of <|z|^2> is 1/64 of it
  EXPECT_NEAR(last(result, "a"), 1, 5.0 / 64);
  EXPECT_NEAR(last(result, "b"), 16, 16 * 5.0 / 64);
  EXPECT_NEAR(last(result, "c"), 2, 2 * 5.0 / 64);
  EXPECT_NEAR(last(result, "same"), 0, 5.0 / 64);
  EXPECT_NEAR(last(result, "mixed"), 0, 5.0 * 10 / 64);
}

// ---- solutions ----------------------------------------------------------------------------------

struct Way {
  const char* name;
  const char* call;
};

class Solved : public ::testing::TestWithParam<Way> {};

// b - D x with the sums of explicit_dirac.hpp, on links drawn from the whole group.
TEST_P(Solved, LeavesNoResidual) {
  const Way way = GetParam();
  const Free f{{2, 4, 2, 4}, 0.12, 0.2, true};
  const Simulation setup = at_start();
  const Compilation compilation = testing::compile_text(
      quarks(f, std::string("DD(psi) = adj(D, D(psi))\ninit U ~ hot, psi ~ normal\nchi = ") +
                    way.call + "\nat end: snapshot(chi), n = iterations(chi) -> \"x.h5\"\n"),
      setup);
  const program::Program& program = *compilation.program;
  runtime::Session session(program, *testing::device("native"));
  session.start();
  session.launch(program.outputs[0].before);
  session.launch(program.outputs[0].launches);
  const Box box{f.n, 4, 3};
  const Read state = [&](const std::string& name) {
    for (std::size_t i = 0; i < program.buffers.size(); ++i) {
      if (program.buffers[i].name == name) return session.read(static_cast<int>(i));
    }
    ADD_FAILURE() << "no array " << name;
    return std::vector<double>(static_cast<std::size_t>(box.sites()));
  };
  Field x(static_cast<std::size_t>(box.sites() * 12));
  const auto& fields = program.outputs[0].fields;
  ASSERT_EQ(fields.size(), 1u);
  ASSERT_EQ(fields[0].more.size(), 23u);
  const auto part = [&](std::size_t i) {
    return session.read(i == 0 ? fields[0].buffer : fields[0].more[i - 1].buffer);
  };
  for (std::size_t i = 0; i < 12; ++i) {
    const auto re = part(2 * i), im = part(2 * i + 1);
    for (std::size_t site = 0; site < re.size(); ++site) x[site * 12 + i] = {re[site], im[site]};
  }
  const Operator d{box, f.kappa, f.mu, false, true};
  const Field b = spinors(box, "psi", state);
  EXPECT_LT(largest_difference(applied(d, links(box, "full", state), x), b), 2e-11);
  EXPECT_GT(largest_difference(x, b), 0.1);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, Solved,
    ::testing::Values(Way{"cgne", "solve(D, psi, solver = cgne(1e-13), even_odd = off)"},
                      Way{"bicgstab", "solve(D, psi, solver = bicgstab(1e-13), even_odd = off)"},
                      Way{"cg_of_the_square",
                          "solve(DD, adj(D, psi), solver = cg(1e-13), even_odd = off)"},
                      Way{"cgne_halves", "solve(D, psi, solver = cgne(1e-13))"},
                      Way{"bicgstab_halves", "solve(D, psi, solver = bicgstab(1e-13))"}),
    [](const auto& test) { return std::string(test.param.name); });

// The solution is that of the whole system, in fewer rounds.
TEST(Quark, HalvesGiveTheSameInFewerRounds) {
  const auto result = run_text(
      quarks(
          {{4, 4, 4, 4}, 0.13, 0.1, true},
          "init U ~ hot, psi ~ normal\nchi = solve(D, psi, solver = cgne(1e-13))\n"
          "whole = solve(D, psi, solver = cgne(1e-13), even_odd = off)\n"
          "at end: n = iterations(chi), n_all = iterations(whole), left = residual(chi), "
          "left_all = residual(whole), off = sqrt(total(norm2(chi - whole))/total(norm2(whole))) "
          "-> \"h.h5\"\n"),
      at_start());
  EXPECT_LT(last(result, "off"), 1e-11);
  EXPECT_LT(last(result, "left"), 5e-13);
  EXPECT_LT(last(result, "left_all"), 5e-13);
  EXPECT_GT(last(result, "n"), 5);
  EXPECT_LT(last(result, "n"), 0.75 * last(result, "n_all"));
}

// Rounds in single precision, what is left in double: as small a residual, and in f64 alone less.
TEST(Quark, MixedPrecisionReachesDouble) {
  const auto result = run_text(
      quarks(
          {{4, 4, 4, 4}, 0.13, 0.1, true},
          "init U ~ hot, psi ~ normal\n"
          "a = solve(D, psi, solver = cgne(1e-12))\n"
          "b = solve(D, psi, solver = cgne(1e-12, inner = f32))\n"
          "c = solve(D, psi, solver = bicgstab(1e-12, inner = f32), even_odd = off)\n"
          "at end: n = iterations(a), n_b = iterations(b), n_c = iterations(c), left_b = "
          "residual(b), left_c = residual(c), off_b = sqrt(total(norm2(a - b))/total(norm2(a))), "
          "off_c = sqrt(total(norm2(a - c))/total(norm2(a))) -> \"m.h5\"\n"),
      at_start());
  EXPECT_LT(last(result, "left_b"), 3e-12);
  EXPECT_LT(last(result, "left_c"), 3e-12);
  EXPECT_LT(last(result, "off_b"), 1e-11);
  EXPECT_LT(last(result, "off_c"), 1e-11);
  // at most what the last ten to one goes too far, and a little
  EXPECT_GE(last(result, "n_b"), last(result, "n"));
  EXPECT_LE(last(result, "n_b"), 1.15 * last(result, "n") + 1);
}

// The direction of search is kept where the true residual comes in; a text that does not say how it
// goes on begins anew. Nothing is done for a source that is 0.
TEST(Quark, ReliableUpdatesKeepTheDirection) {
  const auto result = run_text(
      quarks({{4, 4, 4, 4}, 0.15, 0.05, true},
             "solver plain(A(x) = b, tol = 1e-8, max = 10000) {\n"
             "  r = b - A(x)\n  z = adj(A, r)\n  p = z\n  zz = total(norm2(z))\n"
             "  rr = total(norm2(r))\n  repeat until = rr <= tol^2*total(norm2(b)) {\n"
             "    q = A(p)\n    alpha = zz/total(norm2(q))\n    x = x + alpha*p\n"
             "    r = r - alpha*q\n    z = adj(A, r)\n    rr = total(norm2(r))\n"
             "    new = total(norm2(z))\n    p = z + new/zz*p\n    zz = new\n  }\n}\n"
             "init U ~ hot, psi ~ normal\n"
             "a = solve(D, psi, solver = cgne(1e-12))\n"
             "b = solve(D, psi, solver = cgne(1e-12, inner = f32))\n"
             "c = solve(D, psi, solver = plain(1e-12, inner = f32))\n"
             "d = solve(D, 0*psi, solver = cgne(1e-12, inner = f32))\n"
             "at end: n = iterations(a), n_b = iterations(b), n_c = iterations(c), n_d = "
             "iterations(d), left = residual(b), left_c = residual(c), nothing = "
             "total(norm2(d)), off = sqrt(total(norm2(a - b))/total(norm2(a))) -> \"r.h5\"\n"),
      at_start());
  EXPECT_LE(last(result, "n_b"), 1.15 * last(result, "n") + 1);
  EXPECT_GT(last(result, "n_c"), 1.2 * last(result, "n"));
  EXPECT_LT(last(result, "left"), 3e-12);
  EXPECT_LT(last(result, "left_c"), 3e-12);
  EXPECT_LT(last(result, "off"), 1e-10);
  EXPECT_EQ(last(result, "n_d"), 0);
  EXPECT_EQ(last(result, "nothing"), 0);
}

// Nothing of a round goes over all sites: two applications of two kernels each, with the sums of
// what they make; x and r with theirs; the direction.
TEST(Quark, ARoundOfHalvesIsSixKernelsOfHalfTheSites) {
  const auto compiled = testing::compile_text(
      quarks({{4, 4, 4, 4}},
             "init U ~ hot, psi ~ normal\nb = solve(D, psi, solver = cgne(1e-12))\n"
             "at end: left = residual(b) -> \"m.h5\"\n"),
      at_start());
  ASSERT_TRUE(compiled.program);
  ASSERT_EQ(compiled.program->solves.size(), 1u);
  std::size_t stored = 0;
  for (const program::Launch& launch : compiled.program->solves[0].iterate) {
    const auto& k = compiled.plan->kernels[static_cast<std::size_t>(launch.kernel)];
    EXPECT_TRUE(k.colours.has_value()) << k.name;
    EXPECT_FALSE(k.still.empty()) << k.name;
    stored += k.stores.size();
  }
  EXPECT_EQ(compiled.program->solves[0].iterate.size(), 6u);
  EXPECT_EQ(stored, 7u * 24u);
}

// Each instance has as many rounds as it has by itself, and stands still after them.
TEST(Quark, HalvesOfEachInstance) {
  const auto text = [](const std::string& masses) {
    return "model masses \"one propagator for each mass\"\nsweep kappa = " + masses +
           "\nlattice grid: 4*2*2*4\ngauge U: U(1)\nfermion psi: spinor\n"
           "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
           "D(psi) = psi - kappa*hop(psi)\ninit U ~ hot, psi ~ normal\n"
           "chi = solve(D, psi, solver = cgne(1e-11))\n"
           "at end: n = iterations(chi), left = residual(chi), a = total(norm2(chi)) -> "
           "\"k.csv\"\nexpect residual(chi) < 1e-10\n";
  };
  const auto iterations = [&](const std::string& masses) {
    const auto compiled = testing::compile_text(text(masses), at_start());
    const program::Program& program = *compiled.program;
    runtime::Session session(program, *testing::device("native"));
    session.start();
    session.launch(program.outputs[0].before);
    session.launch(program.outputs[0].launches);
    std::vector<double> counts;
    const auto slot = static_cast<std::size_t>(program.solves[0].iterations_slot);
    for (std::size_t i = slot; i < session.scalars().size(); i += program.scalars.size())
      counts.push_back(session.scalars()[i]);
    return counts;
  };
  EXPECT_TRUE(run_text(text("[0.05, 0.2, 0.11]"), at_start()).all_expected());
  const auto all = iterations("[0.05, 0.2, 0.11]");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0], iterations("[0.05]")[0]);
  EXPECT_EQ(all[1], iterations("[0.2]")[0]);
  EXPECT_GT(all[1], all[0]);
}

// The inner rounds are in f32, the others in f64.
TEST(Quark, MixedPrecisionHasKernelsOfBoth) {
  const auto compiled =
      testing::compile_text(quarks({{4, 4, 4, 4}},
                                   "init U ~ hot, psi ~ normal\n"
                                   "b = solve(D, psi, solver = cgne(1e-12, inner = f32))\n"
                                   "at end: left = residual(b) -> \"m.h5\"\n"),
                            at_start());
  ASSERT_TRUE(compiled.program);
  ASSERT_EQ(compiled.program->solves.size(), 2u);
  const auto precisions = [&](const program::Solve& solve) {
    std::vector<kernel::Precision> all;
    for (const program::Launch& launch : solve.iterate) {
      const auto& k = compiled.plan->kernels[static_cast<std::size_t>(launch.kernel)];
      if (!k.stores.empty()) all.push_back(k.compute);
    }
    return all;
  };
  for (const auto p : precisions(compiled.program->solves[0])) EXPECT_EQ(p, kernel::Precision::F32);
  const auto outer = precisions(compiled.program->solves[1]);
  EXPECT_GE(std::ranges::count(outer, kernel::Precision::F64), 2);
}

// Two dimensions and U(1), where kernels are small: the same on OpenCL.
TEST(Quark, OpenClGivesTheSame) {
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL here";
  const std::string text =
      "model flat \"quarks in two dimensions\"\nlattice grid: [6, 4]\ngauge U: U(1)\n"
      "fermion psi: spinor, boundary(y) = antiperiodic\n"
      "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
      "D(psi) = psi + 0.06i*gamma5*psi - 0.2*hop(psi)\ninit U ~ hot, psi ~ normal\n"
      "a = solve(D, psi, solver = cgne(1e-12), even_odd = off)\n"
      "at end: n = iterations(a), left = residual(a), size = total(norm2(a)), far = "
      "total(index(x)*im(a[1, 0])) -> \"f.h5\"\n";
  const auto native = run_text(text, at_start()), opencl = run_text(text, at_start("opencl"));
  for (const auto* result : {&native, &opencl}) EXPECT_LT(last(*result, "left"), 3e-12);
  EXPECT_EQ(last(native, "n"), last(opencl, "n"));
  EXPECT_NEAR(last(native, "size"), last(opencl, "size"), 1e-9);
  EXPECT_NEAR(last(native, "far"), last(opencl, "far"), 1e-9);
}

// An odd extent joins sites of one parity: there are no halves, and the solution is right.
TEST(Quark, AnOddBoxHasNoHalves) {
  const auto program = [](const std::array<int, 4>& n) {
    const auto compiled = testing::compile_text(
        quarks({n},
               "init U ~ hot, psi ~ normal\nchi = solve(D, psi, solver = bicgstab(1e-12))\n"
               "at end: left = residual(chi) -> \"o.h5\"\n"),
        at_start());
    EXPECT_TRUE(compiled.program);
    return compiled;
  };
  const auto odd = program({3, 4, 2, 4});
  EXPECT_FALSE(odd.system->solves[0].even_odd.has_value());
  EXPECT_TRUE(program({2, 4, 2, 4}).system->solves[0].even_odd.has_value());
  EXPECT_LT(last(testing::run_program(*odd.program, at_start()), "left"), 1e-11);
}

// ---- correlators --------------------------------------------------------------------------------

TEST(Quark, FreePionIsTheMomentumSum) {
  const Free f{{4, 4, 4, 4}, 0.15, 0.5, true};
  // docs/formulas.md 3.5
  const double printed[] = {0.01720354, 0.00222296, 0.00043141, 0.00222296};
  const auto expected = free_pion(f);
  const auto result = run_text(quarks(f, "init U ~ cold\n" + pions("cgne(1e-13)", 3)), at_start());
  for (int t = 0; t < 4; ++t) {
    EXPECT_NEAR(expected[t], printed[t], 5e-9) << t;
    EXPECT_NEAR(last(result, "pion" + std::to_string(t)) / 64, expected[t], 1e-12) << t;
  }
}

// -sum tr[G S G gamma5 S^+ gamma5] of free quarks for two gammas, summed over all sites with a
// weight of its own for each.
TEST(Quark, MesonsOfAnyGamma) {
  const Free f{{2, 2, 4, 4}, 0.14, 0, true};
  const auto result = run_text(
      quarks(f, kPoint +
                    "S[s,c] = solve(D, point*spinor(s, c), solver = cgne(1e-13))\n"
                    "quark(b) = sum(dot(spinor(s, c), b)*S[s,c], s, c)\n"
                    "meson(G) = -re(sum(dot(S[s,c], gamma5*G*quark(G*gamma5*spinor(s, c))), s, "
                    "c))\nweight = 1 + index(x) + 3*index(z) + index(t)^2\ninit U ~ cold\n"
                    "at end: gx = total(weight*meson(gamma[x])), gt = "
                    "total(weight*meson(gamma[t]*gamma5)) -> \"c.h5\"\n"),
      at_start());
  const Spin g5 = diagonal(1, -1);
  const std::pair<const char*, Spin> gammas[] = {{"gx", gamma(0, false)},
                                                 {"gt", product(gamma(3, false), g5)}};
  for (const auto& [name, g] : gammas) {
    double sum = 0;
    const Box box{f.n, 4, 3};
    for (int site = 0; site < box.sites(); ++site) {
      const auto x = box.place(site);
      const Spin s = propagator(f, x);
      const Spin all = product(product(product(g, s), product(g, g5)), product(conjugate(s), g5));
      for (int i = 0; i < 4; ++i) sum -= 3 * (1 + x[0] + 3 * x[2] + x[3] * x[3]) * all[i][i].real();
    }
    EXPECT_NEAR(last(result, name), sum, 1e-10) << name;
    EXPECT_GT(std::fabs(sum), 1e-3);
  }
}

}  // namespace
}  // namespace vphi
