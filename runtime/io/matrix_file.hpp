// Matrices that sums over pairs read (`file("coupling.h5:C")[i,j]`): whole sets of two dimensions.
//
// "path.h5:set" is a set of an HDF5 file, any other name a text of rows, its numbers separated by
// blanks or commas, `#` before a comment. The compiler has looked at the file too, but a program
// may run later and elsewhere, so everything is checked again. Throws ResultsError where the file
// is missing, has another shape, or holds something that is not a finite number.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace vphi::io {

/// rows x columns numbers, row by row.
std::vector<double> read_matrix(const std::string& file, std::size_t rows, std::size_t columns);

}  // namespace vphi::io
