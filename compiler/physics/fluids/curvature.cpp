#include "compiler/physics/fluids/curvature.hpp"

#include <algorithm>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/passes.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/fields/coordinates_errors.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;

namespace {

class Curvature {
 public:
  Curvature(const Equations& d, std::vector<Law>& laws) : d_(d), laws_(laws) {
    const auto dims = static_cast<std::size_t>(d.grid.dims);
    for (const Law& law : laws) {
      if (law.time) continue;
      const StateField& field = *d.field_of(law.arrays.front());
      const dsl::Symbol* symbol = d.resolved.find(field.name);
      const bool vector = symbol && symbol->type.base == dsl::Type::Base::Vector;
      if (vector && law.arrays.size() == dims) momenta_.push_back(&law);
    }
  }

  void add() {
    const Law* energy = find_energy();
    const Expr volume = cell_volume(d_), dx = d_.grid.dx;
    for (Law& law : laws_) {
      if (law.time) continue;  // no density: nothing dilutes it
      for (int k = 0; k < factors(); ++k) {
        const Expr rate = stretching(d_, k);
        if (rate.is_zero()) continue;
        for (std::size_t i = 0; i < law.arrays.size(); ++i) {
          Expr diluted = d_.arena().load(law.arrays[i]);
          if (&law == energy) diluted = diluted + stress_along(*momenta_.front(), k);
          subtract(law, i, rate * diluted);
        }
      }
      if (std::ranges::find(momenta_, &law) == momenta_.end()) continue;
      for (int i = 0; i < d_.grid.dims; ++i) turn(law, i, volume * dx);
    }
  }

  std::optional<LawEnergy> energy() const {
    const Law* energy = find_energy();
    if (!energy) return std::nullopt;
    Expr stress = d_.arena().integer(0);
    for (int k = 0; k < factors(); ++k) stress = stress + stress_along(*momenta_.front(), k);
    return LawEnergy{d_.arena().load(energy->arrays.front()), stress / d_.arena().integer(3)};
  }

 private:
  int factors() const { return static_cast<int>(d_.coordinates.factors.size()); }

  static void subtract(Law& law, std::size_t component, Expr value) {
    if (!value.is_zero()) law.source[component] = law.source[component] - value;
  }

  /// What the turning frame and the curved faces do to component i of a momentum.
  void turn(Law& law, int i, Expr per) {
    const auto own = static_cast<std::size_t>(i);
    subtract(law, own, d_.arena().load(law.arrays[own]) * stretching(d_, i));
    for (int k = 0; k < factors(); ++k) {
      if (k == i) continue;
      const Expr pushed = widening(d_, k, i);
      if (!pushed.is_zero()) subtract(law, own, -(stress_along(law, k) * pushed / per));
      if (k >= d_.grid.dims) continue;
      const Expr turned = widening(d_, i, k);
      if (!turned.is_zero())
        subtract(law, own, law.flux[own][static_cast<std::size_t>(k)] * turned / per);
    }
  }

  Expr stress_along(const Law& momentum, int k) const {
    const auto axis = static_cast<std::size_t>(k);
    if (k < d_.grid.dims) return momentum.flux[axis][axis];
    if (!momentum.isotropic)
      d_.fail(errors::stress_not_known(momentum.span, d_.coordinates.span, momentum.name));
    return momentum.isotropic;
  }

  const Law* find_energy() const {
    const dsl::Clause& clause = *d_.resolved.clause("metric");
    const dsl::ExprPtr given = d_.ledger.option(clause, "energy");
    if (!given) {
      const bool follows = d_.background.metric == Metric::SelfConsistent;
      if (follows || (d_.coordinates.moving && !momenta_.empty()))
        d_.fail(errors::energy_not_named(d_.coordinates.span,
                                         momenta_.empty() ? "" : momenta_.front()->name, follows));
      return nullptr;
    }
    if (given->text == "none") return nullptr;
    const auto named = std::ranges::find(laws_, given->text, &Law::name);
    if (named == laws_.end() || named->arrays.size() != 1 ||
        std::ranges::find(momenta_, &*named) != momenta_.end())
      d_.fail(errors::energy_is_no_law(given->span, given->text));
    if (momenta_.size() != 1)
      d_.fail(errors::energy_without_momentum(given->span, given->text,
                                              static_cast<int>(momenta_.size())));
    return &*named;
  }

  const Equations& d_;
  std::vector<Law>& laws_;
  std::vector<const Law*> momenta_;
};

}  // namespace

void add_curvature(const Equations& d, std::vector<Law>& laws) { Curvature(d, laws).add(); }

std::optional<LawEnergy> energy_of_laws(const Equations& given) {
  if (given.laws.empty() || !given.expanding()) return std::nullopt;
  const Equations d = as_laws_see_it(given);
  std::vector<Law> laws = d.laws;
  return Curvature(d, laws).energy();
}

void take_areas(const Equations& d, AxisScheme& scheme, const dsl::Clause& use,
                const std::string& name) {
  Arena& arena = d.arena();
  const Expr area = kernel::with_fixed_order(face_area(d, scheme.axis));
  const Expr volume = kernel::with_fixed_order(cell_volume(d));
  if (area == volume) {  // they cancel in the rate, and not in what leaves the box
    for (auto& [quantity, face] : scheme.face)
      if (!area.is_one()) face = arena.raw(Op::Mul, {area, face});
    return;
  }
  if (scheme.face.empty())
    d.fail(errors::scheme_without_faces(use.keyword_span, d.coordinates.span, name));
  Offset back;
  back.d[static_cast<std::size_t>(scheme.axis)] = -1;
  for (auto& [quantity, face] : scheme.face) {
    if (!area.is_one()) face = arena.raw(Op::Mul, {area, face});
    const Expr gain = arena.raw(Op::Sub, {face, algebra::shift(face, back)});
    scheme.result[quantity] = volume.is_one() ? gain : arena.raw(Op::Div, {gain, volume});
  }
}

Expr per_coordinate(const Space& d, Expr velocity, int axis) {
  if (!d.coordinates.given()) return velocity;
  return velocity / d.coordinates.factors[static_cast<std::size_t>(axis)];
}

std::vector<Law> per_coordinate(const Space& d, std::vector<Law> laws) {
  if (!d.coordinates.given()) return laws;
  for (Law& law : laws)
    for (auto& axes : law.flux)
      for (std::size_t k = 0; k < axes.size(); ++k)
        axes[k] = per_coordinate(d, axes[k], static_cast<int>(k));
  return laws;
}

}  // namespace vphi::physics
