// The oracle of `vphi test` for tables and files of numbers. Right models pass; each fault of a
// table of faults is found: of interpolation, of values outside, of the order of rows.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "compiler/algebra/transform.hpp"
#include "tests/physics/oracle/planted.hpp"
#include "tests/support/scratch.hpp"

namespace vphi {
namespace {

using namespace planted;

/// line.txt: x, two columns of values; ring.txt: the same at both ends; plane.txt: x, y, value in
/// any order; turned.txt: y, x, value; pulls.txt: a matrix that is not symmetric.
const testing::ScratchFolder& files() {
  static const testing::ScratchFolder folder;
  static const bool written = [] {
    std::ofstream line(folder / "line.txt"), ring(folder / "ring.txt"), other(folder / "other.txt");
    line << "# x, f, g\n";
    for (int i = 0; i <= 14; ++i) {
      const double x = 0.1 * i + 0.03 * std::sin(i);  // not even
      line << x << ", " << std::sin(3 * x) + 0.3 * x << " ; " << std::cos(2 * x) << "\n";
      other << x << " " << std::sin(3 * x) + 0.3 * x + 1e-6 * i * i << "\n";
      ring << x << " " << (i == 14 ? 0.2 : 0.2 + std::sin(x) * x) << "\n";
    }
    std::ofstream plane(folder / "plane.txt"), turned(folder / "turned.txt");
    for (int j = 6; j >= 0; --j)
      for (int i = 0; i <= 8; ++i) {
        const double x = 0.25 * i, y = 0.1 + 0.3 * j, f = std::sin(2 * x + y) + x * y * y;
        plane << x << " " << y << " " << f << "\n";
        turned << y << " " << x << " " << f << "\n";
      }
    std::ofstream pulls(folder / "pulls.txt"), back(folder / "back.txt");
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 6; ++j) {
        pulls << std::sin(1 + 2 * i + 3 * j * j) << (j < 5 ? " " : "\n");
        back << std::sin(1 + 2 * (5 - i) + 3 * j * j) << (j < 5 ? ", " : "\n");
      }
    }
    return true;
  }();
  static_cast<void>(written);
  return folder;
}

/// `line.txt` in quotes becomes the file's own path.
std::string beside(std::string text) {
  for (std::size_t at = 0; (at = text.find("\"@", at)) != std::string::npos;)
    text.replace(at, 2, "\"" + files().path().string() + "/");
  return text;
}

std::string sites(const std::string& v) {
  return "model t \"tables\"\nlattice line: 7, spacing = 0.5, boundary = periodic\n"
         "field phi, chi: real\npotential V = " +
         v +
         "\ninit phi = 1, phi' = 0, chi = 0.5, chi' = 0\n"
         "evolve leapfrog, dt = 0.01, until = t > 1\nevery 1 step: mean(phi) -> \"t.h5\"\n";
}

std::string bodies(const std::string& pull) {
  return "model n \"a network\"\nparticles body: 6\nvar x[i]: angle\nC[i,j] = " + pull +
         "\nx[i]' = 0.1 + sum(C[i,j]*sin(x[j] - x[i]), j)\ninit x ~ uniform(0, 2*pi)\n"
         "evolve rk4, dt = 0.01, until = t > 1\nevery 1 step: mean(cos(x)) -> \"n.h5\"\n";
}

const std::map<std::string, std::string>& right_texts() {
  static const std::map<std::string, std::string> kTexts{
      {"cubic", sites("table(\"@line.txt\", phi) + chi^2/2")},
      {"straight", sites("(1 + chi)*table(\"@line.txt:3\", phi, order = 1)")},
      {"clamped", sites("phi*table(\"@line.txt\", phi)")},
      {"beyond", sites("table(\"@line.txt\", phi, outside = phi^2) + chi^2/2")},
      {"ring", sites("table(\"@ring.txt\", 2*phi, outside = periodic) + chi^2/2")},
      {"kept", sites("chi*table(\"@ring.txt\", 2*phi)")},
      {"mirrored", sites("table(\"@line.txt\", phi - 1, even = phi - 1)*chi + "
                         "table(\"@line.txt\", chi - 1, odd = chi - 1)")},
      {"plane", sites("table(\"@plane.txt\", phi, chi)")},
      {"smooth_plane", sites("table(\"@plane.txt\", phi, chi, order = 3)")},
      {"nested", sites("table(\"@line.txt\", \"@ring.txt:2\", phi, outside = 0) + chi^2/2")},
      {"entry", sites("file(\"@pulls.txt\")[1, 4]*phi^2 + chi^2/2")},
      {"pulls", bodies("file(\"@pulls.txt\")[i,j]")},
      {"inverse",
       sites("inverse(z^3 + z + chi_0, phi, z = -3..3)^2 + chi^2/2") + "param chi_0 = 0.3\n"},
      {"formula", sites("tabulate(sin(z)*(1 + (z - 0.4 if z > 0.4 else 0)), phi, z = -4..4) + "
                        "chi^2/2")},
      {"integral", sites("integral(exp(-z^2*phi^2), z = 0..chi, points = 12) + "
                         "integral(exp(-z^2), z = -1..2)*phi^2")},
  };
  return kTexts;
}

