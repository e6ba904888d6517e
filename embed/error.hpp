// The one type of errors for users: an error in a model, an unknown option, a run that fails, a
// device that fails.
//
// The command prints an Error; the libraries for C++ and Python throw it. `vphi explain CODE`
// prints the page of `code`; `hint` is the fix, in one sentence. Errors of a model have all
// diagnostics and the place of the first.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace vphi::embed {

enum class ErrorKind {
  Usage,    ///< an option, a name or a call that is not valid
  Model,    ///< the text does not compile
  Run,      ///< the run cannot start or go on
  Broken,   ///< the state holds NaN, or has no primitive variables
  Device,   ///< the device or its compiler failed
  Results,  ///< a file cannot be read or written
  InUse,    ///< a view of the state exists, so the state must not change
};

/// One diagnostic of a model with its place. Lines and columns count from 1; 0: no place in a text.
struct Problem {
  std::string code, severity, message, rule, hint;
  std::string source;  ///< name of the text
  int line = 0, column = 0, end_line = 0, end_column = 0;
};

struct Error : std::runtime_error {
  explicit Error(const std::string& message, std::string advice = {},
                 std::string error_code = "E0810", ErrorKind what = ErrorKind::Usage)
      : std::runtime_error(message),
        code(std::move(error_code)),
        hint(std::move(advice)),
        kind(what) {}
  std::string code;  ///< "E0810"
  std::string hint;
  ErrorKind kind;
  std::vector<Problem> problems = {};  ///< of a model, in text order
  /// As the command shows it; empty: message and hint are complete.
  std::string text = {};
  std::string log = {};  ///< of a device's compiler
  /// Of a state with NaN: the term that caused it and its numbers, a line each.
  std::string cause = {};
  std::int64_t step = -1;  ///< of a state with NaN; -1: not known
  /// Of a state with NaN: the first site that has it, x first; empty: not known.
  std::vector<std::int64_t> site = {};
  int line = 0;  ///< of a state with NaN: the equation of the variable; 0: not known
};

}  // namespace vphi::embed
