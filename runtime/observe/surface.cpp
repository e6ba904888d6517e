#include "runtime/observe/surface.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "runtime/parallel.hpp"

namespace vphi::observe {
namespace {

using Point = std::array<double, 4>;

/// Up to four points in order, as an oriented simplex.
struct Simplex {
  std::array<Point, 4> corner{};
  double sign = 1;
};

/// A connected piece of the surface in a cell or in a face of it, of any dimension.
struct Patch {
  std::vector<Simplex> simplices;
  /// Patches of the faces of this face that bound it: numbers that are the same for all who share
  /// them.
  std::vector<int> bounds;
  Point middle{};      ///< mean of its corners; of polyhedra, of the lines on them
  double corners = 0;  ///< number of points in this mean
};

/// Patches that lie in one face: at most four polygons in a cube, more polyhedra in a hypercube.
constexpr int kMostPatches = 16;

/// The surface in one cell, of edges of any lengths. Corner number c lies at the upper end of the
/// axes whose bits are set.
///
/// Patches are oriented so that they complete the boundary of the high part H of a face: for a face
/// F of any dimension, boundary(H in F) = sum over faces f of F of sign(f) (H in f) + patches(F).
/// Taking the boundary of this, boundary(patches(F)) = -sum of sign(f) patches(f). The patches of F
/// are therefore the cones over what lies in its faces, and their normals point out of H.
class Cell {
 public:
  Cell(int dims, const std::array<double, 4>& spacing) : dims_(dims), spacing_(spacing) {}

  /// The patches of the whole cell, for values at its corners.
  const std::vector<Patch>& patches(const std::array<double, 16>& values, double level) {
    values_ = values;
    level_ = level;
    for (int k = 1; k <= dims_; ++k)
      for (unsigned axes = 0; axes < 1u << dims_; ++axes)
        if (std::popcount(axes) == k)
          for (unsigned at = 0; at < 1u << dims_; ++at)
            if ((at & axes) == 0) find(axes, at, k);
    return of(all(), 0);
  }

 private:
  unsigned all() const { return (1u << dims_) - 1; }
  /// The face that extends along `axes`; the bits of `at` say at which ends of the other axes.
  static int number(unsigned axes, unsigned at) { return static_cast<int>(16 * axes + at); }
  std::vector<Patch>& of(unsigned axes, unsigned at) {
    return faces_[static_cast<std::size_t>(number(axes, at))];
  }
  bool high(unsigned corner) const { return values_[corner] > level_; }

  void find(unsigned axes, unsigned at, int k) {
    std::vector<Patch>& found = of(axes, at);
    found.clear();
    if (k == 1)
      cut_edge(axes, at, found);
    else if (k == 2)
      join_crossings(axes, at, found);
    else
      close_patches(axes, at, found);
  }

  void cut_edge(unsigned axis, unsigned at, std::vector<Patch>& found) const {
    const unsigned end = at | axis;
    if (high(at) == high(end)) return;
    Simplex point;
    for (int i = 0; i < dims_; ++i) {
      const unsigned bit = 1u << i;
      const double part = bit == axis ? (level_ - values_[at]) / (values_[end] - values_[at])
                                      : ((at & bit) != 0 ? 1.0 : 0.0);
      point.corner[0][static_cast<std::size_t>(i)] = part * spacing_[static_cast<std::size_t>(i)];
    }
    point.sign = high(at) ? 1 : -1;
    found.push_back({{point}, {}, point.corner[0], 1});
  }

  /// Each line cuts off a corner, or goes from one edge to the opposite one.
  void join_crossings(unsigned axes, unsigned at, std::vector<Patch>& found) {
    const unsigned a = axes & (~axes + 1), b = axes ^ a;
    // the edges of the square; an edge extends along `axis`
    struct Edge {
      unsigned axis, at;
    };
    const std::array<Edge, 4> edges{{{a, at}, {b, at | a}, {a, at | b}, {b, at}}};
    const auto line = [&](const Edge& one, const Edge& other) {
      const bool forward = entering(axes, one.axis, one.at, at) > 0;
      const Edge &from = forward ? other : one, &to = forward ? one : other;
      const Point p = of(from.axis, from.at)[0].middle, q = of(to.axis, to.at)[0].middle;
      Patch patch;
      patch.simplices.push_back({{p, q}, 1});
      patch.bounds = {number(from.axis, from.at), number(to.axis, to.at)};
      for (std::size_t i = 0; i < 4; ++i) patch.middle[i] = (p[i] + q[i]) / 2;
      patch.corners = 2;
      found.push_back(std::move(patch));
    };
    std::array<Edge, 4> cut{};
    std::size_t count = 0;
    for (const Edge& edge : edges)
      if (!of(edge.axis, edge.at).empty()) cut[count++] = edge;
    if (count == 2) return line(cut[0], cut[1]);
    if (count == 0) return;
    const std::array<unsigned, 4> corners{at, at | a, at | a | b, at | b};
    double mean = 0;
    for (const unsigned corner : corners) mean += values_[corner];
    const bool joined = mean / 4 > level_;
    for (std::size_t i = 0; i < 4; ++i)  // corner i lies between the edges i - 1 and i
      if (high(corners[i]) != joined) line(edges[(i + 3) % 4], edges[i]);
  }

