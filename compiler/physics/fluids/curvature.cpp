#include "compiler/physics/fluids/curvature.hpp"

#include <algorithm>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/passes.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/fields/coordinates_errors.hpp"
#include "compiler/physics/noise/noise.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;

namespace {

class Curvature {
 public:
  Curvature(const Equations& d, std::vector<Law>& laws) : d_(d), laws_(laws) {
    const auto dims = static_cast<std::size_t>(d.grid.dims);
    for (const Law& law : laws) {
      if (law.time || law.curl) continue;
      const StateField& field = *d.field_of(law.arrays.front());
      const dsl::Symbol* symbol = d.resolved.find(field.name);
      const bool vector = symbol && symbol->type.base == dsl::Type::Base::Vector;
      if (vector && law.arrays.size() == dims) momenta_.push_back(&law);
    }
    find_fluids();
  }

  void add() {
    const Expr volume = cell_volume(d_), dx = d_.grid.dx;
    for (Law& law : laws_) {
      if (law.time) continue;  // no density: nothing dilutes it
      for (int k = 0; k < factors(); ++k) {
        const Expr rate = stretching(d_, k);
        if (rate.is_zero()) continue;
        for (std::size_t i = 0; i < law.arrays.size(); ++i) {
          // what crosses a surface is not diluted by the length across it
          if (law.curl && k == static_cast<int>(i)) continue;
          subtract(law, i, rate * (d_.arena().load(law.arrays[i]) + work_of(law, k)));
        }
      }
      if (std::ranges::find(momenta_, &law) == momenta_.end()) continue;
      for (int i = 0; i < d_.grid.dims; ++i) turn(law, i, volume * dx);
    }
  }

  std::optional<LawEnergy> energy() const {
    if (fluids_.empty()) return std::nullopt;
    Expr density = d_.arena().integer(0), stress = density;
    for (const Fluid& fluid : fluids_) {
      density = density + d_.arena().load(fluid.energy->arrays.front());
      for (int k = 0; k < factors(); ++k) stress = stress + stress_along(*fluid.momentum, k);
    }
    return LawEnergy{density, stress / d_.arena().integer(3)};
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

  /// The stress whose work a law loses; 0: it is that of no energy.
  Expr work_of(const Law& law, int k) const {
    const auto own = std::ranges::find(fluids_, &law, &Fluid::energy);
    if (own == fluids_.end()) return d_.arena().integer(0);
    const Expr stress = stress_along(*own->momentum, k);
    if (d_.background.metric == Metric::SelfConsistent && split_noise(stress).noisy()) {
      dsl::Diagnostic message = errors::not_yet(
          own->momentum->span, "noise in a stress beside a metric that follows the averages");
      message.rule =
          "the pressure of the box holds this noise: a'' would jump with its mean, and with the "
          "Ito "
          "term of its square, and integrators have no noise in a";
      message.hint =
          "write a given metric, frw(a = ...), or noise in shear stresses, currents and sources "
          "alone";
      d_.fail(message);
    }
    return stress;
  }

  /// The names that an option of `metric` lists; `none` is no name.
  static std::vector<const dsl::Expr*> listed(const dsl::ExprPtr& given) {
    std::vector<const dsl::Expr*> names;
    if (!given) return names;
    if (given->kind == dsl::ExprKind::List) {
      for (const dsl::ExprPtr& one : given->args) names.push_back(one.get());
    } else if (given->text != "none") {
      names.push_back(given.get());
    }
    return names;
  }

  const Law* energy_named(const dsl::Expr& name) const {
    const auto named = std::ranges::find(laws_, name.text, &Law::name);
    if (named == laws_.end() || named->arrays.size() != 1 ||
        std::ranges::find(momenta_, &*named) != momenta_.end())
      d_.fail(errors::energy_is_no_law(name.span, name.text));
    return &*named;
  }

  const Law* momentum_named(const dsl::Expr& name) const {
    const auto named = std::ranges::find(momenta_, name.text, &Law::name);
    if (named == momenta_.end()) d_.fail(errors::momentum_is_no_law(name.span, name.text));
    return *named;
  }

  /// `energy = E`, or `energy = [E, F], momentum = [M, N]`: the laws of each fluid.
  void find_fluids() {
    const dsl::Clause& clause = *d_.resolved.clause("metric");
    const dsl::ExprPtr given = d_.ledger.option(clause, "energy"),
                       with = d_.ledger.option(clause, "momentum");
    if (!given) {
      const bool follows = d_.background.metric == Metric::SelfConsistent;
      if (follows || (d_.coordinates.moving && !momenta_.empty()))
        d_.fail(errors::energy_not_named(d_.coordinates.span,
                                         momenta_.empty() ? "" : momenta_.front()->name, follows));
    }
    const std::vector<const dsl::Expr*> energies = listed(given), momenta = listed(with);
    if (with && momenta.size() != energies.size())
      d_.fail(errors::energies_and_momenta(with->span, energies.size(), momenta.size()));
    for (std::size_t i = 0; i < energies.size(); ++i) {
      const Law* energy = energy_named(*energies[i]);
      if (!with && (momenta_.size() != 1 || energies.size() != 1))
        d_.fail(errors::energy_without_momentum(energies[i]->span, energies[i]->text,
                                                static_cast<int>(momenta_.size())));
      const Law* momentum = with ? momentum_named(*momenta[i]) : momenta_.front();
      for (const Fluid& other : fluids_)
        if (other.energy == energy || other.momentum == momentum)
          d_.fail(errors::fluid_named_twice(
              energies[i]->span, other.energy == energy ? energy->name : momentum->name));
      fluids_.push_back({energy, momentum});
    }
  }

  /// A law of an energy and that of the momentum whose stress does its work.
  struct Fluid {
    const Law *energy, *momentum;
  };

  const Equations& d_;
  std::vector<Law>& laws_;
  std::vector<const Law*> momenta_;
  std::vector<Fluid> fluids_;
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
