#include "compiler/physics/fluids/axis_scheme.hpp"

#include <algorithm>
#include <ranges>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/passes.hpp"
#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/fluids/conservation_errors.hpp"
#include "compiler/physics/fluids/curvature.hpp"
#include "compiler/physics/fluids/scheme_faces.hpp"
#include "compiler/physics/fluids/scheme_head.hpp"
#include "compiler/physics/fluids/signals.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "dsl/model_function.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;
using dsl::ExprKind;

namespace {

/// One expression for all quantities, or one for each of them or for each primitive variable.
struct Lines {
  bool each = false;
  Expr one;
  std::map<int, Expr> of;  ///< quantity or primitive variable -> value
  int away = 0;            ///< of `X@k`: the sites along the axis to where the value is
};

/// Reads the text of a scheme along one axis.
class AxisSchemeReader {
 public:
  AxisSchemeReader(const Equations& d, Lowerer& lower, const std::vector<Law>& laws,
                   const SchemeHead& head, const dsl::Clause& text, const dsl::Clause& use,
                   int axis)
      : d_(d), lower_(lower), laws_(laws), head_(head), text_(text), use_(use) {
    scheme_.axis = axis;
    for (const StateField& field : d.fields) {
      if (field.primitive)
        primitives_.insert(primitives_.end(), field.arrays.begin(), field.arrays.end());
    }
    for (const Law& law : laws) {
      for (std::size_t i = 0; i < law.arrays.size(); ++i) {
        look_into(law.density.parts[i].re);
        look_into(law.flux[i][static_cast<std::size_t>(axis)]);
      }
    }
    for (const Derived& value : d.conservation->recovered) look_into(value.value);
    for (const Derived& limit : d.limits) look_into(limit.value);
  }

  /// The signal speed at a site, where the text uses it; null where it does not.
  Expr speed() const { return speed_; }

  AxisScheme read(bool& step) {
    given_flux();
    for (const auto& [name, fallback] : head_.options) option(name, fallback);
    bool done = false;
    for (const dsl::Line& line : text_.body) {
      const dsl::Head& left = line.definition.head;
      if (done || line.kind == dsl::Line::Kind::Clause || line.definition.drawn ||
          left.form != dsl::Head::Form::Plain || left.primes > 1) {
        d_.fail(errors::scheme_line(line.span));
      }
      Lines value = evaluate(*line.definition.value);
      if (left.name == head_.state) {
        if (!value.each || !of_quantities(value)) d_.fail(errors::scheme_line(line.span));
        step = left.primes == 0;
        for (auto& [quantity, e] : value.of)
          if (!carried_.contains(quantity)) scheme_.result[quantity] = e;
        done = true;
        continue;
      }
      if (left.primes != 0) d_.fail(errors::scheme_line(line.span));
      names_[left.name] = kept(left.name, std::move(value));
    }
    if (!done) d_.fail(errors::scheme_no_end(text_.keyword_span, head_.state));
    add_derivatives();
    scheme_.face = faces_of(arena(), scheme_, step);
    if (!carried_.empty()) leave_out_unread();
    return std::move(scheme_);
  }

 private:
  Arena& arena() { return d_.arena(); }
  const Conservation& laws() const { return *d_.conservation; }
  std::size_t axis() const { return static_cast<std::size_t>(scheme_.axis); }

  /// Finds whether a function of the state depends on positions, and the fields that it reads.
  void look_into(Expr e) {
    positions_ = positions_ || algebra::contains(e, [](Expr node) { return node.is(Op::Site); });
    for (const Expr read : algebra::reads(e)) {
      const StateField* field = read.is(Op::Load) ? d_.field_of(read->index) : nullptr;
      if (field && field->beside_laws()) carried_.insert(read->index);
    }
  }

  /// The parts of fluxes that hold derivatives (flux_parts.hpp), of a right side.
  void add_derivatives() {
    const Expr dx = kernel::with_fixed_order(d_.grid.dx);
    Offset back;
    back.d[axis()] = -1;
    for (const Law& law : laws_) {
      for (std::size_t i = 0; i < law.through.size(); ++i) {
        if (law.through[i][axis()].is_zero()) continue;
        const Expr through =
            keep("through_" + component(law.arrays[i]), snap_numbers(law.through[i][axis()]));
        const Expr leaves = raw(Op::Sub, {through, algebra::shift(through, back)}, law.span);
        Expr& rate = scheme_.result[law.arrays[i]];
        rate = raw(Op::Sub, {rate, raw(Op::Div, {leaves, dx}, law.span)}, law.span);
      }
    }
  }

