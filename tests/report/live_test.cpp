// The live page: updates, pause and stop, and access.
#include "runtime/report/live.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "runtime/device/device.hpp"
#include "runtime/report/encode.hpp"
#include "runtime/report/server.hpp"
#include "tests/report/sample.hpp"
#include "tests/run/wave_program.hpp"

namespace vphi::report {
namespace {

using nlohmann::json;

std::string encode_of(const std::vector<float>& values) {
  return base64(std::as_bytes(std::span(values)));
}

struct Wave {
  program::Program program = vphi::test::wave_program({});
  LiveRun run{test::sample(), program};
  void row(std::int64_t step, double value) {
    const std::string names[] = {"energy", "mean"};
    const double values[] = {value, -value};
    run.scalars(names, {step, 0.5 * static_cast<double>(step)}, values);
  }
};

io::Table slice(std::vector<std::int64_t> shape, const std::vector<double>& values) {
  return {.kind = program::OutputKind::Slice, .name = "phi", .shape = shape, .values = values};
}

TEST(LiveRun, TellsWhatIsNew) {
  Wave wave;
  wave.row(0, 1), wave.row(10, 2);
  json first = wave.run.news(0);
  ASSERT_EQ(first["series"].size(), 2U);
  EXPECT_EQ(first["series"][0]["y"]["f"], encode_of({1, 2}));
  const auto since = first["since"].get<std::int64_t>();
  EXPECT_TRUE(wave.run.news(since)["series"].empty());
  wave.row(20, 3);
  json second = wave.run.news(since);
  EXPECT_EQ(second["series"][1]["y"]["f"], encode_of({-3}));
  EXPECT_EQ(second["shape"], first["shape"]);
  const std::vector<double> plane(12, 0.5);
  wave.run.table(slice({3, 4}, plane), {20, 10});
  json third = wave.run.news(second["since"]);
  EXPECT_NE(third["shape"], first["shape"]);
  EXPECT_EQ(third["pictures"][0]["frames"][0]["w"], 4);
  EXPECT_TRUE(third["series"].empty());
}

TEST(LiveRun, FieldsAreKeptWhileSomebodyLooks) {
  Wave wave;
  EXPECT_FALSE(wave.run.attending());
  wave.run.news(0);
  EXPECT_TRUE(wave.run.attending());
}

TEST(LiveRun, LongSequencesAreThinned) {
  Wave wave;
  for (int i = 0; i < 1000; ++i) {
    const std::vector<double> plane(4, i);
    wave.run.table(slice({2, 2}, plane), {i, 1.0 * i});
  }
  const json frames = wave.run.news(0)["pictures"][0]["frames"];
  EXPECT_LE(frames.size(), 121U);
  EXPECT_EQ(frames.front()["t"], 0);
  EXPECT_EQ(frames.back()["t"], 999);
}

TEST(LiveRun, StopsARunForGood) {
  Wave wave;
  wave.run.wish(runtime::Wish::Pause);
  EXPECT_EQ(wave.run.between({}), runtime::Wish::Pause);
  EXPECT_EQ(wave.run.news(0)["progress"]["state"], "paused");
  wave.run.wish(runtime::Wish::Stop);
  wave.run.wish(runtime::Wish::GoOn);
  EXPECT_EQ(wave.run.between({}), runtime::Wish::Stop);
  wave.run.finish(true);
  EXPECT_EQ(wave.run.news(0)["progress"]["state"], "stopped");
}

class Server : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!have_live_server()) GTEST_SKIP() << "this build has no cpp-httplib";
    server_ = std::make_unique<LiveServer>(wave_.run, 0);
    const std::string& address = server_->address();  // http://127.0.0.1:PORT/TOKEN/
    host_ = address.substr(7, address.find('/', 7) - 7);
    port_ = std::stoi(host_.substr(10));
    base_ = address.substr(7 + host_.size());
  }

  /// The answer to one request, head and body; empty where nobody listens.
  std::string ask(const std::string& method, const std::string& path, const std::string& host,
                  const std::string& more = {}, const char* to = "127.0.0.1") const {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    inet_pton(AF_INET, to, &address.sin_addr);
    std::string answer;
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
      const std::string text = method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + more +
                               "Content-Length: 0\r\nConnection: close\r\n\r\n";
      EXPECT_EQ(send(fd, text.data(), text.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(text.size()));
      char buffer[4096];
      for (ssize_t n = 0; (n = recv(fd, buffer, sizeof buffer, 0)) > 0;)
        answer.append(buffer, static_cast<std::size_t>(n));
    }
    close(fd);
    return answer;
  }
  int status(const std::string& method, const std::string& path, const std::string& host,
             const std::string& more = {}) const {
    const std::string answer = ask(method, path, host, more);
    return answer.size() > 12 ? std::stoi(answer.substr(9, 3)) : 0;
  }

  Wave wave_;
  std::unique_ptr<LiveServer> server_;
  std::string host_, base_;
  int port_ = 0;
};

