#include "runtime/device/native/shared_text.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "runtime/device/native/parallel.hpp"

namespace vphi::runtime {
namespace {

constexpr std::size_t kShort = 4096;  ///< characters
constexpr std::string_view kScalars = "scalars[";

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Words of the language and attributes of the compiler; words that begin with two underscores are
/// the compiler's, too.
bool reserved(std::string_view word) {
  static const std::set<std::string_view> kWords = {"alignas",  "always_inline", "aligned",
                                                    "auto",     "bool",          "break",
                                                    "case",     "char",          "const",
                                                    "continue", "default",       "do",
                                                    "double",   "else",          "enum",
                                                    "extern",   "false",         "float",
                                                    "for",      "goto",          "if",
                                                    "inline",   "int",           "long",
                                                    "noinline", "nullptr",       "reinterpret_cast",
                                                    "return",   "short",         "signed",
                                                    "sizeof",   "static",        "static_cast",
                                                    "struct",   "switch",        "template",
                                                    "this",     "true",          "typedef",
                                                    "typename", "union",         "unsigned",
                                                    "using",    "vector_size",   "void",
                                                    "volatile", "while",         "constexpr",
                                                    "class",    "namespace",     "operator",
                                                    "noexcept", "constinit"};
  return word.starts_with("__") || kWords.contains(word);
}

/// Goes through a text piece by piece.
class Reader {
 public:
  Reader(std::string_view source, bool with_table) : source_(source), with_table_(with_table) {}

  SharedText read() {
    keep_words_of_lines();
    out_.text.reserve(source_.size());
    while (at_ < source_.size()) piece();
    finish_space();
    if (!out_.places.empty())
      out_.text += "extern \"C\" {\nlong " + std::string(kPlacesTable) + "[" +
                   std::to_string(out_.places.size()) + "] = {1};\n}\n";
    if (source_.substr(source_.size() - std::min<std::size_t>(source_.size(), 64))
            .find("// vphi: seldom") != std::string_view::npos)
      out_.text += "// vphi: seldom\n";  // the last line tells the compiler
    if (!out_.places.empty()) declare_table();
    return std::move(out_);
  }

 private:
  /// Words of the preprocessor's lines keep their names everywhere.
  void keep_words_of_lines() {
    for (std::size_t at = 0; at < source_.size();) {
      const std::size_t end = end_of_line(at);
      for (std::size_t i = at; source_[at] == '#' && i < end;) {
        const std::string_view one = word(i);
        if (starts_word(source_[i])) kept_.insert(one);
        i += std::max<std::size_t>(one.size(), 1);
      }
      at = end + 1;
    }
  }

  std::size_t end_of_line(std::size_t from) const {
    std::size_t end = source_.find('\n', from);
    while (end != std::string_view::npos && end > 0 && source_[end - 1] == '\\')
      end = source_.find('\n', end + 1);
    return std::min(end, source_.size());
  }

  std::string_view word(std::size_t from) const {
    std::size_t end = from;
    while (end < source_.size() && in_word(source_[end])) ++end;
    return source_.substr(from, end - from);
  }

  void piece() {
    const char c = source_[at_];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      space_ = true;
      ++at_;
    } else if (c == '#' && (at_ == 0 || source_[at_ - 1] == '\n')) {
      whole_line();
    } else if (source_.substr(at_).starts_with("//")) {
      if (source_.substr(at_).starts_with("// vphi: ") &&
          !source_.substr(at_).starts_with("// vphi: seldom"))
        whole_line();
      else
        at_ = end_of_line(at_), space_ = true;
    } else if (c == '"' || c == '\'') {
      const std::size_t end = std::min(source_.find(c, at_ + 1), source_.size() - 1) + 1;
      put(source_.substr(at_, end - at_));
      at_ = end;
    } else if (starts_word(c)) {
      name();
    } else if (digit(c)) {
      number();
    } else {
      put(source_.substr(at_, 1));
      ++at_;
    }
  }

  void whole_line() {
    const std::size_t end = end_of_line(at_);
    finish_space();
    out_.text.append(source_.substr(at_, end - at_)).push_back('\n');
    at_ = end;
    space_ = false;
  }

