// One right side of a solve: it adds its values to the blocks that all right sides of a go share,
// line by line of the solver's text (solver.hpp).
//
// Errors of the text are thrown as ArithmeticError (compiler/text/arithmetic.hpp) with their place.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/physics/lower/values.hpp"
#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/solver/solver_kept.hpp"
#include "compiler/schedule/steps/step.hpp"
#include "compiler/text/solver.hpp"

namespace vphi::schedule {

/// What the systems that are solved in one go share: blocks of their values, and what is wanted.
struct SolveBlocks {
  SolveBlocks(const physics::System& system, const Stepping& stepping, const std::string& name,
              Slots& slots, Storage& storage)
      : start(system, slots, storage),
        iteration(system, slots, storage),
        rest(system, slots, storage),
        restart(system, slots, storage),
        here(synchronised(start, stepping)),
        kept(start, start_wanted, name) {}

  void for_column(int column) {
    for (Block* block : {&start, &iteration, &rest, &restart}) block->for_column(column);
  }

  Block start, iteration, rest, restart;
  State here;
  Wanted start_wanted, iteration_wanted, rest_wanted, restart_wanted;
  Kept kept;
  std::vector<kernel::ScalarAssign> end_of_round;
};

/// The prefix of names of a system's slots and buffers.
std::string name_of(const physics::LinearSystem& solve);

/// One system: it adds its values to the blocks, line by line.
class SolveColumn {
 public:
  SolveColumn(const physics::System& system, const physics::LinearSystem& solve,
              SolveBlocks& blocks, bool alone)
      : system_(system),
        solve_(solve),
        blocks_(blocks),
        alone_(alone),
        slots_(blocks.start.slots()),
        storage_(blocks.start.storage()),
        arena_(*system.arena),
        unknowns_(solve.even_odd ? solve.even_odd->arrays : solve.arrays),
        start_(blocks.start),
        iteration_(blocks.iteration),
        rest_(blocks.rest),
        restart_(blocks.restart),
        here_(blocks.here),
        text_(*solve.solver),
        name_(name_of(solve)),
        start_wanted_(blocks.start_wanted),
        kept_(blocks.kept) {}

  /// `inner` is the system that inner(v, tol) of the text solves; its right side is computed from
  /// v.
  void around(const physics::LinearSystem& inner) { inner_ = &inner; }
  /// More right sides follow; their values are updated if the text has lines for it.
  void with_more_to_come() { goes_on_ = !text_.after.empty(); }
  bool goes_on() const { return goes_on_; }
  const text::Solver& text() const { return text_; }
  const std::string& name() const { return name_; }
  const std::string& done() const { return done_; }
  const physics::LinearSystem& solve() const { return solve_; }
  const std::vector<Expr>& right() const { return right_; }
  /// Memory, names and the right side.
  void begin();
  /// A line before the iterations.
  void take(const text::Statement& line);
  /// The end of the start: what the rounds find.
  void end_start();
  /// A line of a round; `last`: the last one that sets its name.
  void iterate(const text::Statement& line, bool last);
  /// An application of the operator in a line, before it is made.
  struct Application {
    const physics::LinearMap* map = nullptr;  ///< null: the argument is 0
    State given;
  };

  Application application(const dsl::Expr& e, bool starts);
  /// The product of the operator with an earlier solution, before it is made. `here`: the state in
  /// this block.
  Application product_of_past(Block& block, const State& here, std::size_t solution) const;
  /// Keeps such a product in memory. They come in the order of LinearSystem::past.
  void keep_product(Block& block, Wanted& wanted, const std::vector<Expr>& image);
  /// Lets x start from the best combination of earlier solutions, whose products are kept.
  void start_from_past();
  /// The result of an application, which the line takes when it is run.
  void applies(const dsl::Expr& e, bool starts, const Application& made,
               const std::vector<Expr>& image);
  /// The end of a round.
  void end_round();
  /// Goes on with another right side, which is in memory now.
  void go_on();

 private:
  using Value = physics::Value;
  using Values = std::map<std::string, Value>;

