#include "dsl/equations.hpp"

#include <algorithm>
#include <set>

#include "dsl/collect.hpp"
#include "dsl/messages/suggest.hpp"
#include "dsl/name_errors.hpp"
#include "dsl/syntax/walk.hpp"
#include "dsl/types/types.hpp"
#include "dsl/words/axes.hpp"

namespace vphi::dsl {

namespace {

using Base = Type::Base;

bool has_equation_of_motion(const Symbol& symbol) {
  return symbol.kind == SymbolKind::Field || symbol.kind == SymbolKind::Variable ||
         symbol.kind == SymbolKind::Gauge;
}

/// A `field`, `var` or `gauge` line, and which of its names are coordinate, momentum, coordinate,
/// ... under a Hamiltonian.
struct StateLine {
  const Clause* clause = nullptr;
  std::vector<const Symbol*> canonical;
};

/// The lines of state and their variables. A variable with an equation of its own belongs to them
/// where the equation names `derived`, or where another variable had no partner without it
/// (docs/rules.md rule 14).
std::vector<StateLine> state_lines(const Resolved& resolved) {
  std::set<std::string> own, derived;
  for (const Line& line : resolved.model.lines) {
    if (line.kind != Line::Kind::Equation) continue;
    const std::string& name = line.definition.head.name;
    own.insert(name);
    for_each(line, [&](const Expr& e) {
      if (e.kind == ExprKind::Name && e.text == "derived") derived.insert(name);
    });
  }
  std::vector<StateLine> result;
  for (const Line& line : resolved.model.lines) {
    if (line.kind != Line::Kind::Clause) continue;
    const std::string& keyword = line.clause.keyword;
    if (keyword != "field" && keyword != "var" && keyword != "gauge") continue;
    std::vector<const Symbol*> all, canonical;
    for (const TypedName& typed : typed_names(line.clause)) {
      const bool indexed = typed.name->kind == ExprKind::Index;
      const Symbol* symbol = resolved.find(indexed ? typed.name->args[0]->text : typed.name->text);
      if (symbol == nullptr) continue;
      all.push_back(symbol);
      if (!own.contains(symbol->name) || derived.contains(symbol->name))
        canonical.push_back(symbol);
    }
    const bool whole = canonical.size() % 2 == 1 && all.size() % 2 == 0;
    result.push_back({&line.clause, whole ? all : canonical});
  }
  return result;
}

class EquationCheck {
 public:
  EquationCheck(Resolved& resolved, Inference& inference)
      : resolved_(resolved), inference_(inference) {}

  void all() {
    for (const Line& line : resolved_.model.lines) {
      if (line.kind == Line::Kind::Equation) equation(line.definition);
    }
    if (const Symbol* hamiltonian = find_hamiltonian()) {
      const Value value = inference_.value_of(*hamiltonian, Scope{}, hamiltonian->declared);
      whole_number(*hamiltonian, value);
      pairs(*hamiltonian, false);
    }
    for (const auto& [name, symbol] : resolved_.symbols)
      if (symbol.line != nullptr && symbol.line->clause.keyword == "lagrangian") {
        pairs(symbol, true);
        break;
      }
    driven();
  }

 private:
  const Symbol* find_hamiltonian() const {
    const auto found = resolved_.symbols.find("H");
    const bool own =
        found != resolved_.symbols.end() && found->second.kind == SymbolKind::Hamiltonian;
    return own ? &found->second : nullptr;
  }

  /// Checks that H is one number, the sum over all sites or particles.
  void whole_number(const Symbol& hamiltonian, const Value& value) {
    if (is_unknown(value.type)) return;
    if (value.type.per_site || !value.free.empty()) {
      resolved_.diagnostics.add(errors::hamiltonian_density(hamiltonian.value->span));
    } else {
      inference_.require(*hamiltonian.value, value, type_of(Base::Real), "the Hamiltonian `H`", {});
    }
  }

