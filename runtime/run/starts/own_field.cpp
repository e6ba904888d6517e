#include "runtime/run/starts/own_field.hpp"

#include "program/fourier_map.hpp"
#include "runtime/parallel.hpp"
#include "runtime/run/ranks/lattice_ranks.hpp"
#include "runtime/run/starts/random_parts.hpp"
#include "runtime/run/starts/shared_vacuum.hpp"

namespace vphi::runtime {

using program::Program;
using program::RandomField;

namespace {

Program whole_of(const Program& of_rank) {
  Program whole = of_rank;
  whole.kernels.clear();
  whole.extent = whole.whole_extent();
  return whole;
}

/// Own sites follow one another, or do so in each plane that ranks share.
std::vector<double> own_sites(const Program& of_rank, const RandomField& field, comm::Comm& comm,
                              int threads) {
  const auto extent = of_rank.whole_extent();
  const auto sites = static_cast<std::size_t>(extent[0] * extent[1] * extent[2] * extent[3]);
  const auto runs = own_sites_among(of_rank, comm.size(), comm.rank(), 0, sites);
  std::vector<std::size_t> before{0};
  for (const OwnSites& run : runs) before.push_back(before.back() + run.count);
  std::vector<double> own(before.back());
  const std::uint64_t seed = of_instance(of_rank, program::EnsembleNumbers(of_rank), field, 0).seed;
  const auto draw = [&](std::size_t run, int with) {
    draw_sites(field, seed, with, static_cast<std::int64_t>(runs[run].in_whole),
               std::span(own).subspan(before[run], runs[run].count));
  };
  if (runs.size() == 1) {
    draw(0, threads);
    return own;
  }
  parallel_ranges(std::ssize(runs), threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t run = begin; run < end; ++run) draw(static_cast<std::size_t>(run), 1);
  });
  return own;
}

}  // namespace

bool drawn_by_ranks(const Program& of_rank, const RandomField& field, int ranks) {
  return by_site(field) || (by_mode(field) && transformed_by_ranks(of_rank, ranks));
}

bool transformed_by_ranks(const Program& of_rank, int ranks) {
  const auto extent = of_rank.whole_extent();
  if (of_rank.dims > 3 || extent[1] * extent[2] == 1) return false;
  if (extent[2] > 1) return true;
  if (of_rank.dims == 3) return false;  // a flat box, whose correlator has one plane
  const std::int64_t together = program::planes_together(extent);
  for (int rank = 0; rank + 1 < ranks; ++rank)
    if (of_rank.cut.planes(ranks, rank).count % together != 0) return false;
  return true;
}

std::vector<double> own_field(const Program& of_rank, const RandomField& field, comm::Comm& comm,
                              int threads) {
  if (by_site(field)) return own_sites(of_rank, field, comm, threads);
  const Program whole = whole_of(of_rank);
  const Vacuum vacuum =
      vacuum_of(whole, field, of_instance(whole, program::EnsembleNumbers(whole), field, 0));
  fft::SharedTransform transform(vacuum.box, planes_by_rank(of_rank, comm.size()), comm, threads,
                                 of_rank.cut.second.ranks);
  const ModeAmplitude amplitude = field.kind == RandomField::Kind::Vacuum
                                      ? shared_amplitude(vacuum, transform, comm, threads)
                                      : amplitude_of_powers(whole, field, 0);
  return shared_field(vacuum, amplitude, transform, threads);
}

}  // namespace vphi::runtime
