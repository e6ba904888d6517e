#include "compiler/physics/fluids/signals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "compiler/algebra/matrix.hpp"
#include "compiler/algebra/transform.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

using algebra::largest_entry;
using algebra::Matrix;

constexpr int kSquarings = 24;

/// a^-1 b by elimination; nothing where a has no inverse.
std::optional<Matrix> solved(Matrix a, Matrix b) {
  const std::size_t n = a.size();
  for (std::size_t i = 0; i < n; ++i) {  // rows of one size
    const double size = largest_entry({a[i]});
    if (!(size > 0) || !std::isfinite(size)) return std::nullopt;
    for (double& x : a[i]) x /= size;
    for (double& x : b[i]) x /= size;
  }
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r)
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    if (std::abs(a[pivot][c]) < 1e-12) return std::nullopt;
    std::swap(a[c], a[pivot]);
    std::swap(b[c], b[pivot]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == c) continue;
      const double by = a[r][c] / a[c][c];
      for (std::size_t k = 0; k < n; ++k) {
        a[r][k] -= by * a[c][k];
        b[r][k] -= by * b[c][k];
      }
    }
  }
  for (std::size_t r = 0; r < n; ++r)
    for (double& x : b[r]) x /= a[r][r];
  return b;
}

/// Sums and products in which null stands for 0.
Expr plus(Expr a, Expr b) {
  return a.is_zero() ? b : b.is_zero() ? a : a->arena->raw(Op::Add, {a, b});
}
Expr minus(Expr a, Expr b) {
  if (b.is_zero()) return a;
  return a.is_zero() ? a->arena->raw(Op::Neg, {b}) : a->arena->raw(Op::Sub, {a, b});
}
Expr times(Expr a, Expr b) {
  if (a.is_zero() || b.is_zero()) return a->arena->integer(0);
  return a.is_one() ? b : b.is_one() ? a : a->arena->raw(Op::Mul, {a, b});
}
Expr over(Expr a, Expr b) { return a.is_zero() || b.is_one() ? a : a->arena->raw(Op::Div, {a, b}); }

Formulas product(const Formulas& x, const Formulas& y) {
  const std::size_t n = x.size();
  Formulas result(n, std::vector<Expr>(n, x[0][0]->arena->integer(0)));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j)
        result[i][j] = plus(result[i][j], times(x[i][k], y[k][j]));
  return result;
}
/// tr(x y)
Expr trace(const Formulas& x, const Formulas& y) {
  Expr sum = x[0][0]->arena->integer(0);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t k = 0; k < x.size(); ++k) sum = plus(sum, times(x[i][k], y[k][i]));
  return sum;
}

/// dS/d(grad P) along an axis: neighbours at a distance of n sites count n times dx.
Expr slope_by_gradient(Expr source, int primitive, int axis, Expr dx) {
  Expr sum = dx->arena->integer(0);
  for (const Expr load : algebra::reads(source)) {
    if (!load.is(Op::Load) || load->index != primitive) continue;
    const int sites = load->offset.d[static_cast<std::size_t>(axis)];
    if (sites != 0) sum = sum + dx->arena->integer(sites) * dx * algebra::derivative(source, load);
  }
  return sum;
}

/// The values in a state with a small slope along each axis: a limited difference has a kink where
/// there is none.
std::vector<double> on_a_slope(const algebra::Evaluation& of, const Numbers& numbers) {
  constexpr double kSlope = 1e-8;  // from site to site
  return of([&](const algebra::Node& leaf) -> double {
    if (leaf.op != Op::Load) return leaf.op == Op::Symbol ? 1 : 0;
    const double value = numbers.at(leaf.index);
    int sites = 0;
    for (const int along : leaf.offset.d) sites += along;
    return value + kSlope * (std::abs(value) + 1e-2) * sites;
  });
}

}  // namespace

