// The fastest waves about the start: w^2 = k_eff^2 + m^2, k_eff^2 the largest eigenvalue of the
// Laplacian and m^2 that of V'' at the homogeneous start. The schedule checks the time step against
// them (compiler/schedule/integrator/stability.hpp).
#include <cmath>

#include <fmt/format.h>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/fields/dispersion.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/stages/checks.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// The value at the start of a coefficient that may hold a, t and nothing else.
std::optional<double> at_start(ProgramUnits& units, Expr e) {
  const auto number = algebra::constant(units.at_start(e));
  if (!number) return std::nullopt;
  return static_cast<double>(number->real);
}

const Variable* momentum_of(const std::vector<Variable>& variables, const Variable& u) {
  for (const Variable& v : variables) {
    if (u.role == Role::Coordinate && v.array == u.partner) return &v;
  }
  return nullptr;
}

/// -du''_i/du_j at the homogeneous start, physical: V'' where there is a potential. Averages and
/// neighbours stand still. In a sweep: of the instance with the largest mass. Nothing where it is
/// no number.
std::optional<std::vector<std::vector<double>>> mass_matrix(const Program& d) {
  const std::map<int, Expr> start = homogeneous_values(d, Lowerer(d));
  std::vector<int> fields;
  std::vector<Expr> accelerations;
  for (const Variable& u : d.variables) {
    const Variable* v = momentum_of(d.variables, u);
    if (!v || !d.rates.contains(v->array)) continue;
    Expr rate = algebra::rewrite(d.rates.at(v->array), [](Expr node) {
      return algebra::reduces_sites(node.op()) ? node->arena->symbol("average") : node;
    });
    if (const auto drift = d.rates.find(u.array); drift != d.rates.end()) {
      rate = algebra::derivative(drift->second, d.arena().load(v->array)) * rate;
    }
    // written-out neighbours: the mass of a site cannot be separated from them
    const bool shifted =
        algebra::contains(rate, [](Expr e) { return e.is(Op::Load) && !e->offset.zero(); });
    if (shifted) return std::vector<std::vector<double>>{};
    fields.push_back(u.array);
    accelerations.push_back(rate);
  }
  const std::size_t n = fields.size();
  std::vector<Expr> slopes;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const Expr slope = algebra::derivative(accelerations[i], d.arena().load(fields[j]));
      bool known = false;
      slopes.push_back(at_homogeneous(d, slope, start, known));
      if (!known || !range_of(d, slopes.back())) return std::nullopt;
    }
  }
  std::vector<std::vector<double>> worst;
  double largest = 0;
  for (const std::vector<double>& numbers : in_all_cases(d, slopes)) {
    std::vector<std::vector<double>> m(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) m[i][j] = -numbers[i * n + j];
    }
    // real components of one field have one norm, so that the matrix is symmetric but for fields of
    // different kinds: its symmetric form has the same eigenvalues
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) {
        const double product = m[i][j] * m[j][i];
        m[i][j] = m[j][i] = product > 0 ? std::sqrt(product) : 0;
      }
    }
    const double here = n > 0 ? largest_eigenvalue(m) : 0;
    if (worst.empty() || here > largest) worst = m, largest = here;
  }
  return worst;
}

/// w^2 = -(dx'/dv)(dv'/dx) of the mode with the largest eigenvalue of each Laplacian.
FastestWaves fastest_mode(const Program& d, ProgramUnits& units) {
  FastestWaves fastest;
  for (const Variable& u : d.variables) {
    const Variable* v = momentum_of(d.variables, u);
    if (!v) continue;
    const Expr drift = algebra::derivative(u.rate, d.arena().load(v->array));
    for (const Expr read : algebra::reads(v->rate)) {
      if (!read.is(Op::Stencil) || !read.arg(0).is(Op::Load) || read.arg(0)->index != u.array) {
        continue;
      }
      // at the start, the largest over a sweep; coefficients may hold a, t and nothing else
      const Expr kick = algebra::derivative(v->rate, read);
      const auto product = range_of(d, units.at_start(drift * kick));
      if (!product) continue;
      const auto& stencil = d.arena().stencil_data(read->index);
      if (stencil.dx_power != -2) continue;
      const auto dx = static_cast<double>(units.spacing()->number.real);
      const double frequency2 =
          product->high * algebra::largest_eigenvalue(stencil).value / (dx * dx);
      if (frequency2 > fastest.waves2) fastest.waves2 = frequency2, fastest.stencil = read->index;
    }
  }
  const auto masses = mass_matrix(d);
  if (!masses) {
    fastest.masses =
        "the masses at the start are not numbers: the stability limit is that of massless waves";
    return fastest;
  }
  if (masses->empty()) return fastest;
  std::string text;
  std::size_t i = 0;
  for (const Variable& u : d.variables) {
    const Variable* v = momentum_of(d.variables, u);
    if (!v || !d.rates.contains(v->array)) continue;
    text += fmt::format("{}{:.6g} of {}", text.empty() ? "" : ", ", (*masses)[i][i], u.shown);
    ++i;
  }
  if (!text.empty()) fastest.masses = "m^2 at the start, physical units: " + text;
  // d(eta) = B a^s dt
  const auto unit = at_start(units, d.rescaling.B * algebra::pow(units.scale(), d.rescaling.s));
  if (i > 0 && unit) fastest.mass2 = largest_eigenvalue(*masses) / (*unit * *unit);
  if (fastest.frequency2() <= 0) fastest.mass2 = 0;
  return fastest;
}

/// The largest frequency where neighbours are written out, as in a Hamiltonian with links: over all
/// plane waves.
double written_out(const Program& d, ProgramUnits& units) {
  const auto frequency2 = largest_frequency2(d);
  const auto unit = at_start(units, d.rescaling.B * algebra::pow(units.scale(), d.rescaling.s));
  if (!frequency2 || !unit || !(*frequency2 > 0)) return 0;
  return *frequency2 / (*unit * *unit);
}

}  // namespace

void find_fastest_waves(const Program& d, ProgramUnits& units, System& system) {
  // with noise the linear equations are checked as a whole
  // (compiler/schedule/integrator/growth.hpp)
  if (!std::holds_alternative<Evolution>(system.dynamics)) return;
  if (system.noise.kind != NoiseClass::None) return;
  system.fastest = fastest_mode(d, units);
  FastestWaves& fastest = *system.fastest;
  if (d.grid.present &&
      d.grid.sites() == 1) {  // a site that is its own neighbour: only the mass is left
    fastest.waves2 = 0, fastest.stencil = -1;
    fastest.written_out2 = std::max(0.0, fastest.mass2);
    return;
  }
  if (fastest.stencil < 0) fastest.written_out2 = written_out(d, units);
}

}  // namespace vphi::physics
