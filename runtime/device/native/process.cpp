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
#include <filesystem>

extern char** environ;

namespace vphi::runtime {

namespace {

/// Children that somebody waits for; 0: a free place. One that finds none is not in the list.
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

}  // namespace

Compiling::Compiling() { ++compilations; }
Compiling::~Compiling() { --compilations; }
bool compiling() { return compilations > 0; }

void end_child_processes() {
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
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);

  ProcessResult result;
  if (error != 0) {
    close(pipe_ends[0]);
    result.output = std::strerror(error);
    return result;
  }
  const Known known(child);
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
