#include "compiler/physics/fields/program_units.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/matrix.hpp"
#include "compiler/physics/clauses/twists.hpp"
#include "compiler/physics/fields/stencil_errors.hpp"
#include "compiler/physics/lower/angles.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/particles/particles.hpp"
#include "compiler/physics/spinors/edges.hpp"
#include "program/scalar_names.hpp"

namespace vphi::physics {

using algebra::Op;

ProgramUnits::ProgramUnits(const Motion& d, bool unmixed) : d_(d), unmixed_(unmixed) {
  Arena& arena = d.arena();
  const Rescaling& r = d.rescaling;
  solve_time();
  dx_ = d.grid.present ? r.B * d.grid.dx : arena.integer(1);
  for (const StateField& field : d.fields) {
    for (std::size_t i = 0; i < field.arrays.size(); ++i) {
      const Expr power = d.rescaled() && field.order == 2 ? r.r : arena.integer(0);
      const Expr unit = field.links ? arena.integer(1) : r.A;
      load_factors_[field.arrays[i]] = algebra::pow(scale(), -power) / unit;
      if (field.order != 2) continue;
      if (d.rescaled()) {
        load_factors_[field.velocities[i]] = r.B / r.A * algebra::pow(scale(), r.s - r.r);
        psi_of_[field.velocities[i]] = field.arrays[i];
        continue;
      }
      const auto c = d.weights.find(field.arrays[i]);
      const Expr weight = c == d.weights.end() ? arena.integer(0) : c->second;
      load_factors_[field.velocities[i]] = r.B / r.A * algebra::pow(scale(), -weight);
    }
  }
  for (const Companions& c : d.collected.companions)
    load_factors_[c.start] = load_factors_.at(c.array);
}

// a = c*t^p: d(eta) = B*a^s dt gives t in closed form, so that the equations depend on eta alone
// and any integrator can order them. With q = 1 + p*s
//   eta = B*c^s*t^q/q,  or  eta = B*c^s*log(t) for q = 0.
void ProgramUnits::solve_time() {
  const Rescaling& r = d_.rescaling;
  if (d_.background.metric != Metric::Prescribed || r.s.is_zero()) return;
  Arena& arena = d_.arena();
  const Expr a = d_.background.prescribed, t = d_.time();
  const auto power = algebra::constant(t * algebra::derivative(a, t) / a);
  if (!power) return;
  const Expr p = arena.number(*power), q = arena.integer(1) + p * r.s;
  const auto coefficient = algebra::constant(a / algebra::pow(t, p));
  if (!coefficient || !(coefficient->real > 0)) return;
  const Expr unit = r.B * algebra::pow(arena.number(*coefficient), r.s);
  const Expr start = arena.real(d_.start_time), eta = program_time();
  if (q.is_zero()) {
    time_ = arena.make(Op::Exp, {eta / unit});
    scale_ = arena.number(*coefficient) * arena.make(Op::Exp, {p * eta / unit});
    eta_start_ = unit * arena.make(Op::Log, {start});
  } else {
    time_ = algebra::pow(q * eta / unit, arena.integer(1) / q);
    scale_ = arena.number(*coefficient) * algebra::pow(q * eta / unit, p / q);
    eta_start_ = unit / q * algebra::pow(start, q);
  }
  const auto number = algebra::constant(eta_start_);
  if (!number || !std::isfinite(number->real)) {
    time_ = scale_ = eta_start_ = Expr{};
    return;
  }
  time_ = snap_numbers(time_);
  scale_ = snap_numbers(scale_);
}

Expr ProgramUnits::time() { return time_ ? time_ : d_.time(); }
Expr ProgramUnits::program_time() { return d_.arena().symbol("program_time"); }

Expr ProgramUnits::at_start(Expr e) {
  Arena& arena = d_.arena();
  if (time_) e = algebra::substitute(e, program_time(), eta_start_);
  if (d_.background.metric == Metric::SelfConsistent) {
    e = algebra::substitute(e, d_.scale(), arena.integer(1));
  }
  return algebra::substitute(e, d_.time(), arena.real(d_.start_time));
}

std::string ProgramUnits::slope_name() const { return program::slope_of(d_.background.scale); }

Expr ProgramUnits::scale() {
  switch (d_.background.metric) {
    case Metric::SelfConsistent:
      return d_.scale();
    case Metric::Prescribed:
      return scale_ ? scale_ : d_.background.prescribed;
    case Metric::Minkowski:
      break;
  }
  return d_.arena().integer(1);
}

Expr ProgramUnits::hubble() {
  Arena& arena = d_.arena();
  switch (d_.background.metric) {
    case Metric::SelfConsistent:
      return d_.rescaling.B * algebra::pow(d_.scale(), d_.rescaling.s - arena.integer(1)) *
             arena.symbol(slope_name());
    case Metric::Prescribed: {
      const Expr a = d_.background.prescribed;
      return algebra::substitute(algebra::derivative(a, d_.time()) / a, d_.time(), time());
    }
    case Metric::Minkowski:
      break;
  }
  return arena.integer(0);
}

// H = B a^s h.
Expr ProgramUnits::log_slope() {
  if (d_.background.metric == Metric::SelfConsistent) {
    return d_.arena().symbol(slope_name()) / d_.scale();
  }
  return hubble() * algebra::pow(scale(), -d_.rescaling.s) / d_.rescaling.B;
}

// a''/a = h' + h^2; of a prescribed a by the chain rule, d/d(eta) = (a^-s/B) d/dt.
Expr ProgramUnits::curvature() {
  Arena& arena = d_.arena();
  switch (d_.background.metric) {
    case Metric::SelfConsistent:
      return slope_rate / d_.scale();
    case Metric::Prescribed: {
      const Expr a = d_.background.prescribed, t = d_.time();
      const Expr rate = algebra::pow(a, -d_.rescaling.s) / d_.rescaling.B;
      const Expr h = algebra::derivative(a, t) / a * rate;
      const Expr sum = rate * algebra::derivative(h, t) + algebra::pow(h, 2);
      return algebra::substitute(sum, t, time());
    }
    case Metric::Minkowski:
      break;
  }
  return arena.integer(0);
}

Expr ProgramUnits::velocity_shift(int array) {
  const auto psi = psi_of_.find(array);
  if (psi == psi_of_.end() || d_.rescaling.r.is_zero() || !d_.expanding()) return {};
  return d_.rescaling.r * log_slope() * d_.arena().load(psi->second);
}

Expr ProgramUnits::quantity(Expr physical) { return snap_numbers(convert(physical)); }

Expr ProgramUnits::quantity_of_step(Expr physical) {
  auto others = std::exchange(known_, {});
  in_step_ = true;
  const Expr result = quantity(physical);
  in_step_ = false;
  known_ = std::move(others);
  return result;
}

Expr ProgramUnits::first_order_rate(Expr physical, int array) {
  const Rescaling& r = d_.rescaling;
  const Expr unit = d_.arena().integer(1) / load_factors_.at(array);
  const Expr factor = unit / r.B * algebra::pow(scale(), -r.s);
  return snap_numbers(distribute(factor, convert(physical)));
}

Expr ProgramUnits::momentum_rate(Expr physical, int velocity, Expr c) {
  Arena& arena = d_.arena();
  const Rescaling& r = d_.rescaling;
  Expr forced = physical;
  if (!c.is_zero()) {
    // the friction -c*H*u' lies in the momentum a^c*u' and cancels here
    forced = physical + c * d_.hubble() * arena.load(velocity);
    if (algebra::depends_on(forced, d_.hubble())) forced = algebra::expand(forced);
  }
  if (d_.rescaled()) return rescaled_rate(forced, velocity, c);
  const Expr factor = r.A / (r.B * r.B) * algebra::pow(scale(), c - r.s);
  std::vector<Expr> terms;
  for (const Expr term : flat_terms(convert(forced))) terms.push_back(factor * term);
  return snap_numbers(arena.make(Op::Add, std::move(terms), physical->span));
}

Expr ProgramUnits::rescaled_rate(Expr forced, int velocity, Expr c) {
  Arena& arena = d_.arena();
  const Rescaling& r = d_.rescaling;
  const Expr factor = r.A / (r.B * r.B) * algebra::pow(scale(), r.r - arena.integer(2) * r.s);
  std::vector<Expr> terms;
  for (const Expr term : flat_terms(convert(forced))) terms.push_back(factor * term);
  if (d_.expanding()) {
    const Expr h = log_slope(), one = arena.integer(1);
    const Expr friction = r.s - arena.integer(2) * r.r + c;
    terms.push_back(-(friction * h * arena.load(velocity)));
    const Expr bracket = r.r * (r.s - r.r - one + c) * algebra::pow(h, 2) + r.r * curvature();
    terms.push_back(bracket * arena.load(psi_of_.at(velocity)));
  }
  return snap_numbers(arena.make(Op::Add, std::move(terms), forced->span));
}

Expr ProgramUnits::coordinate_rate(int velocity, Expr c) {
  if (d_.rescaled()) return d_.arena().load(velocity);
  return algebra::pow(scale(), -(c + d_.rescaling.s)) * d_.arena().load(velocity);
}

Expr ProgramUnits::matching_gradient(int array, algebra::Offset offset, algebra::Pairs pairs) {
  Arena& arena = d_.arena();
  if (angle_of(d_, arena.load(array))) {
    return convert(neighbour(gradient_square(d_, array, d_.grid.dx), offset));
  }
  const Expr factor = algebra::pow(d_.rescaling.B * load_factors_.at(array), 2);
  return neighbour(factor * gradient_square(d_, array, dx_, pairs), offset);
}

namespace {

/// Whether a factor of the term is a field that is 0 behind its wall: u*lap(u).
bool vanishes_behind_wall(const Motion& d, Expr term, int axis) {
  const auto zero = [&](Expr factor) {
    const bool power =
        factor.is(Op::Pow) && factor.arg(1).is_number() && factor.arg(1)->number.real > 0;
    const Expr u = power ? factor.arg(0) : factor;
    if (!u.is(Op::Load) || !u->offset.zero()) return false;
    const Walls walls = d.walls_of(u->index);
    const auto k = static_cast<std::size_t>(axis);
    return walls.boundary[k] == Boundary::Fixed && walls.fixed_value[k] == 0;
  };
  return term.is(Op::Mul) ? std::ranges::any_of(term.args(), zero) : zero(term);
}

}  // namespace

// A total with neighbours includes the links to fixed walls: the terms of the sites beyond the wall
// that read a site of the box are added at the first and the last site. The derivative of the total
// (`variation`) has the same terms.
Expr ProgramUnits::with_wall_sites(Expr density) {
  Arena& arena = d_.arena();
  Expr sum = density;
  for (int axis = 0; axis < d_.grid.dims; ++axis) {
    const auto fixed = [&](const Walls& walls) {
      return walls.boundary[static_cast<std::size_t>(axis)] == Boundary::Fixed;
    };
    if (!fixed(d_.grid) &&
        std::ranges::none_of(d_.fields, [&](const StateField& f) { return fixed(f.walls); }))
      continue;
    const Expr walled = between_fixed_walls(density, axis);
    int forth = 0, back = 0;
    const auto reach = [&](int offset) {
      forth = std::max(forth, offset);
      back = std::max(back, -offset);
    };
    algebra::visit(walled, [&](Expr node) {
      if (node.is(Op::Load)) reach(node->offset.d[axis]);
    });
    for (const Expr term : flat_terms(walled)) {
      if (vanishes_behind_wall(d_, term, axis)) continue;
      algebra::visit(term, [&](Expr node) {
        if (!node.is(Op::Stencil)) return;
        for (const algebra::Offset& o : arena.stencil_data(node->index).offsets) reach(o.d[axis]);
      });
    }
    const auto at_wall = [&](std::int64_t site, int step) {
      algebra::Offset offset;
      offset.d[axis] = static_cast<std::int16_t>(step);
      const Expr here = arena.make(Op::Equal, {arena.site(axis), arena.integer(site)});
      sum = sum + arena.make(Op::Select, {here, neighbour(walled, offset), arena.integer(0)});
    };
    for (int n = 1; n <= forth; ++n) at_wall(0, -n);
    for (int n = 1; n <= back; ++n) at_wall(d_.grid.extent[axis] - 1, n);
  }
  return sum;
}

/// The terms of a density whose fields all end at fixed walls along the axis.
Expr ProgramUnits::between_fixed_walls(Expr density, int axis) const {
  const auto ends = [&](Expr term) {
    return !algebra::contains(term, [&](Expr node) {
      return node.is(Op::Load) &&
             d_.walls_of(node->index).boundary[static_cast<std::size_t>(axis)] != Boundary::Fixed;
    });
  };
  if (ends(density)) return density;
  std::vector<Expr> terms;
  for (const Expr term : flat_terms(density))
    if (ends(term)) terms.push_back(term);
  return d_.arena().make(Op::Add, std::move(terms), density->span);
}

Expr ProgramUnits::convert_reduction(Op op, Expr argument, dsl::Span) {
  Arena& arena = d_.arena();
  if (op != Op::Mean && op != Op::Total) {
    return reduce_linear(arena, op, convert(argument), d_.grid.sites());
  }
  std::vector<Expr> terms;
  for (const Expr term : flat_terms(argument)) {
    const Split split = split_uniform(term);
    const Expr local = split.local;
    const bool gradient = local.is(Op::Load) && is_gradient(local->index);
    const Walls walls = gradient ? d_.walls_of(local->index) : Walls{};
    const bool symmetric = gradient && !d_.coordinates.given() && walls.by_parts(d_.grid.dims) &&
                           !twisted(walls) &&
                           algebra::is_symmetric(arena.stencil_data(d_.laplacian)) &&
                           !angle_of(d_, arena.load(local->index - kGradientBase));
    if (symmetric && walls.closed(d_.grid.dims) && !in_step_) {
      const Expr squares =
          matching_gradient(local->index - kGradientBase, {}, algebra::Pairs::Once);
      terms.push_back(convert(split.uniform) * squares);
    } else if (symmetric) {
      // <|grad u|^2> = -<u lap u>, exactly, for every symmetric stencil (docs/formulas.md 1.6)
      const Expr u = arena.load(local->index - kGradientBase, {}, local->span);
      const Expr by_parts = -(u * arena.stencil(d_.laplacian, u, local->span));
      terms.push_back(convert(split.uniform) * convert(by_parts));
    } else {
      terms.push_back(convert(term));
    }
  }
  Expr sum = snap_numbers(arena.make(Op::Add, std::move(terms), argument->span));
  if (op == Op::Total) sum = with_wall_sites(sum);
  return reduce_linear(arena, op, sum, d_.grid.sites());
}

Expr ProgramUnits::inside(Expr load) {
  const auto factor = load_factors_.find(load->index);
  if (factor == load_factors_.end()) return load;
  Expr stored = load;
  if (!unmixed_) {
    if (const Expr shift = velocity_shift(load->index))
      stored = load - neighbour(shift, load->offset);
  }
  return factor->second * stored;
}

Expr ProgramUnits::loaded(Expr load) {
  const Expr own = inside(load);
  if (load->offset.zero()) return own;
  const auto found = spinor_part(d_, load->index);
  if (!found) return own;
  const SpinorPart& part = *found;
  const SitePhase phase = phase_beyond(d_, part.edges, load->offset);
  Expr value = own;
  if (phase.cosine) {
    const int partner = load->index + (part.imaginary ? -1 : 1);
    const Expr other = inside(d_.arena().load(partner, load->offset, load->span));
    const Expr along = gauge::times(phase.cosine, own), across = gauge::times(phase.sine, other);
    value = part.imaginary ? gauge::plus(along, across) : gauge::minus(along, across);
  }
  return phase.sign ? gauge::times(phase.sign, value) : value;
}

namespace {

/// sign*x + sign*y with the sign taken out, where both have it: half as many products.
Expr with_common_sign(Expr e) {
  if (!(e.is(Op::Add) || e.is(Op::Sub)) || e.args().size() != 2) return e;
  const Expr a = e.arg(0), b = e.arg(1);
  const auto sign = [](Expr x) {
    const auto unit = [](Expr n) { return n.is_number() && std::fabs(n->number.real) == 1; };
    return x.is(Op::Select) && unit(x.arg(1)) && unit(x.arg(2));
  };
  const auto sign_of = [&](Expr x) -> int {
    if (!x.is(Op::Mul) || x.args().size() != 2) return -1;
    return sign(x.arg(0)) ? 0 : sign(x.arg(1)) ? 1 : -1;
  };
  const int i = sign_of(a), j = sign_of(b);
  if (i < 0 || j < 0 || !(a.arg(i) == b.arg(j))) return e;
  const Expr x = a.arg(1 - i), y = b.arg(1 - j);
  return gauge::times(a.arg(i), e.is(Op::Add) ? gauge::plus(x, y) : gauge::minus(x, y));
}

}  // namespace

// The kernels' stencils read beyond an edge as the box goes on there: values that take a phase are
// read one by one.
Expr ProgramUnits::stencil(Expr e) {
  Arena& arena = d_.arena();
  const algebra::StencilData data = arena.stencil_data(e->index);
  if (gains_phase(d_, e.arg(0))) {
    if (data.spectral)
      d_.fail(errors::not_spectral(data.span, "a spinor takes a phase at an edge", e->span));
    return convert(algebra::written_out(data, e.arg(0), arena.symbol("dx")));
  }
  const Expr factor = algebra::pow(d_.rescaling.B, -data.dx_power);
  return factor * apply_stencil(arena, e->index, convert(e.arg(0)));
}

Expr ProgramUnits::convert(Expr e) {
  if (const auto it = known_.find(e.get()); it != known_.end()) return it->second;
  Arena& arena = d_.arena();
  Expr result = e;
  if (e.is(Op::Load)) {
    if (is_gradient(e->index)) {
      result = matching_gradient(e->index - kGradientBase, e->offset, algebra::Pairs::Both);
    } else if (const auto random = random_factors.find(e->index); random != random_factors.end()) {
      result = random->second * e;
    } else {
      result = loaded(e);
    }
  } else if (e.is(Op::Symbol)) {
    if (d_.expanding() && e == d_.scale())
      result = scale();
    else if (d_.expanding() && e == d_.hubble())
      result = hubble();
    else if (e == d_.time())
      result = time();
    else if (d_.background.fluids.contains(e.get()))
      result = d_.background.fluids.at(e.get());
    else if (e->name == "dx" && d_.grid.present)
      result = d_.grid.dx;
  } else if (e.is(Op::Noise)) {
    // unit in t and x; here unit in eta: d(eta) = B*a^s dt, and dx^d is the volume of a site
    const Expr volume = algebra::pow(d_.grid.present ? d_.grid.dx : arena.integer(1),
                                     d_.grid.present ? d_.grid.dims : 0);
    const Expr density = d_.rescaling.B * algebra::pow(scale(), d_.rescaling.s) / volume;
    result = algebra::pow(density, arena.rational(1, 2)) * e;
  } else if (e.is(Op::Stencil)) {
    result = stencil(e);
  } else if (e.is(Op::PairSum)) {
    result = separated_pairs(d_, convert(e.arg(0)), e->index != 0);
  } else if (algebra::reduces_sites(e.op())) {
    result = convert_reduction(e.op(), e.arg(0), e->span);
  } else if (!e.args().empty()) {
    std::vector<Expr> args;
    for (const Expr arg : e.args()) args.push_back(convert(arg));
    const bool fixed_order = e->fixed_order || algebra::is_ordered(e.op());
    if (std::ranges::equal(args, e.args()))
      result = e;
    else
      result = fixed_order ? with_common_sign(arena.raw(e.op(), std::move(args), e->span))
                           : arena.make(e.op(), std::move(args), e->span);
  }
  known_.emplace(e.get(), result);
  return result;
}

}  // namespace vphi::physics