  std::size_t parts() const { return unknowns_.size(); }
  /// The operator of the system as written, or its adjoint.
  const physics::LinearMap& map_of(bool adjoint) const;
  /// The right side b, or the one of the reduced system for the sites that are solved for.
  std::vector<Expr> right_side();
  Value of_parts(const std::vector<Expr>& list) const;
  std::vector<Expr> parts_of(const Value& v) const;
  /// Has a value at each site (0 everywhere is told by its shape alone).
  bool is_field(const std::string& name, const Value& v) const;
  /// Fields as arrays of the block, numbers as slots: what a name stands for.
  Value settled(Block& block, const std::string& name, const Value& v) const;
  /// The operator or its adjoint, for the start or for the rounds.
  const physics::LinearMap& map_in(const Block& block, const dsl::Expr& e, bool adjoint) const;
  bool is_zero(const Value& v) const;
  State given_to(Block& block, const dsl::Expr& e, const Value& v) const;
  Value image_of(Block& block, const physics::LinearMap& operation, std::vector<Expr> image) const;
  Value apply(Block& block, const dsl::Expr& e, const Value& v, bool adjoint);
  /// B^+ v of a system whose operator is B B^+: its stages lead to B^+ v, which is the one in their
  /// middle, and from there on.
  Value halfway(Block& block, const dsl::Expr& e, const Value& v) const;
  Value run(Block& block, const dsl::Expr& e, const Values& values);
  /// The right side of the inner system is computed before a round of the outer one, which reads
  /// the solution. It is 0 for a column that is done while others are not.
  Value inner_solution(const dsl::Expr& e);
  Value in_start(const dsl::Expr& e) { return run(start_, e, values_); }
  static Expr condition(const Value& v) { return v.parts[0].re; }
  /// The combination of earlier solutions that is nearest to the solution: in the norm of A where A
  /// is hermitian and positive, else the one with the least residual (Brower, Ivanenko, Levi,
  /// Orginos, Nucl. Phys. B 484 (1997) 353). They are made orthogonal one after the other, the
  /// newest first, in <u, A v> or <A u, A v>; one that adds nothing to the others, or is 0, is left
  /// out.
  Value best_of_past();
  /// The sum over all sites, as slots.
  Value summed(const std::string& hint, const physics::Component& c);
  bool changes(const dsl::ExprPtr& e) const;
  /// Finds totals of values that no round changes, which are computed once.
  void take_once(const dsl::ExprPtr& e);
  const Value* taken_once(const dsl::Expr& e) const;
  /// Names that a round, or the lines for the next right side, read from earlier lines.
  std::set<std::string> read_in_iterations() const;
  /// Allocates memory and slots for values kept across rounds; `carried_` and `iteration_values_`
  /// name them.
  void keep();
  /// Whether the name stands for the eigenvalue that is wanted.
  bool is_eigenvalue(const std::string& name) const;
  void keep_field(const std::string& name, const Value& v, bool set);
  void keep_numbers(const std::string& name, const Value& v, bool set);
  /// The condition that all values are finite.
  Expr finite(const std::vector<Expr>& list) const;
  /// 1 where `until` holds, 2 where a number is not finite, else 0.
  Expr judged(Expr until, Expr sound) const;
  Expr is_done() const {
    return arena_.make(algebra::Op::Less, {arena_.integer(0), arena_.symbol(done_)});
  }
  Expr stays(Expr old, Expr next) const {
    return arena_.make(algebra::Op::Select, {is_done(), old, next});
  }
  /// The value at the end of a round; it is kept unchanged once the solve is done.
  Value next_field(const std::string& name, const Value& v);

  const physics::System& system_;
  const physics::LinearSystem& solve_;
  SolveBlocks& blocks_;
  bool alone_ = true;
  Slots& slots_;
  Storage& storage_;
  algebra::Arena& arena_;
  const std::vector<int> unknowns_;  ///< of the unknown: Loads in the operator
  Block &start_, &iteration_, &rest_, &restart_;
  const physics::LinearSystem* inner_ = nullptr;
  bool goes_on_ = false;
  const State& here_;
  const text::Solver& text_;
  std::string name_, done_;
  Values values_;                              ///< of names, in the start
  Values iteration_values_;                    ///< of names, as a round finds them
  Values round_;                               ///< of names, within a round
  std::map<const dsl::Expr*, Value> applied_;  ///< applications that are made already
  physics::LinearMap op_, adjoint_;
  std::vector<Expr> right_;                               ///< b, kept for the end
  std::vector<Value> products_of_past_;                   ///< loads
  std::set<std::string> set_;                             ///< names that rounds set
  std::vector<std::pair<const dsl::Expr*, Value>> once_;  ///< in the order of the text
  std::map<std::string, std::vector<int>> fields_;        ///< that rounds change: their memory
  std::vector<Expr> carried_;  ///< numbers that rounds change: their slots
  Wanted& start_wanted_;
  Kept& kept_;
};

}  // namespace vphi::schedule
