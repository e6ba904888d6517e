#include "compiler/physics/particles/particles.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/fourier.hpp"
#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/particles/particle_errors.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/setting.hpp"
#include "dsl/syntax/parse.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::ExprKind;

namespace {

constexpr long double kLeastTolerance = 0.999e-15L;
constexpr int kMostModes = 256;  // two sums over all particles for each

std::string species_name(const dsl::Clause& clause) {
  for (const dsl::Item& item : clause.items) {
    if (!item.head && item.value) return item.value->text;
  }
  return {};
}

}  // namespace

namespace {

void read_method(Setting& d, Lowerer& lower, const dsl::Item& item) {
  const std::string& text = item.value->text;
  const bool call = item.value->kind == ExprKind::Call;
  d.particles.method_span = item.value->span;
  if (text == "pairs" && !call) {
    d.particles.direct = true;
  } else if (text == "separable" && call && item.value->args.size() == 1) {
    const auto tolerance = lower.fixed_number(*item.value->args[0], "the tolerance");
    if (!(tolerance >= kLeastTolerance && tolerance < 1)) {
      d.fail(errors::option_value(item.span, "the tolerance",
                                  "a number from 1e-15 to 1, relative to the largest value"));
    }
    d.particles.tolerance = static_cast<double>(tolerance);
  } else if (text != "auto" || call) {
    d.fail(errors::option_value(item.span, "method", "auto, pairs or separable(1e-12)"));
  }
}

/// The number of bodies of one clause; its options hold for all bodies. `before`: the `method` of
/// the clauses so far.
std::int64_t read_species(Setting& d, Lowerer& lower, const dsl::Clause& clause,
                          const dsl::Item*& before) {
  const dsl::Expr* count = nullptr;
  for (const dsl::Item& item : clause.items) {
    if (item.leading == dsl::Item::Leading::Colon && !item.head) count = item.value.get();
    if (!item.head || item.head->name != "method") continue;
    if (before && dsl::to_text(*before->value) != dsl::to_text(*item.value))
      d.fail(errors::option_value(item.span, "method",
                                  fmt::format("one value for all bodies, here {}: a sum over pairs "
                                              "goes over all species",
                                              dsl::to_text(*before->value))));
    before = &item;
    read_method(d, lower, item);
  }
  if (!count)
    d.fail(errors::lattice_shape(clause.keyword_span, "the number of particles is missing"));
  const auto n = lower.fixed_integer(*count, "the number of particles");
  if (n < 1 || n > (std::int64_t{1} << 31)) {
    d.fail(errors::lattice_shape(count->span, fmt::format("{} particles", n)));
  }
  return n;
}

/// `ion[k]`: 1 for the bodies from `first` on, `count` of them, else 0.
void declare_species(const Setting& d, const dsl::Clause& clause, std::int64_t first,
                     std::int64_t count) {
  const std::string name = species_name(clause);
  const auto source = std::make_shared<dsl::Source>(
      name, fmt::format("1 if k >= {} and k < {} else 0", first, first + count), 0xffff);
  NamedFact fact{NamedFact::Kind::Indexed, name, {"k"}, nullptr, clause.keyword_span};
  fact.value = dsl::parse_expression(source, d.diagnostics);
  d.facts.named.emplace(name, std::move(fact));
}

}  // namespace

Particles read_particles(const Setting& known) {
  Setting d = known;
  Lowerer lower(d);
  const auto clauses = d.ledger.clauses("particles");
  if (clauses.empty()) return {};
  if (d.grid.present) {
    d.fail(errors::not_yet(clauses[0]->keyword_span, "particles beside a lattice"));
  }
  std::int64_t n = 0;
  const dsl::Item* method = nullptr;
  for (const dsl::Clause* clause : clauses) {
    const std::int64_t own = read_species(d, lower, *clause, method);
    declare_species(d, *clause, n, own);
    n += own;
  }
  if (n > (std::int64_t{1} << 31)) {
    d.fail(errors::lattice_shape(clauses[0]->keyword_span, fmt::format("{} particles", n)));
  }
  d.particles.present = true;
  d.particles.count = n;
  d.particles.span = clauses[0]->keyword_span;
  return d.particles;
}

