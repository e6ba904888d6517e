// Densities of energy and pressure at a site, and their parts.
#include "compiler/physics/lower/lower.hpp"

#include <set>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fluids/curvature.hpp"
#include "compiler/physics/lower/calculus.hpp"

namespace vphi::physics {

using algebra::Op;

bool Lowerer::holds_momentum(Expr term) const {
  std::set<int> momenta;
  bool momentum = false;
  for (const StateField& field : d_.fields) {
    if (!field.hamiltonian) continue;
    if (momentum) momenta.insert(field.arrays.begin(), field.arrays.end());
    momentum = !momentum;
  }
  return algebra::contains(term,
                           [&](Expr e) { return e.is(Op::Load) && momenta.contains(e->index); });
}

/// The total of the terms of H that hold a momentum.
Expr Lowerer::kinetic_part() {
  Expr sum = integer(0);
  for (const Expr term : flat_terms(d_.hamiltonian_density))
    if (holds_momentum(term)) sum = sum + term;
  return d_.arena().make(Op::Total, {sum});
}

namespace {

/// Whether a term reads more than its own site.
bool reads_neighbours(Expr term) {
  return algebra::contains(term, [](Expr e) {
    if (e.is(Op::Stencil)) return true;
    return e.is(Op::Load) && (is_gradient(e->index) || !(e->offset == algebra::Offset{}));
  });
}

/// The Lagrangian without velocities.
Expr at_rest(const Theory& d) {
  Expr l = d.lagrangian;
  for (const StateField& field : d.fields)
    for (const int velocity : field.velocities)
      l = algebra::substitute(l, d.arena().load(velocity), d.arena().integer(0));
  return l;
}

}  // namespace

/// u_i' dl/du_i' - l of the terms that hold velocities; -6 H f' of a term f*R.
Expr Lowerer::lagrangian_kinetic() {
  Expr sum = at_rest(d_) - d_.lagrangian;
  if (d_.curvature) sum = sum - integer(6) * d_.hubble() * time_derivative(d_.curvature, {});
  for (const StateField& field : d_.fields) {
    for (const int velocity : field.velocities) {
      const Expr v = d_.arena().load(velocity);
      sum = sum + v * algebra::local_derivative(d_.lagrangian, v);
    }
  }
  return sum;
}

Expr Lowerer::lagrangian_gradient() {
  Expr sum = integer(0);
  for (const Expr term : flat_terms(at_rest(d_)))
    if (reads_neighbours(term)) sum = sum - term;
  return sum;
}

Expr Lowerer::lagrangian_potential() {
  Expr sum = integer(0);
  if (d_.curvature) sum = integer(-6) * algebra::pow(d_.hubble(), 2) * d_.curvature;
  for (const Expr term : flat_terms(at_rest(d_)))
    if (!reads_neighbours(term)) sum = sum - term;
  return sum;
}

/// Pressure of a term f*R, 2 f (2 a''/a + H^2) + 4 H f' + 2 f''
/// (compiler/physics/fields/curvature_coupling.hpp).
Expr Lowerer::pressure_of_curvature() {
  const Expr f = d_.curvature, rate = time_derivative(f, {});
  const Expr geometry = d_.curvature_scalar / integer(3) - algebra::pow(d_.hubble(), 2);
  return integer(2) * f * geometry + integer(4) * d_.hubble() * rate +
         integer(2) * time_derivative(rate, {});
}

/// The total of the other terms of H that read more than their own site.
Expr Lowerer::gradient_part() {
  Expr sum = integer(0);
  for (const Expr term : flat_terms(d_.hamiltonian_density))
    if (!holds_momentum(term) && reads_neighbours(term)) sum = sum + term;
  return d_.arena().make(Op::Total, {sum});
}

Expr Lowerer::kinetic_density(const StateField& field) {
  Arena& arena = d_.arena();
  Expr sum = arena.integer(0);
  for (const int velocity : field.velocities) {
    sum = sum + algebra::pow(arena.load(velocity), 2);
  }
  return arena.rational(field.norm(), 2) * sum;
}

Expr Lowerer::gradient_density(const StateField& field) {
  Arena& arena = d_.arena();
  Expr sum = arena.integer(0);
  if (!d_.grid.present) return sum;
  d_.ledger.choice("laplacian");
  for (const int array : field.arrays) sum = sum + arena.load(gradient_of(array));
  const Expr metric = d_.expanding() ? algebra::pow(d_.scale(), -2) : arena.integer(1);
  return arena.rational(field.norm(), 2) * metric * sum;
}

// rho = sum(phidot^2/2 + (grad phi)^2/(2 a^2)) + V + rho_r/a^4 + rho_m/a^3  (docs/formulas.md 1.1)
Expr Lowerer::energy_density() {
  Arena& arena = d_.arena();
  Expr sum = d_.potential ? d_.potential : arena.integer(0);
  // a written H is the sum of comoving densities: rho = h/a^3  (docs/rules.md rule 16)
  if (d_.hamiltonian)
    sum = sum + distribute(algebra::pow(d_.scale_or_one(), -3), d_.hamiltonian_density);
  if (d_.lagrangian)
    sum = sum + lagrangian_kinetic() + lagrangian_gradient() + lagrangian_potential();
  for (const StateField& field : d_.fields) {
    if (d_.gravitates(field)) sum = sum + kinetic_density(field) + gradient_density(field);
  }
  if (const auto laws = energy_of_laws(d_)) sum = sum + laws->density;
  const Background& b = d_.background;
  if (b.radiation) sum = sum + b.radiation * algebra::pow(d_.scale(), -4);
  if (b.matter) sum = sum + b.matter * algebra::pow(d_.scale(), -3);
  return sum;
}

// docs/formulas.md 1.1:
// p = sum(phidot^2/2 - (grad phi)^2/(6 a^2)) - V - (a/3) dV/da + rho_r/(3 a^4).
// With the kinetic energy and the gradients it is -d(a^3 rho)/da / (3 a^2) at fixed canonical
// momenta, so that d(rho)/dt = -3 H (rho + p) whatever the potential holds of a.
Expr Lowerer::pressure() {
  Arena& arena = d_.arena();
  Expr sum = d_.potential ? -d_.potential : arena.integer(0);
  if (d_.potential && d_.expanding() && algebra::depends_on(d_.potential, d_.scale())) {
    const Expr slope = algebra::derivative(d_.potential, d_.scale());
    sum = sum - distribute(d_.scale() / arena.integer(3), slope);
  }
  // p = -d(h, a)/(3 a^2)  (docs/rules.md rule 16)
  if (d_.hamiltonian && d_.expanding()) {
    sum = sum - distribute(algebra::pow(d_.scale(), -2) / arena.integer(3),
                           algebra::derivative(d_.hamiltonian_density, d_.scale()));
  }
  // p = d(a^3 l, a)/(3 a^2) at fixed velocities  (docs/rules.md rule 16)
  if (d_.lagrangian) {
    sum = sum + d_.lagrangian;
    if (d_.curvature) sum = sum + pressure_of_curvature();
    if (d_.expanding())
      sum = sum + distribute(d_.scale() / arena.integer(3),
                             algebra::derivative(d_.lagrangian, d_.scale()));
  }
  for (const StateField& field : d_.fields) {
    if (!d_.gravitates(field)) continue;
    sum = sum + kinetic_density(field) - gradient_density(field) / arena.integer(3);
  }
  if (const auto laws = energy_of_laws(d_)) sum = sum + laws->pressure;
  if (d_.background.radiation) {
    sum = sum + d_.background.radiation / arena.integer(3) * algebra::pow(d_.scale(), -4);
  }
  return sum;
}

}  // namespace vphi::physics
