// `vphi run --live [PORT]`: the report of a run during the run, on this machine only.
#pragma once

#include <memory>
#include <string>

#include "runtime/report/report.hpp"
#include "runtime/report/server.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {

/// `--live PORT` becomes `--live --live-port PORT`, so that the port may be left out.
Words with_live_port(Words words);

/// The page and its server, which exist from before the first step until the end of the run. Throws
/// UsageError where this build has no server or the port is in use.
class LivePage {
 public:
  LivePage(vphi::report::Report start, const program::Program& program, std::int64_t port);
  /// Tells open pages how the run ended, and waits for them for a moment.
  void finish(bool stopped);
  runtime::Onlooker& onlooker() { return run_; }
  const std::string& address() const { return server_->address(); }

 private:
  vphi::report::LiveRun run_;
  std::unique_ptr<vphi::report::LiveServer> server_;  // before run_ is gone
};

}  // namespace vphi::tools
