// The cost of one site, counted on the expressions as the emitters print them.
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/algebra/node_map.hpp"
#include "compiler/algebra/op_cases.hpp"
#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/chain.hpp"
#include "compiler/kernel/common_values.hpp"
#include "compiler/kernel/device.hpp"
#include "compiler/kernel/line.hpp"
#include "compiler/kernel/round_parts.hpp"
#include "compiler/kernel/rounds.hpp"
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
    if (uniform(expr) || !seen_.add(expr.get(), true).second) return;
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

  /// Of these loops `count` counts the first round alone.
  void leave_out(std::span<const Rounds> loops) {
    has_loops = !loops.empty();
    for (const Rounds& loop : loops)
      for (Expr expr : loop.later) seen_.add(expr.get(), true);
  }

  SiteCost site;
  Chain chain;
  bool has_loops = false;
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
  algebra::NodeTable<bool> seen_;
  std::set<int> axes_;
  algebra::NodeTable<int> uses_;
};

/// Which iterations end early, if any.
enum class Loops { None, OfGpu, OfProcessor };

/// The loops of a site function that end early.
std::vector<Rounds> loops_of(std::span<const Expr> roots, Precision precision, int inputs,
                             Loops where) {
  if (where == Loops::None) return {};
  const auto leaf = [](const algebra::Node& node) { return node.args.empty() || !node.per_site; };
  if (where == Loops::OfProcessor) return rounds_of_lanes(roots, leaf, precision);
  std::vector<Rounds> loops =
      rounds_in_loops(roots, leaf, precision, inputs >= static_cast<int>(kManyReads));
  std::erase_if(loops, [&](const Rounds& loop) { return !worth_watching(loop, precision); });
  return loops;
}

/// Counts what the roots need; `loops`: of iterations the first round, as LeastWork has them.
void count_roots(Counter& counter, const std::vector<Expr>& roots, std::span<const Rounds> loops) {
  counter.leave_out(loops);
  for (Expr root : roots) counter.announce(root);
  for (Expr root : roots) counter.count(root);
  for (const Rounds& loop : loops)
    for (Expr expr : loop.body) counter.count(expr);
  counter.site.outputs = static_cast<int>(roots.size());
  std::vector<Expr> later, ends = roots;
  for (const Rounds& loop : loops) {
    later.insert(later.end(), loop.later.begin(), loop.later.end());
    ends.insert(ends.end(), loop.body.begin(), loop.body.end());
  }
  counter.chain = longest_chain(ends, later);
}

std::vector<Expr> roots_of(const Kernel& kernel) {
  std::vector<Expr> roots;
  for (const Store& store : kernel.stores) roots.push_back(store.value);
  for (const Reduction& reduction : kernel.reductions) roots.push_back(reduction.value);
  return roots;
}

/// One step of a walk along lines makes each value once.
Counter counted(const Line& line, Loops where) {
  std::vector<Expr> roots = roots_of(line.step);
  for (const Line::Held& held : line.held) roots.push_back(held.value);
  Counter counter(line.step, line.names());
  count_roots(counter, roots, loops_of(roots, line.step.compute, 0, where));
  return counter;
}

/// Where loops of a processor are asked for and there are none, nothing is counted.
Counter counted(const Kernel& whole, Loops where = Loops::None) {
  if (const auto line = line_of(whole)) return counted(*line, where);
  // Values common to all paths depend on time alone: they are not counted for a path.
  Shared shared;
  if (!whole.common.empty()) shared = share(whole);
  const Kernel& kernel = whole.common.empty() ? whole : shared.own;
  const std::vector<Expr> roots = roots_of(kernel);
  Counter counter(kernel, shared.site);
  if (where != Loops::OfProcessor) count_roots(counter, roots, {});
  const std::vector<Rounds> loops = loops_of(roots, kernel.compute, counter.site.inputs, where);
  if (loops.empty()) return counter;
  Counter first(kernel, shared.site);
  count_roots(first, roots, loops);
  return first;
}

