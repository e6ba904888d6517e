#include "runtime/comm/nccl.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <set>
#include <thread>

#include "runtime/device/cuda/cuda.hpp"
#include "runtime/device/cuda/nvrtc.hpp"
#include "runtime/device/library.hpp"

namespace vphi::comm {

namespace {

using runtime::Library;

// Names, values and signatures: NVIDIA, NCCL User Guide, API, version 2.
struct UniqueId {
  std::array<char, 128> bytes;
};
using Communicator = struct CommunicatorTag*;
using Result = int;
constexpr Result kSuccess = 0, kInProgress = 7;
constexpr int kBytes = 0;  ///< ncclInt8

struct Api {
  Result (*GetVersion)(int*) = nullptr;
  Result (*GetUniqueId)(UniqueId*) = nullptr;
  Result (*CommInitRank)(Communicator*, int, UniqueId, int) = nullptr;
  Result (*CommGetAsyncError)(Communicator, Result*) = nullptr;
  Result (*CommAbort)(Communicator) = nullptr;
  Result (*GroupStart)() = nullptr;
  Result (*GroupEnd)() = nullptr;
  Result (*Send)(const void*, std::size_t, int, int, Communicator, void*) = nullptr;
  Result (*Recv)(void*, std::size_t, int, int, Communicator, void*) = nullptr;
  Result (*AllGather)(const void*, void*, std::size_t, int, Communicator, void*) = nullptr;
  Result (*Broadcast)(const void*, void*, std::size_t, int, int, Communicator, void*) = nullptr;
  const char* (*GetErrorString)(Result) = nullptr;

  bool bind(const Library& from) {
    return from.bind(GetVersion, "ncclGetVersion") && from.bind(GetUniqueId, "ncclGetUniqueId") &&
           from.bind(CommInitRank, "ncclCommInitRank") &&
           from.bind(CommGetAsyncError, "ncclCommGetAsyncError") &&
           from.bind(CommAbort, "ncclCommAbort") && from.bind(GroupStart, "ncclGroupStart") &&
           from.bind(GroupEnd, "ncclGroupEnd") && from.bind(Send, "ncclSend") &&
           from.bind(Recv, "ncclRecv") && from.bind(AllGather, "ncclAllGather") &&
           from.bind(Broadcast, "ncclBroadcast") && from.bind(GetErrorString, "ncclGetErrorString");
  }
};

struct Loaded {
  Api api;
  std::string version, why;
};

Loaded load() {
  Loaded result;
  // Recordings register memory of the network with NCCL, which can stop them between machines
  // (NVIDIA/nccl, issue 2389); and multicast over NVLink is for drivers alone to switch on.
  setenv("NCCL_GRAPH_REGISTER", "0", 0);
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  for (const std::string& file : runtime::cuda_library_files({"libnccl.so.2"})) {
    const auto library = Library::open({file}, Library::Close::Never, &result.why);
    int version = 0;  // 22809 for 2.28.9
    if (!library || !result.api.bind(*library) || result.api.GetVersion(&version) != kSuccess)
      continue;
    result.version = "NCCL " + std::to_string(version / 10000) + "." +
                     std::to_string(version / 100 % 100) + "." + std::to_string(version % 100);
    return result;
  }
  result.why =
      "NCCL is missing (libnccl.so.2: package libnccl2 of NVIDIA's repository, or pip install "
      "nvidia-nccl-cu13)";
  return result;
}

const Loaded& nccl() {
  static const Loaded loaded = load();
  return loaded;
}

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

/// NCCL's communicator stays until the process ends: its end would wait for the end of every
/// recording that contains its messages, and recordings end with the device.
class Communication : public Nccl {
 public:
  Communication(const Api& api, runtime::Device& device, int size)
      : api_(api), device_(device), size_(size) {}
  Result begin(const UniqueId& id, Comm& comm) {
    device_.raw_queue();
    const Result code = api_.CommInitRank(&communicator_, size_, id, comm.rank());
    if (code == kSuccess) at_abort_ = comm.at_abort([this] { abort(); });
    return code;
  }

