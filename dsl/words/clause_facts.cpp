// What the items of the declaring clauses mean: domains, sources, sweeps, schemes, levels.
#include <algorithm>

#include "dsl/collect.hpp"
#include "dsl/equations.hpp"
#include "dsl/messages/suggest.hpp"
#include "dsl/name_errors.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/syntax/walk.hpp"
#include "dsl/types/constant.hpp"
#include "dsl/types/types.hpp"
#include "dsl/words/builtins.hpp"
#include "dsl/words/clause_check.hpp"
#include "dsl/words/sweep_words.hpp"

namespace vphi::dsl {

using Base = Type::Base;

void ClauseCheck::meaning(const Line& line) {
  const Clause& clause = line.clause;
  const std::string& keyword = clause.keyword;
  if (keyword == "lattice") lattice(clause);
  if (keyword == "field" || keyword == "gauge" || keyword == "fermion" || keyword == "var" ||
      keyword == "primitive") {
    state(clause);
  }
  if (keyword == "particles") {
    whole("the number of particles", *positional(clause)[1]->value);
  }
  if (keyword == "metric") metric(clause);
  if (keyword == "potential" || keyword == "lagrangian" || keyword == "action") source(line);
  if (keyword == "param") param(clause);
  if (keyword == "sweep") sweep(clause);
  if (keyword == "rescale") {
    for (const Item* item : positional(clause)) {
      const Expr& term = *item->value;
      const bool automatic = term.kind == ExprKind::Call && term.text == "auto";
      if (!automatic || term.args.size() != 1) {
        report(errors::clause_form(term.span, keyword,
                                   "rescale auto(term), or rescale A = 1/phi0, "
                                   "B = m, s = 0"));
      } else {
        inference_.infer(*term.args[0], Scope{});
      }
    }
  }
  if (keyword == "evolve") evolve(clause);
  if (keyword == "scheme" && !declares(clause)) scheme(clause);
  if (keyword == "split") split(clause);
  if (keyword == "sample") sample(clause);
  if (keyword == "level") level(clause);
  if (keyword == "recover") recover(clause);
  if (keyword == "conserve") conserve(clause);
  if (keyword == "relax") relax(clause);
  if (keyword == "random") {
    for (const Item* item : positional(clause)) {
      word("random", *item->value, "philox philox4x32 philox7 xorshift xorshift32 ranlux", false);
    }
  }
  if (keyword == "noise") {
    for (const Item* item : positional(clause)) {
      word("noise", *item->value, "ito stratonovich", false);
    }
  }
  if (keyword == "init") init(clause);
  if (keyword == "limit") limit(clause);
  if (keyword == "beyond") beyond(clause);
  if (keyword == "every" || keyword == "at end") outputs(clause);
  if (keyword == "expect") expect(clause);
  if (keyword == "plot") plot(clause);
}

// ---- domains ----------------------------------------------------------------------------------

bool ClauseCheck::refuses_swept(const Expr& name, const std::string& place) {
  const Symbol* symbol = resolved_.find(name.text);
  if (symbol == nullptr || symbol->kind != SymbolKind::Swept) return false;
  const bool free = std::ranges::any_of(symbol->line->clause.items, [&](const Item& item) {
    return item.free && item.head && item.head->name == symbol->name;
  });
  report(free ? errors::free_here(name.span, name.text, place, symbol->declared)
              : errors::swept_here(name.span, name.text, place, symbol->declared));
  return true;
}

void ClauseCheck::lattice(const Clause& clause) {
  for_each(positional(clause).back()->value, [&](const Expr& expr) {
    const char* const place = "the shape of the lattice";
    if (expr.kind == ExprKind::Name && !refuses_swept(expr, place))
      inference_.number(expr, Scope{}, place);
  });
  if (resolved_.lattice_shape.empty() && !resolved_.diagnostics.has_errors()) {
    report(errors::bad_shape(positional(clause).back()->value->span));
  }
  const bool meant = meant_.count("length") > 0 || meant_.count("spacing") > 0;
  if (!option(clause, "length") && !option(clause, "spacing") && !meant) {
    // A gauge theory may live in lattice units: its spacing is 1.
    const bool steps =
        resolved_.clause("evolve") != nullptr || resolved_.clause("gauge") == nullptr;
    if (resolved_.clause("sample") == nullptr && !measures(resolved_) && !links_flow(resolved_) &&
        steps) {
      report(errors::option_missing(clause.keyword_span, "lattice", "length",
                                    "add length = ... (of the box) or spacing = ... (of the "
                                    "sites)"));
    }
  }
  for (const char* name : {"length", "spacing"}) {
    const ExprPtr value = option(clause, name);
    if (!value) continue;
    for_each(value, [&](const Expr& expr) {
      if (expr.kind == ExprKind::Name) refuses_swept(expr, "the size of the lattice");
    });
  }
}

void ClauseCheck::state(const Clause& clause) {
  const bool lattice = resolved_.clause("lattice") != nullptr;
  const bool on_sites = clause.keyword != "var";
  if (on_sites && !lattice) {
    report(errors::clause_missing(
        "lattice", "`" + clause.keyword + "` declares what lives on the sites of a lattice",
        "add a line such as `lattice 64^3, length = 10`", clause.keyword_span));
  }
  for (const TypedName& typed : typed_names(clause)) {
    if (typed.name->kind != ExprKind::Index) continue;
    if (on_sites) {
      report(errors::clause_form(typed.name->span, clause.keyword,
                                 clause.keyword + " u: vec(3) declares components; u[0] uses one"));
      continue;
    }
    if (resolved_.clause("particles") == nullptr) {
      report(errors::clause_missing("particles", "`var x[k]` declares one x for each particle",
                                    "add a line such as `particles body: 1000`", typed.name->span));
    }
    for (std::size_t i = 1; i < typed.name->args.size(); ++i) {
      const Expr& index = *typed.name->args[i];
      const Symbol* symbol = resolved_.find(index.text);
      const bool taken = symbol != nullptr && symbol->kind != SymbolKind::Construct;
      if (index.kind != ExprKind::Name) {
        report(errors::clause_form(index.span, "var", "var x[k]: real"));
      } else if (taken) {
        report(errors::index_named_like_value(index.span, index.text, errors::a_kind(*symbol),
                                              symbol->declared));
      }
    }
  }
}

void ClauseCheck::metric(const Clause& clause) {
  const Expr& kind = *positional(clause)[0]->value;
  const std::vector<std::string> known{"frw", "minkowski", "scale"};
  if (std::find(known.begin(), known.end(), kind.text) == known.end()) {
    report(
        errors::option_word(kind.span, "metric", to_text(kind), suggest(kind.text, known), known));
    return;
  }
  if (kind.text == "scale") {
    if (kind.kind != ExprKind::Call || kind.args.empty() || kind.args.size() > 3 ||
        !kind.named.empty()) {
      report(errors::clause_form(kind.span, "metric",
                                 "metric scale(1, 1, t), a scale factor for each coordinate"));
      return;
    }
    for (const ExprPtr& factor : kind.args) {
      inference_.require(*factor, inference_.infer(*factor, Scope{}), type_of(Base::Real),
                         "a scale factor", {});
    }
    return;
  }
  if (kind.text != "frw") return;
  const bool named = kind.args.empty() && kind.named.size() == 1;
  const bool plain =
      kind.args.size() == 1 && kind.args[0]->kind == ExprKind::Name && kind.named.empty();
  if (kind.kind != ExprKind::Call || (!named && !plain)) {
    report(errors::clause_form(kind.span, "metric",
                               "metric frw(a), or with a given expansion frw(a = t^(1/2))"));
  } else if (named) {
    inference_.number(*kind.named[0].value, Scope{}, "the scale factor");
  }
}

// ---- values -----------------------------------------------------------------------------------

void ClauseCheck::source(const Line& line) {
  for (const Item& item : line.clause.items) {
    if (!item.head || !item.value) continue;
    const Symbol* symbol = resolved_.find(item.head->name);
    if (symbol == nullptr || !symbol->parameters.empty()) continue;
    const Value value = inference_.value_of(*symbol, Scope{}, item.head->span);
    if (value.type.base == Base::Determinant && line.clause.keyword == "action") continue;
    inference_.require(*item.value, value, type_of(Base::Real),
                       "the " + line.clause.keyword + " `" + symbol->name + "`", {});
  }
}

void ClauseCheck::param(const Clause& clause) {
  for (const Item& item : clause.items) {
    if (!item.value || !item.head) continue;
    bool changes = false;
    for_each(item.value, [&](const Expr& expr) {
      if (expr.kind != ExprKind::Name) return;
      const Symbol* symbol = resolved_.find(expr.text);
      if (symbol == nullptr) return;
      const bool fixed =
          symbol->kind == SymbolKind::Parameter || symbol->kind == SymbolKind::Swept ||
          symbol->kind == SymbolKind::Definition || symbol->kind == SymbolKind::Particles;
      const bool geometry = symbol->kind == SymbolKind::Construct && !symbol->type.per_site &&
                            (symbol->origin == "lattice" || symbol->name == "dt");
      if (fixed || geometry) return;
      report(errors::param_depends(expr.span, item.head->name, *symbol));
      changes = true;
    });
    if (changes) continue;
    const Symbol* symbol = resolved_.find(item.head->name);
    if (symbol != nullptr && symbol->kind == SymbolKind::Parameter && symbol->value &&
        symbol->parameters.empty()) {
      const Value value = inference_.value_of(*symbol, Scope{}, item.head->span);
      const bool number =
          is_unknown(value.type) || is_scalar(value.type) || value.type.base == Base::Vector;
      if (!number) {
        report(errors::number_wanted(item.value->span, "the param `" + symbol->name + "`",
                                     value.type));
      } else if (value.type.per_site) {
        report(errors::per_site_in_scalar(item.value->span, to_text(*item.value),
                                          "the param `" + symbol->name + "`"));
      }
    }
  }
}

void ClauseCheck::sweep(const Clause& clause) {
  for (const Item& item : clause.items) {
    if (!item.value || !item.head) continue;
    const Expr& values = *item.value;
    if (item.head->name == kKeep) {
      inference_.condition(values, Scope{}, "`keep`");
      continue;
    }
    const Builtin* builtin = find_builtin(values.text);
    const bool call =
        values.kind == ExprKind::Call && builtin != nullptr && builtin->rule == Rule::SweepValues;
    const bool listed = values.kind == ExprKind::List || values.kind == ExprKind::Range;
    if (!call && !listed) {
      report(errors::clause_form(
          values.span, "sweep", "sweep T = linspace(0, 1, 11), logspace(...), [1, 2, 4] or 1..10"));
      continue;
    }
    if (values.kind == ExprKind::Range && values.args.size() == 2) {
      const auto first = constant_integer(resolved_, *values.args[0]);
      const auto last = constant_integer(resolved_, *values.args[1]);
      if (first && last && *last < *first) {
        report(errors::empty_range(values.span, *first, *last));
      }
    }
  }
}

// ---- integrators and schemes ------------------------------------------------------------------

void ClauseCheck::integrator_name(const Expr& expr) {
  const Symbol* symbol = expr.kind == ExprKind::Name ? resolved_.find(expr.text) : nullptr;
  const bool known = symbol != nullptr &&
                     (symbol->kind == SymbolKind::Integrator || symbol->kind == SymbolKind::Scheme);
  if (known) return;
  static const std::map<std::string, std::string> kHabits = {
      {"verlet", "velocity_verlet"}, {"rk4", "rk4"},          {"yoshida", "yoshida4"},
      {"runge_kutta", "rk4"},        {"omelyan", "omelyan2"}, {"stormer_verlet", "velocity_verlet"},
  };
  const std::vector<std::string> names = names_of(SymbolKind::Integrator);
  const std::string wrong = expr.kind == ExprKind::Name ? expr.text : to_text(expr);
  auto near = suggest(wrong, names);
  const auto habit = kHabits.find(wrong);
  const bool usual =
      habit != kHabits.end() && std::find(names.begin(), names.end(), habit->second) != names.end();
  if (!near && usual) near = habit->second;
  report(errors::unknown_integrator(expr.span, wrong, near, names));
}

void ClauseCheck::evolve(const Clause& clause) {
  const Expr& name = *positional(clause)[0]->value;
  if (name.kind == ExprKind::Name && name.text == "scheme") {
    for (const Clause* use : resolved_.clauses("scheme")) {
      if (!declares(*use)) return;
    }
    report(errors::clause_missing("scheme", "`evolve scheme` needs to know which one",
                                  "add a line such as `scheme shasta`", name.span));
    return;
  }
  integrator_name(name);
}

void ClauseCheck::scheme(const Clause& clause) {
  const auto items = positional(clause);
  if (items.empty()) {
    report(errors::clause_form(clause.keyword_span, "scheme", "scheme shasta, option = value"));
    return;
  }
  const Expr& name = *items[0]->value;
  const Symbol* symbol = name.kind == ExprKind::Name ? resolved_.find(name.text) : nullptr;
  if (symbol == nullptr || symbol->kind != SymbolKind::Scheme) {
    const std::vector<std::string> known = names_of(SymbolKind::Scheme);
    report(
        errors::option_word(name.span, "scheme", to_text(name), suggest(name.text, known), known));
    return;
  }
  const std::vector<std::string> known = head_options(*symbol);
  for (const Item& item : clause.items) {
    if (!item.head || item.relation == Item::Relation::None) continue;
    if (std::find(known.begin(), known.end(), item.head->name) == known.end()) {
      report(errors::unknown_option(item.head->span, symbol->name, item.head->name,
                                    suggest(item.head->name, known), known));
      continue;
    }
    const bool on_off = item.value->kind == ExprKind::Name &&
                        (item.value->text == "on" || item.value->text == "off");
    const Symbol* whole =
        item.value->kind == ExprKind::Name ? resolved_.find(item.value->text) : nullptr;
    const bool function = whole != nullptr && !whole->parameters.empty();
    if (!on_off && !function) inference_.infer(*item.value, Scope{});
  }
}

void ClauseCheck::split(const Clause& clause) {
  const Expr& list = *positional(clause)[0]->value;
  const int dims = inference_.dimensions();
  std::string axes = std::string("xyzt").substr(0, static_cast<std::size_t>(dims));
  const auto one = [&](const Expr& word) {
    std::string sorted = word.text;
    std::sort(sorted.begin(), sorted.end());
    std::string wanted = axes;
    std::sort(wanted.begin(), wanted.end());
    std::string twice;  // there and back: each axis for half of the step, twice
    for (const char letter : wanted) twice.append(2, letter);
    const bool palindrome =
        sorted == twice && std::equal(word.text.begin(), word.text.end(), word.text.rbegin());
    if (word.kind != ExprKind::Name || (dims > 0 && sorted != wanted && !palindrome)) {
      report(errors::unknown_axis_word(word.span, to_text(word), dims));
    }
  };
  if (list.kind != ExprKind::List) {
    one(list);
  } else {
    for (const ExprPtr& word : list.args) one(*word);
  }
}

// ---- Markov chains ----------------------------------------------------------------------------

void ClauseCheck::sample(const Clause& clause) {
  word("sample", *positional(clause)[0]->value, "hmc heatbath metropolis overrelax", false);
  if (names_of(SymbolKind::Action).empty()) {
    report(errors::clause_missing("action", "`sample` draws with the weight exp(-S)",
                                  "add a line such as `action S = ...`", clause.keyword_span));
  }
}

void ClauseCheck::level(const Clause& clause) {
  const std::vector<std::string> known = names_of(SymbolKind::Action);
  for (const Item* item : positional(clause)) {
    const Expr& name = *item->value;
    const Symbol* symbol = name.kind == ExprKind::Name ? resolved_.find(name.text) : nullptr;
    if (symbol != nullptr && symbol->kind == SymbolKind::Action) continue;
    report(
        errors::option_word(name.span, "level", to_text(name), suggest(name.text, known), known));
  }
}

// ---- conservation laws ------------------------------------------------------------------------

void ClauseCheck::recover(const Clause& clause) {
  Scope scope;
  for (const Line& line : clause.body) {
    if (line.kind == Line::Kind::Clause) {
      if (line.clause.keyword != "solve" || line.clause.items.empty()) continue;
      const Item& item = line.clause.items[0];
      if (item.value && item.value->kind == ExprKind::Name) {
        const Symbol* known = resolved_.find(item.value->text);
        const bool vector = known != nullptr && known->kind == SymbolKind::Primitive &&
                            known->type.base == Base::Vector;
        scope.locals[item.value->text].value =
            Value{vector ? known->type : type_of(Base::Real, true), {}};
      }
      for (const auto& [word_name, method] : item.words) {
        if (word_name == "by") {
          word("by", *method, "fixed_point newton bisection", false);
        }
      }
      continue;
    }
    const std::string& name = line.definition.head.name;
    if (resolved_.find(name) == nullptr)
      scope.locals.emplace(name, Scope::Local{Value{}, nullptr, {}});
  }
  for (const Line& line : clause.body) {
    if (line.kind == Line::Kind::Clause) {
      solve_start(line.clause, scope);
      continue;
    }
    const Head& head = line.definition.head;
    const Value value = inference_.infer(*line.definition.value, scope);
    const Symbol* symbol = resolved_.find(head.name);
    if (symbol != nullptr && scope.find(head.name) == nullptr) {
      inference_.require(*line.definition.value, value, symbol->type, "`" + head.name + "`",
                         symbol->declared);
    }
  }
}

void ClauseCheck::conserve(const Clause& clause) {
  const Item& first = clause.items.front();
  const Item* rate = positional(clause)[0];
  const bool law = first.head && first.relation == Item::Relation::Equals;
  if (law) {
    const Symbol* symbol = resolved_.find(first.head->name);
    if (symbol == nullptr) return;
    const Value density = inference_.value_of(*symbol, Scope{}, first.head->span);
    Scope scope;
    scope.law = true;
    const Value flux = inference_.infer(*rate->value, scope);
    inference_.require(*rate->value, flux, density.type, "the rate of `" + symbol->name + "`",
                       symbol->declared);
  }
}

/// A number starts every component.
void ClauseCheck::solve_start(const Clause& clause, const Scope& scope) {
  const ExprPtr start = option(clause, "start");
  const ExprPtr name = clause.items.empty() ? nullptr : clause.items[0].value;
  if (!start || !name) return;
  const Value value = inference_.infer(*start, scope);
  const Scope::Local* local = scope.find(name->text);
  if (local == nullptr || !local->value || value.type.base == Base::Real ||
      value.type.base == Base::Integer || value.type.base == Base::Unknown)
    return;
  inference_.require(*start, value, local->value->type, "`start`", name->span);
}

void ClauseCheck::relax(const Clause& clause) {
  const char* const usage = "relax q = target, time = tau, along = v";
  const Item* first = clause.items.empty() ? nullptr : &clause.items.front();
  if (first == nullptr || !first->head || !first->value ||
      first->relation != Item::Relation::Equals || first->head->form != Head::Form::Plain ||
      first->head->primes != 0) {
    report(errors::clause_form(first ? first->span : clause.keyword_span, "relax", usage));
    return;
  }
  const std::string& name = first->head->name;
  const Symbol* symbol = resolved_.find(name);
  if (symbol == nullptr || symbol->kind != SymbolKind::Primitive) {
    report(errors::relaxes_no_primitive(first->head->span, name));
    return;
  }
  if (resolved_.clause("conserve") == nullptr) {
    report(errors::clause_missing("conserve", "what relaxes stands beside conservation laws",
                                  "add the laws, or write `field` and an equation",
                                  clause.keyword_span));
  }
  Scope scope;
  scope.law = true;
  const Value target = inference_.infer(*first->value, scope);
  inference_.require(*first->value, target, symbol->type, "the target of `" + name + "`",
                     symbol->declared);
  bool timed = false;
  std::map<std::string, Span> given;
  for (const Item& item : clause.items) {
    if (&item == first || !item.head || !item.value) continue;
    const std::string key = to_text(*item.head);
    const auto [place, fresh] = given.emplace(key, item.head->span);
    if (!fresh) report(errors::option_twice(item.head->span, key, place->second));
    if (key == "time") {
      timed = true;
      const Value time = inference_.infer(*item.value, scope);
      inference_.require(*item.value, time, type_of(Base::Real), "the time of `" + name + "`",
                         item.head->span);
    } else if (key == "along") {
      inference_.infer(*item.value, scope);
    } else {
      const std::vector<std::string> known{"time", "along"};
      report(errors::unknown_option(item.head->span, "relax", key, suggest(key, known), known));
    }
  }
  if (!timed)
    report(errors::option_missing(clause.keyword_span, "relax", "time", "add time = ..."));
}

}  // namespace vphi::dsl
