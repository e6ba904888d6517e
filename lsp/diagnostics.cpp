// Messages of the compiler for an editor, with the same data as in the terminal.
#include <cctype>

#include "embedded/vphi_pages.hpp"
#include "lsp/features.hpp"

namespace vphi::lsp {

namespace {

int severity(dsl::Severity s) {
  switch (s) {
    case dsl::Severity::Error:
      return 1;
    case dsl::Severity::Warning:
      return 2;
    case dsl::Severity::Note:
      return 3;
  }
  return 1;
}

struct Page {
  std::string_view file, text;  ///< text from the title on
};

Page find_page(const std::string& code) {
  if (code.size() != 5) return {};
  for (const auto& [file, text] : vphi_pages::files()) {
    const auto start = text.find("\n## " + code);
    if (start == std::string_view::npos) continue;
    const auto end = text.find("\n## ", start + 1);
    return {file, text.substr(start + 4, end == std::string_view::npos ? end : end - start - 4)};
  }
  return {};
}

/// The place in the document, or the document's beginning for a place in another text.
dsl::Span inside(dsl::Span span) { return span.file == 0 ? span : dsl::Span{}; }

std::string message_of(const dsl::Diagnostic& d) {
  std::string text = d.message;
  for (const std::string& more : {d.under, d.rule, d.hint})
    if (!more.empty()) text += "\n" + more;
  return text;
}

}  // namespace

std::string page_of(const std::string& code) {
  const Page page = find_page(code);
  if (page.text.empty()) return {};
  // The anchor of a Markdown heading: lower case, words joined by `-`, other signs left out.
  std::string anchor;
  for (const unsigned char c : page.text.substr(0, page.text.find('\n'))) {
    if (std::isalnum(c) != 0 || c == '_') anchor.push_back(static_cast<char>(std::tolower(c)));
    if (c == ' ' || c == '-') anchor.push_back('-');
  }
  return std::string(page.file) + "#" + anchor;
}

std::string_view page_text(const std::string& code) { return find_page(code).text; }

Json range(const LineIndex& lines, dsl::Span span) {
  const auto place = [&](std::uint32_t offset) {
    const Place p = lines.place(offset);
    return Json{{"line", p.line}, {"character", p.character}};
  };
  return {{"start", place(span.begin)}, {"end", place(std::max(span.begin, span.end))}};
}

Json diagnostics(const Analysis& analysis, const dsl::Diagnostics& all, const Addresses& where) {
  Json list = Json::array();
  const dsl::Sources sources = analysis.resolved.sources();
  for (const dsl::Diagnostic& d : all.all()) {
    Json one = {{"range", range(analysis.lines, inside(d.span))},
                {"severity", d.code == "E0901" ? 3 : severity(d.severity)},
                {"code", d.code},
                {"source", "vphi"},
                {"message", message_of(d)}};
    const std::string page = page_of(d.code);
    if (!page.empty() && !where.pages_folder.empty())
      one["codeDescription"] = {{"href", where.pages_folder + "/" + page}};
    Json related = Json::array();
    const auto relate = [&](dsl::Span span, const std::string& text) {
      if (span.file >= sources.size() || sources[span.file] == nullptr) return;
      const dsl::Source& source = *sources[span.file];
      const std::string address = where.of(source, span.file);
      if (address.empty()) return;
      const LineIndex lines(source.text());
      related.push_back(
          {{"location", {{"uri", address}, {"range", range(lines, span)}}}, {"message", text}});
    };
    if (d.span.file != 0) relate(d.span, d.message);
    for (const dsl::Label& label : d.labels) relate(label.span, label.text);
    if (!related.empty()) one["relatedInformation"] = std::move(related);
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace vphi::lsp
