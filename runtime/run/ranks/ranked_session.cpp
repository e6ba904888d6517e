#include "runtime/run/ranks/ranked_session.hpp"

#include <fmt/format.h>

#include <cstring>

#include "program/axes.hpp"
#include "program/json.hpp"
#include "runtime/run/ranks/worker.hpp"

namespace vphi::runtime {

using program::Program;

namespace {

constexpr std::size_t kTogether = std::size_t{1} << 13;  ///< numbers that one answer may hold

/// Before any rank allocates: each must have room for its share.
const Program& fits(const Program& part, const Program& whole, RankGroup& group, bool memory) {
  const int ranks = group.size();
  if (part.instances != most_of(whole.instances, ranks) || whole.instances < ranks)
    throw RunError("E0860",
                   fmt::format("this program moves {} instances at once, and {} of {} ranks are "
                               "wanted",
                               part.instances, whole.instances, ranks),
                   "compile the model for these ranks: `vphi run MODEL --ranks`");
  const std::size_t free = group.memory_free(), need = memory_needed(part).peak;
  if (!memory || free == 0 || need <= free) return part;
  const std::int64_t batch = largest_batch(part, free) * ranks;
  throw RunError("E0802",
                 fmt::format("{} instances on each of {} ranks need {} MB of memory, and {} MB are "
                             "free on one of them",
                             part.instances, ranks, need / 1000000, free / 1000000),
                 batch > 0 ? fmt::format("{} fit: --batch {}", batch, batch)
                           : std::string("a smaller lattice: --lattice"));
}

}  // namespace

RankedSession::RankedSession(const Program& part, const Program& whole, RankGroup& group,
                             const SessionOptions& options)
    : OrderingSession(fits(part, whole, group, options.check_memory), group, options),
      part_(part),
      whole_(whole),
      by_slot_(program::scalars_by_slot(part)) {
  show(whole);
  for (int r = 0; r < group.size(); ++r) {
    shares_.push_back(share_of(whole.instances, group.size(), r));
    group.ranks()[static_cast<std::size_t>(r)].instances = shares_.back().count;
  }
  if (by_slot_) {
    slot_known_.resize(whole.scalars.size());
    all_slots_.resize(whole.scalars.size() * static_cast<std::size_t>(whole.instances));
  }
  Packer opening = order(Order::Session);
  opening.text(program::to_json(part, -1));
  for (const std::int64_t number :
       {whole.instances, options.first_instance, std::int64_t{group.threads()},
        std::int64_t{options.check_memory ? 1 : 0}})
    opening.whole(number);
  open(opening);
}

void RankedSession::forget() {
  scalars_known_ = false;
  slot_known_.assign(slot_known_.size(), false);
}

// ---- steps ------------------------------------------------------------------------------------

void RankedSession::start() {
  forget();
  compile_usual(true);  // first here: the others then find the kernels in the cache
  group_.ask(order(Order::Start), [&] { Session::start(); });
}

// ---- numbers ----------------------------------------------------------------------------------

RankedSession::Bytes RankedSession::deal(std::span<const std::byte> whole) {
  const std::size_t one = whole.size() / static_cast<std::size_t>(whole_.instances);
  const std::size_t count = one * static_cast<std::size_t>(part_.instances);
  std::vector<Bytes> all;
  for (const Share& share : shares_) {
    const auto own = whole.subspan(one * static_cast<std::size_t>(share.start), count);
    all.emplace_back(own.begin(), own.end());
  }
  return group_.deal(all);
}

void RankedSession::join(std::span<const std::byte> own, const std::vector<Bytes>& others,
                         std::span<std::byte> to) const {
  const std::size_t one = to.size() / static_cast<std::size_t>(whole_.instances);
  for (std::size_t r = 0; r < shares_.size(); ++r) {
    const Share& share = shares_[r];
    const std::size_t bytes = one * static_cast<std::size_t>(share.count);
    const auto from =
        r == 0 ? own.subspan(one * static_cast<std::size_t>(share.hidden()), bytes) : others[r];
    if (from.size() != bytes) throw std::logic_error("a rank answered with another size");
    if (bytes > 0)
      std::memcpy(to.data() + one * static_cast<std::size_t>(share.first), from.data(), bytes);
  }
}

const std::vector<double>& RankedSession::scalars() {
  if (scalars_known_) return all_scalars_;
  all_scalars_.resize(whole_.scalars.size() * static_cast<std::size_t>(whole_.instances));
  const std::vector<double>* own = nullptr;
  const auto others = group_.ask(order(Order::Scalars), [&] { own = &Session::scalars(); });
  join(std::as_bytes(std::span(*own)), others, std::as_writable_bytes(std::span(all_scalars_)));
  scalars_known_ = true;
  return all_scalars_;
}

Slot RankedSession::slot(int slot) {
  const auto at = static_cast<std::size_t>(slot);
  if (!by_slot_)
    return {RankedSession::scalars().data() + at, whole_.scalars.size(), whole_.instances};
  if (all_slots_.size() <= kTogether)
    fetch_slots(0, whole_.scalars.size());
  else
    fetch_slots(at, at + 1);
  return {all_slots_.data() + at * static_cast<std::size_t>(whole_.instances), 1, whole_.instances};
}

void RankedSession::fetch_slots(std::size_t first, std::size_t end) {
  while (first < end && slot_known_[first]) ++first;
  if (first == end) return;
  std::vector<Slot> own;
  const auto others = group_.ask(
      order(Order::Slots, {static_cast<std::int64_t>(first), static_cast<std::int64_t>(end)}), [&] {
        for (std::size_t k = first; k < end; ++k) own.push_back(Session::slot(static_cast<int>(k)));
      });
  const auto instances = static_cast<std::size_t>(whole_.instances);
  for (std::size_t r = 0; r < shares_.size(); ++r) {
    const auto count = static_cast<std::size_t>(shares_[r].count);
    const auto here = static_cast<std::size_t>(shares_[r].first);
    for (std::size_t k = first; k < end; ++k) {
      double* to = all_slots_.data() + k * instances + here;
      if (r > 0)
        std::memcpy(to, others[r].data() + sizeof(double) * count * (k - first),
                    sizeof(double) * count);
      else
        for (std::size_t i = 0; i < count; ++i)
          to[i] = own[k - first][shares_[0].hidden() + static_cast<std::int64_t>(i)];
    }
  }
  for (std::size_t k = first; k < end; ++k) slot_known_[k] = true;
}

void RankedSession::set_scalar(int slot, double value, std::int64_t instance) {
  Packer set = order(Order::SetScalar, {slot});
  set.real(value), set.whole(instance);
  group_.tell(set);
  const std::int64_t own = instance - shares_[0].start;
  if (own >= 0 && own < part_.instances) Session::set_scalar(slot, value, own);
  const auto at = static_cast<std::size_t>(slot), i = static_cast<std::size_t>(instance);
  if (scalars_known_) all_scalars_[i * whole_.scalars.size() + at] = value;
  if (by_slot_ && slot_known_[at])
    all_slots_[at * static_cast<std::size_t>(whole_.instances) + i] = value;
}

void RankedSession::set_scalars(std::span<const double> values) {
  forget();
  group_.tell(order(Order::SetScalars));
  Session::set_scalars(numbers_of_bytes(deal(std::as_bytes(values))));
}

std::vector<double> RankedSession::read(int buffer) {
  std::vector<double> all(static_cast<std::size_t>(whole_.sites() * whole_.instances)), own;
  const auto others =
      group_.ask(order(Order::Read, {buffer}), [&] { own = Session::read(buffer); });
  join(std::as_bytes(std::span(own)), others, std::as_writable_bytes(std::span(all)));
  return all;
}

std::vector<double> RankedSession::read_sites(int buffer, std::size_t first, std::size_t count) {
  const std::vector<double> all = RankedSession::read(buffer);
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

std::vector<double> RankedSession::read(int buffer, std::int64_t instance) {
  const Share& mine = shares_[0];
  if (instance >= mine.first && instance < mine.first + mine.count)
    return Session::read(buffer, instance - mine.start);
  const auto others = group_.ask(order(Order::ReadInstance, {buffer, instance}), [] {});
  for (const Bytes& bytes : others)
    if (!bytes.empty()) return numbers_of_bytes(bytes);
  throw std::logic_error("an instance that no rank has");
}

void RankedSession::write(int buffer, std::span<const double> values) {
  group_.tell(order(Order::Write, {buffer}));
  Session::write(buffer, numbers_of_bytes(deal(std::as_bytes(values))));
}

std::size_t RankedSession::bytes_of(int buffer) const {
  const std::size_t own = Session::bytes_of(buffer);
  if (!part_.buffers[static_cast<std::size_t>(buffer)].file.empty()) return own;
  return own / static_cast<std::size_t>(part_.instances) *
         static_cast<std::size_t>(whole_.instances);
}

void RankedSession::read_bytes(int buffer, std::span<std::byte> to) {
  Bytes own(Session::bytes_of(buffer));
  const auto others =
      group_.ask(order(Order::ReadBytes, {buffer}), [&] { Session::read_bytes(buffer, own); });
  join(own, others, to);
}

void RankedSession::write_bytes(int buffer, std::span<const std::byte> from) {
  group_.tell(order(Order::WriteBytes, {buffer}));
  Session::write_bytes(buffer, deal(from));
}

}  // namespace vphi::runtime
