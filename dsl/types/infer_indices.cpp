// Indices and shifts: `x[k]`, `P[mu,nu]`, `u@k` (docs/rules.md rules 11 and 12).
#include <algorithm>

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

std::string range_text(const IndexRange& range) {
  switch (range.kind) {
    case Kind::Open:
      return "open";
    case Kind::Direction:
      return "a direction of the lattice";
    case Kind::Component:
      return "a component" +
             (range.count > 0 ? " of " + std::to_string(range.count) : std::string());
    case Kind::Particle:
      return range.species.empty() ? "a particle" : "a particle of `" + range.species + "`";
    case Kind::Explicit:
      return "given by a range";
  }
  return "open";
}

IndexRange direction(int dimensions) { return {Kind::Direction, dimensions, "", {}}; }

}  // namespace

bool Inference::is_axis(const std::string& name) const {
  const int dims = dimensions();
  if (name == "x") return dims > 0;
  if (name == "y") return dims > 1;
  if (name == "z") return dims > 2;
  return name == "t" && dims > 3;
}

/// Spin, then colour: as many colours as the links have, 1 without a gauge field.
IndexRange Inference::component_of_spinor(std::size_t position) const {
  int colours = 1, spins = 4;
  for (const auto& [name, symbol] : resolved_.symbols) {
    if (symbol.kind == SymbolKind::Gauge && symbol.type.base == Base::Group)
      colours = std::max(symbol.type.rows, 1);
    if (symbol.kind == SymbolKind::Fermion && symbol.type.rows > 0) spins = symbol.type.rows;
  }
  return {Kind::Component, position == 0 ? spins : colours, "", {}};
}

IndexRange Inference::range_of_place(const Symbol& symbol, std::size_t position) const {
  if (symbol.kind == SymbolKind::Gauge) return direction(dimensions());
  if (symbol.kind == SymbolKind::Fermion) return component_of_spinor(position);
  const bool of_body = symbol.kind == SymbolKind::Variable ||
                       symbol.kind == SymbolKind::Particles ||
                       (symbol.kind == SymbolKind::Drawn && symbol.parameters.size() == 1);
  const bool indexed = symbol.indexed || symbol.kind == SymbolKind::Particles;
  if (of_body && indexed && position == 0) {
    std::string species;
    int count = 0;
    for (const auto& [name, other] : resolved_.symbols) {
      if (other.kind != SymbolKind::Particles) continue;
      species = name;
      ++count;
    }
    if (count == 0 && symbol.kind == SymbolKind::Drawn) return {};
    return {Kind::Particle, 0, count == 1 ? species : "", {}};
  }
  return {};
}

// Two places of one index: the narrower range stays, a contradiction is reported.
void Inference::narrow(IndexRange& index, const IndexRange& place, const std::string& name,
                       Span at) {
  if (place.kind == Kind::Open) return;
  if (index.kind == Kind::Open) {
    index = place;
    index.first = at;
    return;
  }
  if (index.kind == Kind::Explicit || place.kind == Kind::Explicit) return;
  const bool counts = index.count == place.count || index.count == 0 || place.count == 0;
  const bool directions = index.kind != Kind::Particle && place.kind != Kind::Particle && counts;
  const bool particles =
      index.kind == Kind::Particle && place.kind == Kind::Particle &&
      (index.species == place.species || index.species.empty() || place.species.empty());
  if (directions || particles) return;
  report(errors::index_conflict(at, name, range_text(place), range_text(index), index.first));
}

