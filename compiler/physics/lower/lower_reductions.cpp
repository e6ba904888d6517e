// Sums and products over indices, and reductions over the lattice.
#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::ExprKind;

namespace {

constexpr int kMostTuples = 4096;  // sums over indices are written out

void names_in(const dsl::Expr& e, std::vector<std::string>& out) {
  if (e.kind == ExprKind::Name) out.push_back(e.text);
  for (const dsl::ExprPtr& arg : e.args) names_in(*arg, out);
}

bool is_condition(const dsl::Expr& e) {
  return e.kind == ExprKind::Binary &&
         (e.text == "<" || e.text == ">" || e.text == "<=" || e.text == ">=" || e.text == "==" ||
          e.text == "!=" || e.text == "and" || e.text == "or");
}

}  // namespace

/// The range an index takes from the places where it indexes (docs/rules.md rule 11).
void Lowerer::index_range(const dsl::Expr& e, const std::string& index, const Scope& scope,
                          std::set<std::string>& visiting,
                          std::optional<std::vector<IndexValue>>& range) {
  if (range) return;
  const auto all = [&](int size, bool direction) {
    range.emplace();
    for (int i = 0; i < size; ++i) range->push_back({i, 1, direction});
  };
  const auto is_index = [&](const dsl::Expr& at) {
    const dsl::Expr* bare = &at;
    if (bare->kind == ExprKind::Unary && bare->text == "-") bare = bare->args[0].get();
    return bare->kind == ExprKind::Name && bare->text == index;
  };
  if (e.kind == ExprKind::Shift && is_index(*e.args[1])) return all(d_.grid.dims, true);
  if (e.kind == ExprKind::Call && (e.text == "loop" || e.text == "path")) {
    for (const dsl::ExprPtr& arg : e.args) {
      const bool many = arg->kind == ExprKind::Binary && arg->text == "*";  // 3*mu
      if (is_index(many ? *arg->args[1] : *arg)) return all(d_.grid.dims, true);
    }
  }
  if (e.kind == ExprKind::Call && e.text == "spinor" && !d_.facts.find(e.text)) {
    for (std::size_t i = 0; i < e.args.size(); ++i) {
      if (is_index(*e.args[i])) return all(i == 0 ? d_.spins : colours(), false);
    }
  }
  if (e.kind == ExprKind::Call && e.text == "d" && e.args.size() == 2 && is_index(*e.args[1])) {
    return all(d_.grid.dims, true);
  }
  if (e.kind == ExprKind::Call) {
    const NamedFact* fact = d_.facts.find(e.text);
    const bool function = fact && fact->kind == NamedFact::Kind::Function;
    for (std::size_t i = 0; function && i < e.args.size() && i < fact->parameters.size(); ++i) {
      if (!is_index(*e.args[i]) || !visiting.insert(fact->name).second) continue;
      index_range(*fact->value, fact->parameters[i], {}, visiting, range);
      if (range) return;
    }
  }
  if (e.kind == ExprKind::Index) {
    for (std::size_t i = 1; i < e.args.size(); ++i) {
      if (!is_index(*e.args[i])) continue;
      const dsl::Expr& base = *e.args[0];
      if (base.kind == ExprKind::Name) {
        if (const StateField* field = d_.field(base.text)) {
          return all(i == 1 ? field->rows : field->columns, field->link);
        }
        const NamedFact* fact = d_.facts.find(base.text);
        if (!fact && base.text == "gamma" && has_fermions()) return all(d_.grid.dims, true);
        if (fact && fact->kind == NamedFact::Kind::Indexed) {
          if (i - 1 < fact->parameters.size() && visiting.insert(fact->name).second) {
            index_range(*fact->value, fact->parameters[i - 1], {}, visiting, range);
          }
          if (range) return;
          continue;
        }
      }
      if (base.kind == ExprKind::Call && base.text == "grad") return all(d_.grid.dims, true);
      if (base.kind == ExprKind::List) return all(static_cast<int>(base.args.size()), false);
      if (base.kind == ExprKind::Name) {
        const Value v = value(base, scope);
        return all(i == 1 ? v.rows : v.columns, false);
      }
    }
  }
  for (const dsl::ExprPtr& arg : e.args) index_range(*arg, index, scope, visiting, range);
}

