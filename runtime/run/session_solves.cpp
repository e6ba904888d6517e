// Linear systems of a session. Where a device repeats launches by itself, the rounds of a solve in
// a step are one recording, and the host learns of a failure at the end of the steps. Elsewhere the
// host launches rounds and reads now and then whether there are enough.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/run/chain_averages.hpp"
#include "runtime/run/session.hpp"
#include "runtime/run/session_arguments.hpp"

namespace vphi::runtime {

using program::Argument;
using program::Launch;

namespace {

/// Of a solve, at most, between two reads of its state.
constexpr std::int64_t kIterationsUnwatched = 32;

/// Whether every buffer is exchanged an even number of times, so that a second round reads and
/// writes the same memory.
bool keeps_copies(const std::vector<Launch>& round) {
  std::vector<int> swapped;
  for (const Launch& launch : round)
    swapped.insert(swapped.end(), launch.swap.begin(), launch.swap.end());
  std::ranges::sort(swapped);
  for (std::size_t i = 0; i < swapped.size(); i += 2)
    if (i + 1 == swapped.size() || swapped[i] != swapped[i + 1]) return false;
  return true;
}

/// Whether these launches need nothing of the host between them.
bool by_device_alone(const std::vector<Launch>& list) {
  return std::ranges::all_of(
      list, [](const Launch& launch) { return launch.solve < 0 && launch.maps.empty(); });
}

bool holds_solves(const std::vector<Launch>& list) {
  return std::ranges::any_of(list, [](const Launch& launch) { return launch.solve >= 0; });
}

}  // namespace

Session::Stepping::Stepping(bool& now) : now_(now) { now_ = true; }
Session::Stepping::~Stepping() { now_ = false; }

/// Not outside of steps, where memory is given back after each list. An eigenvalue is compared
/// with its bounds before the links that follow from it are drawn.
bool Session::device_repeats(const program::Solve& solve) {
  return stepping_ && !lattice_ && solve.value_slot < 0 && by_device_alone(solve.iterate) &&
         by_device_alone(solve.finish) && keeps_copies(solve.iterate) && device_.repeats_rounds();
}

void Session::solve(std::size_t number) {
  const program::Solve& solve = program_.solves[number];
  if (!device_repeats(solve)) return solve_by_host(number);
  device_.replay(rounds_of(number));
  swap(solve.finish, 1);
  forget_scalars();
  unsettled_ = true;
}

RecordingHandle Session::rounds_of(std::size_t number) {
  const program::Solve& solve = program_.solves[number];
  std::vector<int> memory;  // what the launches use now
  for (const auto* list : {&solve.iterate, &solve.finish})
    for (const Launch& launch : *list) {
      const program::Kernel& kernel = program_.kernels[launch.kernel];
      for (const Argument& a : kernel.arguments)
        memory.push_back(resolve(kernel, launch.kernel, a).id);
    }
  SolveRounds& known = solve_rounds_[{number, present_copies()}];
  if (known.recording.id >= 0 && known.memory == memory) return known.recording;
  if (known.recording.id >= 0) device_.forget(known.recording);
  if (notes_.id < 0) {
    notes_ = device_.allocate((Rounds::kFailure + program_.solves.size()) * sizeof(double));
    device_.zero(notes_);
  }
  const auto place = [&](int slot) {
    return static_cast<std::int64_t>(slot) * (by_slot_ ? program_.instances : 1);
  };
  Rounds rounds;
  rounds.scalars = scalars_;
  rounds.instances = program_.instances;
  rounds.distance = by_slot_ ? 1 : static_cast<std::int64_t>(program_.scalars.size());
  rounds.done = place(solve.done_slot);
  rounds.most = solve.max;
  rounds.iterations = place(solve.iterations_slot);
  rounds.residual = place(solve.residual_slot);
  rounds.notes = notes_;
  rounds.number = static_cast<int>(number);
  const auto before = buffers_;
  known.recording =
      device_.record_rounds([&] { issue(solve.iterate); }, [&] { issue(solve.finish); }, rounds);
  for (std::size_t b = 0; b < buffers_.size(); ++b) buffers_[b].now = before[b].now;
  known.memory = memory;
  return known.recording;
}

void Session::settle_solves() {
  if (!unsettled_) return;
  unsettled_ = false;
  std::array<double, Rounds::kFailure> failure{};
  device_.download(std::as_writable_bytes(std::span(failure)), notes_, 0);
  if (failure[0] == 0) return;
  device_.zero(notes_);
  throw unsolved(program_.solves[static_cast<std::size_t>(failure[0]) - 1],
                 static_cast<std::int64_t>(failure[1]), failure[2], failure[3], failure[4], true);
}

std::vector<double> Session::rounds_made() {
  std::vector<double> made = host_rounds_;
  made.resize(program_.solves.size());
  if (notes_.id < 0 || made.empty()) return made;
  std::vector<double> noted(made.size());
  device_.download(std::as_writable_bytes(std::span(noted)), notes_,
                   Rounds::kFailure * sizeof(double));
  for (std::size_t i = 0; i < made.size(); ++i) made[i] += noted[i];
  return made;
}

/// The host reads the slots every few iterations, more of them the longer the solve lasts, and on
/// a GPU not before most of those that the last solve took. Iterations after the end change nothing
/// and cost only their time. Where an iteration holds a solve, whose rounds are what is counted,
/// the host reads the slots before each.
void Session::solve_by_host(std::size_t number) {
  const program::Solve& solve = program_.solves[number];
  const auto largest = [&](int slot) {
    const Slot now = Session::slot(slot);
    double value = 0;
    for (std::int64_t i = 0; i < now.instances; ++i) value = std::fmax(value, now[i]);
    return value;
  };
  const auto running = [&] {
    const Slot done = Session::slot(solve.done_slot);
    for (std::int64_t i = 0; i < done.instances; ++i)
      if (done[i] == 0) return true;
    return false;
  };
  taken_.resize(program_.solves.size()), host_rounds_.resize(program_.solves.size());
  const bool watched = holds_solves(solve.iterate);
  std::int64_t iterations = 0;
  while (running() && iterations < solve.max) {
    std::int64_t some = std::clamp<std::int64_t>(iterations / 8, 1, kIterationsUnwatched);
    if (iterations == 0) some = std::max(some, taken_[number] * 7 / 8);
    if (watched) some = 1;
    for (std::int64_t i = 0; i < some && iterations < solve.max; ++i, ++iterations)
      issue(solve.iterate);
  }
  const double needed = largest(solve.iterations_slot);
  host_rounds_[number] += needed;
  if (program_.target != program::Target::Native)
    taken_[number] = static_cast<std::int64_t>(needed);
  issue(solve.finish);
  const bool solved = largest(solve.done_slot) < 2 && !running();
  if (solved) {
    check_eigenvalue(solve);
    forget_scalars();  // more of the list may follow
    return;
  }
  for (std::int64_t i = 0; i < program_.instances; ++i) {
    const auto of = [&](int slot) { return Session::slot(slot)[i]; };
    if (const double done = of(solve.done_slot); done != 1)
      throw unsolved(solve, i, done, of(solve.iterations_slot), of(solve.residual_slot), false);
  }
}

/// How far the run was, for a message that ends with it.
std::string Session::steps_done(std::int64_t instance, bool at_most) {
  if (program_.step_slot < 0) return "";
  const std::string unit = chain_unit(program_);
  const char* units = unit == "sweep" ? "sweeps" : unit == "trajectory" ? "trajectories" : "steps";
  return fmt::format(", after {}{:.0f} {}", at_most ? "at most " : "",
                     Session::slot(program_.step_slot)[instance], units);
}

/// `later`: the device has gone on since, up to the end of what it was given.
RunError Session::unsolved(const program::Solve& solve, std::int64_t instance, double done,
                           double iterations, double residual, bool later) {
  const std::string where = program_.where(first_instance_ + instance);
  const bool updates = solve.value_slot < 0 && solve.high > 0;  // a bound of what they make small
  const std::string how =
      done == 2
          ? fmt::format("broke down in iteration {:.0f}: a number of `{}` became NaN", iterations,
                        solve.solver)
          : fmt::format("is not solved after {:.0f} iterations of `{}`", iterations, solve.solver);
  return RunError(
      "E0809",
      fmt::format("`{}` {} (`{}`, line {}){}; {} is {:.3g}{}{}", solve.name, how, solve.line,
                  solve.line_number, where.empty() ? "" : ", at " + where,
                  updates ? "theta" : "norm(b - A(x))/norm(b)", residual,
                  updates ? fmt::format(", and {:.3g} is asked for", solve.high) : "",
                  steps_done(instance, later)),
      updates ? "a larger `max` or `theta`, or an `omega` nearer to 1 or to 2: large boxes take "
                "larger ones"
      : done == 2 ? "the operator has no inverse, or the solver is not made for it: cg "
                    "wants it hermitian and positive, cgne and bicgstab do not"
                  : "a larger `max` or `tol`, a solver that fits the operator, or a "
                    "precision that can reach `tol`");
}

/// Bounds that are exact may be passed by rounding. The range that is proposed has margins, because
/// eigenvalues of later configurations are near.
void Session::check_eigenvalue(const program::Solve& solve) {
  if (solve.value_slot < 0) return;
  constexpr double kRounding = 1e-6, kBelow = 1.5, kAbove = 1.1;
  const Slot values = Session::slot(solve.value_slot);
  for (std::int64_t i = 0; i < values.instances; ++i) {
    const double value = values[i];
    if (value >= solve.low * (1 - kRounding) && value <= solve.high * (1 + kRounding)) continue;
    const std::string where = program_.where(first_instance_ + i);
    const std::string when =
        program_.step_slot < 0
            ? std::string()
            : fmt::format(" in step {:.0f}", Session::slot(program_.step_slot)[i] + 1);
    throw RunError(
        "E0821",
        fmt::format("{} is {:.6g}{}, outside of range = [{:.6g}, {:.6g}] (`{}`, line {}){}",
                    solve.name, value, when, solve.low, solve.high, solve.line, solve.line_number,
                    where.empty() ? "" : ", at " + where),
        fmt::format("range = [{:.3g}, {:.3g}]: beyond it the fractions are no power of D adj(D), "
                    "and links are drawn with another weight",
                    std::min(solve.low, value / kBelow), std::max(solve.high, value * kAbove)));
  }
}

}  // namespace vphi::runtime
