#include "dsl/messages/printer.hpp"

#include <algorithm>

namespace vphi::dsl {
namespace {

// How tightly a node binds, in the order of docs/rules.md rule 7.
enum Level { kSelect, kOr, kAnd, kNot, kCompare, kRange, kSum, kProduct, kUnary, kPower, kPostfix };

Level binary_level(const std::string& op) {
  if (op == "or") return kOr;
  if (op == "and") return kAnd;
  if (op == "+" || op == "-") return kSum;
  if (op == "*" || op == "/") return kProduct;
  if (op == "^") return kPower;
  return kCompare;
}

Level level(const Expr& e) {
  switch (e.kind) {
    case ExprKind::Select:
      return kSelect;
    case ExprKind::Range:
      return kRange;
    case ExprKind::Unary:
      return e.text == "not" ? kNot : kUnary;
    case ExprKind::Binary:
      return binary_level(e.text);
    case ExprKind::Number:
      return e.text.starts_with('-') ? kUnary : kPostfix;
    case ExprKind::String:
    case ExprKind::Name:
    case ExprKind::Sign:
    case ExprKind::Call:
    case ExprKind::Index:
    case ExprKind::Prime:
    case ExprKind::Shift:
    case ExprKind::List:
    case ExprKind::Unit:
      break;
  }
  return kPostfix;
}

class Printer {
 public:
  explicit Printer(Spelling spelling) : spelling_(spelling) {}

  // Prints the expression without brackets around it.
  void bare(const Expr& e) {
    switch (e.kind) {
      case ExprKind::Number:
        out_ += e.imaginary ? e.text + "i" : e.text;
        break;
      case ExprKind::String:
        out_ += '"' + e.text + '"';
        break;
      case ExprKind::Name:
        out_ += spelled(e.text, e.spelling, spelling_);
        break;
      case ExprKind::Sign:
        out_ += e.text;
        break;
      case ExprKind::Unary:
        out_ += e.text == "not" ? "not " : "-";
        put(*e.args[0], level(e));
        break;
      case ExprKind::Binary:
        binary(e);
        break;
      case ExprKind::Select:
        put(*e.args[0], kOr), out_ += " if ";
        put(*e.args[1], kOr), out_ += " else ";
        put(*e.args[2], kSelect);
        break;
      case ExprKind::Call:
        call(e);
        break;
      case ExprKind::Index:
        put(*e.args[0], kPostfix);
        sequence(e, 1, '[', ",", ']');
        break;
      case ExprKind::Prime:
        put(*e.args[0], kPostfix);
        out_.append(static_cast<std::size_t>(e.primes), '\'');
        break;
      case ExprKind::Shift:
        put(*e.args[0], kPostfix);
        out_ += '@';
        if (e.args[1]->kind == ExprKind::List) {
          sequence(*e.args[1], 0, '(', ",", ')');
        } else {
          bare(*e.args[1]);
        }
        break;
      case ExprKind::List:
        sequence(e, 0, '[', ", ", ']');
        break;
      case ExprKind::Range:
        put(*e.args[0], kSum), out_ += "..", put(*e.args[1], kSum);
        break;
      case ExprKind::Unit:
        bare(*e.args[0]), out_ += " [" + e.text + "]";
        break;
    }
  }

  std::string take() { return std::move(out_); }

  void put(const Expr& e, Level needed) {
    const bool brackets = e.grouped || level(e) < needed;
    if (brackets) out_ += '(';
    bare(e);
    if (brackets) out_ += ')';
  }

  void sequence(const Expr& e, std::size_t first, char open, const char* comma, char close) {
    out_ += open;
    for (std::size_t i = first; i < e.args.size(); ++i) {
      if (i > first) out_ += comma;
      put(*e.args[i], kSelect);
    }
    out_ += close;
  }

 private:
  void binary(const Expr& e) {
    const Level own = level(e);
    const auto tighter = static_cast<Level>(own + 1);
    if (own == kPower) {  // groups from the right; a sign may stand in the exponent
      put(*e.args[0], kPostfix), out_ += '^', put(*e.args[1], kUnary);
    } else if (own == kProduct) {
      put(*e.args[0], own), out_ += e.text, put(*e.args[1], tighter);
    } else {
      put(*e.args[0], own == kCompare ? tighter : own);
      out_ += " " + e.text + " ";
      put(*e.args[1], tighter);
    }
  }

  // Arguments and options in the order in which they were written.
  void call(const Expr& e) {
    std::string name = spelled(e.text, e.spelling, spelling_);
    if (spelling_ == Spelling::Unicode && e.text == "d") name = "\xE2\x88\x82";
    out_ += name + '(';
    std::size_t arg = 0, named = 0;
    const bool tight = std::all_of(e.args.begin(), e.args.end(),
                                   [](const ExprPtr& a) { return a->kind == ExprKind::Sign; });
    while (arg < e.args.size() || named < e.named.size()) {
      if (arg + named > 0) out_ += tight && e.named.empty() ? "," : ", ";
      const bool option =
          arg == e.args.size() || (named < e.named.size() && !e.args[arg]->span.empty() &&
                                   e.named[named].span.begin < e.args[arg]->span.begin);
      if (!option) {
        put(*e.args[arg++], kSelect);
        continue;
      }
      const NamedArgument& n = e.named[named++];
      const std::size_t letters = n.name.find('\'');
      std::string written = spelling_ == Spelling::Unicode
                                ? unicode_spelling(n.name.substr(0, letters))
                                : spelled(n.name, n.spelling, spelling_);
      if (spelling_ == Spelling::Unicode && letters != std::string::npos) {
        written += n.name.substr(letters);
      }
      out_ += written + (n.drawn ? " ~ " : " = ");
      put(*n.value, kSelect);
    }
    out_ += ')';
  }

  Spelling spelling_;
  std::string out_;
};

}  // namespace

std::string spelled(const std::string& ascii, const std::string& written, Spelling spelling) {
  if (spelling == Spelling::Ascii) return ascii;
  if (spelling == Spelling::Unicode) return unicode_spelling(ascii);
  return written.empty() ? ascii : written;
}

std::string print(const Expr& expr, Spelling spelling) {
  Printer printer(spelling);
  printer.put(expr, kSelect);
  return printer.take();
}

std::string print(const Head& head, Spelling spelling) {
  Printer printer(spelling);
  Expr list;
  list.args = head.args;
  if (head.form == Head::Form::Function) printer.sequence(list, 0, '(', ", ", ')');
  if (head.form == Head::Form::Indexed) printer.sequence(list, 0, '[', ",", ']');
  list.args = head.indices;
  if (!head.indices.empty()) printer.sequence(list, 0, '[', ",", ']');
  const std::string primes(static_cast<std::size_t>(head.primes), '\'');
  return spelled(head.name, head.spelling, spelling) + printer.take() + primes;
}

std::string print_shape(const Expr& expr, Spelling spelling) {
  if (expr.kind != ExprKind::Binary || expr.text != "*" || expr.grouped) {
    return print(expr, spelling);
  }
  Printer right(spelling);
  right.put(*expr.args[1], kUnary);
  return print_shape(*expr.args[0], spelling) + " * " + right.take();
}

std::string to_text(const Expr& expr) { return print(expr, Spelling::Keep); }
std::string to_text(const Head& head) { return print(head, Spelling::Keep); }

}  // namespace vphi::dsl
