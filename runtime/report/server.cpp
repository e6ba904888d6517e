#include "runtime/report/server.hpp"

#include <fmt/format.h>

#ifdef VPHI_HAVE_HTTPLIB

#include <httplib.h>
#include <sys/random.h>

#include <array>
#include <charconv>
#include <thread>

namespace vphi::report {
namespace {

constexpr std::size_t kThreads = 4, kMostBody = 1024;

/// 128 bits of the system's randomness, as 32 digits.
std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  for (std::size_t have = 0; have < bytes.size();) {
    const auto got = getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (got <= 0) throw LiveError("the system gives no random numbers for the live page's token");
    have += static_cast<std::size_t>(got);
  }
  std::string token;
  for (const unsigned char b : bytes) token += fmt::format("{:02x}", b);
  return token;
}

/// Whether the texts are equal, compared in a time that does not depend on where they differ.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return different == 0;
}

}  // namespace

struct LiveServer::Parts {
  httplib::Server server;
  std::thread thread;
};

bool have_live_server() { return true; }

LiveServer::LiveServer(LiveRun& run, int port) : parts_(std::make_unique<Parts>()) {
  httplib::Server& server = parts_->server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };  // owned by the library
  // Not SO_REUSEPORT, the library's default: with it another process could share the port.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_payload_max_length(kMostBody);
  server.set_read_timeout(5, 0);
  server.set_write_timeout(5, 0);
  server.set_keep_alive_timeout(3);
  if (port == 0)
    port = server.bind_to_any_port("127.0.0.1");
  else if (!server.bind_to_port("127.0.0.1", port))
    port = -1;
  if (port <= 0) throw LiveError("the port of the live page is taken");

  const std::string token = random_token();
  const std::string host = fmt::format("127.0.0.1:{}", port);
  const std::string other_host = fmt::format("localhost:{}", port);
  address_ = fmt::format("http://{}/{}/", host, token);

  server.set_default_headers({{"Cache-Control", "no-store"},
                              {"X-Content-Type-Options", "nosniff"},
                              {"X-Frame-Options", "DENY"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cross-Origin-Resource-Policy", "same-origin"}});
  server.set_pre_routing_handler([=](const httplib::Request& request, httplib::Response& response) {
    const std::string asked = request.get_header_value("Host");
    const std::string origin = request.get_header_value("Origin");
    const std::string_view path(request.path);
    const bool known = path.size() > token.size() + 1 && path[0] == '/' &&
                       path[token.size() + 1] == '/' && same(path.substr(1, token.size()), token);
    const bool here = asked == host || asked == other_host;
    const bool own = origin.empty() || origin == "http://" + asked;
    if (known && here && own) return httplib::Server::HandlerResponse::Unhandled;
    response.status = 403;
    response.set_content("403\n", "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  });

  const std::string base = "/" + token;
  server.Get(base + "/", [&run](const httplib::Request&, httplib::Response& response) {
    response.set_content(run.page(), "text/html; charset=utf-8");
  });
  server.Get(base + "/news", [&run](const httplib::Request& request, httplib::Response& response) {
    const std::string text = request.get_param_value("since");
    std::int64_t since = 0;
    std::from_chars(text.data(), text.data() + text.size(), since);
    response.set_content(
        run.news(since).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
        "application/json");
  });
  const auto button = [&](const char* name, runtime::Wish wish) {
    server.Post(base + "/" + name,
                [&run, wish](const httplib::Request&, httplib::Response& response) {
                  run.wish(wish);
                  response.set_content("ok\n", "text/plain");
                });
  };
  button("pause", runtime::Wish::Pause);
  button("resume", runtime::Wish::GoOn);
  button("stop", runtime::Wish::Stop);
  parts_->thread = std::thread([&server] { server.listen_after_bind(); });
  // `stop` has no effect on a server that has not started
  for (int i = 0; i < 1000 && !server.is_running(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

LiveServer::~LiveServer() {
  parts_->server.stop();
  parts_->thread.join();
}

}  // namespace vphi::report

#else

namespace vphi::report {

struct LiveServer::Parts {};
bool have_live_server() { return false; }
LiveServer::LiveServer(LiveRun&, int) { throw LiveError("this build has no live page"); }
LiveServer::~LiveServer() = default;

}  // namespace vphi::report

#endif
