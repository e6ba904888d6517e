#include "compiler/physics/starts/point_start.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/algebra/evaluation.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/starts/init_errors.hpp"

namespace vphi::physics {

namespace {

constexpr int kShells = 8192;
constexpr const char* kRadius = "distance from the origin";

struct PointOptions {
  double reach = 0, apart = 0;
  bool centred = false;
};

PointOptions read_options(const Program& d, Lowerer& lower, const dsl::Expr& e,
                          const Reading& reading) {
  PointOptions out;
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
    if (option.name != "centred") continue;
    if (option.value->text != "on" && option.value->text != "off")
      d.fail(errors::option_value(option.span, "centred", "on or off"));
    out.centred = option.value->text == "on";
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
    if (!(value >= 0) || std::isinf(value)) d.fail(errors::no_density(at.span, r, value));
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
bool has_room(int points, const PointOptions& options, int components) {
  constexpr double kDensest[] = {1, 1, 0.90690, 0.74049};
  const double ratio = options.apart / (2 * options.reach + options.apart);
  return points < 2 ? true : points * std::pow(ratio, components) <= kDensest[components];
}

}  // namespace

RandomField point_draw(const Program& d, Lowerer& lower, const dsl::Expr& e, const Reading& reading,
                       int components) {
  const PointOptions options = read_options(d, lower, e, reading);
  Scope scope = Scope::in(reading);
  scope.values.emplace("r", Value::of(d.arena().symbol(kRadius)));
  const Expr f = lower.real(*e.args[0], "a density", scope);
  const Expr at_one = algebra::substitute(f, d.arena().symbol(kRadius), d.arena().integer(1));
  if (!known_per_instance(d, at_one) || !axes_of(d, at_one).empty())
    d.fail(errors::not_fixed(e.args[0]->span, "a density"));
  RandomField random;
  random.kind = RandomField::Kind::Uniform;  // program/points.hpp
  random.components = components;
  random.low = -options.reach, random.high = options.reach;
  random.cutoff = options.apart, random.as_it_is = !options.centred;
  random.powers = profile(d, *e.args[0], f, options.reach, components);
  random.leading = species_sizes(d, lower);
  for (const int points : random.leading)
    if (!has_room(points, options, components))
      d.fail(errors::no_room_for_points(e.span, points, options.apart, options.reach));
  return random;
}

}  // namespace vphi::physics
