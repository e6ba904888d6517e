// vphi fmt: model files in canonical style.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "dsl/syntax/load.hpp"
#include "dsl/syntax/parse.hpp"
#include "tools/model.hpp"
#include "tools/not_written.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

namespace fs = std::filesystem;

/// Replaces a file in one go, so that a full disk cannot lose the text.
void replace_file(const fs::path& path, const std::string& text) {
  const fs::path fresh = path.string() + ".vphi-fmt";
  std::ofstream out(fresh, std::ios::binary);
  out << text;
  out.close();
  std::error_code error;
  if (out) fs::permissions(fresh, fs::status(path).permissions(), error);
  if (out) fs::rename(fresh, path, error);
  if (!out || error) {
    const UsageError failure = not_written(fresh);
    fs::remove(fresh, error);
    throw failure;
  }
}

}  // namespace

int format(const Words& words) {
  std::vector<std::string> files;
  bool ascii = false, unicode = false, check_only = false, to_stdout = false, json = false;
  CommandLine line("fmt FILE...", "Rewrites model files in canonical style.");
  line.arguments(files, 1, 10000)
      .flag("--ascii", ascii, "names in ASCII: phi")
      .flag("--unicode", unicode, "names in Unicode: \u03c6")
      .flag("--check", check_only, "change nothing; status 1 where a file is not in style")
      .flag("--stdout", to_stdout, "write to standard output")
      .flag("--json", json, "what became of each file, as one JSON object");
  if (!line.parse(words)) return kOk;
  line.obeyed("--check", to_stdout, "--stdout writes the text and no file");
  if (ascii && unicode) throw UsageError("--ascii and --unicode exclude each other");
  const auto spelling = ascii     ? dsl::Spelling::Ascii
                        : unicode ? dsl::Spelling::Unicode
                                  : dsl::Spelling::Keep;
  int status = kOk;
  auto all = nlohmann::ordered_json::array();
  const auto say = [&](const auto& line) {
    if (!json) fmt::print("{}\n", line);
  };
  for (const auto& name : files) {
    const std::string path = find_model(name);
    dsl::Diagnostics diagnostics;
    const auto model = dsl::load_model(path, diagnostics);
    if (diagnostics.has_errors()) {
      const auto text = dsl::render_text(diagnostics, {model.source.get()});
      std::fwrite(text.data(), 1, text.size(), stderr);
      const auto list = dsl::render_json(diagnostics, {model.source.get()});
      all.push_back({{"file", path},
                     {"in_style", false},
                     {"diagnostics", nlohmann::ordered_json::parse(list)}});
      status = kUserError;
      continue;
    }
    const std::string text = dsl::format(model, spelling);
    const bool same = text == model.source->text();
    const bool rewritten = !same && !to_stdout && !check_only;
    if (to_stdout && !json) {
      std::fwrite(text.data(), 1, text.size(), stdout);
    } else if (check_only && !to_stdout && !same) {
      say(fmt::format("{}: not in style (vphi fmt {})", path, name));
      status = kUserError;
    } else if (rewritten) {
      replace_file(path, text);
      say(fmt::format("{}: rewritten", path));
    }
    nlohmann::ordered_json row = {{"file", path}, {"in_style", same}, {"rewritten", rewritten}};
    if (to_stdout) row["text"] = text;
    all.push_back(std::move(row));
  }
  if (json) {
    const nlohmann::ordered_json out = {{"ok", status == kOk}, {"files", std::move(all)}};
    using Json = nlohmann::ordered_json;
    fmt::print("{}\n", out.dump(1, ' ', false, Json::error_handler_t::replace));
  }
  return status;
}

}  // namespace vphi::tools
