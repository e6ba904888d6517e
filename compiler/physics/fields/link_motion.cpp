#include "compiler/physics/fields/link_motion.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/simplify.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/action.hpp"
#include "compiler/gauge/chart.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/fields/link_motion_errors.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/lower/arbitrary_values.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// H as traces of loops of one gauge field and a rest.
struct Parted {
  gauge::LoopAction loops;
  Expr rest;  ///< a density; null: none
};

/// Reads the text of H once more, with a symbol for the trace of each loop.
class LoopReader {
 public:
  LoopReader(const Theory& d, const StateField& links, const EnergyText& text, bool keep_parameters)
      : d_(d), links_(links), text_(text), lower_(text.reading, keep_parameters) {}

  Parted read(Expr density) {
    Reading reading;
    reading.closed_trace = [this](const LinkPath& path) { return trace(path); };
    Expr rest = text_.read(lower_, Scope::in(reading));
    Parted result;
    const auto holds_trace = [&](Expr e) {
      return algebra::contains(e, [&](Expr node) { return std::ranges::count(names_, node) > 0; });
    };
    const bool reduced = algebra::contains(
        rest, [&](Expr node) { return algebra::reduces_sites(node.op()) && holds_trace(node); });
    for (std::size_t i = 0; !reduced && i < loops_.size(); ++i) {
      for (const bool imaginary : {false, true}) {
        const Expr name = names_[2 * i + (imaginary ? 1 : 0)];
        const Expr slope = algebra::derivative(rest, name);
        if (slope.is_zero()) continue;
        const bool state = holds_trace(slope) || algebra::contains(slope, [](Expr node) {
                             return node.is(Op::Load) || algebra::reduces_sites(node.op());
                           });
        if (state) return {{}, density};
        const Expr at_a_site = text_.whole ? slope / d_.arena().integer(d_.grid.sites()) : slope;
        result.loops.push_back({at_a_site, loops_[i], imaginary});
      }
    }
    if (reduced) return {{}, density};
    for (const Expr name : names_) rest = algebra::substitute(rest, name, d_.arena().integer(0));
    result.loops = gauge::collected(result.loops);
    const bool other = algebra::contains(rest, [](Expr e) { return e.is(Op::Load); });
    if (other) result.rest = text_.whole ? hamiltonian_density_of(d_, rest, text_.value) : rest;
    if (text_.beside) result.rest = result.rest ? result.rest + text_.beside : text_.beside;
    return result;
  }

 private:
  Component trace(const LinkPath& path) {
    Arena& arena = d_.arena();
    if (path.links != links_.arrays[0]) {  // other links: as they are
      const auto other = std::ranges::find_if(
          d_.fields, [&](const StateField& f) { return f.links && f.arrays[0] == path.links; });
      const Value product = lower_.along(*other, path, other->span);
      Component sum = product.parts[0];
      for (int i = 1; i < product.rows; ++i)
        sum = add(sum, product.parts[static_cast<std::size_t>(i * product.rows + i)]);
      return sum;
    }
    const gauge::Word reduced = gauge::reduced(path.word);
    if (reduced.empty()) return {arena.integer(links_.links->group.n), {}};
    bool reversed = false;
    const gauge::Word loop = gauge::canonical_loop(reduced, &reversed);
    const auto known = std::ranges::find(loops_, loop);
    const auto place = 2 * static_cast<std::size_t>(known - loops_.begin());
    if (known == loops_.end()) {
      const std::string text = links_.name + ": " + gauge::to_text(loop);
      names_.push_back(arena.symbol("re tr " + text));
      names_.push_back(arena.symbol("im tr " + text));
      loops_.push_back(loop);
    }
    const Expr imaginary = names_[place + 1];
    return {names_[place], reversed ? -imaginary : imaginary};
  }

  const Theory& d_;
  const StateField& links_;
  const EnergyText& text_;
  Lowerer lower_;
  std::vector<gauge::Word> loops_;
  std::vector<Expr> names_;  ///< real and imaginary part of each
};

