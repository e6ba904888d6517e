#include "compiler/physics/tables/tables.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/tables/table_pieces.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// The piece an argument lies in and how far, 0 to 1.
struct Place {
  Expr piece, fraction;
};

Expr at_least(Expr a, Expr b) { return a->arena->make(Op::Max, {a, b}); }
Expr at_most(Expr a, Expr b) { return a->arena->make(Op::Min, {a, b}); }

/// The argument moved into the range of the axis.
Expr brought_inside(Expr x, const std::vector<double>& axis, const Outside& outside) {
  Arena& arena = *x->arena;
  const Expr first = arena.real(axis.front()), last = arena.real(axis.back());
  if (outside.kind == Outside::Kind::Periodic) {
    const Expr period = last - first;
    return x - period * arena.make(Op::Floor, {(x - first) / period});
  }
  return at_most(at_least(x, first), last);
}

/// Largest i with axis[i] <= x among the pieces, by bisection: as many selects as bits.
Expr bisected(Expr x, const std::vector<double>& axis) {
  Arena& arena = *x->arena;
  const std::size_t pieces = axis.size() - 1;
  std::vector<double> left(axis.begin(), axis.end() - 1);
  left.push_back(1e300);  // read for every candidate behind the last piece
  const int table = arena.add_table(std::move(left));
  std::size_t step = 1;
  while (2 * step < pieces) step *= 2;
  Expr at = arena.integer(0);
  for (; pieces > 1 && step >= 1; step /= 2) {
    const Expr candidate = at + arena.integer(static_cast<std::int64_t>(step));
    const Expr fits = arena.make(Op::LessEqual, {arena.lookup(table, candidate), x});
    at = arena.make(Op::Select, {fits, candidate, at});
  }
  return at;
}

/// Whether values of arguments outside are replaced or excluded anyway, so that only the number of
/// the piece must be valid.
bool selected(const Outside& outside) {
  return outside.kind == Outside::Kind::Value || outside.kind == Outside::Kind::Open;
}

Place place_of(Expr argument, const std::vector<double>& axis, const Outside& outside) {
  const Expr x = selected(outside) ? argument : brought_inside(argument, axis, outside);
  Arena& arena = *x->arena;
  const auto last = static_cast<std::int64_t>(axis.size()) - 2;
  if (equally_spaced(axis)) {
    const double h = (axis.back() - axis.front()) / static_cast<double>(axis.size() - 1);
    const Expr along = (x - arena.real(axis.front())) * arena.real(1 / h);
    const Expr floor = arena.make(Op::Floor, {along});
    const Expr piece = at_most(at_least(floor, arena.integer(0)), arena.integer(last));
    return {piece, along - piece};
  }
  const Expr piece = bisected(x, axis);
  std::vector<double> left(axis.begin(), axis.end() - 1), inverse;
  for (std::size_t i = 0; i + 1 < axis.size(); ++i) inverse.push_back(1 / (axis[i + 1] - axis[i]));
  const Expr fraction = (x - arena.lookup(arena.add_table(std::move(left)), piece)) *
                        arena.lookup(arena.add_table(std::move(inverse)), piece);
  return {piece, fraction};
}

/// y0 + f*(c1 + f*(c2 + f*c3)) on each piece, f from 0 to 1.
Expr pieces_of_cubics(const std::vector<double>& x, const std::vector<double>& y,
                      const std::vector<double>& m, const Place& at) {
  Arena& arena = *at.piece->arena;
  std::vector<double> c[4];
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double h = x[i + 1] - x[i], rise = y[i + 1] - y[i], a = h * m[i], b = h * m[i + 1];
    c[0].push_back(y[i]);
    c[1].push_back(a);
    c[2].push_back(3 * rise - 2 * a - b);
    c[3].push_back(a + b - 2 * rise);
  }
  Expr value = arena.lookup(arena.add_table(c[3]), at.piece);
  for (int k = 2; k >= 0; --k)
    value = arena.lookup(arena.add_table(c[k]), at.piece) + at.fraction * value;
  return value;
}

Expr pieces_of_lines(const TableData& table, const Place& at) {
  Arena& arena = *at.piece->arena;
  std::vector<double> start(table.values.begin(), table.values.end() - 1), rise;
  for (std::size_t i = 0; i + 1 < table.values.size(); ++i)
    rise.push_back(table.values[i + 1] - table.values[i]);
  return arena.lookup(arena.add_table(std::move(start)), at.piece) +
         at.fraction * arena.lookup(arena.add_table(std::move(rise)), at.piece);
}

