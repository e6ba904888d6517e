// How fast ranks are that share a lattice, for people: the model of run/ranks/cut_model.hpp in
// words.
#pragma once

#include <string>

#include "compiler/compile.hpp"

namespace vphi::tools {

/// Lines with the time of a step on GPUs of the usual cluster; empty where no lattice is cut.
/// Compiles the model for one device and for a rank.
std::string rank_speed_text(const std::string& path, CompileOptions options, int ranks,
                            const std::string& cut = {});
/// The same of 1, 2, 4, ... ranks, with the fastest number of them (embed/rank_choice.hpp).
std::string rank_table_text(const std::string& path, const CompileOptions& options);

}  // namespace vphi::tools
