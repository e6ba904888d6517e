// The built-in names of the language: functions, constants, distributions, and names that
// constructs give.
//
// A table with one row each (name, number of arguments, rule for types, one line of documentation).
// A new function of the language is a row here and a row in the compiler's table of operations.
// These names belong to `std`: a model may redefine them (with a note).
#pragma once

#include <span>
#include <string_view>

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// The type of a function's value from the types of its arguments.
enum class Rule {
  RealFunction,  ///< real to real, complex to complex: exp, sin, ...
  RealOnly,      ///< real arguments only: atan2, floor, ...
  Keep,          ///< the type of the first argument: lap, clamp
  RealPart,      ///< number (complex allowed) to real: re, im, abs, arg
  Norm,          ///< anything with components to real: norm, norm2, abs of a vector
  Conjugate,     ///< conj
  Gradient,      ///< scalar to vec(dimensions)
  Divergence,    ///< vec (or product of vecs) to scalar (or vec)
  Curl,          ///< vec(3) to vec(3); in two dimensions vec(2) to a number, a number to vec(2)
  Dot,
  Cross,
  Outer,
  Trace,
  Colours,          ///< colours(U): rows of the links U
  GroupProjection,  ///< project(M): the matrix of the gauge group that is nearest to M
  Adjoint,
  Derivative,    ///< d(f, x)
  Reduce,        ///< sum, mean, ...: over indices or over the domain
  ReduceOrFold,  ///< min, max: as Reduce, or pointwise of several arguments
  Fold,          ///< several arguments of one type to that type: minmod
  Quantifier,    ///< all, any: conditions to one condition
  First,         ///< first(e, cond)
  PathProduct,   ///< loop, path: directions to a group element
  UnitSpinor,    ///< spinor(s, c)
  Determinant,   ///< pseudofermion(D)
  Solve,         ///< solve(A, b): the field x with A(x) = b
  OfSolve,       ///< iterations(x), residual(x), force(S), largest(S): properties of a solve or an
                 ///< action
  SiteNumber,    ///< index(x)
  Table,         ///< table("file", arguments...)
  File,          ///< file("file:set"), indexed
  OfFormula,     ///< inverse, tabulate, integral: of a formula of a name with a range, x = a..b
  SumOfNeighbours,  ///< faces, edges, corners: used in stencils
  TransverseTraceless,
  Output,        ///< spectrum, slice, ...: stands alone in `every` and `at end`
  Promise,       ///< drift, conserved: stands alone in `expect`
  Distribution,  ///< a random initial value, after `~`
  SweepValues,   ///< linspace, logspace
};

struct Builtin {
  std::string_view name;
  int least = 1;  ///< least number of arguments without a name
  int most = 1;   ///< -1: any number
  Rule rule = Rule::RealFunction;
  std::string_view options;  ///< names of named arguments, separated by blanks
  std::string_view doc;
};

struct BuiltinConstant {
  std::string_view name;
  double value;
  std::string_view doc;
};

/// A name that a construct gives (docs/rules.md rule 26).
struct GivenName {
  std::string_view construct;  ///< clause keyword, or `H` for a written Hamiltonian
  std::string_view name;
  Type::Base type;
  bool per_site;
  std::string_view doc;
};

/// The wave number in `init phi ~ spectrum(P)`.
inline constexpr std::string_view kWaveNumber = "k";

std::span<const Builtin> builtins();
std::span<const BuiltinConstant> constants();
std::span<const GivenName> given_names();

/// An output's meaning comes before that of a distribution of the same name.
const Builtin* find_builtin(std::string_view name);
/// The meaning behind `~`.
const Builtin* find_distribution(std::string_view name);
const BuiltinConstant* find_constant(std::string_view name);

}  // namespace vphi::dsl
