// Propagators of quarks in files: columns that one run writes and another reads, and sets as other
// programs write them.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/files/hdf5_sets.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// Wilson quarks of SU(2) on 2 x 4 from hot links; `more`: lines of the run.
std::string quarks_in_files(const std::string& more) {
  return "model propagators\nparam kappa = 0.12\nlattice grid: 2 * 4\ngauge U: SU(2)\n"
         "fermion psi, chi: spinor, boundary(y) = antiperiodic\n"
         "D(psi) = psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
         "here = index(x) + index(y) == 0\n"
         "S[s,c] = solve(D, here*spinor(s, c), solver = cgne(1e-13))\ninit U ~ hot\n" +
         more;
}

TEST(PropagatorFiles, OneRunReadsWhatAnotherHasWritten) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  testing::Simulation setup;
  setup.out = (scratch.path() / "first").string();
  const auto first = testing::run_text(
      quarks_in_files("at end: pion = total(norm2(S[0,0]) + norm2(S[3,1])), up = snapshot(S[0,0]), "
                      "down = snapshot(S[3,1]) -> \"columns.h5\"\n"),
      setup);
  const std::string set = "file(\"" + setup.out + "/columns.h5:/snapshots/";
  setup.out = {};
  const auto second = testing::run_text(
      quarks_in_files("init psi = " + set + "up/00000000\"), chi = " + set +
                      "down/00000000\")\nat end: pion = total(norm2(psi) + norm2(chi)), rest = "
                      "total(norm2(D(psi) - here*spinor(0, 0)) + norm2(D(chi) - here*spinor(3, "
                      "1))) -> \"b.h5\"\n"),
      setup);
  EXPECT_GT(testing::last(first, "pion"), 1);
  EXPECT_EQ(testing::last(second, "pion"), testing::last(first, "pion"));
  EXPECT_LT(testing::last(second, "rest"), 1e-24);
}

// ---- SciDAC by hand: bytes are made and taken apart here, nothing of the library is used --------

template <class Word>
std::string big_endian(Word word) {
  std::string bytes;
  for (int shift = 8 * static_cast<int>(sizeof word) - 8; shift >= 0; shift -= 8)
    bytes += static_cast<char>(static_cast<std::uint8_t>(word >> shift));
  return bytes;
}

std::string lime_record(std::string type, const std::string& data) {
  const std::string head = big_endian(0x456789abU) + big_endian(std::uint16_t{1}) +
                           big_endian(std::uint16_t{0xc000}) +
                           big_endian(std::uint64_t{data.size()});
  type.resize(128, '\0');
  std::string all = head + type + data;
  all.resize((all.size() + 7) / 8 * 8, '\0');
  return all;
}

/// CRC-32 bit by bit, and of sites of so many bytes the two sums of SciDAC.
std::uint32_t crc_of(const std::string& bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) * 0xEDB88320U);
  }
  return ~crc;
}
std::string sums_of(const std::string& data, std::size_t of_site) {
  std::uint32_t a = 0, b = 0;
  for (std::size_t site = 0; site * of_site < data.size(); ++site) {
    const std::uint32_t crc = crc_of(data.substr(site * of_site, of_site));
    a ^= std::rotl(crc, static_cast<int>(site % 29));
    b ^= std::rotl(crc, static_cast<int>(site % 31));
  }
  char text[64];
  std::snprintf(text, sizeof text, "<suma>%x</suma><sumb>%x</sumb>", a, b);
  return std::string("<scidacChecksum>") + text + "</scidacChecksum>";
}

/// Spinors of SU(2) on 2 x 4, number n of site s of record r: sin(64 r + 16 s + n).
double number_in_file(int r, int s, int n) { return std::sin(64 * r + 16 * s + n); }

std::string spinors_by_hand(int records, bool narrow, const std::string& format,
                            const std::string& sums = {}) {
  std::string file = format;
  for (int r = 0; r < records; ++r) {
    std::string data;
    for (int s = 0; s < 8; ++s)
      for (int n = 0; n < 16; ++n) {
        const double v = number_in_file(r, s, n);
        data += narrow ? big_endian(std::bit_cast<std::uint32_t>(static_cast<float>(v)))
                       : big_endian(std::bit_cast<std::uint64_t>(v));
      }
    file += lime_record("propagator-type", "DiracFermion_Sink") +
            lime_record("scidac-binary-data", data) +
            lime_record("scidac-checksum", sums.empty() ? sums_of(data, narrow ? 64 : 128) : sums);
  }
  return file;
}

