// Passes that find what devices have functions of their own for.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_map>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/site_rewriting.hpp"

namespace vphi::kernel {
namespace {

using algebra::Node;
using algebra::Offset;
using algebra::Op;

// ---- minmods ------------------------------------------------------------------------------------

class Minmods : public SiteRewriting {
 public:
  using SiteRewriting::SiteRewriting;

 private:
  Expr made(Expr expr) override {
    if (is_pair(expr, Op::Add)) return of_sum(expr);
    return is_pair(expr, Op::Max) ? of_bounds(expr) : Expr();
  }

  /// max(0, min(a, b, c)) + min(0, max(a, b, c)), of two or three numbers.
  Expr of_sum(Expr sum) {
    for (int i = 0; i < 2; ++i) {
      const Expr lowest = beside_zero(sum.arg(i), Op::Max);
      const Expr highest = beside_zero(sum.arg(1 - i), Op::Min);
      if (!lowest || !highest) continue;
      const std::vector<Expr> of = among(lowest, Op::Min);
      if (of.size() < 2 || of.size() > 3 ||
          !std::ranges::is_permutation(of, among(highest, Op::Max)))
        continue;
      return sum->arena->raw(Op::Minmod, {visit(of[0]), visit(of[1]), visit(of.back())}, sum->span);
    }
    return {};
  }
  /// The numbers of which nested operations take the lowest or highest.
  static std::vector<Expr> among(Expr expr, Op op) {
    if (!expr.is(op)) return {expr};
    std::vector<Expr> all;
    for (const Expr arg : expr.args())
      for (const Expr number : among(arg, op)) all.push_back(number);
    return all;
  }

  /// max(min(0, max(b, c)), min(a, max(0, min(b, c)))).
  Expr of_bounds(Expr expr) {
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

/// Looks into stencils of expressions too: their terms are taken as they stand at the neighbours.
class PairedAngles {
 public:
  explicit PairedAngles(const SiteFunction& function) : at_hand_(function) {
    for (const Expr value : function.values()) find(value, {});
  }

  /// In the order in which they are met.
  std::vector<Expr> angles(bool all) const {
    if (all) return angles_;
    std::vector<Expr> paired;
    for (const Expr angle : angles_)
      if (wanted_.at(angle.get()) == kBoth) paired.push_back(angle);
    return paired;
  }

 private:
  void find(Expr expr, Offset at) {
    const bool inside = expr.is(Op::Stencil) && !expr.arg(0).is(Op::Load);
    if (at_hand_(expr) && !inside) return;
    if (!seen_.insert({expr.get(), {at.d[0], at.d[1], at.d[2], at.d[3]}}).second) return;
    if (expr.is(Op::Sin) || expr.is(Op::Cos)) {
      const Expr angle = algebra::shift(expr.arg(0), at);
      int& wanted = wanted_[angle.get()];
      if (wanted == 0) angles_.push_back(angle);
      wanted |= expr.is(Op::Sin) ? 1 : 2;
    }
    if (!inside) {
      for (const Expr arg : expr.args()) find(arg, at);
      return;
    }
    for (const Offset& offset : expr->arena->stencil_data(expr->index).offsets) {
      Offset there = at;
      for (int i = 0; i < 4; ++i) there.d[i] = static_cast<std::int16_t>(at.d[i] + offset.d[i]);
      find(expr.arg(0), there);
    }
  }

  static constexpr int kBoth = 3;
  AtHand at_hand_;
  std::set<std::pair<const Node*, std::array<std::int16_t, 4>>> seen_;
  std::vector<Expr> angles_;
  std::unordered_map<const Node*, int> wanted_;  ///< of an angle: 1 its sine, 2 its cosine
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
  const bool has_function = (function.walked() && kernel.fast) || kernel.written_out;
  const bool wanted = has_function && kernel.compute == Precision::F64;
  return wanted ? Minmods(function)(std::move(function)) : function;
}

SiteFunction paired_angles(SiteFunction function) {
  Kernel& kernel = function.kernel;
  kernel.paired_angles.clear();
  if (kernel.fast && kernel.compute == Precision::F32) return function;
  const bool all =
      kernel.pairs_all_angles && (kernel.compute == Precision::F64 || kernel.written_out);
  kernel.paired_angles = PairedAngles(function).angles(all);
  return function;
}

SiteFunction table_indices(SiteFunction function) {
  const bool wanted = function.walked() && function.kernel.fast &&
                      algebra::contains(function.values(), [](Expr e) { return e.is(Op::Lookup); });
  return wanted ? TableIndices(function)(std::move(function)) : function;
}

}  // namespace vphi::kernel
