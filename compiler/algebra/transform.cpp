#include "compiler/algebra/transform.hpp"
#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/rewriting.hpp"

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>

namespace vphi::algebra {
namespace {

/// Marks of nodes by their numbers. A mark counts where it has the number of the present use, so
/// that no use has to clear those of the uses before.
struct Marks {
  std::vector<std::uint32_t> use_of_node;
  std::uint32_t use = 0;
};

/// Marks that no visit of this thread uses now: a visit may be made within another one.
std::vector<std::unique_ptr<Marks>>& free_marks() {
  thread_local std::vector<std::unique_ptr<Marks>> free;
  return free;
}

/// The set of nodes met so far. Nodes of one arena are marked at their numbers: with buckets, or
/// places that are searched for, most of the time of a search was spent in them.
class Seen {
 public:
  Seen() {
    auto& free = free_marks();
    if (free.empty()) {
      marks_ = std::make_unique<Marks>();
    } else {
      marks_ = std::move(free.back());
      free.pop_back();
    }
    if (++marks_->use == 0) {  // all numbers of uses were given
      std::ranges::fill(marks_->use_of_node, 0);
      marks_->use = 1;
    }
  }
  ~Seen() { free_marks().push_back(std::move(marks_)); }
  Seen(const Seen&) = delete;
  Seen& operator=(const Seen&) = delete;

  /// False where the node was met before.
  bool insert(const Node* node) {
    if (arena_ == nullptr) arena_ = node->arena;
    if (node->arena != arena_) return of_other_arenas_.insert(node).second;
    auto& uses = marks_->use_of_node;
    if (node->id >= uses.size()) uses.resize(std::max(arena_->size(), 2 * uses.size()));
    std::uint32_t& use = uses[node->id];
    return std::exchange(use, marks_->use) != marks_->use;
  }

 private:
  std::unique_ptr<Marks> marks_;
  const Arena* arena_ = nullptr;  ///< of the first node
  std::unordered_set<const Node*> of_other_arenas_;
};

/// Appends the distinct nodes below `expr` that are not in `seen`, children first; `into` says
/// whether to look below a node.
template <class Into>
void children_first(Expr expr, Seen& seen, std::vector<Expr>& result, const Into& into) {
  // A stack of our own: sums of a thousand terms nest as deep as they are long.
  struct Visit {
    Expr expr;
    bool opened = false;
  };
  std::vector<Visit> stack{{expr}};
  while (!stack.empty()) {
    const Visit top = stack.back();
    if (top.opened) {
      stack.pop_back();
      result.push_back(top.expr);
      continue;
    }
    if (!seen.insert(top.expr.get())) {
      stack.pop_back();
      continue;
    }
    stack.back().opened = true;
    if (!into(top.expr)) continue;
    const auto& args = top.expr.args();
    for (std::size_t i = args.size(); i-- > 0;) stack.push_back({args[i]});
  }
}

template <class Into>
std::vector<Expr> children_first(Expr expr, const Into& into) {
  std::vector<Expr> result;
  Seen seen;
  children_first(expr, seen, result, into);
  return result;
}

bool everywhere(Expr) { return true; }

/// Calls `ends` for the distinct nodes below `exprs` in any order until it is true for one, and
/// returns whether it was; `into` says whether to look below a node.
template <class Into, class Ends>
bool any_below(std::span<const Expr> exprs, const Into& into, const Ends& ends) {
  Seen seen;
  std::vector<Expr> stack(exprs.begin(), exprs.end());
  while (!stack.empty()) {
    const Expr node = stack.back();
    stack.pop_back();
    if (!seen.insert(node.get())) continue;
    if (ends(node)) return true;
    if (!into(node)) continue;
    for (const Expr arg : node.args()) stack.push_back(arg);
  }
  return false;
}

std::vector<Expr> children_first(Expr expr) { return children_first(expr, everywhere); }

bool has_fixed_order(Expr e) { return e->fixed_order || is_ordered(e.op()); }

/// `node` with other arguments; the order of operations stays where it was fixed.
Expr rebuilt(Expr node, std::vector<Expr> args) {
  if (std::ranges::equal(args, node.args())) return node;
  Arena& arena = *node->arena;
  if (has_fixed_order(node)) return arena.raw(node.op(), std::move(args), node->span);
  if (node.is(Op::Stencil)) return arena.stencil(node->index, args[0], node->span);
  if (node.is(Op::PairSum)) return pair_sum(args[0], node->index != 0);
  return arena.make(node.op(), std::move(args), node->span);
}

}  // namespace

void visit(Expr expr, const std::function<void(Expr)>& see) {
  for (Expr node : children_first(expr)) see(node);
}

void visit(std::span<const Expr> roots, const std::function<void(Expr, Expr)>& see) {
  Seen seen;
  std::vector<Expr> nodes;
  for (Expr root : roots) {
    nodes.clear();
    children_first(root, seen, nodes, everywhere);
    for (Expr node : nodes) see(root, node);
  }
}

Expr rewrite(Expr expr, const std::function<Expr(Expr)>& change) {
  return rewrite(std::span(&expr, 1), change)[0];
}

std::vector<Expr> rewrite(std::span<const Expr> exprs, const std::function<Expr(Expr)>& change) {
  Seen seen;
  NodeMap done;
  std::vector<Expr> nodes, args, result;
  for (Expr expr : exprs) {
    nodes.clear();
    children_first(expr, seen, nodes, everywhere);
    for (Expr node : nodes) {
      args.clear();
      for (Expr arg : node.args()) args.push_back(done.find(arg));
      const bool same = std::ranges::equal(args, node.args());
      done.add(node, change(same ? node : rebuilt(node, args)));
    }
    result.push_back(done.find(expr));
  }
  return result;
}

std::vector<Expr> Rewriting::operator()(std::span<const Expr> exprs) {
  Seen seen;
  std::vector<Expr> nodes, result;
  const auto fresh = [&](Expr e) { return !done_.contains(e); };
  for (Expr expr : exprs) children_first(expr, seen, nodes, fresh);
  std::ranges::sort(nodes, {}, [](Expr e) { return e->id; });  // arguments are older than a node
  for (Expr node : nodes) {
    if (done_.contains(node)) continue;
    std::vector<Expr> args;
    args.reserve(node.args().size());
    for (Expr arg : node.args()) args.push_back(done_.find(arg));
    done_.add(node, change_(rebuilt(node, std::move(args))));
  }
  for (Expr expr : exprs) result.push_back(done_.find(expr));
  return result;
}

Expr Rewriting::known(Expr node) const { return done_.find(node); }

void rewrite_in_step(std::span<Rewriting* const> rewritings,
                     std::span<const std::vector<Expr>> lists) {
  std::vector<std::vector<Expr>> nodes(lists.size());
  std::unordered_map<const Node*, std::size_t> owners;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    Seen seen;
    for (Expr expr : lists[i]) children_first(expr, seen, nodes[i], everywhere);
    std::ranges::sort(nodes[i], {}, [](Expr e) { return e->id; });
    for (Expr node : nodes[i]) ++owners[node.get()];
  }
  std::size_t most = 0;
  for (std::vector<Expr>& list : nodes) {
    std::erase_if(list, [&](Expr node) { return owners.at(node.get()) == lists.size(); });
    most = std::max(most, list.size());
  }
  for (std::size_t k = 0; k < most; ++k)
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (k < nodes[i].size()) (*rewritings[i])(std::span<const Expr>(&nodes[i][k], 1));
}