  void equation(const Definition& written) {
    const Head& head = written.head;
    const Symbol* symbol = resolved_.find(head.name);
    if (symbol == nullptr || !has_equation_of_motion(*symbol)) {
      std::vector<std::string> states;
      for (const auto& [name, other] : resolved_.symbols) {
        if (has_equation_of_motion(other)) states.push_back(name);
      }
      const auto near = symbol == nullptr ? suggest(head.name, states) : std::nullopt;
      resolved_.diagnostics.add(errors::equation_of_non_state(head.span, head.name, symbol, near));
      return;
    }
    const auto [place, fresh] = written_.emplace(head.name, head.span);
    if (!fresh) {
      resolved_.diagnostics.add(errors::second_equation(head.span, head.name, place->second));
    }
    if (head.primes > 2) {
      resolved_.diagnostics.add(errors::order_too_high(head.span, head.name, head.primes));
    }
    if (symbol->kind != SymbolKind::Gauge && head.args.size() != symbol->parameters.size()) {
      resolved_.diagnostics.add(errors::equation_indices(head.span, *symbol));
      return;
    }
    Scope scope;
    scope.equation = true;
    std::vector<IndexRange> ranges(head.args.size());
    for (std::size_t i = 0; i < head.args.size(); ++i) {
      const Expr& index = *head.args[i];
      if (index.kind != ExprKind::Name) continue;
      const Symbol* taken = resolved_.find(index.text);
      if (taken != nullptr && taken->kind != SymbolKind::Construct) {
        resolved_.diagnostics.add(errors::index_named_like_value(
            index.span, index.text, errors::a_kind(*taken), taken->declared));
      }
      if (symbol->kind == SymbolKind::Gauge && is_axis(index.text)) {
        Diagnostic d =
            errors::index_named_like_value(index.span, index.text, "an axis of the lattice", {});
        d.hint = "write `" + head.name +
                 "[k]' = ...` for all directions, with `k == " + index.text + "` where they differ";
        resolved_.diagnostics.add(std::move(d));
      }
      ranges[i] = inference_.range_of_place(*symbol, i);
      ranges[i].first = index.span;
      scope.locals[index.text].index = &ranges[i];
      scope.locals[index.text].declared = index.span;
    }
    const Value value = inference_.infer(*written.value, scope);
    inference_.require(*written.value, value, rate_type(symbol->type),
                       "the rate of `" + head.name + "`", symbol->declared);
  }

  /// With a Hamiltonian a line of state lists coordinate, momentum, coordinate, ...; with a
  /// Lagrangian one of links does.
  void pairs(const Symbol& energy, bool links_alone) {
    for (const StateLine& line : state_lines(resolved_)) {
      if (links_alone && line.clause->keyword != "gauge") continue;
      if (line.canonical.size() == 1) {
        resolved_.diagnostics.add(errors::no_momentum(*line.canonical[0], energy));
      } else if (line.canonical.size() % 2 == 1) {
        resolved_.diagnostics.add(
            errors::odd_hamiltonian_state(line.canonical.back()->declared, line.clause->keyword));
      }
    }
  }

  void driven() {
    const bool everything = find_hamiltonian() != nullptr || resolved_.clause("action") != nullptr;
    const bool lagrangian = resolved_.clause("lagrangian") != nullptr;
    const bool fields = lagrangian || resolved_.clause("potential") != nullptr;
    const bool one_site = lagrangian && resolved_.clause("lattice") == nullptr;
    if (measures(resolved_)) return;
    for (const auto& [name, symbol] : resolved_.symbols) {
      if (!has_equation_of_motion(symbol) || everything || written_.count(name) > 0) continue;
      if (symbol.kind == SymbolKind::Field && fields) continue;
      if (symbol.kind == SymbolKind::Gauge && lagrangian) continue;
      if (symbol.kind == SymbolKind::Variable && !symbol.indexed && one_site) continue;
      if (names_argument(resolved_, symbol)) continue;
      Diagnostic missing =
          errors::no_equation(symbol, fields && !lagrangian, resolved_.clause("metric") != nullptr);
      name_the_clause(missing);
      resolved_.diagnostics.add(std::move(missing));
    }
  }

  /// `lagrangian = ...` is a definition of this name, and the clause was meant.
  void name_the_clause(Diagnostic& missing) const {
    for (const auto& [word, name] :
         {std::pair("potential", "V"), {"lagrangian", "L"}, {"action", "S"}}) {
      const auto found = resolved_.symbols.find(word);
      if (found == resolved_.symbols.end()) continue;
      missing.labels.push_back({found->second.declared, "a definition of this name"});
      missing.hint = "write `" + std::string(word) + " " + name + " = ...`, which has a name";
    }
  }