  /// Lines that are made for what the text does with fields, which no law reads.
  void leave_out_unread() {
    std::set<int> read;
    const auto see = [&](Expr e) {
      for (const Expr load : algebra::reads(e)) read.insert(load->index);
    };
    for (const auto* values : {&scheme_.result, &scheme_.face})
      for (const auto& [quantity, value] : *values) see(value);
    std::vector<Derived> lines;
    for (const Derived& line : scheme_.lines | std::views::reverse) {
      if (!read.contains(line.array)) continue;
      see(line.value);
      lines.push_back(line);
    }
    std::ranges::reverse(lines);
    scheme_.lines = std::move(lines);
  }

  // ---- operations in the order in which they are written ----------------------------------------

  Expr raw(Op op, std::vector<Expr> args, dsl::Span span = {}) {
    return in_order(arena(), op, std::move(args), span);
  }

  Expr power(Expr base, Expr exponent, const dsl::Expr& at) {
    const bool whole = exponent.is_number() && exponent->number.exact &&
                       exponent->number.rational.den == 1 && exponent->number.rational.num > 0 &&
                       exponent->number.rational.num <= 8;
    if (!whole) d_.fail(errors::not_yet(at.span, "a power in a scheme that is not 1 to 8"));
    Expr value = base;
    for (std::int64_t i = 1; i < exponent->number.rational.num; ++i) {
      value = raw(Op::Mul, {value, base}, at.span);
    }
    return value;
  }

  Offset along(int sign) const {
    Offset offset;
    offset.d[scheme_.axis] = static_cast<std::int16_t>(sign);
    return offset;
  }

  // ---- values -----------------------------------------------------------------------------------

  template <class Make>
  Lines each(const dsl::Expr& at, const std::vector<Lines>& args, Make make) {
    const auto first = std::ranges::find_if(args, &Lines::each);
    for (const Lines& arg : args) {
      if (!arg.each || std::ranges::equal(std::views::keys(arg.of), std::views::keys(first->of)))
        continue;
      d_.fail(errors::scheme_kinds(at.span));
    }
    const auto pick = [&](int quantity) {
      std::vector<Expr> values;
      for (const Lines& arg : args) values.push_back(arg.each ? arg.of.at(quantity) : arg.one);
      return values;
    };
    if (first == args.end()) return {false, make(pick(-1)), {}};
    Lines result{true, {}, {}};
    for (const auto& [key, unused] : first->of) result.of[key] = make(pick(key));
    return result;
  }

  Lines evaluate(const dsl::Expr& e) {
    switch (e.kind) {
      case ExprKind::Number: {
        if (e.imaginary) d_.fail(errors::scheme_line(e.span));
        return {false, decimal(arena(), e.text), {}};
      }
      case ExprKind::Name:
        return name(e);
      case ExprKind::Unary: {
        if (e.text == "not") return apply(e, Op::Not);
        return apply(e, Op::Neg);
      }
      case ExprKind::Binary:
        return binary(e);
      case ExprKind::Select: {
        const std::vector<Lines> args{evaluate(*e.args[1]), evaluate(*e.args[0]),
                                      evaluate(*e.args[2])};
        return each(e, args, [&](std::vector<Expr> v) { return raw(Op::Select, v, e.span); });
      }
      case ExprKind::Shift:
        return shifted(e);
      case ExprKind::Call:
        return call(e);
      case ExprKind::String:
      case ExprKind::Sign:
      case ExprKind::Index:
      case ExprKind::Prime:
      case ExprKind::List:
      case ExprKind::Range:
      case ExprKind::Unit:
        break;
    }
    d_.fail(errors::scheme_line(e.span));
  }

  Lines apply(const dsl::Expr& e, Op op) {
    std::vector<Lines> args;
    for (const dsl::ExprPtr& arg : e.args) args.push_back(evaluate(*arg));
    return each(e, args, [&](std::vector<Expr> v) { return raw(op, std::move(v), e.span); });
  }

