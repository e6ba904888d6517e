// dt against the largest frequency of the lattice: w_max*dt below the integrator's limit, where
// w^2 = k_eff^2 + m^2, k_eff^2 the largest eigenvalue of the Laplacian and m^2 that of V'' at the
// homogeneous start.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/bloch.hpp"
#include "compiler/physics/calculus.hpp"
#include "compiler/physics/oscillator.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/steps.hpp"
#include "compiler/physics/sweeps.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

struct Fastest {
  double waves2 = 0;  ///< largest k_eff^2 term of w^2, program units, at the start
  double mass2 = 0;   ///< largest eigenvalue of V'', the same; 0 where it is not a constant
  int stencil = -1;
  double frequency2() const { return waves2 + mass2; }
};

/// The value at the start of a coefficient that may hold a, t and nothing else.
std::optional<double> at_start(ProgramUnits& units, Expr e) {
  const auto number = algebra::constant(units.at_start(e));
  if (!number) return std::nullopt;
  return static_cast<double>(number->real);
}

const Variable* momentum_of(const System& system, const Variable& u) {
  for (const Variable& v : system.variables) {
    if (u.role == Role::Coordinate && v.array == u.partner) return &v;
  }
  return nullptr;
}

/// -du''_i/du_j at the homogeneous start, physical: V'' where there is a potential. Averages and
/// neighbours stand still. In a sweep: of the instance with the largest mass. Nothing where it is
/// no number.
std::optional<std::vector<std::vector<double>>> mass_matrix(Derivation& d) {
  const std::map<int, Expr> start = homogeneous_values(d);
  std::vector<int> fields;
  std::vector<Expr> accelerations;
  for (const Variable& u : d.system.variables) {
    const Variable* v = momentum_of(d.system, u);
    if (!v || !d.rates.contains(v->array)) continue;
    Expr rate = algebra::rewrite(d.rates.at(v->array), [](Expr node) {
      return is_reduction(node.op()) ? node->arena->symbol("average") : node;
    });
    if (const auto drift = d.rates.find(u.array); drift != d.rates.end()) {
      rate = algebra::derivative(drift->second, d.arena().load(v->array)) * rate;
    }
    // written-out neighbours: no mass of a site can be told from them
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
Fastest fastest_mode(Derivation& d, ProgramUnits& units) {
  Fastest fastest;
  System& system = d.system;
  for (const Variable& u : system.variables) {
    const Variable* v = momentum_of(system, u);
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
      const double dx = system.lattice.dx;
      const double frequency2 =
          product->high * algebra::largest_eigenvalue(stencil).value / (dx * dx);
      if (frequency2 > fastest.waves2) fastest.waves2 = frequency2, fastest.stencil = read->index;
    }
  }
  const auto masses = mass_matrix(d);
  if (!masses) {
    system.remarks.push_back(
        "the masses at the start are not numbers: the stability limit is that "
        "of massless waves");
    return fastest;
  }
  if (masses->empty()) return fastest;
  std::string text;
  std::size_t i = 0;
  for (const Variable& u : system.variables) {
    const Variable* v = momentum_of(system, u);
    if (!v || !d.rates.contains(v->array)) continue;
    text += fmt::format("{}{:.6g} of {}", text.empty() ? "" : ", ", (*masses)[i][i], u.shown);
    ++i;
  }
  if (!text.empty()) system.remarks.push_back("m^2 at the start, physical units: " + text);
  // d(eta) = B a^s dt
  const auto unit = at_start(units, d.rescaling.B * algebra::pow(units.scale(), d.rescaling.s));
  if (i > 0 && unit) fastest.mass2 = largest_eigenvalue(*masses) / (*unit * *unit);
  if (fastest.frequency2() <= 0) fastest.mass2 = 0;
  return fastest;
}

std::string in_units_of_dx(double ratio) { return fmt::format("{:.4g}*dx", ratio); }

/// dt is above `limit`, program units.
void report_step(Derivation& d, double limit, const std::string& reason) {
  const double dx = d.system.lattice.dx;
  const dsl::Clause* clause = d.resolved.clause("evolve");
  dsl::Span span = clause->keyword_span;
  std::string name = "the integrator";
  for (const dsl::Item& item : clause->items) {
    if (item.head && item.head->name == "dt") span = item.span;
    if (!item.head && item.value) name = item.value->text;
  }
  d.diagnostics.add(errors::unstable_step(span, in_units_of_dx(d.system.dt / dx),
                                          in_units_of_dx(limit / dx), name, reason));
}

/// Neighbours written out, as a Hamiltonian with links has them: frequencies of all plane waves.
void check_written_out(Derivation& d, ProgramUnits& units, double theta) {
  const auto frequency2 = largest_frequency2(d);
  const auto unit = at_start(units, d.rescaling.B * algebra::pow(units.scale(), d.rescaling.s));
  if (!frequency2 || !unit || !(*frequency2 > 0)) return;
  System& system = d.system;
  const double dx = system.lattice.dx;
  const double limit = theta * *unit / std::sqrt(*frequency2);
  system.remarks.push_back(fmt::format(
      "dt = {} is {:.3g} of the stability limit {} of waves about the homogeneous start",
      in_units_of_dx(system.dt / dx), system.dt / limit, in_units_of_dx(limit / dx)));
  if (system.dt <= limit * (1 + 1e-6)) return;
  report_step(d, limit,
              fmt::format("the fastest wave about the homogeneous start has the frequency "
                          "{:.5g}/dx; the limit is {:.5g} divided by it",
                          theta * dx / limit, theta));
}

/// An error in the energy of this size is taken for the step's whatever the step is.
constexpr double kFloorFriedmann = 0.05;
/// The same of an integrator that nothing is known of.
constexpr double kOpenFriedmann = 0.5;

/// How far rho and 3 M^2 H^2 may part by the integrator's error, relative: (w dt)^order beside the
/// floor, w the fastest frequency at the start. The order is that of the text's error in turning an
/// oscillator, measured at two steps.
double explained_by_step(Derivation& d, double theta) {
  const auto error = [&](double h) {
    const auto m = oscillator_step(*d.system.integrator, d.facts.integrators, h);
    if (!m) return 0.0;
    const double c = std::cos(h), s = std::sin(h);
    return std::hypot(std::hypot((*m)[0] - c, (*m)[3] - c), std::hypot((*m)[1] - s, (*m)[2] + s)) /
           h;
  };
  const double coarse = error(1), fine = error(0.5);
  if (!(coarse > 0) || !(fine > 0)) return kOpenFriedmann;
  const double order = std::fmax(1, std::round(std::log2(coarse / fine)));
  return kFloorFriedmann + std::pow(theta, order);
}

}  // namespace

