// A worker: what the ranks other than the first do. Each follows orders of rank 0 until it is
// dismissed.
//
// An order that fails leaves its error for the next answer; until then further orders do nothing,
// except that what is dealt is taken and what is asked is answered, so that the ranks stay in step.
// A new session begins without an error.
#pragma once

#include "runtime/run/ranks/rank_group.hpp"

namespace vphi::runtime {

enum class Order : std::uint64_t {
  Session,       ///< program as JSON, instances of the batch, its first instance, check of memory
  Lattice,       ///< a session of planes of a lattice: threads, check of memory, programs
  Close,         ///< of the session
  Start,         ///< answered
  StartEmpty,    ///< answered
  Prepare,       ///< steps
  Advance,       ///< steps
  Synchronise,   ///< answered: seconds in steps, bytes held at most
  Launch,        ///< list
  Release,       ///< scratch arrays
  BinSums,       ///< output, field; answered, empty: the first rank has them
  Project,       ///< transform of arrays in place; answered, empty
  Scalars,       ///< answered: [instance][slot] of those shown
  Slots,         ///< first, end; answered: [slot][instance]
  SetScalar,     ///< slot, value, instance of the batch
  SetScalars,    ///< dealt
  Read,          ///< buffer; answered: numbers of those shown
  ReadSites,     ///< buffer, first, count; answered: those of this rank's planes
  ReadInstance,  ///< buffer, instance of the batch; answered, empty where another rank has it
  Write,         ///< buffer; dealt
  ReadBytes,     ///< buffer; answered
  WriteBytes,    ///< buffer; dealt
  Dismiss,
};

/// Returns when rank 0 has dismissed this rank. Throws CommError alone. The device is opened, used
/// and closed in the calling thread.
void run_worker(comm::Comm& comm, const OpenDevice& open);

/// RankInfo as bytes, without what a session makes of it.
comm::Bytes about_device(const Device& device);

/// An order and what follows it.
inline Packer order(Order what, std::initializer_list<std::int64_t> numbers = {}) {
  Packer bytes;
  bytes.number(static_cast<std::uint64_t>(what));
  for (const std::int64_t number : numbers) bytes.whole(number);
  return bytes;
}

/// An answer: what was asked for, or the error in its place. `open_answer` throws that error.
comm::Bytes answer(std::span<const std::byte> content);
comm::Bytes answer_of(std::exception_ptr error);
comm::Bytes open_answer(const comm::Bytes& bytes, const std::string& who);

void put_launches(Packer& to, const std::vector<program::Launch>& list);
std::vector<program::Launch> get_launches(Unpacker& from);
void put_transform(Packer& to, const program::Transform& transform);
program::Transform get_transform(Unpacker& from);

template <class T>
comm::Bytes bytes_of_numbers(std::span<const T> numbers) {
  const auto raw = std::as_bytes(numbers);
  return {raw.begin(), raw.end()};
}
std::vector<double> numbers_of_bytes(std::span<const std::byte> bytes);

}  // namespace vphi::runtime
