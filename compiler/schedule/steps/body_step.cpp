// Bodies that are not compositions of flows: their lines in order.
#include <algorithm>
#include <utility>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/steps/flux.hpp"
#include "compiler/schedule/steps/limits.hpp"
#include "compiler/schedule/steps/noise.hpp"
#include "compiler/schedule/steps/step_end.hpp"
#include "compiler/text/arithmetic.hpp"

namespace vphi::schedule {

namespace {

using algebra::Arena;
using algebra::Op;
using dsl::ExprKind;
using text::ArithmeticError;
using text::Meaning;
using text::scalar_value;
using text::Value;

class BodyStep {
 public:
  BodyStep(const Ingredients& from, const Shares& shares, Block& block)
      : from_(from),
        shares_(shares),
        arena_(*from.system.arena),
        block_(block),
        state_(stored_state(from.system)) {
    meaning_.name = [this](const dsl::Expr& at) { return name(at); };
    meaning_.call = [this](const dsl::Expr& at, Value& value) { return call(at, value); };
    meaning_.reshape = [this](Value& value, int group) { return reshape(value, group); };
    meaning_.vector = [this](int array) { return vector_of(from_.system, array); };
  }

  const State& state() const { return state_; }
  int draws() const { return draws_; }

  /// The whole body, with every composition of it.
  bool run(dsl::Diagnostics& diagnostics) {
    return guarded(diagnostics, [&] {
      read_options();
      for (const algebra::Number& weight : from_.integrator.weights) {
        dt_ = block_.scalar("dt", running_dt(from_.system) * arena_.number(weight));
        locals_.clear();
        for (const Statement& statement : from_.integrator.body) run(statement);
      }
    });
  }

  std::optional<Stepping> make(dsl::Diagnostics& diagnostics) {
    Stepping result;
    const auto joint = joined_ends();
    const bool done = !joint ? run(diagnostics) : guarded(diagnostics, [&] {
      read_options();
      dt_ = block_.scalar("dt", running_dt(from_.system));
      run_joined(*joint, result);
    });
    if (!done) return std::nullopt;
    fold_angles(block_, state_);
    Wanted fixed;
    const auto fixes = keep_limits(block_, state_, fixed);
    Wanted wanted = wanted_state(from_.system, state_);
    wanted.slots.insert(wanted.slots.end(), fixed.slots.begin(), fixed.slots.end());
    if (fixes) result.finish.push_back(*fixes);
    const std::vector<Item> carried = carry(from_, block_, state_, wanted, result);
    result.sweeps = make_site_loops(block_, wanted);
    const auto finish = finish_of(state_);
    result.finish.insert(result.finish.end(), finish.begin(), finish.end());
    start_carried(from_, carried, block_.slots(), block_.storage(), result);
    return result;
  }

 private:
  /// A member of every value that is 1 in a variable: `dt/2*v` has dt/2 there, for which the
  /// background moves when v moves x.
  static constexpr const char* kUnit = "#";

  bool guarded(dsl::Diagnostics& diagnostics, const std::function<void()>& work) {
    try {
      work();
      return true;
    } catch (const ArithmeticError& error) {
      diagnostics.add(
          error.message.starts_with("later:")
              ? errors::not_yet(error.span, error.message.substr(6))
              : errors::cannot_evaluate(error.span, from_.integrator.name, error.message));
    } catch (const dsl::Diagnostic& diagnostic) {
      diagnostics.add(diagnostic);
    }
    return false;
  }

  // ---- `u = u + w*dt*F(...)` as first and last line: one evaluation of F a step
  // ------------------

  struct Joint {
    std::size_t equation = 0, part = 0;
    Expr first, last;  ///< weights
  };

  /// The weight w where a line is `u = u + w*dt*F(...)`, F a hole of u's equation at the head's own
  /// variables, u itself not among them.
  std::optional<Expr> weight_of(const Statement& line, std::size_t& equation,
                                std::size_t& part) const {
    const int e = from_.head.index(line.name);
    if (e < 0) return std::nullopt;
    equation = static_cast<std::size_t>(e);
    const auto& parts = from_.head.parts[equation];
    const Expr dt = arena_.symbol("line:dt"), hole = arena_.symbol("line:F");
    const Expr self = arena_.symbol("line:u");
    Meaning meaning;
    meaning.name = [&](const dsl::Expr& at) {
      if (at.text == line.name) return scalar_value(self);
      if (at.text == "dt") return scalar_value(dt);
      throw ArithmeticError{at.span, ""};
    };
    meaning.call = [&](const dsl::Expr& at, Value& value) {
      for (std::size_t p = 0; p < parts.size(); ++p) {
        if (parts[p].kind != Part::Kind::Hole || parts[p].name != at.text) continue;
        if (std::ranges::count(parts[p].arguments, line.name)) throw ArithmeticError{at.span, ""};
        for (std::size_t i = 0; i < at.args.size(); ++i) {
          const bool plain = at.args[i]->kind == ExprKind::Name && i < parts[p].arguments.size() &&
                             at.args[i]->text == parts[p].arguments[i];
          if (!plain) throw ArithmeticError{at.span, ""};
        }
        part = p;
        value = scalar_value(hole);
        return true;
      }
      return false;
    };
    try {
      const Expr value = evaluate(*line.value, meaning, arena_).scalar;
      const auto weight = algebra::constant((value - self) / (dt * hole));
      return weight ? std::optional(arena_.number(*weight)) : std::nullopt;
    } catch (const ArithmeticError&) {
      return std::nullopt;
    }
  }

