// Fields stored as deviations from a homogeneous solution: `field phi: real, store = deviation`.
//
// An array u of such a field holds d where the value is P + d. P is a scalar in f64 that starts at
// the homogeneous part of the initial value and moves by the homogeneous part of the rate, in the
// same flow of the integrator as its array; d moves by the rest, so that the two rates add up to
// that of u at every moment. With V'(P) and V'(P + d) - V'(P): the difference is written without
// cancellation, so that the numbers stored need digits for d alone (docs/formulas.md 7.1).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "compiler/model/system.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics {

/// A value as base + rest: `base` is a scalar, the value where every deviation and every field
/// without a reference is 0, and `rest` vanishes with these. Null is 0.
struct BaseAndRest {
  Expr base, rest;
};

/// Splits expressions of a system; `references`: array of state -> symbol of its scalar.
class Splitting {
 public:
  explicit Splitting(const System& system, std::map<int, Expr> references)
      : system_(system), arena_(*system.arena), references_(std::move(references)) {}

  /// Differences are exact identities: sums, products, powers, and the functions with an addition
  /// theorem. Where there is none, `rest` is the whole value and `unknown` says of what.
  BaseAndRest operator()(Expr value);
  /// The value with P + d in the place of each array, and averages taken apart.
  Expr whole(Expr value);
  /// The value as a sum of its two parts.
  Expr sum(Expr value);

  std::string unknown;  ///< the function without a difference that was met last; empty: none

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

/// The system with references for these arrays; nothing where it has no such form, and `why` says
/// what stands in the way.
std::optional<System> with_references(const System& system, const std::set<int>& arrays,
                                      std::string& why);
/// The same for the arrays that Numerics::deviations names; E0322 where it has no such form.
System with_references(System system, dsl::Diagnostics& diagnostics);

}  // namespace vphi::physics
