// `vphi lsp` through pipes, as an editor starts it. Skipped where the command is not built.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "lsp/message.hpp"
#include "tests/support/places.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::lsp {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Editor {
 public:
  explicit Editor(const std::string& cache) {
    int down[2], up[2];
    if (pipe(down) != 0 || pipe(up) != 0) return;
    child_ = fork();
    if (child_ == 0) {
      dup2(down[0], 0), dup2(up[1], 1);
      for (const int fd : {down[0], down[1], up[0], up[1]}) ::close(fd);
      setenv("VPHI_CACHE", cache.c_str(), 1);
      execl(VPHI_BINARY_DIR "/vphi", "vphi", "lsp", "--stdio", nullptr);
      _exit(127);
    }
    ::close(down[0]), ::close(up[1]);
    to_ = down[1], from_ = up[0];
  }
  ~Editor() {
    hang_up();
    ::close(from_);
    if (child_ > 0 && !waited_) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
  }
  void hang_up() {
    if (to_ >= 0) ::close(to_);
    to_ = -1;
  }
  void send(const Json& message) { send_bytes(framed(message.dump())); }
  void send_bytes(const std::string& bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      // Pieces of odd sizes, so that messages arrive torn.
      const std::size_t size = std::min<std::size_t>(bytes.size() - done, 11);
      const ssize_t n = ::write(to_, bytes.data() + done, size);
      if (n <= 0) return;
      done += static_cast<std::size_t>(n);
    }
  }
  /// The next message for which `wanted` holds; null where the server is gone.
  template <typename Wanted>
  Json wait(const Wanted& wanted) {
    while (true) {
      while (auto message = reader_.next()) {
        const Json json = Json::parse(message->body);
        if (wanted(json)) return json;
      }
      char piece[4096];
      const ssize_t n = ::read(from_, piece, sizeof piece);
      if (n <= 0) return nullptr;
      reader_.feed({piece, static_cast<std::size_t>(n)});
    }
  }
  Json answer(int id) {
    return wait([id](const Json& m) { return m.contains("id") && m["id"] == id; });
  }
  int status() {
    int raw = 0;
    waitpid(child_, &raw, 0);
    waited_ = true;
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
  }

 private:
  pid_t child_ = -1;
  int to_ = -1, from_ = -1;
  bool waited_ = false;
  MessageReader reader_;
};

class LspCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(VPHI_BINARY_DIR "/vphi")) GTEST_SKIP() << "the command is not built";
    std::signal(SIGPIPE, SIG_IGN);
  }
  const testing::ScratchFolder scratch_;
  const fs::path cache_ = scratch_ / "cache";
};

TEST_F(LspCommand, AConversation) {
  Editor editor(cache_.string());
  editor.send(
      {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "initialize"}, {"params", Json::object()}});
  EXPECT_EQ(editor.answer(1)["result"]["serverInfo"]["name"], "vphi");
  editor.send({{"jsonrpc", "2.0"}, {"method", "initialized"}, {"params", Json::object()}});
  const std::string text =
      "model m\nlattice b: 8, length = 1\nfield u: real\nu'' = lap(u) - gama*u\n"
      "init u = 1, u' = 0\nevolve leapfrog, dt = 0.1*dx, until = t > 1\n";
  editor.send(
      {{"jsonrpc", "2.0"},
       {"method", "textDocument/didOpen"},
       {"params",
        {{"textDocument",
          {{"uri", "file:///m.vphi"}, {"languageId", "vphi"}, {"version", 1}, {"text", text}}}}}});
  const Json published = editor.wait(
      [](const Json& m) { return m.value("method", "") == "textDocument/publishDiagnostics"; });
  ASSERT_FALSE(published.is_null());
  const Json& first = published["params"]["diagnostics"][0];
  EXPECT_EQ(first["code"], "E0104");
  // The link leads to a file that is there.
  const std::string link = first["codeDescription"]["href"];
  ASSERT_TRUE(link.starts_with("file://"));
  EXPECT_TRUE(fs::exists(link.substr(7, link.find('#') - 7))) << link;

  editor.send({{"jsonrpc", "2.0"},
               {"id", 2},
               {"method", "textDocument/definition"},
               {"params",
                {{"textDocument", {{"uri", "file:///m.vphi"}}},
                 {"position", {{"line", 5}, {"character", 9}}}}}});
  const std::string library = editor.answer(2)["result"]["uri"];
  EXPECT_TRUE(fs::exists(library.substr(7))) << library;

  editor.send_bytes("rubbish\r\n\r\n");
  editor.send({{"jsonrpc", "2.0"}, {"id", 3}, {"method", "shutdown"}});
  EXPECT_TRUE(editor.answer(3)["result"].is_null());
  editor.send({{"jsonrpc", "2.0"}, {"method", "exit"}});
  EXPECT_EQ(editor.status(), 0);
}

TEST_F(LspCommand, EndsWhenTheEditorIsGone) {
  Editor editor(cache_.string());
  editor.send(
      {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "initialize"}, {"params", Json::object()}});
  EXPECT_TRUE(editor.answer(1).contains("result"));
  editor.hang_up();
  EXPECT_EQ(editor.status(), 1);
}

}  // namespace
}  // namespace vphi::lsp
