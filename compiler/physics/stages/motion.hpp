// The motion: program units, the step and its integrator or scheme, the arithmetic, and the kind of
// dynamics.
#pragma once

#include <cstdint>

#include "compiler/physics/stages/equations.hpp"

namespace vphi::physics {

/// psi = A*phi, x_program = B*x, d(eta) = B*a^s dt; psi and its canonical momentum are stored. In
/// the rescaled form psi = A*a^r*phi, and psi and d(psi)/d(eta) are stored (docs/formulas.md 1.2).
struct Rescaling {
  Expr A, B, s, r;
  bool automatic = false;
  bool rescaled = false;
};

/// The clause `evolve`.
struct Evolve {
  /// Physical step at a = 1; null without an evolution. Of conservation laws it may be a function
  /// of the state: then steps of 1 are made in a time tau with dt/dtau = dt.
  Expr dt;
  double dt_program = 0;  ///< the same in program units
  double dt_physical = 0;
  Launches launches = Launches::ByCounts;
  Together together;
  dsl::Span evolve_span, dt_span;
  Dynamics dynamics;

  bool adaptive() const { return dt && !dt.is_number(); }
  const Tolerance* tolerance() const { return tolerance_of(dynamics); }
};

/// The clauses `precision` and `random`.
struct Arithmetic {
  Numerics numerics;
  Generator generator = Generator::Philox10;
  std::uint64_t seed = 1;
};

struct Motion : Equations, Evolve, Arithmetic {
  explicit Motion(const Equations& equations) : Equations(equations) {}
  Rescaling rescaling;
  bool rescaled() const { return rescaling.rescaled; }
};

Motion read_motion(const Equations& equations);

// ---- its steps
Rescaling read_rescale(const Equations& d);
Evolve read_evolve(const Motion& d);
Arithmetic read_numerics(const Motion& d);

}  // namespace vphi::physics