  void finish_space() {
    if (!out_.text.empty() && out_.text.back() != '\n') out_.text.push_back('\n');
    space_ = false;
  }

  /// A space between pieces is one character, so that the length of names does not matter.
  void put(std::string_view text) {
    if (space_ && !out_.text.empty() && out_.text.back() != '\n')
      out_.text.push_back(out_.text.back() == ';' ? '\n' : ' ');
    space_ = false;
    out_.text.append(text);
  }

  void name() {
    const std::string_view own = word(at_);
    if (with_table_ && source_.substr(at_).starts_with(kScalars) && place(at_ + kScalars.size()))
      return;
    if (reserved(own) || kept_.contains(own)) {
      put(own);
    } else {
      auto found = out_.names.find(own);
      if (found == out_.names.end())
        found = out_.names.emplace(own, "n" + std::to_string(out_.names.size())).first;
      put(found->second);
    }
    at_ += own.size();
  }

  /// Whether `scalars[12]` stands here; then it is read.
  bool place(std::size_t number) {
    std::size_t end = number;
    while (end < source_.size() && digit(source_[end])) ++end;
    if (end == number || end == source_.size() || source_[end] != ']') return false;
    const std::string_view own = source_.substr(at_, kScalars.size() - 1);
    const auto found = out_.names.emplace(own, "n" + std::to_string(out_.names.size())).first;
    put(found->second);
    out_.text += "[" + std::string(kPlacesTable) + "[" + std::to_string(out_.places.size()) + "]]";
    out_.places.push_back(std::stol(std::string(source_.substr(number, end - number))));
    at_ = end + 1;
    return true;
  }

  /// A number with its suffix and exponent.
  void number() {
    std::size_t end = at_;
    while (end < source_.size() &&
           (in_word(source_[end]) || source_[end] == '.' || source_[end] == '\'' ||
            ((source_[end] == '+' || source_[end] == '-') &&
             (source_[end - 1] == 'e' || source_[end - 1] == 'E') &&
             !source_.substr(at_).starts_with("0x"))))
      ++end;
    put(source_.substr(at_, end - at_));
    at_ = end;
  }

  /// Above its first use, and below the lines that must come first.
  void declare_table() {
    const std::string line = "extern \"C\" long " + std::string(kPlacesTable) + "[];\n";
    const std::string_view first = "// vphi: long\n";
    out_.text.insert(out_.text.starts_with(first) ? first.size() : 0, line);
  }

  std::string_view source_;
  bool with_table_;
  std::size_t at_ = 0;
  bool space_ = false;
  std::set<std::string_view> kept_;
  SharedText out_;
};

bool left_alone(std::string_view source) {
  return source.size() < kShort || source.find("#include") != std::string_view::npos;
}

}  // namespace

std::string SharedText::name(const std::string& own) const {
  const auto found = names.find(own);
  return found == names.end() ? own : found->second;
}

SharedText shared_text(std::string_view source, bool with_table) {
  return Reader(source, with_table).read();
}

std::vector<SharedText> shared_texts(const std::vector<std::string_view>& sources, int threads) {
  std::vector<SharedText> plain(sources.size()), tabled(sources.size());
  parallel_for(static_cast<int>(sources.size()), threads, [&](int i) {
    const auto k = static_cast<std::size_t>(i);
    if (left_alone(sources[k])) {
      plain[k].text = sources[k];
      return;
    }
    plain[k] = shared_text(sources[k], false);
    tabled[k] = shared_text(sources[k], true);
  });
  std::map<std::string_view, std::set<std::string_view>> forms;
  for (std::size_t k = 0; k < sources.size(); ++k) forms[tabled[k].text].insert(plain[k].text);
  std::vector<bool> choose(sources.size());
  for (std::size_t k = 0; k < sources.size(); ++k)
    choose[k] = !tabled[k].places.empty() && forms[tabled[k].text].size() > 1;
  for (std::size_t k = 0; k < sources.size(); ++k)
    if (choose[k]) plain[k] = std::move(tabled[k]);
  return plain;
}

}  // namespace vphi::runtime
