// Matrices for sums over pairs (`file("coupling.h5:C")[i,j]`): whole data sets of two dimensions.
//
// "path.h5:set" is a data set of an HDF5 file. Any other name is a text file of rows, with numbers
// separated by blanks or commas, and comments after `#`. The compiler has checked the file too, but
// a program may run later and elsewhere, so everything is checked again. Throws StartError where
// the file is missing, has another shape, or contains a number that is not finite.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace vphi::io {

/// rows x columns numbers, row by row.
std::vector<double> read_matrix(const std::string& file, std::size_t rows, std::size_t columns);

}  // namespace vphi::io
