// Passes that find what devices have functions of their own for.
#include <map>
#include <optional>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/site_rewriting.hpp"

namespace vphi::kernel {
namespace {

using algebra::Node;
using algebra::Op;

// ---- minmods ------------------------------------------------------------------------------------

class Minmods : public SiteRewriting {
 public:
  using SiteRewriting::SiteRewriting;

 private:
  Expr made(Expr expr) override {
    if (!is_pair(expr, Op::Max)) return {};
    for (int i = 0; i < 2; ++i) {
      const Expr highest = beside_zero(expr.arg(i), Op::Min), bounded = expr.arg(1 - i);
      if (!highest || !is_pair(highest, Op::Max) || !is_pair(bounded, Op::Min)) continue;
      for (int k = 0; k < 2; ++k) {
        const Expr lowest = beside_zero(bounded.arg(k), Op::Max);
        if (!lowest || !is_pair(lowest, Op::Min) || !same_pair(lowest, highest)) continue;
        return expr->arena->raw(
            Op::Minmod, {visit(bounded.arg(1 - k)), visit(highest.arg(0)), visit(highest.arg(1))},
            expr->span);
      }
    }
    return {};
  }

  static bool is_pair(Expr e, Op op) { return e.is(op) && e.args().size() == 2; }
  static bool same_pair(Expr e, Expr f) {
    return (e.arg(0) == f.arg(0) && e.arg(1) == f.arg(1)) ||
           (e.arg(0) == f.arg(1) && e.arg(1) == f.arg(0));
  }
  /// x of op(0, x) or op(x, 0).
  static Expr beside_zero(Expr e, Op op) {
    if (!is_pair(e, op)) return {};
    if (e.arg(0).is_zero()) return e.arg(1);
    return e.arg(1).is_zero() ? e.arg(0) : Expr();
  }
};

// ---- paired angles ------------------------------------------------------------------------------

/// Looks into stencils of expressions too. Sine and cosine meet there if they are under the same
/// stencils: each of its terms then has both.
class PairedAngles {
 public:
  PairedAngles(const SiteFunction& function, bool all) : at_hand_(function), all_(all) {
    for (const Expr value : function.values()) find(value, 0);
  }

  SiteFunction operator()(SiteFunction function) {
    if (!any_) return function;
    for (Store& store : function.kernel.stores) store.value = visit(store.value, 0);
    for (Reduction& reduction : function.kernel.reductions)
      reduction.value = visit(reduction.value, 0);
    for (ScalarAssign& held : function.held) held.value = visit(held.value, 0);
    return function;
  }

 private:
  /// A node, and the stencils around it by a number.
  using Key = std::pair<const Node*, int>;

  bool is_stencil_of_expression(Expr expr) const {
    return expr.is(Op::Stencil) && !expr.arg(0).is(Op::Load);
  }
  int within(int around, Expr stencil) {
    return around_.try_emplace({around, stencil->index}, static_cast<int>(around_.size()) + 1)
        .first->second;
  }

  void find(Expr expr, int around) {
    const bool inside = is_stencil_of_expression(expr);
    if ((at_hand_(expr) && !inside) || !seen_.insert({expr.get(), around}).second) return;
    if (expr.is(Op::Sin) || expr.is(Op::Cos)) {
      int& wanted = wanted_[{expr.arg(0).get(), around}];
      wanted |= expr.is(Op::Sin) ? 1 : 2;
      any_ = any_ || wanted == kBoth;
    }
    for (const Expr arg : expr.args()) find(arg, inside ? within(around, expr) : around);
  }

  Expr visit(Expr expr, int around) {
    const bool inside = is_stencil_of_expression(expr);
    if (at_hand_(expr) && !inside) return expr;
    const auto found = done_.find({expr.get(), around});
    if (found != done_.end()) return found->second;
    std::vector<Expr> args;
    for (const Expr arg : expr.args())
      args.push_back(visit(arg, inside ? within(around, expr) : around));
    const bool angle = expr.is(Op::Sin) || expr.is(Op::Cos);
    const bool paired = angle && (all_ || wanted_.at({expr.arg(0).get(), around}) == kBoth);
    Expr result = expr;
    if (paired) {
      result = expr->arena->raw(expr.is(Op::Sin) ? Op::PairedSin : Op::PairedCos, std::move(args),
                                expr->span);
    } else if (!std::ranges::equal(args, expr.args())) {
      result = inside ? expr->arena->canonical(Op::Stencil, args, expr->span, expr->index)
                      : expr->arena->raw(expr.op(), std::move(args), expr->span);
    }
    done_.emplace(Key{expr.get(), around}, result);
    return result;
  }

  static constexpr int kBoth = 3;
  AtHand at_hand_;
  bool all_ = false, any_ = false;
  std::map<std::pair<int, int>, int> around_;
  std::set<Key> seen_;
  std::map<Key, int> wanted_;  ///< of an angle: 1 its sine, 2 its cosine
  std::map<Key, Expr> done_;
};

// ---- table indices ------------------------------------------------------------------------------

class TableIndices : public SiteRewriting {
 public:
  using SiteRewriting::SiteRewriting;

 private:
  /// The bound and the other argument of a minimum or maximum of two.
  struct Bounded {
    Expr bound, of;
  };

  Expr made(Expr expr) override {
    const auto above = bounded(expr, Op::Min);
    const auto below = above ? bounded(above->of, Op::Max) : std::nullopt;
    if (!below || !below->of.is(Op::Floor)) return {};
    if (below->bound->number.real > above->bound->number.real) return {};
    return expr->arena->raw(Op::TableIndex, {visit(below->of.arg(0)), below->bound, above->bound},
                            expr->span);
  }

  static std::optional<Bounded> bounded(Expr expr, Op op) {
    if (!expr.is(op) || expr.args().size() != 2) return {};
    for (int i = 0; i < 2; ++i)
      if (is_whole(expr.arg(i))) return Bounded{expr.arg(i), expr.arg(1 - i)};
    return {};
  }
  /// A whole number that an f32 and an int hold.
  static bool is_whole(Expr expr) {
    constexpr std::int64_t kMost = 1 << 20;
    if (!expr.is_number() || !expr->number.exact || expr->number.rational.den != 1) return false;
    return expr->number.rational.num >= -kMost && expr->number.rational.num <= kMost;
  }
};

}  // namespace

SiteFunction minmods(SiteFunction function) {
  const Kernel& kernel = function.kernel;
  const bool wanted = function.walked() && kernel.fast && kernel.compute == Precision::F64;
  return wanted ? Minmods(function)(std::move(function)) : function;
}

SiteFunction paired_angles(SiteFunction function) {
  const Kernel& kernel = function.kernel;
  if (kernel.fast && kernel.compute == Precision::F32) return function;
  const bool all = kernel.pairs_all_angles && kernel.compute == Precision::F64;
  return PairedAngles(function, all)(std::move(function));
}

SiteFunction table_indices(SiteFunction function) {
  const bool wanted = function.walked() && function.kernel.fast &&
                      algebra::contains(function.values(), [](Expr e) { return e.is(Op::Lookup); });
  return wanted ? TableIndices(function)(std::move(function)) : function;
}

}  // namespace vphi::kernel
