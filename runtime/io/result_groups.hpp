// Names in a results file that no row of program/outputs.def gives: groups of HDF5 below the root,
// which in CSV are the middle of a table's file name ("NAME.series.csv"), and attributes that point
// from one dataset to others. What a group holds is described in results.hpp.
#pragma once

namespace vphi::io {

inline constexpr const char* kSeriesGroup = "series";  ///< scalars, which grow with the run
inline constexpr const char* kErrorsGroup = "errors";  ///< of averages, by the name of their series
inline constexpr const char* kPlotsGroup = "plots";    ///< x, y, error of what a run ends with
/// Coordinates of sites, edges of bins, values of axes of a sweep.
inline constexpr const char* kAxesGroup = "axes";
inline constexpr const char* kParametersGroup = "parameters";
inline constexpr const char* kModelText = "model_text";  ///< an attribute, or where long a dataset

/// Of a dataset: paths of those that hold its coordinates or edges, the slower axis first.
inline constexpr const char* kAxesAttribute = "axes";

}  // namespace vphi::io
