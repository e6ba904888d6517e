#include "compiler/schedule/solver/columns.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/spinors/linear_map.hpp"
#include "compiler/schedule/live_values.hpp"
#include "compiler/schedule/schedule_errors.hpp"

namespace vphi::schedule {
namespace {

using algebra::Expr;
using algebra::Op;

/// More right sides than this share little more, and their sums fill a sweep.
constexpr int kMost = 4;

const physics::LinearMap& op_of(const physics::LinearSystem& solve) {
  return solve.even_odd ? solve.even_odd->op : solve.op;
}
const std::vector<int>& unknowns_of(const physics::LinearSystem& solve) {
  return solve.even_odd ? solve.even_odd->arrays : solve.arrays;
}

/// Whether the operator reads anything at sites besides its unknown.
bool shares_reads(const physics::LinearSystem& solve) {
  const physics::LinearMap& map = op_of(solve);
  const auto& unknowns = unknowns_of(solve);
  std::set<int> own(unknowns.begin(), unknowns.end());
  for (const physics::LinearMap::Stage& stage : map.stages)
    own.insert(stage.arrays.begin(), stage.arrays.end());
  for (const Expr value : physics::values_of(map))
    if (algebra::contains(
            value, [&](Expr node) { return node.is(Op::Load) && !own.contains(node->index); }))
      return true;
  return false;
}

/// What is asked for; 0: nothing.
int asked(const physics::LinearSystem& solve) {
  for (const auto& [name, number] : solve.options)
    if (name == "together") return static_cast<int>(number->number.real);
  return 0;
}

class Planner {
 public:
  Planner(const physics::System& system, const std::vector<std::set<std::size_t>>& launched,
          int registers, dsl::Diagnostics& diagnostics)
      : system_(system), launched_(launched), registers_(registers), diagnostics_(diagnostics) {}

  std::optional<ColumnPlan> plan(const std::vector<std::vector<std::size_t>>& in_step) {
    for (const std::vector<std::size_t>& systems : in_step) {
      if (system_.solves[systems.front()].like >= 0) {
        plan_.places[systems.front()] = {first_of(systems.front()), 1, 0, systems};
      } else if (!divide(systems, true)) {
        return std::nullopt;
      }
    }
    std::set<std::size_t> wanted;
    for (const auto& list : launched_) wanted.insert(list.begin(), list.end());
    // the columns of one matrix: one operator, wanted by the same lists
    std::map<std::pair<std::size_t, std::vector<bool>>, std::vector<std::size_t>> matrices;
    for (const std::size_t place : wanted)
      if (!plan_.places.contains(place))
        matrices[{first_of(place), wanted_by(place)}].push_back(place);
    for (const auto& [key, systems] : matrices)
      if (!divide(systems, false)) return std::nullopt;
    return std::move(plan_);
  }

 private:
  std::size_t first_of(std::size_t place) const {
    const int like = system_.solves[place].like;
    return like < 0 ? place : static_cast<std::size_t>(like);
  }
  std::vector<bool> wanted_by(std::size_t place) const {
    std::vector<bool> by;
    for (const auto& list : launched_) by.push_back(list.contains(place));
    return by;
  }

  /// Whether a right side reads solutions that are made after those of system `start` have begun.
  bool waits(std::size_t place, std::size_t start) const {
    const auto reads = [&](Expr node) {
      for (std::size_t i = start; i < system_.solves.size(); ++i) {
        const physics::LinearSystem& other = system_.solves[i];
        if (node.is(Op::Load) && std::ranges::count(other.arrays, node->index)) return true;
        if (node.is(Op::Symbol) && (node->name == other.iterations || node->name == other.residual))
          return true;
      }
      return false;
    };
    return std::ranges::any_of(system_.solves[place].source,
                               [&](Expr part) { return algebra::contains(part, reads); });
  }

