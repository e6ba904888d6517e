// Messages about links that are turned to a gauge (E0842).
#pragma once

#include <string>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

/// `gauge_fixed` outside of a definition V[mu] = gauge_fixed(U[mu], M).
dsl::Diagnostic gauge_not_defined(dsl::Span span);
/// M is no sum of products of links along open paths; `why`: the part that is not.
dsl::Diagnostic gauge_not_of_paths(dsl::Span span, const std::string& why);
/// An option outside of its range.
dsl::Diagnostic gauge_option(dsl::Span span, const std::string& option, const std::string& range);
/// Links of Z(N).
dsl::Diagnostic gauge_of_roots(dsl::Span span, const std::string& links, int roots);
/// Links that are turned, in an action.
dsl::Diagnostic gauge_in_action(dsl::Span span, const std::string& links, dsl::Span declared);

}  // namespace vphi::physics::errors