/// f + s*a + t*(b + s*c) on each cell, s and t from 0 to 1. The numbers of a cell are stored
/// together.
Expr cells_of_planes(const TableData& table, const Place& x, const Place& y) {
  Arena& arena = *x.piece->arena;
  const std::size_t rows = table.axes[0].size() - 1, width = table.axes[1].size() - 1;
  std::vector<double> c[4];
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      const double* low = &table.values[i * (width + 1) + j];
      const double* high = low + width + 1;
      c[0].push_back(low[0]);
      c[1].push_back(high[0] - low[0]);
      c[2].push_back(low[1] - low[0]);
      c[3].push_back((high[1] - high[0]) - (low[1] - low[0]));
    }
  }
  const Expr at = arena.integer(static_cast<std::int64_t>(width)) * x.piece + y.piece;
  Expr entry[4];
  for (int k = 0; k < 4; ++k) entry[k] = arena.lookup(arena.add_table(std::move(c[k])), at);
  return entry[0] + x.fraction * entry[1] + y.fraction * (entry[2] + x.fraction * entry[3]);
}

Expr bilinear(const TableData& table, const Place& x, const Place& y) {
  if (table.values.size() <= kMostCells) return cells_of_planes(table, x, y);
  Arena& arena = *x.piece->arena;
  const auto width = static_cast<std::int64_t>(table.axes[1].size());
  const int values = arena.add_table(table.values);
  const Expr at = arena.integer(width) * x.piece + y.piece;
  const auto entry = [&](std::int64_t further) {
    return arena.lookup(values, at + arena.integer(further));
  };
  const Expr low = entry(0) + y.fraction * (entry(1) - entry(0));
  const Expr high = entry(width) + y.fraction * (entry(width + 1) - entry(width));
  return low + x.fraction * (high - low);
}

/// Both axes at once: f, its slopes along x and along y at the corners, and no mixed slope. Along
/// each line of the table this is the monotone cubic.
Expr bicubic(const TableData& table, const Place& x, const Place& y) {
  Arena& arena = *x.piece->arena;
  const std::size_t rows = table.axes[0].size(), width = table.axes[1].size();
  std::vector<double> along_x(table.values.size()), along_y(table.values.size());
  for (std::size_t j = 0; j < width; ++j) {
    std::vector<double> line(rows);
    for (std::size_t i = 0; i < rows; ++i) line[i] = table.values[i * width + j];
    const auto slopes = monotone_slopes(table.axes[0], line, false);
    for (std::size_t i = 0; i < rows; ++i) along_x[i * width + j] = slopes[i];
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const auto begin = table.values.begin() + static_cast<std::ptrdiff_t>(i * width);
    const auto slopes =
        monotone_slopes(table.axes[1], {begin, begin + static_cast<std::ptrdiff_t>(width)}, false);
    std::ranges::copy(slopes, along_y.begin() + static_cast<std::ptrdiff_t>(i * width));
  }
  const auto widths = [&](const std::vector<double>& axis, const Place& at) {
    const double h = (axis.back() - axis.front()) / static_cast<double>(axis.size() - 1);
    if (equally_spaced(axis)) return arena.real(h);
    std::vector<double> all;
    for (std::size_t i = 0; i + 1 < axis.size(); ++i) all.push_back(axis[i + 1] - axis[i]);
    return arena.lookup(arena.add_table(std::move(all)), at.piece);
  };
  const int f = arena.add_table(table.values), fx = arena.add_table(along_x),
            fy = arena.add_table(along_y);
  const Expr one = arena.integer(1), two = arena.integer(2), three = arena.integer(3);
  // Hermite's four cubics at the two ends: value and slope
  const auto value_at = [&](Expr t, int end) {
    return end == 0 ? (one + two * t) * algebra::pow(one - t, 2) : t * t * (three - two * t);
  };
  const auto slope_at = [&](Expr t, int end) {
    return end == 0 ? t * algebra::pow(one - t, 2) : t * t * (t - one);
  };
  const Expr hx = widths(table.axes[0], x), hy = widths(table.axes[1], y);
  const Expr at = arena.integer(static_cast<std::int64_t>(width)) * x.piece + y.piece;
  Expr sum = arena.integer(0);
  for (const int i : {0, 1}) {
    for (const int j : {0, 1}) {
      const Expr entry = at + arena.integer(i * static_cast<std::int64_t>(width) + j);
      const Expr vx = value_at(x.fraction, i), vy = value_at(y.fraction, j);
      sum = sum + vx * vy * arena.lookup(f, entry) +
            hx * slope_at(x.fraction, i) * vy * arena.lookup(fx, entry) +
            hy * vx * slope_at(y.fraction, j) * arena.lookup(fy, entry);
    }
  }
  return sum;
}

