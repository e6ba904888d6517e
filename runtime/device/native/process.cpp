#include "runtime/device/native/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>

extern char** environ;

namespace vphi::runtime {

namespace {

/// Process ids of children that are waited for; 0: a free place. A child that finds no place is not
/// listed.
std::array<std::atomic<pid_t>, 64> children;

class Known {
 public:
  explicit Known(pid_t child) : child_(child) {
    for (auto& place : children) {
      pid_t free = 0;
      if (place.compare_exchange_strong(free, child)) return;
    }
  }
  ~Known() {
    for (auto& place : children) {
      pid_t mine = child_;
      if (place.compare_exchange_strong(mine, 0)) return;
    }
  }
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;

 private:
  pid_t child_;
};

std::atomic<int> compilations{0};

std::atomic<int> starting{0};  ///< children that are not in the list yet
std::atomic<bool> ending{false};

/// Starts a child and puts it into the list. Signals are blocked in this thread meanwhile, so that
/// a handler in another thread may wait for the end of this.
class Start {
 public:
  Start() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
    ++starting;
  }
  ~Start() {
    --starting;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;

  /// Error number; 0: it runs.
  int operator()(pid_t& child, posix_spawn_file_actions_t& actions, char** argv) const {
    if (ending) return ECANCELED;
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &before_);
    const int error = posix_spawnp(&child, argv[0], &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    return error;
  }

 private:
  sigset_t before_{};
};

}  // namespace

Compiling::Compiling() { ++compilations; }
Compiling::~Compiling() { --compilations; }
bool compiling() { return compilations > 0; }

void end_child_processes() {
  ending = true;
  const timespec moment{0, 1'000'000};
  for (int tries = 0; starting > 0 && tries < 2000; ++tries) nanosleep(&moment, nullptr);
  for (auto& place : children)
    if (const pid_t child = place.load(); child > 0) kill(child, SIGTERM);
}

ProcessResult run_process(const std::vector<std::string>& arguments) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return {-1, std::strerror(errno)};

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);

  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  std::optional<Known> known;
  const int error = [&] {
    const Start start;
    const int failed = start(child, actions, argv.data());
    if (failed == 0) known.emplace(child);
    return failed;
  }();
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);

  ProcessResult result;
  if (error != 0) {
    close(pipe_ends[0]);
    result.output = std::strerror(error);
    return result;
  }
  std::array<char, 4096> piece{};
  while (true) {
    const ssize_t n = read(pipe_ends[0], piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    result.output.append(piece.data(), std::size_t(n));
  }
  close(pipe_ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

TemporaryFolder::TemporaryFolder() {
  const char* base = std::getenv("TMPDIR");
  path_ = std::string(base && *base ? base : "/tmp") + "/vphi-XXXXXX";
  if (!mkdtemp(path_.data())) path_.clear();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace vphi::runtime
