// Tabulated numbers as they lie in a file.
//
// Text: one row a line, columns separated by blanks or commas, `#` starts a comment. A table of one
// variable has its argument in the first column and the value in another (the second, or the one
// that `"name:3"` asks for); of two variables the arguments in the first two, all pairs there, in
// any order. HDF5, `"name.h5:set"`: a set of rows [n, 2 or more] is read as text is; any other set
// of one or two dimensions takes its arguments from the sets that its attribute `axes` names.
// A mistake is a TableError that says where in the file it is. Nothing is cached here.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace vphi::physics {

struct TableError : std::runtime_error {
  enum class Kind { File, Row, Axis, Hole };
  TableError(Kind what, const std::string& message) : std::runtime_error(message), kind(what) {}
  Kind kind;
};

/// Values over a grid, the last axis fastest.
struct TableData {
  std::vector<std::vector<double>> axes;  ///< ascending; one or two
  std::vector<double> values;
};

/// `name` as written in the model; relative names start in `folder`.
TableData read_table(const std::string& folder, const std::string& name, std::size_t arguments);

/// All numbers of a text file, row by row; rows have one length.
struct Matrix {
  std::size_t columns = 0;
  std::vector<double> values;
  std::vector<int> lines;  ///< where each row stands
  std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
};
Matrix read_matrix(const std::string& path);

/// The same for "file:set" of a model.
Matrix read_file(const std::string& folder, const std::string& name);

/// Shape of a matrix that the run will read, and its name whatever folder it is read from.
struct MatrixFile {
  std::string file;  ///< "/path/name.h5:set" or "/path/name"
  std::size_t rows = 0, columns = 0;
};
MatrixFile matrix_file(const std::string& folder, const std::string& name);

/// A field's initial values, "name.h5:set" or "name:column", for a lattice of so many dimensions:
/// its name whatever folder it is read from, once the file was seen to be there and of that form.
/// What lies in it is read by the run (runtime/io/field_file.hpp).
std::string field_file(const std::string& folder, const std::string& name, int dims);

// table_hdf5.cpp
/// Dimensions of a set, slowest first.
std::vector<std::size_t> dimensions_of_hdf5(const std::string& path, const std::string& set);
/// Rows and columns of a set, without its numbers; a set of one dimension is a column.
std::pair<std::size_t, std::size_t> shape_of_hdf5(const std::string& path, const std::string& set);
bool is_hdf5(const std::string& path);
/// A set of two dimensions, or of one as a column; `axes`: those of its attribute, if any.
struct Hdf5Set {
  std::vector<std::size_t> shape;
  std::vector<double> values;
  std::vector<std::vector<double>> axes;
};
Hdf5Set read_hdf5(const std::string& path, const std::string& set);

}  // namespace vphi::physics
