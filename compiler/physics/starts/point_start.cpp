#include "compiler/physics/starts/point_start.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "compiler/algebra/evaluation.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/starts/density_formula.hpp"
#include "compiler/physics/starts/init_errors.hpp"
#include "program/points.hpp"

namespace vphi::physics {

namespace {

constexpr int kShells = 8192;
constexpr const char* kRadius = "distance from the origin";

program::PointDensity read_options(const Program& d, Lowerer& lower, const dsl::Expr& e,
                                   const Reading& reading, int components) {
  program::PointDensity out;
  out.components = components;
  const auto length = [&](const dsl::NamedArgument& option, const char* what) {
    const Expr value = lower.fixed(*option.value, what, Scope::in(reading));
    const auto number = static_cast<double>(value->number.real);
    if (!(number >= 0) || std::isinf(number))
      d.fail(errors::negative_width(option.value->span, what, number));
    return number;
  };
  for (const dsl::NamedArgument& option : e.named) {
    if (option.name == "reach") out.reach = length(option, "`reach`");
    if (option.name == "apart") out.apart = length(option, "`apart`");
    if (option.name != "centred" && option.name != "turned") continue;
    if (option.value->text != "on" && option.value->text != "off")
      d.fail(errors::option_value(option.span, option.name, "on or off"));
    (option.name == "centred" ? out.centred : out.turned) = option.value->text == "on";
  }
  if (!(out.reach > 0))
    d.fail(errors::option_value(e.span, "density",
                                "density(f, reach = R), R > 0 the distance beyond which no point "
                                "lies"));
  return out;
}

/// f at equal distances from 0 to `reach`.
std::vector<double> profile(const Program& d, const dsl::Expr& at, Expr f, double reach,
                            int components) {
  std::vector<double> values;
  values.reserve(kShells + 1);
  double most = 0;
  for (int i = 0; i <= kShells; ++i) {
    const double r = reach * i / kShells;
    auto value = static_cast<double>(algebra::evaluate_long(f, [&](const algebra::Node& node) {
      return node.name == kRadius ? static_cast<long double>(r) : static_cast<long double>(NAN);
    }));
    // a cusp at the origin has no weight there
    if (i == 0 && components > 1 && !std::isfinite(value)) value = 0;
    if (!(value >= 0) || std::isinf(value)) d.fail(errors::no_density(at.span, {r}, 0, value));
    most = std::max(most, i == 0 && components > 1 ? 0 : value);
    values.push_back(value);
  }
  if (most == 0) d.fail(errors::density_is_zero(at.span, reach));
  return values;
}

std::vector<int> species_sizes(const Program& d, Lowerer& lower) {
  std::vector<int> sizes;
  for (const dsl::Clause* clause : d.resolved.clauses("particles"))
    for (const dsl::Item& item : clause->items)
      if (item.leading == dsl::Item::Leading::Colon && !item.head && item.value)
        sizes.push_back(
            static_cast<int>(lower.fixed_integer(*item.value, "the number of particles")));
  return sizes;
}

/// Balls of the diameter `apart` fill at most the share of the densest packing of the ball that
/// their centres and radii can reach.
bool has_room(int points, const program::PointDensity& options, int components) {
  constexpr double kDensest[] = {1, 1, 0.90690, 0.74049};
  const double ratio = options.apart / (2 * options.reach + options.apart);
  return points < 2 ? true : points * std::pow(ratio, components) <= kDensest[components];
}

/// What the formula of a density may name.
struct Names {
  Expr distance;
  std::vector<Expr> place;  ///< its coordinates
  Scope scope;
};

Names names_in(const Program& d, const Reading& reading, const StateField& field) {
  Names names{d.arena().symbol(kRadius), {}, Scope::in(reading)};
  names.scope.values.emplace("r", Value::of(names.distance));
  std::vector<Component> parts;
  for (int i = 0; i < field.rows; ++i) {
    const std::string axis(1, "xyz"[i]);
    names.place.push_back(d.arena().symbol("coordinate " + axis));
    parts.push_back({names.place.back(), {}});
    const dsl::Symbol* other = d.resolved.find(axis);
    if (!other || other->kind == dsl::SymbolKind::Construct)
      names.scope.values.emplace(axis, Value::of(names.place.back()));
  }
  names.scope.values[field.name] =
      field.rows == 1 ? Value::of(names.place[0]) : Value::vector(std::move(parts));
  return names;
}

/// A few values of the density are looked at before the run, for each of some values of its axes;
/// the draws look at all that they need.
void check_values(const Program& d, const dsl::Expr& at, const program::PointDensity& density,
                  const std::vector<std::vector<double>>& cases) {
  const int components = density.components;
  constexpr int kLooked = 2000;
  constexpr std::size_t kMostCases = 16;
  constexpr double kSteps[] = {0.8191725134, 0.6710436067, 0.5497004779};  // of a lattice of rank 1
  const std::size_t every = cases.size() / kMostCases + 1;
  for (std::size_t i = 0; i < cases.size(); i += every) {
    const program::Envelope envelope(density, cases[i]);
    for (int k = 0; k < kLooked; ++k) {
      std::array<double, 3> place{};
      for (int axis = 0; axis < components; ++axis) {
        const double part = (k + 0.5) * kSteps[axis];
        place[axis] = density.reach * (2 * (part - std::floor(part)) - 1);
      }
      const double f = envelope.density(place);
      if (!(f >= 0) || std::isinf(f)) d.fail(errors::no_density(at.span, place, components, f));
    }
    if (envelope.integral() == 0) d.fail(errors::density_is_zero(at.span, density.reach));
    if (std::isinf(envelope.integral()))
      d.fail(errors::density_without_bound(at.span, envelope.unbounded(), components));
  }
}

/// The density as a formula of the place and of the axes that it reads.
void read_formula(const Program& d, const dsl::Expr& at, Expr f, const Names& names,
                  program::PointDensity& density) {
  Expr square = d.arena().integer(0);
  for (const Expr x : names.place) square = square + algebra::pow(x, 2);
  f = algebra::substitute(f, names.distance, algebra::pow(square, d.arena().rational(1, 2)));
  std::vector<Expr> inputs = names.place, axes;
  density.axes = axes_of(d, f);
  for (const int axis : density.axes)
    axes.push_back(d.arena().symbol(d.axes[static_cast<std::size_t>(axis)].symbol));
  inputs.insert(inputs.end(), axes.begin(), axes.end());
  auto formula = formula_of(f, inputs);
  if (!formula) d.fail(errors::density_not_of_place(at.span));
  density.formula = *std::move(formula);
  std::vector<std::vector<double>> cases{{}};
  if (!axes.empty()) cases = in_all_cases(d, axes);
  check_values(d, at, density, cases);
}

}  // namespace

RandomField point_draw(const Program& d, Lowerer& lower, const dsl::Expr& e, const Reading& reading,
                       const StateField& field) {
  program::PointDensity density = read_options(d, lower, e, reading, field.rows);
  const Names names = names_in(d, reading, field);
  const dsl::Expr& given = *e.args[0];
  const Expr f = lower.real(given, "a density", names.scope);
  const bool of_place = std::ranges::any_of(
      names.place, [&](Expr coordinate) { return algebra::depends_on(f, coordinate); });
  if (of_place || !axes_of(d, f).empty()) {
    read_formula(d, given, f, names, density);
  } else {
    const Expr at_one = algebra::substitute(f, names.distance, d.arena().integer(1));
    if (!known_per_instance(d, at_one)) d.fail(errors::density_not_of_place(given.span));
    density.profile = profile(d, given, f, density.reach, field.rows);
  }
  density.species = species_sizes(d, lower);
  for (const int points : density.species)
    if (!has_room(points, density, field.rows))
      d.fail(errors::no_room_for_points(e.span, points, density.apart, density.reach));
  RandomField random;
  random.kind = RandomField::Kind::Points;
  random.components = field.rows;
  random.low = -density.reach, random.high = density.reach;
  random.density = static_cast<int>(d.collected.densities.size());
  d.collected.densities.push_back(std::move(density));
  return random;
}

}  // namespace vphi::physics
