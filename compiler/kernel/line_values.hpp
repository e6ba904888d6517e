// The values of a kernel whose sites read along one axis: one of each kind per cell.
//
// Two values are equal if they are the same operations on reads shifted by the same distance. A
// walk (line.cpp) and a tile (tile.cpp) are two ways to make them once a cell.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/line.hpp"

namespace vphi::kernel {

/// Finds the values of a kernel with Kernel::along set.
class LineValues {
 public:
  using Offset = algebra::Offset;
  using Op = algebra::Op;

  explicit LineValues(const Kernel& kernel) : kernel_(kernel), axis_(kernel.along) {}

 protected:
  static constexpr int kConstant = -1;  ///< the same at all cells of a line

  /// A value at a distance from the cell: its number and the distance.
  struct Place {
    int value = kConstant;
    int shift = 0;
  };

  struct Argument {
    Place place;
    Expr constant;  ///< where place.value is kConstant
  };

  /// A value that is computed once a cell.
  struct Value {
    Expr sample;  ///< one of the nodes that are this value
    std::vector<Argument> args;
    int lag = 0;
    int least = 0, most = 0;  ///< cells that it depends on, relative to its own
    int work = 0;             ///< operations from the reads on, shared ones counted every time
    /// Number of steps between the first possible computation and a read.
    std::set<int> ages;
    std::vector<int> makes;       ///< ages at which it is made; the others read what is held
    std::set<int> recomputed_at;  ///< ages at which it is made though it could be held
  };

  /// A value is computed twice rather than held over a gap of ages if it takes no more operations
  /// than this.
  static constexpr int kCheap = 4;

  /// Whether there is a line, and something to make in its cells.
  bool any() const { return fits_ && !values_.empty(); }

  /// The values of the stores and reductions. None, or fits_ is false, where there is no line.
  std::vector<Place> find_roots() {
    if (axis_ < 0 || axis_ >= kernel_.dims) return {};
    find_still();
    find_odd();
    std::vector<Place> roots;
    for (const Store& store : kernel_.stores) roots.push_back(place(store.value));
    for (const Reduction& reduction : kernel_.reductions) roots.push_back(place(reduction.value));
    return roots;
  }

  /// Finds the scalar s where every store is Select(s != 0, old value, new value).
  void find_still() {
    Expr test;
    for (const Store& store : kernel_.stores) {
      const Expr value = store.value;
      if (!value.is(Op::Select) || !value.arg(0).is(Op::Symbol)) return;
      const Expr old = value.arg(1);
      if (!old.is(Op::Load) || old->index != store.array || !old->offset.zero()) return;
      const ArrayParam* array = kernel_.find(store.array);
      if (!array || !array->next || (test && value.arg(0) != test)) return;
      test = value.arg(0);
    }
    if (!test) return;
    still_ = test->name;
    for (Store& store : kernel_.stores) store.value = store.value.arg(2);
  }

  // ---- values ----------------------------------------------------------------------------------

  /// Reads of an array with a change of sign beyond a wall come as
  /// Select(beyond, -u, u) with u at a distance.
  void find_odd() {
    algebra::visit(kernel_.values(), [&](Expr, Expr node) {
      if (const Expr load = mirrored(node)) odd_.insert(load->index);
    });
  }

  bool is_site(Expr node, std::int64_t* shift) const {
    *shift = 0;
    if (node.is(Op::Site)) return node->index == axis_;
    if (!node.is(Op::Add) || node.args().size() != 2) return false;
    for (int i = 0; i < 2; ++i) {
      const Expr site = node.arg(i), number = node.arg(1 - i);
      if (!site.is(Op::Site) || site->index != axis_ || !number.is_number()) continue;
      if (!number->number.exact || number->number.rational.den != 1) continue;
      *shift = number->number.rational.num;
      return true;
    }
    return false;
  }

  /// Whether a coordinate along the walk says how far the ends in memory are. On ranks that cut the
  /// axis it is the place in the whole lattice.
  bool knows_ends() const {
    if (!kernel_.planes) return true;
    const int axis = kernel_.planes->axis;
    return axis_ != axis && !(kernel_.planes->second && axis_ == axis - 1);
  }

  static std::optional<std::int64_t> whole(Expr node) {
    if (!node.is_number() || !node->number.exact || node->number.rational.den != 1) return {};
    return node->number.rational.num;
  }

  /// A power of two divides as exactly as its reciprocal multiplies.
  static bool divides_exactly(Expr node) {
    if (!node.is(Op::Div)) return false;
    const auto power = whole(node.arg(1));
    return power && *power > 0 && (*power & (*power - 1)) == 0;
  }

