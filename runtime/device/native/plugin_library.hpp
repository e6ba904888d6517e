// libvphi_llvm.so, opened at run time. It is searched as $VPHI_PLUGIN, in the folder of the
// program, in the folder above it, and in lib/ and ../lib/. A plug-in of another version is not
// used.
#pragma once

#include <string>

#include "runtime/device/plugin/plugin.hpp"

namespace vphi::runtime {

struct Plugin {
  decltype(vphi_plugin_version)* version = nullptr;
  decltype(vphi_plugin_free)* free = nullptr;
  decltype(vphi_plugin_compiler)* compiler = nullptr;
  decltype(vphi_plugin_identity)* identity = nullptr;
  decltype(vphi_plugin_compile)* compile = nullptr;
  decltype(vphi_plugin_load)* load = nullptr;
  decltype(vphi_plugin_symbol)* symbol = nullptr;
  decltype(vphi_plugin_unload)* unload = nullptr;
  decltype(vphi_plugin_audit)* audit = nullptr;
  std::string path;

  /// Null, with a reason, where there is none.
  static const Plugin* get(std::string* why = nullptr);
  /// The text as a string; frees its memory.
  std::string take(VphiText text) const;
};

}  // namespace vphi::runtime
