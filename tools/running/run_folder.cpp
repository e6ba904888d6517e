#include "tools/running/run_folder.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/device/sha256.hpp"
#include "runtime/io/output_files.hpp"
#include "runtime/io/results.hpp"
#include "tools/running/page.hpp"
#include "tools/running/progress.hpp"
#include "tools/running/resume.hpp"

namespace vphi::tools {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using runtime::RunError;
using State = RunRecord::State;

namespace {

constexpr const char* kRecord = "run.json";
constexpr const char* kPrevious = "previous-results";
constexpr int kMostFolders = 100'000;
constexpr std::pair<State, const char*> kStates[] = {{State::Running, "running"},
                                                     {State::Finished, "finished"},
                                                     {State::Stopped, "stopped"},
                                                     {State::Failed, "failed"}};

std::string physics_of(const std::string& model_text) {
  return runtime::hex(runtime::sha256(fmt::format("{}", fmt::join(state_lines(model_text), "\n"))));
}

/// The options that distinguish runs of a model; its end is not one, since a run may be continued.
std::vector<std::string> telling(const std::vector<std::pair<std::string, std::string>>& call) {
  std::vector<std::string> options;
  for (const auto& [name, value] : call)
    if (name != "--until" && name != "--steps" && name != "--batch")
      options.push_back(name + " " + value);
  std::ranges::sort(options);
  return options;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Json json_of(const RunIdentity& who) {
  return {
      {"model", who.model}, {"file", who.file}, {"physics", who.physics}, {"options", who.options}};
}

/// Reads the identity of a run; throws where the object is not one.
RunIdentity identity_from(const Json& from) {
  return {from.at("model"), from.at("file"), from.at("physics"),
          from.at("options").get<std::vector<std::string>>()};
}

std::optional<RunIdentity> identity_from_line(const std::string& line) {
  try {
    return identity_from(Json::parse(line));
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

/// results/NAME, results/NAME-2, ...
fs::path usual_folder(const std::string& model, int number) {
  return fs::path("results") / (number == 1 ? model : fmt::format("{}-{}", model, number));
}

std::string when(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

bool holds_something(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().filename() != ".vphi-lock") return true;
  return false;
}

/// A file goes to the same place below another folder.
void move_file(const fs::path& file, const fs::path& from, const fs::path& to) {
  const fs::path target = to / file.lexically_relative(from);
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  fs::rename(file, target, error);
  if (error)
    throw io::ResultsError(
        fmt::format("{} cannot be moved to {}: {}", file.string(), to.string(), error.message()));
}

[[noreturn]] void in_use(const fs::path& folder, const io::LockOwner& owner, bool same) {
  throw RunError(
      "E0855",
      fmt::format("{} is in use by {} run: process {} on {}, since {}", folder.string(),
                  same ? "the same" : "another", owner.process,
                  owner.host.empty() ? "an unknown machine" : owner.host, when(owner.since)),
      "wait until it has ended, or end it; --out DIR writes elsewhere");
}

/// The record of a run from its checkpoint, for a folder without `run.json`.
std::optional<RunRecord> record_of_checkpoint(const fs::path& folder, const std::string& model) {
  const auto files = runtime::checkpoint_files(folder, model);
  std::error_code error;
  if (!fs::exists(files.newest, error)) return std::nullopt;
  try {
    const runtime::CheckpointHead head = runtime::CheckpointReader(files.newest).head();
    RunRecord record;
    record.identity = {head.model, "", physics_of(head.model_text), telling(head.call)};
    record.state = head.finished ? State::Finished : State::Stopped;
    return record;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

bool RunIdentity::same_as(const RunIdentity& other) const {
  return model == other.model && options == other.options &&
         (file == other.file || physics == other.physics);
}

std::string RunIdentity::text() const {
  std::string text = file.empty() ? model : fs::path(file).filename().string();
  for (const std::string& option : options) text += " " + option;
  return text;
}

RunIdentity identity_of(const std::string& path, const ModelOptions& options) {
  std::error_code error;
  fs::path file = fs::canonical(path, error);
  if (error) file = fs::absolute(path, error);
  return {model_name(path), file.string(), physics_of(text_of(path)), telling(call_of(options))};
}

std::optional<RunRecord> read_record(const fs::path& folder) {
  try {
    const Json all = Json::parse(text_of(folder / kRecord));
    RunRecord record;
    record.identity = identity_from(all);
    for (const auto& [state, name] : kStates)
      if (all.at("state") == name) record.state = state;
    record.began = all.at("began");
    record.outputs = all.at("outputs").get<std::vector<std::string>>();
    return record;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

// ---- which folder -------------------------------------------------------------------------------

RunFolder::RunFolder(FolderWish wish) : wish_(std::move(wish)) {
  now_.identity = wish_.identity;
  if (!wish_.out.empty()) {
    take(wish_.out, false);
    return;
  }
  for (int number = 1; number < kMostFolders; ++number)
    if (take(usual_folder(wish_.identity.model, number), true)) {
      if (number > 1 && !before_)
        notes_.push_back(fmt::format("{} holds results of another run; these go to {}",
                                     usual_folder(wish_.identity.model, 1).string(),
                                     path_.string()));
      return;
    }
  throw RunError(
      "E0854",
      fmt::format("results/{} and all numbers after it belong to other runs", wish_.identity.model),
      "--out DIR writes elsewhere");
}

/// False where a usual folder is another run's.
bool RunFolder::take(const fs::path& folder, bool usual) {
  io::FolderLock lock(folder, json_of(wish_.identity).dump());
  if (lock.other()) {
    const auto owner = identity_from_line(lock.other()->about);
    const bool same = owner && owner->same_as(wish_.identity);
    if (usual && owner && !same) return false;
    in_use(folder, *lock.other(), same);
  }
  before_ = read_record(folder);
  if (!before_) before_ = record_of_checkpoint(folder, wish_.identity.model);
  const bool another = before_ && !before_->identity.same_as(wish_.identity);
  if (usual && (another || (!before_ && holds_something(folder)))) return false;
  if (another && !wish_.restart && !wish_.resuming)
    throw RunError("E0854",
                   fmt::format("{} holds the results of another run: {}", folder.string(),
                               before_->identity.text()),
                   "--out DIR writes elsewhere, no --out into a folder of its own; --restart "
                   "replaces what is there");
  path_ = folder;
  lock_ = std::move(lock);
  return true;
}

fs::path folder_to_resume(const RunIdentity& identity) {
  std::vector<fs::path> kept;
  std::error_code error;
  for (int number = 1; number < kMostFolders; ++number) {
    const fs::path folder = usual_folder(identity.model, number);
    if (!fs::exists(folder, error)) {
      if (number == 1) continue;
      break;
    }
    const auto files = runtime::checkpoint_files(folder, identity.model);
    if (!fs::exists(files.newest, error) && !fs::exists(files.before, error)) continue;
    const auto record = read_record(folder);
    if (record && record->identity.same_as(identity)) return folder;
    kept.push_back(folder);
  }
  if (kept.empty()) return usual_folder(identity.model, 1);
  if (kept.size() == 1) return kept[0];
  std::vector<std::string> names;
  for (const fs::path& folder : kept) names.push_back(folder.string());
  throw RunError(
      "E0850",
      fmt::format("there are checkpoints of `{}` in {}, none of them of a run with these "
                  "options",
                  identity.model, fmt::join(names, ", ")),
      "--resume=DIR names one of them");
}

// ---- what lies there ----------------------------------------------------------------------------

/// All files of an earlier run with these outputs.
std::vector<fs::path> RunFolder::leavings(const std::vector<std::string>& outputs) const {
  std::vector<fs::path> list;
  for (const std::string& name : outputs)
    for (const fs::path& file : io::files_of_output(path_, name))
      if (std::ranges::find(list, file) == list.end()) list.push_back(file);
  const std::string& model = wish_.identity.model;
  std::error_code error;
  for (const fs::path& file : {path_ / "report.html", path_ / (model + ".error_check.csv")})
    if (fs::exists(file, error)) list.push_back(file);
  for (fs::recursive_directory_iterator it(path_ / "checkpoint", error), end; !error && it != end;
       it.increment(error))
    if (!it->is_directory(error)) list.push_back(it->path());
  return list;
}

void RunFolder::check_unfinished() {
  const std::string out = path_.string(), &model = wish_.identity.model;
  const auto refuse = [&](const std::string& what, bool kept) {
    throw RunError("E0852", fmt::format("{} holds an unfinished run of `{}`: {}", out, model, what),
                   kept ? "--resume goes on with it, --restart throws it away, --out DIR leaves it"
                        : "--restart throws it away, --out DIR leaves it");
  };
  const auto files = runtime::checkpoint_files(path_, model);
  for (const fs::path& path : {files.newest, files.before}) {
    std::error_code error;
    if (!fs::exists(path, error)) continue;
    try {
      const runtime::CheckpointHead head = runtime::CheckpointReader(path).head();
      if (head.finished) return;
      const std::string what = fmt::format("step {}, t = {:.6g}, {} of computing", head.step,
                                           head.time, duration_text(head.seconds));
      if (head.seconds >= kWorthKeeping && !wish_.restart) refuse(what, true);
      notes_.push_back(fmt::format("an unfinished run in {} is given up: {}{}", out, what,
                                   wish_.restart ? "" : " (--resume would have gone on with it)"));
      return;
    } catch (const runtime::DamagedCheckpoint&) {
    } catch (const io::ResultsError&) {
    }
  }
  if (!before_ || before_->state == State::Finished || before_->state == State::Failed) return;
  const auto began = std::chrono::sys_seconds(std::chrono::seconds(before_->began));
  double seconds = 0;
  for (const fs::path& file : leavings(before_->outputs)) {
    std::error_code error;
    const auto written = fs::last_write_time(file, error);
    if (!error)
      seconds = std::max(
          seconds,
          std::chrono::duration<double>(std::chrono::file_clock::to_sys(written) - began).count());
  }
  const std::string what = fmt::format("begun {}, without a checkpoint, {} to its last results",
                                       when(before_->began), duration_text(seconds));
  if (seconds >= kWorthKeeping && !wish_.restart) refuse(what, false);
  notes_.push_back(fmt::format("an unfinished run in {} is given up: {}", out, what));
}

// ---- the run ------------------------------------------------------------------------------------

void RunFolder::write(State state) {
  now_.state = state;
  Json all = json_of(now_.identity);
  for (const auto& [known, name] : kStates)
    if (known == state) all["state"] = name;
  all["began"] = now_.began;
  all["outputs"] = now_.outputs;
  all["vphi"] = VPHI_VERSION;
  if (!lock_.held()) return;  // the folder cannot be written; the first result reports it
  write_page(path_ / kRecord, all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void RunFolder::begin(const program::Program& program) {
  if (begun_) return;
  for (const auto& output : program.outputs)
    if (!output.file.empty() && std::ranges::find(now_.outputs, output.file) == now_.outputs.end())
      now_.outputs.push_back(output.file);
  now_.began = std::time(nullptr);
  std::vector<std::string> outputs = now_.outputs;
  if (before_) {
    if (wish_.resuming && before_->began > 0) now_.began = before_->began;
    outputs.insert(outputs.end(), before_->outputs.begin(), before_->outputs.end());
    // A copy of a model does not replace the original file as owner of the folder.
    if (before_->identity.same_as(now_.identity) && !before_->identity.file.empty())
      now_.identity.file = before_->identity.file;
  }
  const auto old = wish_.resuming ? std::vector<fs::path>{} : leavings(outputs);
  if (!old.empty()) {
    if (!before_ && !wish_.restart)
      throw RunError("E0854",
                     fmt::format("{} holds results of an unknown run: {}", path_.string(),
                                 old[0].filename().string()),
                     "--out DIR writes elsewhere; --restart replaces what is there");
    const fs::path aside = path_ / kPrevious;
    std::error_code error;
    const bool kept = fs::exists(aside / kRecord, error);
    if (fs::exists(aside, error) && !kept)
      throw io::ResultsError(fmt::format("{} is in the way of earlier results", aside.string()));
    if (kept && before_ && before_->state != State::Finished) {
      for (const fs::path& file : old) fs::remove(file, error);  // of a run without results
    } else {
      fs::remove_all(aside, error);
      for (const fs::path& file : old) move_file(file, path_, aside);
      if (fs::exists(path_ / kRecord, error))
        move_file(path_ / kRecord, path_, aside);
      else
        write_page(aside / kRecord, "{}\n");
      moved_ = true;
    }
  }
  begun_ = true;
  write(State::Running);
}

void RunFolder::end(bool stopped) {
  if (!begun_) return;
  write(stopped ? State::Stopped : State::Finished);
  std::error_code ignored;
  if (!stopped && fs::exists(path_ / kPrevious / kRecord, ignored))
    fs::remove_all(path_ / kPrevious, ignored);
}

void RunFolder::put_back() {
  std::error_code error;
  const fs::path aside = path_ / kPrevious;
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator it(aside, error), end; !error && it != end;
       it.increment(error))
    if (!it->is_directory(error)) files.push_back(it->path());
  for (const fs::path& file : files) move_file(file, aside, path_);
  fs::remove_all(aside, error);
}

std::optional<std::string> RunFolder::fail() {
  if (!begun_) return std::nullopt;
  if (moved_ && leavings(now_.outputs).empty()) {
    put_back();
    return std::nullopt;
  }
  write(State::Failed);
  std::error_code error;
  const fs::path aside = path_ / kPrevious;
  if (!fs::exists(aside / kRecord, error)) return std::nullopt;
  return fmt::format("the results that were there before are in {}", aside.string());
}

}  // namespace vphi::tools
