#include "compiler/emit/math/unit_log.hpp"

#include "compiler/emit/text/fill.hpp"

namespace vphi::emit {

using algebra::Op;

namespace {
constexpr const char* kName = "vphi_log_of_unit_f64";
}  // namespace

std::string unit_log(const algebra::Node& node, Precision precision, const Dialect& dialect) {
  const bool ours = node.op == Op::Log && node.args[0].is(Op::Uniform) &&
                    precision == Precision::F64 && *dialect.texts.unit_log != '\0';
  return ours ? kName : "";
}

Code unit_log_functions(const Dialect& dialect) {
  return fill(dialect.texts.unit_log, {}) + fill("log_of_unit_f64.txt", {});
}

}  // namespace vphi::emit
