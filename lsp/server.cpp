#include "lsp/server.hpp"

#include <chrono>
#include <limits>

#include "dsl/syntax/load.hpp"

namespace vphi::lsp {

namespace {

// JSON-RPC 2.0 and Language Server Protocol 3.17.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
              kInvalidParams = -32602, kInternalError = -32603, kNotInitialized = -32002,
              kRequestFailed = -32803;
/// A hover waits this long for the equations of the text on the screen.
constexpr std::chrono::milliseconds kPatience{40};

/// The protocol's answer to a request that cannot be answered.
struct Refusal {
  int code;
  std::string message;
};

const Json& at(const Json& object, const char* key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

std::string text_of(const Json& object, const char* key) {
  const Json& value = at(object, key);
  if (!value.is_string()) throw Refusal{kInvalidParams, std::string(key) + " is missing"};
  return value.get<std::string>();
}

std::uint32_t count_of(const Json& object, const char* key) {
  const Json& value = at(object, key);
  if (!value.is_number()) throw Refusal{kInvalidParams, std::string(key) + " is missing"};
  const double number = value.get<double>();
  if (!(number > 0)) return 0;
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(number, kMost));
}

Place place_of(const Json& position) {
  return {count_of(position, "line"), count_of(position, "character")};
}

std::string uri_of(const Json& params) { return text_of(at(params, "textDocument"), "uri"); }

}  // namespace

Library Server::standard() {
  dsl::Diagnostics reading;
  return dsl::load_library(reading);
}

Server::Server(Send send, Addresses where, Library library)
    : send_(std::move(send)), where_(std::move(where)), library_(std::move(library)) {
  worker_ = std::thread([this] { work(); });
}

Server::~Server() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  worker_.join();
}

// ---- messages ---------------------------------------------------------------------------------

void Server::send_json(const Json& message) {
  const std::string body = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::lock_guard lock(send_mutex_);
  send_(body);
}

