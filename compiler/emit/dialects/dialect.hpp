// What differs between CUDA C++, OpenCL C and C++ when an expression is written down: types,
// literals and the names of functions. Everything else is levelled by the preludes in templates/.
#pragma once

#include <string>

#include "compiler/algebra/expr.hpp"
#include "compiler/emit/emit.hpp"

namespace vphi::emit {

using kernel::Precision;

enum class Language { Cuda, OpenCL, Cpp };
Language language_of(program::Target target);

/// Spelling of a floating-point type.
const char* type_name(Precision precision);
int bytes_of(Precision precision);

/// A literal that reads back as the number rounded once to `precision`; negative ones in brackets.
std::string literal(const algebra::Number& number, Precision precision);
std::string literal(long double value, Precision precision);

/// Name of the function for `op` (one or two real arguments) in a language; empty where `op` is not
/// a function call.
std::string function_name(algebra::Op op, Precision precision, Language language);

}  // namespace vphi::emit
