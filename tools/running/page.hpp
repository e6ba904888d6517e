// The page of a run as the command writes it; embed/report_data.hpp makes its contents.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "embed/report_data.hpp"
#include "tools/options.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {

using embed::take_compilation;
using embed::take_machine;

/// The command that reproduces the run: the given words without those for the output folder, with
/// explicit device and seed. Without `seed` the words contain it already.
std::string command_text(const Words& words, const std::string& device,
                         std::optional<std::uint64_t> seed);

/// Writes a temporary file and renames it. Throws UsageError where it cannot be written.
void write_page(const std::filesystem::path& path, const std::string& html);

}  // namespace vphi::tools
