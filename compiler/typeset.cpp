#include "compiler/typeset.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "compiler/algebra/names.hpp"
#include "dsl/syntax/parse.hpp"

namespace vphi {
namespace {

using dsl::Expr;
using dsl::ExprKind;
using dsl::ExprPtr;

/// The precedence of a formula's outermost operation, lowest first.
enum class Binding { Select, Or, And, Not, Compare, Range, Sum, Product, Power, Atom };

struct Piece {
  std::string text;
  Binding binding = Binding::Atom;
};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

std::string element(const char* tag, const std::string& inner) {
  return std::string("<") + tag + '>' + inner + "</" + tag + '>';
}
std::string mo(const std::string& text) { return element("mo", text); }
std::string mn(const std::string& text) { return element("mn", text); }
std::string row(const std::string& inner) { return element("mrow", inner); }
std::string upright(std::string_view text) {
  return "<mi mathvariant=\"normal\">" + escaped(text) + "</mi>";
}
std::string fenced(const std::string& open, const std::string& inner, const std::string& close) {
  return row(mo(open) + inner + mo(close));
}
std::string parentheses(const std::string& inner) { return fenced("(", inner, ")"); }

const std::string kTimes = "<mo>&#x2062;</mo>";  // invisible times
const std::string kApply = "<mo>&#x2061;</mo>";  // function application

std::string name_of(const std::string& name) { return algebra::mathml_name(name); }

/// 5e-6 is 5 10^-6.
std::string number(const Expr& e) {
  const std::size_t at = e.text.find_first_of("eE");
  const std::string imaginary = e.imaginary ? upright("i") : "";
  if (at == std::string::npos)
    return e.imaginary ? row(mn(escaped(e.text)) + imaginary) : mn(e.text);
  std::string exponent = e.text.substr(at + 1);
  if (exponent.starts_with('+')) exponent.erase(0, 1);
  std::string sign;
  if (exponent.starts_with('-')) {
    exponent.erase(0, 1);
    sign = mo("−");
  }
  const std::string power = element("msup", mn("10") + row(sign + mn(escaped(exponent))));
  const std::string head = e.text.substr(0, at);
  return row((head == "1" ? "" : mn(escaped(head)) + mo("·")) + power + imaginary);
}

class Typesetter {
 public:
  Piece piece(const Expr& e) {
    switch (e.kind) {
      case ExprKind::Number:
        return {number(e),
                e.text.find_first_of("eE") == std::string::npos ? Binding::Atom : Binding::Product};
      case ExprKind::String:
        return {element("mtext", "“" + escaped(e.text) + "”")};
      case ExprKind::Name:
        return {name_of(e.text)};
      case ExprKind::Sign:
        return {mo(e.text == "-" ? "−" : escaped(e.text))};
      case ExprKind::Unary:
        return unary(e);
      case ExprKind::Binary:
        return binary(e);
      case ExprKind::Select:
        return select(e);
      case ExprKind::Call:
        return call(e);
      case ExprKind::Index:
        return {element("msub", atom(*e.args[0]) + list(e.args, 1))};
      case ExprKind::Prime:
        return {element("msup", atom(*e.args[0]) + mo(primes(e.primes)))};
      case ExprKind::Shift:
        return shift(e);
      case ExprKind::List:
        return {fenced("[", list(e.args), "]")};
      case ExprKind::Range:
        return {row(within(Binding::Sum, *e.args[0]) + mo("…") + within(Binding::Sum, *e.args[1])),
                Binding::Range};
      case ExprKind::Unit:
        return {
            row(atom(*e.args[0]) + "<mspace width=\"0.2em\"/>" + element("mtext", escaped(e.text))),
            Binding::Product};
    }
    return {};
  }

  static std::string primes(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "′";
    return text;
  }

  std::string list(const std::vector<ExprPtr>& args, std::size_t from = 0) {
    std::string text;
    for (std::size_t i = from; i < args.size(); ++i)
      text += (i > from ? mo(",") : "") + piece(*args[i]).text;
    return row(text);
  }

 private:
  std::string within(Binding least, const Expr& e) {
    const Piece p = piece(e);
    return p.binding < least ? parentheses(p.text) : p.text;
  }
  std::string atom(const Expr& e) { return within(Binding::Atom, e); }

  Piece unary(const Expr& e) {
    if (e.text == "not") return {row(mo("¬") + within(Binding::Compare, *e.args[0])), Binding::Not};
    return {row(mo("−") + within(Binding::Product, *e.args[0])), Binding::Sum};
  }

