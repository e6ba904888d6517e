// Starts from formulas and from files: links of SU(n) as matrices, and results of one run as the
// start of another, to the last bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "runtime/io/configurations/configuration.hpp"
#include "runtime/io/results.hpp"
#include "runtime/io/start_error.hpp"
#include "tests/files/hdf5_sets.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

namespace fs = std::filesystem;
using testing::Simulation;

class Starts : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  /// A model beside the files, so many steps (-1: to its end); results go to `out`.
  runtime::RunResult run(const std::string& text, std::int64_t steps = -1,
                         const std::string& out = "") const {
    write("model.vphi", text);
    Simulation setup;
    setup.keep_state = true;
    setup.steps = steps;
    if (!out.empty()) setup.out = path(out);
    return testing::run_file(path("model.vphi"), setup);
  }
  /// What the compiler, or the run, says of it.
  std::string refused(const std::string& text) const {
    try {
      run(text, 0);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  const testing::ScratchFolder scratch_;
  const fs::path& folder_ = scratch_.path();
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// ---- links by formulas --------------------------------------------------------------------------

std::string links(const std::string& group, const std::string& init,
                  const std::string& lattice = "8^2") {
  return fmt::format(R"(model links "links of a formula"
lattice grid: {}
gauge U: {}
P[mu,nu] = loop(mu, nu, -mu, -nu)
action S = sum(1 - re(tr(P[mu,nu])), mu < nu)
sample heatbath, sweeps = 1
init {}
precision real = f64
every 1 sweep: plaquette = mean(re(tr(P[mu,nu])), mu < nu) -> "links.h5"
)",
                     lattice, group, init);
}

double at_start(const runtime::RunResult& result) { return result.series[0].points.front().second; }

TEST_F(Starts, AMatrixForEveryLink) {
  // all links alike commute: a plaquette is 1
  const auto same = run(links("SU(2)", "U = [[0.6, 0.8i], [0.8i, 0.6]]"), 0);
  EXPECT_NEAR(at_start(same), 2, 1e-15);
  const auto three = run(links("SU(3)", "U = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]", "4^3"), 0);
  EXPECT_NEAR(at_start(three), 3, 1e-14);
}

TEST_F(Starts, AMatrixForEachDirectionAndSite) {
  // U_x = exp(i f(y) sigma_3), U_y = 1: a plaquette turns by f(y) - f(y + 1)
  const auto along = run(links("SU(2)",
                               "U[k] = [[exp(1i*f), 0], [0, exp(-1i*f)]] if k == x else 1*I\n"
                               "f = 0.2*index(y)\nI = [[1, 0], [0, 1]]"),
                         0);
  EXPECT_NEAR(at_start(along), 2 * (7 * std::cos(0.2) + std::cos(1.4)) / 8, 1e-14);
  // not diagonal, and of all coordinates: in one direction alone there are no commutators
  const auto rotated = run(links("SU(3)",
                                 "U[k] = [[cos(f[k]), sin(f[k]), 0], [-sin(f[k]), cos(f[k]), "
                                 "0], [0, 0, 1]]\nf[k] = 0.1*index(x)*(k == y)",
                                 "6^2"),
                           0);
  EXPECT_NEAR(at_start(rotated), (5 * (1 + 2 * std::cos(0.1)) + 1 + 2 * std::cos(0.5)) / 6, 1e-14);
}

TEST_F(Starts, HotLinksAreTheSameWithAnIndex) {
  for (const char* group : {"SU(2)", "SU(3)"}) {
    const double of_all = at_start(run(links(group, "U ~ hot"), 0));
    EXPECT_LT(std::abs(of_all), 1.5) << group;
    EXPECT_EQ(at_start(run(links(group, "U[mu] ~ hot"), 0)), of_all) << group;
  }
}

TEST_F(Starts, WhatIsNoLinkIsRefusedWithItsSite) {
  const std::string constant = refused(links("SU(2)", "U = [[1, 0.1], [0, 1]]"));
  EXPECT_TRUE(has(constant, "E0718") && has(constant, "off by 0.1")) << constant;
  const std::string determinant = refused(links("SU(2)", "U = [[1, 0], [0, -1]]"));
  EXPECT_TRUE(has(determinant, "off by 2")) << determinant;
  // right on one line of sites, and off by most at the other end of the box
  const std::string site =
      refused(links("SU(2)",
                    "U = [[cos(f), sin(f)], [-sin(f), cos(f) + 0.01*index(x)]]\nf = "
                    "0.3*index(y)"));
  EXPECT_TRUE(has(site, "E0718") && has(site, "at site (7, ")) << site;
  EXPECT_TRUE(has(refused(links("SU(2)", "U = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]")),
                  "is SU(2), but this is mat(3,3)"));
  EXPECT_TRUE(has(refused(links("U(1)", "U = 1 + 0.1i*index(x)")), "at site (7, *)"));
  EXPECT_TRUE(has(refused(links("SU(2)", "U = [[1, 0], [0]]")), "E0201"));
}

// ---- from one run to the next -------------------------------------------------------------------

std::string kept(const std::string& field, const std::string& init, const std::string& more = "") {
  return fmt::format(R"(model kept "waves"
lattice box: 8 * 6, spacing = 0.5, boundary = periodic
field u: {}
u'' = lap(u) - u
evolve rk4, dt = 0.1, until = t > 0.45
init {}
precision real = f64
at end: snapshot(u), snapshot(u') -> "kept.h5"
{}
)",
                     field, init, more);
}

/// Set of the snapshot of `name` in the results of `run`.
std::string set_of(const runtime::RunResult& run, const std::string& name) {
  return fmt::format("out/kept.h5:/snapshots/snapshot({})/{:08}", name, run.steps);
}

TEST_F(Starts, FieldsGoOnWithTheSameBits) {
  for (const auto& [field, start] :
       {std::pair("real", "u = sin(x), u' = y"), std::pair("complex", "u = exp(1i*x), u' = 0.1i*y"),
        std::pair("vec(3)", "u = [x, y, x*y], u' = [1, x, 0]"),
        std::pair("mat(2,2)", "u = [[x, y], [1, x*y]], u' = 0"),
        std::pair("vec(2, complex)", "u = [exp(1i*x), 1i*y], u' = [x, 1i]")}) {
    SCOPED_TRACE(field);
    const auto first = run(kept(field, start), -1, "out");
    if (!fs::exists(folder_ / "out" / "kept.h5")) GTEST_SKIP() << "this build writes no HDF5";
    const auto next = run(kept(field, fmt::format("u = file(\"{}\"), u' = file(\"{}\")",
                                                  set_of(first, "u"), set_of(first, "u'"))),
                          0);
    ASSERT_EQ(first.state.size(), next.state.size());
    for (std::size_t i = 0; i < first.state.size(); ++i) EXPECT_EQ(first.state[i], next.state[i]);
  }
}

TEST_F(Starts, OneOfAStackForEachValueOfASweep) {
  const std::string sweep = "sweep event = 0..4\n";
  const auto first =
      run(kept("complex", "u = (1 + event)*exp(1i*x), u' = event", sweep), -1, "out");
  if (!fs::exists(folder_ / "out" / "kept.h5")) GTEST_SKIP() << "this build writes no HDF5";
  const std::string u = set_of(first, "u"), rate = set_of(first, "u'");
  const auto next =
      run(kept("complex", fmt::format("u = file(\"{}\")[event], u' = file(\"{}\")[event]", u, rate),
               sweep),
          0);
  ASSERT_EQ(first.state.size(), next.state.size());
  for (std::size_t i = 0; i < first.state.size(); ++i) EXPECT_EQ(first.state[i], next.state[i]);
  // one of them alone, the last first
  const auto one = run(kept("complex", fmt::format("u = file(\"{}\")[4 - 1], u' = 0", u)), 0);
  const std::size_t sites = one.state[0].size();
  for (std::size_t i = 0; i < sites; ++i)
    EXPECT_EQ(one.state[0][i], first.state[0][3 * sites + i]) << i;

  const std::string which = refused(kept("complex", fmt::format("u = file(\"{}\"), u' = 0", u)));
  EXPECT_TRUE(has(which, "E0782") && has(which, "has the shape (5, 6, 8, 2)") &&
              has(which, "(y, x) or (y, x, 2)") && has(which, "[n] with n from 0 to 4"))
      << which;
  EXPECT_FALSE(has(which, "comment")) << which;
  const std::string far = refused(
      kept("complex", fmt::format("u = file(\"{}\")[event], u' = 0", u), "sweep event = 1..5\n"));
  EXPECT_TRUE(has(far, "E0782") && has(far, "takes the value 5") && has(far, "0 to 4")) << far;
  const std::string real = refused(kept("real", fmt::format("u = file(\"{}\")[0], u' = 0", u)));
  EXPECT_TRUE(has(real, "E0782") && has(real, "(6, 8, 2)") == false) << real;
  const std::string none = refused(kept("real", "u = file(\"out/kept.h5:u\"), u' = 0"));
  EXPECT_TRUE(has(none, "E0781") && has(none, "`/snapshots/snapshot(u)/")) << none;
}

// ---- bodies -------------------------------------------------------------------------------------

std::string bodies(const std::string& init, int count = 5) {
  return fmt::format(R"(model bodies "springs"
particles body: {}
var x[k]: vec(3), p[k]: vec(3)
H = sum(norm2(p[k])/2, k) + sum(norm2(x[k])/2, k)
init {}
evolve rk4, dt = 0.1, until = t > 0.45
precision real = f64
at end: snapshot(x), snapshot(p) -> "kept.h5"
)",
                     count, init);
}

