// What stops a user's work, as one type: a mistake in a model, an option that is not understood, a
// run that breaks, a device that fails.
//
// The command prints an Error as a sentence, the libraries for C++ and Python hand it on. `code`
// has a page (docs/errors.md); `hint` is what to do, in one sentence. Errors of a model carry every
// diagnostic and the place of the first.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace vphi::embed {

enum class ErrorKind {
  Usage,    ///< an option, a name or a call that cannot be obeyed
  Model,    ///< the text does not compile
  Run,      ///< the run cannot start or go on
  Broken,   ///< the state holds NaN, or has no primitive variables
  Device,   ///< the device or its compiler failed
  Results,  ///< a file cannot be read or written
  InUse,    ///< the state is held still by a view
};

/// One mistake of a model, where it stands. Lines and columns from 1; 0: in no text.
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
  std::string text = {};               ///< as the command shows it; empty: message and hint say all
  std::string log = {};                ///< of a device's compiler
  std::string cause = {};              ///< of a broken state: the term and its numbers, a line each
  std::int64_t step = -1;              ///< of a broken state; -1: not known
};

}  // namespace vphi::embed
