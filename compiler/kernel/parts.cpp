#include "compiler/kernel/parts.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/kernel/rounds.hpp"

namespace vphi::kernel {
namespace {

using algebra::Node;
using IsLeaf = std::function<bool(const Node&)>;

/// Estimated instructions of a computation that stays whole, and of a part of a longer one. On an
/// H200 a heatbath with the staples of plaquettes and rectangles, 17200 estimated and 10800 real
/// ones in f32, took 0.53, 0.56 and 0.64 of its time in 2, 3 and 4 parts, in f64 0.74, 0.67 and
/// 0.67. The force of these loops, 13300 and 6200, took 1.6 of its time in 2 parts.
constexpr int kWhole = 15000, kPartF32 = 9000, kPartF64 = 6000;
/// Estimated instructions that are a part of their own before loops. On an H200 viscous flows in
/// f32 with 3400 to 11800 of them took 0.68 to 0.92 of the time of one kernel; in f64 1.01 with
/// 7100 and 9900, and 0.97 with 11900.
constexpr int kBeforeLoopsF32 = 3000, kBeforeLoopsF64 = 11000;
constexpr int kAgain = 16;         ///< of a number that is computed again
constexpr int kWorthANumber = 64;  ///< of a part, for each number that is handed on to it

class Computation {
 public:
  Computation(std::vector<Expr> operations, std::span<const Expr> roots,
              std::span<const Expr> stored, std::span<const Rounds> loops, Precision precision)
      : list_(std::move(operations)), precision_(precision) {
    put_in_order();
    if (!loops.empty()) put_loops_last(loops);
    for (std::size_t i = 0; i < list_.size(); ++i) at_.emplace(list_[i].get(), i);
    read_loops(loops);
    last_use_.assign(list_.size(), 0);
    alone_.assign(list_.size(), 0);
    before_.assign(list_.size() + 1, 0);
    for (std::size_t i = 0; i < list_.size(); ++i) {
      const int own = estimated_instructions(std::span(&list_[i], 1), precision_);
      before_[i + 1] = before_[i] + (in_loop_[i] == InLoop::Later ? 0 : own);
      alone_[i] = own;
      for (Expr arg : list_[i].args()) {
        const auto found = at_.find(arg.get());
        if (found == at_.end()) continue;
        last_use_[found->second] = i;
        alone_[i] = std::min(kAgain + 1, alone_[i] + alone_[found->second]);
      }
    }
    for (Expr root : roots)
      if (const auto found = at_.find(root.get()); found != at_.end())
        last_use_[found->second] = list_.size();
    has_place_.assign(list_.size(), false);
    for (Expr value : stored)
      if (const auto found = at_.find(value.get()); found != at_.end())
        has_place_[found->second] = true;
    count_handed_on();
  }

  /// The place with the fewest numbers to hand on that leaves from `least` to `most` instructions
  /// before it.
  std::size_t place(int least, int most) const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < list_.size(); ++i) {
      if (before_[i] < least || before_[i] > most || in_loop_[i] != InLoop::No) continue;
      if (best == 0 || handed_on_[i] < handed_on_[best]) best = i;
    }
    return best;
  }
  /// A place shortly before the first loop that has at least so many instructions before it, where
  /// a cut hands on few numbers; 0 where there is none.
  std::size_t before_loops(int least) const {
    const auto loop = std::ranges::find_if(in_loop_, [](InLoop i) { return i != InLoop::No; });
    const int before = before_[static_cast<std::size_t>(loop - in_loop_.begin())];
    if (loop == in_loop_.end() || before < least) return 0;
    std::size_t best = 0;
    for (std::size_t i = 1; i < list_.size() && in_loop_[i] == InLoop::No; ++i) {
      if (before_[i] < before - before / 3) continue;
      if (best == 0 || handed_on_[i] <= handed_on_[best]) best = i;
    }
    return best != 0 && handed_on_[best] * kWorthANumber <= before ? best : 0;
  }
  /// Instructions up to a place.
  int before(std::size_t place) const { return before_[place]; }
  /// Numbers that a cut hands on and that have no place in memory of their own.
  int moved(std::size_t place) const { return handed_on_[place]; }

  std::vector<Expr> handed_on(std::size_t place) const {
    std::vector<Expr> result;
    for (std::size_t i = 0; i < place; ++i)
      if (is_handed_on(i) && last_use_[i] >= place) result.push_back(list_[i]);
    return result;
  }

 private:
  /// Where an operation stands: a cut before one that is not outside of loops would part a loop.
  enum class InLoop { No, Yes, Later };  ///< Later: not in the text, since a loop repeats the first

  void read_loops(std::span<const Rounds> loops) {
    in_loop_.assign(list_.size(), InLoop::No);
    for (const Rounds& loop : loops) {
      std::size_t begin = list_.size(), end = 0;
      const auto reach = [&](Expr operation) {
        const std::size_t i = at_.at(operation.get());
        begin = std::min(begin, i);
        end = std::max(end, i);
        return i;
      };
      for (Expr operation : loop.body) reach(operation);
      for (Expr operation : loop.later) in_loop_[reach(operation)] = InLoop::Later;
      for (std::size_t i = begin + 1; i <= end; ++i)
        if (in_loop_[i] == InLoop::No) in_loop_[i] = InLoop::Yes;
    }
  }