  Lines binary(const dsl::Expr& e) {
    static const std::map<std::string, Op> kOps = {
        {"+", Op::Add},        {"-", Op::Sub},    {"*", Op::Mul},   {"/", Op::Div}, {"<", Op::Less},
        {"<=", Op::LessEqual}, {"==", Op::Equal}, {"and", Op::And}, {"or", Op::Or}};
    const std::vector<Lines> args{evaluate(*e.args[0]), evaluate(*e.args[1])};
    if (e.text == "^") {
      return each(e, args, [&](std::vector<Expr> v) { return power(v[0], v[1], e); });
    }
    if (e.text == ">" || e.text == ">=") {
      const Op op = e.text == ">" ? Op::Less : Op::LessEqual;
      return each(e, args, [&](std::vector<Expr> v) { return raw(op, {v[1], v[0]}, e.span); });
    }
    const auto op = kOps.find(e.text);
    if (op == kOps.end()) d_.fail(errors::scheme_line(e.span));
    return each(e, args,
                [&](std::vector<Expr> v) { return raw(op->second, std::move(v), e.span); });
  }

  Lines shifted(const dsl::Expr& e) {
    const dsl::Expr& where = *e.args[1];
    const bool back = where.kind == ExprKind::Unary && where.text == "-";
    const dsl::Expr& axis_name = back ? *where.args[0] : where;
    if (axis_name.kind != ExprKind::Name || axis_name.text != head_.axis) {
      d_.fail(errors::scheme_shift(where.span, head_.axis));
    }
    const Lines value = evaluate(*e.args[0]);
    Lines result = moved(value, back ? -1 : 1);
    result.away = value.away + (back ? -1 : 1);
    return result;
  }

  Lines moved(Lines value, int sites) {
    if (value.one) value.one = algebra::shift(value.one, along(sites));
    for (auto& [key, e] : value.of) e = algebra::shift(e, along(sites));
    value.away = 0;
    return value;
  }

  /// A function of a state, with the positions of the site where the state is.
  template <class Work>
  Lines where_it_is(const Lines& x, Work work) {
    if (x.away == 0 || !positions_) return work(x);
    return moved(work(moved(x, -x.away)), x.away);
  }

  Lines name(const dsl::Expr& e) {
    if (const auto known = names_.find(e.text); known != names_.end()) return known->second;
    if (e.text == head_.state) return state();
    if (e.text == "dt") return {false, arena().symbol(Conservation::kStepLength), {}};
    if (e.text == "dx")
      return {false, arena().real(static_cast<double>(d_.grid.dx->number.real)), {}};
    if (e.text == "pi") return {false, arena().real(acosl(-1.0L)), {}};
    d_.fail(errors::scheme_name(e.span, e.text, known_names()));
  }

  std::vector<std::string> known_names() const {
    std::vector<std::string> known{head_.state, "dt", "dx"};
    for (const auto& [name, unused] : names_) known.push_back(name);
    return known;
  }

  Lines state() {
    Lines u{true, {}, {}};
    for (const int quantity : laws().quantities) u.of[quantity] = arena().load(quantity);
    for (const int array : carried_) u.of[array] = arena().load(array);
    return u;
  }

  Lines call(const dsl::Expr& e) {
    if (e.text == head_.flux && !head_.flux.empty() && e.args.size() == 1) {
      return where_it_is(evaluate(*e.args[0]), [&](const Lines& x) { return flux_at(x, e); });
    }
    if (e.text == "primitives" || e.text == "conserved") {
      if (e.args.size() != 1) d_.fail(errors::scheme_line(e.span));
      return where_it_is(evaluate(*e.args[0]),
                         [&](const Lines& x) { return state_map(x, e.text == "primitives", e); });
    }
    if (const auto function = functions_.find(e.text); function != functions_.end()) {
      if (e.args.size() != 1) d_.fail(errors::scheme_line(e.span));
      return where_it_is(evaluate(*e.args[0]),
                         [&](const Lines& x) { return model_function(*function->second, x, e); });
    }
    std::vector<Lines> args;
    for (const dsl::ExprPtr& arg : e.args) args.push_back(evaluate(*arg));
    if (args.empty()) d_.fail(errors::scheme_line(e.span));
    if (text_.keyword_span.file == 0) {
      if (const dsl::Symbol* own = dsl::model_function(d_.resolved, e.text))
        return of_model(*own, args);
    }
    if (e.text == "minmod") return minmod(args, e);
    const bool fold = e.text == "min" || e.text == "max";
    if (fold) {
      const Op op = e.text == "min" ? Op::Min : Op::Max;
      return each(e, args, [&](std::vector<Expr> v) {
        Expr value = v[0];
        for (std::size_t i = 1; i < v.size(); ++i) value = raw(op, {value, v[i]}, e.span);
        return value;
      });
    }
    const Op op = e.text == "sqrt" ? Op::Sqrt : algebra::op_named(e.text);
    if (op == Op::Count_ || (op >= Op::Mean && op <= Op::Maximum) ||
        algebra::info(op).arity != static_cast<int>(e.args.size())) {
      d_.fail(errors::scheme_name(e.span, e.text, known_names()));
    }
    return each(e, args, [&](std::vector<Expr> v) { return raw(op, std::move(v), e.span); });
  }

