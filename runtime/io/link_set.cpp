#include "runtime/io/link_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

#include "runtime/io/files/set_name.hpp"
#include "runtime/io/start_error.hpp"

#ifdef VPHI_HAVE_HDF5
#include "program/hdf5_read.hpp"
#endif

namespace vphi::io {
namespace {

#ifdef VPHI_HAVE_HDF5

using hdf5::Handle;
using Problem = ConfigurationError::Problem;

[[noreturn]] void fail(const std::string& message) { throw StartError(message); }

struct Numbers {
  bool angles = false;
  std::vector<std::complex<double>> links;  ///< [site][mu below dims][row][column]
};

Numbers read_opened(const std::string& path, const std::string& name, int dims, int colours,
                    const Extents& extent) {
  const Handle file = hdf5::open_to_read(path);
  if (file < 0) fail(hdf5::why_not_opened(path));
  const Handle set = hdf5::open_set(file, name);
  if (set < 0) fail(fmt::format("{} has no set `{}`; {}", path, name, hdf5::sets_of(file)));
  std::vector<hsize_t> links;
  for (int axis = dims; axis-- > 0;)
    links.push_back(static_cast<hsize_t>(extent[static_cast<std::size_t>(axis)]));
  links.push_back(static_cast<hsize_t>(dims));
  auto matrices = links;
  matrices.insert(matrices.end(), 2, static_cast<hsize_t>(colours));
  const auto shape = hdf5::shape_of(set).value_or(std::vector<hsize_t>{});
  const auto kind = hdf5::number_kind(set);
  const auto has = [&](std::vector<hsize_t> wanted, bool pairs) {
    if (pairs) wanted.push_back(2);
    return shape == wanted;
  };
  const bool phases = colours == 1;
  const bool compound = kind == hdf5::NumberKind::Complex;
  Numbers found;
  found.angles = kind && !compound && phases && has(links, false);
  const bool fits =
      found.angles || (kind && (has(matrices, !compound) || (phases && has(links, !compound))));
  if (!fits)
    throw ConfigurationError(
        Problem::Extents,
        fmt::format("{}:{} has the shape ({}); links of this model have ({}), complex or with one "
                    "more axis of 2",
                    path, name, fmt::join(shape, ", "), fmt::join(matrices, ", ")));
  std::size_t count = 1;
  for (const hsize_t n : matrices) count *= n;
  found.links.resize(count);
  Handle type(H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose);
  if (compound) {  // by place: other programs call the two parts otherwise
    const Handle stored(H5Dget_type(set), H5Tclose);
    type = Handle(H5Tcreate(H5T_COMPOUND, 2 * sizeof(double)), H5Tclose);
    for (unsigned part = 0; part < 2; ++part) {
      char* member = H5Tget_member_name(stored, part);
      if (member != nullptr) H5Tinsert(type, member, part * sizeof(double), H5T_NATIVE_DOUBLE);
      H5free_memory(member);
    }
  }
  std::vector<double> angles(found.angles ? count : 0);
  void* to = found.angles ? static_cast<void*>(angles.data()) : found.links.data();
  if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) < 0)
    fail(fmt::format("{}:{} cannot be read as numbers", path, name));
  for (std::size_t i = 0; i < angles.size(); ++i) found.links[i] = std::polar(1.0, angles[i]);
  return found;
}

#endif

}  // namespace

bool names_link_set(const std::string& file) { return set_name(file).has_value(); }

#ifdef VPHI_HAVE_HDF5

ConfigurationFile read_link_set(const std::string& file, int dims, int colours,
                                const Extents& extent) {
  const auto [path, name] = set_name(file).value_or(SetName{});
  const Numbers found = hdf5::read_stranger(
      path, [&] { return read_opened(path, name, dims, colours, extent); }, fail);
  ConfigurationFile result;
  result.configuration = unit_configuration(colours, extent);
  result.facts.format = "HDF5";
  const std::size_t entries = result.configuration.entries();
  auto from = found.links.begin();
  for (std::int64_t site = 0; site < result.configuration.sites(); ++site)
    for (int mu = 0; mu < dims; ++mu, from += static_cast<std::ptrdiff_t>(entries))
      std::copy_n(from, entries, result.configuration.link(site, mu).begin());
  return result;
}

#else

ConfigurationFile read_link_set(const std::string& file, int, int, const Extents&) {
  throw StartError(fmt::format("{}: this build reads no HDF5 (apt-get install libhdf5-dev)", file));
}

#endif

}  // namespace vphi::io
