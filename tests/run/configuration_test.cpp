// Gauge configurations in files: bytes written by hand are read in the right order, errors of files
// give messages, and written files are read back. Real configurations of other programs are read
// where VPHI_GAUGE_DATA names their folder; their averages are those of an independent program
// (numpy 2.4, links shifted as whole arrays).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>

#include "runtime/io/configurations/configuration.hpp"
#include "runtime/io/configurations/ildg.hpp"
#include "runtime/io/configurations/milc.hpp"
#include "runtime/io/configurations/nersc.hpp"
#include "runtime/io/configurations/openqcd.hpp"
#include "runtime/io/configurations/wilson_loop.hpp"
#include "runtime/io/files/crc32.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::io {
namespace {

namespace fs = std::filesystem;
using program::Precision;
using Problem = ConfigurationError::Problem;
using Complex = std::complex<double>;

// ---- files by hand: nothing of the library is used ----------------------------------------------

template <class Number>
std::string big(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return {bytes.rbegin(), bytes.rend()};
}

std::string record(const std::string& type, const std::string& data, std::uint16_t flags = 0xc000) {
  std::string name = type;
  name.resize(128, '\0');
  std::string all = big(0x456789abU) + big(std::uint16_t{1}) + big(flags) +
                    big(std::uint64_t{data.size()}) + name + data;
  all.resize((all.size() + 7) / 8 * 8, '\0');
  return all;
}

/// Bit by bit, as ISO 3309 has it.
std::uint32_t slow_crc(const std::string& bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0);
  }
  return ~crc;
}

std::uint32_t rotated(std::uint32_t word, std::uint64_t by) {
  return static_cast<std::uint32_t>((std::uint64_t{word} << by) |
                                    (std::uint64_t{word} >> (32 - by)));
}

/// Numbers that say where they stand: ((((site*4 + mu)*N + row)*N + column)*2 + part) + seed.
std::string coded_site(int site, int colours, bool wide, int seed) {
  std::string bytes;
  const int count = 4 * colours * colours * 2;
  for (int i = 0; i < count; ++i) {
    const int value = site * count + i + seed;
    bytes += wide ? big(static_cast<double>(value)) : big(static_cast<float>(value));
  }
  return bytes;
}

std::string hex(std::uint32_t number, bool zeros) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), zeros ? "%08x" : "%x", number);
  return text.data();
}

struct Parts {
  std::string format, data, sums;
  std::uint32_t a = 0, b = 0;
};

/// Lattice of 3 x 1 x 1 x 2 sites.
constexpr Extents kExtent{3, 1, 1, 2};

Parts coded(int colours, bool wide, int seed, bool zeros) {
  Parts parts;
  parts.format =
      "<?xml version=\"1.0\"?><!-- <lx>9</lx> --><ildgFormat xmlns=\"x\"><version>1.0"
      "</version><field>su" +
      std::to_string(colours) + "gauge</field><precision>" + (wide ? "64" : "32") +
      "</precision><lx> 3 </lx><ly>1</ly><lz>1</lz><lt>2</lt>"
      "</ildgFormat>";
  for (int site = 0; site < 6; ++site) {
    const std::string bytes = coded_site(site, colours, wide, seed);
    parts.a ^= rotated(slow_crc(bytes), site % 29);
    parts.b ^= rotated(slow_crc(bytes), site % 31);
    parts.data += bytes;
  }
  parts.sums = "<scidacChecksum><version>1.0</version><suma>" + hex(parts.a, zeros) +
               "</suma><sumb>" + hex(parts.b, zeros) + "</sumb></scidacChecksum>";
  return parts;
}

std::string joined(const Parts& parts) {
  return record("some-private-text", "hello") + record("ildg-format", parts.format) +
         record("xlf-info", "plaquette = 0.5\n trajectory nr = 12, beta = 3.9\n") +
         record("ildg-binary-data", parts.data) + record("scidac-checksum", parts.sums);
}

ConfigurationFile read_bytes(const std::string& bytes, const ConfigurationWish& wish = {}) {
  ByteStream stream(std::as_bytes(std::span(bytes)), "by_hand");
  return read_configuration(stream, wish);
}

void expect_problem(const std::string& bytes, Problem problem, const std::string& says,
                    const ConfigurationWish& wish = {}) {
  try {
    read_bytes(bytes, wish);
    ADD_FAILURE() << "read; expected: " << says;
  } catch (const ConfigurationError& error) {
    EXPECT_EQ(error.problem, problem) << error.what();
    EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("by_hand"), std::string::npos) << error.what();
  }
}

