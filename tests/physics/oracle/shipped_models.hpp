// Comparison of the shipped models with their own texts, and the quantities that are not compared.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/physics/oracle/planted.hpp"
#include "tests/support/places.hpp"
#include "tools/oracle/derivative_check.hpp"

namespace vphi::shipped {

/// Quantities of the shipped models that the evaluation of the text does not cover, with the
/// reasons.
inline const std::map<std::string, std::set<std::string>>& not_covered() {
  static const std::set<std::string> velocities{"the power of a velocity's fluctuations"};
  static const std::map<std::string, std::set<std::string>> kReasons{
      {"cosmology/gw", velocities},
      {"cosmology/gw_lphi4", velocities},
      {"cosmology/higgs_u1", {"a complex field's fluctuations"}},
      {"cosmology/hybrid", velocities},
      {"cosmology/lphi4", velocities},
      {"cosmology/lphi4_su2u1", {"`vacuum`", "a complex field's fluctuations"}},
      {"cosmology/lphi4_u1", {"a complex field's fluctuations"}},
      {"cosmology/nmc_lphi4", velocities},
      {"cosmology/preheating", velocities},
      {"cosmology/preheating_figures", velocities},
      {"cosmology/preheating_quick", velocities},
      {"gauge/su2_higgs", {"complex numbers that are drawn"}},
      // its `limit` lines read what is recovered
      {"hydro/event2d_bulk", {"`T`"}},
      {"hydro/event3d", {"`T`"}},
  };
  return kReasons;
}

/// "gauge/su2": those of the folder `gauge`, or all others.
inline std::vector<std::string> models(bool gauge) {
  std::vector<std::string> names;
  std::error_code missing;  // not there where the tests run without the sources
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(VPHI_SOURCE_DIR "/models", missing)) {
    if (entry.path().extension() != ".vphi") continue;
    const std::string folder = entry.path().parent_path().filename().string();
    const std::string name = folder + "/" + entry.path().stem().string();
    if (folder == "std") continue;  // no model
    if ((folder == "gauge") == gauge) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline void expect_right(const std::string& name) {
  const auto rows = tools::check_derivatives(VPHI_SOURCE_DIR "/models/" + name + ".vphi", {});
  EXPECT_FALSE(rows.empty());
  std::set<std::string> reasons;
  for (const tools::DerivativeRow& row : rows) {
    if (row.not_checked.empty())
      EXPECT_TRUE(row.right()) << planted::report(rows);
    else
      reasons.insert(row.not_checked);
  }
  const auto expected = not_covered().find(name);
  EXPECT_EQ(expected == not_covered().end() ? std::set<std::string>{} : expected->second, reasons);
}

}  // namespace vphi::shipped
