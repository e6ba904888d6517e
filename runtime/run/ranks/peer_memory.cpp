#include "runtime/run/ranks/peer_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/run/ranks/peer_kernel.hpp"
#include "runtime/run/ranks/worker.hpp"

namespace vphi::runtime {

using comm::Bytes;
using program::Cut;
using program::Precision;

namespace {

constexpr std::size_t kUnrecorded = 32;  ///< tables of exchanges that no recording contains
constexpr int kMostRanks = 64;           ///< threads of a block that tell and wait

template <class T>
std::vector<T> everyone(comm::Comm& comm, const std::vector<T>& own) {
  std::vector<T> all(own.size() * static_cast<std::size_t>(comm.size()));
  comm.to_all(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
  return all;
}

struct Place {
  std::array<char, 200> host{};
  std::array<char, 40> device{};
  std::int64_t process = 0;
};

Place place_of(const Device& device) {
  Place place;
  gethostname(place.host.data(), place.host.size() - 1);
  const std::string id = device.info().id;
  std::memcpy(place.device.data(), id.data(), std::min(id.size(), place.device.size() - 1));
  place.process = getpid();
  return place;
}

/// Adds pieces of at most kPeerUnits, each for one block, with units as wide as the addresses
/// allow.
void cut_into_pieces(std::vector<PeerPiece>& list, PeerPiece whole, std::size_t bytes) {
  const std::uint64_t aligned = whole.from | whole.to | bytes;
  whole.unit = aligned % 16 == 0 ? 16 : aligned % 8 == 0 ? 8 : 4;
  for (std::size_t left = bytes / whole.unit; left > 0;) {
    whole.units = static_cast<std::uint32_t>(std::min<std::size_t>(left, kPeerUnits));
    list.push_back(whole);
    const std::uint64_t further = std::uint64_t{whole.units} * whole.unit;
    whole.from += further, whole.to += further, left -= whole.units;
  }
}

/// What an end of the lattice makes of an image, on words of 64 bits.
void change_beyond(PeerPiece& piece, const Cut& cut, Cut::End end, Precision precision) {
  const bool single = precision == Precision::F32;
  if (end == Cut::End::Antiperiodic)
    piece.flip = single ? 0x8000000080000000ULL : 0x8000000000000000ULL;
  if (end != Cut::End::Fixed) return;
  piece.keep = 0;
  const auto narrow = std::bit_cast<std::uint32_t>(static_cast<float>(cut.fixed_value));
  piece.flip = single ? (std::uint64_t{narrow} << 32 | narrow)
                      : std::bit_cast<std::uint64_t>(cut.fixed_value);
}

}  // namespace

std::unique_ptr<PeerMemory> PeerMemory::open(const program::Program& of_this_rank, Device& device,
                                             comm::Comm& comm) {
  const std::vector<Place> all = everyone(comm, std::vector<Place>{place_of(device)});
  const auto rank = static_cast<std::size_t>(comm.rank());
  bool reached = comm.size() <= kMostRanks;
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (r == rank) continue;
    reached = reached && all[r].process == all[rank].process && all[r].host == all[rank].host &&
              device.reach(all[r].device.data());
  }
  if (comm.most(reached ? 0 : 1) != 0) return nullptr;
  return std::unique_ptr<PeerMemory>(new PeerMemory(of_this_rank, device, comm));
}

PeerMemory::PeerMemory(const program::Program& of_this_rank, Device& device, comm::Comm& comm)
    : program_(of_this_rank), device_(device), comm_(comm) {
  counts_ = device_.allocate(peer_counts(comm.size()) * sizeof(std::uint32_t));
  device_.zero(counts_);
  device_.synchronise();  // before others write into them
  counts_of_ = everyone(comm_, std::vector<std::uint64_t>{address(counts_)});
}

PeerMemory::~PeerMemory() {
  try {
    for (const auto& [key, table] : tables_) device_.free(table.buffer);
    device_.free(counts_);
  } catch (const std::exception&) {
    // A device that failed has reported it before.
  }
}

std::uint64_t PeerMemory::address(BufferHandle buffer) {
  return std::bit_cast<std::uintptr_t>(device_.raw_memory(buffer));
}

KernelHandle PeerMemory::kernel(unsigned blocks) {
  auto found = kernels_.find(blocks);
  if (found == kernels_.end()) {
    const program::Kernel kernel = peer_kernel(blocks);
    found = kernels_.emplace(blocks, device_.compile(std::span(&kernel, 1)).front()).first;
  }
  return found->second;
}

/// All ranks say where the arrays of this exchange lie. Each then lists what it copies.
std::vector<std::uint64_t> PeerMemory::contents(const Wanted& wanted, unsigned* blocks) {
  std::vector<std::uint64_t> own;
  for (const Wanted::Ghosts& ghosts : wanted.ghosts) own.push_back(address(ghosts.array));
  for (const Wanted::Sums& sums : wanted.sums)
    own.insert(own.end(), {address(sums.own), sums.own_bytes});
  const std::vector<std::uint64_t> all = everyone(comm_, own);
  const auto ranks = static_cast<std::size_t>(comm_.size());
  const auto at = [&](std::size_t rank, std::size_t number) {
    return all[rank * own.size() + number];
  };
  std::vector<PeerPiece> pieces;
  const auto planes_in_memory =
      static_cast<std::size_t>(program_.extent[static_cast<std::size_t>(program_.cut.axis)]);
  for (std::size_t g = 0; g < wanted.ghosts.size(); ++g) {
    const Wanted::Ghosts& ghosts = wanted.ghosts[g];
    const std::size_t plane = static_cast<std::size_t>(program_.sites()) / planes_in_memory *
                              (ghosts.precision == Precision::F32 ? 4 : 8);
    for (const GhostPlanes& planes :
         ghosts_of(program_.cut, comm_.size(), comm_.rank(), ghosts.depth)) {
      PeerPiece piece;
      piece.from = at(static_cast<std::size_t>(planes.of), g) +
                   static_cast<std::uint64_t>(planes.from) * plane;
      piece.to = own[g] + static_cast<std::uint64_t>(planes.to) * plane;
      change_beyond(piece, program_.cut, planes.change, ghosts.precision);
      cut_into_pieces(pieces, piece, static_cast<std::size_t>(planes.count) * plane);
    }
  }
  for (std::size_t s = 0; s < wanted.sums.size(); ++s) {
    std::uint64_t to = address(wanted.sums[s].all);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::uint64_t bytes = at(rank, wanted.ghosts.size() + 2 * s + 1);
      PeerPiece piece;
      piece.from = at(rank, wanted.ghosts.size() + 2 * s);
      piece.to = to;
      cut_into_pieces(pieces, piece, bytes);
      to += bytes;
    }
  }
  std::vector<std::uint64_t> words{pieces.size(), ranks, static_cast<std::uint64_t>(comm_.rank()),
                                   0};
  words.insert(words.end(), counts_of_.begin(), counts_of_.end());
  const std::size_t head = words.size(), one = sizeof(PeerPiece) / sizeof(std::uint64_t);
  words.resize(head + pieces.size() * one);
  std::memcpy(words.data() + head, pieces.data(), pieces.size() * sizeof(PeerPiece));
  const auto units = static_cast<unsigned>(std::max(1, device_.info().compute_units));
  *blocks = 1;
  while (*blocks < pieces.size() && *blocks < units) *blocks = std::min(2 * *blocks, units);
  return words;
}

