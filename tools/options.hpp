// Options of one verb: `--name VALUE`, `--name=VALUE`, `--flag`, `-o VALUE`, and plain arguments.
//
// A CommandLine is the table of a verb's options, bound to the caller's variables. `parse` sets
// them or throws UsageError, whose text names the error and the nearest existing option.
//
// CLI11 was tried instead. For `--devise cuda` its message is "The following arguments were not
// expected: cuda --devise", with status 109. Suggestions, messages and statuses would need this
// table again around it, and one file would take six seconds more to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "embed/error.hpp"

namespace vphi::tools {

/// An error of the user on the command line: exit status 1.
struct UsageError : embed::Error {
  UsageError(const std::string& message, std::string advice = {})
      : Error(message, std::move(advice)) {}
};

/// What a verb accepts, as its help shows it.
struct CommandTable {
  struct Option {
    std::string name, shown, help;   ///< shown empty: a flag
    std::vector<std::string> words;  ///< the values it can have; empty: any
  };
  std::string usage, summary;  ///< "run MODEL"; one sentence
  std::vector<Option> options;
  bool arguments = false;          ///< it takes plain arguments
  std::vector<std::string> words;  ///< the first can be; empty: models and files
};

class CommandLine {
 public:
  /// The table of the CommandLine that `call` parses words with; nothing else of the call is done.
  static CommandTable table_of(const std::function<void()>& call);

  /// `usage`: "run MODEL"; `summary`: one sentence.
  CommandLine(std::string usage, std::string summary);

  CommandLine& flag(std::string name, bool& to, std::string help);
  CommandLine& value(std::string name, std::string shown, std::string& to, std::string help);
  /// An option without a value, or with a value after `=`. The next word is its value where all
  /// arguments have been given before it.
  CommandLine& optional(std::string name, std::string shown, std::string& to, bool& given,
                        std::string help);
  /// An integer of at least `least`.
  CommandLine& number(std::string name, std::string shown, std::int64_t& to, std::int64_t least,
                      std::string help);
  /// The same, or the word `auto`, which sets `chosen`.
  CommandLine& number_or_auto(std::string name, std::int64_t& to, bool& chosen, std::int64_t least,
                              std::string help);
  /// May be given several times.
  CommandLine& list(std::string name, std::string shown, std::vector<std::string>& to,
                    std::string help);
  /// One of a few words.
  CommandLine& choice(std::string name, std::vector<std::string> words, std::string& to,
                      std::string help);
  /// Plain arguments in order, at least `required` and at most `most`. `words`: what shells offer
  /// for them (CommandTable::words).
  CommandLine& arguments(std::vector<std::string>& to, std::size_t required, std::size_t most,
                         std::vector<std::string> words = {});

  /// False after --help, which is printed.
  bool parse(const std::vector<std::string>& words);
  std::string help() const;
  /// Refuses an option that has no effect: where `idle` is true and the option was given, the error
  /// is "`--target` changes nothing here: " followed by `reason`.
  const CommandLine& obeyed(const std::string& name, bool idle, const std::string& reason) const;

 private:
  struct Option {
    std::string name, shown, help;  ///< shown empty: a flag
    std::function<void(const std::string&)> take;
    bool optional = false;
    bool given = false;
    bool repeats = false;                 ///< may be given several times
    std::vector<std::string> words = {};  ///< of a choice
  };
  Option& find(const std::string& name);

  std::string usage_, summary_;
  std::vector<Option> options_;
  std::vector<std::string>* arguments_ = nullptr;
  std::vector<std::string> words_;
  std::size_t required_ = 0, most_ = 0;
};

}  // namespace vphi::tools