  Piece binary(const Expr& e) {
    const Expr &a = *e.args[0], &b = *e.args[1];
    const std::string& op = e.text;
    if (op == "/")
      return {element("mfrac", row(piece(a).text) + row(piece(b).text)), Binding::Product};
    if (op == "^") return {element("msup", row(atom(a)) + row(piece(b).text)), Binding::Power};
    if (op == "*") {
      const bool minus = a.kind == ExprKind::Unary && a.text == "-";  // -a b needs no parentheses
      const std::string left = minus ? piece(a).text : within(Binding::Product, a);
      const std::string right = within(Binding::Product, b);
      // digits side by side would read as one number
      const bool digits = right.starts_with("<mn>") || right.starts_with("<mrow><mn>");
      const bool fractions = left.ends_with("</mfrac>") && right.starts_with("<mfrac>");
      return {row(left +
                  (digits      ? mo("·")
                   : fractions ? mo("·")
                               : kTimes) +
                  right),
              minus ? Binding::Sum : Binding::Product};
    }
    if (op == "+" || op == "-")
      return {row(within(Binding::Sum, a) + mo(op == "-" ? "−" : "+") +
                  within(op == "-" ? Binding::Product : Binding::Sum, b)),
              Binding::Sum};
    if (op == "and" || op == "or") {
      const Binding own = op == "and" ? Binding::And : Binding::Or;
      return {row(within(own, a) + mo(op == "and" ? "∧" : "∨") + within(own, b)), own};
    }
    static constexpr std::array<std::pair<const char*, const char*>, 6> signs{
        {{"<", "&lt;"}, {">", "&gt;"}, {"<=", "≤"}, {">=", "≥"}, {"==", "="}, {"!=", "≠"}}};
    std::string sign = escaped(op);
    for (const auto& [ascii, shown] : signs)
      if (op == ascii) sign = shown;
    return {row(within(Binding::Sum, a) + mo(sign) + within(Binding::Sum, b)), Binding::Compare};
  }

  Piece select(const Expr& e) {
    const auto line = [](const std::string& left, const std::string& right) {
      return element("mtr", element("mtd", left) + element("mtd", right));
    };
    const std::string table =
        line(piece(*e.args[0]).text, element("mtext", "if\u00a0") + piece(*e.args[1]).text) +
        line(piece(*e.args[2]).text, element("mtext", "else"));
    return {row(mo("{") + element("mtable", table)), Binding::Select};
  }

  Piece shift(const Expr& e) {
    const Expr& where = *e.args[1];
    std::string to = where.kind == ExprKind::List    ? parentheses(list(where.args))
                     : where.kind == ExprKind::Unary ? piece(where).text
                                                     : row(mo("+") + piece(where).text);
    return {element("msub", atom(*e.args[0]) + to)};
  }

  /// Functions with a notation of their own; the rest are called.
  Piece call(const Expr& e) {
    const std::string& f = e.text;
    const std::size_t n = e.args.size();
    if (n == 1 && e.named.empty()) {
      const Expr& x = *e.args[0];
      const auto inner = [&] { return piece(x).text; };
      if (f == "sqrt") return {element("msqrt", inner())};
      if (f == "abs" || f == "norm") return {fenced("|", inner(), "|")};
      if (f == "norm2")
        return {element("msup", fenced("|", inner(), "|") + mn("2")), Binding::Power};
      if (f == "exp") return {element("msup", upright("e") + row(inner())), Binding::Power};
      if (f == "mean") return {fenced("⟨", inner(), "⟩")};
      if (f == "conj") return {element("msup", atom(x) + mo("*")), Binding::Power};
      if (f == "adj") return {element("msup", atom(x) + mo("†")), Binding::Power};
      if (f == "floor") return {fenced("⌊", inner(), "⌋")};
      if (f == "lap")
        return {row(element("msup", mo("∇") + mn("2")) + within(Binding::Power, x)),
                Binding::Product};
      if (f == "grad") return {row(mo("∇") + within(Binding::Power, x)), Binding::Product};
      if (f == "div") return {row(mo("∇") + mo("·") + within(Binding::Power, x)), Binding::Product};
      if (f == "curl")
        return {row(mo("∇") + mo("×") + within(Binding::Power, x)), Binding::Product};
      if (f == "total")
        return {row(element("munder", mo("∑") + name_of("x")) + within(Binding::Product, x)),
                Binding::Sum};
    }
    if (n == 2 && e.named.empty()) {
      const Expr &a = *e.args[0], &b = *e.args[1];
      if (f == "d")
        return {element("mfrac", row(mo("∂") + atom(a)) + row(mo("∂") + piece(b).text)),
                Binding::Product};
      if (f == "dot")
        return {row(within(Binding::Power, a) + mo("·") + within(Binding::Power, b)),
                Binding::Product};
      if (f == "cross")
        return {row(within(Binding::Power, a) + mo("×") + within(Binding::Power, b)),
                Binding::Product};
    }
    if ((f == "sum" || f == "prod") && n >= 1) {
      std::string below = n > 1 ? list(e.args, 1) : "";
      const std::string sign = mo(f == "sum" ? "∑" : "∏");
      return {row((below.empty() ? sign : element("munder", sign + below)) +
                  within(Binding::Product, *e.args[0])),
              Binding::Sum};
    }
    std::string inner;
    for (const ExprPtr& arg : e.args) inner += (inner.empty() ? "" : mo(",")) + piece(*arg).text;
    for (const auto& named : e.named)
      inner += (inner.empty() ? "" : mo(",")) + name_of(named.name) + mo(named.drawn ? "∼" : "=") +
               (named.value ? piece(*named.value).text : "");
    const std::string head = f.size() > 1 && algebra::greek(f) == nullptr ? upright(f) : name_of(f);
    return {row(head + kApply + parentheses(inner))};
  }
};

std::string head_text(const dsl::Head& head) {
  std::string text = name_of(head.name);
  Typesetter set;
  if (head.form == dsl::Head::Form::Indexed) text = element("msub", text + set.list(head.args));
  if (!head.indices.empty()) text = element("msub", text + set.list(head.indices));
  if (head.primes > 0) text = element("msup", text + mo(Typesetter::primes(head.primes)));
  if (head.form == dsl::Head::Form::Function) text += kApply + parentheses(set.list(head.args));
  return row(text);
}

std::string relation(bool drawn) { return mo(drawn ? "∼" : "="); }

class Lines {
 public:
  explicit Lines(const dsl::ModelText& model) : model_(model) {}

