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

/// What a file says of its next numbers; 0: nothing.
struct Announced {
  int bits = 0, colours = 0, spins = 0;
};

int small_number(const std::string& text, const char* name) {
  const auto element = xml_element(text, name);
  const auto value = element ? whole_number(*element) : std::nullopt;
  return value && *value > 0 && *value < 1000 ? static_cast<int>(*value) : 0;
}

Announced announced_by_scidac(const std::string& text) {
  const auto letter = xml_element(text, "precision");
  const int bits = !letter ? 0 : *letter == "F" ? 32 : *letter == "D" ? 64 : 0;
  return {bits, small_number(text, "colors"), small_number(text, "spins")};
}

/// The spinor that is wanted, and what a file says of it.
class SpinorReader {
 public:
  SpinorReader(ByteStream& stream, std::size_t number, const FieldPlace& place)
      : stream_(stream),
        lime_(stream),
        number_(number),
        place_(place),
        of_spinor_(static_cast<std::uint64_t>(place.components)) {}

  FieldFile read() {
    while (const auto record = lime_.next()) take(*record);
    if (count_ == 0) fail("has no record scidac-binary-data of spinors");
    if (number_ == 0 && count_ > 1)
      fail(fmt::format("has {} spinors: write which of them, \"NAME:1\" to \"NAME:{}\"", count_,
                       count_));
    if (field_.values.empty())
      fail(fmt::format("has {} spinors, and `:{}` asks for another one", count_, number_));
    return std::move(field_);
  }

 private:
  /// Real numbers at each site of a record, and where there the first one of a spinor's component
  /// is: that of spin s and colour c is `spin` s + `colour` c further.
  struct Site {
    std::uint64_t reals = 0, start = 0, spin = 0, colour = 2;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw ResultsError(fmt::format("{} {}", stream_.name(), what));
  }

  void take(const LimeRecord& record) {
    if (record.type == "etmc-propagator-format" || record.type == "etmc-source-format") {
      const std::string text = lime_.text();
      if (const auto sides = sides_of_format(text)) sides_ = sides;
      announced_ = {.bits = small_number(text, "precision")};
    } else if (record.type == "scidac-private-file-xml") {
      if (const auto sides = sides_of_dims(lime_.text())) sides_ = sides;
    } else if (record.type == "scidac-private-record-xml") {
      announced_ = announced_by_scidac(lime_.text());
    } else if (record.type == "scidac-binary-data") {
      summed_ = false;
      spinors(record);
      announced_ = {};
    } else if (record.type == "scidac-checksum" && summed_) {
      compare(lime_.text());
      summed_ = false;
    }
  }

  /// Sites of the file; refused where they are not those of a box of the lattice's axes.
  std::uint64_t sites() {
    if (!sides_)
      fail(
          "says no extents before its spinors: it has no etmc-propagator-format and no "
          "scidac-private-file-xml with dims");
    std::int64_t all = 1;
    for (std::size_t i = 0; i < sides_->size(); ++i) {
      const std::int64_t side = (*sides_)[i];
      if (static_cast<int>(i) >= place_.dims && side != 1)
        fail(fmt::format("has spinors on {}, and the lattice has {} axes", shown(*sides_),
                         place_.dims));
      if (side > static_cast<std::int64_t>(stream_.size()) / all) fail("is shorter than it says");
      all *= side;
    }
    return static_cast<std::uint64_t>(all);
  }

  /// Counts the spinors of a record, and reads the one that is wanted.
  void spinors(const LimeRecord& record) {
    const std::uint64_t count = sites(), columns = of_spinor_ / 2;
    const auto has = [&](std::uint64_t reals, int bits) {
      return record.bytes == count * reals * static_cast<std::uint64_t>(bits) / 8 &&
             (announced_.bits == 0 || announced_.bits == bits);
    };
    const auto bits_of = [&](std::uint64_t reals) { return has(reals, 32) ? 32 : 64; };
    const auto either = [&](std::uint64_t reals) { return has(reals, 32) || has(reals, 64); };
    const bool matrix = of_spinor_ > 2 && !either(of_spinor_) && either(of_spinor_ * columns);
    if (!matrix && of_spinor_ > 2 && either(2)) return;  // a source of one number at each site
    const Site site = matrix ? column(count_ + 1) : Site{of_spinor_, 0, 0, 2};
    if (!either(site.reals)) wrong_length(record, count);
    if (!matrix) same_components();
    const std::size_t first = count_ + 1, wanted = std::max<std::size_t>(number_, 1);
    count_ += matrix ? columns : 1;
    if (wanted < first || wanted > count_) return;
    summed_ = true;
    numbers(count, site, bits_of(site.reals) == 32 ? Precision::F32 : Precision::F64);
  }