  /// The sign with which the crossing of an edge enters the boundary of the line in its square.
  double entering(unsigned axes, unsigned edge, unsigned edge_at, unsigned at) {
    return -face_sign(axes, axes ^ edge, (edge_at & ~at) != 0) *
           of(edge, edge_at)[0].simplices[0].sign;
  }

  /// Orientation of the face at an end of the axis `away` among `axes`: that of the outward normal.
  static double face_sign(unsigned axes, unsigned away, bool upper) {
    const int before = std::popcount(axes & (away - 1));
    return (before % 2 == 0) == upper ? 1 : -1;
  }

  void close_patches(unsigned axes, unsigned at, std::vector<Patch>& found) {
    struct Part {
      const Patch* patch;
      double sign;
      int number;
    };
    std::vector<Part> parts;
    for (int i = 0; i < dims_; ++i) {
      const unsigned away = 1u << i;
      if ((axes & away) == 0) continue;
      for (const bool upper : {false, true}) {
        const unsigned face = axes ^ away, face_at = upper ? at | away : at;
        const std::vector<Patch>& there = of(face, face_at);
        for (std::size_t n = 0; n < there.size(); ++n)
          parts.push_back({&there[n], -face_sign(axes, away, upper),
                           kMostPatches * number(face, face_at) + static_cast<int>(n)});
      }
    }
    // parts with a common boundary belong together
    std::vector<std::size_t> group(parts.size());
    std::iota(group.begin(), group.end(), std::size_t{0});
    const auto root = [&](std::size_t i) {
      while (group[i] != i) i = group[i];
      return i;
    };
    for (std::size_t i = 0; i < parts.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (std::ranges::find_first_of(parts[i].patch->bounds, parts[j].patch->bounds) !=
            parts[i].patch->bounds.end()) {
          const std::size_t one = root(i), other = root(j);
          group[std::max(one, other)] = std::min(one, other);
        }
    for (std::size_t first = 0; first < parts.size(); ++first) {
      if (root(first) != first) continue;
      Patch patch;
      for (std::size_t i = first; i < parts.size(); ++i) {
        if (root(i) != first) continue;
        const Patch& part = *parts[i].patch;
        for (std::size_t k = 0; k < 4; ++k) patch.middle[k] += part.corners * part.middle[k];
        patch.corners += part.corners;
        patch.bounds.push_back(parts[i].number);
      }
      for (double& x : patch.middle) x /= patch.corners;
      for (std::size_t i = first; i < parts.size(); ++i) {
        if (root(i) != first) continue;
        for (const Simplex& base : parts[i].patch->simplices) {
          Simplex& cone = patch.simplices.emplace_back();
          cone.corner[0] = patch.middle;
          for (std::size_t k = 0; k < 3; ++k) cone.corner[k + 1] = base.corner[k];
          cone.sign = base.sign * parts[i].sign;
        }
      }
      found.push_back(std::move(patch));
    }
  }

  int dims_;
  std::array<double, 4> spacing_;
  std::array<double, 16> values_{};
  double level_ = 0;
  std::array<std::vector<Patch>, 256> faces_;
};

/// Component `axis` of the normal of a simplex with `dims` corners: det(e_axis, v1, v2, ...)
/// divided by (dims - 1)!, where v_i = corner i - corner 0.
double normal_of(const Simplex& s, int dims, int axis) {
  if (dims == 1) return s.sign;
  std::array<std::array<double, 3>, 3> m{};  // rows v_i without the component `axis`
  const auto n = static_cast<std::size_t>(dims - 1);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0, k = 0; k <= n; ++k)
      if (static_cast<int>(k) != axis) m[i][j++] = s.corner[i + 1][k] - s.corner[0][k];
  double det = m[0][0];
  if (n == 2) det = (m[0][0] * m[1][1] - m[0][1] * m[1][0]) / 2;
  if (n == 3)
    det = (m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])) /
          6;
  return s.sign * (axis % 2 == 0 ? det : -det);
}

double length_of(const Point& p) {
  return std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
}

/// Elements of the cells with these numbers along the last axis.
class Walk {
 public:
  Walk(const Cells& cells, std::span<const double> values, double level,
       std::span<const std::vector<double>> carried)
      : cells_(cells),
        values_(values),
        level_(level),
        carried_(carried),
        cell_(cells.dims, cells.spacing) {
    std::int64_t stride = 1;
    for (std::size_t k = 0; k < 4; ++k) {
      stride_[k] = stride;
      stride *= cells.extent[k];
    }
  }

