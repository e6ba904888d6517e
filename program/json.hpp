// A Program as JSON text and back.
//
// The text is the interface between a machine that compiles and one that runs: `to_json` writes
// every field, `from_json` reads it back and checks it, so that a Program that was read can be run
// without further tests. Numbers are preserved exactly, NaN (null) and infinity ("inf") too.
// `problems` lists the rules that a Program breaks (indices in range, names present, shapes
// positive); `from_json` throws ProgramError with the first of them, or with the place of the first
// error in the text.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.hpp"

namespace vphi::program {

struct ProgramError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Indented by `indent` blanks; -1 puts everything on one line.
std::string to_json(const Program& program, int indent = 1);

/// Throws ProgramError.
Program from_json(std::string_view text);

/// One sentence for each broken rule; empty when the Program may be run.
std::vector<std::string> problems(const Program& program);

}  // namespace vphi::program