const std::string kFormat = lime_record(
    "etmc-propagator-format",
    "<etmcFormat><field>diracFermion</field><precision>64</precision><flavours>1</flavours>"
    "<lx>2</lx><ly>4</ly><lz>1</lz><lt>1</lt></etmcFormat>");

/// Of psi from `name` in a folder with this file: Re psi[2,1] at (1, 3) and Im psi[1,0] at (0, 2).
std::vector<double> two_numbers(const std::filesystem::path& folder, const std::string& bytes,
                                const std::string& which) {
  const std::string path = (folder / "other.lime").string();
  std::ofstream(path, std::ios::binary) << bytes;
  const auto read = testing::run_text(
      quarks_in_files("init psi = file(\"" + path + which +
                      "\"), chi = 0\nat end: a = total(re(psi[2,1])*(index(x) == 1 and index(y) "
                      "== 3)), b = total(im(psi[1,0])*(index(x) == 0 and index(y) == 2)) -> "
                      "\"b.csv\"\n"),
      {});
  return {testing::last(read, "a"), testing::last(read, "b")};
}

TEST(PropagatorFiles, SciDacOfAnotherProgram) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  const auto a = [](int r) { return number_in_file(r, 7, 2 * (2 * 2 + 1)); };
  const auto b = [](int r) { return number_in_file(r, 4, 2 * (2 * 1 + 0) + 1); };
  const auto one = two_numbers(scratch.path(), spinors_by_hand(1, false, kFormat), "");
  EXPECT_EQ(one, (std::vector{a(0), b(0)}));
  const std::string qio =
      lime_record("scidac-private-file-xml", "<scidacFile><dims>2 4 1 1 </dims></scidacFile>");
  const auto third = two_numbers(scratch.path(), spinors_by_hand(3, true, qio), ":3");
  EXPECT_EQ(third, (std::vector<double>{static_cast<float>(a(2)), static_cast<float>(b(2))}));

  const auto refused = [&](const std::string& bytes, const std::string& which) -> std::string {
    try {
      two_numbers(scratch.path(), bytes, which);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "it is read";
  };
  const auto expect_said = [&](const std::string& said, const std::string& words) {
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  expect_said(refused(spinors_by_hand(2, false, kFormat), ""), "has 2 spinors");
  expect_said(refused(spinors_by_hand(2, false, kFormat), ":3"), "`:3` asks for another one");
  expect_said(refused(spinors_by_hand(1, false, ""), ""), "says no extents");
  expect_said(refused(spinors_by_hand(1, false, kFormat, "<suma>1</suma><sumb>2</sumb>"), ""),
              "is damaged");
  expect_said(refused(spinors_by_hand(1, false, kFormat).substr(0, 900), ""), "is cut off");
  const std::string other =
      lime_record("scidac-private-file-xml", "<scidacFile><dims>4 2 1 1 </dims></scidacFile>");
  expect_said(refused(spinors_by_hand(1, false, other), ""), "another number of values");
  const std::string half =
      lime_record("scidac-private-file-xml", "<scidacFile><dims>2 8 1 1 </dims></scidacFile>");
  expect_said(refused(spinors_by_hand(1, true, half), ""), "numbers at each of these sites");
}

/// Numbers of every site of a 2 x 4 box in one record, number n of site s: sin(1000 s + n).
std::string sites_by_hand(int of_site, bool narrow) {
  std::string data;
  for (int s = 0; s < 8; ++s)
    for (int n = 0; n < of_site; ++n) {
      const double v = std::sin(1000 * s + n);
      data += narrow ? big_endian(std::bit_cast<std::uint32_t>(static_cast<float>(v)))
                     : big_endian(std::bit_cast<std::uint64_t>(v));
    }
  return lime_record("scidac-binary-data", data) +
         lime_record("scidac-checksum", sums_of(data, data.size() / 8));
}

std::string record_of(const std::string& kind, char precision, int spins, int colours) {
  return lime_record("scidac-private-record-xml",
                     "<scidacRecord><datatype>" + kind + "</datatype><precision>" + precision +
                         "</precision><colors>" + std::to_string(colours) + "</colors><spins>" +
                         std::to_string(spins) + "</spins></scidacRecord>");
}

const std::string kDims =
    lime_record("scidac-private-file-xml", "<scidacFile><dims>2 4 1 1 </dims></scidacFile>");

/// What is said of a file that is refused.
std::string said_of(const std::filesystem::path& folder, const std::string& bytes,
                    const std::string& which) {
  try {
    two_numbers(folder, bytes, which);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "it is read";
}

TEST(PropagatorFiles, ColumnsOfMatrices) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  const int numbers = 2 * 8 * 8;  // [spin][spin of the source][colour][colour of the source]
  const auto at = [](int site, int spin, int colour, int source_spin, int source_colour, int im) {
    const int n = ((4 * spin + source_spin) * 2 + colour) * 2 + source_colour;
    return std::sin(1000 * site + 2 * n + im);
  };
  for (const bool narrow : {false, true}) {
    const std::string matrices = record_of("QDP_D2_DiracPropagator", narrow ? 'F' : 'D', 4, 2) +
                                 sites_by_hand(numbers, narrow);
    const auto stored = [&](double v) { return narrow ? static_cast<float>(v) : v; };
    for (const int n : {1, 6}) {
      const int spin = (n - 1) / 2, colour = (n - 1) % 2;
      EXPECT_EQ(two_numbers(scratch.path(), kDims + matrices, ":" + std::to_string(n)),
                (std::vector<double>{stored(at(7, 2, 1, spin, colour, 0)),
                                     stored(at(4, 1, 0, spin, colour, 1))}));
    }
    // the ninth one is the first column of the second record
    EXPECT_EQ(two_numbers(scratch.path(), kDims + matrices + matrices, ":9"),
              two_numbers(scratch.path(), kDims + matrices, ":1"));
    EXPECT_NE(said_of(scratch.path(), kDims + matrices, "").find("has 8 spinors"),
              std::string::npos);
  }
  const auto said = [&](const std::string& record, const std::string& which, const char* words) {
    const std::string text =
        said_of(scratch.path(), kDims + record + sites_by_hand(numbers, false), which);
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  const char* kind = "QDP_D2_DiracPropagator";
  said(record_of(kind, 'D', 4, 2), ":9", "has 8 spinors, and `:9`");
  said("", ":1", "neither their colours nor their spins");
  said(record_of(kind, 'D', 4, 3), ":1", "4 spins and 3 colours");
  said(record_of(kind, 'F', 4, 2), ":1", "of 32 bits, as it says");
}

TEST(PropagatorFiles, SourcesBesideSinks) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  const std::string source =
      lime_record("etmc-source-format",
                  "<etmcFormat><field>diracFermion</field><precision>64</precision><flavours>1"
                  "</flavours><lx>2</lx><ly>4</ly><lz>1</lz><lt>1</lt></etmcFormat>");
  const auto sink = two_numbers(scratch.path(), spinors_by_hand(1, false, kFormat), "");
  const std::string sinks = spinors_by_hand(1, false, kFormat);
  // a source of one complex number at each site is no spinor of the model
  EXPECT_EQ(two_numbers(scratch.path(), kDims + sites_by_hand(2, false) + sinks, ""), sink);
  EXPECT_EQ(two_numbers(scratch.path(), source + sites_by_hand(2, false) + sinks, ":1"), sink);
  EXPECT_EQ(two_numbers(scratch.path(), source + sites_by_hand(16, false) + sinks, ":2"), sink);
  EXPECT_NE(two_numbers(scratch.path(), source + sites_by_hand(16, false) + sinks, ":1"), sink);
}

TEST(PropagatorFiles, NumbersThatAreNotWhatTheFileSays) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  const auto said = [&](const std::string& bytes, const char* words) {
    const std::string text = said_of(scratch.path(), bytes, "");
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  // two spins of 64 bits are as many bytes as four of 32
  said(kDims + record_of("QDP_D2_DiracFermion", 'D', 2, 2) + sites_by_hand(8, false),
       "2 spins and 2 colours, which are 4 complex numbers, and those of the model have 8");
  said(kDims + record_of("QDP_D2_DiracFermion", 'D', 4, 2) + sites_by_hand(16, true),
       "16 numbers of 64 bits, as it says");
  said(kFormat + sites_by_hand(16, true), "16 numbers of 64 bits, as it says");
  said(kDims, "no record scidac-binary-data of spinors");
}

/// Records of a file by their types, those of one type one after the other.
std::map<std::string, std::vector<std::string>> taken_apart(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  std::map<std::string, std::vector<std::string>> records;
  for (std::size_t at = 0; at + 144 <= all.size();) {
    std::uint64_t size = 0;
    for (std::size_t i = 8; i < 16; ++i) size = size << 8 | static_cast<std::uint8_t>(all[at + i]);
    records[all.c_str() + at + 16].push_back(all.substr(at + 144, size));
    at += 144 + (size + 7) / 8 * 8;
  }
  return records;
}

TEST(PropagatorFiles, SciDacIsWrittenAndRead) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  testing::Simulation setup;
  setup.out = (scratch.path() / "first").string();
  const auto first = testing::run_text(
      quarks_in_files("at end: one = total(re(S[0,0][0,1])*(index(x) == 1 and index(y) == 3)), "
                      "pion = total(norm2(S[0,0]) + norm2(S[3,1])), snapshot(S[0,0]), "
                      "snapshot(S[3,1]) -> scidac(\"columns\")\n"),
      setup);
  const std::string path = setup.out + "/columns_00000000.scidac";
  setup.out = {};
  auto records = taken_apart(path);
  ASSERT_EQ(records["scidac-binary-data"].size(), 2);
  const std::string& data = records["scidac-binary-data"][0];
  ASSERT_EQ(data.size(), 8 * 16 * 8);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i)
    word = word << 8 | static_cast<std::uint8_t>(data[8 * (16 * 7 + 2) + i]);
  EXPECT_NE(std::bit_cast<double>(word), 0);
  EXPECT_EQ(std::bit_cast<double>(word), testing::last(first, "one"));
  EXPECT_NE(records["scidac-checksum"][0].find(sums_of(data, 128).substr(16, 30)),
            std::string::npos);
  EXPECT_NE(records["scidac-private-record-xml"][1].find("QDP_D2_DiracFermion"), std::string::npos);
  EXPECT_NE(records["scidac-record-xml"][1].find("\"name\">snapshot(S[3,1])"), std::string::npos);
  const auto second = testing::run_text(
      quarks_in_files("init psi = file(\"" + path + ":1\"), chi = file(\"" + path +
                      ":2\")\nat end: pion = total(norm2(psi) + norm2(chi)), rest = "
                      "total(norm2(D(psi) - here*spinor(0, 0)) + norm2(D(chi) - here*spinor(3, "
                      "1))) -> \"b.csv\"\n"),
      setup);
  EXPECT_EQ(testing::last(second, "pion"), testing::last(first, "pion"));
  EXPECT_LT(testing::last(second, "rest"), 1e-24);
}

