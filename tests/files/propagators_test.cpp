// Propagators of quarks in files: columns that one run writes and another reads, and sets as other
// programs write them.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/files/hdf5_sets.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// Wilson quarks of SU(2) on 2 x 4 from hot links; `more`: lines of the run.
std::string quarks_in_files(const std::string& more) {
  return "model propagators\nparam kappa = 0.12\nlattice grid: 2 * 4\ngauge U: SU(2)\n"
         "fermion psi, chi: spinor, boundary(y) = antiperiodic\n"
         "D(psi) = psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
         "here = index(x) + index(y) == 0\n"
         "S[s,c] = solve(D, here*spinor(s, c), solver = cgne(1e-13))\ninit U ~ hot\n" +
         more;
}

TEST(PropagatorFiles, OneRunReadsWhatAnotherHasWritten) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  testing::Simulation setup;
  setup.out = (scratch.path() / "first").string();
  const auto first = testing::run_text(
      quarks_in_files("at end: pion = total(norm2(S[0,0]) + norm2(S[3,1])), up = snapshot(S[0,0]), "
                      "down = snapshot(S[3,1]) -> \"columns.h5\"\n"),
      setup);
  const std::string set = "file(\"" + setup.out + "/columns.h5:/snapshots/";
  setup.out = {};
  const auto second = testing::run_text(
      quarks_in_files("init psi = " + set + "up/00000000\"), chi = " + set +
                      "down/00000000\")\nat end: pion = total(norm2(psi) + norm2(chi)), rest = "
                      "total(norm2(D(psi) - here*spinor(0, 0)) + norm2(D(chi) - here*spinor(3, "
                      "1))) -> \"b.h5\"\n"),
      setup);
  EXPECT_GT(testing::last(first, "pion"), 1);
  EXPECT_EQ(testing::last(second, "pion"), testing::last(first, "pion"));
  EXPECT_LT(testing::last(second, "rest"), 1e-24);
}

#ifdef VPHI_HAVE_HDF5

TEST(PropagatorFiles, ComplexNumbersByAxesSpinAndColour) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  std::vector<double> numbers;  // [y][x][spin][colour]
  for (int i = 0; i < 64; ++i) numbers.insert(numbers.end(), {1.0 / (1 + i), std::sin(i)});
  const std::string path = (scratch.path() / "other.h5").string();
  testing::write_set(path, "S", {4, 2, 4, 2}, numbers, true);
  const auto read = testing::run_text(
      quarks_in_files("init psi = file(\"" + path +
                      ":S\"), chi = 0\nat end: a = total(re(psi[2,1])*(index(x) == 1 and index(y) "
                      "== 3)), b = total(im(psi[1,0])*(index(x) == 0 and index(y) == 2)) -> "
                      "\"b.h5\"\n"),
      {});
  const auto place = [](int y, int x, int spin, int colour) {
    return static_cast<std::size_t>(2 * (colour + 2 * (spin + 4 * (x + 2 * y))));
  };
  EXPECT_EQ(testing::last(read, "a"), numbers[place(3, 1, 2, 1)]);
  EXPECT_EQ(testing::last(read, "b"), numbers[place(2, 0, 1, 0) + 1]);
  testing::write_set(path, "S", {4, 2, 4, 3}, std::vector<double>(192), true);
  try {
    testing::run_text(quarks_in_files("init psi = file(\"" + path +
                                      ":S\"), chi = 0\nat end: a = "
                                      "total(norm2(psi)) -> \"b.h5\"\n"),
                      {});
    ADD_FAILURE() << "three colours in links of two";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("E0782"), std::string::npos) << error.what();
  }
}

#endif

}  // namespace
}  // namespace vphi
