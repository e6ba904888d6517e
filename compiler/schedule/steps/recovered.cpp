#include "compiler/schedule/steps/recovered.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/linear.hpp"

namespace vphi::schedule {
namespace {

using algebra::Op;

/// `factor` times an array is `rest`, at each site.
struct Told {
  Expr factor, rest;
};

bool is_load_at_site(Expr value) { return value && value.is(Op::Load) && value->offset.zero(); }

bool reads(Expr value, int array) {
  return value && algebra::contains(value, [array](Expr node) {
           return node.is(Op::Load) && node->index == array;
         });
}

/// A product of arrays at the site for which `kept` holds.
template <class Kept>
bool is_kept(Expr site, const Kept& kept) {
  if (is_load_at_site(site)) return kept(site->index);
  return site && site.is(Op::Mul) &&
         std::ranges::all_of(site.args(), [&](Expr e) { return is_kept(e, kept); });
}

/// What `teller` tells about the array; all others that it reads must be kept. The differences stay
/// together: they are exactly 0 in a step of no length, and small numbers otherwise.
template <class Kept>
std::optional<Told> told(int array, const Item& teller, const Kept& kept) {
  if (!teller.value.is(Op::Add)) return std::nullopt;
  Told result{{}, teller.value->arena->load(teller.array)};
  for (const kernel::Term& term : kernel::linear_terms(teller.value)) {
    if (is_load_at_site(term.site) && term.site->index == array) {
      result.factor = term.coefficient;
    } else if (is_kept(term.site, kept) && term.coefficient.is_number()) {
      const Expr other = term.coefficient * term.site;
      result.rest = other->arena->raw(Op::Sub, {result.rest, other});
    } else {
      return std::nullopt;
    }
  }
  if (!result.factor || result.factor.is_zero()) return std::nullopt;
  return result;
}

/// The value without the array. Nothing where the array has not a number times the told factor in
/// front: a quotient of scalars could be 0/0.
std::optional<Expr> without(int array, const Told& told, Expr value) {
  Expr sum = value->arena->integer(0);
  for (const kernel::Term& term : kernel::linear_terms(value)) {
    if (is_load_at_site(term.site) && term.site->index == array) {
      const Expr ratio = term.coefficient / told.factor;
      if (!ratio.is_number()) return std::nullopt;
      sum = sum + ratio * told.rest;
    } else if (reads(term.site, array)) {
      return std::nullopt;
    } else {
      sum = sum + (term.site ? term.coefficient * term.site : term.coefficient);
    }
  }
  return sum;
}

class Rewriter {
 public:
  Rewriter(std::vector<Item>& items, const std::vector<int>& sweeps)
      : items_(items), sweeps_(sweeps) {
    for (const Item& item : items)
      if (item.kind == Item::Kind::Array) defined_.insert(item.array);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (sweeps[i] < 0 || items[i].kind == Item::Kind::Scalar) continue;
      for (Expr node : algebra::reads(items[i].value)) {
        const Expr load = node.is(Op::Stencil) ? node.arg(0) : node;
        readers_[load->index].insert(i);
        if (node.is(Op::Stencil) || !load->offset.zero()) away_.insert(load->index);
      }
    }
  }

  void rewrite() {
    // the last first: rates are made after the draws that they have in common
    for (std::size_t i = items_.size(); i-- > 0;) {
      const int array = items_[i].array;
      if (!computed_at_all_sites(i) || items_[i].value.is(Op::PairSum) || away_.contains(array))
        continue;
      std::set<std::size_t> later = readers_[array];
      std::erase_if(later, [&](std::size_t reader) { return sweeps_[reader] <= sweeps_[i]; });
      for (std::size_t teller = i + 1; teller < items_.size() && !later.empty(); ++teller) {
        const bool tells = computed_at_all_sites(teller) && sweeps_[teller] == sweeps_[i] &&
                           away_.contains(items_[teller].array);
        if (tells && rewrite(array, items_[teller], later)) break;
      }
    }
  }

 private:
  bool computed_at_all_sites(std::size_t i) const {
    return sweeps_[i] >= 0 && items_[i].kind == Item::Kind::Array && items_[i].parity < 0;
  }

  bool rewrite(int array, const Item& teller, const std::set<std::size_t>& readers) {
    const auto by = told(array, teller, [&](int other) {
      return other != array &&
             (!defined_.contains(other) || std::ranges::includes(readers_[other], readers));
    });
    if (!by) return false;
    std::map<std::size_t, Expr> values;
    for (const std::size_t reader : readers) {
      const auto value = without(array, *by, items_[reader].value);
      if (!value) return false;
      values.emplace(reader, *value);
    }
    for (const auto& [reader, value] : values) {
      items_[reader].value = value;
      readers_[array].erase(reader);
      for (Expr load : algebra::reads(value)) readers_[load->index].insert(reader);
    }
    return true;
  }

  std::vector<Item>& items_;
  const std::vector<int>& sweeps_;
  std::set<int> defined_, away_;  ///< arrays; those read at other sites than their own
  std::map<int, std::set<std::size_t>> readers_;  ///< array -> items computed at sites
};

}  // namespace

void read_what_is_stored(std::vector<Item>& items, const std::vector<int>& sweeps) {
  Rewriter(items, sweeps).rewrite();
}

}  // namespace vphi::schedule
