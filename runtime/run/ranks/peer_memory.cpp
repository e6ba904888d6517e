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

constexpr std::uint64_t whole_vectors(std::uint64_t bytes) { return (bytes + 15) / 16 * 16; }

std::size_t pieces_of_message(std::uint64_t bytes) { return (bytes + kPeerBytes - 1) / kPeerBytes; }

/// Adds pieces of at most kPeerBytes, each for one block, with units as wide as the addresses
/// allow.
void cut_into_pieces(std::vector<PeerPiece>& list, PeerPiece whole, std::uint64_t bytes) {
  const std::uint64_t aligned = whole.from | whole.to | bytes;
  whole.unit = aligned % 16 == 0 ? 16 : aligned % 8 == 0 ? 8 : 4;
  for (std::uint64_t left = bytes; left > 0;) {
    const std::uint64_t some = std::min<std::uint64_t>(left, kPeerBytes);
    whole.units = static_cast<std::uint32_t>(some / whole.unit);
    list.push_back(whole);
    whole.from += some, whole.to += some, left -= some;
    if (whole.flag != 0) whole.flag += sizeof(std::uint32_t);
  }
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
  std::unique_ptr<PeerMemory> made(new PeerMemory(of_this_rank, device, comm));
  if (comm.most(made->works() ? 0 : 1) != 0) return nullptr;
  return made;
}

PeerMemory::PeerMemory(const program::Program& of_this_rank, Device& device, comm::Comm& comm)
    : program_(of_this_rank), device_(device), comm_(comm) {
  counts_ = device_.allocate(peer_counts(comm.size()) * sizeof(std::uint32_t));
  device_.zero(counts_);
  device_.synchronise();  // before others write into them
  counts_of_ = everyone(comm_, std::vector<std::uint64_t>{address(counts_)});
}

bool PeerMemory::works() {
  constexpr std::size_t kNumbers = 1000;
  const auto number = [](std::size_t rank, std::size_t i) {
    return 1 + static_cast<double>(rank * kNumbers + i);
  };
  std::vector<double> own(kNumbers), all(kNumbers * static_cast<std::size_t>(comm_.size()));
  for (std::size_t i = 0; i < kNumbers; ++i)
    own[i] = number(static_cast<std::size_t>(comm_.rank()), i);
  Wanted wanted;
  wanted.sums.push_back({device_.allocate(own.size() * sizeof(double)),
                         device_.allocate(all.size() * sizeof(double)), own.size() * sizeof(double),
                         all.size() * sizeof(double)});
  const Wanted::Sums& sums = wanted.sums[0];
  device_.upload(sums.own, 0, std::as_bytes(std::span(own)));
  bool right = true;
  for (int half = 0; half < 2; ++half) {
    device_.zero(sums.all);
    exchange(wanted);
    device_.download(std::as_writable_bytes(std::span(all)), sums.all, 0);
    for (std::size_t i = 0; i < all.size(); ++i)
      right = right && all[i] == number(i / kNumbers, i % kNumbers);
  }
  device_.free(sums.own), device_.free(sums.all);
  return right;
}