Signals::Signals(const Space& d, const std::vector<Law>& laws,
                 const std::map<int, int>& primitive_rates)
    : d_(d) {
  for (const StateField& field : d.fields)
    if (field.primitive)
      primitives_.insert(primitives_.end(), field.arrays.begin(), field.arrays.end());
  const auto slopes = [&](Expr e) {
    std::vector<Expr> result;
    for (const int p : primitives_) result.push_back(algebra::derivative(e, d.arena().load(p)));
    return result;
  };
  std::unordered_map<const algebra::Node*, Expr> of_primitives;
  for (const Law& law : laws) {
    for (std::size_t i = 0; i < law.arrays.size(); ++i) {
      density_slopes_.push_back(slopes(law.density.parts[i].re));
      of_primitives[d.arena().load(law.arrays[i]).get()] = law.density.parts[i].re;
      densities_[law.arrays[i]] = law.density.parts[i].re;
    }
  }
  flux_slopes_.resize(static_cast<std::size_t>(d.grid.dims));
  for (std::size_t k = 0; k < flux_slopes_.size(); ++k)
    for (const Law& law : laws)
      for (const auto& axes : law.flux)
        flux_slopes_[k].push_back(slopes(algebra::substitute(axes[k], of_primitives)));
  if (std::ranges::none_of(laws, [](const Law& law) { return bool(law.time); })) {
    prepare();
    return;
  }
  gradient_slopes_.resize(flux_slopes_.size());
  for (const Law& law : laws) {
    for (const Expr source : law.source) {
      rate_slopes_.emplace_back();
      for (const int p : primitives_) {
        const auto rate = primitive_rates.find(p);
        rate_slopes_.back().push_back(
            rate == primitive_rates.end()
                ? d.arena().integer(0)
                : algebra::derivative(source, d.arena().load(rate->second)));
      }
      for (std::size_t k = 0; k < gradient_slopes_.size(); ++k) {
        gradient_slopes_[k].emplace_back();
        for (const int p : primitives_)
          gradient_slopes_[k].back().push_back(
              slope_by_gradient(source, p, static_cast<int>(k), d.grid.dx));
      }
    }
  }
  prepare();
}

void Signals::prepare() {
  const auto both = [](const Formulas& a, const Formulas& b) {
    std::vector<Expr> roots;
    for (const Formulas* rows : {&a, &b})
      for (const auto& row : *rows) roots.insert(roots.end(), row.begin(), row.end());
    return algebra::Evaluation(roots);
  };
  std::vector<Expr> densities;
  for (const auto& [quantity, density] : densities_) densities.push_back(density);
  of_densities_ = algebra::Evaluation(densities);
  for (const Formulas& slopes : flux_slopes_) of_laws_.push_back(both(density_slopes_, slopes));
  for (const Formulas& slopes : gradient_slopes_) of_sources_.push_back(both(rate_slopes_, slopes));
}

bool Signals::slopes_hold(const std::function<bool(Expr)>& node) const {
  const auto holds = [&](Expr e) { return algebra::contains(e, node); };
  const auto some = [&](const Formulas& rows) {
    return std::ranges::any_of(rows,
                               [&](const auto& row) { return std::ranges::any_of(row, holds); });
  };
  return some(density_slopes_) || std::ranges::any_of(flux_slopes_, some);
}

bool Signals::of_state_alone() const {
  return !slopes_hold([](Expr node) { return node.is(Op::Symbol) || node.is(Op::Site); });
}

bool Signals::reads_fields() const {
  return slopes_hold([&](Expr node) {
    const StateField* field = node.is(Op::Load) ? d_.field_of(node->index) : nullptr;
    return field && field->beside_laws();
  });
}

std::optional<std::pair<Matrix, Matrix>> Signals::slopes_at(const Numbers& primitives, int axis,
                                                            bool sources) const {
  const std::size_t n = primitives_.size();
  if (density_slopes_.size() != n) return std::nullopt;
  Matrix u(n, std::vector<double>(n)), f = u;
  const auto add = [&](const std::vector<double>& slopes, double sign) {
    for (std::size_t i = 0; i < n * n; ++i) {
      u[i / n][i % n] += sign * slopes[i];
      f[i / n][i % n] += sign * slopes[n * n + i];
    }
  };
  add(evaluated(of_laws_[static_cast<std::size_t>(axis)], primitives), 1);
  if (!rate_slopes_.empty() && sources) {
    Numbers numbers = primitives;
    const std::vector<double> densities = evaluated(of_densities_, primitives);
    std::size_t i = 0;
    for (const auto& [quantity, density] : densities_) numbers[quantity] = densities[i++];
    add(on_a_slope(of_sources_[static_cast<std::size_t>(axis)], numbers), -1);
  }
  return std::pair(std::move(u), std::move(f));
}

