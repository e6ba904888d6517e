// A gauge configuration: the links U_mu(x) of a periodic lattice, in memory and in files.
//
// In memory a link is a full N x N matrix of f64 complex numbers whatever the file had, and links
// lie as in the files of the field: [t][z][y][x][mu][row][column], x fastest of the sites, mu = x,
// y, z, t. U_mu(x) transports a colour vector from x + mu to x. A lattice of fewer axes has extent
// 1 along the rest and unit links there, so that every program that reads ILDG files can read it.
//
// A file is read once, front to back, and what it says of itself (checksum, average plaquette,
// extents) is compared with what is read. No memory is allocated for a length before the file is
// known to be that long. What is wrong is a ConfigurationError with the file's name, the problem
// and what to do about it.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "program/program.hpp"
#include "runtime/io/files/byte_stream.hpp"
#include "runtime/io/results.hpp"

namespace vphi::io {

using Extents = std::array<std::int64_t, 4>;  ///< x, y, z, t

struct Configuration {
  int colours = 3;  ///< N: links are N x N matrices; 1: U(1)
  Extents extent{1, 1, 1, 1};
  std::vector<std::complex<double>> links;

  std::int64_t sites() const { return extent[0] * extent[1] * extent[2] * extent[3]; }
  std::size_t entries() const { return static_cast<std::size_t>(colours) * colours; }  ///< N^2
  /// Row by row. `site`: x fastest.
  std::span<std::complex<double>> link(std::int64_t site, int mu) {
    return std::span(links).subspan(first(site, mu), entries());
  }
  std::span<const std::complex<double>> link(std::int64_t site, int mu) const {
    return std::span(links).subspan(first(site, mu), entries());
  }

 private:
  std::size_t first(std::int64_t site, int mu) const {
    return (static_cast<std::size_t>(site) * 4 + static_cast<std::size_t>(mu)) * entries();
  }
};

/// All links unit matrices.
Configuration unit_configuration(int colours, const Extents& extent);

struct ConfigurationError : ResultsError {
  enum class Problem {
    Unknown,    ///< neither an ILDG nor a NERSC file, or one without links
    Truncated,  ///< shorter than it says
    Damaged,    ///< a header that contradicts itself or cannot be read
    Checksum,   ///< other links than were written
    Extents,    ///< another lattice than the one that is wanted
    Group,      ///< other matrices than those that are wanted
    Precision,  ///< numbers of another precision than the file says
    NoFormat,   ///< nothing says the extents, neither the file nor the caller
  };
  ConfigurationError(Problem problem, const std::string& text)
      : ResultsError(text), problem(problem) {}
  Problem problem;
};

/// What the reader wants; a file that says otherwise is an error before its links are read.
struct ConfigurationWish {
  std::optional<Extents> extent = {};
  std::optional<int> colours = {};
};

/// What a file says of itself.
struct ConfigurationFacts {
  std::string format;  ///< "ILDG", "NERSC"
  program::Precision precision = program::Precision::F64;
  bool checked = false;  ///< it had a checksum, which was right
  bool shaped = true;    ///< it says its extents; else they are what the caller wished for
  /// What else stands in it, in its order: trajectory, beta, plaquette, creator, ...
  std::vector<std::pair<std::string, std::string>> notes;
};

struct ConfigurationFile {
  Configuration configuration;
  ConfigurationFacts facts;
};

/// Whichever format it is, by its first bytes. Throws ConfigurationError; ResultsError where it
/// cannot be opened or read.
ConfigurationFile read_configuration(const std::filesystem::path& path,
                                     const ConfigurationWish& wish = {});
ConfigurationFile read_configuration(ByteStream& stream, const ConfigurationWish& wish = {});

/// "8^3 x 16".
std::string shown_extents(const Extents& extent);
/// Compares with the wish; throws ConfigurationError (Extents, Group).
void must_be_wanted(const std::string& file, const Extents& extent, const ConfigurationWish& wish);
void must_be_wanted(const std::string& file, int colours, const ConfigurationWish& wish);
/// Number of sites; throws ConfigurationError (Damaged) where an extent is below 1 or above what a
/// file can hold.
std::int64_t checked_sites(const std::string& file, const Extents& extent);

}  // namespace vphi::io
