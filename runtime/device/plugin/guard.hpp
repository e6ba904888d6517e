// Turns fatal errors, aborts and crashes of LLVM into the failure of a call.
#pragma once

#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/device/plugin/plugin.hpp"

namespace vphi::plugin {

inline VphiText own(const std::string& text) {
  VphiText result{static_cast<char*>(std::malloc(text.size() + 1)), text.size()};
  if (!result.data) return {nullptr, 0};
  std::memcpy(result.data, text.c_str(), text.size() + 1);
  return result;
}

/// Runs body(user) on a thread with a large stack. False, with the reason in `why`, where it
/// crashed.
bool guarded(void (*body)(void*), void* user, std::string* why);

template <class Body>
bool guarded(Body& body, std::string* why) {
  return guarded([](void* user) { (*static_cast<Body*>(user))(); }, &body, why);
}

}  // namespace vphi::plugin
