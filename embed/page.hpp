// The report of a run as a page, for programs that embed vphi (docs/report.md).
#pragma once

#include <string>

#include "embed/model.hpp"
#include "runtime/run/run.hpp"

namespace vphi::embed {

/// The page of a run of `model` on `device`, as the command writes it, in HTML that loads nothing
/// from outside. It compiles the model once more, for the facts that it shows. `copy_bandwidth`:
/// bytes a second of the device, 0: not known. Throws Error.
std::string page_of(const Model& model, const runtime::DeviceInfo& device,
                    const runtime::RunResult& result, double copy_bandwidth);

}  // namespace vphi::embed
