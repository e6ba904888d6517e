#include "compiler/schedule/integrator/composition.hpp"

#include <algorithm>
#include <map>

#include "compiler/algebra/transform.hpp"
#include "compiler/text/arithmetic.hpp"

namespace vphi::schedule {
namespace {

using algebra::Arena;
using algebra::Expr;
using dsl::ExprKind;
using text::ArithmeticError;
using text::Meaning;
using text::scalar_value;
using text::Value;

/// Reads a body with every variable and every hole as a symbol of its own.
class CompositionReader {
 public:
  CompositionReader(const Integrator& integrator, const Head& head, Arena& arena)
      : integrator_(integrator), head_(head), arena_(arena) {
    meaning_.name = [this](const dsl::Expr& at) { return name(at); };
    meaning_.call = [this](const dsl::Expr& at, Value& value) { return call(at, value); };
  }

  std::optional<std::vector<Flow>> read() {
    if (!head_.is_plain()) return std::nullopt;
    std::vector<Flow> once;
    try {
      for (const Statement& statement : integrator_.body) {
        const Expr value = evaluate(*statement.value, meaning_, arena_).scalar;
        const int e = head_.index(statement.name);
        if (e < 0) {
          if (!algebra::constant(value)) return std::nullopt;
          locals_[statement.name] = value;
          continue;
        }
        const auto weight = length(e, value);
        if (!weight) return std::nullopt;
        once.push_back({e, *weight});
      }
    } catch (const ArithmeticError&) {
      return std::nullopt;
    }
    std::vector<Flow> all;
    for (const algebra::Number& w : integrator_.weights) {
      for (const Flow& flow : once) all.push_back({flow.equation, arena_.number(w) * flow.weight});
    }
    if (all.empty()) return std::nullopt;
    return all;
  }

 private:
  Expr variable(int e) const {
    return arena_.symbol("head:" + head_.variables[static_cast<std::size_t>(e)]);
  }
  Expr dt() const { return arena_.symbol("head:dt"); }

  /// The symbol of the whole right side of equation `e`.
  Expr right_side(int e) const {
    const Part& part = head_.parts[static_cast<std::size_t>(e)][0];
    if (part.kind == Part::Kind::Variable) return variable(head_.index(part.variable));
    return arena_.symbol("head:" + part.name + "()");
  }

  Value name(const dsl::Expr& at) const {
    if (head_.index(at.text) >= 0) return scalar_value(variable(head_.index(at.text)));
    if (at.text == "dt") return scalar_value(dt());
    const auto local = locals_.find(at.text);
    if (local == locals_.end()) throw ArithmeticError{at.span, ""};
    return scalar_value(local->second);
  }

  /// A hole applied to the head's own variables, as they are now.
  bool call(const dsl::Expr& at, Value& value) const {
    for (std::size_t e = 0; e < head_.parts.size(); ++e) {
      const Part& part = head_.parts[e][0];
      if (part.kind != Part::Kind::Hole || part.name != at.text) continue;
      if (at.args.size() != part.arguments.size()) return false;
      for (std::size_t i = 0; i < at.args.size(); ++i) {
        if (at.args[i]->kind != ExprKind::Name || at.args[i]->text != part.arguments[i]) {
          return false;
        }
      }
      value = scalar_value(right_side(static_cast<int>(e)));
      return true;
    }
    return false;
  }

  /// c where value = u + c*dt*(right side of u').
  std::optional<Expr> length(int e, Expr value) const {
    const Expr step = value - variable(e);
    const Expr ratio = step / (dt() * right_side(e));
    const auto c = algebra::constant(ratio);
    if (!c) return std::nullopt;
    return arena_.number(*c);
  }

