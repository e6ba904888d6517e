#include "compiler/emit/text/fill.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "embedded/vphi_templates.hpp"

namespace vphi::emit {
namespace {

std::string_view template_named(std::string_view name) {
  for (const auto& [file, text] : vphi_templates::files())
    if (file == name) return text;
  throw std::logic_error("no template called " + std::string(name));
}

const Code& slot_named(const Slots& slots, std::string_view name) {
  const auto found = slots.find(name);
  if (found == slots.end()) throw std::logic_error("no text for slot @" + std::string(name) + "@");
  return found->second;
}

// The name between two @ at `at`, or empty where there is none.
std::string_view slot_at(std::string_view line, std::size_t at) {
  if (at >= line.size() || line[at] != '@') return {};
  const std::size_t end = line.find('@', at + 1);
  if (end == std::string_view::npos || end == at + 1) return {};
  const std::string_view name = line.substr(at + 1, end - at - 1);
  for (char c : name)
    if (!((c >= 'a' && c <= 'z') || c == '_')) return {};
  return name;
}

}  // namespace

// Fills a template and finds in its lines which names it defines and calls.
class Filling {
 public:
  explicit Filling(const Slots& slots) : slots_(slots) {}

  Code fill(std::string_view text) {
    for_lines(text, [&](std::string_view line) { add(line); });
    if (!item_.name.empty()) throw std::logic_error("a template without the end of " + item_.name);
    return std::move(out_);
  }

 private:
  void add(std::string_view line) {
    const bool comment = line.starts_with("//");
    const std::size_t begin = out_.text_.size();
    if (comment && !comment_) comment_ = begin;
    const bool outside = item_.name.empty();
    if (outside && (line.starts_with("VPHI_INLINE ") || line.starts_with("typedef "))) {
      item_.begin = comment_.value_or(begin);
      item_.kept = line.front() == 't';
      item_.name = " ";  // a placeholder until the name is known
    }
    if (!comment) comment_.reset();
    words_.clear();
    fill_line(line, comment);
    if (item_.name.empty()) return;
    const bool function = !item_.kept;
    if (function && item_.name == " ") item_.name = before('(');
    const std::string_view said = without_comment(line);
    const char last = said.empty() ? ' ' : said.back();
    const bool first = outside, closing = line.starts_with("}");
    const bool ends =
        function ? last == '}' && (first || closing) : last == ';' && (first || closing);
    if (!ends) return;
    if (!function) item_.name = before(';');
    item_.end = out_.text_.size();
    out_.items_.push_back(std::exchange(item_, {}));
  }

  static std::string_view without_comment(std::string_view line) {
    line = line.substr(0, line.find("//"));
    return line.substr(0, line.find_last_not_of(' ') + 1);
  }

  /// The word of this line that stands before `mark` for the first time.
  std::string before(char mark) const {
    for (const auto& [word, next] : words_)
      if (next == mark) return word;
    if (mark == ';' && !words_.empty()) return words_.back().first;  // behind it, an attribute
    throw std::logic_error("a function or type of a template without a name");
  }

  Names& uses() { return item_.name.empty() ? out_.uses_ : item_.uses; }

  void close(std::string& word, char next) {
    if (word.empty()) return;
    words_.emplace_back(word, next);
    if (next == '(' || word.starts_with("vphi_")) uses().insert(word);
    word.clear();
  }

  void fill_line(std::string_view line, bool comment) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first != std::string_view::npos) {
      const std::string_view name = slot_at(line, first);
      if (!name.empty() && first + name.size() + 2 == line.size()) {
        const Code& code = slot_named(slots_, name);
        Code filled = indent(code, static_cast<int>(first));
        if (!code.empty() && code.back() != '\n') filled += Code(std::string("\n"));
        if (item_.name.empty()) {
          out_ += filled;
        } else {
          out_.text_ += filled.str();
          const Names names = filled.all_uses();
          item_.uses.insert(names.begin(), names.end());
        }
        return;
      }
    }
    std::string word;
    for (std::size_t i = 0; i < line.size();) {
      const std::string_view name = slot_at(line, i);
      if (name.empty()) {
        if (!comment) {
          if (word_char(line[i]))
            word += line[i];
          else
            close(word, line[i]);
        }
        out_.text_ += line[i++];
        continue;
      }
      const Code& code = slot_named(slots_, name);
      const Names names = code.all_uses();
      uses().insert(names.begin(), names.end());
      if (!comment && std::ranges::all_of(code.str(), word_char))
        word += code.str();
      else
        close(word, ' ');
      out_.text_ += code.str();
      i += name.size() + 2;
    }
    close(word, '\n');
    out_.text_ += '\n';
  }

  const Slots& slots_;
  Code out_;
  Code::Item item_;                                  ///< that lines are of now; no name: none
  std::optional<std::size_t> comment_;               ///< where the comment above this line begins
  std::vector<std::pair<std::string, char>> words_;  ///< of this line, and what comes behind each
};

Code fill_text(std::string_view text, const Slots& slots) { return Filling(slots).fill(text); }

Code fill(std::string_view name, const Slots& slots) {
  return fill_text(template_named(name), slots);
}

}  // namespace vphi::emit