  void exchange(std::span<const Transfer> transfers, std::span<const ToAll> to_all) override {
    stop_if_aborted();
    void* queue = device_.raw_queue().queue;
    check(api_.GroupStart());
    for (const Transfer& t : transfers) {
      if (t.give_bytes > 0)
        check(api_.Send(pointer(t.give), t.give_bytes, kBytes, t.rank, communicator_, queue));
      if (t.get_bytes > 0)
        check(api_.Recv(pointer(t.get), t.get_bytes, kBytes, t.rank, communicator_, queue));
    }
    for (const ToAll& one : to_all) gather(one, queue);
    check(api_.GroupEnd());
  }

  void check() override {
    stop_if_aborted();
    Result state = kSuccess;
    check(api_.CommGetAsyncError(communicator_, &state));
    check(state);
  }

 private:
  void check(Result code) const {
    if (code != kSuccess && code != kInProgress)
      throw CommError(std::string("NCCL: ") + api_.GetErrorString(code));
  }

  void stop_if_aborted() const {
    if (aborted_) throw CommError("NCCL: another rank has ended the run");
  }

  /// Kernels that wait for messages end at once. The call itself returns when no recording contains
  /// messages any more, so nobody waits for it.
  void abort() {
    aborted_ = true;
    std::thread([end = api_.CommAbort, communicator = communicator_] {
      end(communicator);
    }).detach();
  }

  void gather(const ToAll& one, void* queue) const {
    const bool equal = std::ranges::all_of(one.bytes, [&](auto b) { return b == one.bytes[0]; });
    if (equal) {
      check(api_.AllGather(pointer(one.own), pointer(one.all), one.bytes[0], kBytes, communicator_,
                           queue));
      return;
    }
    std::uint64_t at = one.all;
    for (int r = 0; r < size_; ++r) {
      const std::uint64_t bytes = one.bytes[static_cast<std::size_t>(r)];
      // the sender's memory is read on rank r alone
      check(api_.Broadcast(pointer(one.own), pointer(at), bytes, kBytes, r, communicator_, queue));
      at += bytes;
    }
  }

  const Api& api_;
  runtime::Device& device_;
  int size_;
  Communicator communicator_ = nullptr;
  std::atomic<bool> aborted_ = false;
  std::shared_ptr<void> at_abort_;
};

/// NCCL itself would refuse, in words that name no GPU. Ranks without CUDA have a name of their
/// own.
bool have_gpus_of_their_own(Comm& comm, const runtime::Device& device) {
  constexpr std::size_t kRoom = 64;
  const std::string id = device.info().id;
  std::string own = runtime::cuda_uuid(std::atoi(id.c_str() + id.find(':') + 1));
  if (own.empty()) own = std::to_string(comm.rank());
  own.resize(kRoom);
  std::string all(kRoom * static_cast<std::size_t>(comm.size()), 0);
  comm.to_all(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
  std::set<std::string> names;
  for (std::size_t at = 0; at < all.size(); at += kRoom) names.insert(all.substr(at, kRoom));
  return names.size() == static_cast<std::size_t>(comm.size());
}

}  // namespace

std::unique_ptr<Nccl> Nccl::open(Comm& comm, runtime::Device& device, std::string* why) {
  const bool cuda = device.info().target == program::Target::Cuda;
  if (!cuda) *why = "NCCL is for NVIDIA's GPUs by CUDA";
  if (cuda && nccl().version.empty()) *why = nccl().why;
  if (comm.most(cuda && !nccl().version.empty() ? 0 : 1) != 0) return nullptr;
  if (!have_gpus_of_their_own(comm, device)) {
    *why = "two ranks have one GPU, and NCCL wants one for each";
    return nullptr;
  }
  const Api& api = nccl().api;
  UniqueId id{};
  Bytes bytes(sizeof id);
  Result code = kSuccess;
  if (comm.rank() == 0) {
    code = api.GetUniqueId(&id);
    std::ranges::copy(std::as_bytes(std::span(&id, 1)), bytes.begin());
  }
  comm.share(bytes);
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(&id, 1)).begin());
  if (comm.most(code) != kSuccess) {
    *why = api.GetErrorString(code);
    return nullptr;
  }
  auto made = std::make_unique<Communication>(api, device, comm.size());
  code = made->begin(id, comm);
  if (code != kSuccess) *why = api.GetErrorString(code);
  if (comm.most(code) != kSuccess) return nullptr;
  return made;
}

std::string nccl_description() { return nccl().version.empty() ? nccl().why : nccl().version; }

}  // namespace vphi::comm
