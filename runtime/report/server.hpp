// The server of the live page. It serves this machine only, and its address contains a secret.
//
// It listens on 127.0.0.1 only. Every path begins with a random token of 128 bits; without it, or
// with another Host (a foreign page whose name was made to resolve to this address), the answer is
// 403. No other origins are allowed. GET /TOKEN/ is the page, GET /TOKEN/news?since=N the updates;
// POST /TOKEN/pause, /resume and /stop are the buttons. Built with cpp-httplib where it is
// installed; a port that is taken throws LiveError.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "runtime/report/live.hpp"

namespace vphi::report {

struct LiveError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whether this build has the server.
bool have_live_server();

class LiveServer {
 public:
  /// Serves `run` from a thread of its own until destroyed. `port` 0: any free port.
  LiveServer(LiveRun& run, int port);
  ~LiveServer();
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;

  /// "http://127.0.0.1:PORT/TOKEN/"
  const std::string& address() const { return address_; }

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  std::string address_;
};

}  // namespace vphi::report
