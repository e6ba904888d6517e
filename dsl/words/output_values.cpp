#include "dsl/words/output_values.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "dsl/name_errors.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/syntax/walk.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::dsl {

namespace {

using Words = std::set<std::string>;

/// An output with a name of its own in `every` or `at end`.
struct Output {
  Span named;
  ExprPtr value;
  std::string text;    ///< of the value
  std::string begins;  ///< when its averages over time begin: the condition, "" from the start
  std::string index;   ///< of `C = x[k], k = 1..3`: it is one number for each k
};

bool writes(const Line& line) {
  return line.kind == Line::Kind::Clause &&
         (line.clause.keyword == "every" || line.clause.keyword == "at end");
}

bool is_range(const Item& item) {
  return item.head && item.value &&
         (item.value->kind == ExprKind::Range ||
          (item.value->kind == ExprKind::Call && item.value->text == "directions"));
}

bool names_output(const Item& item) {
  return item.head && item.value && item.relation == Item::Relation::Equals &&
         item.head->form == Head::Form::Plain && item.head->primes == 0 &&
         item.head->name != "after" && !is_range(item);
}

/// The index that runs over a range of the clause and that the value is written with, or "".
std::string running_index(const Clause& clause, const ExprPtr& value) {
  std::string index;
  for (const Item& item : clause.items) {
    if (!is_range(item)) continue;
    for_each(value, [&](const Expr& e) {
      if (e.kind == ExprKind::Name && e.text == item.head->name) index = e.text;
    });
  }
  return index;
}

std::string after_of(const Clause& clause) {
  const ExprPtr after = option(clause, "after");
  return after ? to_text(*after) : std::string();
}

/// Names in brackets are indices: `k` in max(abs(x[k]), k).
Words indices(const ExprPtr& expr) {
  Words names;
  for_each(expr, [&](const Expr& e) {
    if (e.kind != ExprKind::Index) return;
    for (std::size_t i = 1; i < e.args.size(); ++i)
      if (e.args[i]->kind == ExprKind::Name) names.insert(e.args[i]->text);
  });
  return names;
}

ExprPtr placed(Expr value, Span span) {
  value.span = span;
  return std::make_shared<const Expr>(std::move(value));
}

/// The expression in place of one that was reported, so that no second message follows.
ExprPtr reported(Span span) {
  Expr zero;
  zero.text = "0";
  return placed(std::move(zero), span);
}

class NamedOutputs {
 public:
  explicit NamedOutputs(Resolved& resolved) : resolved_(resolved) {
    for (const Line& line : resolved.model.lines)
      if (writes(line)) note_after(line.clause);
    for (const Line& line : resolved.model.lines)
      if (writes(line)) read(line.clause);
  }

  void spell_out(Item& item) {
    if (item.value) item.value = spelled(item.value, indices(item.value));
    for (auto& [word, value] : item.words)
      if (word == "within" && value) value = spelled(value, indices(value));
  }

 private:
  void note_after(const Clause& clause) {
    if (const std::string after = after_of(clause); !after.empty()) afters_.insert(after);
  }

  /// Averages over time in `plot` and `expect` begin where all outputs with an `after` agree.
  std::string common() const { return afters_.size() == 1 ? *afters_.begin() : std::string(); }

  void read(const Clause& clause) {
    for (const Item& item : clause.items) {
      if (!names_output(item)) continue;
      outputs_[item.head->name].push_back({item.head->span, item.value, to_text(*item.value),
                                           clause.keyword == "every" ? after_of(clause) : common(),
                                           running_index(clause, item.value)});
    }
  }

  bool averages_over_time(const ExprPtr& expr, Words& seen) const {
    bool found = false;
    for_each(expr, [&](const Expr& e) {
      for (const NamedArgument& named : e.named) {
        if (named.name != "over") continue;
        for_each(named.value, [&](const Expr& axis) { found = found || axis.text == "time"; });
      }
      if (e.kind != ExprKind::Name && e.kind != ExprKind::Call) return;
      const Symbol* symbol = resolved_.find(e.text);
      if (symbol && symbol->kind == SymbolKind::Definition && seen.insert(e.text).second)
        found = found || averages_over_time(symbol->value, seen);
    });
    return found;
  }

  /// The value of the name; where there are several, a message and the first of them.
  const Output& meant(const Expr& name) {
    const std::vector<Output>& all = outputs_.at(name.text);
    const auto other = std::ranges::find_if(
        all, [&](const Output& output) { return output.text != all.front().text; });
    Words seen;
    if (!all.front().index.empty()) {
      resolved_.diagnostics.add(
          errors::output_runs(name.span, name.text, all.front().named, all.front().index));
    } else if (other != all.end()) {
      resolved_.diagnostics.add(
          errors::output_unclear(name.span, name.text, all.front().named, other->named));
    } else if (averages_over_time(all.front().value, seen)) {
      const auto other_start = std::ranges::find_if(
          all, [&](const Output& output) { return output.begins != common(); });
      if (other_start != all.end())
        resolved_.diagnostics.add(
            errors::output_begins_elsewhere(name.span, name.text, other_start->named, common()));
    }
    return all.front();
  }

  bool stands_for_output(const Expr& e, const Words& indices) const {
    return e.kind == ExprKind::Name && outputs_.contains(e.text) && !indices.contains(e.text) &&
           !resolved_.find(e.text) && !find_constant(e.text) && !find_builtin(e.text);
  }

  /// The value in the place of its name keeps the span of the name, so that messages and titles
  /// show what was written. Named arguments are left: their values are words and ranges.
  ExprPtr spelled(const ExprPtr& expr, const Words& indices) {
    if (!expr) return expr;
    const bool component = expr->kind == ExprKind::Index;
    const Expr& name = component ? *expr->args[0] : *expr;
    if (stands_for_output(name, indices)) {
      const bool runs = !outputs_.at(name.text).front().index.empty();
      if (runs || !component) {
        const Output& output = meant(name);
        return runs ? reported(expr->span) : placed(*output.value, expr->span);
      }
    }
    std::shared_ptr<Expr> changed;
    for (std::size_t i = 0; i < expr->args.size(); ++i) {
      const ExprPtr arg = spelled(expr->args[i], indices);
      if (arg == expr->args[i]) continue;
      if (!changed) changed = std::make_shared<Expr>(*expr);
      changed->args[i] = arg;
      changed->depth = std::max(changed->depth, arg->depth + 1);
    }
    return changed ? changed : expr;
  }

  Resolved& resolved_;
  std::map<std::string, std::vector<Output>> outputs_;
  Words afters_;
};

}  // namespace

void spell_out_outputs(Resolved& resolved) {
  NamedOutputs outputs(resolved);
  for (Line& line : resolved.model.lines) {
    if (line.kind != Line::Kind::Clause) continue;
    if (line.clause.keyword != "plot" && line.clause.keyword != "expect") continue;
    for (Item& item : line.clause.items) outputs.spell_out(item);
  }
}

}  // namespace vphi::dsl
