// The shipped collision in three dimensions against what other equations say: the plane where
// nothing depends on the rapidity, matter at rest in the laboratory whose stress decays, and the
// eccentricity and the energy of its start.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/places.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using Changes = std::vector<std::pair<std::string, std::string>>;

/// A shipped model whose text is changed; its own outputs and promises are replaced.
std::string changed(const std::string& model, const Changes& changes, const std::string& outputs) {
  std::ifstream file(testing::shipped("hydro/" + model));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  text.erase(text.find("every 5 steps"));
  for (const auto& [from, to] : changes) {
    const auto place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    if (place != std::string::npos) text.replace(place, from.size(), to);
  }
  return text + outputs;
}

/// Solutions to rounding in place of the collision's own tolerance.
Changes exact_recovery(Changes changes) {
  for (const char* solve : {"T by newton", "v by fixed_point"})
    changes.emplace_back(fmt::format("{}, tol = 1e-5, max = 100", solve),
                         fmt::format("{}, tol = 1e-11, max = 300", solve));
  return changes;
}

const std::string kBox = "48 * 48 * 28, spacing = 0.5 [fm], boundary = outflow";
const std::string kEnd = "max(T) < 0.148 [GeV]";

/// Without a dependence on the rapidity the flow is that of the plane, whose equations have no
/// third axis.
TEST(Event3d, TheSameAtAllRapiditiesItIsThePlane) {
  const std::string outputs =
      "every 40 steps: t, mean(T), max(T), mean(Pi), shear = mean(q[0]), flow = mean(norm2(v)), "
      "shape = mean(E*(y^2 - x^2))/mean(E*(x^2 + y^2)) -> \"e.h5\"\n";
  const auto space = testing::run_text(
      changed(
          "event3d",
          exact_recovery(
              {{kBox, "14 * 14 * 2, spacing = 1.2 [fm], boundary = [outflow, outflow, periodic]"},
               {"exp(-max(abs(z) - flat, 0)^2/(2*edge^2))*", ""},
               {kEnd, "t > 1.79 [fm]"}}),
          outputs),
      {});
  const auto plane = testing::run_text(
      changed("event2d_bulk",
              exact_recovery({{"64^2, length = 25.6 [fm]", "14^2, spacing = 1.2 [fm]"},
                              {"until = max(T) < T_f", "until = t > 1.79 [fm]"}}),
              outputs),
      {});
  for (const char* name : {"mean(T)", "max(T)", "mean(Pi)", "shear", "flow", "shape"})
    EXPECT_NEAR(last(space, name) / last(plane, name), 1, 2e-6) << name;
  EXPECT_GT(last(plane, "flow"), 1e-3);
}

/// Matter at rest in the laboratory at one temperature, in proper time and rapidity: it moves with
/// v_z = -tanh(z) everywhere, nothing expands, and its stress, small against the pressure, decays
/// in the time of the laboratory t*cosh(z). Two signs of the stress: half of their difference is
/// free of what cells make of the flow, and of squares.
TEST(Event3d, MatterAtRestInTheLaboratoryStays) {
  const std::string rapidity = "z/(1 [fm])";
  const auto result = testing::run_text(
      changed("event3d",
              {{kBox, "2 * 2 * 40, spacing = 0.05 [fm], boundary = [periodic, periodic, outflow]"},
               {kEnd, "t > 0.949 [fm]"},
               {"q = 0, Pi = 0, E = e_0*(ridge + 3e-6)",
                "T = 0.2 [GeV], Pi = 0, v = [0, 0, -tanh(" + rapidity + ")], q = exact"}},
              "sweep sign = [-1, 1]\nin = (1 if abs(z) < 0.4 [fm] else 0)\n"
              // xx, xy, xz, yy, yz of the laboratory, boosted along z
              "exact = sign*(0.01 [GeV/fm^3])*exp(-t*cosh(" +
                  rapidity + ")/(5*eta_s/(0.2 [GeV])))*[1, 0.4, 0.7*cosh(" + rapidity +
                  "), 0.3, -0.5*cosh(" + rapidity +
                  ")]\nevery 10 steps: T_off = max(in*abs(T/(0.2 [GeV]) - 1)), "
                  "v_off = max(in*abs(v[2] + tanh(" +
                  rapidity +
                  "))), Pi_off = max(in*abs(Pi/p)), found[i] = mean(in*q[i]), i = 0..4, "
                  "wanted[i] = mean(in*exact[i]), i = 0..4 -> \"rest.h5\"\n"),
      {});
  const auto of = [&](const std::string& name) { return result.find(name)->values.back(); };
  for (int i = 0; i < 5; ++i) {
    const auto found = of(fmt::format("found[{}]", i)), wanted = of(fmt::format("wanted[{}]", i));
    EXPECT_NEAR((found[1] - found[0]) / (wanted[1] - wanted[0]), 1, 2e-3) << i;
  }
  for (const double off : of("T_off")) EXPECT_LT(off, 2e-3);
  for (const double off : of("v_off")) EXPECT_LT(off, 2e-3);
  for (const double off : of("Pi_off")) EXPECT_LT(off, 1e-2);
}

}  // namespace
}  // namespace vphi
