// The table of clauses: keyword, form, options, body, target.
//
// One row per keyword. A new option takes a row here and its use in the stage that needs it. The
// checks of dsl/words/clause_check.cpp, the reference (docs/reference.md) and the information in
// editors follow from the table. Further properties of items (a shape, an initial value, an output)
// are checked in dsl/words/clause_facts.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vphi::dsl {

struct Clause;

/// The kind of value after an option's `=`.
enum class Takes {
  Number,    ///< one real number
  Positive,  ///< one real number above 0
  Lengths,   ///< positive, or a list of such
  Count,     ///< a whole number from 1 on
  Condition,
  Word,    ///< one of `words`, which are not names of the model
  Call,    ///< a word of `words`, perhaps with arguments: fixed(0), rows(2)
  Axes,    ///< a list of sweep axes
  Laws,    ///< a conserved quantity, a list of such, or `none`
  Values,  ///< a list of numbers or a range: [-1, 1], 0..q-1
  AtSite,  ///< an expression of the state at a site, a number
  Vector,  ///< the same with a component for each axis of the lattice
  Guess,   ///< a number, or an expression at a site with as many components as what is found
};

struct OptionRule {
  std::string_view name;
  std::string_view doc;  ///< one line
  Takes takes = Takes::Number;
  std::string_view words = {};  ///< separated by blanks
  bool required = false;
  std::string_view missing = {};  ///< the proposed fix where a required option is missing
  std::string_view unless = {};   ///< the option beside which it is not required
};

/// The meaning of items `name = value`.
enum class Heads { Options, Declares, Sets, Free };
enum class Need { Never, Perhaps, Always };

struct ClauseRule {
  std::string_view keyword;
  std::string_view usage;
  Heads heads = Heads::Options;
  int least = 0;  ///< items without `=`
  int most = -1;
  bool once = false;
  Need body = Need::Never;
  Need destination = Need::Never;
  std::span<const OptionRule> options;
  std::string_view inside;  ///< keyword of the clause in whose body it occurs
};

std::span<const ClauseRule> clause_rules();
const ClauseRule* find_clause(std::string_view keyword);
/// The documentation of a clause, in a sentence or two; empty for an unknown keyword.
std::string_view clause_doc(std::string_view keyword);
/// The keyword meant by an unknown one, in the body of the clause `inside` ("" at the top level):
/// that of the same thing in other languages, or the nearest one whose form the clause may have.
std::optional<std::string> near_keyword(const Clause& clause, std::string_view inside);
std::vector<std::string> option_names(const ClauseRule& rule);
std::vector<std::string> split_words(std::string_view words);
/// Whether an option of a clause has this name.
bool is_option(std::string_view name);

}  // namespace vphi::dsl
