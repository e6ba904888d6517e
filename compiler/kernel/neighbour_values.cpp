#include "compiler/kernel/neighbour_values.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/rounds.hpp"
#include "compiler/kernel/site_cost.hpp"

namespace vphi::kernel {
namespace {

using algebra::Offset;
using algebra::Op;

constexpr int kSameEverywhere = -1;  ///< the same at all sites
constexpr int kOfOwnSite = -2;       ///< belongs to its site: coordinates, random numbers

/// Of a value that is stored at all.
constexpr int kLeastOfAValue = 12;
/// Of the whole kernel's time that both may take.
constexpr double kMostTime = 0.95;
constexpr std::size_t kMostTerms = 64;  ///< of a sum that is compared in any order
/// Of the time with equal orders, that for which sums are added in another order.
constexpr double kMostTimeOfReordered = 0.8;
/// Values that are tried, fewer in a long computation.
constexpr std::size_t kMostCandidates = 48, kMostOperationsTried = 150000;

struct ValueAt {
  int value = kSameEverywhere;
  Offset shift;
  /// Axes along which the value is that of another one at the same coordinate alone.
  std::array<bool, 4> fixed{};
};

Offset offset_sum(Offset a, Offset b, int sign = 1) {
  for (std::size_t i = 0; i < 4; ++i) a.d[i] = static_cast<std::int16_t>(a.d[i] + sign * b.d[i]);
  return a;
}

bool precedes(const Offset& a, const Offset& b) {
  return std::lexicographical_compare(std::begin(a.d), std::end(a.d), std::begin(b.d),
                                      std::end(b.d));
}

bool is_taken_as_read(const algebra::Node& node) {
  return node.op == Op::Load || node.op == Op::Site || node.op == Op::Stencil || !node.per_site ||
         node.op == Op::Normal || node.op == Op::Uniform || node.op == Op::Noise;
}

int bytes_in(Precision precision) { return precision == Precision::F32 ? 4 : 8; }

class ValuesOfNeighbours {
 public:
  /// `reordered`: sums and products of the same terms are equal in whatever order these stand.
  ValuesOfNeighbours(const Kernel& kernel, bool reordered)
      : kernel_(kernel), reordered_(reordered), roots_(kernel.values()) {}

  NeighbourValues find() {
    NeighbourValues result;
    result.before = result.after = time_of({});
    // what takes the time of its bytes does not take less with more of them
    if (result.before > instructions(roots_)) return result;
    number_all();
    if (least_instructions() > kMostTime * result.before) return result;
    std::vector<int> chosen;
    std::vector<int> open = candidates();
    while (!open.empty()) {  // the one that saves most, with those before
      int best = -1, least = result.after;
      for (const int value : open) {
        std::vector<int> with = chosen;
        with.push_back(value);
        const int time = time_of(with);
        if (time < least) least = time, best = value;
      }
      if (best < 0) break;
      chosen.push_back(best);
      std::erase(open, best);
      result.after = least;
      drop_unused(chosen);
    }
    if (result.after > kMostTime * result.before)
      return {.stored = {}, .before = result.before, .after = result.before};
    result.stored = uses_of(chosen);
    return result;
  }

 private:
  struct Value {
    Expr sample;
    Offset shift;     ///< of the sample
    double work = 0;  ///< instructions from the reads on, shared ones counted every time
    std::vector<Offset> shifts;
    Expr stored;  ///< where it is stored
    Offset at;    ///< its shift there
  };

  // ---- which values are equal ------------------------------------------------------------------

  /// Whether values at other coordinates of this axis can be equal: beyond the ends lie images of
  /// sites. The image of a value is the value of the image where it belongs to one coordinate.
  bool has_images(std::size_t axis) const {
    using physics::Boundary;
    const Boundary boundary = kernel_.boundary[axis];
    return static_cast<int>(axis) < kernel_.dims &&
           (boundary == Boundary::Periodic || boundary == Boundary::Neumann ||
            boundary == Boundary::Outflow);
  }

