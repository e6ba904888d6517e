#include "dsl/syntax/load.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "dsl/messages/suggest.hpp"
#include "dsl/name_errors.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/types/unit_check.hpp"
#include "dsl/types/units.hpp"
#include "dsl/words/sweep_words.hpp"
#include "embedded/vphi_std.hpp"

namespace vphi::dsl {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFile = 64u
                                        << 20;  // larger files are not read; the parser allows 1 MB

std::optional<std::string> read_file(const std::string& path, std::string& problem) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) {
    problem = "there is no such file";
    return std::nullopt;
  }
  if (fs::is_directory(status)) {
    problem = "this is a folder";
    return std::nullopt;
  }
  if (fs::is_regular_file(status) && fs::file_size(path, code) > kLargestFile) {
    problem = "the file is larger than 64 MB";
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    problem = std::strerror(errno);
    return std::nullopt;
  }
  std::string text;
  char piece[1 << 16];
  while (file.read(piece, sizeof piece) || file.gcount() > 0) {
    text.append(piece, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kLargestFile) {
      problem = "the file is larger than 64 MB";
      return std::nullopt;
    }
  }
  return text;
}

std::string nearest_model(const std::string& path) {
  std::error_code code;
  const fs::path folder = fs::path(path).parent_path();
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, code)) {
    if (entry.path().extension() == ".vphi") names.push_back(entry.path().filename().string());
    if (names.size() > 1000) break;
  }
  const auto near = suggest(fs::path(path).filename().string(), names);
  return near ? (folder / *near).string() : std::string();
}

}  // namespace

ModelText load_model(const ModelSource& model, Diagnostics& diagnostics) {
  const std::string& path = model.name;
  if (model.text) return parse(std::make_shared<const Source>(path, *model.text), diagnostics);
  std::string problem;
  const auto text = read_file(path, problem);
  if (!text) {
    diagnostics.add(errors::unreadable_file(path, problem, nearest_model(path)));
    ModelText empty;
    empty.source = std::make_shared<const Source>(path, "");
    return empty;
  }
  return parse(std::make_shared<const Source>(path, *text), diagnostics);
}

std::vector<ModelText> load_library(Diagnostics& diagnostics) {
  std::vector<std::pair<std::string, std::string>> files;
  const char* folder = std::getenv("VPHI_STD");
  if (folder != nullptr && *folder != '\0') {
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder, code)) {
      if (entry.path().extension() != ".vphi") continue;
      std::string problem;
      const auto text = read_file(entry.path().string(), problem);
      if (text) {
        files.emplace_back(entry.path().string(), *text);
      } else {
        diagnostics.add(errors::unreadable_file(entry.path().string(), problem, ""));
      }
    }
    if (code) diagnostics.add(errors::unreadable_file(folder, code.message(), ""));
    std::sort(files.begin(), files.end());
  } else {
    for (const auto& [name, text] : vphi_std::files()) {
      files.emplace_back("std/" + std::string(name), std::string(text));
    }
  }
  std::vector<ModelText> library;
  for (auto& [name, text] : files) {
    const auto number = static_cast<std::uint16_t>(library.size() + 1);
    library.push_back(parse(std::make_shared<const Source>(name, text, number), diagnostics));
  }
  return library;
}

std::shared_ptr<const Source> add_text(std::vector<ModelText>& library, const std::string& name,
                                       const std::string& text) {
  const auto number = static_cast<std::uint16_t>(library.size() + 1);
  ModelText holder;
  holder.source = std::make_shared<const Source>(name, text, number);
  library.push_back(holder);
  return holder.source;
}

namespace {

ExprPtr list_of(const ExprPtr& value) {
  Expr list;
  list.kind = ExprKind::List;
  list.span = value->span;
  list.args = {value};
  return std::make_shared<const Expr>(std::move(list));
}

/// The item of a `param` line with this name, taken out of it, as a `sweep` line of its own.
std::optional<Line> taken_out(ModelText& model, const std::string& name) {
  for (auto line = model.lines.begin(); line != model.lines.end(); ++line) {
    if (line->kind != Line::Kind::Clause || line->clause.keyword != "param") continue;
    auto& items = line->clause.items;
    const auto found = std::ranges::find_if(items, [&](const Item& item) {
      return item.head && item.head->name == name && item.value;
    });
    if (found == items.end()) continue;
    Line sweep = *line;
    sweep.clause.keyword = "sweep";
    sweep.clause.items = {*found};
    sweep.clause.items[0].value = list_of(found->value);
    sweep.clause.items[0].free = true;
    items.erase(found);
    if (items.empty()) model.lines.erase(line);
    return sweep;
  }
  return std::nullopt;
}

}  // namespace

