// The files that `-> "name"` makes in an output folder, found again by their names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace vphi::io {

/// Those that are there, of this run or an earlier one: "run.h5" makes run.h5 and run.xdmf, "t.csv"
/// t.series.csv, t.series2.csv and so on, "c.ildg" c_00000000.ildg and so on. Files with similar
/// names (run.vphi, run.h5.bak) are not among them.
std::vector<std::filesystem::path> files_of_output(const std::filesystem::path& folder,
                                                   const std::string& name);

/// Where a file holds one moment: STEM_00000128.silo, of step 128.
std::filesystem::path file_of_moment(const std::filesystem::path& stem, std::int64_t step,
                                     const std::string& ending);
/// The step in the name of such a file; nothing where the name is another one's.
std::optional<std::int64_t> step_in(std::string_view file, std::string_view stem,
                                    std::string_view ending);
/// A run goes on from step `last`: the steps that have a file beside `stem`. Files of later steps
/// are removed.
std::set<std::int64_t> moments_kept(const std::filesystem::path& stem, const std::string& ending,
                                    std::int64_t last);

/// "profiles" of "name.profiles2.csv", a table as CSV; empty where it is none.
std::string csv_group(std::string_view file);

}  // namespace vphi::io
