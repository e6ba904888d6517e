#include "compiler/physics/fields/canonical_form.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/fields/masses.hpp"
#include "compiler/physics/fields/source_errors.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/lower/variation.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/checks.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// A real number that moves, and the momentum that belongs to it.
struct Velocity {
  const StateField* field;
  int rate;      ///< the array that stands for it in l
  int momentum;  ///< array
};

std::vector<Velocity> velocities(const Theory& d) {
  std::vector<Velocity> result;
  for (const StateField& field : d.fields) {
    if (field.rates_in_lagrangian.empty()) continue;
    const StateField& momentum = *d.conjugate(field);
    if (momentum.arrays.size() != field.rates_in_lagrangian.size())
      d.fail(errors::not_yet(momentum.span, "a momentum of links of this type"));
    for (std::size_t i = 0; i < momentum.arrays.size(); ++i)
      result.push_back({&field, field.rates_in_lagrangian[i], momentum.arrays[i]});
  }
  return result;
}

StateField momentum_of(const Space& d, const StateField& field) {
  StateField p = field;
  p.name = "pi_" + field.name;
  while (d.field(p.name) || d.facts.find(p.name)) p.name += "_";
  p.rates_in_lagrangian.clear();
  p.periodic = false;
  for (int& array : p.arrays) array = d.new_array();
  return p;
}

std::vector<int> arrays_for(const Space& d, std::size_t count) {
  std::vector<int> result(count);
  for (int& array : result) array = d.new_array();
  return result;
}

/// Velocities of fields and of links of U(1) are their arrays; those of links of SU(n) change the
/// stored numbers by 1i*w*U.
Theory reading_of(const Theory& d) {
  Theory open = d;
  Arena& arena = d.arena();
  open.hamiltonian = false;
  static_cast<Hamiltonian&>(open) = {};
  for (StateField& field : open.fields) {
    if (field.rates_in_lagrangian.empty()) continue;
    field.velocities = field.rates_in_lagrangian;
    if (!field.matrices()) {
      field.order = 2;
      continue;
    }
    const gauge::LinkType& type = *field.links;
    const auto reals = static_cast<std::size_t>(type.reals());
    const auto count = static_cast<std::size_t>(type.group.generators());
    for (int axis = 0; axis < d.grid.dims; ++axis) {
      const auto k = static_cast<std::size_t>(axis);
      LinkMotion motion;
      for (std::size_t i = 0; i < reals; ++i) motion.arrays.push_back(field.arrays[k * reals + i]);
      for (std::size_t a = 0; a < count; ++a)
        motion.velocity.push_back(arena.load(field.velocities[k * count + a]));
      const gauge::Matrix u = links_of(d, field)(axis, {});
      const std::vector<Expr> moved =
          gauge::store(type, gauge::times(gauge::algebra_element(type.group, motion.velocity), u));
      for (std::size_t i = 0; i < reals; ++i) open.rates[motion.arrays[i]] = moved[i];
      open.link_motions.push_back(std::move(motion));
    }
  }
  return open;
}

/// e where all velocities are 0.
Expr still(const Theory& d, Expr e) {
  return algebra::rewrite(e, [&](Expr node) {
    if (!node.is(Op::Load)) return node;
    const auto moves = [&](const StateField& f) {
      return std::ranges::count(f.rates_in_lagrangian, node->index) > 0;
    };
    return std::ranges::any_of(d.fields, moves) ? d.arena().integer(0) : node;
  });
}

/// The velocities that e reads, each with where it is read.
std::vector<Expr> moving_reads(const Theory& d, Expr e) {
  std::vector<Expr> result;
  for (const Expr read : algebra::reads(e)) {
    if (!read.is(Op::Load)) continue;
    const int array = is_gradient(read->index) ? read->index - kGradientBase : read->index;
    for (const StateField& field : d.fields)
      if (std::ranges::count(field.rates_in_lagrangian, array) > 0) result.push_back(read);
  }
  return result;
}

