#include "runtime/io/configurations/ildg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/io/configurations/configuration_text.hpp"
#include "runtime/io/configurations/lime.hpp"
#include "runtime/io/files/crc32.hpp"
#include "runtime/io/files/real_bytes.hpp"

namespace vphi::io {

using Problem = ConfigurationError::Problem;
using program::Precision;

void ScidacSums::add(std::uint64_t rank, std::span<const std::byte> site) {
  const std::uint32_t crc = crc32(site);
  a ^= std::rotl(crc, static_cast<int>(rank % 29));
  b ^= std::rotl(crc, static_cast<int>(rank % 31));
}

namespace {

constexpr std::size_t kPiece = 1 << 20;  ///< bytes read or written at a time, about
constexpr int kMostColours = 64;

std::size_t bytes_of_site(int colours, Precision precision) {
  return std::size_t{4} * colours * colours * 2 * bytes_of(precision);
}

int bits(Precision precision) { return precision == Precision::F32 ? 32 : 64; }

/// The content of a record `ildg-format`.
struct Format {
  Extents extent{1, 1, 1, 1};
  Precision precision = Precision::F64;
  int colours = 0;  ///< 0: not known from the name of the field
};

/// Number of colours, precision and sites of the links of a file.
struct Shape {
  Extents extent{1, 1, 1, 1};
  Precision precision = Precision::F64;
  int colours = 3;
};

[[noreturn]] void damaged(const ByteStream& stream, const std::string& what) {
  throw ConfigurationError(
      Problem::Damaged,
      fmt::format("{}: {}: it is damaged, copy it again or ask who made it", stream.name(), what));
}

/// N of "su3gauge"; 1 of "u1gauge"; else 0.
int colours_of_field(std::string_view field) {
  field = trimmed(field);
  if (field == "u1gauge") return 1;
  if (!field.starts_with("su") || !field.ends_with("gauge") || field.size() < 8) return 0;
  const auto n = whole_number(field.substr(2, field.size() - 7));
  return n && *n >= 1 && *n <= kMostColours ? static_cast<int>(*n) : 0;
}

Format parse_format(const ByteStream& stream, const std::string& text) {
  const auto number = [&](std::string_view name) {
    const auto element = xml_element(text, name);
    const auto value = element ? whole_number(*element) : std::nullopt;
    if (!value) damaged(stream, fmt::format("ildg-format has no whole number <{}>", name));
    return *value;
  };
  Format format;
  format.extent = {number("lx"), number("ly"), number("lz"), number("lt")};
  checked_sites(stream.name(), format.extent);
  const std::int64_t precision = number("precision");
  if (precision != 32 && precision != 64)
    throw ConfigurationError(
        Problem::Precision,
        fmt::format("{} says its numbers have {} bits; those of ILDG have 32 or 64", stream.name(),
                    precision));
  format.precision = precision == 32 ? Precision::F32 : Precision::F64;
  format.colours = colours_of_field(xml_element(text, "field").value_or(""));
  return format;
}

/// N of links of `sites` sites whose data has so many bytes; 0: no N has this length. Exact, since
/// bytes is below 2^63 and N small.
int colours_of_length(std::uint64_t bytes, std::int64_t sites, Precision precision) {
  const std::uint64_t one = static_cast<std::uint64_t>(sites) * bytes_of_site(1, precision);
  if (bytes == 0 || bytes % one != 0 || bytes / one > kMostColours * kMostColours) return 0;
  const auto n = static_cast<std::uint64_t>(std::lround(std::sqrt(bytes / one)));
  return n * n == bytes / one ? static_cast<int>(n) : 0;
}

Shape shape_of(const ByteStream& stream, const std::optional<Format>& format, std::uint64_t bytes,
               const ConfigurationWish& wish) {
  if (!format && !wish.extent)
    throw ConfigurationError(
        Problem::NoFormat,
        fmt::format("{} has no record ildg-format before its links, so nothing says the extents of "
                    "its lattice; say them",
                    stream.name()));
  Shape shape{.extent = format ? format->extent : *wish.extent};
  must_be_wanted(stream.name(), shape.extent, wish);
  const std::int64_t sites = checked_sites(stream.name(), shape.extent);
  const int narrow = colours_of_length(bytes, sites, Precision::F32);
  const int wide = colours_of_length(bytes, sites, Precision::F64);
  const Precision found = wide > 0 ? Precision::F64 : Precision::F32;
  if (narrow + wide == 0)
    throw ConfigurationError(
        format ? Problem::Damaged : Problem::Extents,
        fmt::format(
            "{} has {} bytes of links, which no N x N matrices of 32 or 64 bits on {} sites "
            "have; {}",
            stream.name(), bytes, shown_extents(shape.extent),
            format ? "it is damaged, copy it again"
                   : "it has no record ildg-format, so the extents are those of the "
                     "model: write `lattice` as the file was written"));
  if (format && format->precision != found)
    throw ConfigurationError(
        Problem::Precision,
        fmt::format("{} says its numbers have {} bits, but its links have the length of numbers of "
                    "{}; correct its ildg-format",
                    stream.name(), bits(format->precision), bits(found)));
  shape.precision = found;
  shape.colours = narrow + wide;  // one of them is 0
  if (format && format->colours > 0 && format->colours != shape.colours)
    damaged(stream, fmt::format("ildg-format says SU({}), its links are {} x {} matrices",
                                format->colours, shape.colours, shape.colours));
  must_be_wanted(stream.name(), shape.colours, wish);
  return shape;
}

Configuration read_links(LimeReader& lime, const Shape& shape, ScidacSums& sums) {
  Configuration links;
  links.extent = shape.extent;
  links.colours = shape.colours;
  const std::size_t numbers = 4 * links.entries() * 2;  // of a site
  const std::size_t bytes = bytes_of_site(shape.colours, shape.precision);
  const auto sites = static_cast<std::size_t>(links.sites());
  links.links.resize(sites * 4 * links.entries());
  const std::size_t at_once = std::max<std::size_t>(1, kPiece / bytes);
  std::vector<std::byte> piece(std::min(at_once, sites) * bytes);
  auto* to = reinterpret_cast<double*>(links.links.data());  // complex is two reals (C++20, 26.4)
  for (std::size_t done = 0; done < sites;) {
    const std::size_t count = std::min(at_once, sites - done);
    lime.read(std::span(piece).first(count * bytes));
    for (std::size_t i = 0; i < count; ++i, ++done) {
      const auto site = std::span(piece).subspan(i * bytes, bytes);
      sums.add(done, site);
      to_reals(site, shape.precision, std::endian::big, to + done * numbers);
    }
  }
  return links;
}

ScidacSums parse_sums(const ByteStream& stream, const std::string& text) {
  const auto number = [&](const char* name) {
    const auto element = xml_element(text, name);
    const auto value = element ? hexadecimal(*element) : std::nullopt;
    if (!value) damaged(stream, fmt::format("scidac-checksum has no hexadecimal <{}>", name));
    return *value;
  };
  return {.a = number("suma"), .b = number("sumb")};
}

/// The facts read so far from the records of a file.
struct Reading {
  std::optional<Format> format;
  std::optional<Configuration> links;
  std::optional<ScidacSums> said;
  bool said_after = false;  ///< a checksum follows the links, as required
  ScidacSums found;
  std::string types;  ///< of the records so far, for a message
};

void take(const ByteStream& stream, LimeReader& lime, const LimeRecord& record,
          const ConfigurationWish& wish, ConfigurationFile& file, Reading& reading) {
  if (record.type == "ildg-format") {
    reading.format = parse_format(stream, lime.text());
    if (reading.links && reading.format->extent != reading.links->extent)
      damaged(stream, fmt::format("its ildg-format says {}, its links were read as {}",
                                  shown_extents(reading.format->extent),
                                  shown_extents(reading.links->extent)));
  } else if (record.type == "ildg-binary-data") {
    if (reading.links)
      throw ConfigurationError(Problem::Unknown,
                               fmt::format("{} holds more than one configuration; take them apart "
                                           "(lime_unpack of c-lime does so)",
                                           stream.name()));
    const Shape shape = shape_of(stream, reading.format, record.bytes, wish);
    file.facts.precision = shape.precision;
    file.facts.shaped = reading.format.has_value();
    reading.links = read_links(lime, shape, reading.found);
  } else if (record.type == "scidac-checksum" && !reading.said_after) {
    reading.said = parse_sums(stream, lime.text());
    reading.said_after = reading.links.has_value();
  } else if (record.type == "xlf-info") {
    auto lines = name_value_lines(lime.text());
    std::ranges::move(lines, std::back_inserter(file.facts.notes));
  }
}

std::string format_text(const Configuration& c, Precision precision) {
  const std::string group = c.colours == 1 ? "u1" : fmt::format("su{}", c.colours);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
      "<ildgFormat xmlns=\"http://www.lqcd.org/ildg\" "
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xsi:schemaLocation=\"http://www.lqcd.org/ildg/filefmt.xsd\">"
      "<version>1.0</version><field>{}gauge</field><precision>{}</precision>"
      "<lx>{}</lx><ly>{}</ly><lz>{}</lz><lt>{}</lt></ildgFormat>",
      group, bits(precision), c.extent[0], c.extent[1], c.extent[2], c.extent[3]);
}

/// The texts that QIO 2 requires before a record (QIO_string.c and xml_utils in its source).
std::string scidac_file_text(const Configuration& c) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?><scidacFile><version>1.1</version>"
      "<spacetime>4</spacetime><dims>{} {} {} {} </dims><volfmt>0</volfmt></scidacFile>",
      c.extent[0], c.extent[1], c.extent[2], c.extent[3]);
}

