#include "embed/page.hpp"

#include <optional>

#include "embed/report_data.hpp"
#include "embed/translate.hpp"
#include "runtime/report/page.hpp"
#include "runtime/run/ranks/lattice_session.hpp"

namespace vphi::embed {

std::string page_of(const Compilation& compilation, const Overrides& overrides,
                    const runtime::DeviceInfo& device, const runtime::RunResult& result,
                    double copy_bandwidth) {
  return translated([&] {
    std::optional<program::Program> whole;
    if (compilation.program->cut.axis >= 0) whole = runtime::whole_lattice(*compilation.program);
    const program::Program& program = whole ? *whole : *compilation.program;
    report::Report page = begin_report(program, &compilation, overrides.compile_options(), device);
    finish_report(page, program, result, copy_bandwidth, 0);
    return report::page(page);
  });
}

}  // namespace vphi::embed
