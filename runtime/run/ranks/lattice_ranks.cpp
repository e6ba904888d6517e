#include "runtime/run/ranks/lattice_ranks.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "runtime/device/lanes.hpp"
#include "runtime/run/ranks/nccl_exchange.hpp"
#include "runtime/run/ranks/parts_beside.hpp"
#include "runtime/run/ranks/peer_memory.hpp"

namespace vphi::runtime {

using comm::Bytes;
using program::Cut;

namespace {

/// VPHI_EXCHANGE, the same on all ranks; empty: no way is named.
std::string wished_exchange(comm::Comm& comm) {
  constexpr std::array<const char*, 4> kWays{"", "peers", "nccl", "host"};
  const char* text = std::getenv("VPHI_EXCHANGE");
  const std::string wish = text == nullptr ? "" : text;
  const auto found = std::ranges::find(kWays, wish);
  if (comm.most(found == kWays.end() ? 1 : 0) != 0)
    throw DeviceError("VPHI_EXCHANGE is peers, nccl or host" +
                      (found == kWays.end() ? ", not '" + wish + "'." : std::string(".")));
  const auto way = found - kWays.begin();
  if (comm.most(way) != way || comm.most(-way) != -way)
    throw DeviceError("VPHI_EXCHANGE differs between the ranks: give all of them the same.");
  return wish;
}

}  // namespace

LatticeRanks::LatticeRanks(const program::Program& of_this_rank, Device& device, comm::Comm& comm)
    : program_(of_this_rank),
      device_(device),
      comm_(comm),
      through_host_(of_this_rank, device, comm) {}

LatticeRanks::~LatticeRanks() = default;

std::int64_t LatticeRanks::first() const {
  return program_.cut.planes(comm_.size(), comm_.rank()).first;
}

std::int64_t LatticeRanks::first_line() const { return program_.cut.lines(comm_.rank()).first; }

std::unique_ptr<DeviceExchange> LatticeRanks::choose() {
  const std::string wish = wished_exchange(comm_);
  if (wish.empty() || wish == "peers") {
    if (auto made = PeerMemory::open(program_, device_, comm_)) return made;
    if (!wish.empty())
      throw DeviceError(
          "VPHI_EXCHANGE=peers, and the devices of the ranks do not reach each other's memory: it "
          "takes NVIDIA GPUs of one machine with peer access. Without it another way is chosen.");
  }
  if (wish.empty() || wish == "nccl") {
    std::string why;
    if (auto made = NcclExchange::open(program_, device_, comm_, &why)) return made;
    if (!wish.empty())
      throw DeviceError("VPHI_EXCHANGE=nccl, and NCCL does not serve these ranks" +
                        (why.empty() ? std::string() : ": " + why) +
                        ". Without it another way is chosen.");
  }
  return nullptr;
}

DeviceExchange* LatticeRanks::between_devices() {
  if (!chosen_) between_ = choose();
  chosen_ = true;
  return between_.get();
}

bool LatticeRanks::recorded() { return between_devices() != nullptr; }

std::string LatticeRanks::way() const {
  if (!chosen_) return {};
  if (!between_) return "through the memory of the host";
  bool parts = has_parts(program_, program_.step);
  for (const auto& step : program_.cycle) parts = parts || has_parts(program_, step);
  const bool beside = parts && dynamic_cast<const Lanes*>(&device_) != nullptr;
  return between_->way() + (beside ? ", beside kernels" : "");
}

void LatticeRanks::prepare(const Wanted& wanted) {
  if (!wanted.empty() && between_devices() != nullptr) between_devices()->prepare(wanted);
}

void LatticeRanks::exchange(const Wanted& wanted) {
  if (wanted.empty()) return;
  if (between_devices() != nullptr) return between_devices()->exchange(wanted);
  through_host_.exchange(wanted);
}

void LatticeRanks::meet() {
  if (between_) comm_.most(0);
}

void LatticeRanks::check() {
  if (between_) between_->check();
}

namespace {

/// Runs of bytes, or of sites, at equal steps: of each plane the own lines, or all own planes at
/// once.
struct OwnRuns {
  std::size_t first = 0, step = 0, bytes = 0, count = 0;
};

OwnRuns runs_of(const Cut& cut, std::int64_t first, std::int64_t count, std::int64_t first_line,
                std::int64_t lines_in_memory, std::size_t plane) {
  const auto size = [](std::int64_t number) { return static_cast<std::size_t>(number); };
  if (cut.second.ranks == 1) return {size(first) * plane, 0, size(count) * plane, 1};
  const std::size_t line = plane / size(lines_in_memory);
  return {size(first) * plane + size(first_line) * line, plane, size(cut.second.own) * line,
          size(count)};
}

OwnRuns runs_in_memory(const program::Program& p, std::size_t plane) {
  return runs_of(p.cut, p.cut.ghost[0], p.cut.own, p.cut.second.ghost[0],
                 p.extent[static_cast<std::size_t>(std::max(0, p.cut.axis - 1))], plane);
}

OwnRuns runs_in_whole(const Cut& cut, int ranks, int rank, std::size_t bytes) {
  const Cut::Planes planes = cut.planes(ranks, rank);
  return runs_of(cut, planes.first, planes.count, cut.lines(rank).first, cut.second.whole,
                 bytes / static_cast<std::size_t>(cut.whole));
}

Bytes taken_from(std::span<const std::byte> memory, const OwnRuns& runs) {
  Bytes own;
  own.reserve(runs.bytes * runs.count);  // large: not written twice
  for (std::size_t k = 0; k < runs.count; ++k) {
    const std::byte* from = memory.data() + runs.first + k * runs.step;
    own.insert(own.end(), from, from + runs.bytes);
  }
  return own;
}

void put_into(std::span<std::byte> memory, const OwnRuns& runs, std::span<const std::byte> own) {
  for (std::size_t k = 0; k < runs.count; ++k)
    std::memcpy(memory.data() + runs.first + k * runs.step, own.data() + k * runs.bytes,
                runs.bytes);
}

}  // namespace

std::vector<std::int64_t> planes_by_rank(const program::Program& of_rank, int ranks) {
  std::vector<std::int64_t> planes;
  for (int r = 0; r < ranks; ++r) planes.push_back(of_rank.cut.planes(ranks, r).count);
  return planes;
}

Bytes own_planes(const program::Program& of_rank, std::span<const std::byte> memory) {
  return taken_from(memory, runs_in_memory(of_rank, memory.size() / planes_in_memory(of_rank)));
}

Bytes with_ghosts(const program::Program& of_rank, std::span<const std::byte> own) {
  const Cut& cut = of_rank.cut;
  std::size_t plane = own.size() / static_cast<std::size_t>(cut.own);
  if (cut.second.ranks > 1)
    plane = plane / static_cast<std::size_t>(cut.second.own) *
            static_cast<std::size_t>(of_rank.extent[static_cast<std::size_t>(cut.axis - 1)]);
  Bytes memory(plane * planes_in_memory(of_rank));
  put_into(memory, runs_in_memory(of_rank, plane), own);
  return memory;
}

Bytes share_of_whole(const Cut& cut, int ranks, int rank, std::span<const std::byte> whole) {
  return taken_from(whole, runs_in_whole(cut, ranks, rank, whole.size()));
}

void put_share(const Cut& cut, int ranks, int rank, std::span<const std::byte> own,
               std::span<std::byte> whole) {
  put_into(whole, runs_in_whole(cut, ranks, rank, whole.size()), own);
}

std::vector<OwnSites> own_sites_among(const program::Program& program, int ranks, int rank,
                                      std::size_t first, std::size_t count) {
  const Cut& cut = program.cut;
  const auto plane = static_cast<std::size_t>(program.sites()) / planes_in_memory(program);
  const OwnRuns memory = runs_in_memory(program, plane);
  std::size_t whole_plane = plane;
  if (cut.second.ranks > 1)
    whole_plane = plane /
                  static_cast<std::size_t>(program.extent[static_cast<std::size_t>(cut.axis - 1)]) *
                  static_cast<std::size_t>(cut.second.whole);
  const OwnRuns whole =
      runs_in_whole(cut, ranks, rank, whole_plane * static_cast<std::size_t>(cut.whole));
  std::vector<OwnSites> list;
  for (std::size_t k = 0; k < whole.count; ++k) {
    const std::size_t begin = whole.first + k * whole.step;
    const std::size_t from = std::max(first, begin),
                      to = std::min(first + count, begin + whole.bytes);
    if (from < to)
      list.push_back({memory.first + k * memory.step + (from - begin), from, to - from});
  }
  return list;
}

}  // namespace vphi::runtime
