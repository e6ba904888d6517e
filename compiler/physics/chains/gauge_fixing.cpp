#include "compiler/physics/chains/gauge_fixing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/heatbath.hpp"
#include "compiler/physics/chains/colours.hpp"
#include "compiler/physics/chains/gauge_fixing_errors.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Offset;

namespace {

constexpr double kTheta = 1e-14, kOmega = 1.7, kMost = 20000;
constexpr double kLeastTheta = 1e-26;  ///< sums of links in f64 have a theta of 1e-30 by rounding
constexpr const char* kBound = "theta";
constexpr const char* kSweeps = "max";
constexpr const char* kOmegaName = "omega";
constexpr const char* kColours = "colours";
constexpr std::array<const char*, 4> kWeights{"weight_x", "weight_y", "weight_z", "weight_t"};

/// c times the product of the links along a word from the site.
struct OpenPath {
  gauge::Complex weight;
  gauge::Word word;
  Offset end;
};

class GaugeMaker {
 public:
  GaugeMaker(const Program& d, Lowerer& lower, const LinkDefinition& definition,
             const StateField& base)
      : d_(d), lower_(lower), definition_(definition), base_(base), link_(links_of(d, base)) {}

  LinearSystem made(const std::string& name) {
    const std::vector<OpenPath> all = paths();
    const gauge::Colouring colouring = colours(all);
    LinearSystem system;
    const std::string number = std::to_string(d_.collected.solves.size() + 1);
    system.name = name;
    system.iterations = "solve_iterations_" + number;
    system.residual = "solve_residual_" + number;
    system.span = definition_.fixes->span;
    system.wide = true;
    const gauge::LinkType type = stored_turns(group());
    system.rows = type.reals();
    system.source = gauge::store(type, gauge::identity(arena(), group().n));
    for (int i = 0; i < type.reals(); ++i) system.arrays.push_back(d_.new_array());
    const gauge::Matrix g = turn(system, {}), w = around_site(system, all);
    const Expr omega = arena().real(option(kOmegaName, kOmega, 1, 2));
    const gauge::Matrix moved = gauge::reunitarised(group(), gauge::relaxed(group(), g, w, omega));
    system.op.stages = {{system.arrays, gauge::store(type, moved), -1}};
    system.op.image = {divergence2(gauge::times(g, w))};
    auto text = std::make_shared<text::Solver>();
    text->name = definition_.fixes->text;
    text->span = system.span;
    system.solver = std::move(text);
    set_options(system, colouring);
    return system;
  }

  gauge::Matrix turn(const LinearSystem& system, Offset at) const {
    std::vector<Expr> stored;
    for (const int array : system.arrays) stored.push_back(arena().load(array, at));
    return gauge::load(stored_turns(group()), stored);
  }

  gauge::Matrix turned(const LinearSystem& system, int axis) const {
    return gauge::times(gauge::times(turn(system, {}), link_(axis, {})),
                        gauge::adjoint(turn(system, gauge::one_step({axis}))));
  }

 private:
  Arena& arena() const { return d_.arena(); }
  const gauge::Group& group() const { return base_.links->group; }

  [[noreturn]] void refuse(const char* why) const {
    d_.fail(errors::gauge_not_of_paths(definition_.argument.span, why));
  }

  /// M as products of links along open paths, each from the site.
  std::vector<OpenPath> paths() {
    if (base_.roots > 0)
      d_.fail(errors::gauge_of_roots(definition_.fact.span, base_.name, base_.roots));
    Reading reading;
    reading.trace_of = [this](const LinkPath&) -> Component { refuse("a trace"); };
    reading.made_links = [this](const std::string& name, const dsl::Expr&, const std::set<int>&,
                                const std::vector<int>&) {
      return name == definition_.base ? std::optional(MadeLinks{kOfBase, base_}) : std::nullopt;
    };
    const Value m = lower_.value(definition_.argument, Scope::in(reading));
    if (!m.path) refuse("more than a sum of products of links times numbers");
    std::vector<OpenPath> result;
    for (const PathTerm& term : *m.path) {
      const Component& c = term.weight;
      const Expr im = c.im ? c.im : arena().integer(0);
      if (!algebra::constant(c.re) || !algebra::constant(im))
        refuse("a product of links with a coefficient that is not a fixed number");
      if (c.re.is_zero() && im.is_zero()) continue;
      if ((term.path.of == kOfBase) != (d_.field(definition_.base) == nullptr))
        refuse("links of another definition than those that are turned");
      const Offset end = gauge::displacement(term.path.word);
      if (end.zero()) refuse("a closed path, whose trace is the same in every gauge");
      result.push_back({{c.re, im}, term.path.word, end});
    }
    if (result.empty()) refuse("no product of links");
    return result;
  }

  gauge::Colouring colours(const std::vector<OpenPath>& all) const {
    std::vector<Offset> joined;
    for (const OpenPath& path : all)
      for (const Offset end : {path.end, algebra::mirrored(path.end)})
        if (std::ranges::find(joined, end) == joined.end()) joined.push_back(end);
    return colouring_of(d_, joined,
                        {"sites", "path of its sum", fmt::format("`{}`", definition_.fact.name)});
  }

