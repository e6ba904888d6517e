#include "runtime/comm/team.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

namespace vphi::comm {

struct Team::Shared {
  explicit Shared(int count) : size(count), given(static_cast<std::size_t>(count)) {}

  const int size;
  std::mutex mutex;
  std::condition_variable changed;
  int arrived = 0;
  std::atomic<std::uint64_t> passed = 0;  ///< barriers so far
  std::atomic<bool> ended = false;        ///< there is a text in `aborted`
  std::optional<std::string> aborted;
  // Written by their rank before a barrier, read by the others between it and the next.
  std::vector<std::span<const std::byte>> given;
  std::vector<std::span<const std::byte>> to_above = given;
  std::vector<std::span<const std::span<const std::byte>>> to_each{given.size()};
  /// Of every other call of `look`: who comes to the next one has read this one.
  std::array<std::vector<std::span<const std::byte>>, 2> looked{given, given};
  /// What these lie in: a rank that ends, and frees its memory, may be the first to end.
  std::array<std::vector<std::shared_ptr<const void>>, 2> kept{
      std::vector<std::shared_ptr<const void>>(given.size()),
      std::vector<std::shared_ptr<const void>>(given.size())};
  const std::vector<Bytes>* dealt = nullptr;
  std::list<std::function<void()>> at_abort;

  /// Returns when all ranks have come here.
  void barrier() {
    std::unique_lock lock(mutex);
    if (!aborted) {
      const std::uint64_t now = passed;
      if (++arrived == size) {
        arrived = 0, ++passed;
        changed.notify_all();
        return;
      }
      lock.unlock();
      spin(now);
      lock.lock();
      changed.wait(lock, [&] { return passed != now || aborted; });
      if (passed != now) return;
    }
    throw CommError(*aborted);
  }

 private:
  /// A thread that sleeps takes some 50 us to wake, an exchange of planes less. So it looks for as
  /// long first, where each rank has a processor.
  void spin(std::uint64_t now) const {
    constexpr std::chrono::microseconds kAwake{100};
    if (size > static_cast<int>(std::thread::hardware_concurrency())) return;
    const auto end = std::chrono::steady_clock::now() + kAwake;
    while (passed == now && !ended && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
  }
};

class Team::Member : public Comm {
 public:
  Member(Shared& shared, int rank) : shared_(shared), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return shared_.size; }
  int node_rank() const override { return rank_; }
  int node_size() const override { return shared_.size; }

  void share(Bytes& bytes) override {
    if (rank_ == 0) shared_.given[0] = bytes;
    shared_.barrier();
    if (rank_ != 0) bytes.assign(shared_.given[0].begin(), shared_.given[0].end());
    shared_.barrier();
  }

  std::vector<Bytes> gather(std::span<const std::byte> own) override {
    shared_.given[static_cast<std::size_t>(rank_)] = own;
    shared_.barrier();
    std::vector<Bytes> all;
    if (rank_ == 0)
      for (const auto& one : shared_.given) all.emplace_back(one.begin(), one.end());
    shared_.barrier();
    return all;
  }

  Bytes deal(const std::vector<Bytes>& all) override {
    if (rank_ == 0) {
      if (static_cast<int>(all.size()) != shared_.size)
        throw std::logic_error("a list that is dealt has one entry for each rank");
      shared_.dealt = &all;
    }
    shared_.barrier();
    Bytes own = (*shared_.dealt)[static_cast<std::size_t>(rank_)];
    shared_.barrier();
    return own;
  }

  void to_all(std::span<const std::byte> own, std::span<std::byte> all) override {
    shared_.given[place(0)] = own;
    shared_.barrier();
    for (const auto& one : shared_.given) all = put(one, all);
    if (!all.empty()) throw std::logic_error("ranks expect messages of other sizes");
    shared_.barrier();
  }

  std::vector<std::span<const std::byte>> look(std::span<const std::byte> own,
                                               std::shared_ptr<const void> memory) override {
    const std::size_t turn = looks_++ % 2;
    auto& here = shared_.looked[turn];
    here[place(0)] = own;
    shared_.kept[turn][place(0)] = std::move(memory);
    shared_.barrier();
    return here;
  }

  void each_to_each(std::span<const std::span<const std::byte>> to,
                    std::span<const std::span<std::byte>> from) override {
    shared_.to_each[place(0)] = to;
    shared_.barrier();
    for (std::size_t r = 0; r < from.size(); ++r) {
      if (!put(shared_.to_each[r][place(0)], from[r]).empty())
        throw std::logic_error("ranks expect messages of other sizes");
    }
    shared_.barrier();
  }

  void ring(std::span<const std::byte> to_below, std::span<const std::byte> to_above,
            std::span<std::byte> from_below, std::span<std::byte> from_above) override {
    shared_.given[place(0)] = to_below;
    shared_.to_above[place(0)] = to_above;
    shared_.barrier();
    put(shared_.to_above[place(-1)], from_below);
    put(shared_.given[place(1)], from_above);
    shared_.barrier();
  }

  void abort(const std::string& why) noexcept override {
    const std::lock_guard lock(shared_.mutex);
    if (shared_.aborted) return;
    shared_.aborted = why, shared_.ended = true;
    shared_.changed.notify_all();
    for (const auto& end : shared_.at_abort) end();
  }

  std::shared_ptr<void> at_abort(std::function<void()> end) override {
    const std::lock_guard lock(shared_.mutex);
    if (shared_.aborted) {
      end();
      return nullptr;
    }
    const auto place = shared_.at_abort.insert(shared_.at_abort.end(), std::move(end));
    return {nullptr, [&shared = shared_, place](void*) {
              const std::lock_guard other(shared.mutex);
              shared.at_abort.erase(place);
            }};
  }

 private:
  /// Of the rank that lies so far above on the ring.
  std::size_t place(int above) const {
    return static_cast<std::size_t>((rank_ + above + shared_.size) % shared_.size);
  }
  /// Copies to the front of `to`; the rest comes back.
  static std::span<std::byte> put(std::span<const std::byte> from, std::span<std::byte> to) {
    if (from.size() > to.size()) throw std::logic_error("ranks expect messages of other sizes");
    std::ranges::copy(from, to.begin());
    return to.subspan(from.size());
  }

  Shared& shared_;
  int rank_;
  std::size_t looks_ = 0;
};

Team::Team(int size) : shared_(std::make_unique<Shared>(size)) {}
Team::~Team() = default;
int Team::size() const { return shared_->size; }

std::unique_ptr<Comm> Team::comm(int rank) { return std::make_unique<Member>(*shared_, rank); }

}  // namespace vphi::comm
