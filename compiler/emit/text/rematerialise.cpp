#include "compiler/emit/text/rematerialise.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace vphi::emit {

using algebra::Expr;
using algebra::Node;
using algebra::Op;

namespace {

constexpr int kCheap = 10;  // operations that are done again: two products of complex numbers

class Copying {
 public:
  Copying(const IsLeaf& read, const IsLeaf& leaf, std::size_t far)
      : read_(read), leaf_(leaf), far_(far) {}

  Rematerialised run(std::span<const Expr> order, std::span<const Expr> roots) {
    std::size_t place = 0;
    for (; place < order.size(); ++place)
      if (!is_rematerialised(order[place])) whole_[order[place].get()] = made(order[place], place);
    for (const Expr root : roots) result_.roots.push_back(value(root, place));
    return std::move(result_);
  }

 private:
  struct Last {
    Expr value;
    std::size_t place = 0;
    int copies = 0;
  };

  /// Operations on reads alone, or more than kCheap.
  int cost(Expr e) {
    if (e.is_number() || read_(*e)) return 0;
    if (leaf_(*e) || (e.op() != Op::Add && e.op() != Op::Mul && e.op() != Op::Sub &&
                      e.op() != Op::Neg && e.op() != Op::Fma))
      return kCheap + 1;
    const auto known = costs_.find(e.get());
    if (known != costs_.end()) return known->second;
    int sum = std::max(1, static_cast<int>(e.args().size()) - 1);
    for (const Expr arg : e.args()) sum = std::min(sum + cost(arg), kCheap + 1);
    return costs_[e.get()] = sum;
  }
  bool is_rematerialised(Expr e) { return read_(*e) || cost(e) <= kCheap; }

  Expr value(Expr e, std::size_t place) {
    if (e.is_number()) return e;
    if (const auto known = whole_.find(e.get()); known != whole_.end()) return known->second;
    if (!read_(*e) && leaf_(*e)) return e;
    if (!is_rematerialised(e)) return whole_[e.get()] = made(e, place);
    Last& last = last_[e.get()];
    const bool near = last.value && place - last.place <= far_;
    last.place = place;
    if (near) return last.value;
    if (!read_(*e)) {
      const Expr fresh = made(e, place);
      return last_[e.get()].value = fresh;
    }
    if (!last.value) return last.value = e;
    ++last.copies;
    const Expr copy =
        e->arena->symbol("again " + std::to_string(last.copies) + " " + std::to_string(e->id));
    result_.copies.push_back({copy, e, last.copies});
    return last.value = copy;
  }

  /// The operation on the values of its arguments as they are here.
  Expr made(Expr e, std::size_t place) {
    std::vector<Expr> args;
    for (const Expr arg : e.args()) args.push_back(value(arg, place));
    Expr result = e;
    if (!std::ranges::equal(args, e.args()))
      result = e->index != 0 ? e->arena->canonical(e.op(), args, e->span, e->index)
                             : e->arena->raw(e.op(), args, e->span);
    if (seen_.insert(result.get()).second) result_.order.push_back(result);
    return result;
  }

  const IsLeaf &read_, &leaf_;
  const std::size_t far_;
  Rematerialised result_;
  std::unordered_map<const Node*, int> costs_;
  std::unordered_map<const Node*, Expr> whole_;
  std::unordered_map<const Node*, Last> last_;
  std::unordered_set<const Node*> seen_;
};

}  // namespace

Rematerialised rematerialise(std::span<const Expr> order, std::span<const Expr> roots,
                             const IsLeaf& read, const IsLeaf& leaf, std::size_t far) {
  return Copying(read, leaf, far).run(order, roots);
}

}  // namespace vphi::emit
