// The kinds of output that are made of fields: one notion from the model's text to its files.
//
// outputs.def has a row for each. What a row says is enough for the language, the compiler, the
// check of programs and the report; what is computed of the arrays stands in a file of
// runtime/observe/kinds.
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

/// The arrays of an output (FieldOutput::buffer and `more`).
enum class OutputArrays {
  Each,       ///< one; every real component of a value is an output of its own
  Counted,    ///< as Each; a map has two. Over axes of the sweep also scalars of its instances
  Summed,     ///< the components of a value, weighted: what is computed of them is added
  WithRates,  ///< the components of f, then those of f'
  Whole,      ///< the components of a value row by row, of complex ones real before imaginary part
  Links,      ///< the real numbers of a site's links: [mu][row][column][re, im]
};

/// What FieldOutput::axis means.
enum class OutputAxis {
  None,        ///< nothing
  Across,      ///< the plane is across it; -1: there is no plane, all sites are written
  Along,       ///< averaged over the others, by itself the first; -1: by distance
  ByDistance,  ///< the same, by itself by distance
};

/// What the results lie along, as a report shows them.
enum class OutputShape {
  WaveNumbers,    ///< rows for shells of modes
  Counts,         ///< rows for bins of values; a map of two values
  Places,         ///< rows for places along an axis, or for distances
  Sites,          ///< values at sites of the lattice
  Configuration,  ///< a file of its own, which no report shows
};

/// The unit of a column, of an output of `value`.
enum class ColumnUnit {
  Number,      ///< 1
  Value,       ///< that of the value
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
  bool called;  ///< by its name, `spectrum(phi)`
  OutputKind kind;
  std::string_view name;   ///< in the language and in programs
  std::string_view group;  ///< of its results in files
  OutputArrays arrays;
  OutputAxis axis;
  OutputShape shape;
  std::string_view options;  ///< separated by blanks
  std::array<OutputColumn, 5> column;
  std::size_t width;  ///< columns; 0: plain values, whose unit is that of column[0]
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

/// In the order of the enum.
inline constexpr auto kOutputs = detail::output_rows();

constexpr const OutputRow& row_of(OutputKind kind) {
  return kOutputs[static_cast<std::size_t>(kind)];
}

/// The kind that is called by this name; null where there is none.
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
