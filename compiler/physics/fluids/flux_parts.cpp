#include "compiler/physics/fluids/flux_parts.hpp"

#include <cstdlib>
#include <map>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/fluids/conservation_errors.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/noise/noise.hpp"
#include "compiler/physics/noise/noise_errors.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;

Offset cells_along(std::size_t axis, int count) {
  Offset offset;
  offset.d[axis] = count;
  return offset;
}

bool reads_neighbours(Expr e) {
  return algebra::contains(e, [](Expr node) {
    return node.is(Op::Stencil) || (node.is(Op::Load) && !node->offset.zero());
  });
}

namespace {

/// A function of values and positions at the face to the next cell along the axis.
Expr at_face(const Equations& d, Expr e, std::size_t axis) {
  Arena& arena = d.arena();
  const Expr half = arena.rational(1, 2);
  return algebra::rewrite(e, [&](Expr node) -> Expr {
    if (node.is(Op::Site) && node->index == static_cast<int>(axis)) return node + half;
    if (!node.is(Op::Load)) return node;
    Offset beside = node->offset;
    const int cells = beside.d[axis];
    beside.d[axis] = 0;
    const Expr low = arena.load(node->index, beside, node->span);
    const Expr high = algebra::shift(low, cells_along(axis, 1));
    return half * (arena.integer(1 + 2 * cells) * high + arena.integer(1 - 2 * cells) * low);
  });
}

/// The term in a state that is the same everywhere.
Expr without_gradients(const Equations& d, Expr e) {
  return algebra::rewrite(e, [&](Expr node) {
    return node.is(Op::Load) ? d.arena().load(node->index, {}, node->span) : node;
  });
}

/// Whether neighbours along the axis are read as the two of a central difference, and nothing is
/// read of the whole lattice.
bool central(const Equations& d, Expr term, std::size_t axis) {
  if (algebra::contains(term, [](Expr node) {
        return node.is(Op::PairSum) || algebra::reduces_sites(node.op());
      }))
    return false;
  for (const Expr read : algebra::reads(term)) {
    if (!read.is(Op::Load)) return false;
    if (read->offset.d[axis] == 0) continue;
    if (std::abs(read->offset.d[axis]) > 1) return false;
    Offset other = read->offset;
    other.d[axis] = -other.d[axis];
    const Expr sum = algebra::local_derivative(term, read) +
                     algebra::local_derivative(term, d.arena().load(read->index, other));
    if (!algebra::expand(without_gradients(d, sum)).is_zero()) return false;
  }
  return true;
}

/// A flux along an axis: of the state in a cell, and through the face to the next cell.
struct Apart {
  Expr state, through;
};

Apart derivatives_apart(const Equations& d, const Law& law, Expr flux, std::size_t axis) {
  if (!reads_neighbours(flux)) return {flux, d.arena().integer(0)};
  Apart sum{d.arena().integer(0), d.arena().integer(0)};
  const auto terms = flux.is(Op::Add) ? std::vector<Expr>(flux.args().begin(), flux.args().end())
                                      : std::vector<Expr>{flux};
  for (const Expr term : terms) {
    if (!reads_neighbours(term)) {
      sum.state = sum.state + term;
      continue;
    }
    if (!central(d, term, axis)) d.fail(errors::flux_of_neighbours(law.span, law.name));
    const Expr still = without_gradients(d, term);
    sum.state = sum.state + still;
    sum.through = sum.through + at_face(d, term, axis) - at_face(d, still, axis);
  }
  return sum;
}

Expr noise_leaf(const Equations& d, int stream) {
  const dsl::Span span = d.collected.noise_streams[static_cast<std::size_t>(stream)];
  return d.arena().random(Op::Noise, stream, {}, span);
}

NoisyRate noise_apart(const Equations& d, const Law& law, Expr term) {
  NoisyRate noisy = split_noise(term);
  if (!noisy.linear) d.fail(errors::noise_not_linear(law.span, law.name));
  return noisy;
}

Expr noise_of_source(const Equations& d, const NoisyRate& source) {
  if (source.spread) return source.spread;
  Expr sum = d.arena().integer(0);
  for (const auto& [stream, factor] : source.factors) sum = sum + factor * noise_leaf(d, stream);
  return sum;
}

Expr noise_of_flux(const Equations& d, const Law& law, const NoisyRate& flux, std::size_t axis) {
  if (flux.spread) d.fail(errors::not_yet(law.span, "a flux that reads the noise of neighbours"));
  Expr sum = d.arena().integer(0);
  for (const auto& [stream, factor] : flux.factors) {
    if (!central(d, factor, axis)) d.fail(errors::flux_of_neighbours(law.span, law.name));
    sum = sum + at_face(d, factor, axis) * noise_leaf(d, stream);
  }
  return sum;
}

/// Primitive variables replaced by what `recover` makes of the quantities: noise is drawn where
/// only these are in memory.
Expr of_quantities(const Equations& d, Expr e) {
  std::map<int, Expr> known;
  const auto replaced = [&](Expr value) {
    return algebra::rewrite(value, [&](Expr node) -> Expr {
      const auto found = node.is(Op::Load) ? known.find(node->index) : known.end();
      return found == known.end() ? node : neighbour(found->second, node->offset);
    });
  };
  for (const Derived& value : d.conservation->recovered)
    known.emplace(value.array, replaced(value.value));
  return replaced(e);
}

}  // namespace