TEST(Crc32, CheckValueAndPieces) {
  const std::string digits = "123456789";  // the check value of the CRC catalogue
  const auto bytes = std::as_bytes(std::span(digits));
  EXPECT_EQ(crc32(bytes), 0xCBF43926U);
  EXPECT_EQ(crc32(bytes.subspan(4), crc32(bytes.first(4))), 0xCBF43926U);
  std::mt19937 random(5);
  std::string many(1003, '\0');
  for (char& c : many) c = static_cast<char>(random());
  EXPECT_EQ(crc32(std::as_bytes(std::span(many))), slow_crc(many));
}

TEST(Ildg, OrderOfTheNumbers) {
  for (const int colours : {1, 2, 3, 4})
    for (const bool wide : {false, true}) {
      const auto file = read_bytes(joined(coded(colours, wide, 0, true)));
      const Configuration& c = file.configuration;
      EXPECT_EQ(c.extent, kExtent);
      ASSERT_EQ(c.colours, colours);
      EXPECT_EQ(file.facts.precision, wide ? Precision::F64 : Precision::F32);
      EXPECT_TRUE(file.facts.checked);
      const int x = 2, t = 1, mu = 3, row = colours - 1, column = 0;
      const int at = ((((t * 3 + x) * 4 + mu) * colours + row) * colours + column) * 2;
      EXPECT_EQ(c.link(t * 3 + x, mu)[row * colours + column], Complex(at, at + 1));
    }
}

TEST(Ildg, ChecksumIsANumber) {
  int short_ones = 0;
  for (int seed = 0; seed < 400 && short_ones < 2; ++seed) {
    const Parts parts = coded(1, false, seed, false);
    if (parts.a >> 28 != 0 && parts.b >> 28 != 0) continue;
    ++short_ones;
    EXPECT_TRUE(read_bytes(joined(parts)).facts.checked);
    EXPECT_TRUE(read_bytes(joined(coded(1, false, seed, true))).facts.checked);
  }
  EXPECT_EQ(short_ones, 2);
}

TEST(Ildg, NotesOfTheTrajectory) {
  const auto notes = read_bytes(joined(coded(2, true, 0, true))).facts.notes;
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0], (std::pair<std::string, std::string>("plaquette", "0.5")));
  EXPECT_EQ(notes[1].first, "trajectory nr");
}

TEST(Ildg, WithoutFormatTheCallerSaysTheExtents) {
  for (const bool wide : {false, true}) {
    const Parts parts = coded(3, wide, 0, true);
    const std::string bytes = record("ildg-binary-data", parts.data);
    const auto file = read_bytes(bytes, {.extent = kExtent, .colours = 3});
    EXPECT_EQ(file.configuration.colours, 3);
    EXPECT_EQ(file.facts.precision, wide ? Precision::F64 : Precision::F32);
    EXPECT_FALSE(file.facts.checked);
    expect_problem(bytes, Problem::NoFormat, "no record ildg-format");
    expect_problem(bytes, Problem::Extents, "write `lattice`", {.extent = Extents{5, 1, 1, 1}});
    expect_problem(bytes, Problem::Group, "SU(3), the model's are of SU(2)",
                   {.extent = kExtent, .colours = 2});
  }
}

TEST(Ildg, OtherLatticeNamesBoth) {
  expect_problem(joined(coded(3, true, 0, true)), Problem::Extents,
                 "3 x 1^2 x 2 sites (x, y, z, t), the model's has 4^4",
                 {.extent = Extents{4, 4, 4, 4}});
}

