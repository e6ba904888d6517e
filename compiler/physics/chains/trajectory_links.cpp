#include "compiler/physics/chains/trajectory_links.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/chains/loop_actions.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::physics {

using algebra::Op;

void add_slope(LinkSlopes& to, int axis, const std::vector<Expr>& parts) {
  std::vector<Expr>& own = to[static_cast<std::size_t>(axis)];
  for (std::size_t a = 0; a < parts.size(); ++a) {
    if (own.size() <= a)
      own.push_back(parts[a]);
    else
      own[a] = gauge::plus(own[a], parts[a]);
  }
}

/// The links of one definition.
struct TrajectoryLinks::Layer {
  const NamedFact* fact = nullptr;
  int number = 0;
  int base = 0;  ///< number of the links that it moves
  StateField field;
  /// By axis: A is the gradient of this action of the base; empty where these links do not move.
  std::vector<gauge::LoopAction> steps;
  /// By axis: coordinates of A, of Z and of the slopes that go past it.
  std::vector<std::vector<int>> exponent, inserted, past;
};

struct TrajectoryLinks::State {
  std::vector<std::shared_ptr<const Layer>> layers;
  std::vector<Trajectory::Memory> memory;
};

namespace {

const char* axis_name(int axis) { return algebra::kAxisNames[axis]; }

/// Whether the value stays the same during a run of one instance.
bool is_fixed(const Motion& d, Expr e) {
  return !algebra::contains(e, [&](Expr node) {
    if (node.is(Op::Load)) return true;
    return node.is(Op::Symbol) &&
           std::ranges::find(d.axes, node->name, &Axis::symbol) == d.axes.end();
  });
}

/// Twice the size for which exponentials of A are made: a difference of two eigenvalues.
int slope_terms() { return gauge::exponential_terms(0x1p-53, 4); }

}  // namespace

/// Reads one definition.
class TrajectoryLinks::Reader {
 public:
  Reader(const Motion& d, const LinkDefinition& definition, const StateField& base)
      : d_(d), definition_(definition), base_(base) {}

  /// A along an axis, as the gradient of a sum of loops.
  gauge::LoopAction along(int axis) {
    std::vector<std::pair<Expr, gauge::LoopAction>> gradients;
    const Refusal refuse = [](dsl::Span span, const std::string& why) {
      return errors::links_not_carried(span, why);
    };
    Reading reading;
    reading.gradient_by_links = [&](const dsl::Expr& f, int by, dsl::Span span,
                                    const Scope& scope) {
      if (by >= 0 && by != axis) d_.fail(errors::flow_of_another_direction(span));
      const Expr name = arena().symbol(fmt::format("gradient {}", gradients.size() + 1));
      gradients.emplace_back(name, read_loops(d_, base_, f, scope, refuse));
      return Value::of(name);
    };
    IndexValue direction;
    direction.value = axis;
    direction.direction = true;
    Scope scope = Scope::in(reading);
    scope.indices.emplace(definition_.fact.parameters[0], direction);
    const dsl::Expr& text = definition_.argument;
    std::set<std::string> seen;
    if (const dsl::Expr* part = carried_part(text, seen))
      d_.fail(refuse(part->span, "links or neighbours outside of a gradient"));
    const Value a = Lowerer(d_).value(text, scope);
    if (!a.scalar() || a.acts || a.spinor || a.complex())
      d_.fail(refuse(text.span, "more than a sum of gradients times numbers"));
    Expr rest = a.parts[0].re;
    gauge::LoopAction step;
    for (auto& [name, loops] : gradients) {
      const Expr weight = algebra::derivative(a.parts[0].re, name);
      if (!is_fixed(d_, weight))
        d_.fail(refuse(text.span, "a gradient that is not multiplied by a fixed number"));
      rest = algebra::substitute(rest, name, arena().integer(0));
      for (gauge::LoopTerm& term : loops) {
        if (!is_fixed(d_, term.coefficient))
          d_.fail(refuse(text.span, "a loop with a coefficient that is not a fixed number"));
        term.coefficient = term.coefficient * weight;
        step.push_back(std::move(term));
      }
    }
    if (!algebra::constant(rest) || !rest.is_zero())
      d_.fail(refuse(text.span, "more than a sum of gradients times numbers"));
    step = gauge::collected(step);
    return gauge::staple_paths(step, axis).empty() ? gauge::LoopAction{} : step;
  }

 private:
  Arena& arena() const { return d_.arena(); }

