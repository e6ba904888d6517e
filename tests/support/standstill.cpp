// A test that stands still tells where, shortly before CTest ends it: each thread of its process
// writes its stack to stderr. VPHI_STANDSTILL gives another number of seconds.
#include <dirent.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>

namespace vphi {
namespace {

constexpr unsigned kSeconds = 560;  // tests/CMakeLists.txt: TIMEOUT 600

void write_text(const char* text, std::size_t size) {
  if (write(STDERR_FILENO, text, size) < 0) return;
}

void write_stack(int) {
  constexpr char kTitle[] = "stack of a thread:\n";
  write_text(kTitle, sizeof kTitle - 1);
  std::array<void*, 64> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
}

/// Asks one thread after the other, so that their lines do not mix.
void ask_threads(int) {
  constexpr char kTitle[] = "\nThis test has not ended within its time; its threads are here:\n";
  write_text(kTitle, sizeof kTitle - 1);
  DIR* const threads = opendir("/proc/self/task");
  if (threads == nullptr) return;
  while (const dirent* thread = readdir(threads)) {
    const int id = std::atoi(thread->d_name);
    if (id > 0) syscall(SYS_tgkill, getpid(), id, SIGUSR2);
    const timespec moment{0, 100'000'000};
    if (id > 0) nanosleep(&moment, nullptr);
  }
  closedir(threads);
}

class Standstill : public ::testing::Environment {
  void SetUp() override {
    std::array<void*, 1> first{};
    backtrace(first.data(), 1);  // loads what it needs: a handler may not
    const unsigned seconds = std::getenv("VPHI_STANDSTILL") != nullptr
                                 ? static_cast<unsigned>(std::atoi(std::getenv("VPHI_STANDSTILL")))
                                 : kSeconds;
    std::signal(SIGUSR2, write_stack);
    std::signal(SIGALRM, ask_threads);
    alarm(seconds);
  }
};

[[maybe_unused]] const ::testing::Environment* const standstill =
    ::testing::AddGlobalTestEnvironment(new Standstill);

}  // namespace
}  // namespace vphi
