#include "compiler/physics/chains/gauge_fixing_errors.hpp"

#include <fmt/format.h>

#include "dsl/messages/error.hpp"

namespace vphi::physics::errors {

using dsl::error;
using dsl::with_label;

namespace {

constexpr const char* kAllLinks =
    "write M = sum(U[mu], mu) for Landau's gauge, sum(U[k], k != t) for Coulomb's";

}  // namespace

dsl::Diagnostic gauge_not_defined(dsl::Span span) {
  return error(
      "E0842", span, "`gauge_fixed` has no value here", "",
      "it turns the links of the whole lattice: a definition names them, and the name stands "
      "wherever links do",
      "V[mu] = gauge_fixed(U[mu], sum(U[nu], nu)), or V = landau(U, 1e-14) of the library");
}

dsl::Diagnostic gauge_not_of_paths(dsl::Span span, const std::string& why) {
  return error(
      "E0842", span, "no gauge belongs to this", why,
      "the gauge is the one in which the sum of re(tr(M)) over all sites is largest; M is a "
      "sum of products of links, each along a path that ends at another site, times fixed "
      "numbers",
      kAllLinks);
}

dsl::Diagnostic gauge_option(dsl::Span span, const std::string& option, const std::string& range) {
  return error(
      "E0842", span, fmt::format("`{}` of `gauge_fixed` is {}", option, range), "",
      "theta bounds the mean of tr(D D^+)/n, omega is the power of overrelaxation, max the "
      "number of sweeps",
      "theta = 1e-14, omega = 1.7, max = 20000");
}

dsl::Diagnostic gauge_of_roots(dsl::Span span, const std::string& links, int roots) {
  return error("E0842", span, fmt::format("`{}` are links of Z({})", links, roots), "",
               "a gauge is found by small turns, and the roots of 1 have none",
               "gauge U: U(1), or measure what does not depend on the gauge");
}

dsl::Diagnostic gauge_in_action(dsl::Span span, const std::string& links, dsl::Span declared) {
  return with_label(
      error("E0842", span, fmt::format("`{}` cannot stand in an action", links), "",
            "these links depend on all others through rounds of updates, which have no force",
            "take the links themselves: loops have the same value in every gauge"),
      declared, "turned to a gauge here");
}

}  // namespace vphi::physics::errors
