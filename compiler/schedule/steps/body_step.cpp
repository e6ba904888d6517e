#include "compiler/schedule/steps/body_step.hpp"

#include <algorithm>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/steps/limits.hpp"
#include "compiler/schedule/steps/step_end.hpp"
#include "compiler/schedule/steps/tolerance.hpp"

namespace vphi::schedule {

using algebra::Op;
using dsl::ExprKind;
using text::ArithmeticError;
using text::Meaning;
using text::scalar_value;
using text::Value;

bool BodyStep::run(dsl::Diagnostics& diagnostics) {
  return guarded(diagnostics, [&] {
    read_options();
    if (tolerance_of(from_.system.dynamics) != nullptr) return run_trial();
    for (const algebra::Number& weight : from_.integrator.weights) {
      dt_ = block_->scalar("dt", running_dt(from_.system) * arena_.number(weight));
      weight_ = static_cast<double>(weight.real);
      locals_.clear();
      links_.open(state_);
      for (const Statement& statement : from_.integrator.body) run(statement);
      state_ = links_.closed(*block_, state_, true);
    }
  });
}

std::optional<Stepping> BodyStep::make(dsl::Diagnostics& diagnostics) {
  Stepping result;
  const bool whole = maps_ || tolerance_of(from_.system.dynamics) != nullptr;
  const auto joint = whole ? std::nullopt : joined_ends();
  recoveries_.kept = from_.keeps;
  const bool done = !joint ? run(diagnostics) : guarded(diagnostics, [&] {
    read_options();
    dt_ = block_->scalar("dt", running_dt(from_.system));
    run_joined(*joint, result);
  });
  if (!done) return std::nullopt;
  fold_angles(*block_, state_);
  Wanted fixed;
  const auto fixes = keep_limits(*block_, state_, fixed, recoveries_.last);
  Wanted wanted = wanted_state(from_.system, state_);
  if (recoveries_.kept) keep_recovered(*block_, recoveries_.last, state_, wanted);
  const bool keepable = recoveries_.at_start && !whole && !joint;
  result.can_keep = keepable && can_keep_recovered(from_.system);
  result.cold = recoveries_.cold;
  wanted.slots.insert(wanted.slots.end(), fixed.slots.begin(), fixed.slots.end());
  if (fixes) result.finish.push_back(*fixes);
  if (!parts_.empty()) {
    finish_parts(wanted, result);
    return result;
  }
  const std::vector<Item> carried = carry(from_, *block_, state_, wanted, result);
  result.sweeps = make_site_loops(*block_, wanted);
  const auto finish = finish_of(state_);
  result.finish.insert(result.finish.end(), finish.begin(), finish.end());
  begin(carried, wanted, result);
  return result;
}

void BodyStep::begin(const std::vector<Item>& carried, const Wanted& step, Stepping& result) {
  if (!recoveries_.kept)
    return start_carried(from_, carried, block_->slots(), block_->storage(), result);
  Block before(from_.system, block_->slots(), block_->storage());
  State start = stored_state(from_.system);
  Wanted wanted;
  wanted.name = "first";
  first_recovered(before, step, start, wanted);
  first_carried(before, start, carried, wanted);
  result.first = make_site_loops(before, wanted);
  result.first_renews = true;
  result.remarks.insert(
      "recovered values of the start of a step are made at the end of the step before");
}

void BodyStep::run_trial() {
  const State start = state_;
  const Trial trial = begin_trial(*block_, start);
  dt_ = trial.length;
  links_.open(state_);
  for (const Statement& statement : from_.integrator.body) run(statement);
  state_ = links_.closed(*block_, state_, true);
  end_trial(*block_, trial, start, locals_.at(kError), locals_.at(kOrder).scalar, state_);
}

bool BodyStep::guarded(dsl::Diagnostics& diagnostics, const std::function<void()>& work) {
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

std::optional<Expr> BodyStep::weight_of(const Statement& line, std::size_t& equation,
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

std::optional<BodyStep::Joint> BodyStep::joined_ends() const {
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

void BodyStep::run_joined(const Joint& joint, Stepping& result) {
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
      block_->scalar("h_" + group(e).variable, dt_ * (joint.first + joint.last * started));
  advance(*block_, result.missing_members, length, state_, result.remarks);
  for (std::size_t i = 1; i + 1 < body.size(); ++i) run(body[i]);
  result.remarks.insert("the last " + group(e).variable +
                        " update of a step is joined with the first of the next; output sees it "
                        "done");
}

void BodyStep::read_options() {
  for (const auto& [name, value] : from_.integrator.options) {
    options_[name] = evaluate(*value, meaning_, arena_);
  }
  for (const auto& [name, value] : from_.options) {
    if (options_.contains(name)) options_[name] = scalar_value(value);
  }
}

void BodyStep::run(const Statement& statement) {
  const int e = from_.head.index(statement.name);
  Value value = evaluate(*statement.value, meaning_, arena_);
  if (e >= 0 && value.group != e) {
    throw ArithmeticError{statement.span,
                          "`" + statement.name + "` is set to something of another shape"};
  }
  // A register: each member is defined once, so that every later line shares it.
  for (auto& [array, expr] : value.arrays) {
    if (links_.holds_nothing(array)) continue;
    const std::string hint = (e >= 0 ? "" : statement.name + "_") + name_of(from_.system, array);
    expr = block_->array(hint, expr, e >= 0 && !links_.holds_coordinate(array) ? array : -1);
  }
  for (auto& [name, expr] : value.scalars) {
    if (name == kUnit) continue;
    if (e >= 0 && state_.scalars.contains(rest_name(name))) {
      const Expr start = state_.scalars.at(name);
      move_scalar(*block_, name, start, expr - start, state_);
      expr = state_.scalars.at(name);
      continue;
    }
    expr = block_->scalar((e >= 0 ? "" : statement.name + "_") + name, expr);
  }
  if (value.group < 0) value.scalar = block_->scalar(statement.name, value.scalar);
  if (e < 0) {
    locals_[statement.name] = value;
    return;
  }
  for (const auto& [array, expr] : value.arrays) state_.arrays[array] = expr;
  for (const auto& [name, expr] : value.scalars) {
    if (name != kUnit) state_.scalars[name] = expr;
  }
  limit_updated(*block_, state_, group(e).arrays, dt_);
}
std::optional<Stepping> make_body_step(const Ingredients& from, const Shares& shares, Slots& slots,
                                       Storage& storage, dsl::Diagnostics& diagnostics) {
  Block block(from.system, slots, storage);
  return BodyStep(from, shares, block, makes_maps(from.system, from.head)).make(diagnostics);
}

bool makes_maps(const physics::System& system, const Head& head) {
  for (const std::vector<Part>& parts : head.parts)
    for (const Part& part : parts)
      if (part.kind == Part::Kind::Linear) return true;
  const auto spectral = [](Expr node) {
    return node.is(Op::Stencil) && node->arena->stencil_data(node->index).spectral;
  };
  return std::ranges::any_of(system.variables, [&](const physics::Variable& v) {
    return algebra::contains(v.rate, spectral);
  });
}

std::optional<BodyResult> run_body(const Ingredients& from, const Shares& shares, Block& block,
                                   dsl::Diagnostics& diagnostics) {
  BodyStep step(from, shares, block);
  if (!step.run(diagnostics)) return std::nullopt;
  return BodyResult{step.state(), step.draws()};
}

}  // namespace vphi::schedule
