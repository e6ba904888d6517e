// The report of a run as a page, for programs that embed vphi (docs/report.md).
#pragma once

#include <string>

#include "compiler/compile.hpp"
#include "embed/overrides.hpp"
#include "runtime/run/run.hpp"

namespace vphi::embed {

/// The page of a run of the program in `compilation` on `device`, as the command writes it, in HTML
/// that loads nothing from outside. `overrides`: what the run changed in the model.
/// `copy_bandwidth`: bytes a second of the device, 0: not known. Throws Error.
std::string page_of(const Compilation& compilation, const Overrides& overrides,
                    const runtime::DeviceInfo& device, const runtime::RunResult& result,
                    double copy_bandwidth);

}  // namespace vphi::embed
