#include "compiler/kernel/line.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"

namespace vphi::kernel {
namespace {

using algebra::Offset;
using algebra::Op;

constexpr int kConstant = -1;  ///< the same at all cells of a line

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
constexpr int kCheap = 4;

/// The most registers for held values. A thread of a GPU has 255, and needs some to compute.
constexpr int kRegisters = 150;

class Finder {
 public:
  explicit Finder(const Kernel& kernel) : kernel_(kernel), axis_(kernel.along) {}

  std::optional<Line> find() {
    if (axis_ < 0 || axis_ >= kernel_.dims) return {};
    find_still();
    find_odd();
    std::vector<Place> roots;
    for (const Store& store : kernel_.stores) roots.push_back(place(store.value));
    for (const Reduction& reduction : kernel_.reductions) roots.push_back(place(reduction.value));
    if (!fits_ || values_.empty()) return {};
    return walk(roots);
  }

 private:
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
    if (!node.is(Op::Select)) return {};
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
    if (value.is(Op::Select) && value.arg(2).is_zero() && value.arg(0).is(Op::Equal)) {
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
  /// collects them; ranks that share a row add the number of their first site to a coordinate.
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

  // ---- the walk --------------------------------------------------------------------------------

  bool is_leaf(const Value& value) const { return value.args.empty(); }

  /// When each value is made, from the last to the first.
  void set_ages() {
    for (Value& value : values_) {
      value.ages.clear();
      value.makes.clear();
    }
    for (const auto& [v, age] : wanted_) values_[static_cast<std::size_t>(v)].ages.insert(age);
    for (std::size_t v = values_.size(); v-- > 0;) {
      Value& value = values_[v];
      if (value.ages.empty() || value.sample.is(Op::Site)) continue;
      const bool light = is_leaf(value) || value.work <= kCheap;
      int previous = -1;
      for (const int age : value.ages) {
        if (previous < 0) {
          value.makes.push_back(light ? age : 0);
        } else if ((light && age - previous > 1) || value.recomputed_at.contains(age)) {
          value.makes.push_back(age);
        }
        previous = age;
      }
      for (const Argument& arg : value.args) {
        if (arg.place.value == kConstant) continue;
        Value& from = values_[static_cast<std::size_t>(arg.place.value)];
        for (const int make : value.makes) {
          from.ages.insert(value.lag - arg.place.shift - from.lag + make);
        }
      }
    }
  }

  /// Numbers that are held, operations of a step, and the oldest cell that it reads.
  struct Burden {
    int held = 0, work = 0, back = 0;
  };
  Burden burden() const {
    Burden sum;
    for (const Value& value : values_) {
      if (value.sample.is(Op::Site) || value.ages.empty()) continue;
      const algebra::OpInfo& row = algebra::info(value.sample.op());
      const int once = is_leaf(value) ? 1 : row.flops + 100 * row.special;
      sum.work += once * static_cast<int>(value.makes.size());
      if (is_leaf(value)) sum.back = std::max(sum.back, value.makes.back());
      for (std::size_t m = 0; m < value.makes.size(); ++m) {
        sum.held += last_use(value, m) - value.makes[m];
      }
    }
    return sum;
  }
  /// The last age at which what was made at make `m` is read.
  static int last_use(const Value& value, std::size_t m) {
    const int end = m + 1 < value.makes.size() ? value.makes[m + 1] : 1 << 20;
    int last = value.makes[m];
    for (const int age : value.ages) {
      if (age >= value.makes[m] && age < end) last = age;
    }
    return last;
  }

  /// Where more values are held than fit the registers, some are computed again from others that
  /// are held anyway, at one operation each at most.
  void relieve() {
    // choices by the number of a cell hold a value of each read twice: what the search would find
    // is not worth its minutes
    const auto chooses = [&](const Value& value) {
      return value.sample.is(Op::Less) && std::ranges::any_of(value.sample.args(), [&](Expr arg) {
               std::int64_t shift = 0;
               return is_site(arg, &shift);
             });
    };
    if (std::ranges::any_of(values_, chooses)) return;
    const int words = kernel_.compute == Precision::F64 ? 2 : 1;
    for (Burden now = burden(); words * now.held > kRegisters;) {
      Value* best = nullptr;
      int best_age = 0;
      Burden least = now;
      for (Value& value : values_) {
        if (is_leaf(value)) continue;
        const std::set<int> ages = value.ages;
        for (const int age : ages) {
          if (age < 2 || !value.recomputed_at.insert(age).second) continue;
          set_ages();
          const Burden then = burden();
          const bool cheap = then.work - now.work <= now.held - then.held;
          if (then.held < least.held && cheap && then.back <= now.back) {
            best = &value, best_age = age, least = then;
          }
          value.recomputed_at.erase(age);
        }
      }
      if (best) best->recomputed_at.insert(best_age);
      set_ages();
      if (!best) return;
      now = least;
    }
  }

  Line walk(const std::vector<Place>& roots) {
    Line line;
    line.axis = axis_;
    line.odd = odd_;
    line.still = still_;
    for (const Reduction& reduction : kernel_.reductions) {
      line.only.push_back(reduction.kind == ReduceKind::Sum ? only_at(reduction.value)
                                                            : std::nullopt);
      line.two_terms.push_back(two_terms(reduction));
    }
    for (const Place& root : roots) {
      if (root.value == kConstant) continue;
      const Value& value = values_[static_cast<std::size_t>(root.value)];
      line.delay = std::max(line.delay, value.lag + root.shift);
      line.before = std::max(line.before, -(root.shift + value.least));
    }
    for (const Place& root : roots) {
      if (root.value == kConstant) continue;
      wanted_.emplace_back(root.value, line.delay - lag_of(root.value) - root.shift);
    }
    set_ages();
    relieve();
    line.step = kernel_;
    line.step.along = -1;
    std::size_t i = 0;
    const auto rooted = [&](Expr& value) {
      const Place root = roots[i];
      ++i;
      if (root.value != kConstant) {
        value = used(root.value, line.delay - lag_of(root.value) - root.shift);
      }
    };
    for (Store& store : line.step.stores) rooted(store.value);
    for (Reduction& reduction : line.step.reductions) rooted(reduction.value);
    for (std::size_t v = 0; v < values_.size(); ++v) hold(static_cast<int>(v), line);
    return line;
  }

  int lag_of(int v) const { return values_[static_cast<std::size_t>(v)].lag; }

  static std::string name_of(int v, int make, int held) {
    return make == 0 ? fmt::format("held_{}_{}", v, held)
                     : fmt::format("held_{}_{}_{}", v, make, held);
  }

  /// Value `v` as it was `age` steps after it could be made.
  Expr used(int v, int age) {
    const Value& value = values_[static_cast<std::size_t>(v)];
    algebra::Arena& arena = *value.sample->arena;
    if (value.sample.is(Op::Site)) {
      return age == 0 ? value.sample : arena.raw(Op::Sub, {value.sample, arena.integer(age)});
    }
    int make = value.makes.front();
    for (const int other : value.makes) make = other <= age ? other : make;
    return age == make ? made(v, make) : arena.symbol(name_of(v, make, age - make));
  }

  Expr made(int v, int make) {
    Expr& known = made_[{v, make}];
    if (known) return known;
    const Value& value = values_[static_cast<std::size_t>(v)];
    algebra::Arena& arena = *value.sample->arena;
    if (is_leaf(value)) {
      Offset offset;
      offset.d[axis_] = static_cast<std::int16_t>(-make);
      return known = arena.load(value.sample->index, offset);
    }
    std::vector<Expr> args;
    for (const Argument& arg : value.args) {
      args.push_back(arg.place.value == kConstant
                         ? arg.constant
                         : used(arg.place.value,
                                value.lag - arg.place.shift - lag_of(arg.place.value) + make));
    }
    const Expr node = value.sample;
    if (divides_exactly(node)) {
      known = arena.raw(Op::Mul, {arena.rational(1, *whole(args[1])), args[0]});
      return made_[{v, make}] = known;
    }
    known = node->index != 0 ? arena.canonical(node.op(), args, node->span, node->index)
                             : arena.raw(node.op(), std::move(args), node->span);
    return made_[{v, make}] = known;
  }

  /// Adds what later steps read of value `v`.
  void hold(int v, Line& line) {
    const Value& value = values_[static_cast<std::size_t>(v)];
    if (value.sample.is(Op::Site) || value.ages.empty()) return;
    for (std::size_t m = 0; m < value.makes.size(); ++m) {
      const int make = value.makes[m];
      if (is_leaf(value)) line.back = std::max(line.back, make);
      const int last = last_use(value, m);
      for (int age = make + 1; age <= last; ++age) {
        const Expr from = age == make + 1
                              ? made(v, make)
                              : value.sample->arena->symbol(name_of(v, make, age - make - 1));
        line.held.push_back(
            {name_of(v, make, age - make), from, value.lag + age - 1 - value.least});
      }
    }
  }

  Kernel kernel_;
  int axis_;
  std::string still_;
  bool fits_ = true;
  std::set<int> odd_;
  std::vector<Value> values_;  ///< each after its arguments
  std::map<std::vector<std::uintptr_t>, int> numbers_;
  std::unordered_map<const algebra::Node*, Place> places_;
  std::map<std::pair<int, int>, Expr> made_;
  std::vector<std::pair<int, int>> wanted_;  ///< by the stores and reductions: value and age
};

}  // namespace

std::vector<std::string> Line::names() const {
  std::vector<std::string> result;
  for (const Held& value : held) result.push_back(value.name);
  return result;
}

Line Line::warm(int steps) const {
  Line result = *this;
  result.step.name += "_warm";
  result.step.stores.clear();
  result.step.reductions.clear();
  result.step.epilogue.clear();
  std::erase_if(result.held, [&](const Held& value) { return value.ready >= steps; });
  return result;
}

std::optional<Line> line_of(const Kernel& kernel) {
  if (kernel.along < 0) return {};
  return Finder(kernel).find();
}

}  // namespace vphi::kernel
