// The `vphi` command as a child process that a test may signal, limit and kill.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/places.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::test {

namespace fs = std::filesystem;

inline std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct Limits {
  std::int64_t file_bytes = -1;  ///< RLIMIT_FSIZE; -1: none
  bool as_nobody = false;        ///< run without root's permissions
};

/// A child process in `folder`, with its output in out.txt and error.txt there.
class Child {
 public:
  Child(const fs::path& folder, const std::vector<std::string>& words, const Limits& limits = {})
      : folder_(folder) {
    std::vector<std::string> all{VPHI_BINARY_DIR "/vphi"};
    all.insert(all.end(), words.begin(), words.end());
    id_ = fork();
    if (id_ != 0) return;
    if (chdir(folder.c_str()) != 0) _exit(126);
    setenv("VPHI_MODELS", VPHI_SOURCE_DIR "/models", 1);
    const auto redirect = [](const char* name, int to) {
      dup2(open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666), to);
    };
    redirect("out.txt", 1), redirect("error.txt", 2);
    if (limits.file_bytes >= 0) {
      const rlimit limit{static_cast<rlim_t>(limits.file_bytes),
                         static_cast<rlim_t>(limits.file_bytes)};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    if (limits.as_nobody && setuid(65534) != 0) _exit(126);
    std::vector<char*> arguments;
    for (auto& word : all) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  ~Child() {
    if (id_ > 0 && !done_) signal(SIGKILL), wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void signal(int number) const { kill(id_, number); }
  bool running() {
    if (!done_ && waitpid(id_, &status_, WNOHANG) == id_) done_ = true;
    return !done_;
  }
  /// Exit status; minus the signal that ended it.
  int wait() {
    if (!done_) waitpid(id_, &status_, 0), done_ = true;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
  }
  std::string out() const { return text_of(folder_ / "out.txt"); }
  std::string error() const { return text_of(folder_ / "error.txt"); }

 private:
  fs::path folder_;
  pid_t id_ = -1;
  int status_ = 0;
  bool done_ = false;
};

/// A test in a temporary folder with a small model that writes all kinds of output.
class Faults : public ::testing::Test {
 protected:
  void SetUp() override { write_model(""); }

  /// `extra`: lines at the end.
  void write_model(const std::string& extra, const std::string& g = "100*m") {
    std::ofstream(folder_ / "small.vphi") << "model small \"Resonance in a small box\"\nunits "
                                             "reduced_planck\nparam m = 5e-6\nparam g = "
                                          << g << R"(
param unused = 3
lattice box: 16^3, length = 10/m, boundary = periodic
metric frw(a)
field phi, chi: real
potential V = m^2*phi^2/2 + g^2*phi^2*chi^2/2
rescale A = 1/1.0093430384226378, B = m, s = 0
init phi ~ 1.0093430384226378 + vacuum, phi' ~ -0.7137133070120812*m + vacuum
init chi ~ vacuum
evolve leapfrog, dt = 2^-10/m, until = t > 256/m
precision real = f64, sum = f64
every 16 steps: a, H, mean(phi), var(chi) -> "small.h5"
every 64 steps: spectrum(chi), snapshot(chi) -> "small.h5"
every 16 steps: var(phi), w -> "table.csv"
expect abs(mean(rho)/(3*H^2) - 1) < 1e-3
)" << extra;
  }
  std::vector<std::string> run_words(const std::string& out, std::int64_t steps,
                                     const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"run",    "small.vphi", "--device",
                                   "native", "--json",     "--out",
                                   out,      "--steps",    std::to_string(steps)};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// All results of a run, as text.
  std::string content(const std::string& out) const {
    const std::string at = (folder_ / out).string();
    const std::string command = "cd '" + at + "' && h5dump small.h5 > dump.txt";
    EXPECT_EQ(std::system(command.c_str()), 0) << at;
    return text_of(folder_ / out / "dump.txt") + text_of(folder_ / out / "table.series.csv");
  }
  /// The results of a --json run without the parts that depend on time.
  static std::string numbers(const std::string& json) {
    const auto from = json.find("\"scalars\""), to = json.find("\"performance\"");
    return from == std::string::npos || to == std::string::npos ? json
                                                                : json.substr(from, to - from);
  }
  const testing::ScratchFolder scratch_;
  const fs::path& folder_ = scratch_.path();
};

}  // namespace vphi::test