std::string scidac_record_text(const Configuration& c, Precision precision) {
  const char letter = precision == Precision::F32 ? 'F' : 'D';
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?><scidacRecord><version>1.0</version>"
      "<date>not recorded</date><globaldata>0</globaldata><datatype>QDP_{}{}_ColorMatrix</datatype>"
      "<precision>{}</precision><colors>{}</colors><spins>4</spins><typesize>{}</typesize>"
      "<datacount>4</datacount></scidacRecord>",
      letter, c.colours, letter, c.colours, bytes_of_site(c.colours, precision) / 4);
}

}  // namespace

ConfigurationFile read_ildg(ByteStream& stream, const ConfigurationWish& wish) {
  LimeReader lime(stream);
  ConfigurationFile file;
  file.facts.format = "ILDG";
  Reading reading;
  while (const auto record = lime.next()) {
    if (reading.types.size() < 400)
      reading.types += (reading.types.empty() ? "" : ", ") + record->type;
    take(stream, lime, *record, wish, file, reading);
  }
  if (!reading.links)
    throw ConfigurationError(Problem::Unknown,
                             fmt::format("{} has no record ildg-binary-data, so no links; its "
                                         "records are {}",
                                         stream.name(), reading.types));
  if (reading.said && *reading.said != reading.found)
    throw ConfigurationError(
        Problem::Checksum,
        fmt::format("{} is damaged: the checksum of its links is {:08x} {:08x}, its "
                    "scidac-checksum says {:08x} {:08x}; copy it again",
                    stream.name(), reading.found.a, reading.found.b, reading.said->a,
                    reading.said->b));
  file.facts.checked = reading.said.has_value();
  file.configuration = std::move(*reading.links);
  return file;
}

