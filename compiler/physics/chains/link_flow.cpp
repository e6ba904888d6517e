#include "compiler/physics/chains/link_flow.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/action.hpp"
#include "compiler/gauge/decay.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/chains/loop_actions.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "dsl/syntax/parse.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::ExprKind;

namespace {

const StateField* flowing(const Declared& d) {
  const auto found = std::ranges::find_if(d.fields, [&](const StateField& field) {
    return field.links && d.facts.equation(field.name) != nullptr;
  });
  return found == d.fields.end() ? nullptr : &*found;
}

class LinkFlowReader {
 public:
  LinkFlowReader(const Motion& d, Lowerer& lower) : d_(d), lower_(lower), field_(*flowing(d)) {}

  LinkFlow read() {
    const dsl::Definition& equation = *d_.facts.equation(field_.name)->definition;
    right_ = equation.value.get();
    std::set<std::string> seen;
    if (carries(*right_, seen)) {
      if (equation.head.args.empty()) d_.fail(errors::flow_without_direction(right_->span));
      read_carried(equation.head.args[0]->text);
    } else {
      const bool indexed = !equation.head.args.empty();
      read_sum(indexed ? equation.head.args[0]->text : std::string());
    }
    make_move();
    return finish();
  }

 private:
  /// The gradient of one action.
  struct Gradient {
    std::string text;
    gauge::LoopAction loops;
    Expr name;                                  ///< stands for it in sums
    std::vector<std::vector<int>> arrays = {};  ///< by axis: its coordinates, where it is carried
  };

  Arena& arena() { return d_.arena(); }
  const gauge::Group& group() const { return field_.links->group; }
  int dims() const { return d_.grid.dims; }

  // ---- the right side ---------------------------------------------------------------------------

  /// Whether the expression holds links or neighbours outside of a derivative `d(...)`.
  bool carries(const dsl::Expr& e, std::set<std::string>& seen) const {
    if (e.kind == ExprKind::Shift) return true;
    if (is_gradient_of_links(e)) return false;
    if (e.kind == ExprKind::Name && e.text == field_.name) return true;
    if (e.kind == ExprKind::Name || e.kind == ExprKind::Call) {
      const NamedFact* fact = d_.facts.find(e.text);
      if (fact && fact->value && seen.insert(e.text).second && carries(*fact->value, seen))
        return true;
    }
    return std::ranges::any_of(e.args,
                               [&](const dsl::ExprPtr& arg) { return carries(*arg, seen); });
  }

  bool is_gradient_of_links(const dsl::Expr& e) const {
    if (e.kind != ExprKind::Call || e.text != "d" || e.args.size() != 2) return false;
    const dsl::Expr& by = *e.args[1];
    const dsl::Expr& base = by.kind == ExprKind::Index && !by.args.empty() ? *by.args[0] : by;
    return base.kind == ExprKind::Name && base.text == field_.name;
  }

  Gradient& gradient(const dsl::Expr& f, const Scope& scope) {
    const Refusal refuse = [](dsl::Span span, const std::string& why) {
      return errors::flow_not_of_loops(span, why);
    };
    gauge::LoopAction loops = read_loops(d_, field_, f, scope, refuse);
    if (loops.empty()) d_.fail(refuse(f.span, "no loop of links"));
    for (const gauge::LoopTerm& term : loops)
      if (!fixed(term.coefficient))
        d_.fail(refuse(f.span, "a coefficient that is not a fixed number"));
    const std::string text = fmt::format("d({}, {})", dsl::to_text(f), field_.name);
    const auto same = [&](const Gradient& g) { return g.text == text && equal(g.loops, loops); };
    const auto known = std::ranges::find_if(gradients_, same);
    if (known != gradients_.end()) return *known;
    const auto namesakes = std::ranges::count(gradients_, text, &Gradient::text);
    const Expr name = arena().symbol(namesakes == 0 ? text : fmt::format("{} {}", text, namesakes));
    return gradients_.emplace_back(Gradient{text, std::move(loops), name});
  }

  /// Whether the value stays the same during a run of one instance.
  bool fixed(Expr e) const {
    return !algebra::contains(e, [&](Expr node) {
      if (node.is(Op::Load)) return true;
      return node.is(Op::Symbol) &&
             std::ranges::find(d_.axes, node->name, &Axis::symbol) == d_.axes.end();
    });
  }

  static bool equal(const gauge::LoopAction& a, const gauge::LoopAction& b) {
    return std::ranges::equal(a, b, [](const gauge::LoopTerm& x, const gauge::LoopTerm& y) {
      return x.coefficient == y.coefficient && x.loop == y.loop && x.imaginary == y.imaginary;
    });
  }

  Scope direction(const std::string& index, int axis, const Reading& reading) const {
    Scope scope = Scope::in(reading);
    if (index.empty()) return scope;
    IndexValue value;
    value.value = axis;
    value.direction = true;
    scope.indices.emplace(index, value);
    return scope;
  }

