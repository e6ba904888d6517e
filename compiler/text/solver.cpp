#include "compiler/text/solver.hpp"

#include <algorithm>

#include "compiler/text/arithmetic.hpp"
#include "compiler/text/text_errors.hpp"
#include "dsl/syntax/walk.hpp"

namespace vphi::text {

namespace {

Statement plain(const dsl::Line& line) {
  const dsl::Head& head = line.definition.head;
  const bool definition = line.kind == dsl::Line::Kind::Definition && !line.definition.drawn;
  if (definition && head.form == dsl::Head::Form::Indexed && head.args.size() == 1 &&
      head.args[0]->kind == dsl::ExprKind::Name)
    return {head.name, line.definition.value, line.span, head.args[0]->text};
  if (!definition || head.form != dsl::Head::Form::Plain)
    throw ArithmeticError{line.span,
                          "a body has lines `name = value`, `name[k] = value` and one `repeat`"};
  return {head.name, line.definition.value, line.span};
}

void read_head(const dsl::Clause& clause, Solver& solver) {
  const dsl::ExprPtr head = clause.items.empty() ? nullptr : clause.items[0].value;
  if (!head || head->kind != dsl::ExprKind::Call)
    throw ArithmeticError{clause.keyword_span, "there is no head in brackets"};
  solver.name = head->text;
  for (const dsl::NamedArgument& named : head->named) {
    const std::size_t open = named.name.find('(');
    if (open == std::string::npos) {
      solver.options.emplace_back(named.name, named.value);
      continue;
    }
    solver.op = named.name.substr(0, open);
    solver.unknown = named.name.substr(open + 1, named.name.size() - open - 2);
    if (named.value->kind != dsl::ExprKind::Name)
      throw ArithmeticError{named.value->span, "b is a name here"};
    solver.source = named.value->text;
  }
  if (solver.op.empty()) throw ArithmeticError{head->span, "the head has no system `A(x) = b`"};
}

Solver read(const dsl::Clause& clause) {
  Solver solver;
  solver.span = clause.keyword_span;
  read_head(clause, solver);
  for (const dsl::Line& line : clause.body) {
    if (line.kind != dsl::Line::Kind::Clause) {
      (solver.until ? solver.after : solver.before).push_back(plain(line));
      continue;
    }
    if (solver.until) throw ArithmeticError{line.span, "there is one `repeat`"};
    solver.until = dsl::option(line.clause, "until");
    if (line.clause.keyword != "repeat" || !solver.until)
      throw ArithmeticError{line.span, "iterations are written `repeat until = condition { ... }`"};
    for (const dsl::Line& inner : line.clause.body) solver.iteration.push_back(plain(inner));
  }
  if (!solver.until || solver.iteration.empty())
    throw ArithmeticError{clause.keyword_span, "there is no `repeat`"};
  return solver;
}

template <typename Visit>
void for_each_call(const Solver& solver, const Visit& visit) {
  const auto see = [&](const dsl::Expr& e) {
    if (e.kind == dsl::ExprKind::Call) visit(e);
  };
  for (const Statement& line : solver.before) dsl::for_each(line.value, see);
  dsl::for_each(solver.until, see);
  for (const Statement& line : solver.iteration) dsl::for_each(line.value, see);
  for (const Statement& line : solver.after) dsl::for_each(line.value, see);
}

/// The expression with `name[index]` replaced by the name of this shift.
dsl::ExprPtr at_shift(const dsl::ExprPtr& e, const std::string& index, int k) {
  auto result = std::make_shared<dsl::Expr>(*e);
  const bool indexed = e->kind == dsl::ExprKind::Index && e->args.size() == 2 &&
                       e->args[0]->kind == dsl::ExprKind::Name &&
                       e->args[1]->kind == dsl::ExprKind::Name && e->args[1]->text == index;
  if (indexed) {
    result->kind = dsl::ExprKind::Name;
    result->text = shifted_name(e->args[0]->text, k);
    result->args.clear();
    return result;
  }
  for (dsl::ExprPtr& arg : result->args) arg = at_shift(arg, index, k);
  return result;
}

std::vector<Statement> at_shifts(const std::vector<Statement>& lines, int count) {
  std::vector<Statement> result;
  for (const Statement& line : lines) {
    if (line.index.empty()) {
      result.push_back(line);
      continue;
    }
    for (int k = 1; k <= count; ++k)
      result.push_back(
          {shifted_name(line.name, k), at_shift(line.value, line.index, k), line.span});
  }
  return result;
}

std::string name_of(const dsl::Clause& clause) {
  const bool named = !clause.items.empty() && clause.items[0].value;
  return named ? clause.items[0].value->text : std::string("solver");
}

}  // namespace

std::shared_ptr<const Solver> read_solver(const dsl::Clause& clause, dsl::Span used,
                                          dsl::Diagnostics& diagnostics) {
  try {
    return std::make_shared<const Solver>(read(clause));
  } catch (const ArithmeticError& wrong) {
    const dsl::Span at = wrong.span.empty() ? used : wrong.span;
    diagnostics.add(errors::solver_text(at, name_of(clause), wrong.message, used));
  }
  return nullptr;
}

bool has_shifts(const Solver& solver) {
  return std::ranges::any_of(solver.iteration, [&](const Statement& line) {
    return line.name == solver.unknown && !line.index.empty();
  });
}

std::string shifted_name(const std::string& base, int k) {
  return base + "[" + std::to_string(k) + "]";
}

std::shared_ptr<const Solver> with_shifts(const Solver& solver, int count) {
  Solver result = solver;
  for (std::vector<Statement>* lines : {&result.before, &result.iteration, &result.after})
    *lines = at_shifts(*lines, count);
  return std::make_shared<const Solver>(std::move(result));
}

std::shared_ptr<const Solver> refining_text(const Solver& solver, const dsl::Resolved& resolved) {
  for (const auto& [name, symbol] : resolved.symbols) {
    if (symbol.kind != dsl::SymbolKind::Solver || !symbol.line) continue;
    const dsl::Clause& clause = symbol.line->clause;
    dsl::Diagnostics silent;
    const auto other = read_solver(clause, clause.keyword_span, silent);
    const dsl::Expr* call = other ? inner_call(*other) : nullptr;
    if (call && (call->text == "again") == !solver.after.empty()) return other;
  }
  return nullptr;
}

bool finds_eigenvalue(const Solver& solver) {
  return std::ranges::count(solver.iteration, kEigenvalue, &Statement::name) > 0 &&
         std::ranges::any_of(solver.options,
                             [](const auto& option) { return option.first == kSide; });
}

namespace {

/// The first text of the model or the library that fits; null: none does.
std::shared_ptr<const Solver> text_that(bool (*fits)(const Solver&),
                                        const dsl::Resolved& resolved) {
  for (const auto& [name, symbol] : resolved.symbols) {
    if (symbol.kind != dsl::SymbolKind::Solver || !symbol.line) continue;
    const dsl::Clause& clause = symbol.line->clause;
    dsl::Diagnostics silent;
    const auto text = read_solver(clause, clause.keyword_span, silent);
    if (text && fits(*text)) return text;
  }
  return nullptr;
}

bool knows_cancelled(const Solver& solver) {
  return std::ranges::any_of(solver.options,
                             [](const auto& option) { return option.first == kCancelled; });
}

}  // namespace

std::shared_ptr<const Solver> eigenvalue_text(const dsl::Resolved& resolved) {
  return text_that(finds_eigenvalue, resolved);
}

std::shared_ptr<const Solver> singular_text(const dsl::Resolved& resolved) {
  return text_that(knows_cancelled, resolved);
}

const dsl::Expr* inner_call(const Solver& solver) {
  const dsl::Expr* found = nullptr;
  for_each_call(solver, [&](const dsl::Expr& e) {
    if ((e.text == "inner" || e.text == "again") && e.args.size() == 2) found = &e;
  });
  return found;
}

bool calls(const Solver& solver, const std::string& function) {
  bool found = false;
  for_each_call(solver, [&](const dsl::Expr& e) { found = found || e.text == function; });
  return found;
}

}  // namespace vphi::text
