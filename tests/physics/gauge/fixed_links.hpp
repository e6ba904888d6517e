// The configuration of fixed_quarks.hpp as a box of plain_links.hpp, which can be written to a
// file.
#pragma once

#include <vector>

#include "tests/physics/gauge/fixed_quarks.hpp"
#include "tests/physics/gauge/plain_links.hpp"

namespace vphi::testing {

/// U_mu(s) = exp(i scale sum_a r(1 + a + G(mu + d s)) T_a).
inline flow::Box fixed_box(int n, const std::vector<std::int64_t>& extent, double scale) {
  flow::Box box = flow::random_box(n, extent, 0, 1);
  const int dims = static_cast<int>(extent.size()), generators = n == 1 ? 1 : n * n - 1;
  for (int s = 0; s < box.sites(); ++s) {
    for (int mu = 0; mu < dims; ++mu) {
      std::vector<double> w;
      for (int a = 0; a < generators; ++a)
        w.push_back(scale *
                    hashed(static_cast<std::uint32_t>(1 + a + generators * (mu + dims * s))));
      const Dense t = in_algebra(n, w);
      flow::Matrix a(n);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) a.at(i, j) = flow::Number(0, 1) * t(i, j);
      box.links[static_cast<std::size_t>(dims * s + mu)] = flow::exponential(a);
    }
  }
  return box;
}

}  // namespace vphi::testing