/// Forces on the links along an axis by loops: common factors of the coefficients stay outside.
std::vector<Expr> loop_forces(const Theory& d, const StateField& links,
                              const gauge::LoopAction& loops, int axis) {
  Arena& arena = d.arena();
  const gauge::Group& group = links.links->group;
  std::vector<Expr> sum(static_cast<std::size_t>(group.generators()), arena.integer(0));
  std::vector<std::pair<Expr, gauge::LoopAction>> by_factor;
  for (gauge::LoopTerm term : loops) {
    const algebra::Scaled scaled = algebra::scaled(term.coefficient);
    term.coefficient = arena.number(scaled.coefficient);
    const auto same = [&](const auto& entry) { return entry.first == scaled.rest; };
    const auto found = std::ranges::find_if(by_factor, same);
    if (found == by_factor.end()) {
      by_factor.push_back({scaled.rest, {term}});
    } else {
      found->second.push_back(term);
    }
  }
  const gauge::LinkOf link = links_of(d, links);
  for (auto& [factor, action] : by_factor) {
    // the number of the first loop goes to the factor: mostly all others are then 1
    const Expr first = action.front().coefficient;
    for (gauge::LoopTerm& term : action) term.coefficient = term.coefficient / first;
    if (gauge::staple_paths(action, axis).empty()) continue;
    const std::vector<Expr> force = gauge::force(group, action, axis, link);
    for (std::size_t a = 0; a < sum.size(); ++a) sum[a] = sum[a] + first * factor * force[a];
  }
  return sum;
}

std::vector<Expr> coordinates(Arena& arena, const gauge::Group& group, const char* name) {
  std::vector<Expr> result;
  for (int a = 0; a < group.generators(); ++a)
    result.push_back(arena.symbol(fmt::format("{}_{}", name, a + 1)));
  return result;
}

/// Largest entry of the commutator of two elements of the algebra.
double commutator(const gauge::Group& group, const std::vector<double>& u,
                  const std::vector<double>& v) {
  Arena arena;
  const auto matrix = [&](const std::vector<double>& x) {
    std::vector<Expr> p;
    for (const double number : x) p.push_back(arena.real(number));
    std::vector<std::complex<double>> parts;
    for (const gauge::Complex& part : gauge::hermitian(group, p).parts)
      parts.emplace_back(algebra::evaluate(part.re, {}), algebra::evaluate(part.im, {}));
    return parts;
  };
  const auto a = matrix(u), b = matrix(v);
  const auto n = static_cast<std::size_t>(group.n);
  double most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      std::complex<double> sum = 0;
      for (std::size_t k = 0; k < n; ++k)
        sum += a[i * n + k] * b[k * n + j] - b[i * n + k] * a[k * n + j];
      most = std::max(most, std::abs(sum));
    }
  }
  return most;
}

/// i[w, E], by which the momentum turns with its link.
std::vector<Expr> turned_momentum(const Theory& d, const gauge::Group& group,
                                  const std::vector<Expr>& velocity,
                                  const std::vector<int>& arrays) {
  std::vector<Expr> e;
  for (const int array : arrays) e.push_back(d.arena().load(array));
  return gauge::bracket(group, velocity, e);
}

}  // namespace

bool velocity_commutes(const Theory& d, const StateField& momentum,
                       const std::vector<Expr>& velocity, const std::vector<int>& arrays) {
  constexpr std::uint64_t kTrials = 4;
  const gauge::Group& group = *momentum.algebra;
  for (std::uint64_t seed = 1; seed <= kTrials; ++seed) {
    ArbitraryValues value(d, seed);
    std::vector<double> w, e;
    double size = 0;
    for (std::size_t a = 0; a < arrays.size(); ++a) {
      w.push_back(value(velocity[a]));
      e.push_back(value(d.arena().load(arrays[a])));
      size = std::max({size, std::abs(w.back())});
    }
    if (!(commutator(group, w, e) <= 1e-10 * size)) return false;
  }
  return true;
}

