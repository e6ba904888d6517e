// Messages about the methods of `solve` (E0792, E0793, W0797) and kinds of values in schemes; the
// others of conservation laws are in physics_errors.hpp.
#pragma once

#include <cstdint>
#include <string>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

/// Values of both kinds in one line of a scheme.
dsl::Diagnostic scheme_kinds(dsl::Span span);
/// `from` and `to` are missing where the method halves the range between them, or in wrong order.
dsl::Diagnostic solve_range(dsl::Span span, const std::string& name);
/// Newton's rounds do not end at the solution of `state`, a random one as a reader sees it.
dsl::Diagnostic iterations_diverge(dsl::Span span, const std::string& name, std::int64_t most,
                                   double error_left, const std::string& state);
/// No solution of `state` is enclosed.
dsl::Diagnostic no_sign_change(dsl::Span span, const std::string& name, double low, double high,
                               const std::string& state);
/// A warning: `most` rounds leave an error of `reached`.
dsl::Diagnostic solve_stops_short(dsl::Span span, const std::string& name, std::int64_t most,
                                  double reached);
/// A warning: memory in f64 and arithmetic in f32.
dsl::Diagnostic stored_finer(dsl::Span span, const std::string& name);

}  // namespace vphi::physics::errors
