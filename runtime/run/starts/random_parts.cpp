#include "runtime/run/starts/random_parts.hpp"

#include <cmath>
#include <memory>

#include "program/wave_numbers.hpp"
#include "runtime/parallel.hpp"
#include "runtime/random/philox.hpp"
#include "runtime/run/session.hpp"
#include "runtime/run/starts/random_field.hpp"

namespace vphi::runtime {

using program::RandomField;

namespace {

/// Sites that follow one another, from site `first` of the lattice on. Sites 2j and 2j + 1 share
/// one call of the generator.
template <class Pair>
void each_site(const RandomField& field, std::uint64_t seed, int threads, std::int64_t first,
               std::span<double> out, const Pair& pair) {
  const auto key = random::key_of(seed);
  const auto stream = static_cast<std::uint32_t>(field.stream);
  const std::int64_t end_site = first + std::ssize(out), from = first / 2;
  parallel_ranges((end_site + 1) / 2 - from, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = from + begin; j < from + end; ++j) {
      const auto [a, b] = pair(philox::generate(random::counter_of(j, stream), key));
      if (2 * j >= first) out[2 * j - first] = a;
      if (2 * j + 1 < end_site) out[2 * j + 1 - first] = b;
    }
  });
}

}  // namespace

OfInstance of_instance(const program::Program& p, const program::EnsembleNumbers& numbers,
                       const RandomField& field, std::int64_t instance) {
  return {ensemble_seed(p.seed, numbers(instance)),
          field.masses.empty() ? field.mass2 : field.masses[static_cast<std::size_t>(instance)]};
}

bool by_mode(const RandomField& field) {
  return field.kind == RandomField::Kind::Vacuum || field.kind == RandomField::Kind::Spectrum;
}

bool by_site(const RandomField& field) {
  return field.kind == RandomField::Kind::Normal || field.kind == RandomField::Kind::Uniform;
}

Vacuum vacuum_of(const program::Program& p, const RandomField& field, const OfInstance& own) {
  Vacuum v;
  v.box = {{p.extent[0], p.extent[1], p.extent[2], p.extent[3]}};
  v.dims = p.dims;
  v.dx = p.dx;
  v.seed = own.seed;
  v.stream = static_cast<std::uint32_t>(field.stream);
  v.velocity = field.velocity;
  v.mass2 = own.mass2;
  v.amplitude = field.amplitude;
  v.cutoff = field.cutoff;
  v.kernel_form = field.kernel_form;
  return v;
}

Vacuum vacuum_of(const program::Program& p, const RandomField& field) {
  return vacuum_of(p, field, {p.seed, field.mass2});
}

ModeAmplitude amplitude_of_powers(const program::Program& p, const RandomField& field,
                                  std::size_t list) {
  auto numbers = program::WaveNumbers::of(p.extent);
  if (!numbers) throw RunError("E0805", "this lattice has too many wave numbers", "");
  const double* powers = field.powers.data() + list * numbers->count();
  return [numbers = std::make_shared<const program::WaveNumbers>(*std::move(numbers)), powers,
          scale = field.amplitude](const std::array<std::int64_t, 4>& n) {
    if (n == std::array<std::int64_t, 4>{}) return 0.0;  // the zero mode is the homogeneous value
    return scale * std::sqrt(powers[numbers->place(n)]);
  };
}

void draw_sites(const RandomField& field, std::uint64_t seed, int threads, std::int64_t first,
                std::span<double> out) {
  const double amplitude = field.amplitude;
  if (field.kind == RandomField::Kind::Normal)
    return each_site(field, seed, threads, first, out, [&](const random::Counter& words) {
      const auto [a, b] = random::normal_pair(words);
      return std::pair(amplitude * a, amplitude * b);
    });
  const double low = field.low, width = field.high - field.low;
  each_site(field, seed, threads, first, out, [&](const random::Counter& words) {
    return std::pair(amplitude * (low + width * random::uniform(words[0], words[1])),
                     amplitude * (low + width * random::uniform(words[2], words[3])));
  });
}

namespace {

/// 64 bits of a seed and a number; the stream is one that no field has.
std::uint64_t seed_of(std::uint64_t seed, std::int64_t number, std::uint32_t stream) {
  const auto n = static_cast<std::uint64_t>(number);
  const auto words = philox::generate(
      {static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(n >> 32), stream, 0xFFFFFFFFU},
      random::key_of(seed));
  return std::uint64_t{words[1]} << 32 | words[0];
}

}  // namespace

std::uint64_t ensemble_seed(std::uint64_t seed, std::int64_t number) {
  constexpr std::uint32_t kEnsemble = 0x656E736DU;
  return number == 0 ? seed : seed_of(seed, number, kEnsemble);
}

std::uint64_t next_seed(std::uint64_t seed, std::int64_t again) {
  constexpr std::uint32_t kAgain = 0x6B656570U;
  return again == 0 ? seed : seed_of(seed, again, kAgain);
}

}  // namespace vphi::runtime
