#include "dsl/types/cycles.hpp"

#include <algorithm>
#include <map>

#include "dsl/name_errors.hpp"
#include "dsl/syntax/walk.hpp"

namespace vphi::dsl {

namespace {

bool is_definition(const Symbol& symbol) {
  switch (symbol.kind) {
    case SymbolKind::Parameter:
    case SymbolKind::Swept:
    case SymbolKind::Definition:
    case SymbolKind::Drawn:
    case SymbolKind::Potential:
    case SymbolKind::Action:
    case SymbolKind::Hamiltonian:
      return symbol.value != nullptr;
    case SymbolKind::Field:
    case SymbolKind::Gauge:
    case SymbolKind::Fermion:
    case SymbolKind::Variable:
    case SymbolKind::Particles:
    case SymbolKind::Conserved:
    case SymbolKind::Primitive:
    case SymbolKind::Construct:
    case SymbolKind::Stencil:
    case SymbolKind::Integrator:
    case SymbolKind::Scheme:
    case SymbolKind::Solver:
    case SymbolKind::Function:
      break;
  }
  return false;
}

/// The definitions that a definition needs, in text order, each once.
std::vector<const Symbol*> needs(const Resolved& resolved, const Symbol& symbol) {
  std::vector<const Symbol*> found;
  const auto& own = symbol.parameters;
  for_each(symbol.value, [&](const Expr& expr) {
    if (expr.kind != ExprKind::Name && expr.kind != ExprKind::Call) return;
    if (std::find(own.begin(), own.end(), expr.text) != own.end()) return;
    const auto other = resolved.symbols.find(expr.text);
    if (other == resolved.symbols.end() || !is_definition(other->second)) return;
    if (std::find(found.begin(), found.end(), &other->second) == found.end()) {
      found.push_back(&other->second);
    }
  });
  return found;
}

/// Depth-first search without recursion: a chain of definitions may be as long as the file.
class Search {
 public:
  explicit Search(Resolved& resolved) : resolved_(resolved) {}

  void from(const Symbol& root) {
    if (state_[&root] != State::New) return;
    enter(root);
    while (!path_.empty()) {
      Step& step = path_.back();
      if (step.next == step.needs.size()) {
        state_[step.symbol] = State::Done;
        order_.push_back(step.symbol);
        path_.pop_back();
        continue;
      }
      const Symbol* needed = step.needs[step.next++];
      if (state_[needed] == State::Open) {
        circle(needed);
      } else if (state_[needed] == State::New) {
        enter(*needed);
      }
    }
  }

  std::vector<const Symbol*> take_order() { return std::move(order_); }

 private:
  enum class State { New, Open, Done };
  struct Step {
    const Symbol* symbol;
    std::vector<const Symbol*> needs;
    std::size_t next = 0;
  };

  void enter(const Symbol& symbol) {
    state_[&symbol] = State::Open;
    path_.push_back({&symbol, needs(resolved_, symbol), 0});
  }

  void circle(const Symbol* closes) {
    std::vector<const Symbol*> chain;
    for (auto step = path_.rbegin(); step != path_.rend(); ++step) {
      chain.push_back(step->symbol);
      if (step->symbol == closes) break;
    }
    std::reverse(chain.begin(), chain.end());
    // The cycle is reported from its first line on.
    const auto first = std::min_element(chain.begin(), chain.end(), [](auto* a, auto* b) {
      return a->declared.begin < b->declared.begin;
    });
    std::rotate(chain.begin(), first, chain.end());
    resolved_.diagnostics.add(errors::cycle(chain.front()->declared, chain));
  }

  Resolved& resolved_;
  std::map<const Symbol*, State> state_;
  std::vector<Step> path_;
  std::vector<const Symbol*> order_;
};

}  // namespace

std::vector<const Symbol*> order_definitions(Resolved& resolved) {
  Search search(resolved);
  std::vector<const Symbol*> symbols;
  for (const auto& [name, symbol] : resolved.symbols) {
    if (is_definition(symbol)) symbols.push_back(&symbol);
  }
  std::sort(symbols.begin(), symbols.end(),
            [](const Symbol* a, const Symbol* b) { return a->declared.begin < b->declared.begin; });
  for (const Symbol* symbol : symbols) search.from(*symbol);
  return search.take_order();
}

}  // namespace vphi::dsl
