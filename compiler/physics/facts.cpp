#include "compiler/physics/facts.hpp"
#include "dsl/words/sweep_words.hpp"

namespace vphi::physics {

namespace {

using dsl::Clause;
using dsl::ExprKind;
using dsl::Item;
using dsl::Line;

NamedFact named(NamedFact::Kind kind, const dsl::Head& head, const dsl::ExprPtr& value) {
  NamedFact fact{kind, head.name, {}, value, head.span};
  for (const dsl::ExprPtr& arg : head.args) fact.parameters.push_back(arg->text);
  return fact;
}

/// `field phi, chi: real, u: vec(3)`: bare names take the type after the next colon.
void read_fields(const Clause& clause, bool field, std::vector<FieldFact>& out) {
  std::size_t waiting = out.size();
  for (const Item& item : clause.items) {
    if (!item.value) continue;
    if (item.leading == Item::Leading::Colon) {
      for (; waiting < out.size(); ++waiting) out[waiting].type = item.value;
    } else if (!item.head && item.value->kind == ExprKind::Name) {
      out.push_back({item.value->text, nullptr, field, false, item.value->span});
      out.back().line = &clause;
    } else if (!item.head && item.value->kind == ExprKind::Index) {
      out.push_back({item.value->args[0]->text, nullptr, field, !field, item.value->span});
      out.back().line = &clause;
    }
  }
}

/// Name of `stencil iso27(u) = ...` or `integrator leapfrog(...) { }`, however it was parsed.
std::string clause_name(const Clause& clause) {
  if (clause.items.empty()) return {};
  const Item& item = clause.items.front();
  if (item.head) return item.head->name;
  if (item.value && item.value->kind == ExprKind::Index) return item.value->args[0]->text;
  return item.value ? item.value->text : std::string();
}

void read_line(const Line& line, Facts& facts) {
  using Kind = NamedFact::Kind;
  if (line.kind == Line::Kind::Equation) {
    facts.equations.push_back({&line.definition, line.span});
  } else if (line.kind == Line::Kind::Definition) {
    const dsl::Head& head = line.definition.head;
    const Kind kind = head.form == dsl::Head::Form::Function  ? Kind::Function
                      : head.form == dsl::Head::Form::Indexed ? Kind::Indexed
                                                              : Kind::Definition;
    facts.named.emplace(head.name, named(kind, head, line.definition.value));
  } else {
    const Clause& clause = line.clause;
    const bool param = clause.keyword == "param";
    if (clause.keyword == "sweep") {
      for (const Item& item : clause.items) {
        if (item.head && item.head->name != dsl::kKeep) {
          facts.named.emplace(item.head->name, named(Kind::Swept, *item.head, item.value));
        }
      }
    }
    if (clause.keyword == "action") {  // its name is that of the density
      for (const Item& item : clause.items) {
        if (!item.head || !item.value) continue;
        const Kind kind = item.head->args.empty() ? Kind::Definition : Kind::Function;
        const auto [place, fresh] =
            facts.named.emplace(item.head->name, named(kind, *item.head, item.value));
        if (fresh) place->second.clause = &clause;
      }
    }
    const bool lagrangian = clause.keyword == "lagrangian";
    if (param || lagrangian || clause.keyword == "potential") {
      for (const Item& item : clause.items) {
        if (!item.head) continue;
        const Kind kind = param ? Kind::Parameter : Kind::Potential;
        const auto [place, fresh] =
            facts.named.emplace(item.head->name, named(kind, *item.head, item.value));
        if (!fresh || param) continue;
        place->second.clause = &clause;
        (lagrangian ? facts.lagrangians : facts.potentials).push_back(&place->second);
      }
    } else if (clause.keyword == "field" || clause.keyword == "var") {
      read_fields(clause, clause.keyword == "field", facts.fields);
    } else if (clause.keyword == "gauge") {
      const std::size_t first = facts.fields.size();
      read_fields(clause, true, facts.fields);
      for (std::size_t i = first; i < facts.fields.size(); ++i) {
        facts.fields[i].gauge = true;
        for (const Item& item : clause.items) {
          if (item.head && item.head->name == "store") facts.fields[i].store = item.value;
        }
      }
    } else if (clause.keyword == "fermion") {
      const std::size_t first = facts.fields.size();
      read_fields(clause, true, facts.fields);
      for (std::size_t i = first; i < facts.fields.size(); ++i) facts.fields[i].fermion = &clause;
    } else if (clause.keyword == "primitive") {
      const std::size_t first = facts.fields.size();
      read_fields(clause, true, facts.fields);
      for (std::size_t i = first; i < facts.fields.size(); ++i) facts.fields[i].primitive = true;
    } else if (clause.keyword == "stencil") {
      facts.stencils.emplace(clause_name(clause), &clause);
    } else if (clause.keyword == "integrator") {
      facts.integrators.emplace(clause_name(clause), &clause);
    }
  }
}

}  // namespace

const NamedFact* Facts::find(const std::string& name) const {
  const auto it = named.find(name);
  return it == named.end() ? nullptr : &it->second;
}

const FieldFact* Facts::field(const std::string& name) const {
  for (const FieldFact& fact : fields) {
    if (fact.name == name) return &fact;
  }
  return nullptr;
}

const EquationFact* Facts::equation(const std::string& name) const {
  for (const EquationFact& fact : equations) {
    if (fact.definition->head.name == name) return &fact;
  }
  return nullptr;
}

Facts collect_facts(const dsl::Resolved& resolved) {
  Facts facts;
  facts.resolved = &resolved;
  for (const Line& line : resolved.model.lines) read_line(line, facts);
  for (const dsl::ModelText& text : resolved.library) {
    for (const Line& line : text.lines) {
      if (line.kind == Line::Kind::Clause) read_line(line, facts);
    }
  }
  return facts;
}

}  // namespace vphi::physics
