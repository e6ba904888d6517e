// Each stage up to the program, as the list of its steps.
#include "compiler/kernel/passes.hpp"
#include "compiler/physics/chains/hmc.hpp"
#include "compiler/physics/chains/link_flow.hpp"
#include "compiler/physics/chains/sampling.hpp"
#include "compiler/physics/fields/canonical_form.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/fields/curvature_coupling.hpp"
#include "compiler/physics/fields/link_motion.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/lower/angles.hpp"
#include "compiler/physics/lower/displacement.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/noise/noise.hpp"
#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

Setting read_setting(const Context& context) {
  Setting d(context);
  static_cast<Sweeps&>(d) = read_sweep_axes(context);
  d.start_time = read_start_time(d);
  d.grid = read_lattice(d);
  d.particles = read_particles(d);
  if (d.particles.present) {
    d.grid.span = d.particles.span;
    d.grid.dims = 1;
    d.grid.extent[0] = d.particles.count;
  }
  return d;
}

Space read_space(const Declared& declared) {
  Space d(declared);
  d.laplacian = choose_laplacian(declared);
  d.background = read_metric(d, read_units(d));
  d.coordinates = read_coordinates(d);
  return d;
}

Theory read_theory(const Space& space) {
  Theory d(space);
  d.motor = samples(d) ? Motor::Chain : flows(d) ? Motor::Flow : Motor::Evolution;
  // a model that both samples and lets links flow is refused
  if (samples(d)) d.fields = sampled_fields(d);
  if (flows(d)) d.fields = flowing_fields(d);
  if (d.motor != Motor::Evolution) {
    for (const StateField& field : d.fields)
      for (const int array : field.arrays) d.rates[array] = d.arena().integer(0);
  }
  if (!flows(d)) {
    d.hamiltonian = written_hamiltonian(d) || moves_links_by_lagrangian(d);
    d.fields = decide_orders(d);
  }
  static_cast<Potentials&>(d) = read_potentials(d);
  static_cast<Lagrangian&>(d) = read_lagrangian(d);
  static_cast<Hamiltonian&>(d) = read_hamiltonian(d);
  return d;
}

Equations derive_equations(const Theory& theory) {
  Equations d(theory);
  if (d.motor == Motor::Evolution) {
    Rates rates = equations_of_motion(d);
    d.rates = std::move(rates.rates);
    d.rate_spans = std::move(rates.rate_spans);
    d.weights = std::move(rates.weights);
    check_angles(d);
  }
  refuse_in_coordinates(d);
  static_cast<Laws&>(d) = read_conservation(d);
  close_curvature(d);  // with the pressure of the laws
  // laws hold velocities as they are, not momenta a^c*u'
  if (d.conservation)
    for (auto& [array, weight] : d.weights) weight = d.arena().integer(0);
  for (const auto& [array, rate] : d.conserved_rates) d.rates[array] = rate;
  for (const Law& law : d.laws)
    for (const int array : law.arrays) d.rate_spans[array] = law.span;
  d.noise = read_noise(d);
  return d;
}

Motion read_motion(const Equations& equations) {
  Motion d(equations);
  d.rescaling = read_rescale(equations);
  if (d.motor == Motor::Chain) {  // a sweep takes one unit of time
    d.dt = d.arena().integer(1);
    d.dt_program = d.dt_physical = 1;
  } else {
    static_cast<Evolve&>(d) = read_evolve(d);
    if (d.conservation && d.dt) d.dt = with_named_background(as_laws_see_it(d), d.dt);
  }
  static_cast<Arithmetic&>(d) = read_numerics(d);
  if (d.motor == Motor::Flow) d.dynamics = read_link_flow(d);
  if (d.motor == Motor::Chain) d.dynamics = is_hmc(d) ? Dynamics(read_hmc(d)) : read_sampling(d);
  return d;
}

Program to_program_units(const Motion& motion, ProgramUnits& units) {
  units.slope_rate = background_rate(motion, units);
  Program d(motion);
  if (d.adaptive()) {
    for (ScalarVariable& scalar : d.collected.scalars) scalar.rate = d.dt * scalar.rate;
  }
  d.variables = program_equations(d, units);
  if (d.adaptive()) {
    const Expr dt = kernel::with_fixed_order(d.dt);
    for (Variable& v : d.variables) v.rate = d.arena().raw(algebra::Op::Mul, {dt, v.rate});
  }
  if (auto* evolution = std::get_if<Evolution>(&d.dynamics))
    evolution->links = link_motions(d, units);
  for (Variable& v : companions_of_equations(d, d.variables)) d.variables.push_back(std::move(v));
  if (d.motor == Motor::Evolution && d.laws.empty()) {
    Lowerer lower(d);
    d.limits = read_limits(d, lower, &units);
  }
  d.noise = classify_noise(d);
  return d;
}

}  // namespace vphi::physics
