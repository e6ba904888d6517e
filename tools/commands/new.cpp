// vphi new: a commented model to start from. The texts are whole models (tools/starters), so that
// each checks and runs as it stands; only the model's name and its file names change.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "dsl/messages/suggest.hpp"
#include "dsl/syntax/parse.hpp"
#include "embedded/vphi_starters.hpp"
#include "tools/not_written.hpp"
#include "tools/options.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

struct Starter {
  std::string kind, title;
  std::string_view text;
};

std::vector<Starter> starters() {
  std::vector<Starter> all;
  for (const auto& [file, text] : vphi_starters::files()) {
    dsl::Diagnostics diagnostics;
    const auto source = std::make_shared<const dsl::Source>(std::string(file), std::string(text));
    const std::string kind = std::filesystem::path(file).stem().string();
    all.push_back({kind, dsl::parse(source, diagnostics).title, text});
  }
  return all;
}

bool is_name(const std::string& text) {
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text[0])) == 0) return false;
  for (unsigned char c : text)
    if (std::isalnum(c) == 0 && c != '_') return false;
  return true;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

int make_new(const Words& words) {
  const std::vector<Starter> known = starters();
  std::string list = "Writes NAME.vphi, a commented model to start from. KIND is one of\n";
  std::vector<std::string> kinds;
  for (const Starter& starter : known) {
    list += fmt::format("\n  {:<12} {}", starter.kind, starter.title);
    kinds.push_back(starter.kind);
  }
  std::vector<std::string> names;
  bool to_stdout = false, json = false;
  CommandLine line("new KIND [NAME]", list);
  line.arguments(names, 0, 2, kinds)
      .flag("--stdout", to_stdout, "write to standard output")
      .flag("--json", json, "what was written, as one JSON object");
  if (!line.parse(words)) return kOk;

  const std::string usage =
      fmt::format("vphi new KIND [NAME]; kinds are {}", dsl::enumerate(kinds));
  if (names.empty()) throw UsageError("`vphi new` needs a kind of model", usage);
  const auto starter = std::find_if(known.begin(), known.end(),
                                    [&](const Starter& s) { return s.kind == names[0]; });
  if (starter == known.end()) {
    const auto near = dsl::suggest(names[0], kinds);
    throw UsageError(fmt::format("there is no starter `{}`", names[0]),
                     near ? fmt::format("did you mean `vphi new {}`?", *near) : usage);
  }
  std::filesystem::path path = names.back();
  if (path.extension() != ".vphi") path += ".vphi";
  const std::string name = path.stem().string();
  if (!is_name(name))
    throw UsageError(fmt::format("`{}` is not a model name: letters, digits and _ only", name));

  std::string text(starter->text);
  replace_all(text, "model " + starter->kind + " ", "model " + name + " ");
  replace_all(text, starter->kind + ".h5", name + ".h5");
  replace_all(text, starter->kind + ".vphi", name + ".vphi");
  const auto print = [&](nlohmann::ordered_json out) {
    out["kind"] = starter->kind;
    out["model"] = name;
    fmt::print("{}\n", out.dump(1));
  };
  if (to_stdout && json) {
    print({{"ok", true}, {"text", text}});
    return kOk;
  }
  if (to_stdout) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return kOk;
  }
  if (std::filesystem::exists(path))
    throw UsageError(fmt::format("{} is there already", path.string()), "give another NAME");
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw not_written(path);
  if (json)
    print({{"ok", true}, {"file", path.string()}});
  else
    fmt::print("{} written. Next: vphi run {}\n", path.string(), path.string());
  return kOk;
}

}  // namespace vphi::tools
