#include "compiler/emit/math/unit_log.hpp"

#include "compiler/emit/text/fill.hpp"

namespace vphi::emit {

using algebra::Op;

namespace {
constexpr const char* kName = "vphi_log_of_unit_f64";
}  // namespace

std::string unit_log(const algebra::Node& node, Precision precision, Language language) {
  const bool ours = node.op == Op::Log && node.args[0].is(Op::Uniform) &&
                    precision == Precision::F64 && language != Language::Cpp;
  return ours ? kName : "";
}

std::string unit_log_for(const std::string& code, Language language, bool nvidia) {
  if (code.find(kName) == std::string::npos) return {};
  const char* bits = language == Language::Cuda ? "log_of_unit_cuda.txt"
                     : nvidia                   ? "log_of_unit_nvidia.txt"
                                                : "log_of_unit_opencl.txt";
  return fill(bits, {}) + fill("log_of_unit_f64.txt", {});
}

}  // namespace vphi::emit
