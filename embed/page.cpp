#include "embed/page.hpp"

#include "embed/error.hpp"
#include "embed/report_data.hpp"
#include "embed/target.hpp"
#include "embed/translate.hpp"
#include "runtime/report/page.hpp"

namespace vphi::embed {

std::string page_of(const Model& model, const runtime::DeviceInfo& device,
                    const runtime::RunResult& result, double copy_bandwidth) {
  return translated([&] {
    const Compilation compilation = model.compile(target_of(device));
    refuse_mistakes(compilation);
    const program::Program& program = *compilation.program;
    report::Report page =
        begin_report(program, &compilation, model.overrides().compile_options(), device);
    finish_report(page, program, result, copy_bandwidth, 0);
    return report::page(page);
  });
}

}  // namespace vphi::embed
