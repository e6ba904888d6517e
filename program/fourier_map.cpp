#include "program/fourier_map.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace vphi::program {
namespace {

using Complex = std::complex<long double>;
using Function = FourierMap::Function;

/// sum_n z^n/(n + shift)!, to full accuracy for |z| <= 1.
Complex series(Complex z, int shift) {
  long double factor = 1;
  for (int i = 2; i <= shift; ++i) factor /= i;
  Complex sum = 0, power = factor;
  for (int n = 1; n < 28; ++n) {
    sum += power;
    power *= z / static_cast<long double>(n + shift);
  }
  return sum;
}

/// Most operators have real symbols, whose sines and cosines need not be computed.
Complex exponential(Complex z) { return z.imag() == 0 ? Complex(std::exp(z.real())) : std::exp(z); }

Complex scalar_function(Function function, Complex z) {
  switch (function) {
    case Function::Itself:
      break;
    case Function::Exp:
      return exponential(z);
    case Function::Phi1:
      return std::abs(z) < 1 ? series(z, 1) : (exponential(z) - 1.0L) / z;
    case Function::Phi2:
      return std::abs(z) < 1 ? series(z, 2) : (exponential(z) - 1.0L - z) / (z * z);
  }
  return z;
}

/// exp of [[a, b], [c, d]]: e^m (cosh q + (M - m) sinh(q)/q), m = (a + d)/2, q^2 = ((a - d)/2)^2 +
/// bc.
ModeMatrix exp_of_two(const ModeMatrix& m) {
  const Complex mean = (m[0] + m[3]) / 2.0L, half = (m[0] - m[3]) / 2.0L;
  const Complex square = half * half + m[1] * m[2], q = std::sqrt(square);
  const Complex plus = std::exp(mean + q), minus = std::exp(mean - q);
  const Complex even = (plus + minus) / 2.0L;
  const Complex odd =
      std::abs(q) < 1e-3L
          ? std::exp(mean) *
                (1.0L + square / 6.0L * (1.0L + square / 20.0L * (1.0L + square / 42.0L)))
          : (plus - minus) / (2.0L * q);
  return {even + odd * half, odd * m[1], odd * m[2], even - odd * half};
}

ModeMatrix product(const ModeMatrix& a, const ModeMatrix& b, std::size_t n) {
  ModeMatrix c(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  return c;
}

/// The series of M/2^s, doubled s times: exp(2z) = exp(z)^2, phi1(2z) = (exp(z) + 1) phi1(z)/2,
/// phi2(2z) = (phi1(z)^2 + 2 phi2(z))/4.
ModeMatrix doubled(Function function, ModeMatrix m, std::size_t n) {
  long double norm = 0;
  for (std::size_t i = 0; i < n; ++i) {
    long double row = 0;
    for (std::size_t j = 0; j < n; ++j) row += std::abs(m[i * n + j]);
    norm = std::max(norm, row);
  }
  int times = 0;
  for (; norm > 0.5L && times < 200; norm /= 2) ++times;
  for (Complex& entry : m)
    entry = {std::ldexp(entry.real(), -times), std::ldexp(entry.imag(), -times)};
  ModeMatrix unit(n * n);
  for (std::size_t i = 0; i < n; ++i) unit[i * n + i] = 1;
  std::array<ModeMatrix, 3> phi{ModeMatrix(n * n), ModeMatrix(n * n), ModeMatrix(n * n)};
  ModeMatrix power = unit;  // M^k/k!
  for (int k = 0; k < 24; ++k) {
    for (std::size_t e = 0; e < n * n; ++e) {
      phi[0][e] += power[e];
      phi[1][e] += power[e] / static_cast<long double>(k + 1);
      phi[2][e] += power[e] / static_cast<long double>((k + 1) * (k + 2));
    }
    power = product(power, m, n);
    for (Complex& entry : power) entry /= static_cast<long double>(k + 1);
  }
  for (int i = 0; i < times; ++i) {
    const ModeMatrix square = product(phi[1], phi[1], n), first = product(phi[0], phi[1], n);
    for (std::size_t e = 0; e < n * n; ++e) {
      phi[2][e] = (square[e] + 2.0L * phi[2][e]) / 4.0L;
      phi[1][e] = (first[e] + phi[1][e]) / 2.0L;
    }
    phi[0] = product(phi[0], phi[0], n);
  }
  return phi[function == Function::Exp ? 0 : function == Function::Phi1 ? 1 : 2];
}

/// Groups of arrays that a matrix of any mode connects.
std::vector<std::vector<std::size_t>> groups_of(const FourierMap& map) {
  std::vector<std::size_t> of(map.from.size());
  for (std::size_t i = 0; i < of.size(); ++i) of[i] = i;
  for (const FourierMap::Term& term : map.matrix) {
    const std::size_t old = of[static_cast<std::size_t>(term.row)];
    std::ranges::replace(of, old, of[static_cast<std::size_t>(term.column)]);
  }
  std::vector<std::vector<std::size_t>> groups(of.size());
  for (std::size_t i = 0; i < of.size(); ++i) groups[of[i]].push_back(i);
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  return groups;
}

/// M of a mode, in memory that is used again.
void put_matrix(const FourierMap& map, const std::array<double, 4>& theta, double dx,
                ModeMatrix& matrix) {
  matrix.assign(map.to.size() * map.from.size(), 0);
  long double k2 = 0;
  for (const double angle : theta) {
    const long double k = static_cast<long double>(angle) / dx;
    k2 += k * k;
  }
  for (const FourierMap::Term& term : map.matrix) {
    long double angle = 0;
    for (std::size_t a = 0; a < 4; ++a)
      angle += static_cast<long double>(theta[a]) * term.offset[a];
    Complex value = term.weight;
    for (int i = 0; i < term.laplacians; ++i) value *= -k2;
    if (angle != 0) value *= std::polar(1.0L, angle);
    const auto row = static_cast<std::size_t>(term.row);
    matrix[row * map.from.size() + static_cast<std::size_t>(term.column)] += value;
  }
}

}  // namespace

ModeMatrix function_of(Function function, const ModeMatrix& matrix) {
  if (function == Function::Itself) return matrix;
  if (matrix.size() == 1) return {scalar_function(function, matrix[0])};
  if (matrix.size() == 4 && function == Function::Exp) return exp_of_two(matrix);
  const auto n = static_cast<std::size_t>(std::lround(std::sqrt(matrix.size())));
  return doubled(function, matrix, n);
}

ModeMatrices::ModeMatrices(const FourierMap& map, double dx)
    : map_(map), dx_(dx), groups_(groups_of(map)) {}

const ModeMatrix& ModeMatrices::of(const std::array<double, 4>& theta) {
  put_matrix(map_, theta, dx_, matrix_);
  for (Complex& entry : matrix_) entry *= static_cast<long double>(map_.scale);
  if (map_.function == Function::Itself) return matrix_;
  const std::size_t n = map_.from.size();
  result_.assign(n * n, 0);
  for (const auto& group : groups_) {
    if (group.size() == 1) {
      const std::size_t at = group[0] * n + group[0];
      result_[at] = scalar_function(map_.function, matrix_[at]);
      continue;
    }
    part_.clear();
    for (const std::size_t r : group)
      for (const std::size_t c : group) part_.push_back(matrix_[r * n + c]);
    const ModeMatrix value = function_of(map_.function, part_);
    for (std::size_t i = 0; i < value.size(); ++i)
      result_[group[i / group.size()] * n + group[i % group.size()]] = value[i];
  }
  return result_;
}

ModeMatrix mode_of(const FourierMap& map, const std::array<double, 4>& theta, double dx) {
  return ModeMatrices(map, dx).of(theta);
}

std::int64_t planes_together(const std::array<std::int64_t, 4>& extent) {
  constexpr std::int64_t kRows = 16;  // of a plane that is one row
  return extent[2] > 1 ? 1 : std::gcd(kRows, extent[1]);
}

double phase_of(std::int64_t n, std::int64_t extent) {
  const std::int64_t wave = 2 * n > extent ? n - extent : n;
  return 2 * std::numbers::pi * static_cast<double>(wave) / static_cast<double>(extent);
}

}  // namespace vphi::program
