// The output of `vphi explain` for shipped models: equations, origins, the Laplacian, costs; and
// that each notation is well-formed.
#include "compiler/explain.hpp"
#include "tests/support/places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace vphi {
namespace {

std::string model(const char* name) {
  return std::string(VPHI_SOURCE_DIR) + "/models/" + name + ".vphi";
}

const Explanation& preheating() {
  static const Explanation e = [] {
    emit::TargetInfo target;
    return explain(compile_model(model("cosmology/preheating"), {}, target), {4e12});
  }();
  return e;
}

TEST(Explain, EquationsInPhysicalUnits) {
  const Explanation& e = preheating();
  ASSERT_GE(e.physical.size(), 2U);
  EXPECT_EQ(e.physical[0].left.text, "phi''");
  EXPECT_EQ(e.physical[0].right.text, "lap(phi)/a^2 - 3*H*phi' - m^2*phi - g^2*phi*chi^2");
  EXPECT_EQ(e.physical[0].right.latex,
            "\\frac{\\nabla^{2} \\phi}{a^{2}} - 3 H \\phi' - m^{2} \\phi - g^{2} \\phi \\chi^{2}");
  EXPECT_EQ(e.physical[1].right.text, "lap(chi)/a^2 - 3*H*chi' - g^2*phi^2*chi");
}

TEST(Explain, EveryTermOfThePotentialNamesItsLine) {
  int found = 0;
  for (const ExplainedTerm& t : preheating().physical[0].terms) {
    if (t.formula.text.find("^2*phi") == std::string::npos) continue;
    EXPECT_TRUE(t.origin.text.starts_with("potential V")) << t.formula.text << t.origin.text;
    EXPECT_GT(t.origin.line, 0);
    ++found;
  }
  EXPECT_EQ(found, 2);
}

TEST(Explain, TermsInProgramUnitsNameTheLineOfThePotential) {
  int found = 0;
  for (const ExplainedEquation& q : preheating().program) {
    if (!q.left.text.starts_with("d(pi_")) continue;
    for (const ExplainedTerm& t : q.terms) {
      if (t.formula.text.find("lap(") != std::string::npos) continue;
      EXPECT_TRUE(t.origin.text.starts_with("potential V")) << t.formula.text << t.origin.text;
      ++found;
    }
  }
  EXPECT_EQ(found, 3);
}

// A term that shares phi^2 with a definition is of the line that it stands in.
TEST(Explain, ATermIsOfTheLineThatItStandsIn) {
  const std::string path = ::testing::TempDir() + "two_lines.vphi";
  std::ofstream(path) << R"(model two_lines
lattice box: 8^3, length = 10, boundary = periodic
field phi, chi: real
param g2 = 0.5
V0 = phi^2/2
potential V = V0 + g2*phi^2*chi^2/2
init phi = 1, phi' = 0, chi = 0.1, chi' = 0
evolve leapfrog, dt = 0.1, until = t > 1
every 10 steps: mean(phi) -> "p.h5"
)";
  const Explanation e = explain(compile_model(path, {}, emit::TargetInfo{}), {});
  std::map<std::string, int> lines;
  for (const auto* equations : {&e.physical, &e.program})
    for (const ExplainedEquation& q : *equations)
      for (const ExplainedTerm& t : q.terms) {
        if (t.formula.text.find("chi") == std::string::npos) continue;
        if (t.formula.text.find("phi") == std::string::npos) continue;
        EXPECT_EQ(t.origin.line, 6) << t.formula.text << ": " << t.origin.text;
        ++lines[t.origin.text];
      }
  EXPECT_EQ(lines.size(), 1u);
  for (const ExplainedTerm& t : e.physical.at(0).terms)
    if (t.formula.text == "-phi") {
      EXPECT_EQ(t.origin.line, 5) << t.origin.text;
    }
}

/// How often a name stands in a text.
int times(const std::string& text, const std::string& name) {
  int found = 0;
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    found += at + name.size() == text.size() || !std::isdigit(text[at + name.size()]);
  return found;
}

// Without names for what they share the equations of this model are 6 MB of text.
TEST(Explain, WhatLongEquationsShareIsPrintedOnce) {
  const Explanation e = explain(compile_model(model("hydro/event2d_bulk"), {}, {}), {});
  std::string text;
  std::size_t parts = 0;
  for (const ExplainedEquation& equation : e.physical) {
    EXPECT_LT(equation.right.text.size(), 3000U) << equation.left.text;
    text += equation.right.text + "\n";
    if (!equation.left.text.starts_with("part_")) {
      EXPECT_EQ(parts, 0U) << "parts are behind the equations";
      continue;
    }
    EXPECT_EQ(equation.left.text, "part_" + std::to_string(++parts));
  }
  EXPECT_GT(parts, 10U);
  for (std::size_t part = 1; part <= parts; ++part)
    EXPECT_GE(times(text, "part_" + std::to_string(part)), 2) << part;
  EXPECT_EQ(times(text, "part_" + std::to_string(parts + 1)), 0);
  EXPECT_LT(to_text(e).size(), 40000U);
  for (const ExplainedEquation& equation : preheating().physical)
    EXPECT_FALSE(equation.left.text.starts_with("part_"));
}

