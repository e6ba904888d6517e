#include "tools/running/launched_ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <optional>
#include <set>

#include "embed/ranks.hpp"
#include "runtime/comm/mpi.hpp"
#include "runtime/device/cuda/cuda.hpp"
#include "runtime/device/native/thread_pool.hpp"
#include "runtime/run/ranks/worker.hpp"
#include "runtime/run/session.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {

namespace {

/// Ranks that share the processors this process may use: those of its machine, unless the launcher
/// has given each processors of its own, or the user has counted threads.
int sharing(int beside) {
  const bool counted = std::getenv("VPHI_THREADS") != nullptr;
  const bool bound = runtime::usable_threads() < sysconf(_SC_NPROCESSORS_ONLN);
  return counted || (bound && runtime::usable_threads() < beside) ? 1 : beside;
}

[[noreturn]] void unreachable(const comm::Launched& launch, const std::string& why,
                              const std::string& hint) {
  if (launch.rank != 0) std::exit(kOk);  // rank 0 says it, and a launcher ends it at a failure here
  throw runtime::RunError("E0861", why, hint);
}

std::vector<std::string> gpus(const std::string& kind) {
  std::vector<std::string> found;
  for (const runtime::DeviceInfo& info : runtime::list_devices())
    if (!info.is_cpu && (kind == "auto" || info.id.starts_with(kind))) found.push_back(info.id);
  return found;
}

}  // namespace

std::unique_ptr<LaunchedRanks> LaunchedRanks::find() {
  const auto launch = comm::launched();
  if (!launch) return nullptr;
  std::string why;
  std::shared_ptr<comm::Comm> comm = comm::open_mpi(&why);
  if (!comm)
    unreachable(
        *launch,
        fmt::format("{} has started several ranks, and this vphi has no MPI: {}", launch->by, why),
        "several GPUs of one machine need no MPI: --device cuda:all");
  if (comm->size() == 1 && launch->size > 1)
    unreachable(*launch,
                fmt::format("{} has started {} processes, and MPI lets each see itself alone",
                            launch->by, launch->size),
                "the launcher must be that of the MPI which libvphi_mpi.so is linked with; srun "
                "wants --mpi=pmix");
  if (comm->size() == 1) return nullptr;
  return std::unique_ptr<LaunchedRanks>(new LaunchedRanks(std::move(comm)));
}

std::string device_of_rank(const std::string& device, std::size_t rank,
                           const std::vector<Choice>& choices) {
  if (choices[rank].devices.empty()) return device == "auto" ? "native" : device;
  std::set<std::string> taken, all;
  std::size_t beside = 0;
  std::optional<std::string> found;
  for (std::size_t r = 0; r < choices.size(); ++r) {
    const Choice& choice = choices[r];
    if (choice.machine != choices[rank].machine) continue;
    ++beside;
    all.insert(choice.names.begin(), choice.names.end());
    auto free = std::ranges::find_if(
        choice.names, [&](const std::string& name) { return !taken.contains(name); });
    if (free == choice.names.end() && embed::may_share_gpu())  // one after the other
      free = choice.names.begin() + static_cast<std::ptrdiff_t>((beside - 1) % choice.names.size());
    if (free == choice.names.end()) continue;
    taken.insert(*free);
    if (r == rank) found = choice.devices[static_cast<std::size_t>(free - choice.names.begin())];
  }
  if (!found)
    throw runtime::DeviceError(fmt::format(
        "{} ranks on this machine, and it has {} device{} for `{}`: start one for each. To try a "
        "cut on one GPU, set VPHI_SHARED_GPU=1.",
        beside, all.size(), all.size() == 1 ? "" : "s", device));
  return *found;
}

namespace {

Choice own_choice(const std::string& device) {
  Choice choice;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> choice.machine;
  choice.devices = embed::devices_of_ranks(device, 0);
  if (device == "auto" || device == "cuda" || device == "opencl") choice.devices = gpus(device);
  const auto all = runtime::list_devices();
  const auto processor = [&](const std::string& id) {
    const auto info = std::ranges::find(all, id, &runtime::DeviceInfo::id);
    return info != all.end() && info->is_cpu;
  };
  if (std::ranges::all_of(choice.devices, processor)) choice.devices.clear();
  for (const std::string& id : choice.devices) {
    const auto number = id.starts_with("cuda:") ? std::atoi(id.c_str() + 5) : -1;
    const std::string uuid = number >= 0 ? runtime::cuda_uuid(number) : std::string();
    choice.names.push_back(uuid.empty() ? id : uuid);
  }
  return choice;
}

/// Of all ranks, on all of them.
std::vector<Choice> everyones(comm::Comm& comm, const Choice& own) {
  runtime::Packer packer;
  packer.text(own.machine);
  packer.whole(static_cast<std::int64_t>(own.devices.size()));
  for (const std::string& id : own.devices) packer.text(id);
  for (const std::string& name : own.names) packer.text(name);
  comm::Bytes all;
  for (const comm::Bytes& one : comm.gather(packer.all()))
    all.insert(all.end(), one.begin(), one.end());
  comm.share(all);
  runtime::Unpacker unpacker(all);
  std::vector<Choice> choices(static_cast<std::size_t>(comm.size()));
  for (Choice& choice : choices) {
    choice.machine = unpacker.text();
    choice.devices.resize(static_cast<std::size_t>(unpacker.whole()));
    choice.names.resize(choice.devices.size());
    for (std::string& id : choice.devices) id = unpacker.text();
    for (std::string& name : choice.names) name = unpacker.text();
  }
  return choices;
}

/// What a rank opens, when it opens it.
runtime::OpenDevice opening(comm::Comm& comm, const std::string& device) {
  Choice own;
  std::exception_ptr wrong;  // what `device` says; the rank tells it when it opens its device
  try {
    own = own_choice(device);
  } catch (const std::exception&) {
    wrong = std::current_exception();
  }
  const auto rank = static_cast<std::size_t>(comm.rank());
  return [device, rank, wrong, beside = comm.node_size(), choices = everyones(comm, own)] {
    if (wrong) std::rethrow_exception(wrong);
    return embed::open_for_rank(device_of_rank(device, rank, choices), sharing(beside));
  };
}

}  // namespace

std::unique_ptr<runtime::RankGroup> LaunchedRanks::group(const std::string& device) {
  runtime::Packer word;
  word.text(device);
  comm::Bytes bytes = word.all();
  comm_->share(bytes);
  grouped_ = true;
  return std::make_unique<runtime::RankGroup>(comm_, opening(*comm_, device));
}

int LaunchedRanks::work() {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) std::signal(signal, SIG_IGN);
  comm::Bytes bytes;
  comm_->share(bytes);
  if (!bytes.empty()) runtime::run_worker(*comm_, opening(*comm_, runtime::Unpacker(bytes).text()));
  comm_->share(bytes);
  return static_cast<int>(runtime::Unpacker(bytes).whole());
}

void LaunchedRanks::end(int status) {
  comm::Bytes nothing;
  if (!grouped_) comm_->share(nothing);
  runtime::Packer word;
  word.whole(status);
  comm::Bytes bytes = word.all();
  comm_->share(bytes);
}

std::unique_ptr<LaunchedRanks>& first_of_launched() {
  static std::unique_ptr<LaunchedRanks> first;
  return first;
}

void end_launched_ranks(int status) noexcept {
  auto& first = first_of_launched();
  if (!first) return;
  try {
    first->end(status);
    first.reset();
  } catch (const std::exception&) {
    first.release();  // ranks that cannot be reached end without a word
  }
}

}  // namespace vphi::tools
