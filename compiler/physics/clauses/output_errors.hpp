// Messages about the names and times of outputs.
#pragma once

#include <string>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

/// `first`: the other output of this name. `twice`: both are in one clause.
dsl::Diagnostic same_output_name(dsl::Span span, const std::string& name, const std::string& file,
                                 dsl::Span first, bool twice);

/// W0774: `at end` in a Markov chain shows only its last configuration. `unit`: "sweep",
/// "trajectory".
dsl::Diagnostic last_configuration(dsl::Span span, const std::string& name,
                                   const std::string& unit);

/// A file of this kind holds only such links.
dsl::Diagnostic links_in_file(dsl::Span span, const std::string& kind, const std::string& holds);

/// E0411: `text` is no snapshot of a spinor at all sites, which alone `file` takes.
dsl::Diagnostic no_spinor_in_file(dsl::Span span, const std::string& text, const std::string& file);

/// E0837: a surface that does not fit the format `word`.
dsl::Diagnostic surface_format(dsl::Span span, const std::string& word, const std::string& what,
                               const std::string& rule, const std::string& fix);

/// E0838: `name` is an array without columns, as of sites or of links, and `file` is a .csv file.
dsl::Diagnostic array_in_csv(dsl::Span span, const std::string& name, const std::string& file);

/// `every T:` in a chain, which has no time.
dsl::Diagnostic output_time_of_chain(dsl::Span span);
/// T is less than a step.
dsl::Diagnostic output_below_step(dsl::Span span, double steps);
/// An average over the time between outputs that are one step apart; `name`: that of the output.
dsl::Diagnostic average_of_one_step(dsl::Span span, const std::string& name,
                                    const std::string& unit);
/// `every N steps` with an N that is not a whole number.
dsl::Diagnostic output_between_steps(dsl::Span span, double steps);

/// E0111: a word that stands for several outputs, inside a formula.
dsl::Diagnostic several_outputs(dsl::Span span, const std::string& name, const std::string& doc);

}  // namespace vphi::physics::errors
