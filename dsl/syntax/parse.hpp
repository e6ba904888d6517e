// The parser: makes a syntax tree from a text.
//
// The parser does not throw and does not stop at the first error: an invalid line gives a
// diagnostic, and reading continues at the next line. Nesting deeper than 200 and files above 1 MB
// are refused with a message.
#pragma once

#include <memory>

#include "dsl/messages/diagnostic.hpp"
#include "dsl/syntax/ast.hpp"
#include "dsl/syntax/spelling.hpp"

namespace vphi::dsl {

/// Parses a model file or a library file.
ModelText parse(std::shared_ptr<const Source> source, Diagnostics& diagnostics);

/// Parses one expression (command line: --set, --until); null and a diagnostic on failure.
ExprPtr parse_expression(std::shared_ptr<const Source> source, Diagnostics& diagnostics);

/// Expression as text in the canonical style; parses back to the same tree.
std::string to_text(const Expr& expr);
/// The same for a left side: `x[i]'`, `p(eps, rho)`.
std::string to_text(const Head& head);

enum class Spelling { Keep, Ascii, Unicode };
/// The whole file in canonical style, comments kept; idempotent.
std::string format(const ModelText& model, Spelling spelling = Spelling::Keep);

}  // namespace vphi::dsl
