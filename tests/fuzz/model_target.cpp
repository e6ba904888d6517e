// Names, types, indices, clauses and units of whatever could be read.
#include "dsl/resolve.hpp"
#include "target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vphi;
  using namespace vphi::fuzz;
  dsl::Diagnostics reading;
  dsl::ModelText model = dsl::parse(source_of(text_of(data, size)), reading);
  const dsl::Resolved resolved = dsl::resolve(std::move(model), library());
  dsl::render_text(resolved.diagnostics, resolved.sources());
  dsl::render_json(resolved.diagnostics, resolved.sources());
  for (const auto& [name, symbol] : resolved.symbols) must(!name.empty(), "a symbol has a name");
  return 0;
}