  /// As they were written. What was written for an earlier computation, and is only a little of
  /// this one, comes where it is first used.
  void put_in_order() {
    std::ranges::sort(list_, {}, [](Expr expr) { return expr->id; });
    std::unordered_map<const Node*, std::uint32_t> first_use;
    std::vector<std::pair<std::uint32_t, Expr>> placed(list_.size());
    for (std::size_t end = list_.size(); end > 0;) {
      std::size_t begin = end - 1;
      while (begin > 0 && list_[begin]->id - list_[begin - 1]->id < kGap) --begin;
      const bool few = (end - begin) * kFew < list_.size();
      for (std::size_t i = end; i-- > begin;) {
        const Expr expr = list_[i];
        const auto found = first_use.find(expr.get());
        const std::uint32_t at = few && found != first_use.end() ? found->second : expr->id;
        placed[i] = {at, expr};
        for (Expr arg : expr.args()) {
          const auto [use, fresh] = first_use.try_emplace(arg.get(), at);
          use->second = std::min(use->second, at);
        }
      }
      end = begin;
    }
    std::ranges::stable_sort(placed, {}, &std::pair<std::uint32_t, Expr>::first);
    for (std::size_t i = 0; i < list_.size(); ++i) list_[i] = placed[i].second;
  }

  /// What needs no loop comes before all loops, in the order that it has.
  void put_loops_last(std::span<const Rounds> loops) {
    std::unordered_set<const Node*> needs_loop;
    for (const Rounds& loop : loops) {
      for (Expr operation : loop.body) needs_loop.insert(operation.get());
      for (Expr operation : loop.later) needs_loop.insert(operation.get());
    }
    for (Expr operation : list_)
      for (Expr arg : operation.args())
        if (needs_loop.contains(arg.get())) needs_loop.insert(operation.get());
    std::ranges::stable_partition(list_, [&](Expr e) { return !needs_loop.contains(e.get()); });
  }

  bool is_handed_on(std::size_t i) const { return alone_[i] > kAgain && list_[i]->per_site; }

  void count_handed_on() {
    std::vector<int> change(list_.size() + 2, 0);
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (!is_handed_on(i) || last_use_[i] <= i || has_place_[i]) continue;
      ++change[i + 1];
      --change[last_use_[i] + 1];
    }
    handed_on_.assign(list_.size() + 1, 0);
    for (std::size_t i = 1; i <= list_.size(); ++i) handed_on_[i] = handed_on_[i - 1] + change[i];
  }

  static constexpr std::uint32_t kGap = 512;  ///< nodes between two computations
  static constexpr std::size_t kFew = 8;      ///< a little: less than the whole over this

  std::vector<Expr> list_;
  Precision precision_;
  std::unordered_map<const Node*, std::size_t> at_;
  std::vector<InLoop> in_loop_;
  std::vector<std::size_t> last_use_;  ///< the number of operations: a root
  std::vector<bool> has_place_;        ///< is stored in any case
  std::vector<int> alone_;             ///< instructions that a number takes, kAgain + 1 at most
  std::vector<int> before_;            ///< instructions before an operation, loops counted once
  std::vector<int> handed_on_;         ///< numbers that a cut before an operation hands on
};

}  // namespace

namespace {

/// Adds the places that cut what is between two numbers of instructions into parts of `most`.
/// False where a cut would hand on too many numbers.
bool cut_evenly(const Computation& computation, int begin, int end, int most,
                std::vector<std::size_t>& places) {
  const int all = end - begin, parts = (all + most - 1) / most;
  for (int part = 1; part < parts; ++part) {
    const int wish = begin + static_cast<int>(static_cast<std::int64_t>(all) * part / parts);
    const int reach = all / parts / 5;
    const std::size_t place = computation.place(wish - reach, wish + reach);
    if (place == 0 || computation.moved(place) * kWorthANumber > all / parts) return false;
    places.push_back(place);
  }
  return true;
}

}  // namespace

std::vector<std::vector<Expr>> cuts_of(std::span<const Expr> roots, std::span<const Expr> stored,
                                       const IsLeaf& leaf, Precision precision) {
  const bool single = precision == Precision::F32;
  const int long_before = single ? kBeforeLoopsF32 : kBeforeLoopsF64;
  std::vector<Expr> operations = operations_of(roots, leaf);
  const int written_out = estimated_instructions(operations, precision);
  if (written_out <= std::min(long_before, kWhole)) return {};
  const std::vector<Rounds> loops = long_rounds(roots, leaf, precision);
  const int all = written_out - instructions_saved(loops, precision);
  // in f64 a recovery in loops with the fluxes behind it spilled 844 bytes with 14000
  const int whole = !single && !loops.empty() ? 3 * kPartF64 / 2 : kWhole;
  if (all <= std::min(long_before, whole) || (loops.empty() && all <= whole)) return {};
  const Computation computation(std::move(operations), roots, stored, loops, precision);
  const auto cut = [&](int begin, int end, std::vector<std::size_t>& places) {
    if (end - begin <= whole) return;
    std::vector<std::size_t> more;
    if (cut_evenly(computation, begin, end, single ? kPartF32 : kPartF64, more))
      places.insert(places.end(), more.begin(), more.end());
  };
  std::vector<std::size_t> places;
  if (const std::size_t apart = computation.before_loops(long_before); apart != 0) {
    cut(0, computation.before(apart), places);
    places.push_back(apart);
    cut(computation.before(apart), all, places);
  } else {
    cut(0, all, places);
  }
  std::vector<std::vector<Expr>> cuts;
  for (const std::size_t place : places) cuts.push_back(computation.handed_on(place));
  return cuts;
}

}  // namespace vphi::kernel
