// Equations and schedule of every model that resolves. Nothing here may depend on the number of
// sites: a lattice of any size costs the same.
#include "compiler/compile.hpp"
#include "compiler/explain.hpp"
#include "compiler/schedule/schedule.hpp"
#include "target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vphi;
  using namespace vphi::fuzz;
  dsl::Diagnostics reading;
  dsl::ModelText model = dsl::parse(source_of(text_of(data, size)), reading);
  if (reading.has_errors()) return 0;
  Compilation c;
  c.resolved = dsl::resolve(std::move(model), library());
  if (c.resolved.diagnostics.has_errors()) return 0;
  c.system = system_of(c.resolved, {}, c.diagnostics);
  if (c.system && !c.diagnostics.has_errors())
    c.plan = schedule::schedule(*c.system, c.resolved, c.diagnostics);
  dsl::render_text(c.diagnostics, c.resolved.sources());
  must(c.plan || c.diagnostics.has_errors(), "no program, no message");
  to_text(explain(c));
  return 0;
}