#ifdef VPHI_HAVE_HDF5

TEST(PropagatorFiles, ComplexNumbersByAxesSpinAndColour) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  std::vector<double> numbers;  // [y][x][spin][colour]
  for (int i = 0; i < 64; ++i) numbers.insert(numbers.end(), {1.0 / (1 + i), std::sin(i)});
  const std::string path = (scratch.path() / "other.h5").string();
  testing::write_set(path, "S", {4, 2, 4, 2}, numbers, true);
  const auto read = testing::run_text(
      quarks_in_files("init psi = file(\"" + path +
                      ":S\"), chi = 0\nat end: a = total(re(psi[2,1])*(index(x) == 1 and index(y) "
                      "== 3)), b = total(im(psi[1,0])*(index(x) == 0 and index(y) == 2)) -> "
                      "\"b.h5\"\n"),
      {});
  const auto place = [](int y, int x, int spin, int colour) {
    return static_cast<std::size_t>(2 * (colour + 2 * (spin + 4 * (x + 2 * y))));
  };
  EXPECT_EQ(testing::last(read, "a"), numbers[place(3, 1, 2, 1)]);
  EXPECT_EQ(testing::last(read, "b"), numbers[place(2, 0, 1, 0) + 1]);
  testing::write_set(path, "S", {4, 2, 4, 3}, std::vector<double>(192), true);
  try {
    testing::run_text(quarks_in_files("init psi = file(\"" + path +
                                      ":S\"), chi = 0\nat end: a = "
                                      "total(norm2(psi)) -> \"b.h5\"\n"),
                      {});
    ADD_FAILURE() << "three colours in links of two";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("E0782"), std::string::npos) << error.what();
  }
}

#endif

}  // namespace
}  // namespace vphi
