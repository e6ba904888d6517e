// The kernels of a program in readable form: their source with names for the numbers and with the
// lines of the model as comments. The machine code would be the same.
#pragma once

#include <string>

#include "program/program.hpp"

namespace vphi::embed {

/// All kernels, or one of them, of a program compiled with CompileOptions::reading.
std::string readable_sources(const program::Program& program, const std::string& only);

}  // namespace vphi::embed
