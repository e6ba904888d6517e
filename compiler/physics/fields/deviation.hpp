// Fields stored as deviations from a homogeneous solution: `field phi: real, store = deviation`.
//
// An array u of such a field holds d where the value is P + d. P is a scalar in f64. It starts at
// the homogeneous part of the initial value, and its rate is the homogeneous part of the rate of u,
// in the same flow of the integrator as its array. The rate of d is the rest, so that the two rates
// add up to that of u at all times. For a potential they are V'(P) and V'(P + d) - V'(P); the
// difference is written without cancellation, so the stored numbers need digits for d only
// (docs/formulas.md 7.1).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "compiler/model/system.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics {

/// A value as base + rest: `base` is a scalar, the value at zero deviations and zero fields without
/// a reference; `rest` vanishes with these. Null stands for 0.
struct BaseAndRest {
  Expr base, rest;
};

/// Splits expressions of a system; `references`: array of state -> symbol of its scalar.
class Splitting {
 public:
  explicit Splitting(const System& system, std::map<int, Expr> references)
      : system_(system), arena_(*system.arena), references_(std::move(references)) {}

  /// Differences are exact identities: sums, products, powers, and the functions with an addition
  /// theorem. For any other function `rest` is the whole value and `unknown` is the function.
  BaseAndRest operator()(Expr value);
  /// The value with P + d substituted for each array, and with averages split.
  Expr whole(Expr value);
  /// The value as a sum of its two parts.
  Expr sum(Expr value);

  std::string unknown;  ///< the last function found that has no exact difference; empty: none

 private:
  BaseAndRest split(Expr e);
  BaseAndRest product(Expr e);
  BaseAndRest power(Expr e);
  BaseAndRest function(Expr e);
  BaseAndRest reduction(Expr e);
  Expr integer_power(Expr base, Expr rest, int n);
  Expr difference(algebra::Op op, Expr base, Expr rest);
  BaseAndRest as_it_is(Expr e);
  bool refers(Expr e) const;
  bool averages_to_zero(Expr site) const;
  Expr zero() const { return arena_.integer(0); }
  Expr or_zero(Expr e) const { return e ? e : zero(); }

  const System& system_;
  algebra::Arena& arena_;
  std::map<int, Expr> references_;
  std::map<const algebra::Node*, BaseAndRest> known_;
};

/// The system with references for these arrays; nothing, with the reason in `why`, where this is
/// not possible.
std::optional<System> with_references(const System& system, const std::set<int>& arrays,
                                      std::string& why);
/// The same for the arrays of Numerics::deviations; E0322 where it is not possible.
System with_references(System system, dsl::Diagnostics& diagnostics);

}  // namespace vphi::physics
