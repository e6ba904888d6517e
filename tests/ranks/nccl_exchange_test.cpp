// Exchanges by packed messages (nccl_exchange.hpp), on memory of the host: a device that executes
// the tables of its two kernels, and messages that go through a Comm. What GPUs add is NCCL itself.
#include "runtime/run/ranks/nccl_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <thread>

#include "runtime/comm/team.hpp"

namespace vphi::runtime {
namespace {

using End = program::Cut::End;

template <class T>
T* at(std::uint64_t address) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

class HostMemory : public Device {
 public:
  DeviceInfo info() const override { return {}; }
  BufferHandle allocate(std::size_t bytes) override {
    memory_.emplace_back(bytes / sizeof(std::uint64_t) + 1, 0);
    return {static_cast<int>(memory_.size()) - 1};
  }
  void free(BufferHandle) override {}
  void upload(BufferHandle to, std::size_t offset, std::span<const std::byte> from) override {
    std::memcpy(bytes(to) + offset, from.data(), from.size());
  }
  void download(std::span<std::byte> to, BufferHandle from, std::size_t offset) override {
    std::memcpy(to.data(), bytes(from) + offset, to.size());
  }
  void zero(BufferHandle) override {}
  std::vector<KernelHandle> compile(std::span<const program::Kernel> kernels) override {
    std::vector<KernelHandle> handles;
    for (const program::Kernel& kernel : kernels) {
      entries_.push_back(kernel.entry);
      handles.push_back({static_cast<int>(entries_.size()) - 1});
    }
    return handles;
  }
  KernelReport report(KernelHandle) const override { return {}; }
  void launch(KernelHandle kernel, std::span<const BufferHandle> arguments) override {
    const std::byte* table = bytes(arguments[0]);
    PeerHead head;
    std::memcpy(&head, table, sizeof head);
    const bool pack = entries_.at(static_cast<std::size_t>(kernel.id)) == "vphi_pack";
    const auto* pieces = reinterpret_cast<const PeerPiece*>(table + sizeof head);
    const std::uint64_t first = pack ? 0 : head.sent, count = pack ? head.sent : head.received;
    for (std::uint64_t k = first; k < first + count; ++k) copy(pieces[k]);
  }
  RecordingHandle record(const std::function<void()>&) override { return {}; }
  void replay(RecordingHandle) override {}
  void synchronise() override {}
  int mark() override { return 0; }
  double seconds_between(int, int) override { return 0; }
  void* raw_memory(BufferHandle buffer) override { return bytes(buffer); }

 private:
  std::byte* bytes(BufferHandle buffer) {
    return reinterpret_cast<std::byte*>(memory_.at(static_cast<std::size_t>(buffer.id)).data());
  }
  static void copy(const PeerPiece& piece) {
    for (std::uint32_t u = 0; u < piece.units; ++u) {
      for (std::uint32_t byte = 0; byte < piece.unit; byte += 4) {
        std::uint32_t word = 0;
        std::memcpy(&word, at<std::byte>(piece.from + u * piece.unit + byte), 4);
        const unsigned shift = piece.unit == 4 ? 0 : byte % 8 * 8;
        word = (word & static_cast<std::uint32_t>(piece.mask.keep >> shift)) ^
               static_cast<std::uint32_t>(piece.mask.flip >> shift);
        std::memcpy(at<std::byte>(piece.to + u * piece.unit + byte), &word, 4);
      }
    }
  }

  std::deque<std::vector<std::uint64_t>> memory_;
  std::vector<std::string> entries_;
};

/// All bytes go to rank 0, and each rank gets its own.
class ThroughComm : public comm::Nccl {
 public:
  explicit ThroughComm(comm::Comm& comm) : comm_(comm) {}
  void exchange(std::span<const Transfer> transfers, std::span<const ToAll> to_all) override {
    const auto ranks = static_cast<std::size_t>(comm_.size());
    std::vector<std::uint64_t> given(ranks), got(ranks);
    comm::Bytes out;
    for (const Transfer& t : transfers) {
      given[static_cast<std::size_t>(t.rank)] = t.give_bytes;
      const auto* from = at<std::byte>(t.give);
      out.insert(out.end(), from, from + t.give_bytes);
    }
    const auto all_given = everyone(comm_, given);
    std::uint64_t sum = 0;
    for (const std::uint64_t bytes : all_given) sum += bytes;
    comm::Bytes all(sum);
    comm_.to_all(out, all);
    for (const Transfer& t : transfers) {
      std::uint64_t place = 0;
      const auto wanted = static_cast<std::size_t>(t.rank) * ranks + own();
      for (std::size_t k = 0; k < wanted; ++k) place += all_given[k];
      EXPECT_EQ(all_given[wanted], t.get_bytes);
      std::memcpy(at<std::byte>(t.get), all.data() + place, t.get_bytes);
    }
    for (const ToAll& one : to_all) {
      std::uint64_t bytes = 0;
      for (const std::uint64_t of : one.bytes) bytes += of;
      comm_.to_all({at<const std::byte>(one.own), one.bytes[own()]},
                   {at<std::byte>(one.all), bytes});
    }
  }
  void check() override {}

