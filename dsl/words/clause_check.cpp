// The checks that follow from the table of clauses alone.
#include "dsl/words/clause_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "dsl/collect.hpp"
#include "dsl/messages/suggest.hpp"
#include "dsl/name_errors.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/syntax/walk.hpp"
#include "dsl/types/constant.hpp"
#include "dsl/types/types.hpp"
#include "dsl/words/link_files.hpp"
#include "program/surface_formats.hpp"

namespace vphi::dsl {

namespace {

constexpr std::size_t kLongestText = 4096;

/// Strings are names of files and titles; control characters are refused.
std::string text_problem(const std::string& text) {
  if (text.size() > kLongestText) return "it is longer than 4096 characters";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return "it holds a control character";
  }
  return {};
}

}  // namespace

void ClauseCheck::all() {
  for (const Line& line : resolved_.model.lines) {
    for_each(line, [&](const Expr& expr) {
      if (expr.kind == ExprKind::Call) once_each(expr);
      if (expr.kind != ExprKind::String) return;
      const std::string problem = text_problem(expr.text);
      if (!problem.empty()) report(errors::bad_text(expr.span, problem));
    });
  }
  lines(resolved_.model.lines, "");
}

void ClauseCheck::once_each(const Expr& call) {
  std::map<std::string, Span> given;
  for (const NamedArgument& argument : call.named) {
    const auto [place, fresh] = given.emplace(argument.name, argument.span);
    if (!fresh) report(errors::option_twice(argument.span, argument.name, place->second));
  }
}

void ClauseCheck::lines(const std::vector<Line>& lines, const std::string& inside) {
  for (const Line& line : lines) {
    if (line.kind == Line::Kind::Clause) clause(line, inside);
  }
}

void ClauseCheck::clause(const Line& line, const std::string& inside) {
  const Clause& clause = line.clause;
  const ClauseRule* rule = find_clause(clause.keyword);
  if (rule == nullptr || rule->inside != inside) {
    report(
        errors::unknown_clause(clause.keyword_span, clause.keyword, near_keyword(clause, inside)));
    return;
  }
  if (rule->once) {
    const auto [place, fresh] = first_.emplace(clause.keyword, clause.keyword_span);
    // `scheme shasta(...) {` may come often, its use once.
    if (!fresh) report(errors::clause_twice(clause.keyword_span, clause.keyword, place->second));
  }
  const int errors = resolved_.diagnostics.errors();
  form(clause, *rule);
  items(clause, *rule);
  if (rule->body != Need::Never && clause.keyword == "sample") lines(clause.body, clause.keyword);
  if (clause.keyword == "recover") lines(clause.body, clause.keyword);
  const bool empty = resolved_.diagnostics.errors() > errors && rule->least > 0 &&
                     static_cast<int>(positional(clause).size()) < rule->least;
  if (!empty) meaning(line);
}

/// Common mistakes with a message of their own: 0,3 for 0.3, `==` for `=` and `=` for `==`.
bool ClauseCheck::known_slip(const Clause& clause, const ClauseRule& rule) {
  for (std::size_t i = 1; i < clause.items.size(); ++i) {
    const Item& item = clause.items[i];
    const Expr* whole = clause.items[i - 1].value.get();
    if (whole == nullptr || !item.value || item.relation != Item::Relation::None) continue;
    if (clause.items[i - 1].relation == Item::Relation::None) continue;
    while (!whole->args.empty() && whole->kind != ExprKind::Call) whole = whole->args.back().get();
    const Expr* part = item.value.get();
    while (!part->args.empty() && part->kind != ExprKind::Call) part = part->args.front().get();
    const auto digits = [](const Expr& e) {
      return e.kind == ExprKind::Number && !e.text.empty() &&
             e.text.find_first_not_of("0123456789") == std::string::npos;
    };
    if (!digits(*whole) || part->kind != ExprKind::Number || part->text.find('.') < 1) continue;
    if (whole->span.end + 1 != part->span.begin) continue;  // a blank separates two items
    report(errors::decimal_comma(cover(whole->span, part->span), whole->text + "." + part->text));
    return true;
  }
  if (clause.items.empty()) return false;
  const Item& first = clause.items.front();
  const bool declares = rule.heads == Heads::Declares && !clause.has_body;
  if (declares && first.relation == Item::Relation::None && first.value &&
      first.value->kind == ExprKind::Binary && first.value->text == "==") {
    report(errors::relation_swapped(first.span, clause.keyword, "==", "="));
    return true;
  }
  const bool condition =
      rule.heads == Heads::Free && rule.least > 0 && rule.destination == Need::Never;
  if (condition && positional(clause).empty() && first.relation == Item::Relation::Equals) {
    report(errors::relation_swapped(first.span, clause.keyword, "=", "=="));
    return true;
  }
  return false;
}

