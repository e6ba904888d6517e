#include "dsl/syntax/syntax_errors.hpp"

#include <fmt/format.h>

#include "dsl/messages/error.hpp"

namespace vphi::dsl::syntax {

// ---- characters and tokens --------------------------------------------------------------------

Diagnostic not_text(Span at) {
  return error("E0501", at, "this file is not a text", "this byte is not UTF-8 text",
               "a model file is UTF-8 text without control characters",
               "save the file as UTF-8, or check that it is the file you meant");
}

Diagnostic too_long(const Source& source, std::size_t limit) {
  return error("E0502", {0, 0, source.file()},
               fmt::format("`{}` has {} bytes, more than the {} that a model may have",
                           source.name(), source.text().size(), limit),
               "", "a model file is at most 1 MB",
               "put numbers into a file and read them with `table` or `file`");
}

Diagnostic unknown_character(Span at, std::string_view shown) {
  const std::string_view habit = shown == "?"   ? "a choice is written `a if condition else b`"
                                 : shown == "%" ? "a comment begins with `#`; a remainder is "
                                                  "`mod(a, b)`"
                                 : shown == "$" || shown == "\\"
                                     ? "formulas are plain text: `alpha`, `phi^2`, `sqrt(x)`"
                                 : shown == "&" ? "write `and`"
                                 : shown == "|" ? "write `abs(x)`, or `or`"
                                                : "remove it";
  return error(
      "E0503", at, fmt::format("`{}` means nothing in a model", shown), "",
      "a text is made of names, numbers, strings and + - * / ^ < > = ~ , : @ ' ( ) [ ] { }",
      std::string(habit));
}

Diagnostic foreign_operator(Span at, std::string_view written, std::string_view ours) {
  return error("E0504", at, fmt::format("`{}` is written `{}` here", written, ours), "",
               "operators are + - * / ^ < <= > >= == != not and or",
               fmt::format("write `{}`", ours));
}

Diagnostic semicolon(Span at) {
  return error("E0505", at, "a line needs no semicolon", "",
               "the end of the line ends the definition, the equation or the clause",
               "remove it, and give each definition a line of its own");
}

Diagnostic open_string(Span at) {
  return error("E0506", at, "this string is not closed", "opened here",
               "a string ends with `\"` on the line where it began", "add the closing `\"`");
}

Diagnostic control_in_string(Span at) {
  return error("E0507", at, "a control character in a string", "",
               "strings hold printable characters", "remove the character");
}

Diagnostic bare_decimal_point(Span at, std::string_view written, std::string_view fix) {
  return error("E0508", at, fmt::format("the decimal point of `{}` lacks a digit", written),
               fmt::format("write `{}`", fix), "a decimal point has digits on both sides",
               fmt::format("write `{}`; a range is written `1..10`", fix));
}

// ---- brackets and lines -----------------------------------------------------------------------

Diagnostic open_bracket(Span bracket, std::string_view closer, Span next_line) {
  auto d = error("E0510", bracket, fmt::format("missing `{}`", closer), "opened here",
                 "a line goes on until its brackets are closed", fmt::format("add `{}`", closer));
  return next_line.empty() ? d : with_label(d, next_line, "still open here");
}

Diagnostic stray_closer(Span at, std::string_view closer) {
  return error("E0511", at, fmt::format("`{}` closes nothing", closer), "",
               "each closing bracket has an opening one on the same logical line", "remove it");
}

Diagnostic wrong_closer(Span at, std::string_view found, Span opener, std::string_view wanted) {
  return with_label(
      error("E0512", at, fmt::format("`{}` where `{}` was expected", found, wanted), "",
            "brackets close in the order in which they opened", fmt::format("write `{}`", wanted)),
      opener, "to close this one");
}

Diagnostic open_body(Span brace) {
  return error("E0513", brace, "missing `}`", "this body is not closed",
               "a body ends with a line that begins with `}`", "add a line `}`");
}

Diagnostic stray_brace(Span at) {
  return error("E0514", at, "`}` closes no body", "", "`{` opens a body and `}` closes it",
               "remove it");
}

Diagnostic brace_in_brackets(Span at) {
  return error("E0515", at, "a body inside brackets", "",
               "braces hold the body of a clause, never a part of an expression",
               "write `( )` for grouping and `[ ]` for lists and indices");
}

Diagnostic line_begins_badly(Span at, std::string_view found) {
  return error("E0516", at, fmt::format("a line cannot begin with {}", found), "",
               "a line begins with a word or `}`; any other beginning goes on from the line before",
               "begin with a name or a clause, such as `param m = 1`");
}

Diagnostic dangling(Span last, std::string_view found, Span next_line) {
  return with_label(error("E0517", last, fmt::format("nothing follows {}", found), "",
                          "a line that ends in an operator, `,` `:` or `=` goes on in the next one",
                          "remove it or finish the line"),
                    next_line, "a new clause begins here");
}

Diagnostic not_a_line(Span head, std::string_view found) {
  return error("E0518", head, "this is not a definition, equation or clause",
               fmt::format("followed by {}", found),
               "a line is `name = value`, `x' = rate` or `clause items`",
               "name the value (`name = ...`), or write it in a clause such as `every 10 steps:`");
}

Diagnostic two_models(Span at, Span first) {
  return with_label(error("E0519", at, "a second `model` in one file", "", "one model a file",
                          "move it to a file of its own"),
                    first, "the first one");
}

Diagnostic model_needs_name(Span at) {
  return error("E0520", at, "`model` needs a name and may have a title", "",
               "the first clause of a model file is `model NAME \"title\"`",
               "write, for instance, `model waves \"Standing waves\"`");
}

// ---- expressions ------------------------------------------------------------------------------

namespace {

bool digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Diagnostic power_before_arguments(Span at, std::string_view function, std::string_view exponent) {
  return error(
      "E0521", at, "a power of a function stands after its arguments",
      fmt::format("did you mean `{}(...)^{}`?", function, exponent),
      "two values side by side are not a product, and functions have no powers",
      fmt::format("write `{0}(...)^{1}`; a product is `{0}^{1}*(...)`", function, exponent));
}

Diagnostic juxtaposition(Span at, std::string_view left, std::string_view right) {
  if (left == ")" || left == "]" || right == "(") {
    return error("E0521", at, "a product needs its `*`", "a `*` is missing here",
                 "two values side by side are not a product",
                 "write `*` between them: `(a + b)*(c + d)`");
  }
  // 64x64, the notation of a shape in other programs
  const bool sides = right.size() > 1 && right[0] == 'x' && digits(left) && digits(right.substr(1));
  if (right == "in" || right == "by" || right == "step" || right == "steps")
    return error("E0521", at, fmt::format("`{}` follows a number", right), "",
                 "a range `a..b` is of whole numbers",
                 "write equally spaced values as linspace(first, last, number)");
  const auto product = fmt::format("{}*{}", left, sides ? right.substr(1) : right);
  return error("E0521", at, "a product needs its `*`", fmt::format("did you mean `{}`?", product),
               "two values side by side are not a product", fmt::format("write `{}`", product));
}

Diagnostic option_without_equals(Span at, std::string_view option, std::string_view right) {
  return error("E0522", at, fmt::format("`{}` has no `=`", option), "a `=` is missing here",
               "options of a clause are written `name = value`",
               fmt::format("write `{} = {} ...`", option, right));
}

Diagnostic two_words(Span at, std::string_view left, std::string_view right) {
  return error("E0522", at, fmt::format("`{}` follows `{}` without anything between", right, left),
               "an operator, `,` or `:` is missing here",
               "items of a clause are separated by `,` or `:`, values by operators",
               fmt::format("write `{0}, {1}`, `{0}: {1}` or `{0}*{1}`", left, right));
}

Diagnostic expected_expression(Span at, std::string_view found, std::string_view after) {
  const auto message = after.empty()
                           ? fmt::format("a value is expected, not {}", found)
                           : fmt::format("a value is expected after {}, not {}", after, found);
  const bool comment = after == "`/`" && (found == "`/`" || found == "`*`");
  return error(
      "E0523", at, message, "", "a value is a number, a name, a call or an expression",
      comment ? "a comment begins with `#`" : "write the value, or remove what asks for it");
}

Diagnostic unexpected(Span at, std::string_view found, std::string_view wanted) {
  return error("E0524", at, fmt::format("{} where {} was expected", found, wanted), "",
               "an expression is values joined by operators", "remove it or add what is missing");
}

Diagnostic too_deep(Span at, int limit) {
  return error("E0525", at, fmt::format("nested more than {} deep", limit), "",
               fmt::format("brackets, signs and bodies nest at most {} deep", limit),
               "give a part of it a name of its own");
}

Diagnostic too_many_terms(Span at, int limit) {
  return error("E0526", at,
               fmt::format("an expression with more than {} operations in a row", limit), "",
               fmt::format("an expression's tree is at most {} deep", limit),
               "use `sum`, or give parts names of their own");
}

Diagnostic chained_comparison(Span at, Span first) {
  return with_label(error("E0527", at, "comparisons do not chain", "", "a comparison has two sides",
                          "write `a < b and b < c`"),
                    first, "the first comparison");
}

Diagnostic equals_in_expression(Span at) {
  return error("E0528", at, "`=` inside an expression", "", "`=` defines, `==` compares",
               "write `==`");
}

Diagnostic select_without_else(Span at) {
  return error("E0529", at, "`if` without `else`", "",
               "a select has both values: `value if condition else other`",
               "add `else` and the other value");
}

Diagnostic shift_operand(Span at, std::string_view found) {
  return error("E0530", at, fmt::format("`@` needs a direction, not {}", found), "",
               "after `@` stands `k`, `-k` or bracketed offsets",
               "write `u@x` for the next site along x, `u@-x` for the one before, or brackets with "
               "one number for each axis: `u@(2)` on a line, `u@(1,0,-1)` in three dimensions");
}

Diagnostic prime_of(Span at, std::string_view what) {
  return error("E0531", at, fmt::format("`'` cannot follow {}", what), "",
               "`'` is the time derivative of a variable or of a defined name",
               "name the expression (`q = ...`) and write `q'`; strings are quoted with `\"`");
}

Diagnostic empty_brackets(Span at, std::string_view what) {
  return error("E0532", at, fmt::format("{} without anything inside", what), "",
               "an index, a list and a group hold at least one value", "write the value");
}

Diagnostic not_a_unit(Span at, std::string_view found) {
  return error("E0533", at, fmt::format("`{}` is not a unit", found), "",
               "`[ ]` after a number holds a unit: names with powers, `*` and `/`",
               "write, for instance, `5 [GeV]` or `0.2 [fm^-3]`");
}

Diagnostic option_name(Span at, std::string_view found) {
  return error("E0534", at, fmt::format("`=` needs a name on its left, not `{}`", found), "",
               "an option in a call is `name = value`", "write a name, or `==` to compare");
}

// ---- definitions and clauses ------------------------------------------------------------------

Diagnostic second_equals(Span at, Span first) {
  return with_label(
      error("E0535", at, "a second `=` on one line", "", "a definition has one `=`; `==` compares",
            "write `==` to compare, or `,` before a name that has a value of its own"),
      first, "the first one");
}

Diagnostic dotted_head(Span at, std::string_view name) {
  return error("E0542", at, fmt::format("`{}` cannot be defined", name), "",
               "a name with a dot is a construct's own (`frw.H`); it is read, never set",
               "choose a name without a dot");
}

Diagnostic head_argument(Span at, std::string_view found) {
  return error("E0536", at, fmt::format("`{}` cannot be a parameter", found), "",
               "on the left side stand plain names: `f(x, y) = ...`, `q[i,j] = ...`",
               "write a name");
}

Diagnostic empty_clause(Span keyword, std::string_view word) {
  return error("E0537", keyword, fmt::format("`{}` says nothing", word), "",
               "a clause is a keyword with items: `field phi: real`",
               "add the items, or remove the line");
}

Diagnostic bad_destination(Span at, std::string_view found) {
  return error("E0538", at, fmt::format("`->` needs a file, not {}", found), "",
               "output goes to `-> \"name.h5\"` or to a writer such as `-> ildg(\"conf\")`",
               "write the file's name in quotes");
}

Diagnostic body_of_definition(Span at, std::string_view name) {
  return error("E0539", at, fmt::format("`{}` is a definition and has no body", name), "",
               "only a clause has a body in braces",
               "write the parts as definitions on lines of their own");
}

Diagnostic where_after_definition(Span at) {
  return error("E0540", at, "`where` belongs to a clause", "",
               "every definition of the model is seen by every other, in any order",
               "write what follows `where` on a line of its own");
}

Diagnostic where_fact(Span at, std::string_view found) {
  return error("E0541", at, fmt::format("`name = value` is expected in `where`, not {}", found), "",
               "`where` holds local definitions, separated by `,`", "write `where w = 1/2`");
}

}  // namespace vphi::dsl::syntax
