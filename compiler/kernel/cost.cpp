// The cost of one site, counted on the expressions as the emitters print them.
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/algebra/op_cases.hpp"
#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/common_values.hpp"
#include "compiler/kernel/line.hpp"
#include "compiler/kernel/site_cost.hpp"

namespace vphi::kernel {
namespace {

using algebra::Op;

/// Multiplications of a stencil's sum: one for each weight that is not 1.
int stencil_weights(const algebra::StencilData& stencil) {
  std::set<std::int64_t> weights;
  for (const std::int64_t w : stencil.weights) {
    if (w != 1 && w != 0) weights.insert(w);
  }
  return static_cast<int>(weights.size());
}

bool is_reciprocal_root(Expr power) {
  const Expr exponent = power.arg(1);
  return exponent.is_number() && exponent->number.real == -0.5L;
}

/// Counts the work of a site; each value counts once, however often it is used.
class Counter {
 public:
  /// `handed`: names of values that a clock makes for all paths (kernel/common_values.hpp).
  explicit Counter(const Kernel& kernel, const std::vector<std::string>& handed = {})
      : dx_(kernel.dx), pairs_(sums_pairs(kernel)), handed_(handed.begin(), handed.end()) {}

  void count(Expr expr) {
    if (uniform(expr) || !seen_.insert(expr.get()).second) return;
    if (pairs_ && !expr.is(Op::PairSum)) {
      // what belongs to one site of the pair is made once a site, not once a pair
      const bool own = !algebra::reads_other(expr);
      if (own || !algebra::reads_own(expr)) {
        ++site.inputs;
        return;
      }
    }
    switch (expr.op()) {
      case Op::Load:
      case Op::Normal:
      case Op::Uniform:
      case Op::Symbol:  // a handed one
        ++site.inputs;
        return;
      case Op::Site:
        site.inputs += axes_.insert(expr->index).second;
        return;
      case Op::Stencil:
        return stencil(expr);
      case Op::Lookup:
        // a place held inside the table by a minimum and a maximum; its words are constants
        site.flops += 2;
        ++site.lookups;
        return count(expr.arg(1));
      case Op::PairSum:
        return count(expr.arg(0));
      case Op::Div:
        if (expr.arg(1).is(Op::Sqrt) && uses_[expr.arg(1).get()] == 1)
          ++(expr.arg(0).is_one() ? site.reciprocal_roots : site.dividing_roots);
        break;
      case Op::Pow:
        if (is_reciprocal_root(expr)) {
          site.special += 2;
          ++site.reciprocal_roots;
          return count(expr.arg(0));
        }
        break;
      case Op::Noise:
      case Op::Add:
      case Op::Mul:
      case Op::Neg:
      case Op::Sub:
      case Op::Sqrt:
      case Op::Fma:
      case VPHI_DEVICE_FUNCTIONS:
      case VPHI_CONDITIONS:
      case VPHI_SITE_REDUCTIONS:
#include "compiler/algebra/function_cases.def"
      case Op::Number:
      case Op::Atan2:
      case Op::Min:
      case Op::Max:
      case Op::Select:
      case Op::Count_:
        break;
    }
    operation(expr);
  }

  /// Counts the uses of each value, before `count`.
  void announce(Expr root) {
    std::vector<Expr> open{root};
    while (!open.empty()) {
      const Expr expr = open.back();
      open.pop_back();
      if (++uses_[expr.get()] > 1) continue;
      for (Expr arg : expr.args()) open.push_back(arg);
    }
  }

  SiteCost site;
  int stencils = 0;  ///< flops of the sums that a site function is handed
  int weights = 0;   ///< multiplications among them

 private:
  /// By its row in the table of operations, and its arguments.
  void operation(Expr expr) {
    const algebra::OpInfo& op = algebra::info(expr.op());
    const int times = op.arity < 0 ? std::max<int>(1, static_cast<int>(expr.args().size()) - 1) : 1;
    site.flops += op.flops * times;
    site.special += op.special;
    // a number where a truth value is wanted is compared with 0
    const std::size_t truths = expr.is(Op::Select) ? 1
                               : expr.is(Op::And) || expr.is(Op::Or) || expr.is(Op::Not)
                                   ? expr.args().size()
                                   : 0;
    for (std::size_t i = 0; i < truths; ++i) site.flops += !algebra::is_condition(expr.arg(i).op());
    const int additions = expr.is(Op::Add) ? times : expr.is(Op::Sub) ? 1 : 0;
    int products = expr.is(Op::Fma);  // that an addition takes
    // a + (-b) is a difference where nothing else uses -b
    for (std::size_t i = 0; i < expr.args().size(); ++i) {
      const Expr arg = expr.arg(i);
      const bool difference = i > 0 && expr.is(Op::Add) && arg.is(Op::Neg) && uses_[arg.get()] == 1;
      // and so is a + (-1)*b
      const bool opposite = i > 0 && expr.is(Op::Add) && arg.is(Op::Mul) && uses_[arg.get()] == 1 &&
                            arg.arg(0).is_number() && arg.arg(0)->number.real == -1;
      if (opposite) --site.flops;
      if (products < additions && takes_product(arg)) ++products;
      count(difference ? arg.arg(0) : arg);
    }
    site.fused += products;
  }