TEST_F(Server, ServesThePageAndTheNews) {
  wave_.row(0, 1);
  const std::string answer = ask("GET", base_, host_);
  EXPECT_NE(answer.find("200 OK"), std::string::npos);
  EXPECT_NE(answer.find("<!doctype html>"), std::string::npos);
  EXPECT_NE(answer.find("connect-src 'self'"), std::string::npos);
  EXPECT_NE(answer.find("data-act=\"pause\""), std::string::npos);
  EXPECT_EQ(answer.find("Access-Control"), std::string::npos);
  const std::string news = ask("GET", base_ + "news?since=0", host_);
  const json data = json::parse(news.substr(news.find("\r\n\r\n") + 4));
  EXPECT_EQ(data["series"].size(), 2U);
}

TEST_F(Server, TheTokenIsLongAndNeeded) {
  EXPECT_EQ(base_.size(), 34U);  // 32 digits between slashes
  const std::string wrong = "/" + std::string(32, '0') + "/";
  for (const std::string& path :
       {std::string("/"), wrong, wrong + "news", base_.substr(0, 33), base_.substr(0, 20) + "/",
        "/x" + base_, std::string("/index.html"), "/" + base_, base_.substr(0, 32) + "g/"})
    EXPECT_EQ(status("GET", path, host_), 403) << path;
  EXPECT_EQ(status("GET", base_, host_), 200);
  EXPECT_EQ(status("GET", base_ + "../../etc/passwd", host_), 404);
  LiveServer other(wave_.run, 0);
  EXPECT_NE(other.address().substr(other.address().size() - 33), base_.substr(1));
}

TEST_F(Server, OtherNamesAndOriginsStayOut) {
  const std::string port = std::to_string(port_);
  for (const std::string& host :
       {std::string("evil.example"), "evil.example:" + port, std::string("127.0.0.1"),
        "127.0.0.1.evil.example:" + port, std::string()})
    EXPECT_EQ(status("GET", base_, host), 403) << host;
  EXPECT_EQ(status("GET", base_, "localhost:" + port), 200);
  EXPECT_EQ(status("POST", base_ + "stop", host_, "Origin: http://evil.example\r\n"), 403);
  EXPECT_EQ(status("POST", base_ + "stop", host_, "Origin: null\r\n"), 403);
  EXPECT_EQ(wave_.run.between({}), runtime::Wish::GoOn);
  EXPECT_TRUE(ask("GET", base_, host_, "", "127.0.0.2").empty()) << "listens beyond 127.0.0.1";
}

TEST_F(Server, ButtonsWorkByPostAlone) {
  EXPECT_EQ(status("GET", base_ + "pause", host_), 404);
  EXPECT_EQ(wave_.run.between({}), runtime::Wish::GoOn);
  EXPECT_EQ(status("POST", base_ + "pause", host_, "Origin: http://" + host_ + "\r\n"), 200);
  EXPECT_EQ(wave_.run.between({}), runtime::Wish::Pause);
  EXPECT_EQ(status("POST", base_ + "resume", host_), 200);
  EXPECT_EQ(wave_.run.between({}), runtime::Wish::GoOn);
  EXPECT_EQ(status("POST", "/" + std::string(32, '0') + "/stop", host_), 403);
  EXPECT_EQ(wave_.run.between({}), runtime::Wish::GoOn);
  EXPECT_EQ(status("POST", base_ + "stop", host_), 200);
  EXPECT_EQ(wave_.run.between({}), runtime::Wish::Stop);
}

TEST_F(Server, ATakenPortIsSaid) { EXPECT_THROW(LiveServer(wave_.run, port_), LiveError); }

TEST_F(Server, StopsARunFromOutside) {
  vphi::test::WaveOptions options;
  options.steps = 1'000'000'000;
  const auto program = vphi::test::wave_program(options);
  const auto device = runtime::open_device("native");
  runtime::RunOptions run;
  run.onlooker = &wave_.run;
  std::thread asks([&] {
    while (status("GET", base_ + "news?since=0", host_) == 200) {
      const std::string news = ask("GET", base_ + "news?since=0", host_);
      if (json::parse(news.substr(news.find("\r\n\r\n") + 4))["progress"]["step"] > 0) break;
    }
    status("POST", base_ + "stop", host_);
  });
  const auto result = runtime::run(program, *device, run);
  asks.join();
  EXPECT_TRUE(result.interrupted);
  EXPECT_GT(result.steps, 0);
}

}  // namespace
}  // namespace vphi::report