  /// A function that the model defines, which sees its arguments alone.
  Lines of_model(const dsl::Symbol& function, const std::vector<Lines>& args) {
    std::map<std::string, Lines> own;
    for (std::size_t i = 0; i < args.size(); ++i) own[function.parameters[i]] = args[i];
    std::swap(own, names_);
    Lines value = evaluate(*function.value);
    std::swap(own, names_);
    return value;
  }

  /// max(0, min(...)) + min(0, max(...)): one of the two is 0.
  Lines minmod(const std::vector<Lines>& args, const dsl::Expr& e) {
    return each(e, args, [&](std::vector<Expr> v) {
      Expr low = v[0], high = v[0];
      for (std::size_t i = 1; i < v.size(); ++i) {
        low = raw(Op::Min, {low, v[i]}, e.span);
        high = raw(Op::Max, {high, v[i]}, e.span);
      }
      const Expr zero = arena().integer(0);
      return raw(Op::Add, {raw(Op::Max, {zero, low}), raw(Op::Min, {zero, high})}, e.span);
    });
  }

  // ---- lines ------------------------------------------------------------------------------------

  std::string component(int array) const {
    const StateField& field = *d_.field_of(array);
    if (field.arrays.size() == 1) return field.name;
    return fmt::format("{}_{}", field.name,
                       std::ranges::find(field.arrays, array) - field.arrays.begin());
  }

  Expr keep(const std::string& name, Expr value, bool dear = false) {
    value = kernel::with_fixed_order(value);
    if (!value->per_site || value.is(Op::Load)) return value;
    scheme_.lines.push_back({d_.new_array(), name, value, dear});
    return arena().load(scheme_.lines.back().array, {}, value->span);
  }
  Lines kept(const std::string& name, Lines value) {
    if (!value.each) return {false, keep(name, value.one), {}, value.away};
    for (auto& [quantity, e] : value.of) e = keep(name + "_" + component(quantity), e);
    return value;
  }

  // ---- what the head asks for -------------------------------------------------------------------

  void given_flux() {
    if (head_.velocity.empty()) return;
    Lines rest{true, {}, {}};
    Expr velocity;
    dsl::Span first;
    std::map<int, Expr> whole;
    for (const Law& law : laws_) {
      for (std::size_t i = 0; i < law.arrays.size(); ++i) {
        const Expr flux = algebra::expand(law.flux[i][axis()]);
        const auto c = algebra::polynomial(flux, arena().load(law.arrays[i]), 1);
        whole[law.arrays[i]] = flux;
        if (!c || c->size() < 2 || (*c)[1].is_zero()) continue;
        const Expr v = snap_numbers((*c)[1]);
        if (velocity && !(velocity == v)) {
          d_.fail(errors::no_common_velocity(law.span, use_.keyword_span, law.name, first));
        }
        velocity = v;
        first = law.span;
        rest.of[law.arrays[i]] = snap_numbers((*c)[0]);
      }
    }
    if (!velocity) d_.fail(errors::nothing_carried(use_.keyword_span, scheme_name(use_)));
    for (const auto& [quantity, flux] : whole) {
      if (!rest.of.contains(quantity)) {
        rest.of[quantity] = snap_numbers(flux - arena().load(quantity) * velocity);
      }
    }
    for (const int array : carried_) rest.of[array] = arena().integer(0);
    speed_ = velocity;
    names_[head_.velocity] = kept(head_.velocity, {false, velocity, {}});
    if (!head_.rest.empty()) {
      names_[head_.rest] = kept(head_.rest, rest);
    } else {
      for (const Law& law : laws_) {
        for (const int array : law.arrays) {
          if (!rest.of.at(array).is_zero()) {
            d_.fail(errors::flux_left_over(law.span, use_.keyword_span, law.name));
          }
        }
      }
    }
  }

