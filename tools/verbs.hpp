// The verbs of the `vphi` command: each takes the words after it and returns the exit status.
//
// Errors are exceptions: UsageError, RunError, ResultsError and ProgramError end with status 1,
// DeviceError with 3, any other with 4. main.cpp prints their messages.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace vphi::tools {

enum Status { kOk = 0, kUserError = 1, kExpectFailed = 2, kDeviceError = 3, kInternalError = 4 };
constexpr int kInterrupted = 130;  ///< as shells report SIGINT
constexpr int kTerminated = 143;   ///< and SIGTERM

using Words = std::vector<std::string>;

int run(const Words& words);
int check(const Words& words);
int explain(const Words& words);
int emit(const Words& words);
int bench(const Words& words);
int doctor(const Words& words);
int format(const Words& words);
int make_new(const Words& words);
int language_server(const Words& words);
int test(const Words& words);
int report(const Words& words);
int completion(const Words& words);

struct Verb {
  const char* name;
  int (*call)(const Words&);
  const char* summary;
};
std::span<const Verb> verbs();

}  // namespace vphi::tools
