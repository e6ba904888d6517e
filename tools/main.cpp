// The `vphi` command: picks the subcommand, and turns errors into a message and an exit status.
#include <fmt/format.h>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

#include "dsl/messages/suggest.hpp"
#include "program/json.hpp"
#include "runtime/comm/comm.hpp"
#include "runtime/device/device.hpp"
#include "runtime/io/configurations/configuration.hpp"
#include "runtime/io/hdf5/at_exit.hpp"
#include "runtime/io/results.hpp"
#include "runtime/io/start_error.hpp"
#include "runtime/run/session.hpp"
#include "tools/model.hpp"
#include "tools/options.hpp"
#include "tools/running/launched_ranks.hpp"
#include "tools/say.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {

namespace {

void print_usage() {
  fmt::print("vphi {}: from a model file to a running simulation\n\nusage: vphi VERB ...\n\n",
             VPHI_VERSION);
  for (const Verb& verb : verbs()) fmt::print("  {:<8} {}\n", verb.name, verb.summary);
  fmt::print(
      "\nvphi VERB --help lists the options of a verb. Exit status: 0 ok, 1 a mistake in the\n"
      "model or the command line, 2 an `expect` failed, 3 device, 4 internal, 130 interrupted, "
      "143\n"
      "terminated (both after the step, with a checkpoint).\n");
}

int dispatch(const Words& words) {
  if (words.size() > 1 && words[0] == "help") return dispatch({words[1], "--help"});
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_usage();
    return words.empty() ? kUserError : kOk;
  }
  if (words[0] == "--version" || words[0] == "-V" || words[0] == "version") {
    fmt::print("vphi {}\n", VPHI_VERSION);
    return kOk;
  }
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) {
    if (words[0] == verb.name) return verb.call({words.begin() + 1, words.end()});
    names.emplace_back(verb.name);
  }
  if (words[0].ends_with(".vphi"))
    throw UsageError("a verb is missing", fmt::format("did you mean `vphi run {}`?", words[0]));
  const auto near = dsl::suggest(words[0], names);
  const auto verb = std::ranges::find_first_of(words, names);
  if (words[0].starts_with('-') && verb != words.end())
    throw UsageError(fmt::format("`{}` stands before the verb", words[0]),
                     fmt::format("options stand behind it: vphi {} ... {} ...", *verb, words[0]));
  throw UsageError(fmt::format("there is no verb `{}`", words[0]),
                   near ? fmt::format("did you mean `vphi {}`?", *near)
                        : fmt::format("verbs are {}", dsl::enumerate(names)));
}

/// A sentence on standard error, and with --json one object on standard output.
int refuse(const Words& words, int status, const std::string& code, const std::string& message,
           const std::string& hint = {}) {
  if (std::find(words.begin(), words.end(), "--json") != words.end()) {
    using Json = nlohmann::ordered_json;
    Json error = {{"code", code}, {"message", message}};
    if (!hint.empty()) error["hint"] = hint;
    const Json all = {{"ok", false}, {"status", status}, {"error", std::move(error)}};
    fmt::print("{}\n", all.dump(1, ' ', false, Json::error_handler_t::replace));
  }
  print_error(code, message, hint);
  return status;
}

int guarded(const Words& words) {
  try {
    return dispatch(words);
  } catch (const embed::Error& error) {
    return refuse(words, kUserError, error.code, error.what(), error.hint);
  } catch (const runtime::RunError& error) {
    return refuse(words, kUserError, error.code, error.what(), error.hint);
  } catch (const io::ConfigurationError& error) {
    return refuse(words, kUserError, "E0831", error.what());
  } catch (const io::StartError& error) {
    return refuse(words, kUserError, "E0782", error.what());
  } catch (const io::ResultsError& error) {
    return refuse(words, kUserError, "E0830", error.what());
  } catch (const program::ProgramError& error) {
    return refuse(words, kUserError, "E0840", error.what());
  } catch (const comm::CommError& error) {
    return refuse(words, kDeviceError, "E0861", error.what());
  } catch (const runtime::DeviceError& error) {
    refuse(words, kDeviceError, "E0820", error.what());
    if (!error.log.empty()) say("--- log ---\n{}\n", error.log);
    return kDeviceError;
  } catch (const std::bad_alloc&) {
    return refuse(words, kUserError, "E0802", "the host ran out of memory",
                  "a smaller lattice: --lattice");
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) != 0) return kOk;  // `written` tells of it
    return refuse(words, kInternalError, "E0999", fmt::format("internal error: {}", error.what()),
                  "this is a mistake in vphi, not in your model; please report it with the model");
  } catch (const std::exception& error) {
    return refuse(words, kInternalError, "E0999", fmt::format("internal error: {}", error.what()),
                  "this is a mistake in vphi, not in your model; please report it with the model");
  }
}

/// The status where standard output could not be written: a full disk is told of, and a reader that
/// went away has what it wanted.
int written(int status) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int reason = errno;
  if (flushed && std::ferror(stdout) == 0) return status;
  struct stat there {};
  const bool known = fstat(fileno(stdout), &there) == 0;
  const bool nobody_reads = !known || S_ISFIFO(there.st_mode) || S_ISSOCK(there.st_mode);
  if (status != kOk || nobody_reads) return status;
  const std::string why =
      reason == 0 ? "; is the disk full?" : ": " + std::generic_category().message(reason);
  print_error("E0830", "standard output cannot be written" + why, "");
  return kUserError;
}

}  // namespace
}  // namespace vphi::tools

int main(int count, char** words) {
  // A reader that goes away (`vphi run ... | head`) must not end a run before its files close.
  std::signal(SIGPIPE, SIG_IGN);
  // A file that may not grow further is reported as an error, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  vphi::io::leave_files_at_exit();
  const int status =
      vphi::tools::written(vphi::tools::guarded({words + 1, words + (count > 0 ? count : 1)}));
  std::fflush(stderr);
  vphi::tools::end_launched_ranks(status);
  return status;
}
