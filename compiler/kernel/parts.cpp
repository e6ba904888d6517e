#include "compiler/kernel/parts.hpp"

#include <algorithm>
#include <unordered_map>

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
constexpr int kAgain = 16;         ///< of a number that is computed again
constexpr int kWorthANumber = 64;  ///< of a part, for each number that is handed on to it

class Computation {
 public:
  Computation(std::vector<Expr> operations, std::span<const Expr> roots,
              std::span<const Rounds> loops, Precision precision)
      : list_(std::move(operations)), precision_(precision) {
    put_in_order();
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

  bool is_handed_on(std::size_t i) const { return alone_[i] > kAgain && list_[i]->per_site; }

  void count_handed_on() {
    std::vector<int> change(list_.size() + 2, 0);
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (!is_handed_on(i) || last_use_[i] <= i) continue;
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
  std::vector<int> alone_;             ///< instructions that a number takes, kAgain + 1 at most
  std::vector<int> before_;            ///< instructions before an operation, loops counted once
  std::vector<int> handed_on_;         ///< numbers that a cut before an operation hands on
};

}  // namespace

std::vector<std::vector<Expr>> cuts_of(std::span<const Expr> roots, const IsLeaf& leaf,
                                       Precision precision) {
  const int most = precision == Precision::F32 ? kPartF32 : kPartF64;
  std::vector<Expr> operations = operations_of(roots, leaf);
  const int written_out = estimated_instructions(operations, precision);
  if (written_out <= kWhole) return {};
  const std::vector<Rounds> loops = long_rounds(roots, leaf, precision);
  const int all = written_out - instructions_saved(loops, precision);
  // in f64 a recovery in loops with the fluxes behind it spilled 844 bytes with 14000
  if (all <= (precision == Precision::F64 && !loops.empty() ? 3 * kPartF64 / 2 : kWhole)) return {};
  const Computation computation(std::move(operations), roots, loops, precision);
  const int parts = (all + most - 1) / most;
  std::vector<std::vector<Expr>> cuts;
  for (int part = 1; part < parts; ++part) {
    const int wish = static_cast<int>(static_cast<std::int64_t>(all) * part / parts);
    const int reach = all / parts / 5;
    const std::size_t place = computation.place(wish - reach, wish + reach);
    std::vector<Expr> cut = computation.handed_on(place);
    if (place == 0 || static_cast<int>(cut.size()) * kWorthANumber > all / parts) return {};
    cuts.push_back(std::move(cut));
  }
  return cuts;
}

}  // namespace vphi::kernel
