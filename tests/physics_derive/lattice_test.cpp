// Laplacians, gradient energy, initial values and outputs of lattices.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/algebra/stencil.hpp"
#include "derive_text.hpp"

namespace vphi::physics::test {
namespace {

std::string wave(
    const std::string& more,
    const std::string& lattice = "lattice box: 6^3, length = 3, boundary = periodic\n") {
  return "model test \"t\"\n" + lattice + "field u: real\n" + more +
         "evolve leapfrog, dt = 0.1*dx, until = t > 1\n";
}

TEST(Stencils, LibraryTextBecomesIntegers) {
  const auto d = derived(wave("potential V = u^2/2\nlaplacian = iso27\ninit u = 1\n"));
  const auto& s = d.system->arena->stencil_data(d.system->laplacian);
  EXPECT_EQ(s.offsets.size(), 27u);
  EXPECT_EQ(s.denominator, 30);
  EXPECT_EQ(s.dx_power, -2);
  std::map<std::int64_t, int> weights;
  for (const auto w : s.weights) ++weights[w];
  EXPECT_EQ(weights, (std::map<std::int64_t, int>{{-128, 1}, {14, 6}, {3, 12}, {1, 8}}));
}

TEST(Stencils, EveryLibraryLaplacianIsOne) {
  const std::pair<const char*, int> names[] = {{"star2", 2}, {"iso7", 2},  {"iso15", 2},
                                               {"iso19", 2}, {"iso27", 2}, {"axis4", 4},
                                               {"axis6", 6}, {"axis8", 8}};
  for (const auto& [name, order] : names) {
    const auto d =
        derived(wave("potential V = u^2/2\nlaplacian = " + std::string(name) + "\ninit u = 1\n"));
    const auto& s = d.system->arena->stencil_data(d.system->laplacian);
    const auto check = algebra::consistency(s);
    EXPECT_TRUE(check.laplacian) << name << check.error;
    EXPECT_EQ(check.order, order) << name;
  }
}

TEST(Stencils, WrittenByTheUserWithShifts) {
  const auto d =
      derived(wave("stencil mine(f) = (f@x - 2*f + f@(-1))/dx^2\nlaplacian = mine\n"
                   "u'' = lap(u)\ninit u = 1\n",
                   "lattice line: 16, length = 4, boundary = periodic\n"));
  const auto& s = d.system->arena->stencil_data(d.system->laplacian);
  EXPECT_EQ(s.offsets.size(), 3u);
  EXPECT_EQ(s.denominator, 1);
}

TEST(Gradient, MatchingFormHasTheSameMean) {
  for (const char* name : {"star2", "iso15", "iso19", "iso27", "axis4", "axis8"}) {
    const auto d = derived(wave("potential V = u^2/2\nlaplacian = " + std::string(name) +
                                "\ninit u = 1\nevery 1 step: snapshot(norm2(grad(u))), "
                                "mean(norm2(grad(u))) -> \"x.h5\"\n"));
    const System& s = *d.system;
    SmallLattice lattice(s, 6);
    const double by_site = lattice.mean(observable(s, "snapshot(norm2(grad(u)))"));
    const double by_parts = lattice.value(observable(s, "mean(norm2(grad(u)))"));
    EXPECT_NEAR(by_site / by_parts, 1, 1e-13) << name;
    EXPECT_GT(by_site, 0);
  }
}

TEST(Gradient, EnergyDensityAveragesToItsParts) {
  const auto d = derived(
      "model test \"t\"\nunits reduced_planck\nlattice box: 4^3, length = 3, boundary = periodic\n"
      "metric frw(a), rho_m = 0.3\nfield u: real, z: complex\n"
      "potential V = u^2/2 + norm2(z)*u^2\nrescale A = 2, B = 3, s = -1/2\nlaplacian = iso27\n"
      "init u = 1, z = 2\nevolve leapfrog, dt = 0.01, until = t > 1\n"
      "every 1 step: energies, snapshot(rho), mean(rho) -> \"x.h5\"\n");
  const System& s = *d.system;
  SmallLattice lattice(s, 4);
  lattice.symbols = {{"a", 1.7}, {"a_slope", 0.4}, {"t", 1}};
  double parts = 0.3 / std::pow(1.7, 3);
  for (const char* name :
       {"kinetic_u", "kinetic_z", "gradient_u", "gradient_z", "potential_1", "potential_2"}) {
    parts += lattice.value(observable(s, name));
  }
  EXPECT_NEAR(lattice.mean(observable(s, "snapshot(rho)")) / parts, 1, 1e-13);
  EXPECT_NEAR(lattice.value(observable(s, "mean(rho)")) / parts, 1, 1e-13);
}

TEST(Initial, VacuumInProgramUnits) {
  const auto d = derived(
      "model test \"t\"\nunits reduced_planck\nparam m = 5e-6, g = 100*m, phi0 = 1, v0 = -0.7*m\n"
      "lattice box: 8^3, length = 10/m, boundary = periodic\nmetric frw(a)\n"
      "field phi: real, chi: complex\n"
      "potential V = m^2*phi^2/2 + g^2*phi^2*norm2(chi)\n"
      "rescale A = 1/phi0, B = m, s = 0\n"
      "init phi ~ phi0 + vacuum, phi' ~ v0 + vacuum, chi ~ vacuum\n"
      "evolve leapfrog, dt = 2^-10/m, until = t > 1/m\n");
  const System& s = *d.system;
  // phi and phi', and what draws chi draws chi' with it: two parts each
  ASSERT_EQ(s.random.size(), 6u);
  // H0^2 = (phi'^2/2 + m^2 phi^2/2)/3 in units of m^2
  const double hubble2 = (0.49 + 1) / 6;
  EXPECT_NEAR(s.random[0].mass2, 1 - 2.25 * hubble2, 1e-12);
  EXPECT_TRUE(s.random[1].velocity);
  // complex: V'' by one component over its norm 2 is g^2 phi0^2/m^2
  EXPECT_NEAR(s.random[2].mass2, 1e4 - 2.25 * hubble2, 1e-8);
  // canonical amplitude A*B in three dimensions, 1/sqrt(2) of it for each part of a complex field
  EXPECT_NEAR(s.random[0].amplitude, 5e-6, 1e-18);
  EXPECT_NEAR(s.random[1].amplitude, 5e-6, 1e-18);
  EXPECT_NEAR(s.random[3].amplitude, 5e-6 / std::sqrt(2), 1e-18);
  int velocities = 0;
  for (const RandomField& r : s.random) velocities += r.velocity ? 1 : 0;
  EXPECT_EQ(velocities, 3);
  // streams differ
  for (std::size_t i = 0; i < s.random.size(); ++i)
    EXPECT_EQ(s.random[i].stream, static_cast<int>(i));
  // pi = A/B*phi' = -0.7 + random
  const Expr noise = s.arena->load(s.random[1].array);
  EXPECT_EQ(s.initial[0].value, s.arena->integer(1) + s.arena->load(s.random[0].array));
  bool found = false;
  for (const InitialValue& initial : s.initial) {
    if (initial.array != variable(s, "pi_phi").array) continue;
    found = true;
    EXPECT_EQ(initial.value, noise - s.arena->rational(7, 10)) << text(s, initial.value);
  }
  EXPECT_TRUE(found);
}

TEST(Initial, FactsInAnyOrder) {
  const auto d = derived(
      "model test \"t\"\nlattice line: 8, spacing = 1, boundary = periodic\nfield u, w: real\n"
      "potential V = u^2/2 + w^2/2\ninit u = 2*w, w = x\n"
      "evolve leapfrog, dt = 0.1, until = t > 1\n");
  const System& s = *d.system;
  // w comes before u, which reads it
  std::vector<int> order;
  for (const InitialValue& initial : s.initial) order.push_back(initial.array);
  const auto place = [&](const char* name) {
    return std::ranges::find(order, variable(s, name).array) - order.begin();
  };
  EXPECT_LT(place("w"), place("u"));
}

TEST(Options, CommandLineChangesShapeEndPrecisionSeed) {
  CompileOptions options;
  options.lattice = "4^3";
  options.until = "t > 2";
  options.precision = "f32";
  options.seed = 7;
  const auto d = derived(wave("potential V = u^2/2\ninit u = 1\n"), options);
  const System& s = *d.system;
  EXPECT_EQ(s.lattice.sites(), 64);
  EXPECT_DOUBLE_EQ(s.lattice.dx, 0.75);  // the length stays
  EXPECT_EQ(s.end_time, 2);
  EXPECT_EQ(s.numerics.real, Precision::F32);
  EXPECT_EQ(s.numerics.store, Precision::F32);
  EXPECT_EQ(s.seed, 7u);
}

TEST(Output, SliceOfASheetIsAll) {
  const auto d =
      derived(wave("potential V = u^2/2\ninit u = 1\n"
                   "at end: slice(u), slice(u, y = 1) -> \"x.h5\"\n",
                   "lattice sheet: 8^2, length = 4, boundary = periodic\n"));
  const auto& observables = d.system->outputs.at(0).observables;
  EXPECT_EQ(observables[0].kind, Observable::Kind::Slice);
  EXPECT_EQ(observables[0].form.axis, -1);  // across no axis of the sheet
  EXPECT_EQ(observables[1].kind, Observable::Kind::Slice);
  EXPECT_EQ(observables[1].form.axis, 1);
}

TEST(Output, ScalarsFieldsAndPromises) {
  const auto d = derived(wave(
      "potential V = u^2/2\ninit u = x\n"
      "every 5 steps, after = t > 0.5: t, q = mean(u^2), var(u), max(abs(u')) -> \"x.h5\"\n"
      "at end: spectrum(u), slice(u, y = 0.3), histogram(u, bins = 7) -> \"x.h5\"\n"
      "expect drift(mean(u'^2 + norm2(grad(u)) + u^2)) < 1e-3\nexpect conserved(u) within 0.5\n"));
  const System& s = *d.system;
  ASSERT_EQ(s.outputs.size(), 2u);
  EXPECT_EQ(s.outputs[0].every, 5);
  EXPECT_TRUE(s.outputs[0].after);
  EXPECT_EQ(s.outputs[0].observables[1].name, "q");
  EXPECT_EQ(s.outputs[1].every, 0);
  EXPECT_EQ(s.outputs[1].observables[1].form.axis, 1);
  EXPECT_DOUBLE_EQ(s.outputs[1].observables[1].coordinate, 0.3);
  EXPECT_EQ(s.outputs[1].observables[2].form.histogram.at(0).bins, 7);
  ASSERT_EQ(s.expectations.size(), 2u);
  EXPECT_EQ(s.expectations[0].kind, Expectation::Kind::Drift);
  EXPECT_EQ(s.expectations[1].kind, Expectation::Kind::Conserved);
  EXPECT_TRUE(s.expectations[1].scale);
  // var by its definition
  SmallLattice lattice(s, 6);
  double mean = 0, square = 0;
  const int u = variable(s, "u").array;
  for (int i = 0; i < lattice.sites(); ++i) mean += lattice.at(u, i) / lattice.sites();
  for (int i = 0; i < lattice.sites(); ++i) {
    square += std::pow(lattice.at(u, i) - mean, 2) / lattice.sites();
  }
  EXPECT_NEAR(lattice.value(observable(s, "var(u)")), square, 1e-14);
}

}  // namespace
}  // namespace vphi::physics::test
