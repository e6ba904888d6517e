// Tables of a kernel as text: constant arrays and the functions that read them.
//
// A Lookup is one read at a position that is always inside: the position is clamped with two
// selects, so there is no branch and no stray access, whatever the argument is (NaN reads the first
// entry). The entries are constants of the source, in the precision of the code that reads them.
// Tables that are always read together (the coefficients of a piece) lie entry by entry beside each
// other, so that a GPU takes them with one load; where the text of a position says that it is
// inside, CUDA spares the clamp.
#pragma once

#include <string>

#include "compiler/emit/dialects/dialect.hpp"
#include "compiler/emit/text/body.hpp"
#include "compiler/kernel/kernel.hpp"

namespace vphi::emit {

/// Arrays and functions of all tables that the kernel, or a value that it hands on, reads; empty
/// where there is none.
Code table_functions(const kernel::Kernel& kernel, const Dialect& dialect, const Handed& handed);

/// Name of the function that reads a table.
std::string table_function(int table, Precision precision);

}  // namespace vphi::emit