// One index in brackets. `place` says what is indexed there, `what` names it in messages.
void Inference::use_index(const Expr& expr, const IndexRange& place, const std::string& what,
                          const Scope& scope, Value& result) {
  if (expr.kind == ExprKind::Name) {
    const Scope::Local* local = scope.find(expr.text);
    if (local != nullptr && local->index != nullptr) {
      narrow(*local->index, place, expr.text, expr.span);
      if (local->index->kind == Kind::Particle) result.free.insert(expr.text);
      resolved_.types[&expr] = type_of(Base::Integer);
      return;
    }
    if (local == nullptr && place.kind == Kind::Direction && is_axis(expr.text)) return;
    const bool known = local != nullptr || resolved_.find(expr.text) != nullptr ||
                       find_constant(expr.text) != nullptr;
    if (!known) {
      if (!scope.inherited(&Scope::free_names))
        report(errors::index_free(expr.span, expr.text,
                                  with_bound(expr, scope, place.kind == Kind::Particle)));
      result.type = {};
      return;
    }
  }
  const bool back = expr.kind == ExprKind::Unary && expr.args[0]->kind == ExprKind::Name;
  if (back && place.kind == Kind::Direction) {
    use_index(*expr.args[0], place, what, scope, result);
    return;
  }
  if (place.kind == Kind::Particle && expr.kind == ExprKind::Binary) {
    report(errors::particle_neighbour(expr.span, to_text(expr)));
    return;
  }
  const Value value = infer(expr, scope);
  if (!is_unknown(value.type) && value.type.base != Base::Integer) {
    report(errors::index_not_integer(expr.span, value.type));
    return;
  }
  const auto number = constant_integer(resolved_, expr);
  const bool counted = place.kind == Kind::Component || place.kind == Kind::Direction;
  if (number && counted && place.count > 0 && (*number < 0 || *number >= place.count)) {
    report(errors::component_out_of_range(expr.span, what, *number, place.count));
  }
}

Value Inference::index(const Expr& expr, const Scope& scope) {
  const Expr& base = *expr.args[0];
  if (base.kind == ExprKind::Name && scope.find(base.text) == nullptr) {
    if (const Symbol* symbol = resolved_.find(base.text)) {
      return indexed_symbol(expr, *symbol, scope);
    }
    if (base.text == "noise") {
      Value value = infer(base, scope);
      for (std::size_t i = 1; i < expr.args.size(); ++i) {
        use_index(*expr.args[i], {}, "noise", scope, value);
      }
      return value;
    }
  }
  Value value;
  const bool file = base.kind == ExprKind::Call && base.text == "file";
  if (file) {
    value = infer(base, scope);
    for (std::size_t i = 1; i < expr.args.size(); ++i) {
      use_index(*expr.args[i], {}, "the file", scope, value);
    }
    // at the start what is left behind the indices may be a field
    value.type = type_of(scope.inherited(&Scope::start) ? Base::Unknown : Base::Real);
    return value;
  }
  value = infer(base, scope);
  return components(expr, value, to_text(base), scope);
}

Value Inference::indexed_symbol(const Expr& expr, const Symbol& symbol, const Scope& scope) {
  const Expr& base = *expr.args[0];
  const std::size_t count = expr.args.size() - 1;
  Value value;
  const bool links = symbol.kind == SymbolKind::Gauge;
  const bool particles = symbol.kind == SymbolKind::Variable && symbol.indexed;
  const bool matrices = symbol.kind == SymbolKind::Construct && symbol.name == "gamma";
  if (symbol.kind == SymbolKind::Particles && count == 1) {  // 1 for the bodies of the species
    value.type = type_of(Base::Integer);
    use_index(*expr.args[1], range_of_place(symbol, 0), "`" + symbol.name + "`", scope, value);
    return value;
  }
  if (links || particles || matrices) {
    value.type = symbol.type;
    value.type.per_site = links;
    const IndexRange place = matrices ? direction(dimensions()) : range_of_place(symbol, 0);
    use_index(*expr.args[1], place, "`" + symbol.name + "`", scope, value);
    resolved_.types[&base] = symbol.type;
    if (count == 1) return value;
    Expr rest = expr;  // what is left are components of the value at that place
    rest.args.erase(rest.args.begin() + 1);
    return components(rest, value, symbol.name, scope);
  }
  if (symbol.indexed) {
    definition(symbol);
    const auto& ranges = ranges_[&symbol];
    if (count != ranges.size()) {
      report(errors::index_count(expr.span, symbol.name, static_cast<int>(ranges.size()),
                                 static_cast<int>(count), symbol.declared));
      // The indices that are there get their ranges all the same.
      for (std::size_t i = 0; i < std::min(count, ranges.size()); ++i) {
        use_index(*expr.args[i + 1], ranges[i], "`" + symbol.name + "`", scope, value);
      }
      return {};
    }
    value = known_[&symbol];
    for (std::size_t i = 0; i < count; ++i) {
      use_index(*expr.args[i + 1], ranges[i], "`" + symbol.name + "`", scope, value);
    }
    return value;
  }
  value = infer(base, scope);
  return components(expr, value, symbol.name, scope);
}