  const Integrator& integrator_;
  const Head& head_;
  Arena& arena_;
  Meaning meaning_;
  std::map<std::string, Expr> locals_;
};

struct WholeRun {
  int equation = 0;
  std::vector<Expr> owed, own;
};

}  // namespace

std::optional<std::vector<Flow>> read_flows(const Integrator& integrator, const Head& head,
                                            Arena& arena) {
  return CompositionReader(integrator, head, arena).read();
}

Composition compose(const std::vector<Flow>& flows, const std::vector<bool>& exact, bool ahead,
                    Arena& arena, const std::vector<bool>& limited) {
  const auto splits = [&](int e) {
    return !limited.empty() && limited[static_cast<std::size_t>(e)];
  };
  std::vector<WholeRun> runs;
  for (const Flow& flow : flows) {
    if (runs.empty() || runs.back().equation != flow.equation)
      runs.push_back({flow.equation, {}, {}});
    runs.back().own.push_back(flow.weight);
  }
  Composition result;
  std::vector<Expr> behind;  // of the run that what is done ahead is joined with
  if (runs.size() > 1 && runs.front().equation == runs.back().equation &&
      !splits(runs.front().equation)) {
    const std::vector<Expr> first = runs.front().own, last = runs.back().own;
    if (ahead) {
      result.ahead_equation = runs.front().equation;
      result.ahead = first;
      behind = last;
      runs.back().own.insert(runs.back().own.end(), first.begin(), first.end());
      runs.erase(runs.begin());
    } else {
      result.owed_equation = runs.back().equation;
      result.owed = last;
      runs.front().owed = last;
      runs.pop_back();
    }
  }

  // With two runs a step is of order 2 at most, whatever its parts are.
  const bool second_order = runs.size() <= 2;
  const auto additive = [&](int e) {
    return !splits(e) && (second_order || exact[static_cast<std::size_t>(e)]);
  };
  const auto total = [&](std::vector<Expr>& parts) {
    if (parts.size() > 1) parts = {arena.make(algebra::Op::Add, parts)};
  };
  for (WholeRun& run : runs) {
    if (!additive(run.equation)) continue;
    total(run.own);
    total(run.owed);
  }
  if (result.owed_equation >= 0 && additive(result.owed_equation)) total(result.owed);
  if (result.ahead_equation >= 0 && additive(result.ahead_equation)) {
    total(result.ahead);
    total(behind);
    result.before_ahead = behind[0];
  }

  // The shortest sequence of groups that repeats is a stage.
  std::size_t period = 1;
  const auto repeats = [&] {
    if (runs.size() % period != 0) return false;
    for (std::size_t i = period; i < runs.size(); ++i) {
      if (runs[i].equation != runs[i - period].equation) return false;
    }
    return true;
  };
  while (!repeats()) ++period;
  result.stages = static_cast<int>(runs.size() / period);

  for (std::size_t j = 0; j < period; ++j) {
    Run run{runs[j].equation, {}};
    const bool one = additive(run.equation);
    // Parts left over from the step before come first. Where parts can be added, one part has both
    // lengths.
    for (std::size_t s = j; s < runs.size(); s += period) {
      std::vector<std::pair<Expr, Expr>> parts;  // own, owed
      const Expr zero = arena.integer(0);
      for (Expr w : runs[s].owed) parts.emplace_back(zero, w);
      for (Expr w : runs[s].own) {
        if (one && !parts.empty()) {
          parts.back().first = w;
        } else {
          parts.emplace_back(w, zero);
        }
      }
      const std::size_t stage = s / period;
      if (run.parts.size() < parts.size()) {
        run.parts.resize(parts.size(),
                         {std::vector<Expr>(stage, zero), std::vector<Expr>(stage, zero)});
      }
      parts.resize(run.parts.size(), {zero, zero});
      for (std::size_t p = 0; p < parts.size(); ++p) {
        run.parts[p].own.push_back(parts[p].first);
        run.parts[p].owed.push_back(parts[p].second);
      }
    }
    result.runs.push_back(std::move(run));
  }
  return result;
}

}  // namespace vphi::schedule
