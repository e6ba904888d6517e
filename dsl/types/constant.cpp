#include "dsl/types/constant.hpp"

#include <cmath>
#include <cstdlib>
#include <map>
#include <string_view>

#include "dsl/functions.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::dsl {

namespace {

constexpr int kLongestChain = 1000;  // longer chains of names are a cycle, reported elsewhere
constexpr double kLargestWhole = 9007199254740992.0;  // 2^53
constexpr std::size_t kMostDimensions = 64;           // guards `2^1000000`; 4 are allowed

using Maybe = std::optional<double>;

Maybe binary(std::string_view op, double a, double b) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/") return a / b;
  if (op == "^") return std::pow(a, b);
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "and") return a != 0 && b != 0;
  if (op == "or") return a != 0 || b != 0;
  return std::nullopt;
}

Maybe elementary(std::string_view name, const std::vector<double>& x) {
  using Function = double (*)(double, double, double);
  struct Row {
    std::size_t arguments;
    Function value;
  };
  static const std::map<std::string_view, Row> kFunctions = {
      {"sqrt", {1, [](double v, double, double) { return std::sqrt(v); }}},
      {"norm", {1, [](double v, double, double) { return std::fabs(v); }}},
      {"norm2", {1, [](double v, double, double) { return v * v; }}},
      {"atan2", {2, [](double v, double w, double) { return std::atan2(v, w); }}},
#define VPHI_FUNCTION(operation, name, value, ...) \
  {name, {1, [](double v, double, double) { return value(v); }}},
#define VPHI_COMPOSED(name, count, rule, formula, ...)                                          \
  {name, {count, [](double x, [[maybe_unused]] double y, [[maybe_unused]] double z) -> double { \
            return formula;                                                                     \
          }}},
#include "dsl/functions.def"
  };
  const auto function = kFunctions.find(name);
  if (function != kFunctions.end() && function->second.arguments == x.size()) {
    const auto at = [&](std::size_t i) { return i < x.size() ? x[i] : 0; };
    return function->second.value(at(0), at(1), at(2));
  }
  if (x.size() > 1 && (name == "min" || name == "max")) {
    double best = x[0];
    for (double other : x) best = name == "min" ? std::fmin(best, other) : std::fmax(best, other);
    return best;
  }
  return std::nullopt;
}

/// Each name is evaluated once, so that a chain of doublings costs no more than its length.
class ConstantValues {
 public:
  explicit ConstantValues(const Resolved& resolved) : resolved_(resolved) {}

  Maybe value(const Expr& expr, int depth) {
    if (depth > kLongestChain) return std::nullopt;
    std::vector<double> x;
    const bool by_value = expr.kind == ExprKind::Unary || expr.kind == ExprKind::Binary ||
                          expr.kind == ExprKind::Select || expr.kind == ExprKind::Unit ||
                          (expr.kind == ExprKind::Call && expr.named.empty());
    if (by_value) {
      for (const ExprPtr& arg : expr.args) {
        const Maybe v = arg ? value(*arg, depth + 1) : std::nullopt;
        if (!v) return std::nullopt;
        x.push_back(*v);
      }
    }
    switch (expr.kind) {
      case ExprKind::Number:
        return expr.imaginary ? std::nullopt : Maybe(std::strtod(expr.text.c_str(), nullptr));
      case ExprKind::Name:
        return named_value(expr.text, depth);
      case ExprKind::Unary:
        if (x.size() != 1) return std::nullopt;
        return expr.text == "-" ? -x[0] : x[0] == 0 ? 1.0 : 0.0;
      case ExprKind::Binary:
        return x.size() == 2 ? binary(expr.text, x[0], x[1]) : std::nullopt;
      case ExprKind::Select:
        return x.size() == 3 ? Maybe(x[1] != 0 ? x[0] : x[2]) : std::nullopt;
      case ExprKind::Call:
        return elementary(expr.text, x);
      case ExprKind::Unit: {
        const auto size = resolved_.units.find(expr.text);
        if (x.size() != 1 || size == resolved_.units.end()) return std::nullopt;
        return x[0] * size->second;
      }
      case ExprKind::String:
      case ExprKind::Sign:
      case ExprKind::Index:
      case ExprKind::Prime:
      case ExprKind::Shift:
      case ExprKind::List:
      case ExprKind::Range:
        break;
    }
    return std::nullopt;
  }

 private:
  Maybe named_value(const std::string& name, int depth) {
    const Symbol* symbol = resolved_.find(name);
    if (symbol == nullptr) {
      const BuiltinConstant* constant = find_constant(name);
      return constant != nullptr ? Maybe(constant->value) : std::nullopt;
    }
    const bool plain = symbol->kind == SymbolKind::Parameter ||
                       (symbol->kind == SymbolKind::Definition && symbol->parameters.empty());
    if (!plain || !symbol->value) return std::nullopt;
    // The first visit leaves an empty value, which a cycle finds.
    const auto [place, fresh] = known_.emplace(symbol, std::nullopt);
    if (!fresh) return place->second;
    const Maybe result = value(*symbol->value, depth + 1);
    known_[symbol] = result;
    return result;
  }

  const Resolved& resolved_;
  std::map<const Symbol*, Maybe> known_;
};

bool append_extents(const Resolved& resolved, const Expr& expr, std::vector<std::int64_t>& shape) {
  if (expr.kind == ExprKind::List) {
    for (const ExprPtr& extent : expr.args) {
      if (!append_extents(resolved, *extent, shape)) return false;
    }
    return !expr.args.empty();
  }
  if (expr.kind == ExprKind::Binary && expr.text == "*") {
    return append_extents(resolved, *expr.args[0], shape) &&
           append_extents(resolved, *expr.args[1], shape);
  }
  if (expr.kind == ExprKind::Binary && expr.text == "^") {
    const auto extent = constant_integer(resolved, *expr.args[0]);
    const auto times = constant_integer(resolved, *expr.args[1]);
    if (!extent || !times || *extent < 1 || *times < 1) return false;
    if (*times > static_cast<std::int64_t>(kMostDimensions)) return false;
    shape.insert(shape.end(), static_cast<std::size_t>(*times), *extent);
    return shape.size() <= kMostDimensions;
  }
  const auto extent = constant_integer(resolved, expr);
  if (!extent || *extent < 1) return false;
  shape.push_back(*extent);
  return shape.size() <= kMostDimensions;
}

}  // namespace

std::optional<double> constant_value(const Resolved& resolved, const Expr& expr) {
  return ConstantValues(resolved).value(expr, 0);
}

std::optional<std::int64_t> constant_integer(const Resolved& resolved, const Expr& expr) {
  const Maybe number = constant_value(resolved, expr);
  if (!number || std::floor(*number) != *number || std::fabs(*number) > kLargestWhole) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number);
}

std::optional<std::vector<std::int64_t>> lattice_shape(const Resolved& resolved, const Expr& expr) {
  std::vector<std::int64_t> shape;
  if (!append_extents(resolved, expr, shape)) return std::nullopt;
  return shape;
}

}  // namespace vphi::dsl
