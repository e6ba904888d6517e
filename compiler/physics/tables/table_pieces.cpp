#include "compiler/physics/tables/table_pieces.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/algebra/transform.hpp"

namespace vphi::physics {
namespace {

using algebra::Op;

constexpr double kEqual = 1e-9;        ///< of the spacing: arguments that are equally spaced
constexpr long double kRoundings = 8;  ///< of a place in a table, at most
constexpr double kLoss = 4;            ///< of the terms of a piece, over what they add up to

/// c[0] + c[1]*x + c[2]*y + c[3]*x*y, or of one argument c[0] + c[1]*x + c[2]*x^2 + c[3]*x^3.
using Form = std::array<long double, 4>;

std::optional<long double> number(Expr expr) {
  const auto found = algebra::constant(expr);
  if (!found) return {};
  return found->real;
}

/// `value` as such a form of the arguments, of each up to the degree.
std::optional<Form> form_of(Arena& arena, Expr value, const std::vector<Expr>& arguments,
                            int degree) {
  // an argument may be any expression
  constexpr const char* kNames[2] = {"first argument", "second argument"};
  std::vector<Expr> names;
  for (std::size_t a = 0; a < arguments.size(); ++a) names.push_back(arena.symbol(kNames[a]));
  const Expr named = algebra::rewrite(value, [&](Expr node) {
    for (std::size_t a = 0; a < arguments.size(); ++a) {
      if (node == arguments[a]) return names[a];
    }
    return node;
  });
  Form form{};
  const auto along_x = algebra::polynomial(algebra::expand(named), names[0], degree);
  if (!along_x) return {};
  for (std::size_t i = 0; i < along_x->size(); ++i) {
    if (names.size() == 1) {
      const auto c = number((*along_x)[i]);
      if (!c) return {};
      form[i] = *c;
      continue;
    }
    const auto along_y = algebra::polynomial((*along_x)[i], names[1], degree);
    if (!along_y) return {};
    for (std::size_t j = 0; j < along_y->size(); ++j) {
      const auto c = number((*along_y)[j]);
      if (!c) return {};
      form[i + 2 * j] = *c;
    }
  }
  return form;
}

/// One axis of a table. Piece -1 lies before the first argument; for it and for the last one, `low`
/// and `high` are the nearest arguments of the table.
struct TableAxis {
  std::vector<double> at;

  std::int64_t pieces() const { return static_cast<std::int64_t>(at.size()) - 1; }
  bool inside(std::int64_t i) const { return i >= 0 && i < pieces(); }
  std::size_t low(std::int64_t i) const {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, pieces()));
  }
  std::size_t high(std::int64_t i) const {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(i + 1, 0, pieces()));
  }
};

/// The line or plane through the corners; of a piece that has no width the one that is constant
/// across it. Nothing where it loses digits.
std::optional<Form> through(const TableAxis& x, std::int64_t i, const TableAxis* y, std::int64_t j,
                            const std::vector<double>& values) {
  const std::size_t width = y ? y->at.size() : 1;
  const std::size_t x0 = x.low(i), x1 = x.high(i), y0 = y ? y->low(j) : 0, y1 = y ? y->high(j) : 0;
  const auto value = [&](std::size_t a, std::size_t b) {
    return static_cast<long double>(values[a * width + b]);
  };
  const auto over = [](long double rise, long double run) { return run == 0 ? 0 : rise / run; };
  const long double xa = x.at[x0], xb = x.at[x1], ya = y ? y->at[y0] : 0, yb = y ? y->at[y1] : 0;
  const long double f = value(x0, y0), fx = value(x1, y0), fy = value(x0, y1), fxy = value(x1, y1);
  Form c{};
  c[3] = over(over((fxy - fx) - (fy - f), xb - xa), yb - ya);
  c[1] = over(fx - f, xb - xa) - c[3] * ya;
  c[2] = over(fy - f, yb - ya) - c[3] * xa;
  c[0] = f - c[1] * xa - c[2] * ya - c[3] * xa * ya;
  const long double far_x = std::max(std::fabs(xa), std::fabs(xb));
  const long double far_y = std::max(std::fabs(ya), std::fabs(yb));
  const long double terms = std::fabs(c[0]) + std::fabs(c[1]) * far_x + std::fabs(c[2]) * far_y +
                            std::fabs(c[3]) * far_x * far_y;
  const long double size = std::max({std::fabs(f), std::fabs(fx), std::fabs(fy), std::fabs(fxy)});
  if (!(terms <= kLoss * size)) return {};
  return c;
}

