// A syntax tree with every bracket written, for tables: `a + b*c` is `(a + (b * c))`.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "dsl/syntax/parse.hpp"

namespace vphi::test {

inline std::string join(const std::vector<std::string>& parts, const char* comma) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) out += (i ? comma : "") + parts[i];
  return out;
}

inline std::string tree(const dsl::Expr& e);

inline std::vector<std::string> trees(const std::vector<dsl::ExprPtr>& args,
                                      std::size_t first = 0) {
  std::vector<std::string> out;
  for (std::size_t i = first; i < args.size(); ++i) out.push_back(tree(*args[i]));
  return out;
}

inline std::string tree(const dsl::Expr& e) {
  using dsl::ExprKind;
  const auto arg = [&](std::size_t i) { return tree(*e.args[i]); };
  switch (e.kind) {
    case ExprKind::Number:
      return e.text + (e.imaginary ? "i" : "");
    case ExprKind::String:
      return '"' + e.text + '"';
    case ExprKind::Name:
    case ExprKind::Sign:
      return e.text;
    case ExprKind::Unary:
      return "(" + e.text + (e.text == "not" ? " " : "") + arg(0) + ")";
    case ExprKind::Binary:
      return "(" + arg(0) + " " + e.text + " " + arg(1) + ")";
    case ExprKind::Select:
      return "(" + arg(0) + " if " + arg(1) + " else " + arg(2) + ")";
    case ExprKind::Call: {
      auto parts = trees(e.args);
      for (const auto& n : e.named) {
        parts.push_back(n.name + (n.drawn ? " ~ " : " = ") + tree(*n.value));
      }
      return e.text + "(" + join(parts, ", ") + ")";
    }
    case ExprKind::Index:
      return arg(0) + "[" + join(trees(e.args, 1), ",") + "]";
    case ExprKind::Prime:
      return arg(0) + std::string(static_cast<std::size_t>(e.primes), '\'');
    case ExprKind::Shift:
      return "(" + arg(0) + "@" + arg(1) + ")";
    case ExprKind::List:
      return "[" + join(trees(e.args), ", ") + "]";
    case ExprKind::Range:
      return "(" + arg(0) + ".." + arg(1) + ")";
    case ExprKind::Unit:
      return "(" + arg(0) + " [" + e.text + "])";
  }
  return "?";
}

inline std::string tree(const dsl::Head& head) {
  const auto args = join(trees(head.args), ",");
  std::string out = head.name;
  if (head.form == dsl::Head::Form::Function) out += "(" + args + ")";
  if (head.form == dsl::Head::Form::Indexed) out += "[" + args + "]";
  return out + std::string(static_cast<std::size_t>(head.primes), '\'');
}

inline std::string tree(const dsl::Definition& d) {
  return tree(d.head) + (d.drawn ? " ~ " : " = ") + tree(*d.value);
}

/// `keyword | item , item : item -> target { lines } where facts`
inline std::string tree(const dsl::Line& line) {
  if (line.kind == dsl::Line::Kind::Definition) return "definition " + tree(line.definition);
  if (line.kind == dsl::Line::Kind::Equation) return "equation " + tree(line.definition);
  const dsl::Clause& c = line.clause;
  std::string out = c.keyword + " |";
  for (const dsl::Item& item : c.items) {
    if (item.leading == dsl::Item::Leading::Comma) out += " ,";
    if (item.leading == dsl::Item::Leading::Colon) out += " :";
    if (item.head) {
      out += " " + tree(*item.head);
      out += item.relation == dsl::Item::Relation::Drawn ? " ~" : " =";
    }
    if (item.value) out += " " + tree(*item.value);
    if (!item.count_word.empty()) out += " #" + item.count_word;
    for (const auto& [word, value] : item.words) out += " " + word + " " + tree(*value);
  }
  if (c.destination) out += " -> " + tree(*c.destination);
  if (c.has_body) {
    std::vector<std::string> body;
    for (const dsl::Line& inner : c.body) body.push_back(tree(inner));
    out += " { " + join(body, "; ") + " }";
  }
  std::vector<std::string> facts;
  for (const dsl::Definition& fact : c.where) facts.push_back(tree(fact));
  if (!facts.empty()) out += " where " + join(facts, ", ");
  return out;
}

inline std::string tree(const dsl::ModelText& model) {
  std::string out;
  for (const dsl::Line& line : model.lines) {
    if (!line.documentation.empty()) out += "## " + line.documentation + "\n";
    out += tree(line) + "\n";
  }
  return out;
}

inline std::shared_ptr<const dsl::Source> source(std::string text,
                                                 std::string name = "model.vphi") {
  return std::make_shared<dsl::Source>(std::move(name), std::move(text));
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Every .vphi file under `folder`, sorted.
inline std::vector<std::filesystem::path> vphi_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".vphi") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace vphi::test
