// What `vphi run` says of a run that has ended: a summary for people, or one object of JSON.
#pragma once

#include <optional>
#include <string>

#include "runtime/run/run.hpp"
#include "tools/oracle/error_check.hpp"
#include "tools/oracle/precision_check.hpp"

namespace vphi::tools {

/// What was checked beside the run.
struct RunChecks {
  std::optional<ErrorCheck> errors;
  std::optional<PrecisionCheck> precision;
};

/// `copy_bandwidth`: of the device, bytes a second; 0 where it is not known.
std::string to_json(const runtime::RunResult& r, double copy_bandwidth, const RunChecks& checks);
/// A run that broke: what other errors are as JSON, and the lines about its cause.
std::string to_json(const runtime::BrokenState& broken, const std::string& cause);
void print_summary(const runtime::RunResult& r, double copy_bandwidth, const RunChecks& checks);
/// "ok (0.3)", "FAILED (0.3 at t = 2)", "NOT DECIDED (0.3): sigma is not known".
std::string verdict(const runtime::ExpectationResult& e, const std::string& unit);

}  // namespace vphi::tools
