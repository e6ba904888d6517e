#include "runtime/run/random_field.hpp"

#include "runtime/parallel.hpp"
#include "runtime/random/philox.hpp"
#include "runtime/run/session.hpp"
#include "runtime/run/vacuum.hpp"

namespace vphi::runtime {
namespace {

using program::RandomField;

}  // namespace

Vacuum vacuum_of(const program::Program& p, const RandomField& field) {
  if (p.dims > 3)
    throw RunError("E0805", "vacuum fluctuations are defined on lattices of 1 to 3 dimensions",
                   "give the initial values of this lattice by expressions");
  Vacuum v;
  v.box = {{p.extent[0], p.extent[1], p.extent[2]}};
  v.dims = p.dims;
  v.dx = p.dx;
  v.seed = p.seed;
  v.stream = static_cast<std::uint32_t>(field.stream);
  v.velocity = field.velocity;
  v.mass2 = field.mass2;
  v.amplitude = field.amplitude;
  v.cutoff = field.cutoff;
  v.kernel_form = field.kernel_form;
  return v;
}

namespace {

/// Sites 2j and 2j + 1 share one call of the generator.
template <class Pair>
std::vector<double> by_site(const program::Program& p, const RandomField& field, int threads,
                            const Pair& pair) {
  std::vector<double> out(static_cast<std::size_t>(p.sites()));
  const auto key = random::key_of(p.seed);
  const auto stream = static_cast<std::uint32_t>(field.stream);
  parallel_ranges((p.sites() + 1) / 2, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end; ++j) {
      const auto [a, b] = pair(random::philox(random::counter_of(j, stream), key));
      out[2 * j] = a;
      if (2 * j + 1 < p.sites()) out[2 * j + 1] = b;
    }
  });
  return out;
}

}  // namespace

std::vector<double> random_field(const program::Program& p, const RandomField& field, int threads) {
  if (field.kind == RandomField::Kind::Vacuum) return vacuum_field(vacuum_of(p, field), threads);
  const double amplitude = field.amplitude;
  if (field.kind == RandomField::Kind::Normal)
    return by_site(p, field, threads, [&](const random::Counter& words) {
      const auto [a, b] = random::normal_pair(words);
      return std::pair(amplitude * a, amplitude * b);
    });
  const double low = field.low, width = field.high - field.low;
  return by_site(p, field, threads, [&](const random::Counter& words) {
    return std::pair(amplitude * (low + width * random::uniform(words[0], words[1])),
                     amplitude * (low + width * random::uniform(words[2], words[3])));
  });
}

}  // namespace vphi::runtime
