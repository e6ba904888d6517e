// Names, types, index ranges and units of models that are right; loading; hostile input.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <ctime>

#include "dsl/messages/suggest.hpp"
#include "dsl/resolve.hpp"
#include "dsl/syntax/load.hpp"
#include "dsl/types/constant.hpp"
#include "dsl/types/units.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/places.hpp"
#include "tree_text.hpp"

namespace vphi::dsl {
namespace {

using Base = Type::Base;

Resolved resolve_text(const std::string& text) {
  Diagnostics diagnostics;
  ModelText model = parse(test::source(text, "model.vphi"), diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << text;
  return resolve(std::move(model), load_library(diagnostics));
}

Resolved resolve_file(const std::string& name) {
  Diagnostics diagnostics;
  ModelText model = load_model(std::string(VPHI_SOURCE_DIR) + "/models/" + name, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << name;
  return resolve(std::move(model), load_library(diagnostics));
}

/// The codes of all diagnostics, in text order.
std::string codes(const Resolved& resolved) {
  std::string all;
  for (const Diagnostic& d : resolved.diagnostics.all()) all += (all.empty() ? "" : " ") + d.code;
  return all;
}

std::vector<std::filesystem::path> shipped_models() {
  std::vector<std::filesystem::path> models;
  for (const char* folder :
       {"cosmology", "teaching", "gauge", "hydro", "noise", "particles", "spins"}) {
    for (const auto& path : test::vphi_files(std::string(VPHI_SOURCE_DIR) + "/models/" + folder)) {
      models.push_back(path);
    }
  }
  return models;
}

class ShippedNames : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(ShippedNames, ResolvesWithoutError) {
  Diagnostics diagnostics;
  ModelText model = load_model(GetParam().string(), diagnostics);
  const Resolved resolved = resolve(std::move(model), load_library(diagnostics));
  EXPECT_FALSE(diagnostics.has_errors());
  EXPECT_FALSE(resolved.diagnostics.has_errors())
      << render_text(resolved.diagnostics, resolved.sources());
}

INSTANTIATE_TEST_SUITE_P(Models, ShippedNames, ::testing::ValuesIn(shipped_models()),
                         [](const auto& info) { return info.param.stem().string(); });

TEST(Names, PreheatingSymbols) {
  const Resolved model = resolve_file("cosmology/preheating.vphi");
  ASSERT_NE(model.find("phi"), nullptr);
  EXPECT_EQ(model.find("phi")->kind, SymbolKind::Field);
  EXPECT_EQ(to_string(model.find("phi")->type), "real");
  EXPECT_TRUE(model.find("phi")->type.per_site);
  EXPECT_EQ(model.find("φ"), model.find("phi"));
  EXPECT_EQ(model.find("H")->origin, "frw");
  EXPECT_EQ(model.find("H"), model.find("H"));
  EXPECT_NE(model.find("frw.H"), nullptr);
  EXPECT_TRUE(model.find("V")->type.per_site);
  EXPECT_FALSE(model.find("g")->type.per_site);
  EXPECT_EQ(model.find("leapfrog")->kind, SymbolKind::Integrator);
  EXPECT_EQ(model.lattice_shape, (std::vector<std::int64_t>{256, 256, 256}));
  EXPECT_DOUBLE_EQ(*constant_value(model, *model.find("g")->value), 100 * 5e-6);
  EXPECT_DOUBLE_EQ(*constant_value(model, *option(*model.clause("evolve"), "dt")),
                   1.0 / 1024 / 5e-6);
  EXPECT_TRUE(model.later_families.empty());
}

TEST(Names, TypesOfNodes) {
  const Resolved model = resolve_text(
      "model t\nlattice b: 8^3, length = 1\nfield phi: complex, v: vec(3)\n"
      "potential V = norm2(phi)\nv' = grad(norm2(phi))\nq = conj(phi)*phi'\n"
      "n = dot(v, grad(re(phi)))\nK = outer(v, v)\nc = cross(v, v)\ns = v[1] + 1\n"
      "m = mean(phi)\ncount = total(re(phi) > 0)\n"
      "init phi = 1, v = 0\nevolve leapfrog, dt = 0.1\nat end: m -> \"a.h5\"\n");
  EXPECT_FALSE(model.diagnostics.has_errors()) << render_text(model.diagnostics, model.sources());
  const auto type = [&](const char* name) { return to_string(model.find(name)->type); };
  EXPECT_EQ(type("q"), "complex");
  EXPECT_EQ(type("n"), "real");
  EXPECT_EQ(type("K"), "sym(3)");
  EXPECT_EQ(type("c"), "vec(3)");
  EXPECT_EQ(type("s"), "real");
  EXPECT_EQ(type("m"), "complex");
  EXPECT_TRUE(model.find("q")->type.per_site);
  EXPECT_FALSE(model.find("m")->type.per_site);
  for (const Line& line : model.model.lines) {
    if (line.kind == Line::Kind::Clause) continue;
    EXPECT_EQ(model.types.count(line.definition.value.get()), 1u) << line.definition.head.name;
  }
}

TEST(Names, FunctionsTakeTheTypesOfTheirCalls) {
  const Resolved model = resolve_text(
      "model t\nlattice b: 8^3, length = 1\nfield phi: complex, chi: real\n"
      "sq(u) = u*u\npotential V = re(sq(phi)) + sq(chi)\nz = sq(phi)\ny = sq(chi)\n"
      "init phi = 1, chi = 0\nevolve leapfrog, dt = 0.1\nat end: mean(chi) -> \"a.h5\"\n");
  EXPECT_FALSE(model.diagnostics.has_errors()) << render_text(model.diagnostics, model.sources());
  EXPECT_EQ(to_string(model.find("z")->type), "complex");
  EXPECT_EQ(to_string(model.find("y")->type), "real");
}

TEST(Names, LatticeShapes) {
  const Resolved model = resolve_text("model t\nparam n = 6\nlattice 8^2, length = 1\n");
  const auto shape = [&](const std::string& text) {
    Diagnostics diagnostics;
    const ExprPtr expr = parse_expression(test::source(text, "shape"), diagnostics);
    return lattice_shape(model, *expr).value_or(std::vector<std::int64_t>{});
  };
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(shape("256^3"), (Shape{256, 256, 256}));
  EXPECT_EQ(shape("24^3 * 48"), (Shape{24, 24, 24, 48}));
  EXPECT_EQ(shape("800"), (Shape{800}));
  EXPECT_EQ(shape("n^2"), (Shape{6, 6}));
  EXPECT_EQ(shape("(n + 2)^2"), (Shape{8, 8}));
  EXPECT_EQ(shape("[4, 8, n]"), (Shape{4, 8, 6}));
  EXPECT_EQ(shape("0^3"), Shape{});
  EXPECT_EQ(shape("2^1000000"), Shape{});
  EXPECT_EQ(shape("1/3"), Shape{});
}

TEST(Names, UnitsInTheBaseOfTheLattice) {
  const Resolved model = resolve_text(
      "model t\nparam T = 1 [GeV], e = 2 [GeV/fm^3]\nlattice b: 8^3, length = 4 [fm]\n"
      "field u: real\nu'' = lap(u)\ninit u = 0\nevolve leapfrog, dt = 0.1*dx\n"
      "at end: mean(u) -> \"a.h5\"\n");
  EXPECT_FALSE(model.diagnostics.has_errors()) << render_text(model.diagnostics, model.sources());
  EXPECT_DOUBLE_EQ(model.units.at("fm"), 1);
  EXPECT_NEAR(model.units.at("GeV"), 1 / 0.1973269804, 1e-9);  // 1/(hbar c) in 1/fm
  EXPECT_NEAR(model.units.at("GeV/fm^3"), 1 / 0.1973269804, 1e-9);
  EXPECT_NEAR(*constant_value(model, *model.find("e")->value), 2 / 0.1973269804, 1e-9);
}

TEST(Names, PlanckUnits) {
  EXPECT_NEAR(*base_energy("reduced_planck"), 2.435e18, 0.001e18);
  EXPECT_NEAR(size_in_base(*find_unit("m_pl"), *base_energy("reduced_planck")), 1, 1e-12);
  EXPECT_FALSE(find_unit("furlong").has_value());
  EXPECT_EQ(unknown_part("GeV/furlong^2"), "furlong");
}

TEST(Names, Suggestions) {
  const std::vector<std::string> known{"gamma", "omega", "phi", "m"};
  EXPECT_EQ(suggest("gama", known), "gamma");
  EXPECT_EQ(suggest("gmama", known), "gamma");
  EXPECT_EQ(suggest("Phi", known), "phi");
  EXPECT_EQ(suggest("M", known), "m");
  EXPECT_EQ(suggest("k", known), std::nullopt);
  EXPECT_EQ(suggest("viscosity", known), std::nullopt);
}

// ---- loading ----------------------------------------------------------------------------------

TEST(Load, FileThatIsNotThere) {
  Diagnostics diagnostics;
  const ModelText model =
      load_model(std::string(VPHI_SOURCE_DIR) + "/models/cosmology/preheatin.vphi", diagnostics);
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].code, "E0100");
  EXPECT_NE(diagnostics.all()[0].hint.find("preheating.vphi"), std::string::npos);
  EXPECT_FALSE(render_text(diagnostics, {model.source.get()}).empty());
}

TEST(Load, FolderInPlaceOfAFile) {
  Diagnostics diagnostics;
  load_model(VPHI_SOURCE_DIR, diagnostics);
  ASSERT_TRUE(diagnostics.has_errors());
  EXPECT_NE(diagnostics.all()[0].message.find("folder"), std::string::npos);
}

TEST(Load, SetReplacesAParameter) {
  Diagnostics diagnostics;
  ModelText model = parse(test::source("model t\nparam m = 1, φ0 = 2*m\n", "t.vphi"), diagnostics);
  std::vector<ModelText> library = load_library(diagnostics);
  apply_overrides(model, library, {{"m", "2^3"}, {"φ0", "m/2"}}, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  const Resolved resolved = resolve(std::move(model), std::move(library));
  EXPECT_EQ(*constant_value(resolved, *resolved.find("m")->value), 8);
  EXPECT_EQ(*constant_value(resolved, *resolved.find("phi0")->value), 4);
}

TEST(Load, SetOfANameThatIsNoParameter) {
  Diagnostics diagnostics;
  ModelText model = parse(test::source("model t\nparam mass = 1\n", "t.vphi"), diagnostics);
  std::vector<ModelText> library;
  apply_overrides(model, library, {{"mas", "2"}}, diagnostics);
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].code, "E0114");
  EXPECT_EQ(diagnostics.all()[0].hint, "use --set mass=...");
}

TEST(Load, SetGivesEachParameterOnceInTheUnitOfTheModel) {
  const auto codes = [](const std::vector<std::pair<std::string, std::string>>& set) {
    Diagnostics diagnostics;
    ModelText model = parse(
        test::source("model t\nparam m = 2 [GeV], a = 1/(3 [fm]), n = 4\n", "t.vphi"), diagnostics);
    std::vector<ModelText> library;
    apply_overrides(model, library, set, diagnostics);
    std::string all;
    for (const Diagnostic& d : diagnostics.all()) all += std::string(d.code) + " ";
    return all;
  };
  EXPECT_EQ(codes({{"m", "300 [MeV]"}, {"a", "1 [GeV]"}, {"n", "5 [fm]"}}), "");
  EXPECT_EQ(codes({{"m", "3"}}), "");
  EXPECT_EQ(codes({{"m", "1 [fm]"}}), "E0601 ");
  EXPECT_EQ(codes({{"a", "1 [fm]"}}), "E0601 ");
  EXPECT_EQ(codes({{"n", "1"}, {"n", "2"}}), "E0406 ");
}

TEST(Load, ErrorInASetExpressionShowsIt) {
  Diagnostics diagnostics;
  ModelText model = parse(test::source("model t\nparam m = 1\n", "t.vphi"), diagnostics);
  std::vector<ModelText> library = load_library(diagnostics);
  apply_overrides(model, library, {{"m", "2*gama"}}, diagnostics);
  const Resolved resolved = resolve(std::move(model), std::move(library));
  const std::string shown = render_text(resolved.diagnostics, resolved.sources());
  EXPECT_NE(shown.find("unknown name `gama`"), std::string::npos) << shown;
  EXPECT_NE(shown.find("--set m:1:3"), std::string::npos) << shown;
}

TEST(Load, FolderOfStandardTextsCanBeReplaced) {
  ASSERT_EQ(setenv("VPHI_STD", VPHI_SOURCE_DIR "/models/std", 1), 0);
  Diagnostics diagnostics;
  const std::vector<ModelText> from_folder = load_library(diagnostics);
  ASSERT_EQ(setenv("VPHI_STD", "/no/such/folder", 1), 0);
  Diagnostics missing;
  load_library(missing);
  unsetenv("VPHI_STD");
  EXPECT_TRUE(missing.has_errors());
  const std::vector<ModelText> embedded = load_library(diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  ASSERT_EQ(from_folder.size(), embedded.size());
  for (std::size_t i = 0; i < embedded.size(); ++i) {
    EXPECT_EQ(from_folder[i].source->text(), embedded[i].source->text());
    EXPECT_EQ(embedded[i].source->file(), i + 1);
  }
}

// ---- hostile input ----------------------------------------------------------------------------

/// Of this process, so a busy machine does not matter.
double seconds_to_resolve(const std::string& text) {
  const std::clock_t start = std::clock();
  const Resolved resolved = resolve_text(text);
  render_text(resolved.diagnostics, resolved.sources());
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

constexpr double kSoon = 2 * kPatience;

TEST(Hostile, ChainOfDoublings) {
  std::string text = "model t\nparam a0 = 1\n";
  for (int i = 1; i < 400; ++i) {
    text += "a" + std::to_string(i) + " = a" + std::to_string(i - 1) + "*a" +
            std::to_string(i - 1) + "\n";
  }
  EXPECT_LT(seconds_to_resolve(text + "param n = a399\nlattice n, length = a399\n"), kSoon);
}

TEST(Hostile, LongChainOfDefinitions) {
  std::string text = "model t\n";
  for (int i = 0; i < 20000; ++i) {
    text += "a" + std::to_string(i) + " = a" + std::to_string(i + 1) + " + 1\n";
  }
  EXPECT_LT(seconds_to_resolve(text + "a20000 = 1\nparam b = a0\n"), kSoon);
}

TEST(Hostile, LongCycle) {
  std::string text = "model t\n";
  const int n = 3000;
  for (int i = 0; i < n; ++i) {
    text += "a" + std::to_string(i) + " = a" + std::to_string((i + 1) % n) + " + 1\n";
  }
  const Resolved resolved = resolve_text(text);
  EXPECT_NE(codes(resolved).find("E0102"), std::string::npos);
  EXPECT_LT(render_text(resolved.diagnostics, resolved.sources()).size(), 100000u);
}

TEST(Hostile, NestedFunctionsThatDouble) {
  std::string text = "model t\nf0(u) = u\n";
  for (int i = 1; i < 60; ++i) {
    const std::string before = "f" + std::to_string(i - 1);
    text += "f" + std::to_string(i) + "(u) = " + before + "(u) + " + before + "(2*u)\n";
  }
  EXPECT_LT(seconds_to_resolve(text + "y = f59(1)\n"), kSoon);
}

TEST(Hostile, DeepChainOfFunctions) {
  std::string text = "model t\nf0(u) = u\n";
  for (int i = 1; i < 5000; ++i) {
    text += "f" + std::to_string(i) + "(u) = f" + std::to_string(i - 1) + "(u) + 1\n";
  }
  EXPECT_LT(seconds_to_resolve(text + "y = f4999(1)\n"), kSoon);
}

TEST(Hostile, ManyUnknownNames) {
  std::string text = "model t\n";
  for (int i = 0; i < 3000; ++i) {
    text += "name" + std::to_string(i) + " = nmae" + std::to_string(i) + "\n";
  }
  EXPECT_LT(seconds_to_resolve(text), 5 * kSoon);
}

TEST(Hostile, LongStringIsRefused) {
  const Resolved resolved =
      resolve_text("model t\ny = table(\"" + std::string(5000, 'a') + "\", 1)\n");
  EXPECT_NE(codes(resolved).find("E0109"), std::string::npos);
}

TEST(Hostile, NamesOfOtherLanguagesAreOnlyNames) {
  const Resolved resolved = resolve_text(
      "model t\nparam float = 1, get_global_id = 2, return = 3, __global__ = 4\n"
      "lattice 8, length = 1\nfield int: real\nint'' = lap(int) - float*get_global_id*return*int\n"
      "init int = 1\nevolve leapfrog, dt = 0.1*dx\nat end: mean(int) -> \"a.h5\"\n");
  EXPECT_FALSE(resolved.diagnostics.has_errors())
      << render_text(resolved.diagnostics, resolved.sources());
}

}  // namespace
}  // namespace vphi::dsl
