// The output of `vphi run` at the end of a run: a summary, or one object of JSON.
#pragma once

#include <optional>
#include <string>

#include "runtime/run/run.hpp"
#include "tools/oracle/error_check.hpp"
#include "tools/oracle/precision_check.hpp"

namespace vphi::tools {

/// Results of additional checks.
struct RunChecks {
  std::optional<ErrorCheck> errors;
  std::optional<PrecisionCheck> precision;
};

/// `copy_bandwidth`: of the device, in bytes per second; 0 where it is not known.
std::string to_json(const runtime::RunResult& r, double copy_bandwidth, const RunChecks& checks);
/// JSON for a run with an invalid state: the members of other errors, and the lines about its
/// cause.
std::string to_json(const runtime::BrokenState& broken, const std::string& cause);
void print_summary(const runtime::RunResult& r, double copy_bandwidth, const RunChecks& checks);
/// "ok (0.3)", "FAILED (0.3 at t = 2)", "NOT DECIDED (0.3): sigma is not known".
std::string verdict(const runtime::ExpectationResult& e, const std::string& unit);

}  // namespace vphi::tools
