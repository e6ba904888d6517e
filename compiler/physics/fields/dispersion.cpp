#include "compiler/physics/fields/dispersion.hpp"

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/stages/program.hpp"
#include "compiler/physics/stages/start.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;

double largest_eigenvalue(std::vector<std::vector<double>> m) {
  const std::size_t n = m.size();
  for (int iteration = 0; iteration < 60; ++iteration) {
    double off = 0;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        off += m[p][q] * m[p][q];
        if (m[p][q] == 0) continue;
        const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
        const double t =
            std::copysign(1.0, theta) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = m[k][p], kq = m[k][q];
          m[k][p] = c * kp - s * kq, m[k][q] = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double pk = m[p][k], qk = m[q][k];
          m[p][k] = c * pk - s * qk, m[q][k] = s * pk + c * qk;
        }
      }
    }
    double on = 0;
    for (std::size_t i = 0; i < n; ++i) on += m[i][i] * m[i][i];
    if (off <= 1e-28 * on) break;
  }
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, m[i][i]);
  return largest;
}

namespace {

/// w_ij(o) of one pair of fields.
struct Weight {
  std::size_t i = 0, j = 0;
  Offset offset;
  double value = 0;
};

/// All weights; nothing where one is not a constant.
std::optional<std::vector<Weight>> weights_of(const Program& d, std::size_t& count) {
  Arena& arena = d.arena();
  const std::map<int, Expr> start = homogeneous_values(d, Lowerer(d));
  std::vector<const Variable*> fields, momenta;
  for (const Variable& u : d.variables) {
    if (u.role != Role::Coordinate) continue;
    for (const Variable& v : d.variables) {
      if (v.array == u.partner && d.rates.contains(v.array))
        fields.push_back(&u), momenta.push_back(&v);
    }
  }
  count = fields.size();
  std::vector<Weight> result;
  if (d.laplacian >= 0 && arena.stencil_data(d.laplacian).spectral) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    const Expr kick = algebra::rewrite(d.rates.at(momenta[i]->array), [](Expr node) {
      if (algebra::reduces_sites(node.op())) return node->arena->symbol("average");
      if (!node.is(Op::Stencil)) return node;
      Arena& own = *node->arena;
      return algebra::written_out(own.stencil_data(node->index), node.arg(0), own.symbol("dx"));
    });
    Expr drift = arena.integer(1);
    if (const auto rate = d.rates.find(fields[i]->array); rate != d.rates.end()) {
      drift = algebra::derivative(rate->second, arena.load(momenta[i]->array));
    }
    for (const Expr read : algebra::reads(kick)) {
      for (std::size_t j = 0; j < count; ++j) {
        if (read->index != fields[j]->array) continue;
        bool known = false;
        Expr slope = at_homogeneous(d, drift * algebra::derivative(kick, read), start, known);
        slope = algebra::substitute(slope, arena.symbol("dx"), d.grid.dx);
        const auto number = algebra::constant(slope);
        if (!known || !number || !std::isfinite(number->real)) return std::nullopt;
        result.push_back({i, j, read->offset, -static_cast<double>(number->real)});
      }
    }
  }
  return result;
}

using Matrix = std::vector<std::vector<std::complex<double>>>;

/// Largest eigenvalue of M = D K with D positive and diagonal, K Hermitian: that of its Hermitian
/// form, as a real symmetric matrix of twice the size.
double largest_of(Matrix m) {
  const std::size_t n = m.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const double size = std::sqrt(std::abs(m[i][j]) * std::abs(m[j][i]));
      const double own = std::abs(m[i][j]);
      m[i][j] = own > 0 ? m[i][j] * (size / own) : 0.0;
      m[j][i] = std::conj(m[i][j]);
    }
  }
  std::vector<std::vector<double>> real(2 * n, std::vector<double>(2 * n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      real[i][j] = real[n + i][n + j] = m[i][j].real();
      real[n + i][j] = m[i][j].imag();
      real[i][n + j] = -m[i][j].imag();
    }
    real[i][n + i] = real[n + i][i] = 0;
  }
  return largest_eigenvalue(std::move(real));
}

}  // namespace

std::optional<double> largest_frequency2(const Program& d) {
  if (!d.grid.present) return std::nullopt;  // no plane waves without a lattice
  constexpr int kSteps = 4;                  // multiples of pi/4, both signs
  constexpr std::size_t kMostFields = 24;
  std::size_t n = 0;
  const auto weights = weights_of(d, n);
  if (!weights || n == 0 || n > kMostFields) return std::nullopt;
  int points = 1;
  for (int axis = 0; axis < d.grid.dims; ++axis) points *= 2 * kSteps;
  double largest = 0;
  for (int point = 0; point < points; ++point) {
    double k[4] = {0, 0, 0, 0};
    for (int axis = 0, rest = point; axis < d.grid.dims; ++axis, rest /= 2 * kSteps) {
      k[axis] = std::numbers::pi / kSteps * (rest % (2 * kSteps));
    }
    Matrix m(n, std::vector<std::complex<double>>(n));
    for (const Weight& w : *weights) {
      double phase = 0;
      for (int axis = 0; axis < 4; ++axis) phase += k[axis] * w.offset.d[axis];
      m[w.i][w.j] += w.value * std::polar(1.0, phase);
    }
    largest = std::max(largest, largest_of(std::move(m)));
  }
  return largest;
}

}  // namespace vphi::physics