TEST_F(Starts, BodiesFromTextAndFromASet) {
  std::string text = "# m x y z px py pz\n";
  for (int k = 0; k < 5; ++k)
    text += fmt::format("1 {} {} {} {} {} {}\n", k, k + 0.5, k * k, -k, 0.25 * k, 3);
  write("bodies.txt", text);
  const auto first =
      run(bodies("x = file(\"bodies.txt:2..4\"), p = file(\"bodies.txt:5..7\")"), -1, "out");
  const auto start = run(bodies("x = file(\"bodies.txt:2..4\"), p = [file(\"bodies.txt:5\"), "
                                "file(\"bodies.txt:6\"), file(\"bodies.txt:7\")]"),
                         0);
  for (int k = 0; k < 5; ++k) {
    const auto at = static_cast<std::size_t>(k);
    EXPECT_EQ(start.state[0][at], k);
    EXPECT_EQ(start.state[1][at], k + 0.5);
    EXPECT_EQ(start.state[2][at], k * k);
    EXPECT_EQ(start.state[3][at], -k);
    EXPECT_EQ(start.state[5][at], 3);
  }
  if (!fs::exists(folder_ / "out" / "kept.h5")) GTEST_SKIP() << "this build writes no HDF5";
  const std::string x = set_of(first, "x"), p = set_of(first, "p");
  const std::string again = fmt::format("x = file(\"{}\"), p = file(\"{}\")", x, p);
  const auto next = run(bodies(again), 0);
  for (std::size_t i = 0; i < first.state.size(); ++i) EXPECT_EQ(first.state[i], next.state[i]);
  const std::string more = refused(bodies(again, 6));
  EXPECT_TRUE(has(more, "has the shape (5, 3)") && has(more, "(6,) or (6, 3)")) << more;
  const std::string rows = refused(bodies("x = file(\"bodies.txt:2..4\"), p = 0", 6));
  EXPECT_TRUE(has(rows, "E0782") && has(rows, "5 rows")) << rows;
  const std::string columns = refused(bodies("x = file(\"bodies.txt:2..3\"), p = 0"));
  EXPECT_TRUE(has(columns, "E0782") && has(columns, "2 columns")) << columns;
}