PeerMemory::~PeerMemory() {
  try {
    for (const auto& [key, table] : tables_) device_.free(table.buffer);
    for (const BufferHandle inbox : old_inboxes_) device_.free(inbox);
    if (inbox_.buffer.id >= 0) device_.free(inbox_.buffer);
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

/// `sums`: bytes that each rank gives, [rank][number].
std::vector<PeerMemory::Message> PeerMemory::messages(
    const Wanted& wanted, std::size_t from, std::size_t to,
    const std::vector<std::uint64_t>& sums) const {
  std::vector<Message> list;
  for (std::size_t g = 0; g < wanted.ghosts.size(); ++g) {
    const Wanted::Ghosts& ghosts = wanted.ghosts[g];
    const std::uint64_t plane = plane_bytes(program_, ghosts.precision);
    // a plane of memory has the same place on all ranks, which have other numbers of them above
    for (const GhostPlanes& planes :
         ghosts_of(program_.cut, comm_.size(), static_cast<int>(to), ghosts.depth)) {
      if (planes.of != static_cast<int>(from)) continue;
      list.push_back({g, static_cast<std::uint64_t>(planes.from) * plane,
                      static_cast<std::uint64_t>(planes.to) * plane,
                      static_cast<std::uint64_t>(planes.count) * plane, planes.change,
                      ghosts.precision});
    }
  }
  const std::size_t count = wanted.sums.size();
  for (std::size_t s = 0; s < count; ++s) {
    std::uint64_t before = 0;
    for (std::size_t rank = 0; rank < from; ++rank) before += sums[rank * count + s];
    list.push_back({wanted.ghosts.size() + s, 0, before, sums[from * count + s]});
  }
  return list;
}

void PeerMemory::grow_inbox(std::size_t flags, std::size_t half) {
  if (flags <= inbox_.flags && half <= inbox_.half) return;
  if (inbox_.buffer.id >= 0) old_inboxes_.push_back(inbox_.buffer);
  inbox_.flags = std::bit_ceil(std::max(flags, inbox_.flags));
  inbox_.half = std::bit_ceil(std::max(half, inbox_.half));
  inbox_.buffer = device_.allocate(static_cast<std::size_t>(comm_.size()) *
                                   (inbox_.flag_bytes() + 2 * inbox_.half));
  device_.zero(inbox_.buffer);
  device_.synchronise();  // before others write into it
  inbox_.of_rank = everyone(comm_, std::vector<std::uint64_t>{address(inbox_.buffer)});
}

/// Each rank lists what it sends and what it receives; both ends of a message list it alike.
std::vector<std::uint64_t> PeerMemory::contents(const Wanted& wanted, std::size_t* pieces) {
  const auto ranks = static_cast<std::size_t>(comm_.size()),
             own = static_cast<std::size_t>(comm_.rank());
  std::vector<std::uint64_t> bytes, from, to;
  for (const Wanted::Ghosts& ghosts : wanted.ghosts) from.push_back(address(ghosts.array));
  to = from;
  for (const Wanted::Sums& sums : wanted.sums) {
    bytes.push_back(sums.own_bytes);
    from.push_back(address(sums.own)), to.push_back(address(sums.all));
  }
  const std::vector<std::uint64_t> sums = everyone(comm_, bytes);
  std::size_t most_flags = 1, most_bytes = 16;
  for (std::size_t a = 0; a < ranks; ++a) {
    for (std::size_t b = 0; b < ranks; ++b) {
      std::size_t flags = 0, all = 0;
      for (const Message& message : messages(wanted, a, b, sums))
        flags += pieces_of_message(message.bytes), all += whole_vectors(message.bytes);
      most_flags = std::max(most_flags, flags), most_bytes = std::max(most_bytes, all);
    }
  }
  grow_inbox(most_flags, most_bytes);
  std::vector<PeerPiece> send, receive;
  for (std::size_t other = 0; other < ranks; ++other) {
    if (other == own) {
      for (const Message& message : messages(wanted, own, own, sums)) {
        PeerPiece piece;
        piece.from = from[message.array] + message.from, piece.to = to[message.array] + message.to;
        piece.mask = image_mask(program_.cut, message.change, message.precision);
        cut_into_pieces(receive, piece, message.bytes);
      }
      continue;
    }
    PeerPiece out, in;
    out.flag = inbox_.region(other, own), in.flag = inbox_.region(own, other);
    out.to = out.flag + inbox_.flag_bytes(), in.from = in.flag + inbox_.flag_bytes();
    for (const Message& message : messages(wanted, own, other, sums)) {
      out.from = from[message.array] + message.from;
      cut_into_pieces(send, out, message.bytes);
      out.to += whole_vectors(message.bytes);
      out.flag += sizeof(std::uint32_t) * pieces_of_message(message.bytes);
    }
    for (const Message& message : messages(wanted, other, own, sums)) {
      PeerPiece piece = in;
      piece.to = to[message.array] + message.to;
      piece.mask = image_mask(program_.cut, message.change, message.precision);
      cut_into_pieces(receive, piece, message.bytes);
      in.from += whole_vectors(message.bytes);
      in.flag += sizeof(std::uint32_t) * pieces_of_message(message.bytes);
    }
  }
  const PeerHead head{send.size(), receive.size(), ranks, own, inbox_.half};
  std::vector<std::uint64_t> words;
  const auto add = [&](const void* data, std::size_t size) {
    words.resize(words.size() + size / sizeof(std::uint64_t));
    std::memcpy(reinterpret_cast<std::byte*>(words.data() + words.size()) - size, data, size);
  };
  add(&head, sizeof head);
  add(counts_of_.data(), counts_of_.size() * sizeof(std::uint64_t));
  add(send.data(), send.size() * sizeof(PeerPiece));
  add(receive.data(), receive.size() * sizeof(PeerPiece));
  *pieces = std::max(send.size(), receive.size());
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
  std::size_t pieces = 0;
  const std::vector<std::uint64_t> words = contents(wanted, &pieces);
  const auto units = static_cast<unsigned>(std::max(1, device_.info().compute_units));
  while (made.blocks < pieces && made.blocks < units)
    made.blocks = std::min(2 * made.blocks, units);
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
