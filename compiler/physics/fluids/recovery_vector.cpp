// `solve v by fixed_point` of a vector (recovery_equation.hpp).
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fluids/conservation_errors.hpp"
#include "compiler/physics/fluids/recovery_equation.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

class VectorIteration {
 public:
  VectorIteration(const Equations& d, const Solve& solve, const std::vector<Expr>& solved,
                  const std::vector<Expr>& g)
      : d_(d), solve_(solve), solved_(solved), g_(g) {}

  VectorSolution solution(std::vector<TrialState>& states) {
    double largest = 0, contraction = 0;
    const TrialState* lost = nullptr;
    for (TrialState& state : states) {
      state.components = fixed_point(state.quantities);
      if (state.components.empty()) {
        if (!lost) lost = &state;
        continue;
      }
      for (const double v : state.components) largest = std::max(largest, std::abs(v));
    }
    if (lost)
      d_.fail(
          errors::no_vector_found(solve_.span, solve_.name, kMostRounds, shown_state(d_, *lost)));
    const double unit = real_precision(d_) == Precision::F32 ? 0x1p-26 : 0x1p-55;
    const double tolerance =
        std::max(static_cast<double>(solve_.tolerance), solve_.start == 0 ? unit * largest : 0.0);
    VectorSolution made;
    for (const TrialState& state : states) {
      std::vector<double> v = first();
      double error = distance(v, state.components);
      std::int64_t rounds = 0;
      for (; error > tolerance && rounds < solve_.most; ++rounds) {
        v = next(state.quantities, v);
        const double now = distance(v, state.components);
        if (error > 1e3 * tolerance) contraction = std::max(contraction, now / error);
        error = now;
      }
      made.iterations = std::max(made.iterations, rounds);
      made.reached = std::max(made.reached, error);
    }
    made.iterations = std::max<std::int64_t>(made.iterations, 1);
    if (made.reached > tolerance)
      d_.diagnostics.add(
          errors::solve_stops_short(solve_.span, solve_.name, solve_.most, made.reached));
    d_.remark(fmt::format(
        "`{}` is solved in {} iterations of all components at once, what the slowest of {} states "
        "tried takes; one of them multiplies the error by {:.3g} at most",
        solve_.name, made.iterations, states.size(), contraction));
    write(made);
    return made;
  }

 private:
  static constexpr int kMostRounds = 4000;

  std::vector<double> first() const {
    return std::vector<double>(solved_.size(), static_cast<double>(solve_.start));
  }

  std::vector<double> next(const Numbers& quantities, const std::vector<double>& v) const {
    std::vector<double> result;
    for (const Expr component : g_) {
      result.push_back(algebra::evaluate(component, {[&](const algebra::Node& leaf) -> double {
                                           if (leaf.op == Op::Load)
                                             return quantities.at(leaf.index);
                                           for (std::size_t i = 0; i < solved_.size(); ++i)
                                             if (&leaf == solved_[i].get()) return v[i];
                                           return leaf.op == Op::Symbol ? 1 : 0;
                                         }}));
    }
    return result;
  }

  static double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double apart = std::abs(a[i] - b[i]);
      if (!(apart <= most)) most = apart;
    }
    return std::isnan(most) ? std::numeric_limits<double>::infinity() : most;
  }

  /// Empty where the iteration does not end.
  std::vector<double> fixed_point(const Numbers& quantities) const {
    std::vector<double> v = first();
    for (int round = 0; round < kMostRounds; ++round) {
      std::vector<double> then = next(quantities, v);
      double size = 1;
      for (const double x : then) size = std::max(size, std::abs(x));
      const double step = distance(then, v);
      if (!std::isfinite(step)) return {};
      v = std::move(then);
      if (step <= 1e-15 * size) return v;
    }
    return {};
  }

  void write(VectorSolution& made) const {
    std::vector<Expr> g;
    for (const Expr component : g_) g.push_back(snap_numbers(component));
    const auto at = [&](const std::vector<Expr>& of, const std::vector<Expr>& v) {
      std::unordered_map<const algebra::Node*, Expr> known;
      for (std::size_t i = 0; i < solved_.size(); ++i) known[solved_[i].get()] = v[i];
      std::vector<Expr> result;
      for (const Expr component : of) result.push_back(algebra::substitute(component, known));
      return result;
    };
    std::vector<Expr> v(solved_.size(), d_.arena().real(solve_.start));
    for (std::int64_t i = 0; i < made.iterations; ++i) v = at(g, v);
    made.values = v;
    const std::vector<Expr> once_more = at(g, solved_);
    for (std::size_t i = 0; i < v.size(); ++i) {
      const Expr apart = d_.arena().make(Op::Abs, {solved_[i] - once_more[i]});
      made.residual = made.residual ? d_.arena().make(Op::Max, {made.residual, apart}) : apart;
    }
  }

  const Equations& d_;
  const Solve& solve_;
  const std::vector<Expr>& solved_;
  const std::vector<Expr>& g_;
};

}  // namespace

VectorSolution solve_vector(const Equations& d, const Solve& solve, const std::vector<Expr>& solved,
                            const std::vector<Expr>& g, std::vector<TrialState>& states) {
  return VectorIteration(d, solve, solved, g).solution(states);
}

}  // namespace vphi::physics
