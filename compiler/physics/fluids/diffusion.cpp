#include "compiler/physics/fluids/diffusion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/matrix.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fluids/curvature.hpp"
#include "compiler/physics/fluids/flux_parts.hpp"
#include "compiler/physics/fluids/recovery_equation.hpp"
#include "compiler/physics/fluids/relaxation.hpp"
#include "compiler/physics/fluids/signals.hpp"
#include "compiler/physics/fluids/wave_errors.hpp"

namespace vphi::physics {

using algebra::Matrix;
using algebra::Offset;
using algebra::Op;

namespace {

using Wave = std::array<int, 4>;  ///< k*dx in units of pi/4, by axis

/// The expression in a state that is the same everywhere.
Expr homogeneous(Arena& arena, Expr e) {
  return algebra::rewrite(e, [&](Expr node) {
    return node.is(Op::Load) ? arena.load(node->index, {}, node->span) : node;
  });
}

/// cos(k x) - 1, exactly where it is a whole number.
double evenness(const Wave& k, const Offset& x) {
  int phase = 0;
  for (std::size_t axis = 0; axis < k.size(); ++axis) phase += k[axis] * x.d[axis];
  const double weight = std::cos(std::numbers::pi / 4 * phase) - 1;
  const double whole = std::round(weight);
  return std::abs(weight - whole) < 1e-12 ? whole : weight;
}

/// Whether a source of this law counts: first derivatives of a target make waves and damp none, and
/// the targets of stresses are long, so of what relaxes those with a Laplacian count.
bool may_damp(const Law& law, Expr source) {
  if (!law.time) return reads_neighbours(source);
  return algebra::contains(source, [](Expr node) { return node.is(Op::Stencil); });
}

class Damping {
 public:
  explicit Damping(const Equations& d) : d_(d) {
    for (const StateField& field : d.fields)
      if (field.primitive)
        primitives_.insert(primitives_.end(), field.arrays.begin(), field.arrays.end());
    for (const Law& law : d.laws)
      for (std::size_t i = 0; i < law.arrays.size(); ++i)
        of_primitives_[law.arrays[i]] = law.density.parts[i].re;
    for (const Law& law : d.laws) read(law);
  }

  const std::string& laws() const { return laws_; }

  /// Null where nothing is damped, or the densities do not determine the primitive variables.
  Expr rate() {
    if (terms_.empty() || rows_ != primitives_.size()) return {};
    Formulas densities;
    for (const Law& law : d_.laws)
      for (const Component& density : law.density.parts) {
        densities.emplace_back();
        for (const int p : primitives_)
          densities.back().push_back(algebra::derivative(density.re, d_.arena().load(p)));
      }
    const auto k = fastest(densities);
    if (!k) return {};
    refuse_growth(densities, *k);
    const std::size_t n = primitives_.size();
    Formulas damped(n, std::vector<Expr>(n, d_.arena().integer(0)));
    for (const Term& term : terms_) {
      const double weight = evenness(*k, term.offset);
      if (weight == 0) continue;
      Expr& entry = damped[term.row][term.primitive];
      entry = entry - d_.arena().real(weight) * term.slope;
    }
    const auto jacobian = jacobian_at_site(d_, densities, damped);
    if (!jacobian) return {};
    return folded(triangular(jacobian->matrix) ? largest_diagonal(*jacobian)
                                               : largest_at_site(*jacobian, {}));
  }

 private:
  struct Term {
    std::size_t row = 0, primitive = 0;
    Offset offset;
    Expr slope;  ///< d(U' of the row)/d(primitive variable there), in a homogeneous state
  };

  Expr folded(Expr rate) const {
    const auto number = algebra::constant(rate);
    if (!number) return rate;
    return number->real > 0 ? d_.arena().number(*number) : Expr{};
  }

  /// Whether the variables have an order in which each is damped by itself and by earlier ones, as
  /// velocities and then the pressure: eigenvalues are then the entries of the diagonal.
  static bool triangular(const Formulas& matrix) {
    std::set<std::size_t> open;
    for (std::size_t i = 0; i < matrix.size(); ++i) open.insert(i);
    const auto free = [&](std::size_t i) {
      return std::ranges::all_of(open,
                                 [&](std::size_t k) { return k == i || matrix[i][k].is_zero(); });
    };
    while (!open.empty()) {
      const auto next = std::ranges::find_if(open, free);
      if (next == open.end()) return false;
      open.erase(next);
    }
    return true;
  }

