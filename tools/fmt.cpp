// vphi fmt: model files in canonical style.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "dsl/load.hpp"
#include "dsl/parse.hpp"
#include "tools/model.hpp"
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
    fs::remove(fresh, error);
    throw UsageError(fmt::format("{} cannot be written", path.string()));
  }
}

}  // namespace

int format(const Words& words) {
  std::vector<std::string> files;
  bool ascii = false, unicode = false, check_only = false, to_stdout = false;
  CommandLine line("fmt FILE...", "Rewrites model files in canonical style.");
  line.arguments(files, 1, 10000)
      .flag("--ascii", ascii, "names in ASCII: phi")
      .flag("--unicode", unicode, "names in Unicode: \u03c6")
      .flag("--check", check_only, "change nothing; status 1 where a file is not in style")
      .flag("--stdout", to_stdout, "write to standard output");
  if (!line.parse(words)) return kOk;
  if (ascii && unicode) throw UsageError("--ascii and --unicode exclude each other");
  const auto spelling = ascii     ? dsl::Spelling::Ascii
                        : unicode ? dsl::Spelling::Unicode
                                  : dsl::Spelling::Keep;
  int status = kOk;
  for (const auto& name : files) {
    const std::string path = find_model(name);
    dsl::Diagnostics diagnostics;
    const auto model = dsl::load_model(path, diagnostics);
    if (diagnostics.has_errors()) {
      const auto text = dsl::render_text(diagnostics, {model.source.get()});
      std::fwrite(text.data(), 1, text.size(), stderr);
      status = kUserError;
      continue;
    }
    const std::string text = dsl::format(model, spelling);
    const bool same = text == model.source->text();
    if (to_stdout) {
      std::fwrite(text.data(), 1, text.size(), stdout);
    } else if (check_only && !same) {
      fmt::print("{}: not in style (vphi fmt {})\n", path, name);
      status = kUserError;
    } else if (!check_only && !same) {
      replace_file(path, text);
      fmt::print("{}: rewritten\n", path);
    }
  }
  return status;
}

}  // namespace vphi::tools
