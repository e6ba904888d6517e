#include "runtime/run/ranks/device_exchange.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace vphi::runtime {

namespace {

constexpr std::size_t kUnrecorded = 32;  ///< tables of exchanges that no recording contains

/// The ghosts that one rank gets from another one, or from itself, as messages.
class GhostMessages {
 public:
  GhostMessages(const program::Program& program, int ranks, const Wanted& wanted,
                std::size_t number, int from, int to)
      : cut_(program.cut),
        ranks_(ranks),
        ghosts_(wanted.ghosts[number]),
        places_(places_of_array(program, ghosts_.precision, ghosts_.lanes)),
        number_(number),
        from_(from),
        to_(to) {}

  void operator()(std::vector<Message>& list) const {
    if (cut_.second.ranks > 1)
      blocks(list);
    else
      planes(list);
  }

 private:
  /// Of planes that follow one another a message for each class.
  void planes(std::vector<Message>& list) const {
    for (const GhostPlanes& planes : ghosts_of(cut_, ranks_, to_, ghosts_.depth)) {
      if (planes.of != from_) continue;
      add(list, planes.from, planes.to, 0, 0,
          static_cast<std::uint64_t>(planes.count) * places_.plane,
          image_mask(cut_, planes.change, ghosts_.precision));
    }
  }

  /// Of lines of planes one for each plane and class.
  void blocks(std::vector<Message>& list) const {
    for (const GhostBlock& block : ghost_blocks(cut_, ranks_, to_, ghosts_.depth, ghosts_.beside)) {
      if (block.of != from_) continue;
      const ImageMask mask = both(image_mask(cut_, block.planes.change, ghosts_.precision),
                                  image_mask(cut_, block.lines.change, ghosts_.precision));
      for (std::int64_t k = 0; k < block.planes.count; ++k)
        add(list, block.planes.from + k, block.planes.to + k, block.lines.from, block.lines.to,
            static_cast<std::uint64_t>(block.lines.count) * places_.line, mask);
    }
  }

  void add(std::vector<Message>& list, std::int64_t from, std::int64_t to, std::int64_t from_line,
           std::int64_t to_line, std::uint64_t bytes, const ImageMask& mask) const {
    for (std::uint64_t k = 0; k < places_.classes; ++k) {
      if (ghosts_.classes != 0 && (ghosts_.classes >> k & 1) == 0) continue;
      const std::uint64_t there = places_.moved(k, to - from, to_line - from_line);
      list.push_back(
          {number_, at(from_, k, from, from_line), at(to_, there, to, to_line), bytes, mask});
    }
  }

  /// Ranks have other numbers of planes, and each plane has the same place on all of them.
  std::uint64_t at(int rank, std::uint64_t of_class, std::int64_t plane, std::int64_t line) const {
    const auto planes =
        static_cast<std::uint64_t>(cut_.planes(ranks_, rank).count + cut_.ghost[0] + cut_.ghost[1]);
    return (of_class * planes + static_cast<std::uint64_t>(plane)) * places_.plane +
           static_cast<std::uint64_t>(line) * places_.line;
  }

  const program::Cut& cut_;
  int ranks_;
  const Wanted::Ghosts& ghosts_;
  PlacesOfArray places_;
  std::size_t number_;
  int from_, to_;
};

}  // namespace

