#include "compiler/gauge/clifford.hpp"

namespace vphi::gauge {

Gaussian operator+(Gaussian a, Gaussian b) { return {a.re + b.re, a.im + b.im}; }
Gaussian operator*(Gaussian a, Gaussian b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
Gaussian operator-(Gaussian a) { return {-a.re, -a.im}; }

std::optional<Gaussian> quotient(Gaussian a, Gaussian b) {
  const int size = b.re * b.re + b.im * b.im;
  if (size == 0) return std::nullopt;
  const Gaussian up = a * Gaussian{b.re, -b.im};
  if (up.re % size != 0 || up.im % size != 0) return std::nullopt;
  return Gaussian{up.re / size, up.im / size};
}

SpinMatrix operator+(const SpinMatrix& a, const SpinMatrix& b) {
  SpinMatrix c;
  for (std::size_t i = 0; i < 16; ++i) c.parts[i] = a.parts[i] + b.parts[i];
  return c;
}
SpinMatrix operator*(const SpinMatrix& a, const SpinMatrix& b) {
  SpinMatrix c;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 4; ++k) c.at(i, j) = c.at(i, j) + a.at(i, k) * b.at(k, j);
  return c;
}
SpinMatrix operator*(Gaussian a, const SpinMatrix& b) {
  SpinMatrix c;
  for (std::size_t i = 0; i < 16; ++i) c.parts[i] = a * b.parts[i];
  return c;
}
SpinMatrix adjoint(const SpinMatrix& a) {
  SpinMatrix c;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c.at(i, j) = {a.at(j, i).re, -a.at(j, i).im};
  return c;
}
SpinMatrix spin_identity() {
  SpinMatrix c;
  for (int i = 0; i < 4; ++i) c.at(i, i) = {1, 0};
  return c;
}

Gammas gammas(GammaBasis basis) {
  constexpr Gaussian i{0, 1}, j{0, -1}, p{1, 0}, m{-1, 0}, o{};
  const Gammas degrand_rossi{{{{o, o, o, i, o, o, i, o, o, j, o, o, j, o, o, o}},
                              {{o, o, o, m, o, o, p, o, o, p, o, o, m, o, o, o}},
                              {{o, o, i, o, o, o, o, j, j, o, o, o, o, i, o, o}},
                              {{o, o, p, o, o, o, o, p, p, o, o, o, o, p, o, o}}}};
  if (basis == GammaBasis::DeGrandRossi) return degrand_rossi;
  Gammas chiral = degrand_rossi;
  for (const std::size_t mu : {0, 2, 3}) chiral[mu] = m * degrand_rossi[mu];
  return chiral;
}

SpinMatrix gamma5() {
  SpinMatrix c;
  for (int k = 0; k < 4; ++k) c.at(k, k) = {k < 2 ? 1 : -1, 0};
  return c;
}

std::optional<std::array<int, 2>> clifford_violation(const Gammas& g) {
  for (int mu = 0; mu < 4; ++mu) {
    const SpinMatrix& a = g[static_cast<std::size_t>(mu)];
    if (a != adjoint(a)) return std::array{mu, mu};
    for (int nu = mu; nu < 4; ++nu) {
      const SpinMatrix& b = g[static_cast<std::size_t>(nu)];
      const Gaussian two{mu == nu ? 2 : 0, 0};
      if (a * b + b * a != two * spin_identity()) return std::array{mu, nu};
    }
  }
  return std::nullopt;
}

/// Elimination row by row: multiples of earlier rows are subtracted, and a remainder that is not 0
/// becomes a new row.
std::optional<Factorised> factorised(const SpinMatrix& m) {
  Factorised result;
  std::vector<int> leading;
  for (int i = 0; i < 4; ++i) {
    std::array<Gaussian, 4> row{m.at(i, 0), m.at(i, 1), m.at(i, 2), m.at(i, 3)};
    std::vector<Gaussian> weights;
    for (std::size_t r = 0; r < leading.size(); ++r) {
      const auto& known = result.project[r];
      const auto lead = static_cast<std::size_t>(leading[r]);
      const auto weight = quotient(row[lead], known[lead]);
      if (!weight) return std::nullopt;
      weights.push_back(*weight);
      for (std::size_t j = 0; j < 4; ++j) row[j] = row[j] + -*weight * known[j];
    }
    for (std::size_t j = 0; j < 4; ++j) {
      if (row[j].zero()) continue;
      leading.push_back(static_cast<int>(j));
      result.project.push_back(row);
      weights.push_back({1, 0});
      break;
    }
    result.rebuild[static_cast<std::size_t>(i)] = std::move(weights);
  }
  result.rank = static_cast<int>(leading.size());
  for (auto& weights : result.rebuild) weights.resize(leading.size());
  return result;
}

Complex times(Gaussian a, Complex z) {
  const auto scaled = [](int factor, Expr x) { return times(number(x, factor), x); };
  return {minus(scaled(a.re, z.re), scaled(a.im, z.im)),
          plus(scaled(a.re, z.im), scaled(a.im, z.re))};
}

}  // namespace vphi::gauge
