#include <fmt/format.h>

#include <cmath>

#include "runtime/io/surfaces/element.hpp"

namespace vphi::io {
namespace {

using Vector = SurfaceElement::Vector;

/// Contravariant components of the frame along tau and eta, in the laboratory's t and z.
Vector in_laboratory(const Vector& a, double ch, double sh) {
  return {ch * a[0] + sh * a[3], a[1], a[2], sh * a[0] + ch * a[3]};
}

}  // namespace

std::string vhlle_row(const SurfaceElement& e) {
  std::string row;
  const auto add = [&](double value) {
    row += fmt::format("{}{:.10e}", row.empty() ? "" : " ", value);
  };
  const double ch = std::cosh(e.place[3]), sh = std::sinh(e.place[3]), tau = e.tau();
  for (const double value : e.place) add(value);
  const Vector n = e.normal;
  for (const double value :
       {tau * ch * n[0] - sh * n[3], tau * n[1], tau * n[2], -tau * sh * n[0] + ch * n[3]})
    add(value);
  for (const double value : in_laboratory(e.u, ch, sh)) add(value);
  for (const double value : {e.T * kHbarC, e.mu * kHbarC, 0.0, 0.0}) add(value);
  // both indices in turn
  std::array<Vector, 4> half, pi;
  for (std::size_t i = 0; i < 4; ++i) half[i] = in_laboratory(e.pi[i], ch, sh);
  for (std::size_t k = 0; k < 4; ++k) {
    const Vector turned = in_laboratory({half[0][k], half[1][k], half[2][k], half[3][k]}, ch, sh);
    for (std::size_t i = 0; i < 4; ++i) pi[i][k] = turned[i];
  }
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t i = 0; i <= k; ++i) add(pi[i][k] * kHbarC);
  add(e.Pi * kHbarC);
  return row + "\n";
}

}  // namespace vphi::io
