// Freeze-out surfaces for other programs: `-> music("gold", ...)` makes gold.music, to which each
// output appends its elements (program/surface_formats.hpp).
//
// A checkpoint keeps the length of the file; a run that goes on from it cuts the file to that
// length. A file that has become shorter is not continued (ResultsError).
#pragma once

#include "runtime/io/results.hpp"
#include "runtime/io/surfaces/element.hpp"

namespace vphi::io {

bool holds_surface(const std::filesystem::path& path);
std::unique_ptr<ResultFile> open_surface(const std::filesystem::path& path, const Keep& keep = {});

/// The element of a row of a surface's table, by the names of its columns.
SurfaceElement surface_element(std::span<const std::string> columns, std::span<const double> row);

}  // namespace vphi::io
