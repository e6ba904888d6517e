#include "tools/oracle/finer_model.hpp"

#include <fmt/format.h>

#include <vector>

#include "dsl/syntax/load.hpp"

namespace vphi::tools {

namespace {

/// `item` and the comma that parts it from its neighbour; `leads`: it has items after it only.
Edit without(const std::string& text, const dsl::Item& item, bool leads) {
  Edit edit{item.span.begin, item.span.end, ""};
  const char* const blanks = " \t\r\n";
  if (leads) {
    const auto comma = text.find_first_not_of(blanks, edit.end);
    if (comma != std::string::npos && text[comma] == ',') edit.end = comma + 1;
  } else {
    const auto comma = text.find_last_not_of(blanks, edit.begin - 1);
    if (comma != std::string::npos && text[comma] == ',') edit.begin = comma;
  }
  return edit;
}

}  // namespace

std::unique_ptr<ModelCopy> finer_model(const std::string& path, int parts, bool fixed_end) {
  dsl::Diagnostics diagnostics;
  const auto model = dsl::load_model(path, diagnostics);
  const std::string text(model.source->text());
  std::vector<Edit> edits;
  bool found = false;
  for (const auto& line : model.lines) {
    if (line.kind != dsl::Line::Kind::Clause) continue;
    if (fixed_end && line.clause.keyword == "precision")
      for (const dsl::Item& item : line.clause.items)
        if (item.value && item.value->text == "f32")
          edits.push_back({item.value->span.begin, item.value->span.end, "f64"});
    if (line.clause.keyword != "evolve") continue;
    for (std::size_t i = 0; i < line.clause.items.size(); ++i) {
      const dsl::Item& item = line.clause.items[i];
      if (!item.head || !item.value) continue;
      if (item.head->name == "dt") {
        const auto [begin, end] = std::pair(item.value->span.begin, item.value->span.end);
        edits.push_back(
            {begin, end, fmt::format("({})/{}", text.substr(begin, end - begin), parts)});
        found = true;
      }
      if (fixed_end && item.head->name == "until") edits.push_back(without(text, item, i == 0));
    }
  }
  if (!found) return nullptr;
  return std::make_unique<ModelCopy>(model, std::move(edits));
}

}  // namespace vphi::tools
