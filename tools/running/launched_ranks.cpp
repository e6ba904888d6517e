#include "tools/running/launched_ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "embed/ranks.hpp"
#include "runtime/comm/mpi.hpp"
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

std::string device_of_place(const std::string& device, int place, int beside) {
  std::vector<std::string> named = embed::devices_of_ranks(device, 0);
  const bool several = named.size() > 1;
  if (device == "auto" || device == "cuda" || device == "opencl") {
    named = gpus(device);
    if (named.empty()) return device == "auto" ? "native" : device;
  } else if (!several) {
    return device;
  }
  if (beside > static_cast<int>(named.size()))
    throw runtime::DeviceError(
        fmt::format("{} ranks on this machine, and it has {} devices for `{}`: start one for each.",
                    beside, named.size(), device));
  return named[static_cast<std::size_t>(place)];
}

std::unique_ptr<runtime::RankGroup> LaunchedRanks::group(const std::string& device) {
  runtime::Packer word;
  word.text(device);
  comm::Bytes bytes = word.all();
  comm_->share(bytes);
  grouped_ = true;
  const int place = comm_->node_rank(), beside = comm_->node_size();
  return std::make_unique<runtime::RankGroup>(comm_, [=] {
    return embed::open_for_rank(device_of_place(device, place, beside), sharing(beside));
  });
}

int LaunchedRanks::work() {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) std::signal(signal, SIG_IGN);
  comm::Bytes bytes;
  comm_->share(bytes);
  if (!bytes.empty()) {
    const std::string device = runtime::Unpacker(bytes).text();
    const int place = comm_->node_rank(), beside = comm_->node_size();
    runtime::run_worker(*comm_, [=] {
      return embed::open_for_rank(device_of_place(device, place, beside), sharing(beside));
    });
  }
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
