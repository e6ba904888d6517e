// One kernel of a program as a file that compiles and runs by itself.
//
// The kernel's source, and a `main` that allocates the arrays it takes, fills them with smooth test
// data, launches it a few times, and prints the time a site and a checksum. To read, to profile, to
// play with: nothing of vphi is needed. The first lines say how to compile it.
#pragma once

#include <string>

#include "program/program.hpp"

namespace vphi::tools {

/// `kernel`: index in the program; its target decides the language (C++, CUDA, OpenCL with a host).
std::string stand_alone(const program::Program& program, int kernel);

}  // namespace vphi::tools
