#include "dsl/collect.hpp"

#include <algorithm>

#include "dsl/messages/suggest.hpp"
#include "dsl/name_errors.hpp"
#include "dsl/syntax/walk.hpp"
#include "dsl/types/constant.hpp"
#include "dsl/types/type_text.hpp"
#include "dsl/types/types.hpp"
#include "dsl/types/unit_check.hpp"
#include "dsl/words/builtins.hpp"
#include "dsl/words/sweep_words.hpp"

namespace vphi::dsl {

namespace {

constexpr int kMostDimensions = 4;
constexpr std::size_t kLongestName = 64;

using Base = Type::Base;

/// Declares one symbol after the other; the first of two equal names stays.
class Collector {
 public:
  explicit Collector(Resolved& resolved) : resolved_(resolved) {}

  void add(Symbol symbol) {
    if (symbol.name.size() > kLongestName) {
      resolved_.diagnostics.add(errors::bad_identifier(
          symbol.declared, "it is longer than " + std::to_string(kLongestName) + " characters"));
      return;
    }
    const auto found = resolved_.symbols.find(symbol.name);
    if (found != resolved_.symbols.end()) {
      resolved_.diagnostics.add(
          errors::declared_twice(symbol.declared, symbol.name, found->second));
      // A name that evolves is kept, so that its equation and its initial value make no further
      // messages.
      const bool state = symbol.kind == SymbolKind::Field || symbol.kind == SymbolKind::Gauge ||
                         symbol.kind == SymbolKind::Variable;
      if (state) found->second = std::move(symbol);
      return;
    }
    resolved_.symbols.emplace(symbol.name, std::move(symbol));
  }

  void line(const Line& line) {
    if (line.kind == Line::Kind::Definition) {
      const Definition& definition = line.definition;
      SymbolKind kind = definition.drawn ? SymbolKind::Drawn : SymbolKind::Definition;
      if (definition.head.name == "H" && definition.head.form == Head::Form::Plain) {
        kind = SymbolKind::Hamiltonian;
      }
      add(from_head(definition.head, definition.value, kind, line));
    } else if (line.kind == Line::Kind::Clause) {
      clause(line);
    }
  }

 private:
  static Symbol from_head(const Head& head, const ExprPtr& value, SymbolKind kind,
                          const Line& line) {
    Symbol symbol;
    symbol.name = head.name;
    symbol.kind = kind;
    symbol.declared = head.span;
    symbol.value = value;
    symbol.indexed = head.form == Head::Form::Indexed;
    for (const ExprPtr& arg : head.args) {
      if (arg && arg->kind == ExprKind::Name) symbol.parameters.push_back(arg->text);
    }
    for (const ExprPtr& index : head.indices) symbol.parameters.push_back(index->text);
    symbol.line = &line;
    return symbol;
  }

  void heads(const Line& line, SymbolKind kind) {
    for (const Item& item : line.clause.items) {
      const bool option = kind == SymbolKind::Swept && item.head && item.head->name == kKeep;
      if (item.head && !option && item.relation != Item::Relation::None && item.head->primes == 0) {
        add(from_head(*item.head, item.value, kind, line));
      }
    }
  }

  void state(const Line& line, SymbolKind kind, Base missing) {
    const Clause& clause = line.clause;
    for (const TypedName& typed : typed_names(clause)) {
      Symbol symbol;
      const bool indexed = typed.name->kind == ExprKind::Index;
      symbol.name = indexed ? typed.name->args[0]->text : typed.name->text;
      symbol.declared = indexed ? typed.name->args[0]->span : typed.name->span;
      symbol.kind = kind;
      symbol.indexed = indexed;
      symbol.line = &line;
      for (std::size_t i = 1; indexed && i < typed.name->args.size(); ++i) {
        symbol.parameters.push_back(typed.name->args[i]->text);
      }
      if (typed.type) {
        pending_.emplace_back(symbol.name, typed.type);
      } else if (missing != Base::Unknown) {
        symbol.type = type_of(missing);
      } else {
        resolved_.diagnostics.add(
            errors::type_missing(typed.name->span, clause.keyword, symbol.name));
      }
      symbol.type.per_site = kind != SymbolKind::Variable || indexed;
      // The type is read when every parameter is known: `vec(n)` may come before `param n`.
      add(std::move(symbol));
    }
  }

  void clause(const Line& line) {
    const Clause& clause = line.clause;
    const std::string& keyword = clause.keyword;
    if (keyword == "param") heads(line, SymbolKind::Parameter);
    if (keyword == "sweep") heads(line, SymbolKind::Swept);
    if (keyword == "potential") heads(line, SymbolKind::Potential);
    if (keyword == "lagrangian") heads(line, SymbolKind::Potential);
    if (keyword == "action") heads(line, SymbolKind::Action);
    if (keyword == "field") state(line, SymbolKind::Field, Base::Unknown);
    if (keyword == "gauge") state(line, SymbolKind::Gauge, Base::Unknown);
    if (keyword == "fermion") state(line, SymbolKind::Fermion, Base::Spinor);
    if (keyword == "var") state(line, SymbolKind::Variable, Base::Unknown);
    if (keyword == "primitive") state(line, SymbolKind::Primitive, Base::Unknown);
    if (keyword == "particles") species(line);
    if (keyword == "conserve") conserved(line);
    if (keyword == "stencil" && declares(clause)) library_head(line, SymbolKind::Stencil, "");
    if (keyword == "integrator" && declares(clause)) {
      library_head(line, SymbolKind::Integrator, "");
    }
    if (keyword == "scheme" && declares(clause)) library_head(line, SymbolKind::Scheme, "");
    if (keyword == "solver" && declares(clause)) library_head(line, SymbolKind::Solver, "");
  }

