// Exchanges through the memory of the host (runtime/run/ranks/host_exchange.hpp), on devices that
// copy as late as they may: what is queued is done by `synchronise`, and one of the ranks is slow.
#include "runtime/run/ranks/host_exchange.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "runtime/comm/team.hpp"

namespace vphi::runtime {
namespace {

using program::Precision;

class LateDevice : public Device {
 public:
  DeviceInfo info() const override { return {}; }
  BufferHandle allocate(std::size_t bytes) override {
    memory_.emplace_back(bytes);
    return {static_cast<int>(memory_.size()) - 1};
  }
  void free(BufferHandle) override {}
  void upload(BufferHandle, std::size_t, std::span<const std::byte>) override { ++waits; }
  void download(std::span<std::byte>, BufferHandle, std::size_t) override { ++waits; }
  void upload_later(BufferHandle to, std::size_t at, std::span<const std::byte> from) override {
    queue_.push_back([this, to, at, from] { std::ranges::copy(from, &bytes(to)[at]); });
  }
  void download_later(std::span<std::byte> to, BufferHandle from, std::size_t at) override {
    queue_.push_back([this, to, from, at] { std::copy_n(&bytes(from)[at], to.size(), &to[0]); });
  }
  void synchronise() override {
    ++waits;
    std::this_thread::sleep_for(delay);
    for (const auto& work : queue_) work();
    queue_.clear();
  }
  void zero(BufferHandle) override {}
  std::vector<KernelHandle> compile(std::span<const program::Kernel>) override { return {}; }
  KernelReport report(KernelHandle) const override { return {}; }
  void launch(KernelHandle, std::span<const BufferHandle>) override {}
  RecordingHandle record(const std::function<void()>&) override { return {}; }
  void replay(RecordingHandle) override {}
  int mark() override { return 0; }
  double seconds_between(int, int) override { return 0; }

  /// In the order of the queue, as a launch would write it.
  template <class T>
  void set(BufferHandle to, std::vector<T> values) {
    queue_.push_back([this, to, values = std::move(values)] {
      std::memcpy(bytes(to).data(), values.data(), values.size() * sizeof(T));
    });
  }
  template <class T>
  T number(BufferHandle from, std::size_t i) {
    T value{};
    std::memcpy(&value, &bytes(from)[i * sizeof(T)], sizeof value);
    return value;
  }

  int waits = 0;
  std::chrono::microseconds delay{0};

 private:
  std::vector<std::byte>& bytes(BufferHandle buffer) {
    return memory_.at(static_cast<std::size_t>(buffer.id));
  }
  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::function<void()>> queue_;
};

constexpr int kTeam = 3, kBelow = 2, kAbove = 1;
constexpr std::int64_t kPlane = 15;  // an odd number of f32 is no whole number of words

program::Program share_of(int rank) {
  program::Program p;
  p.dims = 3;
  p.cut.axis = 2, p.cut.whole = 14, p.cut.slab = 2;
  p.cut.ghost = {kBelow, kAbove};
  p.cut.ends = {program::Cut::End::Antiperiodic, program::Cut::End::Antiperiodic};
  p.cut.own = p.cut.planes(kTeam, rank).count;
  p.extent = {5, 3, p.cut.own + kBelow + kAbove, 1};
  return p;
}

/// What plane `z` of the whole lattice has in a round, beyond its ends with the other sign.
template <class T>
T value_at(std::int64_t z, std::int64_t site, int round) {
  const std::int64_t whole = 14, inside = (z + whole) % whole;
  const auto value = static_cast<T>(1 + site + 100 * inside + 2000 * round);
  return z == inside ? value : -value;
}

/// An array of a rank, whose ghosts have numbers of no round.
template <class T>
std::vector<T> own_values(const program::Program& p, std::int64_t first, int round) {
  std::vector<T> values(static_cast<std::size_t>(p.sites()), T(-7));
  for (std::int64_t z = 0; z < p.cut.own; ++z)
    for (std::int64_t i = 0; i < kPlane; ++i)
      values[static_cast<std::size_t>((z + kBelow) * kPlane + i)] =
          value_at<T>(first + z, i, round);
  return values;
}

template <class T>
void expect_ghosts(LateDevice& device, BufferHandle array, const program::Program& p,
                   std::int64_t first, int round) {
  for (std::int64_t i = 0; i < p.sites(); ++i)
    ASSERT_EQ(device.number<T>(array, static_cast<std::size_t>(i)),
              value_at<T>(first + i / kPlane - kBelow, i % kPlane, round))
        << "site " << i << ", round " << round;
}

void exchange_rounds(comm::Comm& comm, int rank) {
  const program::Program p = share_of(rank);
  const std::int64_t first = p.cut.planes(kTeam, rank).first;
  LateDevice device;
  HostExchange exchange(p, device, comm);
  const BufferHandle wide = device.allocate(static_cast<std::size_t>(p.sites()) * 8),
                     narrow = device.allocate(static_cast<std::size_t>(p.sites()) * 4),
                     own = device.allocate(3 * 8), all = device.allocate(6 * 8);
  Wanted of_wide, of_rest;
  of_wide.ghosts.push_back({wide, Precision::F64, {kBelow, kAbove}, {}, 0, 0});
  of_rest.ghosts.push_back({narrow, Precision::F32, {kBelow, kAbove}, {}, 0, 0});
  of_rest.joined.push_back({own, all, static_cast<std::size_t>(rank + 1) * 8, 6 * 8, 0});
  for (int round = 0; round < 12; ++round) {
    device.delay = std::chrono::microseconds(round % kTeam == rank ? 3000 : 0);
    device.waits = 0;
    device.set(wide, own_values<double>(p, first, round));
    exchange.exchange(of_wide);
    device.set(narrow, own_values<float>(p, first, round));
    device.set(own, std::vector<double>(static_cast<std::size_t>(rank) + 1, 10.0 * round + rank));
    exchange.exchange(of_rest);
    EXPECT_EQ(device.waits, 2);
    device.synchronise();
    expect_ghosts<double>(device, wide, p, first, round);
    expect_ghosts<float>(device, narrow, p, first, round);
    for (std::size_t i = 0; i < 6; ++i)
      ASSERT_EQ(device.number<double>(all, i), 10 * round + (i < 1 ? 0 : i < 3 ? 1 : 2)) << i;
  }
}

TEST(HostExchange, WaitsOnceAndHasTheNumbersOfItsRound) {
  comm::Team team(kTeam);
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < kTeam; ++rank)
    ranks.emplace_back([&team, rank] {
      const auto comm = team.comm(rank);
      exchange_rounds(*comm, rank);
    });
}

}  // namespace
}  // namespace vphi::runtime
