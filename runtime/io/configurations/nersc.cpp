#include "runtime/io/configurations/nersc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>

#include "runtime/io/configurations/configuration_text.hpp"
#include "runtime/io/configurations/wilson_loop.hpp"
#include "runtime/io/files/real_bytes.hpp"

namespace vphi::io {

using Problem = ConfigurationError::Problem;
using program::Precision;

namespace {

constexpr std::string_view kBegin = "BEGIN_HEADER", kEnd = "END_HEADER\n";
constexpr std::size_t kMostHeader = 1 << 16, kNerscPiece = 1 << 20;
constexpr double kAverages = 1e-5;  ///< allowed error of PLAQUETTE and LINK_TRACE
constexpr int kMostNerscColours = 64;

struct Header {
  Extents extent{1, 1, 1, 1};
  int colours = 3, rows = 3;  ///< rows of a link in the file
  Precision precision = Precision::F32;
  std::endian order = std::endian::big;
  bool order_unknown = false;  ///< IEEE32, IEEE64
  std::optional<std::uint32_t> checksum;
  std::optional<double> plaquette, link_trace;
  std::vector<std::pair<std::string, std::string>> lines;

  std::size_t bytes_of_site() const {
    return std::size_t{4} * rows * colours * 2 * bytes_of(precision);
  }
};

[[noreturn]] void damaged_nersc(const ByteStream& stream, const std::string& what) {
  throw ConfigurationError(
      Problem::Damaged,
      fmt::format("{}: {}: it is damaged, copy it again or ask who made it", stream.name(), what));
}

const std::string* find(const Header& header, std::string_view name) {
  const auto line =
      std::ranges::find(header.lines, name, &std::pair<std::string, std::string>::first);
  return line == header.lines.end() ? nullptr : &line->second;
}

const std::string& needed(const ByteStream& stream, const Header& header, std::string_view name) {
  const std::string* value = find(header, name);
  if (!value) damaged_nersc(stream, fmt::format("its header has no {}", name));
  return *value;
}

/// 4D_SU3_GAUGE, 4D_SU3_GAUGE_3x3, 4D_SU4_GAUGE_4X4.
void parse_type(const ByteStream& stream, std::string_view type, Header& header) {
  const auto unknown = [&] {
    throw ConfigurationError(
        Problem::Group, fmt::format("{} has links of DATATYPE {}; 4D_SU3_GAUGE, 4D_SU3_GAUGE_3x3 "
                                    "and in general 4D_SUN_GAUGE_NxN can be read",
                                    stream.name(), type));
  };
  constexpr std::string_view kStart = "4D_SU", kMiddle = "_GAUGE";
  const std::size_t middle = type.find(kMiddle);
  if (!type.starts_with(kStart) || middle == std::string_view::npos) return unknown();
  const auto n = whole_number(type.substr(kStart.size(), middle - kStart.size()));
  if (!n || *n < 2 || *n > kMostNerscColours) return unknown();
  header.colours = header.rows = static_cast<int>(*n);
  std::string rest(type.substr(middle + kMiddle.size()));
  std::ranges::replace(rest, 'X', 'x');
  if (rest.empty() && *n == 3)
    header.rows = 2;
  else if (rest != fmt::format("_{0}x{0}", *n))
    unknown();
}

void parse_numbers(const ByteStream& stream, std::string_view format, Header& header) {
  header.precision = format.starts_with("IEEE64") ? Precision::F64 : Precision::F32;
  const std::string_view order = format.substr(std::min<std::size_t>(6, format.size()));
  const bool known = format.starts_with("IEEE32") || format.starts_with("IEEE64");
  header.order = order == "LITTLE" ? std::endian::little : std::endian::big;
  header.order_unknown = order.empty();
  if (!known || (order != "BIG" && order != "LITTLE" && !order.empty()))
    throw ConfigurationError(
        Problem::Precision,
        fmt::format("{} has numbers of FLOATING_POINT {}; IEEE32BIG, IEEE32LITTLE, IEEE64BIG and "
                    "IEEE64LITTLE can be read",
                    stream.name(), format));
}

/// All lines of the header; the stream is at the links afterwards.
std::vector<std::pair<std::string, std::string>> header_lines(ByteStream& stream) {
  std::string text(std::min<std::uint64_t>(kMostHeader, stream.left()), '\0');
  text.resize(stream.peek(std::as_writable_bytes(std::span(text))));
  const std::size_t end = text.find(kEnd);
  if (end == std::string::npos)
    throw ConfigurationError(
        Problem::Truncated,
        fmt::format("{} has no line END_HEADER in its first {} bytes: it is cut off or damaged, "
                    "copy it again",
                    stream.name(), text.size()));
  stream.skip(end + kEnd.size());
  text.resize(end);
  // Messages cite values, and a terminal would obey control characters.
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ends = text[i] == '\n' || (text[i] == '\r' && i + 1 < end && text[i + 1] == '\n');
    if (text[i] == '\t')
      text[i] = ' ';
    else if (!ends && (static_cast<unsigned char>(text[i]) < 32 || text[i] == 127))
      text[i] = '?';
  }
  return name_value_lines(text);
}

Header parse_header(ByteStream& stream) {
  Header header;
  header.lines = header_lines(stream);
  for (std::size_t axis = 0; axis < 4; ++axis) {
    const std::string name = fmt::format("DIMENSION_{}", axis + 1);
    const auto n = whole_number(needed(stream, header, name));
    if (!n) damaged_nersc(stream, fmt::format("{} is not a whole number", name));
    header.extent[axis] = *n;
    const std::string* boundary = find(header, fmt::format("BOUNDARY_{}", axis + 1));
    if (boundary && *boundary != "PERIODIC")
      throw ConfigurationError(
          Problem::Unknown,
          fmt::format("{} has BOUNDARY_{} = {}; links of other than periodic lattices cannot be "
                      "read",
                      stream.name(), axis + 1, *boundary));
  }
  checked_sites(stream.name(), header.extent);
  parse_type(stream, needed(stream, header, "DATATYPE"), header);
  parse_numbers(stream, needed(stream, header, "FLOATING_POINT"), header);
  if (const std::string* sum = find(header, "CHECKSUM")) {
    header.checksum = hexadecimal(*sum);
    if (!header.checksum)
      damaged_nersc(stream, fmt::format("CHECKSUM = {} is not hexadecimal", *sum));
  }
  const auto average = [&](const char* name) -> std::optional<double> {
    const std::string* value = find(header, name);
    if (!value) return std::nullopt;
    const auto number = real_number(*value);
    if (!number) damaged_nersc(stream, fmt::format("{} = {} is not a number", name, *value));
    return number;
  };
  header.plaquette = average("PLAQUETTE");
  header.link_trace = average("LINK_TRACE");
  return header;
}

void check_length(const ByteStream& stream, const Header& header, std::int64_t sites) {
  const std::uint64_t needs = static_cast<std::uint64_t>(sites) * header.bytes_of_site();
  if (stream.left() == needs) return;
  if (stream.left() < needs)
    throw ConfigurationError(
        Problem::Truncated,
        fmt::format("{} is cut off: its header asks for {} bytes of links, {} are there; copy it "
                    "again",
                    stream.name(), needs, stream.left()));
  const bool wide = stream.left() == 2 * needs && header.precision == Precision::F32;
  throw ConfigurationError(
      wide ? Problem::Precision : Problem::Damaged,
      fmt::format("{} has {} bytes of links, its header asks for {}{}", stream.name(),
                  stream.left(), needs,
                  wide ? "; the numbers seem to have 64 bits: correct its FLOATING_POINT"
                       : ": it is damaged, copy it again or ask who made it"));
}

/// The order in which the first row of the first link has length 1.
std::endian order_of(const ByteStream& stream, const Header& header) {
  const auto numbers = static_cast<std::size_t>(header.colours) * 2;
  std::vector<std::byte> row(numbers * bytes_of(header.precision));
  stream.peek(row);
  std::vector<double> values(numbers);
  for (const std::endian order : {std::endian::big, std::endian::little}) {
    to_reals(row, header.precision, order, values.data());
    double length = 0;
    for (const double v : values) length += v * v;
    if (std::abs(length - 1) < 1e-3) return order;
  }
  throw ConfigurationError(
      Problem::Precision,
      fmt::format("{} does not say the order of its bytes, and its first link is unitary in "
                  "neither; write FLOATING_POINT = IEEE{}BIG or LITTLE in its header",
                  stream.name(), 8 * bytes_of(header.precision)));
}

/// Row 3 of a matrix of SU(3) from the others: conj(row 1 x row 2).
void complete(std::span<std::complex<double>> u) {
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
    u[6 + i] = std::conj(u[j] * u[3 + k] - u[k] * u[3 + j]);
  }
}

