// Markov chains of links against exact averages, against the interpreter, and updates in place
// against updates of all links at once (docs/formulas.md 2.3, 2.4 and 2.7).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/interpret/interpret.hpp"
#include "compiler/kernel/kernel.hpp"
#include "runtime/run/session.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::Simulation;

struct Action {
  std::string lattice, group, sum, sample;
};

std::string model(const Action& a, const std::string& more = "") {
  return "model chain \"links\"\nlattice grid: " + a.lattice + "\ngauge U: " + a.group +
         "\nP[mu,nu] = loop(mu, nu, -mu, -nu)\nR[mu,nu] = loop(2*mu, nu, -2*mu, -nu)\n"
         "action S = " +
         a.sum + "\nsample " + a.sample + "\ninit U ~ hot\n" + more;
}

// ---- exact plaquettes -------------------------------------------------------------------------

struct Exact {
  const char* group;
  const char* trace;  ///< of a plaquette, 1 at U = 1
  const char* action;
  const char* sample;
  double plaquette;
};

class Plaquette : public ::testing::TestWithParam<Exact> {};

// Plaquettes in two dimensions are independent but for the torus: u = I1/I0, I2/I1, d(ln
// z)/d(beta).
TEST_P(Plaquette, InTwoDimensionsIsExact) {
  const Exact e = GetParam();
  const Action a{"8*16", e.group, e.action, e.sample};
  const std::string text =
      model(a, std::string("sweep chain = 1..16\n") + "u = mean(" + e.trace +
                   ", mu < nu)\naverage = mean(u, over = [chain, time])\n"
                   "every 400 sweeps, after = sweep > 40: average, width = error(average) -> "
                   "\"chain.h5\"\n");
  const auto result = testing::run_text(text, {});
  const double average = testing::last(result, "average"), width = testing::last(result, "width");
  EXPECT_GT(width, 0);
  EXPECT_LT(width, 3e-3);
  EXPECT_NEAR(average, e.plaquette, 3.5 * width);
}

INSTANTIATE_TEST_SUITE_P(
    Groups, Plaquette,
    ::testing::Values(Exact{"U(1)", "re(P[mu,nu])", "2*sum(1 - re(P[mu,nu]), mu < nu)",
                            "heatbath, sweeps = 400, overrelax = 1, tries = 1", 0.6977746580},
                      Exact{"U(1)", "re(P[mu,nu])", "2*sum(1 - re(P[mu,nu]), mu < nu)",
                            "heatbath, sweeps = 400, overrelax = 1, tries = 4", 0.6977746580},
                      // sum_n cos(2 pi n/N) exp(beta cos(2 pi n/N)) over the same without cos
                      Exact{"Z(2)", "re(P[mu,nu])", "sum(1 - re(P[mu,nu]), mu < nu)",
                            "heatbath, sweeps = 400", 0.7615941560},
                      Exact{"Z(2)", "re(P[mu,nu])", "sum(1 - re(P[mu,nu]), mu < nu)",
                            "metropolis, sweeps = 400, hits = 1", 0.7615941560},
                      Exact{"Z(3)", "re(P[mu,nu])", "sum(1 - re(P[mu,nu]), mu < nu)",
                            "heatbath, sweeps = 400", 0.5371576811},
                      Exact{"Z(5)", "re(P[mu,nu])", "1.5*sum(1 - re(P[mu,nu]), mu < nu)",
                            "metropolis, sweeps = 400", 0.6036545996},
                      Exact{"SU(2)", "re(tr(P[mu,nu]))/2", "4/2*sum(2 - re(tr(P[mu,nu])), mu < nu)",
                            "heatbath, sweeps = 400, overrelax = 1, tries = 1", 0.6580472674},
                      Exact{"SU(2)", "re(tr(P[mu,nu]))/2", "4/2*sum(2 - re(tr(P[mu,nu])), mu < nu)",
                            "heatbath, sweeps = 400, overrelax = 1, tries = 4", 0.6580472674},
                      Exact{"SU(2), store = full", "re(tr(P[mu,nu]))/2",
                            "1/2*sum(2 - re(tr(P[mu,nu])), mu < nu)", "heatbath, sweeps = 400",
                            0.2401937239},
                      Exact{"SU(2)", "re(tr(P[mu,nu]))/2", "4/2*sum(2 - re(tr(P[mu,nu])), mu < nu)",
                            "metropolis, sweeps = 400, hits = 4, width = 0.6, overrelax = 1",
                            0.6580472674},
                      Exact{"SU(3), store = rows(2)", "re(tr(P[mu,nu]))/3",
                            "6/3*sum(3 - re(tr(P[mu,nu])), mu < nu)",
                            "heatbath, sweeps = 400, overrelax = 1, tries = 1", 0.4225317397},
                      Exact{"SU(3), store = rows(2)", "re(tr(P[mu,nu]))/3",
                            "6/3*sum(3 - re(tr(P[mu,nu])), mu < nu)",
                            "heatbath, sweeps = 400, overrelax = 1, tries = 4", 0.4225317397}));

