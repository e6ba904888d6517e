#include "compiler/schedule/steps/block.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/linear.hpp"

namespace vphi::schedule {

using algebra::Op;
using kernel::ReduceKind;
using kernel::Term;

Expr with_integer_stencils(Expr expr, double dx) {
  return algebra::rewrite(expr, [dx](Expr node) {
    if (!node.is(Op::Stencil)) return node;
    algebra::Arena& arena = *node->arena;
    algebra::StencilData data = arena.stencil_data(node->index);
    if (data.denominator == 1 && data.dx_power == 0) return node;
    const Expr factor = dx == 1 ? arena.rational(1, data.denominator)
                                : arena.real(std::pow(static_cast<long double>(dx), data.dx_power) /
                                             static_cast<long double>(data.denominator));
    data.denominator = 1;
    data.dx_power = 0;
    return factor * arena.stencil(arena.add_stencil(data), node.arg(0), node->span);
  });
}

bool takes_other_sites(Expr node) {
  return node.is(Op::Stencil) || node.is(Op::PairSum) || algebra::reduces_sites(node.op());
}

Expr Block::prepared(Expr value) {
  if (!algebra::contains(value, takes_other_sites)) return value;
  value = without_reductions(with_integer_stencils(value, system_.lattice.dx));
  return algebra::rewrite(value, [this](Expr node) {
    if (node.is(Op::PairSum)) return pair_array(node);
    return node.is(Op::Stencil) ? stencil_on_array(node) : node;
  });
}

/// A sum over pairs becomes an array, computed in a sweep over pairs.
Expr Block::pair_array(Expr sum) {
  const std::pair key{sum.get(), -1};
  if (const auto found = arrays_.find(key); found != arrays_.end()) return found->second;
  const int number = storage_.number();
  items_.push_back({Item::Kind::Array, number, "pairs", ReduceKind::Sum, sum, -1});
  const Expr load = arena().load(number, {}, sum->span);
  arrays_.emplace(key, load);
  return load;
}

/// A stencil reads an array at the sites around; anything else is put into one first.
Expr Block::stencil_on_array(Expr node) {
  const Expr argument = node.arg(0);
  if (argument.is(Op::Load) && argument->offset.zero()) return node;
  const Expr stored = argument.is(Op::Load) ? Expr() : array("field", argument);
  algebra::StencilData data = arena().stencil_data(node->index);
  if (stored) return arena().stencil(node->index, stored, node->span);
  for (algebra::Offset& offset : data.offsets) {
    for (int i = 0; i < 4; ++i) {
      offset.d[i] = static_cast<std::int16_t>(offset.d[i] + argument->offset.d[i]);
    }
  }
  return arena().stencil(arena().add_stencil(data), arena().load(argument->index), node->span);
}

Expr Block::array(const std::string& name, Expr value, int version_of) {
  value = prepared(value);
  if (value.is(Op::Load) && value->offset.zero()) return value;
  for (const int made : {parity_, -1}) {
    const auto found = arrays_.find({value.get(), made});
    if (found != arrays_.end()) return found->second;
  }
  const int number = storage_.number();
  items_.push_back(
      {Item::Kind::Array, number, name, ReduceKind::Sum, value, version_of, parity_, column_});
  const Expr load = arena().load(number, {}, value->span);
  arrays_.emplace(std::pair{value.get(), parity_}, load);
  return load;
}

Expr Block::parity_array(const std::string& name, Expr value, int parity) {
  const int before = std::exchange(parity_, parity);
  const Expr load = array(name, value);
  parity_ = before;
  return load;
}

Expr Block::scalar(const std::string& name, Expr value) {
  value = prepared(value);
  if (value.is(Op::Symbol) || value.is_number()) return value;
  const std::string slot = slots_.fresh(name);
  items_.push_back({Item::Kind::Scalar, -1, slot, ReduceKind::Sum, value, -1});
  return arena().symbol(slot, value->span);
}

void Block::assign(const std::string& slot, Expr value) {
  value = prepared(value);
  slots_.add(slot);
  items_.push_back({Item::Kind::Scalar, -1, slot, ReduceKind::Sum, value, -1});
}

namespace {

/// c*<s> of a term with one mean; `mean` is null for any other term.
struct MeanTerm {
  Expr coefficient, mean;
};

MeanTerm mean_term(Expr term) {
  const auto is_mean = [](Expr e) { return e.is(Op::Mean) || e.is(Op::Total); };
  if (is_mean(term)) return {term->arena->integer(1), term};
  if (!term.is(Op::Mul) || std::ranges::count_if(term.args(), is_mean) != 1) return {};
  const Expr mean = *std::ranges::find_if(term.args(), is_mean);
  const Expr coefficient = term / mean;
  return {coefficient, mean};
}

/// The ratio, or the whole number that it is up to rounding.
Expr snapped(Expr ratio) {
  if (!ratio.is_number() || ratio->number.exact) return ratio;
  const long double value = ratio->number.real, whole = std::round(value);
  const bool same =
      whole != 0 && std::abs(whole) < 1e9L && std::abs(value - whole) < 1e-17L * std::abs(whole);
  return same ? ratio->arena->integer(static_cast<std::int64_t>(whole)) : ratio;
}

/// The factors without a leading number.
std::span<const Expr> factors_of(const Expr& e) {
  if (e.is_number()) return {};
  if (!e.is(Op::Mul) || e->fixed_order) return {&e, 1};
  return e.arg(0).is_number() ? e.args().subspan(1) : e.args();
}

/// The factor of two coefficients that differ by a number; null where they do not. In a long list
/// (a Fourier series has hundreds of terms) only coefficients of the same factors are divided.
Expr number_between(Expr coefficient, Expr other, std::size_t listed) {
  constexpr std::size_t kLong = 24;
  if (listed > kLong && !std::ranges::equal(factors_of(coefficient), factors_of(other))) return {};
  const Expr ratio = snapped(coefficient / other);
  return ratio.is_number() ? ratio : Expr();
}

/// 2*c*<u> + 3*c*<v> is c*<2*u + 3*v>: one sum over the lattice instead of two.
Expr with_joined_means(Expr sum) {
  algebra::Arena& arena = *sum->arena;
  std::vector<MeanTerm> groups;
  std::vector<Expr> result;
  for (Expr term : sum.args()) {
    const MeanTerm t = mean_term(term);
    if (!t.mean) {
      result.push_back(term);
      continue;
    }
    bool joined = false;
    for (MeanTerm& group : groups) {
      if (group.mean.op() != t.mean.op()) continue;
      const Expr ratio = number_between(t.coefficient, group.coefficient, groups.size());
      if (!ratio) continue;
      const Expr argument = group.mean.arg(0) + ratio * t.mean.arg(0);
      group.mean = arena.make(group.mean.op(), {argument}, group.mean->span);
      joined = true;
      break;
    }
    if (!joined) groups.push_back(t);
  }
  for (const MeanTerm& group : groups) result.push_back(group.coefficient * group.mean);
  return arena.make(Op::Add, result, sum->span);
}

}  // namespace

Expr Block::without_reductions(Expr value) {
  value = algebra::rewrite(value, [](Expr node) {
    return node.is(Op::Add) && !node->fixed_order ? with_joined_means(node) : node;
  });
  return algebra::rewrite(value, [this](Expr node) -> Expr {
    if (node.is(Op::Mean)) return sum(node.arg(0)) / arena().integer(summed_sites());
    if (node.is(Op::Total)) return sum(node.arg(0));
    if (node.is(Op::Minimum)) return reduction(ReduceKind::Minimum, node.arg(0));
    if (node.is(Op::Maximum)) return reduction(ReduceKind::Maximum, node.arg(0));
    return node;
  });
}

/// The number of sites that a sum goes over. One parity is half of all sites, since some extent is
/// even.
std::int64_t Block::summed_sites() const {
  return parity_ < 0 ? system_.lattice.sites() : system_.lattice.sites() / 2;
}

/// Terms whose coefficients differ by a number only are summed together.
Expr Block::sum(Expr argument) {
  struct Group {
    Expr coefficient;
    Expr value;
  };
  std::vector<Group> groups;
  Expr total = arena().integer(0);
  for (const Term& term :
       kernel::linear_terms(with_integer_stencils(argument, system_.lattice.dx))) {
    if (!term.site) {
      total = total + term.coefficient * arena().integer(summed_sites());
      continue;
    }
    bool found = false;
    for (Group& group : groups) {
      const Expr ratio = number_between(term.coefficient, group.coefficient, groups.size());
      if (!ratio) continue;
      group.value = group.value + ratio * term.site;
      found = true;
      break;
    }
    if (!found) groups.push_back({term.coefficient, term.site});
  }
  for (const Group& group : groups) {
    total = total + group.coefficient * reduction(ReduceKind::Sum, group.value);
  }
  return total;
}

void Block::reduce(const std::string& slot, ReduceKind kind, Expr value) {
  slots_.add(slot);
  items_.push_back({Item::Kind::Reduction, -1, slot, kind, prepared(value), -1, parity_, column_});
}

std::vector<Item> Block::take_carried() {
  std::set<int> state;
  for (const auto& v : system_.variables) state.insert(v.array);
  const auto carried = [&](const Item& item) {
    if (item.kind != Item::Kind::Reduction || item.parity >= 0) return false;
    return !algebra::contains(item.value, [&](Expr node) {
      if (node.is(Op::Load)) return !node->offset.zero() || !state.contains(node->index);
      return node.is(Op::Symbol) || node.is(Op::Stencil) || node.is(Op::PairSum) ||
             node.is(Op::Normal) || node.is(Op::Uniform);
    });
  };
  std::vector<Item> taken;
  std::ranges::copy_if(items_, std::back_inserter(taken), carried);
  std::erase_if(items_, carried);
  return taken;
}

Expr Block::reduction(ReduceKind kind, Expr argument) {
  argument = prepared(argument);
  if (!argument->per_site) {
    return kind == ReduceKind::Sum ? argument * arena().integer(summed_sites()) : argument;
  }
  auto& known = reductions_[static_cast<int>(kind)];
  const std::pair key{argument.get(), parity_};
  if (const auto found = known.find(key); found != known.end()) return found->second;
  static constexpr const char* kNames[] = {"sum", "minimum", "maximum"};
  const std::string slot = slots_.fresh(kNames[static_cast<int>(kind)]);
  items_.push_back({Item::Kind::Reduction, -1, slot, kind, argument, -1, parity_, column_});
  const Expr symbol = arena().symbol(slot, argument->span);
  known.emplace(key, symbol);
  return symbol;
}

}  // namespace vphi::schedule