TEST(Explain, RescalingAndConstants) {
  const Explanation& e = preheating();
  EXPECT_NEAR(e.A * 1.0093430384226378, 1, 1e-15);
  EXPECT_NEAR(e.B, 5e-6, 1e-20);
  EXPECT_EQ(e.s, 0);
  EXPECT_NEAR(e.dt / e.dx, 1.0 / 40, 1e-15);
  const auto m = std::ranges::find(e.folded, "m", &std::pair<std::string, double>::first);
  ASSERT_NE(m, e.folded.end());
  EXPECT_EQ(m->second, 5e-6);
}

TEST(Explain, TheLaplacian) {
  ASSERT_EQ(preheating().stencils.size(), 1U);
  const ExplainedStencil& s = preheating().stencils[0];
  EXPECT_EQ(s.points, 27);
  EXPECT_EQ(s.order, 2);
  EXPECT_TRUE(s.isotropic);
  EXPECT_EQ(s.largest, "92/15");
  EXPECT_NEAR(s.leapfrog_limit, 0.80757, 5e-6);
  EXPECT_NE(s.symbol.text.find("cos(kx)"), std::string::npos);
}

TEST(Explain, KernelsAndTheirFloor) {
  // One sweep a step: two fields and their momenta read and written once in f32.
  const auto& kernels = preheating().kernels;
  ASSERT_FALSE(kernels.empty());
  int sweeps = 0;
  for (const ExplainedKernel& k : kernels) {
    EXPECT_NEAR(k.floor_ns, k.bytes / 4e12 * 1e9, 1e-12);
    sweeps += k.loads == 4 && k.stores == 4 && k.bytes == 32;
  }
  EXPECT_GE(sweeps, 1);
}

TEST(Explain, JsonIsJson) {
  const auto json = nlohmann::json::parse(to_json(preheating()));
  EXPECT_EQ(json["model"], "preheating");
  EXPECT_EQ(json["stencils"][0]["largest"], "92/15");
  EXPECT_EQ(json["physical"][0]["left"]["text"], "phi''");
  EXPECT_TRUE(json["kernels"][0].contains("flops"));
}

TEST(Explain, LatexIsBalanced) {
  for (const char* name : {"cosmology/preheating", "cosmology/qball", "teaching/sine_gordon"}) {
    const std::string latex = explain_latex(derive_model(model(name), {}));
    int depth = 0;
    for (std::size_t i = 0; i < latex.size(); ++i) {
      if (i > 0 && latex[i - 1] == '\\') continue;
      depth += (latex[i] == '{') - (latex[i] == '}');
      ASSERT_GE(depth, 0) << name;
    }
    EXPECT_EQ(depth, 0) << name;
    const auto count = [&](const std::string& what) {
      int n = 0;
      for (auto at = latex.find(what); at != std::string::npos; at = latex.find(what, at + 1)) ++n;
      return n;
    };
    EXPECT_GT(count("\\begin{align*}"), 1);
    EXPECT_EQ(count("\\begin{align*}"), count("\\end{align*}"));
    EXPECT_EQ(count("\\left"), count("\\right"));
  }
}

TEST(Explain, MathMLClosesItsTags) {
  const std::string html = to_mathml(preheating());
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::string tag = html.substr(at + 1, html.find_first_of("> ", at) - at - 1);
    if (tag[0] != '/') {
      open.push_back(tag);
      continue;
    }
    ASSERT_FALSE(open.empty());
    ASSERT_EQ(open.back(), tag.substr(1));
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

TEST(Explain, WhatIsMissingIsLeftOut) {
  // No plan: equations and Laplacian, but no kernels.
  const Explanation e = explain(derive_model(model("teaching/wave"), {}));
  EXPECT_FALSE(e.physical.empty());
  EXPECT_TRUE(e.kernels.empty());
  EXPECT_EQ(to_text(e).find("Kernels"), std::string::npos);
  const Explanation nothing = explain(Compilation{});
  EXPECT_TRUE(nothing.physical.empty());
}

}  // namespace
}  // namespace vphi
