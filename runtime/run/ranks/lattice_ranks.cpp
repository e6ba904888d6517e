#include "runtime/run/ranks/lattice_ranks.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/run/ranks/peer_memory.hpp"

namespace vphi::runtime {

using comm::Bytes;
using program::Cut;

namespace {

/// What an end of the lattice makes of an image. Numbers have whole words, or are halves of them.
void change(const ImageMask& mask, std::span<std::byte> planes) {
  for (std::size_t at = 0; at < planes.size(); at += sizeof(std::uint64_t)) {
    const std::size_t bytes = std::min(sizeof(std::uint64_t), planes.size() - at);
    std::uint64_t word = 0;
    std::memcpy(&word, &planes[at], bytes);
    word = (word & mask.keep) ^ mask.flip;
    std::memcpy(&planes[at], &word, bytes);
  }
}

}  // namespace

LatticeRanks::LatticeRanks(const program::Program& of_this_rank, Device& device, comm::Comm& comm)
    : program_(of_this_rank), device_(device), comm_(comm) {}

LatticeRanks::~LatticeRanks() = default;

std::int64_t LatticeRanks::first() const {
  return program_.cut.planes(comm_.size(), comm_.rank()).first;
}

PeerMemory* LatticeRanks::peers() {
  if (!chosen_) peers_ = PeerMemory::open(program_, device_, comm_);
  chosen_ = true;
  return peers_.get();
}

bool LatticeRanks::recorded() { return peers() != nullptr; }

std::string LatticeRanks::way() const {
  if (!chosen_) return {};
  return peers_ ? "from device to device" : "through the memory of the host";
}

void LatticeRanks::prepare(const Wanted& wanted) {
  if (!wanted.empty() && peers() != nullptr) peers()->prepare(wanted);
}

void LatticeRanks::exchange(const Wanted& wanted) {
  if (wanted.empty()) return;
  if (peers() != nullptr) return peers()->exchange(wanted);
  through_host(wanted);
}

void LatticeRanks::meet() {
  if (peers_) comm_.most(0);
}

void LatticeRanks::check() {
  if (peers_) peers_->check();
}

void LatticeRanks::through_host(const Wanted& wanted) {
  for (const Wanted::Sums& sums : wanted.sums) {
    Bytes own(sums.own_bytes), all(sums.all_bytes);
    device_.download(own, sums.own, 0);
    comm_.to_all(own, all);
    device_.upload(sums.all, 0, all);
  }
  const Cut& cut = program_.cut;
  const auto first = static_cast<std::size_t>(cut.ghost[0]),
             own = static_cast<std::size_t>(cut.own);
  for (const Wanted::Ghosts& ghosts : wanted.ghosts) {
    const std::size_t plane = plane_bytes(program_, ghosts.precision);
    const auto below = static_cast<std::size_t>(ghosts.depth[0]),
               above = static_cast<std::size_t>(ghosts.depth[1]);
    // own planes at both ends: what neighbours want, and what images need
    const std::size_t deep = std::max(below, above);
    Bytes low(deep * plane), high(deep * plane), under(below * plane), over(above * plane);
    device_.download(low, ghosts.array, first * plane);
    device_.download(high, ghosts.array, (first + own - deep) * plane);
    comm_.ring(std::span(low).first(above * plane), std::span(high).last(below * plane), under,
               over);
    const auto end_of = [&](bool up) -> Bytes& { return up ? over : under; };
    for (const GhostPlanes& planes : ghosts_of(cut, comm_.size(), comm_.rank(), ghosts.depth)) {
      const bool up = planes.to >= static_cast<std::int64_t>(first + own);
      const auto at = static_cast<std::size_t>(planes.to) - (up ? first + own : first - below);
      const auto place =
          std::span(end_of(up)).subspan(at * plane, static_cast<std::size_t>(planes.count) * plane);
      if (planes.of == comm_.rank()) {
        const auto from = static_cast<std::size_t>(planes.from) - (up ? first + own - deep : first);
        std::ranges::copy(std::span(up ? high : low).subspan(from * plane, place.size()),
                          place.begin());
      }
      change(image_mask(cut, planes.change, ghosts.precision), place);
    }
    if (below > 0) device_.upload(ghosts.array, (first - below) * plane, under);
    if (above > 0) device_.upload(ghosts.array, (first + own) * plane, over);
  }
}

Bytes own_planes(const program::Program& of_rank, std::span<const std::byte> memory) {
  const std::size_t plane = memory.size() / planes_in_memory(of_rank);
  const auto own = memory.subspan(static_cast<std::size_t>(of_rank.cut.ghost[0]) * plane,
                                  static_cast<std::size_t>(of_rank.cut.own) * plane);
  return {own.begin(), own.end()};
}

Bytes with_ghosts(const program::Program& of_rank, std::span<const std::byte> own) {
  const std::size_t plane = own.size() / static_cast<std::size_t>(of_rank.cut.own);
  Bytes memory(plane * planes_in_memory(of_rank));
  std::ranges::copy(
      own, memory.begin() +
               static_cast<std::ptrdiff_t>(static_cast<std::size_t>(of_rank.cut.ghost[0]) * plane));
  return memory;
}

}  // namespace vphi::runtime