struct Torus {
  const char* shift;
  Action links;
  const char* trace;
  double plaquette;
};

// A torus of two dimensions has the plaquettes of its area V, however its rows are joined: the
// logarithmic slope of sum_n I_n^V by beta for U(1), of sum_n (I_n/beta)^V for SU(2), over V.
TEST(ShiftedChain, PlaquettesFollowFromTheArea) {
  const std::string u1 = "sum(1 - re(P[mu,nu]), mu < nu)",
                    metropolis = "metropolis, width = 1.5, sweeps = 2000";
  const std::string su2 = "1.5*sum(1 - re(tr(P[mu,nu]))/2, mu < nu)",
                    heat = "heatbath, sweeps = 2000";
  for (const Torus& torus :
       {Torus{"2", {"8*4", "U(1)", u1, heat}, "re(P[x,y])", 0.4463899659},
        Torus{"2", {"4*2", "U(1)", u1, heat + ", overrelax = 1"}, "re(P[x,y])", 0.4488851448},
        Torus{"2", {"4*2", "U(1)", u1, metropolis}, "re(P[x,y])", 0.4488851448},
        Torus{"-2", {"4*4", "SU(2)", su2, heat}, "re(tr(P[x,y]))/2", 0.3441440288}}) {
    Action a = torus.links;
    a.lattice += std::string(", boundary(y) = shifted(x = ") + torus.shift + ")";
    const auto result = testing::run_text(
        model(a, std::string("sweep chain = 1..16\naverage = mean(mean(") + torus.trace +
                     "), over = [chain, time])\nevery 2000 sweeps, after = sweep > 40: average, "
                     "width = error(average) -> \"chain.h5\"\n"),
        {});
    const double width = testing::last(result, "width");
    EXPECT_GT(width, 0);
    EXPECT_LT(width, 3e-3);
    EXPECT_NEAR(testing::last(result, "average"), torus.plaquette, 3.5 * width)
        << a.lattice << a.sample;
  }
}

// ---- acceptance -------------------------------------------------------------------------------

// With one proposal a link, the links that a sweep has changed are those whose proposal was taken.
TEST(Metropolis, AcceptIsTheShareOfTheLinksThatMoved) {
  for (const char* group : {"U(1)", "SU(2)"})
    for (const char* device : {"native", "opencl"}) {
      if (testing::device(device) == nullptr) continue;
      Simulation setup;
      setup.device = device;
      const Action a{"4*6*4", group, "2*sum(1 - re(tr(P[mu,nu])), mu < nu)",
                     "metropolis, sweeps = 12, hits = 1, width = 0.8, reunitarise = 1000"};
      const Compilation c =
          testing::compile_text(model(a, "every 1 sweep: accept -> \"accept.h5\"\n"), setup);
      runtime::Session session(*c.program, *testing::device(device));
      session.start();
      const auto slot =
          static_cast<int>(std::ranges::find(c.program->scalars, "accept", &program::Scalar::name) -
                           c.program->scalars.begin());
      ASSERT_LT(slot, static_cast<int>(c.program->scalars.size()));
      const auto links = [&] {
        std::vector<std::vector<double>> all;
        for (const program::StateVariable& v : c.program->state)
          all.push_back(session.read(v.buffer));
        return all;
      };
      auto before = links();
      const std::size_t numbers = before.size() / 3, sites = before[0].size();
      double most = 0, least = 1;
      for (int sweep = 0; sweep < 12; ++sweep) {
        session.advance(1);
        const auto after = links();
        int moved = 0;
        for (std::size_t axis = 0; axis < 3; ++axis)
          for (std::size_t site = 0; site < sites; ++site) {
            bool same = true;
            for (std::size_t k = axis * numbers; k < (axis + 1) * numbers; ++k)
              same = same && std::abs(before[k][site] - after[k][site]) < 1e-12;  // rounding
            moved += same ? 0 : 1;
          }
        const double share = session.slot(slot)[0];
        EXPECT_DOUBLE_EQ(share, moved / static_cast<double>(3 * sites)) << group << ' ' << device;
        most = std::max(most, share), least = std::min(least, share);
        before = after;
      }
      EXPECT_LT(most, 0.9) << group;
      EXPECT_GT(least, 0.1) << group;
    }
}