// ---- damaged files
// --------------------------------------------------------------------------------

/// A field of a plane that stays as it is.
std::string plane(const std::string& start) {
  return "model plane \"a field from a file\"\nlattice box: 4 * 3, spacing = 1, boundary = "
         "periodic\nfield u: real\nu' = 0*u\nevolve euler, dt = 0.1, until = t > 0.05\nprecision "
         "real = f64\ninit u = " +
         start + "\nat end: mean(u) -> \"plane.h5\"\n";
}

/// Both readers of a text, of the compiler and of the run, take the same numbers.
TEST_F(Starts, TextsOfOtherPrograms) {
  write("rows.txt", "\xef\xbb\xbf+1;2;3;4\r\n5, 6,7 ,1e-400\r\n# a comment\r\n8\t9 10  11\r\n");
  const auto start = run(plane("file(\"rows.txt\")"), 0);
  EXPECT_EQ(start.state[0], (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 0, 8, 9, 10, 11}));
}

TEST_F(Starts, DamagedFilesSayWhatIsWrong) {
  std::string rows;
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 4; ++x) rows += fmt::format("{} {} {}\n", x - 1.5, y - 1, x + 4 * y);
  write("rows.txt", rows);
  EXPECT_EQ(run(plane("file(\"rows.txt:3\")"), 0).state[0][5], 5);
  const std::string unnamed = refused(plane("file(\"rows.txt\")"));
  EXPECT_TRUE(has(unnamed, "E0781") && has(unnamed, "\"rows.txt:3\"")) << unnamed;
  const std::string beyond = refused(plane("file(\"rows.txt:4\")"));
  EXPECT_TRUE(has(beyond, "E0781") && has(beyond, "3 columns")) << beyond;
  write("rows.txt", rows.substr(0, rows.size() - 3));
  const std::string cut = refused(plane("file(\"rows.txt:3\")"));
  EXPECT_TRUE(has(cut, "E0782") && has(cut, "line 12: 2 numbers")) << cut;
  write("rows.txt", rows.substr(0, rows.rfind("1.5")));
  // known in the run alone, and a mistake of the file, not of results
  EXPECT_THROW(run(plane("file(\"rows.txt:3\")"), 0), io::StartError);
  const std::string absent = refused(plane("file(\"none.txt\")"));
  EXPECT_TRUE(has(absent, "E0781") && has(absent, "No such file")) << absent;
}

