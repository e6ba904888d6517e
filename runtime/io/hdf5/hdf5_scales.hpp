// Dimension scales of HDF5 data sets, in the form that readers of netCDF (xarray, h5netcdf) need.
//
// HDF5 Dimension Scale Specification: a scale has the attributes CLASS and NAME, a dataset that
// uses it DIMENSION_LIST (references) and DIMENSION_LABELS. NetCDF looks for the scales of a
// dataset by name in its own group, so each group that uses one has a link to it. The list of the
// data sets that use a scale would have to be rewritten for every data set. It is omitted; readers
// do not need it. Only for builds with HDF5. Throws ResultsError.
#pragma once

#include <hdf5.h>

#include <span>
#include <string>

namespace vphi::io {

/// Throws where a write failed.
void check_written(herr_t status, const char* doing);

void text_attribute(hid_t where, const char* name, std::span<const std::string> texts,
                    bool fixed = false);
void text_attribute(hid_t where, const char* name, const std::string& text, bool fixed = false);

void make_scale(hid_t set, const std::string& name);
/// `scales`: paths, one for each dimension.
void attach_scales(hid_t file, hid_t set, std::span<const std::string> scales,
                   std::span<const std::string> labels);
/// Adds a link to the scale in another group, under the last part of its name.
void link_scale(hid_t file, const std::string& scale, const std::string& group);
bool there_is(hid_t file, const std::string& path);

}  // namespace vphi::io