TEST(Ildg, DamageIsSaid) {
  const Parts good = coded(2, true, 0, true);
  const std::string whole = joined(good);
  // cut anywhere: an error, never a configuration whose end is made up
  for (std::size_t bytes = 0; bytes < whole.size() - 400; bytes += 37)
    EXPECT_THROW(read_bytes(whole.substr(0, bytes)), ConfigurationError) << bytes;
  expect_problem(whole.substr(0, whole.find("ildg-binary-data") + 300), Problem::Truncated,
                 "record ildg-binary-data has 1536 bytes");
  std::string flipped = whole;
  flipped[whole.find("ildg-binary-data") + 128 + 700] ^= 1;
  expect_problem(flipped, Problem::Checksum, "scidac-checksum says");

  const auto with_format = [&](const std::string& from, const std::string& to) {
    Parts parts = good;
    parts.format.replace(parts.format.find(from), from.size(), to);
    return joined(parts);
  };
  expect_problem(with_format(">64<", ">32<"), Problem::Precision, "32 bits");
  expect_problem(with_format(">64<", ">16<"), Problem::Precision, "16 bits");
  expect_problem(with_format("su2", "su3"), Problem::Damaged, "SU(3), its links are 2 x 2");
  expect_problem(with_format("<lx> 3 ", "<lx> 5 "), Problem::Damaged, "1536 bytes of links");
  expect_problem(with_format("<lx> 3 </lx>", ""), Problem::Damaged, "<lx>");
  expect_problem(with_format(" 3 ", "-3"), Problem::Damaged, "at least 1");
  expect_problem(with_format(" 3 ", "0"), Problem::Damaged, "at least 1");
  expect_problem(with_format(" 3 ", "9223372036854775807"), Problem::Damaged, "2^40");
  expect_problem(with_format(" 3 ", "99999999999999999999"), Problem::Damaged, "<lx>");
  expect_problem(with_format(" 3 ", "3.5"), Problem::Damaged, "<lx>");

  Parts wrong = good;
  wrong.sums = "<suma>12345678</suma><sumb>zz</sumb>";
  expect_problem(joined(wrong), Problem::Damaged, "<sumb>");
  expect_problem(record("xlf-info", "x"), Problem::Unknown, "its records are xlf-info");
  expect_problem(joined(good) + joined(good), Problem::Unknown, "more than one configuration");
  expect_problem("SIMPLE  =  T", Problem::Unknown, "BEGIN_HEADER (NERSC)");
  expect_problem("", Problem::Unknown, "LIME");
  std::string hostile = whole;
  std::memset(&hostile[whole.find("ildg-binary-data") - 8], 0xff, 8);  // its length
  expect_problem(hostile, Problem::Truncated, "18446744073709551615 bytes");
  std::string unmagic = whole;
  unmagic[whole.find("ildg-format") - 16] = 'x';
  expect_problem(unmagic, Problem::Damaged, "no LIME record at byte 152");
}

// ---- NERSC --------------------------------------------------------------------------------------

/// Elements of SU(3) in closed form: e^{i a} and e^{-i a} at places that a cyclic permutation
/// moves.
std::array<Complex, 9> phases(double angle, int shift) {
  std::array<Complex, 9> u{};
  const std::array<Complex, 3> entry{std::polar(1.0, angle), std::polar(1.0, -angle), 1.0};
  for (int i = 0; i < 3; ++i) u[3 * i + (i + shift) % 3] = entry[i];
  return u;
}

struct Nersc {
  std::string header, data;
  std::uint32_t sum = 0;
};

enum class Order { Big, Little };

/// Links U_mu(x) = phases(0.1*(4*site + mu) + 0.3, shift) on 2 x 1 x 1 x 1 sites.
Nersc nersc(int rows, bool wide, Order order, const std::string& floating, int shift = 1) {
  Nersc file;
  double trace = 0;
  for (int link = 0; link < 8; ++link) {
    const auto u = phases(0.1 * link + 0.3, shift);
    trace += (u[0] + u[4] + u[8]).real() / 24;
    for (int i = 0; i < rows * 3; ++i)
      for (const double part : {u[i].real(), u[i].imag()}) {
        std::string number = wide ? big(part) : big(static_cast<float>(part));
        for (std::size_t at = 0; at < number.size(); at += 4) {
          std::uint32_t word = 0;
          for (int k = 0; k < 4; ++k) word = word << 8 | static_cast<unsigned char>(number[at + k]);
          file.sum += word;
        }
        if (order == Order::Little) number = {number.rbegin(), number.rend()};
        file.data += number;
      }
  }
  file.header = "BEGIN_HEADER\nHDR_VERSION = 1.0\nDATATYPE = 4D_SU3_GAUGE" +
                std::string(rows == 3 ? "_3X3" : "") +
                "\nDIMENSION_1 = 2\nDIMENSION_2 = 1\nDIMENSION_3 = 1\nDIMENSION_4 = 1\n"
                "BOUNDARY_1 = PERIODIC\nCHECKSUM = " +
                hex(file.sum, false) + "\nLINK_TRACE = " + std::to_string(trace) +
                "\nENSEMBLE_ID = a = b\n"
                "FLOATING_POINT = " +
                floating + "\nEND_HEADER\n";
  return file;
}

