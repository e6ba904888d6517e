#include "compiler/physics/spinors/operator_bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "compiler/algebra/evaluation.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/lower/calculus.hpp"

namespace vphi::physics {

namespace {

using Entry = std::complex<double>;

/// Of spins x spins, in the first rows and columns.
struct Square {
  int n = 4;
  std::array<Entry, 16> parts{};
  Entry& at(int i, int j) { return parts[static_cast<std::size_t>(4 * i + j)]; }
  Entry at(int i, int j) const { return parts[static_cast<std::size_t>(4 * i + j)]; }
  bool zero() const {
    return std::ranges::all_of(parts, [](Entry z) { return std::abs(z) < 1e-14; });
  }
};

Square square_of(const gauge::SpinMatrix& m, int spins, Entry factor = 1) {
  Square result{spins, {}};
  for (int i = 0; i < spins; ++i)
    for (int j = 0; j < spins; ++j) result.at(i, j) = factor * Entry(m.at(i, j).re, m.at(i, j).im);
  return result;
}

Square adjoint_of(const Square& a) {
  Square result{a.n, {}};
  for (int i = 0; i < a.n; ++i)
    for (int j = 0; j < a.n; ++j) result.at(i, j) = std::conj(a.at(j, i));
  return result;
}

Square operator*(const Square& a, const Square& b) {
  Square result{a.n, {}};
  for (int i = 0; i < a.n; ++i)
    for (int j = 0; j < a.n; ++j)
      for (int k = 0; k < a.n; ++k) result.at(i, j) += a.at(i, k) * b.at(k, j);
  return result;
}

Square operator+(const Square& a, const Square& b) {
  Square result = a;
  for (std::size_t i = 0; i < result.parts.size(); ++i) result.parts[i] += b.parts[i];
  return result;
}

/// By turns of Jacobi on A^+ A as a real symmetric matrix of twice the size.
SingularValues of_matrix(const Square& a) {
  const Square product = adjoint_of(a) * a;
  const int n = 2 * a.n;
  std::array<std::array<double, 8>, 8> m{};
  for (int i = 0; i < a.n; ++i)
    for (int j = 0; j < a.n; ++j) {
      const Entry z = product.at(i, j);
      m[i][j] = m[i + a.n][j + a.n] = z.real();
      m[i][j + a.n] = -z.imag(), m[i + a.n][j] = z.imag();
    }
  constexpr int kSweeps = 30;
  for (int sweep = 0; sweep < kSweeps; ++sweep)
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        if (m[p][q] == 0) continue;
        const double theta = std::atan2(2 * m[p][q], m[q][q] - m[p][p]) / 2;
        const double c = std::cos(theta), s = std::sin(theta);
        for (int k = 0; k < n; ++k) {
          const double x = m[k][p], y = m[k][q];
          m[k][p] = c * x - s * y, m[k][q] = s * x + c * y;
        }
        for (int k = 0; k < n; ++k) {
          const double x = m[p][k], y = m[q][k];
          m[p][k] = c * x - s * y, m[q][k] = s * x + c * y;
        }
      }
  double least = m[0][0], most = m[0][0];
  for (int i = 0; i < n; ++i) least = std::min(least, m[i][i]), most = std::max(most, m[i][i]);
  return {std::sqrt(std::max(0.0, least)), std::sqrt(std::max(0.0, most))};
}

/// The largest |w| over the sites of the box; nothing where it is not known before a run.
std::optional<double> largest_of(const Declared& d, const gauge::Complex& w) {
  constexpr std::int64_t kMostSites = std::int64_t{1} << 24;
  const std::array<Expr, 2> parts{w.re, w.im};
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  bool known = true;
  for (const Expr part : parts)
    algebra::contains(part, [&](Expr node) {
      const bool site = node.is(algebra::Op::Site);
      if (site) extent[static_cast<std::size_t>(node->index)] = d.grid.extent[node->index];
      known = known && (site || !node->args.empty() || node.is_number());
      return false;
    });
  if (!known || extent[0] * extent[1] * extent[2] * extent[3] > kMostSites) return std::nullopt;
  const algebra::Evaluation values(parts);
  double largest = 0;
  std::array<std::int64_t, 4> at{};
  for (at[3] = 0; at[3] < extent[3]; ++at[3])
    for (at[2] = 0; at[2] < extent[2]; ++at[2])
      for (at[1] = 0; at[1] < extent[1]; ++at[1])
        for (at[0] = 0; at[0] < extent[0]; ++at[0]) {
          const auto now = values([&](const algebra::Node& leaf) {
            return static_cast<double>(at[static_cast<std::size_t>(leaf.index)]);
          });
          largest = std::max(largest, std::hypot(now[0], now[1]));
        }
  if (!std::isfinite(largest)) return std::nullopt;
  return largest;
}

bool at_site(const SpinorTerm& term) { return term.at.zero() && term.path.word.empty(); }

std::optional<Entry> fixed_number(const gauge::Complex& w) {
  const auto re = algebra::constant(w.re), im = algebra::constant(w.im);
  if (!re || !im) return std::nullopt;
  return Entry(static_cast<double>(re->real), static_cast<double>(im->real));
}

/// The norm of a sum: terms that are orthogonal on both sides count with the largest of them.
std::optional<double> norm_of(const Declared& d, const SpinorForm& form) {
  struct Group {
    std::vector<Square> spins;
    double norm = 0;
  };
  std::vector<Group> groups;
  for (const SpinorTerm& term : form.terms) {
    const auto size = largest_of(d, term.weight);
    if (!size) return std::nullopt;
    const Square spin = square_of(term.spin, d.spins);
    const auto fits = std::ranges::find_if(groups, [&](const Group& group) {
      return std::ranges::all_of(group.spins, [&](const Square& other) {
        return (adjoint_of(spin) * other).zero() && (spin * adjoint_of(other)).zero();
      });
    });
    Group& group = fits != groups.end() ? *fits : groups.emplace_back();
    group.spins.push_back(spin);
    group.norm = std::max(group.norm, *size * of_matrix(spin).most);
  }
  double sum = 0;
  for (const Group& group : groups) sum += group.norm;
  return sum;
}

/// Whether A B^+ + B A^+ = 0, B this matrix at each site.
bool turns_sign(const Declared& d, const SpinorForm& a, const Square& b) {
  const SpinorForm back = adjoint(a, around(d.grid));
  std::vector<bool> used(back.terms.size());
  return std::ranges::all_of(a.terms, [&](const SpinorTerm& one) -> bool {
    const Square left = square_of(one.spin, d.spins) * adjoint_of(b);
    for (std::size_t i = 0; i < back.terms.size(); ++i) {
      const SpinorTerm& other = back.terms[i];
      if (used[i] || other.at != one.at || other.path.start != one.path.start ||
          other.path.word != one.path.word || other.path.of != one.path.of)
        continue;
      const Square right = b * square_of(other.spin, d.spins);
      const auto w = fixed_number(one.weight), v = fixed_number(other.weight);
      const auto sum = [&](Entry first, Entry second) {
        const Square number_left = square_of(gauge::spin_identity(), d.spins, first) * left;
        const Square number_right = square_of(gauge::spin_identity(), d.spins, second) * right;
        return (number_left + number_right).zero();
      };
      const bool cancels =
          w && v
              ? sum(*w, *v)
              : (gauge::same_number(one.weight, other.weight) && sum(1, 1)) ||
                    (gauge::same_number(one.weight, gauge::negative(other.weight)) && sum(1, -1));
      if (cancels) {
        used[i] = true;
        return true;
      }
    }
    return false;
  });
}

/// The terms at the site with numbers that are known, as a matrix, and all others.
struct AtSite {
  Square matrix;
  SpinorForm others;
};

AtSite at_site_of(const Declared& d, const SpinorForm& form) {
  AtSite result{{d.spins, {}}, {}};
  for (const SpinorTerm& term : form.terms) {
    const auto number = at_site(term) ? fixed_number(term.weight) : std::nullopt;
    if (number)
      result.matrix = result.matrix + square_of(term.spin, d.spins, *number);
    else
      result.others.terms.push_back(term);
  }
  return result;
}

std::optional<SingularValues> of_sum(const Declared& d, const SpinorForm& form) {
  const AtSite parts = at_site_of(d, form);
  const auto norm = norm_of(d, parts.others);
  if (!norm) return std::nullopt;
  const SingularValues own = of_matrix(parts.matrix);
  return SingularValues{std::max(0.0, own.least - *norm), own.most + *norm};
}

}  // namespace