namespace {

/// A parameter keeps the unit that the model gives it; a number without unit fits.
void check_unit_of(const Expr& declared, const Expr& given, Diagnostics& diagnostics) {
  const auto before = written_power(declared), now = written_power(given);
  if (before && now && std::fabs(*before - *now) > 1e-9)
    diagnostics.add(
        errors::unit_clash(given.span, "=", dimension_name(*before), dimension_name(*now)));
}

}  // namespace

void apply_overrides(ModelText& model, std::vector<ModelText>& library,
                     const std::vector<std::pair<std::string, std::string>>& set,
                     Diagnostics& diagnostics) {
  std::map<std::string, Span> given;
  for (const auto& [written, text] : set) {
    const std::string name = canonical(written);
    Item* setting = nullptr;
    bool swept = false;
    std::vector<std::string> known;
    for (Line& line : model.lines) {
      if (line.kind != Line::Kind::Clause) continue;
      if (line.clause.keyword != "param" && line.clause.keyword != "sweep") continue;
      for (Item& item : line.clause.items) {
        if (!item.head || (line.clause.keyword == "sweep" && item.head->name == kKeep)) continue;
        known.push_back(item.head->name);
        if (item.head->name != name) continue;
        setting = &item;
        swept = line.clause.keyword == "sweep";
      }
    }
    const auto source = add_text(library, "--set " + written, text);
    const auto [first, fresh] = given.emplace(name, Span{0, 0, source->file()});
    if (!fresh) {
      diagnostics.add(errors::option_twice({0, 0, source->file()}, "--set " + name, first->second));
      continue;
    }
    if (setting == nullptr) {
      diagnostics.add(
          errors::not_a_parameter({0, 0, source->file()}, name, nullptr, suggest(name, known)));
      continue;
    }
    ExprPtr value = parse_expression(source, diagnostics);
    if (!value) continue;
    check_unit_of(*setting->value, *value, diagnostics);
    const bool values =
        value->kind == ExprKind::List || value->kind == ExprKind::Range ||
        (value->kind == ExprKind::Call &&
         (value->text == "linspace" || value->text == "logspace" || value->text == "ranked"));
    if (swept && !values) {  // one value of the sweep: the axis is gone
      value = list_of(value);
    }
    setting->value = value;
  }
}

void apply_free(ModelText& model, const std::vector<std::string>& names, Diagnostics& diagnostics) {
  for (const std::string& written : names) {
    const std::string name = canonical(written);
    std::vector<std::string> known;
    bool swept = false;
    for (Line& line : model.lines) {
      if (line.kind != Line::Kind::Clause) continue;
      for (Item& item : line.clause.items) {
        if (!item.head) continue;
        if (line.clause.keyword == "param") known.push_back(item.head->name);
        if (line.clause.keyword != "sweep" || item.head->name != name) continue;
        swept = item.free = true;
      }
    }
    if (swept) continue;
    if (auto sweep = taken_out(model, name))
      model.lines.push_back(*std::move(sweep));
    else
      diagnostics.add(errors::no_free_parameter(name, suggest(name, known)));
  }
}

void apply_end(ModelText& model, std::vector<ModelText>& library, const std::string& until,
               Diagnostics& diagnostics) {
  for (Line& line : model.lines) {
    if (line.kind != Line::Kind::Clause || line.clause.keyword != "evolve") continue;
    const ExprPtr value = parse_expression(add_text(library, "--until", until), diagnostics);
    if (!value) return;
    for (Item& item : line.clause.items) {
      if (!item.head || item.head->name != "until") continue;
      item.value = value;
      return;
    }
    Item item;
    item.leading = Item::Leading::Comma;
    item.head = Head{};
    item.head->name = "until";
    item.head->span = item.span = value->span;
    item.relation = Item::Relation::Equals;
    item.value = value;
    line.clause.items.push_back(std::move(item));
    return;
  }
  add_text(library, "--until", until);  // of a chain, which has no such option
}

}  // namespace vphi::dsl
