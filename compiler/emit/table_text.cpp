#include "compiler/emit/table_text.hpp"

#include <fmt/format.h>

#include <set>

#include "compiler/algebra/transform.hpp"

namespace vphi::emit {

using algebra::Expr;
using algebra::Op;

namespace {

/// Tables that an expression reads.
void collect(Expr expr, std::set<int>& tables) {
  algebra::visit(expr, [&](Expr node) {
    if (node.is(Op::Lookup)) tables.insert(static_cast<int>(node.arg(0)->number.rational.num));
  });
}

std::string storage(Language language) {
  switch (language) {
    case Language::Cuda:
      return "static __device__ const";
    case Language::OpenCL:
      return "__constant";
    case Language::Cpp:
      break;
  }
  return "static const";
}

std::string one_table(const std::vector<double>& values, int table, Precision precision,
                      Language language) {
  const std::string type = type_name(precision), function = table_function(table, precision);
  const char* suffix = precision == Precision::F32 ? "f32" : "f64";
  std::string text =
      fmt::format("{} {} {}_values[{}] = {{\n", storage(language), type, function, values.size());
  std::string line;
  for (const double v : values) {
    const std::string entry = literal(static_cast<long double>(v), precision) + ",";
    if (line.size() + entry.size() > 96) {
      text += "   " + line + "\n";
      line.clear();
    }
    line += " " + entry;
  }
  text += "   " + line + "\n};\n";
  const std::string zero = literal(0.0L, precision),
                    last = literal(static_cast<long double>(values.size() - 1), precision);
  text += fmt::format("VPHI_INLINE {0} {1}({0} at) {{\n", type, function);
  text += fmt::format("  const {0} place = vphi_min_{1}(vphi_max_{1}({2}, at), {3});\n", type,
                      suffix, zero, last);
  text += fmt::format("  return {}_values[(int)place];\n}}\n", function);
  return text;
}

}  // namespace

std::string table_function(int table, Precision precision) {
  return fmt::format("vphi_table_{}_{}", table + 1, precision == Precision::F32 ? "f32" : "f64");
}

std::string table_functions(const kernel::Kernel& kernel, Language language) {
  std::set<int> at_sites, in_epilogue;
  const algebra::Arena* arena = nullptr;
  const auto see = [&](Expr e, std::set<int>& tables) {
    if (!e) return;
    arena = e->arena;
    collect(e, tables);
  };
  for (const kernel::Store& store : kernel.stores) see(store.value, at_sites);
  for (const kernel::Reduction& reduction : kernel.reductions) see(reduction.value, at_sites);
  for (const kernel::ScalarAssign& assign : kernel.epilogue) see(assign.value, in_epilogue);
  std::set<std::pair<int, Precision>> wanted;
  for (const int table : at_sites) wanted.emplace(table, kernel.compute);
  for (const int table : in_epilogue) wanted.emplace(table, Precision::F64);
  std::string text;
  for (const auto& [table, precision] : wanted)
    text += "\n" + one_table(arena->table_data(table), table, precision, language);
  return text;
}

}  // namespace vphi::emit
