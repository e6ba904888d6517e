#include "dsl/resolve.hpp"

#include <map>
#include <string>
#include <vector>

#include "dsl/collect.hpp"
#include "dsl/equations.hpp"
#include "dsl/library_check.hpp"
#include "dsl/link_functions.hpp"
#include "dsl/model_function.hpp"
#include "dsl/name_errors.hpp"
#include "dsl/syntax/spelling.hpp"
#include "dsl/syntax/walk.hpp"
#include "dsl/types/cycles.hpp"
#include "dsl/types/infer.hpp"
#include "dsl/types/unit_check.hpp"
#include "dsl/unused.hpp"
#include "dsl/words/clause_check.hpp"
#include "dsl/words/families.hpp"
#include "dsl/words/output_values.hpp"

namespace vphi::dsl {

const Symbol* Resolved::find(const std::string& name) const {
  auto found = symbols.find(name);
  if (found == symbols.end()) found = symbols.find(canonical(name));
  return found == symbols.end() ? nullptr : &found->second;
}

std::vector<const Clause*> Resolved::clauses(const std::string& keyword) const {
  std::vector<const Clause*> found;
  for (const Line& line : model.lines) {
    if (line.kind == Line::Kind::Clause && line.clause.keyword == keyword) {
      found.push_back(&line.clause);
    }
  }
  return found;
}

const Clause* Resolved::clause(const std::string& keyword) const {
  for (const Line& line : model.lines) {
    if (line.kind == Line::Kind::Clause && line.clause.keyword == keyword) return &line.clause;
  }
  return nullptr;
}

Sources Resolved::sources() const {
  Sources sources{model.source.get()};
  for (const ModelText& text : library) {
    const std::size_t number = text.source->file();
    if (sources.size() <= number) sources.resize(number + 1, model.source.get());
    sources[number] = text.source.get();
  }
  return sources;
}

namespace {

/// A mistyped keyword is reported and the clause is read with the keyword meant, so that one
/// mistake gives one message.
void repair_keywords(Resolved& resolved) {
  for (Line& line : resolved.model.lines) {
    Clause& clause = line.clause;
    if (line.kind != Line::Kind::Clause || find_clause(clause.keyword) != nullptr) continue;
    const auto near = near_keyword(clause, "");
    resolved.diagnostics.add(errors::unknown_clause(clause.keyword_span, clause.keyword, near));
    if (near) clause.keyword = *near;
  }
}

/// Adds the functions of the library that the model calls and does not define, and those that these
/// call, as if they were lines of the model.
void add_library_functions(Resolved& resolved) {
  std::map<std::string, const Line*> known;
  for (const ModelText& text : resolved.library)
    for (const Line& line : text.lines)
      if (line.kind == Line::Kind::Definition && line.definition.head.form == Head::Form::Function)
        known.emplace(line.definition.head.name, &line);
  if (known.empty()) return;
  const auto own = [&known](const Line& line) {
    if (line.kind == Line::Kind::Definition) known.erase(line.definition.head.name);
    for (const Item& item : line.clause.items)
      if (item.head) known.erase(item.head->name);
  };
  std::vector<Line>& lines = resolved.model.lines;
  for (const Line& line : lines) own(line);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::string> called;
    for_each(lines[i], [&](const Expr& e) {
      if (e.kind == ExprKind::Call && known.contains(e.text)) called.push_back(e.text);
    });
    for (const std::string& name : called) {
      const auto line = known.find(name);
      if (line == known.end()) continue;
      lines.push_back(*line->second);
      known.erase(line);
    }
  }
}

}  // namespace

Resolved resolve(ModelText model, std::vector<ModelText> library) {
  Resolved resolved;
  resolved.model = std::move(model);
  resolved.library = std::move(library);
  repair_keywords(resolved);
  add_library_functions(resolved);
  write_out_link_functions(resolved);
  collect_symbols(resolved);
  spell_out_outputs(resolved);
  const std::vector<const Symbol*> definitions = order_definitions(resolved);
  Inference inference(resolved);
  choose_stencils(resolved);
  for (const Symbol* symbol : definitions) {
    const bool text = symbol->line && makes_links(symbol->line->definition.head);
    if (!text) inference.definition(*symbol);  // of links: where it is written out
  }
  check_library_names(resolved, inference);
  check_equations(resolved, inference);
  ClauseCheck(resolved, inference).all();
  check_model(resolved);
  check_units(resolved);
  find_later_families(resolved);
  warn_of_unused(resolved);
  return resolved;
}

const Symbol* model_function(const Resolved& resolved, const std::string& name) {
  const Symbol* symbol = resolved.find(name);
  const bool function = symbol && symbol->kind == SymbolKind::Definition && symbol->value &&
                        !symbol->indexed && !symbol->parameters.empty() &&
                        symbol->declared.file == 0;
  return function ? symbol : nullptr;
}

ExprPtr option(const Clause& clause, const std::string& name) {
  for (const Item& item : clause.items) {
    if (item.relation != Item::Relation::None && item.head && item.head->name == name &&
        item.head->form == Head::Form::Plain && item.head->primes == 0) {
      return item.value;
    }
  }
  return nullptr;
}

std::vector<const Item*> positional(const Clause& clause) {
  std::vector<const Item*> items;
  for (const Item& item : clause.items) {
    if (item.relation == Item::Relation::None && item.value) items.push_back(&item);
  }
  return items;
}

}  // namespace vphi::dsl
