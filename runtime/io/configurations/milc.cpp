#include "runtime/io/configurations/milc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "runtime/io/files/real_bytes.hpp"

namespace vphi::io {

using Problem = ConfigurationError::Problem;

namespace {

constexpr std::uint32_t kMilcNumber = 20103;
constexpr std::size_t kMilcStamp = 64, kMilcHeader = 4 + 16 + kMilcStamp + 4, kMilcSums = 8;
constexpr std::size_t kMilcSite = std::size_t{4} * 9 * 8;  ///< bytes of the links of a site
constexpr std::size_t kSitesAtOnce = 4096;

/// The checksums of the words so far.
class WordSums {
 public:
  void add(std::span<const std::byte> bytes, std::endian order) {
    for (std::size_t at = 0; at < bytes.size(); at += 4, ++count_) {
      const auto word = word_at<std::uint32_t>(&bytes[at], order);
      sum29 ^= std::rotl(word, static_cast<int>(count_ % 29));
      sum31 ^= std::rotl(word, static_cast<int>(count_ % 31));
    }
  }
  std::uint32_t sum29 = 0, sum31 = 0;

 private:
  std::uint64_t count_ = 0;
};

std::optional<std::endian> milc_order(const ByteStream& stream) {
  std::array<std::byte, 4> first{};
  if (stream.peek(first) < first.size()) return std::nullopt;
  for (const std::endian order : {std::endian::little, std::endian::big})
    if (word_at<std::uint32_t>(first.data(), order) == kMilcNumber) return order;
  return std::nullopt;
}

}  // namespace

bool looks_like_milc(const ByteStream& stream) { return milc_order(stream).has_value(); }

ConfigurationFile read_milc(ByteStream& stream, const ConfigurationWish& wish) {
  const auto order = milc_order(stream);
  std::array<std::byte, kMilcHeader + kMilcSums> header{};
  if (!order || stream.read(header) < header.size())
    throw ConfigurationError(Problem::Truncated,
                             fmt::format("{} ends within the header of a MILC file, which has {} "
                                         "bytes: it is cut off, copy it again",
                                         stream.name(), header.size()));
  const auto word = [&](std::size_t at) { return word_at<std::uint32_t>(&header[at], *order); };
  ConfigurationFile file;
  Configuration& links = file.configuration;
  for (std::size_t axis = 0; axis < 4; ++axis)
    links.extent[axis] = static_cast<std::int32_t>(word(4 + 4 * axis));
  const auto sites = static_cast<std::uint64_t>(checked_sites(stream.name(), links.extent));
  if (word(4 + 16 + kMilcStamp) != 0)
    throw ConfigurationError(Problem::Unknown,
                             fmt::format("{} is a MILC checkpoint, whose sites are in the order of "
                                         "its processes; write it with save_serial",
                                         stream.name()));
  must_be_wanted(stream.name(), links.extent, wish);
  must_be_wanted(stream.name(), 3, wish);
  if (stream.left() != sites * kMilcSite)
    throw ConfigurationError(
        stream.left() < sites * kMilcSite ? Problem::Truncated : Problem::Damaged,
        fmt::format("{} {}: a lattice of {} sites has {} bytes of links, {} are there; copy it "
                    "again",
                    stream.name(), stream.left() < sites * kMilcSite ? "is cut off" : "is damaged",
                    shown_extents(links.extent), sites * kMilcSite, stream.left()));
  links.links.resize(sites * 4 * links.entries());
  WordSums sums;
  std::vector<std::byte> piece;
  for (std::uint64_t done = 0; done < sites; done += kSitesAtOnce) {
    piece.resize(std::min<std::uint64_t>(kSitesAtOnce, sites - done) * kMilcSite);
    if (stream.read(piece) < piece.size())
      throw ConfigurationError(Problem::Truncated,
                               fmt::format("{} became shorter while it was read", stream.name()));
    sums.add(piece, *order);
    to_reals(piece, program::Precision::F32, *order,
             reinterpret_cast<double*>(links.link(static_cast<std::int64_t>(done), 0).data()));
  }
  const std::uint32_t said29 = word(kMilcHeader), said31 = word(kMilcHeader + 4);
  if (sums.sum29 != said29 || sums.sum31 != said31)
    throw ConfigurationError(
        Problem::Checksum,
        fmt::format("{} is damaged: the checksums of its links are {:x} {:x}, its header says {:x} "
                    "{:x}; copy it again",
                    stream.name(), sums.sum29, sums.sum31, said29, said31));
  std::string stamp;
  for (std::size_t at = 20; at < 20 + kMilcStamp && header[at] != std::byte{0}; ++at)
    stamp += static_cast<char>(header[at]);
  file.facts = {.format = "MILC",
                .precision = program::Precision::F32,
                .checked = true,
                .notes = {{"time stamp", stamp}}};
  return file;
}

void write_milc(const std::filesystem::path& path, const Configuration& c,
                const std::string& stamp) {
  if (c.colours != 3)
    throw ResultsError(
        fmt::format("{}: MILC files hold links of SU(3), these are {} x {}; write "
                    "them with ildg or nersc",
                    path.string(), c.colours, c.colours));
  if (*std::ranges::max_element(c.extent) > std::numeric_limits<std::int32_t>::max())
    throw ResultsError(
        fmt::format("{}: the extents of MILC files have 32 bits, this lattice has "
                    "{} sites",
                    path.string(), shown_extents(c.extent)));
  constexpr std::endian kOrder = std::endian::little;
  const auto sites = static_cast<std::uint64_t>(c.sites());
  const auto* from = reinterpret_cast<const double*>(c.links.data());
  std::vector<std::byte> piece;
  const auto for_sites = [&](const auto& use) {  // the sums come before the links
    for (std::uint64_t done = 0; done < sites; done += kSitesAtOnce) {
      piece.resize(std::min<std::uint64_t>(kSitesAtOnce, sites - done) * kMilcSite);
      from_reals(from + done * 72, program::Precision::F32, kOrder, piece);
      use();
    }
  };
  WordSums sums;
  for_sites([&] { sums.add(piece, kOrder); });
  std::array<std::byte, kMilcHeader + kMilcSums> header{};
  put_word(header.data(), kMilcNumber, kOrder);
  for (std::size_t axis = 0; axis < 4; ++axis)
    put_word(&header[4 + 4 * axis], static_cast<std::uint32_t>(c.extent[axis]), kOrder);
  for (std::size_t i = 0; i < std::min(stamp.size(), kMilcStamp - 1); ++i)
    header[20 + i] = static_cast<std::byte>(stamp[i]);
  put_word(&header[kMilcHeader], sums.sum29, kOrder);
  put_word(&header[kMilcHeader + 4], sums.sum31, kOrder);
  NewFile file(path);
  file.write(header);
  for_sites([&] { file.write(piece); });
  file.finish();
}

}  // namespace vphi::io