std::optional<double> Signals::largest(const Numbers& primitives, int axis, bool sources) const {
  auto slopes = slopes_at(primitives, axis, sources);
  if (!slopes) return std::nullopt;
  return spectral_radius_of(std::move(slopes->first), std::move(slopes->second));
}

std::vector<std::complex<double>> Signals::velocities(const Numbers& primitives, int axis) const {
  auto slopes = slopes_at(primitives, axis, true);
  if (!slopes) return {};
  return eigenvalues_of(std::move(slopes->first), std::move(slopes->second));
}

Numbers Signals::without_stresses(Numbers primitives) const {
  for (const StateField& field : d_.fields)
    if (field.primitive && field.relaxed)
      for (const int array : field.arrays) primitives[array] = 0;
  return primitives;
}

std::optional<int> Signals::orientation(const Numbers& primitives) const {
  const auto slopes = slopes_at(primitives, 0, false);
  if (!slopes || !std::isfinite(largest_entry(slopes->first))) return std::nullopt;
  // a determinant is the product of the eigenvalues; pairs of complex ones do not change its sign
  int sign = 1;
  const auto values = algebra::eigenvalues(slopes->first);
  if (values.empty()) return std::nullopt;
  const double rounding = 1e-13 * largest_entry(slopes->first);
  for (const std::complex<double> value : values) {
    if (std::abs(value) <= rounding) return 0;
    if (std::abs(value.imag()) <= rounding && value.real() < 0) sign = -sign;
  }
  return sign;
}

std::vector<std::complex<double>> eigenvalues_of(Matrix u, Matrix f) {
  if (!std::isfinite(largest_entry(u)) || !std::isfinite(largest_entry(f))) return {};
  const auto jacobian = solved(std::move(u), std::move(f));
  return jacobian ? algebra::eigenvalues(*jacobian) : std::vector<std::complex<double>>();
}

std::optional<double> spectral_radius_of(Matrix u, Matrix f) {
  if (!std::isfinite(largest_entry(u)) || !std::isfinite(largest_entry(f))) return std::nullopt;
  const auto jacobian = solved(std::move(u), std::move(f));
  if (!jacobian) return std::nullopt;
  const double radius = algebra::spectral_radius(*jacobian, kSquarings);
  return std::isfinite(radius) ? std::optional(radius) : std::nullopt;
}

Numbers sample_state(const Space& d) {
  Numbers state;
  for (const StateField& field : d.fields) {
    const dsl::Symbol* symbol = d.resolved.find(field.name);
    const bool vector = symbol && symbol->type.base == dsl::Type::Base::Vector;
    double value = 1.25;
    for (const int array : field.arrays) state[array] = vector ? 0 : (value += 0.375);
    for (const int array : field.velocities) state[array] = 0;
  }
  return state;
}

Expr Signals::at_site(int axis, Expr otherwise) const {
  if (density_slopes_.size() != primitives_.size()) return otherwise;
  const auto jacobian =
      jacobian_at_site(d_, density_slopes_, flux_slopes_[static_cast<std::size_t>(axis)]);
  return jacobian ? largest_at_site(*jacobian, otherwise) : otherwise;
}

std::optional<SiteJacobian> jacobian_at_site(const Space& d, Formulas u, Formulas f) {
  Arena& arena = d.arena();
  const std::size_t n = u.size();
  const Numbers state = sample_state(d);
  std::vector<std::size_t> row_of(n);
  std::set<std::size_t> used;
  Expr sound = arena.integer(1);
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = n;
    double best = 1e-9;
    for (std::size_t r = 0; r < n; ++r) {
      const double size = used.contains(r) ? 0 : std::abs(evaluated(u[r][c], state));
      if (std::isfinite(size) && size > best) pivot = r, best = size;
    }
    if (pivot == n) return std::nullopt;
    used.insert(pivot);
    row_of[c] = pivot;
    const Expr divisor = u[pivot][c], size = arena.make(Op::Abs, {divisor});
    if (!divisor.is_number())
      sound = arena.make(Op::And, {sound, arena.make(Op::Less, {arena.real(1e-30L), size})});
    for (std::size_t r = 0; r < n; ++r) {
      if (r == pivot || u[r][c].is_zero()) continue;
      const Expr by = over(u[r][c], divisor);
      for (std::size_t k = c; k < n; ++k) u[r][k] = minus(u[r][k], times(by, u[pivot][k]));
      for (std::size_t k = 0; k < n; ++k) f[r][k] = minus(f[r][k], times(by, f[pivot][k]));
      u[r][c] = arena.integer(0);
    }
  }
  Formulas j(n);
  for (std::size_t c = 0; c < n; ++c)
    for (std::size_t k = 0; k < n; ++k) j[c].push_back(over(f[row_of[c]][k], u[row_of[c]][c]));
  return SiteJacobian{std::move(j), sound};
}

