// Prints a whole file in the canonical style: one blank at most, two columns a body, comments of
// successive lines in one column, lines of at most 100 columns. Line breaks within a statement and
// columns of comments are kept as written where they fit.
#include <algorithm>
#include <optional>

#include "dsl/messages/printer.hpp"
#include "dsl/source_spacing.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/syntax/unicode.hpp"

namespace vphi::dsl {
namespace {

constexpr int kColumns = 100;

// Columns of the text; stops counting behind `enough`.
int width(std::string_view text, int enough = 1 << 30) {
  int columns = 0;
  for (std::size_t i = 0; i < text.size() && columns <= enough;) {
    const auto [c, bytes] = decode(text, i);
    columns += column_width(c);
    i += static_cast<std::size_t>(bytes);
  }
  return columns;
}

// Where a long line may break: behind `, `, `: ` and `where`, before ` + `, ` - ` and ` -> `. All
// of these continue in the next line by docs/rules.md rule 1. The outermost brackets are broken
// first.
struct Break {
  std::size_t end = 0;   ///< the first part ends here
  std::size_t next = 0;  ///< the second begins here
};

std::optional<Break> break_of(std::string_view text, int columns) {
  std::optional<Break> best;
  int best_depth = 0, depth = 0, column = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size() && column <= columns;) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (!quoted) {
      if (c == '(' || c == '[') ++depth;
      if (c == ')' || c == ']') --depth;
      const auto here = text.substr(i);
      std::optional<Break> found;
      if (here.starts_with(", ") || here.starts_with(": ")) found = Break{i + 1, i + 2};
      if (here.starts_with(" + ") || here.starts_with(" - ") || here.starts_with(" -> ")) {
        found = Break{i, i + 1};
      }
      if (depth == 0 && here.starts_with(" where ")) found = Break{i + 6, i + 7};
      const bool fits = found && width(text.substr(0, found->end)) <= columns;
      if (fits && i > 8 && (!best || depth <= best_depth)) best = found, best_depth = depth;
    }
    const auto [code, bytes] = decode(text, i);
    column += column_width(code);
    i += static_cast<std::size_t>(bytes);
  }
  return best;
}

class Formatter {
 public:
  /// With `keep` lines, columns and places of comments are the author's where they fit.
  Formatter(const ModelText& model, Spelling spelling, bool keep)
      : spelling_(spelling), keep_(keep), written_(keep ? Written(model) : Written(ModelText{})) {}

  bool has_columns() const { return columns_; }

  std::string run(const ModelText& model) {
    lines(model.lines, 0);
    comments(model.comments_at_end, 0);
    flush();
    return std::move(out_);
  }

 private:
  struct Row {
    std::string text;
    std::string comment;
    int column = -1;  ///< where the author put the comment; -1: unknown
  };

  // No blank row begins the file or a body, also where the text before it could not be parsed.
  void row(std::string text, std::string comment = {}, int column = -1) {
    if (text.empty() && comment.empty() && at_beginning_) return;
    at_beginning_ = false;
    rows_.push_back({std::move(text), std::move(comment), column});
  }

  void flush() {
    for (std::size_t begin = 0; begin < rows_.size();) {
      // Comments of neighbouring rows are put in one column where the rows are short enough: the
      // column as written, if all have the same.
      std::size_t end = begin;
      int column = 0, longest = 0;
      bool chosen = true;
      while (end < rows_.size() && !rows_[end].comment.empty()) {
        column = std::max(column, width(rows_[end].text) + 2);
        longest = std::max(longest, width(rows_[end].comment));
        chosen = chosen && rows_[end].column == rows_[begin].column;
        ++end;
      }
      const int own = rows_[begin].column;
      if (chosen && own >= column && own + longest <= kColumns) column = own;
      for (std::size_t i = begin; i < std::max(end, begin + 1); ++i) put(rows_[i], column);
      begin = std::max(end, begin + 1);
    }
    rows_.clear();
  }

  void put(const Row& row, int column) {
    out_ += row.text;
    if (!row.comment.empty()) {
      const int own = width(row.text);
      const bool aligned = column + width(row.comment) <= kColumns;
      const int blanks = aligned ? column - own : 2;
      out_.append(static_cast<std::size_t>(blanks), ' ');
      out_ += row.comment;
    }
    out_ += '\n';
  }

  void comments(const std::vector<std::string>& texts, int indent) {
    const std::string margin(static_cast<std::size_t>(2 * indent), ' ');
    for (const std::string& text : texts) row(text.empty() ? text : margin + text);
  }

  void documentation(const Line& line, const std::string& margin) {
    std::size_t begin = 0;
    while (begin <= line.documentation.size()) {
      std::size_t end = line.documentation.find('\n', begin);
      if (end == std::string::npos) end = line.documentation.size();
      const auto text = line.documentation.substr(begin, end - begin);
      row(margin + (text.empty() ? "##" : "## " + text));
      begin = end + 1;
    }
  }

  void lines(const std::vector<Line>& all, int indent) {
    for (const Line& line : all) this->line(line, indent);
  }

