#include "dsl/words/builtins.hpp"

#include <numbers>

namespace vphi::dsl {

namespace {

constexpr int kAny = -1;

constexpr Builtin kBuiltins[] = {
    // elementary functions
    {"sqrt", 1, 1, Rule::RealFunction, "", "square root"},
#define VPHI_FUNCTION(op, name, value, c, rule, parity, undoes, flops, slope, latex, mathml, doc) \
  {name, 1, 1, Rule::rule, "", doc},
#define VPHI_COMPOSED(name, count, rule, formula, doc) {name, count, count, Rule::rule, "", doc},
#include "dsl/functions.def"
    {"atan2", 2, 2, Rule::RealOnly, "", "angle of the point (second, first)"},
    {"minmod", 2, kAny, Rule::Fold, "", "the smallest in size where all signs agree, else 0"},
    // complex numbers, vectors, matrices
    {"re", 1, 1, Rule::RealPart, "", "real part"},
    {"im", 1, 1, Rule::RealPart, "", "imaginary part"},
    {"arg", 1, 1, Rule::RealPart, "", "phase of a complex number"},
    {"conj", 1, 1, Rule::Conjugate, "", "complex conjugate"},
    {"norm", 1, 1, Rule::Norm, "", "length: sqrt(norm2)"},
    {"norm2", 1, 1, Rule::Norm, "", "sum of the squared absolute components"},
    {"dot", 2, 2, Rule::Dot, "", "scalar product, the first argument conjugated"},
    {"cross", 2, 2, Rule::Cross, "", "vector product"},
    {"outer", 2, 2, Rule::Outer, "", "matrix of the products of components"},
    {"tr", 1, 1, Rule::Trace, "", "trace"},
    {"adj", 1, 2, Rule::Adjoint, "", "adjoint; adj(D, psi): of a function D of one spinor"},
    // derivatives
    {"d", 2, 2, Rule::Derivative, "", "derivative by a variable, or along a lattice axis"},
    {"lap", 1, 1, Rule::Keep, "", "lattice Laplacian"},
    {"grad", 1, 1, Rule::Gradient, "", "lattice gradient"},
    {"div", 1, 1, Rule::Divergence, "", "lattice divergence"},
    {"curl", 1, 1, Rule::Curl, "",
     "lattice curl; in two dimensions of a vector a number, of a number a vector"},
    {"transverse_traceless", 1, 1, Rule::TransverseTraceless, "",
     "part of a symmetric tensor without divergence and trace"},
    {"faces", 1, 1, Rule::SumOfNeighbours, "", "sum over the neighbours one step away"},
    {"edges", 1, 1, Rule::SumOfNeighbours, "", "sum over the neighbours two single steps away"},
    {"corners", 1, 1, Rule::SumOfNeighbours, "", "sum over the neighbours three single steps away"},
    // reductions
    {"sum", 1, kAny, Rule::Reduce, "", "sum over indices, or over the domain"},
    {"prod", 1, kAny, Rule::Reduce, "", "product over indices, or over the domain"},
    {"mean", 1, kAny, Rule::Reduce, "over where", "average over the domain"},
    {"var", 1, kAny, Rule::Reduce, "over where", "mean(norm2(u - mean(u)))"},
    {"total", 1, kAny, Rule::Reduce, "over",
     "plain sum over the domain; an integral is dx^d times it"},
    {"min", 1, kAny, Rule::ReduceOrFold, "over where", "smallest: over the domain, or of several"},
    {"max", 1, kAny, Rule::ReduceOrFold, "over where", "largest: over the domain, or of several"},
    {"msd", 1, 1, Rule::Reduce, "over", "mean squared displacement since the start"},
    {"all", 1, kAny, Rule::Quantifier, "", "whether a condition holds everywhere"},
    {"any", 1, kAny, Rule::Quantifier, "", "whether a condition holds somewhere"},
    {"first", 2, 2, Rule::First, "", "first(e, cond): e where cond first holds"},
    {"displacement", 1, 1, Rule::RealPart, "",
     "change of a variable since the start; for an angle it includes the winding number"},
    {"error", 1, 1, Rule::RealOnly, "", "standard error of an average over a sweep"},
    // gauge fields and fermions
    {"loop", 1, kAny, Rule::PathProduct, "", "product of links along a closed path"},
    {"path", 1, kAny, Rule::PathProduct, "", "product of links along an open path"},
    {"spinor", 2, 2, Rule::UnitSpinor, "", "spinor(s, c): 1 of spin s and colour c, else 0"},
    {"pseudofermion", 1, 1, Rule::Determinant,
     "solver force start even_odd range tol order together",
     "|det D|^2 by pseudofermion fields; powers by rational functions"},
    {"colours", 1, 1, Rule::Colours, "", "number of rows of links: n of SU(n), 1 of U(1)"},
    {"project", 1, 1, Rule::GroupProjection, "",
     "the matrix of the gauge group to which a sum of products of links is projected"},
    {"gauge_fixed", 2, 2, Rule::GroupProjection, "theta omega max",
     "links U[mu] in the gauge in which the sum of re(tr(M)), M made of links, is largest"},
    // linear systems
    {"solve", 2, 2, Rule::Solve, "solver even_odd together", "the field x with A(x) = b, A linear"},
    {"iterations", 1, 1, Rule::OfSolve, "",
     "iterations that a solve has taken, or all solves of an action in the last trajectory"},
    {"residual", 1, 1, Rule::OfSolve, "",
     "norm(b - A(x))/norm(b) of a solve; of an action the largest in the last trajectory"},
    {"force", 1, 1, Rule::OfSolve, "",
     "root mean square of an action's force on a momentum, at the last kick of a trajectory"},
    {"logdet", 1, 1, Rule::OfSolve, "",
     "log|det R| of determinants with fields at odd sites, R their part at even sites, at the end "
     "of a trajectory"},
    {"smallest", 1, 1, Rule::OfSolve, "",
     "smallest eigenvalue of D adj(D) of a determinant's power, at the start of a trajectory"},
    {"largest", 1, 1, Rule::OfSolve, "",
     "largest eigenvalue of D adj(D) of a determinant's power, at the start of a trajectory"},
    // data
    {"index", 1, 1, Rule::SiteNumber, "", "number of the site along an axis, from 0"},
    {"table", 1, kAny, Rule::Table, "outside order even odd", "tabulated function"},
    {"inverse", 2, 2, Rule::OfFormula, "outside tol",
     "inverse(f, y, x = a..b): the x between a and b at which f, a formula of x, is y"},
    {"tabulate", 2, 2, Rule::OfFormula, "outside tol",
     "tabulate(f, y, x = a..b): f, a formula of x, at x = y, by a table that the compiler makes"},
    {"integral", 1, 1, Rule::OfFormula, "points",
     "integral(f, x = a..b): of a formula of x; by `points` Gauss points where it varies in the "
     "run"},
    {"file", 1, 1, Rule::File, "spread",
     "numbers of a file: a start, `[n]` after it one of a stack, `[i, j]` an entry; with `spread` "
     "of "
     "points"},
// outputs
#define VPHI_OUTPUT(kind, name, group, arrays, axis, shape, options, meaning, ...) \
  {name, 1, kAny, Rule::Output, options, meaning},
#include "program/outputs.def"
    // expectations
    {"drift", 1, 1, Rule::Promise, "", "largest relative change since the start"},
    {"conserved", 1, kAny, Rule::Promise, "", "whether totals keep their value"},
    // distributions, after `~`
    {"normal", 0, 2, Rule::Distribution, "", "normal(mean, width); alone: mean 0, width 1"},
    {"uniform", 0, 2, Rule::Distribution, "", "uniform(low, high); alone: 0 to 1"},
    {"vacuum", 0, 0, Rule::Distribution, "cutoff form",
     "vacuum fluctuations of a field; its velocity moves with them unless it is written"},
    {"spectrum", 1, 1, Rule::Distribution, "",
     "spectrum(P): waves with the power P, a formula of the wave number k or a file's table"},
    {"cauchy", 2, 2, Rule::Distribution, "", "cauchy(centre, half width)"},
    {"waterbag", 1, 1, Rule::Distribution, "", "uniform in -p..p"},
    {"ball", 1, 1, Rule::Distribution, "", "uniform in a ball of this radius"},
    {"exponential", 1, 1, Rule::Distribution, "", "exponential(mean)"},
    {"density", 1, 1, Rule::Distribution, "reach apart turned centred",
     "density(f, reach = R): points of a density f of the distance r from the origin and of the "
     "place, zero beyond R; `apart`: the least distance of two of a species; `turned`: each "
     "species "
     "by a rotation of its own"},
    {"hot", 0, 0, Rule::Distribution, "",
     "each value as likely as any other: links of the whole group, an angle, a field with "
     "`values` or `norm`"},
    {"cold", 0, 0, Rule::Distribution, "", "unit links"},
    // values of a sweep
    {"linspace", 3, 3, Rule::SweepValues, "", "linspace(first, last, number)"},
    {"logspace", 3, 3, Rule::SweepValues, "", "logspace(first, last, number)"},
    {"ranked", 2, 2, Rule::SweepValues, "",
     "ranked(\"name.h5:set\", a..b): the places, from 0, of the numbers of a set whose rank is "
     "within these shares"},
};

constexpr BuiltinConstant kConstants[] = {
    {"pi", std::numbers::pi, "ratio of a circle's circumference to its diameter"},
};

using Base = Type::Base;

constexpr GivenName kGivenNames[] = {
    {"lattice", "x", Base::Real, true, "coordinate from the centre of the box"},
    {"lattice", "y", Base::Real, true, "coordinate from the centre of the box"},
    {"lattice", "z", Base::Real, true, "coordinate from the centre of the box"},
    {"lattice", "r", Base::Real, true, "distance from the centre of the box"},
    {"lattice", "dx", Base::Real, false, "spacing"},
    {"lattice", "volume", Base::Real, false, "volume of the box"},
    {"evolve", "t", Base::Real, false, "physical time"},
    {"evolve", "dt", Base::Real, false, "step of physical time at a = 1"},
    {"evolve", "step", Base::Integer, false, "number of steps done"},
    {"evolve", "accepted", Base::Integer, false, "with `tol`: number of accepted steps"},
    {"evolve", "rejected", Base::Integer, false, "with `tol`: number of rejected trials of a step"},
    {"sweep", "draws", Base::Integer, false,
     "with `keep`: how often the start was drawn until its condition held"},
    {"metric", "a", Base::Real, false, "scale factor, 1 at the start"},
    {"metric", "H", Base::Real, false, "Hubble rate a'/a"},
    {"metric", "rho", Base::Real, true, "energy density"},
    {"metric", "p", Base::Real, true, "pressure"},
    {"metric", "w", Base::Real, false, "mean(p)/mean(rho)"},
    {"potential", "energies", Base::Unknown, false, "kinetic, gradient and potential energy"},
    {"lagrangian", "energies", Base::Unknown, false, "kinetic, gradient and potential energy"},
    {"H", "kinetic", Base::Real, false, "total of the terms of H that hold momenta"},
    {"H", "gradient", Base::Real, false, "total of its other terms that read neighbours"},
    {"scheme", "courant", Base::Real, true, "signal velocity times dt/dx"},
    {"scheme", "diffusion", Base::Real, true,
     "rate at which terms with derivatives damp the fastest wave"},
    {"recover", "residual", Base::Real, true,
     "what the last iteration of `solve` leaves of its equation"},
    {"recover", "iterations", Base::Real, true,
     "how many iterations of `solve` change its solution by more than `tol`"},
    {"limit", "fixes", Base::Real, false, "values that limits have changed since the start"},
    {"sample", "trajectory", Base::Integer, false, "number of trajectories done"},
    {"sample", "sweep", Base::Integer, false, "number of sweeps done"},
    {"sample", "deltaH", Base::Real, false, "change of H in the last trajectory"},
    {"sample", "reversibility", Base::Real, false,
     "how far a trajectory there and back ends from its start; one after which it is needed takes "
     "twice as long"},
    {"sample", "accept", Base::Real, false,
     "share of proposals that the last trajectory, or sweep of metropolis, has accepted"},
    {"sample", "exchanged", Base::Real, false,
     "share of the exchanges with the next value of the sweep that were made; 0 at the last"},
    {"sample", "replica", Base::Integer, false,
     "place in the sweep, from 0, where this configuration was at the start"},
    {"gauge", "polyakov", Base::Complex, false, "average Polyakov loop"},
    {"gauge", "staple", Base::Unknown, true, "sum of staples of a link"},
    {"gauge", "gauss", Base::Real, true, "violation of Gauss' law"},
    {"fermion", "gamma", Base::Operator, false, "Dirac matrices gamma[mu]"},
    {"fermion", "gamma5", Base::Operator, false, "product of the Dirac matrices"},
    {"expect", "sigma", Base::Real, false, "standard error of the mean on the left"},
};

}  // namespace

std::span<const Builtin> builtins() { return kBuiltins; }
std::span<const BuiltinConstant> constants() { return kConstants; }
std::span<const GivenName> given_names() { return kGivenNames; }

const Builtin* find_builtin(std::string_view name) {
  for (const Builtin& builtin : kBuiltins) {
    if (builtin.name == name) return &builtin;
  }
  return nullptr;
}

const Builtin* find_distribution(std::string_view name) {
  for (const Builtin& builtin : kBuiltins) {
    if (builtin.rule == Rule::Distribution && builtin.name == name) return &builtin;
  }
  return nullptr;
}

const BuiltinConstant* find_constant(std::string_view name) {
  for (const BuiltinConstant& constant : kConstants) {
    if (constant.name == name) return &constant;
  }
  return nullptr;
}

}  // namespace vphi::dsl
