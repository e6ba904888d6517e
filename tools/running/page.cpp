#include "tools/running/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string_view>

#include "tools/not_written.hpp"

namespace vphi::tools {

namespace fs = std::filesystem;

namespace {

/// Words that a POSIX shell reads back as they are.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./=:,+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string command_text(const Words& words, const std::string& device,
                         std::optional<std::uint64_t> seed) {
  static const std::set<std::string> dropped_values{"--out", "--live-port", "--checkpoint-every"};
  static const std::set<std::string> dropped_flags{"--json", "--quiet",   "--no-report",
                                                   "--live", "--restart", "--error-check"};
  std::string text = "vphi run";
  bool has_device = false, has_seed = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (dropped_flags.contains(name)) continue;
    if (dropped_values.contains(name)) {
      if (name == words[i]) ++i;
      continue;
    }
    if (name == "--device") {
      has_device = true;
      text += " --device " + quoted(device);  // `auto` is what it was here
      if (name == words[i]) ++i;
      continue;
    }
    has_seed = has_seed || name == "--seed";
    text += ' ' + quoted(words[i]);
  }
  if (!has_device) text += " --device " + quoted(device);
  if (!has_seed && seed) text += fmt::format(" --seed {}", *seed);
  return text;
}

void write_page(const fs::path& path, const std::string& html) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  const fs::path beside = path.string() + ".part";
  std::ofstream out(beside, std::ios::binary);
  out << html;
  out.close();
  if (out) fs::rename(beside, path, error);
  if (!out || error) throw not_written(path);
}

}  // namespace vphi::tools
