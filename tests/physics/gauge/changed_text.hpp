// The text of a shipped model with parts of it replaced or cut out.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi::testing {

/// "cosmology/lphi4_u1"
inline std::string text_of_shipped(const std::string& name) {
  std::ifstream file(shipped(name));
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void put(std::string& text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

/// Cuts everything from `from` to the end of the line that `to` begins.
inline void cut(std::string& text, const std::string& from, const std::string& to) {
  const auto first = text.find(from), second = text.find(to, first);
  ASSERT_NE(first, std::string::npos) << from;
  ASSERT_NE(second, std::string::npos) << to;
  text.erase(first, text.find('\n', second) + 1 - first);
}

}  // namespace vphi::testing
