// The HDF5 part of read.hpp; without the library it throws io::ResultsError.
#pragma once

#include <filesystem>

#include "runtime/report/read.hpp"

namespace vphi::report {

void read_hdf5(Report& report, const std::filesystem::path& file, Origin origin = Origin::Unknown);

}  // namespace vphi::report
