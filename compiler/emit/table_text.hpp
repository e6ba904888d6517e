// Tables of a kernel as text: constant arrays and the functions that read them.
//
// A Lookup is one read at a position that is always inside: the position is clamped with two
// selects, so there is no branch and no stray access, whatever the argument is (NaN reads the first
// entry). The entries are constants of the source, in the precision of the code that reads them.
#pragma once

#include <string>

#include "compiler/emit/dialect.hpp"
#include "compiler/kernel/kernel.hpp"

namespace vphi::emit {

/// Arrays and functions of all tables that the kernel reads; empty where there is none.
std::string table_functions(const kernel::Kernel& kernel, Language language);

/// Name of the function that reads a table.
std::string table_function(int table, Precision precision);

}  // namespace vphi::emit