  /// Reads a sum of gradients times numbers as one gradient, that of the sum of the actions.
  void read_sum(const std::string& index) {
    for (int axis = 0; axis < (index.empty() ? 1 : dims()); ++axis) {
      Reading reading;
      reading.gradient_by_links = [&](const dsl::Expr& f, int by, dsl::Span span,
                                      const Scope& scope) {
        if (by >= 0 && (by != axis || index.empty()))
          d_.fail(errors::flow_of_another_direction(span));
        return Value::of(gradient(f, scope).name);
      };
      const Expr right = lower_.real(*right_, fmt::format("the equation of `{}`", field_.name),
                                     direction(index, axis, reading));
      if (axis == 0) {
        read_weights(right);
      } else if (!(right == shown_)) {
        d_.fail(errors::not_yet(right_->span, "a flow that differs between directions"));
      }
    }
    for (int axis = 0; axis < dims(); ++axis) {
      if (gauge::staple_paths(action_, axis).empty()) continue;  // free links do not move
      gauge::LinkPathPlan plan;
      Update& rate = flow_.rates.emplace_back(
          update(fmt::format("rate_{}", algebra::kAxisNames[axis]),
                 "force on links along " + std::string(algebra::kAxisNames[axis])));
      const auto slope = force(action_, axis, plan);
      for (const Expr part : slope)
        rate.values.emplace_back(displacement(axis), of_moving(d_, field_, axis, part));
      rate.shown += fmt::format(": {} links read, {} products of matrices", plan.links + 1,
                                plan.products + 1);
    }
  }

  void read_weights(Expr right) {
    shown_ = right;
    Expr rest = right;
    for (const Gradient& g : gradients_) {
      const Expr weight = algebra::derivative(right, g.name);
      if (!fixed(weight))
        d_.fail(errors::flow_not_of_loops(right_->span, "not a fixed number times it"));
      rest = algebra::substitute(rest, g.name, arena().integer(0));
      for (gauge::LoopTerm term : g.loops) {
        term.coefficient = term.coefficient * weight;
        action_.push_back(std::move(term));
      }
    }
    if (!algebra::constant(rest) || !rest.is_zero() || gradients_.empty())
      d_.fail(errors::flow_not_of_loops(right_->span, "beside gradients"));
    action_ = gauge::collected(action_);
    // the flow goes down this action: the rates are its forces
    for (gauge::LoopTerm& term : action_) term.coefficient = -term.coefficient;
  }

  /// -dS/dw_a of each coordinate of the links along `axis`.
  std::vector<Expr> force(const gauge::LoopAction& action, int axis, gauge::LinkPathPlan& plan) {
    const gauge::LinkOf link = links_of(d_, field_);
    const gauge::Matrix v = gauge::staple_sum(action, axis, link, &plan);
    return gauge::projection(group(), gauge::times(link(axis, {}), v));
  }

  // ---- gradients that are carried along links ---------------------------------------------------

  void read_carried(const std::string& index) {
    for (int axis = 0; axis < dims(); ++axis) {
      Reading reading;
      reading.gradient_by_links = [&](const dsl::Expr& f, int by, dsl::Span, const Scope& scope) {
        return element(gradient(f, scope), by < 0 ? axis : by);
      };
      // a reader of its own: a name in it has another value along each axis
      const Value right = Lowerer(d_).value(*right_, direction(index, axis, reading));
      const int n = group().n;
      if (right.rows != n || right.columns != n)
        d_.fail(errors::flow_not_of_loops(right_->span, "of another shape than the links"));
      gauge::Matrix a{n, n, {}};
      const Expr none = arena().integer(0);
      for (const Component& part : right.parts)
        a.parts.push_back({part.re, part.im ? part.im : none});
      Update& rate = flow_.rates.emplace_back(
          update(fmt::format("rate_{}", algebra::kAxisNames[axis]),
                 "gradients carried to links along " + std::string(algebra::kAxisNames[axis])));
      // Im tr(T_a A) is half of z_a but for U(1)
      const Expr scale = arena().integer(group().kind == gauge::Kind::U1 ? 1 : 2);
      for (const Expr part : gauge::projection(group(), a))
        rate.values.emplace_back(displacement(axis),
                                 of_moving(d_, field_, axis, gauge::times(scale, part)));
    }
    shown_ = arena().symbol(dsl::to_text(*right_));
    for (Gradient& g : gradients_) {
      for (int axis = 0; axis < dims(); ++axis) {
        gauge::LinkPathPlan plan;
        gauge::LoopAction slope = g.loops;
        for (gauge::LoopTerm& term : slope) term.coefficient = -term.coefficient;
        if (gauge::staple_paths(slope, axis).empty())
          d_.fail(errors::not_yet(right_->span, "carrying the gradient of links that are free"));
        const std::vector<Expr> parts = force(slope, axis, plan);
        const std::vector<int>& arrays = coordinates(g, axis);
        Update& made = flow_.gradients.emplace_back(update(
            fmt::format("gradient_{}", algebra::kAxisNames[axis]),
            fmt::format("{} of links along {}: {} links read, {} products of matrices", g.text,
                        algebra::kAxisNames[axis], plan.links + 1, plan.products + 1)));
        for (std::size_t a = 0; a < parts.size(); ++a)
          made.values.emplace_back(arrays[a], parts[a]);
      }
    }
  }