namespace {

bool indexes(const Declared& d, const dsl::Expr& e, const std::string& index,
             std::set<std::string>& visiting) {
  if (e.kind == ExprKind::Index && e.args[0]->kind == ExprKind::Call && e.args[0]->text == "file") {
    for (std::size_t i = 1; i < e.args.size(); ++i) {
      if (e.args[i]->kind == ExprKind::Name && e.args[i]->text == index) return true;
    }
  }
  if (e.kind == ExprKind::Index && e.args[0]->kind == ExprKind::Name) {
    const std::string& base = e.args[0]->text;
    for (std::size_t i = 1; i < e.args.size(); ++i) {
      if (e.args[i]->kind != ExprKind::Name || e.args[i]->text != index) continue;
      const auto field = std::ranges::find(d.fields, base, &StateField::name);
      if (i == 1 && field != d.fields.end() && field->particle) return true;
      if (i == 1 && base == "noise" && d.particles.present) return true;
      const dsl::Symbol* symbol = d.resolved.find(base);
      if (i == 1 && symbol && symbol->kind == dsl::SymbolKind::Particles) return true;
      const NamedFact* fact = d.facts.find(base);
      if (fact && fact->kind == NamedFact::Kind::Indexed && i - 1 < fact->parameters.size() &&
          visiting.insert(fact->name).second &&
          indexes(d, *fact->value, fact->parameters[i - 1], visiting)) {
        return true;
      }
    }
  }
  return std::ranges::any_of(
      e.args, [&](const dsl::ExprPtr& arg) { return indexes(d, *arg, index, visiting); });
}

}  // namespace

bool is_particle_index(const Declared& d, const dsl::Expr& e, const std::string& index) {
  if (!d.particles.present) return false;
  std::set<std::string> visiting;
  return indexes(d, e, index, visiting);
}

// ---- sums --------------------------------------------------------------------------------------

