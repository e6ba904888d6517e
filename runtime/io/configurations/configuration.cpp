#include "runtime/io/configurations/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/io/configurations/ildg.hpp"
#include "runtime/io/configurations/milc.hpp"
#include "runtime/io/configurations/nersc.hpp"
#include "runtime/io/configurations/openqcd.hpp"

namespace vphi::io {

using Problem = ConfigurationError::Problem;

Configuration unit_configuration(int colours, const Extents& extent) {
  Configuration unit;
  unit.colours = colours;
  unit.extent = extent;
  unit.links.resize(static_cast<std::size_t>(unit.sites()) * 4 * unit.entries());
  for (std::size_t at = 0; at < unit.links.size(); ++at) {
    const std::size_t entry = at % unit.entries();
    if (entry / colours == entry % colours) unit.links[at] = 1;
  }
  return unit;
}

std::string shown_extents(const Extents& extent) {
  std::string text;
  for (std::size_t first = 0; first < 4;) {
    std::size_t last = first;
    while (last < 4 && extent[last] == extent[first]) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : " x ", extent[first]);
    if (last - first > 1) text += fmt::format("^{}", last - first);
    first = last;
  }
  return text;
}

void must_be_wanted(const std::string& file, const Extents& extent, const ConfigurationWish& wish) {
  if (!wish.extent || *wish.extent == extent) return;
  throw ConfigurationError(
      Problem::Extents,
      fmt::format("{} is a configuration of a lattice of {} sites (x, y, z, t), the model's has "
                  "{}; write `lattice` as in the file or take another file",
                  file, shown_extents(extent), shown_extents(*wish.extent)));
}

void must_be_wanted(const std::string& file, int colours, const ConfigurationWish& wish) {
  if (!wish.colours || *wish.colours == colours) return;
  const auto group = [](int n) { return n == 1 ? std::string("U(1)") : fmt::format("SU({})", n); };
  throw ConfigurationError(
      Problem::Group, fmt::format("{} has links of {}, the model's are of {}; write `gauge` as in "
                                  "the file or take another file",
                                  file, group(colours), group(*wish.colours)));
}

std::int64_t checked_sites(const std::string& file, const Extents& extent) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  std::int64_t sites = 1;
  for (const std::int64_t n : extent) {
    if (n < 1 || n > kMost / sites)
      throw ConfigurationError(
          Problem::Damaged,
          fmt::format("{} says its lattice is {}; extents are at least 1 and no file holds more "
                      "than 2^40 sites: it is damaged, copy it again",
                      file, shown_extents(extent)));
    sites *= n;
  }
  return sites;
}

ConfigurationFile read_configuration(ByteStream& stream, const ConfigurationWish& wish) {
  if (looks_like_lime(stream)) return read_ildg(stream, wish);
  if (looks_like_nersc(stream)) return read_nersc(stream, wish);
  if (looks_like_milc(stream)) return read_milc(stream, wish);
  if (looks_like_openqcd(stream)) return read_openqcd(stream, wish);
  throw ConfigurationError(
      Problem::Unknown,
      fmt::format("{} begins neither as a LIME file (ILDG) nor with BEGIN_HEADER (NERSC), nor as a "
                  "file of MILC or openQCD; other formats have to be converted",
                  stream.name()));
}

ConfigurationFile read_configuration(const std::filesystem::path& path,
                                     const ConfigurationWish& wish) {
  ByteStream stream(path);
  return read_configuration(stream, wish);
}

}  // namespace vphi::io
