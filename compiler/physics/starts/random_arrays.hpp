// Random arrays that initial values need, and numbers that kernels draw at the start.
#pragma once

#include <functional>

#include "compiler/physics/lower/reading.hpp"
#include "compiler/physics/stages/program.hpp"
#include "compiler/physics/starts/vacuum_start.hpp"

namespace vphi::physics {

/// One initial value as written.
struct InitItem {
  const dsl::Item* item = nullptr;
  const StateField* field = nullptr;
  bool velocity = false;
  bool by_component = false;  ///< psi[s, c] = ...
  Scope scope;                ///< the index of `init x[k] = ...`
  bool of_momentum = false;   ///< phi' = ... where a Lagrangian makes `field`, the momentum of phi
};

/// Makes the random arrays that an initial value needs.
class RandomArrays {
 public:
  RandomArrays(const Program& d, Lowerer& lower, ProgramUnits& units)
      : d_(d), lower_(lower), units_(units), vacuum_(d, lower, units) {}
  VacuumDraws& vacuum() { return vacuum_; }
  /// Links of the whole group, each as likely as any other, or 1. Drawn in the kernel itself.
  Value links(bool hot, const StateField& field);
  Reading reading(const InitItem& init);
  Value draw(const dsl::Expr& e, const InitItem& init, const Reading& reading);

 private:
  /// Waves of their own for each real component; the parts of a complex one share its power.
  Value waves(const dsl::Expr& e, const StateField& field, const Reading& reading);
  /// One of the values, an angle, or a direction of the sphere, each as likely as any other. Drawn
  /// in the kernel itself.
  Value any_value(const StateField& field, dsl::Span span);
  /// Real and imaginary part of their own, drawn in the kernel itself.
  Component complex_normal(const dsl::Expr& e, const Reading& reading);
  /// Of each component.
  Value spinor(const dsl::Expr& e, const StateField& field, const Reading& reading);
  /// One random number at each site.
  Expr number(const dsl::Expr& e, const Reading& reading);
  /// Uniform in a ball: a Gaussian direction, and the radius r*u^(1/n).
  Value ball(const dsl::Expr& e, const StateField& field, const Reading& reading);
  /// Components of one draw, which the host makes as often as there are components.
  Value points(const dsl::Expr& e, const StateField& field, const Reading& reading);
  /// A number known before the run; it may differ between the instances of the sweep.
  Expr parameter(const dsl::Expr& at, const char* what, const Reading& reading);
  /// Whether a parameter of a distribution has a negative value in some instance.
  bool is_below_zero(Expr v) const;
  Expr not_below_zero(Expr v, const dsl::Expr& at, const char* what) const;
  Expr add(const RandomField& random, Expr factor, dsl::Span span);

  const Program& d_;
  Lowerer& lower_;
  ProgramUnits& units_;
  VacuumDraws vacuum_;
  int link_draws_ = 0;
};

}  // namespace vphi::physics
