// Diagnostics as text for people (docs/rules.md, Messages).
//
//   error[E0104]: unknown name `gama`
//     --> josephson.vphi:7:8
//      |
//    7 | x'' = -gama*x' - d(V, x)
//      |        ^^^^ did you mean `gamma` (param, line 3)?
//      = rule and fix, a line each
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "dsl/messages/diagnostic.hpp"
#include "dsl/messages/severity_word.hpp"
#include "dsl/syntax/unicode.hpp"

namespace vphi::dsl {
namespace {

constexpr int kWarningsShown = 20;
constexpr std::size_t kShown = 160;  ///< bytes of a line around the span; the rest is left out

// A piece of a source line as a terminal shows it, with the columns of the span in it.
struct Snippet {
  std::string text;
  int column = 0;  ///< columns before the underline
  int length = 1;  ///< columns of the underline
};

// Control characters and broken bytes must not reach the terminal.
void append_shown(std::string& out, char32_t c) {
  if (c == '\t') {
    out += ' ';
  } else if (c < 0x20 || c == 0x7F || (c >= 0x80 && c < 0xA0) || c == kMalformed ||
             (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E)) {
    out += '?';
  } else {
    append_utf8(out, c);
  }
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

Snippet snippet(std::string_view line, std::size_t begin, std::size_t end) {
  begin = std::min(begin, line.size());
  end = std::clamp(end, begin, line.size());
  std::size_t from = 0, to = line.size();
  if (line.size() > kShown) {
    from = begin > kShown / 2 ? begin - kShown / 2 : 0;
    to = std::min(line.size(), from + kShown);
    while (from < begin && is_continuation(line[from])) ++from;
    while (to > end && to < line.size() && is_continuation(line[to])) --to;
    end = std::min(end, to);
  }
  Snippet out;
  int columns = 0, start = 0, stop = 0;
  if (from > 0) out.text = "...", columns = 3;
  start = columns;
  stop = columns;
  for (std::size_t i = from; i < to;) {
    if (i <= begin) start = columns;
    if (i <= end) stop = columns;
    const auto [c, bytes] = decode(line, i);
    append_shown(out.text, c);
    columns += column_width(c);
    i += static_cast<std::size_t>(bytes);
  }
  if (begin >= to) start = columns;
  if (end >= to) stop = columns;
  if (to < line.size()) out.text += "...";
  out.column = start;
  out.length = std::max(1, stop - start);
  return out;
}

class TextRenderer {
 public:
  TextRenderer(const Sources& sources, const RenderOptions& options)
      : sources_(sources), options_(options) {}

  std::string run(const Diagnostics& diagnostics) {
    int errors = 0, others = 0, others_left = 0;
    for (const Diagnostic& d : diagnostics.all()) {
      const bool error = d.severity == Severity::Error;
      const bool shown = error ? errors++ < options_.limit : others++ < kWarningsShown;
      if (!shown && !error) ++others_left;
      if (!shown) continue;
      if (!out_.empty()) out_ += '\n';
      one(d);
    }
    const int left = diagnostics.errors() - std::min(errors, options_.limit);
    if (left > 0) out_ += fmt::format("\nand {} more error{}\n", left, left == 1 ? "" : "s");
    if (others_left > 0) out_ += fmt::format("\nand {} more warnings and notes\n", others_left);
    return std::move(out_);
  }

 private:
  const Source* source(Span span) const {
    const bool known = span.file < sources_.size() && sources_[span.file] != nullptr;
    const bool somewhere = span.end > 0 || span.begin > 0;
    return known && somewhere ? sources_[span.file] : nullptr;
  }

  std::string paint(std::string_view text, const char* code) const {
    if (!options_.colour) return std::string(text);
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
  }

  void one(const Diagnostic& d) {
    const char* colour = d.severity == Severity::Error     ? "1;31"
                         : d.severity == Severity::Warning ? "1;33"
                                                           : "1;36";
    const auto code = d.code.empty() ? std::string() : "[" + d.code + "]";
    out_ += paint(fmt::format("{}{}", word(d.severity), code), colour);
    out_ += ": " + clean(d.message) + "\n";
    gutter_ = 1;
    if (const Source* text = source(d.span)) {
      const Position at = text->position(d.span.begin);
      int last = at.line;
      for (const Label& label : d.labels) {
        if (const Source* other = source(label.span)) {
          last = std::max(last, other->position(label.span.begin).line);
        }
      }
      gutter_ = static_cast<int>(std::to_string(last).size());
      out_ += fmt::format("{:{}}--> {}:{}:{}\n", "", gutter_ + 1, clean(text->name()), at.line,
                          at.column);
      bar();
      places(d, *text, colour);
    }
    notes(d.rule);
    notes(d.hint);
  }

  void bar() { out_ += fmt::format("{:{}}|\n", "", gutter_ + 2); }

  // The primary span and the labels of the same file in the order of their lines.
  void places(const Diagnostic& d, const Source& text, const char* colour) {
    struct Place {
      Span span;
      std::string under;
      bool primary;
    };
    std::vector<Place> own{{d.span, d.under, true}};
    for (const Label& label : d.labels) {
      if (label.span.file == d.span.file && source(label.span)) {
        own.push_back({label.span, label.text, false});
      }
    }
    const auto line_of = [&](const Place& p) { return text.position(p.span.begin).line; };
    std::stable_sort(own.begin(), own.end(),
                     [&](const Place& a, const Place& b) { return line_of(a) < line_of(b); });
    int shown = 0;
    for (const Place& place : own) {
      const int line = line_of(place);
      if (shown > 0 && line > shown + 1) out_ += fmt::format("{:{}}...\n", "", gutter_ + 1);
      const Snippet piece = snippet_of(text, place.span, line);
      if (line != shown) out_ += numbered(line, piece.text);
      shown = line;
      underline(piece, place.under, place.primary ? '^' : '-', place.primary ? colour : "1;34");
    }
    for (const Label& label : d.labels) {
      const Source* other = source(label.span);
      if (!other || label.span.file == d.span.file) continue;
      const Position at = other->position(label.span.begin);
      out_ += fmt::format("{:{}}::: {}:{}:{}\n", "", gutter_ + 1, clean(other->name()), at.line,
                          at.column);
      bar();
      const Snippet piece = snippet_of(*other, label.span, at.line);
      out_ += numbered(at.line, piece.text);
      underline(piece, label.text, '-', "1;34");
    }
  }

  static Snippet snippet_of(const Source& text, Span span, int line) {
    const auto shown = text.line(line);
    const auto start = static_cast<std::size_t>(shown.data() - text.text().data());
    // A span over several lines is underlined to the end of its first.
    return snippet(shown, span.begin - start, std::max<std::size_t>(span.end, start) - start);
  }

  std::string numbered(int line, const std::string& text) const {
    std::string row = fmt::format(" {:>{}} | {}", line, gutter_, text);
    while (!row.empty() && row.back() == ' ') row.pop_back();
    return row + "\n";
  }

  void underline(const Snippet& piece, const std::string& under, char mark, const char* colour) {
    std::string carets(static_cast<std::size_t>(piece.length), mark);
    if (!under.empty()) carets += " " + clean(under);
    out_ +=
        fmt::format("{:{}}| {:{}}{}\n", "", gutter_ + 2, "", piece.column, paint(carets, colour));
  }

  void notes(const std::string& text) {
    std::size_t begin = 0;
    while (begin < text.size()) {
      std::size_t end = text.find('\n', begin);
      if (end == std::string::npos) end = text.size();
      out_ += fmt::format("{:{}}= {}\n", "", gutter_ + 2,
                          clean(std::string_view(text).substr(begin, end - begin)));
      begin = end + 1;
    }
  }

  static std::string clean(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      const auto [c, bytes] = decode(text, i);
      append_shown(out, c);
      i += static_cast<std::size_t>(bytes);
    }
    return out;
  }

  const Sources& sources_;
  RenderOptions options_;
  std::string out_;
  int gutter_ = 1;
};

}  // namespace

std::string render_text(const Diagnostics& diagnostics, const Sources& sources,
                        const RenderOptions& options) {
  return TextRenderer(sources, options).run(diagnostics);
}

}  // namespace vphi::dsl