  /// The column that is wanted of a record of matrices, whose first one has the number `first`:
  /// indices are those of spin, the source's spin, colour, the source's colour.
  Site column(std::size_t first) const {
    const auto spins = static_cast<std::uint64_t>(announced_.spins);
    const auto colours = static_cast<std::uint64_t>(announced_.colours);
    if (spins * colours == 0)
      fail(
          "has matrices and says neither their colours nor their spins: it has no "
          "scidac-private-record-xml with both");
    same_components();
    const std::uint64_t wanted = std::max<std::size_t>(number_, 1);
    const std::uint64_t n = wanted < first ? 0 : (wanted - first) % (spins * colours);
    return {.reals = 2 * spins * spins * colours * colours,
            .start = 2 * (n / colours * colours * colours + n % colours),
            .spin = 2 * spins * colours * colours,
            .colour = 2 * colours};
  }

  void same_components() const {
    const int own = announced_.spins * announced_.colours;
    if (own != 0 && 2 * own != place_.components)
      fail(
          fmt::format("has spinors of {} spins and {} colours, which are {} complex numbers, and "
                      "those of the model have {}",
                      announced_.spins, announced_.colours, own, place_.components / 2));
  }

  [[noreturn]] void wrong_length(const LimeRecord& record, std::uint64_t count) const {
    same_components();
    const std::uint64_t narrow = count * of_spinor_ * 4;
    if (announced_.bits != 0)
      fail(
          fmt::format("has {} bytes in a record of spinors on {}, and {} numbers of {} bits, as it "
                      "says, at each of these sites have {}",
                      record.bytes, shown(*sides_), of_spinor_, announced_.bits,
                      narrow * static_cast<std::uint64_t>(announced_.bits) / 32));
    fail(
        fmt::format("has {} bytes in a record of spinors on {}, and {} numbers at each of these "
                    "sites have {} or {}",
                    record.bytes, shown(*sides_), of_spinor_, narrow, 2 * narrow));
  }

  void numbers(std::uint64_t count, const Site& site, Precision precision) {
    for (int i = 0; i < place_.dims; ++i)
      field_.cells.push_back((*sides_)[static_cast<std::size_t>(i)]);
    field_.sites = true;
    const std::size_t width = bytes_of(precision);
    const auto bytes = static_cast<std::size_t>(site.reals) * width;
    const auto entry = static_cast<std::size_t>(place_.entry);
    const auto colours = static_cast<std::size_t>(std::max(announced_.colours, 1));
    const std::size_t component = entry / 2;  // spin outside; without spins all are colours
    const std::size_t at =
        width * (site.spin == 0 ? entry
                                : site.start + site.spin * (component / colours) +
                                      site.colour * (component % colours) + entry % 2);
    std::vector<std::byte> piece(std::max<std::size_t>(1, kAtOnce / bytes) * bytes);
    for (std::uint64_t done = 0; done < count;) {
      const std::size_t some = std::min<std::uint64_t>(piece.size() / bytes, count - done);
      lime_.read(std::span(piece).first(some * bytes));
      for (std::size_t i = 0; i < some; ++i, ++done) {
        const auto here = std::span(piece).subspan(i * bytes, bytes);
        if (place_.entry == 0) sums_.add(done, here);
        to_reals(here.subspan(at, width), precision, std::endian::big,
                 &field_.values.emplace_back());
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
  const std::uint64_t of_spinor_;  ///< real numbers of a spinor at a site
  std::optional<Sides> sides_;
  Announced announced_;
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
