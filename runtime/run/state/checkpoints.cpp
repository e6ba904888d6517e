#include "runtime/run/state/checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>

namespace vphi::runtime {

namespace fs = std::filesystem;
using program::Precision;
using program::Program;

namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Numbers converted to another precision, as bytes.
template <class From, class To>
std::vector<std::byte> converted(std::span<const std::byte> bytes) {
  const std::size_t count = bytes.size() / sizeof(From);
  std::vector<std::byte> out(count * sizeof(To));
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, &bytes[i * sizeof(From)], sizeof(From));
    const auto other = static_cast<To>(value);
    std::memcpy(&out[i * sizeof(To)], &other, sizeof(To));
  }
  return out;
}

template <class Real>
bool finite(std::span<const std::byte> bytes) {
  constexpr std::size_t kRow = 4096 / sizeof(Real);
  std::array<Real, kRow> row;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t count = std::min(bytes.size() - at, sizeof(row));
    std::memcpy(row.data(), &bytes[at], count);
    Real sum = 0;  // 0 * x is 0 for a number and NaN for anything else
    for (std::size_t i = 0; i < count / sizeof(Real); ++i) sum += 0 * row[i];
    if (sum != 0) return false;
    at += count;
  }
  return true;
}

[[noreturn]] void does_not_fit(const std::string& what) {
  throw RunError("E0853", fmt::format("the checkpoint does not fit this program: {}", what),
                 "resume with the vphi that wrote it, or start over with --restart");
}

}  // namespace

std::size_t host_memory_free() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    std::size_t kilobytes = 0;
    if (word == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

bool all_finite(std::span<const std::byte> bytes, Precision precision,
                const std::vector<bool>& aside) {
  const auto fine = [&](std::span<const std::byte> part) {
    return precision == Precision::F32 ? finite<float>(part) : finite<double>(part);
  };
  if (std::find(aside.begin(), aside.end(), true) == aside.end()) return fine(bytes);
  const std::size_t size = bytes.size() / aside.size();
  for (std::size_t i = 0; i < aside.size(); ++i)
    if (!aside[i] && !fine(bytes.subspan(i * size, size))) return false;
  return true;
}

Checkpoints::Checkpoints(Session& session, Observer& observer, const RunOptions& options)
    : session_(session),
      observer_(observer),
      options_(options),
      on_(!options.out.empty() && options.keep.on),
      last_time_(now_seconds()) {
  const Program& p = session.program();
  if (on_) files_ = checkpoint_files(options.out, p.model);
  for (std::size_t b = 0; b < p.buffers.size(); ++b)
    if (p.buffers[b].changes()) buffers_.push_back(static_cast<int>(b));
}

Checkpoints::~Checkpoints() {
  try {
    settle(true);
  } catch (const std::exception&) {
    // The run ends by another error, which matters more.
  }
}

void Checkpoints::note(const std::string& text) {
  notes_.push_back(text);
  if (options_.tell) options_.tell(text);
}

void Checkpoints::begin() {
  if (!on_) return;
  std::error_code error;
  fs::remove(files_.newest, error);
  fs::remove(files_.before, error);
}

void Checkpoints::follow(const CheckpointProgress& kept) {
  generation_ = kept.generation;
  durable_ = kept.durable, durable_before_ = kept.before;
  earlier_seconds_ = kept.seconds;
}

CheckpointProgress Checkpoints::kept(double seconds) {
  settle(true);
  return {generation_, durable_, durable_before_, earlier_seconds_ + seconds};
}

std::int64_t Checkpoints::next(std::int64_t step) const {
  const std::int64_t every = options_.keep.every_steps;
  return on_ && every > 0 ? (step / every + 1) * every : -1;
}

bool Checkpoints::due(std::int64_t step) {
  if (!on_) return false;
  const auto& wish = options_.keep;
  if (wish.now != nullptr && wish.now->exchange(false)) return true;
  if (wish.every_steps > 0 && step % wish.every_steps == 0) return true;
  return wish.every_seconds > 0 && now_seconds() - last_time_ >= wish.every_seconds;
}

// ---- writing ------------------------------------------------------------------------------------

CheckpointHead Checkpoints::head(const RunPosition& now) const {
  const Program& p = session_.program();
  CheckpointHead h;
  h.model = p.model, h.model_text = p.model_text, h.compiler_version = p.compiler_version;
  h.vphi_version = VPHI_VERSION;
  h.device = session_.device().info().name, h.target = name_of(p.target);
  h.call = options_.keep.call;
  h.dims = p.dims, h.extent = p.extent, h.dx = p.dx, h.dt = p.dt, h.seed = p.seed;
  for (const auto& [name, value] : p.parameters)
    if (std::isfinite(value)) h.parameters.emplace_back(name, value);
  h.step = now.step, h.time = now.time, h.finished = now.finished;
  h.seconds = earlier_seconds_ + now.seconds;
  h.generation = generation_;
  for (int b : buffers_)
    h.arrays.push_back({p.buffers[b].name, p.buffers[b].precision, session_.bytes_of(b)});
  return h;
}

CheckpointRun Checkpoints::run_part(const RunPosition& now) {
  CheckpointRun run;
  for (const auto& scalar : session_.program().scalars) run.scalar_names.push_back(scalar.name);
  run.scalars = session_.scalars();
  run.observer = observer_.save();
  run.ensemble = observer_.ensemble_state();
  run.watched_at_start = now.watched_at_start;
  return run;
}

std::shared_ptr<const SavedState> Checkpoints::save(const RunPosition& now) {
  std::vector<std::vector<std::byte>> arrays;
  download(arrays);
  return std::make_shared<StateInMemory>(head(now), run_part(now), std::move(arrays));
}

void Checkpoints::download(std::vector<std::vector<std::byte>>& to) {
  to.resize(buffers_.size());
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    to[i].resize(session_.bytes_of(buffers_[i]));
    session_.read_bytes(buffers_[i], to[i]);
  }
}