// Rows of MUSIC, "eta x y e ...", with one slice are a field of a plane. On a lattice with more
// axes than a text has coordinates the run says which column is no coordinate.
TEST_F(Starts, OneSliceOfRapidityIsAFieldOfAPlane) {
  std::string rows = "# etamax= 1 xmax= 4 ymax= 3\n";
  for (int x = 0; x < 4; ++x)
    for (int y = 0; y < 3; ++y) rows += fmt::format("0 {} {} {} 1 0\n", x - 1.5, y - 1, x + 4 * y);
  write("epsilon.dat", rows);
  const auto found = run(plane("file(\"epsilon.dat:4\")"), 0).state[0];
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(found[i], static_cast<double>(i));
  const std::string unnamed = refused(plane("file(\"epsilon.dat\")"));
  EXPECT_TRUE(has(unnamed, "E0781") && has(unnamed, "\"epsilon.dat:4\"")) << unnamed;
  std::string line;
  for (int y = 0; y < 3; ++y) line += fmt::format("0 {} {}\n", y - 1, y);
  write("line.dat", line);
  const std::string thin = refused(plane("file(\"line.dat:3\")"));
  EXPECT_TRUE(has(thin, "column 1 is 0 in all rows") && has(thin, "the lattice has 2")) << thin;
}

