#include "runtime/device/native/plugin_library.hpp"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "runtime/device/library.hpp"

namespace vphi::runtime {
namespace {

constexpr const char* kName = "libvphi_llvm.so";

struct Loaded {
  Plugin plugin;
  bool usable = false;
  std::string why;
};

std::vector<std::string> places() {
  if (const char* own = std::getenv("VPHI_PLUGIN")) return {own};
  std::vector<std::string> list;
  for (const char* folder : {"/", "/../", "/lib/", "/../lib/"})
    list.push_back(program_folder() + folder + kName);
  return list;
}

bool bind_all(const Library& library, Plugin& plugin) {
  return library.bind(plugin.version, "vphi_plugin_version") &&
         plugin.version() == VPHI_PLUGIN_VERSION && library.bind(plugin.free, "vphi_plugin_free") &&
         library.bind(plugin.compiler, "vphi_plugin_compiler") &&
         library.bind(plugin.identity, "vphi_plugin_identity") &&
         library.bind(plugin.compile, "vphi_plugin_compile") &&
         library.bind(plugin.load, "vphi_plugin_load") &&
         library.bind(plugin.symbol, "vphi_plugin_symbol") &&
         library.bind(plugin.unload, "vphi_plugin_unload") &&
         library.bind(plugin.audit, "vphi_plugin_audit");
}

Loaded find_plugin() {
  Loaded result;
  for (const std::string& place : places()) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(place, error)) continue;
    std::string why;
    const auto library = Library::open({place}, Library::Close::Never, &why);
    if (library && bind_all(*library, result.plugin)) {
      result.plugin.path = std::filesystem::weakly_canonical(place, error).string();
      result.usable = true;
      return result;
    }
    result.why += (library ? place + " is of another version" : why) + "; ";
  }
  result.why += std::string("the plug-in ") + kName + " is not beside the program (it is built " +
                "where LLVM is found: apt-get install llvm-19-dev libclang-19-dev "
                "libclang-cpp19-dev clang-19 libzstd-dev)";
  return result;
}

}  // namespace

const Plugin* Plugin::get(std::string* why) {
  static const Loaded loaded = find_plugin();
  if (!loaded.usable && why) *why = loaded.why;
  return loaded.usable ? &loaded.plugin : nullptr;
}

std::string Plugin::take(VphiText text) const {
  std::string result(text.data ? text.data : "", text.data ? text.size : 0);
  free(text);
  return result;
}

}  // namespace vphi::runtime
