// The compiler's cost of a site equals clang's count in the emitted text.
//
// The site function alone is compared: stencil sums, random numbers and the additions of reductions
// are in the pattern around it, for whose loops the audit does not count the iterations. Inputs,
// outputs, flops and special functions agree exactly, but for CUDA and NVIDIA's OpenCL in f32,
// where kernels have a reciprocal root as one instruction and not as a root and a division: one
// special function less for each.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/audit/audit.hpp"
#include "compiler/emit/walks/lines.hpp"
#include "compiler/emit/walks/lines_tile.hpp"
#include "compiler/kernel/site_cost.hpp"
#include "tests/audit/ways.hpp"

namespace vphi::audit {

/// The phases of a tile together make what a step of a walk makes. Light values are made by each
/// reader. Places in tables are integers there, and rounds are written in another way, so that
/// tiles with iterations are not compared.
inline bool compare_tile(const kernel::SiteCost& claimed, int least, const AuditResult& result,
                         const program::Kernel& emitted, const std::string& where) {
  if (claimed.lookups > 0 || least != claimed.special) return false;
  int flops = 0, special = 0, stores = 0;
  for (const FunctionFacts& f : result.functions) {
    if (!f.name.starts_with("vphi_site_")) continue;
    flops += f.flops;
    special += f.special;
    stores = f.stores;  // the last phase has the results
  }
  EXPECT_GE(stores, emitted.stores) << where;
  EXPECT_GE(flops, claimed.flops * 9 / 10) << where;
  EXPECT_LE(flops, claimed.flops * 13 / 10) << where;
  const int roots = claimed.reciprocal_roots + claimed.dividing_roots;
  EXPECT_GE(special, claimed.special - roots) << where;
  EXPECT_LE(special, claimed.special) << where;
  return true;
}

/// Whether there was a site function to compare. `result`: of the emitted text.
inline bool compare_cost(const kernel::Kernel& planned, const program::Kernel& emitted,
                         const AuditResult& result, const Way& way, const std::string& where) {
  using program::Target;
  if (!planned.stages.empty()) return false;  // its stages are kernels of their own, compared so
  const bool pairs = kernel::sums_pairs(planned);  // also functions of one site alone
  const auto site =
      std::find_if(result.functions.begin(), result.functions.end(), [&](const FunctionFacts& f) {
        return f.name.starts_with("vphi_site_") && (!pairs || f.name.ends_with("_pair"));
      });
  if (site == result.functions.end()) return false;  // scalars only
  kernel::Kernel counted = planned;                  // as it is walked
  const auto line = emit::lines_of(planned, way.target);
  if (line) counted.along = line->axis;
  const kernel::SiteCost claimed = kernel::site_cost(counted);
  const int least = kernel::least_work(counted, kernel::cost(counted), way.target.is_cpu).special;
  if (line && emit::tile_of(planned, *line, way.target))
    return compare_tile(claimed, least, result, emitted, where);
  EXPECT_EQ(site->loads, claimed.inputs) << where;
  EXPECT_EQ(site->stores, claimed.outputs) << where;
  // A value that all paths share may take a sign with it when it is printed, and so may a sum
  // in the approximate arithmetic of GPUs.
  const int signs = planned.common.empty() && !way.target.nvidia ? 0 : 2;
  const int clamps = way.target.target == Target::Cuda ? 2 * claimed.lookups : 0;
  const int again = site->parts > 0 ? claimed.flops / 64 : 0;  // products in two parts
  const bool fast = way.target.nvidia && site->special != claimed.special;
  const int products = fast ? claimed.dividing_roots : 0;
  const int roots = fast ? claimed.reciprocal_roots + claimed.dividing_roots : 0;
  // a minmod was one operation more (the sum of two bounds) or less (of two numbers)
  EXPECT_LE(site->flops, claimed.flops + products + again + site->minmods) << where;
  // a number that is a condition is compared with 0 once for all values of a choice
  EXPECT_GE(site->flops, claimed.flops + products - signs - clamps - site->choices - site->minmods)
      << where;
  EXPECT_EQ(site->special, claimed.special - roots) << where;
  EXPECT_GE(emitted.flops, claimed.flops) << where;
  // of iterations that end early the kernel counts one round
  EXPECT_GE(emitted.special, least - roots) << where;
  return true;
}

/// Words to and from memory: the arrays of the kernel, each once, and as the launch is bound to
/// them.
inline void compare_bytes(const kernel::Kernel& planned, const program::Kernel& kernel) {
  if (!planned.stages.empty()) return;
  int written = 0, most = 0;
  for (const program::Argument& argument : kernel.arguments) {
    const bool array = argument.kind == program::Argument::Kind::Current ||
                       argument.kind == program::Argument::Kind::Next;
    if (!array) continue;
    written += argument.written;
    most += (argument.precision == program::Precision::F32 ? 4 : 8) * (argument.written ? 2 : 1);
  }
  // a site of one colour reads numbers of other colours from the same array
  if (planned.colours) most *= planned.colours->modulus;
  EXPECT_EQ(kernel.stores, written) << kernel.name;
  EXPECT_LE(kernel.bytes, most) << kernel.name;
}

}  // namespace vphi::audit
