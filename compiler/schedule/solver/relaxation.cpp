#include "compiler/schedule/solver/relaxation.hpp"

#include <algorithm>
#include <limits>

#include "compiler/schedule/solver/solver_column.hpp"
#include "compiler/schedule/solver/solver_kept.hpp"
#include "compiler/schedule/steps/markov_step.hpp"

namespace vphi::schedule {

namespace {

using algebra::Op;

/// Sweeps between two looks at what is left, which reads as much as a sweep.
constexpr std::int64_t kSweeps = 4;

class RelaxationMaker {
 public:
  RelaxationMaker(const physics::System& system, const physics::LinearSystem& solve,
                  const physics::Relaxation& relaxation, Slots& slots, Storage& storage)
      : system_(system),
        solve_(solve),
        relaxation_(relaxation),
        slots_(slots),
        storage_(storage),
        arena_(*system.arena),
        name_(name_of(solve)),
        done_(slots.fresh(name_ + "_done")),
        colour_(slots.fresh(name_ + "_colour")) {}

  SolveLoops make(const Stepping& stepping) {
    SolveLoops result;
    const physics::LinearMap map = start(stepping, result);
    sweep(map, result);
    look(map, result);
    result.described.name = solve_.name;
    result.described.solver = solve_.solver->name;
    result.described.max = std::max<std::int64_t>(1, (relaxation_.most + kSweeps - 1) / kSweeps);
    result.described.done_slot = slots_.index(done_);
    result.described.iterations_slot = slots_.index(solve_.iterations);
    result.described.residual_slot = slots_.index(solve_.residual);
    result.described.high = relaxation_.bound;
    return result;
  }

 private:
  /// The first values of the unknown, and the map as rounds read it: from memory.
  physics::LinearMap start(const Stepping& stepping, SolveLoops& to) {
    Block block(system_, slots_, storage_);
    Wanted wanted;
    const State here = synchronised(block, stepping);
    Kept kept(block, wanted, name_);
    const physics::LinearMap map = kept.constant_parts(solve_.op, solve_.arrays, here);
    for (std::size_t i = 0; i < solve_.arrays.size(); ++i)
      wanted.arrays[solve_.arrays[i]] = block.array("x", at(here, solve_.source[i]));
    for (const std::string& slot : {solve_.iterations, solve_.residual, done_, colour_}) {
      slots_.add(slot);
      block.assign(slot, arena_.integer(0));
      wanted.slots.push_back(slot);
    }
    SiteLoops made = solve_loops(block, wanted, name_ + "_start", true);
    to.alone = std::move(made.alone);
    to.start = sequence_of(std::move(made));
    return map;
  }

  /// One colour of one sweep.
  void sweep(const physics::LinearMap& map, SolveLoops& to) {
    physics::Update update = relaxation_.update;
    update.name = name_;
    for (std::size_t i = 0; i < update.values.size(); ++i)
      update.values[i].second = map.stages[0].values[i];
    to.rest.sweeps.push_back({coloured_kernel(system_, update, colour_, done_, storage_), {}, {}});
    to.rest.swaps.emplace_back();
    to.rest.finish.push_back({colour_, next_colour(arena_.symbol(colour_), update)});
    to.rest_times = static_cast<int>(kSweeps) * update.modulus;
  }

  void look(const physics::LinearMap& map, SolveLoops& to) {
    Block block(system_, slots_, storage_);
    Wanted wanted;
    const Expr left = block.scalar(name_ + "_left", arena_.make(Op::Mean, {map.image[0]}));
    wanted.slots.push_back(left->name);
    const Expr done = arena_.symbol(done_), zero = arena_.integer(0), one = arena_.integer(1);
    const Expr runs = arena_.make(Op::Equal, {done, zero});
    const auto next = [&](const std::string& slot, Expr value) -> kernel::ScalarAssign {
      return {slot, arena_.make(Op::Select, {runs, value, arena_.symbol(slot)})};
    };
    const Expr count = arena_.symbol(solve_.iterations);
    const Expr small = arena_.make(Op::LessEqual, {left, arena_.real(relaxation_.bound)});
    const Expr finite =
        arena_.make(Op::LessEqual, {left, arena_.real(std::numeric_limits<double>::max())});
    const Expr verdict = arena_.make(
        Op::Select, {small, one, arena_.make(Op::Select, {finite, zero, arena_.integer(2)})});
    std::vector<kernel::ScalarAssign> finish{
        next(solve_.residual, left), next(solve_.iterations, count + arena_.integer(kSweeps)),
        next(done_, verdict)};
    to.iteration =
        sequence_of(solve_loops(block, wanted, name_ + "_left", true), std::move(finish));
  }

  const physics::System& system_;
  const physics::LinearSystem& solve_;
  const physics::Relaxation& relaxation_;
  Slots& slots_;
  Storage& storage_;
  algebra::Arena& arena_;
  const std::string name_, done_, colour_;
};

}  // namespace

SolveLoops make_relaxation(const physics::System& system, const physics::LinearSystem& solve,
                           const physics::Relaxation& relaxation, const Stepping& stepping,
                           Slots& slots, Storage& storage) {
  return RelaxationMaker(system, solve, relaxation, slots, storage).make(stepping);
}

}  // namespace vphi::schedule