  void option(const std::string& name, const dsl::ExprPtr& fallback) {
    const dsl::ExprPtr given = d_.ledger.option(use_, name);
    const dsl::ExprPtr value = given ? given : fallback;
    if (!value) d_.fail(errors::scheme_option_missing(use_.keyword_span, scheme_name(use_), name));
    if (is_on(*value) || is_off(*value)) {
      names_[name] = {false, arena().integer(is_on(*value) ? 1 : 0), {}};
      return;
    }
    if (called(name)) {
      functions_[name] = value;
      const Expr here = arena().make(Op::Abs, {value_here(*value, name)});
      look_into(here);
      speed_ = speed_ ? arena().make(Op::Max, {speed_, here}) : here;
      return;
    }
    names_[name] = {false, kernel::with_fixed_order(lower_.fixed(*value, name)), {}};
  }

  /// Whether the body calls `name(...)`.
  bool called(const std::string& name) const {
    const std::function<bool(const dsl::Expr&)> in = [&](const dsl::Expr& e) {
      if (e.kind == ExprKind::Call && e.text == name) return true;
      return std::ranges::any_of(e.args, [&](const dsl::ExprPtr& arg) { return in(*arg); });
    };
    return std::ranges::any_of(text_.body, [&](const dsl::Line& line) {
      return line.definition.value && in(*line.definition.value);
    });
  }

  // ---- functions of a state ---------------------------------------------------------------------

  struct StateAt {
    std::unordered_map<const algebra::Node*, Expr> values;  ///< Load -> what stands for it
  };

  /// Whether X is the state of a site, which the step limits and recovers before the lines of a
  /// rate. The lines of a step may have the recovered values of another time.
  bool is_recovered_state(const Lines& x) {
    return text_.body.back().definition.head.primes > 0 && x.of == state().of;
  }

  bool of_quantities(const Lines& x) const {
    return x.each && x.of.contains(laws().quantities.front());
  }

  /// `primitives(X)` and `conserved(X)` of either.
  Lines state_map(const Lines& x, bool primitives, const dsl::Expr& at) {
    Lines result{true, {}, {}};
    if (x.each && of_quantities(x) != primitives) return x;
    if (primitives && is_recovered_state(x)) {
      for (const int array : primitives_) result.of[array] = arena().load(array);
      for (const int array : carried_) result.of[array] = arena().load(array);
      return result;
    }
    const StateAt there = recovered(x, at);
    for (const int array : primitives ? primitives_ : laws().quantities) {
      result.of[array] = there.values.at(arena().load(array).get());
    }
    for (const int array : carried_) result.of[array] = there.values.at(arena().load(array).get());
    return result;
  }

  /// Quantities after the limits, and recovered values, of a state X; of primitive variables these
  /// and the quantities that `conserve` makes of them.
  const StateAt& recovered(const Lines& x, const dsl::Expr& at) {
    if (!x.each) d_.fail(errors::scheme_state(at.span, at.text));
    for (auto& [key, known] : states_) {
      if (key == x.of) return known;
    }
    StateAt there;
    if (!of_quantities(x)) {
      for (const auto& [array, e] : x.of) {
        there.values[arena().load(array).get()] = keep("at_" + component(array), e);
      }
      for (const Law& law : laws_) {
        for (std::size_t i = 0; i < law.arrays.size(); ++i) {
          const Expr density = snap_numbers(law.density.parts[i].re);
          there.values[arena().load(law.arrays[i]).get()] =
              keep("at_" + component(law.arrays[i]), substituted(density, there));
        }
      }
      states_.emplace_back(x.of, std::move(there));
      return states_.back().second;
    }
    const Conservation& c = laws();
    if (is_recovered_state(x)) {
      for (const auto& [quantity, e] : x.of) there.values[e.get()] = e;
      for (const Derived& value : c.recovered) {
        const Expr own = arena().load(value.array);
        there.values[own.get()] = own;
      }
      states_.emplace_back(x.of, std::move(there));
      return states_.back().second;
    }
    for (const auto& [quantity, e] : x.of) {
      there.values[arena().load(quantity).get()] = keep("at_" + component(quantity), e);
    }
    const std::vector<Derived>& limits = d_.limits;
    for (std::size_t i = 0; i < limits.size();) {
      // components of one limit see the state before it
      const StateAt before = there;
      const int clause = limits[i].clause;
      for (; i < limits.size() && limits[i].clause == clause; ++i) {
        const int array = limits[i].array;
        there.values[arena().load(array).get()] =
            keep("limited_" + component(array), substituted(limits[i].value, before));
      }
    }
    for (const Derived& value : c.recovered) {
      there.values[arena().load(value.array).get()] =
          keep("at_" + value.name, substituted(value.value, there));
    }
    states_.emplace_back(x.of, std::move(there));
    return states_.back().second;
  }