Expr substitute(Expr expr, const std::unordered_map<const Node*, Expr>& what) {
  Substitution result;
  for (const auto& [from, to] : what) result.add(Expr(from), to);
  return result(expr);
}

Expr substitute(Expr expr, Expr from, Expr to) { return substitute(expr, {{from.get(), to}}); }

Expr Substitution::operator()(Expr expr) {
  const auto fresh = [&](Expr e) { return !done_.contains(e.get()); };
  const std::vector<Expr> nodes = children_first(expr, fresh);
  const std::size_t most = done_.size() + nodes.size();
  if (most > done_.bucket_count()) done_.reserve(std::max(most, 2 * done_.bucket_count()));
  for (Expr node : nodes) {
    if (done_.contains(node.get())) continue;
    std::vector<Expr> args;
    args.reserve(node.args().size());
    for (Expr arg : node.args()) args.push_back(done_.at(arg.get()));
    done_.emplace(node.get(), rebuilt(node, std::move(args)));
  }
  return done_.at(expr.get());
}

bool contains(Expr expr, const std::function<bool(Expr)>& test) {
  return contains(std::span(&expr, 1), test);
}

bool contains(std::span<const Expr> exprs, const std::function<bool(Expr)>& test) {
  return any_below(exprs, everywhere, test);
}

bool depends_on(Expr expr, Expr leaf) {
  return contains(expr, [leaf](Expr e) { return e == leaf; });
}

std::vector<Expr> reads(Expr expr) { return reads(std::span(&expr, 1)); }

std::vector<Expr> reads(std::span<const Expr> exprs) {
  std::vector<Expr> result;
  const auto below = [](Expr e) { return !e.is(Op::Stencil) || !e.arg(0).is(Op::Load); };
  any_below(exprs, below, [&](Expr e) {
    if (e.is(Op::Load) || e.is(Op::Stencil)) result.push_back(e);
    return false;
  });
  std::ranges::sort(result, {}, [](Expr e) { return e->id; });
  return result;
}

bool per_site(Expr expr) { return expr->per_site; }

Expr shift(Expr expr, Offset offset) {
  if (offset.zero()) return expr;
  Arena& arena = *expr->arena;
  NodeMap done;
  for (Expr node : children_first(expr, [](Expr e) { return !reduces_sites(e.op()); })) {
    Expr moved = node;
    if (node.is(Op::Load)) {
      Offset o = node->offset;
      for (int i = 0; i < 4; ++i) o.d[i] = static_cast<std::int16_t>(o.d[i] + offset.d[i]);
      moved = arena.load(node->index, o, node->span);
    } else if (node.is(Op::Noise) || node.is(Op::Normal) || node.is(Op::Uniform)) {
      Offset o = node->offset;
      for (int i = 0; i < 4; ++i) o.d[i] = static_cast<std::int16_t>(o.d[i] + offset.d[i]);
      moved = arena.random(node.op(), node->index, o, node->span);
    } else if (node.is(Op::Site)) {
      moved = is_mark(offset) ? other(node) : node + arena.integer(offset.d[node->index]);
    } else if (node->per_site) {
      std::vector<Expr> args;
      for (Expr arg : node.args()) args.push_back(done.find(arg));
      moved = rebuilt(node, std::move(args));
    }
    done.add(node, moved);
  }
  return done.find(expr);
}

}  // namespace vphi::algebra
