// The files that `-> "name"` makes in an output folder, found again by their names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace vphi::io {

/// Those that are there, of this run or an earlier one: "run.h5" makes run.h5 and run.xdmf, "t.csv"
/// t.series.csv, t.series2.csv and so on, "c.ildg" c_00000000.ildg and so on. Files with similar
/// names (run.vphi, run.h5.bak) are not among them.
std::vector<std::filesystem::path> files_of_output(const std::filesystem::path& folder,
                                                   const std::string& name);

}  // namespace vphi::io
