// A run from its first step to its end, by steps or at once; see run.hpp and run_state.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/run/chain_averages.hpp"
#include "runtime/run/ensemble.hpp"
#include "runtime/run/loop.hpp"
#include "runtime/run/ranks/lattice_session.hpp"
#include "runtime/run/ranks/rank_group.hpp"
#include "runtime/run/run.hpp"
#include "runtime/run/run_state.hpp"

namespace vphi::runtime {

using program::Program;

namespace {

/// What the parts before have taken, added to the last one's.
void add_up(const RunResult& before, RunResult& result) {
  Performance& all = result.performance;
  const Performance& earlier = before.performance;
  const double updates =
      earlier.site_updates_per_s * earlier.seconds + all.site_updates_per_s * all.seconds;
  all.device_bytes = std::max(all.device_bytes, earlier.device_bytes);
  all.first_step_seconds = earlier.first_step_seconds;
  all.seconds += earlier.seconds;
  if (all.seconds > 0) all.site_updates_per_s = updates / all.seconds;
  result.resumed_from = before.resumed_from;
  result.acceptance.insert(result.acceptance.begin(), before.acceptance.begin(),
                           before.acceptance.end());
  if (result.checkpoint < 0) result.checkpoint = before.checkpoint;
  result.checkpoint_seconds += before.checkpoint_seconds;
}

/// Whether the run keeps the numbers of all its instances together (Ensemble).
bool kept_together(const Program& program) {
  // promises about averages over time are judged by the same means, with or without a sweep
  const bool at_end = std::any_of(program.expectations.begin(), program.expectations.end(),
                                  [](const auto& e) { return e.at_end; });
  // and so are errors of averages over time
  const auto timed = [](const program::Output& o) {
    return !o.regular() && std::ranges::any_of(o.statistics, [](const auto& s) {
      return s.axes.empty() && s.error_slot >= 0;
    });
  };
  return !program.axes.empty() || at_end || std::ranges::any_of(program.outputs, timed);
}

}  // namespace

/// The program as it looks with the instances of all ranks; nothing where there are none.
static std::optional<Program> of_all_ranks(const Program& of_a_rank, const RunOptions& options) {
  if (options.ranks == nullptr) return std::nullopt;
  for (RankInfo& rank : options.ranks->ranks()) rank.busy = 0;
  if (of_a_rank.cut.axis >= 0) return whole_lattice(of_a_rank);
  Program whole = of_a_rank;
  whole.instances = of_a_rank.all_instances();
  if (options.batch > 0) whole.instances = std::min(whole.instances, options.batch);
  return whole;
}

/// A run of one instance, or the parts of a sweep one after the other.
struct Run::State {
  State(const Program& program, Device& on, const RunOptions& how)
      : of_a_rank(how.ranks != nullptr ? &program : nullptr),
        whole(of_all_ranks(program, how)),
        p(whole ? *whole : program),
        device(how.ranks != nullptr ? how.ranks->device() : on),
        options(how) {
    if (!kept_together(p)) {
      loop = std::make_unique<Loop>(p, device, options, nullptr, 0, nullptr, of_a_rank);
      return;
    }
    if (!options.out.empty() && !p.axes.empty())
      results = options.files ? options.files
                              : std::make_shared<io::Results>(
                                    options.out, p,
                                    options.keep.on ? checkpoint_files(options.out, p.model).folder
                                                    : std::filesystem::path(),
                                    options.tell);
    ensemble.emplace(p, results.get(), options.onlooker);
    if (options.resume) {
      const auto state = options.resume->run().ensemble;
      if (state.empty() && !p.axes.empty())
        throw RunError("E0853", "the checkpoint does not fit this program: it is not of a sweep",
                       "start over with --restart");
      if (!state.empty()) ensemble->restore(state);
    }
    first = part = ensemble->part();
    loop = std::make_unique<Loop>(p, device, options, &*ensemble, part, nullptr, of_a_rank);
  }