std::uint32_t sum_of_words(std::span<const std::byte> bytes, std::endian order) {
  std::uint32_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 4)
    sum += word_at<std::uint32_t>(&bytes[at], order);
  return sum;
}

/// Links of the file and the sum of their words.
std::uint32_t read_links(ByteStream& stream, const Header& header, Configuration& links) {
  links.extent = header.extent;
  links.colours = header.colours;
  const auto sites = static_cast<std::size_t>(links.sites());
  links.links.resize(sites * 4 * links.entries());
  const std::size_t link_bytes = header.bytes_of_site() / 4;
  const std::size_t at_once = std::max<std::size_t>(1, kNerscPiece / link_bytes), all = sites * 4;
  std::vector<std::byte> piece(std::min(at_once, all) * link_bytes);
  std::uint32_t sum = 0;
  for (std::size_t done = 0; done < all;) {
    const std::size_t count = std::min(at_once, all - done);
    const auto bytes = std::span(piece).first(count * link_bytes);
    if (stream.read(bytes) < bytes.size())
      throw ConfigurationError(Problem::Truncated,
                               fmt::format("{} became shorter while it was read", stream.name()));
    sum += sum_of_words(bytes, header.order);
    for (std::size_t i = 0; i < count; ++i, ++done) {
      const auto link = links.link(static_cast<std::int64_t>(done / 4), done % 4);
      to_reals(bytes.subspan(i * link_bytes, link_bytes), header.precision, header.order,
               reinterpret_cast<double*>(link.data()));
      if (header.rows < header.colours) complete(link);
    }
  }
  return sum;
}