TEST_F(Starts, CellsOutsideOfTheBoxAreNoStart) {
  const auto said = [&](double away) {
    std::string rows;
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x) rows += fmt::format("{} {} 1\n", x - 1.5 + away, y - 1);
    write("rows.txt", rows);
    return refused(plane("file(\"rows.txt:3\")"));
  };
  EXPECT_EQ(said(3.5), "");
  const std::string away = said(4.5);
  EXPECT_TRUE(has(away, "between 2.5 and 6.5 along x") && has(away, "from -2 to 2")) << away;
}

// ---- sets of other programs ---------------------------------------------------------------------

#ifdef VPHI_HAVE_HDF5

TEST_F(Starts, DamagedSetsSayWhatIsWrong) {
  const std::vector<double> zeros(16, 0);
  const auto said = [&](const std::vector<std::uint64_t>& shape) {
    testing::write_set(path("set.h5"), "u", {shape.begin(), shape.end()}, zeros, false);
    return refused(plane("file(\"set.h5:u\")"));
  };
  EXPECT_EQ(said({4, 4}), "");
  // a member of a stack is proposed where it would fit
  const std::string stack = said({4, 2, 2}), deep = said({2, 2, 2, 2}), line = said({16});
  EXPECT_TRUE(has(stack, "(4, 2, 2)") && has(stack, "n from 0 to 3")) << stack;
  EXPECT_TRUE(has(deep, "(2, 2, 2, 2)") && !has(deep, "n from 0")) << deep;
  EXPECT_TRUE(has(line, "(16,)") && !has(line, "n from 0")) << line;
  write("set.h5", "no numbers");
  const std::string text = refused(plane("file(\"set.h5:u\")"));
  EXPECT_TRUE(has(text, "E0781") && has(text, "no HDF5 file, or a damaged one")) << text;
  const std::string absent = refused(plane("file(\"none.h5:u\")"));
  EXPECT_TRUE(has(absent, "E0781") && has(absent, "none.h5 is not there")) << absent;
}

TEST_F(Starts, SetsOfASweepAreNamedByItsValues) {
  const std::vector<double> zeros(12, 0);
  for (const int event : {2, 3, 5}) {
    std::vector<double> values(12, event);
    values[7] = 10 * event;
    testing::write_set(path(fmt::format("e{}.h5", event)), "e", {3, 4}, values, false);
  }
  testing::write_set(path("e4.h5"), "e", {4, 3}, zeros, false);
  const auto of = [](const std::string& events, const std::string& name) {
    std::string text = plane("1 + file(\"" + name + "\")");
    return text.insert(text.find("lattice"), "sweep event = " + events + "\n");
  };
  const auto all = run(of("[2, 3, 5]", "e{event}.h5:e"), 0).state[0];
  ASSERT_EQ(all.size(), 36U);
  for (const auto& [at, value] : {std::pair{0, 3.0}, {7, 21.0}, {12, 4.0}, {19, 31.0}, {31, 51.0}})
    EXPECT_EQ(all[static_cast<std::size_t>(at)], value) << at;
  const std::string shapes = refused(of("[2, 4]", "e{event}.h5:e"));
  EXPECT_TRUE(has(shapes, "E0782") && has(shapes, "e4.h5:e has another shape than e2.h5:e"))
      << shapes;
  const std::string absent = refused(of("[2, 7]", "e{event}.h5:e"));
  EXPECT_TRUE(has(absent, "E0781") && has(absent, "e7.h5 is not there")) << absent;
  const std::string unknown = refused(of("[2, 3]", "e{run}.h5:e"));
  EXPECT_TRUE(has(unknown, "`{run}`") && has(unknown, "no swept name")) << unknown;
}

TEST_F(Starts, PointsOutsideOfTheBoxAreNoStart) {
  const auto said = [&](double x) {
    testing::write_set(path("points.h5"), "p", {2, 3}, {x, 0, 1, x + 1, 1, 2}, false);
    std::string text = plane("file(\"points.h5:p\", spread = 0.1)");
    return refused(text.replace(text.find("periodic"), 8, "neumann"));
  };
  EXPECT_EQ(said(1), "");
  const std::string away = said(7);
  EXPECT_TRUE(has(away, "all 2 points lie outside") && has(away, "x from 7 to 8")) << away;
}