Expr within(const std::vector<double>& axis, Expr x) {
  Arena& arena = *x->arena;
  return arena.make(Op::And, {arena.make(Op::LessEqual, {arena.real(axis.front()), x}),
                              arena.make(Op::LessEqual, {x, arena.real(axis.back())})});
}

}  // namespace

Expr nested(Arena& arena, const std::vector<TableData>& tables, const std::vector<Expr>& arguments,
            int order, const std::vector<Outside>& outside, Precision real) {
  Expr value = interpolated(arena, tables.back(), arguments, order, outside, real);
  const std::vector<Outside> open(arguments.size(), {Outside::Kind::Open, {}});
  for (std::size_t t = tables.size() - 1; t-- > 0;) {
    Expr inside = arena.integer(1);
    for (std::size_t a = 0; a < arguments.size(); ++a) {
      inside = arena.make(Op::And, {inside, within(tables[t].axes[a], arguments[a])});
    }
    const Expr finer = interpolated(arena, tables[t], arguments, order, open, real);
    value = arena.make(Op::Select, {inside, finer, value});
  }
  return value;
}

Expr beyond_all(Arena& arena, const std::vector<TableData>& tables,
                const std::vector<Expr>& arguments) {
  std::vector<double> range;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    double low = tables[0].axes[a].front(), high = tables[0].axes[a].back();
    for (const TableData& table : tables) {
      low = std::min(low, table.axes[a].front());
      high = std::max(high, table.axes[a].back());
    }
    range.push_back(high - low);
  }
  Expr nearest;
  for (const TableData& table : tables) {
    Expr beyond;
    for (std::size_t a = 0; a < arguments.size(); ++a) {
      const Expr below = arena.real(table.axes[a].front()) - arguments[a];
      const Expr above = arguments[a] - arena.real(table.axes[a].back());
      const Expr own = arena.make(Op::Max, {below, above}) / arena.real(range[a]);
      beyond = beyond ? arena.make(Op::Max, {beyond, own}) : own;
    }
    nearest = nearest ? arena.make(Op::Min, {nearest, beyond}) : beyond;
  }
  return nearest;
}

std::optional<OpenInterval> gap_between(const std::vector<TableData>& tables) {
  for (std::size_t a = 0; a < tables[0].axes.size(); ++a) {
    std::vector<std::pair<double, double>> ranges;
    for (const TableData& table : tables)
      ranges.emplace_back(table.axes[a].front(), table.axes[a].back());
    std::ranges::sort(ranges);
    double reached = ranges[0].second;
    for (const auto& [first, last] : ranges) {
      // the last argument of an even grid is a sum of steps
      if (first - reached > 1e-9 * (last - ranges[0].first)) return OpenInterval{a, reached, first};
      reached = std::max(reached, last);
    }
  }
  return std::nullopt;
}

