// Exchanges between GPUs in which the host takes no part: kernels and messages in the order of each
// device's queue, which recordings contain as any other launch.
//
// There are two ways, peer_memory.hpp and nccl_exchange.hpp. Both list what each rank sends to each
// other one (`messages`), and keep a table of it on the device for each exchange that was asked
// for. All ranks make the same exchanges in the same order.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "runtime/comm/comm.hpp"
#include "runtime/comm/nccl.hpp"
#include "runtime/device/device.hpp"
#include "runtime/run/ranks/ghosts.hpp"
#include "runtime/run/ranks/peer_kernel.hpp"

namespace vphi::runtime {

/// What each rank gives comes back, by rank.
template <class T>
std::vector<T> everyone(comm::Comm& comm, const std::vector<T>& own) {
  std::vector<T> all(own.size() * static_cast<std::size_t>(comm.size()));
  comm.to_all(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
  return all;
}

/// Planes or sums that one rank sends to another, in bytes of the arrays at both ends.
struct Message {
  std::size_t array = 0;  ///< which of the wanted ones: ghosts first, then sums, then what is dealt
  std::uint64_t from = 0, to = 0, bytes = 0;
  ImageMask mask;  ///< applied by the rank that receives it
};
/// Ghosts and dealt parts of the wanted arrays that rank `to` gets from rank `from`, itself
/// included.
std::vector<Message> array_messages(const program::Program& program, int ranks,
                                    const Wanted& wanted, int from, int to);

/// Handles and depths: exchanges with the same key copy the same.
std::vector<int> key_of(const Wanted& wanted);

/// Adds pieces of at most kPeerBytes, each for one block, with units as wide as the addresses
/// allow.
void cut_into_pieces(std::vector<PeerPiece>& list, PeerPiece whole, std::uint64_t bytes);
std::size_t pieces_of_message(std::uint64_t bytes);
/// Messages follow one another at multiples of 16 bytes.
constexpr std::uint64_t whole_vectors(std::uint64_t bytes) { return (bytes + 15) / 16 * 16; }

class DeviceExchange {
 public:
  virtual ~DeviceExchange();
  DeviceExchange(const DeviceExchange&) = delete;
  DeviceExchange& operator=(const DeviceExchange&) = delete;

  /// Makes the table of an exchange that recordings will contain.
  void prepare(const Wanted& wanted) { table(wanted, true); }
  void exchange(const Wanted& wanted) { run(table(wanted, false)); }
  /// Waits for the device. Throws CommError where ranks have waited in vain for each other.
  virtual void check() = 0;
  /// For people: "from device to device".
  virtual std::string way() const = 0;

 protected:
  /// What an exchange copies and sends.
  struct Contents {
    std::vector<std::uint64_t> words;  ///< the table in the device's memory
    std::size_t pieces = 0;            ///< that a block of the kernel could take each
    std::vector<comm::Nccl::Transfer> transfers;
    std::vector<comm::Nccl::ToAll> to_all;
  };
  struct Table {
    BufferHandle buffer;
    std::size_t room = 0;  ///< bytes
    unsigned blocks = 1;
    bool recorded = false;
    Contents contents;  ///< without the words, which are in the buffer
  };

  DeviceExchange(const program::Program& of_this_rank, Device& device, comm::Comm& comm)
      : program_(of_this_rank), device_(device), comm_(comm) {}

  virtual Contents contents(const Wanted& wanted) = 0;
  /// Compiles what `run` launches with so many blocks.
  virtual void compile(unsigned blocks) = 0;
  virtual void run(const Table& table) = 0;
  /// Whether numbers of all ranks arrive here.
  bool works();

  std::uint64_t address(BufferHandle buffer);
  std::size_t ranks() const { return static_cast<std::size_t>(comm_.size()); }
  std::size_t rank() const { return static_cast<std::size_t>(comm_.rank()); }
  /// Where the wanted arrays lie here, in the order of Message::array: what is sent, and where it
  /// is received.
  struct Arrays {
    std::vector<std::uint64_t> from, to;
  };
  Arrays arrays(const Wanted& wanted);
  /// Bytes of each of the wanted sums, [rank][sum].
  std::vector<std::uint64_t> sums_of_ranks(const Wanted& wanted);

  const program::Program& program_;
  Device& device_;
  comm::Comm& comm_;

 private:
  using Key = std::vector<int>;

  const Table& table(const Wanted& wanted, bool recorded);
  BufferHandle room_for(std::size_t bytes, Table& table);

  std::map<Key, Table> tables_;
  std::list<Key> unrecorded_;  ///< oldest first
};

/// Appends the words of a value.
void add_words(std::vector<std::uint64_t>& words, const void* data, std::size_t bytes);

}  // namespace vphi::runtime