  /// The Load that changes its sign beyond the wall, where `node` says exactly that.
  Expr mirrored(Expr node) const {
    if (!node.is(Op::Select) || !knows_ends()) return {};
    const Expr test = node.arg(0), load = node.arg(2);
    if (!load.is(Op::Load) || !node.arg(1).is(Op::Neg) || node.arg(1).arg(0) != load) return {};
    if (!test.is(Op::Less)) return {};
    const std::int64_t distance = load->offset.d[axis_];
    const std::int64_t n = kernel_.extent[static_cast<std::size_t>(axis_)];
    std::int64_t shift = 0;
    if (distance < 0 && is_site(test.arg(0), &shift)) {
      const auto wall = whole(test.arg(1));
      return wall && *wall - shift == -distance ? load : Expr();
    }
    if (distance > 0 && is_site(test.arg(1), &shift)) {
      const auto wall = whole(test.arg(0));
      return wall && *wall - shift == n - 1 - distance ? load : Expr();
    }
    return {};
  }

  Place place(Expr node) {
    const auto found = places_.find(node.get());
    if (found != places_.end()) return found->second;
    const Place result = placed(node);
    places_.emplace(node.get(), result);
    return result;
  }

  Place placed(Expr node) {
    std::int64_t shift = 0;
    if (is_site(node, &shift)) return leaf(algebra_site(node), static_cast<int>(shift));
    if (const Expr load = mirrored(node)) return read(load);
    if (node.is(Op::Load)) {
      // one that does not change its sign where others of its array do
      if (odd_.contains(node->index) && !node->offset.zero()) fits_ = false;
      return read(node);
    }
    if (node.is(Op::Stencil) || node.is(Op::PairSum) || node.is(Op::Normal) ||
        node.is(Op::Uniform)) {
      fits_ = false;
      return {};
    }
    if (!node->per_site) return {};
    std::vector<Argument> args;
    int least = 0;
    bool any = false;
    for (Expr arg : node.args()) {
      const Place at = place(arg);
      args.push_back({at, at.value == kConstant ? arg : Expr()});
      if (at.value == kConstant) continue;
      least = any ? std::min(least, at.shift) : at.shift;
      any = true;
    }
    if (!any) return {};
    for (Argument& arg : args) {
      if (arg.place.value != kConstant) arg.place.shift -= least;
    }
    if (commutes(node.op())) std::ranges::sort(args, before);
    std::vector<std::uintptr_t> key{static_cast<std::uintptr_t>(node.op()),
                                    static_cast<std::uintptr_t>(node->index)};
    for (const Argument& arg : args) {
      key.push_back(reinterpret_cast<std::uintptr_t>(arg.constant.get()));
      key.push_back(static_cast<std::uintptr_t>(arg.place.value + 1));
      key.push_back(static_cast<std::uintptr_t>(arg.place.shift));
    }
    const auto [known, fresh] = numbers_.try_emplace(key, static_cast<int>(values_.size()));
    if (fresh) add(node, std::move(args));
    return {known->second, least};
  }

  /// Sums, products and extremes were put in order by the number of a node, which differs between
  /// cells: one order for all of them.
  static bool commutes(Op op) {
    return op == Op::Add || op == Op::Mul || op == Op::Min || op == Op::Max || op == Op::Equal;
  }
  static bool before(const Argument& a, const Argument& b) {
    const auto id = [](Expr constant) { return constant ? constant->id : 0; };
    return std::tuple(a.place.value, a.place.shift, id(a.constant)) <
           std::tuple(b.place.value, b.place.shift, id(b.constant));
  }

  Expr algebra_site(Expr node) const { return node->arena->site(axis_); }

  Place read(Expr load) {
    Offset across = load->offset;
    across.d[axis_] = 0;
    if (!across.zero()) fits_ = false;
    return leaf(load->arena->load(load->index), load->offset.d[axis_]);
  }

  Place leaf(Expr sample, int shift) {
    const std::vector<std::uintptr_t> key{reinterpret_cast<std::uintptr_t>(sample.get())};
    const auto [known, fresh] = numbers_.try_emplace(key, static_cast<int>(values_.size()));
    if (fresh) {
      Value value;
      value.sample = sample;
      values_.push_back(std::move(value));
    }
    return {known->second, shift};
  }

