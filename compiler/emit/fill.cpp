#include "compiler/emit/fill.hpp"

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

}  // namespace

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