TEST_F(Starts, ComplexNumbersAsH5pyWritesThem) {
  std::vector<double> pairs;
  for (int i = 0; i < 48; ++i) pairs.insert(pairs.end(), {1.0 / (1 + i), std::sin(i)});
  testing::write_set(path("other.h5"), "psi", {6, 8}, pairs, true);
  const auto result = run(kept("complex", "u = file(\"other.h5:psi\"), u' = 0"), 0);
  for (std::size_t i = 0; i < 48; ++i) {
    EXPECT_EQ(result.state[0][i], pairs[2 * i]);
    EXPECT_EQ(result.state[1][i], pairs[2 * i + 1]);
  }
  const std::string real = refused(kept("real", "u = file(\"other.h5:psi\"), u' = 0"));
  EXPECT_TRUE(has(real, "E0782") && has(real, "complex numbers")) << real;
}

TEST_F(Starts, LinksOfASet) {
  // the same links by a formula and by a set: [y, x, mu, row, column]
  std::vector<double> pairs;
  const auto link = [&](double f) {
    for (const double v : {std::cos(f), std::sin(f), 0.0, 0.0, 0.0, 0.0, std::cos(f), -std::sin(f)})
      pairs.push_back(v);
  };
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) link(0.2 * y), link(0);
  testing::write_set(path("links.h5"), "U", {8, 8, 2, 2, 2}, pairs, true);
  testing::write_set(path("pairs.h5"), "U", {8, 8, 2, 2, 2, 2}, pairs, false);
  const double expected = 2 * (7 * std::cos(0.2) + std::cos(1.4)) / 8;
  for (const char* file : {"links.h5", "pairs.h5"})
    EXPECT_NEAR(at_start(run(links("SU(2)", fmt::format("U = file(\"{}:U\")", file)), 0)), expected,
                1e-14)
        << file;
  const std::string other = refused(links("SU(2)", "U = file(\"links.h5:U\")", "4^2"));
  EXPECT_TRUE(has(other, "E0782") && has(other, "(4, 4, 2, 2, 2)")) << other;
  pairs[8 * (2 * (3 * 8 + 5))] += 0.5;  // of the link along x at (5, 3)
  testing::write_set(path("links.h5"), "U", {8, 8, 2, 2, 2}, pairs, true);
  const std::string off = refused(links("SU(2)", "U = file(\"links.h5:U\")"));
  EXPECT_TRUE(has(off, "along x at site (5, 3)") && has(off, "off the group")) << off;
}

// ---- U(1) and its field -------------------------------------------------------------------------

constexpr int kX = 6, kY = 4;

std::string waves(const std::string& init) {
  return R"(model waves "compact electrodynamics"
lattice box: 6 * 4, spacing = 1, boundary = periodic
gauge U: U(1), E: real
P[i,j] = loop(i, j, -i, -j)
H = total(sum(E[i]^2, i)/2 + sum(1 - re(P[i,j]), i < j))
init )" + init +
         R"(
evolve rk4, dt = 0.1, until = t > 0.45
precision real = f64
at end: plaquette = mean(re(P[i,j]), i < j) -> "waves.h5"
)";
}

/// [y, x, direction]
template <class AlongX, class AlongY>
std::vector<double> of_links(AlongX along_x, AlongY along_y) {
  std::vector<double> values;
  for (int y = 0; y < kY; ++y)
    for (int x = 0; x < kX; ++x) values.insert(values.end(), {along_x(x, y), along_y(x, y)});
  return values;
}

