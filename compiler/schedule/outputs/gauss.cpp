#include "compiler/schedule/outputs/gauss.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/steps/flow.hpp"

namespace vphi::schedule {

using algebra::Op;

namespace {

/// What 1 of the rotation of generator `b` adds to the law of `a` at a site.
Expr change_of_law(const physics::System& system, std::size_t a, std::size_t b) {
  algebra::Arena& arena = *system.arena;
  Expr sum = arena.integer(0);
  for (const auto& [array, change] : system.gauss[b].rotation)
    sum = sum + algebra::local_derivative(system.gauss[a].law, arena.load(array)) * change;
  return sum;
}

/// The numbers c_b of the rotations that leave no total charge: S c = -Q, S_ab the sum of
/// `change_of_law`, by elimination without exchanges, since S is symmetric and not below 0. A
/// generator that the ones before it make up, or that turns nothing, gets 0.
std::vector<Expr> angles(const physics::System& system, Block& block) {
  algebra::Arena& arena = *system.arena;
  const std::size_t n = system.gauss.size();
  const bool charged = std::ranges::any_of(
      system.gauss, [](const physics::GaussStart& law) { return !law.rotation.empty(); });
  if (!charged) return std::vector<Expr>(n, arena.integer(0));
  const auto total = [&](Expr e) { return arena.make(Op::Total, {e}); };
  std::vector<std::vector<Expr>> s(n, std::vector<Expr>(n));
  std::vector<Expr> q(n), whole(n);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b)
      s[a][b] = block.scalar("turned", total(change_of_law(system, a, b)));
    q[a] = block.scalar("charge", total(system.gauss[a].law));
    whole[a] = s[a][a];
  }
  std::vector<Expr> inverse(n);
  const Expr rounding = arena.real(1e-13L);
  for (std::size_t k = 0; k < n; ++k) {
    const Expr pivot = s[k][k];
    const Expr small = arena.make(Op::LessEqual, {pivot, rounding * whole[k]});
    const Expr one = arena.integer(1), zero = arena.integer(0);
    const Expr safe = arena.make(Op::Select, {small, one, pivot});
    inverse[k] = block.scalar("pivot", arena.make(Op::Select, {small, zero, one / safe}));
    for (std::size_t i = k + 1; i < n; ++i) {
      const Expr factor = block.scalar("factor", s[i][k] * inverse[k]);
      for (std::size_t j = k + 1; j < n; ++j)
        s[i][j] = block.scalar("reduced", s[i][j] - factor * s[k][j]);
      q[i] = block.scalar("reduced", q[i] - factor * q[k]);
    }
  }
  std::vector<Expr> c(n);
  for (std::size_t k = n; k-- > 0;) {
    Expr sum = -q[k];
    for (std::size_t j = k + 1; j < n; ++j) sum = sum - s[k][j] * c[j];
    c[k] = block.scalar("angle", sum * inverse[k]);
  }
  return c;
}

/// 50 over the smallest eigenvalue of -lap, of a lattice of spacing 1.
double duration(const physics::Lattice& lattice) {
  std::int64_t longest = 2;
  for (int axis = 0; axis < lattice.dims; ++axis)
    longest = std::max(longest, lattice.extent[static_cast<std::size_t>(axis)]);
  const double sine = std::sin(std::numbers::pi / static_cast<double>(longest));
  return 50 / (4 * sine * sine);
}

/// law -> law/(-lap), for every wave but the constant one, whose gradient is 0: the integral of
/// exp(t lap) from 0 to T is T phi1(T lap) = (1 - exp(T lap))/(-lap), and exp(-50) is beyond the
/// digits of f64. The factor T is left to the reader.
ArrayMap inverse_laplacian(const physics::Lattice& lattice, int array) {
  ArrayMap map;
  map.map.name = "gauss";
  map.map.function = program::FourierMap::Function::Phi1;
  map.map.scale = duration(lattice);
  map.map.matrix.push_back({.weight = -2.0 * lattice.dims});
  for (int axis = 0; axis < lattice.dims; ++axis)
    for (const int step : {1, -1}) {
      program::FourierMap::Term term;
      term.offset[static_cast<std::size_t>(axis)] = step;
      map.map.matrix.push_back(term);
    }
  map.from = map.to = {array};
  return map;
}

