// Finds the files of `-> "name"` in an output folder by their names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace vphi::io {

/// The existing files, of this run or an earlier one: "run.h5" makes run.h5 and run.xdmf, "t.csv"
/// t.series.csv, t.series2.csv and so on, "c.ildg" c_00000000.ildg and so on, "gold.music"
/// gold.music or, in a sweep, gold_event=3.music and so on. Files with similar
/// names (run.vphi, run.h5.bak) are not among them.
std::vector<std::filesystem::path> files_of_output(const std::filesystem::path& folder,
                                                   const std::string& name);

/// The name of a file for one moment: STEM_00000128.silo for step 128.
std::filesystem::path file_of_moment(const std::filesystem::path& stem, std::int64_t step,
                                     const std::string& ending);
/// The step in the name of such a file; nothing where the name has another form.
std::optional<std::int64_t> step_in(std::string_view file, std::string_view stem,
                                    std::string_view ending);
/// For a run that continues from step `last`: returns the steps with a file of this stem, and
/// removes files of later steps.
std::set<std::int64_t> moments_kept(const std::filesystem::path& stem, const std::string& ending,
                                    std::int64_t last);

/// The group in the name of a CSV table, "profiles" in "name.profiles2.csv"; empty for other names.
std::string csv_group(std::string_view file);

}  // namespace vphi::io
