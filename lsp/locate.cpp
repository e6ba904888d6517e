// Definition, references, rename, the outline of a document, its canonical form.
#include <algorithm>
#include <set>

#include "dsl/syntax/parse.hpp"
#include "dsl/syntax/spelling.hpp"
#include "dsl/syntax/unicode.hpp"
#include "lsp/features.hpp"

namespace vphi::lsp {

namespace {

using dsl::SymbolKind;

/// Symbol kinds of the protocol.
int outline_kind(SymbolKind kind) {
  constexpr int kField = 8, kFunction = 12, kVariable = 13, kConstant = 14, kArray = 18,
                kStruct = 23, kOperator = 25;
  switch (kind) {
    case SymbolKind::Parameter:
      return kConstant;
    case SymbolKind::Swept:
    case SymbolKind::Particles:
      return kArray;
    case SymbolKind::Field:
    case SymbolKind::Gauge:
    case SymbolKind::Fermion:
    case SymbolKind::Variable:
    case SymbolKind::Conserved:
    case SymbolKind::Primitive:
      return kField;
    case SymbolKind::Potential:
    case SymbolKind::Action:
    case SymbolKind::Hamiltonian:
      return kStruct;
    case SymbolKind::Stencil:
    case SymbolKind::Integrator:
    case SymbolKind::Scheme:
    case SymbolKind::Solver:
      return kOperator;
    case SymbolKind::Function:
      return kFunction;
    case SymbolKind::Definition:
    case SymbolKind::Drawn:
    case SymbolKind::Construct:
      break;
  }
  return kVariable;
}

Json location(const std::string& address, const dsl::Source& source, dsl::Span span) {
  const LineIndex lines(source.text());
  return {{"uri", address}, {"range", range(lines, span)}};
}

/// The clause or definition that gives a name of a construct: `metric` for a, H, rho.
const dsl::Line* giver(const Analysis& analysis, const dsl::Symbol& symbol) {
  const auto& lines = analysis.resolved.model.lines;
  for (const dsl::Line& line : lines) {
    if (line.kind != dsl::Line::Kind::Clause) continue;
    const std::string& keyword = line.clause.keyword;
    if (keyword == symbol.origin) return &line;
    // `metric frw(a)`: the construct is called frw
    if (keyword == "metric" && !line.clause.items.empty() && line.clause.items[0].value &&
        line.clause.items[0].value->text == symbol.origin)
      return &line;
  }
  const auto h = analysis.resolved.symbols.find("H");
  if (symbol.origin == "hamiltonian" && h != analysis.resolved.symbols.end()) return h->second.line;
  return nullptr;
}

bool is_identifier(const std::string& name) {
  if (name.empty()) return false;
  for (std::size_t i = 0; i < name.size();) {
    const auto [c, bytes] = dsl::decode(name, i);
    if (i == 0 ? !dsl::is_name_start(c) : !dsl::is_name_part(c)) return false;
    i += static_cast<std::size_t>(bytes);
  }
  return true;
}

bool own(const Meaning& meaning) {
  if (meaning.kind == Meaning::Kind::Local) return true;
  return meaning.kind == Meaning::Kind::Symbol && meaning.symbol->declared.file == 0 &&
         !meaning.symbol->declared.empty() && meaning.symbol->kind != SymbolKind::Construct;
}

}  // namespace

Json definition(const Analysis& analysis, const Addresses& where, std::uint32_t offset) {
  const Meaning meaning = meaning_at(analysis, offset);
  if (meaning.kind == Meaning::Kind::Local)
    return location(where.document, *analysis.source, meaning.declared);
  if (meaning.kind != Meaning::Kind::Symbol) return nullptr;
  const dsl::Symbol& symbol = *meaning.symbol;
  dsl::Span span = symbol.declared;
  if (span.empty()) {
    const dsl::Line* line = giver(analysis, symbol);
    if (line == nullptr) return nullptr;
    span = line->kind == dsl::Line::Kind::Clause ? line->clause.keyword_span
                                                 : line->definition.head.span;
  }
  const dsl::Sources sources = analysis.resolved.sources();
  if (span.file >= sources.size() || sources[span.file] == nullptr) return nullptr;
  const std::string address = where.of(*sources[span.file], span.file);
  if (address.empty()) return nullptr;
  return location(address, *sources[span.file], span);
}

Json references(const Analysis& analysis, const Addresses& where, std::uint32_t offset) {
  Json list = Json::array();
  for (const dsl::Span span : occurrences(analysis, meaning_at(analysis, offset)))
    list.push_back({{"uri", where.document}, {"range", range(analysis.lines, span)}});
  return list;
}

Json document_symbols(const Analysis& analysis) {
  std::vector<const dsl::Symbol*> own;
  for (const auto& [name, symbol] : analysis.resolved.symbols)
    if (symbol.line != nullptr && symbol.declared.file == 0 && !symbol.declared.empty())
      own.push_back(&symbol);
  std::sort(own.begin(), own.end(), [](const dsl::Symbol* a, const dsl::Symbol* b) {
    return a->declared.begin < b->declared.begin;
  });
  Json list = Json::array();
  for (const dsl::Symbol* symbol : own) {
    const dsl::Span line = symbol->line->span;
    if (line.file != 0) continue;
    list.push_back({{"name", symbol->name},
                    {"detail", symbol->value ? dsl::to_text(*symbol->value).substr(0, 120)
                                             : dsl::to_string(symbol->type)},
                    {"kind", outline_kind(symbol->kind)},
                    {"range", range(analysis.lines, dsl::cover(line, symbol->declared))},
                    {"selectionRange", range(analysis.lines, symbol->declared)}});
  }
  return list;
}

Json formatting(const Analysis& analysis) {
  dsl::Diagnostics reading;
  const dsl::ModelText model = dsl::parse(analysis.source, reading);
  if (reading.has_errors()) return nullptr;
  const std::string text = dsl::format(model);
  if (text == analysis.source->text()) return Json::array();
  const dsl::Span all{0, static_cast<std::uint32_t>(analysis.source->text().size()), 0};
  return Json::array({{{"range", range(analysis.lines, all)}, {"newText", text}}});
}

Json prepare_rename(const Analysis& analysis, std::uint32_t offset) {
  const Meaning meaning = meaning_at(analysis, offset);
  if (!own(meaning)) return nullptr;
  return {{"range", range(analysis.lines, meaning.at)},
          {"placeholder", std::string(analysis.source->at(meaning.at))}};
}

Json rename(const Analysis& analysis, const Addresses& where, std::uint32_t offset,
            const std::string& name) {
  const Meaning meaning = meaning_at(analysis, offset);
  if (!own(meaning)) return "only names that this model declares can be renamed";
  if (!is_identifier(name)) return "`" + name + "` is not a name";
  const std::string plain = dsl::canonical(name);
  const dsl::Symbol* taken = analysis.resolved.find(plain);
  if (taken != nullptr && plain != meaning.name) return "`" + name + "` is taken";
  Json edits = Json::array();
  for (const dsl::Span span : occurrences(analysis, meaning))
    edits.push_back({{"range", range(analysis.lines, span)}, {"newText", name}});
  return {{"changes", {{where.document, std::move(edits)}}}};
}

std::string Addresses::of(const dsl::Source& source, std::uint16_t file) const {
  if (file == 0) return document;
  const std::string& name = source.name();
  if (name.starts_with("/")) return address_of(name);
  if (name.starts_with("std/") && !std_folder.empty()) return std_folder + name.substr(3);
  return {};
}

std::string address_of(const std::string& path) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out = "file://";
  for (const unsigned char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '-' || c == '_' || c == '~';
    if (plain) {
      out.push_back(static_cast<char>(c));
    } else {
      out.push_back('%');
      out.push_back(kDigits[c >> 4]);
      out.push_back(kDigits[c & 15]);
    }
  }
  return out;
}

}  // namespace vphi::lsp