StartPart part_of(SiteLoops loops) {
  StartPart part;
  part.alone = std::move(loops.alone);
  part.chain = sequence_of(std::move(loops));
  return part;
}

/// Turns the momenta and leaves the law of each generator in an array of its own.
StartPart turn_momenta(const physics::System& system, Slots& slots, Storage& storage,
                       std::vector<int>& sources) {
  Block block(system, slots, storage);
  algebra::Arena& arena = *system.arena;
  const std::vector<Expr> c = angles(system, block);
  State turned;
  Wanted wanted;
  wanted.name = "gauss_law";
  for (std::size_t b = 0; b < c.size(); ++b)
    for (const auto& [array, change] : system.gauss[b].rotation) {
      Expr& value = turned.arrays.try_emplace(array, arena.load(array)).first->second;
      value = value + c[b] * change;
    }
  for (auto& [array, value] : turned.arrays) {
    value = block.array("turned", value, array);
    wanted.arrays[array] = value;
  }
  for (const physics::GaussStart& law : system.gauss) {
    program::Buffer buffer;
    buffer.name = "gauss_law";
    buffer.precision = system.numerics.store;
    buffer.scratch = true;
    sources.push_back(storage.allocate_new(buffer));
    wanted.arrays[sources.back()] = block.array("law", at(turned, law.law));
  }
  StartPart part = part_of(make_site_loops(block, wanted));
  for (const int source : sources) part.maps.push_back(inverse_laplacian(system.lattice, source));
  return part;
}

StartPart add_gradient(const physics::System& system, Slots& slots, Storage& storage,
                       const std::vector<int>& sources) {
  Block block(system, slots, storage);
  algebra::Arena& arena = *system.arena;
  Wanted wanted;
  wanted.name = "gauss_field";
  const Expr factor = arena.real(duration(system.lattice));
  for (std::size_t g = 0; g < sources.size(); ++g) {
    const physics::GaussStart& law = system.gauss[g];
    for (std::size_t axis = 0; axis < law.electric.size(); ++axis) {
      algebra::Offset ahead;
      ahead.d[axis] = 1;
      const Expr step = arena.load(sources[g], ahead) - arena.load(sources[g]);
      const int array = law.electric[axis];
      wanted.arrays[array] =
          block.array("electric", arena.load(array) + factor * law.unit[axis] * step, array);
    }
  }
  return part_of(make_site_loops(block, wanted));
}

/// The size of what cancels in the laws, for the solver; then the solve.
StartPart solve_for_law(const physics::System& system, Slots& slots, Storage& storage) {
  const physics::GaussProjection& law = *system.gauss_projection;
  for (const int array : system.solves[law.solve].arrays) {
    program::Buffer buffer;
    buffer.name = "gauss_solution";
    buffer.precision = physics::Precision::F64;
    buffer.scratch = true;
    storage.allocate(array, buffer);
  }
  slots.add(physics::GaussProjection::kSize);
  Block block(system, slots, storage);
  Wanted wanted;
  wanted.name = "gauss_size";
  block.assign(physics::GaussProjection::kSize, system.arena->make(Op::Total, {law.size}));
  wanted.slots = {physics::GaussProjection::kSize};
  StartPart part = part_of(make_site_loops(block, wanted));
  part.solve = static_cast<int>(law.solve);
  return part;
}

StartPart change_momenta(const physics::System& system, Slots& slots, Storage& storage) {
  Block block(system, slots, storage);
  Wanted wanted;
  wanted.name = "gauss_momenta";
  for (const auto& [array, change] : system.gauss_projection->change)
    wanted.arrays[array] = block.array("momentum", system.arena->load(array) + change, array);
  return part_of(make_site_loops(block, wanted));
}

}  // namespace

std::vector<StartPart> obey_gauss(const physics::System& system, Slots& slots, Storage& storage) {
  if (system.gauss_projection) {
    std::vector<StartPart> parts;
    parts.push_back(solve_for_law(system, slots, storage));
    parts.push_back(change_momenta(system, slots, storage));
    return parts;
  }
  if (system.gauss.empty()) return {};
  std::vector<int> sources;
  std::vector<StartPart> parts;
  parts.push_back(turn_momenta(system, slots, storage, sources));
  parts.push_back(add_gradient(system, slots, storage, sources));
  return parts;
}

}  // namespace vphi::schedule
