#include "compiler/physics/starts/vacuum_start.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/box_errors.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/clauses/twists.hpp"
#include "compiler/physics/fields/background_errors.hpp"
#include "compiler/physics/fields/prescribed.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/start.hpp"
#include "compiler/physics/starts/init_errors.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

int velocity_of(const StateField& field, int array) {
  for (std::size_t i = 0; i < field.velocities.size(); ++i) {
    if (field.arrays[i] == array) return field.velocities[i];
  }
  return -1;
}

/// An expression with a symbol for each average. Averages are held constant in a field's own
/// frequency: they enter as coefficients only.
struct Local {
  Expr e;
  std::unordered_map<const algebra::Node*, Expr> averages;  ///< stand-in -> average
  Expr with_averages(Expr of) const { return algebra::substitute(of, averages); }
};

Local local_part(Expr e) {
  Local local;
  local.e = algebra::rewrite(e, [&](Expr node) {
    if (!algebra::reduces_sites(node.op())) return node;
    const Expr name = node->arena->symbol(fmt::format("average {}", local.averages.size()));
    local.averages.emplace(name.get(), node);
    return name;
  });
  return local;
}

/// H^2 of the constraint, also where the density holds H.
Expr start_hubble2(const Program& d, Expr density) {
  if (!d.curvature) return hubble2(d, density);
  const auto rate = solve_constraint(d, density, [](Expr e) { return e; });
  return rate ? algebra::pow(*rate, 2) : hubble2(d, density);
}

}  // namespace

Expr add_random(const Program& d, ProgramUnits& units, RandomField random, Expr factor,
                dsl::Span span) {
  random.array = d.new_array();
  random.stream = static_cast<int>(d.collected.random.size());
  d.collected.random.push_back(random);
  units.random_factors[random.array] = factor;
  return d.arena().load(random.array, {}, span);
}

/// c in q' = c*p, at the start.
Expr VacuumDraws::rate_by_momentum(const dsl::Expr& e, const StateField& field, int array) {
  const int momentum = d_.conjugate(field)->arrays[field.place(array)];
  const Expr c = algebra::derivative(d_.rates.at(array), d_.arena().load(momentum));
  bool known = false;
  const Expr number = at_homogeneous(d_, c, start(e, field), known);
  if (!known) d_.fail(errors::vacuum_not_homogeneous(e.span, field.name));
  return number;
}

/// -dq''/dq of a canonical pair where all sites move together: neighbours add up to nothing.
Expr VacuumDraws::hamiltonian_mass2(const StateField& field, int array) const {
  const int momentum = d_.conjugate(field)->arrays[field.place(array)];
  const Expr drift = algebra::derivative(d_.rates.at(array), d_.arena().load(momentum));
  const Local kick = local_part(d_.rates.at(momentum));
  Expr sum = d_.arena().integer(0);
  for (const Expr read : algebra::reads(kick.e)) {
    if (read.is(Op::Load) && read->index == array) sum = sum - algebra::derivative(kick.e, read);
  }
  return drift * kick.with_averages(sum);
}

const std::map<int, Expr>& VacuumDraws::start(const dsl::Expr& e, const StateField& field) {
  if (!start_) start_ = homogeneous_values(d_, Lowerer(d_));
  for (const auto& [array, value] : *start_) {
    if (!value) d_.fail(errors::vacuum_not_homogeneous(e.span, field.name));
  }
  return *start_;
}

/// V'' by this component and H0^2, physical.
Expr VacuumDraws::mass2(const dsl::Expr& e, const StateField& field, int array) {
  Arena& arena = d_.arena();
  const auto values = start(e, field);
  bool known = false;
  Expr mass2 = arena.integer(0);
  if (const auto rate = d_.rates.find(velocity_of(field, array)); rate != d_.rates.end()) {
    // -d(u'')/du at the start of all fields: V''/norm, however the equation was given
    const Local local = local_part(rate->second);
    Expr slope = local.with_averages(algebra::derivative(local.e, arena.load(array)));
    if (d_.background.metric == Metric::SelfConsistent) {
      const Expr rate2 = start_hubble2(d_, lower_.energy_density());
      slope = algebra::substitute(slope, d_.hubble(), algebra::pow(rate2, arena.rational(1, 2)));
    }
    mass2 = -at_homogeneous(d_, slope, values, known);
  } else if (field.hamiltonian) {
    mass2 = at_homogeneous(d_, hamiltonian_mass2(field, array), values, known);
  }
  if (d_.background.metric == Metric::SelfConsistent) {
    Expr density = at_homogeneous(d_, lower_.energy_density(), values, known);
    if (d_.curvature)
      density = arena.integer(3) * d_.background.planck2 * start_hubble2(d_, density);
    const auto range = range_of(d_, density);
    if (!range || !(range->low > 0)) {
      d_.fail(errors::no_expansion(d_.background.span, range ? range->low : 0));
    }
    mass2 = mass2 - arena.rational(9, 4) * hubble2(d_, density);
  } else if (d_.background.metric == Metric::Prescribed) {
    const Expr rate = units_.at_start(units_.hubble());
    mass2 = mass2 - arena.rational(9, 4) * algebra::pow(rate, 2);
  }
  return mass2;
}