  Expr largest_diagonal(const SiteJacobian& jacobian) const {
    Arena& arena = d_.arena();
    std::vector<Expr> sizes;
    for (std::size_t i = 0; i < jacobian.matrix.size(); ++i) {
      const Expr entry = algebra::rewrite(jacobian.matrix[i][i], [](Expr node) { return node; });
      const Expr size = arena.make(Op::Abs, {entry});
      if (!entry.is_zero() && std::ranges::count(sizes, size) == 0) sizes.push_back(size);
    }
    Expr most = sizes.empty() ? arena.integer(0) : sizes.front();
    for (std::size_t i = 1; i < sizes.size(); ++i) most = arena.make(Op::Max, {most, sizes[i]});
    return arena.make(Op::Select, {jacobian.sound, most, arena.integer(0)});
  }

  Expr gain_through(Expr flux, std::size_t axis) const {
    return -per_coordinate(d_, flux, static_cast<int>(axis)) / d_.grid.dx;
  }

  void read(const Law& law) {
    const std::size_t before = terms_.size();
    for (std::size_t i = 0; i < law.arrays.size(); ++i) {
      if (law.curl) continue;
      for (std::size_t k = 0; i < law.through.size() && k < law.through[i].size(); ++k) {
        const Expr gain = gain_through(law.through[i][k], k);
        read(rows_ + i, gain - algebra::shift(gain, cells_along(k, -1)));
      }
      if (may_damp(law, law.source[i]) && !holds_primitive_rates(d_, {law}))
        read(rows_ + i, law.source[i]);
    }
    if (law.curl && !law.through.empty()) read_curl(law);
    rows_ += law.arrays.size();
    if (terms_.size() > before && laws_.empty()) first_ = law.span;
    if (terms_.size() > before) laws_ += fmt::format("{}`{}`", laws_.empty() ? "" : ", ", law.name);
  }

  /// Fluxes as keep_divergence (curl_laws.hpp) averages them.
  void read_curl(const Law& law) {
    Arena& arena = d_.arena();
    const Expr half = arena.rational(1, 2);
    for (std::size_t i = 0; i < law.arrays.size(); ++i)
      for (std::size_t j = i + 1; j < law.arrays.size(); ++j) {
        const Expr up = gain_through(law.through[j][i], i);
        const Expr right = gain_through(law.through[i][j], j);
        const Expr cell = (up + algebra::shift(up, cells_along(i, -1)) - right -
                           algebra::shift(right, cells_along(j, -1))) *
                          arena.rational(1, 4);
        read(rows_ + j, half * (algebra::shift(cell, cells_along(i, 1)) -
                                algebra::shift(cell, cells_along(i, -1))));
        read(rows_ + i, half * (algebra::shift(cell, cells_along(j, -1)) -
                                algebra::shift(cell, cells_along(j, 1))));
      }
  }

  /// Quantities replaced by densities of the primitive variables.
  Expr of_primitives(Expr e) const {
    return algebra::rewrite(e, [&](Expr node) -> Expr {
      const auto known =
          node.is(Op::Load) ? of_primitives_.find(node->index) : of_primitives_.end();
      return known == of_primitives_.end() ? node : algebra::shift(known->second, node->offset);
    });
  }

  void read(std::size_t row, Expr change) {
    if (!reads_neighbours(change)) return;
    change = of_primitives(change);
    for (const Expr leaf : algebra::reads(change)) {
      if (leaf.is(Op::Stencil)) {
        read_stencil(row, change, leaf);
      } else {
        add(row, leaf, leaf->offset, algebra::local_derivative(change, leaf));
      }
    }
  }

  void read_stencil(std::size_t row, Expr change, Expr stencil) {
    const Expr inner = stencil.arg(0);
    const auto& data = d_.arena().stencil_data(stencil->index);
    if (data.spectral || reads_neighbours(inner)) return;
    const Expr slope = algebra::local_derivative(change, stencil);
    for (const Expr leaf : algebra::reads(inner)) {
      const Expr by = slope * algebra::local_derivative(inner, leaf);
      for (std::size_t i = 0; i < data.offsets.size(); ++i) {
        const Expr weight = d_.arena().rational(data.weights[i], data.denominator) *
                            algebra::pow(d_.grid.dx, data.dx_power);
        add(row, leaf, data.offsets[i], by * weight);
      }
    }
  }

  void add(std::size_t row, Expr leaf, const Offset& offset, Expr slope) {
    const auto place = std::ranges::find(primitives_, leaf->index);
    if (place == primitives_.end() || offset.zero()) return;
    slope = homogeneous(d_.arena(), slope);
    if (slope.is_zero()) return;
    terms_.push_back({row, static_cast<std::size_t>(place - primitives_.begin()), offset, slope});
  }

