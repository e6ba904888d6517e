#ifdef VPHI_HAVE_HDF5

#include "runtime/io/hdf5/hdf5_scales.hpp"

#include <fmt/format.h>

#include <vector>

#include "runtime/io/results.hpp"

namespace vphi::io {

void check_written(herr_t status, const char* doing) {
  if (status < 0) throw ResultsError(fmt::format("HDF5 failed: {} (is the disk full?)", doing));
}

void text_attribute(hid_t where, const char* name, std::span<const std::string> texts, bool fixed) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, fixed ? texts[0].size() + 1 : H5T_VARIABLE);
  if (!fixed) H5Tset_cset(type, H5T_CSET_UTF8);
  const hsize_t count = texts.size();
  const hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr);
  const hid_t a = H5Acreate2(where, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  const herr_t status =
      H5Awrite(a, type, fixed ? static_cast<const void*>(pointers[0]) : pointers.data());
  H5Aclose(a), H5Sclose(space), H5Tclose(type);
  check_written(status, "writing an attribute");
}

void text_attribute(hid_t where, const char* name, const std::string& text, bool fixed) {
  text_attribute(where, name, std::span(&text, 1), fixed);
}

/// Texts of a scale have fixed length in the specification.
void make_scale(hid_t set, const std::string& name) {
  text_attribute(set, "CLASS", "DIMENSION_SCALE", true);
  text_attribute(set, "NAME", name, true);
}

void attach_scales(hid_t file, hid_t set, std::span<const std::string> scales,
                   std::span<const std::string> labels) {
  std::vector<hobj_ref_t> references(scales.size());
  std::vector<hvl_t> lists(scales.size());
  for (std::size_t i = 0; i < scales.size(); ++i) {
    check_written(H5Rcreate(&references[i], file, scales[i].c_str(), H5R_OBJECT, -1),
                  "naming an axis");
    lists[i] = {1, &references[i]};
  }
  const hid_t type = H5Tvlen_create(H5T_STD_REF_OBJ);
  const hsize_t count = scales.size();
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t a = H5Acreate2(set, "DIMENSION_LIST", type, space, H5P_DEFAULT, H5P_DEFAULT);
  const herr_t status = H5Awrite(a, type, lists.data());
  H5Aclose(a), H5Sclose(space), H5Tclose(type);
  check_written(status, "attaching axes");
  text_attribute(set, "DIMENSION_LABELS", labels);
}

bool there_is(hid_t file, const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    if (H5Lexists(file, path.substr(0, at).c_str(), H5P_DEFAULT) <= 0) return false;
  return H5Lexists(file, path.c_str(), H5P_DEFAULT) > 0;
}

void link_scale(hid_t file, const std::string& scale, const std::string& group) {
  const std::string path = group + scale.substr(scale.rfind('/'));
  if (there_is(file, path)) return;
  const hid_t create = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(create, 1);
  const herr_t status =
      H5Lcreate_hard(file, scale.c_str(), file, path.c_str(), create, H5P_DEFAULT);
  H5Pclose(create);
  check_written(status, "linking an axis");
}

}  // namespace vphi::io

#endif