std::vector<Scope> Lowerer::index_tuples(const dsl::Expr& e,
                                         const std::vector<dsl::ExprPtr>& indices,
                                         const std::vector<dsl::NamedArgument>& named,
                                         const Scope& scope) {
  std::vector<std::pair<std::string, std::vector<IndexValue>>> ranges;
  const auto known = [&](const std::string& name) {
    for (const auto& [other, range] : ranges) {
      if (other == name) return true;
    }
    return scope.value(name) || scope.index(name) || d_.facts.find(name) || d_.field(name) ||
           dsl::find_builtin(name) || dsl::find_constant(name) || axis_named(name) >= 0;
  };
  for (const dsl::NamedArgument& option : named) {
    const dsl::Expr& v = *option.value;
    std::vector<IndexValue> range;
    if (v.kind == ExprKind::Range) {
      const auto from = fixed_integer(*v.args[0], "a range", scope);
      const auto to = fixed_integer(*v.args[1], "a range", scope);
      if (to - from >= kMostTuples) {
        d_.fail(errors::not_yet(v.span, "an index with so many values"));
      }
      for (auto i = from; i <= to; ++i) range.push_back({static_cast<int>(i)});
    } else if (v.kind == ExprKind::Call && v.text == "directions") {
      // sites on both sides along an axis lie near to each other in memory
      for (int axis = 0; axis < d_.grid.dims; ++axis) {
        for (const dsl::ExprPtr& sign : v.args)
          range.push_back({axis, sign->text == "-" ? -1 : 1, true});
      }
      if (v.args.empty()) {
        for (int axis = 0; axis < d_.grid.dims; ++axis) range.push_back({axis, 1, true});
      }
    } else if (v.kind == ExprKind::List) {
      for (const dsl::ExprPtr& item : v.args) {
        range.push_back({static_cast<int>(fixed_integer(*item, "an index", scope))});
      }
    } else {
      d_.fail(errors::no_range(option.span, option.name));
    }
    ranges.emplace_back(option.name, std::move(range));
  }
  std::vector<const dsl::Expr*> conditions;
  for (const dsl::ExprPtr& index : indices) {
    std::vector<std::string> names;
    names_in(*index, names);
    // an index that stands alone is bound here: in shipped texts it may be a name of the model
    const bool alone = index->kind == ExprKind::Name;
    for (const std::string& name : names) {
      const bool of_model = d_.facts.find(name) || d_.field(name);
      const bool outer = scope.value(name) || scope.index(name);
      if (known(name) && !(alone && of_model && !outer)) continue;
      std::optional<std::vector<IndexValue>> range;
      std::set<std::string> visiting;
      index_range(e, name, scope, visiting, range);
      if (!range) d_.fail(errors::no_range(index->span, name));
      ranges.emplace_back(name, *range);
    }
    if (is_condition(*index)) conditions.push_back(index.get());
  }
  std::vector<Scope> tuples(1);
  tuples[0].parent = &scope;
  for (const auto& [name, range] : ranges) {
    std::vector<Scope> longer;
    for (const Scope& tuple : tuples) {
      for (const IndexValue& k : range) {
        longer.push_back(tuple);
        longer.back().indices[name] = k;
      }
    }
    if (longer.size() > static_cast<std::size_t>(kMostTuples)) {
      d_.fail(errors::not_yet(e.span, "a sum over so many values of its indices"));
    }
    tuples = std::move(longer);
  }
  std::erase_if(tuples, [&](const Scope& tuple) {
    for (const dsl::Expr* test : conditions) {
      if (fixed_number(*test, "a condition on indices", tuple) == 0) return true;
    }
    return false;
  });
  return tuples;
}

namespace {

std::vector<dsl::ExprPtr> trailing(const dsl::Expr& e) {
  return {e.args.begin() + 1, e.args.end()};
}

std::vector<dsl::NamedArgument> index_options(const dsl::Expr& e) {
  std::vector<dsl::NamedArgument> options;
  for (const dsl::NamedArgument& option : e.named) {
    if (option.name != "over" && option.name != "where") options.push_back(option);
  }
  return options;
}

}  // namespace