/// How many numbers of each array a site of `kernel` reads from memory, where each is read once.
/// The sites of one colour read those of their own colour, and of each other one that neighbours
/// have.
std::vector<int> numbers_read(const Kernel& kernel) {
  std::map<int, std::set<int>> read;  // by array: colours, relative to that of the site
  const auto add = [&](int array, const algebra::Offset& offset) {
    const Colours& colours = *kernel.colours;
    int colour = 0;
    for (std::size_t axis = 0; axis < colours.weights.size(); ++axis)
      colour += colours.weights[axis] * offset.d[axis];
    read[array].insert((colour % colours.modulus + colours.modulus) % colours.modulus);
  };
  const auto see = [&](Expr, Expr node) {
    if (node.is(Op::Load)) add(node->index, node->offset);
    if (!node.is(Op::Stencil) || !node.arg(0).is(Op::Load)) return;
    for (const auto& offset : node->arena->stencil_data(node->index).offsets)
      add(node.arg(0)->index, offset);
  };
  if (kernel.colours) algebra::visit(kernel.values(), see);
  std::vector<int> numbers;
  for (const ArrayParam& array : kernel.arrays)
    numbers.push_back(array.read ? std::max<int>(1, static_cast<int>(read[array.array].size()))
                                 : 0);
  return numbers;
}

int bytes_of(const ArrayParam& array) { return array.store == Precision::F32 ? 4 : 8; }

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
    cost.chain.instructions += stage_repeats * own.chain.instructions;
    cost.chain.special += stage_repeats * own.chain.special;
  }
  if (!kernel.stages.empty()) return cost;
  const std::vector<int> read = numbers_read(kernel);
  for (std::size_t i = 0; i < read.size(); ++i) {
    const ArrayParam& array = kernel.arrays[i];
    const int words = read[i] + (array.written ? 1 : 0);
    cost.loads += read[i];
    cost.stores += array.written;
    cost.bytes += words * bytes_of(array);
  }
  const Counter counter = counted(kernel);
  cost.flops = counter.site.flops + counter.stencils + static_cast<int>(kernel.reductions.size());
  cost.special = counter.site.special;
  cost.instructions = cost.flops - counter.site.fused - counter.weights;
  cost.chain = counter.chain;
  add_draws(kernel, cost);
  return cost;
}

int bytes_moved(const Kernel& kernel, const std::function<bool(int array)>& by_colour) {
  constexpr int kSector = 32;
  const std::vector<int> numbers = numbers_read(kernel);
  int bytes = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const ArrayParam& array = kernel.arrays[i];
    const int number = bytes_of(array);
    int read = numbers[i], written = array.written;
    if (kernel.colours && !by_colour(array.array)) {
      const int apart = std::min(kernel.colours->apart(), kSector / number);
      read = read > 0 ? std::max(read, apart) : 0;
      written *= apart;
    }
    bytes += number * (read + written);
  }
  return bytes;
}

LeastWork least_work(const Kernel& kernel, const Cost& cost, bool processor) {
  LeastWork work{cost.instructions, cost.special, cost.chain};
  if (!kernel.stages.empty() || sums_pairs(kernel) || kernel.colours) return work;
  if (processor && kernel.sites() == 1) return work;
  const Counter first = counted(kernel, processor ? Loops::OfProcessor : Loops::OfGpu);
  if (!first.has_loops) return work;
  const SiteCost all = counted(kernel).site, least = first.site;
  work.instructions -= all.flops - all.fused - (least.flops - least.fused);
  work.special -= all.special - least.special;
  work.chain = first.chain;
  return work;
}

int time_of_site(int instructions, int bytes, Precision precision) {
  // H200: 3.15e13 instructions and 4.3e12 bytes a second, half as many instructions in f64
  constexpr int kInstructionsOfAByteF32 = 7, kInstructionsOfAByteF64 = 4;
  const int of_a_byte =
      precision == Precision::F32 ? kInstructionsOfAByteF32 : kInstructionsOfAByteF64;
  return std::max(instructions, of_a_byte * bytes);
}

}  // namespace vphi::kernel