void ClauseCheck::form(const Clause& clause, const ClauseRule& rule) {
  const std::string usage(rule.usage);
  const int count = static_cast<int>(positional(clause).size());
  const bool declares_itself = rule.heads == Heads::Declares && count == 0;
  if (known_slip(clause, rule)) return;
  if (!declares_itself && (count < rule.least || (rule.most >= 0 && count > rule.most))) {
    const bool outputs = clause.keyword == "every" || clause.keyword == "at end";
    const bool bodiless = rule.body == Need::Always && !clause.has_body;  // reported below
    if (clause.keyword == "evolve" && count > rule.most) {
      const auto names = positional(clause);
      report(errors::second_integrator(names[1]->span, names[0]->span));
    } else if (!outputs && !bodiless) {
      report(errors::clause_form(clause.keyword_span, clause.keyword, usage));
    }
  }
  const bool needs_head = rule.heads == Heads::Declares || rule.heads == Heads::Sets;
  for (const Item& item : clause.items) {
    const bool bare = item.relation == Item::Relation::None;
    const bool head_of_library = clause.has_body && &item == &clause.items.front();
    const bool applied = rule.most > 0;
    if (needs_head && bare && !head_of_library && !applied) {
      report(errors::clause_form(item.span, clause.keyword, usage));
    }
  }
  if (clause.has_body && rule.body == Need::Never) {
    report(errors::body_not_wanted(clause.keyword_span, clause.keyword));
  }
  if (!clause.has_body && rule.body == Need::Always) {
    report(errors::body_missing(clause.keyword_span, clause.keyword, usage));
  }
  if (clause.destination && rule.destination == Need::Never) {
    report(errors::destination_not_wanted(clause.destination->span, clause.keyword));
  }
  if (!clause.destination && rule.destination == Need::Always) {
    report(errors::destination_missing(clause.keyword_span, clause.keyword));
  }
  if (clause.destination && rule.destination != Need::Never &&
      clause.destination->kind == ExprKind::Call)
    writer(*clause.destination);
  if (clause.destination && rule.destination == Need::Always &&
      clause.destination->kind == ExprKind::String)
    file_name(*clause.destination);
}

/// `ildg("name")`, `music("name", T = T, ...)`.
void ClauseCheck::writer(const Expr& call) {
  const bool links = find_link_file(call.text) != nullptr;
  const bool named = call.args.size() == 1 && call.args[0]->kind == ExprKind::String;
  const bool spinors = call.text == kSpinorFile;
  if (!named || (!links && !spinors && !program::find_surface_format(call.text))) {
    report(errors::destination_kind(call.span, named ? call.args[0]->text : std::string()));
    return;
  }
  if (!links && !spinors) return;  // the columns of a surface are read with the outputs
  for (const NamedArgument& argument : call.named)
    report(errors::unknown_option(argument.span, call.text, argument.name, std::nullopt, {}));
}

/// Result files stay in the output folder, and their ending says what is written.
void ClauseCheck::file_name(const Expr& name_expr) {
  const std::string& name = name_expr.text;
  const std::filesystem::path path(name);
  const bool outside = path.is_absolute() || std::ranges::count(path, "..") > 0;
  const auto ending = path.extension();
  if (outside) {
    report(errors::destination_outside(name_expr.span, name));
  } else if (ending != ".h5" && ending != ".hdf5" && ending != ".csv" && ending != ".silo") {
    report(errors::destination_ending(name_expr.span, name));
  }
}

