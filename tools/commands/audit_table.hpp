// Results of the audit of the emitted text (compiler/audit), one row for each kernel of a model.
#pragma once

#include <string>
#include <vector>

#include "program/program.hpp"

namespace vphi::tools {

/// Counts are those of the kernel's site functions (their sum where there are several). A kernel
/// that only computes scalars has no site function; its counts are those of its entry function.
struct AuditRow {
  std::string kernel;
  bool branch_free = false;             ///< it is proved branch-free
  std::vector<std::string> violations;  ///< "vphi_site_a, line 12: ..."
  bool site = false;                    ///< the counts are those of site functions
  int selects = 0, loads = 0, stores = 0, flops = 0, special = 0;
};

/// One row for each kernel, in the program's order. Throws UsageError where there is no in-process
/// compiler to parse the text, and std::runtime_error for a text that it cannot parse.
std::vector<AuditRow> audit_rows(const program::Program& program);

std::string audit_text(const program::Program& program, const std::vector<AuditRow>& rows);
std::string audit_json(const program::Program& program, const std::vector<AuditRow>& rows);

}  // namespace vphi::tools
