// Freeze-out surfaces for other programs: `-> music("gold", ...)` makes gold.music, to which each
// output appends its elements (program/surface_formats.hpp). Each instance of a sweep has a file of
// its own, gold_event=3.music; a file is open only while elements are written, so there may be
// many.
//
// A checkpoint keeps the lengths of the files; a run that goes on from it cuts them to these, and
// removes those of instances that had none then. A file that has become shorter is not continued
// (ResultsError).
#pragma once

#include "runtime/io/results.hpp"
#include "runtime/io/surfaces/element.hpp"

namespace vphi::io {

bool holds_surface(const std::filesystem::path& path);
/// The file of an instance of a sweep (io::Table::instance); `path` itself where it is empty.
std::filesystem::path path_of_instance(const std::filesystem::path& path,
                                       const std::string& instance);
std::unique_ptr<ResultFile> open_surface(const std::filesystem::path& path,
                                         const program::Program& program, const Keep& keep = {});

/// The element of a row of a surface's table, by the names of its columns.
SurfaceElement surface_element(std::span<const std::string> columns, std::span<const double> row);

}  // namespace vphi::io
