// Results of a sweep in an HDF5 file: datasets with a dimension for the rows and one for each axis.
//
// /series/NAME [rows, axis, ...] grows along its first dimension; /errors/NAME, /times/NAME and
// /steps/NAME go with it. /axes/NAME and /times/NAME are dimension scales of it (HDF5 Dimension
// Scale Specification: attributes CLASS, NAME, DIMENSION_LIST, DIMENSION_LABELS), so that readers
// show the axes by name. Datasets that are there already are continued behind their last row.
// Included where HDF5 is. The file belongs to the caller. Throws ResultsError.
#pragma once

#include <hdf5.h>

#include <map>
#include <string>

#include "runtime/io/results.hpp"

namespace vphi::io {

class Hdf5Sweep {
 public:
  Hdf5Sweep(hid_t file, const program::Program& program) : file_(file), program_(program) {}
  ~Hdf5Sweep();
  Hdf5Sweep(const Hdf5Sweep&) = delete;
  Hdf5Sweep& operator=(const Hdf5Sweep&) = delete;

  void add(const Moment& at, std::span<const Swept> values);
  void plot(const std::string& name, const std::string& against, std::span<const double> x,
            std::span<const double> y, std::span<const double> error);
  /// Groups of these results hold datasets, not groups of moments.
  static bool owns(const std::string& group);

 private:
  struct Rows {
    hid_t series = -1, errors = -1, times = -1, steps = -1;
    hsize_t count = 0;
    std::int64_t last_step = -1;
  };
  Rows& rows(const Swept& value);
  hid_t growing(const std::string& path, const std::vector<hsize_t>& row, hid_t type);
  hid_t axis(std::size_t number);

  hid_t file_;
  const program::Program& program_;
  std::map<std::string, Rows> rows_;
};

/// Name of a link: a slash would open a group, a lone dot means the group itself.
std::string link_name(std::string name);

}  // namespace vphi::io
