// Result files read back into a Report: HDF5 and CSV as runtime/io writes them.
//
// Series, tables and pictures are added to what the report has (a picture that is there keeps its
// axes and gets the planes); the description (model text, parameters, lattice, seed) fills what is
// still empty. Long sequences of frames and large planes are read as far as a page can show them. A
// file that cannot be read throws io::ResultsError.
#pragma once

#include <filesystem>

#include "runtime/report/report.hpp"

namespace vphi::report {

/// Who wrote a file: this process a moment ago, or somebody unknown. A file of unknown origin is
/// read in a child process first (program/in_child_process.hpp), since libhdf5 crashes on some
/// damaged files.
enum class Origin { Ours, Unknown };

void read_results(Report& report, const std::filesystem::path& file,
                  Origin origin = Origin::Unknown);

/// Whether there is such a file and its name is that of results: .h5, .series.csv, .GROUP.csv.
bool is_result_file(const std::filesystem::path& path);

/// The result files of a folder (see is_result_file), by name; snapshots stay unread.
std::vector<std::filesystem::path> result_files(const std::filesystem::path& folder);

/// Names and ranges of a picture's axes, from the program whose output it is.
void name_axes(Report& report, const program::Program& program);

}  // namespace vphi::report
