#include "compiler/schedule/solver/solver.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>

#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/solver/column_sweeps.hpp"
#include "compiler/schedule/solver/solver_column.hpp"
#include "compiler/schedule/solver/solver_inner.hpp"
#include "compiler/schedule/solver/solver_kept.hpp"
#include "compiler/text/arithmetic.hpp"

namespace vphi::schedule {
namespace {

using algebra::Op;
using text::ArithmeticError;

/// The systems of one go, side by side.
class SolveLoopsBuilder {
 public:
  SolveLoopsBuilder(const physics::System& system, std::span<const physics::LinearSystem> solves,
                    const Stepping& stepping, Slots& slots, Storage& storage, int products = 0)
      : system_(system),
        stepping_(stepping),
        slots_(slots),
        storage_(storage),
        arena_(*system.arena),
        products_(products),
        name_(name_of(solves[0])),
        blocks_(system, stepping, name_, slots, storage) {
    for (std::size_t i = 0; i < solves.size(); ++i)
      columns_.emplace_back(system, solves[i], blocks_, solves.size() == 1);
  }

  /// `inner`: of each column the system that its text's inner(v, tol) solves.
  void around(std::span<const physics::LinearSystem> inner) {
    inner_ = true;
    for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].around(inner[i]);
  }
  void with_more_to_come() {
    for (SolveColumn& column : columns_) column.with_more_to_come();
  }

  SolveLoops make() {
    const text::Solver& text = columns_[0].text();
    SolveLoops result;
    each([](SolveColumn& column) { column.begin(); });
    make_products(result);
    each([](SolveColumn& column) { column.start_from_past(); });
    for (const text::Statement& line : text.before) {
      apply_in_step(*line.value, true);
      each([&](SolveColumn& column) { column.take(line); });
    }
    each([](SolveColumn& column) { column.end_start(); });
    for (const auto& [slot, value] : of_all()) blocks_.start.assign(slot, value);
    for (const auto& [slot, value] : of_all()) blocks_.start_wanted.slots.push_back(slot);

    SiteLoops start = solve_loops(blocks_.start, blocks_.start_wanted, name_ + "_start", true);
    append(result, std::move(start));
    run_iteration(text, result.iteration);
    go_on(result.restart);
    if (inner_) {
      result.rest =
          sequence_of(solve_loops(blocks_.rest, blocks_.rest_wanted, name_ + "_rest", true));
    }
    result.finish = finish();
    describe(result.described);
    return result;
  }

