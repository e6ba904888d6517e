#include "program/fourier_cost.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "program/fourier_map.hpp"

namespace vphi::program {
namespace {

constexpr double kNumber = sizeof(double), kMode = 2 * kNumber;

/// The part of a lattice that a rank has: every rank transforms a row that they share.
double share_of(const Program& p) {
  if (p.cut.axis <= 0 || p.cut.whole == 0) return 1;
  return static_cast<double>(p.cut.own) / static_cast<double>(p.cut.whole);
}

double sites_of(const Program& p) {
  const auto n = p.whole_extent();
  return share_of(p) * static_cast<double>(n[0] * n[1] * n[2] * n[3]);
}

double modes_of(const Program& p) {
  const auto n = p.whole_extent();
  return share_of(p) * static_cast<double>((n[0] / 2 + 1) * n[1] * n[2] * n[3]);
}

double bytes_of_number(const Program& p, int buffer) {
  return p.buffers[static_cast<std::size_t>(buffer)].precision == Precision::F64 ? 8 : 4;
}

double log2_of(std::int64_t n) { return std::log2(static_cast<double>(n)); }

/// A transform of one array, in one direction.
void add_transform(const Program& p, double fast, std::vector<Pass>& passes) {
  const Tiling tiling = tiling_of(p.target);
  const auto n = p.whole_extent();
  const double modes = modes_of(p);
  const auto axis = [&](int count, double flops) {
    for (int i = 0; i < count; ++i) passes.push_back({2 * kMode * modes, flops / count, true});
  };
  const double of_rows = 2.5 * sites_of(p) * log2_of(n[0]);
  const auto of_axis = [&](std::size_t a) { return 5 * modes * log2_of(n[a]); };
  const double plane = kMode * static_cast<double>((n[0] / 2 + 1) * n[1]);
  const bool together = tiling.planes && n[2] > 1 && plane <= fast;
  axis(passes_of_row(n[0], fast, tiling), of_rows + (together ? of_axis(1) : 0));
  if (!together) axis(passes_of_line(n[1], fast, tiling, false), of_axis(1));
  for (const std::size_t a : {2, 3}) axis(passes_of_line(n[a], fast, tiling, false), of_axis(a));
}

/// Mode numbers along an axis with N of them.
std::set<std::int64_t> coarse(std::int64_t n, bool half) {
  std::set<std::int64_t> numbers{0, std::min<std::int64_t>(1, n / 2), n / 3, n / 2};
  if (!half) numbers.insert(n - 1);
  return numbers;
}

}  // namespace

Tiling tiling_of(Target target) {
  if (target == Target::Native) return {.line = 16, .beside = 256, .planes = true};
  if (target == Target::OpenCL) return {.line = 4, .beside = 8};
  return {.line = 8, .beside = 64};
}

int passes_of_line(std::int64_t length, double fast, const Tiling& tiling, bool contiguous) {
  if (length <= 1) return 0;
  const double n = static_cast<double>(length);
  if (n * (contiguous ? tiling.line : tiling.beside) <= fast) return 1;
  const double factor = std::max(2.0, fast / tiling.beside);
  return std::max(2, static_cast<int>(std::ceil(std::log2(n) / std::log2(factor) - 1e-9)));
}

int passes_of_row(std::int64_t length, double fast, const Tiling& tiling) {
  const bool packed = length % 2 == 0;
  const int passes = passes_of_line(packed ? length / 2 : length, fast, tiling, true);
  if (length == 2) return 1;
  return passes + (packed && passes > 1 ? 1 : 0);
}

std::vector<FourierEntry> entries_of(const Program& program, const FourierMap& map) {
  const auto n = program.whole_extent();
  const std::size_t columns = map.from.size();
  std::vector<bool> there(map.to.size() * columns), complex(there.size());
  ModeMatrices matrices(map, program.dx);
  for (const std::int64_t x : coarse(n[0], true))
    for (const std::int64_t y : coarse(n[1], false))
      for (const std::int64_t z : coarse(n[2], false))
        for (const std::int64_t t : coarse(n[3], false)) {
          const ModeMatrix& matrix = matrices.of(
              {phase_of(x, n[0]), phase_of(y, n[1]), phase_of(z, n[2]), phase_of(t, n[3])});
          for (std::size_t e = 0; e < there.size(); ++e) {
            if (static_cast<double>(matrix[e].imag()) != 0) complex[e] = true;
            if (complex[e] || static_cast<double>(matrix[e].real()) != 0) there[e] = true;
          }
        }
  std::vector<FourierEntry> entries;
  for (std::size_t e = 0; e < there.size(); ++e)
    if (there[e])
      entries.push_back(
          {static_cast<int>(e / columns), static_cast<int>(e % columns), !complex[e]});
  return entries;
}

std::vector<Pass> passes_of(const Program& program, const FourierMap& map, double fast) {
  const double sites = sites_of(program), modes = modes_of(program);
  const std::vector<FourierEntry> entries = entries_of(program, map);
  std::vector<Pass> passes;
  const auto copy = [&](int buffer) {
    passes.push_back({sites * (bytes_of_number(program, buffer) + kNumber)});
  };
  for (std::size_t column = 0; column < map.from.size(); ++column) {
    const auto here = [&](const FourierEntry& e) { return e.column == static_cast<int>(column); };
    if (std::ranges::none_of(entries, here)) continue;
    copy(map.from[column]);
    add_transform(program, fast, passes);
  }
  for (std::size_t row = 0; row < map.to.size(); ++row) {
    bool first = true;
    for (const FourierEntry& entry : entries) {
      if (entry.row != static_cast<int>(row)) continue;
      // the mode and its factor are read, the sum is written, and read where it has begun
      const double numbers = 2 + (entry.real ? 1 : 2) + (first ? 2 : 4);
      const double flops = 2 + (entry.real ? 2 : 6) + (first ? 0 : 2);
      passes.push_back({modes * kNumber * numbers, modes * flops});
      first = false;
    }
    if (!first) add_transform(program, fast, passes);
    copy(map.to[row]);
  }
  for (Pass& pass : passes) {
    pass.bytes *= static_cast<double>(program.instances);
    pass.flops *= static_cast<double>(program.instances);
  }
  return passes;
}

double bytes_of_maps(const Program& program, const std::vector<int>& maps) {
  std::size_t most = 0;
  double numbers = 0;  // a mode
  std::vector<const FourierMap*> seen;
  for (const int index : maps) {
    const FourierMap& map = program.maps[static_cast<std::size_t>(index)];
    most = std::max(most, map.from.size());
    if (std::ranges::any_of(seen, [&](const auto* other) { return same_matrices(*other, map); }))
      continue;
    seen.push_back(&map);
    for (const FourierEntry& entry : entries_of(program, map)) numbers += entry.real ? 1 : 2;
  }
  if (maps.empty()) return 0;
  return modes_of(program) * (kMode * static_cast<double>(most + 1) + kNumber * numbers);
}

bool same_matrices(const FourierMap& a, const FourierMap& b) {
  const auto terms = [](const FourierMap::Term& s, const FourierMap::Term& t) {
    return s.row == t.row && s.column == t.column && s.weight == t.weight && s.offset == t.offset &&
           s.laplacians == t.laplacians;
  };
  return a.function == b.function && a.scale == b.scale && a.from.size() == b.from.size() &&
         a.to.size() == b.to.size() && std::ranges::equal(a.matrix, b.matrix, terms);
}

}  // namespace vphi::program
