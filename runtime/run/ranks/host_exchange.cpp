#include "runtime/run/ranks/host_exchange.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/run/ranks/device_exchange.hpp"

namespace vphi::runtime {

namespace {

constexpr std::size_t kPlans = 256;  ///< outputs of long runs make new ones

/// What an end of the lattice makes of an image. Numbers have whole words, or are halves of them.
void change(const ImageMask& mask, std::span<std::byte> planes) {
  if (mask.keep == ~std::uint64_t{0} && mask.flip == 0) return;
  const auto changed = [&]<class Word>(Word, std::size_t at) {
    Word word = 0;
    std::memcpy(&word, &planes[at], sizeof word);
    word = static_cast<Word>((word & static_cast<Word>(mask.keep)) ^ static_cast<Word>(mask.flip));
    std::memcpy(&planes[at], &word, sizeof word);
  };
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= planes.size(); at += sizeof(std::uint64_t))
    changed(std::uint64_t{}, at);
  if (at < planes.size()) changed(std::uint32_t{}, at);
}

/// An array of `wanted` by the number that messages have of it: where they come from, or go to.
BufferHandle array_of(const Wanted& wanted, std::size_t number, bool from) {
  if (number < wanted.ghosts.size()) return wanted.ghosts[number].array;
  const Wanted::Dealt& dealt = wanted.dealt[number - wanted.ghosts.size() - wanted.joined.size()];
  return from ? dealt.from : dealt.to;
}

template <class Byte>
std::vector<std::span<Byte>> parts_of(std::span<Byte> block,
                                      const std::vector<std::size_t>& sizes) {
  std::vector<std::span<Byte>> parts;
  for (const std::size_t size : sizes) {
    parts.push_back(block.first(size));
    block = block.subspan(size);
  }
  return parts;
}

}  // namespace

void HostExchange::exchange(const Wanted& wanted) {
  const Plan& plan = this->plan(wanted);
  Block& block = given_[turn_ ^= 1];
  const std::span<std::byte> given = room(block, plan.given);
  for (const Piece& piece : plan.give)
    device_.download_later(given.subspan(piece.staged, piece.bytes), piece.array, piece.at);
  device_.synchronise();  // for what the exchange before has put into the arrays too
  for (const Piece& piece : plan.give) change(piece.mask, given.subspan(piece.staged, piece.bytes));
  if (comm_.processes()) return by_messages(plan, given);
  const auto all = comm_.look(given, block.memory);
  for (std::size_t r = 0; r < all.size(); ++r) put(plan.take[r], all[r]);
}

void HostExchange::by_messages(const Plan& plan, std::span<const std::byte> given) {
  const std::span<std::byte> taken = room(taken_, plan.taken);
  if (plan.messages)
    comm_.each_to_each(parts_of(given.first(plan.arrays), plan.to),
                       parts_of(taken.first(plan.arrays_taken), plan.from));
  if (plan.sums) comm_.to_all(given.subspan(plan.arrays), taken.subspan(plan.arrays_taken));
  for (const auto& pieces : plan.take) put(pieces, taken);
}

void HostExchange::put(const std::vector<Piece>& pieces, std::span<const std::byte> from) {
  for (const Piece& piece : pieces)
    device_.upload_later(piece.array, piece.at, from.subspan(piece.staged, piece.bytes));
}

std::span<std::byte> HostExchange::room(Block& block, std::size_t bytes) {
  if (bytes > block.size) {
    block.size = std::bit_ceil(bytes);
    block.memory = device_.host_block(block.size);
  }
  return {block.memory.get(), bytes};
}

const HostExchange::Plan& HostExchange::plan(const Wanted& wanted) {
  const std::vector<int> key = key_of(wanted);
  const auto found = plans_.find(key);
  if (found != plans_.end()) return found->second;
  if (plans_.size() >= kPlans) plans_.clear();  // on all ranks at once
  return plans_.emplace(key, plan_of(wanted)).first->second;
}

/// Both ends of a message list it alike.
HostExchange::Plan HostExchange::plan_of(const Wanted& wanted) {
  const int own = comm_.rank(), ranks = comm_.size();
  const auto between = [&](int from, int to) {
    return array_messages(program_, ranks, wanted, from, to);
  };
  const auto bytes_of = [](const std::vector<Message>& messages) {
    std::size_t sum = 0;
    for (const Message& message : messages) sum += message.bytes;
    return sum;
  };
  Plan plan;
  plan.take.resize(static_cast<std::size_t>(ranks));
  plan.sums = !wanted.joined.empty();
  plan.messages = !wanted.ghosts.empty() || !wanted.dealt.empty();
  std::vector<std::size_t> begins;  // of the sums of each rank, where they are taken from
  for (int other = 0; other < ranks; ++other) {
    const std::size_t before = plan.arrays;
    for (const Message& m : between(own, other)) {
      plan.give.push_back({array_of(wanted, m.array, true), m.from, plan.arrays, m.bytes, m.mask});
      plan.arrays += m.bytes;
    }
    plan.to.push_back(plan.arrays - before);
    std::size_t at = 0, all = 0;  // in the memory of the other one, of which this one copies
    for (int to = 0; to < ranks; ++to) {
      if (to == own) at = all;
      all += bytes_of(between(other, to));
    }
    begins.push_back(all);
    if (comm_.processes()) at = plan.arrays_taken;
    const std::size_t first = at;
    for (const Message& m : between(other, own)) {
      plan.take[static_cast<std::size_t>(other)].push_back(
          {array_of(wanted, m.array, false), m.to, at, m.bytes, {}});
      at += m.bytes;
    }
    plan.from.push_back(at - first);
    plan.arrays_taken += at - first;
  }
  plan.given = plan.arrays, plan.taken = plan.arrays_taken;
  if (plan.sums) take_sums(wanted, plan, begins);
  return plan;
}

void HostExchange::take_sums(const Wanted& wanted, Plan& plan,
                             const std::vector<std::size_t>& begins) {
  const std::size_t count = wanted.joined.size();
  std::vector<std::uint64_t> own;
  for (const Wanted::Joined& one : wanted.joined) {
    plan.give.push_back({one.own, one.own_at, plan.given, one.own_bytes, {}});
    plan.given += one.own_bytes;
    own.push_back(one.own_bytes);
  }
  const std::vector<std::uint64_t> sizes = everyone(comm_, own);
  std::vector<std::uint64_t> to(count);  // where the sums of the next rank go
  for (std::size_t r = 0; r < plan.take.size(); ++r) {
    std::size_t at = comm_.processes() ? plan.taken : begins[r];
    for (std::size_t s = 0; s < count; ++s) {
      const std::size_t bytes = sizes[r * count + s];
      plan.take[r].push_back({wanted.joined[s].all, to[s], at, bytes, {}});
      to[s] += bytes, at += bytes, plan.taken += bytes;
    }
  }
}

}  // namespace vphi::runtime