  Surface run(std::int64_t begin, std::int64_t end) {
    const auto last = static_cast<std::size_t>(cells_.dims - 1);
    std::array<std::int64_t, 4> from{}, to{1, 1, 1, 1};
    for (std::size_t k = 0; k <= last; ++k) to[k] = number_of(cells_, k);
    from[last] = begin;
    to[last] = end;
    std::array<std::int64_t, 4> at{};
    for (at[3] = from[3]; at[3] < to[3]; ++at[3])
      for (at[2] = from[2]; at[2] < to[2]; ++at[2])
        for (at[1] = from[1]; at[1] < to[1]; ++at[1])
          for (at[0] = from[0]; at[0] < to[0]; ++at[0]) cell(at);
    return std::move(surface_);
  }

  static bool is_joined(const Cells& cells, std::size_t axis) {
    return cells.joined[axis] || cells.extent[axis] == 1;
  }
  static std::int64_t number_of(const Cells& cells, std::size_t axis) {
    return cells.extent[axis] - (is_joined(cells, axis) ? 0 : 1);
  }

 private:
  void cell(const std::array<std::int64_t, 4>& at) {
    const unsigned corners = 1u << cells_.dims;
    std::array<std::size_t, 16> site{};
    std::array<double, 16> value{};
    unsigned high = 0;
    for (unsigned c = 0; c < corners; ++c) {
      std::int64_t place = 0;
      for (std::size_t k = 0; k < static_cast<std::size_t>(cells_.dims); ++k) {
        const std::int64_t i = at[k] + (c >> k & 1);
        place += stride_[k] * (i == cells_.extent[k] ? 0 : i);
      }
      site[c] = static_cast<std::size_t>(place);
      value[c] = values_[site[c]];
      if (value[c] > level_) ++high;
    }
    if (high == 0 || high == corners) return;
    for (const Patch& patch : cell_.patches(value, level_)) element(at, site, patch);
  }

  void element(const std::array<std::int64_t, 4>& at, const std::array<std::size_t, 16>& site,
               const Patch& patch) {
    const auto dims = static_cast<std::size_t>(cells_.dims);
    Point normal{}, place{};
    double size = 0;
    for (const Simplex& s : patch.simplices) {
      Point own{};
      for (std::size_t k = 0; k < dims; ++k)
        own[k] = normal_of(s, cells_.dims, static_cast<int>(k));
      const double part = length_of(own);
      size += part;
      for (std::size_t k = 0; k < dims; ++k) {
        normal[k] += own[k];
        double mean = 0;
        for (std::size_t i = 0; i < dims; ++i) mean += s.corner[i][k];
        place[k] += part * mean / static_cast<double>(dims);
      }
    }
    if (!(size > 0)) return;  // it has shrunk to a site whose value is the level
    for (double& x : place) x /= size;
    bool edge = false;
    for (std::size_t k = 0; k < dims; ++k) {
      edge = edge || (static_cast<int>(k) < cells_.bounded && !is_joined(cells_, k) &&
                      (at[k] == 0 || at[k] + 2 == cells_.extent[k]));
      surface_.rows.push_back(cells_.first[k] + static_cast<double>(at[k]) * cells_.spacing[k] +
                              place[k]);
    }
    for (std::size_t k = 0; k < dims; ++k) surface_.rows.push_back(normal[k]);
    for (const std::vector<double>& array : carried_) {
      double value = 0;
      for (unsigned c = 0; c < 1u << dims; ++c) {
        double weight = 1;
        for (std::size_t k = 0; k < dims; ++k) {
          const double part = place[k] / cells_.spacing[k];
          weight *= (c >> k & 1) != 0 ? part : 1 - part;
        }
        value += weight * array[site[c]];
      }
      surface_.rows.push_back(value);
    }
    ++surface_.elements;
    if (edge) ++surface_.at_edge;
  }

  const Cells& cells_;
  std::span<const double> values_;
  double level_;
  std::span<const std::vector<double>> carried_;
  Cell cell_;
  std::array<std::int64_t, 4> stride_{};
  Surface surface_;
};

}  // namespace

Surface surface_of(const Cells& cells, std::span<const double> values, double level,
                   std::span<const std::vector<double>> carried, int threads) {
  // one piece for each layer along the last axis that has several, so that threads change no order
  const std::int64_t layers = Walk::number_of(cells, static_cast<std::size_t>(cells.dims - 1));
  std::vector<Surface> pieces(static_cast<std::size_t>(std::max<std::int64_t>(layers, 0)));
  runtime::parallel_ranges(layers, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      pieces[static_cast<std::size_t>(i)] = Walk(cells, values, level, carried).run(i, i + 1);
  });
  Surface all;
  for (const Surface& piece : pieces) {
    all.rows.insert(all.rows.end(), piece.rows.begin(), piece.rows.end());
    all.elements += piece.elements;
    all.at_edge += piece.at_edge;
  }
  return all;
}

}  // namespace vphi::observe
