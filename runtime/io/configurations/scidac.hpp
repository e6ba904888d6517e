// SciDAC: spinors at all sites, one after the other in LIME records, as propagators are kept.
//
// Each spinor is a record `scidac-binary-data`, followed by its `scidac-checksum` (ildg.hpp).
// Numbers are big-endian with 32 or 64 bits, which follows from the record's length: sites t, z, y,
// x with x fastest; at each site the spins, of each spin the colours, of each the real, then the
// imaginary part (tmLQCD, QDP++, MILC). The extents are those of `etmc-propagator-format` (XML with
// lx ly lz lt) or of QIO's `scidac-private-file-xml` (XML with dims); one of them stands in front.
// A record of matrices is read as its columns: at each site the spin, the spin of the source, the
// colour, the colour of the source (QDP++); its `scidac-private-record-xml` says how many. Records
// of one complex number at each site (scalar sources) and all other ones are skipped. Bits, spins
// and colours are compared with what a file says. It does not say the basis of the spins.
//
// Written files have both, and the records of QIO around the numbers, in which a spinor is called
// QDP_D3_DiracFermion.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "program/program.hpp"
#include "runtime/io/configurations/lime.hpp"
#include "runtime/io/field_file.hpp"

namespace vphi::io {

/// Whether this is a file that begins with a LIME record.
bool is_lime(const std::filesystem::path& path);

/// Reads one number of the spinor `number`, counted from 1, columns of matrices one by one, source
/// spin outside; 0: of the only one there is. The cells are the sites (FieldFile::sites). The
/// checksum is compared where number 0 of the spinors is read. Throws ResultsError.
FieldFile read_scidac(const std::filesystem::path& path, std::size_t number,
                      const FieldPlace& place);

struct SpinorFormat {
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  int spins = 4, colours = 3;
  program::Precision precision = program::Precision::F64;
};

/// Writes spinors one after the other. Throws ResultsError.
class ScidacWriter {
 public:
  ScidacWriter(const std::filesystem::path& path, const std::array<std::int64_t, 4>& extent);
  /// `numbers`: in the order above, in f64. `notes` are elements of the record's text.
  void add(const SpinorFormat& format, std::span<const double> numbers,
           const std::vector<std::pair<std::string, std::string>>& notes);
  void finish() { lime_.finish(); }

 private:
  LimeWriter lime_;
};

}  // namespace vphi::io