std::optional<SingularValues> singular_values(const Declared& d, const SpinorForm& form) {
  for (std::size_t i = 0; i < form.terms.size(); ++i) {
    const SpinorTerm& term = form.terms[i];
    const auto number = at_site(term) ? fixed_number(term.weight) : std::nullopt;
    if (!number) continue;
    const Square matrix = square_of(term.spin, d.spins, *number);
    SpinorForm rest = form;
    rest.terms.erase(rest.terms.begin() + static_cast<std::ptrdiff_t>(i));
    if (!turns_sign(d, rest, matrix)) continue;
    const auto others = singular_values(d, rest);
    if (!others) return std::nullopt;
    const SingularValues own = of_matrix(matrix);
    return SingularValues{std::hypot(own.least, others->least), std::hypot(own.most, others->most)};
  }
  return of_sum(d, form);
}

std::optional<SingularValues> singular_values_at_odd(const Declared& d, const PartedOperator& parts,
                                                     const SingularValues& whole) {
  const auto local = singular_values(d, parts.local);
  const auto hops = norm_of(d, parts.hops);
  if (!local || !hops || local->least == 0) return std::nullopt;
  const double both = *hops * *hops / local->least;
  return SingularValues{std::max(whole.least, local->least - both), local->most + both};
}

}  // namespace vphi::physics