void check_average(const ByteStream& stream, const char* name, const std::optional<double>& said,
                   double found) {
  if (!said || std::abs(*said - found) <= kAverages) return;
  throw ConfigurationError(
      Problem::Checksum,
      fmt::format("{}: the header says {} = {}, the links have {:.10g}: it is damaged, or its "
                  "header belongs to another file",
                  stream.name(), name, *said, found));
}

}  // namespace

bool looks_like_nersc(const ByteStream& stream) {
  std::string start(kBegin.size(), '\0');
  return stream.peek(std::as_writable_bytes(std::span(start))) == start.size() && start == kBegin;
}

ConfigurationFile read_nersc(ByteStream& stream, const ConfigurationWish& wish) {
  Header header = parse_header(stream);
  must_be_wanted(stream.name(), header.extent, wish);
  must_be_wanted(stream.name(), header.colours, wish);
  check_length(stream, header, checked_sites(stream.name(), header.extent));
  if (header.order_unknown) header.order = order_of(stream, header);

  ConfigurationFile file;
  const std::uint32_t sum = read_links(stream, header, file.configuration);
  if (header.checksum && *header.checksum != sum)
    throw ConfigurationError(
        Problem::Checksum,
        fmt::format("{} is damaged: the checksum of its links is {:x}, its header says {:x}; copy "
                    "it again",
                    stream.name(), sum, *header.checksum));
  if (header.plaquette)
    check_average(stream, "PLAQUETTE", header.plaquette, mean_plaquette(file.configuration));
  if (header.link_trace)
    check_average(stream, "LINK_TRACE", header.link_trace, mean_link(file.configuration));
  file.facts = {.format = "NERSC",
                .precision = header.precision,
                .checked = header.checksum.has_value(),
                .notes = std::move(header.lines)};
  return file;
}

void write_nersc(const std::filesystem::path& path, const Configuration& c, Precision precision,
                 const std::vector<std::pair<std::string, std::string>>& notes) {
  // The checksum comes before the links, so the links are read twice, in memory.
  const std::size_t numbers = c.links.size() * 2, at_once = kNerscPiece / 8;
  const auto* from = reinterpret_cast<const double*>(c.links.data());
  std::vector<std::byte> piece;
  const auto for_pieces = [&](const auto& use) {
    for (std::size_t done = 0; done < numbers; done += at_once) {
      piece.resize(std::min(at_once, numbers - done) * bytes_of(precision));
      from_reals(from + done, precision, std::endian::big, piece);
      use();
    }
  };
  std::uint32_t sum = 0;
  for_pieces([&] { sum += sum_of_words(piece, std::endian::big); });
  std::string text = fmt::format("{}\nHDR_VERSION = 1.0\nDATATYPE = 4D_SU{}_GAUGE_{}x{}\n", kBegin,
                                 c.colours, c.colours, c.colours);
  text += "STORAGE_FORMAT = 1.0\n";
  for (std::size_t axis = 0; axis < 4; ++axis)
    text += fmt::format("DIMENSION_{} = {}\n", axis + 1, c.extent[axis]);
  for (std::size_t axis = 0; axis < 4; ++axis)
    text += fmt::format("BOUNDARY_{} = PERIODIC\n", axis + 1);
  text += fmt::format("LINK_TRACE = {:.10g}\nPLAQUETTE = {:.10g}\nCHECKSUM = {:x}\n", mean_link(c),
                      mean_plaquette(c), sum);
  for (const auto& [name, value] : notes) text += name + " = " + value + "\n";
  text += fmt::format("FLOATING_POINT = IEEE{}BIG\n{}", 8 * bytes_of(precision), kEnd);

  NewFile file(path);
  file.write(std::as_bytes(std::span(text)));
  for_pieces([&] { file.write(piece); });
  file.finish();
}

}  // namespace vphi::io