/// The cubic with these values and slopes at the ends of piece `i`. Nothing where it or its
/// derivative loses digits.
std::optional<Form> cubic(const TableAxis& x, std::int64_t i, const std::vector<double>& values,
                          const std::vector<double>& slopes) {
  const std::size_t a = x.low(i), b = x.high(i);
  if (a == b) return Form{values[a], 0, 0, 0};
  const long double xa = x.at[a], h = x.at[b] - xa, m = slopes[a], f = values[a];
  const long double end = values[b], slope_end = slopes[b], rise = (end - f) / h;
  // about the left end, then about 0
  const long double c2 = (3 * rise - 2 * m - slope_end) / h;
  const long double c3 = (m + slope_end - 2 * rise) / (h * h);
  Form c{};
  c[3] = c3;
  c[2] = c2 - 3 * c3 * xa;
  c[1] = m - 2 * c2 * xa + 3 * c3 * xa * xa;
  c[0] = f - m * xa + c2 * xa * xa - c3 * xa * xa * xa;
  const long double far = std::max(std::fabs(xa), std::fabs(xa + h));
  const long double slope_terms =
      std::fabs(c[1]) + 2 * std::fabs(c[2]) * far + 3 * std::fabs(c[3]) * far * far;
  const long double terms = std::fabs(c[0]) + std::fabs(c[1]) * far + std::fabs(c[2]) * far * far +
                            std::fabs(c[3]) * far * far * far;
  const long double size = std::max(std::fabs(f), std::fabs(end));
  const long double slope = std::max({std::fabs(m), std::fabs(slope_end), std::fabs(rise)});
  if (!(terms <= kLoss * size) || !(slope_terms <= kLoss * slope)) return {};
  return c;
}

/// Number of the piece, from -1, which ends at the first argument, to n, which begins at the last.
/// A margin keeps both ends inside the table however the place is rounded: the first argument lies
/// above the start of its piece and the last one below the end of its own. A first argument of 0
/// needs no margin.
Expr piece_of(Expr x, const TableAxis& axis, Precision real) {
  Arena& arena = *x->arena;
  const long double first = axis.at.front(), last = axis.at.back();
  const long double h = (last - first) / static_cast<long double>(axis.pieces());
  const long double unit = real == Precision::F32 ? 0x1p-24L : 0x1p-53L;
  const long double margin = kRoundings * unit * (std::fabs(first) + std::fabs(last));
  const long double start = first == 0 ? 0 : first - margin;
  const long double spacing = h * (last + margin - start) / (last - first);
  const Expr along = (x - arena.real(start)) * arena.real(1 / spacing);
  const Expr floor = arena.make(Op::Floor, {along});
  return arena.make(
      Op::Min, {arena.make(Op::Max, {floor, arena.integer(-1)}), arena.integer(axis.pieces())});
}

}  // namespace

bool equally_spaced(const std::vector<double>& x) {
  const double h = (x.back() - x.front()) / static_cast<double>(x.size() - 1);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::abs(x[i] - (x.front() + h * static_cast<double>(i))) > kEqual * h) return false;
  return true;
}

std::optional<Expr> in_arguments(Arena& arena, const TableData& table,
                                 const std::vector<Expr>& arguments, int order,
                                 const std::vector<Outside>& outside, Precision real) {
  if (arguments.size() == 2 && order != 1) return {};
  const bool two = arguments.size() == 2;
  std::size_t cells = 1;
  for (const auto& axis : table.axes) {
    if (!equally_spaced(axis)) return {};
    cells *= axis.size() + 1;
  }
  if (two && cells > kMostCells) return {};
  std::optional<Form> beyond;
  for (const Outside& side : outside) {
    if (side.kind == Outside::Kind::Clamp) continue;
    if (side.kind != Outside::Kind::Value) return {};
    if (!beyond) beyond = form_of(arena, side.value, arguments, order);
    if (!beyond) return {};
  }
  const TableAxis x{table.axes[0]}, y{two ? table.axes[1] : std::vector<double>{}};
  const std::vector<double> slopes =
      order == 3 ? monotone_slopes(table.axes[0], table.values, false) : std::vector<double>{};
  const auto piece = [&](std::int64_t i, std::int64_t j) {
    return order == 3 ? cubic(x, i, table.values, slopes)
                      : through(x, i, two ? &y : nullptr, j, table.values);
  };
  std::array<std::vector<double>, 4> c;
  for (std::int64_t i = -1; i <= x.pieces(); ++i) {
    for (std::int64_t j = two ? -1 : 0; j <= (two ? y.pieces() : 0); ++j) {
      const bool inside = x.inside(i) && (!two || y.inside(j));
      const auto form = inside || !beyond ? piece(i, j) : beyond;
      if (!form) return {};
      for (std::size_t k = 0; k < 4; ++k) c[k].push_back(static_cast<double>((*form)[k]));
    }
  }
  Expr at = piece_of(arguments[0], x, real) + arena.integer(1);
  if (two) {
    const std::int64_t width = y.pieces() + 2;
    at = arena.integer(width) * piece_of(arguments[0], x, real) + piece_of(arguments[1], y, real) +
         arena.integer(width + 1);
  }
  const auto entry = [&](std::size_t k) {
    return arena.lookup(arena.add_table(std::move(c[k])), at);
  };
  if (order == 3) {
    Expr value = entry(3);
    for (std::size_t k = 3; k-- > 0;) value = entry(k) + arguments[0] * value;
    return value;
  }
  const Expr constant = entry(0), slope = entry(1);
  const Expr line = constant + arguments[0] * slope;
  if (!two) return line;
  const Expr across = entry(2), twist = entry(3);
  return line + arguments[1] * (across + arguments[0] * twist);
}

}  // namespace vphi::physics
