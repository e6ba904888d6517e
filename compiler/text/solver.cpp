#include "compiler/text/solver.hpp"

#include "compiler/text/arithmetic.hpp"
#include "compiler/text/text_errors.hpp"
#include "dsl/syntax/walk.hpp"

namespace vphi::text {

namespace {

Statement plain(const dsl::Line& line) {
  if (line.kind != dsl::Line::Kind::Definition || line.definition.drawn ||
      line.definition.head.form != dsl::Head::Form::Plain) {
    throw ArithmeticError{line.span, "a body has lines `name = value` and one `repeat`"};
  }
  return {line.definition.head.name, line.definition.value, line.span};
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