  ValueAt placed(Expr node) {
    if (!node->per_site) return {};
    if (node.is(Op::Site) || node.is(Op::Normal) || node.is(Op::Uniform) || node.is(Op::Noise) ||
        node.is(Op::PairSum))
      return {.value = kOfOwnSite, .shift = {}};
    const bool sum = reordered_ && is_sum(node.op());
    std::vector<std::int64_t> key{static_cast<std::int64_t>(sum ? Op::Add : node.op()),
                                  node->index};
    if (node.is(Op::Load) || node.is(Op::Stencil)) return read_at(node, std::move(key));
    std::vector<Argument> args;
    arguments(node, node, false, args);
    std::vector<ValueAt> at;
    for (const Argument& arg : args) at.push_back(places_.at(arg.value.get()));
    std::optional<ValueAt> all;
    for (const ValueAt& arg : at) {
      if (arg.value == kOfOwnSite) return arg;
      if (arg.value == kSameEverywhere) continue;
      if (!all) {
        all = arg;
        continue;
      }
      for (std::size_t axis = 0; axis < 4; ++axis) {
        const bool differ = all->shift.d[axis] != arg.shift.d[axis];
        all->fixed[axis] = all->fixed[axis] || arg.fixed[axis] ||
                           (differ && kernel_.boundary[axis] != physics::Boundary::Periodic);
        all->shift.d[axis] = std::min(all->shift.d[axis], arg.shift.d[axis]);
      }
    }
    if (!all) return {};
    for (std::size_t axis = 0; axis < 4; ++axis)
      if (all->fixed[axis]) all->shift.d[axis] = 0;
    std::vector<std::array<std::int64_t, 7>> parts;
    for (std::size_t i = 0; i < args.size(); ++i) {
      const std::int64_t minus = args[i].minus ? 1 : 0;
      if (at[i].value == kSameEverywhere) {
        parts.push_back({kSameEverywhere, args[i].value->id, 0, 0, 0, 0, minus});
        continue;
      }
      const Offset d = offset_sum(at[i].shift, all->shift, -1);
      parts.push_back({at[i].value, 0, d.d[0], d.d[1], d.d[2], d.d[3], minus});
    }
    if (any_order(node.op()) || (parts.size() == 2 && commutes(node.op())))
      std::ranges::sort(parts);
    for (const auto& part : parts) key.insert(key.end(), part.begin(), part.end());
    return numbered(std::move(key), node, *all);
  }

  /// Of an array, or of a stencil's sum around the site.
  ValueAt read_at(Expr node, std::vector<std::int64_t> key) {
    const Expr load = node.is(Op::Load) ? node : node.arg(0);
    if (!load.is(Op::Load)) return {.value = kOfOwnSite, .shift = {}};
    key.push_back(load->index);
    ValueAt at{.value = 0, .shift = load->offset};
    for (std::size_t axis = 0; axis < 4; ++axis) {
      at.fixed[axis] = !has_images(axis) || (node.is(Op::Stencil) &&
                                             kernel_.boundary[axis] != physics::Boundary::Periodic);
      key.push_back(at.fixed[axis] ? at.shift.d[axis] : 0);
      if (at.fixed[axis]) at.shift.d[axis] = 0;
    }
    return numbered(std::move(key), node, at);
  }

  struct Argument {
    Expr value;
    bool minus;  ///< of a sum: what is taken away
  };

  /// Those of a tree of minima or of maxima are the arguments of one, in any order; of short sums
  /// and products too, where these may be reordered.
  void arguments(Expr root, Expr node, bool minus, std::vector<Argument>& list) const {
    const bool in_sum = reordered_ && is_sum(root.op());
    for (std::size_t i = 0; i < node.args().size(); ++i) {
      const Expr arg = node.arg(i);
      const bool taken = in_sum && (node.is(Op::Neg) || (node.is(Op::Sub) && i == 1));
      const bool same = arg.op() == root.op() || (in_sum && is_sum(arg.op()));
      if (any_order(root.op()) && same && list.size() < kMostTerms)
        arguments(root, arg, minus != taken, list);
      else
        list.push_back({arg, minus != taken});
    }
  }