  std::optional<Joint> joined_ends() const {
    const auto& body = from_.integrator.body;
    if (body.size() < 3 || from_.integrator.weights.size() != 1) return std::nullopt;
    Joint joint;
    std::size_t equation = 0, part = 0;
    const auto first = weight_of(body.front(), joint.equation, joint.part);
    const auto last = weight_of(body.back(), equation, part);
    if (!first || !last || equation != joint.equation || part != joint.part) return std::nullopt;
    if (limited(from_.system, group(static_cast<int>(equation)).arrays)) return std::nullopt;
    joint.first = *first;
    joint.last = *last;
    return joint;
  }

  /// The last line of a step is joined with the first of the next step. It is postponed, and
  /// observers see the state with it applied.
  void run_joined(const Joint& joint, Stepping& result) {
    const auto& body = from_.integrator.body;
    const auto e = static_cast<int>(joint.equation);
    for (const auto& [array, rate] : shares_[joint.equation][joint.part]) {
      if (!rate.is_zero()) result.missing_members.push_back({array, {}, rate, {}, {}});
    }
    if (first_hole(joint.equation) == joint.part) {
      for (const std::string& name : group(e).scalars) {
        const auto scalar =
            std::ranges::find(from_.system.scalars, name, &physics::ScalarVariable::symbol);
        result.missing_members.push_back({-1, name, scalar->rate, {}, {}});
      }
    }
    const Expr started = arena_.symbol(slot::kStarted);
    result.missing = {arena_.real(from_.system.dt) * joint.last * started};
    const Expr length =
        block_.scalar("h_" + group(e).variable, dt_ * (joint.first + joint.last * started));
    advance(block_, result.missing_members, length, state_, result.remarks);
    for (std::size_t i = 1; i + 1 < body.size(); ++i) run(body[i]);
    result.remarks.insert("the last " + group(e).variable +
                          " update of a step is joined with the first of the next; output sees it "
                          "done");
  }

  const Group& group(int e) const { return from_.groups[static_cast<std::size_t>(e)]; }

  Value state_of(int e) const {
    Value value;
    value.group = e;
    for (const int array : group(e).arrays) value.arrays[array] = state_.arrays.at(array);
    for (const std::string& name : group(e).scalars) value.scalars[name] = state_.scalars.at(name);
    value.scalars[kUnit] = arena_.integer(1);
    return value;
  }

  /// Reads the options of the head; values given in the model take precedence.
  void read_options() {
    for (const auto& [name, value] : from_.integrator.options) {
      options_[name] = evaluate(*value, meaning_, arena_);
    }
    for (const auto& [name, value] : from_.options) {
      if (options_.contains(name)) options_[name] = scalar_value(value);
    }
  }

  void run(const Statement& statement) {
    const int e = from_.head.index(statement.name);
    Value value = evaluate(*statement.value, meaning_, arena_);
    if (e >= 0 && value.group != e) {
      throw ArithmeticError{statement.span,
                            "`" + statement.name + "` is set to something of another shape"};
    }
    // A register: each member is defined once, so that every later line shares it.
    for (auto& [array, expr] : value.arrays) {
      const std::string hint = (e >= 0 ? "" : statement.name + "_") + name_of(from_.system, array);
      expr = block_.array(hint, expr, e >= 0 ? array : -1);
    }
    for (auto& [name, expr] : value.scalars) {
      if (name == kUnit) continue;
      if (e >= 0 && state_.scalars.contains(rest_name(name))) {
        const Expr start = state_.scalars.at(name);
        move_scalar(block_, name, start, expr - start, state_);
        expr = state_.scalars.at(name);
        continue;
      }
      expr = block_.scalar((e >= 0 ? "" : statement.name + "_") + name, expr);
    }
    if (value.group < 0) value.scalar = block_.scalar(statement.name, value.scalar);
    if (e < 0) {
      locals_[statement.name] = value;
      return;
    }
    for (const auto& [array, expr] : value.arrays) state_.arrays[array] = expr;
    for (const auto& [name, expr] : value.scalars) {
      if (name != kUnit) state_.scalars[name] = expr;
    }
    limit_updated(block_, state_, group(e).arrays, dt_);
  }

