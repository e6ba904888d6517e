// Gauss's law, from the invariance of a written H.
//
// A rotation exp(i alpha_a(x) T_a) of one gauge group (T = 1 for U(1)) takes a link to
// V(x) U_i(x) V^+(x+i), its momentum to V E V^+, and a charged field f to V f, f -> exp(i q alpha)
// f, or V f V^+ of the algebra. The sum of h changes by alpha_a(x) times
//   sum_i (F_i,a(x) - (U_i^+ F_i U_i)_a(x-i)) + sum_f q_f (dH/df . d_a f),   F_i,a = dH along i T_a
//   U_i,
// f over charged fields and their momenta, d_a f the change of f by the generator. The charges (0
// or 1 but for U(1)) are those that make it vanish for all values of all fields. It is linear in
// them, so that arbitrary values give equations to solve and to check. The generator of these
// rotations in the Poisson bracket of H is Gauss's law:
//   sum_i (E_i,a(x) - (U_i^+ E_i U_i)_a(x-i)) + sum_f q_f n_f (p . d_a f),   kinetic n_f p^2/2.
// A kick changes it by the expression above, a drift by 0, so every composition of them keeps it to
// round-off.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/chart.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/fields/link_motion.hpp"
#include "compiler/physics/lower/arbitrary_values.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/gauss_law.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Offset;

namespace {

/// Least squares: sum_f q_f column_f = -right, by normal equations and elimination.
std::vector<double> solve(std::vector<std::vector<double>> columns,
                          const std::vector<double>& right, double size) {
  const std::size_t n = columns.size();
  const double nothing = 1e-16 * size;
  std::vector<std::vector<double>> m(n, std::vector<double>(n + 1));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      m[i][j] = std::inner_product(columns[i].begin(), columns[i].end(), columns[j].begin(), 0.0);
    }
    m[i][n] = -std::inner_product(columns[i].begin(), columns[i].end(), right.begin(), 0.0);
  }
  std::vector<double> q(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (std::fabs(m[i][i]) <= nothing)
      continue;  // a field that H treats as neutral: any charge does
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      const double factor = m[j][i] / m[i][i];
      for (std::size_t k = i; k <= n; ++k) m[j][k] -= factor * m[i][k];
    }
  }
  for (std::size_t i = 0; i < n; ++i) q[i] = std::fabs(m[i][i]) <= nothing ? 0 : m[i][n] / m[i][i];
  return q;
}

/// The law of one gauge field.
class GaussLaw {
 public:
  GaussLaw(const Program& d, const StateField& links, dsl::Span span)
      : d_(d),
        arena_(d.arena()),
        links_(links),
        momentum_(*d.conjugate(links)),
        group_(links.links->group),
        span_(span) {}

  /// One for each generator.
  std::vector<GeneratorLaw> read() {
    if (group_.kind == gauge::Kind::SU && d_.facts.equation(momentum_.name))
      d_.fail(errors::not_yet(
          span_, "`gauss` of links of SU(n) whose momentum has an equation of its own"));
    for (const StateField& f : d_.fields)
      if (f.hamiltonian && !f.link && !d_.is_momentum(f) && turns(f)) matter_.push_back(&f);
    const std::vector<double> charges = find_charges();
    std::vector<GeneratorLaw> laws;
    for (int a = 0; a < group_.generators(); ++a) {
      GeneratorLaw& own = laws.emplace_back();
      for (int axis = 0; axis < d_.grid.dims; ++axis)
        own.electric.push_back(
            momentum_.arrays[static_cast<std::size_t>(axis * group_.generators() + a)]);
      Expr sum = arena_.integer(0);
      for (const Expr term : divergence(a, momenta(), momenta())) sum = sum + term;
      for (std::size_t f = 0; f < matter_.size(); ++f) {
        if (charges[f] == 0) continue;
        const StateField &q = *matter_[f], &p = *d_.conjugate(q);
        const Expr factor = arena_.integer(static_cast<std::int64_t>(charges[f]) * q.norm());
        const std::vector<Expr> change = turned(q, a);
        for (std::size_t i = 0; i < change.size(); ++i) {
          sum = sum + factor * arena_.load(p.arrays[i]) * change[i];
          own.rotation[p.arrays[i]] =
              arena_.integer(static_cast<std::int64_t>(charges[f])) * change[i];
        }
      }
      own.law = in_planes_that_move(sum);
      own.links = &links_;
    }
    return laws;
  }

