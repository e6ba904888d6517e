// The language server: JSON-RPC for the open documents of an editor.
//
// `handle` takes the body of one message and sends responses through `send`, which is called from
// two threads, but not at the same time. Requests are answered from the newest text on the calling
// thread. Equations, and errors that only the derivation finds, are computed on a second thread and
// published when they are ready, so a slow derivation delays nothing else. Nothing throws; input
// that is not a message is answered with the protocol's error.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "lsp/features.hpp"

namespace vphi::lsp {

class Server {
 public:
  using Send = std::function<void(const std::string& body)>;

  /// `where`: the folders of the library and of documentation; its document is not used.
  Server(Send send, Addresses where) : Server(std::move(send), std::move(where), standard()) {}
  Server(Send send, Addresses where, Library library);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void handle(const std::string& body);
  /// Answers a message with an invalid header.
  void malformed();
  bool finished() const { return finished_; }
  /// Exit status of the protocol: 0 where `shutdown` came before `exit`.
  int status() const { return shut_down_ ? 0 : 1; }
  /// For tests: waits until all messages so far are processed. False after `seconds`.
  bool settle(double seconds);

 private:
  struct Document {
    std::string text;
    std::int64_t version = 0;
    bool has_version = false;
    std::shared_ptr<const Analysis> analysis;
    std::shared_ptr<const Derived> derived;  ///< of `analysis`, or null; guarded by mutex_
  };
  struct Work {
    std::string uri;
    std::shared_ptr<const Analysis> analysis;
  };

  static Library standard();
  void answer(const Json& id, Json result);
  void refuse(const Json& id, int code, const std::string& message);
  void publish(const std::string& uri, const Document& document, const dsl::Diagnostics& all);
  void send_json(const Json& message);

  Json request(const std::string& method, const Json& params);
  void notice(const std::string& method, const Json& params);
  void open(const Json& params);
  void change(const Json& params);
  void close(const Json& params);
  void refresh(const std::string& uri, Document& document);
  Json initialize();
  std::shared_ptr<const Derived> derived_of(const Document& document);
  Addresses addresses(const std::string& uri) const;
  void work();

  Send send_;
  Addresses where_;
  Library library_;
  std::map<std::string, Document> documents_;  ///< changed under mutex_, by the caller's thread
  bool initialized_ = false, shut_down_ = false, finished_ = false;

  std::mutex mutex_;       ///< documents_, waiting_, busy_, stop_
  std::mutex send_mutex_;  ///< send_
  std::condition_variable changed_;
  std::map<std::string, Work> waiting_;  ///< newest work of each document
  bool busy_ = false, stop_ = false;
  std::thread worker_;
};

}  // namespace vphi::lsp
