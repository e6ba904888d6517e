#include "lsp/analysis.hpp"

#include <algorithm>
#include <exception>

#include "compiler/compile.hpp"
#include "compiler/explain.hpp"
#include "compiler/schedule/schedule.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/syntax/parser.hpp"

namespace vphi::lsp {

const dsl::Token* Analysis::token_at(std::uint32_t offset) const {
  const auto& all = tokens.tokens;
  auto next =
      std::upper_bound(all.begin(), all.end(), offset,
                       [](std::uint32_t at, const dsl::Token& t) { return at < t.span.begin; });
  if (next == all.begin()) return nullptr;
  const dsl::Token* token = &*(next - 1);
  // Between two adjacent tokens the one that is a word is taken.
  if (token->span.begin == offset && token->kind != dsl::Token::Kind::Word &&
      next - 1 != all.begin()) {
    const dsl::Token* before = token - 1;
    if (before->span.end == offset && before->kind == dsl::Token::Kind::Word) token = before;
  }
  return offset <= token->span.end && token->kind != dsl::Token::Kind::End ? token : nullptr;
}

bool Analysis::in_comment(std::uint32_t offset) const {
  return std::any_of(tokens.comments.begin(), tokens.comments.end(), [&](const dsl::Comment& c) {
    return c.span.begin < offset && offset <= c.span.end;
  });
}

std::shared_ptr<const Analysis> analyse(std::string name, std::string text,
                                        const Library& library) {
  auto made = std::make_shared<Analysis>(
      std::make_shared<const dsl::Source>(std::move(name), std::move(text)));
  try {
    dsl::ModelText model = dsl::parse(made->source, made->diagnostics);
    if (made->source->text().size() <= dsl::kMaxBytes) {
      dsl::Diagnostics again;
      made->tokens = dsl::tokenize(*made->source, again);
    }
    made->syntax_good = !made->diagnostics.has_errors();
    made->resolved = dsl::resolve(std::move(model), library);
    // A line that could not be parsed leaves names undefined, so only the first cause is reported.
    if (made->syntax_good)
      for (const auto& d : made->resolved.diagnostics.all()) made->diagnostics.add(d);
    made->sound = !made->diagnostics.has_errors();
  } catch (const std::exception&) {
    made->sound = false;  // out of memory: the part that exists is used
  }
  return made;
}

Derived deepen(const Analysis& analysis) {
  Derived result;
  result.diagnostics = analysis.diagnostics;
  if (!analysis.sound) return result;
  try {
    Compilation c;
    c.resolved = analysis.resolved;
    const CompileOptions options;
    c.system = system_of(analysis.resolved, options, c.diagnostics);
    if (c.system && !c.diagnostics.has_errors())
      schedule::schedule(*c.system, analysis.resolved, c.diagnostics);
    for (const auto& d : c.diagnostics.all()) result.diagnostics.add(d);
    if (c.system) {
      const Explanation e = explain(c);
      for (const auto& eq : e.physical) result.physical.push_back({eq.left.text, eq.right.text});
      for (const auto& eq : e.program) result.program.push_back({eq.left.text, eq.right.text});
    }
  } catch (const std::exception& error) {
    dsl::Diagnostic d;
    d.code = "E0999";
    d.message = std::string("internal error: ") + error.what();
    d.hint = "this is a mistake in vphi, not in your model; please report it with the model";
    result.diagnostics.add(d);
  }
  return result;
}

}  // namespace vphi::lsp