namespace {

/// How the particle indices of a sum are written: `k`, `k, l`, `k < l`, `k != l`.
struct ParticleSum {
  std::vector<std::string> names;
  bool once = false;               ///< k < l
  bool without_self = false;       ///< k < l, k != l
  std::vector<dsl::ExprPtr> rest;  ///< indices of another kind
};

bool own_in(const Scope& scope) {
  for (const Scope* s = &scope; s; s = s->parent) {
    for (const auto& [name, k] : s->indices) {
      if (k.body != IndexValue::Body::None) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<Value> Lowerer::particle_sum(const dsl::Expr& e, const Scope& scope) {
  if (!d_.particles.present || e.args.size() < 2) return std::nullopt;
  ParticleSum sum;
  const auto open = [&](const dsl::Expr& at) {
    return at.kind == ExprKind::Name && !scope.value(at.text) && !scope.index(at.text) &&
           is_particle_index(d_, *e.args[0], at.text);
  };
  for (std::size_t i = 1; i < e.args.size(); ++i) {
    const dsl::Expr& at = *e.args[i];
    if (open(at)) {
      sum.names.push_back(at.text);
      continue;
    }
    // j != i, where i is the body whose equation this is
    if (at.kind == ExprKind::Binary && at.text == "!=" && open(*at.args[0]) != open(*at.args[1])) {
      const dsl::Expr& fresh = open(*at.args[0]) ? *at.args[0] : *at.args[1];
      const dsl::Expr& bound = open(*at.args[0]) ? *at.args[1] : *at.args[0];
      const IndexValue* own = bound.kind == ExprKind::Name ? scope.index(bound.text) : nullptr;
      if (own && own->body == IndexValue::Body::Own) {
        sum.names.push_back(fresh.text);
        sum.without_self = true;
        continue;
      }
    }
    const bool pair = at.kind == ExprKind::Binary &&
                      (at.text == "<" || at.text == "!=" || at.text == ">") && open(*at.args[0]) &&
                      open(*at.args[1]);
    if (!pair) {
      sum.rest.push_back(e.args[i]);
      continue;
    }
    sum.names.push_back(at.args[0]->text);
    sum.names.push_back(at.args[1]->text);
    sum.without_self = true;
    sum.once = at.text != "!=";
  }
  if (sum.names.empty()) return std::nullopt;
  if (!sum.rest.empty()) {
    d_.fail(errors::not_yet(e.span, "a sum over particles and other indices at once"));
  }
  const bool inside = own_in(scope);
  if (sum.names.size() + (inside ? 1 : 0) > 2) {
    d_.fail(errors::not_yet(e.span, "a sum over more than pairs of particles"));
  }
  Scope inner;
  inner.parent = &scope;
  const auto bind = [&](const std::string& name, IndexValue::Body body) {
    IndexValue k;
    k.body = body;
    inner.indices[name] = k;
  };
  if (!inside) bind(sum.names[0], IndexValue::Body::Own);
  if (inside || sum.names.size() == 2) bind(sum.names.back(), IndexValue::Body::Other);
  Value v = value(*e.args[0], inner);
  const bool pairs = inside || sum.names.size() == 2;
  const auto summed = [&](Expr part) {
    if (!part) return part;
    if (pairs) {
      if (sum.once) {
        if (!algebra::symmetric(part)) d_.fail(errors::pair_not_symmetric(e.span));
        part = d_.arena().rational(1, 2) * part;
      }
      part = algebra::rewrite(algebra::pair_sum(part, sum.without_self), [&](Expr node) {
        if (!node.is(Op::PairSum) || node.arg(0)->per_site) return node;
        return integer(d_.grid.sites() - node->index) * node.arg(0);
      });
    }
    if (inside) return part;
    return part->per_site ? d_.arena().make(Op::Total, {part}, e.span)
                          : integer(d_.grid.sites()) * part;
  };
  for (Component& part : v.parts) part = {summed(part.re), summed(part.im)};
  return v;
}

std::optional<Value> Lowerer::over_particles(const dsl::Expr& e, const Scope& scope) {
  if (!d_.particles.present || e.args.size() < 2 || !e.named.empty()) return std::nullopt;
  const dsl::Expr& at = *e.args[1];
  const auto is_open = [&](const dsl::Expr& index) {
    return index.kind == ExprKind::Name && !scope.value(index.text) && !scope.index(index.text) &&
           is_particle_index(d_, *e.args[0], index.text);
  };
  const bool open = is_open(at);
  const bool pair = (at.kind == ExprKind::Binary && is_open(*at.args[0]) && is_open(*at.args[1])) ||
                    (open && (own_in(scope) || e.args.size() > 2));
  if (pair && e.text == "mean" && e.args.size() == 2 && !own_in(scope)) {
    const auto sum = particle_sum(e, scope);
    const std::int64_t n = d_.particles.count, both = n * (n - 1);
    return sum ? std::optional(divide(*sum, Value::of(integer(at.text == "!=" ? both : both / 2))))
               : std::nullopt;
  }
  if (pair) d_.fail(errors::extreme_of_pairs(e.span, e.text));
  if (!open || e.args.size() != 2) return std::nullopt;
  Scope inner;
  inner.parent = &scope;
  inner.indices[at.text].body = IndexValue::Body::Own;
  return reduce(e.text, value(*e.args[0], inner), e);
}

Value Lowerer::particle_value(const StateField& field, const dsl::Expr& e, const Scope& scope) {
  const dsl::Expr& at = *e.args[1];
  const IndexValue* k = at.kind == ExprKind::Name ? scope.index(at.text) : nullptr;
  Value v = field_value(field);
  if (!k || k->body == IndexValue::Body::None) {
    if (!keep_gaps_)
      d_.fail(errors::not_yet(at.span,
                              "a particle picked by its number in an equation or at the start"));
    // one body by number: a sum over all bodies in which only this one counts
    const auto number = fixed_integer(at, "the number of a particle", scope);
    if (number < 0 || number >= d_.particles.count)
      d_.fail(errors::index_out_of_range(at.span, static_cast<int>(number),
                                         static_cast<int>(d_.particles.count)));
    Arena& arena = d_.arena();
    const Expr here = arena.make(Op::Equal, {arena.site(0), integer(number)});
    const auto picked = [&](Expr part) {
      return part
                 ? arena.make(Op::Total, {arena.make(Op::Select, {here, part, integer(0)})}, e.span)
                 : Expr{};
    };
    for (Component& part : v.parts) part = {picked(part.re), picked(part.im)};
    k = nullptr;
  }
  if (k && k->body == IndexValue::Body::Other) {
    for (Component& part : v.parts) {
      part = {algebra::other(part.re), part.im ? algebra::other(part.im) : Expr{}};
    }
  }
  if (e.args.size() == 2) return v;
  const auto c = fixed_integer(*e.args[2], "an index", scope);
  if (c < 0 || c >= v.rows) {
    d_.fail(errors::index_out_of_range(e.args[2]->span, static_cast<int>(c), v.rows));
  }
  return {1, 1, {v.parts[static_cast<std::size_t>(c)]}};
}

// ---- O(N) or O(N^2) ----------------------------------------------------------------------------

namespace {

void say(const Setting& d, const std::string& remark) {
  if (std::ranges::count(d.collected.remarks, remark) == 0) d.remark(remark);
}

/// sum_k (a_k C_k - b_k S_k) cos(k u) + (a_k S_k + b_k C_k) sin(k u), the error asked for; see
/// compiler/algebra/fourier.hpp. The sums are totals, so an energy costs no more than they do.
Expr fourier_pairs(const Motion& d, Expr pair, bool without_self, const std::string& shown) {
  Arena& arena = d.arena();
  const algebra::PairFactors f = algebra::pair_factors(pair);
  const auto found = algebra::fourier_series(f.between, d.particles.tolerance, kMostModes);
  if (const auto* none = std::get_if<algebra::NoSeries>(&found)) {
    d.fail(errors::no_series(d.particles.method_span, pair->span, shown, *none, kMostModes));
  }
  const auto& series = std::get<algebra::Series>(found);
  const Expr u = arena.load(series.array), weight = algebra::as_own(f.other);
  const auto total = [&](Expr e) { return reduce_linear(arena, Op::Total, e, d.grid.sites()); };
  const auto multiple = [&](Op op, int k) { return arena.make(op, {arena.integer(k) * u}); };
  std::vector<Expr> terms;
  long double at_itself = 0;
  for (int k = 0; k <= series.modes(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    const Expr a = arena.real(series.cosine[i]), b = arena.real(series.sine[i]);
    at_itself += series.cosine[i];
    if (series.cosine[i] == 0 && series.sine[i] == 0) continue;
    const Expr c = multiple(Op::Cos, k), s = multiple(Op::Sin, k);
    const Expr C = total(weight * c), S = total(weight * s);
    if (series.cosine[i] != 0) {
      terms.push_back(a * C * c);
      terms.push_back(a * S * s);
    }
    if (series.sine[i] != 0) {
      terms.push_back(b * C * s);
      terms.push_back(-(b * S) * c);
    }
  }
  if (without_self) terms.push_back(-(arena.real(at_itself) * weight));
  const bool single = d.numerics.real == Precision::F32;
  say(d, fmt::format("sum over pairs of {}: a Fourier series of {} modes, so O(N*{}); its error is "
                     "at most {:.1g} of the largest value{}",
                     shown, series.modes(), series.modes(), static_cast<double>(series.bound),
                     single ? fmt::format(", rounding in single precision about {:.0g}",
                                          6e-8 * series.modes())
                            : ""));
  return f.own * arena.make(Op::Add, std::move(terms), pair->span);
}

}  // namespace

int matrix_array(const Context& d, const std::string& file, bool transposed, dsl::Span span) {
  for (const PairMatrix& m : d.collected.matrices) {
    if (m.file == file && m.transposed == transposed) return m.array;
  }
  d.collected.matrices.push_back({d.new_array(), file, transposed, span});
  return d.collected.matrices.back().array;
}

namespace {

/// Entries (j, i) as entries (i, j) of the transposed matrix, which has an array of its own.
Expr with_transposed(const Context& d, Expr pair) {
  return algebra::rewrite(pair, [&](Expr node) {
    if (!algebra::is_pair_entry(*node) || !algebra::is_transposed(*node)) return node;
    const auto m = std::ranges::find(d.collected.matrices, node->index, &PairMatrix::array);
    const PairMatrix given = *m;
    return algebra::pair_entry(
        d.arena(), matrix_array(d, given.file, !given.transposed, given.span), node->span);
  });
}

}  // namespace

Expr separated_pairs(const Motion& d, Expr pair, bool without_self) {
  d.ledger.choice("method");
  pair = with_transposed(d, pair);
  // rounding of the check itself, in 64-bit mantissas
  constexpr long double kAgree = 1e-15L;
  constexpr double kLosesDigits = 1e3;
  constexpr double kGoodEnough = 1e-4;
  Arena& arena = d.arena();
  const Expr separable_form = algebra::in_separable_form(pair);
  const bool rounded = d.numerics.pair == Precision::F32;
  const bool use_separable_form =
      separable_form != pair && !d.particles.direct &&
      (!rounded || algebra::rounding_error(separable_form) < kGoodEnough);
  const Expr as_it_is = algebra::rewrite(
      algebra::pair_sum(use_separable_form ? separable_form : pair, without_self), [&](Expr node) {
        if (!node.is(Op::PairSum) || algebra::reads_own(node)) return node;
        // of the other body alone: a total
        const Expr own = algebra::as_own(node.arg(0));
        const Expr all =
            own->per_site ? arena.make(Op::Total, {own}) : arena.integer(d.grid.sites()) * own;
        return node->index != 0 ? all - own : all;
      });
  algebra::Names names;
  names.leaf = [&](const algebra::Node& node) -> std::string {
    if (algebra::is_pair_entry(node)) return "matrix";
    const StateField* field = node.op == Op::Load ? d.field_of(node.index) : nullptr;
    return field ? field->name : std::string();
  };
  const std::string shown = algebra::to_text(pair, names);
  if (!without_self && !algebra::finite_with_itself(pair))
    d.fail(errors::pair_with_itself(pair->span, shown));
  if (d.particles.direct) {
    say(d, fmt::format("sum over pairs of {}: all pairs, as `method = pairs` asks", shown));
    return as_it_is;
  }
  const auto terms = algebra::separate(pair);
  if (!terms && d.particles.tolerance > 0) return fourier_pairs(d, pair, without_self, shown);
  if (!terms) {
    say(d,
        fmt::format("sum over pairs of {}: all pairs, O(N^2); it is not a finite sum of products",
                    shown));
    return as_it_is;
  }
  const auto wrong = algebra::disagreement(pair, *terms);
  if (wrong > kAgree || static_cast<std::int64_t>(terms->size()) >= d.particles.count) {
    say(d, fmt::format("sum over pairs of {}: all pairs, O(N^2)", shown));
    return as_it_is;
  }
  const double lost = algebra::cancellation(pair, *terms, 0, 3);
  say(d, fmt::format("sum over pairs of {}: {} product{}, so O(N){}", shown, terms->size(),
                     terms->size() == 1 ? "" : "s",
                     lost > kLosesDigits
                         ? fmt::format("; the products cancel to one part in {:.0g}", lost)
                         : ""));
  Expr sum = arena.integer(0);
  for (const algebra::SeparatedTerm& term : *terms) {
    const Expr all = term.other->per_site
                         ? reduce_linear(arena, Op::Total, term.other, d.grid.sites())
                         : arena.integer(d.grid.sites()) * term.other;
    sum = sum + term.own * (without_self ? all - term.other : all);
  }
  return sum;
}

}  // namespace vphi::physics
