// A pool of host memory blocks, reused for copies of whole arrays from a device.
//
// New memory costs a page fault for every 4 kB, and page-locked memory far more. A block that its
// last owner releases stays in the pool for the next request of the same size. Owners may be in
// other threads, and may exist longer than the pool; then the block is freed when they release it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace vphi::runtime {

class HostBlocks {
 public:
  using Make = std::function<void*(std::size_t bytes)>;  ///< throws where there is no memory
  using Drop = std::function<void(void*)>;

  HostBlocks()
      : HostBlocks(
            [](std::size_t bytes) {
              void* at = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
              return at != nullptr ? at : throw std::bad_alloc();
            },
            [](void* at) { std::free(at); }) {}
  HostBlocks(Make make, Drop drop) : pool_(std::make_shared<Pool>()) {
    pool_->make = std::move(make), pool_->drop = std::move(drop);
  }
  ~HostBlocks() { clear(); }
  HostBlocks(const HostBlocks&) = delete;
  HostBlocks& operator=(const HostBlocks&) = delete;

  std::shared_ptr<std::byte> take(std::size_t bytes) {
    void* at = nullptr;
    {
      const std::lock_guard lock(pool_->guard);
      auto& waiting = pool_->waiting[bytes];
      if (!waiting.empty()) at = waiting.back(), waiting.pop_back();
    }
    if (at == nullptr) at = pool_->make(bytes);
    return {static_cast<std::byte*>(at), [pool = pool_, bytes](std::byte* block) {
              const std::lock_guard lock(pool->guard);
              if (pool->closed)
                pool->drop(block);
              else
                pool->waiting[bytes].push_back(block);
            }};
  }

  /// Frees the unused blocks; blocks in use are freed when they are released.
  void clear() {
    const std::lock_guard lock(pool_->guard);
    for (auto& [bytes, waiting] : pool_->waiting)
      for (void* block : waiting) pool_->drop(block);
    pool_->waiting.clear();
    pool_->closed = true;
  }

 private:
  struct Pool {
    Make make;
    Drop drop;
    std::mutex guard;
    std::map<std::size_t, std::vector<void*>> waiting;
    bool closed = false;
  };
  std::shared_ptr<Pool> pool_;
};

}  // namespace vphi::runtime