void add_link_rates(const Theory& d, Expr density, const EnergyText& text, bool keep_parameters,
                    const StateField& links, const StateField& momentum, Hamiltonian& result) {
  Arena& arena = d.arena();
  const gauge::LinkType& type = *links.links;
  const auto reals = static_cast<std::size_t>(type.reals());
  const auto count = static_cast<std::size_t>(type.group.generators());
  const dsl::Span span = text.value;
  const Parted parted = LoopReader(d, links, text, keep_parameters).read(density);
  const gauge::LinkOf link = links_of(d, links);
  const std::vector<Expr> w = coordinates(arena, type.group, "w");
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    const std::vector<int> stored(
        links.arrays.begin() + static_cast<std::ptrdiff_t>(k * reals),
        links.arrays.begin() + static_cast<std::ptrdiff_t>((k + 1) * reals));
    const std::vector<int> own(
        momentum.arrays.begin() + static_cast<std::ptrdiff_t>(k * count),
        momentum.arrays.begin() + static_cast<std::ptrdiff_t>((k + 1) * count));
    LinkMotion motion{stored, {}, coordinates(arena, type.group, "displacement"), {}};
    for (const int array : own)
      motion.velocity.push_back(hamiltonian_force(d, density, array, span));
    const bool commutes = velocity_commutes(d, momentum, motion.velocity, own);
    for (Expr& w : motion.velocity) w = of_moving(d, links, axis, w);

    const std::vector<Expr> turned =
        gauge::store(type, gauge::times(gauge::algebra_element(type.group, w), link(axis, {})));
    std::vector<Expr> forces = loop_forces(d, links, parted.loops, axis);
    for (std::size_t i = 0; i < reals; ++i) {
      Expr rate = arena.integer(0);
      for (std::size_t a = 0; a < count; ++a)
        rate = rate + motion.velocity[a] * algebra::derivative(turned[i], w[a]);
      result.rates[stored[i]] = rate;
      result.rate_spans[stored[i]] = text.line;
      if (!parted.rest) continue;
      const Expr slope = hamiltonian_force(d, parted.rest, stored[i], span);
      if (slope.is_zero()) continue;
      for (std::size_t a = 0; a < count; ++a)
        forces[a] = forces[a] - slope * algebra::derivative(turned[i], w[a]);
    }
    if (!commutes) {
      const std::vector<Expr> turn = turned_momentum(d, type.group, motion.velocity, own);
      for (std::size_t a = 0; a < count; ++a) forces[a] = forces[a] + turn[a];
    }
    for (std::size_t a = 0; a < count; ++a) {
      result.rates[own[a]] = of_moving(d, links, axis, forces[a]);
      result.rate_spans[own[a]] = text.line;
    }
    result.link_motions.push_back(std::move(motion));
  }
}

std::vector<LinkMotion> link_motions(const Motion& d, ProgramUnits& units) {
  const int terms = gauge::exponential_terms(d.numerics.real == Precision::F32 ? 0x1p-24 : 0x1p-53);
  std::vector<LinkMotion> result = d.link_motions;
  for (LinkMotion& motion : result) {
    const StateField& links = *d.field_of(motion.arrays[0]);
    const gauge::LinkType& type = *links.links;
    std::vector<Expr> stored;
    for (const int array : motion.arrays) stored.push_back(d.arena().load(array));
    for (Expr& w : motion.velocity) w = units.first_order_rate(w, motion.arrays[0]);
    const gauge::Matrix turn = gauge::exponential(type.group, motion.displacement, terms);
    motion.moved = gauge::store(
        type, gauge::reunitarised(type.group, gauge::times(turn, gauge::load(type, stored))));
  }
  return result;
}

std::vector<Expr> algebra_coordinates(const Declared& d, const gauge::Group& group, const Value& m,
                                      const std::string& name, dsl::Span span) {
  Arena& arena = d.arena();
  const int n = group.n;
  if (m.rows != n || m.columns != n)
    d.fail(errors::not_of_algebra(span, name, n, "has another shape"));
  gauge::Matrix matrix{n, n, {}};
  for (const Component& part : m.parts)
    matrix.parts.push_back(gauge::times_i({part.re, part.im ? part.im : arena.integer(0)}));
  constexpr std::uint64_t kTrials = 8;
  for (std::uint64_t seed = 1; seed <= kTrials; ++seed) {
    ArbitraryValues value(d, seed);
    std::complex<double> trace = 0;
    double size = 0, apart = 0;
    const auto at = [&](int i, int j) {
      const Component& part = m.parts[static_cast<std::size_t>(i * n + j)];
      return std::complex<double>(value(part.re), part.im ? value(part.im) : 0.0);
    };
    for (int i = 0; i < n; ++i) {
      trace += at(i, i);
      for (int j = 0; j < n; ++j) {
        size = std::max(size, std::abs(at(i, j)));
        apart = std::max(apart, std::abs(at(i, j) - std::conj(at(j, i))));
      }
    }
    if (!(apart <= 1e-9 * size)) d.fail(errors::not_of_algebra(span, name, n, "is not hermitian"));
    if (!(std::abs(trace) <= 1e-9 * size))
      d.fail(errors::not_of_algebra(span, name, n, "has a trace"));
  }
  std::vector<Expr> result;
  for (const Expr part : gauge::projection(group, matrix))
    result.push_back(arena.integer(2) * part);
  return result;
}

}  // namespace vphi::physics