  void species(const Line& line) {
    const auto items = positional(line.clause);
    if (items.empty() || items[0]->value->kind != ExprKind::Name)
      return;  // reported by ClauseCheck
    Symbol symbol;
    symbol.name = items[0]->value->text;
    symbol.kind = SymbolKind::Particles;
    symbol.type = type_of(Base::Integer);
    symbol.declared = items[0]->value->span;
    symbol.value = items.size() > 1 ? items[1]->value : nullptr;
    symbol.line = &line;
    add(std::move(symbol));
  }

  /// `conserve U = f: flux` declares U; `conserve U: f = s` does not.
  void conserved(const Line& line) {
    if (line.clause.items.empty()) return;
    const Item& item = line.clause.items.front();
    if (!item.head || item.relation != Item::Relation::Equals) return;
    add(from_head(*item.head, item.value, SymbolKind::Conserved, line));
  }

 public:
  void library_head(const Line& line, SymbolKind kind, const std::string& origin) {
    const Item& item = line.clause.items.front();
    Symbol symbol;
    symbol.kind = kind;
    symbol.origin = origin;
    symbol.line = &line;
    symbol.value = item.value;
    if (item.head) {
      symbol.name = item.head->name;
      symbol.declared = item.head->span;
      for (const ExprPtr& arg : item.head->args) symbol.parameters.push_back(arg->text);
    } else if (item.value) {
      symbol.name = item.value->text;
      symbol.declared = item.value->span;
    }
    if (symbol.name.empty()) return;
    const auto own = resolved_.symbols.find(symbol.name);
    if (own != resolved_.symbols.end() && !origin.empty()) {
      if (own->second.origin.empty() && own->second.declared.file == 0) {
        resolved_.diagnostics.add(
            errors::shadows_std(own->second.declared, symbol.name, errors::kind_name(symbol), ""));
      }
      return;
    }
    add(std::move(symbol));
  }

  void read_types() {
    for (const auto& [name, expr] : pending_) {
      const auto found = resolved_.symbols.find(name);
      if (found == resolved_.symbols.end()) continue;  // its name was refused
      Type& type = found->second.type;
      const bool per_site = type.per_site;
      type = read_type(resolved_, *expr);
      type.per_site = per_site;
    }
  }

