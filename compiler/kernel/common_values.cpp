#include "compiler/kernel/common_values.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/rebuild.hpp"

namespace vphi::kernel {
namespace {

using algebra::Op;

class Sharer {
 public:
  explicit Sharer(const Kernel& kernel)
      : kernel_(kernel), common_(kernel.common.begin(), kernel.common.end()) {}

  Shared make() {
    out_.own = kernel_;
    out_.own.common.clear();
    out_.own.still.clear();
    out_.own.random.step.clear();
    for (Store& store : out_.own.stores) store.value = separated(store.value, out_.site);
    for (Reduction& reduction : out_.own.reductions)
      reduction.value = separated(reduction.value, out_.site);
    known_.clear();  // the site's values are kept in its own precision
    out_.own.epilogue.clear();
    for (const ScalarAssign& assign : kernel_.epilogue) {
      if (common_.contains(assign.slot)) {
        out_.clock.push_back(assign);
        // values computed from the old one are not valid for the new one
        std::erase_if(known_, [&](const auto& known) {
          return algebra::depends_on(Expr(known.first), arena(assign).symbol(assign.slot));
        });
      } else {
        out_.own.epilogue.push_back({assign.slot, separated(assign.value, out_.epilogue)});
      }
    }
    used_slots();
    return std::move(out_);
  }

 private:
  static algebra::Arena& arena(const ScalarAssign& assign) { return *assign.value->arena; }

  bool common(Expr expr) {
    const auto found = memo_.find(expr.get());
    if (found != memo_.end()) return found->second;
    bool is = true;
    if (expr.is(Op::Symbol)) {
      is = common_.contains(expr->name);
    } else if (expr.args().empty()) {
      is = expr.is_number();
    } else {
      for (Expr arg : expr.args()) is = is && common(arg);
    }
    memo_.emplace(expr.get(), is);
    return is;
  }

  /// The expression with its largest common parts as values of the clock.
  Expr separated(Expr expr, std::vector<std::string>& list) {
    Rebuilder rebuild([&](Expr node) -> Expr {
      if (node.is_number()) return {};
      if (common(node)) return noted(node, list);
      if (!node.is(Op::Div) || node.arg(1).is_number() || !common(node.arg(1))) return {};
      // one quotient for all, a product for each
      algebra::Arena& arena = *node->arena;
      const Expr inverse = arena.raw(Op::Div, {arena.integer(1), node.arg(1)}, node->span);
      return arena.raw(Op::Mul, {separated(node.arg(0), list), noted(inverse, list)}, node->span);
    });
    return rebuild(expr);
  }

  /// The value as a symbol whose value the clock stores.
  Expr noted(Expr value, std::vector<std::string>& list) {
    const auto found = known_.find(value.get());
    if (found != known_.end()) return found->second;
    const std::string name = "shared_" + std::to_string(++count_);
    list.push_back(name);
    out_.clock.push_back({name, value});
    const Expr symbol = value->arena->symbol(name, value->span);
    known_.emplace(value.get(), symbol);
    return symbol;
  }

  void used_slots() {
    std::set<std::string> used;
    for (const ScalarAssign& assign : out_.clock) {
      if (common_.contains(assign.slot)) used.insert(assign.slot);
      algebra::visit(assign.value, [&](Expr node) {
        if (node.is(Op::Symbol) && common_.contains(node->name)) used.insert(node->name);
      });
    }
    used.insert(kernel_.still);
    if (!kernel_.random.step.empty()) used.insert(kernel_.random.step);
    used.erase("");
    out_.slots.assign(used.begin(), used.end());
  }

  const Kernel& kernel_;
  std::set<std::string> common_;
  Shared out_;
  int count_ = 0;
  std::unordered_map<const algebra::Node*, bool> memo_;
  std::unordered_map<const algebra::Node*, Expr> known_;
};

}  // namespace

Shared share(const Kernel& kernel) { return Sharer(kernel).make(); }

}  // namespace vphi::kernel
