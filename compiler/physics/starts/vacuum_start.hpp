// Vacuum fluctuations as initial values (docs/formulas.md 1.5).
//
// In d dimensions, physical units (hbar = 1): f(x) = sum_k F_k e^{ikx} with
//   <|F_k|^2> = (dk/2 pi)^d/(2 omega_k),  of f': (dk/2 pi)^d omega_k/2,  omega^2 = k^2 + m_eff^2,
//   m_eff^2 = V'' - (9/4) H0^2.
// The random array has this spectrum in program units; with k = B*k_program the physical value is
// B^((d-1)/2) times it (velocity: B^((d+1)/2)), and 1/sqrt(norm) for a component of kinetic energy
// norm/2*u'^2. For a canonical pair with u' = c*p the coordinate is sqrt(c) times that, and p =
// u'/c.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// Adds a random array to the start. The value is `factor` times the array; the result is its Load.
Expr add_random(const Program& d, ProgramUnits& units, RandomField random, Expr factor,
                dsl::Span span);

class VacuumDraws {
 public:
  VacuumDraws(const Program& d, Lowerer& lower, ProgramUnits& units)
      : d_(d), lower_(lower), units_(units) {}

  /// The value of `vacuum` (the call `e`, with its options) for one real array of the field or of a
  /// canonical momentum; with `velocity` the value for the rate of the array.
  Expr draw(const dsl::Expr& e, const StateField& field, int component, bool velocity);

  /// d/dt of a value with vacuum fluctuations, or its canonical momentum: each fluctuation has the
  /// rate that belongs to it in the vacuum. Null where the value contains none.
  Expr rate_of(Expr value);

 private:
  struct Drawn {
    Expr load;
    const dsl::Expr* call;
    const StateField* field;
    int component;
    Expr rate;  ///< null until it is requested
  };

  Expr rate_by_momentum(const dsl::Expr& e, const StateField& field, int array);
  bool canonical(const StateField& field, int component) const;
  Expr hamiltonian_mass2(const StateField& field, int array) const;
  const std::map<int, Expr>& start(const dsl::Expr& e, const StateField& field);
  Expr mass2(const dsl::Expr& e, const StateField& field, int array);
  void warn_tachyon(const dsl::Expr& e, const StateField& field, Expr mass);

  const Program& d_;
  Lowerer& lower_;
  ProgramUnits& units_;
  std::optional<std::map<int, Expr>> start_;
  std::vector<Drawn> drawn_;
  std::map<const StateField*, bool> warned_;
};

}  // namespace vphi::physics