void take_apart(const Equations& d, Law& law) {
  std::vector<LawNoise> noise(law.arrays.size());
  std::vector<std::vector<Expr>> through(law.arrays.size());
  bool noisy = false, graded = false;
  for (std::size_t i = 0; i < law.arrays.size(); ++i) {
    const NoisyRate source = noise_apart(d, law, law.source[i]);
    noise[i].source = noise_of_source(d, source);
    law.source[i] = source.rest;
    noisy = noisy || source.noisy();
    for (std::size_t axis = 0; axis < law.flux[i].size(); ++axis) {
      const NoisyRate flux = noise_apart(d, law, law.flux[i][axis]);
      noise[i].face.push_back(noise_of_flux(d, law, flux, axis));
      const Apart apart = derivatives_apart(d, law, flux.rest, axis);
      law.flux[i][axis] = apart.state;
      through[i].push_back(apart.through);
      noisy = noisy || flux.noisy();
      graded = graded || !apart.through.is_zero();
    }
  }
  if (graded) law.through = std::move(through);
  if (law.isotropic) law.isotropic = without_gradients(d, split_noise(law.isotropic).rest);
  if (!noisy) return;
  if (curvilinear(d)) d.fail(errors::not_yet(law.span, "noise in laws beside `metric scale`"));
  law.noise = std::move(noise);
}

Expr noise_in_rate(const Equations& d, const Law& law, std::size_t component) {
  if (law.noise.empty()) return {};
  const LawNoise& noise = law.noise[component];
  Expr sum = noise.source;
  const Expr length = d.expanding() ? named_scale(d) : d.arena().integer(1);
  for (std::size_t axis = 0; axis < noise.face.size(); ++axis) {
    const Expr face = noise.face[axis];
    if (face.is_zero()) continue;
    sum = sum - (face - neighbour(face, cells_along(axis, -1))) / (length * d.grid.dx);
  }
  if (sum.is_zero()) return {};
  const Expr factors = of_quantities(d, sum);
  if (!(factors == sum) && !d.conservation->solved.empty())
    d.fail(errors::not_yet(law.span, "noise in front of which stands what `recover` solves for"));
  // unit in volume: a cell has dx^d of it, in an expanding box a^3 dx^d (rates of laws are not
  // converted to program units)
  const Expr volume = algebra::pow(d.grid.dx, d.grid.dims) * algebra::pow(length, 3);
  return algebra::pow(volume, d.arena().rational(-1, 2)) * factors;
}

}  // namespace vphi::physics