  /// Links or neighbours outside of a derivative `d(...)`, here or in a definition that is named;
  /// null: there are none.
  const dsl::Expr* carried_part(const dsl::Expr& e, std::set<std::string>& seen) const {
    using Kind = dsl::ExprKind;
    if (e.kind == Kind::Shift || (e.kind == Kind::Name && e.text == base_.name)) return &e;
    if (e.kind == Kind::Call && e.text == "d" && e.args.size() == 2) return nullptr;
    const dsl::Builtin* builtin = e.kind == Kind::Call ? dsl::find_builtin(e.text) : nullptr;
    if (builtin && builtin->rule == dsl::Rule::Colours) return nullptr;
    if (e.kind == Kind::Name || e.kind == Kind::Call) {
      const NamedFact* fact = d_.facts.find(e.text);
      if (fact && fact->value && seen.insert(e.text).second && carried_part(*fact->value, seen))
        return &e;
    }
    for (const dsl::ExprPtr& arg : e.args)
      if (const dsl::Expr* part = carried_part(*arg, seen)) return part;
    return nullptr;
  }

  const Motion& d_;
  const LinkDefinition& definition_;
  const StateField& base_;
};

TrajectoryLinks::TrajectoryLinks(const Motion& d, const StateField* links)
    : d_(d), links_(links), state_(std::make_shared<State>()) {}

Reading TrajectoryLinks::reading(Reading with) const {
  if (!links_) return with;
  with.made_links = [this](const std::string& name,
                           const dsl::Expr& at) -> std::optional<MadeLinks> {
    const auto of = layer(name, at);
    if (!of) return std::nullopt;
    return MadeLinks{of->number, of->field};
  };
  with.links = link();
  return with;
}

int TrajectoryLinks::count() const { return static_cast<int>(state_->layers.size()) + 1; }

const StateField& TrajectoryLinks::field(int number) const {
  return number == 0 ? *links_ : state_->layers[static_cast<std::size_t>(number - 1)]->field;
}

gauge::LinkOf TrajectoryLinks::link() const {
  return gauge::remembered([this](int axis, algebra::Offset at) {
    return links_of(d_.arena(), field(axis / gauge::kOtherLinks))(axis % gauge::kOtherLinks, at);
  });
}

std::shared_ptr<const TrajectoryLinks::Layer> TrajectoryLinks::layer(const std::string& name,
                                                                     const dsl::Expr& at) const {
  const auto definition = definition_of_links(d_, name);
  if (!definition) return nullptr;
  if (definition->projects) d_.fail(errors::projection_not_carried(at.span, name));
  for (const auto& known : state_->layers)
    if (known->fact == &definition->fact) return known;
  int base = 0;
  if (definition->base != links_->name) base = layer(definition->base, at)->number;
  auto made = std::make_shared<Layer>();
  made->fact = &definition->fact;
  made->base = base;
  made->field = named_links(*definition, field(base));
  const auto arrays = [&](const char* what, int axis, int number, std::vector<int>& to) {
    for (int i = 0; i < number; ++i) {
      to.push_back(d_.new_array());
      state_->memory.push_back(
          {to.back(), fmt::format("{}_{}_{}_{}", name, what, axis_name(axis), i + 1)});
    }
  };
  const int reals = made->field.links->reals(), generators = made->field.links->group.generators();
  for (int axis = 0; axis < d_.grid.dims; ++axis) {
    made->steps.push_back(Reader(d_, *definition, field(base)).along(axis));
    arrays("link", axis, reals, made->field.arrays);
    const int moved = made->steps.back().empty() ? 0 : generators;
    arrays("exponent", axis, moved, made->exponent.emplace_back());
    arrays("inserted", axis, moved, made->inserted.emplace_back());
    arrays("past", axis, generators, made->past.emplace_back());
  }
  made->number = count();
  state_->layers.push_back(made);
  return made;
}

std::vector<Trajectory::Memory> TrajectoryLinks::memory() const { return state_->memory; }

