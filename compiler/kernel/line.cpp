#include "compiler/kernel/line.hpp"

#include <map>

#include <fmt/format.h>

#include "compiler/kernel/line_values.hpp"

namespace vphi::kernel {
namespace {

/// The most registers for held values. A thread of a GPU has 255, and needs some to compute.
constexpr int kRegisters = 150;

class Walk : public LineValues {
 public:
  using LineValues::LineValues;

  std::optional<Line> find() {
    const std::vector<Place> roots = find_roots();
    if (!any()) return {};
    return walk(roots);
  }

 private:
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
    Line line = empty_line();
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
    return made_[{v, make}] = operation(value.sample, std::move(args));
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
  return Walk(kernel).find();
}

}  // namespace vphi::kernel
