// Memory of large arrays on the host in large pages, where the system has them: a field of the
// whole lattice is drawn, dealt to ranks and written once, and in pages of 4 kB half of that time
// is the system's, which makes each page when it is first touched. Numbers do not depend on it.
// Throws std::bad_alloc where there is no memory, as the operators of the library do.
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kLarge = std::size_t{8} << 20;  // bytes; several large pages
constexpr std::uintptr_t kPage = 4096;

void* memory_of(std::size_t bytes) {
  for (;;) {
    if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* memory = memory_of(bytes);
  if (bytes < kLarge) return memory;
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + kPage - 1) / kPage * kPage;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / kPage * kPage;
  // where it is refused, pages are small
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  return memory;
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