 private:
  std::size_t own() const { return static_cast<std::size_t>(comm_.rank()); }
  comm::Comm& comm_;
};

constexpr std::int64_t kPlanes = 10, kPlane = 6;

double value(std::int64_t plane, std::int64_t site) {
  return static_cast<double>(1 + plane * kPlane + site);
}

/// What lies at a plane of the whole lattice, which may be beyond its ends.
double expected(std::int64_t plane, std::int64_t site, End end, double fixed) {
  if (plane >= 0 && plane < kPlanes) return value(plane, site);
  const std::int64_t other = plane < 0 ? plane + kPlanes : plane - kPlanes;
  if (end == End::Periodic) return value(other, site);
  if (end == End::Antiperiodic) return -value(other, site);
  if (end == End::Mirror) return value(plane < 0 ? -plane - 1 : 2 * kPlanes - 1 - plane, site);
  if (end == End::Open) return value(plane < 0 ? 0 : kPlanes - 1, site);
  return fixed;
}

program::Program share(int ranks, int rank, End end) {
  program::Program p;
  p.dims = 2;
  p.cut.axis = 1, p.cut.whole = kPlanes, p.cut.slab = 2, p.cut.ghost = {2, 1};
  p.cut.ends = {end, end}, p.cut.fixed_value = 2.5;
  p.cut.own = p.cut.planes(ranks, rank).count;
  p.extent = {kPlane, p.cut.own + 3, 1, 1};
  p.order = {2, {1, 1, 0, 0}, 0};
  return p;
}

/// Calls look(place, plane, site) for each site of so many planes of memory; planes are numbered in
/// the whole lattice, and may lie beyond its ends. With `lanes` places are those of ordered sites.
template <class Look>
void each_place(const program::Program& p, std::int64_t first, const std::array<int, 2>& depth,
                int lanes, const Look& look) {
  for (std::int64_t row = 2 - depth[0]; row < 2 + p.cut.own + depth[1]; ++row)
    for (std::int64_t site = 0; site < kPlane; ++site) {
      const std::int64_t number = row * kPlane + site;
      for (int lane = 0; lane < std::max(1, lanes); ++lane)
        look(static_cast<std::size_t>(lanes == 0 ? number
                                                 : p.order.place(number, p.extent) * lanes + lane),
             first + row - 2, site + lane * 100);
    }
}

template <class T>
void fill_and_look(comm::Comm& comm, End end, program::Precision precision) {
  const program::Program p = share(comm.size(), comm.rank(), end);
  HostMemory device;
  NcclExchange exchange(p, device, comm, std::make_unique<ThroughComm>(comm));
  const std::int64_t first = p.cut.planes(comm.size(), comm.rank()).first, rows = p.extent[1];
  const auto size = [&](int lanes) {
    return static_cast<std::size_t>(rows * kPlane * std::max(1, lanes));
  };
  Wanted wanted;
  // another array with ghosts on one side, so that a message has several parts, and two whose even
  // and odd sites lie apart
  for (const auto& [depth, lanes] :
       {std::pair{std::array{2, 1}, 0}, std::pair{std::array{1, 0}, 0},
        std::pair{std::array{2, 1}, 2}, std::pair{std::array{1, 1}, 1}}) {
    std::vector<T> array(size(lanes), T(-1000));
    each_place(p, first, {0, 0}, lanes, [&](std::size_t at, std::int64_t plane, std::int64_t site) {
      array[at] = static_cast<T>(value(plane, site));
    });
    wanted.ghosts.push_back(
        {device.allocate(array.size() * sizeof(T)), precision, depth, {}, lanes});
    device.upload(wanted.ghosts.back().array, 0, std::as_bytes(std::span(array)));
  }
  std::vector<double> sums(static_cast<std::size_t>(p.cut.own), comm.rank() + 1.0);
  wanted.joined.push_back({device.allocate(sums.size() * sizeof(double)),
                           device.allocate(kPlanes * sizeof(double)), sums.size() * sizeof(double),
                           kPlanes * sizeof(double)});
  device.upload(wanted.joined[0].own, 0, std::as_bytes(std::span(sums)));
  exchange.exchange(wanted);
  for (const Wanted::Ghosts& ghosts : wanted.ghosts) {
    std::vector<T> array(size(ghosts.lanes));
    device.download(std::as_writable_bytes(std::span(array)), ghosts.array, 0);
    each_place(
        p, first, ghosts.depth, ghosts.lanes,
        [&](std::size_t at, std::int64_t plane, std::int64_t site) {
          EXPECT_EQ(static_cast<double>(array[at]), expected(plane, site, end, p.cut.fixed_value))
              << "rank " << comm.rank() << " plane " << plane << " site " << site;
        });
  }
  std::vector<double> all(kPlanes);
  device.download(std::as_writable_bytes(std::span(all)), wanted.joined[0].all, 0);
  std::size_t k = 0;
  for (int rank = 0; rank < comm.size(); ++rank)
    for (std::int64_t i = 0; i < p.cut.planes(comm.size(), rank).count; ++i)
      EXPECT_EQ(all[k++], rank + 1.0);
}

class NcclExchanges : public ::testing::TestWithParam<std::tuple<int, End>> {};

TEST_P(NcclExchanges, FillGhostsAndGatherSums) {
  const auto [ranks, end] = GetParam();
  comm::Team team(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&team, rank, end = end] {
      const auto comm = team.comm(rank);
      fill_and_look<double>(*comm, end, program::Precision::F64);
      fill_and_look<float>(*comm, end, program::Precision::F32);
    });
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Ends, NcclExchanges,
                         ::testing::Combine(::testing::Values(2, 3),
                                            ::testing::Values(End::Periodic, End::Antiperiodic,
                                                              End::Mirror, End::Open, End::Fixed)));

}  // namespace
}  // namespace vphi::runtime