TEST(Nersc, RowsOrdersPrecisions) {
  struct Case {
    int rows;
    bool wide;
    Order order;
    const char* floating;
  };
  for (const Case& c :
       {Case{2, false, Order::Big, "IEEE32BIG"}, Case{3, false, Order::Big, "IEEE32BIG"},
        Case{2, true, Order::Big, "IEEE64BIG"}, Case{3, true, Order::Little, "IEEE64LITTLE"},
        Case{2, false, Order::Little, "IEEE32LITTLE"}, Case{3, true, Order::Big, "IEEE64"},
        Case{2, false, Order::Little, "IEEE32"}, Case{3, false, Order::Big, "IEEE32"}})
    for (const int shift : {0, 1, 2}) {
      const Nersc file = nersc(c.rows, c.wide, c.order, c.floating, shift);
      const auto read = read_bytes(file.header + file.data);
      EXPECT_TRUE(read.facts.checked);
      EXPECT_EQ(read.facts.format, "NERSC");
      EXPECT_EQ(read.configuration.extent, (Extents{2, 1, 1, 1}));
      for (int link = 0; link < 8; ++link) {
        const auto u = phases(0.1 * link + 0.3, shift);
        for (int i = 0; i < 9; ++i)
          EXPECT_NEAR(std::abs(read.configuration.link(link / 4, link % 4)[i] - u[i]), 0,
                      c.wide ? 1e-15 : 1e-7)
              << c.floating << " link " << link << " entry " << i;
      }
      EXPECT_LT(distance_from_group(read.configuration), c.wide ? 1e-14 : 2e-7);
    }
}

TEST(Nersc, DamageIsSaid) {
  const Nersc good = nersc(2, false, Order::Big, "IEEE32BIG", 0);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string header = good.header;
    header.replace(header.find(from), from.size(), to);
    return header + good.data;
  };
  const std::string whole = good.header + good.data;
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 11)
    EXPECT_THROW(read_bytes(whole.substr(0, bytes)), ConfigurationError) << bytes;
  expect_problem(whole.substr(0, whole.size() - 4), Problem::Truncated, "384 bytes of links, 380");
  expect_problem(whole.substr(0, 60), Problem::Truncated, "END_HEADER");
  expect_problem(whole + "x", Problem::Damaged, "385 bytes");
  expect_problem(whole + good.data, Problem::Precision, "64 bits");
  std::string flipped = whole;
  flipped[whole.size() - 9] ^= 4;
  expect_problem(flipped, Problem::Checksum, "its header says " + hex(good.sum, false));
  expect_problem(with("LINK_TRACE = 0", "LINK_TRACE = 1"), Problem::Checksum, "LINK_TRACE = 1");
  expect_problem(with("LINK_TRACE = 0", "LINK_TRACE = x"), Problem::Damaged, "not a number");
  expect_problem(with("ENSEMBLE_ID = a = b", "PLAQUETTE = 0.9"), Problem::Checksum, "PLAQUETTE");
  expect_problem(with("DIMENSION_1 = 2", "DIMENSION_1 = 4"), Problem::Truncated, "768 bytes");
  expect_problem(with("DIMENSION_1 = 2", "DIMENSION_1 = 0"), Problem::Damaged, "at least 1");
  expect_problem(with("DIMENSION_1 = 2", "DIMENSION_1 = 8589934592"), Problem::Truncated,
                 "cut off");
  expect_problem(with("DIMENSION_1 = 2", "DIMENSION_1 = 9999999999999"), Problem::Damaged, "2^40");
  expect_problem(with("DIMENSION_4 = 1\n", ""), Problem::Damaged, "no DIMENSION_4");
  expect_problem(with("PERIODIC", "ANTIPERIODIC"), Problem::Unknown, "ANTIPERIODIC");
  expect_problem(with("4D_SU3_GAUGE", "4D_SP4_GAUGE"), Problem::Group, "4D_SP4_GAUGE");
  expect_problem(with("4D_SU3_GAUGE", "4D_SU4_GAUGE"), Problem::Group, "4D_SU4_GAUGE");
  expect_problem(with("IEEE32BIG", "VAX"), Problem::Precision, "VAX");
  expect_problem(with("CHECKSUM = ", "CHECKSUM = q"), Problem::Damaged, "hexadecimal");
  expect_problem(whole, Problem::Extents, "2 x 1^3 sites (x, y, z, t), the model's has 3^4",
                 {.extent = Extents{3, 3, 3, 3}});
  expect_problem(whole, Problem::Group, "SU(3), the model's are of SU(2)", {.colours = 2});
}

// ---- MILC ---------------------------------------------------------------------------------------

