#include "compiler/emit/text/layout.hpp"

#include <cctype>

namespace vphi::emit {
namespace {

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

std::string declaration(const std::string& head, const std::string& value) {
  std::string line = head + " = " + value + ";";
  std::string out;
  const std::size_t width = 96;
  while (line.size() > width) {
    std::size_t cut = std::string::npos;
    for (const char* mark : {" + ", " - ", ", ", " * ", "*", "/"}) {
      cut = line.rfind(mark, width - 4);
      if (cut != std::string::npos && cut > head.size() + 3) {
        cut += mark[0] == ' ' ? 3 : (mark[1] == ' ' ? 2 : 1);
        break;
      }
      cut = std::string::npos;
    }
    if (cut == std::string::npos) break;
    std::size_t end = cut;
    while (end > 0 && line[end - 1] == ' ') --end;
    out += line.substr(0, end) + "\n";
    line = "    " + line.substr(cut);
  }
  return out + line + "\n";
}

std::string laid_out(std::string_view source) {
  std::string out;
  int blank = 0;
  for_lines(source, [&](std::string_view line) {
    blank = line.empty() ? blank + 1 : 0;
    if (blank < 2) wrap_line(std::string(line), out);
  });
  return out;
}

std::string indented(std::string_view text, int spaces) {
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
