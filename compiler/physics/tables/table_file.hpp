// Reads tabulated numbers from files.
//
// Text: one row a line, columns separated by blanks or commas, `#` starts a comment. A table of one
// variable has its argument in the first column and the value in another (the second, or the one
// that `"name:3"` asks for); of two variables the arguments in the first two, all pairs there, in
// any order, or values on an even grid behind two lines that say where it is. HDF5,
// `"name.h5:set"`: a set of rows [n, 2 or more] is read as text is; any other set of one or two
// dimensions takes its arguments from the sets that its attribute `axes` names. An error is a
// TableError with the place in the file. Nothing is cached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace vphi::physics {

struct TableError : std::runtime_error {
  enum class Kind { File, Row, Axis, Hole, Shape, Size, Period };
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

/// The same for a text file or a data set "file:set".
Matrix read_file(const std::string& folder, const std::string& name);

/// Shape of a matrix that the run will read, and its name with an absolute path.
struct MatrixFile {
  std::string file;  ///< "/path/name.h5:set" or "/path/name"
  std::size_t rows = 0, columns = 0;
};
MatrixFile matrix_file(const std::string& folder, const std::string& name);

/// Requirements for the initial values of a field in a file.
struct FieldWanted {
  std::string field;  ///< its name, for messages
  /// Of the domain, slowest first: "y", "x"; for particles "body".
  std::vector<std::string> axes;
  std::vector<std::int64_t> extents;  ///< required extents; empty: any, the field is resampled
  /// Extents of the axes after those of the domain that give a value of the field's shape, in the
  /// order of preference: {3} for a vector, {3, 3} for a matrix. A number for each site is always
  /// accepted.
  std::vector<std::vector<std::int64_t>> values;
  /// Complex numbers, or a further axis of extent 2: real and imaginary part.
  bool complex = false;
  bool links = false;       ///< only the shapes in `values`, also of real numbers (angles)
  std::size_t indices = 0;  ///< number of indices after the file in the model
};

/// The field that was found.
struct FieldFound {
  std::string file;  ///< with absolute path: "/path/name.h5:set", "/path/name:column"
  std::vector<std::int64_t> leading;  ///< extents of the axes that the indices select from
  std::vector<std::int64_t> value;    ///< the shape from FieldWanted::values; empty: a number
  bool complex = false;               ///< two real numbers for each
  /// First column of a text, counted from 1; 0: `file` contains the name of the data set or column.
  int column = 0;
};

/// A field's initial values, "name.h5:set" or "name:column" or "name:first..last", after the file's
/// existence and shape have been checked. The run reads the numbers (runtime/io/field_file.hpp).
FieldFound field_file(const std::string& folder, const std::string& name,
                      const FieldWanted& wanted);
/// Extents of the data set of an HDF5 file, slowest axis first; empty for a text file.
std::vector<std::int64_t> shape_of_start(const std::string& folder, const std::string& name);
/// The name with an absolute path.
std::string located(const std::string& folder, const std::string& name);
/// Number of axes of the data set of an HDF5 file; nothing for a text file.
std::optional<std::size_t> axes_of_file(const std::string& folder, const std::string& name);

// table_hdf5.cpp
/// Shape of a data set, slowest axis first.
struct Hdf5Shape {
  std::vector<std::int64_t> dims;
  bool complex = false;  ///< pairs of real numbers, as h5py writes complex ones
};
Hdf5Shape dimensions_of_hdf5(const std::string& path, const std::string& set);
/// Rows and columns of a set, without its numbers; a set of one dimension is a column.
std::pair<std::size_t, std::size_t> shape_of_hdf5(const std::string& path, const std::string& set);
bool is_hdf5(const std::string& path);
/// A data set of two dimensions, or of one dimension as a column; `axes`: the arguments named by
/// its attribute, if any.
struct Hdf5Set {
  std::vector<std::size_t> shape;
  std::vector<double> values;
  std::vector<std::vector<double>> axes;
};
Hdf5Set read_hdf5(const std::string& path, const std::string& set);

}  // namespace vphi::physics
