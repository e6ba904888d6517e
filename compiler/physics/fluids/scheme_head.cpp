#include "compiler/physics/fluids/scheme_head.hpp"

#include "compiler/physics/fluids/conservation_errors.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using dsl::ExprKind;

std::string scheme_name(const dsl::Clause& clause) {
  if (clause.items.empty()) return {};
  const dsl::Item& item = clause.items.front();
  return item.head ? item.head->name : item.value ? item.value->text : std::string();
}

const dsl::Clause* scheme_text(const dsl::Resolved& resolved, const std::string& name) {
  const auto in = [&](const dsl::ModelText& text) -> const dsl::Clause* {
    for (const dsl::Line& line : text.lines) {
      const dsl::Clause& clause = line.clause;
      if (line.kind == dsl::Line::Kind::Clause && clause.keyword == "scheme" && clause.has_body &&
          scheme_name(clause) == name) {
        return &clause;
      }
    }
    return nullptr;
  };
  if (const dsl::Clause* own = in(resolved.model)) return own;
  for (const dsl::ModelText& text : resolved.library) {
    if (const dsl::Clause* found = in(text)) return found;
  }
  return nullptr;
}

namespace {

class SchemeHeadReader {
 public:
  SchemeHeadReader(const Context& d, const dsl::Clause& clause) : d_(d), clause_(clause) {}

  SchemeHead read() {
    const dsl::Expr* call = clause_.items.empty() ? nullptr : clause_.items.front().value.get();
    if (!call || call->kind != ExprKind::Call) fail(clause_.keyword_span);
    bool equation = false;
    for (const dsl::NamedArgument& argument : call->named) {
      if (!argument.name.ends_with("'")) {
        head_.options.emplace_back(argument.name, argument.value);
        continue;
      }
      if (equation || argument.name.ends_with("''")) fail(argument.span);
      equation = true;
      head_.state = argument.name.substr(0, argument.name.size() - 1);
      part(*argument.value, 1);
    }
    for (const dsl::ExprPtr& argument : call->args) {
      if (argument->kind != ExprKind::Name) fail(argument->span);
      head_.options.emplace_back(argument->text, nullptr);
    }
    if (!equation) fail(call->span);
    return head_;
  }

 private:
  [[noreturn]] void fail(dsl::Span span) { d_.fail(errors::scheme_head(span)); }

  void part(const dsl::Expr& e, int sign) {
    if (e.kind == ExprKind::Unary && e.text == "-") return part(*e.args[0], -sign);
    if (e.kind == ExprKind::Binary && (e.text == "+" || e.text == "-")) {
      part(*e.args[0], sign);
      return part(*e.args[1], e.text == "-" ? -sign : sign);
    }
    const bool derivative = e.kind == ExprKind::Call && e.text == "d" && e.args.size() == 2 &&
                            e.args[1]->kind == ExprKind::Name;
    if (!derivative || sign > 0) fail(e.span);
    head_.axis = e.args[1]->text;
    const dsl::Expr& of = *e.args[0];
    if (of.kind == ExprKind::Name && of.text != head_.state) {
      head_.rest = of.text;
    } else if (of.kind == ExprKind::Call && of.args.size() == 1 &&
               of.args[0]->text == head_.state) {
      head_.flux = of.text;
    } else if (of.kind == ExprKind::Binary && of.text == "*" &&
               of.args[0]->kind == ExprKind::Name && of.args[1]->kind == ExprKind::Name) {
      const bool first = of.args[0]->text == head_.state;
      if (!first && of.args[1]->text != head_.state) fail(of.span);
      head_.velocity = of.args[first ? 1 : 0]->text;
    } else {
      fail(of.span);
    }
  }

  const Context& d_;
  const dsl::Clause& clause_;
  SchemeHead head_;
};

}  // namespace

SchemeHead read_scheme_head(const Context& d, const dsl::Clause& clause) {
  return SchemeHeadReader(d, clause).read();
}

}  // namespace vphi::physics
