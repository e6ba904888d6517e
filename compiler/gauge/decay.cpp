#include "compiler/gauge/decay.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "compiler/algebra/transform.hpp"

namespace vphi::gauge {

namespace {

constexpr int kDirections = 4;
constexpr int kMomenta = 8;  ///< of each axis
using Number = std::complex<double>;
using Form = std::array<std::array<Number, kDirections>, kDirections>;

/// The largest eigenvalue of a Hermitian form that may have both signs: that of form + shift*1,
/// shift a bound of the form, less shift.
double largest_eigenvalue(const Form& form) {
  double shift = 0;
  for (const auto& row : form) {
    double sum = 0;
    for (const Number& entry : row) sum += std::abs(entry);
    shift = std::max(shift, sum);
  }
  if (shift == 0) return 0;
  std::array<Number, kDirections> v{Number(1, 0.1), Number(-0.7, 0.4), Number(0.3, 0.9),
                                    Number(-0.5, -0.8)};
  double value = 0;
  for (int iteration = 0; iteration < 200; ++iteration) {
    std::array<Number, kDirections> next{};
    double norm = 0;
    for (std::size_t i = 0; i < kDirections; ++i) {
      next[i] = shift * v[i];
      for (std::size_t j = 0; j < kDirections; ++j) next[i] += form[i][j] * v[j];
      norm += std::norm(next[i]);
    }
    norm = std::sqrt(norm);
    const double before = value;
    value = norm - shift;
    for (Number& entry : next) entry /= norm;
    v = next;
    if (iteration > 0 && std::abs(value - before) < 1e-10 * shift) break;
  }
  return value;
}

}  // namespace

std::optional<double> fastest_decay(const Group& group, const LoopAction& action, int dims) {
  // each loop as its links: direction, place, sign
  struct Letter {
    std::size_t axis;
    Offset at;
    double sign;
  };
  std::vector<std::pair<double, std::vector<Letter>>> loops;
  for (const LoopTerm& term : action) {
    const auto c = algebra::constant(term.coefficient);
    if (!c) return std::nullopt;
    if (term.imaginary) continue;  // odd in w
    std::vector<Letter> letters;
    for (const LinkAt& l : links(term.loop))
      letters.push_back({static_cast<std::size_t>(l.axis), l.at, l.adjoint ? -1.0 : 1.0});
    const double half = group.kind == Kind::U1 ? 1 : 0.5;
    loops.emplace_back(-half * static_cast<double>(c->real), std::move(letters));
  }
  int momenta = 1;
  for (int k = 0; k < dims; ++k) momenta *= kMomenta;
  double fastest = 0;
  for (int number = 0; number < momenta; ++number) {
    std::array<double, kDirections> p{};
    for (int k = 0, rest = number; k < dims; ++k, rest /= kMomenta)
      p[static_cast<std::size_t>(k)] = 2 * std::numbers::pi / kMomenta * (rest % kMomenta);
    Form form{};
    for (const auto& [weight, letters] : loops) {
      std::array<Number, kDirections> wave{};
      for (const Letter& l : letters) {
        double phase = 0;
        for (std::size_t k = 0; k < kDirections; ++k) phase += p[k] * l.at.d[k];
        wave[l.axis] += std::polar(l.sign, phase);
      }
      for (std::size_t i = 0; i < kDirections; ++i)
        for (std::size_t j = 0; j < kDirections; ++j)
          form[i][j] += weight * std::conj(wave[i]) * wave[j];
    }
    fastest = std::max(fastest, largest_eigenvalue(form));
  }
  return fastest;
}

}  // namespace vphi::gauge
