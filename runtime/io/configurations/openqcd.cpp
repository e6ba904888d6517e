#include "runtime/io/configurations/openqcd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "runtime/io/configurations/wilson_loop.hpp"
#include "runtime/io/files/real_bytes.hpp"

namespace vphi::io {

using Problem = ConfigurationError::Problem;

namespace {

constexpr std::size_t kOpenqcdHeader = 24;
constexpr std::size_t kOddSite = std::size_t{8} * 9 * 16;  ///< bytes of the links of an odd site
constexpr double kPlaquetteError = 1e-9;
constexpr std::int64_t kMostExtent = 1 << 20;

struct OpenqcdHeader {
  Extents extent{1, 1, 1, 1};
  double plaquette = 0;
};

/// Place of the axis `mu` of the file among x, y, z, t.
std::size_t our_axis(std::size_t mu) { return mu == 0 ? 3 : mu - 1; }

OpenqcdHeader header_of(std::span<const std::byte> bytes) {
  OpenqcdHeader header;
  for (std::size_t mu = 0; mu < 4; ++mu)
    header.extent[our_axis(mu)] =
        static_cast<std::int32_t>(word_at<std::uint32_t>(&bytes[4 * mu], std::endian::little));
  header.plaquette = std::bit_cast<double>(word_at<std::uint64_t>(&bytes[16], std::endian::little));
  return header;
}

/// Calls `use(site, mu)` for the eight links of each odd site in the order of the file; `row`
/// begins before those of a row along x3.
template <class Row, class Use>
void for_odd_sites(const Extents& n, const Row& row, const Use& use) {
  const auto site = [&n](const std::array<std::int64_t, 4>& x) {
    return x[0] + n[0] * (x[1] + n[1] * (x[2] + n[2] * x[3]));
  };
  std::array<std::int64_t, 4> at{};  // x, y, z, t
  for (at[3] = 0; at[3] < n[3]; ++at[3])
    for (at[0] = 0; at[0] < n[0]; ++at[0])
      for (at[1] = 0; at[1] < n[1]; ++at[1]) {
        row();
        for (at[2] = (1 + at[0] + at[1] + at[3]) % 2; at[2] < n[2]; at[2] += 2)
          for (std::size_t mu = 0; mu < 4; ++mu) {
            const std::size_t axis = our_axis(mu);
            auto before = at;
            before[axis] = (before[axis] + n[axis] - 1) % n[axis];
            use(site(at), static_cast<int>(axis));
            use(site(before), static_cast<int>(axis));
          }
      }
}

}  // namespace

bool looks_like_openqcd(const ByteStream& stream) {
  std::array<std::byte, kOpenqcdHeader> bytes{};
  if (stream.peek(bytes) < bytes.size()) return false;
  const OpenqcdHeader header = header_of(bytes);
  return std::ranges::all_of(
             header.extent,
             [](std::int64_t n) { return n >= 2 && n <= kMostExtent && n % 2 == 0; }) &&
         std::abs(header.plaquette) < 3.001;
}

ConfigurationFile read_openqcd(ByteStream& stream, const ConfigurationWish& wish) {
  std::array<std::byte, kOpenqcdHeader> bytes{};
  if (!looks_like_openqcd(stream) || stream.read(bytes) < bytes.size())
    throw ConfigurationError(
        Problem::Damaged, fmt::format("{} does not begin with four even extents and a plaquette: "
                                      "it is no openQCD file, or damaged; copy it again",
                                      stream.name()));
  const OpenqcdHeader header = header_of(bytes);
  const std::int64_t sites = checked_sites(stream.name(), header.extent);
  must_be_wanted(stream.name(), header.extent, wish);
  must_be_wanted(stream.name(), 3, wish);
  const std::uint64_t needs = static_cast<std::uint64_t>(sites) / 2 * kOddSite;
  if (stream.left() != needs)
    throw ConfigurationError(
        stream.left() < needs ? Problem::Truncated : Problem::Damaged,
        fmt::format("{} {}: a lattice of {} sites has {} bytes of links, {} are there; copy it "
                    "again",
                    stream.name(), stream.left() < needs ? "is cut off" : "is damaged",
                    shown_extents(header.extent), needs, stream.left()));
  ConfigurationFile file;
  Configuration& links = file.configuration;
  links.extent = header.extent;
  links.links.resize(static_cast<std::size_t>(sites) * 4 * links.entries());
  std::vector<std::byte> row(static_cast<std::size_t>(header.extent[2]) / 2 * kOddSite);
  const std::byte* from = nullptr;
  for_odd_sites(
      header.extent,
      [&] {
        if (stream.read(row) < row.size())
          throw ConfigurationError(Problem::Truncated, fmt::format("{} became shorter while it was "
                                                                   "read",
                                                                   stream.name()));
        from = row.data();
      },
      [&](std::int64_t site, int mu) {
        to_reals({from, 144}, program::Precision::F64, std::endian::little,
                 reinterpret_cast<double*>(links.link(site, mu).data()));
        from += 144;
      });
  const double found = 3 * mean_plaquette(links);
  if (!(std::abs(found - header.plaquette) <= kPlaquetteError))
    throw ConfigurationError(
        Problem::Checksum,
        fmt::format("{}: its header says a plaquette of {:.12g}, its links have {:.12g}: it is "
                    "damaged, or its boundaries are not periodic",
                    stream.name(), header.plaquette, found));
  file.facts = {.format = "openQCD",
                .precision = program::Precision::F64,
                .notes = {{"plaquette", fmt::format("{:.17g}", header.plaquette)}}};
  return file;
}

void write_openqcd(const std::filesystem::path& path, const Configuration& c) {
  if (c.colours != 3)
    throw ResultsError(
        fmt::format("{}: openQCD files hold links of SU(3), these are {} x {}; "
                    "write them with ildg or nersc",
                    path.string(), c.colours, c.colours));
  if (std::ranges::any_of(c.extent, [](std::int64_t n) { return n % 2 != 0; }))
    throw ResultsError(
        fmt::format("{}: openQCD files hold lattices of four even extents, this one "
                    "has {}; write it with ildg or nersc",
                    path.string(), shown_extents(c.extent)));
  NewFile file(path);
  std::vector<std::byte> bytes(kOpenqcdHeader);
  for (std::size_t mu = 0; mu < 4; ++mu)
    put_word(&bytes[4 * mu], static_cast<std::uint32_t>(c.extent[our_axis(mu)]),
             std::endian::little);
  put_word(&bytes[16], std::bit_cast<std::uint64_t>(3 * mean_plaquette(c)), std::endian::little);
  for_odd_sites(
      c.extent,
      [&] {
        file.write(bytes);
        bytes.clear();
      },
      [&](std::int64_t site, int mu) {
        const std::size_t at = bytes.size();
        bytes.resize(at + 144);
        from_reals(reinterpret_cast<const double*>(c.link(site, mu).data()),
                   program::Precision::F64, std::endian::little, std::span(bytes).subspan(at));
      });
  file.write(bytes);
  file.finish();
}

}  // namespace vphi::io
