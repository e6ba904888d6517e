#include "runtime/run/ranks/lattice_ranks.hpp"

#include <algorithm>
#include <cstring>

namespace vphi::runtime {

using comm::Bytes;
using program::Cut;

namespace {

std::size_t planes_in_memory(const program::Program& p) {
  return static_cast<std::size_t>(p.extent[static_cast<std::size_t>(p.cut.axis)]);
}

template <class T, class Change>
void change(std::span<std::byte> bytes, const Change& to) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T number;
    std::memcpy(&number, &bytes[at], sizeof number);
    number = to(number);
    std::memcpy(&bytes[at], &number, sizeof number);
  }
}

/// What an end of the lattice makes of an image.
void beyond(const Cut& cut, Cut::End end, bool single, std::span<std::byte> plane) {
  const auto to = [&](auto number) {
    using T = decltype(number);
    return end == Cut::End::Fixed ? static_cast<T>(cut.fixed_value) : -number;
  };
  if (end != Cut::End::Fixed && end != Cut::End::Antiperiodic) return;
  single ? change<float>(plane, to) : change<double>(plane, to);
}

}  // namespace

LatticeRanks::LatticeRanks(const program::Program& of_this_rank, Device& device, comm::Comm& comm)
    : program_(of_this_rank), device_(device), comm_(comm) {}

std::int64_t LatticeRanks::first() const {
  return program_.cut.planes(comm_.size(), comm_.rank()).first;
}

Bytes LatticeRanks::joined(std::span<const std::byte> own) {
  Bytes all;
  for (const Bytes& one : comm_.gather(own)) all.insert(all.end(), one.begin(), one.end());
  comm_.share(all);
  return all;
}

void LatticeRanks::gather(BufferHandle own, std::size_t bytes, BufferHandle all) {
  Bytes part(bytes);
  device_.download(part, own, 0);
  device_.upload(all, 0, joined(part));
}

void LatticeRanks::fill(const program::Buffer& buffer, BufferHandle present,
                        const std::array<int, 2>& depth) {
  const Cut& cut = program_.cut;
  const bool single = buffer.precision == program::Precision::F32;
  const std::size_t plane = static_cast<std::size_t>(program_.sites()) /
                            planes_in_memory(program_) * (single ? sizeof(float) : sizeof(double));
  const auto below = static_cast<std::size_t>(depth[0]), above = static_cast<std::size_t>(depth[1]);
  const std::size_t deep = std::max(below, above);
  if (deep == 0) return;
  const auto first = static_cast<std::size_t>(cut.ghost[0]),
             own = static_cast<std::size_t>(cut.own);
  // of each rank its lowest and its highest planes
  Bytes edges(2 * deep * plane);
  device_.download(std::span(edges).first(deep * plane), present, first * plane);
  device_.download(std::span(edges).last(deep * plane), present, (first + own - deep) * plane);
  const Bytes all = joined(edges);
  const int ranks = comm_.size(), rank = comm_.rank();
  const auto edge = [&](int of, std::size_t number) {
    const std::size_t at = (static_cast<std::size_t>(of) * 2 * deep + number) * plane;
    return std::span(all).subspan(at, plane);
  };
  const auto copy = [&](std::span<const std::byte> from, Cut::End end, Bytes& to, std::size_t at) {
    const auto place = std::span(to).subspan(at * plane, plane);
    std::ranges::copy(from, place.begin());
    beyond(cut, end, single, place);
  };
  Bytes low(below * plane), high(above * plane);
  const Cut::End first_end = rank > 0 ? Cut::End::Periodic : cut.ends[0];
  const Cut::End last_end = rank + 1 < ranks ? Cut::End::Periodic : cut.ends[1];
  for (std::size_t k = 1; k <= below; ++k) {
    const std::size_t to = below - k;
    if (first_end == Cut::End::Mirror || first_end == Cut::End::Open)
      copy(edge(rank, first_end == Cut::End::Mirror ? k - 1 : 0), first_end, low, to);
    else
      copy(edge((rank + ranks - 1) % ranks, 2 * deep - k), first_end, low, to);
  }
  for (std::size_t k = 0; k < above; ++k) {
    if (last_end == Cut::End::Mirror || last_end == Cut::End::Open)
      copy(edge(rank, 2 * deep - 1 - (last_end == Cut::End::Mirror ? k : 0)), last_end, high, k);
    else
      copy(edge((rank + 1) % ranks, k), last_end, high, k);
  }
  if (below > 0) device_.upload(present, (first - below) * plane, low);
  if (above > 0) device_.upload(present, (first + own) * plane, high);
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
