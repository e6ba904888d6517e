#include "runtime/run/ranks/nccl_exchange.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace vphi::runtime {

std::unique_ptr<NcclExchange> NcclExchange::open(const program::Program& of_this_rank,
                                                 Device& device, comm::Comm& comm,
                                                 std::string* why) {
  auto nccl = comm::Nccl::open(comm, device, why);
  if (!nccl) return nullptr;
  std::unique_ptr<NcclExchange> made(new NcclExchange(of_this_rank, device, comm, std::move(nccl)));
  const bool works = made->works();
  if (!works) *why = "numbers that were sent on trial did not arrive";
  if (comm.most(works ? 0 : 1) != 0) return nullptr;
  return made;
}

NcclExchange::~NcclExchange() {
  try {
    device_.synchronise();
    for (const BufferHandle old : old_) device_.free(old);
    if (room_ > 0) device_.free(outbox_), device_.free(inbox_);
  } catch (const std::exception&) {
    // A device that failed has reported it before.
  }
}

void NcclExchange::check() {
  device_.synchronise();
  nccl_->check();
}

std::string NcclExchange::way() const { return "by " + comm::nccl_description(); }

/// Recordings speak of the addresses of smaller memory, so that stays.
void NcclExchange::grow(std::size_t bytes) {
  if (bytes <= room_) return;
  if (room_ > 0) old_.push_back(outbox_), old_.push_back(inbox_);
  room_ = std::bit_ceil(bytes);
  outbox_ = device_.allocate(room_), inbox_ = device_.allocate(room_);
}

DeviceExchange::Contents NcclExchange::contents(const Wanted& wanted) {
  const int own = comm_.rank();
  const Arrays arrays = this->arrays(wanted);
  const auto between = [&](int from, int to) {
    return array_messages(program_, comm_.size(), wanted, from, to);
  };
  const auto bytes_of = [](const std::vector<Message>& list) {
    std::uint64_t sum = 0;
    for (const Message& message : list) sum += whole_vectors(message.bytes);
    return sum;
  };
  Contents made;
  std::uint64_t sent = 0, received = 0;  // where the next message begins
  for (int other = 0; other < comm_.size(); ++other) {
    if (other == own) continue;
    const comm::Nccl::Transfer transfer{other, sent, bytes_of(between(own, other)), received,
                                        bytes_of(between(other, own))};
    sent += transfer.give_bytes, received += transfer.get_bytes;
    if (transfer.give_bytes + transfer.get_bytes > 0) made.transfers.push_back(transfer);
  }
  grow(std::max<std::uint64_t>({sent, received, 16}));
  std::vector<PeerPiece> pack, unpack;
  for (const Message& message : between(own, own)) {
    PeerPiece piece;
    piece.from = arrays.from[message.array] + message.from;
    piece.to = arrays.to[message.array] + message.to;
    piece.mask = message.mask;
    cut_into_pieces(unpack, piece, message.bytes);
  }
  for (comm::Nccl::Transfer& transfer : made.transfers) {
    transfer.give += address(outbox_), transfer.get += address(inbox_);
    std::uint64_t at = transfer.give;
    for (const Message& message : between(own, transfer.rank)) {
      PeerPiece piece;
      piece.from = arrays.from[message.array] + message.from, piece.to = at;
      cut_into_pieces(pack, piece, message.bytes);
      at += whole_vectors(message.bytes);
    }
    at = transfer.get;
    for (const Message& message : between(transfer.rank, own)) {
      PeerPiece piece;
      piece.from = at, piece.to = arrays.to[message.array] + message.to;
      piece.mask = message.mask;
      cut_into_pieces(unpack, piece, message.bytes);
      at += whole_vectors(message.bytes);
    }
  }
  const std::vector<std::uint64_t> sums = sums_of_ranks(wanted);
  const std::size_t count = wanted.joined.size(), ghosts = wanted.ghosts.size();
  for (std::size_t s = 0; s < count; ++s) {
    comm::Nccl::ToAll one{arrays.from[ghosts + s], arrays.to[ghosts + s], {}};
    for (std::size_t r = 0; r < ranks(); ++r) one.bytes.push_back(sums[r * count + s]);
    made.to_all.push_back(std::move(one));
  }
  const PeerHead head{pack.size(), unpack.size(), ranks(), rank(), 0};
  add_words(made.words, &head, sizeof head);
  add_words(made.words, pack.data(), pack.size() * sizeof(PeerPiece));
  add_words(made.words, unpack.data(), unpack.size() * sizeof(PeerPiece));
  made.pieces = std::max(pack.size(), unpack.size());
  return made;
}

void NcclExchange::compile(unsigned blocks) {
  if (kernels_.contains(blocks)) return;
  const std::array<program::Kernel, 2> both{pack_kernel(blocks), unpack_kernel(blocks)};
  const auto handles = device_.compile(both);
  kernels_[blocks] = {handles[0], handles[1]};
}

void NcclExchange::run(const Table& table) {
  const std::array<BufferHandle, 1> argument{table.buffer};
  const Kernels& kernels = kernels_.at(table.blocks);
  const Contents& what = table.contents;
  if (!what.transfers.empty()) device_.launch(kernels.pack, argument);
  nccl_->exchange(what.transfers, what.to_all);
  if (what.pieces > 0) device_.launch(kernels.unpack, argument);
}

}  // namespace vphi::runtime
