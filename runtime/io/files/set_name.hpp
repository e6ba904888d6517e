// Names of data sets in HDF5 files, in the notation of models: "path.h5:set",
// "path.hdf5:/group/set".
#pragma once

#include <optional>
#include <string>

namespace vphi::io {

struct SetName {
  std::string path, set;
};

/// Nothing where the name has another form.
inline std::optional<SetName> set_name(const std::string& file) {
  for (const char* ending : {".h5:", ".hdf5:"}) {
    const std::size_t at = file.rfind(ending);
    if (at == std::string::npos) continue;
    const std::size_t colon = file.find(':', at);
    return SetName{file.substr(0, colon), file.substr(colon + 1)};
  }
  return std::nullopt;
}

}  // namespace vphi::io
