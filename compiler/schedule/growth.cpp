#include "compiler/schedule/growth.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/noise.hpp"
#include "compiler/schedule/noise.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/small_step.hpp"

namespace vphi::schedule {
namespace {

using algebra::Expr;
using algebra::Op;
using Matrix = std::vector<std::vector<double>>;

constexpr std::size_t kMostVariables = 12;
constexpr double kGrows = 1.05;  ///< a step; slower growth is an integrator's order, not its limit
constexpr double kSteady = 1.005;  ///< of the dt that the message names
constexpr int kHalvings = 24;

Matrix product(const Matrix& a, const Matrix& b) {
  const std::size_t n = a.size();
  Matrix c(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) c[i][j] += a[i][k] * b[k][j];
  return c;
}

double size(const Matrix& a) {
  double largest = 0;
  for (const auto& row : a)
    for (const double x : row) largest = std::max(largest, std::abs(x));
  return largest;
}

/// |largest eigenvalue|: the rate at which powers grow, by squaring; within 1 % for these sizes.
double spectral_radius(Matrix a) {
  double logarithm = 0, share = 1;
  for (int i = 0; i < 10; ++i) {
    const double s = size(a);
    if (!(s > 0)) return 0;
    if (!std::isfinite(s)) return s;
    for (auto& row : a)
      for (double& x : row) x /= s;
    logarithm += share * std::log(s);
    share /= 2;
    a = product(a, a);
  }
  const double s = size(a);
  return s > 0 ? std::exp(logarithm + share * std::log(s)) : 0;
}

/// exp(a), by scaling and squaring.
Matrix exponential(Matrix a) {
  const std::size_t n = a.size();
  int halvings = 0;
  for (double s = size(a) * static_cast<double>(n); s > 0.25; s /= 2) ++halvings;
  for (auto& row : a)
    for (double& x : row) x = std::ldexp(x, -halvings);
  Matrix sum(n, std::vector<double>(n, 0)), term = sum;
  for (std::size_t i = 0; i < n; ++i) sum[i][i] = term[i][i] = 1;
  for (int k = 1; k <= 12; ++k) {
    term = product(term, a);
    for (auto& row : term)
      for (double& x : row) x /= k;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) sum[i][j] += term[i][j];
  }
  for (int i = 0; i < halvings; ++i) sum = product(sum, sum);
  return sum;
}

/// The number that an array starts from; the middle of a distribution.
double start_of(const physics::System& system, int array) {
  for (const auto& initial : system.initial)
    if (initial.array == array)
      if (const auto number = algebra::constant(initial.value))
        return static_cast<double>(number->real);
  return 0;
}

/// A rate without its noise, on the mode with the largest eigenvalue of each Laplacian, where that
/// is a number.
Expr on_fastest_mode(const physics::System& system, Expr rate) {
  return algebra::rewrite(physics::split_noise(rate).rest, [&](Expr e) {
    if (!e.is(Op::Stencil)) return e;
    const auto& stencil = system.arena->stencil_data(e->index);
    if (stencil.dx_power != -2) return e;
    const double dx = system.lattice.dx;
    return system.arena->real(-algebra::largest_eigenvalue(stencil).value / (dx * dx)) * e.arg(0);
  });
}

/// Derivatives of the rates at the start, where all of them are numbers.
std::optional<Matrix> linearised(const physics::System& system) {
  Matrix j;
  for (const auto& v : system.variables) {
    const Expr rest = on_fastest_mode(system, v.rate);
    std::vector<double>& row = j.emplace_back();
    for (const auto& u : system.variables) {
      const Expr slope = algebra::rewrite(
          algebra::local_derivative(rest, system.arena->load(u.array)), [](Expr e) {
            const bool sum = e.is(Op::PairSum) || (e.op() >= Op::Mean && e.op() <= Op::Maximum);
            return sum ? e->arena->integer(0) : e;
          });
      try {
        row.push_back(algebra::evaluate(slope, {[&](const algebra::Node& node) -> double {
                                          if (node.op == Op::Load && node.offset.zero())
                                            return start_of(system, node.index);
                                          if (node.op == Op::Symbol && node.name == system.time)
                                            return 0;
                                          throw std::invalid_argument("no number");
                                        }}));
      } catch (const std::invalid_argument&) {
        return std::nullopt;
      }
      if (!std::isfinite(row.back())) return std::nullopt;
    }
  }
  return j;
}

/// The map of one step on x' = J x, with the variables' roles and silent noise where there is one.
std::optional<Matrix> step_map(const physics::System& system, const Matrix& j, double dt,
                               const Integrator& integrator, const Head& head) {
  physics::System small = small_system(dt);
  algebra::Arena& arena = *small.arena;
  const std::size_t n = j.size();
  const auto place = [&](int array) {
    for (std::size_t i = 0; i < n; ++i)
      if (system.variables[i].array == array) return static_cast<int>(i);
    return -1;
  };
  int streams = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& v = system.variables[i];
    Expr rate = arena.integer(0);
    for (std::size_t k = 0; k < n; ++k) {
      if (j[i][k] == 0) continue;
      const Expr x = arena.load(static_cast<int>(k));
      rate = rate + (j[i][k] == 1 ? x : arena.real(j[i][k]) * x);
    }
    if (physics::split_noise(v.rate).noisy()) rate = rate + arena.random(Op::Noise, streams++);
    add_variable(small, "x" + std::to_string(i), v.role, v.partner < 0 ? -1 : place(v.partner),
                 rate);
  }
  if (streams > 0) small.noise.kind = physics::NoiseClass::Additive;
  const auto step = SmallStep::of(small, integrator, head);
  if (!step) return std::nullopt;
  const std::vector<double> silent(static_cast<std::size_t>(step->draws()), 0.0);
  Matrix m(n, std::vector<double>(n, 0));
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<double> unit(n, 0);
    unit[k] = 1;
    const auto after = (*step)(unit, silent);
    for (std::size_t i = 0; i < n; ++i) m[i][k] = after.at(i);
  }
  return m;
}