std::vector<Message> array_messages(const program::Program& program, int ranks,
                                    const Wanted& wanted, int from, int to) {
  std::vector<Message> list;
  for (std::size_t g = 0; g < wanted.ghosts.size(); ++g)
    GhostMessages(program, ranks, wanted, g, from, to)(list);
  for (std::size_t d = 0; d < wanted.dealt.size(); ++d) {
    const Wanted::Runs& runs =
        wanted.dealt[d].runs[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
    const std::size_t array = wanted.ghosts.size() + wanted.joined.size() + d;
    for (std::uint64_t k = 0; k < runs.count; ++k)
      list.push_back(
          {array, runs.from + k * runs.from_step, runs.to + k * runs.to_step, runs.bytes, {}});
  }
  return list;
}

std::vector<int> key_of(const Wanted& wanted) {
  std::vector<int> key;
  for (const Wanted::Ghosts& ghosts : wanted.ghosts)
    key.insert(key.end(), {ghosts.array.id, ghosts.depth[0], ghosts.depth[1], ghosts.beside[0],
                           ghosts.beside[1], static_cast<int>(ghosts.classes)});
  key.push_back(-1);
  for (const Wanted::Joined& one : wanted.joined) key.insert(key.end(), {one.own.id, one.all.id});
  key.push_back(-2);
  for (const Wanted::Dealt& one : wanted.dealt)
    key.insert(key.end(), {one.from.id, one.to.id, one.part});
  return key;
}

std::size_t pieces_of_message(std::uint64_t bytes) { return (bytes + kPeerBytes - 1) / kPeerBytes; }

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

void add_words(std::vector<std::uint64_t>& words, const void* data, std::size_t bytes) {
  words.resize(words.size() + bytes / sizeof(std::uint64_t));
  std::memcpy(reinterpret_cast<std::byte*>(words.data() + words.size()) - bytes, data, bytes);
}

DeviceExchange::~DeviceExchange() {
  try {
    for (const auto& [key, table] : tables_) device_.free(table.buffer);
  } catch (const std::exception&) {
    // A device that failed has reported it before.
  }
}

std::uint64_t DeviceExchange::address(BufferHandle buffer) {
  return std::bit_cast<std::uintptr_t>(device_.raw_memory(buffer));
}

DeviceExchange::Arrays DeviceExchange::arrays(const Wanted& wanted) {
  Arrays arrays;
  for (const Wanted::Ghosts& ghosts : wanted.ghosts) arrays.from.push_back(address(ghosts.array));
  arrays.to = arrays.from;
  for (const Wanted::Joined& one : wanted.joined)
    arrays.from.push_back(address(one.own) + one.own_at), arrays.to.push_back(address(one.all));
  for (const Wanted::Dealt& one : wanted.dealt)
    arrays.from.push_back(address(one.from)), arrays.to.push_back(address(one.to));
  return arrays;
}

std::vector<std::uint64_t> DeviceExchange::sums_of_ranks(const Wanted& wanted) {
  std::vector<std::uint64_t> bytes;
  for (const Wanted::Joined& one : wanted.joined) bytes.push_back(one.own_bytes);
  return everyone(comm_, bytes);
}

bool DeviceExchange::works() {
  constexpr std::size_t kNumbers = 1000;
  const auto number = [](std::size_t rank, std::size_t i) {
    return 1 + static_cast<double>(rank * kNumbers + i);
  };
  std::vector<double> own(kNumbers), all(kNumbers * ranks());
  for (std::size_t i = 0; i < kNumbers; ++i) own[i] = number(rank(), i);
  Wanted wanted;
  wanted.joined.push_back({device_.allocate(own.size() * sizeof(double)),
                           device_.allocate(all.size() * sizeof(double)),
                           own.size() * sizeof(double), all.size() * sizeof(double)});
  const Wanted::Joined& sums = wanted.joined[0];
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

/// Memory of the oldest exchange that no recording contains, where there are many of them.
BufferHandle DeviceExchange::room_for(std::size_t bytes, Table& table) {
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

const DeviceExchange::Table& DeviceExchange::table(const Wanted& wanted, bool recorded) {
  Key key = key_of(wanted);
  const auto found = tables_.find(key);
  if (found != tables_.end()) {
    if (recorded && !found->second.recorded) unrecorded_.remove(key);
    found->second.recorded |= recorded;
    return found->second;
  }
  Table made;
  made.recorded = recorded;
  made.contents = contents(wanted);
  const std::vector<std::uint64_t> words = std::exchange(made.contents.words, {});
  const auto units = static_cast<unsigned>(std::max(1, device_.info().compute_units));
  while (made.blocks < made.contents.pieces && made.blocks < units)
    made.blocks = std::min(2 * made.blocks, units);
  compile(made.blocks);
  made.buffer = room_for(words.size() * sizeof(std::uint64_t), made);
  device_.upload(made.buffer, 0, std::as_bytes(std::span(words)));
  comm_.most(0);  // no rank waits in a kernel while another one still allocates
  if (!recorded) unrecorded_.push_back(key);
  return tables_.emplace(std::move(key), std::move(made)).first->second;
}

}  // namespace vphi::runtime
