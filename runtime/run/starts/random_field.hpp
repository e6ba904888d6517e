// The random arrays of a Program, made on the host before the first launch.
//
// Vacuum: vacuum.hpp. Spectrum: modes drawn as those of the vacuum, with the powers that the field
// lists (program/wave_numbers.hpp). Normal: mean 0, variance 1; Uniform in (low, high); both
// numbered by site. File: the field of a file, resampled onto the box (runtime/io/field_file.hpp);
// may throw ResultsError. Link: one real number of each site's links in a gauge configuration;
// ConfigurationError. Points: points.hpp. The result is multiplied by the field's amplitude. Throws
// RunError where the lattice has too many wave numbers.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "runtime/io/configurations/configuration.hpp"
#include "runtime/run/starts/vacuum.hpp"

namespace vphi::runtime {

/// The parameters of a random field of kind Vacuum; of kind Spectrum box, seed and stream.
Vacuum vacuum_of(const program::Program& program, const program::RandomField& field);

/// The gauge configurations of a start; each is read once, whatever the number of arrays made from
/// it.
class Configurations {
 public:
  /// Reads a configuration of the program's lattice; further axes of the file must have extent 1.
  const io::Configuration& read(const program::Program& program, const program::RandomField& field);

 private:
  std::map<std::string, io::ConfigurationFile> files_;
};

std::vector<double> random_field(const program::Program& program, const program::RandomField& field,
                                 int threads);

/// The same for `count` instances from `first` on, one after the other. Each has the random numbers
/// of its number in the ensemble and its own mass of the vacuum. Many small lattices are computed
/// at a time. An instance beyond the last is a copy of the last. Without `configurations` a file of
/// links is read for each array. `again`: how often each of them was drawn before; empty: never.
std::vector<double> random_fields(const program::Program& program,
                                  const program::RandomField& field, std::int64_t first,
                                  std::int64_t count, int threads,
                                  Configurations* configurations = nullptr,
                                  std::span<const std::int64_t> again = {});

/// The seed of the instances with this number in their ensemble: the run's own for number 0, else
/// 64 bits that Philox makes of the run's seed and the number.
std::uint64_t ensemble_seed(std::uint64_t seed, std::int64_t number);

/// The seed of an instance that was drawn so often before, from that of its first draw.
std::uint64_t next_seed(std::uint64_t seed, std::int64_t again);

}  // namespace vphi::runtime
