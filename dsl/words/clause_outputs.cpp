// Initial values, limits, outputs, expectations, plots.
#include <algorithm>
#include <cmath>

#include "dsl/messages/error.hpp"
#include "dsl/messages/suggest.hpp"
#include "dsl/name_errors.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/syntax/walk.hpp"
#include "dsl/types/constant.hpp"
#include "dsl/types/types.hpp"
#include "dsl/words/axes.hpp"
#include "dsl/words/clause_check.hpp"

namespace vphi::dsl {

using Base = Type::Base;

namespace {

bool is_state(const Symbol& symbol) {
  return symbol.kind == SymbolKind::Field || symbol.kind == SymbolKind::Gauge ||
         symbol.kind == SymbolKind::Fermion || symbol.kind == SymbolKind::Variable ||
         symbol.kind == SymbolKind::Primitive || symbol.kind == SymbolKind::Conserved;
}

bool has_rule(const Expr& expr, Rule rule) {
  if (expr.kind != ExprKind::Call) return false;
  const Builtin* builtin = find_builtin(expr.text);
  return builtin != nullptr && builtin->rule == rule;
}

/// Order of the equation of a variable: 2 where potential or x'' drives it, else 1.
int order_of(const Resolved& resolved, const Symbol& symbol) {
  for (const Line& line : resolved.model.lines) {
    if (line.kind == Line::Kind::Equation && line.definition.head.name == symbol.name) {
      return line.definition.head.primes;
    }
  }
  const bool hamiltonian =
      resolved.find("H") != nullptr && resolved.find("H")->kind == SymbolKind::Hamiltonian;
  if (hamiltonian) return 1;  // momenta are state of their own
  // Without any source the missing equation is reported, not its initial values.
  const bool action = resolved.clause("action") != nullptr;
  const bool flux = symbol.kind == SymbolKind::Primitive || symbol.kind == SymbolKind::Conserved;
  return action || flux ? 1 : 2;
}

/// dphi, phidot, phi_t: other spellings of phi', where that is among the states; else "".
std::string velocity(const std::string& written, const std::vector<std::string>& states) {
  constexpr std::pair<const char*, const char*> kForms[] = {
      {"d", ""},    {"", "dot"},    {"", "_dot"}, {"d", "dt"}, {"d", "_dt"}, {"d", "/dt"},
      {"dot_", ""}, {"", "_prime"}, {"", "_t"},   {"pi_", ""}, {"v_", ""}};
  for (const std::string& state : states)
    for (const auto& [before, behind] : kForms)
      if (written == before + state + behind && std::ranges::count(states, state + "'") > 0)
        return state + "'";
  return {};
}

/// A number or an axis where `init` takes an index.
Diagnostic start_of_a_part(Span at, const Symbol& symbol, const std::string& written) {
  const std::string& name = symbol.name;
  const bool bodies = symbol.kind == SymbolKind::Variable;
  const char* parts = symbol.kind == SymbolKind::Gauge ? "directions"
                      : bodies                         ? "bodies"
                                                       : "components";
  const std::string fix =
      symbol.kind == SymbolKind::Gauge     ? name + "[k] = (1i if k == x else 1)"
      : symbol.kind == SymbolKind::Fermion ? name + "[s, c] = (s == 0 and c == 1)"
      : bodies                             ? name + "[k] = (5 if k == 2 else 0)"
               : name + (symbol.type.base == Base::Vector ? " = [1, 0]" : " = 1");
  return error("E0203", at, fmt::format("`{}` is a part of `{}`", written, name), "",
               fmt::format("an initial value is that of all {} at once", parts),
               fmt::format("write for instance `init {}`", fix));
}

}  // namespace

// ---- initial values ---------------------------------------------------------------------------

/// Whether each index of the head stands for all of its values; reports one that does not.
bool ClauseCheck::starts_all(const Item& item, const Symbol& symbol) {
  const Head& head = *item.head;
  if (head.form != Head::Form::Indexed) return true;
  const bool body = symbol.kind == SymbolKind::Variable && !symbol.parameters.empty();
  const bool open = body || symbol.kind == SymbolKind::Gauge || symbol.kind == SymbolKind::Fermion;
  for (const ExprPtr& arg : head.args) {
    const bool axis = symbol.kind == SymbolKind::Gauge && is_axis(arg->text);
    const Symbol* taken = arg->kind == ExprKind::Name ? resolved_.find(arg->text) : nullptr;
    if (!open || arg->kind != ExprKind::Name || axis) {
      std::string inside;
      for (const ExprPtr& each : head.args) inside += (inside.empty() ? "" : ", ") + to_text(*each);
      report(start_of_a_part(head.span, symbol, symbol.name + "[" + inside + "]"));
      return false;
    }
    if (taken != nullptr && taken->kind != SymbolKind::Construct) {
      report(errors::index_named_like_value(arg->span, arg->text, errors::a_kind(*taken),
                                            taken->declared));
      return false;
    }
  }
  return true;
}

void ClauseCheck::init(const Clause& clause) {
  for (const Item& item : clause.items) {
    if (item.head && item.value && item.relation != Item::Relation::None) initial_value(item);
  }
}

void ClauseCheck::initial_value(const Item& item) {
  const Head& head = *item.head;
  const std::string shown = head.name + std::string(static_cast<std::size_t>(head.primes), '\'');
  const Symbol* symbol = resolved_.find(head.name);
  if (symbol != nullptr && is_state(*symbol) && !starts_all(item, *symbol)) return;
  const auto [place, fresh] = started_.emplace(shown, head.span);
  if (!fresh) report(errors::init_twice(head.span, shown, place->second));
  if (symbol != nullptr && symbol->kind == SymbolKind::Construct && head.name == "t") {
    inference_.number(*item.value, Scope{}, "the initial time");
    return;
  }
  if (symbol != nullptr && symbol->kind == SymbolKind::Construct && shown == "gauss") {
    inference_.number(*item.value, Scope{}, "what Gauss's law starts as");
    return;
  }
  if (symbol == nullptr || !is_state(*symbol)) {
    std::vector<std::string> states;
    for (const auto& [name, other] : resolved_.symbols) {
      if (!is_state(other)) continue;
      states.push_back(name);
      if (order_of(resolved_, other) > 1) states.push_back(name + "'");
    }
    report(errors::init_of_non_state(head.span, shown, symbol, states, velocity(shown, states)));
    return;
  }
  if (head.primes >= order_of(resolved_, *symbol) && head.primes > 0) {
    report(errors::init_rate(head.span, head.name));
    return;
  }
  Scope scope;
  std::vector<IndexRange> ranges(head.args.size());
  for (std::size_t i = 0; i < head.args.size(); ++i) {
    if (head.args[i]->kind != ExprKind::Name) continue;
    ranges[i] = inference_.range_of_place(*symbol, i);
    scope.locals[head.args[i]->text].index = &ranges[i];
  }
  Type wanted = head.primes > 0 ? rate_type(symbol->type) : symbol->type;
  // psi[s, c] = ...: a number for each component
  if (symbol->kind == SymbolKind::Fermion && head.args.size() == 2)
    wanted = type_of(Type::Base::Complex, true);
  if (item.relation == Item::Relation::Drawn) {
    scope.drawn = &wanted;
    scope.drawn_name = &symbol->name;
  }
  scope.start = true;
  const Value value = inference_.infer(*item.value, scope);
  // links may be written as a matrix; whether it lies in the group is seen by its numbers
  if (wanted.base == Type::Base::Group && value.type.base == Type::Base::Matrix) {
    wanted.base = Type::Base::Matrix;
    wanted.columns = wanted.rows;
  }
  inference_.require(*item.value, value, wanted, "`" + shown + "`", symbol->declared);
}

void ClauseCheck::limit(const Clause& clause) {
  for (const Item& item : clause.items) {
    if (!item.head || !item.value) continue;
    const Symbol* symbol = resolved_.find(item.head->name);
    if (symbol == nullptr || !is_state(*symbol)) {
      report(errors::limit_of_non_state(item.head->span, item.head->name, symbol));
      continue;
    }
    const Value value = inference_.infer(*item.value, Scope{});
    const std::vector<ExprPtr>& indices = item.head->args;
    const bool component = symbol->type.base == Type::Base::Vector && indices.size() == 1 &&
                           indices[0]->kind == ExprKind::Number;
    if (component) {
      report(errors::limit_of_component(item.head->span, *symbol,
                                        std::strtoul(indices[0]->text.c_str(), nullptr, 10),
                                        to_text(*item.value)));
      continue;
    }
    inference_.require(*item.value, value, symbol->type, "`" + symbol->name + "`",
                       symbol->declared);
  }
}

void ClauseCheck::beyond(const Clause& clause) {
  const std::string usage(find_clause("beyond")->usage);
  const auto positions = positional(clause);
  if (positions.size() != 1) return;  // reported already
  const Expr& where = *positions[0]->value;
  const bool end = where.kind == ExprKind::Call && (where.text == "low" || where.text == "high") &&
                   where.args.size() == 1 && where.args[0]->kind == ExprKind::Name;
  if ((!end && where.kind != ExprKind::Name) || clause.items.size() < 2) {
    report(errors::clause_form(where.span, "beyond", usage));
    return;
  }
  if (resolved_.clause("conserve") == nullptr) {
    report(errors::clause_missing("conserve", "`beyond` gives a state to conservation laws",
                                  "add the laws; a field has `boundary(x) = fixed(1)`",
                                  clause.keyword_span));
    return;
  }
  for (const Item& item : clause.items) {
    if (!item.head || !item.value) continue;
    const Head& head = *item.head;
    const Symbol* symbol = resolved_.find(head.name);
    const bool primitive = symbol != nullptr && symbol->kind == SymbolKind::Primitive;
    if (!primitive || head.primes > 0 || head.form != Head::Form::Plain ||
        item.relation != Item::Relation::Equals) {
      report(errors::beyond_no_primitive(head.span, to_text(head), primitive));
      continue;
    }
    const Value value = inference_.infer(*item.value, Scope{});
    inference_.require(*item.value, value, symbol->type, "`" + symbol->name + "`",
                       symbol->declared);
  }
}

// ---- outputs ----------------------------------------------------------------------------------

/// A quotient of times may miss its whole number by rounding, and may hold dt, which the compiler
/// knows.
void ClauseCheck::whole_to_rounding(const std::string& place, const Expr& value) {
  constexpr double kRounding = 1e-9;
  const int errors = resolved_.diagnostics.errors();
  inference_.number(value, Scope{}, place);
  if (resolved_.diagnostics.errors() > errors) return;
  const auto count = constant_value(resolved_, value);
  if (!count) return;
  const double whole = std::round(*count);
  if (whole < 1 || std::abs(*count - whole) > kRounding * whole)
    report(errors::whole_number_wanted(value.span, place, 1));
}

void ClauseCheck::outputs(const Clause& clause) {
  std::size_t from = 0;
  if (clause.keyword == "every") {
    const Item& count = clause.items.front();
    const bool by_time =
        count.count_word.empty() && !count.head && count.leading == Item::Leading::Start;
    if (by_time && count.value) {
      inference_.number(*count.value, Scope{}, "the time between two outputs");
    } else if (count.count_word.empty() || count.head) {
      report(errors::count_missing(count.span, clause.keyword));
    } else {
      whole_to_rounding("how often `every` writes", *count.value);
    }
    from = count.count_word.empty() && count.leading == Item::Leading::Colon ? 0 : 1;
  }
  std::vector<IndexRange> ranges(clause.items.size());
  Scope scope;
  for (std::size_t i = from; i < clause.items.size(); ++i) {
    const Item& item = clause.items[i];
    const bool range = item.head && item.value && item.value->kind == ExprKind::Range;
    if (!range) continue;
    ranges[i].kind = IndexRange::Kind::Explicit;
    scope.locals[item.head->name].index = &ranges[i];
    if (const Symbol* symbol = resolved_.find(item.head->name)) {
      report(errors::index_named_like_value(item.head->span, item.head->name,
                                            errors::a_kind(*symbol), symbol->declared));
    }
    for (const ExprPtr& end : item.value->args) {
      inference_.number(*end, Scope{}, "the end of a range");
    }
  }
  const bool links = clause.destination && clause.destination->kind == ExprKind::Call;
  if (links)  // columns of a surface
    for (const NamedArgument& column : clause.destination->named)
      inference_.infer(*column.value, Scope{});
  bool any = false;
  for (std::size_t i = from; i < clause.items.size(); ++i) {
    const Item& item = clause.items[i];
    if (!item.value || item.value->kind == ExprKind::Range) continue;
    if (item.head && item.head->name == "after") {
      inference_.condition(*item.value, Scope{}, "`after`");
      continue;
    }
    any = true;
    output_item(item, scope, links);
  }
  if (!any) {
    report(errors::clause_form(clause.keyword_span, clause.keyword,
                               clause.keyword == "every"
                                   ? "every 100 steps: mean(phi) -> \"results.h5\""
                                   : "at end: mean(phi) -> \"results.h5\""));
  }
}

void ClauseCheck::output_item(const Item& item, const Scope& scope, bool links) {
  const Expr& value = *item.value;
  if (links && value.kind == ExprKind::Name) {
    const Symbol* symbol = resolved_.find(value.text);
    if (symbol != nullptr && is_state(*symbol)) return;
  }
  if (has_rule(value, Rule::Output)) {
    inference_.output(value, scope);
    return;
  }
  const Value result = inference_.infer(value, scope);
  if (is_unknown(result.type)) return;
  if (result.type.per_site || !result.free.empty()) {
    report(errors::per_site_in_scalar(value.span, to_text(value), "an observable"));
  }
}

// ---- promises ---------------------------------------------------------------------------------

void ClauseCheck::promised(const Expr& expr, const Scope& scope) {
  if (has_rule(expr, Rule::Promise)) {
    inference_.promise(expr, scope);
    return;
  }
  const Value value = inference_.infer(expr, scope);
  if (!is_unknown(value.type) && (value.type.per_site || !value.free.empty())) {
    report(errors::per_site_in_scalar(expr.span, to_text(expr), "each side of a promise"));
  }
}

void ClauseCheck::expect(const Clause& clause) {
  const Scope scope;
  for (const Item& item : clause.items) {
    if (item.head) {
      report(errors::no_relation(item.span, to_text(*item.value)));
      continue;
    }
    if (!item.value) continue;
    const Expr& value = *item.value;
    const bool within = std::any_of(item.words.begin(), item.words.end(),
                                    [](const auto& word) { return word.first == "within"; });
    static const std::vector<std::string> kComparisons{"<", "<=", ">", ">=", "==", "!="};
    const bool comparison =
        value.kind == ExprKind::Binary &&
        std::find(kComparisons.begin(), kComparisons.end(), value.text) != kComparisons.end();
    if (comparison) {
      promised(*value.args[0], scope);
      promised(*value.args[1], scope);
      const bool promise =
          has_rule(*value.args[0], Rule::Promise) || has_rule(*value.args[1], Rule::Promise);
      if (!promise) inference_.infer(value, scope);  // once more as a whole: order of complex
    } else if (has_rule(value, Rule::Promise) && value.text == "conserved" && within) {
      inference_.promise(value, scope);
    } else if (!has_rule(value, Rule::Promise) && !within) {
      const Value result = inference_.infer(value, scope);
      if (is_unknown(result.type)) continue;
      if (result.type.base != Base::Boolean) {
        report(errors::no_relation(value.span, to_text(value)));
      } else if (result.type.per_site) {
        report(errors::per_site_in_scalar(value.span, to_text(value), "a promise"));
      }
    } else {
      report(errors::no_relation(value.span, to_text(value)));
    }
    for (const auto& [name, bound] : item.words) {
      if (name == "within") inference_.number(*bound, scope, "what stands after `within`");
    }
  }
}

void ClauseCheck::plot(const Clause& clause) {
  for (const Item& item : clause.items) {
    if (item.value) {
      const Value value = inference_.infer(*item.value, Scope{});
      if (!is_unknown(value.type) && (value.type.per_site || !value.free.empty())) {
        report(
            errors::per_site_in_scalar(item.value->span, to_text(*item.value), "what is plotted"));
      }
    }
    for (const auto& [name, axis] : item.words) {
      if (name != "against") continue;
      std::vector<std::string> axes = names_of(SymbolKind::Swept);
      // `against t` is refused later, as what is not there yet
      if (axis->text == "t" || std::ranges::count(axes, axis->text) > 0) continue;
      report(errors::option_word(axis->span, "against", to_text(*axis), suggest(axis->text, axes),
                                 axes));
    }
  }
}

}  // namespace vphi::dsl
