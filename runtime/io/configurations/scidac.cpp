#include "runtime/io/configurations/scidac.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <sstream>
#include <system_error>

#include "runtime/io/configurations/configuration_text.hpp"
#include "runtime/io/configurations/ildg.hpp"
#include "runtime/io/files/real_bytes.hpp"
#include "runtime/io/results.hpp"

namespace vphi::io {

using program::Precision;

namespace {

using Sides = std::array<std::int64_t, 4>;

constexpr std::size_t kAtOnce = 1 << 20;  ///< bytes read or written at a time, about
constexpr const char* kHead = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

std::string shown(const Sides& sides) {
  return fmt::format("{} x {} x {} x {}", sides[0], sides[1], sides[2], sides[3]);
}

/// lx ly lz lt, or nothing where one of them is missing.
std::optional<Sides> sides_of_format(const std::string& text) {
  Sides sides{};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const auto element = xml_element(text, fmt::format("l{}", "xyzt"[i]));
    const auto value = element ? whole_number(*element) : std::nullopt;
    if (!value || *value < 1) return std::nullopt;
    sides[i] = *value;
  }
  return sides;
}

/// "4 4 4 8", x first.
std::optional<Sides> sides_of_dims(const std::string& text) {
  const auto element = xml_element(text, "dims");
  if (!element) return std::nullopt;
  std::istringstream words(*element);
  Sides sides{1, 1, 1, 1};
  std::size_t count = 0;
  for (std::string word; words >> word; ++count) {
    const auto value = whole_number(word);
    if (!value || *value < 1 || count == sides.size()) return std::nullopt;
    sides[count] = *value;
  }
  return count > 0 ? std::optional(sides) : std::nullopt;
}

/// The record that is wanted, and what a file says of it.
class SpinorReader {
 public:
  SpinorReader(ByteStream& stream, std::size_t number, const FieldPlace& place)
      : stream_(stream), lime_(stream), number_(number), place_(place) {}

