#include "runtime/run/ranks/rank_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "runtime/device/native/thread_pool.hpp"
#include "runtime/run/ranks/worker.hpp"

namespace vphi::runtime {

namespace {

RankInfo info_of(const comm::Bytes& bytes) {
  Unpacker from(bytes);
  RankInfo info;
  info.device = from.text(), info.name = from.text(), info.host = from.text();
  info.memory_free = from.number();
  info.processor = from.number() != 0;
  return info;
}

}  // namespace

int threads_of_rank(int ranks) { return std::max(1, usable_threads() / std::max(1, ranks)); }

RankGroup::RankGroup(std::shared_ptr<comm::Comm> comm, const OpenDevice& open)
    : comm_(std::move(comm)) {
  std::exception_ptr own;
  try {
    device_ = open();
  } catch (...) {
    own = std::current_exception();
  }
  try {
    const std::vector<comm::Bytes> all = comm_->gather({});
    if (own) std::rethrow_exception(own);
    ranks_.push_back(info_of(about_device(*device_)));
    for (std::size_t r = 1; r < all.size(); ++r)
      ranks_.push_back(info_of(open_answer(all[r], fmt::format("rank {}", r))));
  } catch (...) {
    dismiss();
    throw;
  }
  for (RankInfo& rank : ranks_) {  // processors are shared by the ranks of a machine
    const auto beside = std::ranges::count_if(ranks_, [&](const RankInfo& other) {
      return other.host == rank.host && other.device == rank.device;
    });
    rank.memory_free /= static_cast<std::size_t>(beside);
    rank.shared = beside > 1;
  }
}

RankGroup::~RankGroup() { dismiss(); }

void RankGroup::dismiss() noexcept {
  if (dismissed_) return;
  dismissed_ = true;
  try {
    tell(order(Order::Dismiss));
  } catch (const std::exception& failure) {
    comm_->abort(failure.what());
  }
}

std::size_t RankGroup::memory_free() const {
  return std::ranges::min(ranks_, {}, &RankInfo::memory_free).memory_free;
}

int RankGroup::threads() const { return threads_of_rank(comm_->node_size()); }

void RankGroup::tell(const Packer& order) {
  comm::Bytes bytes = order.all();
  comm_->share(bytes);
}

std::vector<comm::Bytes> RankGroup::ask(const Packer& order, const std::function<void()>& own) {
  tell(order);
  std::exception_ptr failed;
  try {
    own();
  } catch (...) {
    failed = std::current_exception();
  }
  std::vector<comm::Bytes> all = comm_->gather({});  // whatever happened here: they wait
  if (failed) std::rethrow_exception(failed);
  for (std::size_t r = 1; r < all.size(); ++r)
    all[r] = open_answer(all[r], fmt::format("rank {} ({})", r, ranks_[r].device));
  return all;
}

namespace {

/// The threads end before what they share.
struct TeamThreads {
  std::unique_ptr<comm::Team> team;
  std::vector<std::jthread> others;
};

class TeamGroup : public RankGroup {
 public:
  TeamGroup(TeamThreads&& threads, const OpenDevice& open)
      : RankGroup(threads.team->comm(0), open), threads_(std::move(threads)) {}
  ~TeamGroup() override { dismiss(); }

 private:
  TeamThreads threads_;
};

}  // namespace

std::unique_ptr<RankGroup> open_team(const std::vector<OpenDevice>& open) {
  TeamThreads threads;
  threads.team = std::make_unique<comm::Team>(static_cast<int>(open.size()));
  for (std::size_t r = 1; r < open.size(); ++r)
    threads.others.emplace_back(
        [comm = std::shared_ptr(threads.team->comm(static_cast<int>(r))), device = open[r]] {
          try {
            run_worker(*comm, device);
          } catch (const std::exception& failure) {
            comm->abort(failure.what());
          }
        });
  return std::make_unique<TeamGroup>(std::move(threads), open.front());
}

}  // namespace vphi::runtime