 private:
  template <class Work>
  void each(const Work& work) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      blocks_.for_column(static_cast<int>(i));
      work(columns_[i]);
    }
    blocks_.for_column(0);
  }

  static void append(SolveLoops& to, SiteLoops more) {
    std::ranges::move(more.alone, std::back_inserter(to.alone));
    LoopSequence loops = sequence_of(std::move(more));
    std::ranges::move(loops.sweeps, std::back_inserter(to.start.sweeps));
    std::ranges::move(loops.swaps, std::back_inserter(to.start.swaps));
  }

  /// Products of the operator with earlier solutions of all columns, some of them at a time.
  void make_products(SolveLoops& to) {
    std::vector<std::pair<std::size_t, std::size_t>> all;  // earlier solution, column
    for (std::size_t i = 0; i < columns_[0].solve().past.size(); ++i)
      for (std::size_t c = 0; c < columns_.size(); ++c) all.emplace_back(i, c);
    const std::size_t most = products_ > 0 ? static_cast<std::size_t>(products_) : all.size();
    std::vector<int> scratch;
    for (std::size_t first = 0; first < all.size(); first += most) {
      const std::size_t count = std::min(most, all.size() - first);
      Block block(system_, slots_, storage_);
      const State here = synchronised(block, stepping_);
      std::vector<const physics::LinearMap*> maps;
      std::vector<State> given;
      for (const auto& [solution, column] : std::span(all).subspan(first, count)) {
        SolveColumn::Application one = columns_[column].product_of_past(block, here, solution);
        maps.push_back(one.map);
        given.push_back(std::move(one.given));
      }
      const auto images = mapped_in_step(block, maps, std::move(given));
      Wanted wanted;
      wanted.scratch = &scratch;
      for (std::size_t i = 0; i < count; ++i) {
        block.for_column(static_cast<int>(i));
        columns_[all[first + i].second].keep_product(block, wanted, images[i]);
      }
      append(to,
             solve_loops(block, wanted, name_ + "_past" + std::to_string(first / most + 1), true));
    }
  }

  bool alone() const { return columns_.size() == 1; }
  std::string all_done() const { return alone() ? columns_[0].done() : name_ + "_all_done"; }
  std::string most_iterations() const {
    return alone() ? columns_[0].solve().iterations : name_ + "_most_iterations";
  }
  std::string worst_residual() const {
    return alone() ? columns_[0].solve().residual : name_ + "_worst_residual";
  }

  Expr largest(std::string physics::LinearSystem::*slot) const {
    Expr most;
    for (const SolveColumn& column : columns_) {
      const Expr one = arena_.symbol(column.solve().*slot);
      most = most ? arena_.make(Op::Max, {most, one}) : one;
    }
    return most;
  }

  /// Whether all columns are done, 2 where one broke down, and their most iterations; nothing of a
  /// system alone.
  std::vector<kernel::ScalarAssign> of_all() const {
    if (alone()) return {};
    Expr least, most;
    for (const SolveColumn& column : columns_) {
      const Expr done = arena_.symbol(column.done());
      least = least ? arena_.make(Op::Min, {least, done}) : done;
      most = most ? arena_.make(Op::Max, {most, done}) : done;
    }
    const Expr open = arena_.make(Op::Less, {least, arena_.rational(1, 2)});
    return {{all_done(), arena_.make(Op::Select, {open, arena_.integer(0), most})},
            {most_iterations(), largest(&physics::LinearSystem::iterations)}};
  }

  /// Makes the applications of the operator in a line for all columns together, the inner ones
  /// first.
  void apply_in_step(const dsl::Expr& e, bool starts) {
    if (alone()) return;
    for (const dsl::ExprPtr& arg : e.args) apply_in_step(*arg, starts);
    const std::string& op = columns_[0].text().op;
    if (e.kind != dsl::ExprKind::Call) return;
    const bool adjoint = e.text == "adj" && e.args.size() == 2 && e.args[0]->text == op;
    if (!adjoint && (e.text != op || e.args.size() != 1)) return;
    Block& block = starts ? blocks_.start : blocks_.iteration;
    std::vector<SolveColumn::Application> made;
    each([&](SolveColumn& column) { made.push_back(column.application(e, starts)); });
    std::vector<const physics::LinearMap*> maps;
    std::vector<State> given;
    for (SolveColumn::Application& one : made) {
      if (!one.map) return;  // of 0, in all columns
      maps.push_back(one.map);
      given.push_back(one.given);
    }
    const auto images = mapped_in_step(block, maps, std::move(given));
    std::size_t i = 0;
    each([&](SolveColumn& column) {
      column.applies(e, starts, made[i], images[i]);
      ++i;
    });
  }

  void run_iteration(const text::Solver& text, LoopSequence& chain) {
    for (std::size_t i = 0; i < text.iteration.size(); ++i) {
      const text::Statement& line = text.iteration[i];
      const bool last = std::none_of(
          text.iteration.begin() + static_cast<std::ptrdiff_t>(i) + 1, text.iteration.end(),
          [&](const text::Statement& later) { return later.name == line.name; });
      apply_in_step(*line.value, false);
      each([&](SolveColumn& column) { column.iterate(line, last); });
    }
    each([](SolveColumn& column) { column.end_round(); });
    SiteLoops made =
        narrower(solve_loops(blocks_.iteration, blocks_.iteration_wanted, name_, false),
                 columns_.size(), storage_);
    for (kernel::SiteLoop& sweep : made.sweeps)
      if (sweep.kernel.colours) sweep.kernel.still = all_done();
    std::vector<kernel::ScalarAssign> finish = std::move(blocks_.end_of_round);
    for (kernel::ScalarAssign& one : of_all()) finish.push_back(std::move(one));
    chain = sequence_of(std::move(made), std::move(finish));
  }

  /// The lines for the next right sides.
  void go_on(LoopSequence& chain) {
    if (!columns_[0].goes_on()) return;
    each([](SolveColumn& column) { column.go_on(); });
    Wanted& wanted = blocks_.restart_wanted;
    for (const auto& [slot, value] : of_all()) {
      blocks_.restart.assign(slot, value);
      wanted.slots.push_back(slot);
    }
    chain = sequence_of(solve_loops(blocks_.restart, wanted, name_ + "_again", false));
  }

  LoopSequence finish() {
    LoopSequence all;
    for (const SolveColumn& column : columns_) {
      LoopSequence one =
          sequence_of(residual_loops(system_, column.solve(), stepping_, column.right(),
                                     column.name() + "_residual", slots_, storage_));
      std::ranges::move(one.sweeps, std::back_inserter(all.sweeps));
      std::ranges::move(one.swaps, std::back_inserter(all.swaps));
      std::ranges::move(one.finish, std::back_inserter(all.finish));
    }
    if (alone()) return all;
    slots_.add(worst_residual());
    all.finish.push_back({worst_residual(), largest(&physics::LinearSystem::residual)});
    return all;
  }

  void describe(program::Solve& described) {
    const physics::LinearSystem& solve = columns_[0].solve();
    described.name = solve.name;
    described.solver = columns_[0].text().name;
    for (const auto& [name, number] : solve.options) {
      if (name == "max") described.max = std::llround(number->number.real);
    }
    described.max = std::max<std::int64_t>(1, described.max);
    described.done_slot = slots_.index(all_done());
    described.iterations_slot = slots_.index(most_iterations());
    described.residual_slot = slots_.index(worst_residual());
    if (const auto& found = solve.eigenvalue) {
      described.value_slot = slots_.index(found->scalar);
      described.low = found->low;
      described.high = found->high;
    }
  }

  const physics::System& system_;
  const Stepping& stepping_;
  Slots& slots_;
  Storage& storage_;
  algebra::Arena& arena_;
  const int products_;  ///< with earlier solutions, in one sweep; 0: all
  const std::string name_;
  SolveBlocks blocks_;
  std::deque<SolveColumn> columns_;
  bool inner_ = false;
};

}  // namespace

