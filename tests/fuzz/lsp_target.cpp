// The language server: as bytes that come over the pipe, and as the text of an open document.
#include <nlohmann/json.hpp>

#include "lsp/message.hpp"
#include "lsp/server.hpp"
#include "target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vphi;
  using namespace vphi::fuzz;
  using lsp::Json;
  const std::string bytes = text_of(data, size);
  int answers = 0;
  lsp::Server server(
      [&](const std::string& body) {
        must(!Json::parse(body, nullptr, false).is_discarded(), "answers are JSON");
        ++answers;
      },
      {"", "file:///std", "file:///pages"}, library());
  const auto ask = [&](const Json& message) {
    server.handle(message.dump(-1, ' ', false, Json::error_handler_t::replace));
  };

  // Torn at places that the bytes choose.
  lsp::MessageReader reader;
  const std::size_t piece = size == 0 ? 1 : 1 + data[size - 1] % 64;
  for (std::size_t at = 0; at < size; at += piece) {
    reader.feed(std::string_view(bytes).substr(at, piece));
    while (auto message = reader.next()) {
      if (message->malformed) {
        server.malformed();
      } else {
        server.handle(message->body);
      }
    }
  }
  if (server.finished() || bytes.starts_with("Content-Length")) return 0;

  ask({{"id", 1}, {"method", "initialize"}});
  const Json document = {{"uri", "file:///m.vphi"}};
  Json opened = document;
  opened["text"] = bytes;
  ask({{"method", "textDocument/didOpen"}, {"params", {{"textDocument", opened}}}});
  const lsp::LineIndex lines(bytes);
  for (int i = 0; i < 4; ++i) {
    const auto offset = static_cast<std::uint32_t>(size * static_cast<std::size_t>(i) / 3);
    const lsp::Place place = lines.place(offset);
    must(lines.place(lines.offset(place)) == place, "places survive both ways");
    const Json params = {{"textDocument", document},
                         {"newName", "fresh"},
                         {"position", {{"line", place.line}, {"character", place.character}}}};
    for (const char* what : {"hover", "completion", "definition", "references", "rename"})
      ask({{"id", 2}, {"method", std::string("textDocument/") + what}, {"params", params}});
  }
  for (const char* what : {"documentSymbol", "formatting"})
    ask({{"id", 3},
         {"method", std::string("textDocument/") + what},
         {"params", {{"textDocument", document}}}});
  must(answers > 0, "questions are answered");
  return 0;
}
