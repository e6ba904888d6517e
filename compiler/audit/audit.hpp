// Checks of the emitted source text by parsing it with clang: proofs and counts.
//
// The emitted CUDA, OpenCL or C++ is parsed by clang (in the plug-in, without headers of the
// device), and for every function whose name contains `site_`, and all it calls, it is proved that
// there is no if, switch, goto, short-circuit operator or inline assembly, and no loop but one that
// is counted: `for (int i = 0; i < N; ++i)` with a literal N, which nothing in it changes and
// nothing ends but an `if (name) break;` behind all else: a round is done whole or not at all. What
// it holds counts N times. Conditional operators must be selects: both arms are values without side
// effects. For the rest of the source, no condition and no loop bound may depend on floating-point
// data: control flow depends on indices and counters only. Violations are sentences with the line
// of the source. Loads, stores, flops and special functions are counted by function. The parts of a
// site function between which the lanes of a processor make rounds together (vphi_site_before_1_K,
// vphi_site_round_1_K) are counted with vphi_site_K, a round as often as the loop around it says.
// Such a loop is counted too; outside of site functions it is the only one that data may end, and
// it ends after whole rounds.
//
// Without the plug-in there is no result: `available` is false and `reason` says why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "program/program.hpp"

namespace vphi::audit {

/// Counts for one function of the source, including the functions that it calls.
struct FunctionFacts {
  std::string name;
  int line = 0;
  bool site = false;  ///< a site function, or called by one
  int parts = 0;      ///< functions before it and of its rounds, which its counts include
  int ifs = 0, switches = 0, gotos = 0, loops = 0;
  int shortcuts = 0;  ///< && and ||
  int selects = 0;    ///< conditional operators whose arms are free of side effects
  int choices = 0;    ///< of these selects, the values of an `if` around a loop
  int minmods = 0;    ///< the smallest of three numbers of one sign; each counts six flops
  int branches = 0;   ///< other conditional operators
  int loads = 0;      ///< numbers read: through pointers, and members of a struct argument
  int stores = 0;     ///< numbers written: through pointers, and members of the result
  int flops = 0;      ///< + - * and comparisons of floating-point numbers; fma counts two
  int special = 0;    ///< divisions, sqrt, exp, log, sin, ...; pow too
};

struct AuditResult {
  bool available = false;
  std::string reason;                    ///< why there is no result: no plug-in, unreadable source
  std::string log;                       ///< clang's messages, where the source could not be read
  std::vector<FunctionFacts> functions;  ///< in the order of the source
  std::vector<std::string> violations;   ///< empty: proved branch-free

  bool proved() const { return available && violations.empty(); }
  const FunctionFacts* find(std::string_view name) const;
};

AuditResult audit(const std::string& source, program::Target target);

}  // namespace vphi::audit