 private:
  Expr in_planes_that_move(Expr law) const {
    const Expr held = in_held_plane(d_, links_);
    return held ? arena_.make(algebra::Op::Select, {held, arena_.integer(0), law}) : law;
  }

  /// Whether the group may act on the field.
  bool turns(const StateField& f) const {
    if (group_.kind == gauge::Kind::U1) return f.complex;
    return (f.algebra && *f.algebra == group_) ||
           (f.complex && f.rows == group_.n && f.columns == 1);
  }

  /// The change of each real array of the field by the generator.
  std::vector<Expr> turned(const StateField& f, int a) const {
    std::vector<Expr> values;
    for (const int array : f.arrays) values.push_back(arena_.load(array));
    std::vector<Expr> result;
    if (group_.kind == gauge::Kind::U1) {
      for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
        result.push_back(-values[i + 1]);
        result.push_back(values[i]);
      }
      return result;
    }
    std::vector<Expr> unit(static_cast<std::size_t>(group_.generators()), arena_.integer(0));
    unit[static_cast<std::size_t>(a)] = arena_.integer(1);
    const gauge::Matrix generator = gauge::algebra_element(group_, unit);
    if (f.algebra) {
      const gauge::Matrix m = gauge::hermitian(group_, values);
      return in_algebra(gauge::minus(gauge::times(generator, m), gauge::times(m, generator)));
    }
    gauge::Matrix column{group_.n, 1, {}};
    for (std::size_t i = 0; i + 1 < values.size(); i += 2)
      column.parts.push_back({values[i], values[i + 1]});
    for (const gauge::Complex& part : gauge::times(generator, column).parts) {
      result.push_back(part.re);
      result.push_back(part.im);
    }
    return result;
  }

  /// The coordinates of a hermitian matrix.
  std::vector<Expr> in_algebra(gauge::Matrix m) const {
    for (gauge::Complex& part : m.parts) part = gauge::times_i(part);
    std::vector<Expr> result = gauge::projection(group_, m);
    for (Expr& part : result) part = arena_.integer(2) * part;
    return result;
  }

  std::vector<Expr> momenta() const {
    std::vector<Expr> result;
    for (const int array : momentum_.arrays) result.push_back(arena_.load(array));
    return result;
  }

  /// Terms of sum_i (v_i,a(x) - (U_i^+ w_i U_i)_a(x-i)); v and w are one axis after the other.
  std::vector<Expr> divergence(int a, const std::vector<Expr>& v,
                               const std::vector<Expr>& w) const {
    const auto count = static_cast<std::size_t>(group_.generators());
    const gauge::LinkOf link = links_of(d_, links_);
    std::vector<Expr> terms;
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      const auto place = static_cast<std::size_t>(axis) * count;
      terms.push_back(v[place + static_cast<std::size_t>(a)]);
      const std::vector<Expr> own(w.begin() + static_cast<std::ptrdiff_t>(place),
                                  w.begin() + static_cast<std::ptrdiff_t>(place + count));
      Expr there = own[static_cast<std::size_t>(a)];
      if (group_.kind == gauge::Kind::SU) {
        const gauge::Matrix u = link(axis, {});
        there = in_algebra(gauge::times(
            gauge::adjoint(u),
            gauge::times(gauge::hermitian(group_, own), u)))[static_cast<std::size_t>(a)];
      }
      Offset back;
      back.d[axis] = -1;
      terms.push_back(-around(d_)(there, back));
    }
    return terms;
  }

  /// dH along the rotations of the links.
  std::vector<Expr> slopes() const {
    std::vector<Expr> result;
    for (std::size_t i = 0; i < momentum_.arrays.size(); ++i)
      result.push_back(
          group_.kind == gauge::Kind::SU
              ? -d_.rates.at(momentum_.arrays[i])
              : hamiltonian_force(d_, d_.hamiltonian_density, links_.arrays[i], span_));
    return result;
  }

  /// The same where the momenta do not turn with their links, as at the other end of each.
  std::vector<Expr> slopes_at_the_end(std::vector<Expr> slope) const {
    const auto count = static_cast<std::size_t>(group_.generators());
    for (const LinkMotion& motion : d_.link_motions) {
      const int first = links_.place(motion.arrays[0]);
      if (first < 0) continue;
      const std::size_t axis = static_cast<std::size_t>(first) / motion.arrays.size();
      const auto own_begin = momentum_.arrays.begin() + static_cast<std::ptrdiff_t>(axis * count);
      const std::vector<int> arrays(own_begin, own_begin + static_cast<std::ptrdiff_t>(count));
      if (velocity_commutes(d_, momentum_, motion.velocity, arrays)) continue;
      std::vector<Expr> own;
      for (const int array : arrays) own.push_back(arena_.load(array));
      const std::vector<Expr> turn = gauge::bracket(group_, motion.velocity, own);
      for (std::size_t a = 0; a < count; ++a)
        slope[axis * count + a] = slope[axis * count + a] + turn[a];
    }
    return slope;
  }

  std::vector<double> find_charges() {
    constexpr std::uint64_t kTrials = 12;
    const int count = group_.generators();
    const std::vector<Expr> slope = slopes(), at_end = slopes_at_the_end(slope);
    std::vector<std::vector<Expr>> curl;
    std::vector<std::vector<std::vector<Expr>>> rotations;  // by generator and field
    for (int a = 0; a < count; ++a) {
      curl.push_back(divergence(a, slope, at_end));
      auto& by_field = rotations.emplace_back();
      for (const StateField* q : matter_) {
        std::vector<Expr>& terms = by_field.emplace_back();
        for (const StateField* f : {q, d_.conjugate(*q)}) {
          const std::vector<Expr> change = turned(*f, a);
          for (std::size_t i = 0; i < change.size(); ++i)
            terms.push_back(change[i] *
                            hamiltonian_force(d_, d_.hamiltonian_density, f->arrays[i], span_));
        }
      }
    }
    std::vector<std::vector<double>> columns(matter_.size());
    std::vector<double> right;
    double size = 0, parts = 0;
    const std::uint64_t trials = count == 1 ? kTrials : 2;
    for (std::uint64_t seed = 1; seed <= trials; ++seed) {
      ArbitraryValues value(d_, seed);
      const auto sum_of = [&](const std::vector<Expr>& list) {  // may be smaller than its terms
        double sum = 0;
        for (const Expr term : list) {
          const double one = value(term);
          sum += one;
          parts += one * one;
        }
        return sum;
      };
      for (std::size_t a = 0; a < curl.size(); ++a) {
        right.push_back(sum_of(curl[a]));
        size += right.back() * right.back();
        for (std::size_t f = 0; f < matter_.size(); ++f) {
          columns[f].push_back(sum_of(rotations[a][f]));
          size += columns[f].back() * columns[f].back();
        }
      }
    }
    std::vector<double> charges = physics::solve(columns, right, size);
    for (double& q : charges) q = std::round(q);
    double rest = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
      double sum = right[i];
      for (std::size_t f = 0; f < matter_.size(); ++f) sum += charges[f] * columns[f][i];
      rest += sum * sum;
    }
    // to the rounding of the largest terms
    if (!(rest <= 1e-18 * size + 1e-28 * parts))
      d_.fail(errors::not_gauge_invariant(span_, std::sqrt(rest / size)));
    return charges;
  }

  const Program& d_;
  Arena& arena_;
  const StateField& links_;
  const StateField& momentum_;
  const gauge::Group group_;
  dsl::Span span_;
  std::vector<const StateField*> matter_;
};

}  // namespace

std::vector<GeneratorLaw> gauss_laws(const Program& d, dsl::Span span) {
  std::vector<GeneratorLaw> laws;
  for (const StateField& links : d.fields) {
    if (!links.links) continue;
    if (!links.hamiltonian || !d.conjugate(links) || !d.hamiltonian_density)
      d.fail(errors::not_yet(span, "Gauss's law without a written Hamiltonian"));
    for (GeneratorLaw& one : GaussLaw(d, links, span).read()) laws.push_back(std::move(one));
  }
  return laws;
}

Expr Lowerer::gauss(dsl::Span span) {
  const std::vector<GeneratorLaw> laws = gauss_laws(d_, span);
  if (laws.size() == 1) return laws[0].law;
  Expr square = d_.arena().integer(0);
  for (const GeneratorLaw& one : laws) square = square + algebra::pow(one.law, 2);
  return algebra::pow(square, d_.arena().rational(1, 2));
}

}  // namespace vphi::physics
