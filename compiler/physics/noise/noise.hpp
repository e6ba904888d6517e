// White noise in equations of motion (docs/rules.md rule 17; docs/formulas.md 5.1).
//
// `noise` in an equation is a leaf Op::Noise with the number of its stream. A stream belongs to the
// place in the text where `noise` stands (and to the indices in force there), so that a name for it
// (`xi = noise`) is one stream wherever the name is used, and lowering an equation twice gives the
// same streams. In physical units it is unit in time and volume: <n n'> = delta(t - t')
// delta^d(x - x').
//
// Once the rates are in program units, `classify_noise` reads dx = f dt + sum_s g_s dW_s off them:
// the class of the noise, and the drift of the other calculus,
//   a_Stratonovich = a_Ito - 1/2 sum_s sum_j g_js d(g_is)/d(x_j),
// j over the variables of the same site (noise elsewhere is independent of it). Errors: noise that
// does not enter linearly, E0760; noise outside of an equation, E0115.
//
// Added to a vector, a scalar times noise is a vector of independent noises (`noise_components`).
//
// An expression that reads the noise of neighbours, `d(noise, x)` or `lap(noise)`, is not a factor
// times the noise of one site. A step draws such a noise into an array and takes the text's
// differences of that, so that two sites read the same number and totals are conserved.
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

/// The stream that `noise`, written at `at` of an equation, stands for. `indices` names the indices
/// in force.
algebra::Expr noise_written(const Context& d, const dsl::Expr& at, const Reading& reading,
                            const std::string& indices = {});

/// `noise` of a vector: a term that is a number times noise, and nothing else, as `count`
/// components with a stream each, the first of them the one that is written. Empty for any other
/// term.
std::vector<algebra::Expr> noise_components(const Context& d, algebra::Expr term, int count);

/// g of each stream in a rate that is linear in its noises; nothing else in `rest`. Where it reads
/// noise of neighbours, all that is noise stands in `spread` and there are no factors.
struct NoisyRate {
  algebra::Expr rest;
  std::map<int, algebra::Expr> factors;  ///< stream -> g
  algebra::Expr spread;                  ///< null: noise of the site alone
  bool linear = true;

  bool noisy() const { return spread || !factors.empty(); }
  std::set<int> streams() const;
};
NoisyRate split_noise(algebra::Expr rate);

/// 1/2 sum_s sum_j g_js d(g_is)/d(x_j) of the variable on `array`; a number 0 for additive noise.
algebra::Expr drift_correction(const System& system, int array);

/// System::noise; one diagnostic where an equation is not linear in its noise.
Noise classify_noise(const Program& d);

}  // namespace vphi::physics
