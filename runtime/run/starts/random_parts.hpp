// What random fields are made of (random_field.hpp), for one device and for ranks that share a
// lattice.
#pragma once

#include <cstdint>
#include <span>

#include "program/axes.hpp"
#include "program/program.hpp"
#include "runtime/run/starts/vacuum.hpp"

namespace vphi::runtime {

/// Seed of one instance, and what its amplitudes depend on.
struct OfInstance {
  std::uint64_t seed = 1;
  double mass2 = 0;  ///< Vacuum; of a Spectrum the number of its list of powers
};
OfInstance of_instance(const program::Program& program, const program::EnsembleNumbers& numbers,
                       const program::RandomField& field, std::int64_t instance);

/// Numbers are drawn by mode (Vacuum, Spectrum), or by site (Normal, Uniform).
bool by_mode(const program::RandomField& field);
bool by_site(const program::RandomField& field);

Vacuum vacuum_of(const program::Program& program, const program::RandomField& field,
                 const OfInstance& own);
/// Of list number `list` of the powers of a Spectrum. `field` must outlive it.
ModeAmplitude amplitude_of_powers(const program::Program& program,
                                  const program::RandomField& field, std::size_t list);
/// Numbers by site, of sites that follow one another from site `first` of the lattice on.
void draw_sites(const program::RandomField& field, std::uint64_t seed, int threads,
                std::int64_t first, std::span<double> out);

}  // namespace vphi::runtime
