// Memory of a session: the size of each buffer, idle copies that are lent, and memory that is
// freed.
#include <algorithm>
#include <set>

#include "program/parts.hpp"
#include "runtime/run/session.hpp"
#include "runtime/run/session_arguments.hpp"

namespace vphi::runtime {

using program::Argument;
using program::Launch;
using program::Precision;

std::size_t Session::bytes_of(int buffer) const {
  const program::Buffer& b = program_.buffers[buffer];
  const std::size_t word = b.precision == Precision::F32 ? 4 : 8;
  if (!b.file.empty()) return word * static_cast<std::size_t>(b.elements);
  return word * static_cast<std::size_t>(program_.sites() * program_.instances);
}

std::size_t Session::memory_of(int buffer) const {
  return Session::bytes_of(buffer) * static_cast<std::size_t>(program_.buffers[buffer].lanes);
}

BufferHandle Session::now(int buffer) const {
  const Copies& copies = buffers_[program_.home(buffer)];
  return copies.handle[copies.now];
}

void* Session::raw_memory(int buffer) {
  const bool shared = program_.buffers[static_cast<std::size_t>(buffer)].home >= 0;
  if (shared || shown_ != &program_) return nullptr;
  state_given_ = state_given_ || program_.buffers[static_cast<std::size_t>(buffer)].state;
  return device_.raw_memory(now(buffer));
}

BufferHandle Session::take(std::size_t bytes) {
  auto& free = pool_[bytes];
  if (!free.empty()) {
    const BufferHandle handle = free.back();
    free.pop_back();
    return handle;
  }
  const BufferHandle handle = device_.allocate(bytes);
  held_ += bytes;
  peak_ = std::max(peak_, held_);
  return handle;
}

void Session::give(BufferHandle handle, std::size_t bytes) { pool_[bytes].push_back(handle); }

void Session::trim() {
  const std::size_t before = held_;
  for (auto& [bytes, handles] : pool_)
    for (BufferHandle handle : handles) device_.free(handle), held_ -= bytes;
  pool_.clear();
  if (lattice_ && held_ != before) lattice_->meet();
}

void Session::provide(const Launches& wanted, bool borrow) {
  const Launches list = program_.with_iterations(wanted);
  const std::size_t before = held_;
  std::set<int> busy;  // buffers whose second copy this list needs
  for (const Launch& launch : list) {
    for (const Argument& a : program_.kernels[launch.kernel].arguments)
      if (a.kind == Argument::Kind::Next) busy.insert(a.index);
    busy.insert(launch.swap.begin(), launch.swap.end());
  }
  const auto idle_copy = [&](std::size_t bytes) {
    for (std::size_t b = 0; borrow && b < buffers_.size(); ++b) {
      const BufferHandle other = buffers_[b].handle[1 - buffers_[b].now];
      if (other.id < 0 || busy.contains(static_cast<int>(b))) continue;
      if (memory_of(static_cast<int>(b)) != bytes) continue;
      const bool taken =
          std::any_of(lent_.begin(), lent_.end(), [&](BufferHandle h) { return h.id == other.id; });
      if (!taken) return other;
    }
    return BufferHandle{};
  };
  for (const Launch& launch : list) {
    const auto& kernel = program_.kernels[launch.kernel];
    const auto zeroed = [&](BufferHandle& handle, std::size_t bytes) {
      if (handle.id >= 0) return;
      handle = device_.allocate(bytes);
      held_ += bytes, peak_ = std::max(peak_, held_);
      device_.zero(handle);
    };
    const auto shares = [](const program::Kernel& of) {
      return sizeof(double) * static_cast<std::size_t>(std::max<std::int64_t>(1, of.partials));
    };
    for (const Argument& a : kernel.arguments) {
      if (a.kind == Argument::Kind::Partials) zeroed(partials_[launch.kernel], shares(kernel));
      if (a.kind == Argument::Kind::Gathered && lattice_)
        zeroed(gathered_[launch.kernel], static_cast<std::size_t>(a.bytes));
      if (a.kind == Argument::Kind::Gathered)
        zeroed(partials_[a.index], shares(program_.kernels[a.index]));
      if (a.kind == Argument::Kind::Counter)
        zeroed(counters_[program::counts_in(program_.kernels, launch.kernel, a)],
               4 * static_cast<std::size_t>(program_.instances));
      if (a.kind == Argument::Kind::Whole && lattice_)
        zeroed(whole_[a.index], static_cast<std::size_t>(a.bytes));
      if (!is_array(a)) continue;
      auto& copies = buffers_[a.index];
      const int which = a.kind == Argument::Kind::Next ? 1 - copies.now : copies.now;
      if (copies.handle[which].id >= 0) continue;
      const std::size_t bytes = memory_of(a.index);
      if (program_.buffers[a.index].scratch && which == copies.now) {
        const BufferHandle other = idle_copy(bytes);
        if (other.id >= 0) {
          lent_[a.index] = copies.handle[which] = other;
          continue;
        }
      }
      copies.handle[which] = take(bytes);
    }
    for (const int map : launch.maps)
      for (const int buffer : program_.maps[map].to) {
        auto& copies = buffers_[program_.home(buffer)];
        if (copies.handle[copies.now].id < 0) copies.handle[copies.now] = take(memory_of(buffer));
      }
  }
  if (lattice_ && held_ != before) lattice_->meet();
}

void Session::release_scratch() {
  for (std::size_t b = 0; b < buffers_.size(); ++b) {
    if (!program_.buffers[b].scratch) continue;
    for (BufferHandle& handle : buffers_[b].handle) {
      if (handle.id >= 0 && handle.id != lent_[b].id) give(handle, memory_of(static_cast<int>(b)));
      handle = {};
    }
    lent_[b] = {};
  }
  trim();
}

}  // namespace vphi::runtime