void ClauseCheck::items(const Clause& clause, const ClauseRule& rule) {
  meant_.clear();
  if (rule.heads != Heads::Options) return;
  std::vector<std::string> more;  // options that the integrator's own head declares
  if (clause.keyword == "evolve" && !positional(clause).empty()) {
    const Symbol* symbol = resolved_.find(positional(clause)[0]->value->text);
    if (symbol != nullptr) more = head_options(*symbol);
  }
  std::map<std::string, Span> given;
  for (const Item& item : clause.items) {
    if (item.relation == Item::Relation::None || !item.head) continue;
    const std::string key = to_text(*item.head);
    const auto [place, fresh] = given.emplace(key, item.head->span);
    if (!fresh) report(errors::option_twice(item.head->span, key, place->second));
    option_item(clause, item, rule, more);
  }
  for (const OptionRule& known : rule.options) {
    const std::string wanted(known.name);
    const bool instead =
        !known.unless.empty() && option(clause, std::string(known.unless)) != nullptr;
    if (known.required && !instead && !option(clause, wanted) && meant_.count(wanted) == 0) {
      report(errors::option_missing(clause.keyword_span, clause.keyword, std::string(known.name),
                                    std::string(known.missing)));
    }
  }
}

void ClauseCheck::option_item(const Clause& clause, const Item& item, const ClauseRule& rule,
                              const std::vector<std::string>& more) {
  const std::string& name = item.head->name;
  for (const OptionRule& known : rule.options) {
    if (known.name == name) {
      option_value(item, known);
      return;
    }
  }
  if (std::find(more.begin(), more.end(), name) != more.end()) {
    inference_.infer(*item.value, Scope{});
    return;
  }
  const Symbol* symbol = resolved_.find(name);
  if (clause.keyword == "precision" && symbol != nullptr && symbol->type.base != Type::Base::Text) {
    word(name, *item.value, "f32 f64", false);  // an override for one name
    return;
  }
  std::vector<std::string> known = option_names(rule);
  known.insert(known.end(), more.begin(), more.end());
  static const std::map<std::string, std::string> kHabits = {
      {"steps", "until"}, {"nsteps", "until"}, {"end", "until"},       {"t_end", "until"},
      {"tend", "until"},  {"tmax", "until"},   {"t_max", "until"},     {"T", "until"},
      {"tf", "until"},    {"size", "length"},  {"L", "length"},        {"a", "spacing"},
      {"dx", "spacing"},  {"bc", "boundary"},  {"delta_t", "dt"},      {"h", "dt"},
      {"step", "dt"},     {"type", "real"},    {"thermalise", "after"}};
  auto near = suggest(name, known);
  const auto habit = kHabits.find(name);
  if (!near && habit != kHabits.end() && std::ranges::count(known, habit->second) > 0)
    near = habit->second;
  if (near) meant_.insert(*near);
  Diagnostic unknown = errors::unknown_option(item.head->span, clause.keyword, name, near, known);
  if (near == "until" && item.value)
    unknown.hint = std::string("write `until = ") +
                   (name.find("step") != std::string::npos ? "step" : "t") +
                   " >= " + to_text(*item.value) + "`";
  report(std::move(unknown));
}

void ClauseCheck::option_value(const Item& item, const OptionRule& rule) {
  const std::string name(rule.name);
  const std::string place = "`" + name + "`";
  const Expr& value = *item.value;
  const Scope scope;
  switch (rule.takes) {
    case Takes::Number:
      inference_.number(value, scope, place);
      break;
    case Takes::Positive:
      inference_.number(value, scope, place);
      positive(name, value);
      break;
    case Takes::Lengths:
      if (value.kind == ExprKind::List) {
        for (const ExprPtr& length : value.args) {
          inference_.number(*length, scope, place);
          positive(name, *length);
        }
      } else {
        inference_.number(value, scope, place);
        positive(name, value);
      }
      break;
    case Takes::Count:
      whole(place, value);
      break;
    case Takes::AtSite:  // by the check of its own clause
    case Takes::Vector:
    case Takes::Guess:
      break;
    case Takes::Values:
      if (value.kind != ExprKind::List && value.kind != ExprKind::Range) {
        report(errors::clause_form(value.span, "field", "field s: int, values = [-1, 1]"));
        break;
      }
      for (const ExprPtr& one : value.args) inference_.number(*one, scope, place);
      break;
    case Takes::Condition:
      inference_.condition(value, scope, place);
      break;
    case Takes::Word:
      word(name, value, rule.words, false);
      break;
    case Takes::Call:
      word(name, value, rule.words, true);
      break;
    case Takes::Laws: {
      std::vector<std::string> laws = names_of(SymbolKind::Conserved);
      std::vector<ExprPtr> chosen = value.args;
      if (value.kind != ExprKind::List) chosen = {item.value}, laws.emplace_back("none");
      for (const ExprPtr& law : chosen) {
        if (std::find(laws.begin(), laws.end(), law->text) != laws.end()) continue;
        report(errors::option_word(law->span, name, to_text(*law), suggest(law->text, laws), laws));
      }
      break;
    }
    case Takes::Axes: {
      const std::vector<std::string> axes = names_of(SymbolKind::Swept);
      std::vector<ExprPtr> chosen = value.args;
      if (value.kind != ExprKind::List) chosen = {item.value};
      listed_once(chosen);
      for (const ExprPtr& axis : chosen) {
        if (std::find(axes.begin(), axes.end(), axis->text) != axes.end()) continue;
        report(
            errors::option_word(axis->span, name, to_text(*axis), suggest(axis->text, axes), axes));
      }
      break;
    }
  }
}