  FieldFile read() {
    while (const auto record = lime_.next()) take(*record);
    if (count_ == 0) fail("has no record scidac-binary-data, so no spinors");
    if (number_ == 0 && count_ > 1)
      fail(fmt::format("has {} spinors: write which of them, \"NAME:1\" to \"NAME:{}\"", count_,
                       count_));
    if (field_.values.empty())
      fail(fmt::format("has {} spinors, and `:{}` asks for another one", count_, number_));
    return std::move(field_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ResultsError(fmt::format("{} {}", stream_.name(), what));
  }

  void take(const LimeRecord& record) {
    if (record.type == "etmc-propagator-format") {
      if (const auto sides = sides_of_format(lime_.text())) sides_ = sides;
    } else if (record.type == "scidac-private-file-xml") {
      if (const auto sides = sides_of_dims(lime_.text())) sides_ = sides;
    } else if (record.type == "scidac-binary-data") {
      ++count_;
      summed_ = count_ == std::max<std::size_t>(number_, 1);
      if (summed_) numbers(record);
    } else if (record.type == "scidac-checksum" && summed_) {
      compare(lime_.text());
      summed_ = false;
    }
  }

  /// Sites of the file; refused where they are not those of a box of the lattice's axes.
  std::int64_t sites() {
    if (!sides_)
      fail(
          "says no extents before its spinors: it has no etmc-propagator-format and no "
          "scidac-private-file-xml with dims");
    std::int64_t all = 1;
    for (std::size_t i = 0; i < sides_->size(); ++i) {
      const std::int64_t side = (*sides_)[i];
      if (static_cast<int>(i) < place_.dims) field_.cells.push_back(side);
      if (static_cast<int>(i) >= place_.dims && side != 1)
        fail(fmt::format("has spinors on {}, and the lattice has {} axes", shown(*sides_),
                         place_.dims));
      if (side > static_cast<std::int64_t>(stream_.size()) / all) fail("is shorter than it says");
      all *= side;
    }
    return all;
  }

  void numbers(const LimeRecord& record) {
    const auto count = static_cast<std::uint64_t>(sites());
    const auto of_site = static_cast<std::uint64_t>(place_.components);
    const std::uint64_t narrow = count * of_site * 4;
    if (record.bytes != narrow && record.bytes != 2 * narrow)
      fail(
          fmt::format("has {} bytes in a record of spinors on {}, and {} numbers at each of these "
                      "sites have {} or {}",
                      record.bytes, shown(*sides_), of_site, narrow, 2 * narrow));
    const Precision precision = record.bytes == narrow ? Precision::F32 : Precision::F64;
    const std::size_t bytes = static_cast<std::size_t>(record.bytes / count);
    std::vector<std::byte> piece(std::max<std::size_t>(1, kAtOnce / bytes) * bytes);
    std::vector<double> site(static_cast<std::size_t>(of_site));
    field_.sites = true;
    for (std::uint64_t done = 0; done < count;) {
      const std::size_t some = std::min<std::uint64_t>(piece.size() / bytes, count - done);
      lime_.read(std::span(piece).first(some * bytes));
      for (std::size_t i = 0; i < some; ++i, ++done) {
        const auto here = std::span(piece).subspan(i * bytes, bytes);
        if (place_.entry == 0) sums_.add(done, here);
        to_reals(here, precision, std::endian::big, site.data());
        field_.values.push_back(site[static_cast<std::size_t>(place_.entry)]);
      }
    }
  }

  void compare(const std::string& text) const {
    if (place_.entry != 0) return;
    const auto number = [&](const char* name) {
      const auto element = xml_element(text, name);
      return element ? hexadecimal(*element) : std::nullopt;
    };
    const auto a = number("suma"), b = number("sumb");
    if (!a || !b) fail("is damaged: its scidac-checksum has no hexadecimal suma and sumb");
    if (ScidacSums{*a, *b} != sums_)
      fail(
          fmt::format("is damaged: the checksum of its spinors is {:08x} {:08x}, its "
                      "scidac-checksum says {:08x} {:08x}; copy it again",
                      sums_.a, sums_.b, *a, *b));
  }

  ByteStream& stream_;
  LimeReader lime_;
  const std::size_t number_;
  const FieldPlace& place_;
  std::optional<Sides> sides_;
  std::size_t count_ = 0;
  bool summed_ = false;  ///< whether the next checksum is that of `field_`
  ScidacSums sums_;
  FieldFile field_;
};

std::string record_text(const SpinorFormat& format) {
  const char letter = format.precision == Precision::F32 ? 'F' : 'D';
  return fmt::format(
      "{}<scidacRecord><version>1.1</version><date>not recorded</date><recordtype>0</recordtype>"
      "<datatype>QDP_{}{}_DiracFermion</datatype><precision>{}</precision><colors>{}</colors>"
      "<spins>{}</spins><typesize>{}</typesize><datacount>1</datacount></scidacRecord>",
      kHead, letter, format.colours, letter, format.colours, format.spins,
      2 * bytes_of(format.precision) * static_cast<std::size_t>(format.colours * format.spins));
}

std::string propagator_text(const SpinorFormat& format) {
  return fmt::format(
      "{}<etmcFormat><field>diracFermion</field><precision>{}</precision><flavours>1</flavours>"
      "<lx>{}</lx><ly>{}</ly><lz>{}</lz><lt>{}</lt></etmcFormat>",
      kHead, 8 * bytes_of(format.precision), format.extent[0], format.extent[1], format.extent[2],
      format.extent[3]);
}

}  // namespace

bool is_lime(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && looks_like_lime(ByteStream(path));
}

FieldFile read_scidac(const std::filesystem::path& path, std::size_t number,
                      const FieldPlace& place) {
  ByteStream stream(path);
  return SpinorReader(stream, number, place).read();
}

ScidacWriter::ScidacWriter(const std::filesystem::path& path, const Sides& extent) : lime_(path) {
  lime_.text("scidac-private-file-xml",
             fmt::format("{}<scidacFile><version>1.1</version><spacetime>4</spacetime>"
                         "<dims>{} {} {} {} </dims><volfmt>0</volfmt></scidacFile>",
                         kHead, extent[0], extent[1], extent[2], extent[3]),
             true, false);
  lime_.text("scidac-file-xml", fmt::format("{}<propagators/>", kHead), false, true);
}

void ScidacWriter::add(const SpinorFormat& format, std::span<const double> numbers,
                       const std::vector<std::pair<std::string, std::string>>& notes) {
  std::string lines;
  for (const auto& [name, value] : notes)
    lines += fmt::format("<note name=\"{}\">{}</note>", xml_text(name), xml_text(value));
  lime_.text("scidac-private-record-xml", record_text(format), true, false);
  lime_.text("scidac-record-xml", fmt::format("{}<spinor>{}</spinor>", kHead, lines), false, false);
  lime_.text("etmc-propagator-format", propagator_text(format), false, false);
  const auto of_site = static_cast<std::size_t>(2 * format.spins * format.colours);
  const std::size_t bytes = of_site * bytes_of(format.precision), sites = numbers.size() / of_site;
  lime_.begin({.type = "scidac-binary-data", .bytes = sites * bytes});
  std::vector<std::byte> piece(std::max<std::size_t>(1, kAtOnce / bytes) * bytes);
  ScidacSums sums;
  for (std::size_t done = 0; done < sites;) {
    const std::size_t some = std::min(piece.size() / bytes, sites - done);
    for (std::size_t i = 0; i < some; ++i, ++done) {
      const auto site = std::span(piece).subspan(i * bytes, bytes);
      from_reals(numbers.data() + done * of_site, format.precision, std::endian::big, site);
      sums.add(done, site);
    }
    lime_.write(std::span(piece).first(some * bytes));
  }
  lime_.text("scidac-checksum",
             fmt::format("{}<scidacChecksum><version>1.0</version><suma>{:x}</suma>"
                         "<sumb>{:x}</sumb></scidacChecksum>",
                         kHead, sums.a, sums.b),
             false, true);
}

}  // namespace vphi::io