  void add(Expr node, std::vector<Argument> args) {
    Value value;
    value.sample = node;
    const algebra::OpInfo& row = algebra::info(node.op());
    value.work = divides_exactly(node) ? 1 : row.flops + 100 * row.special;
    bool any = false;
    for (const Argument& arg : args) {
      if (arg.place.value == kConstant) continue;
      const Value& from = values_[static_cast<std::size_t>(arg.place.value)];
      value.work = std::min(value.work + from.work, 1000);
      if (from.sample.is(Op::Site)) continue;
      const int shift = arg.place.shift;
      value.lag = any ? std::max(value.lag, from.lag + shift) : from.lag + shift;
      value.least = any ? std::min(value.least, from.least + shift) : from.least + shift;
      value.most = any ? std::max(value.most, from.most + shift) : from.most + shift;
      any = true;
    }
    value.args = std::move(args);
    values_.push_back(std::move(value));
  }

  /// Places along the axis where the value may differ from 0, if it says so.
  std::optional<std::set<std::int64_t>> only_at(Expr value) const {
    using Places = std::set<std::int64_t>;
    if (value.is_zero()) return Places{};
    if (value.is(Op::Select) && value.arg(2).is_zero() && value.arg(0).is(Op::Equal) &&
        knows_ends()) {
      for (int i = 0; i < 2; ++i) {
        std::int64_t shift = 0;
        if (!is_site(value.arg(0).arg(i), &shift)) continue;
        if (const auto at = whole(value.arg(0).arg(1 - i))) return Places{*at - shift};
      }
      return {};
    }
    const bool sum = value.is(Op::Add) || value.is(Op::Sub) || value.is(Op::Neg);
    const bool scaled = value.is(Op::Mul) && value.args().size() == 2 && value.arg(0).is_number();
    if (!sum && !scaled) return {};
    Places places;
    for (std::size_t i = scaled ? 1 : 0; i < value.args().size(); ++i) {
      const auto some = only_at(value.args()[i]);
      if (!some) return {};
      places.insert(some->begin(), some->end());
    }
    return places;
  }

  /// Whether the value is zero but where one of a few equations of a coordinate holds. `tests`
  /// collects them.
  static bool zero_but_at(Expr value, std::set<const algebra::Node*>& tests) {
    if (value.is_zero()) return true;
    if (value.is(Op::Select)) {
      const Expr test = value.arg(0);
      int sites = 0;
      algebra::visit(test, [&](Expr node) { sites += node.is(Op::Site) ? 1 : 0; });
      if (!test.is(Op::Equal) || sites != 1 || !value.arg(2).is_zero()) return false;
      tests.insert(test.get());
      return true;
    }
    const bool scaled = value.is(Op::Mul) && value.args().size() == 2 && value.arg(0).is_number();
    if (!scaled && !value.is(Op::Add) && !value.is(Op::Sub) && !value.is(Op::Neg)) return false;
    return std::ranges::all_of(value.args().subspan(scaled ? 1 : 0),
                               [&](Expr part) { return zero_but_at(part, tests); });
  }

  static bool two_terms(const Reduction& reduction) {
    std::set<const algebra::Node*> tests;
    return reduction.kind == ReduceKind::Sum && zero_but_at(reduction.value, tests) &&
           tests.size() <= 2;
  }

  bool is_leaf(const Value& value) const { return value.args.empty(); }

  /// A line without its step.
  Line empty_line() const {
    Line line;
    line.axis = axis_;
    line.odd = odd_;
    line.still = still_;
    for (const Reduction& reduction : kernel_.reductions) {
      line.only.push_back(reduction.kind == ReduceKind::Sum ? only_at(reduction.value)
                                                            : std::nullopt);
      line.two_terms.push_back(two_terms(reduction));
    }
    return line;
  }

  /// The operation of `node` on other arguments.
  Expr operation(Expr node, std::vector<Expr> args) const {
    algebra::Arena& arena = *node->arena;
    if (divides_exactly(node))
      return arena.raw(Op::Mul, {arena.rational(1, *whole(args[1])), args[0]});
    return node->index != 0 ? arena.canonical(node.op(), args, node->span, node->index)
                            : arena.raw(node.op(), std::move(args), node->span);
  }

  Kernel kernel_;
  int axis_;
  std::string still_;
  bool fits_ = true;
  std::set<int> odd_;
  std::vector<Value> values_;  ///< each after its arguments

 private:
  std::map<std::vector<std::uintptr_t>, int> numbers_;
  std::unordered_map<const algebra::Node*, Place> places_;
};

}  // namespace vphi::kernel
