#include "compiler/algebra/stencil.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

#include "compiler/algebra/mover.hpp"
#include "compiler/algebra/rational.hpp"
#include "compiler/algebra/simplify.hpp"
#include "compiler/algebra/transform.hpp"

namespace vphi::algebra {

Offset mirrored(Offset offset) {
  for (std::int16_t& d : offset.d) d = static_cast<std::int16_t>(-d);
  return offset;
}

Offset sum_of(Offset a, Offset b) {
  for (int i = 0; i < 4; ++i) a.d[i] = static_cast<std::int16_t>(a.d[i] + b.d[i]);
  return a;
}

std::vector<Offset> neighbours(int dims, int nonzero) {
  std::vector<Offset> result;
  int count = 1;
  for (int i = 0; i < dims; ++i) count *= 3;
  for (int code = 0; code < count; ++code) {
    Offset o;
    int found = 0;
    for (int i = 0, rest = code; i < dims; ++i, rest /= 3) {
      o.d[i] = static_cast<std::int16_t>(rest % 3 - 1);
      found += o.d[i] != 0;
    }
    if (found == nonzero) result.push_back(o);
  }
  return result;
}

Expr neighbour_sum(Expr u, int dims, int nonzero) {
  std::vector<Expr> terms;
  for (const Offset& o : neighbours(dims, nonzero)) terms.push_back(shift(u, o));
  return u->arena->make(Op::Add, std::move(terms), u->span);
}

namespace {

/// coefficient * dx^power * load
struct LoadTerm {
  Rational coefficient;
  int dx_power = 0;
  Expr load;
};

/// What one term of the expanded expression is, or why it is not one of a stencil.
std::string read_term(Expr term, Expr dx, LoadTerm& result) {
  const Scaled s = scaled(term);
  if (!s.coefficient.exact) return "a weight is not an exact fraction";
  result.coefficient = s.coefficient.rational;
  std::vector<Expr> factors{s.rest};
  if (s.rest.is(Op::Mul)) factors.assign(s.rest.args().begin(), s.rest.args().end());
  for (Expr factor : factors) {
    const bool power = factor.is(Op::Pow) && factor.arg(0) == dx && factor.arg(1).is_number() &&
                       is_integer(factor.arg(1)->number);
    if (factor.is(Op::Load) && !result.load) {
      result.load = factor;
    } else if (factor == dx) {
      result.dx_power += 1;
    } else if (power) {
      result.dx_power += static_cast<int>(factor.arg(1)->number.rational.num);
    } else if (factor.is(Op::Load)) {
      return "it is not linear in the field";
    } else {
      return "the factor `" + to_text(factor) + "` is neither a number nor a power of dx";
    }
  }
  return result.load ? "" : "a term has no field in it";
}

}  // namespace

Recognised recognise(Expr expr, Expr dx, int dims, std::string name) {
  const Expr expanded = expand(expr);
  std::vector<Expr> terms{expanded};
  if (expanded.is(Op::Add)) terms.assign(expanded.args().begin(), expanded.args().end());
  if (expanded.is_zero()) return {{}, "it is 0"};

  StencilData data;
  data.name = std::move(name);
  data.dims = dims;
  data.span = expr->span;
  std::vector<Rational> weights;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    LoadTerm term;
    if (std::string why = read_term(terms[i], dx, term); !why.empty()) return {{}, why};
    if (i == 0) data.dx_power = term.dx_power;
    if (term.dx_power != data.dx_power) return {{}, "its terms have different powers of dx"};
    data.offsets.push_back(term.load->offset);
    weights.push_back(term.coefficient);
  }
  const auto array_of = [](Expr e) { return e.is(Op::Load) ? e->index : -1; };
  int array = -1;
  for (Expr read : reads(expanded)) {
    if (array >= 0 && array_of(read) != array) return {{}, "it reads more than one field"};
    array = array_of(read);
  }
  for (const Rational& w : weights) {
    const Number common = exact(data.denominator / std::gcd(data.denominator, w.den), 1);
    const Number product = multiply(common, exact(w.den));
    if (!product.exact) return {{}, "its weights have no common denominator"};
    data.denominator = product.rational.num;
  }
  for (const Rational& w : weights) {
    const Number scaled_weight = multiply(exact(w.num, w.den), exact(data.denominator));
    if (!scaled_weight.exact) return {{}, "its weights are too large"};
    data.weights.push_back(scaled_weight.rational.num);
  }
  return {std::move(data), ""};
}

StencilData adjoint(const StencilData& stencil) {
  StencilData result = stencil;
  for (Offset& o : result.offsets) o = mirrored(o);
  if (!is_symmetric(stencil)) result.name += "_adjoint";
  return result;
}

bool is_symmetric(const StencilData& stencil) {
  for (std::size_t i = 0; i < stencil.offsets.size(); ++i) {
    const auto found = std::ranges::find(stencil.offsets, mirrored(stencil.offsets[i]));
    const auto j = static_cast<std::size_t>(found - stencil.offsets.begin());
    if (found == stencil.offsets.end() ? stencil.weights[i] != 0
                                       : stencil.weights[i] != stencil.weights[j]) {
      return false;
    }
  }
  return true;
}

Expr written_out(const StencilData& stencil, Expr argument, Expr dx) {
  return written_out(stencil, argument, dx, shift);
}

Expr written_out(const StencilData& stencil, Expr argument, Expr dx, const Mover& move) {
  Arena& arena = *argument->arena;
  if (stencil.spectral) return arena.stencil(arena.add_stencil(stencil), argument, argument->span);
  std::vector<Expr> terms;
  for (std::size_t i = 0; i < stencil.offsets.size(); ++i) {
    terms.push_back(arena.integer(stencil.weights[i]) * move(argument, stencil.offsets[i]));
  }
  Expr factor = arena.rational(1, stencil.denominator);
  if (stencil.dx_power != 0) factor = factor * pow(dx, stencil.dx_power);
  return factor * arena.make(Op::Add, std::move(terms), argument->span);
}

Expr gradient_energy(const StencilData& stencil, Expr u, Expr dx, Pairs pairs) {
  Arena& arena = *u->arena;
  if (stencil.spectral)
    return arena.rational(-1, 2) * u * arena.stencil(arena.add_stencil(stencil), u, u->span);
  const bool once = pairs == Pairs::Once;
  std::map<std::int64_t, std::vector<Expr>> squares;  // by weight: few products
  for (std::size_t i = 0; i < stencil.offsets.size(); ++i) {
    const Offset& offset = stencil.offsets[i];
    if (offset.zero() || stencil.weights[i] == 0) continue;
    const auto first = std::ranges::find_if(offset.d, [](std::int16_t d) { return d != 0; });
    if (once && *first < 0) continue;
    squares[stencil.weights[i]].push_back(pow(shift(u, stencil.offsets[i]) - u, 2));
  }
  std::vector<Expr> terms;
  for (auto& [weight, sum] : squares) {
    terms.push_back(arena.integer(weight) * arena.make(Op::Add, std::move(sum), u->span));
  }
  Expr factor = arena.rational(1, stencil.denominator) * arena.rational(1, once ? 2 : 4);
  if (stencil.dx_power != 0) factor = factor * pow(dx, stencil.dx_power);
  return factor * arena.make(Op::Add, std::move(terms), u->span);
}

}  // namespace vphi::algebra
