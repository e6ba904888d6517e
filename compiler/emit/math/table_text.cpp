#include "compiler/emit/math/table_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "compiler/algebra/transform.hpp"
#include "compiler/emit/math/table_index.hpp"
#include "compiler/emit/text/fill.hpp"

namespace vphi::emit {

using algebra::Expr;
using algebra::Op;

namespace {

/// The interval in which an index lies as far as its expression shows, unless it is NaN.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// A product, a sum or a choice of what lies in known ranges.
class Ranges {
 public:
  Range of(Expr index) {
    const auto found = known_.find(index.get());
    if (found != known_.end()) return found->second;
    return known_[index.get()] = made(index);
  }

 private:
  Range made(Expr index) {
    if (index.is_number()) {
      const auto value = static_cast<double>(index->number.real);
      return {value, value};
    }
    if (index.is(Op::Floor)) {
      const Range r = of(index.arg(0));
      return {std::floor(r.low), std::floor(r.high)};
    }
    if (index.is(Op::TableIndex))
      return {static_cast<double>(index.arg(1)->number.real),
              static_cast<double>(index.arg(2)->number.real)};
    if (index.is(Op::Min) || index.is(Op::Max) || index.is(Op::Add)) {
      Range r = of(index.arg(0));
      for (std::size_t i = 1; i < index.args().size(); ++i) {
        const Range other = of(index.args()[i]);
        if (index.is(Op::Min)) {
          r = {std::min(r.low, other.low), std::min(r.high, other.high)};
        } else if (index.is(Op::Max)) {
          r = {std::max(r.low, other.low), std::max(r.high, other.high)};
        } else {
          r = {r.low + other.low, r.high + other.high};
        }
      }
      return r;
    }
    if (index.is(Op::Sub)) {
      const Range a = of(index.arg(0)), b = of(index.arg(1));
      return {a.low - b.high, a.high - b.low};
    }
    if (index.is(Op::Mul) && index.args().size() == 2 && index.arg(0).is_number()) {
      const auto factor = static_cast<double>(index.arg(0)->number.real);
      const Range r = of(index.arg(1));
      if (factor > 0) return {factor * r.low, factor * r.high};
    }
    if (index.is(Op::Select)) {
      const Range a = of(index.arg(1)), b = of(index.arg(2));
      return {std::min(a.low, b.low), std::max(a.high, b.high)};
    }
    return {};
  }
  std::unordered_map<const algebra::Node*, Range> known_;
};

/// Where a table is read: the nodes of its positions.
using Positions = std::set<const algebra::Node*>;

void collect(std::span<const Expr> exprs, std::map<int, Positions>& tables) {
  algebra::visit(exprs, [&](Expr, Expr node) {
    if (!node.is(Op::Lookup)) return;
    tables[static_cast<int>(node.arg(0)->number.rational.num)].insert(node.arg(1).get());
  });
}

/// Tables of one size that are read at the same positions lie entry by entry beside each other, up
/// to four: one load fetches what all of them have there.
std::vector<std::vector<int>> side_by_side(const algebra::Arena& arena,
                                           const std::map<int, Positions>& tables) {
  std::map<std::pair<std::size_t, Positions>, std::vector<int>> alike;
  for (const auto& [table, positions] : tables)
    alike[{arena.table_data(table).size(), positions}].push_back(table);
  std::vector<std::vector<int>> groups;
  for (const auto& [key, members] : alike) {
    for (std::size_t i = 0; i < members.size(); i += 4) {
      const auto begin = members.begin() + static_cast<std::ptrdiff_t>(i);
      groups.emplace_back(begin, begin + std::min<std::ptrdiff_t>(4, members.end() - begin));
    }
  }
  std::ranges::sort(groups);
  return groups;
}

Code table_index_functions(Precision precision, const Dialect& dialect) {
  const bool single = precision == Precision::F32;
  const Words& words = dialect.words;
  Slots slots;
  slots["asm"] = words.assembler;
  slots["bits_of"] = words.bits_of_float;
  slots["of_bits"] = single ? words.float_of_bits : words.double_of_bits;
  slots["long"] = words.long_suffix;
  return "\n" + fill(single ? "table_index_f32.txt" : "table_index_f64.txt", slots);
}

/// Number `k` of those at place `at`: of a vector of the device, where there is one, so that the
/// address is one multiply-add.
Code entry_of(const std::string& values, const std::string& type, std::size_t width, std::size_t k,
              const Dialect& dialect) {
  if (width == 1) return values + "[at]";
  if (width == 4 && type == "double") return code("{}[4*at + {}]", values, k);
  return code("(({}const {}{}*){})[at].{}", dialect.words.constant, type, width, values, "xyzw"[k]);
}

/// `whole`: positions are integers, made by emit/math/table_index.hpp.
Code group_text(const algebra::Arena& arena, const std::vector<int>& group,
                const std::map<int, Positions>& tables, Precision precision, const Dialect& dialect,
                bool whole) {
  const std::string type = type_name(precision),
                    values = table_function(group.front(), precision) + "_values";
  const char* suffix = precision == Precision::F32 ? "f32" : "f64";
  const double most = precision == Precision::F32 ? std::numeric_limits<float>::max()
                                                  : std::numeric_limits<double>::max();
  const std::size_t size = arena.table_data(group.front()).size();
  const std::size_t width = group.size() == 3 ? 4 : group.size();
  std::string table =
      fmt::format(fmt::runtime(dialect.words.table), type, values, width * size) + " = {\n";
  std::string line;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      const double given = k < group.size() ? arena.table_data(group[k])[i] : 0;
      // finite values stay finite in f32: NVIDIA's OpenCL accepts no infinite float among constants
      const double v = std::isfinite(given) ? std::clamp(given, -most, most) : given;
      const std::string entry = literal(static_cast<long double>(v), precision) + ",";
      if (line.size() + entry.size() > 96) {
        table += "   " + line + "\n";
        line.clear();
      }
      line += " " + entry;
    }
  }
  table += "   " + line + "\n};\n";
  Code text = Code::item(values, std::move(table), true);
  // NaN becomes 0 when it is converted to an integer there; a place is an integer anyway
  bool inside = dialect.can.safe_index || whole;
  Ranges ranges;
  for (const algebra::Node* position : tables.at(group.front())) {
    const Range r = ranges.of(Expr(position));
    inside = inside && r.low >= 0 && r.high <= static_cast<double>(size - 1) &&
             (!whole || is_index(Expr(position)));
  }
  const std::string last = literal(static_cast<long double>(size - 1), precision);
  for (std::size_t k = 0; k < group.size(); ++k) {
    const std::string name = table_function(group[k], precision);
    Code function;
    if (whole) {
      function = code("VPHI_INLINE {} {}(int at) {{\n", type, name);
      if (!inside) function += code("  at = min(max(at, 0), {});\n", size - 1);
      function += code("  return {};\n}}\n", entry_of(values, type, width, k, dialect));
      text += Code::item(name, std::move(function));
      continue;
    }
    function = code("VPHI_INLINE {0} {1}({0} at) {{\n", type, name);
    std::string place = "at";
    if (!inside) {
      function += code("  const {0} place = vphi_min_{1}(vphi_max_{1}({2}, at), {3});\n", type,
                       suffix, literal(0.0L, precision), last);
      place = "place";
    }
    function += width == 1 ? code("  return {}[(int){}];\n}}\n", values, place)
                           : code("  return {}[{}*(int){} + {}];\n}}\n", values, width, place, k);
    text += Code::item(name, std::move(function));
  }
  return text;
}

}  // namespace