template <class Number>
std::string little(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

/// Version 5: links U_mu(x) = phases(0.1*(4*site + mu) + 0.3) on 2 x 1 x 1 x 1 sites.
std::string milc(Order order) {
  const auto ordered = [order](auto number) {
    return order == Order::Little ? little(number) : big(number);
  };
  std::string data;
  std::uint32_t sum29 = 0, sum31 = 0;
  int count = 0;
  for (int link = 0; link < 8; ++link)
    for (const Complex& entry : phases(0.1 * link + 0.3, 1))
      for (const double part : {entry.real(), entry.imag()}) {
        const auto number = static_cast<float>(part);
        std::uint32_t word = 0;
        std::memcpy(&word, &number, sizeof word);
        sum29 ^= rotated(word, count % 29);
        sum31 ^= rotated(word, count % 31);
        ++count;
        data += ordered(number);
      }
  std::string stamp = "Tue Oct  7 12:00:00 2025";
  stamp.resize(64, '\0');
  std::string header = ordered(std::uint32_t{20103});
  for (const std::uint32_t n : {2U, 1U, 1U, 1U}) header += ordered(n);
  return header + stamp + ordered(std::uint32_t{0}) + ordered(sum29) + ordered(sum31) + data;
}

TEST(Milc, BothOrders) {
  for (const Order order : {Order::Little, Order::Big}) {
    const auto read = read_bytes(milc(order));
    EXPECT_EQ(read.facts.format, "MILC");
    EXPECT_TRUE(read.facts.checked);
    EXPECT_EQ(read.facts.notes.at(0).second, "Tue Oct  7 12:00:00 2025");
    EXPECT_EQ(read.configuration.extent, (Extents{2, 1, 1, 1}));
    for (int link = 0; link < 8; ++link) {
      const auto u = phases(0.1 * link + 0.3, 1);
      for (int i = 0; i < 9; ++i)
        EXPECT_NEAR(std::abs(read.configuration.link(link / 4, link % 4)[i] - u[i]), 0, 1e-7);
    }
  }
}

TEST(Milc, DamageIsSaid) {
  const std::string whole = milc(Order::Little);
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 11)
    EXPECT_THROW(read_bytes(whole.substr(0, bytes)), ConfigurationError) << bytes;
  const auto with = [&](std::size_t at, const std::string& bytes) {
    return std::string(whole).replace(at, bytes.size(), bytes);
  };
  expect_problem(whole.substr(0, 90), Problem::Truncated, "the header of a MILC file");
  expect_problem(whole.substr(0, whole.size() - 4), Problem::Truncated, "576 bytes of links, 572");
  expect_problem(whole + "x", Problem::Damaged, "577");
  expect_problem(with(whole.size() - 9, "x"), Problem::Checksum, "checksums of its links");
  expect_problem(with(84, little(1)), Problem::Unknown, "save_serial");
  expect_problem(with(4, little(0)), Problem::Damaged, "at least 1");
  expect_problem(with(4, little(-2)), Problem::Damaged, "at least 1");
  expect_problem(with(4, little(1 << 30)), Problem::Truncated, "cut off");
  expect_problem(whole, Problem::Extents, "the model's has 3^4", {.extent = Extents{3, 3, 3, 3}});
  expect_problem(whole, Problem::Group, "the model's are of SU(2)", {.colours = 2});
}

// ---- openQCD ------------------------------------------------------------------------------------

/// Number of a site of 2 x 4 x 2 x 2 sites, x fastest; coordinates are taken round.
int site_of(int x, int y, int z, int t) {
  return (x + 2) % 2 + 2 * ((y + 4) % 4 + 4 * ((z + 2) % 2 + 2 * ((t + 2) % 2)));
}

/// Links U_mu(x) = phases(0.1*(4*site + mu) + 0.3). Their plaquette is numpy's.
constexpr double kOpenqcdPlaquette = 0.734320206181499;
std::string openqcd(double plaquette = kOpenqcdPlaquette) {
  std::string file;
  for (const int n : {2, 2, 4, 2}) file += little(n);  // t, x, y, z
  file += little(plaquette);
  const auto link = [&](int site, int mu) {
    for (const Complex& entry : phases(0.1 * (4 * site + mu) + 0.3, 1))
      file += little(entry.real()) + little(entry.imag());
  };
  for (int t = 0; t < 2; ++t)
    for (int x = 0; x < 2; ++x)
      for (int y = 0; y < 4; ++y)
        for (int z = 0; z < 2; ++z) {
          if ((x + y + z + t) % 2 == 0) continue;
          link(site_of(x, y, z, t), 3);
          link(site_of(x, y, z, t - 1), 3);
          link(site_of(x, y, z, t), 0);
          link(site_of(x - 1, y, z, t), 0);
          link(site_of(x, y, z, t), 1);
          link(site_of(x, y - 1, z, t), 1);
          link(site_of(x, y, z, t), 2);
          link(site_of(x, y, z - 1, t), 2);
        }
  return file;
}

