// Writes and reads data sets of HDF5 files as other programs do.
#pragma once

#ifdef VPHI_HAVE_HDF5

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "program/hdf5_read.hpp"

namespace vphi::testing {

/// A new file of one set of f64, or of pairs {r, i} of them, as h5py writes complex128.
inline void write_set(const std::string& path, const std::string& name,
                      const std::vector<hsize_t>& shape, const std::vector<double>& values,
                      bool pairs) {
  using hdf5::Handle;
  const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  const Handle pair(H5Tcreate(H5T_COMPOUND, 2 * sizeof(double)), H5Tclose);
  H5Tinsert(pair, "r", 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(pair, "i", sizeof(double), H5T_NATIVE_DOUBLE);
  const hid_t type = pairs ? hid_t{pair} : H5T_NATIVE_DOUBLE;
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                     H5Sclose);
  const Handle set(
      H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
}

struct SetRead {
  std::vector<std::int64_t> shape;
  std::vector<std::string> labels;  ///< of the dimensions
  std::vector<double> values;
};

inline SetRead read_set(const std::string& path, const std::string& name) {
  const hdf5::Handle file = hdf5::open_to_read(path), set = hdf5::open_set(file, name);
  SetRead read;
  const auto shape = hdf5::shape_of(set).value_or(std::vector<hsize_t>{});
  read.shape.assign(shape.begin(), shape.end());
  read.labels = hdf5::texts_attribute(set, "DIMENSION_LABELS");
  read.values.resize(hdf5::count_of(shape, hsize_t{1} << 20).value_or(0));
  H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.values.data());
  return read;
}

}  // namespace vphi::testing

#endif
