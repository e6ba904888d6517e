// What names and calls in the lines of a body stand for.
#include <algorithm>
#include <utility>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/steps/body_step.hpp"
#include "compiler/schedule/steps/noise.hpp"

namespace vphi::schedule {

using algebra::Op;
using dsl::ExprKind;
using text::ArithmeticError;
using text::scalar_value;
using text::Value;

Value BodyStep::state_of(int e) const {
  Value value;
  value.group = e;
  for (const int array : group(e).arrays) value.arrays[array] = state_.arrays.at(array);
  for (const std::string& name : group(e).scalars) value.scalars[name] = state_.scalars.at(name);
  value.scalars[kUnit] = arena_.integer(1);
  return value;
}

Value BodyStep::name(const dsl::Expr& at) {
  if (arguments_ && arguments_->contains(at.text)) return arguments_->at(at.text);
  if (const int e = from_.head.index(at.text); e >= 0) return state_of(e);
  if (const auto local = locals_.find(at.text); local != locals_.end()) return local->second;
  if (const auto option = options_.find(at.text); option != options_.end()) return option->second;
  if (at.text == "dt") return scalar_value(dt_);
  if (at.text == "dx") return scalar_value(arena_.real(from_.system.lattice.dx));
  if (at.text == "t") {
    const auto t = state_.scalars.find(from_.system.time);
    return scalar_value(t == state_.scalars.end() ? arena_.integer(0) : t->second);
  }
  if (at.text == "pi") return scalar_value(arena_.real(3.141592653589793238462643L));
  if (at.text == "normal") return drawn(at);
  for (std::size_t e = 0; e < from_.head.parts.size(); ++e) {
    for (std::size_t p = 0; p < from_.head.parts[e].size(); ++p) {
      const Part& part = from_.head.parts[e][p];
      if (part.kind == Part::Kind::Coefficient && part.name == at.text) {
        return coefficient(e, p);
      }
      if (part.kind == Part::Kind::Noise && part.name == at.text && part.arguments.empty()) {
        return coefficient(e, p);
      }
    }
  }
  std::vector<std::string> known = from_.head.variables;
  for (const auto& [local, unused] : locals_) known.push_back(local);
  for (const char* given : {"dt", "dx", "t"}) known.emplace_back(given);
  throw errors::unknown_name(at.span, at.text, from_.integrator.name, known);
}

Value BodyStep::coefficient(std::size_t e, std::size_t p) const {
  Value value;
  value.group = static_cast<int>(e);
  for (const auto& [array, expr] : shares_[e][p]) value.arrays[array] = at(state_, expr);
  for (const std::string& name : group(value.group).scalars) {
    value.scalars[name] = arena_.integer(0);
  }
  value.scalars[kUnit] = arena_.integer(1);
  return value;
}

bool BodyStep::reshape(Value& value, int target) const {
  const auto e = static_cast<std::size_t>(target);
  for (std::size_t p = 0; p < from_.head.parts[e].size(); ++p) {
    const Part& part = from_.head.parts[e][p];
    if (part.kind != Part::Kind::Variable || from_.head.index(part.variable) != value.group) {
      continue;
    }
    State there = state_;
    for (const auto& [array, expr] : value.arrays) there.arrays[array] = expr;
    Value moved;
    moved.group = target;
    for (const auto& [array, share] : shares_[e][p]) moved.arrays[array] = at(there, share);
    for (const std::string& name : group(target).scalars) {
      const auto scalar =
          std::ranges::find(from_.system.scalars, name, &physics::ScalarVariable::symbol);
      moved.scalars[name] = at(state_, scalar->rate) * value.scalars.at(kUnit);
    }
    moved.scalars[kUnit] = value.scalars.at(kUnit);
    value = std::move(moved);
    return true;
  }
  return false;
}

Value BodyStep::drawn(const dsl::Expr& at_text) {
  for (std::size_t e = 0; e < from_.head.parts.size(); ++e) {
    for (const Part& part : from_.head.parts[e]) {
      if (part.kind != Part::Kind::Noise) continue;
      Value value;
      value.group = static_cast<int>(e);
      std::map<int, Expr> of_stream;
      const auto number = [&](int stream) {
        const auto [found, fresh] = of_stream.try_emplace(stream);
        if (fresh) found->second = random_number(at_text.span);
        return found->second;
      };
      for (const int array : group(value.group).arrays) {
        const NoisyRate noisy = noisy_rate(from_.system, array);
        if (noisy.stream < 0) {
          value.arrays[array] = arena_.integer(0);
          continue;
        }
        value.arrays[array] = noisy.spread ? spread(noisy.spread, number) : number(noisy.stream);
      }
      for (const std::string& name : group(value.group).scalars) {
        value.scalars[name] = arena_.integer(0);
      }
      value.scalars[kUnit] = arena_.integer(1);
      return value;
    }
  }
  throw ArithmeticError{at_text.span, "the head of this integrator has no noise"};
}

Expr BodyStep::spread(Expr noise, const std::function<Expr(int)>& number) {
  const Expr drawn = algebra::rewrite(noise, [&](Expr node) {
    if (!node.is(Op::Noise)) return node;
    return algebra::shift(block_->array("noise", number(node->index)), node->offset);
  });
  return at(state_, drawn);
}

Expr BodyStep::random_number(dsl::Span span) {
  const int points = from_.system.noise.points;
  const int draw = draws_++;
  if (points == 0) return arena_.random(Op::Normal, draw, {}, span);
  const Expr u = arena_.random(Op::Uniform, draw, {}, span);
  const auto below = [&](Expr bound, Expr then, Expr otherwise) {
    return arena_.make(Op::Select, {arena_.make(Op::Less, {u, bound}), then, otherwise}, span);
  };
  if (points == 2) {
    return below(arena_.rational(1, 2), arena_.integer(-1), arena_.integer(1));
  }
  const Expr root3 = algebra::pow(arena_.integer(3), arena_.rational(1, 2));
  return below(arena_.rational(1, 6), -root3,
               below(arena_.rational(5, 6), arena_.integer(0), root3));
}

bool BodyStep::call(const dsl::Expr& at_text, Value& result) {
  const bool function = at_text.text == "exp" || at_text.text == "phi1" || at_text.text == "phi2";
  if (function && at_text.args.size() == 2) {
    result = exponential(at_text);
    return true;
  }
  const bool slope = at_text.text == "d" && at_text.args.size() == 2 &&
                     at_text.args[0]->kind == ExprKind::Call &&
                     at_text.args[1]->kind == ExprKind::Name;
  const dsl::Expr& hole = slope ? *at_text.args[0] : at_text;
  for (std::size_t e = 0; e < from_.head.parts.size(); ++e) {
    for (std::size_t p = 0; p < from_.head.parts[e].size(); ++p) {
      const Part& part = from_.head.parts[e][p];
      const bool callable = part.kind == Part::Kind::Hole || part.kind == Part::Kind::Cross ||
                            part.kind == Part::Kind::Multiple ||
                            (part.kind == Part::Kind::Noise && !part.arguments.empty());
      if (!callable || part.name != hole.text) continue;
      if (slope && from_.head.index(at_text.args[1]->text) != static_cast<int>(e)) {
        throw ArithmeticError{at_text.span, "a hole is differentiated by its own variable"};
      }
      result = applied(hole, e, p, slope);
      return true;
    }
  }
  const auto own = from_.integrator.functions.find(at_text.text);
  if (own == from_.integrator.functions.end()) return false;
  std::map<std::string, Value> arguments;
  for (std::size_t i = 0; i < at_text.args.size(); ++i)
    arguments[own->second.parameters[i]] = evaluate(*at_text.args[i], meaning_, arena_);
  const auto* outer = std::exchange(arguments_, &arguments);
  result = evaluate(*own->second.value, meaning_, arena_);
  arguments_ = outer;
  return true;
}

Value BodyStep::applied(const dsl::Expr& at_text, std::size_t e, std::size_t p, bool slope) {
  const Part& part = from_.head.parts[e][p];
  if (at_text.args.size() != part.arguments.size()) {
    throw errors::wrong_arguments(at_text.span, part.name,
                                  "it takes " + std::to_string(part.arguments.size()) +
                                      ", here are " + std::to_string(at_text.args.size()));
  }
  State there = state_;
  for (std::size_t i = 0; i < part.arguments.size(); ++i) {
    const int argument = from_.head.index(part.arguments[i]);
    // Time is a member of the group that steps it, so an argument `t + dt` adds nothing.
    if (argument < 0 && part.arguments.size() > 1) continue;
    const Value value = evaluate(*at_text.args[i], meaning_, arena_);
    if (argument < 0) {
      if (value.group >= 0) {
        throw errors::wrong_arguments(at_text.args[i]->span, part.name, "its argument is a time");
      }
      const auto time = there.scalars.find(from_.system.time);
      if (time != there.scalars.end()) {
        time->second = block_->scalar(from_.system.time + "_there", value.scalar);
      }
      continue;
    }
    if (value.group != argument) {
      throw errors::wrong_arguments(at_text.args[i]->span, part.name,
                                    "argument " + std::to_string(i + 1) +
                                        " is not of the shape of `" + part.arguments[i] + "`");
    }
    for (const auto& [array, expr] : value.arrays) {
      const bool number = links_.holds_coordinate(array) && expr.is_number();
      there.arrays[array] =
          number ? expr : block_->array(name_of(from_.system, array) + "_there", expr);
    }
    for (const auto& [name, expr] : value.scalars) {
      if (name != kUnit) there.scalars[name] = block_->scalar(name + "_there", expr);
    }
  }
  const State coordinates = there;
  there = links_.closed(*block_, coordinates);
  const auto walls = with_fluxes(*block_, there, recoveries_);
  Value result;
  result.group = static_cast<int>(e);
  std::vector<Expr> values;
  for (const auto& [array, expr] : shares_[e][p]) {
    const Expr what = slope ? algebra::local_derivative(expr, arena_.load(array)) : expr;
    values.push_back(walls(at(there, what)));
  }
  // The background's rate is added once, with the first hole.
  const bool first = first_hole(e) == p && !slope;
  for (const std::string& name : group(result.group).scalars) {
    const auto scalar =
        std::ranges::find(from_.system.scalars, name, &physics::ScalarVariable::symbol);
    values.push_back(first ? walls(at(there, scalar->rate)) : arena_.integer(0));
  }
  values = transformed(std::move(values));
  auto value = values.begin();
  for (const auto& [array, expr] : shares_[e][p]) result.arrays[array] = *value++;
  links_.to_coordinates(*block_, coordinates, there, result.arrays);
  for (auto& [array, rate] : result.arrays)
    if (!links_.holds_nothing(array))
      rate = block_->array("rate_" + name_of(from_.system, array), rate);
  for (const std::string& name : group(result.group).scalars)
    result.scalars[name] = block_->scalar("rate_" + name, *value++);
  result.scalars[kUnit] = arena_.integer(1);
  return result;
}

std::size_t BodyStep::first_hole(std::size_t e) const {
  const auto& parts = from_.head.parts[e];
  auto found = std::ranges::find(parts, Part::Kind::Hole, &Part::kind);
  if (found == parts.end()) found = std::ranges::find(parts, Part::Kind::Multiple, &Part::kind);
  return static_cast<std::size_t>(found - parts.begin());
}
}  // namespace vphi::schedule
