#include "runtime/run/ranks/peer_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

namespace vphi::runtime {

namespace {

constexpr int kMostRanks = 64;  ///< threads of a block that tell and wait

struct Place {
  std::array<char, 200> host{};
  std::array<char, 40> device{};
  std::array<std::uint32_t, 4> process{};
};

/// Another one in every process, also where containers number their processes alike.
std::array<std::uint32_t, 4> this_process() {
  static const std::array<std::uint32_t, 4> drawn = [] {
    std::random_device random;
    return std::array<std::uint32_t, 4>{random(), random(), random(), random()};
  }();
  return drawn;
}

Place place_of(const Device& device) {
  Place place;
  gethostname(place.host.data(), place.host.size() - 1);
  const std::string id = device.info().id;
  std::memcpy(place.device.data(), id.data(), std::min(id.size(), place.device.size() - 1));
  place.process = this_process();
  return place;
}

}  // namespace

std::unique_ptr<PeerMemory> PeerMemory::open(const program::Program& of_this_rank, Device& device,
                                             comm::Comm& comm) {
  const std::vector<Place> all = everyone(comm, std::vector<Place>{place_of(device)});
  const auto rank = static_cast<std::size_t>(comm.rank());
  const bool cuda = device.info().target == program::Target::Cuda;
  bool reached = comm.size() <= kMostRanks && cuda;
  std::vector<bool> beside;
  for (std::size_t r = 0; r < all.size(); ++r) {
    beside.push_back(all[r].process == all[rank].process);
    reached = reached && all[r].host == all[rank].host &&
              (r == rank || !beside[r] || device.reach(all[r].device.data()));
  }
  if (comm.most(reached ? 0 : 1) != 0) return nullptr;
  std::unique_ptr<PeerMemory> made(new PeerMemory(of_this_rank, device, comm, std::move(beside)));
  const bool all_there = std::ranges::find(made->counts_of_, 0U) == made->counts_of_.end();
  if (comm.most(all_there ? 0 : 1) != 0) return nullptr;
  if (comm.most(made->works() ? 0 : 1) != 0) return nullptr;
  return made;
}

PeerMemory::PeerMemory(const program::Program& of_this_rank, Device& device, comm::Comm& comm,
                       std::vector<bool> same_process)
    : DeviceExchange(of_this_rank, device, comm), same_process_(std::move(same_process)) {
  counts_ = device_.allocate(peer_counts(comm.size()) * sizeof(std::uint32_t));
  device_.zero(counts_);
  device_.synchronise();  // before others write into them
  counts_of_ = addresses(counts_);
}

std::vector<std::uint64_t> PeerMemory::addresses(BufferHandle buffer) {
  struct Told {
    std::uint64_t address = 0, shared = 0;
    SharedMemory memory;
  };
  Told own{address(buffer), 0, {}};
  if (std::ranges::find(same_process_, false) != same_process_.end()) {
    const auto memory = device_.share(buffer);
    own.shared = memory ? 1 : 0;
    if (memory) own.memory = *memory;
  }
  std::vector<std::uint64_t> list;
  for (const Told& told : everyone(comm_, std::vector<Told>{own})) {
    if (same_process_[list.size()])
      list.push_back(told.address);
    else
      list.push_back(told.shared != 0 ? device_.open_shared(told.memory) : 0);
  }
  return list;
}

PeerMemory::~PeerMemory() {
  try {
    for (const BufferHandle inbox : old_inboxes_) device_.free(inbox);
    if (inbox_.buffer.id >= 0) device_.free(inbox_.buffer);
    device_.free(counts_);
  } catch (const std::exception&) {
    // A device that failed has reported it before.
  }
}

KernelHandle PeerMemory::kernel(unsigned blocks) {
  auto found = kernels_.find(blocks);
  if (found == kernels_.end()) {
    const program::Kernel kernel = peer_kernel(blocks);
    found = kernels_.emplace(blocks, device_.compile(std::span(&kernel, 1)).front()).first;
  }
  return found->second;
}

std::vector<Message> PeerMemory::messages(const Wanted& wanted, std::size_t from, std::size_t to,
                                          const std::vector<std::uint64_t>& sums) const {
  std::vector<Message> list =
      array_messages(program_, comm_.size(), wanted, static_cast<int>(from), static_cast<int>(to));
  const std::size_t count = wanted.joined.size();
  for (std::size_t s = 0; s < count; ++s) {
    std::uint64_t before = 0;
    for (std::size_t rank = 0; rank < from; ++rank) before += sums[rank * count + s];
    list.push_back({wanted.ghosts.size() + s, 0, before, sums[from * count + s], {}});
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
  inbox_.of_rank = addresses(inbox_.buffer);
  if (std::ranges::find(inbox_.of_rank, 0U) != inbox_.of_rank.end())
    throw DeviceError(
        "This GPU cannot reach the memory of another rank's GPU any more. With "
        "VPHI_EXCHANGE=host planes go through the memory of the host.");
}

/// Each rank lists what it sends and what it receives; both ends of a message list it alike.
DeviceExchange::Contents PeerMemory::contents(const Wanted& wanted) {
  const auto ranks = this->ranks(), own = rank();
  const Arrays arrays = this->arrays(wanted);
  const std::vector<std::uint64_t> sums = sums_of_ranks(wanted);
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
        piece.from = arrays.from[message.array] + message.from;
        piece.to = arrays.to[message.array] + message.to;
        piece.mask = message.mask;
        cut_into_pieces(receive, piece, message.bytes);
      }
      continue;
    }
    PeerPiece out, in;
    out.flag = inbox_.region(other, own), in.flag = inbox_.region(own, other);
    out.to = out.flag + inbox_.flag_bytes(), in.from = in.flag + inbox_.flag_bytes();
    for (const Message& message : messages(wanted, own, other, sums)) {
      out.from = arrays.from[message.array] + message.from;
      cut_into_pieces(send, out, message.bytes);
      out.to += whole_vectors(message.bytes);
      out.flag += sizeof(std::uint32_t) * pieces_of_message(message.bytes);
    }
    for (const Message& message : messages(wanted, other, own, sums)) {
      PeerPiece piece = in;
      piece.to = arrays.to[message.array] + message.to;
      piece.mask = message.mask;
      cut_into_pieces(receive, piece, message.bytes);
      in.from += whole_vectors(message.bytes);
      in.flag += sizeof(std::uint32_t) * pieces_of_message(message.bytes);
    }
  }
  const PeerHead head{send.size(), receive.size(), ranks, own, inbox_.half};
  Contents made;
  add_words(made.words, &head, sizeof head);
  add_words(made.words, counts_of_.data(), counts_of_.size() * sizeof(std::uint64_t));
  add_words(made.words, send.data(), send.size() * sizeof(PeerPiece));
  add_words(made.words, receive.data(), receive.size() * sizeof(PeerPiece));
  made.pieces = std::max(send.size(), receive.size());
  return made;
}

void PeerMemory::compile(unsigned blocks) { kernel(blocks); }

void PeerMemory::run(const Table& table) {
  const std::array<BufferHandle, 2> arguments{table.buffer, counts_};
  device_.launch(kernel(table.blocks), arguments);
}

void PeerMemory::check() {
  std::uint32_t failed = 0;
  device_.download(std::as_writable_bytes(std::span(&failed, 1)), counts_,
                   kPeerFailed * sizeof failed);
  if (failed != 0)
    throw comm::CommError("another rank has not come to an exchange of planes within 20 s");
}

}  // namespace vphi::runtime