Expr largest_at_site(const SiteJacobian& jacobian, Expr otherwise) {
  Formulas j = jacobian.matrix;
  Arena& arena = *jacobian.sound->arena;
  const Expr tiny = arena.real(1e-30L), half = arena.rational(1, 2);
  // in units of a speed that no signal exceeds, so that powers neither vanish nor overflow
  const Expr unit = algebra::pow(arena.make(Op::Max, {trace(j, j), tiny}), half);
  for (auto& row : j)
    for (Expr& x : row) x = over(x, unit);
  const Formulas second = product(j, j), fourth = product(second, second),
                 eighth = product(fourth, fourth);
  const Expr more = trace(product(eighth, second), eighth), less = trace(eighth, eighth);
  const Expr share =
      over(arena.make(Op::Max, {more, arena.integer(0)}), arena.make(Op::Max, {less, tiny}));
  const Expr speed = times(unit, algebra::pow(share, half));
  return arena.make(Op::Select, {jacobian.sound, speed, otherwise ? otherwise : arena.integer(0)});
}

namespace {

/// Values that may read earlier ones, in groups of those that do not.
class InOrder {
 public:
  template <class Values>
  explicit InOrder(const Values& values) {
    std::vector<Expr> exprs;
    std::vector<int> arrays;
    const auto close = [&] {
      groups_.push_back({std::exchange(arrays, {}), algebra::Evaluation(exprs)});
      exprs.clear();
    };
    for (const auto& value : values) {
      const bool reads = algebra::contains(value.value, [&](Expr node) {
        return node.is(Op::Load) && std::ranges::count(arrays, node->index) > 0;
      });
      if (reads) close();
      exprs.push_back(value.value);
      arrays.push_back(value.array);
    }
    close();
  }
  void add_to(Numbers& numbers, const std::function<double(const algebra::Node&)>& leaf) const {
    for (const Group& group : groups_) {
      const std::vector<double> made = group.values(leaf);
      for (std::size_t i = 0; i < made.size(); ++i) numbers[group.arrays[i]] = made[i];
    }
  }

 private:
  struct Group {
    std::vector<int> arrays;
    algebra::Evaluation values;
  };
  std::vector<Group> groups_;
};

bool over_sites(Expr e) {
  return (e.op() >= Op::Mean && e.op() <= Op::Maximum) || e.is(Op::PairSum);
}

/// Initial values at a site; `known` becomes false where one is drawn or lies in a file.
class StartAtSite {
 public:
  StartAtSite(const System& system, std::int64_t site) : system_(system) {
    for (std::size_t k = 0; k < place_.size(); ++k) {
      place_[k] = static_cast<double>(site % system.lattice.extent[k]);
      site /= system.lattice.extent[k];
    }
  }

  void add(const InOrder& values) {
    values.add_to(numbers, [&](const algebra::Node& node) { return leaf(node); });
  }
  double value(const algebra::Evaluation& of) {
    return of([&](const algebra::Node& node) { return leaf(node); }).front();
  }

  Numbers numbers;
  bool known = true;

 private:
  double leaf(const algebra::Node& node) {
    if (node.op == Op::Site) return place_[static_cast<std::size_t>(node.index)];
    if (node.op == Op::Load && node.offset.zero()) {
      if (const auto load = numbers.find(node.index); load != numbers.end()) return load->second;
    }
    if (node.op == Op::Symbol) {
      for (const ScalarVariable& s : system_.scalars) {
        if (node.name == s.symbol && s.initial.is_number())
          return static_cast<double>(s.initial->number.real);
      }
    }
    known = false;
    return 1;
  }

