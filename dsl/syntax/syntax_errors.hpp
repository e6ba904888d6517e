// Messages about syntax (E05xx), one function each.
//
// Each function returns the whole diagnostic: message, place, the rule in one sentence, one
// concrete fix. `source` is only used for quotations.
#pragma once

#include <string>
#include <string_view>

#include "dsl/messages/diagnostic.hpp"
#include "dsl/syntax/text.hpp"

namespace vphi::dsl::syntax {

// characters and tokens
Diagnostic not_text(Span at);
Diagnostic too_long(const Source& source, std::size_t limit);
Diagnostic unknown_character(Span at, std::string_view shown);
Diagnostic foreign_operator(Span at, std::string_view written, std::string_view ours);
Diagnostic semicolon(Span at);
Diagnostic open_string(Span at);
Diagnostic control_in_string(Span at);
Diagnostic bare_decimal_point(Span at, std::string_view written, std::string_view fix);

// brackets and lines
Diagnostic open_bracket(Span bracket, std::string_view closer, Span next_line);
Diagnostic stray_closer(Span at, std::string_view closer);
Diagnostic wrong_closer(Span at, std::string_view found, Span opener, std::string_view wanted);
Diagnostic open_body(Span brace);
Diagnostic stray_brace(Span at);
Diagnostic brace_in_brackets(Span at);
Diagnostic line_begins_badly(Span at, std::string_view found);
Diagnostic dangling(Span last, std::string_view found, Span next_line);
Diagnostic not_a_line(Span head, std::string_view found);
Diagnostic two_models(Span at, Span first);
Diagnostic model_needs_name(Span at);

/// E0522: the name of an option, and a value behind it.
Diagnostic option_without_equals(Span at, std::string_view option, std::string_view right);

// expressions
Diagnostic juxtaposition(Span at, std::string_view left, std::string_view right);
Diagnostic power_before_arguments(Span at, std::string_view function, std::string_view exponent);
Diagnostic two_words(Span at, std::string_view left, std::string_view right);
Diagnostic expected_expression(Span at, std::string_view found, std::string_view after);
Diagnostic unexpected(Span at, std::string_view found, std::string_view wanted);
Diagnostic too_deep(Span at, int limit);
Diagnostic too_many_terms(Span at, int limit);
Diagnostic chained_comparison(Span at, Span first);
Diagnostic equals_in_expression(Span at);
Diagnostic select_without_else(Span at);
Diagnostic shift_operand(Span at, std::string_view found);
Diagnostic prime_of(Span at, std::string_view what);
Diagnostic empty_brackets(Span at, std::string_view what);
Diagnostic not_a_unit(Span at, std::string_view found);
Diagnostic option_name(Span at, std::string_view found);

// definitions and clauses
Diagnostic second_equals(Span at, Span first);
Diagnostic dotted_head(Span at, std::string_view name);
Diagnostic head_argument(Span at, std::string_view found);
Diagnostic empty_clause(Span keyword, std::string_view word);
Diagnostic bad_destination(Span at, std::string_view found);
Diagnostic body_of_definition(Span at, std::string_view name);
Diagnostic where_after_definition(Span at);
Diagnostic where_fact(Span at, std::string_view found);

}  // namespace vphi::dsl::syntax
