#include "compiler/physics/spinors/spinors.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/lower/calculus.hpp"

namespace vphi::physics {

using gauge::Complex;
using gauge::SpinMatrix;

namespace {

Complex full(const Component& c) { return {c.re, c.im ? c.im : c.re->arena->integer(0)}; }
bool zero(const Complex& a) { return a.re.is_zero() && a.im.is_zero(); }
bool one(const Complex& a) { return a.re.is_one() && a.im.is_zero(); }

gauge::Matrix matrix_of(const Value& v) {
  gauge::Matrix m{v.rows, v.columns, {}};
  for (const Component& part : v.parts) m.parts.push_back(full(part));
  return m;
}

Value spinor_of(const gauge::Matrix& m) {
  Value v{m.rows, m.columns, {}};
  for (const Complex& part : m.parts) v.parts.push_back({part.re, part.im});
  v.spinor = true;
  return v;
}

SpinMatrix times_number(std::int64_t k, const SpinMatrix& m) {
  return gauge::Gaussian{static_cast<int>(k), 0} * m;
}

/// k where a = k*b, b a number: small whole ones alone.
std::optional<std::int64_t> whole_quotient(const Complex& a, const Complex& b) {
  const auto ratio = [](Expr x, Expr y) -> std::optional<std::int64_t> {
    if (y.is_zero()) return std::nullopt;
    const auto q = algebra::constant(x / y);
    if (!q || !q->exact || q->rational.den != 1 || std::abs(q->rational.num) > 1000) return {};
    return q->rational.num;
  };
  if (a.im.is_zero() && b.im.is_zero()) return ratio(a.re, b.re);
  return std::nullopt;
}

/// 1i in the weight goes to the matrix, and so does -1; weights that are numbers then add up.
void normalise(SpinTerm& term) {
  if (term.weight.re.is_zero() && !term.weight.im.is_zero()) {
    term.weight = {term.weight.im, term.weight.re};
    term.spin = gauge::Gaussian{0, 1} * term.spin;
  }
}

bool same_colour(const SpinTerm& a, const SpinTerm& b) {
  return std::ranges::equal(a.colour.parts, b.colour.parts, gauge::same_number);
}

void add_term(std::vector<SpinTerm>& terms, SpinTerm term) {
  normalise(term);
  for (SpinTerm& other : terms) {
    if (!same_colour(other, term)) continue;
    if (same_number(other.weight, term.weight)) {
      other.spin = other.spin + term.spin;
    } else if (const auto k = whole_quotient(term.weight, other.weight)) {
      other.spin = other.spin + times_number(*k, term.spin);
    } else if (const auto n = whole_quotient(other.weight, term.weight)) {
      other.spin = times_number(*n, other.spin) + term.spin;
      other.weight = term.weight;
    } else {
      continue;
    }
    return;
  }
  terms.push_back(std::move(term));
}

/// A number, a matrix of colour or an operator, as terms.
std::vector<SpinTerm> terms_of(const Value& v) {
  if (v.acts) return v.acts->terms;
  if (v.scalar() && !v.links) return {{gauge::spin_identity(), full(v.parts[0]), {}, nullptr}};
  if (v.rows != v.columns) throw ShapeError("what acts on a spinor is a number, links or gammas");
  Arena& arena = *v.parts[0].re->arena;
  const Complex unit{arena.integer(1), arena.integer(0)};
  return {{gauge::spin_identity(), unit, matrix_of(v), v.links}};
}

Value operator_of(std::vector<SpinTerm> terms) {
  Value v{4, 4, {}};
  v.acts = std::make_shared<const SpinOperator>(SpinOperator{std::move(terms)});
  return v;
}

Paths product_paths(const SpinTerm& a, const SpinTerm& b) {
  if (a.colour.parts.empty()) return b.paths;
  if (b.colour.parts.empty()) return a.paths;
  return joined(a.paths, b.paths);
}

SpinTerm product(const SpinTerm& a, const SpinTerm& b) {
  SpinTerm c{a.spin * b.spin, gauge::times(a.weight, b.weight), a.colour, product_paths(a, b)};
  if (a.colour.parts.empty()) {
    c.colour = b.colour;
  } else if (!b.colour.parts.empty()) {
    if (a.colour.columns != b.colour.rows) throw ShapeError("links of one gauge group multiply");
    c.colour = gauge::times(a.colour, b.colour);
  }
  return c;
}

// ---- forms
// ---------------------------------------------------------------------------------------

/// The path without steps that are followed by their reverse.
gauge::Word walked(const gauge::Word& word) {
  gauge::Word result;
  for (const gauge::Step& step : word) {
    if (!result.empty() && result.back().axis == step.axis && result.back().back != step.back) {
      result.pop_back();
    } else {
      result.push_back(step);
    }
  }
  return result;
}

void add_term(SpinorForm& form, SpinorTerm term) {
  term.path.word = walked(term.path.word);
  if (term.path.word.empty()) term.path = {};
  if (zero(term.weight) || term.spin == SpinMatrix{}) return;
  for (auto other = form.terms.begin(); other != form.terms.end(); ++other) {
    if (!(other->at == term.at && other->path.start == term.path.start &&
          other->path.of == term.path.of && other->path.word == term.path.word)) {
      continue;
    }
    if (same_number(other->weight, term.weight)) {
      other->spin = other->spin + term.spin;
    } else if (other->spin == term.spin) {
      other->weight = gauge::plus(other->weight, term.weight);
    } else {
      continue;
    }
    if (zero(other->weight) || other->spin == SpinMatrix{}) form.terms.erase(other);
    return;
  }
  form.terms.push_back(std::move(term));
}

/// A form with the terms of an operator applied; null where the links do not lead to the spinor.
std::shared_ptr<const SpinorForm> acted(const std::vector<SpinTerm>& terms,
                                        const SpinorForm& form) {
  using gauge::operator+;
  SpinorForm result;
  for (const SpinTerm& op : terms) {
    if (!op.colour.parts.empty() && !op.paths) return nullptr;
    for (const SpinorTerm& term : form.terms) {
      const SpinorTerm both{op.spin * term.spin, gauge::times(op.weight, term.weight), term.path,
                            term.at};
      if (op.colour.parts.empty()) {
        add_term(result, both);
        continue;
      }
      const LinkPath end = term.path.word.empty() ? LinkPath{term.at, {}} : term.path;
      for (const PathTerm& step : *op.paths) {
        SpinorTerm one = both;
        one.weight = gauge::times(full(step.weight), one.weight);
        if (!step.path.word.empty()) {
          const auto path = joined(step.path, end);
          if (!path) return nullptr;
          one.path = *path;
        }
        add_term(result, std::move(one));
      }
    }
  }
  return std::make_shared<const SpinorForm>(std::move(result));
}

Value applied(const std::vector<SpinTerm>& terms, const Value& psi) {
  const gauge::Spinor spinor = matrix_of(psi);
  gauge::Spinor sum;
  for (const SpinTerm& term : terms) {
    if (!term.colour.parts.empty() && term.colour.columns != psi.columns) {
      throw ShapeError("the spinor has the colours of another gauge group");
    }
    std::optional<Complex> weight;
    if (!one(term.weight)) weight = term.weight;
    const gauge::Spinor part = gauge::apply_hop(term.spin, term.colour, spinor, weight);
    sum = sum.parts.empty() ? part : gauge::plus(sum, part);
  }
  Value v = spinor_of(sum);
  if (psi.form) v.form = acted(terms, *psi.form);
  return v;
}

}  // namespace

Value spin_value(Arena& arena, const SpinMatrix& spin) {
  return operator_of({{spin, {arena.integer(1), arena.integer(0)}, {}, nullptr}});
}

bool of_spinors(const Value& v) { return v.spinor || v.acts != nullptr; }

Value add_spinors(const Value& a, const Value& b, bool minus) {
  if (a.spinor != b.spinor) {
    const Value& other = a.spinor ? b : a;
    if (other.scalar() && other.parts[0].re.is_zero() && !other.complex()) {
      if (a.spinor) return a;
      return minus ? negate(b) : b;
    }
    throw ShapeError("a sum with a spinor needs two spinors");
  }
  if (!a.spinor) {
    std::vector<SpinTerm> terms;
    for (SpinTerm& term : terms_of(a)) add_term(terms, term);
    for (SpinTerm& term : terms_of(b)) {
      if (minus) term.spin = times_number(-1, term.spin);
      add_term(terms, term);
    }
    return operator_of(std::move(terms));
  }
  if (a.columns != b.columns) throw ShapeError("a sum needs spinors of one gauge group");
  const gauge::Matrix x = matrix_of(a), y = matrix_of(b);
  Value v = spinor_of(minus ? gauge::minus(x, y) : gauge::plus(x, y));
  if (a.form && b.form) {
    SpinorForm form = *a.form;
    for (SpinorTerm term : b.form->terms) {
      if (minus) term.weight = gauge::negative(term.weight);
      add_term(form, std::move(term));
    }
    v.form = std::make_shared<const SpinorForm>(std::move(form));
  }
  return v;
}

Value multiply_spinors(const Value& a, const Value& b) {
  if (a.spinor) {
    if (b.spinor) throw ShapeError("two spinors are multiplied with `dot`");
    if (!b.scalar()) throw ShapeError("links and gammas stand before the spinor they act on");
    return multiply_spinors(b, a);
  }
  if (b.spinor) {
    if (!a.scalar()) return applied(terms_of(a), b);
    const Complex factor = full(a.parts[0]);
    Value v = spinor_of(factor.im.is_zero() ? gauge::times(factor.re, matrix_of(b))
                                            : gauge::times(factor, matrix_of(b)));
    if (b.form) v.form = acted(terms_of(a), *b.form);
    return v;
  }
  std::vector<SpinTerm> terms;
  const std::vector<SpinTerm> right = terms_of(b);
  for (const SpinTerm& x : terms_of(a)) {
    for (const SpinTerm& y : right) add_term(terms, product(x, y));
  }
  return operator_of(std::move(terms));
}

Value adjoint_operator(const Value& a) {
  std::vector<SpinTerm> terms = a.acts->terms;
  for (SpinTerm& term : terms) {
    term.spin = gauge::adjoint(term.spin);
    term.weight = gauge::conjugate(term.weight);
    if (!term.colour.parts.empty()) term.colour = gauge::adjoint(term.colour);
    term.paths = inverse(term.paths);
  }
  return operator_of(std::move(terms));
}

void shift_form(Value& v, algebra::Offset offset, const algebra::Mover& move) {
  using gauge::operator+;
  v.links = shifted(v.links, offset, move);
  const auto moved = [&](const Complex& w) {
    return Complex{move(w.re, offset), move(w.im, offset)};
  };
  if (v.acts) {
    SpinOperator op = *v.acts;
    for (SpinTerm& term : op.terms) {
      term.weight = moved(term.weight);
      for (Complex& part : term.colour.parts) part = moved(part);
      term.paths = shifted(term.paths, offset, move);
    }
    v.acts = std::make_shared<const SpinOperator>(std::move(op));
  }
  if (v.form) {
    SpinorForm form = *v.form;
    for (SpinorTerm& term : form.terms) {
      term.weight = moved(term.weight);
      term.at = term.at + offset;
      if (!term.path.word.empty()) term.path.start = term.path.start + offset;
    }
    v.form = std::make_shared<const SpinorForm>(std::move(form));
  }
}

Value unknown_spinor(Arena& arena, int spins, int colours) {
  Value v{spins, colours, {}};
  for (int i = 0; i < spins * colours; ++i) {
    v.parts.push_back({arena.symbol(fmt::format("re of the argument's component {}", i)),
                       arena.symbol(fmt::format("im of the argument's component {}", i))});
  }
  v.spinor = true;
  const Complex unit{arena.integer(1), arena.integer(0)};
  v.form = std::make_shared<const SpinorForm>(SpinorForm{{{gauge::spin_identity(), unit, {}, {}}}});
  return v;
}

std::optional<gauge::DiracOperator> dirac_operator(const SpinorForm& form) {
  gauge::DiracOperator d;
  for (const SpinorTerm& term : form.terms) {
    const gauge::Word& word = term.path.word;
    if (term.path.of != 0) return std::nullopt;
    if (word.empty() && term.at.zero()) {
      d.local.push_back({term.spin, term.weight});
    } else if (word.size() == 1 && term.path.start.zero() && gauge::one_step(word[0]) == term.at) {
      d.hops.push_back({word[0], term.spin, term.weight});
    } else {
      return std::nullopt;
    }
  }
  return d;
}

// (D psi)(x) = w(x) S U(x -> x + at) psi(x + at): of the adjoint at y = x + at the same link is
// left, taken back, to y - at.
SpinorForm adjoint(const SpinorForm& form, const algebra::Mover& move) {
  using gauge::operator-;
  SpinorForm result;
  for (const SpinorTerm& term : form.terms) {
    const algebra::Offset back = algebra::Offset{} - term.at;
    LinkPath path = inverse(term.path);
    path.start = path.start - term.at;
    const Complex w = gauge::conjugate(term.weight);
    add_term(
        result,
        {gauge::adjoint(term.spin), {move(w.re, back), move(w.im, back)}, std::move(path), back});
  }
  return result;
}

SpinorForm form_of(const gauge::DiracOperator& d) {
  SpinorForm form;
  for (const gauge::LocalTerm& term : d.local) add_term(form, {term.spin, term.weight, {}, {}});
  for (const gauge::Hop& hop : d.hops)
    add_term(form, {hop.spin, hop.weight, {{}, {hop.step}}, gauge::one_step(hop.step)});
  return form;
}

namespace {

/// The product of two forms; null where the paths cannot be joined.
std::shared_ptr<const SpinorForm> composed(const SpinorForm& outer, const SpinorForm& inner,
                                           const algebra::Mover& move) {
  using gauge::operator+;
  SpinorForm result;
  for (const SpinorTerm& a : outer.terms) {
    for (const SpinorTerm& b : inner.terms) {
      const Complex moved{move(b.weight.re, a.at), move(b.weight.im, a.at)};
      LinkPath first = a.path, second = b.path;
      if (first.word.empty()) first.start = {};
      second.start = second.word.empty() ? a.at : second.start + a.at;
      const bool hop = !first.word.empty(), next = !second.word.empty();
      LinkPath path = hop ? first : second;
      if (hop && next) {
        const auto both = joined(first, second);
        if (!both) return nullptr;
        path = *both;
      }
      add_term(result,
               {a.spin * b.spin, gauge::times(a.weight, moved), std::move(path), a.at + b.at});
    }
  }
  return std::make_shared<const SpinorForm>(std::move(result));
}

}  // namespace

namespace {

/// Terms with paths between the same sites that act alike on spin: sum of weight * path.
struct PathGroup {
  SpinMatrix spin;
  Complex weight;  ///< of the group's only path; 1 where there are several
  algebra::Offset at;
  std::vector<gauge::WeightedLinkPath> paths;  ///< none: 1
  int of = 0;                                  ///< whose links
};

std::vector<PathGroup> grouped(const SpinorForm& form) {
  std::vector<PathGroup> groups;
  for (const SpinorTerm& term : form.terms) {
    const auto same = std::ranges::find_if(groups, [&](const PathGroup& group) {
      return !group.paths.empty() && !term.path.word.empty() && group.spin == term.spin &&
             group.at == term.at && group.of == term.path.of;
    });
    if (same != groups.end()) {
      same->paths.push_back({term.weight, term.path.word, term.path.start});
      continue;
    }
    PathGroup& group =
        groups.emplace_back(PathGroup{term.spin, term.weight, term.at, {}, term.path.of});
    if (!term.path.word.empty())
      group.paths.push_back({term.weight, term.path.word, term.path.start});
  }
  for (PathGroup& group : groups) {
    Arena& arena = *group.weight.re->arena;
    if (group.paths.size() > 1) group.weight = {arena.integer(1), arena.integer(0)};
  }
  return groups;
}

gauge::Matrix product_of(const PathGroup& group, const gauge::LinkOf& all) {
  if (group.paths.empty()) return {};
  const gauge::LinkOf link = gauge::links_of_field(all, group.of);
  if (group.paths.size() > 1) return gauge::sum_of_paths(group.paths, link);
  return gauge::along(group.paths[0].path, group.paths[0].from, link);
}

}  // namespace

Value apply(const SpinorForm& form, const gauge::LinkOf& link, const Value& psi) {
  return apply(form, link, psi, neighbour);
}

Value apply(const SpinorForm& form, const gauge::LinkOf& link, const Value& psi,
            const algebra::Mover& move) {
  return apply(form, link, psi, move, [&](const Value& of, algebra::Offset offset) {
    Value there = of;
    for (Component& part : there.parts) {
      const Complex z = full(part);
      part = {move(z.re, offset), move(z.im, offset)};
    }
    return there;
  });
}

Value apply(const SpinorForm& form, const gauge::LinkOf& link, const Value& psi,
            const algebra::Mover& move, const SpinorMover& spinor_at) {
  // hops of one weight are added first
  std::vector<std::pair<Complex, gauge::Spinor>> sums;
  for (const PathGroup& term : grouped(form)) {
    const gauge::Spinor there = matrix_of(spinor_at(psi, term.at));
    const gauge::Spinor part = gauge::apply_hop(term.spin, product_of(term, link), there);
    const auto found = std::ranges::find_if(
        sums, [&](const auto& entry) { return same_number(entry.first, term.weight); });
    if (found == sums.end()) {
      sums.emplace_back(term.weight, part);
    } else {
      found->second = gauge::plus(found->second, part);
    }
  }
  gauge::Spinor total = gauge::zero(*psi.parts[0].re->arena, psi.rows, psi.columns);
  for (const auto& [weight, sum] : sums) {
    const bool real = weight.im.is_zero();
    total = gauge::plus(total, real ? gauge::times(weight.re, sum) : gauge::times(weight, sum));
  }
  Value result = spinor_of(total);
  if (psi.form) result.form = composed(form, *psi.form, move);
  return result;
}

}  // namespace vphi::physics