  /// W(x): F is Re tr(g(x) W(x)) and terms without g(x).
  gauge::Matrix around_site(const LinearSystem& system, const std::vector<OpenPath>& all) const {
    const auto add = [](std::optional<gauge::Matrix>& sum, const gauge::Matrix& one) {
      sum = sum ? gauge::plus(*sum, one) : one;
    };
    std::optional<gauge::Matrix> sum;
    for (const OpenPath& path : all) {
      const Offset start = algebra::mirrored(path.end);
      const gauge::Matrix ahead = gauge::along(path.word, {}, link_);
      const gauge::Matrix behind = gauge::adjoint(gauge::along(path.word, start, link_));
      const auto weighted = [&](gauge::Complex weight, const gauge::Matrix& links, Offset other) {
        const gauge::Matrix product = gauge::times(links, gauge::adjoint(turn(system, other)));
        add(sum,
            weight.im.is_zero() ? gauge::times(weight.re, product) : gauge::times(weight, product));
      };
      weighted(path.weight, ahead, path.end);
      weighted(gauge::conjugate(path.weight), behind, start);
    }
    return *sum;
  }

  /// tr(D D^+)/n of D = TA(M): with D = i d_a T_a this is d_a d_a/(2n), and Im tr(T_a M) = d_a/2;
  /// of U(1) T is 1.
  Expr divergence2(const gauge::Matrix& m) const {
    Expr sum = arena().integer(0);
    for (const Expr part : gauge::projection(group(), m))
      sum = gauge::plus(sum, gauge::square(part));
    return group().kind == gauge::Kind::U1 ? sum
                                           : gauge::times(arena().rational(2, group().n), sum);
  }

  const dsl::NamedArgument* named(const std::string& name) const {
    for (const dsl::NamedArgument& one : definition_.fixes->named)
      if (one.name == name) return &one;
    return nullptr;
  }

  double option(const std::string& name, double otherwise, double least, double most) {
    const dsl::NamedArgument* given = named(name);
    if (!given) return otherwise;
    const auto value =
        static_cast<double>(lower_.fixed_number(*given->value, fmt::format("`{}`", name)));
    const bool whole = name != kSweeps || value == std::floor(value);
    if (value < least || value > most || (name == kOmegaName && value == most) || !whole)
      d_.fail(errors::gauge_option(given->value->span, name,
                                   name == kSweeps
                                       ? "a whole number from 1 on"
                                       : fmt::format("a number from {:g} to {}{:g}", least,
                                                     name == kOmegaName ? "below " : "", most)));
    return value;
  }

  void set_options(LinearSystem& system, const gauge::Colouring& colouring) {
    const auto set = [&](const char* name, double value) {
      system.options.emplace_back(name, arena().real(value));
    };
    set(kBound, option(kBound, kTheta, kLeastTheta, 1));
    set(kSweeps, option(kSweeps, kMost, 1, 1e9));
    set(kColours, colouring.colours);
    for (std::size_t axis = 0; axis < kWeights.size(); ++axis)
      set(kWeights[axis], colouring.a[axis]);
  }

  static constexpr int kOfBase = 1;  ///< LinkPath::of of links that a definition makes

  const Program& d_;
  Lowerer& lower_;
  const LinkDefinition& definition_;
  const StateField& base_;
  const gauge::LinkOf link_;
};

double option_of(const LinearSystem& system, const std::string& name) {
  for (const auto& [known, value] : system.options)
    if (known == name) return static_cast<double>(value->number.real);
  return 0;
}

}  // namespace

gauge::LinkType stored_turns(const gauge::Group& group) { return gauge::default_storage(group); }

std::size_t gauge_of(const Program& d, Lowerer& lower, const LinkDefinition& definition,
                     const StateField& base) {
  const std::string name = fmt::format("gauge of {}", definition.fact.name);
  auto& solves = d.collected.solves;
  for (std::size_t i = 0; i < solves.size(); ++i)
    if (solves[i].name == name && solves[i].span == definition.fixes->span) return i;
  LinearSystem system = GaugeMaker(d, lower, definition, base).made(name);
  solves.push_back(std::move(system));
  return solves.size() - 1;
}

gauge::Matrix turned_link(const Program& d, Lowerer& lower, const LinkDefinition& definition,
                          const LinearSystem& system, const StateField& base, int axis) {
  return GaugeMaker(d, lower, definition, base).turned(system, axis);
}

std::optional<Relaxation> relaxation_of(const LinearSystem& system) {
  if (system.op.stages.size() != 1 || system.op.stages[0].arrays != system.arrays)
    return std::nullopt;
  Relaxation result;
  Update& update = result.update;
  for (std::size_t i = 0; i < system.arrays.size(); ++i)
    update.values.emplace_back(system.arrays[i], system.op.stages[0].values[i]);
  update.modulus = static_cast<int>(option_of(system, kColours));
  for (std::size_t axis = 0; axis < kWeights.size(); ++axis)
    update.weights[axis] = static_cast<int>(option_of(system, kWeights[axis]));
  update.span = system.span;
  const gauge::Colouring colouring{update.weights, update.modulus};
  update.shown = fmt::format("`{}` is found at the sites of {}, in place", system.name,
                             colours_text(colouring, static_cast<int>(kWeights.size())));
  result.left = system.op.image[0];
  result.bound = option_of(system, kBound);
  result.most = std::llround(option_of(system, kSweeps));
  return result;
}

}  // namespace vphi::physics