/// Warns where k^2 + m^2 < 0 for the longest wave of the box: its vacuum does not exist.
void VacuumDraws::warn_tachyon(const dsl::Expr& e, const StateField& field, Expr mass) {
  const auto range = range_of(d_, mass);
  std::int64_t longest = 1;
  for (int axis = 0; axis < d_.grid.dims; ++axis)
    longest = std::max(longest, d_.grid.extent[static_cast<std::size_t>(axis)]);
  const auto dx = algebra::constant(d_.grid.dx);
  if (!range || !dx || longest < 2) return;
  const double k =
      2 * std::numbers::pi / (static_cast<double>(longest) * static_cast<double>(dx->real));
  if (k * k + range->low >= 0 || std::exchange(warned_[&field], true)) return;
  d_.diagnostics.add(
      errors::vacuum_of_tachyon(e.span, field.name, range->low, k, std::sqrt(-range->low)));
}

/// Whether the Lagrangian's momentum of this component is norm*u'.
bool VacuumDraws::canonical(const StateField& field, int component) const {
  const Expr v = d_.arena().load(field.velocities[static_cast<std::size_t>(component)]);
  return algebra::local_derivative(d_.lagrangian, v) == d_.arena().integer(field.norm()) * v;
}

Expr VacuumDraws::draw(const dsl::Expr& e, const StateField& field, int component, bool velocity) {
  Arena& arena = d_.arena();
  if (d_.is_momentum(field)) {
    const StateField& coordinate = *d_.conjugate(field);
    const int array = coordinate.arrays[static_cast<std::size_t>(component)];
    return draw(e, coordinate, component, true) / rate_by_momentum(e, coordinate, array);
  }
  if (d_.background.metric == Metric::Prescribed) {
    const auto scale = prescribed_scale(d_, d_.start_time);
    if (scale && *scale == 0)
      d_.fail(errors::vacuum_at_singularity(e.span, d_.background.scale, d_.start_time));
  }
  if (d_.grid.shifted()) d_.fail(errors::shifted_box(e.span, "`vacuum`", d_.grid.span));
  if (twisted(field.walls)) d_.fail(errors::twisted_start(e.span, e.text));
  if (!field.walls.periodic(d_.grid.dims))
    d_.fail(errors::waves_of_open_box(e.span, e.text, field.name, field.span));
  const int array = field.arrays[static_cast<std::size_t>(component)];
  if (d_.follows_lagrangian(field) && !canonical(field, component))
    d_.fail(errors::not_yet(
        e.span, fmt::format("the vacuum of `{}`, whose kinetic term is not {}", field.name,
                            field.complex ? "norm2(" + field.name + "')" : field.name + "'^2/2")));
  const Rescaling& r = d_.rescaling;
  RandomField random;
  random.kind = RandomField::Kind::Vacuum;
  random.velocity = velocity;
  const Expr physical_mass = mass2(e, field, array);
  const Expr mass = physical_mass / (r.B * r.B);
  if (!range_of(d_, mass)) d_.fail(errors::vacuum_not_homogeneous(e.span, field.name));
  warn_tachyon(e, field, physical_mass);
  if (axes_of(d_, mass).empty()) {
    random.mass2 = static_cast<double>(algebra::constant(mass)->real);
  } else {  // the vacuum of each instance is that of its own background
    random.masses = in_every_instance(d_, mass);
    random.mass2 = random.masses.front();
  }
  for (const dsl::NamedArgument& option : e.named) {
    if (option.name == "cutoff") {
      random.cutoff =
          static_cast<double>((lower_.fixed(*option.value, "the cutoff") / r.B)->number.real);
    } else if (option.name == "form") {
      if (option.value->text == "kspace")
        random.kernel_form = false;
      else if (option.value->text != "kernel") {
        d_.fail(errors::option_value(option.span, "form", "kernel or kspace"));
      }
    }
  }
  // physical value = factor * (array in program units); `amplitude` makes the array psi or pi
  const int dims = d_.grid.dims;
  const Expr half_power = algebra::pow(r.B, arena.rational(velocity ? dims + 1 : dims - 1, 2));
  const Expr physical =
      half_power / algebra::pow(arena.integer(field.norm()), arena.rational(1, 2));
  const Expr to_stored = velocity ? r.A / r.B : r.A;
  random.amplitude = static_cast<double>(snap_numbers(physical * to_stored)->number.real);
  const Expr load = add_random(d_, units_, random, arena.integer(1) / to_stored, e.span);
  if (!velocity) drawn_.push_back({load, &e, &field, component, {}});
  if (!field.hamiltonian) return load;
  return algebra::pow(rate_by_momentum(e, field, array), arena.rational(1, 2)) * load;
}

Expr VacuumDraws::rate_of(Expr value) {
  Expr sum;
  for (std::size_t i = 0; i < drawn_.size(); ++i) {
    if (!algebra::depends_on(value, drawn_[i].load)) continue;
    if (!drawn_[i].rate) {
      const Drawn drawn = drawn_[i];
      const StateField* partner = d_.conjugate(*drawn.field);
      Expr rate = draw(*drawn.call, *drawn.field, drawn.component, true);
      if (partner) {
        const int array = drawn.field->arrays[static_cast<std::size_t>(drawn.component)];
        rate = rate / algebra::pow(rate_by_momentum(*drawn.call, *drawn.field, array),
                                   d_.arena().rational(3, 2));
      }
      drawn_[i].rate = rate;
    }
    const Expr term = algebra::derivative(value, drawn_[i].load) * drawn_[i].rate;
    sum = sum ? sum + term : term;
  }
  return sum;
}

}  // namespace vphi::physics
