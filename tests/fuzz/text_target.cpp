// Lexer, parser, formatter: what could be read prints to a text that reads to the same.
#include "target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vphi;
  using namespace vphi::fuzz;
  const auto from = source_of(text_of(data, size));
  dsl::Diagnostics diagnostics;
  const dsl::ModelText model = dsl::parse(from, diagnostics);
  dsl::render_text(diagnostics, {from.get()});
  dsl::render_json(diagnostics, {from.get()});
  for (const auto spelling : {dsl::Spelling::Keep, dsl::Spelling::Ascii, dsl::Spelling::Unicode}) {
    const auto once = source_of(dsl::format(model, spelling));
    if (once->text().size() > (std::size_t{1} << 20)) continue;  // spelled out it may be too long
    dsl::Diagnostics again;
    const dsl::ModelText same = dsl::parse(once, again);
    must(!again.has_errors(), "what `fmt` prints can be read");
    must(dsl::format(same, spelling) == once->text(), "`fmt` is idempotent");
  }
  dsl::Diagnostics one;
  dsl::parse_expression(from, one);
  return 0;
}