/// Fails where l holds what has a velocity in a sum over sites, a gradient or a momentum.
void check_reads(const Theory& d, Expr l, dsl::Span span) {
  for (const Expr read : moving_reads(d, l))
    if (is_gradient(read->index)) {
      const int array = read->index - kGradientBase;
      for (const StateField& field : d.fields)
        if (std::ranges::count(field.rates_in_lagrangian, array) > 0)
          d.fail(errors::velocity_elsewhere(span, field.name));
    }
  for (const StateField& field : d.fields) {
    if (!d.is_momentum(field)) continue;
    const bool held = algebra::contains(l, [&](Expr node) {
      return node.is(Op::Load) && std::ranges::count(field.arrays, node->index) > 0;
    });
    if (held) d.fail(errors::momentum_in_lagrangian(span, field.name, d.conjugate(field)->name));
    const bool reduced = algebra::contains(l, [&](Expr node) {
      return algebra::reduces_sites(node.op()) && !moving_reads(d, node.arg(0)).empty();
    });
    if (reduced) d.fail(errors::velocity_elsewhere(span, d.conjugate(field)->name));
  }
}

/// l of all lines, by `lower`.
Expr read_density(const Theory& d, Lowerer& lower, const Scope& scope) {
  Expr sum = d.arena().integer(0);
  for (const NamedFact* fact : d.facts.lagrangians) {
    use_source(d, *fact);
    refuse_energies(d, *fact->value, "Lagrangian");
    sum = sum + lower.real(*fact->value, fmt::format("the Lagrangian `{}`", fact->name), scope);
  }
  return sum;
}

Expr in_comoving_volume(const Theory& d, Expr l) {
  return d.expanding() ? distribute(algebra::pow(d.scale(), 3), l) : l;
}

}  // namespace

bool moves_links_by_lagrangian(const Space& d) {
  return !d.facts.lagrangians.empty() &&
         std::ranges::any_of(d.fields, [](const StateField& f) { return f.links.has_value(); });
}

std::vector<StateField> with_momenta(const Space& d, const std::vector<StateField>& fields) {
  std::vector<StateField> result;
  for (const StateField& field : fields) {
    result.push_back(field);
    if (field.order && !field.hamiltonian) continue;
    StateField& own = result.back();
    own.order = 1;
    own.hamiltonian = true;
    if (field.links) {
      own.rates_in_lagrangian =
          arrays_for(d, static_cast<std::size_t>(d.grid.dims * field.links->group.generators()));
    } else if (!field.link) {
      own.rates_in_lagrangian = arrays_for(d, field.arrays.size());
      result.push_back(momentum_of(d, own));
    }
  }
  return result;
}

Expr lagrangian_at_rest(const Theory& reading, Lowerer& lower, const Scope& scope) {
  return in_comoving_volume(reading, -still(reading, read_density(reading, lower, scope)));
}

CanonicalForm canonical_form(const Theory& d, bool keep_parameters) {
  Arena& arena = d.arena();
  const dsl::Span span = d.facts.lagrangians.front()->value->span;
  CanonicalForm result{reading_of(d), {}, {}, {}};
  const Theory& open = result.reading;
  Lowerer lower(open, keep_parameters);
  const Expr l = in_comoving_volume(d, read_density(open, lower, {}));
  check_reads(d, l, span);
  check_coupled_walls(d, l, span);
  result.at_rest = lagrangian_at_rest(open, lower, {});

  const std::vector<Velocity> u = velocities(d);
  std::vector<std::vector<Expr>> masses;
  std::vector<Expr> from_rest;  // p - b, then u'
  for (const Velocity& own : u) {
    const Expr norm = arena.integer(own.field->norm());
    const Expr p = variation(open, l, Functional::Density, own.rate, span) / norm;
    std::vector<Expr> row(u.size(), arena.integer(0));
    for (const Expr read : moving_reads(d, p)) {
      const auto at = std::ranges::find(u, read->index, &Velocity::rate);
      if (!(read->offset == algebra::Offset{}))
        d.fail(errors::velocity_elsewhere(span, at->field->name));
      Expr& mass = row[static_cast<std::size_t>(at - u.begin())];
      mass = snap_numbers(algebra::local_derivative(p, read));
      if (!moving_reads(d, mass).empty())
        d.fail(errors::not_yet(span, "a kinetic term beside links that is not quadratic"));
    }
    masses.push_back(std::move(row));
    from_rest.push_back(arena.load(own.momentum) - still(d, p));
    result.momenta[own.momentum] = p;
  }
  std::vector<Expr> rates = from_rest;
  if (const int row = solve_masses(std::move(masses), rates); row >= 0)
    d.fail(errors::no_acceleration(span, u[static_cast<std::size_t>(row)].field->name));
  result.kinetic = arena.integer(0);
  for (std::size_t i = 0; i < u.size(); ++i)
    result.kinetic =
        result.kinetic + arena.rational(u[i].field->norm(), 2) * from_rest[i] * rates[i];
  return result;
}

}  // namespace vphi::physics
