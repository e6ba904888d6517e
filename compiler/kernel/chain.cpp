#include "compiler/kernel/chain.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "compiler/algebra/node_map.hpp"
#include "compiler/algebra/op_cases.hpp"

namespace vphi::kernel {
namespace {

using algebra::Expr;
using algebra::Op;

/// Dependent instructions that take about as long as one special function, to tell which of two
/// chains is the longer one.
constexpr int kInstructionsOfSpecial = 10;

bool shorter(const Chain& a, const Chain& b) {
  const auto time = [](const Chain& c) {
    return c.instructions + kInstructionsOfSpecial * c.special;
  };
  return time(a) < time(b);
}
Chain longer(const Chain& a, const Chain& b) { return shorter(a, b) ? b : a; }
Chain operator+(Chain chain, const Chain& more) {
  chain.instructions += more.instructions, chain.special += more.special;
  return chain;
}

class Chains {
 public:
  Chains(std::span<const Expr> roots, std::span<const Expr> left_out) {
    for (Expr expr : left_out) known_.add(expr.get(), Chain{});
    std::vector<Expr> open(roots.begin(), roots.end());
    while (!open.empty()) {
      const Expr expr = open.back();
      open.pop_back();
      if (!expr->per_site || ++uses_[expr.get()] > 1 || known_.contains(expr.get())) continue;
      nodes_.push_back(expr);
      for (Expr arg : expr.args()) open.push_back(arg);
    }
    std::ranges::sort(nodes_, {}, [](Expr expr) { return expr->id; });
  }

  Chain of(std::span<const Expr> roots) {
    for (Expr expr : nodes_) known_.add(expr.get(), until(expr));
    Chain longest;
    for (Expr root : roots) longest = longer(longest, found(root));
    return longest;
  }

 private:
  Chain found(Expr expr) const {
    const Chain* chain = known_.find(expr.get());
    return chain ? *chain : Chain{};
  }
  /// A product that an addition takes with it ends one instruction earlier.
  Chain as_term(Expr expr) const {
    Chain chain = found(expr);
    const int* uses = uses_.find(expr.get());
    if (expr.is(Op::Mul) && uses && *uses == 1 && chain.instructions > 0) --chain.instructions;
    return chain;
  }

  Chain until(Expr expr) const {
    switch (expr.op()) {
      case Op::Normal:  // ten rounds of two instructions each; a logarithm and a root of it
        return {kDraw + 1, 2};
      case Op::Uniform:
        return {kDraw + 1, 0};
      case Op::Stencil:
        return stencil(expr);
      case Op::Add:
      case Op::Mul:
        return in_turn(expr);
      case Op::Neg:
      case Op::Number:
      case Op::Symbol:
      case Op::Load:
      case Op::Site:
        return after_all(expr);
      case Op::Lookup:  // held inside the table from below and above
        return after_all(expr) + Chain{2, 0};
      case Op::Pow:
      case Op::Noise:
      case Op::Sub:
      case Op::Div:
      case Op::Sqrt:
      case Op::Fma:
      case Op::PairSum:
      case VPHI_DEVICE_FUNCTIONS:
      case VPHI_CONDITIONS:
      case VPHI_SITE_REDUCTIONS:
#include "compiler/algebra/function_cases.def"
      case Op::Atan2:
      case Op::Min:
      case Op::Max:
      case Op::Select:
      case Op::Count_:
        break;
    }
    const algebra::OpInfo& op = algebra::info(expr.op());
    return after_all(expr) + Chain{op.special == 0 && op.flops > 0 ? 1 : 0, op.special};
  }

  Chain after_all(Expr expr) const {
    Chain longest;
    for (Expr arg : expr.args()) longest = longer(longest, found(arg));
    return longest;
  }
  Chain in_turn(Expr expr) const {
    const bool sum = expr.is(Op::Add);
    Chain chain = found(expr.arg(0));
    for (std::size_t i = 1; i < expr.args().size(); ++i)
      chain = longer(chain, sum ? as_term(expr.arg(i)) : found(expr.arg(i))) + Chain{1, 0};
    return chain;
  }
  /// Its points are summed in an order of the kernel's own: at least by halves.
  Chain stencil(Expr expr) const {
    const std::size_t points = expr->arena->stencil_data(expr->index).offsets.size();
    return after_all(expr) + Chain{static_cast<int>(std::bit_width(points)), 0};
  }

  static constexpr int kDraw = 20;
  algebra::NodeTable<Chain> known_;
  algebra::NodeTable<int> uses_;
  std::vector<Expr> nodes_;
};

}  // namespace

Chain longest_chain(std::span<const Expr> roots, std::span<const Expr> left_out) {
  return Chains(roots, left_out).of(roots);
}

}  // namespace vphi::kernel