std::vector<Update> TrajectoryLinks::made(const std::set<int>& numbers) const {
  std::set<int> wanted;
  for (int number : numbers)
    for (; number > 0; number = state_->layers[static_cast<std::size_t>(number - 1)]->base)
      wanted.insert(number);
  std::vector<Update> updates;
  for (const int number : wanted) {  // what a definition is made of has a smaller number
    const Layer& own = *state_->layers[static_cast<std::size_t>(number - 1)];
    const gauge::LinkType& type = *own.field.links;
    const gauge::LinkOf link = links_of(d_.arena(), field(own.base));
    const auto update = [&](const char* what, int axis, const std::string& shown) -> Update& {
      Update& u = updates.emplace_back();
      u.name = fmt::format("{}_{}_{}", what, own.field.name, axis_name(axis));
      u.shown = shown;
      u.span = own.field.span;
      return u;
    };
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      const auto place = static_cast<std::size_t>(axis);
      const std::vector<int>& exponent = own.exponent[place];
      if (exponent.empty()) continue;
      gauge::LoopAction down = own.steps[place];
      for (gauge::LoopTerm& term : down) term.coefficient = -term.coefficient;
      gauge::LinkPathPlan plan;
      const gauge::Matrix v = gauge::staple_sum(down, axis, link, &plan);
      const std::vector<Expr> p = gauge::projection(type.group, gauge::times(link(axis, {}), v));
      Update& u =
          update("exponent", axis,
                 fmt::format("exponent of {} along {}: {} links read, {} products of "
                             "matrices",
                             own.field.name, axis_name(axis), plan.links + 1, plan.products + 1));
      for (std::size_t a = 0; a < p.size(); ++a) u.values.emplace_back(exponent[a], p[a]);
    }
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      const auto place = static_cast<std::size_t>(axis);
      std::vector<Expr> p, stored;
      for (const int array : own.exponent[place]) p.push_back(d_.arena().load(array));
      const gauge::Matrix u = link(axis, {});
      const auto first = static_cast<std::size_t>(axis * type.reals());
      if (p.empty()) {
        for (int i = 0; i < type.reals(); ++i)
          stored.push_back(
              d_.arena().load(field(own.base).arrays[first + static_cast<std::size_t>(i)]));
      } else if (own.field.angle) {
        stored = {gauge::plus(d_.arena().load(field(own.base).arrays[first]), p[0])};
      } else {
        const int terms = gauge::exponential_terms(0x1p-53);
        stored = gauge::store(
            type, gauge::reunitarised(type.group,
                                      gauge::times(gauge::exponential(type.group, p, terms), u)));
      }
      Update& to =
          update("links", axis, fmt::format("{} along {}", own.field.name, axis_name(axis)));
      for (std::size_t i = 0; i < stored.size(); ++i)
        to.values.emplace_back(own.field.arrays[first + i], stored[i]);
    }
  }
  return updates;
}

LinkSlopes TrajectoryLinks::carried(const std::string& name, std::map<int, LinkSlopes> slopes,
                                    std::vector<Update>& updates) const {
  Arena& arena = d_.arena();
  for (int number = count() - 1; number > 0; --number) {
    const auto found = slopes.find(number);
    if (found == slopes.end()) continue;
    const Layer& own = *state_->layers[static_cast<std::size_t>(number - 1)];
    const gauge::Group& group = own.field.links->group;
    const auto loads = [&](const std::vector<int>& arrays, algebra::Offset at = {}) {
      std::vector<Expr> values;
      for (const int array : arrays) values.push_back(arena.load(array, at));
      return values;
    };
    std::vector<gauge::LoopAction> down(own.steps.size());  // the words that have a Z
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      const auto place = static_cast<std::size_t>(axis);
      const std::vector<Expr>& f = found->second[place];
      if (f.empty()) continue;
      Update& u = updates.emplace_back();
      u.name = fmt::format("carried_{}_{}_{}", name, own.field.name, axis_name(axis));
      u.shown = fmt::format("slopes of {} along {}, carried through its exponential",
                            own.field.name, axis_name(axis));
      u.span = own.field.span;
      gauge::CarriedSlope carried{{}, f};
      if (!own.exponent[place].empty()) {
        carried = gauge::carried_slope(group, loads(own.exponent[place]), f, slope_terms());
        down[place] = own.steps[place];
        for (gauge::LoopTerm& term : down[place]) term.coefficient = -term.coefficient;
      }
      for (std::size_t a = 0; a < carried.of_exponent.size(); ++a)
        u.values.emplace_back(own.inserted[place][a], carried.of_exponent[a]);
      for (std::size_t a = 0; a < f.size(); ++a)
        u.values.emplace_back(own.past[place][a], carried.of_link[a]);
    }
    const gauge::LinkOf link = links_of(arena, field(own.base));
    const gauge::LinkOf all = gauge::remembered([&](int axis, algebra::Offset at) {
      if (axis < gauge::kInserted) return link(axis, at);
      const auto place = static_cast<std::size_t>(axis - gauge::kInserted);
      return gauge::algebra_element(group, loads(own.inserted[place], at));
    });
    LinkSlopes& to = slopes[own.base];
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      const auto place = static_cast<std::size_t>(axis);
      if (!slopes.at(number)[place].empty()) add_slope(to, axis, loads(own.past[place]));
      const auto staples = gauge::inserted_staples(down, axis);
      if (staples.empty()) continue;
      const gauge::Matrix w = gauge::times(link(axis, {}), gauge::sum_of_links(staples, all));
      add_slope(to, axis, gauge::projection(group, w));
    }
  }
  return slopes[0];
}

}  // namespace vphi::physics