std::optional<SolveLoops> make_solve(const physics::System& system,
                                     std::span<const physics::LinearSystem> columns, int products,
                                     const Stepping& stepping, Slots& slots, Storage& storage,
                                     dsl::Diagnostics& diagnostics) {
  const physics::LinearSystem& solve = columns[0];
  try {
    if (!solve.refining)
      return SolveLoopsBuilder(system, columns, stepping, slots, storage, products).make();
    const physics::System lower = in_lower_precision(system);
    std::vector<physics::LinearSystem> inner, outer;
    for (const physics::LinearSystem& column : columns) {
      inner.push_back(inner_of(column, slots, storage));
      outer.push_back(system_around(column));
    }
    SolveLoopsBuilder inside(lower, inner, stepping, slots, storage);
    inside.with_more_to_come();
    SolveLoops within = inside.make();
    SolveLoopsBuilder around(system, outer, stepping, slots, storage, products);
    around.around(inner);
    SolveLoops result = around.make();
    result.described.solver = within.described.solver + ", inner = f32";
    result.inner = std::make_unique<SolveLoops>(std::move(within));
    return result;
  } catch (const ArithmeticError& wrong) {
    diagnostics.add(errors::solver_text(wrong.span.empty() ? solve.span : wrong.span,
                                        solve.solver->name, wrong.message, solve.span));
  }
  return std::nullopt;
}

}  // namespace vphi::schedule
