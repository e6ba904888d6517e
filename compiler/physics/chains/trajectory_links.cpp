#include "compiler/physics/chains/trajectory_links.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/projected.hpp"
#include "compiler/physics/chains/gauge_fixing_errors.hpp"
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
  std::vector<int> labels;
  std::string identifier;
  int number = 0;
  std::set<int> made_of;  ///< numbers of the links that it holds; of an exponent the one it moves
  StateField field;       ///< array -1: nobody asked for links along this axis
  /// By axis: A is the gradient of this action of the base; empty where these links do not move.
  std::vector<gauge::LoopAction> steps;
  /// By axis: coordinates of A, of Z and of the slopes that go past it.
  std::vector<std::vector<int>> exponent, inserted, past;
  /// Of a projection, by axis: M as words of all links (gauge::kOtherLinks), and the numbers of M,
  /// in whose place those of K come (gauge::carried_projection); empty: nobody asked.
  bool projects = false;
  std::vector<std::vector<gauge::WeightedLinks>> sum;
  std::vector<std::vector<int>> argument;

  int base() const { return *made_of.begin(); }
};

struct TrajectoryLinks::State {
  std::vector<std::shared_ptr<Layer>> layers;
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

/// A matrix as stored numbers: re and im of each part.
gauge::Matrix matrix_of(Arena& arena, int n, const std::vector<int>& arrays,
                        algebra::Offset at = {}) {
  gauge::Matrix m{n, n, {}};
  for (std::size_t i = 0; i < arrays.size(); i += 2)
    m.parts.push_back({arena.load(arrays[i], at), arena.load(arrays[i + 1], at)});
  return m;
}

void store_matrix(Update& to, const std::vector<int>& arrays, const gauge::Matrix& m) {
  for (std::size_t i = 0; i < m.parts.size(); ++i) {
    to.values.emplace_back(arrays[2 * i], m.parts[i].re);
    to.values.emplace_back(arrays[2 * i + 1], m.parts[i].im);
  }
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

  /// M along an axis, as words of links that `made` knows, those of field k from
  /// gauge::kOtherLinks*k on.
  std::vector<gauge::WeightedLinks> words(int axis, const std::vector<int>& labels,
                                          const Reading& made) {
    const dsl::Expr& text = definition_.argument;
    const auto refuse = [&](const char* why) {
      d_.fail(errors::projection_not_carried(text.span, definition_.fact.name, why));
    };
    Reading reading = made;
    reading.joins_links = true;
    reading.trace_of = [&](const LinkPath&) -> Component {
      refuse("a trace");
      return {};
    };
    Scope scope = Scope::in(reading);
    for (std::size_t i = 0; i <= labels.size(); ++i) {
      IndexValue index;
      index.value = i == 0 ? axis : labels[i - 1];
      index.direction = true;
      scope.indices.emplace(definition_.fact.parameters[i], index);
    }
    const Value m = Lowerer(d_).value(text, scope);
    if (!m.path) refuse("more than a sum of products of links times numbers");
    std::vector<gauge::WeightedLinks> result;
    for (const PathTerm& term : *m.path) {
      const Component& c = term.weight;
      if (!is_fixed(d_, c.re) || (c.im && !is_fixed(d_, c.im)))
        refuse("a product of links with a coefficient that is not a fixed number");
      const gauge::Complex weight{c.re, c.im ? c.im : arena().integer(0)};
      if (weight.re.is_zero() && weight.im.is_zero()) continue;
      const LinkPath& path = term.path;
      if (!path.start.zero() || !(gauge::displacement(path.word) == gauge::one_step({axis, false})))
        refuse("a product of links that does not lead from the site to the next one");
      result.push_back({weight, gauge::links(path.word)});
    }
    if (result.empty()) refuse("no product of links");
    return result;
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
  with.made_links = [this](const std::string& name, const dsl::Expr& at, const std::set<int>& axes,
                           const std::vector<int>& labels) -> std::optional<MadeLinks> {
    const auto of = layer(name, at, axes, labels);
    if (!of) return std::nullopt;
    return MadeLinks{of->number, of->field};
  };
  with.links = link();
  return with;
}

int TrajectoryLinks::count() const { return static_cast<int>(state_->layers.size()) + 1; }

TrajectoryLinks::Layer& TrajectoryLinks::layer(int number) const {
  return *state_->layers[static_cast<std::size_t>(number - 1)];
}

const StateField& TrajectoryLinks::field(int number) const {
  return number == 0 ? *links_ : layer(number).field;
}

gauge::LinkOf TrajectoryLinks::link() const {
  return gauge::remembered([this](int axis, algebra::Offset at) {
    return links_of(d_, field(axis / gauge::kOtherLinks))(axis % gauge::kOtherLinks, at);
  });
}

std::vector<int> TrajectoryLinks::new_arrays(const Layer& of, const char* what, int axis,
                                             int number) const {
  std::vector<int> arrays;
  for (int i = 0; i < number; ++i) {
    arrays.push_back(d_.new_array());
    state_->memory.push_back(
        {arrays.back(), fmt::format("{}_{}_{}_{}", of.identifier, what, axis_name(axis), i + 1)});
  }
  return arrays;
}

std::shared_ptr<const TrajectoryLinks::Layer> TrajectoryLinks::layer(
    const std::string& name, const dsl::Expr& at, const std::set<int>& axes,
    const std::vector<int>& labels) const {
  const auto definition = definition_of_links(d_, name);
  if (!definition) return nullptr;
  if (definition->fixes) d_.fail(errors::gauge_in_action(at.span, name, definition->fact.span));
  check_labels(d_, *definition, at, labels);
  const auto place = std::ranges::find_if(state_->layers, [&](const auto& known) {
    return known->fact == &definition->fact && known->labels == labels;
  });
  if (place != state_->layers.end()) {
    const std::shared_ptr<Layer> known = *place;
    if (known->projects) add_projections(*known, *definition, axes);
    return known;
  }
  auto made = std::make_shared<Layer>();
  made->fact = &definition->fact;
  made->labels = labels;
  made->identifier = name;
  for (const int label : labels) made->identifier += fmt::format("_{}", axis_name(label));
  made->projects = definition->projects;
  if (made->projects) {
    if (!gauge::has_projection(links_->links->group))
      d_.fail(errors::not_yet(definition->argument.span, "a projection to SU(n) with n > 3"));
    made->field = named_links(*definition, *links_, labels);
    const auto dims = static_cast<std::size_t>(d_.grid.dims);
    made->field.arrays.assign(dims * static_cast<std::size_t>(made->field.links->reals()), -1);
    made->sum.resize(dims);
    made->argument.resize(dims);
    made->number = count();
    state_->layers.push_back(made);
    add_projections(*made, *definition, axes);
    return made;
  }
  int base = 0;
  if (definition->base != links_->name) {
    std::set<int> all;
    for (int axis = 0; axis < d_.grid.dims; ++axis) all.insert(axis);
    base = layer(definition->base, at, all, {})->number;
  }
  made->made_of = {base};
  made->field = named_links(*definition, field(base));
  const int reals = made->field.links->reals(), generators = made->field.links->group.generators();
  for (int axis = 0; axis < d_.grid.dims; ++axis) {
    made->steps.push_back(Reader(d_, *definition, field(base)).along(axis));
    const std::vector<int> own = new_arrays(*made, "link", axis, reals);
    made->field.arrays.insert(made->field.arrays.end(), own.begin(), own.end());
    const int moved = made->steps.back().empty() ? 0 : generators;
    made->exponent.push_back(new_arrays(*made, "exponent", axis, moved));
    made->inserted.push_back(new_arrays(*made, "inserted", axis, moved));
    made->past.push_back(new_arrays(*made, "past", axis, generators));
  }
  made->number = count();
  state_->layers.push_back(made);
  return made;
}

/// Links of a projection along these axes, and what they are made of.
void TrajectoryLinks::add_projections(Layer& to, const LinkDefinition& definition,
                                      const std::set<int>& axes) const {
  const int reals = to.field.links->reals(), n = to.field.links->group.n;
  for (const int axis : axes) {
    const auto place = static_cast<std::size_t>(axis);
    if (!to.argument[place].empty()) continue;
    to.argument[place] = new_arrays(to, "argument", axis, 2 * n * n);
    const std::vector<int> own = new_arrays(to, "link", axis, reals);
    std::ranges::copy(own, to.field.arrays.begin() + axis * reals);
    to.sum[place] = Reader(d_, definition, *links_).words(axis, to.labels, reading());
    for (const gauge::WeightedLinks& term : to.sum[place])
      for (const gauge::LinkAt& link : term.links)
        to.made_of.insert(link.axis / gauge::kOtherLinks);
  }
}

std::vector<int> TrajectoryLinks::with_sources(const std::set<int>& numbers) const {
  std::vector<int> order;
  std::set<int> seen{0};
  const auto add = [&](const auto& self, int number) -> void {
    if (!seen.insert(number).second) return;
    for (const int source : layer(number).made_of) self(self, source);
    order.push_back(number);
  };
  for (const int number : numbers) add(add, number);
  return order;
}

std::vector<Trajectory::Memory> TrajectoryLinks::memory() const { return state_->memory; }

std::vector<Update> TrajectoryLinks::made(const std::set<int>& numbers) const {
  std::vector<Update> updates;
  for (const int number : with_sources(numbers)) {
    const Layer& own = layer(number);
    const gauge::LinkType& type = *own.field.links;
    const auto update = [&](const char* what, int axis, const std::string& shown) -> Update& {
      Update& u = updates.emplace_back();
      u.name = fmt::format("{}_{}_{}", what, own.identifier, axis_name(axis));
      u.shown = shown;
      u.span = own.field.span;
      return u;
    };
    if (own.projects) {
      const gauge::LinkOf all = link();
      for (int axis = 0; axis < d_.grid.dims; ++axis) {
        const auto place = static_cast<std::size_t>(axis);
        if (own.argument[place].empty()) continue;
        gauge::LinkPathPlan plan;
        const gauge::Matrix m = gauge::sum_of_links(own.sum[place], all, &plan);
        const std::vector<Expr> stored = gauge::store(type, gauge::projected(type.group, m));
        Update& u = update("links", axis,
                           fmt::format("{} along {}: {} links read, {} products of matrices, and "
                                       "the projection",
                                       own.field.name, axis_name(axis), plan.links, plan.products));
        store_matrix(u, own.argument[place], m);
        const auto first = static_cast<std::size_t>(axis * type.reals());
        for (std::size_t i = 0; i < stored.size(); ++i)
          u.values.emplace_back(own.field.arrays[first + i], stored[i]);
      }
      continue;
    }
    const StateField& base = field(own.base());
    const gauge::LinkOf link = links_of(d_, base);
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
          stored.push_back(d_.arena().load(base.arrays[first + static_cast<std::size_t>(i)]));
      } else if (own.field.angle) {
        stored = {gauge::plus(d_.arena().load(base.arrays[first]), p[0])};
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
  std::set<int> sloping;
  for (const auto& [number, own] : slopes) sloping.insert(number);
  std::vector<int> order = with_sources(sloping);
  std::ranges::reverse(order);  // what holds links comes before what they are made of
  for (const int number : order) {
    const auto found = slopes.find(number);
    if (found == slopes.end()) continue;
    const LinkSlopes own = found->second;
    if (layer(number).projects)
      carry_projection(name, layer(number), own, slopes, updates);
    else
      carry_exponent(name, layer(number), own, slopes, updates);
  }
  return slopes[0];
}

void TrajectoryLinks::carry_projection(const std::string& name, const Layer& own,
                                       const LinkSlopes& f, std::map<int, LinkSlopes>& slopes,
                                       std::vector<Update>& updates) const {
  Arena& arena = d_.arena();
  const gauge::Group& group = own.field.links->group;
  std::vector<gauge::InsertedWord> words;
  for (int axis = 0; axis < d_.grid.dims; ++axis) {
    const auto place = static_cast<std::size_t>(axis);
    if (f[place].empty()) continue;
    Update& u = updates.emplace_back();
    u.name = fmt::format("carried_{}_{}_{}", name, own.identifier, axis_name(axis));
    u.shown = fmt::format("slopes of {} along {}, carried through its projection", own.field.name,
                          axis_name(axis));
    u.span = own.field.span;
    const std::vector<int>& argument = own.argument[place];
    store_matrix(u, argument,
                 gauge::carried_projection(group, matrix_of(arena, group.n, argument),
                                           links_of(d_, own.field)(axis, {}), f[place]));
    for (auto& [array, value] : u.values)  // M is 0 outside of the box
      value = in_box(d_, own.field, axis, value, arena.integer(0));
    for (const gauge::WeightedLinks& term : own.sum[place])
      words.push_back({axis, gauge::negative(term.weight), term.links});  // of dS
  }
  const gauge::LinkOf links = link();
  const gauge::LinkOf all = gauge::remembered([&](int axis, algebra::Offset at) {
    if (axis < gauge::kInserted) return links(axis, at);
    return matrix_of(arena, group.n,
                     own.argument[static_cast<std::size_t>(axis - gauge::kInserted)], at);
  });
  for (const int source : own.made_of) {
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      const int letter = gauge::kOtherLinks * source + axis;
      const auto staples = gauge::inserted_staples(words, letter);
      if (staples.empty()) continue;
      const gauge::Matrix w = gauge::times(links(letter, {}), gauge::sum_of_links(staples, all));
      add_slope(slopes[source], axis, gauge::projection(group, w));
    }
  }
}

void TrajectoryLinks::carry_exponent(const std::string& name, const Layer& own,
                                     const LinkSlopes& slope, std::map<int, LinkSlopes>& slopes,
                                     std::vector<Update>& updates) const {
  Arena& arena = d_.arena();
  const gauge::Group& group = own.field.links->group;
  const auto loads = [&](const std::vector<int>& arrays, algebra::Offset at = {}) {
    std::vector<Expr> values;
    for (const int array : arrays) values.push_back(arena.load(array, at));
    return values;
  };
  std::vector<gauge::LoopAction> down(own.steps.size());  // the words that have a Z
  for (int axis = 0; axis < d_.grid.dims; ++axis) {
    const auto place = static_cast<std::size_t>(axis);
    const std::vector<Expr>& f = slope[place];
    if (f.empty()) continue;
    Update& u = updates.emplace_back();
    u.name = fmt::format("carried_{}_{}_{}", name, own.identifier, axis_name(axis));
    u.shown = fmt::format("slopes of {} along {}, carried through its exponential", own.field.name,
                          axis_name(axis));
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
  const StateField& base = field(own.base());
  const gauge::LinkOf link = links_of(d_, base);
  const gauge::LinkOf all = gauge::remembered([&](int axis, algebra::Offset at) {
    if (axis < gauge::kInserted) return link(axis, at);
    const auto place = static_cast<std::size_t>(axis - gauge::kInserted);
    return gauge::algebra_element(group, loads(own.inserted[place], at));
  });
  const std::vector<gauge::InsertedWord> words = gauge::inserted_words(down);
  LinkSlopes& to = slopes[own.base()];
  for (int axis = 0; axis < d_.grid.dims; ++axis) {
    const auto place = static_cast<std::size_t>(axis);
    if (!slope[place].empty()) add_slope(to, axis, loads(own.past[place]));
    const auto staples = gauge::inserted_staples(words, axis);
    if (staples.empty()) continue;
    const gauge::Matrix w = gauge::times(link(axis, {}), gauge::sum_of_links(staples, all));
    add_slope(to, axis, gauge::projection(group, w));
  }
}

}  // namespace vphi::physics
