#include "embed/readable.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "compiler/emit/text/reading.hpp"

namespace vphi::embed {
namespace {

using program::Argument;
using program::Kernel;
using program::Program;

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Numbers of the lattice and of the step, with the formulas that they equal.
std::vector<std::pair<double, std::string>> known_numbers(const Program& p) {
  std::vector<std::pair<double, std::string>> all;
  const auto add = [&](double value, const std::string& name) {
    const double size = std::abs(value);
    const bool plain =
        size == std::floor(size) && size <= 16;  // small whole numbers get no formula
    if (std::isfinite(value) && size > 0 && !plain && size != 0.5 && size != 0.25)
      all.emplace_back(value, name);
  };
  add(p.dx, "dx"), add(1 / p.dx, "1/dx"), add(1 / (2 * p.dx), "1/(2*dx)");
  add(1 / (p.dx * p.dx), "1/dx^2"), add(1 / (12 * p.dx * p.dx), "1/(12*dx^2)");
  add(p.dt, "dt"), add(p.dt / 2, "dt/2");
  return all;
}

/// "// here 16384.0 is 1/dx^2" for the numbers that a text has.
std::string legend(const std::string& text, const Program& p) {
  std::map<std::string, std::string> found;
  const auto known = known_numbers(p);
  for (std::size_t at = 0; at < text.size();) {
    if (std::isdigit(static_cast<unsigned char>(text[at])) == 0 ||
        (at > 0 && word_char(text[at - 1])) || (at > 0 && text[at - 1] == '.')) {
      ++at;
      continue;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    const std::string word(text.data() + at, end);
    for (const auto& [number, name] : known)
      if (error == std::errc() && std::abs(value - number) <= 1e-7 * std::abs(number) &&
          word.find_first_of(".e") != std::string::npos)
        found.try_emplace(word, name);
    at += word.empty() ? 1 : word.size();
  }
  std::string list;
  for (const auto& [word, name] : found)
    list += fmt::format("{}{} is {}", list.empty() ? "" : ", ", word, name);
  return list.empty() ? "" : "// here " + list + "\n";
}

/// The lines of the model whose quantities a kernel stores.
std::string model_lines(const Program& p, const Kernel& kernel) {
  std::string text;
  std::set<std::pair<int, std::string>> told;
  for (const Argument& argument : kernel.arguments) {
    const bool array =
        argument.kind == Argument::Kind::Current || argument.kind == Argument::Kind::Next;
    if (!array || !argument.written) continue;
    for (const program::StateVariable& v : p.state)
      if (p.home(v.buffer) == argument.index && v.line_number > 0 &&
          told.emplace(v.line_number, v.shown).second)
        text += fmt::format("// stores {}; line {}: {}\n", v.shown, v.line_number, v.line);
  }
  return text;
}

// ---- what several kernels have alike ----------------------------------------------------------

/// A text of file scope: a function, a type, a macro, with the comment before it.
struct Item {
  std::string text;
  std::string name;  ///< of what it defines; empty: of nothing that can be shared
};

std::string defined_name(const std::string& item) {
  std::size_t begin = 0;
  while (item.compare(begin, 2, "//") == 0 && item.find('\n', begin) != std::string::npos)
    begin = item.find('\n', begin) + 1;
  const std::string code = item.substr(begin);
  if (const auto at = code.find("#define "); code.starts_with("#") && at != std::string::npos) {
    std::size_t end = at + 8;
    while (end < code.size() && word_char(code[end])) ++end;
    return code.substr(at + 8, end - at - 8);
  }
  if (code.starts_with("#")) return code;
  const auto word_before = [&](std::size_t end) {
    std::size_t first = end;
    while (first > 0 && word_char(code[first - 1])) --first;
    return code.substr(first, end - first);
  };
  if (code.starts_with("typedef") && code.rfind(';') != std::string::npos)
    return word_before(code.rfind(';'));
  if (code.starts_with("VPHI_INLINE") && code.find('(') != std::string::npos)
    return word_before(code.find('('));
  return {};
}

std::vector<Item> items_of(const std::string& source) {
  std::vector<Item> items;
  std::string item;
  int depth = 0, conditions = 0;
  std::size_t at = 0;  // the comment at the head is the kernel's, not of what follows
  while (source.compare(at, 2, "//") == 0)
    at = std::min(source.find('\n', at), source.size() - 1) + 1;
  if (at > 0) items.push_back({source.substr(0, at), {}});
  while (at < source.size()) {
    std::size_t end = source.find('\n', at);
    if (end == std::string::npos) end = source.size();
    const std::string line = source.substr(at, end - at);
    at = end + 1;
    item += line + "\n";
    if (line.starts_with("//") && depth == 0) continue;
    if (line.starts_with("#if")) ++conditions;
    if (line.starts_with("#endif")) --conditions;
    for (const char c : line) depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    const char last = line.empty() ? ';' : line.back();
    const bool whole = line.starts_with("#") ? last != '\\' : last == ';' || last == '}';
    if (depth > 0 || conditions > 0 || !whole) continue;
    items.push_back({item, defined_name(item)});
    item.clear();
  }
  if (!item.empty()) items.push_back({item, {}});
  return items;
}

/// No two empty lines in a row.
std::string without_gaps(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c != '\n' || !out.ends_with("\n\n")) out += c;
  return out;
}

std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && word_char(text[end])) ++end;
    if (end > at) words.insert(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// Functions and types that two kernels and more have, each with the same text wherever it stands,
/// and made of nothing but such: they are written once, before the kernels.
class Shared {
 public:
  explicit Shared(const std::vector<std::vector<Item>>& kernels) {
    std::map<std::string, std::set<std::string>> texts;
    std::map<std::string, int> times;
    for (const auto& items : kernels)
      for (const Item& item : items)
        if (!item.name.empty()) texts[item.name].insert(item.text), ++times[item.name];
    for (const auto& [name, versions] : texts)
      if (versions.size() == 1 && times[name] > 1) names_.insert(name);
    const auto own = [&](const Item& item) {
      for (const std::string& word : words_of(item.text))
        if (texts.contains(word) && !names_.contains(word)) return true;
      return false;
    };
    for (std::size_t before = names_.size() + 1; before != names_.size();) {
      before = names_.size();
      for (const auto& items : kernels)
        for (const Item& item : items)
          if (names_.contains(item.name) && own(item)) names_.erase(item.name);
    }
    std::set<std::string> written;
    for (const auto& items : kernels)
      for (const Item& item : items)
        if (names_.contains(item.name) && written.insert(item.name).second) text_ += item.text;
  }
  bool has(const Item& item) const { return names_.contains(item.name); }
  const std::string& text() const { return text_; }

 private:
  std::set<std::string> names_;
  std::string text_;
};

}  // namespace

std::string readable_sources(const Program& p, const std::string& only) {
  std::vector<const Kernel*> kernels;
  std::vector<std::vector<Item>> items;
  std::set<std::string> words;
  for (const Kernel& k : p.kernels) {
    if (!only.empty() && k.name != only) continue;
    kernels.push_back(&k);
    items.push_back(items_of(k.source));
    words.merge(words_of(k.source));
  }
  std::string text;
  const std::vector<std::string> names = vphi::emit::slot_names(p);
  for (std::size_t slot = 0; slot < names.size(); ++slot)
    if (words.contains(names[slot]))
      text += fmt::format("  {} = {},  // {}\n", names[slot], slot, p.scalars[slot].name);
  if (!text.empty())
    text = "// places of the numbers that all sites have in common\nenum {\n" + text + "};\n\n";
  const Shared shared(items);
  if (!shared.text().empty()) text += "// what several kernels have alike\n" + shared.text() + "\n";
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const Kernel& k = *kernels[i];
    text += fmt::format("// kernel {}: grid {} x {} x {}, block {} x {} x {}\n", k.name, k.grid[0],
                        k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2]);
    text += fmt::format("// a site: {} loads, {} stores, {} bytes, {} flops, {} special\n", k.loads,
                        k.stores, k.bytes, k.flops, k.special);
    std::string own;
    for (const Item& item : items[i])
      if (!shared.has(item)) own += item.text;
    text += model_lines(p, k) + legend(own, p) + own + "\n";
  }
  return without_gaps(text);
}

}  // namespace vphi::embed
