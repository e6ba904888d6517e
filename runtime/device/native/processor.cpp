#include <fstream>
#include <sstream>

#include "runtime/device/native/host_compiler.hpp"

namespace vphi::runtime {
namespace {

/// Value of the first line of /proc/cpuinfo that starts with one of the names.
std::string cpuinfo(std::initializer_list<std::string_view> names) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    for (std::string_view name : names) {
      if (!line.starts_with(name)) continue;
      const auto colon = line.find(':');
      if (colon == std::string::npos || colon + 2 > line.size()) continue;
      return line.substr(colon + 2);
    }
  }
  return {};
}

}  // namespace

std::string processor_name() {
  const std::string name = cpuinfo({"model name", "Model", "Hardware"});
  return name.empty() ? "processor" : name;
}

std::string processor_identity() {
  return processor_name() + "|" + cpuinfo({"cpu family"}) + "|" + cpuinfo({"model\t"}) + "|" +
         cpuinfo({"flags", "Features"});
}

bool has_avx512() {
  std::istringstream flags(cpuinfo({"flags"}));
  for (std::string flag; flags >> flag;)
    if (flag == "avx512f") return true;
  return false;
}

int registers_asked(std::string_view source) {
  constexpr std::string_view kMark = "// vphi: registers=";
  const std::size_t at = source.find(kMark);
  return at == std::string_view::npos
             ? 0
             : std::atoi(std::string(source.substr(at + kMark.size(), 3)).c_str());
}

bool contraction_allowed(std::string_view source) {
  return source.find("// vphi: contract=off") == std::string_view::npos &&
         source.find("#pragma STDC FP_CONTRACT OFF") == std::string_view::npos;
}

}  // namespace vphi::runtime
