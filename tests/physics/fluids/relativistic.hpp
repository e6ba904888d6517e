// The laws of relativistic matter and their recovery, the same in many models of these tests.
#pragma once

#include <fmt/format.h>

#include <string>

namespace vphi {

/// From `primitive` to `recover`: an energy density, a density and a velocity of `dims` components.
/// `state` has the lines of the equation of state and of definitions that use it; `solve` is the
/// clause for u.
inline std::string relativistic_matter(int dims, const std::string& state,
                                       const std::string& solve) {
  return fmt::format(R"(primitive eps, rho: real, v: vec({})
{}
W = 1/sqrt(1 - norm2(v))
conserve N = rho*W:              div(N*v)
conserve M = (eps + p)*W^2*v:    div(M*v) + grad(p)
conserve E = (eps + p)*W^2 - p:  div((E + p)*v)
recover {{
  u   = norm(M)/(E + p)
  eps = E - norm(M)*u
  rho = N*sqrt(1 - u^2)
  v   = M/(E + p)
  solve u by {}
}}
)",
                     dims, state, solve);
}

}  // namespace vphi
