#include "runtime/observe/modes.hpp"

#include <algorithm>
#include <cstdlib>

#include "program/wave_numbers.hpp"

namespace vphi::observe {

namespace {

constexpr std::size_t kTerms = std::tuple_size_v<BinSums::value_type>;

void add(std::span<double> sums, std::size_t bin, double factor,
         const std::array<double, kTerms>& terms) {
  for (std::size_t i = 0; i < kTerms; ++i) sums[kTerms * bin + i] += factor * terms[i];
}

/// Numbers of bins, of one part after the other, added in this order.
BinSums added_parts(std::size_t bins, std::span<const double> parts) {
  BinSums sums(parts.empty() ? 0 : bins);
  for (std::size_t at = 0; at < parts.size(); ++at)
    sums[at / kTerms % bins][at % kTerms] += parts[at];
  return sums;
}

}  // namespace

std::int64_t Grid::longest() const { return *std::ranges::max_element(extent); }

std::complex<double> value(const program::Symbol& symbol, const std::array<double, 4>& theta) {
  std::complex<double> sum = 0;
  for (std::size_t i = 0; i < symbol.offsets.size(); ++i) {
    double phase = 0;
    for (std::size_t axis = 0; axis < 4; ++axis) phase += theta[axis] * symbol.offsets[i][axis];
    sum += symbol.weights[i] * std::complex<double>(std::cos(phase), std::sin(phase));
  }
  return sum;
}

std::size_t shells(const Grid& grid) {
  double corner = 0;
  for (const std::int64_t n : grid.extent) {
    const double unit = static_cast<double>(grid.longest()) / static_cast<double>(n);
    corner += std::pow(unit * static_cast<double>(n / 2), 2);
  }
  return static_cast<std::size_t>(std::sqrt(corner) + 0.5) + 1;
}

BinSums shell_sums(const Grid& grid, bool two_bins, fft::SharedTransform& transform,
                   const Terms& terms) {
  const std::size_t bins = shells(grid) + (two_bins ? 1 : 0);
  const auto& parts = transform.parts();
  std::vector<double> own(kTerms * bins * parts.size());
  const auto add_part = [&](std::size_t part) {
    const auto sums = std::span(own).subspan(kTerms * bins * part, kTerms * bins);
    for_part(grid, transform, parts[part], [&](std::int64_t index, const Mode& mode) {
      const std::array<double, kTerms> t = terms(index, mode);
      if (!two_bins)
        return add(sums, static_cast<std::size_t>(mode.distance + 0.5), mode.weight, t);
      const double low = std::floor(mode.distance), rest = mode.distance - low;
      const auto share = [&](double off) { return std::pow(1 - off * off, 2) * mode.weight; };
      add(sums, static_cast<std::size_t>(low), share(rest), t);
      if (rest > 0) add(sums, static_cast<std::size_t>(low) + 1, share(1 - rest), t);
    });
  };
  runtime::parallel_ranges(std::ssize(parts), transform.threads(),
                           [&](std::int64_t begin, std::int64_t end) {
                             for (std::int64_t part = begin; part < end; ++part)
                               add_part(static_cast<std::size_t>(part));
                           });
  return added_parts(bins, transform.joined(std::move(own)));
}

/// Bins may be as many as there are modes in a part: there is one set of them, which goes from rank
/// to rank.
BinSums single_sums(const Grid& grid, fft::SharedTransform& transform, const Terms& terms) {
  const auto numbers = program::WaveNumbers::of(grid.extent);
  if (!numbers) return {};
  std::vector<double> sums(kTerms * numbers->count());
  transform.in_turn(sums, [&] {
    for (const auto& part : transform.parts())
      for_part(grid, transform, part, [&](std::int64_t index, const Mode& mode) {
        const auto& n = mode.n;
        add(sums, numbers->place(n), mode.weight, terms(index, mode));
      });
  });
  return added_parts(numbers->count(), sums);
}

std::vector<fft::Complex> transform(const Grid& grid, std::span<const double> values) {
  const fft::Box box = grid.box();
  std::vector<fft::Complex> modes(static_cast<std::size_t>(box.modes()));
  fft::forward(box, values.data(), modes.data(), grid.threads);
  return modes;
}

}  // namespace vphi::observe