  /// A stencil of an array is summed on the way from memory and multiplied by its factor at the
  /// site; one of an expression is the sum of the shifted expressions.
  void stencil(Expr expr) {
    const algebra::StencilData& data = expr->arena->stencil_data(expr->index);
    if (expr.arg(0).is(Op::Load)) {
      ++site.inputs;
      weights += stencil_weights(data);
      stencils += static_cast<int>(data.offsets.size()) - 1 + stencil_weights(data);
    } else {
      for (const algebra::Offset& offset : data.offsets) count(algebra::shift(expr.arg(0), offset));
      const int points = static_cast<int>(data.offsets.size());
      site.flops += points - 1 + points;  // sums, and each times its weight
    }
    site.flops += stencil_factor(data, dx_) != 1;
  }

  /// Whether a term of a sum is a product that is used once.
  bool takes_product(Expr arg) {
    const Expr inner = arg.is(Op::Neg) && uses_[arg.get()] == 1 ? arg.arg(0) : arg;
    return inner.is(Op::Mul) && uses_[inner.get()] == 1 && !uniform(inner);
  }

  /// The same at every site and step of the launch: computed once before.
  bool uniform(Expr expr) {
    if (expr->per_site) return false;
    if (handed_.empty() || expr.is_number()) return true;
    if (expr.is(Op::Symbol)) return !handed_.contains(expr->name);
    const auto [found, fresh] = uniform_.try_emplace(expr.get(), true);
    if (fresh)
      for (Expr arg : expr.args()) found->second = found->second && uniform(arg);
    return found->second;
  }

  double dx_ = 1;
  bool pairs_ = false;
  std::set<std::string> handed_;
  std::map<const algebra::Node*, bool> uniform_;
  std::unordered_set<const algebra::Node*> seen_;
  std::set<int> axes_;
  std::unordered_map<const algebra::Node*, int> uses_;
};

/// One step of a walk along lines makes each value once.
Counter counted(const Line& line) {
  Counter counter(line.step, line.names());
  const auto all = [&](const auto& see) {
    for (const Store& store : line.step.stores) see(store.value);
    for (const Reduction& reduction : line.step.reductions) see(reduction.value);
    for (const Line::Held& held : line.held) see(held.value);
  };
  all([&](Expr root) { counter.announce(root); });
  all([&](Expr root) { counter.count(root); });
  counter.site.outputs =
      static_cast<int>(line.step.stores.size() + line.step.reductions.size() + line.held.size());
  return counter;
}

Counter counted(const Kernel& whole) {
  if (const auto line = line_of(whole)) return counted(*line);
  // Values common to all paths depend on time alone: they are not counted for a path.
  Shared shared;
  if (!whole.common.empty()) shared = share(whole);
  const Kernel& kernel = whole.common.empty() ? whole : shared.own;
  Counter counter(kernel, shared.site);
  for (const Store& store : kernel.stores) counter.announce(store.value);
  for (const Reduction& reduction : kernel.reductions) counter.announce(reduction.value);
  for (const Store& store : kernel.stores) counter.count(store.value);
  for (const Reduction& reduction : kernel.reductions) counter.count(reduction.value);
  counter.site.outputs = static_cast<int>(kernel.stores.size() + kernel.reductions.size());
  return counter;
}

/// Adds Philox4x32-10 and Box-Muller, shared by the numbers of a block, with the costs in ops.cpp.
void add_draws(const Kernel& kernel, Cost& cost) {
  algebra::visit(kernel.values(), [&](Expr, Expr node) {
    if (!node.is(Op::Normal) && !node.is(Op::Uniform)) return;
    const algebra::OpInfo& op = algebra::info(node.op());
    cost.flops += op.flops;
    cost.instructions += op.flops;
    cost.special += op.special;
  });
}

}  // namespace

long double stencil_factor(const algebra::StencilData& stencil, double dx) {
  return std::pow(static_cast<long double>(dx), stencil.dx_power) /
         static_cast<long double>(stencil.denominator);
}

SiteCost site_cost(const Kernel& kernel) { return counted(kernel).site; }

Cost cost(const Kernel& kernel) {
  Cost cost;
  for (const Kernel& stage : kernel.stages) {  // a step of them
    const Cost own = kernel::cost(stage);
    const auto stage_repeats = static_cast<int>(kernel.stage_repeats);
    cost.loads += stage_repeats * own.loads, cost.stores += stage_repeats * own.stores;
    cost.bytes += stage_repeats * own.bytes, cost.flops += stage_repeats * own.flops;
    cost.special += stage_repeats * own.special;
    cost.instructions += stage_repeats * own.instructions;
  }
  if (!kernel.stages.empty()) return cost;
  for (const ArrayParam& array : kernel.arrays) {
    const int words = (array.read ? 1 : 0) + (array.written ? 1 : 0);
    cost.loads += array.read;
    cost.stores += array.written;
    cost.bytes += words * (array.store == Precision::F32 ? 4 : 8);
  }
  const Counter counter = counted(kernel);
  cost.flops = counter.site.flops + counter.stencils + static_cast<int>(kernel.reductions.size());
  cost.special = counter.site.special;
  cost.instructions = cost.flops - counter.site.fused - counter.weights;
  add_draws(kernel, cost);
  return cost;
}

}  // namespace vphi::kernel