void check_stability(Derivation& d, ProgramUnits& units) {
  System& system = d.system;
  if (!system.integrator) return;
  system.friedmann_explained = kOpenFriedmann;
  const auto theta = stability_limit(*system.integrator, d.facts.integrators);
  if (!theta) return;
  const Fastest fastest = fastest_mode(d, units);
  system.friedmann_explained =
      explained_by_step(d, system.dt * std::sqrt(std::fmax(0, fastest.frequency2())));
  if (fastest.stencil < 0) return check_written_out(d, units, *theta);
  const double limit = *theta / std::sqrt(fastest.frequency2());
  const double dx = system.lattice.dx;
  system.remarks.push_back(fmt::format("dt = {} is {:.3g} of the stability limit {}",
                                       in_units_of_dx(system.dt / dx), system.dt / limit,
                                       in_units_of_dx(limit / dx)));
  // a step on the limit itself is allowed for rounding's sake
  if (system.dt <= limit * (1 + 1e-6)) return;

  const auto& stencil = d.arena().stencil_data(fastest.stencil);
  const auto eigenvalue = algebra::largest_eigenvalue(stencil);
  std::string value = fmt::format("{:.6g}", eigenvalue.value);
  std::string where;
  if (eigenvalue.exact) {
    value = eigenvalue.rational.den == 1
                ? fmt::format("{}", eigenvalue.rational.num)
                : fmt::format("{}/{}", eigenvalue.rational.num, eigenvalue.rational.den);
    for (int axis = 0; axis < stencil.dims; ++axis) {
      where += fmt::format("{}{}", axis ? "," : "", eigenvalue.at[axis] == 0 ? "0" : "pi");
    }
    where = fmt::format(" (at k*dx = ({}))", where);
  }
  const double mass = fastest.mass2 * dx * dx;
  const std::string reason =
      mass > 1e-6 * fastest.waves2 * dx * dx
          ? fmt::format(
                "`{}` has the largest eigenvalue {}{}, and the fields have masses up to "
                "m^2 = {:.5g}/dx^2 at the start; the limit is {:.5g}*dx/sqrt({} + {:.5g})",
                stencil.name, value, where, mass, *theta, value, mass)
          : fmt::format("`{}` has the largest eigenvalue {}{}; the limit is {:.5g}*dx/sqrt({})",
                        stencil.name, value, where, *theta, value);
  report_step(d, limit, reason);
}

}  // namespace vphi::physics
