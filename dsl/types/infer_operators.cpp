// Operators: arithmetic, comparisons, selects, time derivatives, lists.
#include <cstdlib>

#include "dsl/name_errors.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/types/infer.hpp"
#include "dsl/types/types.hpp"

namespace vphi::dsl {

using Base = Type::Base;

namespace {

bool is_comparison(const std::string& op) {
  return op == "<" || op == "<=" || op == ">" || op == ">=" || op == "==" || op == "!=";
}

bool is_zero(const Expr& expr) {
  return expr.kind == ExprKind::Number && !expr.imaginary &&
         std::strtod(expr.text.c_str(), nullptr) == 0;
}

/// 1/det is the weight of a boson; other numbers change no weight.
bool is_one(const Expr& expr) {
  return expr.kind == ExprKind::Number && !expr.imaginary && expr.text == "1";
}

/// For the base or the exponent of a power.
std::string factor_text(const Expr& expr) {
  const bool simple =
      expr.kind == ExprKind::Number || expr.kind == ExprKind::Name || expr.kind == ExprKind::Call;
  return simple ? to_text(expr) : "(" + to_text(expr) + ")";
}

Value merge(Type type, const Value& a, const Value& b) {
  Value value{type, a.free};
  value.free.insert(b.free.begin(), b.free.end());
  value.type.per_site = a.type.per_site || b.type.per_site;
  return value;
}

}  // namespace

Value Inference::unary(const Expr& expr, const Scope& scope) {
  if (expr.text == "not") {
    Value value = condition(*expr.args[0], scope, "what stands after `not`");
    value.type.base = Base::Boolean;
    return value;
  }
  Value value = infer(*expr.args[0], scope);
  if (value.type.base == Base::Determinant) {
    report(errors::sign_of_determinant(expr.span, to_text(*expr.args[0])));
    return {};
  }
  if (value.type.base == Base::Boolean) value.type.base = Base::Integer;
  if (value.type.base == Base::Group) {  // minus a link is not a link
    Type matrix = type_of(value.type.rows == 1 ? Base::Complex : Base::Matrix);
    matrix.rows = matrix.columns = value.type.rows;
    matrix.complex = true;
    value = merge(matrix, value, value);
  }
  return value;
}

/// `2*pi` where the model has a field called pi.
void Inference::check_hidden_constant(const Expr& product, const Scope& scope) {
  const Expr &number = *product.args[0], &name = *product.args[1];
  if (number.kind != ExprKind::Number || name.kind != ExprKind::Name) return;
  const BuiltinConstant* constant = find_constant(name.text);
  const Symbol* own = resolved_.find(name.text);
  if (constant == nullptr || own == nullptr || scope.find(name.text) != nullptr) return;
  if (own->kind == SymbolKind::Field || own->kind == SymbolKind::Variable)
    report(errors::hidden_constant(product.span, *own, std::string(constant->doc)));
}

Value Inference::binary(const Expr& expr, const Scope& scope, bool outer) {
  const std::string& op = expr.text;
  if (op == "and" || op == "or") {
    const std::string place = "each side of `" + op + "`";
    const Value left = condition(*expr.args[0], scope, place);
    const Value right = condition(*expr.args[1], scope, place);
    return merge(type_of(Base::Boolean), left, right);
  }
  const Value left = infer(*expr.args[0], scope);
  const Value right = infer(*expr.args[1], scope);
  if (op == "*") check_hidden_constant(expr, scope);
  if (is_comparison(op)) return compare(expr, left, right);
  std::optional<Type> type;
  if (op == "*") {
    type = multiply_types(left.type, right.type, outer);
  } else if (op == "/") {
    type = divide_types(left.type, right.type);
    if (!type && right.type.base == Base::Determinant && is_one(*expr.args[0])) type = right.type;
  } else if (op == "^") {
    type = power_types(left.type, right.type);
    const bool negative = expr.args[1]->kind == ExprKind::Unary;
    if (type && type->base == Base::Integer && negative) type->base = Base::Real;
  } else {
    type = add_types(left.type, right.type);
    if (!type && is_zero(*expr.args[0])) type = right.type;
    if (!type && is_zero(*expr.args[1])) type = left.type;
  }
  if (!type) {
    const bool first = left.type.base == Base::Determinant, product = op == "*";
    const bool number = is_scalar(first ? right.type : left.type);
    const bool second = product && right.type.base == Base::Determinant;
    if (number && ((first && (product || op == "/")) || second)) {
      report(errors::number_beside_determinant(expr.span, op, left.type, right.type,
                                               factor_text(*expr.args[first ? 0 : 1]),
                                               factor_text(*expr.args[first ? 1 : 0])));
    } else {
      report(errors::operand_types(expr.span, op, left.type, right.type));
    }
    return merge(Type{}, left, right);
  }
  return merge(*type, left, right);
}

Value Inference::compare(const Expr& expr, const Value& left, const Value& right) {
  const Value result = merge(type_of(Base::Boolean), left, right);
  if (is_unknown(left.type) || is_unknown(right.type)) return result;
  const bool scalars = is_scalar(left.type) && is_scalar(right.type);
  const bool equality = expr.text == "==" || expr.text == "!=";
  if (!scalars) {
    report(errors::operand_types(expr.span, expr.text, left.type, right.type));
  } else if (!equality && !(is_real(left.type) && is_real(right.type))) {
    const Expr& side = *expr.args[is_real(left.type) ? 1 : 0];
    report(errors::order_of_complex(side.span, "`" + expr.text + "` with a complex value"));
  }
  return result;
}

Value Inference::select(const Expr& expr, const Scope& scope) {
  const Expr& first = *expr.args[0];
  const Expr& second = *expr.args[2];
  const Value a = infer(first, scope);
  const Value chosen = condition(*expr.args[1], scope, "what stands after `if`");
  const Value b = infer(second, scope);
  std::optional<Type> type = add_types(a.type, b.type);
  if (a.type.base == Base::Boolean && b.type.base == Base::Boolean) type = a.type;
  if (is_zero(first) && !is_scalar(b.type)) type = b.type;
  if (is_zero(second) && !is_scalar(a.type)) type = a.type;
  if (!type) {
    report(errors::operand_types(expr.span, "if else", a.type, b.type));
    type = Type{};
  }
  if (is_unknown(chosen.type)) type = Type{};  // at each site, or once
  return merge(merge(*type, a, b).type, merge(*type, a, b), chosen);
}

bool Inference::changes_with_time(const Expr& expr, const Scope& scope) const {
  std::set<const Symbol*> seen;
  const auto changes = [&](const auto& self, const Expr& node) -> bool {
    if (node.kind == ExprKind::Name || node.kind == ExprKind::Call) {
      if (scope.find(node.text) != nullptr && node.kind == ExprKind::Name) return true;
      const Symbol* symbol = resolved_.find(node.text);
      if (symbol == nullptr) {
        if (node.kind == ExprKind::Name) return find_constant(node.text) == nullptr;
      } else if (symbol->kind == SymbolKind::Parameter || symbol->kind == SymbolKind::Swept ||
                 symbol->kind == SymbolKind::Drawn || symbol->kind == SymbolKind::Particles) {
        return false;
      } else if (symbol->kind == SymbolKind::Definition) {
        if (symbol->value && seen.insert(symbol).second && self(self, *symbol->value)) return true;
      } else if (symbol->kind == SymbolKind::Construct) {
        const bool fixed = symbol->origin == "lattice" || symbol->name == "dt";
        return !fixed;
      } else {
        return true;
      }
    }
    for (const ExprPtr& arg : node.args) {
      if (self(self, *arg)) return true;
    }
    return false;
  };
  return changes(changes, expr);
}

Value Inference::prime(const Expr& expr, const Scope& scope) {
  Value value = infer(*expr.args[0], scope);
  const bool open = scope.inherited(&Scope::free_names);
  if (!is_unknown(value.type) && !open && !changes_with_time(*expr.args[0], scope)) {
    report(errors::prime_of_constant(expr.span, to_text(*expr.args[0])));
    return {};
  }
  value.type = rate_type(value.type);
  if (value.type.base == Base::Integer || value.type.base == Base::Boolean) {
    value.type.base = Base::Real;
  }
  return value;
}

/// Numbers make a vector, vectors of one length the rows of a matrix.
Value Inference::list(const Expr& expr, const Scope& scope) {
  Value all;
  Type element = type_of(Base::Integer);
  bool good = true;
  for (const ExprPtr& item : expr.args) {
    const Value value = infer(*item, scope);
    if (is_unknown(value.type)) good = false;
    const bool first = item == expr.args.front();
    const bool row = value.type.base == Base::Vector;
    const auto sum = first && row ? value.type : add_types(element, value.type);
    if (!sum || !(is_scalar(*sum) || sum->base == Base::Vector)) {
      if (good) report(errors::operand_types(expr.span, ",", element, value.type));
      good = false;
    } else {
      element = *sum;
    }
    all = merge(Type{}, all, value);
  }
  if (!good) return all;
  Type type = vector_of(static_cast<int>(expr.args.size()), is_complex(element));
  if (element.base == Base::Vector) {
    type.base = Base::Matrix;
    type.columns = element.rows;
  }
  return merge(type, all, all);
}

}  // namespace vphi::dsl
