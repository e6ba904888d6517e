// Fields stored as deviations together with other features of models: several components, instances
// of a sweep, a background that is prescribed, the rescaled form.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/series_difference.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::run_text;

struct Kind {
  const char* name;
  const char* text;
};

const Kind kKinds[] = {{"Complex", R"(model complex "a complex field and a second one about a mean"
lattice box: 16^3, length = 8, boundary = periodic
field u: complex, store = STORE
field w: real, store = STORE
potential V = (norm2(u) - 1)^2/4 + w^2*norm2(u)/2 + w^4/4
init u ~ 1.2 + 0.1i + normal(0, 1e-6), w ~ 0.3 + normal(0, 1e-6)
precision real = REAL
evolve leapfrog, dt = 0.02, until = step > 400
every 64 steps: mean(re(u)), mean(im(u)), var(re(u)), mean(w), var(w) -> "s.csv"
)"},
                       {"Sweep", R"(model sweep "means of instances"
sweep g = [0.1, 0.3, 0.5]
lattice box: 16^3, length = 8, boundary = periodic
field phi: real, store = STORE
field chi: real, store = STORE
potential V = phi^2/2 + phi^4/8 + g*phi^2*chi^2/2
init phi ~ 1 + g + normal(0, 1e-6), chi ~ 0.2 + normal(0, 1e-6)
precision real = REAL
evolve leapfrog, dt = 0.02, until = step > 400
every 64 steps: mean(phi), mean(phi'), var(phi), var(chi) -> "s.csv"
)"},
                       {"PrescribedBackground", R"(model rad "radiation"
units reduced_planck
param m = 1e-5
lattice box: 16^3, length = 10/m, boundary = periodic
metric frw(a = (1 + m*t)^(1/2))
field phi: real, store = STORE
field chi: real, store = STORE
potential V = m^2*phi^2/2 + (100*m)^2*phi^2*chi^2/2
init phi ~ 1 + vacuum, chi ~ 0.01 + vacuum
precision real = REAL
evolve leapfrog, dt = 0.01/m, until = step > 400
every 64 steps: a, mean(phi), var(phi), var(chi), energies -> "s.csv"
)"},
                       {"Mirror", R"(model mirror "a box between mirrors"
lattice box: [12, 16, 8], spacing = 0.5, boundary = [neumann, periodic, neumann]
field phi: real, store = STORE
field chi: real, store = value
potential V = phi^2/2 + 0.3*phi^4 + phi^2*chi^2/2
init phi ~ 1 + normal(0, 1e-6), chi ~ normal(0, 1e-6)
precision real = REAL
evolve leapfrog, dt = 0.02, until = step > 400
every 64 steps: mean(phi), mean(phi'), var(phi), var(chi), energies -> "s.csv"
)"},
                       {"RescaledForm", R"(model resc "psi = a^(3/2) phi and its velocity"
units reduced_planck
param m = 5e-6, g = 100*m, phi0 = 1.0093430384226378, dphi0 = -0.7137133070120812*m
lattice box: 16^3, length = 10/m, boundary = periodic
metric frw(a)
field phi: real, store = STORE
field chi: real, store = value
potential V = m^2*phi^2/2 + g^2*phi^2*chi^2/2
rescale A = 1/phi0, B = m, s = 0, r = 3/2, form = rescaled
init phi ~ phi0 + vacuum, phi' ~ dphi0 + vacuum, chi ~ vacuum
precision real = REAL
evolve leapfrog, dt = 2^-7/m, until = step > 400
every 64 steps: a, H, mean(phi), var(phi), var(chi), mean(rho) -> "s.csv"
)"}};

runtime::RunResult run_of(const Kind& kind, const std::string& store, const std::string& real) {
  std::string text = kind.text;
  const auto put = [&](const std::string& word, const std::string& value) {
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word))
      text.replace(at, word.size(), value);
  };
  put("STORE", store), put("REAL", real);
  return run_text(text, {});
}

using testing::largest_difference;

class DeviationKinds : public ::testing::TestWithParam<Kind> {};

TEST_P(DeviationKinds, AreTheSameEquations) {
  const auto value = run_of(GetParam(), "value", "f64"),
             apart = run_of(GetParam(), "deviation", "f64");
  ASSERT_FALSE(value.series.empty());
  for (const runtime::Series& series : value.series)
    EXPECT_LT(largest_difference(*apart.find(series.name), series),
              series.name.starts_with("var") || series.name.starts_with("gradient") ? 1e-9 : 1e-12)
        << series.name;
}

TEST_P(DeviationKinds, KeepTheirDigitsInSinglePrecision) {
  const auto f64 = run_of(GetParam(), "value", "f64"), f32 = run_of(GetParam(), "deviation", "f32");
  for (const runtime::Series& series : f64.series)
    EXPECT_LT(largest_difference(*f32.find(series.name), series), 1e-4) << series.name;
}

INSTANTIATE_TEST_SUITE_P(Models, DeviationKinds, ::testing::ValuesIn(kKinds),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace vphi