void write_ildg(const std::filesystem::path& path, const Configuration& c, Precision precision,
                const std::vector<std::pair<std::string, std::string>>& notes) {
  LimeWriter lime(path);
  lime.text("scidac-private-file-xml", scidac_file_text(c), true, false);
  lime.text("scidac-file-xml", "<?xml version=\"1.0\"?><file_metadata/>", false, true);
  lime.text("scidac-private-record-xml", scidac_record_text(c, precision), true, false);
  lime.text("scidac-record-xml", "<?xml version=\"1.0\"?><record_metadata/>", false, false);
  if (!notes.empty()) {
    std::string lines;
    for (const auto& [name, value] : notes) lines += name + " = " + value + "\n";
    lime.text("xlf-info", lines, false, false);
  }
  lime.text("ildg-format", format_text(c, precision), false, false);

  const std::size_t bytes = bytes_of_site(c.colours, precision);
  const auto sites = static_cast<std::size_t>(c.sites());
  lime.begin({.type = "ildg-binary-data", .bytes = sites * bytes});
  const std::size_t numbers = 4 * c.entries() * 2,
                    at_once = std::max<std::size_t>(1, kPiece / bytes);
  std::vector<std::byte> piece(std::min(at_once, sites) * bytes);
  const auto* from = reinterpret_cast<const double*>(c.links.data());
  ScidacSums sums;
  for (std::size_t done = 0; done < sites;) {
    const std::size_t count = std::min(at_once, sites - done);
    for (std::size_t i = 0; i < count; ++i, ++done) {
      const auto site = std::span(piece).subspan(i * bytes, bytes);
      from_reals(from + done * numbers, precision, std::endian::big, site);
      sums.add(done, site);
    }
    lime.write(std::span(piece).first(count * bytes));
  }
  lime.text("scidac-checksum",
            fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?><scidacChecksum>"
                        "<version>1.0</version><suma>{:x}</suma><sumb>{:x}</sumb>"
                        "</scidacChecksum>",
                        sums.a, sums.b),
            false, true);
  lime.finish();
}

}  // namespace vphi::io