  bool any_order(Op op) const {
    return op == Op::Min || op == Op::Max || (reordered_ && (is_sum(op) || op == Op::Mul));
  }
  static bool is_sum(Op op) { return op == Op::Add || op == Op::Sub || op == Op::Neg; }
  /// Of two numbers. The sum of three depends on the order.
  static bool commutes(Op op) { return op == Op::Add || op == Op::Mul || op == Op::Equal; }

  ValueAt numbered(std::vector<std::int64_t> key, Expr node, ValueAt at) {
    for (const bool fixed : at.fixed) key.push_back(fixed);
    const auto [found, fresh] =
        numbers_.try_emplace(std::move(key), static_cast<int>(values_.size()));
    if (fresh)
      values_.push_back(
          {.sample = node, .shift = at.shift, .work = 0, .shifts = {}, .stored = {}, .at = {}});
    at.value = found->second;
    return at;
  }

  // ---- which are worth an array ----------------------------------------------------------------

  int own_instructions(Expr node) const {
    return estimated_instructions(std::span(&node, 1), kernel_.compute);
  }

  int instructions(std::span<const Expr> roots) const {
    return estimated_instructions(operations_of(roots, is_taken_as_read), kernel_.compute);
  }

  void number_all() {
    algebra::visit(roots_, [&](Expr, Expr node) {
      const ValueAt at = placed(node);
      places_.emplace(node.get(), at);
      if (at.value < 0) return;
      Value& value = values_[static_cast<std::size_t>(at.value)];
      if (std::ranges::find(value.shifts, at.shift) == value.shifts.end())
        value.shifts.push_back(at.shift);
      if (value.sample != node || is_taken_as_read(*node)) return;
      value.work = own_instructions(node);
      for (Expr arg : node.args())
        if (const int number = places_.at(arg.get()).value; number >= 0)
          value.work += values_[static_cast<std::size_t>(number)].work;
    });
  }

  /// Where every value is computed once.
  int least_instructions() const {
    int sum = 0;
    for (const Value& value : values_)
      if (!is_taken_as_read(*value.sample)) sum += own_instructions(value.sample);
    return sum;
  }

  /// Values at several sites with enough work, those first that take most.
  std::vector<int> candidates() {
    std::vector<std::pair<double, int>> found;  // minus what is saved at most
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Value& value = values_[i];
      if (value.shifts.size() < 2 || is_taken_as_read(*value.sample) ||
          algebra::is_condition(value.sample.op()) || value.sample.is(Op::TableIndex) ||
          value.work < kLeastOfAValue)
        continue;
      found.emplace_back(-value.work * static_cast<double>(value.shifts.size() - 1),
                         static_cast<int>(i));
    }
    std::ranges::sort(found);
    const std::size_t most =
        std::clamp<std::size_t>(kMostOperationsTried / places_.size(), 2, kMostCandidates);
    if (found.size() > 4 * most) found.resize(4 * most);
    for (auto& [saved, number] : found) {
      Value& value = values_[static_cast<std::size_t>(number)];
      saved = -1.0 * instructions(std::span(&value.sample, 1)) *
              static_cast<double>(value.shifts.size() - 1);
    }
    std::ranges::sort(found);
    if (found.size() > most) found.resize(most);
    for (const auto& [saved, number] : found) place(values_[static_cast<std::size_t>(number)]);
    std::vector<int> result;
    for (const auto& [work, value] : found) result.push_back(value);
    return result;
  }

  /// Stores it in the middle of the sites at which it is used.
  static void place(Value& value) {
    for (std::size_t axis = 0; axis < 4; ++axis) {
      int low = value.shifts.front().d[axis], high = low;
      for (const Offset& shift : value.shifts) {
        low = std::min<int>(low, shift.d[axis]);
        high = std::max<int>(high, shift.d[axis]);
      }
      value.at.d[axis] = static_cast<std::int16_t>(low + (high - low) / 2);
    }
    value.stored = algebra::shift(value.sample, offset_sum(value.at, value.shift, -1));
  }