void Server::answer(const Json& id, Json result) {
  send_json({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

void Server::refuse(const Json& id, int code, const std::string& message) {
  send_json({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}});
}

void Server::malformed() { refuse(nullptr, kParseError, "the header has no Content-Length"); }

void Server::handle(const std::string& body) {
  const Json message = Json::parse(body, nullptr, false);
  if (message.is_discarded()) return refuse(nullptr, kParseError, "this is no JSON");
  const Json& id = at(message, "id");
  const bool asks = id.is_string() || id.is_number();
  const Json& method = at(message, "method");
  if (!method.is_string()) {
    const bool reply =
        message.is_object() && (message.contains("result") || message.contains("error"));
    if (!reply) refuse(asks ? id : Json(), kInvalidRequest, "a message needs a method");
    return;
  }
  const auto name = method.get<std::string>();
  const Json& params = at(message, "params");
  try {
    if (!asks) return notice(name, params);
    if (shut_down_) throw Refusal{kInvalidRequest, "the server was shut down"};
    if (!initialized_ && name != "initialize") throw Refusal{kNotInitialized, "initialize first"};
    answer(id, request(name, params));
  } catch (const Refusal& refusal) {
    if (asks) refuse(id, refusal.code, refusal.message);
  } catch (const std::exception& error) {
    if (asks) refuse(id, kInternalError, error.what());
  }
}

Json Server::initialize() {
  initialized_ = true;
  return {{"serverInfo", {{"name", "vphi"}, {"version", VPHI_VERSION}}},
          {"capabilities",
           {{"positionEncoding", "utf-16"},
            {"textDocumentSync", {{"openClose", true}, {"change", 2}, {"save", true}}},
            {"hoverProvider", true},
            {"completionProvider", {{"triggerCharacters", {"[", "~", "=", ",", ":"}}}},
            {"definitionProvider", true},
            {"referencesProvider", true},
            {"documentHighlightProvider", true},
            {"documentSymbolProvider", true},
            {"documentFormattingProvider", true},
            {"renameProvider", {{"prepareProvider", true}}}}}};
}

Json Server::request(const std::string& method, const Json& params) {
  if (method == "initialize") return initialize();
  if (method == "shutdown") {
    shut_down_ = true;
    return nullptr;
  }
  constexpr std::string_view kPrefix = "textDocument/";
  if (!method.starts_with(kPrefix)) throw Refusal{kMethodNotFound, "no method " + method};
  const std::string what = method.substr(kPrefix.size());
  static const std::map<std::string, bool> kKnown = {
      // name, and whether it asks about a place
      {"hover", true},       {"completion", true},        {"definition", true},
      {"references", true},  {"documentHighlight", true}, {"documentSymbol", false},
      {"formatting", false}, {"prepareRename", true},     {"rename", true}};
  const auto known = kKnown.find(what);
  if (known == kKnown.end()) throw Refusal{kMethodNotFound, "no method " + method};

  const std::string uri = uri_of(params);
  const auto found = documents_.find(uri);
  if (found == documents_.end()) throw Refusal{kInvalidParams, uri + " is not open"};
  const Document& document = found->second;
  const Analysis& analysis = *document.analysis;
  std::uint32_t offset = 0;
  if (known->second) offset = analysis.lines.offset(place_of(at(params, "position")));

  if (what == "hover") return hover(analysis, derived_of(document).get(), offset);
  if (what == "completion") return completion(analysis, offset);
  if (what == "definition") return definition(analysis, addresses(uri), offset);
  if (what == "references") return references(analysis, addresses(uri), offset);
  if (what == "documentHighlight") {
    Json list = references(analysis, addresses(uri), offset);
    for (Json& one : list) one.erase("uri");
    return list;
  }
  if (what == "documentSymbol") return document_symbols(analysis);
  if (what == "formatting") return formatting(analysis);
  if (what == "prepareRename") return prepare_rename(analysis, offset);
  const Json edit = rename(analysis, addresses(uri), offset, text_of(params, "newName"));
  if (edit.is_string()) throw Refusal{kRequestFailed, edit.get<std::string>()};
  return edit;
}

void Server::notice(const std::string& method, const Json& params) {
  if (method == "exit") finished_ = true;
  if (!initialized_ || shut_down_) return;
  if (method == "textDocument/didOpen") open(params);
  if (method == "textDocument/didChange") change(params);
  if (method == "textDocument/didClose") close(params);
}

// ---- documents --------------------------------------------------------------------------------

Addresses Server::addresses(const std::string& uri) const {
  Addresses all = where_;
  all.document = uri;
  return all;
}

void Server::open(const Json& params) {
  const Json& document = at(params, "textDocument");
  const std::string uri = text_of(document, "uri");
  Document fresh;
  fresh.text = text_of(document, "text");
  const Json& version = at(document, "version");
  fresh.has_version = version.is_number_integer();
  if (fresh.has_version) fresh.version = version.get<std::int64_t>();
  Document* place = nullptr;
  {
    const std::lock_guard lock(mutex_);
    place = &(documents_[uri] = std::move(fresh));
  }
  refresh(uri, *place);
}

void Server::change(const Json& params) {
  const std::string uri = uri_of(params);
  const auto found = documents_.find(uri);
  if (found == documents_.end()) return;
  Document& document = found->second;
  std::string text = document.text;
  for (const Json& one : at(params, "contentChanges")) {
    const std::string part = text_of(one, "text");
    const Json& span = at(one, "range");
    if (span.is_object()) {
      const LineIndex lines(text);
      const std::size_t begin = lines.offset(place_of(at(span, "start")));
      const std::size_t end = lines.offset(place_of(at(span, "end")));
      text.replace(std::min(begin, end), std::max(begin, end) - std::min(begin, end), part);
    } else {
      text = part;
    }
  }
  {
    const std::lock_guard lock(mutex_);
    document.text = std::move(text);
    const Json& version = at(at(params, "textDocument"), "version");
    document.has_version = version.is_number_integer();
    if (document.has_version) document.version = version.get<std::int64_t>();
  }
  refresh(uri, document);
}

void Server::close(const Json& params) {
  const std::string uri = uri_of(params);
  {
    const std::lock_guard lock(mutex_);
    documents_.erase(uri);
    waiting_.erase(uri);
  }
  // An editor shows the messages published last, so they are cleared.
  send_json({{"jsonrpc", "2.0"},
             {"method", "textDocument/publishDiagnostics"},
             {"params", {{"uri", uri}, {"diagnostics", Json::array()}}}});
}

void Server::refresh(const std::string& uri, Document& document) {
  auto analysis = analyse(uri, document.text, library_);
  const bool sound = analysis->sound;
  {
    const std::lock_guard lock(mutex_);
    document.analysis = analysis;
    document.derived.reset();
    if (sound) {
      waiting_[uri] = {uri, analysis};
    } else {
      waiting_.erase(uri);
    }
  }
  if (sound) {
    changed_.notify_all();
  } else {
    publish(uri, document, analysis->diagnostics);
  }
}

void Server::publish(const std::string& uri, const Document& document,
                     const dsl::Diagnostics& all) {
  Json params = {{"uri", uri},
                 {"diagnostics", diagnostics(*document.analysis, all, addresses(uri))}};
  if (document.has_version) params["version"] = document.version;
  send_json({{"jsonrpc", "2.0"},
             {"method", "textDocument/publishDiagnostics"},
             {"params", std::move(params)}});
}

// ---- the second thread ------------------------------------------------------------------------

void Server::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    const Work work = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    busy_ = true;
    lock.unlock();
    auto derived = std::make_shared<const Derived>(deepen(*work.analysis));
    lock.lock();
    const auto found = documents_.find(work.uri);
    const bool current = found != documents_.end() && found->second.analysis == work.analysis;
    if (current && !stop_) {
      found->second.derived = derived;
      const Document copy = found->second;
      lock.unlock();
      publish(work.uri, copy, derived->diagnostics);
      lock.lock();
    }
    busy_ = false;
    changed_.notify_all();
  }
}

std::shared_ptr<const Derived> Server::derived_of(const Document& document) {
  std::unique_lock lock(mutex_);
  if (document.analysis->sound)
    changed_.wait_for(lock, kPatience, [&] { return document.derived != nullptr; });
  return document.derived;
}

bool Server::settle(double seconds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                           [this] { return waiting_.empty() && !busy_; });
}

}  // namespace vphi::lsp