Value Lowerer::sum_or_product(const dsl::Expr& e, bool product, const Scope& scope) {
  if (e.args.size() == 1 && e.named.empty()) {
    if (product) d_.fail(errors::not_yet(e.span, "a product over the lattice"));
    return reduce("total", value(*e.args[0], scope), e);
  }
  if (!product) {
    if (auto sum = particle_sum(e, scope)) return *sum;
  }
  std::optional<Value> result;
  for (const Scope& tuple : index_tuples(*e.args[0], trailing(e), index_options(e), scope)) {
    const Value term = value(*e.args[0], tuple);
    result =
        !result ? term
                : shaped(e, [&] { return product ? multiply(*result, term) : add(*result, term); });
  }
  return result ? *result : Value::of(integer(product ? 1 : 0));
}

std::optional<Value> Lowerer::reduction(const dsl::Expr& e, const Scope& scope) {
  for (const dsl::NamedArgument& option : e.named) {
    if (option.name == "over") return reduction_over(e, scope);
  }
  if (e.args.size() == 1 && e.named.empty()) return reduce(e.text, value(*e.args[0], scope), e);
  if (const auto over = over_particles(e, scope)) return *over;
  // over indices as well: every tuple counts as a site does
  const auto tuples = index_tuples(*e.args[0], trailing(e), index_options(e), scope);
  if (tuples.empty()) return Value::of(integer(0));
  if (e.text == "var") {
    d_.fail(errors::not_yet(e.span, "a variance over an index"));
  }
  std::optional<Value> result;
  const Op fold = e.text == "min" ? Op::Min : Op::Max;
  for (const Scope& tuple : tuples) {
    const Value term = reduce(e.text, value(*e.args[0], tuple), e);
    if (!result) {
      result = term;
    } else if (e.text == "min" || e.text == "max") {
      result = Value::of(d_.arena().make(fold, {result->parts[0].re, term.parts[0].re}));
    } else {
      result = add(*result, term);
    }
  }
  if (e.text == "mean") {
    result = divide(*result, Value::of(integer(static_cast<std::int64_t>(tuples.size()))));
  }
  return *result;
}

Value Lowerer::reduce(const std::string& name, const Value& x, const dsl::Expr& e) {
  Arena& arena = d_.arena();
  const auto apply = [&](Op op, Expr part) {
    if (algebra::per_site(part)) return arena.make(op, {part}, e.span);
    return op == Op::Total ? integer(d_.grid.sites()) * part : part;
  };
  if (name == "total" && curvilinear(d_)) {
    const Expr volume = cell_volume(d_);
    Value v{x.rows, x.columns, {}};
    for (const Component& c : x.parts)
      v.parts.push_back(
          {apply(Op::Total, c.re * volume), c.im ? apply(Op::Total, c.im * volume) : Expr{}});
    return v;
  }
  if (name == "mean" || name == "total") {
    const Op op = name == "mean" ? Op::Mean : Op::Total;
    Value v{x.rows, x.columns, {}};
    for (const Component& c : x.parts) {
      v.parts.push_back({apply(op, c.re), c.im ? apply(op, c.im) : Expr{}});
    }
    if (x.gap)
      v.gap = std::make_shared<const Gap>(Gap{apply(op, x.gap->most), apply(op, x.gap->gap)});
    return v;
  }
  if (name == "var") {
    // mean(norm2(u - mean(u))): the inner mean first, so that small fluctuations keep their digits
    Expr sum = integer(0);
    for (const Component& c : x.parts) {
      for (const Expr part : {c.re, c.im}) {
        if (part && algebra::per_site(part)) {
          const Expr deviation = part - arena.make(Op::Mean, {part});
          sum = sum + arena.make(Op::Mean, {algebra::pow(deviation, 2)}, e.span);
        }
      }
    }
    return Value::of(sum);
  }
  if (!x.scalar() || !x.parts[0].real()) {
    d_.fail(errors::not_real(e.span, fmt::format("the argument of `{}`", name)));
  }
  if (name == "all") return Value::of(apply(Op::Minimum, x.parts[0].re));
  if (name == "any") return Value::of(apply(Op::Maximum, x.parts[0].re));
  return Value::of(apply(name == "min" ? Op::Minimum : Op::Maximum, x.parts[0].re));
}

}  // namespace vphi::physics