TEST(Openqcd, OrderOfTheLinks) {
  const auto read = read_bytes(openqcd());
  EXPECT_EQ(read.facts.format, "openQCD");
  EXPECT_EQ(read.configuration.extent, (Extents{2, 4, 2, 2}));
  for (int site = 0; site < 32; ++site)
    for (int mu = 0; mu < 4; ++mu) {
      const auto u = phases(0.1 * (4 * site + mu) + 0.3, 1);
      for (int i = 0; i < 9; ++i)
        EXPECT_EQ(read.configuration.link(site, mu)[i], u[i]) << site << " " << mu << " " << i;
    }
  const testing::ScratchFolder folder;
  write_openqcd(folder / "conf", read.configuration);
  std::ifstream written(folder / "conf", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(written), {}}, expected = openqcd();
  ASSERT_EQ(bytes.size(), expected.size());
  double average = 0;
  std::memcpy(&average, &bytes[16], sizeof average);
  EXPECT_NEAR(average, kOpenqcdPlaquette, 1e-13);
  EXPECT_EQ(bytes.substr(0, 16), expected.substr(0, 16));
  EXPECT_TRUE(bytes.substr(24) == expected.substr(24));
}

TEST(Openqcd, DamageIsSaid) {
  const std::string whole = openqcd();
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 111)
    EXPECT_THROW(read_bytes(whole.substr(0, bytes)), ConfigurationError) << bytes;
  expect_problem(whole.substr(0, whole.size() - 8), Problem::Truncated,
                 "18432 bytes of links, 18424 are there");
  expect_problem(whole + "x", Problem::Damaged, "18433");
  expect_problem(openqcd(0.75), Problem::Checksum,
                 "says a plaquette of 0.75, its links have 0.734");
  std::string flipped = whole;
  flipped[24 + 16 + 6] ^= 4;  // the second number of the first row
  expect_problem(flipped, Problem::Checksum, "damaged");
  std::string odd = whole;
  odd[0] = 3;
  expect_problem(odd, Problem::Unknown, "openQCD");
  expect_problem(whole, Problem::Extents, "the model's has 3^4", {.extent = Extents{3, 3, 3, 3}});
  expect_problem(whole, Problem::Group, "the model's are of SU(2)", {.colours = 2});
}

// ---- hostile files ------------------------------------------------------------------------------

/// Bytes of each number of this size turned round.
std::string turned(std::string bytes, std::size_t size, std::size_t from = 0) {
  for (std::size_t at = from; at + size <= bytes.size(); at += size)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
  return bytes;
}

TEST(Configuration, NumbersInTheOtherOrderAreSaid) {
  expect_problem(turned(openqcd(), 4), Problem::Unknown, "openQCD");
  expect_problem(turned(openqcd(), 8, 24), Problem::Checksum, "says a plaquette of 0.734");
  Parts parts = coded(3, true, 1, true);
  parts.data = turned(parts.data, 8);
  expect_problem(joined(parts), Problem::Checksum, "scidac-checksum says");
  for (const Order order : {Order::Big, Order::Little}) {
    const Nersc file = nersc(2, false, order, order == Order::Big ? "IEEE32LITTLE" : "IEEE32BIG");
    expect_problem(file.header + file.data, Problem::Checksum, "the checksum of its links is");
  }
  expect_problem(milc(Order::Big).substr(0, 84) + milc(Order::Little).substr(84), Problem::Checksum,
                 "checksums of its links");
}

/// A file is read, or refused in one line of characters that can be printed.
void expect_sentence(const std::string& bytes) {
  try {
    const ConfigurationFile file = read_bytes(bytes);
    EXPECT_LE(file.configuration.links.size(), bytes.size()) << file.facts.format;
  } catch (const ConfigurationError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("by_hand"), std::string::npos) << what;
    EXPECT_LT(what.size(), 500U) << what;
    for (const char c : what) EXPECT_TRUE(static_cast<unsigned char>(c) >= 32 && c != 127) << what;
  }
}

