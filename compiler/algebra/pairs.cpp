#include "compiler/algebra/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "compiler/algebra/simplify.hpp"
#include "compiler/algebra/transform.hpp"

namespace vphi::algebra {

namespace {

/// Offsets of neighbours reach 64 sites at most, so this offset is free to mark a Load of the other
/// site.
constexpr std::int16_t kOther = 0x4000;
/// Mark of an entry of a matrix, along an axis that particles do not have.
constexpr std::int16_t kEntry = 0x2000, kTransposed = 0x2001;

Expr mapped_leaves(Expr expr, const std::function<Expr(Expr)>& change) {
  return rewrite(expr, [&](Expr node) {
    return node.is(Op::Load) || node.is(Op::Site) ? change(node) : node;
  });
}

Expr moved(Expr leaf, int by) {
  Offset o = leaf->offset;
  o.d[3] = static_cast<std::int16_t>(o.d[3] + by);
  if (leaf.is(Op::Site)) return leaf->arena->site(leaf->index, o);
  return leaf->arena->load(leaf->index, o, leaf->span);
}

}  // namespace

bool is_mark(const Offset& offset) { return offset.d[3] >= kOther / 2; }
bool is_other(const Node& leaf) { return is_mark(leaf.offset); }

bool is_pair_entry(const Node& leaf) { return leaf.op == Op::Load && leaf.offset.d[2] >= kEntry; }
bool is_transposed(const Node& entry) { return entry.offset.d[2] == kTransposed; }

Expr pair_entry(Arena& arena, int array, dsl::Span span) {
  Offset o;
  o.d[2] = kEntry;
  o.d[3] = kOther;
  return arena.load(array, o, span);
}

Expr other(Expr own) {
  return mapped_leaves(own, [](Expr leaf) { return moved(leaf, kOther); });
}

Expr as_own(Expr of_other) {
  return mapped_leaves(of_other,
                       [](Expr leaf) { return is_other(*leaf) ? moved(leaf, -kOther) : leaf; });
}

Expr exchanged(Expr pair) {
  return mapped_leaves(pair, [](Expr leaf) {
    if (!is_pair_entry(*leaf)) return moved(leaf, is_other(*leaf) ? -kOther : kOther);
    Offset o = leaf->offset;
    o.d[2] = is_transposed(*leaf) ? kEntry : kTransposed;
    return leaf->arena->load(leaf->index, o, leaf->span);
  });
}

bool reads_own(Expr pair) {
  return contains(pair, [](Expr e) {
    if (e.is(Op::Site)) return !is_other(*e);
    return e.is(Op::Load) && (!is_other(*e) || is_pair_entry(*e));
  });
}

bool reads_other(Expr pair) {
  return contains(pair, [](Expr e) { return is_other(*e); });
}

namespace {

/// Terms of both sites with nothing of the own site to take out: one sum, its common factors once.
Expr joined(const std::vector<Expr>& terms) {
  Arena& arena = *terms[0]->arena;
  std::vector<Expr> common = factors_of(terms[0]);
  for (Expr term : terms) {
    const auto factors = factors_of(term);
    std::erase_if(common, [&](Expr f) { return std::ranges::find(factors, f) == factors.end(); });
  }
  std::vector<Expr> rests;
  for (Expr term : terms) {
    std::vector<Expr> rest = factors_of(term);
    for (Expr f : common) rest.erase(std::ranges::find(rest, f));
    Expr product = arena.integer(1);
    for (Expr f : rest) product = product * f;
    rests.push_back(product);
  }
  Expr result = arena.make(Op::Add, std::move(rests), terms[0]->span);
  for (Expr f : common) result = f * result;
  return result;
}

/// Whether every factor of a term is of both sites or the same everywhere.
bool stays_whole(Expr term) {
  return reads_own(term) && reads_other(term) && std::ranges::all_of(factors_of(term), [](Expr f) {
           return !reads_own(f) || reads_other(f);
         });
}

}  // namespace

Expr pair_sum(Expr pair, bool without_self) {
  Arena& arena = *pair->arena;
  if (pair.is_zero()) return pair;
  if (pair.is(Op::Add) && !pair->fixed_order) {
    std::vector<Expr> terms, whole;
    for (Expr term : pair.args()) {
      if (stays_whole(term))
        whole.push_back(term);
      else
        terms.push_back(pair_sum(term, without_self));
    }
    if (whole.size() == 1) terms.push_back(pair_sum(whole[0], without_self));
    if (whole.size() > 1) {
      const Expr one = joined(whole);
      terms.push_back(one.is(Op::Add) ? arena.canonical(Op::PairSum, std::vector{one}, pair->span,
                                                        without_self ? 1 : 0)
                                      : pair_sum(one, without_self));
    }
    return arena.make(Op::Add, std::move(terms), pair->span);
  }
  Expr front = arena.integer(1), inside = arena.integer(1);
  const auto put = [&](Expr factor) {
    Expr& to = reads_other(factor) ? inside : front;
    to = to * factor;
  };
  if (pair.is(Op::Mul) && !pair->fixed_order) {
    for (Expr factor : pair.args()) put(factor);
  } else if (pair->fixed_order) {
    inside = pair;
  } else {
    put(pair);
  }
  return front *
         arena.canonical(Op::PairSum, std::vector{inside}, pair->span, without_self ? 1 : 0);
}

PairVariation vary_pairs(Expr density, int array) {
  Arena& arena = *density->arena;
  PairVariation result{arena.integer(0), density, {}};
  std::unordered_map<const Node*, Expr> symbols, sums;
  visit(density, [&](Expr node) {
    if (!node.is(Op::PairSum)) return;
    const Expr symbol = arena.symbol("pair sum " + std::to_string(result.held.size()));
    result.held.emplace_back(symbol, node);
    symbols.emplace(node.get(), symbol);
    sums.emplace(symbol.get(), node);
  });
  if (result.held.empty()) return result;
  result.rest = substitute(density, symbols);
  for (const auto& [symbol, node] : result.held) {
    const Expr weight = substitute(derivative(result.rest, symbol), sums);
    const Expr pair = node.arg(0);
    const bool without_self = node->index != 0;
    const Expr own = derivative(pair, arena.load(array));
    // of a symmetric function the other site's part, exchanged, is the own part: one sum, not two
    const Expr both =
        symmetric(pair)
            ? (weight + exchanged(weight)) * own
            : weight * own + exchanged(weight * derivative(pair, other(arena.load(array))));
    result.slope = result.slope + pair_sum(both, without_self);
  }
  return result;
}

namespace {

/// own part + other part of a sum; nothing where a term mixes them.
struct OwnAndOther {
  Expr own, other;
};

std::optional<OwnAndOther> split_by_site(Expr expr) {
  Arena& arena = *expr->arena;
  const Expr whole = expand(expr);
  OwnAndOther split{arena.integer(0), arena.integer(0)};
  const auto take = [&](Expr term) {
    if (reads_own(term) && reads_other(term)) return false;
    Expr& half = reads_other(term) ? split.other : split.own;
    half = half + term;
    return true;
  };
  if (whole.is(Op::Add)) {
    for (Expr term : whole.args()) {
      if (!take(term)) return std::nullopt;
    }
    return split;
  }
  return take(whole) ? std::optional(split) : std::nullopt;
}

/// f(u + v) by its addition theorem, u own and v other.
Expr added(Op op, Expr u, Expr v) {
  Arena& arena = *u->arena;
  const auto f = [&](Op g, Expr x) { return arena.make(g, {x}); };
  if (op == Op::Sin) return f(Op::Sin, u) * f(Op::Cos, v) + f(Op::Cos, u) * f(Op::Sin, v);
  if (op == Op::Cos) return f(Op::Cos, u) * f(Op::Cos, v) - f(Op::Sin, u) * f(Op::Sin, v);
  if (op == Op::Sinh) return f(Op::Sinh, u) * f(Op::Cosh, v) + f(Op::Cosh, u) * f(Op::Sinh, v);
  return f(Op::Cosh, u) * f(Op::Cosh, v) + f(Op::Sinh, u) * f(Op::Sinh, v);
}

/// Functions of sums of both sites taken apart, bottom up.
Expr addition_theorems(Expr pair) {
  return rewrite(pair, [](Expr node) -> Expr {
    const Op op = node.op();
    const bool known = op == Op::Sin || op == Op::Cos || op == Op::Sinh || op == Op::Cosh;
    if (!known || !reads_own(node) || !reads_other(node)) return node;
    const auto split = split_by_site(node.arg(0));
    return split ? added(op, split->own, split->other) : node;
  });
}

}  // namespace

namespace {

/// Operations for each pair: nodes of both sites, products and sums by their length.
int cost_of(Expr pair, const std::function<bool(Expr)>& counts) {
  int cost = 0;
  visit(pair, [&](Expr node) {
    if (node.args().empty() || !reads_own(node) || !reads_other(node) || !counts(node)) return;
    const bool chain = node.is(Op::Add) || node.is(Op::Mul);
    cost += chain ? static_cast<int>(node.args().size()) - 1 : 2;
  });
  return cost;
}

/// A sum with a product of own and other values, u_i*v_j: multiplied out, u_i leaves the pair. A
/// difference x_i - x_j is one operation and exact for close pairs; multiplied out it cancels.
bool worth_opening(Expr factor) {
  if (!factor.is(Op::Add) || factor->fixed_order) return false;
  return std::ranges::any_of(factor.args(), [](Expr term) {
    const auto factors = factors_of(term);
    const auto own = [](Expr f) { return reads_own(f) && !reads_other(f); };
    const auto far = [](Expr f) { return reads_other(f) && !reads_own(f); };
    return std::ranges::any_of(factors, own) && std::ranges::any_of(factors, far);
  });
}

/// The product with such factors multiplied out, and nothing inside of functions.
Expr opened(Expr product) {
  Arena& arena = *product->arena;
  std::vector<Expr> terms{arena.integer(1)};
  for (Expr factor : factors_of(product)) {
    std::vector<Expr> parts{factor}, next;
    if (worth_opening(factor)) parts.assign(factor.args().begin(), factor.args().end());
    for (Expr term : terms) {
      for (Expr part : parts) next.push_back(term * part);
    }
    terms = std::move(next);
  }
  return arena.make(Op::Add, std::move(terms), product->span);
}

}  // namespace

Expr in_separable_form(Expr pair) {
  const Expr separable_form = addition_theorems(pair);
  // s_i*c_j*w - c_i*s_j*w: factors of the site itself leave the sums, c_j*w and s_j*w stay
  if (std::ranges::none_of(factors_of(separable_form), worth_opening)) return separable_form;
  const Expr open = opened(separable_form);
  if (!open.is(Op::Add) || open == separable_form) return separable_form;
  int products = 0;
  for (Expr term : open.args()) {
    int factors = 0;
    for (Expr factor : term.args()) factors += reads_other(factor);
    products += term.is(Op::Mul) ? factors - 1 : 0;
  }
  const auto inner = [&](Expr node) { return node != open && !node.is(Op::Mul); };
  const int cost = cost_of(open, inner) + products;
  return cost < cost_of(
                    separable_form, [](Expr) { return true; })
             ? open
             : separable_form;
}

namespace {

/// One product of the expanded pair: number * own * other.
struct Monomial {
  Expr number, own, other;
};

bool split_factor(Expr factor, Monomial& m) {
  if (factor.is_number()) {
    m.number = m.number * factor;
  } else if (!reads_other(factor)) {
    m.own = m.own * factor;
  } else if (!reads_own(factor)) {
    m.other = m.other * factor;
  } else if (factor.is(Op::Exp)) {
    // exp(u + v): the arena would join the two exponentials again
    const auto split = split_by_site(factor.arg(0));
    if (!split) return false;
    Arena& arena = *factor->arena;
    m.own = m.own * arena.make(Op::Exp, {split->own});
    m.other = m.other * arena.make(Op::Exp, {split->other});
  } else {
    return false;
  }
  return true;
}

std::optional<Monomial> monomial(Expr term) {
  const Expr one = term->arena->integer(1);
  Monomial m{one, one, one};
  if (!term.is(Op::Mul)) return split_factor(term, m) ? std::optional(m) : std::nullopt;
  for (Expr factor : term.args()) {
    if (!split_factor(factor, m)) return std::nullopt;
  }
  return m;
}

/// Numbered distinct expressions.
struct Basis {
  std::vector<Expr> members;
  std::map<const Node*, std::size_t> place;
  std::size_t of(Expr e) {
    const auto [found, fresh] = place.emplace(e.get(), members.size());
    if (fresh) members.push_back(e);
    return found->second;
  }
};

using ExprMatrix = std::vector<std::vector<Expr>>;

bool negligible(Expr number) {
  return number->number.exact ? number.is_zero() : std::fabs(number->number.real) < 1e-17L;
}

/// Pivot columns of the reduced row echelon form, which `rows` becomes (rows without a pivot go).
std::vector<std::size_t> echelon(ExprMatrix& rows) {
  std::vector<std::size_t> pivots;
  std::size_t row = 0;
  const std::size_t columns = rows.empty() ? 0 : rows[0].size();
  for (std::size_t column = 0; column < columns && row < rows.size(); ++column) {
    std::size_t best = row;
    for (std::size_t i = row; i < rows.size(); ++i) {
      const auto size = [&](std::size_t k) { return std::fabs(rows[k][column]->number.real); };
      if (size(i) > size(best)) best = i;
    }
    if (negligible(rows[best][column])) continue;
    std::swap(rows[row], rows[best]);
    const Expr pivot = rows[row][column];
    for (Expr& e : rows[row]) e = e / pivot;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i == row) continue;
      const Expr factor = rows[i][column];
      if (factor.is_zero()) continue;
      for (std::size_t k = 0; k < columns; ++k) rows[i][k] = rows[i][k] - factor * rows[row][k];
    }
    pivots.push_back(column);
    ++row;
  }
  rows.resize(row);
  return pivots;
}

