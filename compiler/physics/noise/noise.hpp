// White noise in equations of motion (docs/rules.md rule 17; docs/formulas.md 5.1).
//
// `noise` in an equation is a leaf Op::Noise with the number of its stream. A stream belongs to the
// place of `noise` in the text, and to the values of the indices there. A name for it (`xi =
// noise`) is therefore one stream wherever the name is used, and lowering an equation twice gives
// the same streams. In physical units it has unit strength: <n n'> = delta(t - t') delta^d(x - x').
//
// With the rates in program units, dx = f dt + sum_s g_s dW_s, `classify_noise` finds the class of
// the noise and the drift of the other calculus,
//   a_Stratonovich = a_Ito - 1/2 sum_s sum_j g_js d(g_is)/d(x_j),
// j over the variables of the same site (noise elsewhere is independent of it). Errors: noise that
// does not enter linearly, E0760; noise outside of an equation, E0115.
//
// A scalar times noise that is added to a vector is a vector of independent noises
// (`noise_components`).
//
// An expression that reads the noise of neighbours, `d(noise, x)` or `lap(noise)`, is not a factor
// times the noise of one site. A step stores such a noise in an array and computes the differences
// from it. Two sites then read the same number, and totals are conserved.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "compiler/model/system.hpp"

namespace vphi::dsl {
struct Expr;
}

namespace vphi::physics {

struct Context;
struct Program;
struct Reading;

/// The stream of the word `noise` at `at` in an equation. `indices` describes the values of the
/// indices there.
algebra::Expr noise_written(const Context& d, const dsl::Expr& at, const Reading& reading,
                            const std::string& indices = {});

/// A term of the form number times noise, as `count` components with one stream each; the first has
/// the stream of the term. Empty for any other term.
std::vector<algebra::Expr> noise_components(const Context& d, algebra::Expr term, int count);

/// A rate that is linear in its noises: rest + sum of g * noise. Where it reads the noise of
/// neighbours, all terms with noise are in `spread` and `factors` is empty.
struct NoisyRate {
  algebra::Expr rest;
  std::map<int, algebra::Expr> factors;  ///< stream -> g
  algebra::Expr spread;                  ///< null: it reads no noise of neighbours
  bool linear = true;

  bool noisy() const { return spread || !factors.empty(); }
  std::set<int> streams() const;
};
NoisyRate split_noise(algebra::Expr rate);

/// 1/2 sum_s sum_j g_js d(g_is)/d(x_j) for the variable of `array`; the number 0 for additive
/// noise.
algebra::Expr drift_correction(const System& system, int array);

/// System::noise; one diagnostic where an equation is not linear in its noise.
Noise classify_noise(const Program& d);

}  // namespace vphi::physics