Matrix scaled(Matrix a, double factor) {
  for (auto& row : a)
    for (double& x : row) x *= factor;
  return a;
}

/// Whether a rate reads its neighbours in another way than by a Laplacian.
bool reads_neighbours(const physics::System& system) {
  return std::ranges::any_of(system.variables, [&](const auto& v) {
    return algebra::contains(on_fastest_mode(system, v.rate), [](Expr e) {
      return e.is(Op::Stencil) || (e.is(Op::Load) && !e->offset.zero());
    });
  });
}

}  // namespace

void warn_of_growth(const physics::System& system, const dsl::Resolved& resolved,
                    dsl::Diagnostics& diagnostics) {
  if (!system.integrator || system.conservation || system.sampling || !(system.dt > 0)) return;
  const std::size_t n = system.variables.size();
  if (n == 0 || n > kMostVariables || reads_neighbours(system)) return;
  for (const dsl::Diagnostic& d : diagnostics.all())
    if (d.code == "W0762") return;  // said of the noise already
  dsl::Diagnostics silent;
  const auto integrator = read_integrator(*system.integrator, resolved, *system.arena, silent);
  const auto head = integrator ? read_head(*integrator, silent) : std::nullopt;
  if (!head) return;
  const auto j = linearised(system);
  if (!j) return;
  const auto grows = [&](double dt) {
    const auto m = step_map(system, *j, dt, *integrator, *head);
    if (!m) return 0.0;
    const double exact = std::max(1.0, spectral_radius(exponential(scaled(*j, dt))));
    const double ratio = spectral_radius(*m) / exact;
    return std::isnan(ratio) ? 0.0 : ratio;
  };
  const double growth = grows(system.dt);
  if (growth < kGrows) return;
  double dt = system.dt;
  for (int i = 0; i < kHalvings && grows(dt) >= kSteady; ++i) dt /= 2;
  const dsl::Clause* clause = resolved.clause("evolve");
  dsl::Span at = clause->keyword_span;
  for (const dsl::Item& item : clause->items)
    if (item.head && item.head->name == "dt") at = item.span;
  diagnostics.add(error::step_grows(at, integrator->name, growth,
                                    spectral_radius(*j) * system.dt / system.dt_physical,
                                    system.dt_physical, dt * system.dt_physical / system.dt));
}

}  // namespace vphi::schedule
