// The head of a flux scheme's text: the form in which the body uses the flux of a law, and the
// options.
//
// `d(U*v, k)` is the advective part, with one velocity v for all quantities, `d(f, k)` the rest of
// the flux, `d(F(U), k)` the whole flux as a function of the state; `name = value` and bare names
// are options.
#pragma once

#include "compiler/physics/stages/context.hpp"

#include <string>
#include <utility>
#include <vector>

namespace vphi::physics {

/// Name of the scheme that a clause declares or chooses.
std::string scheme_name(const dsl::Clause& clause);

/// The clause with the text of scheme `name`, in the model or else in the library; null where there
/// is none.
const dsl::Clause* scheme_text(const dsl::Resolved& resolved, const std::string& name);

/// The head of a scheme.
struct SchemeHead {
  std::string state = "U", axis = "k";
  /// Names of v, f and F; empty: not used.
  std::string velocity, rest, flux;
  std::vector<std::pair<std::string, dsl::ExprPtr>> options;  ///< defaults; null: must be given
};

/// Fails with E0787 where the head is not a pattern of a law.
SchemeHead read_scheme_head(const Context& d, const dsl::Clause& clause);

}  // namespace vphi::physics
