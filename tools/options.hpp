// Options of one verb: `--name VALUE`, `--name=VALUE`, `--flag`, `-o VALUE`, and plain arguments.
//
// A CommandLine is a table of what a verb understands, bound to the caller's variables; `parse`
// fills them or throws UsageError, whose text names the mistake and the nearest thing that exists.
//
// CLI11 was tried in its place: to `--devise cuda` it answers "The following arguments were not
// expected: cuda --devise" and status 109. The nearest option, our sentences and our statuses would
// be this table again around it, and one file would take six seconds more to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace vphi::tools {

/// The user's mistake on the command line: exit status 1.
struct UsageError : std::runtime_error {
  UsageError(const std::string& message, std::string advice = {})
      : std::runtime_error(message), hint(std::move(advice)) {}
  std::string hint;
};

class CommandLine {
 public:
  /// `usage`: "run MODEL"; `summary`: one sentence.
  CommandLine(std::string usage, std::string summary);

  CommandLine& flag(std::string name, bool& to, std::string help);
  CommandLine& value(std::string name, std::string shown, std::string& to, std::string help);
  /// May stand alone, or with a value behind `=`; the next word is its value where all
  /// arguments have been given before.
  CommandLine& optional(std::string name, std::string shown, std::string& to, bool& given,
                        std::string help);
  /// A whole number that is at least `least`.
  CommandLine& number(std::string name, std::string shown, std::int64_t& to, std::int64_t least,
                      std::string help);
  /// May be given several times.
  CommandLine& list(std::string name, std::string shown, std::vector<std::string>& to,
                    std::string help);
  /// One of a few words.
  CommandLine& choice(std::string name, std::vector<std::string> words, std::string& to,
                      std::string help);
  /// Plain arguments in order; `required` of them must be there.
  CommandLine& arguments(std::vector<std::string>& to, std::size_t required, std::size_t most);

  /// False where --help was asked for (and printed).
  bool parse(const std::vector<std::string>& words);
  std::string help() const;
  /// Refuses an option that was given where it would change nothing: `idle` says whether that is
  /// so, `reason` is printed after "`--target` changes nothing here: ".
  const CommandLine& obeyed(const std::string& name, bool idle, const std::string& reason) const;

 private:
  struct Option {
    std::string name, shown, help;  ///< shown empty: a flag
    std::function<void(const std::string&)> take;
    bool optional = false;
    bool given = false;
  };
  Option& find(const std::string& name);

  std::string usage_, summary_;
  std::vector<Option> options_;
  std::vector<std::string>* arguments_ = nullptr;
  std::size_t required_ = 0, most_ = 0;
};

}  // namespace vphi::tools
