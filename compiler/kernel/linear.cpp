#include "compiler/kernel/linear.hpp"

#include <optional>
#include <unordered_map>

#include "compiler/algebra/op_cases.hpp"

namespace vphi::kernel {
namespace {

using algebra::Arena;
using algebra::Expr;
using algebra::Op;

/// Factors known to be one term; nested values share most of their factors.
using Singles = std::unordered_map<const algebra::Node*, std::optional<Term>>;

class Collector {
 public:
  Collector(Arena& arena, Singles& singles) : arena_(arena), singles_(singles) {}

  void add(Expr expr, Expr coefficient) {
    if (!expr->per_site) return put(coefficient * expr, Expr());
    if (expr->fixed_order) return put(coefficient, expr);
    switch (expr.op()) {
      case Op::Add:
        for (Expr term : expr.args()) add(term, coefficient);
        return;
      case Op::Mul:
        return product(expr, coefficient);
      case Op::Pow:
        return power(expr, coefficient);
      case Op::Stencil:
        return stencil(expr, coefficient);
      case VPHI_DRAWS:
      case VPHI_ORDERED_ARITHMETIC:
      case VPHI_DEVICE_FUNCTIONS:
      case VPHI_CONDITIONS:
      case VPHI_SITE_REDUCTIONS:
#include "compiler/algebra/function_cases.def"
      case Op::Number:
      case Op::Symbol:
      case Op::Load:
      case Op::Site:
      case Op::Atan2:
      case Op::Min:
      case Op::Max:
      case Op::Select:
      case Op::Lookup:
      case Op::PairSum:
      case Op::Count_:
        return put(coefficient, expr);
    }
  }

  std::vector<Term> take() {
    std::erase_if(terms_, [](const Term& term) { return term.coefficient.is_zero(); });
    return std::move(terms_);
  }

 private:
  void put(Expr coefficient, Expr site) {
    const auto [place, fresh] = index_.try_emplace(site.get(), terms_.size());
    if (fresh) {
      terms_.push_back({coefficient, site});
    } else {
      Term& term = terms_[place->second];
      term.coefficient = term.coefficient + coefficient;
    }
  }

  /// One term of the factor, if it is one term: then its scalar can be taken out.
  std::optional<Term> single(Expr factor) {
    if (const auto known = singles_.find(factor.get()); known != singles_.end())
      return known->second;
    Collector own(arena_, singles_);
    own.add(factor, arena_.integer(1));
    const std::vector<Term> terms = own.take();
    std::optional<Term> found;
    if (terms.size() == 1 && terms[0].site) found = terms[0];
    return singles_[factor.get()] = found;
  }

  void product(Expr expr, Expr coefficient) {
    std::vector<Expr> sites;
    for (Expr factor : expr.args()) {
      if (!factor->per_site) {
        coefficient = coefficient * factor;
      } else {
        sites.push_back(factor);
      }
    }
    if (sites.size() == 1) return add(sites[0], coefficient);
    for (Expr& site : sites) {
      const auto term = single(site);
      if (!term) continue;
      coefficient = coefficient * term->coefficient;
      site = term->site;
    }
    put(coefficient, arena_.make(Op::Mul, sites, expr->span));
  }

  void power(Expr expr, Expr coefficient) {
    const Expr exponent = expr.arg(1);
    const bool whole =
        exponent.is_number() && exponent->number.exact && exponent->number.rational.den == 1;
    const auto term = whole ? single(expr.arg(0)) : std::nullopt;
    if (!term || term->coefficient.is_one()) return put(coefficient, expr);
    put(coefficient * pow(term->coefficient, exponent), pow(term->site, exponent));
  }

  /// L(c u + v) = c L u + L v; of a constant the sum of the weights is left.
  void stencil(Expr expr, Expr coefficient) {
    const std::vector<Term> terms = linear_terms(expr.arg(0));
    if (terms.size() == 1 && terms[0].site == expr.arg(0)) return put(coefficient, expr);
    for (const Term& term : terms) {
      const Expr site = term.site ? term.site : arena_.integer(1);
      put(coefficient * term.coefficient, arena_.stencil(expr->index, site, expr->span));
    }
  }

  Arena& arena_;
  Singles& singles_;
  std::vector<Term> terms_;
  std::unordered_map<const algebra::Node*, std::size_t> index_;
};

}  // namespace

std::vector<Term> linear_terms(Expr expr) { return LinearTerms()(expr); }

std::vector<Term> LinearTerms::operator()(Expr expr) {
  Collector collector(*expr->arena, singles_);
  collector.add(expr, expr->arena->integer(1));
  return collector.take();
}

Expr sum_of(Arena& arena, const std::vector<Term>& terms) {
  std::vector<Expr> sum;
  for (const Term& term : terms) {
    sum.push_back(term.site ? term.coefficient * term.site : term.coefficient);
  }
  return arena.make(Op::Add, sum);
}

}  // namespace vphi::kernel