TEST(Metropolis, TheRunSaysWhatWasAcceptedAndWhatIsFrozen) {
  const auto chain = [](const std::string& action, const std::string& width,
                        const std::string& start) {
    return "model chain \"links\"\nlattice grid: 4^3\ngauge U: SU(2)\n"
           "P[mu,nu] = loop(mu, nu, -mu, -nu)\naction S = " +
           action +
           "*sum(2 - re(tr(P[mu,nu])), mu < nu)\nsample metropolis, sweeps = 40, width = " + width +
           "\ninit U ~ " + start +
           "\nevery 1 sweep: accept, u = mean(re(tr(P[mu,nu])), mu < nu) -> \"chain.h5\"\n";
  };
  const auto moving = testing::run_text(chain("2", "0.4", "hot"), {});
  double mean = 0;
  for (const auto& [t, value] : moving.find("accept")->points) mean += t > 0 ? value / 40 : 0;
  ASSERT_EQ(moving.acceptance.size(), 1U);
  EXPECT_NEAR(moving.acceptance[0], mean, 1e-12);
  EXPECT_GT(mean, 0.2);
  EXPECT_LT(mean, 0.98);
  const auto frozen = testing::run_text(chain("1e9", "1", "cold"), {});
  EXPECT_EQ(frozen.acceptance, std::vector<double>{0});
  EXPECT_EQ(frozen.chain.at(1).average.known, observe::Known::Frozen);
  EXPECT_TRUE(std::ranges::any_of(frozen.notes, [](const std::string& note) {
    return note.starts_with("no proposal was accepted in 40 sweeps");
  }));
}

// ---- one program, many ways -------------------------------------------------------------------

const char* const kSymanzik =
    "2*sum(2 - re(tr(P[mu,nu])), mu < nu) - sum(2 - re(tr(R[mu,nu])), mu != nu)/8";

const std::vector<Action>& actions() {
  static const std::vector<Action> kActions = {
      {"4^2", "U(1)", "2*sum(1 - re(P[mu,nu]), mu < nu)", "heatbath, sweeps = 9, overrelax = 2"},
      {"4*4*4", "SU(2)", kSymanzik, "heatbath, sweeps = 9, overrelax = 1, reunitarise = 2"},
      {"4*6", "SU(2)", "sum(2 - re(tr(P[mu,nu])), mu < nu)", "heatbath, sweeps = 9"},
      {"4^2", "SU(4)", "2*sum(4 - re(tr(P[mu,nu])), mu < nu)", "heatbath, sweeps = 9"},
      {"4^2", "SU(3)", "2*sum(3 - re(tr(P[mu,nu])), mu < nu)", "metropolis, sweeps = 9, hits = 1"},
      {"2^4", "SU(2)", "sum(2 - re(tr(P[mu,nu])), mu < nu)", "overrelax, sweeps = 9"},
  };
  return kActions;
}