bool Checkpoints::write(const RunPosition& now, const fs::path& path, const ModelAsWritten& model) {
  CheckpointHead h = head(now);
  h.model_text = model.text, h.call = model.call;
  const Outcome outcome = stream(path, h, run_part(now));
  if (!outcome.trouble.empty()) throw io::ResultsError(outcome.trouble);
  return outcome.finite;
}

Checkpoints::Outcome Checkpoints::stream(const fs::path& path, const CheckpointHead& head,
                                         const CheckpointRun& run) {
  try {
    CheckpointWriter writer(path, head, run);
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      bytes.resize(session_.bytes_of(buffers_[i]));
      session_.read_bytes(buffers_[i], bytes);
      if (!all_finite(bytes, head.arrays[i].precision, observer_.set_aside())) return {false, {}};
      writer.array(bytes);
    }
    writer.finish();
    return {};
  } catch (const io::ResultsError& error) {
    return {true, error.what()};
  }
}

void Checkpoints::keep(const RunPosition& now, bool wait) {
  if (!on_) return;
  if (!wait && options_.keep.every_steps == 0 && writing_.valid() &&
      writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return;  // the disk is slower than the interval requested
  const double begun = now_seconds();
  settle(true);
  if (now.step == durable_step_ && !now.finished) return;
  ++generation_;
  CheckpointRun run = run_part(now);
  run.marks = observer_.mark(generation_);
  const CheckpointHead h = head(now);
  writing_step_ = now.step;
  std::size_t total = 0;
  for (const auto& array : h.arrays) total += array.bytes;
  const std::size_t room = host_memory_free();
  if (copy_.empty() && room > 0 && 2 * total > room) {
    std::promise<Outcome> done;
    done.set_value(stream(files_.newest, h, run));
    writing_ = done.get_future();
  } else {
    download(copy_);
    const auto check_and_write = [this, h, run = std::move(run),
                                  aside = observer_.set_aside()]() -> Outcome {
      for (std::size_t i = 0; i < copy_.size(); ++i)
        if (!all_finite(copy_[i], h.arrays[i].precision, aside)) return {false, {}};
      try {
        CheckpointWriter writer(files_.newest, h, run);
        for (const auto& bytes : copy_) writer.array(bytes);
        writer.finish();
        return {};
      } catch (const io::ResultsError& error) {
        return {true, error.what()};
      }
    };
    writing_ = std::async(std::launch::async, check_and_write);
  }
  last_time_ = now_seconds();
  if (wait) settle(true);
  seconds_ += now_seconds() - begun;
}

bool Checkpoints::settle(bool wait) {
  if (!writing_.valid()) return true;
  if (!wait && writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return true;
  const Outcome outcome = writing_.get();
  if (!outcome.finite) return false;
  if (!outcome.trouble.empty()) {
    note(fmt::format(
        "no checkpoint at step {}: {}{}", writing_step_, outcome.trouble,
        durable_step_ >= 0 ? fmt::format("; that of step {} stays", durable_step_) : ""));
    return true;
  }
  durable_before_ = std::exchange(durable_, generation_);
  durable_step_ = writing_step_;
  if (durable_before_ >= 0) observer_.forget_before(durable_before_);
  return true;
}

// ---- going on -----------------------------------------------------------------------------------

RunPosition Checkpoints::resume(const SavedState& from, bool past_stop,
                                const std::function<void()>& accept) {
  const Program& p = session_.program();
  const CheckpointHead& h = from.head();
  const CheckpointRun run = from.run();
  const std::size_t slots = p.scalars.size(), kept = run.scalar_names.size();
  if (h.extent != p.extent || h.dims != p.dims)
    does_not_fit(fmt::format("its lattice is {}, not {}",
                             shape_text({h.extent.data(), static_cast<std::size_t>(h.dims)}),
                             shape_text({p.extent.data(), static_cast<std::size_t>(p.dims)})));
  // Slot of the checkpoint for each of ours; one that is new keeps what the start gives it.
  std::vector<std::size_t> slot_of(slots, kept);
  std::vector<bool> given(slots);  // by the program, for each instance
  for (const program::Axis& axis : p.axes)
    if (axis.slot >= 0) given[static_cast<std::size_t>(axis.slot)] = true;
  bool all_known = true;
  for (std::size_t i = 0; i < slots; ++i) {
    const auto found =
        std::find(run.scalar_names.begin(), run.scalar_names.end(), p.scalars[i].name);
    slot_of[i] = static_cast<std::size_t>(found - run.scalar_names.begin());
    all_known = all_known && slot_of[i] < kept;
  }
  if (all_known)
    session_.start_empty();
  else
    session_.start();
  for (int b : buffers_) {
    const auto& name = p.buffers[b].name;
    const auto found = std::find_if(h.arrays.begin(), h.arrays.end(),
                                    [&](const auto& array) { return array.name == name; });
    if (found == h.arrays.end()) does_not_fit(fmt::format("it has no array `{}`", name));
    auto bytes = from.array(static_cast<std::size_t>(found - h.arrays.begin()));
    if (found->precision != p.buffers[b].precision)
      bytes = found->precision == Precision::F32 ? converted<float, double>(bytes)
                                                 : converted<double, float>(bytes);
    if (bytes.size() != session_.bytes_of(b))
      does_not_fit(fmt::format("its array `{}` has another size", name));
    session_.write_bytes(b, bytes);
  }
  std::vector<double> scalars = session_.scalars();
  if (slots > 0 && kept > 0 && run.scalars.size() * slots != scalars.size() * kept)
    does_not_fit("it has another number of instances at once (--batch)");
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    const std::size_t instance = i / slots, slot = slot_of[i % slots];
    if (slot < kept && !given[i % slots]) scalars[i] = run.scalars[instance * kept + slot];
    if (past_stop && static_cast<int>(i % slots) == p.stop_slot) scalars[i] = 0;
  }
  session_.set_scalars(scalars);
  accept();
  generation_ = h.generation;
  earlier_seconds_ = h.seconds;
  durable_ = h.generation, durable_step_ = h.step;
  observer_.restore(run.observer, h.generation, {h.step, h.time}, run.marks);
  if (run.marks.empty() && options_.files == nullptr) observer_.rewrite_rows();
  return {h.step, h.time, 0, h.finished, run.watched_at_start};
}

fs::path folder_of_checkpoint(const fs::path& place) {
  std::error_code error;
  if (!fs::is_regular_file(place, error)) return place;
  const fs::path folder = place.parent_path();
  const fs::path out = folder.filename() == "checkpoint" ? folder.parent_path() : folder;
  return out.empty() ? "." : out;
}

bool has_checkpoint(const fs::path& out, const std::string& model) {
  std::error_code error;
  const CheckpointFiles files = checkpoint_files(out, model);
  return fs::exists(files.newest, error) || fs::exists(files.before, error);
}

FoundCheckpoint find_checkpoint(const fs::path& place, const std::string& model) {
  FoundCheckpoint found;
  std::vector<fs::path> candidates;
  std::error_code error;
  found.out = folder_of_checkpoint(place);
  if (fs::is_regular_file(place, error)) {
    candidates = {place};
  } else {
    const CheckpointFiles files = checkpoint_files(place, model);
    candidates = {files.newest, files.before};
  }
  std::vector<std::string> reasons;
  fs::path damaged;
  for (const fs::path& path : candidates) {
    if (!fs::exists(path, error)) continue;
    try {
      auto reader = std::make_shared<CheckpointReader>(path);
      reader->check();
      found.reader = std::move(reader);
      found.path = path;
      break;
    } catch (const std::exception& trouble) {  // damaged, or the disk cannot read it
      reasons.push_back(fmt::format("{} is damaged ({})", path.string(), trouble.what()));
      damaged = path;
    }
  }
  if (!found.reader && reasons.empty())
    throw RunError("E0850",
                   fmt::format("there is no checkpoint of `{}` in {}", model,
                               fs::is_directory(place, error) ? place.string()
                                                              : place.string() + " (no folder)"),
                   "without --resume the run starts from the beginning; --out or --resume=DIR "
                   "names another folder");
  if (!found.reader)
    throw RunError("E0850", fmt::format("{}", fmt::join(reasons, "; ")),
                   "a copy of one of these files from a backup, or --restart, which starts from "
                   "the beginning");
  for (const auto& reason : reasons)
    found.notes.push_back(
        fmt::format("{}: the one before, of step {}, is used", reason, found.reader->head().step));
  if (!damaged.empty() && candidates.size() == 2) {
    // The undamaged one becomes the newest, so that the next checkpoint does not replace it.
    fs::rename(damaged, damaged.string() + ".damaged", error);
    fs::rename(found.path, damaged, error);
    if (!error) found.path = damaged;
  }
  return found;
}

}  // namespace vphi::runtime
