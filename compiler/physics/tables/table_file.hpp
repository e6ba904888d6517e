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
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace vphi::physics {

struct TableError : std::runtime_error {
  enum class Kind { File, Row, Axis, Hole, Shape };
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

/// What the start of a field wants of a file.
struct FieldWanted {
  std::string field;                  ///< its name, for messages
  std::vector<std::string> axes;      ///< of the domain, slowest first: "y", "x"; of bodies "body"
  std::vector<std::int64_t> extents;  ///< they must have these; empty: what is there is resampled
  /// Axes behind those of the domain that make a value of the field's shape, the likeliest first:
  /// {3} of a vector, {3, 3} of a matrix. A number for each site is always taken.
  std::vector<std::vector<std::int64_t>> values;
  bool complex = false;     ///< complex numbers, or one more axis of 2: real and imaginary part
  bool links = false;       ///< only what is in `values`, and also real numbers there (angles)
  std::size_t indices = 0;  ///< that stand behind the file in the model
};

/// What it has.
struct FieldFound {
  std::string file;  ///< whatever folder it is read from: "/path/name.h5:set", "/path/name:column"
  std::vector<std::int64_t> leading;  ///< lengths of the axes that the indices choose from
  std::vector<std::int64_t> value;    ///< the one of FieldWanted::values; empty: a number
  bool complex = false;               ///< two real numbers for each
  int column = 0;                     ///< of a text, the first, from 1; 0: `file` says it all
};

/// A field's initial values, "name.h5:set" or "name:column" or "name:first..last", once the file
/// was seen to be there and of that shape. What lies in it is read by the run
/// (runtime/io/field_file.hpp).
FieldFound field_file(const std::string& folder, const std::string& name,
                      const FieldWanted& wanted);
/// Whether the name is one of an HDF5 file, and axes of its set; nothing for a text.
std::optional<std::size_t> axes_of_file(const std::string& folder, const std::string& name);

// table_hdf5.cpp
/// Dimensions of a set, slowest first.
struct Hdf5Shape {
  std::vector<std::int64_t> dims;
  bool complex = false;  ///< pairs of real numbers, as h5py writes complex ones
};
Hdf5Shape dimensions_of_hdf5(const std::string& path, const std::string& set);
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