  void line(const Line& line, int indent) {
    const std::string margin(static_cast<std::size_t>(2 * indent), ' ');
    comments(line.comments_above, indent);
    std::string beside = line.comment_beside;
    if (!line.documentation.empty()) {
      if (line.documentation_beside && beside.empty()) {
        beside = "## " + line.documentation;
      } else {
        documentation(line, margin);
      }
    }
    if (line.kind != Line::Kind::Clause) {
      wrapped(margin + definition(line.definition), beside, indent, line.span);
      return;
    }
    const Clause& clause = line.clause;
    std::string head = margin + header(clause);
    if (!clause.has_body) {
      head += where(clause);
      wrapped(head, beside, indent, line.span);
      return;
    }
    wrapped(head + " {", beside, indent, line.span);
    at_beginning_ = true;
    lines(clause.body, indent + 1);
    comments(clause.comments_at_end, indent + 1);
    row(margin + "}" + where(clause), clause.comment_after);
  }

  // Lines and columns as written first; a line that is still too long is broken further, with
  // single blanks.
  void wrapped(const std::string& text, std::string comment, int indent, Span begin) {
    const int margin = 2 * indent + 4;
    const LineSpacing layout = keep_ ? written_.layout(begin, text) : LineSpacing{};
    int before = 0;  // blanks that the formatter puts before the line
    std::string plain, placed;
    std::size_t from = 0;
    const auto take = [&](std::size_t to) {
      plain += text.substr(from, to - from);
      placed += text.substr(from, to - from);
      from = to;
    };
    const auto line = [&] {
      while (placed.ends_with(' ')) placed.pop_back(), plain.pop_back();
      const bool fits = width(placed, kColumns) + before <= kColumns;
      return fits ? spaces(before) + placed : broken(plain, before, margin);
    };
    for (const Placed& next : layout.places) {
      take(next.at);
      if (next.begins) {
        row(line());
        plain.clear(), placed.clear();
        before = next.column > 2 * indent ? std::min(next.column, kColumns / 2) : margin;
      } else if (placed.ends_with(' ')) {
        columns_ = true;
        const int wanted_column = next.beyond_margin + (before > 0 ? 0 : 2 * indent);
        placed += spaces(std::max(0, wanted_column - width(placed)));
      }
    }
    take(text.size());
    std::string last = line();
    row(std::move(last), std::move(comment), layout.comment_column);
  }

  // Puts out the rows of a piece that is too long for one; the last of them is the result.
  std::string broken(std::string_view rest, int before, int margin) {
    int columns = kColumns - before;
    while (width(rest, columns) > columns) {
      const auto at = break_of(rest, columns);
      if (!at) break;
      row(spaces(before) + std::string(rest.substr(0, at->end)));
      rest = rest.substr(at->next);
      before = margin;
      columns = kColumns - margin;
    }
    return spaces(before) + std::string(rest);
  }

  static std::string spaces(int n) { return std::string(static_cast<std::size_t>(n), ' '); }

  std::string definition(const Definition& d) const {
    return print(d.head, spelling_) + (d.drawn ? " ~ " : " = ") + print(*d.value, spelling_);
  }

  std::string item(const Item& item, bool shape) const {
    std::string out;
    if (item.head) {
      out += print(*item.head, spelling_);
      out += item.relation == Item::Relation::Drawn ? " ~ " : " = ";
    }
    if (item.value) {
      out += shape ? print_shape(*item.value, spelling_) : print(*item.value, spelling_);
    }
    if (!item.count_word.empty()) out += " " + item.count_word;
    for (const auto& [word, value] : item.words) {
      out += (out.empty() ? "" : " ") + word + " " + print(*value, spelling_);
    }
    return out;
  }

  std::string header(const Clause& clause) const {
    std::string out = clause.keyword;
    for (const Item& i : clause.items) {
      if (i.leading == Item::Leading::Start) out += ' ';
      if (i.leading == Item::Leading::Comma) out += ", ";
      if (i.leading == Item::Leading::Colon) out += ": ";
      out += item(i, clause.keyword == "lattice" && !i.head);
    }
    if (clause.destination) out += " -> " + print(*clause.destination, spelling_);
    return out;
  }

  std::string where(const Clause& clause) const {
    std::string out;
    for (const Definition& fact : clause.where) {
      out += (out.empty() ? " where " : ", ") + definition(fact);
    }
    return out;
  }

  Spelling spelling_;
  bool keep_;
  Written written_;
  std::string out_;
  std::vector<Row> rows_;
  bool columns_ = false;      ///< a comment was aligned in a column
  bool at_beginning_ = true;  ///< of the file or of a body
};

}  // namespace

// Comments that were in one column may have moved apart, so that no column is kept: repeated until
// nothing moves.
std::string format(const ModelText& model, Spelling spelling) {
  Formatter first(model, spelling, true);
  std::string text = first.run(model);
  if (!first.has_columns()) return text;
  for (int pass = 0; pass < 4; ++pass) {
    Diagnostics ignored;
    const ModelText reparsed = parse(std::make_shared<const Source>("", text), ignored);
    std::string next = Formatter(reparsed, spelling, true).run(reparsed);
    if (next == text) return text;
    text = std::move(next);
  }
  return Formatter(model, spelling, false).run(model);
}

}  // namespace vphi::dsl
