#include "compiler/emit/text/printer.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "compiler/algebra/op_cases.hpp"
#include "compiler/emit/math/sincos.hpp"
#include "compiler/emit/math/table_index.hpp"
#include "compiler/emit/math/table_text.hpp"
#include "compiler/emit/math/unit_log.hpp"
#include "compiler/emit/text/layout.hpp"

namespace vphi::emit {
namespace {

using algebra::Expr;
using algebra::Node;
using algebra::Op;

constexpr std::size_t kLongText = 56;  // longer operands get a name of their own

std::optional<std::int64_t> integer_of(Expr expr) {
  if (!expr.is(Op::Number) || !expr->number.exact || expr->number.rational.den != 1) return {};
  return expr->number.rational.num;
}

bool is_minus_one(Expr expr) { return integer_of(expr) == -1; }
bool is_negative(Expr expr) { return expr.is(Op::Number) && expr->number.real < 0; }

algebra::Number negated(algebra::Number number) {
  number.rational.num = -number.rational.num;
  number.real = -number.real;
  return number;
}

}  // namespace

bool holds(Expr expr, const std::function<bool(const Node&)>& test,
           std::unordered_map<const Node*, bool>& memo) {
  const auto found = memo.find(expr.get());
  if (found != memo.end()) return found->second;
  bool result = test(*expr);
  for (Expr arg : expr.args()) result = result || holds(arg, test, memo);
  memo.emplace(expr.get(), result);
  return result;
}

std::string identifier(const std::string& name) {
  std::string out;
  for (unsigned char c : name) {
    if (std::isalnum(c) && c < 0x80) {
      out += static_cast<char>(c);
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  if (out.empty()) out = "q";
  if (std::isdigit(static_cast<unsigned char>(out.front()))) out.insert(0, "q");
  out.resize(std::min<std::size_t>(out.size(), 40));
  return out;
}

std::string Scope::fresh(const std::string& wish) {
  std::string name = wish;
  for (int i = 2; !taken_.insert(name).second; ++i) name = wish + "_" + std::to_string(i);
  return name;
}

Printer::Printer(const Dialect& dialect, Precision precision, Callbacks callbacks, Scope& scope)
    : dialect_(dialect), precision_(precision), callbacks_(std::move(callbacks)), scope_(scope) {}

void Printer::pair_angles(std::span<const Expr> angles) {
  for (const Expr angle : angles) paired_angles_.insert(angle.get());
}

void Printer::announce(std::span<const Expr> roots) {
  std::vector<Expr> open(roots.begin(), roots.end());
  while (!open.empty()) {
    const Expr expr = open.back();
    open.pop_back();
    if (++uses_[expr.get()] > 1) continue;
    if (!callbacks_.leaf(*expr).empty()) continue;
    for (Expr arg : expr.args()) open.push_back(arg);
  }
}

void Printer::compute_in(std::span<const Expr> order,
                         const std::function<void(std::size_t)>& before) {
  constexpr std::size_t kSoon = 8;  // a value used within so many nodes is written where it is used
  std::unordered_map<const Node*, std::size_t> used;
  for (std::size_t i = order.size(); i-- > 0;)
    for (const Expr arg : order[i].args()) used[arg.get()] = i;
  for (std::size_t i = 0; i < order.size(); ++i) {
    before(i);
    // a sum takes the sign of its term itself
    const bool minus =
        order[i].is(Op::Neg) || (order[i].is(Op::Mul) && is_negative(order[i].arg(0)));
    if (minus && uses_[order[i].get()] <= 1) continue;
    const Piece value = piece(order[i]);
    const auto user = used.find(order[i].get());
    const bool later = user != used.end() && user->second > i + kSoon;
    if (later && value.name.empty()) known_[order[i].get()] = named(order[i], value);
  }
}

void Printer::forget(Expr symbol) {
  std::unordered_map<const Node*, bool> memo;
  const auto is_symbol = [&](const Node& node) { return &node == symbol.get(); };
  std::erase_if(known_,
                [&](const auto& entry) { return holds(Expr(entry.first), is_symbol, memo); });
  powers_.clear();
}

std::string Printer::take_lines() { return std::exchange(lines_, {}); }

std::string Printer::one() const { return precision_ == Precision::F32 ? "1.0f" : "1.0"; }

// A function of the emitter's own, which is called.
std::string Printer::suffixed(const char* name) {
  return *used_.insert(std::string(name) + (precision_ == Precision::F32 ? "_f32" : "_f64")).first;
}

std::string Printer::number(Expr expr) {
  const Piece p = piece(expr);
  return p.condition ? "(" + std::string(type_name(precision_)) + ")(" + p.text + ")" : p.text;
}

// The text of an operand of an operator of precedence `level`, in brackets where needed.
std::string Printer::operand(Expr expr, int level) {
  const Piece p = piece(expr);
  if (p.condition) return "(" + std::string(type_name(precision_)) + ")(" + p.text + ")";
  return p.level > level ? "(" + p.text + ")" : p.text;
}

std::string Printer::condition(Expr expr) {
  const Piece p = piece(expr);
  const std::string zero = precision_ == Precision::F32 ? "0.0f" : "0.0";
  if (!p.condition) return "(" + p.text + " != " + zero + ")";
  return p.level > 0 ? "(" + p.text + ")" : p.text;
}

std::string Printer::name_it(const std::string& wish, const Piece& value) {
  const std::string name = scope_.fresh(wish);
  const std::string type = value.condition ? "int" : type_name(precision_);
  lines_ += declaration("const " + type + " " + name, value.text);
  return name;
}

std::string Printer::assignment(const std::string& target, Expr expr) {
  const Piece p = piece(expr, true);
  const std::string value =
      p.condition ? "(" + std::string(type_name(precision_)) + ")(" + p.text + ")" : p.text;
  return take_lines() + note(expr) + declaration(target, value);
}

// A root that is used once needs no name of its own, however long it is.
Printer::Piece Printer::piece(Expr expr, bool root) {
  const auto found = known_.find(expr.get());
  if (found != known_.end()) return found->second;
  Piece result;
  if (const Leaf known = leaf(*expr); !known.empty()) {
    result.text = known.text();
    result.name = known.name;
  } else if (expr.is(Op::Number)) {
    result.text = literal(expr->number, precision_);
  } else {
    result = compute(expr);
    // A call binds as tightly as a name, but must not be made twice.
    const bool shared = uses_[expr.get()] > 1 && result.name.empty();
    if (root && uses_[expr.get()] <= 1) return result;
    if (shared || result.text.size() > kLongText) {
      result = named(expr, result);
    }
  }
  known_.emplace(expr.get(), result);
  return result;
}

Printer::Piece Printer::named(Expr expr, const Piece& value) {
  std::string family = callbacks_.family(expr);
  if (family.empty()) family = "w";
  const int n = ++counters_[family];
  lines_ += note(expr);
  const std::string name = name_it(family + "_" + std::to_string(n), value);
  return {name, 0, value.condition, name};
}

// The comment above a statement, if it differs from the one before.
std::string Printer::note(Expr expr) {
  if (!callbacks_.note) return {};
  const std::string text = callbacks_.note(*expr);
  if (text.empty() || text == noted_) return {};
  return noted_ = text;
}

Printer::Piece Printer::compute(Expr expr) {
  const Node& node = *expr;
  const auto args = expr.args();
  if (node.op == Op::Sign) {
    if (device_extremes_ && precision_ == Precision::F64) return call_of("vphi_side_f64", args);
    return {suffixed("vphi_sign") + "(" + number(args[0]) + ")", 0};
  }
  switch (node.op) {
    case Op::Add:
      return sum(node);
    case Op::Mul:
      return product(args, false);
    case Op::Pow:
      return power(args[0], args[1]);
    case Op::Neg:
      return {"-" + operand(args[0], 0), 1};
    case Op::Sub:
      return {operand(args[0], 2) + " - " + operand(args[1], 1), 2};
    case Op::Div:
      if ((device_extremes_ || ((approximate_ || written_out_) && precision_ == Precision::F64)) &&
          args[0].is_one() && !args[1].is(Op::Number))
        return {suffixed("vphi_reciprocal") + "(" + number(args[1]) + ")", 0};
      if (approximate_) {
        return {suffixed("vphi_quotient") + "(" + number(args[0]) + ", " + number(args[1]) + ")",
                0};
      }
      if (written_out_) return near_quotient(args[0], args[1]);
      return {operand(args[0], 1) + "/" + operand(args[1], 0), 1};
    case Op::Minmod:
      return minmod(node);
    case Op::TableIndex:
      return {suffixed("vphi_whole") + "(" + held_table_index(expr) + ")", 0};
    case Op::Min:
      return extreme(node, "vphi_min");
    case Op::Max:
      return extreme(node, "vphi_max");
    case Op::Select:
      return select(node);
    case Op::Lookup:
      return {
          *used_.insert(table_function(static_cast<int>(args[0]->number.rational.num), precision_))
                  .first +
              "(" + (device_extremes_ ? index(args[1]) : number(args[1])) + ")",
          0};
    case Op::Stencil:
    case Op::Mean:
    case Op::Total:
    case Op::Minimum:
    case Op::Maximum:
    case Op::Load:
    case Op::Site:
    case Op::Symbol:
    case Op::PairSum:
    case VPHI_DRAWS:
      throw std::invalid_argument(
          "a value that does not belong here: " +
          (node.name.empty() ? std::string(algebra::info(node.op).name) : node.name));
    case VPHI_CONDITIONS:
      return logical(node);
#include "compiler/algebra/function_cases.def"
    case Op::Number:
    case Op::Sqrt:
    case Op::Fma:
    case Op::Atan2:
    case Op::Count_:
      break;
  }
  const bool angle = node.op == Op::Sin || node.op == Op::Cos;
  if (angle && paired_angles_.contains(args[0].get())) {
    (precision_ == Precision::F32 ? calls_.turns_f32 : calls_.turns_f64) = true;
    return call_of(sincos_function(node.op, precision_), args);
  }
  if (const std::string log = unit_log(node, precision_, dialect_); !log.empty()) {
    calls_.unit_log = true;
    return call_of(log, args);
  }
  return call(node.op, args);
}

Printer::Piece Printer::sum(const Node& node) {
  std::string text;
  for (Expr term : node.args) {
    const bool product_term =
        term.is(Op::Mul) && uses_[term.get()] <= 1 && !is_leaf(term) && is_negative(term.arg(0));
    if (text.empty()) {
      text = operand(term, 2);
    } else if (product_term) {
      text += " - " + product(term.args(), true).text;
    } else if (is_negative(term)) {
      text += " - " + literal(negated(term->number), precision_);
    } else if (term.is(Op::Neg) && uses_[term.get()] <= 1 && !is_leaf(term)) {
      text += " - " + operand(term.arg(0), 1);
    } else {
      text += " + " + operand(term, 1);
    }
  }
  return {text, 2};
}

std::string Printer::quotient(const std::string& above, const std::string& below) {
  return suffixed(near_f32() ? "vphi_quotient_near" : "vphi_quotient") + "(" + above + ", " +
         below + ")";
}

std::string Printer::reciprocal_root(Expr of) {
  return suffixed(near_f32() ? "vphi_reciprocal_root_near" : "vphi_reciprocal_root") + "(" +
         number(of) + ")";
}

std::string Printer::root_function() {
  if (near_f32()) return suffixed("vphi_root_near");
  if (quick_f32()) return suffixed("vphi_root_quick");
  if (device_extremes_ || written_out_) return suffixed("vphi_root");
  return function_name(Op::Sqrt, precision_, dialect_);
}

// A root that does nothing but divide is a reciprocal root; the reciprocal of a number is known.
Printer::Piece Printer::near_quotient(Expr above, Expr below) {
  if (below.is(Op::Number)) {
    const algebra::Number& n = below->number;
    int exponent = 0;
    if (std::fabs(std::frexp(static_cast<double>(n.real), &exponent)) == 0.5)
      return {operand(above, 1) + "/" + operand(below, 0), 1};  // a product, and exact
    return {suffixed("vphi_quotient_by") + "(" + number(above) + ", " + number(below) + ", " +
                literal(1 / n.real, precision_) + ")",
            0};
  }
  const bool divides = below.is(Op::Sqrt) && uses_[below.get()] <= 1 && !is_leaf(below);
  if (!divides) return {quotient(number(above), number(below)), 0};
  const std::string root = reciprocal_root(below.arg(0));
  if (above.is_one()) return {root, 0};
  return {operand(above, 1) + "*" + root, 1};
}

// Factors from left to right, those with negative exponents gathered below one division.
Printer::Piece Printer::product(std::span<const Expr> factors, bool flip_sign) {
  std::string above, below;
  int below_count = 0;
  bool minus = false, below_simple = false;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const Expr factor = factors[i];
    if (i == 0 && factor.is(Op::Number)) {
      const bool unit = is_minus_one(factor) || (flip_sign && factor.is_one());
      if (unit && factors.size() > 1) {
        minus = is_minus_one(factor) && !flip_sign;
        continue;
      }
      if (!flip_sign && callbacks_.constant) above = callbacks_.constant(*factor);
      if (above.empty())
        above = literal(flip_sign ? negated(factor->number) : factor->number, precision_);
      continue;
    }
    const bool free = factor.is(Op::Pow) && uses_[factor.get()] <= 1 && !is_leaf(factor);
    const auto exponent = free ? integer_of(factor.arg(1)) : std::nullopt;
    if (exponent && *exponent < 0 && *exponent > -64) {
      const Piece p = positive_power(factor.arg(0), -*exponent);
      below_simple = below_count == 0 && !p.name.empty();
      const bool bracket = p.level > (below_count > 0 ? 0 : 1);
      below += below_count > 0 ? "*" : "";
      below += bracket ? "(" + p.text + ")" : p.text;
      ++below_count;
    } else {
      above += (above.empty() ? "" : "*") + operand(factor, above.empty() && !minus ? 1 : 0);
    }
  }
  if (above.empty()) above = one();
  if (below_count > 0 && (device_extremes_ || written_out_)) {
    above = quotient(above, below);
    return {minus ? "-" + above : above, minus ? 1 : 0};
  }
  if (below_count > 0) {
    above += "/" + (below_simple ? below : "(" + below + ")");
  }
  return {minus ? "-" + above : above, 1};
}

// x^n by repeated squaring; the even powers get names (phi_c_2).
Printer::Piece Printer::positive_power(Expr base, std::int64_t n) {
  if (n == 1) return piece(base);
  const Piece value = piece(base);
  std::string name = value.text, stem = value.name;
  if (stem.empty() || value.condition) {
    stem = callbacks_.family(base);
    if (stem.empty()) stem = "w";
    name = name_it(stem + "_" + std::to_string(++counters_[stem]), piece(base));
    known_[base.get()] = {name, 0, false, name};
    stem = name;
  }
  const auto raised = [&](auto&& self, std::int64_t m) -> std::string {
    if (m == 1) return name;
    const auto key = std::make_pair(name, m);
    if (const auto found = powers_.find(key); found != powers_.end()) return found->second;
    const std::string text =
        m % 2 ? self(self, m - 1) + "*" + name : self(self, m / 2) + "*" + self(self, m / 2);
    return powers_[key] = name_it(stem + "_p" + std::to_string(m), {text, 1, false});
  };
  const std::string power = raised(raised, n);
  return {power, 0, false, power};
}

Printer::Piece Printer::power(Expr base, Expr exponent) {
  if (const auto n = integer_of(exponent); n && *n > -64 && *n < 64) {
    if (*n == 0) return {one(), 0};
    if (*n > 0) return positive_power(base, *n);
    const Piece p = positive_power(base, -*n);
    if (device_extremes_ || written_out_) return {quotient(one(), p.text), 0};
    return {one() + "/" + (p.level > 0 ? "(" + p.text + ")" : p.text), 1};
  }
  if (exponent.is(Op::Number) && exponent->number.exact && exponent->number.rational.den == 2) {
    const std::int64_t n = exponent->number.rational.num;
    if (n == -1 && (approximate_ || written_out_)) return {reciprocal_root(base), 0};
    const std::int64_t whole = ((n < 0 ? -n : n) - 1) / 2;
    if (whole < 32) {
      const std::string name = root_function();
      used_.insert(name);
      const std::string root = name + "(" + number(base) + ")";
      const std::string text = whole == 0 ? root : positive_power(base, whole).text + "*" + root;
      if (n > 0) return {text, whole == 0 ? 0 : 1};
      if (device_extremes_ || written_out_) return {quotient(one(), text), 0};
      return {one() + "/" + (whole == 0 ? text : "(" + text + ")"), 1};
    }
  }
  const Expr args[2] = {base, exponent};
  // in f64 the constants of a logarithm and a power take 48 registers
  const bool small = exponent.is(Op::Number) && std::fabs(exponent->number.real) <= 1;
  if (small && near_f32()) return call_of("vphi_power_near_f32", args);
  return call(Op::Pow, args);
}

// A function of the device, or the emitter's replacement for it.
Printer::Piece Printer::call(Op op, std::span<const Expr> args) {
  std::string name = function_name(op, precision_, dialect_);
  if (name.empty())
    throw std::invalid_argument("no code for operation " + std::string(algebra::info(op).name));
  const bool quick = op == Op::Sin || op == Op::Cos || op == Op::Exp || op == Op::Log;
  if (op == Op::Sqrt) name = root_function();
  if (op == Op::Atan2 && near_f32()) name = suffixed("vphi_atan2_near");
  if (op == Op::Atan2 && quick_f32()) name = suffixed("vphi_atan2_quick");
  if (approximate_ && precision_ == Precision::F32 && quick)
    name = dialect_.words.quick_prefix + name;
  return call_of(name, args);
}

Printer::Piece Printer::call_of(const std::string& name, std::span<const Expr> args) {
  used_.insert(name);
  std::string text;
  for (Expr arg : args) text += (text.empty() ? "" : ", ") + number(arg);
  return {name + "(" + text + ")", 0};
}

// A choice keeps NaN of the first argument and not of the second. The device's own function keeps
// none of them, and its instruction for two numbers both.
Printer::Piece Printer::extreme(const Node& node, const char* name) {
  const bool own = !device_extremes_ || precision_ == Precision::F64;
  const bool instruction = near_f32() && *dialect_.texts.extremes != '\0';
  const bool least = node.op == Op::Min;
  const auto function = [&](bool known) {
    if (own && !instruction) return suffixed(name);
    if (own && !known) return suffixed(least ? "vphi_lower" : "vphi_higher");
    return spelled(dialect_, least ? "fmin" : "fmax", precision_);
  };
  std::string text = number(node.args.front());
  for (std::size_t i = 1; i < node.args.size(); ++i) {
    const bool known = i == 1 && node.args[0].is(Op::Number);
    text = function(known) + "(" + text + ", " + number(node.args[i]) + ")";
  }
  return {text, 0};
}

// The pass that makes it does so in f64 alone.
Printer::Piece Printer::minmod(const Node& node) {
  if (precision_ != Precision::F64) throw std::invalid_argument("no minmod in f32");
  const std::string c = number(node.args[2]), b = number(node.args[1]), a = number(node.args[0]);
  return {*used_.insert("vphi_least_f64").first + "(" + a + ", " + b + ", " + c + ")", 0};
}

// The name of a place as an integer (emit/math/table_index.hpp).
std::string Printer::held_table_index(Expr expr) {
  std::string& name = table_indices_[expr.get()];
  if (!name.empty()) return name;
  const Expr x = expr.arg(0);
  const bool scaled = x.is(Op::Mul) && x.args().size() == 2 && x.arg(0).is_number();
  std::string text;
  if (scaled) {
    text = suffixed("vphi_place_of") + "(" + literal(x.arg(0)->number, precision_) + ", " +
           number(x.arg(1));
  } else {
    text = suffixed("vphi_place") + "(" + number(x);
  }
  for (const int bound : {1, 2}) text += ", " + std::to_string(*integer_of(expr.arg(bound)));
  text += ")";
  const std::string fresh = scope_.fresh("place_" + std::to_string(++counters_["place"]));
  lines_ += declaration("const int " + fresh, text);
  return table_indices_[expr.get()] = fresh;
}

// A position in a table as an integer.
std::string Printer::index(Expr expr) {
  if (expr.is(Op::TableIndex)) return held_table_index(expr);
  if (!is_index(expr)) return suffixed("vphi_index_of") + "(" + number(expr) + ")";
  if (const auto whole = integer_of(expr)) return std::to_string(*whole);
  const char* sign = expr.is(Op::Mul) ? "*" : " + ";
  std::string text;
  for (Expr arg : expr.args()) text += (text.empty() ? "" : sign) + index(arg);
  return expr.is(Op::Add) ? "(" + text + ")" : text;
}

Printer::Piece Printer::select(const Node& node) {
  const std::string test = condition(node.args[0]);
  const std::string yes = number(node.args[1]);
  const std::string no = number(node.args[2]);
  return {suffixed("vphi_select") + "(" + test + ", " + yes + ", " + no + ")", 0};
}

Printer::Piece Printer::logical(const Node& node) {
  const auto comparison = [&](const char* sign) {
    return Piece{operand(node.args[0], 2) + sign + operand(node.args[1], 2), 3, true};
  };
  if (node.op == Op::Less) return comparison(" < ");
  if (node.op == Op::LessEqual) return comparison(" <= ");
  if (node.op == Op::Equal) return comparison(" == ");
  if (node.op == Op::Not) return {"!" + condition(node.args[0]), 1, true};
  std::string text;
  for (Expr arg : node.args) {
    text += (text.empty() ? "" : node.op == Op::And ? " & " : " | ") + condition(arg);
  }
  return {text, 4, true};
}

}  // namespace vphi::emit