  Value name(const dsl::Expr& at) {
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

  /// gamma of `gamma*v`: one coefficient for each member, at the present background.
  Value coefficient(std::size_t e, std::size_t p) const {
    Value value;
    value.group = static_cast<int>(e);
    for (const auto& [array, expr] : shares_[e][p]) value.arrays[array] = at(state_, expr);
    for (const std::string& name : group(value.group).scalars) {
      value.scalars[name] = arena_.integer(0);
    }
    value.scalars[kUnit] = arena_.integer(1);
    return value;
  }

  /// v of `x' = v`, as what moves x.
  bool reshape(Value& value, int target) const {
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

  /// A new random number for each variable of the group that has noise (docs/rules.md rule 17: one
  /// for each place where `normal` stands).
  Value drawn(const dsl::Expr& at_text) {
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

  /// Noise that reads neighbours: the random numbers of each stream are stored in an array, made at
  /// the present state.
  Expr spread(Expr noise, const std::function<Expr(int)>& number) {
    const Expr drawn = algebra::rewrite(noise, [&](Expr node) {
      if (!node.is(Op::Noise)) return node;
      return algebra::shift(block_.array("noise", number(node->index)), node->offset);
    });
    return at(state_, drawn);
  }

  /// Mean 0 and variance 1. Two and three points have the moments that weak order 1 and 2 need
  /// (Kloeden and Platen, section 14.2).
  Expr random_number(dsl::Span span) {
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

  /// A hole of the head applied to what stands in the body, or `d(g(x), x)` of one, or a function
  /// of the model.
  bool call(const dsl::Expr& at_text, Value& result) {
    const bool slope = at_text.text == "d" && at_text.args.size() == 2 &&
                       at_text.args[0]->kind == ExprKind::Call &&
                       at_text.args[1]->kind == ExprKind::Name;
    const dsl::Expr& hole = slope ? *at_text.args[0] : at_text;
    for (std::size_t e = 0; e < from_.head.parts.size(); ++e) {
      for (std::size_t p = 0; p < from_.head.parts[e].size(); ++p) {
        const Part& part = from_.head.parts[e][p];
        const bool callable = part.kind == Part::Kind::Hole || part.kind == Part::Kind::Cross ||
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

  /// `slope`: the derivative of each member by its own variable.
  Value applied(const dsl::Expr& at_text, std::size_t e, std::size_t p, bool slope = false) {
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
          time->second = block_.scalar(from_.system.time + "_there", value.scalar);
        }
        continue;
      }
      if (value.group != argument) {
        throw errors::wrong_arguments(at_text.args[i]->span, part.name,
                                      "argument " + std::to_string(i + 1) +
                                          " is not of the shape of `" + part.arguments[i] + "`");
      }
      for (const auto& [array, expr] : value.arrays) {
        there.arrays[array] = block_.array(name_of(from_.system, array) + "_there", expr);
      }
      for (const auto& [name, expr] : value.scalars) {
        if (name != kUnit) there.scalars[name] = block_.scalar(name + "_there", expr);
      }
    }
    const auto walls = with_fluxes(block_, there);
    Value result;
    result.group = static_cast<int>(e);
    for (const auto& [array, expr] : shares_[e][p]) {
      const Expr what = slope ? algebra::local_derivative(expr, arena_.load(array)) : expr;
      result.arrays[array] =
          block_.array("rate_" + name_of(from_.system, array), walls(at(there, what)));
    }
    for (const std::string& name : group(result.group).scalars) {
      const auto scalar =
          std::ranges::find(from_.system.scalars, name, &physics::ScalarVariable::symbol);
      // The background's rate is added once, with the first hole.
      const bool first = first_hole(e) == p && !slope;
      result.scalars[name] =
          first ? block_.scalar("rate_" + name, walls(at(there, scalar->rate))) : arena_.integer(0);
    }
    result.scalars[kUnit] = arena_.integer(1);
    return result;
  }

  std::size_t first_hole(std::size_t e) const {
    const auto& parts = from_.head.parts[e];
    const auto found = std::ranges::find(parts, Part::Kind::Hole, &Part::kind);
    return static_cast<std::size_t>(found - parts.begin());
  }

  const Ingredients& from_;
  const Shares& shares_;
  Arena& arena_;
  Block& block_;
  State state_;
  Meaning meaning_;
  Expr dt_;
  int draws_ = 0;
  std::map<std::string, Value> locals_, options_;
  const std::map<std::string, Value>* arguments_ = nullptr;  ///< of the model's function called
};

}  // namespace

std::optional<Stepping> make_body_step(const Ingredients& from, const Shares& shares, Slots& slots,
                                       Storage& storage, dsl::Diagnostics& diagnostics) {
  Block block(from.system, slots, storage);
  return BodyStep(from, shares, block).make(diagnostics);
}

std::optional<BodyResult> run_body(const Ingredients& from, const Shares& shares, Block& block,
                                   dsl::Diagnostics& diagnostics) {
  BodyStep step(from, shares, block);
  if (!step.run(diagnostics)) return std::nullopt;
  return BodyResult{step.state(), step.draws()};
}

}  // namespace vphi::schedule
