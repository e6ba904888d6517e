// Fluids in two dimensions against numbers that were computed elsewhere: a collision of gold from
// its start to the spectra of what freezes out, shear layers of several lengths, an explosion.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numbers>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/run/onlooker.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;

std::string of_shipped(const std::string& model,
                       const std::vector<std::pair<std::string, std::string>>& words) {
  std::ifstream file(testing::shipped(model));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const auto& [from, to] : words) {
    const auto place = text.find(from);
    if (place == std::string::npos) throw std::runtime_error("no " + from);
    text.replace(place, from.size(), to);
  }
  return text;
}

// ---- a collision of gold
// -------------------------------------------------------------------------

/// Rows of a surface: t, x, y, the covariant normal, and what is carried.
class SurfaceRows : public runtime::Onlooker {
 public:
  bool attending() const override { return true; }
  void scalars(std::span<const std::string>, const io::Moment&, std::span<const double>) override {}
  void table(const io::Table& table, const io::Moment&) override {
    if (table.group() != "surfaces") return;
    width = table.columns.size();
    rows.insert(rows.end(), table.values.begin(), table.values.end());
  }
  void checks(const std::vector<runtime::ExpectationResult>&) override {}
  runtime::Wish between(const runtime::Progress&) override { return runtime::Wish::GoOn; }

  std::size_t width = 1;
  std::vector<double> rows;
};

struct Species {
  double mass, sign, degeneracy;  ///< sign: 1 bosons, -1 fermions
};

/// dN/(dy d^2p_T) in 1/GeV^2 of a surface at the temperature T, and its second harmonic over it
/// (Cooper and Frye, Phys. Rev. D 10 (1974) 186). The sum over the rapidity is closed: a term of
/// the series of the distribution has K_1 beside the normal's time and K_0 beside its place.
std::array<double, 2> spectrum(const SurfaceRows& surface, const Species& of, double T,
                               double momentum) {
  constexpr int kAngles = 12, kTerms = 6;
  constexpr double kUnit = 0.1973269804;
  const double transverse = std::hypot(of.mass, momentum);
  double sum = 0, second = 0;
  for (std::size_t at = 0; at < surface.rows.size(); at += surface.width) {
    const double* row = surface.rows.data() + at;
    const double gamma = 1 / std::sqrt(1 - row[6] * row[6] - row[7] * row[7]);
    std::array<double, kTerms> k_0{}, k_1{};
    for (std::size_t n = 0; n < kTerms; ++n) {
      const double z = static_cast<double>(n + 1) * transverse * gamma / T;
      k_0[n] = std::cyl_bessel_k(0.0, z), k_1[n] = std::cyl_bessel_k(1.0, z);
    }
    for (int angle = 0; angle < kAngles; ++angle) {
      const double phi = 2 * std::numbers::pi * angle / kAngles;
      const double px = momentum * std::cos(phi), py = momentum * std::sin(phi);
      const double along = gamma * (px * row[6] + py * row[7]) / T;
      double found = 0, sign = 1;
      for (std::size_t n = 0; n < kTerms; ++n, sign *= of.sign)
        found += sign * std::exp(static_cast<double>(n + 1) * along) *
                 (transverse * row[3] * k_1[n] + (px * row[4] + py * row[5]) * k_0[n]);
      sum += 2 * row[0] * found, second += 2 * row[0] * found * std::cos(2 * phi);
    }
  }
  const double all = of.degeneracy / std::pow(2 * std::numbers::pi * kUnit, 3) / kAngles;
  return {all * sum, second / sum};
}

/// The integral of u.dSigma for each unit of rapidity, in fm^3.
double through(const SurfaceRows& surface) {
  double sum = 0;
  for (std::size_t at = 0; at < surface.rows.size(); at += surface.width) {
    const double* row = surface.rows.data() + at;
    sum += row[0] * (row[3] + row[6] * row[4] + row[7] * row[5]) /
           std::sqrt(1 - row[6] * row[6] - row[7] * row[7]);
  }
  return sum;
}

std::string whole_event() {
  std::string text = of_shipped("hydro/event2d", {{"64^2", "128^2"}});
  text.erase(text.find("every 5 steps"));
  return text + R"(limit q = q*min(1, sqrt((h - p)^2 + 3*p^2)/(2*norm(q) + 1e-30))
precision real = f64
w = (h - p)*W
middle = in_the_middle(T)/(1 [GeV])
eps_x = weighted_mean(y^2 - x^2, w)/weighted_mean(x^2 + y^2, w)
eps_p = momentum_anisotropy(h, p, u, s)
v_T = transverse_velocity(v, w)
entropy = plane_integral(h/T*W)
every 5 steps: t, middle, eps_x, eps_p, v_T, entropy,
               surface(T, level = T_f, carry = v, time = on) -> "e.h5"
)";
}

