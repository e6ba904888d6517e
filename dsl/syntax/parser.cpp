// The whole file: lines, bodies, comments and documentation.
#include "dsl/syntax/parser.hpp"

#include "dsl/syntax/parse.hpp"
#include "dsl/syntax/syntax_errors.hpp"

namespace vphi::dsl {
namespace {

using Kind = Token::Kind;

class FileParser {
 public:
  FileParser(const Source& source, const Tokens& tokens, Diagnostics& diagnostics)
      : source_(source),
        tokens_(tokens.tokens),
        comments_(tokens.comments),
        diagnostics_(diagnostics),
        segments_(split_lines(tokens_, source, diagnostics)) {}

  void run(ModelText& out) {
    out.lines = lines(0);
    Line rest;
    comments_before(static_cast<std::uint32_t>(source_.text().size()) + 1, rest);
    out.comments_at_end = closing_comments(rest);
    name_the_model(out);
  }

 private:
  // Lines up to the `}` that ends a body, or to the end of the file.
  std::vector<Line> lines(int depth) {
    std::vector<Line> out;
    while (at_ < segments_.size() && diagnostics_.errors() < kMaxErrors) {
      const Segment& segment = segments_[at_];
      if (segment.closes) {
        if (depth > 0) break;
        diagnostics_.add(syntax::stray_brace(tokens_[segment.begin].span));
        ++at_;
        continue;
      }
      Line line;
      if (read(segment, line, depth)) out.push_back(std::move(line));
    }
    return out;
  }

  bool read(const Segment& segment, Line& line, int depth) {
    ++at_;
    const bool nothing = segment.end == segment.begin;
    const Token& first = tokens_[segment.begin];
    const Token& last = tokens_[segment.opens ? segment.end : segment.end - 1];
    comments_before(first.span.begin, line);
    LineParser parser(source_, tokens_, segment.begin, segment.end, diagnostics_);
    bool good = !segment.bad && parser.line(line, segment.opens);
    if (segment.bad && nothing) good = false;
    comments_inside(last.span.end, line);
    comment_beside(last, segment.opens ? segment.end + 1 : segment.end, line);
    if (segment.opens) good = body(segment, line, depth) && good;
    return good;
  }

  bool body(const Segment& segment, Line& line, int depth) {
    const Token& brace = tokens_[segment.end];
    if (depth >= kMaxNesting) {
      diagnostics_.add(syntax::too_deep(brace.span, kMaxNesting));
      skip_body();
      return false;
    }
    last_line_ = 0;
    line.clause.body = lines(depth + 1);
    if (at_ >= segments_.size()) {
      if (diagnostics_.errors() < kMaxErrors) diagnostics_.add(syntax::open_body(brace.span));
      return false;
    }
    const std::size_t closing = segments_[at_++].begin;
    Line rest;
    comments_before(tokens_[closing].span.begin, rest);
    line.clause.comments_at_end = closing_comments(rest);
    line.span = cover(line.span, tokens_[closing].span);
    std::size_t last = closing;
    bool good = true;
    if (where_follows()) {
      const Segment& facts = segments_[at_++];
      LineParser parser(source_, tokens_, facts.begin, facts.end, diagnostics_);
      good = !facts.bad && parser.where_facts(line.clause.where);
      last = facts.end - 1;
      line.span = cover(line.span, tokens_[last].span);
    }
    Line after;
    comments_inside(tokens_[last].span.end, after);
    comment_beside(tokens_[last], last + 1, after);
    line.clause.comment_after = std::move(after.comment_beside);
    return good;
  }

  bool where_follows() const {
    if (at_ >= segments_.size() || segments_[at_].closes || segments_[at_].opens) return false;
    const Segment& segment = segments_[at_];
    if (segment.end < segment.begin + 2 || tokens_[segment.begin].kind != Kind::Word) return false;
    const Kind next = tokens_[segment.begin + 1].kind;
    return source_.at(tokens_[segment.begin].span) == "where" && next == Kind::Word;
  }

  void skip_body() {
    for (int open = 1; at_ < segments_.size() && open > 0; ++at_) {
      if (segments_[at_].closes) --open;
      if (segments_[at_].opens) ++open;
    }
  }

  // ---- comments -------------------------------------------------------------------------------

  std::string comment_text(const Comment& comment) const {
    auto text = source_.at(comment.span);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return std::string(text);
  }