Value Inference::components(const Expr& expr, const Value& base, const std::string& shown,
                            const Scope& scope) {
  Value value = base;
  const std::size_t count = expr.args.size() - 1;
  const Type& type = base.type;
  std::size_t wanted = 0;
  if (type.base == Base::Vector) wanted = 1;
  if (type.base == Base::Symmetric || type.base == Base::Matrix || type.base == Base::Group) {
    wanted = 2;
  }
  const bool spinor = type.base == Base::Spinor;
  if (spinor) wanted = 2;
  const bool open = is_unknown(type) || type.base == Base::Operator;
  if (is_unknown(type)) {  // reported already; only the ranges of index names are still needed
    for (std::size_t i = 1; i <= count; ++i) {
      const Expr& arg = *expr.args[i];
      if (arg.kind == ExprKind::Name && scope.find(arg.text) != nullptr)
        use_index(arg, {}, "`" + shown + "`", scope, value);
    }
    return value;
  }
  if (wanted == 0 && !open) {
    const Symbol* symbol = resolved_.find(shown);
    const bool field = symbol != nullptr && symbol->kind == SymbolKind::Field;
    report(errors::not_indexable(expr.span, shown, type, field));
    return {};
  }
  if (!open && count != wanted) {
    report(errors::index_count(expr.span, shown, static_cast<int>(wanted), static_cast<int>(count),
                               {}));
    return {};
  }
  for (std::size_t i = 1; i <= count; ++i) {
    const int size = i == 2 && type.base == Base::Matrix ? type.columns : type.rows;
    IndexRange place = open ? IndexRange{} : IndexRange{Kind::Component, size, "", {}};
    if (spinor) place = component_of_spinor(i - 1);
    use_index(*expr.args[i], place, "`" + shown + "`", scope, value);
  }
  const bool per_site = type.per_site;
  value.type = open ? Type{} : type_of(is_complex(type) ? Base::Complex : Base::Real);
  value.type.per_site = per_site;
  return value;
}

// A model whose fields have no lattice is told so once, where it declares them.
void Inference::report_no_lattice(Span at, const std::string& what, bool derivative) {
  for (const char* keyword : {"lattice", "field", "gauge", "fermion", "primitive"}) {
    if (resolved_.clause(keyword) != nullptr) return;
  }
  report(errors::no_lattice(at, what, derivative));
}

// ---- neighbours -------------------------------------------------------------------------------

bool Inference::use_direction(const Expr& expr, const Scope& scope) {
  const Expr& axis = expr.kind == ExprKind::Unary ? *expr.args[0] : expr;
  if (axis.kind != ExprKind::Name) return false;
  const Scope::Local* local = scope.find(axis.text);
  if (local != nullptr && local->index != nullptr) {
    narrow(*local->index, direction(dimensions()), axis.text, axis.span);
    return true;
  }
  if (is_axis(axis.text) || scope.inherited(&Scope::free_names)) return true;
  if (local != nullptr || resolved_.find(axis.text) != nullptr) return false;
  if (axis.text == "x" || axis.text == "y" || axis.text == "z") return false;
  report(errors::index_free(axis.span, axis.text));
  return true;
}

Value Inference::shift(const Expr& expr, const Scope& scope) {
  const Expr& operand = *expr.args[1];
  const bool library = scope.inherited(&Scope::free_names);
  if (dimensions() == 0 && !library) {
    report_no_lattice(expr.span, "a neighbour, `@`,");
    return {};
  }
  const Value value = infer(*expr.args[0], scope);
  if (!library && !is_unknown(value.type) && !value.type.per_site) {
    report(errors::shift_of_constant(expr.span, to_text(*expr.args[0])));
  }
  if (operand.kind == ExprKind::List) {
    const int count = static_cast<int>(operand.args.size());
    if (!library && count != dimensions()) {
      report(errors::shift_length(operand.span, count, dimensions()));
    }
    for (const ExprPtr& offset : operand.args) {
      if (!library && !constant_integer(resolved_, *offset)) {
        report(errors::shift_operand(offset->span, to_text(*offset), dimensions()));
      }
    }
  } else if (!use_direction(operand, scope)) {
    report(errors::shift_operand(operand.span, to_text(operand), dimensions()));
  }
  return value;
}

}  // namespace vphi::dsl
