#include "program/in_child_process.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace vphi {

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION

ChildOutcome in_child_process(const std::function<void()>&, const ChildLimits&) { return {}; }

#else

namespace {

// Exit statuses of the child, which sanitizers do not use.
constexpr int kReturned = 60, kThrew = 61, kNoMemory = 62;

std::size_t address_space_taken() {
  unsigned long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void limit(int resource, rlim_t most) {
  rlimit now{};
  if (getrlimit(resource, &now) != 0) return;
  now.rlim_cur = std::min(most, now.rlim_max);
  setrlimit(resource, &now);
}

/// The work of the child process, which ends with it.
[[noreturn]] void in_child(const std::function<void()>& work, const ChildLimits& limits,
                           std::size_t taken, int tell) {
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGALRM, SIGTERM})
    std::signal(number, SIG_DFL);
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C is for the parent
  const int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO), dup2(nowhere, STDERR_FILENO);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, static_cast<rlim_t>(limits.seconds));
  if (taken > 0) limit(RLIMIT_AS, taken + limits.bytes);
  alarm(static_cast<unsigned>(10 * limits.seconds));
  int status = kReturned;
  try {
    work();
  } catch (const std::bad_alloc&) {
    status = kNoMemory;
  } catch (const std::exception& error) {
    status = kThrew;
    const std::size_t size = std::min<std::size_t>(std::strlen(error.what()), 4000);
    if (write(tell, error.what(), size) < 0) status = kThrew;
  } catch (...) {
    status = kThrew;
  }
  _exit(status);
}

std::string all_of(int file) {
  std::string text;
  std::array<char, 4096> piece;
  for (ssize_t n = 0; (n = read(file, piece.data(), piece.size())) != 0;) {
    if (n > 0)
      text.append(piece.data(), static_cast<std::size_t>(n));
    else if (errno != EINTR)
      break;
  }
  return text;
}

std::string cause_of(int number) {
  if (number == SIGXCPU || number == SIGALRM || number == SIGKILL) return "it came to no end";
  return strsignal(number);
}

}  // namespace

ChildOutcome in_child_process(const std::function<void()>& work, const ChildLimits& limits) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return {};
  const std::size_t taken = address_space_taken();
  const pid_t child = fork();
  if (child == 0) in_child(work, limits, taken, pipe_ends[1]);
  close(pipe_ends[1]);
  const std::string told = child > 0 ? all_of(pipe_ends[0]) : std::string();
  close(pipe_ends[0]);
  if (child < 0) return {};
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return {};
  if (WIFSIGNALED(status)) return {ChildOutcome::How::Died, cause_of(WTERMSIG(status))};
  switch (WEXITSTATUS(status)) {
    case kReturned:
      return {};
    case kThrew:
      return {ChildOutcome::How::Threw, told};
    case kNoMemory:
      return {ChildOutcome::How::Died, "memory ran out"};
    default:
      return {ChildOutcome::How::Died, "it ended the process"};
  }
}

#endif

}  // namespace vphi