std::vector<double> links(const std::string& text, Simulation setup, int sweeps) {
  const Compilation compilation = testing::compile_text(text, setup);
  runtime::Session session(*compilation.program, *testing::device(setup.device));
  session.start();
  session.advance(sweeps);
  std::vector<double> all;
  for (std::size_t b = 0; b < compilation.program->buffers.size(); ++b) {
    if (!compilation.program->buffers[b].state) continue;
    const auto values = session.read(static_cast<int>(b));
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

std::vector<double> links(kernel::Interpreter& oracle, const program::Program& program) {
  std::vector<double> all;
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    if (!program.buffers[b].state) continue;
    const auto& values = oracle.buffer(static_cast<int>(b));
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    most = std::max(most, std::fabs(a[i] - b[i]));
    if (!(std::fabs(a[i]) < 10)) most = 1e300;
  }
  return most;
}

void expect_same_as_interpreter(const Action& a, const char* device) {
  const std::string text = model(a);
  Simulation setup;
  setup.contract = false;
  const Compilation compilation = testing::compile_text(text, setup);
  kernel::Interpreter oracle(*compilation.plan);
  oracle.start();
  oracle.step(3);
  setup.device = device;
  EXPECT_LT(largest_difference(links(text, setup, 3), links(oracle, *compilation.program)), 1e-9)
      << a.group << " on " << device;
}

TEST(Chain, NativeIsTheInterpreter) {
  for (const Action& a : actions()) expect_same_as_interpreter(a, "native");
}

TEST(Chain, OpenClIsTheInterpreter) {
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL here";
  for (const std::size_t i : {0, 2}) expect_same_as_interpreter(actions()[i], "opencl");
}

// A right colouring gives the same bits in place, one site after the other, and all at once.
TEST(Chain, ColoursInPlaceAreColoursAtOnce) {
  for (const Action& a : actions()) {
    const Compilation compilation = testing::compile_text(model(a), {});
    kernel::Interpreter at_once(*compilation.plan), in_place(*compilation.plan);
    in_place.colours_in_place(true);
    for (kernel::Interpreter* k : {&at_once, &in_place}) {
      k->start();
      k->step(2);
    }
    EXPECT_EQ(largest_difference(links(at_once, *compilation.program),
                                 links(in_place, *compilation.program)),
              0)
        << a.group;
  }
}

// sum(x) mod 4 is the mask that is often taken for rectangles; mu - nu joins two links of one loop.
TEST(Chain, APlantedColouringIsFoundOut) {
  const Compilation compilation = testing::compile_text(model(actions()[1]), {});
  schedule::Plan plan = *compilation.plan;
  std::vector<std::string> slots;
  for (const program::Scalar& scalar : plan.program.scalars) slots.push_back(scalar.name);
  int planted = 0;
  for (kernel::Kernel& k : plan.kernels) {
    if (!k.colours || k.colours->modulus < 4) continue;
    EXPECT_TRUE(kernel::verify(k, slots).empty()) << k.name;
    k.colours->weights = {1, 1, 1, 0};
    EXPECT_FALSE(kernel::verify(k, slots).empty()) << k.name;
    ++planted;
  }
  EXPECT_GT(planted, 0);
  kernel::Interpreter at_once(plan), in_place(plan);
  in_place.colours_in_place(true);
  for (kernel::Interpreter* k : {&at_once, &in_place}) {
    k->start();
    k->step(2);
  }
  EXPECT_GT(largest_difference(links(at_once, plan.program), links(in_place, plan.program)), 1e-3);
}

// Overrelaxation keeps the action.
TEST(Chain, OverrelaxationKeepsTheAction) {
  const Action a{"4^3", "SU(3)", "2*sum(3 - re(tr(P[mu,nu])), mu < nu)", "overrelax, sweeps = 8"};
  const auto result = testing::run_text(
      model(a, "every 1 sweep: u = mean(re(tr(P[mu,nu])), mu < nu) -> \"chain.h5\"\n"), {});
  const auto* series = result.find("u");
  ASSERT_TRUE(series);
  ASSERT_GE(series->points.size(), 8U);
  for (const auto& [t, u] : series->points) EXPECT_NEAR(u, series->points[0].second, 1e-12);
}

// Wilson's action in four dimensions, on 4^4, where finite size raises the plaquette by a little:
// 0.593773(372) on 8^4 by an independent program. tests/long has 8^4.
TEST(Chain, WilsonInFourDimensions) {
  const Action a{"4^4", "SU(3), store = rows(2)", "6/3*sum(3 - re(tr(P[mu,nu])), mu < nu)",
                 "heatbath, sweeps = 300, overrelax = 2"};
  const auto result =
      testing::run_text(model(a,
                              "u = mean(mean(re(tr(P[mu,nu]))/3, mu < nu), over = time)\n"
                              "every 300 sweeps, after = sweep > 60: u -> \"chain.h5\"\n"),
                        {});
  EXPECT_NEAR(testing::last(result, "u"), 0.5945, 4e-3);
}

// Links written to a file and read back are the same links, and another program's start.
TEST(Chain, ConfigurationsAreWrittenAndRead) {
  const testing::ScratchFolder folder;
  const std::string action = "sum(3 - re(tr(P[mu,nu])), mu < nu)";
  const std::string u = "u = mean(re(tr(P[mu,nu])), mu < nu)";
  for (const char* group : {"SU(3), store = rows(2)", "SU(2)"}) {
    Simulation setup;
    setup.out = folder / group;
    const Action first{"4^2", group, action, "heatbath, sweeps = 4"};
    const auto written = testing::run_text(
        model(first, "every 4 sweeps: U -> ildg(\"c\")\nevery 4 sweeps: " + u + " -> \"a.h5\"\n"),
        setup);
    std::string text = model({"4^2", group, action, "overrelax, sweeps = 1"},
                             "every 1 sweep: " + u + " -> \"b.h5\"\n");
    const std::string start = "init U = file(\"" + setup.out + "/c_00000004.ildg\")";
    text.replace(text.find("init U ~ hot"), 12, start);
    const auto read = testing::run_text(text, {});
    EXPECT_NEAR(testing::last(read, "u"), testing::last(written, "u"), 1e-13) << group;
  }
}

// ---- a scalar field in four dimensions --------------------------------------------------------

TEST(FourDimensions, AScalarFieldIsTheSameOnEveryDevice) {
  const std::string text =
      "model phi4 \"four dimensions\"\n"
      "lattice box: [6, 4, 5, 8], spacing = 0.5, boundary = [periodic, antiperiodic, "
      "fixed(0), neumann]\n"
      "field phi: real\npotential V = phi^2/2 + phi^4/4 + phi*phi@t*phi@-t/9\n"
      "init phi ~ 0.5*normal, phi' = 0\nevolve leapfrog, dt = 0.1*dx, until = t > 2\n"
      "every 10 steps: mean(phi), mean(phi^2), mean(phi*phi@t), max(phi) -> \"phi4.h5\"\n";
  Simulation setup;
  setup.steps = 20;
  setup.contract = false;
  const auto native = testing::run_text(text, setup);
  const Compilation compilation = testing::compile_text(text, setup);
  runtime::Session session(*compilation.program, *testing::device("native"));
  session.start();
  kernel::Interpreter oracle(*compilation.plan);
  for (std::size_t b = 0; b < compilation.program->buffers.size(); ++b) {
    if (compilation.program->buffers[b].state)
      oracle.buffer(static_cast<int>(b)) = session.read(static_cast<int>(b));
  }
  const std::vector<double> scalars = session.scalars();
  for (std::size_t i = 0; i < scalars.size(); ++i)
    oracle.set_scalar(compilation.program->scalars[i].name, scalars[i]);
  session.advance(10);
  oracle.step(10);
  for (std::size_t b = 0; b < compilation.program->buffers.size(); ++b) {
    if (!compilation.program->buffers[b].state) continue;
    EXPECT_EQ(session.read(static_cast<int>(b)), oracle.buffer(static_cast<int>(b)));
  }
  setup.device = "opencl";
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL here";
  const auto opencl = testing::run_text(text, setup);
  ASSERT_EQ(native.scalars.size(), opencl.scalars.size());
  for (std::size_t i = 0; i < native.scalars.size(); ++i)
    EXPECT_NEAR(native.scalars[i].second, opencl.scalars[i].second, 1e-11)
        << native.scalars[i].first;
}

}  // namespace
}  // namespace vphi