  /// Divides the columns of a matrix among goes. `in_step`: those of a step, each of which has its
  /// operator in arrays of its own.
  bool divide(const std::vector<std::size_t>& systems, bool in_step) {
    const physics::LinearSystem& solve = system_.solves[first_of(systems.front())];
    const int count = static_cast<int>(systems.size());
    const bool independent = in_step || std::ranges::none_of(systems, [&](std::size_t place) {
                               return waits(place, systems.front());
                             });
    const int wish = asked(solve);
    if (wish > 1) {
      const std::string why =
          forbidden(wish, count, independent, in_step ? "a level" : "an output");
      if (!why.empty()) {
        diagnostics_.add(errors::not_in_one_go(solve.span, wish, why));
        return false;
      }
    }
    int together = 1;
    if (wish > 0) {
      together = wish;
    } else if (independent && shares_reads(solve)) {
      for (int k = 2; k <= std::min(kMost, count); ++k)
        if (count % k == 0 && fits(solve, k)) together = k;
    }
    for (std::size_t i = 0; i < systems.size(); ++i) {
      ColumnPlace& place = plan_.places[systems[i]];
      const std::size_t begin = i - i % static_cast<std::size_t>(together);
      place = {first_of(systems[in_step ? begin : 0]), together, products_of(solve, together), {}};
      if (i == begin)
        place.systems.assign(systems.begin() + static_cast<std::ptrdiff_t>(i),
                             systems.begin() + static_cast<std::ptrdiff_t>(i) + together);
    }
    if (count > 1 && shares_reads(solve)) explain(solve, together, count, independent, wish > 0);
    return true;
  }

  static std::string forbidden(int wish, int count, bool independent, const char* whose) {
    if (count % wish != 0)
      return fmt::format("{} has {} {} of this operator and solver", whose, count,
                         count == 1 ? "right side" : "right sides");
    if (!independent) return "a right side holds the solution of another one";
    return {};
  }

  /// How many numbers the operator holds at a time, and how many a thread can hold.
  int numbers(const physics::LinearSystem& solve, int columns) const {
    return live_numbers(op_of(solve), unknowns_of(solve), columns);
  }
  int most_numbers(const physics::LinearSystem& solve) const {
    const bool wide = solve.wide || system_.numerics.real == physics::Precision::F64;
    return numbers_that_fit(wide ? physics::Precision::F64 : physics::Precision::F32, registers_);
  }
  bool fits(const physics::LinearSystem& solve, int columns) const {
    return numbers(solve, columns) <= most_numbers(solve);
  }

  /// Products of the operator with earlier solutions that a sweep makes: all of them on a
  /// processor, which reads the links from its caches.
  int products_of(const physics::LinearSystem& solve, int together) {
    if (solve.past.empty() || registers_ == 0) return 0;
    int most = 1;
    while (most < kMost && fits(solve, most + 1)) ++most;
    most = std::max(most, together);
    say(fmt::format("products of `{}` with {} earlier solutions are made {} in a sweep", solve.name,
                    solve.past.size(), most));
    return most;
  }

  void say(std::string text) {
    if (std::ranges::count(plan_.remarks, text) == 0) plan_.remarks.push_back(std::move(text));
  }

  void explain(const physics::LinearSystem& solve, int together, int count, bool independent,
               bool wished) {
    std::string text =
        fmt::format("{} right sides of `{}` are solved {} at a time", count, solve.name, together);
    if (together > 1)
      text += fmt::format(", and a round reads what the operator holds once for {}",
                          together == 2 ? "both" : fmt::format("all {}", together));
    if (wished) {
      text += ", as `together` says";
    } else if (!independent) {
      text += ": a right side holds the solution of another one";
    } else if (registers_ == 0) {
      text += ": the registers of a processor do not hold what several would share";
    } else {
      text += fmt::format(
          ": a thread then holds about {} numbers at a time, and {} fit its "
          "registers",
          numbers(solve, together), most_numbers(solve));
      int next = 0;
      for (int k = together + 1; k <= std::min(kMost, count) && next == 0; ++k)
        if (count % k == 0) next = k;
      if (next > 0) text += fmt::format(", with {} it would be {}", next, numbers(solve, next));
    }
    say(std::move(text));
  }

  const physics::System& system_;
  const std::vector<std::set<std::size_t>>& launched_;
  const int registers_;  ///< of a thread; 0: a processor
  dsl::Diagnostics& diagnostics_;
  ColumnPlan plan_;
};

}  // namespace

int live_numbers(const physics::LinearMap& map, const std::vector<int>& unknowns, int columns) {
  std::set<int> own(unknowns.begin(), unknowns.end());
  int most = 0;
  for (const physics::LinearMap::Stage& stage : map.stages) {
    most = std::max(most, LiveValues(stage.values, own).most(columns));
    own.insert(stage.arrays.begin(), stage.arrays.end());
  }
  return std::max(most, LiveValues(map.image, own).most(columns));
}

std::optional<ColumnPlan> plan_columns(const physics::System& system,
                                       const std::vector<std::set<std::size_t>>& launched,
                                       const std::vector<std::vector<std::size_t>>& in_step,
                                       int registers, dsl::Diagnostics& diagnostics) {
  return Planner(system, launched, registers, diagnostics).plan(in_step);
}

}  // namespace vphi::schedule