  Expr substituted(Expr e, const StateAt& there) {
    return algebra::substitute(kernel::with_fixed_order(e), there.values);
  }

  Lines flux_at(const Lines& x, const dsl::Expr& at) {
    const StateAt there = recovered(x, at);
    Lines result{true, {}, {}};
    for (const Law& law : laws_) {
      for (std::size_t i = 0; i < law.arrays.size(); ++i) {
        result.of[law.arrays[i]] =
            kernel::with_fixed_order(substituted(snap_numbers(law.flux[i][axis()]), there));
      }
    }
    for (const int array : carried_) result.of[array] = arena().integer(0);
    return result;
  }

  /// An expression of the model at the site itself; the index of a definition that has one is the
  /// axis.
  Expr value_here(const dsl::Expr& value, const std::string& option) {
    const NamedFact* fact = value.kind == ExprKind::Name ? d_.facts.find(value.text) : nullptr;
    dsl::Expr e = value;
    Scope scope;
    scope.indices.emplace(head_.axis, IndexValue{scheme_.axis, 1, true});
    if (fact && fact->kind == NamedFact::Kind::Indexed) {
      auto index = std::make_shared<dsl::Expr>();
      index->kind = ExprKind::Name;
      index->text = head_.axis;
      index->span = value.span;
      e.kind = ExprKind::Index;
      e.args = {std::make_shared<dsl::Expr>(value), index};
    }
    const Expr value_there = lower_.real(e, option, scope);
    const bool rate = text_.body.back().definition.head.primes > 0;
    return snap_numbers(rate ? value_there : per_coordinate(d_, value_there, scheme_.axis));
  }

  Lines model_function(const dsl::Expr& value, const Lines& x, const dsl::Expr& at) {
    const StateAt there = recovered(x, at);
    return {false, substituted(value_here(value, at.text), there), {}};
  }

  const Equations& d_;
  Lowerer& lower_;
  const std::vector<Law>& laws_;
  const SchemeHead& head_;
  const dsl::Clause& text_;
  const dsl::Clause& use_;
  AxisScheme scheme_;
  std::vector<int> primitives_;
  bool positions_ = false;  ///< whether fluxes, densities or speeds depend on the position
  /// Fields that these read: they are taken to the faces as quantities are, and have no flux.
  std::set<int> carried_;
  Expr speed_;
  std::map<std::string, Lines> names_;
  std::map<std::string, dsl::ExprPtr> functions_;  ///< options that the body calls
  std::vector<std::pair<std::map<int, Expr>, StateAt>> states_;
};

}  // namespace

bool is_on(const dsl::Expr& e) { return e.kind == ExprKind::Name && e.text == "on"; }
bool is_off(const dsl::Expr& e) { return e.kind == ExprKind::Name && e.text == "off"; }

AxisText read_axis_scheme(const Equations& d, Lowerer& lower, const std::vector<Law>& laws,
                          const SchemeHead& head, const dsl::Clause& text, const dsl::Clause& use,
                          int axis) {
  AxisSchemeReader reader(d, lower, laws, head, text, use, axis);
  AxisText result;
  result.scheme = reader.read(result.step);
  result.speed = reader.speed();
  return result;
}

}  // namespace vphi::physics
