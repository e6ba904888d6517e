// Typesets a model in MathML as it is written, for reports and other pages.
//
// It works on the syntax tree, so that names, functions and indices are those of the text
// (compiler/explain.hpp prints the derived equations). Nothing is simplified and nothing fails; an
// expression without a usual notation is shown as a function call. All text is escaped.
#pragma once

#include <string>
#include <vector>

#include "dsl/syntax/ast.hpp"

namespace vphi {

/// One mrow.
std::string typeset(const dsl::Expr& expression);
std::string typeset(const dsl::Head& head);

/// A line, or an item of a clause, with a formula.
struct TypesetLine {
  std::string mathml;  ///< one mrow: "V = ..."
  std::string text;    ///< the same in the language of models
  std::string note;    ///< `##` text of its line
  int line = 0;        ///< in the model's text, from 1
};
/// Definitions, equations of motion and the items of `potential`, `action`, `init`, `limit`,
/// `conserve` and `expect`, in text order.
std::vector<TypesetLine> typeset_model(const dsl::ModelText& model);

struct TypesetParameter {
  std::string name, mathml, written, note;
};
/// The items of `param` clauses, in text order.
std::vector<TypesetParameter> typeset_parameters(const dsl::ModelText& model);

/// `##` text of the model's own line.
std::string model_documentation(const dsl::ModelText& model);

}  // namespace vphi