class RightTables : public ::testing::TestWithParam<std::string> {};

TEST_P(RightTables, AgreeWithTheirText) { expect_right(beside(right_texts().at(GetParam()))); }

INSTANTIATE_TEST_SUITE_P(Texts, RightTables,
                         ::testing::Values("cubic", "straight", "clamped", "beyond", "ring", "kept",
                                           "mirrored", "plane", "smooth_plane", "nested", "entry",
                                           "pulls", "inverse", "formula", "integral"),
                         [](const auto& info) { return info.param; });

const std::vector<Words>& words() {
  static const std::vector<Words> kWords{
      {"lines for cubics", "cubic", "phi)", "phi, order = 1)"},
      {"cubics for lines", "straight", "order = 1", "order = 3"},
      {"another column", "straight", "line.txt:3", "line.txt:2"},
      {"another table", "cubic", "@line.txt", "@other.txt"},
      {"the sign of a table", "cubic", "= table", "= -table"},
      {"a factor of a table", "cubic", "= table", "= 1.000001*table"},
      {"the last value for what lies outside", "beyond", ", outside = phi^2", ""},
      {"something else outside", "beyond", "outside = phi^2", "outside = phi^3"},
      {"what lies outside for the last value", "clamped", "phi)", "phi, outside = 0)"},
      {"repeated for the last value", "kept", "phi)", "phi, outside = periodic)"},
      {"the last value for repeated", "ring", "outside = periodic", "outside = clamp"},
      {"odd for even", "mirrored", "even", "odd"},
      {"even for odd", "mirrored", "odd", "even"},
      {"rows for columns of a plane", "plane", "@plane.txt", "@turned.txt"},
      {"the arguments of a plane exchanged", "plane", "phi, chi)", "chi, phi)"},
      {"a bilinear plane for a smooth one", "smooth_plane", ", order = 3", ""},
      {"a smooth plane for a bilinear one", "plane", "chi)", "chi, order = 3)"},
      {"files in another order", "nested", "\"@line.txt\", \"@ring.txt:2\"",
       "\"@ring.txt:2\", \"@line.txt\""},
      {"row and column of an entry exchanged", "entry", "[1, 4]", "[4, 1]"},
      {"the entry beside", "entry", "[1, 4]", "[1, 3]"},
      {"a matrix transposed", "pulls", "[i,j]\nx", "[j,i]\nx"},
      {"a matrix from its last row", "pulls", "@pulls.txt", "@back.txt"},
      {"a matrix of the other sign", "pulls", "= file", "= -file"},
      {"the inverse of another formula", "inverse", "z^3 + z", "z^3 + 1.001*z"},
      {"the formula for its inverse", "inverse", "inverse(", "tabulate("},
      {"a part of a formula", "formula", "z - 0.4 if", "z - 0.41 if"},
      {"another end of the range", "integral", "z = -1..2", "z = -1..2.001"},
      {"fewer points", "integral", "points = 12", "points = 2"},
  };
  return kWords;
}

class OtherTables : public ::testing::TestWithParam<std::size_t> {};

TEST_P(OtherTables, AreFound) {
  const Words& fault = words()[GetParam()];
  const std::string text = right_texts().at(fault.text);
  const Verdict verdict = judged(beside(text), beside(replaced(text, fault.words, fault.others)));
  EXPECT_TRUE(verdict.found) << fault.name << "\n" << verdict.rows;
}

INSTANTIATE_TEST_SUITE_P(Table, OtherTables, ::testing::Range<std::size_t>(0, words().size()),
                         names_of(words()));

/// Faults of the pieces themselves.
Expr next_piece(Expr e) {
  return e->arena->make(Op::Lookup, {e.arg(0), e.arg(1) + e->arena->integer(1)});
}

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults{
      {"the piece beside", "cubic", in("pi_phi", first(is(Op::Lookup), next_piece))},
      {"the piece beside in a plane", "plane", in("pi_chi", first(is(Op::Lookup), next_piece))},
      {"a coefficient of a piece dropped", "smooth_plane",
       in("pi_phi", first(is(Op::Lookup), [](Expr e) { return e->arena->integer(0); }))},
      {"a matrix read the other way round", "pulls",
       [](System& s) { s.matrices.at(0).transposed = !s.matrices.at(0).transposed; }},
      {"another matrix", "pulls",
       [](System& s) { s.matrices.at(0).file = (files() / "back.txt").string(); }},
  };
  return kFaults;
}

class PlantedTable : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PlantedTable, IsFound) {
  const Fault& fault = faults()[GetParam()];
  const Verdict verdict = judged(beside(right_texts().at(fault.text)), fault.plant);
  EXPECT_TRUE(verdict.found) << fault.name << "\n" << verdict.rows;
}

INSTANTIATE_TEST_SUITE_P(Table, PlantedTable, ::testing::Range<std::size_t>(0, faults().size()),
                         names_of(faults()));

}  // namespace
}  // namespace vphi