  const System& system_;
  std::array<double, 4> place_{};
};

/// The largest of `value` at up to 600 different sites of the start; NaN where one is NaN.
std::optional<double> largest_of_start(const System& system,
                                       const std::function<double(StartAtSite&)>& value) {
  constexpr std::int64_t kMost = 600;  // the most sites that are evaluated
  const std::int64_t sites = system.lattice.sites();
  std::int64_t stride = std::max<std::int64_t>(1, sites / kMost);
  if (stride % 2 == 0) ++stride;  // meets every part of each axis
  std::set<std::vector<double>> seen;
  std::optional<double> most;
  if (std::ranges::any_of(system.initial, [](const InitialValue& start) {
        return algebra::contains(start.value, over_sites);
      }))
    return std::nullopt;
  const InOrder initial(system.initial), recovered(system.conservation->recovered);
  for (std::int64_t site = 0; site < sites; site += stride) {
    StartAtSite start(system, site);
    start.add(initial);
    if (!start.known) return std::nullopt;
    std::vector<double> state;
    for (const auto& [array, number] : start.numbers) state.push_back(number);
    if (!seen.insert(state).second) continue;
    start.add(recovered);
    if (!start.known) return std::nullopt;
    const double here = value(start);
    if (!start.known) return std::nullopt;
    if (std::isnan(here)) return here;
    most = std::max(most.value_or(here), here);
  }
  return most;
}

}  // namespace

std::optional<double> speed_at_start(const System& system, const Signals& signals,
                                     bool one_at_a_time) {
  if (!signals.of_state_alone()) return std::nullopt;
  return largest_of_start(system, [&](StartAtSite& start) {
    double here = 0;
    for (int axis = 0; axis < system.lattice.dims; ++axis) {
      const double speed = signals.largest(start.numbers, axis).value_or(0);
      here = one_at_a_time ? std::max(here, speed) : here + speed;
    }
    return here;
  });
}

std::optional<Outrun> outrun_at_start(const System& system, const Signals& signals,
                                      const std::vector<Expr>& bounds) {
  constexpr double kClose = 1.05;
  if (!signals.of_state_alone()) return std::nullopt;
  std::vector<algebra::Evaluation> of;
  for (const Expr bound : bounds) of.emplace_back(std::span(&bound, 1));
  Outrun worst;
  const auto most = largest_of_start(system, [&](StartAtSite& start) {
    double beyond = 0;
    for (std::size_t axis = 0; axis < of.size(); ++axis) {
      const double signal = signals.largest(start.numbers, static_cast<int>(axis)).value_or(0);
      const double bound = std::abs(start.value(of[axis]));
      if (!(signal > kClose * bound)) continue;
      beyond = std::max(beyond, signal - bound);
      if (signal - bound > worst.signal - worst.bound) worst = {signal, bound};
    }
    return beyond;
  });
  constexpr double kNone = 1e-9;  // what rounding makes of matter at rest
  return most && *most > kNone * worst.signal && worst.signal > kNone ? std::optional(worst)
                                                                      : std::nullopt;
}

std::optional<GrowingWave> growing_wave(const Signals& signals, const Numbers& primitives,
                                        int axes) {
  constexpr double kShare = 0.02, kNone = 1e-9;
  std::optional<GrowingWave> found;
  for (int axis = 0; axis < axes; ++axis) {
    const auto velocities = signals.velocities(primitives, axis);
    double largest = kNone;
    for (const std::complex<double> velocity : velocities)
      largest = std::max(largest, std::abs(velocity));
    for (const std::complex<double> velocity : velocities) {
      const double least = found ? found->velocity.imag() : kShare * largest;
      if (velocity.imag() > least) found = GrowingWave{primitives, axis, velocity};
    }
  }
  return found;
}

std::optional<GrowingWave> growing_at_start(const System& system, const Signals& signals) {
  if (!signals.of_state_alone()) return std::nullopt;
  std::optional<GrowingWave> worst;
  const auto most = largest_of_start(system, [&](StartAtSite& start) {
    const Numbers state = signals.without_stresses(start.numbers);
    const auto here = growing_wave(signals, state, system.lattice.dims);
    if (here && (!worst || here->velocity.imag() > worst->velocity.imag())) worst = here;
    return here ? here->velocity.imag() : 0;
  });
  return most && *most > 0 ? worst : std::nullopt;
}

std::optional<double> largest_at_start(const System& system, Expr value, Numbers* where) {
  const algebra::Evaluation of(std::span(&value, 1));
  std::optional<double> most;
  return largest_of_start(system, [&](StartAtSite& start) {
    const double here = start.value(of);
    if (where && (!most || !(here <= *most))) *where = start.numbers;
    most = std::max(most.value_or(here), here);
    return here;
  });
}

}  // namespace vphi::physics