TEST(Configuration, AnyChangeOfBytesGivesASentence) {
  const Nersc file = nersc(3, true, Order::Big, "IEEE64BIG");
  std::mt19937 random(5);
  for (const std::string& whole :
       {joined(coded(2, true, 0, true)), file.header + file.data, milc(Order::Big), openqcd()})
    for (int round = 0; round < 600; ++round) {
      std::string bytes = whole;
      for (int k = 0; k <= round % 4; ++k)
        bytes[random() % std::min<std::size_t>(bytes.size(), 700)] = static_cast<char>(random());
      if (round % 5 == 0) bytes.resize(random() % bytes.size());
      expect_sentence(bytes);
    }
}

// ---- written and read back ----------------------------------------------------------------------

/// Any numbers, which f32 holds only rounded.
Configuration some_links(int colours, const Extents& extent) {
  Configuration c = unit_configuration(colours, extent);
  std::mt19937 random(17);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (Complex& entry : c.links) entry = {uniform(random), uniform(random)};
  return c;
}

/// `volatile`, since GCC 12 at -O2 takes two of these roundings for none where they stand side by
/// side.
Complex rounded(const Complex& number, Precision precision) {
  if (precision == Precision::F64) return number;
  const volatile auto re = static_cast<float>(number.real());
  const volatile auto im = static_cast<float>(number.imag());
  return {re, im};
}

TEST(Configuration, ReadBackAsWritten) {
  const testing::ScratchFolder folder;
  using Write = std::function<void(const fs::path&, const Configuration&, Precision)>;
  const std::vector<std::pair<std::string, Write>> writers{
      {"ILDG",
       [](const auto& path, const auto& c, auto precision) { write_ildg(path, c, precision); }},
      {"NERSC",
       [](const auto& path, const auto& c, auto precision) { write_nersc(path, c, precision); }}};
  for (const auto& [format, write] : writers)
    for (const int colours : {1, 2, 3, 4, 5}) {
      if (format == "NERSC" && colours == 1) continue;
      for (const Precision precision : {Precision::F32, Precision::F64}) {
        const Configuration c = some_links(colours, {4, 3, 2, 5});
        write(folder / "conf", c, precision);
        const auto file =
            read_configuration(folder / "conf", {.extent = c.extent, .colours = colours});
        EXPECT_EQ(file.facts.format, format);
        EXPECT_TRUE(file.facts.checked);
        EXPECT_EQ(file.facts.precision, precision);
        ASSERT_EQ(file.configuration.links.size(), c.links.size());
        for (std::size_t i = 0; i < c.links.size(); ++i) {
          const Complex expected = rounded(c.links[i], precision);
          ASSERT_EQ(file.configuration.links[i], expected) << format << " SU(" << colours << ")";
        }
        EXPECT_FALSE(fs::exists(folder / "conf.writing"));
      }
    }
}

/// Formats of one group and one precision.
TEST(Configuration, MilcAndOpenqcdAreReadBackAsWritten) {
  const testing::ScratchFolder folder;
  const Configuration c = some_links(3, {4, 6, 2, 8});
  write_milc(folder / "milc", c, "step 20 of su3");
  const auto milc = read_configuration(folder / "milc", {.extent = c.extent, .colours = 3});
  EXPECT_EQ(milc.facts.notes.at(0).second, "step 20 of su3");
  for (std::size_t i = 0; i < c.links.size(); ++i)
    ASSERT_EQ(milc.configuration.links[i], rounded(c.links[i], Precision::F32));
  Configuration small = c;  // the plaquette of the header is at most 3
  for (Complex& entry : small.links) entry *= 0.5;
  write_openqcd(folder / "openqcd", small);
  const auto openqcd = read_configuration(folder / "openqcd", {.extent = c.extent, .colours = 3});
  EXPECT_TRUE(openqcd.configuration.links == small.links);
  EXPECT_FALSE(fs::exists(folder / "milc.writing") || fs::exists(folder / "openqcd.writing"));
  EXPECT_THROW(write_openqcd(folder / "odd", some_links(3, {3, 2, 2, 2})), ResultsError);
  EXPECT_THROW(write_openqcd(folder / "su2", some_links(2, {2, 2, 2, 2})), ResultsError);
  EXPECT_THROW(write_milc(folder / "su2", some_links(2, {2, 2, 2, 2}), ""), ResultsError);
}

TEST(Configuration, NotesAreKept) {
  const testing::ScratchFolder folder;
  const std::vector<std::pair<std::string, std::string>> notes{{"trajectory nr", "30"},
                                                               {"beta", "5.7"}};
  write_ildg(folder / "conf", unit_configuration(3, {2, 2, 2, 2}), Precision::F64, notes);
  EXPECT_EQ(read_configuration(folder / "conf").facts.notes, notes);
}