/// Memory of the oldest exchange that no recording contains, where there are many of them.
BufferHandle PeerMemory::room_for(std::size_t bytes, Table& table) {
  if (unrecorded_.size() >= kUnrecorded) {
    for (auto old = unrecorded_.begin(); old != unrecorded_.end(); ++old) {
      const auto found = tables_.find(*old);
      if (found->second.room < bytes) continue;
      table.room = found->second.room;
      const BufferHandle free = found->second.buffer;
      tables_.erase(found);
      unrecorded_.erase(old);
      return free;
    }
  }
  table.room = std::bit_ceil(bytes);
  return device_.allocate(table.room);
}

PeerMemory::Table& PeerMemory::table(const Wanted& wanted, bool recorded) {
  Key key;
  for (const Wanted::Ghosts& ghosts : wanted.ghosts)
    key.insert(key.end(), {ghosts.array.id, ghosts.depth[0], ghosts.depth[1]});
  key.push_back(-1);
  for (const Wanted::Sums& sums : wanted.sums) key.insert(key.end(), {sums.own.id, sums.all.id});
  const auto found = tables_.find(key);
  if (found != tables_.end()) {
    if (recorded && !found->second.recorded) unrecorded_.remove(key);
    found->second.recorded |= recorded;
    return found->second;
  }
  Table made;
  made.recorded = recorded;
  const std::vector<std::uint64_t> words = contents(wanted, &made.blocks);
  kernel(made.blocks);
  made.buffer = room_for(words.size() * sizeof(std::uint64_t), made);
  device_.upload(made.buffer, 0, std::as_bytes(std::span(words)));
  comm_.most(0);  // no rank waits in a kernel while another one still allocates
  if (!recorded) unrecorded_.push_back(key);
  return tables_.emplace(std::move(key), made).first->second;
}

void PeerMemory::prepare(const Wanted& wanted) { table(wanted, true); }

void PeerMemory::exchange(const Wanted& wanted) {
  const Table& what = table(wanted, false);
  const std::array<BufferHandle, 2> arguments{what.buffer, counts_};
  device_.launch(kernel(what.blocks), arguments);
}

void PeerMemory::check() {
  std::uint32_t failed = 0;
  device_.download(std::as_writable_bytes(std::span(&failed, 1)), counts_,
                   kPeerFailed * sizeof failed);
  if (failed != 0)
    throw comm::CommError("another rank has not come to an exchange of planes within 20 s");
}

}  // namespace vphi::runtime
