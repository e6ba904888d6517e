#include "compiler/emit/text/fill.hpp"

#include <cctype>
#include <stdexcept>

#include "embedded/vphi_templates.hpp"

namespace vphi::emit {
namespace {

std::string_view template_named(std::string_view name) {
  for (const auto& [file, text] : vphi_templates::files())
    if (file == name) return text;
  throw std::logic_error("no template called " + std::string(name));
}

const std::string& slot_named(const Slots& slots, std::string_view name) {
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

void fill_line(std::string_view line, const Slots& slots, std::string& out) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first != std::string_view::npos) {
    const std::string_view name = slot_at(line, first);
    if (!name.empty() && first + name.size() + 2 == line.size()) {
      const std::string& text = slot_named(slots, name);
      out += indent(text, static_cast<int>(first));
      if (!text.empty() && text.back() != '\n') out += '\n';
      return;
    }
  }
  for (std::size_t i = 0; i < line.size();) {
    const std::string_view name = slot_at(line, i);
    if (name.empty()) {
      out += line[i++];
    } else {
      out += slot_named(slots, name);
      i += name.size() + 2;
    }
  }
  out += '\n';
}

template <class Each>
void for_lines(std::string_view text, Each each) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) end = text.size();
    each(text.substr(at, end - at));
    at = end + 1;
  }
}

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

int count_word(std::string_view text, std::string_view word) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string_view::npos;
       at += word.size()) {
    const bool open = at == 0 || !word_char(text[at - 1]);
    const std::size_t end = at + word.size();
    if (open && (end == text.size() || !word_char(text[end]))) ++count;
  }
  return count;
}

// Start of the line after the function that begins at `at`: its closing brace is the first one at
// the start of a line, or ends the line itself.
std::size_t function_end(std::string_view text, std::size_t at) {
  const std::size_t line_end = text.find('\n', at);
  if (line_end == std::string_view::npos) return text.size();
  if (text[line_end - 1] == '}') return line_end + 1;
  const std::size_t close = text.find("\n}", at);
  if (close == std::string_view::npos) return text.size();
  const std::size_t end = text.find('\n', close + 1);
  return end == std::string_view::npos ? text.size() : end + 1;
}

// Removes the first uncalled function behind `from`; false where there is none.
bool prune_one(std::string& text) {
  constexpr std::string_view kHead = "\nVPHI_INLINE ";
  for (std::size_t at = 0; (at = text.find(kHead, at)) != std::string::npos; ++at) {
    const std::size_t open = text.find('(', at);
    std::size_t begin = open;
    while (begin > 0 && word_char(text[begin - 1])) --begin;
    if (open == std::string::npos) return false;
    if (count_word(text, std::string_view(text).substr(begin, open - begin)) > 1) continue;
    std::size_t first = at + 1;
    while (first > 1) {  // the comment above belongs to it
      const std::size_t above = text.rfind('\n', first - 2);
      const std::size_t start = above == std::string::npos ? 0 : above + 1;
      if (text.compare(start, 2, "//") != 0) break;
      first = start;
    }
    text.erase(first, function_end(text, at + 1) - first);
    return true;
  }
  return false;
}

// Breaks a line of code that is wider than 100 columns behind a comma, sum or assignment.
void wrap_line(std::string line, std::string& out) {
  const std::size_t first = line.find_first_not_of(' ');
  const bool code = first != std::string::npos && line[first] != '#' && line[first] != '/' &&
                    line.find('"') == std::string::npos;
  while (code && line.size() > 100) {
    std::size_t cut = std::string::npos;
    for (const std::string_view mark : {" + ", ", ", " = "}) {
      cut = line.rfind(mark, 100 - mark.size());
      if (cut != std::string::npos && cut > first + 8) {
        cut += mark.size();
        break;
      }
      cut = std::string::npos;
    }
    if (cut == std::string::npos) break;
    out += line.substr(0, line.find_last_not_of(' ', cut - 1) + 1) + "\n";
    line = std::string(first + 4, ' ') + line.substr(cut);
  }
  out += line + "\n";
}

}  // namespace

std::string prune(std::string source) {
  while (prune_one(source)) {
  }
  for (std::size_t at = 0; (at = source.find("\n\n\n", at)) != std::string::npos;)
    source.erase(at, 1);
  std::string out;
  for_lines(source, [&](std::string_view line) { wrap_line(std::string(line), out); });
  return out;
}

std::string fill_text(std::string_view text, const Slots& slots) {
  std::string out;
  for_lines(text, [&](std::string_view line) { fill_line(line, slots, out); });
  return out;
}

std::string fill(std::string_view name, const Slots& slots) {
  return fill_text(template_named(name), slots);
}

std::string indent(std::string_view text, int spaces) {
  std::string out;
  for_lines(text, [&](std::string_view line) {
    if (!line.empty() && line.front() != '#') out.append(static_cast<std::size_t>(spaces), ' ');
    out += line;
    out += '\n';
  });
  return out;
}

std::string comment_lines(std::string_view text) {
  std::string out;
  for_lines(text, [&](std::string_view line) {
    std::string clean;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const unsigned char c = static_cast<unsigned char>(line[i]);
      if (c >= 0xc0) {
        clean += '?';  // one mark for each character outside ASCII
      } else if (c >= 0x20 && c < 0x7f && c != '\\') {
        clean += (c == '?' && !clean.empty() && clean.back() == '?') ? '.' : static_cast<char>(c);
      } else if (c < 0x80) {
        clean += ' ';
      }
    }
    for (std::size_t at = 0; (at = clean.find("*/", at)) != std::string::npos;) clean[at] = '.';
    while (clean.size() > 97) {
      std::size_t cut = clean.rfind(' ', 97);
      if (cut == std::string::npos || cut < 40) cut = 97;
      out += "// " + clean.substr(0, cut) + "\n";
      clean.erase(0, cut);
    }
    out += "// " + clean + "\n";
  });
  return out;
}

}  // namespace vphi::emit
