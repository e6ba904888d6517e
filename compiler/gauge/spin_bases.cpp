#include "compiler/gauge/spin_bases.hpp"

namespace vphi::gauge {

Gammas dirac_gammas() {
  constexpr Gaussian i{0, 1}, j{0, -1}, p{1, 0}, m{-1, 0}, o{};
  return {{{{o, o, o, j, o, o, j, o, o, i, o, o, i, o, o, o}},
           {{o, o, o, m, o, o, p, o, o, p, o, o, m, o, o, o}},
           {{o, o, j, o, o, o, o, i, i, o, o, o, o, j, o, o}},
           {{p, o, o, o, o, p, o, o, o, o, m, o, o, o, o, m}}}};
}

Gammas two_component_gammas() {
  constexpr Gaussian i{0, 1}, j{0, -1}, p{1, 0}, m{-1, 0}, o{};
  return {{{{o, p, o, o, p, o, o, o, o, o, o, p, o, o, p, o}},
           {{o, j, o, o, i, o, o, o, o, o, o, j, o, o, i, o}},
           {{p, o, o, o, o, m, o, o, o, o, p, o, o, o, o, m}},
           {}}};
}

SpinMatrix gamma5_of(const Gammas& gammas) {
  if (gammas == two_component_gammas()) return gammas[2];
  if (gammas != dirac_gammas()) return gamma5();
  SpinMatrix exchange;
  for (int k = 0; k < 4; ++k) exchange.at(k, (k + 2) % 4) = {1, 0};
  return exchange;
}

}  // namespace vphi::gauge
