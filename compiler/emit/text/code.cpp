#include "compiler/emit/text/code.hpp"

#include <map>
#include <stdexcept>

#include "compiler/emit/text/layout.hpp"

namespace vphi::emit {
namespace {

bool is_name(std::string_view word) {
  if (word.empty() || std::isdigit(static_cast<unsigned char>(word.front())) != 0) return false;
  for (const char c : word)
    if (!word_char(c)) return false;
  return true;
}

/// The place of a format, {...}, that begins at `at`; `automatic` counts those without a number.
struct Place {
  std::string numbered;  ///< with its number
  std::size_t size = 0;
};
Place place_at(std::string_view format, std::size_t at, int& automatic) {
  std::size_t end = at + 1;
  while (format[end] != '}') ++end;
  const std::string_view inside = format.substr(at + 1, end - at - 1);
  const bool has_number =
      !inside.empty() && std::isdigit(static_cast<unsigned char>(inside.front())) != 0;
  const std::string number = has_number ? "" : std::to_string(automatic++);
  return {"{" + number + std::string(inside) + "}", end - at + 1};
}

}  // namespace

namespace detail {

void add_names(std::string_view format, fmt::format_args args, Names& names) {
  int automatic = 0;
  std::string word;
  bool places = false;
  const auto close = [&](char next) {
    if (word.empty()) return;
    const std::string name = places ? fmt::vformat(word, args) : word;
    if (word.find("vphi_") != std::string::npos && !is_name(name))
      throw std::logic_error("a name runs into what is beside it: " + name);
    if (is_name(name) && (next == '(' || name.compare(0, 5, "vphi_") == 0)) names.insert(name);
    word.clear();
    places = false;
  };
  for (std::size_t i = 0; i < format.size();) {
    const char c = format[i];
    if ((c == '{' || c == '}') && i + 1 < format.size() && format[i + 1] == c) {
      close(c);
      i += 2;
    } else if (c == '{') {
      const Place place = place_at(format, i, automatic);
      word += place.numbered;
      places = true;
      i += place.size;
    } else if (word_char(c)) {
      word += c;
      ++i;
    } else {
      close(c);
      ++i;
    }
  }
  close('\0');
}

}  // namespace detail

Code::Code(const char* literal) : text_(literal) {
  std::string format;  // without places
  for (const char c : text_)
    format += (c == '{' || c == '}') ? std::string(2, c) : std::string(1, c);
  detail::add_names(format, {}, uses_);
}

Code Code::item(std::string name, Code text, bool kept) {
  Code out(text.text_);
  out.items_.push_back({std::move(name), 0, out.text_.size(), text.all_uses(), kept});
  return out;
}

Code& Code::operator+=(const Code& other) {
  const std::size_t begin = text_.size();
  for (Item item : std::vector<Item>(other.items_)) {
    item.begin += begin;
    item.end += begin;
    items_.push_back(std::move(item));
  }
  text_ += other.text_;
  use(other.uses_);
  return *this;
}

Names Code::all_uses() const {
  Names names = uses_;
  for (const Item& item : items_) names.insert(item.uses.begin(), item.uses.end());
  return names;
}

Code indent(const Code& text, int spaces) {
  if (text.items().empty()) return {indented(text.str(), spaces), text.uses()};
  if (spaces > 0) throw std::logic_error("a function inside a function");
  return !text.empty() && text.back() != '\n' ? text + Code(std::string("\n")) : text;
}

std::vector<Code::Part> Code::parts() const {
  std::vector<Part> list;
  std::size_t at = 0;
  const auto add = [&](std::size_t end, const Item* item) {
    if (end > at) list.push_back({text_.substr(at, end - at), item});
    at = end;
  };
  for (const Item& item : items_) {
    add(item.begin, nullptr);
    add(item.end, &item);
  }
  add(text_.size(), nullptr);
  return list;
}

std::string finished(const Code& source) {
  std::multimap<std::string_view, const Code::Item*> items;
  for (const Code::Item& item : source.items()) items.emplace(item.name, &item);
  std::set<const Code::Item*> wanted;
  std::vector<const Names*> open{&source.uses()};
  for (const Code::Item& item : source.items())
    if (item.kept && wanted.insert(&item).second) open.push_back(&item.uses);
  while (!open.empty()) {
    const Names& names = *open.back();
    open.pop_back();
    for (const std::string& name : names) {
      const auto [begin, end] = items.equal_range(name);
      for (auto at = begin; at != end; ++at)
        if (wanted.insert(at->second).second) open.push_back(&at->second->uses);
    }
  }
  std::string text;
  for (const Code::Part& part : source.parts())
    if (part.item == nullptr || wanted.contains(part.item)) text += part.text;
  return laid_out(text);
}

}  // namespace vphi::emit