Expr combination(const std::vector<Expr>& weights, const std::vector<Expr>& members) {
  Expr sum = members[0]->arena->integer(0);
  for (std::size_t i = 0; i < members.size(); ++i) sum = sum + weights[i] * members[i];
  return sum;
}

}  // namespace

std::optional<std::vector<SeparatedTerm>> separate(Expr pair) {
  Arena& arena = *pair->arena;
  const Expr sum = expand(addition_theorems(expand(pair)));
  Basis own, others;
  std::vector<std::pair<std::pair<std::size_t, std::size_t>, Expr>> entries;
  const auto take = [&](Expr term) {
    const auto m = monomial(term);
    if (!m) return false;
    entries.push_back({{own.of(m->own), others.of(m->other)}, m->number});
    return true;
  };
  if (sum.is_zero()) return std::vector<SeparatedTerm>{};
  if (sum.is(Op::Add)) {
    for (Expr term : sum.args()) {
      if (!take(term)) return std::nullopt;
    }
  } else if (!take(sum)) {
    return std::nullopt;
  }
  // C = F*E, E the rows of the echelon form and F the columns of C at its pivots
  ExprMatrix c(own.members.size(), std::vector<Expr>(others.members.size(), arena.integer(0)));
  for (const auto& [at, number] : entries) c[at.first][at.second] = c[at.first][at.second] + number;
  ExprMatrix e = c;
  const auto pivots = echelon(e);
  std::vector<SeparatedTerm> terms;
  for (std::size_t r = 0; r < pivots.size(); ++r) {
    std::vector<Expr> column;
    for (const auto& row : c) column.push_back(row[pivots[r]]);
    terms.push_back({combination(column, own.members), as_own(combination(e[r], others.members))});
  }
  return terms;
}

}  // namespace vphi::algebra