TEST_F(Starts, LinksOfU1AndTheirFieldOfSets) {
  const auto angles =
      of_links([](int, int y) { return 0.3 * y; }, [](int x, int y) { return 0.1 * x * y; });
  const auto field =
      of_links([](int, int y) { return 0.1 * y; }, [](int x, int y) { return y - 0.2 * x; });
  std::vector<double> pairs;
  for (const double angle : angles) pairs.insert(pairs.end(), {std::cos(angle), std::sin(angle)});
  testing::write_set(path("angles.h5"), "U", {kY, kX, 2}, angles, false);
  testing::write_set(path("complex.h5"), "U", {kY, kX, 2}, pairs, true);
  testing::write_set(path("pairs.h5"), "U", {kY, kX, 2, 2}, pairs, false);
  testing::write_set(path("matrices.h5"), "U", {kY, kX, 2, 1, 1}, pairs, true);
  testing::write_set(path("field.h5"), "E", {kY, kX, 2}, field, false);
  const std::string formulas =
      "U[i] = exp(1i*index(y)*(0.3 if i == x else 0.1*index(x))), "
      "E[i] = 0.1*index(y) if i == x else index(y) - 0.2*index(x)";
  const auto wanted = run(waves(formulas));
  for (const char* file : {"angles", "complex", "pairs", "matrices"}) {
    SCOPED_TRACE(file);
    const std::string sets =
        waves(fmt::format("U = file(\"{}.h5:U\"), E = file(\"field.h5:E\")", file));
    const auto start = run(sets, 0), end = run(sets);
    ASSERT_EQ(start.state.size(), 4u);
    for (std::size_t mu = 0; mu < 2; ++mu)
      for (std::size_t site = 0; site < kX * kY; ++site) {
        // an angle goes through its sine and cosine
        EXPECT_NEAR(start.state[mu][site], angles[2 * site + mu], 1e-15) << mu << " " << site;
        EXPECT_EQ(start.state[2 + mu][site], field[2 * site + mu]) << mu << " " << site;
      }
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t site = 0; site < kX * kY; ++site)
        EXPECT_NEAR(end.state[i][site], wanted.state[i][site], 1e-14) << i << " " << site;
  }

  const std::string text = refused(waves("U = 1, E = file(\"model.vphi\")"));
  EXPECT_TRUE(has(text, "E0782") && has(text, "HDF5")) << text;
  testing::write_set(path("field.h5"), "E", {kX, kY, 2}, field, false);
  const std::string turned = refused(waves("U = 1, E = file(\"field.h5:E\")"));
  EXPECT_TRUE(has(turned, "E0782") && has(turned, "(6, 4, 2)") && has(turned, "(4, 6, 2)"))
      << turned;
  pairs[2 * (2 * (3 * kX + 5) + 1)] += 0.25;  // of the link along y at (5, 3)
  testing::write_set(path("complex.h5"), "U", {kY, kX, 2}, pairs, true);
  const std::string off = refused(waves("U = file(\"complex.h5:U\"), E = 0"));
  EXPECT_TRUE(has(off, "along y at site (5, 3)") && has(off, "off the group")) << off;
}

TEST_F(Starts, VectorsAndComplexNumbersAreOneSet) {
  const auto first = run(kept("vec(2, complex)", "u = [exp(1i*x), 1i*y], u' = 0"), -1, "out");
  const auto set = testing::read_set(path("out/kept.h5"),
                                     fmt::format("/snapshots/snapshot(u)/{:08}", first.steps));
  EXPECT_EQ(set.shape, (std::vector<std::int64_t>{6, 8, 2, 2}));
  EXPECT_EQ(set.labels, (std::vector<std::string>{"y", "x", "component", "part"}));
  for (std::size_t site = 0; site < 48; ++site)
    for (std::size_t c = 0; c < 4; ++c)
      EXPECT_EQ(set.values[4 * site + c], first.state[c][site]) << c;
  run(bodies("x = [1, 2, 3], p = 0"), -1, "out");
  EXPECT_EQ(testing::read_set(path("out/kept.h5"), "/snapshots/snapshot(x)/00000005").shape,
            (std::vector<std::int64_t>{5, 3}));
}

#endif

}  // namespace
}  // namespace vphi