TEST(Configuration, WhatTheSystemRefusesIsSaid) {
  const testing::ScratchFolder folder;
  EXPECT_THROW(read_configuration(folder / "missing"), ResultsError);
  EXPECT_THROW(read_configuration(folder.path()), ResultsError);
  EXPECT_THROW(
      write_ildg(folder / "no/such/folder", unit_configuration(2, {1, 1, 1, 1}), Precision::F64),
      ResultsError);
}

TEST(Loops, InClosedForm) {
  // U_mu(x) = exp(i theta_mu(x)) of U(1) with theta_y = B x: every plaquette in xy has angle B, but
  // those that wrap around in x have B - B*Lx
  Configuration c = unit_configuration(1, {4, 3, 1, 1});
  for (int site = 0; site < 12; ++site) c.link(site, 1)[0] = std::polar(1.0, 0.3 * (site % 4));
  EXPECT_NEAR(mean_plaquette(c, 2), (3 * std::cos(0.3) + std::cos(0.9)) / 4, 1e-15);
  EXPECT_NEAR(mean_link(c, 2), (1 + (1 + std::cos(.3) + std::cos(.6) + std::cos(.9)) / 4) / 2,
              1e-15);
  // two along x, one along y: angle 2B, or 2B - 4B for the two that wrap; the other way also 2B
  const double xxy = (2 * std::cos(0.6) + 2 * std::cos(0.6)) / 4;
  const double yyx = (3 * std::cos(0.6) + std::cos(1.8)) / 4;
  EXPECT_NEAR(mean_rectangle(c, 2), (xxy + yyx) / 2, 1e-15);
  EXPECT_LT(distance_from_group(c), 1e-15);
  c.link(5, 1)[0] *= 1.01;
  EXPECT_NEAR(distance_from_group(c), 0.0201, 1e-12);
  c.link(5, 1)[0] = std::nan("");
  EXPECT_TRUE(std::isnan(distance_from_group(c)));
}

// ---- configurations of other programs -----------------------------------------------------------

struct Known {
  const char* file;
  int colours;
  double plaquette, rectangle, link, from_group;
  bool checked;
};

TEST(OtherPrograms, ConfigurationsAgreeWithNumpy) {
  const char* folder = std::getenv("VPHI_GAUGE_DATA");
  if (!folder) GTEST_SKIP() << "VPHI_GAUGE_DATA names no folder of configurations";
  const Known table[] = {
      {"latticeqcdjl_hmc_su2_b5.7_L4.ildg", 2, 0.47613811063227013, 0.23905822111466027,
       -0.003824022159934712, 1e-13, false},
      {"latticeqcdjl_hmc_su3_b5.7_L4.ildg", 3, 0.5682157501486943, 0.35159741289538909,
       0.0018331580485459206, 1e-11, false},
      {"latticeqcdjl_hmc_su4_b5.7_L4.ildg", 4, 0.34024104496327046, 0.11752155919345174,
       0.0043276875510703024, 1e-13, false},
      {"latticeqcdjl_wilson_b5.7_k0.141139_L4.ildg", 3, 0.5658002268452863, 0.35376820133744252,
       0.0076297576889783085, 1e-10, false},
      {"qdpjit_t_dprec_ildg.lime", 3, 0.038242289409575962, 0.0019866283391922206,
       0.46303221000490186, 1e-6, true},
      {"qdpjit_t_nersc.cfg", 3, 0.03824228932403221, 0.0019866281842537518, 0.46303220983808629,
       1e-6, true},
  };
  for (const Known& known : table) {
    const ConfigurationWish wish{.extent = Extents{4, 4, 4, 4}, .colours = known.colours};
    const auto file = read_configuration(fs::path(folder) / known.file, wish);
    const Configuration& c = file.configuration;
    EXPECT_NEAR(mean_plaquette(c), known.plaquette, 1e-13) << known.file;
    EXPECT_NEAR(mean_rectangle(c), known.rectangle, 1e-13) << known.file;
    EXPECT_NEAR(mean_link(c), known.link, 1e-13) << known.file;
    EXPECT_LT(distance_from_group(c), known.from_group) << known.file;
    EXPECT_EQ(file.facts.checked, known.checked) << known.file;
    const testing::ScratchFolder scratch;  // what is written of them has the numbers they had
    write_ildg(scratch / "again", c, Precision::F64);
    EXPECT_EQ(read_configuration(scratch / "again").configuration.links, c.links) << known.file;
  }
}

}  // namespace
}  // namespace vphi::io
