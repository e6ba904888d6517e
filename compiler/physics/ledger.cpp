#include "compiler/physics/ledger.hpp"

#include <fmt/format.h>

#include "dsl/messages/error.hpp"
#include "dsl/syntax/parse.hpp"

namespace vphi::physics {

namespace {

using dsl::Clause;
using dsl::Item;

/// A clause or option that may stay unused: what would use it, and what to write instead.
struct Purpose {
  std::string_view keyword;
  std::string_view part;  ///< name of an option, "{" of a body, "" of the clause
  std::string_view needs;
  std::string_view fix;
};

constexpr Purpose kPurposes[] = {
    {"potential", "",
     "a potential makes the forces on fields without an equation of their own, and `derived` in "
     "the "
     "equations of others",
     "write `phi'' = derived + ...` where its force belongs, or `V = ...` without `potential` for "
     "a "
     "name in outputs"},
    {"lagrangian", "",
     "a Lagrangian makes the equations of fields without one of their own, and `derived` in the "
     "equations of others",
     "write `phi'' = derived + ...` where it belongs, or `L = ...` without `lagrangian` for a name "
     "in "
     "outputs"},
    {"action", "", "an action is the weight of `sample`, or what the equation of links names",
     "name it in the equation, or leave the line out"},
    {"metric", "",
     "a metric is in derived equations, and in written ones that name its scale factor or `H`",
     "write the equations with the scale factor and `H`, or leave the line out"},
    {"limit", "",
     "a limit acts on what an integrator or a flux scheme updates, and links have none",
     "leave the line out"},
    {"primitive", "", "primitive variables are found back from those of `conserve` lines",
     "add the `conserve` lines, or declare a `field`"},
    {"relax", "", "a variable relaxes beside `conserve` lines", "add the `conserve` lines"},
    {"beyond", "", "it gives a state to `conserve` lines", "add the `conserve` lines"},
    {"recover", "", "it finds primitive variables back from those of `conserve` lines",
     "add the `conserve` lines, or leave it out"},
    {"scheme", "", "a flux scheme moves the quantities of `conserve` lines",
     "add the `conserve` lines, or leave it out; an integrator stands in `evolve`"},
    {"split", "",
     "it orders the axes along which a flux scheme steps quantities of `conserve` lines",
     "add the `conserve` lines, or leave it out"},
    {"rescale", "", "program units are those of fields and variables with equations of motion",
     "leave the line out"},
    {"rescale", "s", "it is a power of the scale factor, and nothing expands",
     "add a `metric`, or leave it out"},
    {"rescale", "r", "it is a power of the scale factor, and nothing expands",
     "add a `metric`, or leave it out"},
    {"rescale", "form", "both forms are the same where nothing expands",
     "add a `metric`, or leave it out"},
    {"lattice", "length", "`spacing` says it already", "leave one of them out"},
    {"sample", "{", "levels belong to `sample hmc`",
     "leave the body out, or write `sample hmc, trajectories = 1000, tau = 1`"},
    {"random", "",
     "it makes the numbers of `noise` and of Markov chains, and there is neither "
     "(initial values take Philox4x32-10)",
     "leave it out"},
    {"random", "seed", "no random number is drawn", "leave it out"},
    {"random", "fresh", "no random number is drawn", "leave it out"},
    {"noise", "", "no equation holds `noise`", "leave the line out"},
    {"precision", "pair", "no sum goes over pairs of bodies one by one", "leave it out"},
    {"field", "boundary", "fields have the boundary of the lattice",
     "write `boundary = ...` on the `lattice` line"},
    {"gauge", "boundary", "links have the boundary of the lattice",
     "write `boundary = ...` on the `lattice` line"},
    {"gauge", "store", "links of U(1) are kept as angles", "leave it out"},
    {"fermion", "basis", "a spinor of one component has no gamma matrices", "leave it out"},
    {"particles", "method", "no sum goes over pairs of bodies", "leave it out"},
    {"solve", "start", "bisection begins with its range", "leave it out"},
};

const Purpose* purpose(std::string_view keyword, std::string_view part) {
  for (const Purpose& known : kPurposes)
    if (known.keyword == keyword && known.part == part) return &known;
  return nullptr;
}

dsl::Diagnostic left_over(dsl::Span span, const std::string& what, const std::string& keyword,
                          std::string_view part) {
  const Purpose* known = purpose(keyword, part);
  return dsl::error("E0799", span, fmt::format("nothing makes use of {}", what), "",
                    known ? std::string(known->needs)
                          : "what a model says is obeyed or refused, never left aside",
                    known ? std::string(known->fix) : "leave it out");
}

}  // namespace

void Ledger::use(const Clause& clause) {
  used_.insert(&clause);
  for (const Item& item : clause.items)
    if (!item.head || item.relation == Item::Relation::None) use(item);
}

void Ledger::value(const Clause& clause, const dsl::ExprPtr& value) {
  for (const Item& item : clause.items)
    if (value && item.value == value) use(item);
}

void Ledger::words(const Item& item) {
  used_.insert(&item.words);
  used_.insert(&item.count_word);
}

void Ledger::everything(const Clause& clause) {
  use(clause);
  for (const Item& item : clause.items) {
    use(item);
    words(item);
  }
  destination(clause);
  where(clause);
  body(clause);
  for (const dsl::Line& line : clause.body)
    if (line.kind == dsl::Line::Kind::Clause) everything(line.clause);
}

std::vector<const Clause*> Ledger::clauses(const std::string& keyword) {
  const std::vector<const Clause*> found = resolved_.clauses(keyword);
  for (const Clause* clause : found) use(*clause);
  return found;
}

const Clause* Ledger::clause(const std::string& keyword) {
  const Clause* found = resolved_.clause(keyword);
  if (found) use(*found);
  return found;
}

dsl::ExprPtr Ledger::option(const Clause& clause, const std::string& name) {
  const dsl::ExprPtr value = dsl::option(clause, name);
  this->value(clause, value);
  return value;
}

void Ledger::check(const Clause& clause, dsl::Diagnostics& diagnostics) const {
  const auto report = [&](dsl::Span span, const std::string& what, std::string_view part) {
    diagnostics.add(left_over(span, what, clause.keyword, part));
  };
  const std::string whole = fmt::format("`{}`", clause.keyword);
  if (!used(&clause)) {
    const bool named = clause.items.size() == 1 && clause.items[0].head;
    report(clause.keyword_span,
           named ? fmt::format("`{} {}`", clause.keyword, clause.items[0].head->name) : whole, "");
    return;
  }
  for (const Item& item : clause.items) {
    if (!used(&item)) {
      const std::string name = item.head ? item.head->name : std::string();
      const std::string text = item.head    ? dsl::to_text(*item.head)
                               : item.value ? dsl::to_text(*item.value)
                                            : std::string();
      const bool option = purpose(clause.keyword, name) != nullptr;
      report(item.span, fmt::format("`{}` of {}", text, whole), option ? name : "");
      continue;
    }
    if (!item.words.empty() && !used(&item.words))
      report(item.span, fmt::format("`{}` of {}", item.words.front().first, whole), "words");
    if (!item.count_word.empty() && !used(&item.count_word))
      report(item.span, fmt::format("the word `{}` in {}", item.count_word, whole), "words");
  }
  if (clause.destination && !used(&clause.destination))
    report(clause.destination->span, fmt::format("the target of {}", whole), "->");
  if (!clause.where.empty() && !used(&clause.where))
    report(clause.where.front().head.span, fmt::format("`where` of {}", whole), "where");
  if (!clause.has_body) return;
  if (!used(&clause.body)) {
    report(clause.keyword_span, fmt::format("the body of {}", whole), "{");
    return;
  }
  for (const dsl::Line& line : clause.body)
    if (line.kind == dsl::Line::Kind::Clause) check(line.clause, diagnostics);
}

void Ledger::check(dsl::Diagnostics& diagnostics) const {
  for (const dsl::Line& line : resolved_.model.lines)
    if (line.kind == dsl::Line::Kind::Clause) check(line.clause, diagnostics);
}

}  // namespace vphi::physics
