#include <fmt/format.h>

#include "runtime/io/surfaces/element.hpp"

namespace vphi::io {

std::string music_row(const SurfaceElement& e) {
  std::string row;
  const auto add = [&](double value) {
    row += fmt::format("{}{:.10e}", row.empty() ? "" : " ", value);
  };
  for (const auto* vector : {&e.place, &e.normal, &e.u})
    for (const double value : *vector) add(value);
  for (const double value : {e.eps, e.T, e.mu, 0.0, 0.0, (e.eps + e.p) / e.T}) add(value);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = i; k < 4; ++k) add(e.pi[i][k]);
  if (e.bulk) add(e.Pi);
  return row + "\n";
}

}  // namespace vphi::io