// Numbers of an independent code with cells of 0.2 and 0.133 fm; here 0.2 fm. Spectra are of
// thermal particles without what the stress adds.
TEST(FluidRows, ACollisionFromItsStartToItsSpectra) {
  SurfaceRows surface;
  const Compilation compiled = testing::compile_text(whole_event(), {});
  runtime::RunOptions options;
  options.onlooker = &surface;
  const auto result = runtime::run(*compiled.program, *testing::device("native"), options);
  struct Row {
    double t, middle, eps_x, eps_p, v_T, entropy;
  };
  for (const Row& row :
       {Row{.6, .3488, .254015, 0, 0, 2953.56}, Row{1, .30272, .25138, 2.15e-4, .0457, 3023.7},
        Row{3, .22524, .1965, .02974, .2616, 3228.9}, Row{5, .18989, .1229, .0657, .4073, 3265.2},
        Row{7, .16453, .0649, .0806, .4979, 3274.5}}) {
    const auto* times = result.find("t");
    std::size_t i = 0;
    while (i + 1 < times->points.size() && times->points[i].second < row.t - 1e-6) ++i;
    const auto at = [&](const char* name) { return result.find(name)->points.at(i).second; };
    EXPECT_NEAR(at("t"), row.t, 1e-6);
    EXPECT_NEAR(at("middle"), row.middle, 5e-5) << row.t;
    EXPECT_NEAR(at("eps_x"), row.eps_x, 7e-4) << row.t;
    EXPECT_NEAR(at("eps_p"), row.eps_p, 2e-4) << row.t;
    EXPECT_NEAR(at("v_T"), row.v_T, 3e-4) << row.t;
    EXPECT_NEAR(at("entropy") / row.entropy, 1, 1e-3) << row.t;
  }
  EXPECT_NEAR(last(result, "t"), 8.9, 0.1);
  EXPECT_NEAR(through(surface) / 1705.6, 1, 3e-3);
  constexpr std::array kMomenta{.3, .5, 1., 1.5};
  struct Known {
    Species of;
    std::array<double, 4> spectrum, second;
  };
  for (const Known& known :
       {Known{{.13957, 1, 1}, {49.57, 23.57, 3.550, .5652}, {.0344, .0537, .0979, .1363}},
        Known{{.93827, -1, 2}, {.7881, .7254, .3889, .1310}, {.0106, .0267, .0754, .1193}}}) {
    for (std::size_t i = 0; i < kMomenta.size(); ++i) {
      const auto [number, flow] = spectrum(surface, known.of, 0.148, kMomenta[i]);
      EXPECT_NEAR(number / known.spectrum[i], 1, 5e-3) << kMomenta[i];
      EXPECT_NEAR(flow, known.second[i], 5e-4) << kMomenta[i];
    }
  }
}

// ---- shear layers
// --------------------------------------------------------------------------------

struct Layer {
  const char *k, *cells, *across;
  double rate;
};

class ShearLayers : public ::testing::TestWithParam<Layer> {};