/// Names in a list that stand there once.
void ClauseCheck::listed_once(const std::vector<ExprPtr>& names) {
  std::map<std::string, Span> first;
  for (const ExprPtr& name : names) {
    const auto [place, fresh] = first.emplace(to_text(*name), name->span);
    if (!fresh) report(errors::listed_twice(name->span, place->first, place->second));
  }
}

void ClauseCheck::word(const std::string& name, const Expr& value, std::string_view words,
                       bool call) {
  if (words.empty()) {  // the scheme of a level
    integrator_name(value);
    return;
  }
  const std::vector<std::string> known = split_words(words);
  const bool shape = value.kind == ExprKind::Name || (call && value.kind == ExprKind::Call);
  const bool listed = std::find(known.begin(), known.end(), value.text) != known.end();
  if (call && value.kind == ExprKind::List) {  // one boundary per axis
    for (const ExprPtr& one : value.args) word(name, *one, words, call);
    return;
  }
  if (!shape || !listed) {
    const std::string found = shape ? value.text : to_text(value);
    static const std::map<std::string, std::string> kHabits = {
        {"float", "f32"},          {"single", "f32"},   {"double", "f64"}, {"float32", "f32"},
        {"float64", "f64"},        {"naive", "plain"},  {"none", "plain"}, {"dirichlet", "fixed"},
        {"reflecting", "neumann"}, {"open", "outflow"}, {"fp32", "f32"},   {"fp64", "f64"}};
    const auto habit = kHabits.find(found);
    auto near = suggest(found, known);
    if (habit != kHabits.end() &&
        std::find(known.begin(), known.end(), habit->second) != known.end()) {
      near = habit->second;
    }
    report(errors::option_word(value.span, name, found, near, known));
  }
  if (value.kind == ExprKind::Call) {
    for (const ExprPtr& argument : value.args) {
      inference_.number(*argument, Scope{}, "the argument of `" + value.text + "`");
    }
  }
}

void ClauseCheck::positive(const std::string& name, const Expr& value) {
  const auto number = constant_value(resolved_, value);
  if (!number || (*number > 0 && std::isfinite(*number))) return;
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", *number);
  if (std::isnan(*number)) std::snprintf(text, sizeof text, "NaN");
  report(errors::not_positive(value.span, name, text));
}

void ClauseCheck::whole(const std::string& place, const Expr& value) {
  const int errors = resolved_.diagnostics.errors();
  inference_.number(value, Scope{}, place);
  if (resolved_.diagnostics.errors() > errors) return;
  const auto count = constant_integer(resolved_, value);
  if (!count || *count < 1) report(errors::whole_number_wanted(value.span, place, 1));
}

std::vector<std::string> ClauseCheck::names_of(SymbolKind kind) const {
  std::vector<std::string> names;
  for (const auto& [name, symbol] : resolved_.symbols) {
    if (symbol.kind == kind) names.push_back(name);
  }
  return names;
}

std::vector<std::string> ClauseCheck::head_options(const Symbol& symbol) const {
  std::vector<std::string> names;
  if (!symbol.value || symbol.value->kind != ExprKind::Call) return names;
  for (const NamedArgument& named : symbol.value->named) {
    if (named.name.find_first_of("'(") == std::string::npos) names.push_back(named.name);
  }
  for (const ExprPtr& argument : symbol.value->args) {
    if (argument->kind == ExprKind::Name) names.push_back(argument->text);
  }
  return names;
}

}  // namespace vphi::dsl
