#include "tools/model_copy.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "dsl/syntax/walk.hpp"

namespace vphi::tools {
namespace {

namespace fs = std::filesystem;

/// Names of files that are read, in front of which the model's folder has to stand.
std::vector<Edit> absolute_names(const dsl::ModelText& model) {
  std::vector<Edit> edits;
  const fs::path folder = fs::absolute(model.source->name()).parent_path();
  const auto see = [&](const dsl::Expr& e) {
    if (e.kind != dsl::ExprKind::Call || (e.text != "table" && e.text != "file")) return;
    for (const auto& argument : e.args)
      if (argument->kind == dsl::ExprKind::String && fs::path(argument->text).is_relative())
        edits.push_back({argument->span.begin, argument->span.end,
                         "\"" + (folder / argument->text).string() + "\""});
  };
  for (const auto& line : model.lines) dsl::for_each(line, see);
  return edits;
}

}  // namespace

ModelCopy::ModelCopy(const dsl::ModelText& model, std::vector<Edit> edits, const std::string& more)
    : path_((fs::path(folder_.path()) / fs::path(model.source->name()).filename()).string()) {
  std::string text(model.source->text());
  for (Edit& edit : absolute_names(model)) edits.push_back(std::move(edit));
  std::sort(edits.begin(), edits.end(),
            [](const Edit& a, const Edit& b) { return a.begin > b.begin; });
  for (const Edit& edit : edits) text.replace(edit.begin, edit.end - edit.begin, edit.text);
  std::ofstream(path_, std::ios::binary) << text << more;
}

}  // namespace vphi::tools