  const std::vector<int>& coordinates(Gradient& g, int axis) {
    if (g.arrays.empty()) {
      g.arrays.resize(static_cast<std::size_t>(dims()));
      for (auto& arrays : g.arrays)
        for (int a = 0; a < group().generators(); ++a) arrays.push_back(d_.new_array());
    }
    return g.arrays[static_cast<std::size_t>(axis)];
  }

  /// i g_a T_a, g_a in memory.
  Value element(Gradient& g, int axis) {
    std::vector<Expr> p;
    for (const int array : coordinates(g, axis)) p.push_back(arena().load(array));
    const gauge::Matrix a = gauge::algebra_element(group(), p);
    Value result{a.rows, a.columns, {}};
    for (const gauge::Complex& part : a.parts) result.parts.push_back({part.re, part.im});
    return result;
  }

  // ---- the rest ---------------------------------------------------------------------------------

  Update update(std::string name, std::string shown) const {
    Update u;
    u.name = std::move(name);
    u.shown = std::move(shown);
    u.span = right_->span;
    return u;
  }

  /// The array of one more coordinate of the algebra element that moves the links along `axis`.
  int displacement(int axis) {
    const int number = d_.new_array();
    displacements_[static_cast<std::size_t>(axis)].push_back(number);
    return number;
  }

  void make_move() {
    const gauge::LinkOf link = links_of(d_, field_);
    const gauge::LinkType& type = *field_.links;
    const bool single = d_.numerics.real == Precision::F32;
    const int terms = gauge::exponential_terms(single ? 0x1p-24 : 0x1p-53);
    for (int axis = 0; axis < dims(); ++axis) {
      std::vector<Expr> p;
      for (const int number : displacements_[static_cast<std::size_t>(axis)])
        p.push_back(arena().load(number));
      if (p.empty()) continue;
      Update& move =
          flow_.moves.emplace_back(update(fmt::format("move_{}", algebra::kAxisNames[axis]),
                                          "U = exp(A) U, brought back into the group"));
      const auto reals = static_cast<std::size_t>(type.reals());
      const auto first = field_.arrays.begin() + static_cast<std::ptrdiff_t>(reals) * axis;
      std::vector<Expr> moved;
      if (field_.angle) {
        moved = {gauge::plus(arena().load(*first), p[0])};
      } else {
        const gauge::Matrix u = gauge::times(gauge::exponential(group(), p, terms), link(axis, {}));
        moved = gauge::store(type, gauge::reunitarised(group(), u));
      }
      for (std::size_t i = 0; i < reals; ++i)
        move.values.emplace_back(*(first + static_cast<std::ptrdiff_t>(i)), moved[i]);
    }
  }

  LinkFlow finish() {
    flow_.equation = {field_.name + "'", shown_, right_->span};
    // there is no such estimate for stored gradients
    if (!action_.empty())
      flow_.fastest_decay = gauge::fastest_decay(group(), action_, dims()).value_or(0);
    const auto& evolution = std::get<Evolution>(d_.dynamics);
    flow_.integrator = evolution.integrator;
    flow_.options = evolution.options;
    return std::move(flow_);
  }

  const Motion& d_;
  Lowerer& lower_;
  const StateField& field_;
  const dsl::Expr* right_ = nullptr;
  std::vector<Gradient> gradients_;
  gauge::LoopAction action_;  ///< the links move down this action
  Expr shown_;
  LinkFlow flow_;
  std::array<std::vector<int>, 4> displacements_;
};

}  // namespace

bool flows(const Declared& d) { return flowing(d) != nullptr; }

std::vector<StateField> flowing_fields(const Declared& d) {
  const StateField& links = *flowing(d);
  const EquationFact& equation = *d.facts.equation(links.name);
  if (equation.definition->head.primes != 1)
    d.fail(errors::flow_of_second_order(equation.definition->head.span, links.name));
  if (d.resolved.clause("sample"))
    d.fail(errors::two_equations(equation.span, links.name,
                                 d.resolved.clause("sample")->keyword_span));
  std::vector<StateField> fields = d.fields;
  for (StateField& field : fields) {
    if (field.name != links.name)
      d.fail(errors::not_yet(field.span, "another field beside links that flow"));
    field.order = 1;
  }
  return fields;
}

Dynamics read_link_flow(const Motion& d) {
  Lowerer lower(d);
  return LinkFlowReader(d, lower).read();
}

}  // namespace vphi::physics