  std::vector<TypesetLine> all() {
    for (const dsl::Line& line : model_.lines) {
      if (line.kind != dsl::Line::Kind::Clause)
        definition(line, line.definition);
      else
        clause(line);
    }
    return std::move(list_);
  }

 private:
  void definition(const dsl::Line& line, const dsl::Definition& d) {
    if (!d.value) return;
    add(line, d.head.span, typeset(d.head) + relation(d.drawn) + typeset(*d.value),
        dsl::to_text(d.head) + (d.drawn ? " ~ " : " = ") + dsl::to_text(*d.value));
  }

  void clause(const dsl::Line& line) {
    const std::string& word = line.clause.keyword;
    static constexpr std::array physics{"potential", "lagrangian", "action", "init",
                                        "limit",     "conserve",   "relax",  "beyond"};
    const bool promise = word == "expect";
    if (!promise && std::find(physics.begin(), physics.end(), word) == physics.end()) return;
    for (const dsl::Item& item : line.clause.items) {
      if (!item.value) continue;
      std::string math = typeset(*item.value), text = dsl::to_text(*item.value);
      if (item.head) {
        const bool drawn = item.relation == dsl::Item::Relation::Drawn;
        math = typeset(*item.head) + relation(drawn) + math;
        text = dsl::to_text(*item.head) + (drawn ? " ~ " : " = ") + text;
      } else if (!promise && item.leading != dsl::Item::Leading::Colon) {
        continue;
      } else if (word == "conserve") {
        math = element("mtext", "flux\u00a0") + math;
      }
      for (const auto& [name, value] : item.words)
        if (value) math += element("mtext", "\u00a0" + escaped(name) + "\u00a0") + typeset(*value);
      if (promise) math = element("mtext", "expect\u00a0") + math;
      add(line, item.span, math, word + " " + text);
    }
  }

  void add(const dsl::Line& line, dsl::Span span, const std::string& math, std::string text) {
    TypesetLine out;
    out.mathml = row(math);
    out.text = std::move(text);
    out.note = line.documentation;
    if (model_.source && span.file == 0) out.line = model_.source->position(span.begin).line;
    // one note for all items of a line
    if (!list_.empty() && !out.note.empty() && list_.back().note == out.note) out.note.clear();
    list_.push_back(std::move(out));
  }

  const dsl::ModelText& model_;
  std::vector<TypesetLine> list_;
};

}  // namespace

std::string typeset(const dsl::Expr& e) { return row(Typesetter().piece(e).text); }
std::string typeset(const dsl::Head& head) { return head_text(head); }

std::vector<TypesetLine> typeset_model(const dsl::ModelText& model) { return Lines(model).all(); }

std::vector<TypesetParameter> typeset_parameters(const dsl::ModelText& model) {
  std::vector<TypesetParameter> list;
  for (const dsl::Line& line : model.lines) {
    if (line.kind != dsl::Line::Kind::Clause || line.clause.keyword != "param") continue;
    for (const dsl::Item& item : line.clause.items)
      if (item.head && item.value)
        list.push_back({item.head->name, name_of(item.head->name), dsl::to_text(*item.value),
                        line.documentation});
  }
  return list;
}

std::string model_documentation(const dsl::ModelText& model) {
  for (const dsl::Line& line : model.lines)
    if (line.kind == dsl::Line::Kind::Clause && line.clause.keyword == "model")
      return line.documentation;
  return "";
}

}  // namespace vphi