  static void append_documentation(std::vector<std::string>& out, const Line& line) {
    std::size_t begin = 0;
    while (begin <= line.documentation.size()) {
      std::size_t end = line.documentation.find('\n', begin);
      if (end == std::string::npos) end = line.documentation.size();
      out.push_back("## " + line.documentation.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  // The comments before the end of a body or of the file.
  static std::vector<std::string> closing_comments(const Line& rest) {
    std::vector<std::string> out = rest.comments_above;
    if (!rest.documentation.empty()) append_documentation(out, rest);
    while (!out.empty() && out.back().empty()) out.pop_back();
    return out;
  }

  void document(const Comment& comment, Line& line) const {
    std::string text = comment_text(comment).substr(2);
    if (!text.empty() && text.front() == ' ') text.erase(0, 1);
    if (!line.documentation.empty()) {
      line.documentation += '\n';
      line.documentation_beside = false;
    } else {
      line.documentation_beside = comment.beside;
    }
    line.documentation += text;
  }

  void blank_before(int physical, Line& line) const {
    if (last_line_ == 0 || physical - last_line_ <= 1) return;
    const bool already = !line.comments_above.empty() && line.comments_above.back().empty();
    if (!already) line.comments_above.emplace_back();
  }

  // Comments of their own, and blank lines, above the line that begins at `offset`.
  void comments_before(std::uint32_t offset, Line& line) {
    for (; comment_ < comments_.size() && comments_[comment_].span.begin < offset; ++comment_) {
      const Comment& comment = comments_[comment_];
      blank_before(comment.line, line);
      last_line_ = comment.line;
      if (comment.documentation) {
        document(comment, line);
      } else {
        line.comments_above.push_back(comment_text(comment));
      }
    }
    blank_before(source_.position(offset).line, line);
  }

  // Comments between the physical lines of one logical line move above it.
  void comments_inside(std::uint32_t end, Line& line) {
    for (; comment_ < comments_.size() && comments_[comment_].span.begin < end; ++comment_) {
      const Comment& comment = comments_[comment_];
      if (comment.documentation) {
        document(comment, line);
      } else {
        line.comments_above.push_back(comment_text(comment));
      }
    }
  }

  void comment_beside(const Token& last, std::size_t next, Line& line) {
    last_line_ = last.line;
    if (comment_ >= comments_.size()) return;
    const Comment& comment = comments_[comment_];
    if (comment.line != last.line) return;
    if (next < tokens_.size() && tokens_[next].kind != Kind::End &&
        tokens_[next].span.begin < comment.span.begin) {
      return;
    }
    ++comment_;
    if (comment.documentation) {
      document(comment, line);
    } else {
      line.comment_beside = comment_text(comment);
    }
  }

  // The first `model` clause names it; later ones are reported and left out.
  void name_the_model(ModelText& out) {
    Span first;
    std::erase_if(out.lines, [&](const Line& line) {
      if (line.kind != Line::Kind::Clause || line.clause.keyword != "model") return false;
      if (!first.empty()) {
        diagnostics_.add(syntax::two_models(line.clause.keyword_span, first));
        return true;
      }
      first = line.clause.keyword_span;
      const auto& items = line.clause.items;
      out.name = items[0].value->text;
      if (items.size() > 1) out.title = items[1].value->text;
      return false;
    });
  }

  const Source& source_;
  const std::vector<Token>& tokens_;
  const std::vector<Comment>& comments_;
  Diagnostics& diagnostics_;
  std::vector<Segment> segments_;
  std::size_t at_ = 0;
  std::size_t comment_ = 0;
  int last_line_ = 0;  ///< physical line of what was read last; 0 where blank lines are dropped
};

// Tokens, or none where the bytes are not text.
bool tokens_of(const Source& source, Tokens& out, Diagnostics& diagnostics) {
  if (source.text().size() > kMaxBytes) {
    diagnostics.add(syntax::too_long(source, kMaxBytes));
    return false;
  }
  out = tokenize(source, diagnostics);
  return out.text;
}

}  // namespace

ModelText parse(std::shared_ptr<const Source> source, Diagnostics& diagnostics) {
  ModelText out;
  out.source = source;
  Tokens tokens;
  if (tokens_of(*source, tokens, diagnostics)) {
    FileParser(*source, tokens, diagnostics).run(out);
  }
  return out;
}

ExprPtr parse_expression(std::shared_ptr<const Source> source, Diagnostics& diagnostics) {
  Tokens tokens;
  if (!tokens_of(*source, tokens, diagnostics)) return nullptr;
  const int errors = diagnostics.errors();
  const auto segments = split_lines(tokens.tokens, *source, diagnostics);
  if (diagnostics.errors() > errors) return nullptr;
  for (const Segment& segment : segments) {
    if (segment.bad) return nullptr;
  }
  // Brackets balance; everything up to the end belongs to the one expression.
  return LineParser(*source, tokens.tokens, 0, tokens.tokens.size() - 1, diagnostics)
      .whole_expression();
}

}  // namespace vphi::dsl
