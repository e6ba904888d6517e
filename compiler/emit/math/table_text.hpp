// Emits the tables of a kernel: constant arrays and the functions that read them.
//
// A Lookup is one read. The position is clamped with two selects, so for any argument there is
// neither a branch nor an access outside of the table (NaN reads the first entry). The entries are
// constants of the source, in the precision of the code that reads them. Tables that are always
// read together (the coefficients of a piece) are interleaved, so that a GPU reads them with one
// load. Where the expression of a position cannot be outside, CUDA text has no clamp.
#pragma once

#include <string>

#include "compiler/emit/dialects/dialect.hpp"
#include "compiler/emit/text/body.hpp"
#include "compiler/kernel/kernel.hpp"

namespace vphi::emit {

/// Arrays and functions of all tables that the kernel or one of the values in `handed` reads.
Code table_functions(const kernel::Kernel& kernel, const Dialect& dialect, const Handed& handed);

/// Name of the function that reads a table.
std::string table_function(int table, Precision precision);

}  // namespace vphi::emit
