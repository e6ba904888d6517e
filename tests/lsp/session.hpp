// A session with the server, in this process.
#pragma once

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "lsp/server.hpp"

namespace vphi::lsp::test {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Session {
 public:
  Session()
      : server_([this](const std::string& body) { take(body); },
                {"", "file:///texts/std", "file:///texts/pages"}) {}

  Json request(const std::string& method, Json params) {
    const int id = ++last_id_;
    send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
    const std::lock_guard lock(mutex_);
    for (auto m = got_.rbegin(); m != got_.rend(); ++m) {
      if (!m->contains("id") || (*m)["id"] != id) continue;
      Json answer = std::move(*m);
      got_.erase(std::next(m).base());
      return answer;
    }
    return nullptr;
  }
  Json result(const std::string& method, Json params) {
    const Json answer = request(method, std::move(params));
    return answer.contains("result") ? answer["result"] : answer;
  }
  void notify(const std::string& method, Json params) {
    send({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
  }
  void start() {
    request("initialize", {{"processId", nullptr}, {"capabilities", Json::object()}});
    notify("initialized", Json::object());
  }
  void open(const std::string& text, const std::string& uri = "file:///m.vphi") {
    notify(
        "textDocument/didOpen",
        {{"textDocument", {{"uri", uri}, {"languageId", "vphi"}, {"version", 1}, {"text", text}}}});
  }
  void raw(const std::string& body) { server_.handle(body); }

  static Json at(int line, int character, const std::string& uri = "file:///m.vphi") {
    return {{"textDocument", {{"uri", uri}}},
            {"position", {{"line", line}, {"character", character}}}};
  }
  Json hover(int line, int character) { return result("textDocument/hover", at(line, character)); }
  std::string hover_text(int line, int character) {
    const Json h = hover(line, character);
    return h.is_object() && h.contains("contents") ? h["contents"]["value"].get<std::string>() : "";
  }
  std::vector<std::string> complete(int line, int character) {
    std::vector<std::string> labels;
    const Json all = result("textDocument/completion", at(line, character));
    if (!all.is_object() || !all.contains("items")) return labels;
    for (const Json& item : all["items"]) labels.push_back(item["label"]);
    return labels;
  }
  /// The last diagnostics that were published.
  Json diagnostics(const std::string& uri = "file:///m.vphi") {
    server_.settle(300);  // it is only a bound: a busy machine may take its time
    const std::lock_guard lock(mutex_);
    Json found;
    for (const Json& m : got_)
      if (m.value("method", "") == "textDocument/publishDiagnostics" && m["params"]["uri"] == uri)
        found = m["params"]["diagnostics"];
    return found;
  }
  Server& server() { return server_; }

 private:
  void send(const Json& message) {
    server_.handle(message.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  void take(const std::string& body) {
    const std::lock_guard lock(mutex_);
    got_.push_back(Json::parse(body));
  }
  std::mutex mutex_;
  std::vector<Json> got_;
  int last_id_ = 0;
  Server server_;
};

}  // namespace vphi::lsp::test
