// `table("file", x)`: tabulated functions as branch-free expressions.
//
// Between two arguments of the table a function of one variable is a cubic (monotone where the data
// are: Fritsch and Carlson, SIAM J. Numer. Anal. 17 (1980) 238) or, with order = 1, a line; one of
// two variables is bilinear or, with order = 3, made of such cubics along both axes. Of nested
// tables the first whose range contains the arguments is used. The coefficients of the pieces are
// tables of the kernel, and the piece is found by arithmetic where the arguments are equally
// spaced, else by a bisection with a fixed number of selects. Derivatives are those of the pieces;
// a line's is a step function, so a potential of lines has a force that jumps, which is a warning.
#pragma once

#include "compiler/physics/stages/program.hpp"
#include "compiler/physics/tables/table_file.hpp"

namespace vphi::physics {

/// What happens outside the arguments of the table.
struct Outside {
  enum class Kind { Clamp, Periodic, Value, Open };  ///< Open: it is never evaluated there
  Kind kind = Kind::Clamp;
  Expr value;
};

/// Slopes at the arguments so that the cubic between them is monotone where the data are.
std::vector<double> monotone_slopes(const std::vector<double>& x, const std::vector<double>& y,
                                    bool periodic);

/// The cubics with these values and slopes at equally spaced places, at `x`, which lies between the
/// first and the last.
Expr cubics(const std::vector<double>& at, const std::vector<double>& values,
            const std::vector<double>& slopes, Expr x);

/// The function at `arguments`, as many as the table has axes; order 1 or 3. The first and last
/// arguments of the table count as inside, in arithmetic of the precision `real`.
Expr interpolated(Arena& arena, const TableData& table, const std::vector<Expr>& arguments,
                  int order, const std::vector<Outside>& outside, Precision real = Precision::F64);

/// The first of several tables whose range contains all arguments; outside of the last table
/// `outside` applies.
Expr nested(Arena& arena, const std::vector<TableData>& tables, const std::vector<Expr>& arguments,
            int order, const std::vector<Outside>& outside, Precision real = Precision::F64);

/// How far `arguments` are beyond the nearest of several tables, in parts of the range that they
/// have together; not above 0 inside of any. Among the ends of tables (TableEnds) it stands for all
/// arguments, with first = last = 0.
Expr beyond_all(Arena& arena, const std::vector<TableData>& tables,
                const std::vector<Expr>& arguments);

/// An interval of argument `axis` that no table holds and two of them surround.
struct OpenInterval {
  std::size_t axis = 0;
  double first = 0, last = 0;
};
std::optional<OpenInterval> gap_between(const std::vector<TableData>& tables);

/// Adds the promise that the primitive variables of conservation laws stay between the ends of each
/// table that has no `outside`.
void promise_tables(const Program& d, System& system);

/// Warns where a potential uses a table with linear interpolation.
void check_tables(const Theory& d);

}  // namespace vphi::physics
