// The kernels of a program for people: what they are compiled from, with names for its numbers and
// the lines of the model beside them. The machine code would be the same.
#pragma once

#include <string>

#include "program/program.hpp"

namespace vphi::tools {

/// All kernels, or one of them, of a program compiled with CompileOptions::reading.
std::string readable_sources(const program::Program& program, const std::string& only);

}  // namespace vphi::tools
