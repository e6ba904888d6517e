#include "compiler/schedule/integrator/waves.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include <fmt/format.h>

#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"

namespace vphi::schedule {

using algebra::Expr;
using algebra::Node;
using algebra::Op;

namespace {

constexpr int kSteps = 4;  ///< of pi
constexpr const char* kOpen = "open";

algebra::Environment nothing() {
  return {[](const Node&) -> double { throw std::invalid_argument("not a number"); }};
}

bool is_held(Expr e) { return e.is(Op::PairSum) || (e.op() >= Op::Mean && e.op() <= Op::Maximum); }

/// sum of weight * exp(i k o), with dx^p and the denominator.
std::complex<double> symbol(const algebra::StencilData& stencil, const Wave& k, double dx) {
  std::complex<double> sum = 0;
  if (stencil.spectral) return -algebra::k_eff2(stencil, k) / (dx * dx);
  for (std::size_t i = 0; i < stencil.offsets.size(); ++i) {
    double phase = 0;
    for (std::size_t axis = 0; axis < 4; ++axis) phase += k[axis] * stencil.offsets[i].d[axis];
    sum += static_cast<double>(stencil.weights[i]) * std::polar(1.0, phase);
  }
  return sum * std::pow(dx, stencil.dx_power) / static_cast<double>(stencil.denominator);
}

}  // namespace

std::vector<Wave> waves_of(int dims) {
  std::vector<Wave> waves{Wave{}};
  int points = 1;
  for (int axis = 0; axis < dims; ++axis) points *= 2 * kSteps;
  for (int point = 1; point < points; ++point) {
    Wave k{};
    bool first = true, mirrored = false;
    for (int axis = 0, rest = point; axis < dims; ++axis, rest /= 2 * kSteps) {
      int step = rest % (2 * kSteps);
      if (step > kSteps) step -= 2 * kSteps;
      mirrored = mirrored || (first && step < 0);
      first = first && step == 0;
      k[static_cast<std::size_t>(axis)] = std::numbers::pi / kSteps * step;
    }
    if (!mirrored) waves.push_back(k);
  }
  return waves;
}

std::string shown(const Wave& k, int dims) {
  if (k == Wave{}) return "k = 0";
  std::string text;
  for (int axis = 0; axis < dims; ++axis) {
    const double of_pi = k[static_cast<std::size_t>(axis)] / std::numbers::pi;
    text += fmt::format("{}{}", axis ? ", " : "",
                        of_pi == 0   ? "0"
                        : of_pi == 1 ? "pi"
                                     : fmt::format("{:g}*pi", of_pi));
  }
  return dims > 1 ? fmt::format("k = ({})/dx", text) : fmt::format("k = {}/dx", text);
}

double WaveSlope::value(Expr e) {
  if (const auto found = values_.find(e.get()); found != values_.end()) return found->second;
  double result = 0;
  if (e.is_number()) {
    result = static_cast<double>(e->number.real);
  } else if (e.is(Op::Stencil)) {
    const algebra::StencilData& stencil = e->arena->stencil_data(e->index);
    result = symbol(stencil, {}, dx_).real() * value(e.arg(0));
  } else if (e.is(Op::Lookup)) {
    result = algebra::table_entry(algebra::table_of(*e), value(e.arg(1)));
  } else if (e.args().empty() || is_held(e)) {
    result = leaf_(*e);
  } else {
    result = algebra::evaluate(with_numbers(e, e.args().size()), nothing());
  }
  values_.emplace(e.get(), result);
  return result;
}

/// The operation on the values of its arguments; argument `open` stays a symbol.
Expr WaveSlope::with_numbers(Expr e, std::size_t open) {
  std::vector<Expr> args;
  for (std::size_t i = 0; i < e.args().size(); ++i) {
    const Expr arg = e.arg(static_cast<int>(i));
    args.push_back(i == open         ? own_->symbol(kOpen)
                   : arg.is_number() ? own_->number(arg->number)
                                     : own_->real(value(arg)));
  }
  return own_->make(e.op(), std::move(args));
}

/// By argument i, at the state.
double WaveSlope::partial(Expr e, std::size_t i) {
  const auto [found, fresh] = partials_.try_emplace(e.get(), e.args().size(), std::nan(""));
  double& known = found->second[i];
  if (!std::isnan(known)) return known;
  if (e.is(Op::Lookup)) return known = 0;  // a table's entry, the same around here
  const double at = value(e.arg(static_cast<int>(i)));
  const Expr open = own_->symbol(kOpen);
  known = algebra::evaluate(algebra::local_derivative(with_numbers(e, i), open),
                            {[&](const Node& leaf) -> double {
                              if (&leaf == open.get()) return at;
                              throw std::invalid_argument("not a number");
                            }});
  return known;
}

std::complex<double> WaveSlope::slope(Expr e, int array, const Wave& k,
                                      std::unordered_map<const Node*, Complex>& known) {
  if (const auto found = known.find(e.get()); found != known.end()) return found->second;
  Complex sum = 0;
  if (e.is(Op::Load)) {
    double phase = 0;
    for (std::size_t axis = 0; axis < 4; ++axis) phase += k[axis] * e->offset.d[axis];
    if (e->index == array) sum = std::polar(1.0, phase);
  } else if (e.is(Op::Stencil)) {
    sum = symbol(e->arena->stencil_data(e->index), k, dx_) * slope(e.arg(0), array, k, known);
  } else if (!is_held(e)) {
    for (std::size_t i = 0; i < e.args().size(); ++i) {
      const Complex inner = slope(e.arg(static_cast<int>(i)), array, k, known);
      if (inner != Complex()) sum += partial(e, i) * inner;
    }
  }
  known.emplace(e.get(), sum);
  return sum;
}

std::complex<double> WaveSlope::operator()(int array, const Wave& k) {
  std::unordered_map<const Node*, Complex> known;
  return slope(rate_, array, k, known);
}

}  // namespace vphi::schedule