// Eigenvalues of the linear equations of a relativistic gas, v_0 = 0.2, by collocation with 120 and
// 160 points. The growth is taken from t = 80 on, when what the seed had of other modes is gone.
TEST_P(ShearLayers, GrowWithTheirRates) {
  const Layer& layer = GetParam();
  const std::string cells = layer.cells;
  const auto result = testing::run_text(
      of_shipped("hydro/khi",
                 {{"k = 0.4446", std::string("k = ") + layer.k},
                  {"[48, 72], spacing = 2*pi/(48*k)",
                   "[" + cells + ", " + layer.across + "], spacing = 2*pi/(" + cells + "*k)"},
                  {"t > 120", "t > 160"},
                  {"1e-4*sin", "1e-6*sin"}}),
      {});
  const auto *t = result.find("t"), *amplitude = result.find("amplitude");
  std::size_t early = 0;
  while (t->points.at(early).second < 80) ++early;
  const double grown =
      std::log(amplitude->points.back().second / amplitude->points.at(early).second);
  EXPECT_NEAR(grown / (t->points.back().second - t->points.at(early).second) / layer.rate, 1, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Lengths, ShearLayers,
                         ::testing::Values(Layer{"0.3", "144", "216", .03140239},
                                           Layer{"0.4446", "96", "144", .03367341},
                                           Layer{"0.6", "96", "144", .02924042}));

// ---- an explosion on squares
// ----------------------------------------------------------------------

// Sedov's explosion of a line, gamma = 1.4 and an energy of 1 for each length, in a quarter of a
// plane: at t = 1 the shock is at 1.00402161 in every direction.
TEST(FluidRows, AnExplosionOnSquaresIsRound) {
  const auto result = testing::run_text(R"(model explosion "Sedov's explosion of a line, in a plane"
param gamma = 1.4
r_0 = 2*dx
lattice plane: 200^2, length = 1.2, boundary = neumann
primitive rho, p: real, v: vec(2)
conserve D = rho:                                 div(rho*v)
conserve M = rho*v:                               div(M*v) + grad(p)
conserve E = p/(gamma - 1) + rho*norm2(v)/2:      div((E + p)*v)
recover {
  rho = D
  v   = M/D
  p   = (gamma - 1)*(E - norm2(M)/(2*D))
}
c = sqrt(gamma*max(p, 0)/rho)
speed[k] = abs(v[k]) + c
scheme kt_primitive, speed = speed, theta = 1.3
evolve heun, dt = 0.4*dx/max(abs(v[0]) + abs(v[1]) + 2*c), until = t > 1
R = sqrt((x + 0.6)^2 + (y + 0.6)^2)
init rho = 1, v = 0, p = (gamma - 1)/(pi*r_0^2)*exp(-R^2/r_0^2) + 1e-5
precision real = f64
# the shock has passed where the pressure is half of what it leaves
along = max(R*(p > 0.1)*(y + 0.6 < dx))
diagonal = max(R*(p > 0.1)*(abs(y - x) < dx/2))
every 100 steps: t, along, diagonal, energy = 4*total(E)*dx^2, unlike = max(abs(rho - 1)*(R > 1.05)) -> "s.h5"
expect conserved(D, E) within 1e-12
)",
                                        {});
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
  const double scale = 1.00402161 * std::sqrt(last(result, "t"));
  EXPECT_NEAR(last(result, "along"), scale, 0.006);
  EXPECT_NEAR(last(result, "diagonal"), scale, 0.006);
  EXPECT_NEAR(last(result, "energy"), 1, 1e-3);
  EXPECT_LT(last(result, "unlike"), 1e-6);
}

// Of a point, in an eighth of a cube of 48^3 cells: at t = 0.2 the shock is at 1.03277747 t^(2/5)
// along the axes and both diagonals, to a cell.
TEST(FluidRows, AnExplosionOnCubesIsRound) {
  const auto result =
      testing::run_text(R"(model explosion "Sedov's explosion of a point, in an eighth of a cube"
param gamma = 1.4
r_0 = 2*dx
lattice box: 48^3, length = 0.66, boundary = neumann
primitive rho, p: real, v: vec(3)
conserve D = rho:                                 div(rho*v)
conserve M = rho*v:                               div(M*v) + grad(p)
conserve E = p/(gamma - 1) + rho*norm2(v)/2:      div((E + p)*v)
recover {
  rho = D
  v   = M/D
  p   = (gamma - 1)*(E - norm2(M)/(2*D))
}
c = sqrt(gamma*max(p, 0)/rho)
speed[k] = abs(v[k]) + c
scheme kt_primitive, speed = speed, theta = 1.3
evolve heun, dt = 0.4*dx/max(abs(v[0]) + abs(v[1]) + abs(v[2]) + 3*c), until = t > 0.2
R = sqrt((x + 0.33)^2 + (y + 0.33)^2 + (z + 0.33)^2)
init rho = 1, v = 0, p = (gamma - 1)/(pi^1.5*r_0^3)*exp(-R^2/r_0^2) + 1e-5
precision real = f64
# the shock has passed where the pressure is half of what it leaves
along = max(R*(p > 0.5)*(y + 0.33 < dx)*(z + 0.33 < dx))
diagonal = max(R*(p > 0.5)*(abs(y - x) < dx/2)*(z + 0.33 < dx))
corner = max(R*(p > 0.5)*(abs(y - x) < dx/2)*(abs(z - x) < dx/2))
every 100 steps: t, along, diagonal, corner, energy = 8*total(E)*dx^3 -> "s.h5"
expect conserved(D, E) within 1e-12
)",
                        {});
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
  const double scale = 1.03277747 * std::pow(last(result, "t"), 0.4);
  for (const char* direction : {"along", "diagonal", "corner"})
    EXPECT_NEAR(last(result, direction), scale, 0.013) << direction;
  EXPECT_NEAR(last(result, "energy"), 1, 1e-3);
}

}  // namespace
}  // namespace vphi
