// The oracle of `vphi test` for fields that are stored as deviations: both parts of each rate, and
// of the start. The right system passes; each fault of the table is found.
#include <gtest/gtest.h>

#include "compiler/physics/fields/deviation.hpp"
#include "tests/physics/oracle/planted.hpp"

namespace vphi {
namespace {

using namespace planted;

const Texts& deviation_texts() {
  static const Texts kTexts{
      {"box", R"(model box "two fields, one of them about a mean"
lattice box: 4*3*4, spacing = 0.5
field phi: real, store = deviation
field chi: real
potential V = 0.7*phi^2/2 + 0.1*phi^4 + (1 - cos(phi)) + 0.3*phi^2*chi^2 + 0.1*exp(0.5*phi)*chi
init phi ~ 1.3 + normal(0, 0.1), phi' ~ 0.4 + normal(0, 0.1), chi ~ normal(0, 1)
evolve leapfrog, dt = 0.01, until = t > 1
every 1 step: mean(phi) -> "m.h5"
)"},
      {"expanding", R"(model expanding "the same in a box that expands with its averages"
units reduced_planck
param m = 5e-6
lattice box: 4*3*4, spacing = 0.5/m
metric frw(a)
field phi: real, store = deviation
field chi: real
potential V = m^2*phi^2/2 + m^2*phi^2*chi^2/2 + 0.1*m^2*phi^4/4
rescale A = 1, B = m, s = 0
init phi ~ 1.3 + normal(0, 0.1), phi' ~ 0.4*m + normal(0, 0.1)*m, chi ~ normal(0, 0.3)
evolve leapfrog, dt = 0.01/m, until = t > 1/m
every 1 step: a, mean(phi) -> "m.h5"
)"}};
  return kTexts;
}

/// Takes the fields apart, as the compiler does behind `derive`, and changes what came of it.
Plant apart(const Plant& change) {
  return [=](System& s) {
    std::set<int> arrays;
    for (const auto& [array, span] : s.numerics.deviations) arrays.insert(array);
    std::string why;
    auto parts = physics::with_references(s, arrays, why);
    if (!parts) throw std::runtime_error(why);
    s = std::move(*parts);
    change(s);
  };
}

physics::ScalarVariable& reference(System& s, const std::string& variable) {
  const std::string name = rate_of(s, variable).reference;
  for (physics::ScalarVariable& scalar : s.scalars)
    if (scalar.symbol == name) return scalar;
  throw std::runtime_error("no reference of " + variable);
}

Plant in_reference(const std::string& variable, const Change& change) {
  return [=](System& s) {
    physics::ScalarVariable& scalar = reference(s, variable);
    const Expr before = scalar.rate;
    scalar.rate = change(s, before);
    if (scalar.rate == before) throw std::runtime_error("nothing was planted");
  };
}

/// P of `of` becomes 0, or P of another variable, in a rate.
Change without(const std::string& of, const std::string& other = "") {
  return [=](System& s, Expr e) {
    const std::string name = rate_of(s, of).reference;
    const Expr to =
        other.empty() ? s.arena->integer(0) : s.arena->symbol(rate_of(s, other).reference);
    return nodes(named(name), [=](Expr) { return to; })(s, e);
  };
}

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults{
      {"the rest of a force too large", "box", in("pi_phi", times(1.001))},
      {"a term of the rest dropped", "box", in("pi_phi", term(0, 0))},
      {"another term of the rest dropped", "box", in("pi_phi", term(-1, 0))},
      {"the rest about 0 and not about P", "box", in("pi_phi", without("phi"))},
      {"the force of the reference too large", "box", in_reference("pi_phi", times(1.001))},
      {"a term of the reference's force dropped", "box", in_reference("pi_phi", term(0, 0))},
      {"the reference stands still", "box", in_reference("phi", times(0))},
      {"a constant force on the reference", "box", in_reference("pi_phi", plus(0.01))},
      {"the other field without P", "box", in("pi_chi", without("phi"))},
      {"the rate of the deviation", "box", in("phi", times(1.001))},
      {"P and its momentum exchanged", "expanding", in("pi_chi", without("phi", "pi_phi"))},
      {"an expanding rest", "expanding", in("pi_phi", times(1.001))},
      {"an expanding reference", "expanding", in_reference("pi_phi", times(0.999))},
      {"averages without P", "expanding", in_scalar(1, without("phi"))},
      {"averages without the velocity's mean", "expanding", in_scalar(1, without("pi_phi"))},
      {"the reference starts elsewhere", "box",
       [](System& s) {
         physics::ScalarVariable& scalar = reference(s, "phi");
         scalar.initial = s.arena->real(1.01) * scalar.initial;
       }},
  };
  return kFaults;
}

class PlantedInDeviations : public ::testing::TestWithParam<std::size_t> {};
TEST_P(PlantedInDeviations, IsFound) {
  Fault fault = faults()[GetParam()];
  fault.plant = apart(fault.plant);
  expect_found(fault, deviation_texts());
}
INSTANTIATE_TEST_SUITE_P(Table, PlantedInDeviations,
                         ::testing::Range<std::size_t>(0, faults().size()), names_of(faults()));

class RightDeviations : public ::testing::TestWithParam<const char*> {};
TEST_P(RightDeviations, AgreeWithTheirText) {
  auto d = physics::test::derived(deviation_texts().at(GetParam()));
  apart([](System&) {})(*d.system);
  const auto rows = tools::check_derivatives(*d.resolved, *d.system);
  EXPECT_GE(rows.size(), 2u);
  for (const tools::DerivativeRow& row : rows)
    EXPECT_TRUE(row.right() || !row.not_checked.empty()) << report(rows);
}
INSTANTIATE_TEST_SUITE_P(Texts, RightDeviations, ::testing::Values("box", "expanding"));

}  // namespace
}  // namespace vphi