std::string table_function(int table, Precision precision) {
  return fmt::format("vphi_table_{}_{}", table + 1, precision == Precision::F32 ? "f32" : "f64");
}

Code table_functions(const kernel::Kernel& kernel, const Dialect& dialect, const Handed& handed) {
  std::map<int, Positions> at_sites, in_epilogue;
  const algebra::Arena* arena = nullptr;
  const auto see = [&](std::vector<Expr> exprs, std::map<int, Positions>& tables) {
    std::erase(exprs, Expr());
    if (!exprs.empty()) arena = exprs.front()->arena;
    collect(exprs, tables);
  };
  std::vector<Expr> values = kernel.values(), scalars;
  for (const auto& [name, value] : handed) values.push_back(value);
  for (const kernel::ScalarAssign& assign : kernel.epilogue) scalars.push_back(assign.value);
  see(std::move(values), at_sites);
  see(std::move(scalars), in_epilogue);
  if (kernel.compute == Precision::F64) {
    for (const auto& [table, positions] : in_epilogue)
      at_sites[table].insert(positions.begin(), positions.end());
    in_epilogue.clear();
  }
  Code text;
  const auto add = [&](const std::map<int, Positions>& tables, Precision precision, bool whole) {
    if (tables.empty()) return;
    for (const auto& group : side_by_side(*arena, tables))
      text += "\n" + group_text(*arena, group, tables, precision, dialect, whole);
  };
  const bool whole = kernel.fast && !handed.empty();
  if (whole && !at_sites.empty()) text += table_index_functions(kernel.compute, dialect);
  add(at_sites, kernel.compute, whole);
  add(in_epilogue, Precision::F64, false);
  return text;
}

}  // namespace vphi::emit