 private:
  Resolved& resolved_;
  std::vector<std::pair<std::string, ExprPtr>> pending_;  ///< state and the text of its type
};

void collect_library(Resolved& resolved, Collector& collector) {
  for (const ModelText& text : resolved.library) {
    const std::string origin = text.source ? text.source->name() : std::string("std");
    for (const Line& line : text.lines) {
      if (line.kind != Line::Kind::Clause || line.clause.items.empty()) continue;
      const std::string& keyword = line.clause.keyword;
      if (keyword == "stencil") collector.library_head(line, SymbolKind::Stencil, origin);
      if (keyword == "integrator") collector.library_head(line, SymbolKind::Integrator, origin);
      if (keyword == "scheme") collector.library_head(line, SymbolKind::Scheme, origin);
      if (keyword == "solver") collector.library_head(line, SymbolKind::Solver, origin);
    }
  }
}

/// `frw(a)`, `frw(a = t^(1/2))`: the metric's name and the name of its scale factor.
std::pair<std::string, std::string> metric_names(const Clause& metric) {
  const auto items = positional(metric);
  if (items.empty() || items[0]->value->kind != ExprKind::Call) return {"metric", "a"};
  const Expr& call = *items[0]->value;
  if (!call.args.empty() && call.args[0]->kind == ExprKind::Name) {
    return {call.text, call.args[0]->text};
  }
  if (!call.named.empty()) return {call.text, call.named[0].name};
  return {call.text, "a"};
}

bool gives(const Resolved& resolved, std::string_view construct) {
  if (construct == "H") {
    const auto found = resolved.symbols.find("H");
    return found != resolved.symbols.end() && found->second.kind == SymbolKind::Hamiltonian;
  }
  if (construct == "evolve") {
    return resolved.clause("evolve") != nullptr || resolved.clause("sample") == nullptr;
  }
  if (construct == "metric") {
    // `metric scale(...)` has no scale factor of its own, nor a density of energy
    const Clause* metric = resolved.clause("metric");
    const auto items = metric ? positional(*metric) : std::vector<const Item*>{};
    return metric && (items.empty() || items[0]->value->text != "scale");
  }
  return resolved.clause(std::string(construct)) != nullptr;
}

/// Whether the lattice has as many axes as this coordinate needs.
bool axis_exists(const Resolved& resolved, const GivenName& given) {
  const std::size_t dims = resolved.lattice_shape.size();
  if (given.construct != "lattice" || dims == 0) return true;
  if (given.name == "y") return dims > 1;
  if (given.name == "z") return dims > 2;
  return true;
}

void collect_constructs(Resolved& resolved) {
  for (const GivenName& given : given_names()) {
    if (!gives(resolved, given.construct) || !axis_exists(resolved, given)) continue;
    Symbol symbol;
    symbol.name = given.name;
    symbol.origin = given.construct == "H" ? "hamiltonian" : given.construct;
    if (given.construct == "metric") {
      const auto [metric, scale_factor] = metric_names(*resolved.clause("metric"));
      symbol.origin = metric;
      if (given.name == "a") symbol.name = scale_factor;
    }
    symbol.kind = SymbolKind::Construct;
    symbol.type = type_of(given.type, given.per_site);
    const std::string qualified = symbol.origin + "." + symbol.name;
    const auto own = resolved.symbols.find(symbol.name);
    if (own == resolved.symbols.end()) {
      resolved.symbols.emplace(symbol.name, symbol);
    } else if (own->second.kind == SymbolKind::Hamiltonian) {
      resolved.diagnostics.add(errors::hubble_and_hamiltonian(own->second.declared));
    } else if (own->second.kind != SymbolKind::Construct && given.construct != "expect") {
      resolved.diagnostics.add(errors::shadows_std(own->second.declared, symbol.name,
                                                   std::string(given.doc), qualified));
    }
    resolved.symbols.emplace(qualified, std::move(symbol));
  }
  if (resolved.lattice_shape.size() == 4 && resolved.clause("evolve") == nullptr) {
    Symbol time;
    time.name = "t";
    time.kind = SymbolKind::Construct;
    time.origin = "lattice";
    time.type = type_of(Base::Real, true);
    resolved.symbols.insert_or_assign("t", std::move(time));
  }
}

void note_shadowed_builtins(Resolved& resolved) {
  const bool gauge = resolved.clause("gauge") != nullptr;
  for (const auto& [name, symbol] : resolved.symbols) {
    if (symbol.kind == SymbolKind::Construct || !symbol.origin.empty()) continue;
    const Builtin* builtin = find_builtin(name);
    // a distribution has its meaning behind `~` alone
    if (builtin != nullptr && builtin->rule != Rule::Distribution &&
        (gauge || builtin->rule != Rule::PathProduct)) {
      resolved.diagnostics.add(
          errors::shadows_std(symbol.declared, name, std::string(builtin->doc), ""));
    } else if (const BuiltinConstant* constant = find_constant(name)) {
      resolved.diagnostics.add(
          errors::shadows_std(symbol.declared, name, std::string(constant->doc), ""));
    }
  }
}

void read_lattice(Resolved& resolved) {
  const Clause* lattice = resolved.clause("lattice");
  if (lattice == nullptr) return;
  const auto items = positional(*lattice);
  if (items.empty()) return;  // the clause's form is checked elsewhere
  const Expr& written = *items.back()->value;
  const auto shape = lattice_shape(resolved, written);
  bool unnamed = false;  // a name without meaning, or a swept one, is reported by its own name
  for_each(items.back()->value, [&](const Expr& expr) {
    if (expr.kind != ExprKind::Name) return;
    const Symbol* symbol = resolved.find(expr.text);
    unnamed = unnamed || symbol == nullptr || symbol->kind != SymbolKind::Parameter;
  });
  if (!shape && unnamed) return;
  if (!shape) {
    resolved.diagnostics.add(errors::bad_shape(written.span));
  } else if (shape->size() > kMostDimensions) {
    resolved.diagnostics.add(
        errors::too_many_dimensions(written.span, static_cast<int>(shape->size())));
  } else {
    resolved.lattice_shape = *shape;
  }
}

}  // namespace

std::vector<TypedName> typed_names(const Clause& clause) {
  std::vector<TypedName> names;
  std::size_t waiting = 0;
  for (const Item& item : clause.items) {
    if (item.relation != Item::Relation::None || !item.value) continue;
    if (item.leading == Item::Leading::Colon) {
      for (; waiting < names.size(); ++waiting) names[waiting].type = item.value;
    } else if (item.value->kind == ExprKind::Name ||
               (item.value->kind == ExprKind::Index &&
                item.value->args[0]->kind == ExprKind::Name)) {
      names.push_back({&item, item.value, nullptr});
    }
  }
  return names;
}

bool declares(const Clause& clause) {
  if (clause.items.empty()) return false;
  const Item& item = clause.items.front();
  return clause.has_body || item.relation == Item::Relation::Equals;
}

void collect_symbols(Resolved& resolved) {
  read_units(resolved);
  Collector collector(resolved);
  for (const Line& line : resolved.model.lines) collector.line(line);
  collector.read_types();
  collect_library(resolved, collector);
  read_lattice(resolved);
  collect_constructs(resolved);
  note_shadowed_builtins(resolved);
}

}  // namespace vphi::dsl
