// The kinds of output that are made from fields, as the model's text, the compiler, the runtime and
// the files use them.
//
// outputs.def has a row for each kind. The language, the compiler, the check of programs and the
// report need it is not used beyond this row. The code that computes the results from the arrays is
// in runtime/observe/kinds, one file for each kind.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace vphi::program {

enum class OutputKind {
#define VPHI_OUTPUT(kind, ...) kind,
#define VPHI_WRITTEN(kind, ...) kind,
#include "program/outputs.def"
};

/// Which arrays an output is made from (FieldOutput::buffer and `more`).
enum class OutputArrays {
  Each,  ///< one array; every real component of a value is an output of its own
  /// As Each; a map of two values has two. With averages over axes of the sweep also scalars of the
  /// instances.
  Counted,
  Summed,     ///< the components of a value, with weights: the results of the components are added
  WithRates,  ///< the components of f, then those of f'
  /// The components of a value, row by row; for complex values the real part comes first.
  Whole,
  Links,  ///< the real numbers of a site's links: [mu][row][column][re, im]
  /// The value whose level defines a surface, then the components of what its elements carry.
  Carried,
};

/// What FieldOutput::axis means.
enum class OutputAxis {
  None,    ///< it is not used
  Across,  ///< normal of a plane; -1: no plane, all sites are written
  /// The profile runs along this axis, averaged over the others (default: the first axis); -1: a
  /// function of the distance.
  Along,
  ByDistance,  ///< the same, but the default is the distance
};

/// What the rows of the results stand for, as a report shows them.
enum class OutputShape {
  WaveNumbers,    ///< one row for each shell of modes
  Counts,         ///< one row for each bin of values, or a map of two values
  Places,         ///< one row for each place along an axis, or for each distance
  Sites,          ///< values at sites of the lattice
  Configuration,  ///< a file of its own, which reports do not show
  /// One row for each element of a surface: its place, its normal, values there. Reports do not
  /// show them.
  Elements,
};

/// The unit of a column, given the unit of the value that the output is made from.
enum class ColumnUnit {
  Number,      ///< 1
  Value,       ///< unit of the value
  Squared,     ///< its square
  Inverse,     ///< its inverse
  WaveNumber,  ///< 1/length
  Distance,    ///< length
  Place,       ///< length, or 1 along an axis that counts its sites
  Defined,     ///< as the definition has it (docs/formulas.md): options change it
};

struct OutputColumn {
  std::string_view name;
  ColumnUnit unit = ColumnUnit::Number;
};

struct OutputRow {
  bool called;  ///< the model calls it by its name, `spectrum(phi)`
  OutputKind kind;
  std::string_view name;   ///< in the language and in programs
  std::string_view group;  ///< HDF5 group of its results
  OutputArrays arrays;
  OutputAxis axis;
  OutputShape shape;
  std::string_view options;  ///< separated by blanks
  std::array<OutputColumn, 5> column;
  std::size_t width;  ///< number of columns; 0: plain values with the unit of column[0]
};

namespace detail {

constexpr OutputRow output_row(bool called, OutputKind kind, std::string_view name,
                               std::string_view group, OutputArrays arrays, OutputAxis axis,
                               OutputShape shape, std::string_view options,
                               std::initializer_list<OutputColumn> columns) {
  OutputRow row{called, kind, name, group, arrays, axis, shape, options, {}, columns.size()};
  std::size_t i = 0;
  for (const OutputColumn& column : columns) row.column[i++] = column;
  if (row.width == 1 && row.column[0].name.empty()) row.width = 0;
  return row;
}

constexpr auto output_rows() {
  using enum ColumnUnit;
  return std::array{
#define VPHI_ROW(called, kind, name, group, arrays, axis, shape, options, meaning, ...)     \
  output_row(called, OutputKind::kind, name, group, OutputArrays::arrays, OutputAxis::axis, \
             OutputShape::shape, options, {__VA_ARGS__}),
#define VPHI_OUTPUT(...) VPHI_ROW(true, __VA_ARGS__)
#define VPHI_WRITTEN(...) VPHI_ROW(false, __VA_ARGS__)
#include "program/outputs.def"
#undef VPHI_ROW
  };
}

}  // namespace detail

/// The rows of outputs.def, in the order of OutputKind.
inline constexpr auto kOutputs = detail::output_rows();

constexpr const OutputRow& row_of(OutputKind kind) {
  return kOutputs[static_cast<std::size_t>(kind)];
}

/// The kind that a model calls by this name; null where there is none.
constexpr const OutputRow* output_named(std::string_view name) {
  for (const OutputRow& row : kOutputs)
    if (row.called && row.name == name) return &row;
  return nullptr;
}
/// Null where no kind has this group.
constexpr const OutputRow* output_of_group(std::string_view group) {
  for (const OutputRow& row : kOutputs)
    if (row.group == group) return &row;
  return nullptr;
}

}  // namespace vphi::program