  Resolved& resolved_;
  Inference& inference_;
  std::map<std::string, Span> written_;
};

}  // namespace

std::set<std::string> canonical_names(const Resolved& resolved) {
  std::set<std::string> names;
  for (const StateLine& line : state_lines(resolved))
    for (const Symbol* symbol : line.canonical) names.insert(symbol->name);
  return names;
}

void check_equations(Resolved& resolved, Inference& inference) {
  EquationCheck(resolved, inference).all();
}

namespace {

/// A model may have nothing that evolves, and solve a linear system.
bool solves(const Resolved& resolved) {
  bool found = false;
  for (const Line& line : resolved.model.lines) {
    for_each(line, [&](const Expr& e) {
      found = found || (e.kind == ExprKind::Call && e.text == "solve");
    });
  }
  return found && resolved.find("solve") == nullptr;
}

}  // namespace

bool names_argument(const Resolved& resolved, const Symbol& symbol) {
  if (symbol.kind != SymbolKind::Field || symbol.line == nullptr || !solves(resolved)) return false;
  bool argument = false, read = false;
  const auto see = [&](const Expr& e) {
    const bool named = e.kind == ExprKind::Name || e.kind == ExprKind::Call;
    read = read || (named && e.text == symbol.name);
  };
  for (const Line& line : resolved.model.lines) {
    if (&line == symbol.line) continue;
    const Head& head = line.definition.head;
    if (line.kind == Line::Kind::Clause) {
      for (const Item& item : line.clause.items)
        read = read || (item.head && item.head->name == symbol.name);
    } else if (head.name == symbol.name) {
      return false;
    } else if (head.form == Head::Form::Function &&
               std::ranges::any_of(head.args,
                                   [&](const ExprPtr& arg) { return arg->text == symbol.name; })) {
      argument = true;
      continue;
    }
    for_each(line, see);
  }
  return argument && !read;
}

bool measures(const Resolved& resolved) {
  for (const char* moving : {"sample", "evolve", "action", "potential", "lagrangian", "conserve",
                             "metric", "var", "particles", "every"}) {
    if (resolved.clause(moving) != nullptr) return false;
  }
  for (const auto& [name, symbol] : resolved.symbols)
    if (symbol.kind == SymbolKind::Field && !names_argument(resolved, symbol)) return false;
  for (const Line& line : resolved.model.lines) {
    if (line.kind == Line::Kind::Equation) return false;
  }
  const bool still = resolved.clause("gauge") != nullptr || resolved.clause("fermion") != nullptr;
  return still && resolved.clause("at end") != nullptr && resolved.find("H") == nullptr;
}

bool links_flow(const Resolved& resolved) {
  for (const Line& line : resolved.model.lines) {
    if (line.kind != Line::Kind::Equation) continue;
    const Symbol* symbol = resolved.find(line.definition.head.name);
    if (symbol != nullptr && symbol->kind == SymbolKind::Gauge && symbol->type.base == Base::Group)
      return true;
  }
  return false;
}

/// `init phi ~ vacuum` under a Hamiltonian starts phi's momentum as well.
std::set<std::string> drawn_momenta(const Resolved& resolved) {
  std::set<std::string> names;
  if (resolved.find("H") == nullptr) return names;
  std::set<std::string> drawn;
  for (const Clause* init : resolved.clauses("init")) {
    for (const Item& item : init->items) {
      if (!item.head || !item.value) continue;
      for_each(item.value, [&](const Expr& e) {
        if (e.text == "vacuum") drawn.insert(item.head->name);
      });
    }
  }
  for (const StateLine& line : state_lines(resolved)) {
    for (std::size_t i = 0; i + 1 < line.canonical.size(); i += 2) {
      if (drawn.contains(line.canonical[i]->name)) names.insert(line.canonical[i + 1]->name);
    }
  }
  return names;
}

void check_model(Resolved& resolved) {
  const std::vector<Line>& lines = resolved.model.lines;
  const Span whole = lines.empty() ? Span{} : lines.front().span;
  bool state = false;
  std::set<std::string> started;
  for (const Clause* init : resolved.clauses("init")) {
    for (const Item& item : init->items) {
      if (item.head) started.insert(item.head->name);
    }
  }
  for (const std::string& name : drawn_momenta(resolved)) started.insert(name);
  bool by_quantities = false;  // primitive variables follow from conserved ones
  for (const Clause* law : resolved.clauses("conserve"))
    for (const Item& item : law->items)
      by_quantities = by_quantities || (item.head && started.contains(item.head->name));
  for (const auto& [name, symbol] : resolved.symbols) {
    const bool evolves = (has_equation_of_motion(symbol) && !names_argument(resolved, symbol)) ||
                         symbol.kind == SymbolKind::Primitive || symbol.kind == SymbolKind::Fermion;
    state = state || evolves;
    const bool follows = symbol.kind == SymbolKind::Fermion ||
                         (by_quantities && symbol.kind == SymbolKind::Primitive);
    if (evolves && !follows && started.count(name) == 0) {
      resolved.diagnostics.add(errors::not_started(symbol.declared, name,
                                                   symbol.kind == SymbolKind::Gauge &&
                                                       symbol.type.base != Base::Real &&
                                                       symbol.type.base != Base::Matrix));
    }
  }
  for (const char* keyword : {"field", "var", "gauge", "primitive"}) {
    if (!state && resolved.clause(keyword) != nullptr) return;  // declared, but its name is refused
  }
  if (!state && solves(resolved)) return;
  if (!state) {
    resolved.diagnostics.add(errors::clause_missing(
        "state", "a model declares what evolves, with field, var, gauge or primitive",
        "add a line such as `field phi: real`", whole));
    return;
  }
  if (resolved.clause("evolve") == nullptr && resolved.clause("sample") == nullptr &&
      !measures(resolved)) {
    const bool links = resolved.clause("gauge") != nullptr && resolved.clause("action") != nullptr;
    resolved.diagnostics.add(errors::clause_missing(
        links ? "`sample`" : "`evolve`",
        "a model says how it goes forward: evolve for time, sample for Markov chains",
        links ? "add a line such as `sample heatbath, sweeps = 1000`"
              : "add a line such as `evolve leapfrog, dt = 0.1*dx, until = t > 100`",
        whole));
  }
  if (resolved.clause("conserve") != nullptr && resolved.clause("recover") == nullptr) {
    resolved.diagnostics.add(errors::clause_missing(
        "`recover`", "`conserve` evolves densities; the primitive variables must be found back",
        "add `recover { ... }` with one fact for each primitive variable",
        resolved.clause("conserve")->keyword_span));
  }
}

}  // namespace vphi::dsl
