// What the audit of the emitted text (compiler/audit) says of a model's kernels, one row a kernel.
#pragma once

#include <string>
#include <vector>

#include "program/program.hpp"

namespace vphi::tools {

/// Counts are those of the kernel's site functions (their sum where there are several), or of its
/// entry where no function belongs to a site: a kernel of scalars alone.
struct AuditRow {
  std::string kernel;
  bool branch_free = false;             ///< proved
  std::vector<std::string> violations;  ///< "vphi_site_a, line 12: ..."
  bool site = false;                    ///< the counts are those of a site
  int selects = 0, loads = 0, stores = 0, flops = 0, special = 0;
};

/// One row for each kernel, in the program's order. Throws UsageError where there is no in-process
/// compiler to read the text with, and std::runtime_error for a text that it cannot read.
std::vector<AuditRow> audit_rows(const program::Program& program);

std::string audit_text(const program::Program& program, const std::vector<AuditRow>& rows);
std::string audit_json(const program::Program& program, const std::vector<AuditRow>& rows);

}  // namespace vphi::tools