  /// The part is over: its results are added, and the next one begins if there is one.
  bool next_part() {
    take_part();
    if (result.interrupted || ensemble->reached()) return false;
    result.steps = ensemble->steps();
    result.time = ensemble->time();
    if (part + 1 >= ensemble->parts()) return false;
    ++part;
    taken = false;
    const CheckpointProgress kept = loop->kept();
    loop.reset();
    options.resume = nullptr;
    loop = std::make_unique<Loop>(p, device, options, &*ensemble, part, &kept, of_a_rank);
    loop->begin();
    return true;
  }

  void take_part() {
    if (taken) return;
    taken = true;
    const RunResult before = std::exchange(result, loop->finish());
    if (part > first) add_up(before, result);
  }

  RunResult finish() {
    take_part();
    if (ensemble) {
      ensemble->into(result);
      if (results) {
        results->finish();
        result.files = results->files();
        for (const std::string& note : results->notes()) result.notes.push_back(note);
      }
    }
    if (p.chain) {
      result.chain = chain_series(result);
      result.unit = chain_unit(p);
      for (auto& note : chain_notes(result.chain, result.unit))
        result.notes.push_back(std::move(note));
    }
    if (of_a_rank != nullptr) {
      result.ranks = options.ranks->ranks();
      result.device += fmt::format(" ({} ranks)", result.ranks.size());
      if (std::ranges::any_of(result.ranks, &RankInfo::on_shared_gpu))
        result.notes.push_back("ranks shared a GPU: their speed is not that of GPUs of their own");
    }
    return std::move(result);
  }

  const Program* of_a_rank;      ///< null: one device has all instances
  std::optional<Program> whole;  ///< with the instances of all ranks
  const Program& p;
  Device& device;
  RunOptions options;
  std::shared_ptr<io::Results> results;
  std::optional<Ensemble> ensemble;
  std::unique_ptr<Loop> loop;  ///< of this part; it refers to all above
  std::int64_t first = 0, part = 0;
  bool taken = false;  ///< the results of this part are in `result`
  RunResult result;
};

Run::Run(const Program& program, Device& device, const RunOptions& options)
    : state_(std::make_unique<State>(program, device, options)) {}
Run::~Run() = default;

void Run::start() { state_->loop->begin(); }

std::int64_t Run::advance(std::int64_t steps) {
  State& s = *state_;
  const std::int64_t before = s.loop->step();
  if (steps >= 0 && parts() > 1)
    throw std::logic_error("a sweep in several parts is run to its end, not by steps");
  s.loop->go_on(steps < 0 ? -1 : before + steps);
  if (steps >= 0 || !s.ensemble) return s.loop->step() - before;
  while (s.next_part()) s.loop->go_on(-1);
  return s.loop->step() - before;
}

void Run::look() { state_->loop->look(); }
std::int64_t Run::queued() const { return state_->loop->queued(); }

void Run::save_to(const std::filesystem::path& path, const ModelAsWritten& model) {
  state_->loop->save_to(path, model);
}

void Run::restart_expansion(const std::string& rate) { state_->loop->restart_expansion(rate); }

std::shared_ptr<const SavedState> Run::save(bool same_model) {
  return state_->loop->save(same_model);
}
RunResult Run::finish() { return state_->finish(); }
bool Run::over() const { return state_->loop->over(); }
bool Run::interrupted() const { return state_->loop->interrupted(); }
std::int64_t Run::step() const { return state_->loop->step(); }
double Run::time() const { return state_->loop->time(); }
std::int64_t Run::parts() const { return state_->ensemble ? state_->ensemble->parts() : 1; }
std::shared_ptr<io::Results> Run::open_files() const {
  return state_->results ? state_->results : state_->loop->open_files();
}
Session& Run::session() { return state_->loop->session(); }

RunResult run(const Program& program, Device& device, const RunOptions& options) {
  Run all(program, device, options);
  all.start();
  all.advance(-1);
  return all.finish();
}

}  // namespace vphi::runtime