  /// All waves with components that are multiples of pi/4, one of each pair k and -k but for 0.
  std::vector<Wave> waves() const {
    std::vector<Wave> all{Wave{}};
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      std::vector<Wave> longer;
      for (const Wave& k : all)
        for (int step = k == Wave{} ? 0 : -3; step <= 4; ++step) {
          longer.push_back(k);
          longer.back()[static_cast<std::size_t>(axis)] = step;
        }
      all = std::move(longer);
    }
    return all;
  }

  /// The wave that is damped fastest in a state like any other; nothing where none is damped. Of
  /// several the shortest.
  std::optional<Wave> fastest(const Formulas& densities) const {
    std::vector<Expr> values;
    for (const auto& row : densities) values.insert(values.end(), row.begin(), row.end());
    for (const Term& term : terms_) values.push_back(term.slope);
    const std::vector<double> numbers = evaluated(algebra::Evaluation(values), sample_state(d_));
    const std::size_t n = primitives_.size();
    Matrix u(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n * n; ++i) u[i / n][i % n] = numbers[i];
    std::optional<Wave> best;
    double most = 0;
    for (const Wave& k : waves()) {
      Matrix damped(n, std::vector<double>(n, 0));
      for (std::size_t t = 0; t < terms_.size(); ++t)
        damped[terms_[t].row][terms_[t].primitive] -=
            evenness(k, terms_[t].offset) * numbers[n * n + t];
      const double rate = spectral_radius_of(u, damped).value_or(0);
      if (std::isfinite(rate) && rate > 0 && rate >= most * (1 - 1e-9))
        most = std::max(most, rate), best = k;
    }
    return best;
  }

  /// Whether the wave that changes fastest grows, in a state.
  bool grows(const Formulas& densities, const Wave& k, const Numbers& state) const {
    const std::size_t n = primitives_.size();
    Matrix u(n, std::vector<double>(n)), damped(n, std::vector<double>(n, 0));
    for (std::size_t i = 0; i < n * n; ++i)
      u[i / n][i % n] = evaluated(densities[i / n][i % n], state);
    for (const Term& term : terms_)
      damped[term.row][term.primitive] -= evenness(k, term.offset) * evaluated(term.slope, state);
    std::complex<double> fastest = 0;
    for (const std::complex<double> rate : eigenvalues_of(std::move(u), std::move(damped)))
      if (std::abs(rate) > std::abs(fastest)) fastest = rate;
    return fastest.real() < -1e-6 * std::abs(fastest);
  }

  /// Coefficients may have any sign in some states; those of a viscosity below 0 have it in all.
  void refuse_growth(const Formulas& densities, const Wave& k) const {
    const Numbers usual = sample_state(d_);
    for (const double scale : {1.0, 0.01, 100.0}) {
      Numbers state = usual;
      for (auto& [array, value] : state) value *= scale;
      if (!grows(densities, k, state)) return;
    }
    TrialState shown;
    for (const int array : primitives_) shown.primitives[array] = usual.at(array);
    d_.fail(errors::diffusion_grows(first_, laws_, shown_state(d_, shown)));
  }

  const Equations& d_;
  dsl::Span first_;  ///< the first law with such terms
  std::vector<int> primitives_;
  std::map<int, Expr> of_primitives_;
  std::vector<Term> terms_;
  std::size_t rows_ = 0;  ///< of the laws that have been read
  std::string laws_;
};

}  // namespace

void find_diffusion(const Equations& d, Conservation& c) {
  const bool some = std::ranges::any_of(d.laws, [](const Law& law) {
    return !law.through.empty() ||
           std::ranges::any_of(law.source, [&](Expr source) { return may_damp(law, source); });
  });
  if (!some || c.step) return;
  Damping damping(d);
  c.diffusion.rate = damping.rate();
  c.diffusion.laws = damping.laws();
}

void check_diffusion(const Program& d, System& system) {
  Conservation& c = *system.conservation;
  if (!c.diffusion.rate || !d.dt) return;
  Arena& arena = d.arena();
  const Expr steps = d.dt * c.diffusion.rate;
  if (const auto number = algebra::constant(steps)) {
    c.diffusion.at_start = static_cast<double>(number->real);
    return;
  }
  if (!d.adaptive()) c.diffusion.at_start = largest_at_start(system, steps);
  const dsl::Clause* evolve = d.resolved.clause("evolve");
  Expectation x;
  x.kind = Expectation::Kind::Condition;
  x.span = evolve->keyword_span;
  x.value = d.dt * arena.make(Op::Maximum, {c.diffusion.rate});
  x.text = "max(diffusion)*dt is below the limit of the integrator";
  x.ok = arena.integer(1);
  c.diffusion.promise = system.expectations.size();
  system.expectations.push_back(std::move(x));
}

}  // namespace vphi::physics
