// Reductions and their indices: sum, mean, max, ... (docs/rules.md rules 11 and 13).
#include <algorithm>
#include <set>

#include "dsl/name_errors.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/syntax/walk.hpp"
#include "dsl/types/constant.hpp"
#include "dsl/types/infer.hpp"
#include "dsl/types/types.hpp"

namespace vphi::dsl {

using Base = Type::Base;
using Kind = IndexRange::Kind;

namespace {

constexpr std::size_t kMostAdvised = 100;  // characters of an expression in a hint

ExprPtr node(ExprKind kind, std::string text, std::vector<ExprPtr> args = {}) {
  Expr made;
  made.kind = kind;
  made.text = std::move(text);
  made.args = std::move(args);
  return std::make_shared<const Expr>(std::move(made));
}

/// `expr` with `there` in the place `at`; the same pointer where that is not in it.
ExprPtr replaced(const ExprPtr& expr, Span at, const Expr& there) {
  const bool names = expr->kind == ExprKind::Name || expr->kind == ExprKind::Index;
  if (names && expr->span == at) return std::make_shared<const Expr>(there);
  std::shared_ptr<Expr> changed;
  for (std::size_t i = 0; i < expr->args.size(); ++i) {
    const ExprPtr arg = replaced(expr->args[i], at, there);
    if (arg == expr->args[i]) continue;
    if (!changed) changed = std::make_shared<Expr>(*expr);
    changed->args[i] = arg;
  }
  return changed ? changed : expr;
}

}  // namespace

/// The fix of a message: the reduction around the place `at`, with another expression there and its
/// indices added. Empty where there is none around it, or a long one.
std::string Inference::bound(const Scope& scope, Span at, const Expr& there,
                             const std::vector<ExprPtr>& behind) const {
  const Expr* reduction = scope.inherited(&Scope::reduction);
  if (reduction == nullptr || !reduction->named.empty() || !helps()) return {};
  Expr advice = *reduction;
  advice.args[0] = replaced(advice.args[0], at, there);
  if (advice.args[0] == reduction->args[0]) return {};
  advice.args.insert(advice.args.end(), behind.begin(), behind.end());
  const std::string text = to_text(advice);
  return text.size() > kMostAdvised ? std::string() : "`" + text + "`";
}

/// Whether the symbol runs over two directions, as plaquettes do: each pair counts once.
bool Inference::over_planes(const Symbol* symbol) const {
  const auto known = symbol == nullptr ? ranges_.end() : ranges_.find(symbol);
  return known != ranges_.end() && known->second.size() == 2 &&
         std::ranges::all_of(known->second,
                             [](const IndexRange& range) { return range.kind == Kind::Direction; });
}

/// The fix for an index that is bound by nothing: all such indices of the reduction are bound.
/// `bodies`: it is one of bodies, whose pairs count once, as planes do.
std::string Inference::with_bound(const Expr& index, const Scope& scope, bool bodies) const {
  const Expr* reduction = scope.inherited(&Scope::reduction);
  std::vector<ExprPtr> behind;
  const Symbol* symbol = nullptr;
  const auto add = [&](const Expr& part) {
    if (part.kind != ExprKind::Index) return;
    for (std::size_t i = 1; i < part.args.size(); ++i) {
      const ExprPtr& arg = part.args[i];
      if (arg->span == index.span) symbol = resolved_.find(part.args[0]->text);
      const auto same = [&](const ExprPtr& one) { return one->text == arg->text; };
      if (arg->kind == ExprKind::Name && !has_meaning(arg->text, scope) &&
          std::ranges::none_of(behind, same))
        behind.push_back(arg);
    }
  };
  if (reduction != nullptr) for_each(reduction->args[0], add);
  if (behind.empty()) behind = {std::make_shared<const Expr>(index)};
  if (behind.size() == 2 && (bodies || over_planes(symbol)))
    behind = {node(ExprKind::Binary, "<", {behind[0], behind[1]})};
  return bound(scope, index.span, index, behind);
}

/// `P` of P[mu,nu] inside a mean: mean(re(tr(P[mu,nu])), mu < nu).
std::string Inference::with_indices(const Symbol& symbol, const Scope& scope, Span at) const {
  std::vector<ExprPtr> parts{node(ExprKind::Name, symbol.name)}, behind;
  for (const std::string& index : symbol.parameters) {
    if (has_meaning(index, scope)) return {};
    parts.push_back(node(ExprKind::Name, index));
    behind.push_back(parts.back());
  }
  if (behind.size() == 2 && over_planes(&symbol))
    behind = {node(ExprKind::Binary, "<", {behind[0], behind[1]})};
  return bound(scope, at, *node(ExprKind::Index, "", parts), behind);
}

/// The fix where x[2], the vector of particle 2, is used as a number: component 2 of each particle
/// may be meant.
std::string Inference::component_of_each(const Expr& argument, const Scope& scope,
                                         const std::string& otherwise) const {
  if (argument.kind != ExprKind::Index || argument.args.size() != 2) return otherwise;
  const Symbol* symbol = resolved_.find(argument.args[0]->text);
  if (symbol == nullptr || symbol->kind != SymbolKind::Variable || !symbol->indexed ||
      symbol->type.base != Base::Vector || symbol->parameters.size() != 1)
    return otherwise;
  const auto component = constant_integer(resolved_, *argument.args[1]);
  const std::string& index = symbol->parameters[0];
  if (!component || *component < 0 || *component >= symbol->type.rows || has_meaning(index, scope))
    return otherwise;
  const ExprPtr particle = node(ExprKind::Name, index);
  const ExprPtr each = node(ExprKind::Index, "", {argument.args[0], particle});
  const std::string advice =
      bound(scope, argument.span, *node(ExprKind::Index, "", {each, argument.args[1]}), {particle});
  if (advice.empty()) return otherwise;
  return "`" + to_text(argument) +
         "` is the vector of one particle; for this component of each write " + advice;
}

bool Inference::has_meaning(const std::string& name, const Scope& scope) const {
  return scope.find(name) != nullptr || resolved_.find(name) != nullptr ||
         find_constant(name) != nullptr || find_builtin(name) != nullptr;
}

namespace {

/// Whether an expression is a number by its form. As a further argument of `min` and `max` it is
/// one more value, in which a name without a meaning is no index.
bool is_arithmetic(const Expr& expr) {
  static const std::set<std::string> kOperators{"+", "-", "*", "/", "^"};
  if (expr.kind == ExprKind::Unary) return expr.text == "-";
  return expr.kind == ExprKind::Number ||
         (expr.kind == ExprKind::Binary && kOperators.contains(expr.text));
}

}  // namespace

// The indices of a reduction: names after the first argument without another meaning. Indices of a
// reduction inside are its own, and words of options (`over = time`) are not indices.
std::vector<std::string> Inference::indices_of(const Expr& expr, const Scope& scope) {
  std::vector<std::string> names;
  const auto visit = [&](const auto& self, const Expr& node) -> void {
    if (node.kind == ExprKind::Name && !has_meaning(node.text, scope) &&
        std::find(names.begin(), names.end(), node.text) == names.end())
      names.push_back(node.text);
    const Builtin* builtin = node.kind == ExprKind::Call ? find_builtin(node.text) : nullptr;
    const bool reduces =
        builtin && (builtin->rule == Rule::Reduce || builtin->rule == Rule::ReduceOrFold);
    if (reduces && node.args.size() + node.named.size() > 1) return;
    for (const ExprPtr& arg : node.args) self(self, *arg);
  };
  const Builtin* builtin = find_builtin(expr.text);
  const bool may_fold = builtin != nullptr && builtin->rule == Rule::ReduceOrFold;
  for (std::size_t i = 1; i < expr.args.size(); ++i)
    if (!may_fold || !is_arithmetic(*expr.args[i])) visit(visit, *expr.args[i]);
  return names;
}

namespace {

void bind_index(Scope& scope, std::map<std::string, IndexRange>& ranges, const std::string& name,
                Span at) {
  scope.locals[name].index = &ranges[name];
  scope.locals[name].declared = at;
}

/// Where a name stands behind the first argument; else the whole call.
Span place_of(const Expr& expr, const std::string& name) {
  Span at = expr.span;
  for (std::size_t i = 1; i < expr.args.size(); ++i) {
    for_each(expr.args[i], [&](const Expr& node) {
      if (node.kind == ExprKind::Name && node.text == name) at = node.span;
    });
  }
  return at;
}

}  // namespace

/// Names behind the first argument that mean something already: errors, and indices from here on.
void Inference::bind_trailing(const Expr& expr, const Scope& scope, Scope& inner,
                              std::map<std::string, IndexRange>& ranges) {
  for (std::size_t i = 1; i < expr.args.size(); ++i) {
    const Expr& trailing = *expr.args[i];
    if (trailing.kind != ExprKind::Name || inner.locals.count(trailing.text) > 0) continue;
    const Symbol* symbol = resolved_.find(trailing.text);
    const Scope::Local* outer = scope.find(trailing.text);
    std::string what = "a name of `std`";
    Span declared;
    if (outer != nullptr) {
      what = outer->index != nullptr ? "already an index outside" : "a parameter here";
      declared = outer->declared;
    } else if (symbol != nullptr) {
      what = errors::a_kind(*symbol);
      declared = symbol->declared;
    }
    report(errors::index_named_like_value(trailing.span, trailing.text, what, declared));
    bind_index(inner, ranges, trailing.text, trailing.span);
    ranges[trailing.text].kind = Kind::Explicit;
  }
}

/// Indices with a range of their own, `mu = directions(+,-)`.
void Inference::bind_ranges(const Expr& expr, const Builtin& builtin, const Scope& scope,
                            Scope& inner, std::map<std::string, IndexRange>& ranges) {
  for (const NamedArgument& named : expr.named) {
    if (named.name == "over") continue;
    if (builtin.options.find(named.name) != std::string_view::npos) continue;
    const Symbol* symbol = resolved_.find(named.name);
    if (symbol != nullptr) {
      report(errors::index_named_like_value(named.span, named.name, errors::a_kind(*symbol),
                                            symbol->declared));
    }
    bind_index(inner, ranges, named.name, named.span);
    const Expr& values = *named.value;
    if (values.kind == ExprKind::Call && values.text == "directions") {
      ranges[named.name] = {Kind::Direction, dimensions(), "", named.span};
      continue;
    }
    if (values.kind == ExprKind::Range) {
      for (const ExprPtr& end : values.args) number(*end, scope, "the end of a range");
    } else {
      infer(values, scope);
    }
    ranges[named.name] = {Kind::Explicit, 0, "", named.span};
  }
}

Value Inference::reduce(const Expr& expr, const Builtin& builtin, const Scope& scope) {
  const bool may_fold = builtin.rule == Rule::ReduceOrFold;
  const std::vector<std::string> names = indices_of(expr, scope);
  if (may_fold && expr.args.size() > 1 && names.empty()) return fold(expr, builtin, scope);

  Scope inner;
  inner.outer = &scope;
  inner.reduction = &expr;
  std::map<std::string, IndexRange> ranges;
  for (const std::string& name : names) bind_index(inner, ranges, name, expr.span);
  bind_trailing(expr, scope, inner, ranges);
  bind_ranges(expr, builtin, scope, inner, ranges);
  const auto over = [](const NamedArgument& named) { return named.name == "over"; };
  const bool averages = std::ranges::any_of(expr.named, over);
  if (averages) options(expr, builtin, scope);
  for (const NamedArgument& named : expr.named)
    if (named.name == "where" && !averages)
      report(errors::clause_form(named.span, "where", "mean(x, over = event, where = ...)"));

  Value value = infer(*expr.args[0], inner);
  for (std::size_t i = 1; i < expr.args.size(); ++i) {
    if (expr.args[i]->kind != ExprKind::Name) {
      condition(*expr.args[i], inner, "what stands after the first argument of a reduction");
    }
  }
  for (const std::string& name : names) {
    const bool open = scope.inherited(&Scope::free_names);
    if (ranges[name].kind == Kind::Open && !open)
      report(errors::index_without_range(place_of(expr, name), name));
  }
  const bool any_index = !ranges.empty();
  for (const auto& [name, range] : ranges) value.free.erase(name);
  const bool sums = builtin.name == "sum" || builtin.name == "prod";
  const bool domain = !any_index || !sums;
  reduced_type(expr, builtin, value, domain, inner);
  return value;
}

void Inference::reduced_type(const Expr& expr, const Builtin& builtin, Value& value, bool domain,
                             const Scope& scope) {
  Type& type = value.type;
  const std::string function(builtin.name);
  const bool extremum = builtin.rule == Rule::ReduceOrFold;
  if (type.base == Base::Angle && function != "min" && function != "max" && function != "msd") {
    report(errors::mean_of_angle(expr.span, function, to_text(*expr.args[0])));
    type.base = Base::Real;
  }
  if (extremum && !is_unknown(type) && !is_real(type)) {
    if (type.base == Base::Complex) {
      report(errors::order_of_complex(expr.args[0]->span, "`" + function + "` of a complex value"));
    } else {
      report(errors::argument_type(
          expr.args[0]->span, function, "real numbers", type,
          component_of_each(*expr.args[0], scope,
                            "take the length, norm(v), or a component, v[0]")));
    }
    type.base = Base::Real;
  }
  if (type.base == Base::Boolean) type.base = function == "sum" ? Base::Integer : Base::Real;
  if (type.base == Base::Integer && function == "mean") type.base = Base::Real;
  if (type.base == Base::Group && function != "prod") {
    const int n = type.rows;
    const bool per_site = type.per_site;
    type = type_of(n == 1 ? Base::Complex : Base::Matrix, per_site);
    type.rows = type.columns = n;
    type.complex = true;
  }
  if ((function == "var" || function == "msd") && !is_unknown(type))
    type = type_of(Base::Real, type.per_site);
  if (domain) {
    type.per_site = false;
    // An index that is written is kept; `mean(x)` leaves the domain's own index out.
  }
}

Value Inference::fold(const Expr& expr, const Builtin& builtin, const Scope& scope) {
  Value all = infer(*expr.args[0], scope);
  const std::string function(builtin.name);
  for (std::size_t i = 0; i < expr.args.size(); ++i) {
    const Expr& argument = *expr.args[i];
    const Value value = i == 0 ? all : infer(argument, scope);
    if (!is_unknown(value.type) && !is_real(value.type)) {
      if (value.type.base == Base::Complex) {
        report(errors::order_of_complex(argument.span, "`" + function + "` of a complex value"));
      } else {
        report(errors::argument_type(argument.span, function, "real numbers", value.type,
                                     "compare lengths, norm(v), or components, v[0]"));
      }
      return {};
    }
    const bool per_site = all.type.per_site || value.type.per_site;
    all.type = add_types(all.type, value.type).value_or(Type{});
    all.type.per_site = per_site;
    all.free.insert(value.free.begin(), value.free.end());
  }
  return all;
}

}  // namespace vphi::dsl
