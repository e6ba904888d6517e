// Reads result files (HDF5 and CSV of runtime/io) into a Report.
//
// Series, tables and pictures are added to those in the report (an existing picture keeps its axes
// and gets the planes). Model text, parameters, lattice and seed are set where they are still
// empty. Long sequences of frames and large planes are read only as far as a page can show them. A
// file that cannot be read throws io::ResultsError.
#pragma once

#include <filesystem>

#include "runtime/report/report.hpp"

namespace vphi::report {

/// Origin of a file: written by this process, or unknown. A file of unknown origin is read in a
/// child process first (program/in_child_process.hpp), since libhdf5 crashes on some damaged files.
enum class Origin { Ours, Unknown };

void read_results(Report& report, const std::filesystem::path& file,
                  Origin origin = Origin::Unknown);

/// Whether the file exists and has the name of a result file: .h5, .series.csv, .GROUP.csv.
bool is_result_file(const std::filesystem::path& path);

/// The result files of a folder (see is_result_file), sorted by name.
std::vector<std::filesystem::path> result_files(const std::filesystem::path& folder);

/// Names and ranges of a picture's axes, from the program whose output it is.
void name_axes(Report& report, const program::Program& program);

}  // namespace vphi::report
