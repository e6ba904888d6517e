#include "compiler/gauge/colouring.hpp"

#include <algorithm>
#include <numeric>

namespace vphi::gauge {

namespace {

constexpr int kMostColours = 64;

using Site = std::array<std::int64_t, 4>;

std::int64_t modulo(std::int64_t x, std::int64_t m) { return ((x % m) + m) % m; }

std::int64_t dot(const std::array<int, 4>& a, const Offset& d) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < 4; ++i) sum += std::int64_t{a[i]} * d.d[i];
  return sum;
}

bool parts(const std::array<int, 4>& a, int m, const std::vector<Offset>& conflicts) {
  return std::ranges::all_of(conflicts, [&](const Offset& d) { return modulo(dot(a, d), m) != 0; });
}

bool shifted(const Box& box, std::size_t axis) {
  return std::ranges::any_of(box.shift[axis], [](std::int64_t sites) { return sites != 0; });
}

/// A shift of the end of axis i keeps the colours: m divides a.s. With m dividing a_i L_i - a.s
/// alone the colours would close too, but kernels read both sites at every end and take one.
bool shift_fits(const std::array<int, 4>& a, int m, const Box& box, std::size_t i) {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < 4; ++k) sum += a[k] * box.shift[i][k];
  return modulo(sum, m) == 0;
}

/// Axis i closes: m divides a_i L_i, and a.s of its shift.
bool closes(const std::array<int, 4>& a, int m, const Box& box, int axis) {
  const auto i = static_cast<std::size_t>(axis);
  return modulo(a[i] * box.extent[i], m) == 0 && shift_fits(a, m, box, i);
}

bool shifts_fit(const std::array<int, 4>& a, int m, const Box& box) {
  for (std::size_t i = 0; i < 4; ++i)
    if (!shift_fits(a, m, box, i)) return false;
  return true;
}

/// Calls `see` with every a that separates the conflicts, and closes every axis where it must
/// `fit`, in the order of their digits; `see` returns true to end the search.
template <class See>
bool search(const std::vector<Offset>& conflicts, const Box& box, int m, bool fit, See see) {
  // axis i closes where a_i is a multiple of this
  std::array<int, 4> step{};
  for (std::size_t i = 0; i < 4; ++i)
    step[i] = fit ? static_cast<int>(m / std::gcd(box.extent[i], std::int64_t{m})) : 1;
  std::array<int, 4> a{};
  while (true) {
    if (parts(a, m, conflicts) && (!fit || shifts_fit(a, m, box)) && see(a)) return true;
    int i = box.dims - 1;
    for (; i >= 0; --i) {
      const auto k = static_cast<std::size_t>(i);
      if ((a[k] += step[k]) < m) break;
      a[k] = 0;
    }
    if (i < 0) return false;
  }
}

/// The sites of one colour are counted along some axis: there each colour occurs once in every m
/// sites, and the extent is a multiple of m.
bool countable(const std::array<int, 4>& a, int m, const Box& box) {
  for (int i = 0; i < box.dims; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (std::gcd(a[k], m) == 1 && box.extent[k] % m == 0) return true;
  }
  return false;
}

/// Colours that the extents allow at all: m with a common factor with some extent, or 1.
bool possible(const Box& box, int m) {
  if (m == 1) return true;
  for (int i = 0; i < box.dims; ++i)
    if (std::gcd(box.extent[static_cast<std::size_t>(i)], std::int64_t{m}) > 1) return true;
  return false;
}

/// The site at a separation from another one.
Site at(const Site& site, const Offset& d, const Box& box) {
  const auto extent = [&](std::size_t i) {
    return static_cast<int>(i) < box.dims ? box.extent[i] : 1;
  };
  Site other = site;
  for (std::size_t i = 0; i < 4; ++i) other[i] += d.d[i];
  for (std::size_t i = 0; i < 4; ++i) {
    const std::int64_t turns = (other[i] - modulo(other[i], extent(i))) / extent(i);
    for (std::size_t k = 0; k < 4; ++k) other[k] += turns * box.shift[i][k];
  }
  for (std::size_t i = 0; i < 4; ++i) other[i] = modulo(other[i], extent(i));
  return other;
}

Misfit misfit_of(const std::vector<Offset>& conflicts, const Box& box) {
  Misfit result;
  int fewest = 5;
  for (int m = 2; m <= kMostColours && fewest == 5; ++m) {
    search(conflicts, box, m, false, [&](const std::array<int, 4>& a) {
      int open = 0;
      Misfit first;
      for (int i = box.dims - 1; i >= 0; --i) {
        if (closes(a, m, box, i)) continue;
        const auto k = static_cast<std::size_t>(i);
        ++open;
        first = {i, box.extent[k], m / std::gcd(a[k], m), m, shifted(box, k)};
      }
      if (open < fewest) {
        fewest = open;
        result = first;
      }
      return fewest <= 1;
    });
  }
  return result;
}

}  // namespace

Offset wrapped(const Offset& separation, const Box& box) {
  const Site place = at({}, separation, box);
  Offset result;
  for (std::size_t i = 0; i < 4; ++i) result.d[i] = static_cast<std::int16_t>(place[i]);
  return result;
}

std::vector<Offset> conflicts(const std::vector<Word>& loops, int axis) {
  std::vector<Offset> result;
  for (const Word& loop : loops) {
    const std::vector<LinkAt> all = links(loop);
    for (const LinkAt& a : all) {
      for (const LinkAt& b : all) {
        if (a.axis != axis || b.axis != axis) continue;
        const Offset d = b.at - a.at;
        if (!d.zero() && std::ranges::find(result, d) == result.end()) result.push_back(d);
      }
    }
  }
  return result;
}

std::int64_t Colouring::of(const Site& site) const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < 4; ++i) sum += a[i] * site[i];
  return modulo(sum, colours);
}

ColouringFound find_colouring(const std::vector<Offset>& conflicts, const Box& box) {
  for (int m = 1; m <= kMostColours; ++m) {
    if (!possible(box, m)) continue;
    std::optional<Colouring> found;
    search(conflicts, box, m, true, [&](const std::array<int, 4>& a) {
      if (!countable(a, m, box)) return false;
      found = Colouring{a, m};
      return true;
    });
    if (found) return {found, std::nullopt};
  }
  return {std::nullopt, misfit_of(conflicts, box)};
}

std::optional<Clash> prove(const Colouring& colouring, const std::vector<Offset>& conflicts,
                           const Box& box) {
  // Along a long axis the sites that see its seam, and a whole period of the colours, are looked
  // at.
  std::array<std::vector<std::int64_t>, 4> along;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::int64_t extent = static_cast<int>(i) < box.dims ? box.extent[i] : 1;
    const std::int64_t cell = colouring.colours;
    for (std::int64_t x = 0; x < extent; ++x)
      if (x < cell || x >= extent - cell) along[i].push_back(x);
  }
  for (const std::int64_t t : along[3])
    for (const std::int64_t z : along[2])
      for (const std::int64_t y : along[1])
        for (const std::int64_t x : along[0]) {
          const Site site{x, y, z, t};
          const std::int64_t own = colouring.of(site);
          for (const Offset& d : conflicts) {
            const Site other = at(site, d, box);
            if (other != site && colouring.of(other) == own) return Clash{site, d};
          }
        }
  return std::nullopt;
}

}  // namespace vphi::gauge