std::vector<double> monotone_slopes(const std::vector<double>& x, const std::vector<double>& y,
                                    bool periodic) {
  const std::size_t n = x.size();
  std::vector<double> d(n - 1), m(n);
  for (std::size_t i = 0; i + 1 < n; ++i) d[i] = (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
  const auto between = [](double a, double b) { return a * b > 0 ? (a + b) / 2 : 0; };
  for (std::size_t i = 1; i + 1 < n; ++i) m[i] = between(d[i - 1], d[i]);
  m[0] = periodic ? between(d[n - 2], d[0]) : d[0];
  m[n - 1] = periodic ? m[0] : d[n - 2];
  for (std::size_t i = 0; i + 1 < n; ++i) {
    if (d[i] == 0) {
      m[i] = m[i + 1] = 0;
      continue;
    }
    // alpha^2 + beta^2 <= 9 keeps the piece monotone
    const double alpha = m[i] / d[i], beta = m[i + 1] / d[i], size = std::hypot(alpha, beta);
    if (size > 3) m[i] = 3 / size * alpha * d[i], m[i + 1] = 3 / size * beta * d[i];
  }
  if (periodic) {
    // the shorter of the two in size keeps both ends monotone
    m[0] = m[n - 1] = std::abs(m[0]) < std::abs(m[n - 1]) ? m[0] : m[n - 1];
  }
  return m;
}

Expr cubics(const std::vector<double>& at, const std::vector<double>& values,
            const std::vector<double>& slopes, Expr x) {
  return pieces_of_cubics(at, values, slopes, place_of(x, at, {Outside::Kind::Open, {}}));
}

Expr interpolated(Arena& arena, const TableData& table, const std::vector<Expr>& arguments,
                  int order, const std::vector<Outside>& outside, Precision real) {
  if (const auto found = in_arguments(arena, table, arguments, order, outside, real)) return *found;
  std::vector<Place> places;
  for (std::size_t a = 0; a < arguments.size(); ++a)
    places.push_back(place_of(arguments[a], table.axes[a], outside[a]));
  Expr value;
  if (arguments.size() == 2) {
    value =
        order == 1 ? bilinear(table, places[0], places[1]) : bicubic(table, places[0], places[1]);
  } else if (order == 1) {
    value = pieces_of_lines(table, places[0]);
  } else {
    const bool periodic = outside[0].kind == Outside::Kind::Periodic;
    value = pieces_of_cubics(table.axes[0], table.values,
                             monotone_slopes(table.axes[0], table.values, periodic), places[0]);
  }
  for (std::size_t a = 0; a < arguments.size();) {
    if (outside[a].kind != Outside::Kind::Value) {
      ++a;
      continue;
    }
    // arguments with one value outside make one choice
    const Expr other = outside[a].value;
    Expr inside = arena.integer(1);
    for (; a < arguments.size() && outside[a].kind == Outside::Kind::Value &&
           outside[a].value == other;
         ++a) {
      inside = arena.make(Op::And, {inside, within(table.axes[a], arguments[a])});
    }
    value = arena.make(Op::Select, {inside, value, other});
  }
  return value;
}

void promise_tables(const Program& d, System& system) {
  Arena& arena = d.arena();
  std::set<int> primitive;
  for (const StateField& field : d.fields)
    if (field.primitive) primitive.insert(field.arrays.begin(), field.arrays.end());
  std::set<std::pair<const algebra::Node*, std::pair<double, double>>> known;
  for (const TableEnds& ends : d.collected.ends) {
    bool of_site = false;  // a formula of primitive variables at a site
    const bool other = algebra::contains(ends.argument, [&](Expr node) {
      const bool load = node.is(Op::Load);
      of_site = of_site || load;
      return node.is(Op::Symbol) ||
             (load && (!primitive.contains(node->index) || !(node->offset == algebra::Offset{})));
    });
    if (other || !of_site) continue;
    if (!known.insert({ends.argument.get(), {ends.first, ends.last}}).second) continue;
    const bool several = ends.first == ends.last;
    const double rounding = 1e-6 * (several ? 1 : ends.last - ends.first);
    const Expr below = arena.real(ends.first) - ends.argument;
    const Expr above = ends.argument - arena.real(ends.last);
    const Expr beyond = arena.make(
        Op::Maximum, {several ? ends.argument : arena.make(Op::Max, {below, above})});
    Expectation x;
    x.kind = Expectation::Kind::Condition;
    x.text = several
                 ? fmt::format("arguments within one of the tables of {}, which has no `outside`",
                               written(d, ends.table))
                 : fmt::format("arguments of {} from {:.6g} to {:.6g}, which has no `outside`",
                               written(d, ends.table), ends.first, ends.last);
    x.span = ends.table;
    x.value = beyond;
    x.ok = arena.make(Op::LessEqual, {beyond, arena.real(rounding)});
    system.expectations.push_back(std::move(x));
  }
}

void check_tables(const Theory& d) {
  if (!d.potential || d.collected.lines.empty()) return;
  std::set<int> used;
  algebra::visit(d.potential, [&](Expr node) {
    if (node.is(Op::Lookup) && node->per_site)
      used.insert(static_cast<int>(node.arg(0)->number.rational.num));
  });
  for (const auto& [table, span] : d.collected.lines)
    if (used.contains(table)) {
      d.diagnostics.add(errors::force_jumps(span));
      return;
    }
}

}  // namespace vphi::physics