  /// The operations and arrays that remain where the chosen values are read.
  struct Rest {
    std::vector<Expr> operations;
    std::set<int> arrays;
    std::map<int, std::vector<Expr>> uses;
  };

  Rest rest_of(std::span<const int> chosen) const {
    Rest rest;
    std::unordered_set<const algebra::Node*> seen;
    std::vector<Expr> open(roots_.begin(), roots_.end());
    while (!open.empty()) {
      const Expr node = open.back();
      open.pop_back();
      if (!node->per_site || !seen.insert(node.get()).second) continue;
      const int value = chosen.empty() ? kOfOwnSite : places_.at(node.get()).value;
      if (value >= 0 && std::ranges::find(chosen, value) != chosen.end()) {
        rest.uses[value].push_back(node);
        continue;
      }
      if (is_taken_as_read(*node)) {
        read(node, rest.arrays);
        continue;
      }
      rest.operations.push_back(node);
      for (Expr arg : node.args()) open.push_back(arg);
    }
    return rest;
  }

  static void read(Expr leaf, std::set<int>& arrays) {
    if (leaf.is(Op::Load)) arrays.insert(leaf->index);
    if (leaf.is(Op::Stencil) && leaf.arg(0).is(Op::Load)) arrays.insert(leaf.arg(0)->index);
  }

  int bytes_of(const std::set<int>& arrays) const {
    int bytes = 0;
    for (const int number : arrays)
      if (const ArrayParam* array = kernel_.find(number)) bytes += bytes_in(array->store);
    return bytes;
  }

  int time(int instructions, int bytes) const {
    return time_of_site(instructions, bytes, kernel_.compute);
  }

  int time_of(std::span<const int> chosen) const {
    const Rest rest = rest_of(chosen);
    int stores = 0;
    for (const Store& store : kernel_.stores) stores += bytes_of({store.array});
    const int numbers = static_cast<int>(rest.uses.size()) * bytes_in(kernel_.compute);
    int result = time(estimated_instructions(rest.operations, kernel_.compute),
                      bytes_of(rest.arrays) + stores + numbers);
    if (chosen.empty()) return result;
    std::vector<Expr> made;
    for (const auto& [value, uses] : rest.uses)
      made.push_back(values_[static_cast<std::size_t>(value)].stored);
    std::set<int> arrays;
    for (Expr leaf : algebra::reads(made)) read(leaf, arrays);
    return result + time(instructions(made), bytes_of(arrays) + numbers);
  }

  /// Values that lie within others of the choice alone.
  void drop_unused(std::vector<int>& chosen) const {
    const Rest rest = rest_of(chosen);
    std::erase_if(chosen, [&](int value) { return !rest.uses.contains(value); });
  }

  std::vector<NeighbourValue> uses_of(const std::vector<int>& chosen) const {
    std::vector<NeighbourValue> result;
    for (const auto& [number, nodes] : rest_of(chosen).uses) {
      const Value& value = values_[static_cast<std::size_t>(number)];
      NeighbourValue& stored = result.emplace_back();
      stored.value = value.stored;
      for (Expr node : nodes)
        stored.uses.emplace_back(node, offset_sum(places_.at(node.get()).shift, value.at, -1));
      std::ranges::sort(stored.uses, [](const auto& a, const auto& b) {
        return precedes(a.second, b.second) || (a.second == b.second && a.first->id < b.first->id);
      });
    }
    return result;
  }

  const Kernel& kernel_;
  bool reordered_;
  std::vector<Expr> roots_;
  std::unordered_map<const algebra::Node*, ValueAt> places_;
  std::map<std::vector<std::int64_t>, int> numbers_;
  std::vector<Value> values_;
};

}  // namespace

NeighbourValues neighbour_values(const Kernel& kernel) {
  NeighbourValues as_written = ValuesOfNeighbours(kernel, false).find();
  NeighbourValues reordered = ValuesOfNeighbours(kernel, true).find();
  const bool worth = reordered.after <= kMostTimeOfReordered * as_written.after;
  return worth ? std::move(reordered) : std::move(as_written);
}

}  // namespace vphi::kernel
