#include "compiler/emit/patterns/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "compiler/emit/text/fill.hpp"
#include "compiler/emit/text/printer.hpp"

namespace vphi::emit {
namespace {

using algebra::Node;
using algebra::Op;
using kernel::ScalarAssign;

std::size_t place(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

class ClockText {
 public:
  ClockText(const kernel::Shared& shared, const Dialect& dialect)
      : shared_(shared),
        printer_(dialect, Precision::F64,
                 {[this](const Node& node) { return leaf(node); },
                  [](algebra::Expr) { return std::string("k"); }},
                 scope_) {
    for (const char* name : {"clock", "row", "wide", "moves"}) scope_.fresh(name);
  }

  /// Statements for the assignments that `wanted` picks; `put` writes what has been computed.
  template <class Put>
  Code body(const std::vector<bool>& wanted, const Put& put) {
    Code lines;
    for (std::size_t i = 0; i < shared_.clock.size(); ++i) {
      if (!wanted[i]) continue;
      const ScalarAssign& assign = shared_.clock[i];
      const algebra::Expr roots[1] = {assign.value};
      printer_.announce(roots);
      const std::string name = scope_.fresh(identifier(assign.slot) + "_new");
      const std::string line = printer_.assignment("const double " + name, assign.value);
      lines += Code(line, printer_.used());  // the names used are known after the line
      if (slot(assign.slot)) {
        current_[assign.slot] = name;
        printer_.forget(assign.value->arena->symbol(assign.slot));
      }
      lines += put(assign, name);
    }
    return head_ + lines;
  }

  /// Name of a slot's value as it is now.
  std::string value(const std::string& name) {
    std::string& known = current_[name];
    if (known.empty()) {
      known = scope_.fresh(identifier(name) + "_s");
      reads_.push_back(static_cast<int>(place(shared_.slots, name)));
      head_ += code("const double {} = clock[{}];\n", known, reads_.back());
    }
    return known;
  }

  /// Places of the clock that have been read, each once.
  const std::vector<int>& reads() const { return reads_; }

  bool slot(const std::string& name) const { return std::ranges::count(shared_.slots, name) > 0; }

 private:
  Leaf leaf(const Node& node) {
    return node.op == Op::Symbol ? Leaf{"", value(node.name)} : Leaf();
  }

  const kernel::Shared& shared_;
  Scope scope_;
  std::map<std::string, std::string> current_;
  Code head_;  // of the body: what is read
  std::vector<int> reads_;
  Printer printer_;
};

/// Assignments that those for which `root` holds need.
template <class Root>
std::vector<bool> needed(const kernel::Shared& shared, const Root& root) {
  std::vector<bool> wanted(shared.clock.size());
  std::set<std::string> names;
  for (std::size_t i = shared.clock.size(); i-- > 0;) {
    const ScalarAssign& assign = shared.clock[i];
    wanted[i] = root(assign) || names.contains(assign.slot);
    if (!wanted[i]) continue;
    names.erase(assign.slot);
    algebra::visit(assign.value, [&](algebra::Expr node) {
      if (node.is(Op::Symbol)) names.insert(node->name);
    });
  }
  return wanted;
}

}  // namespace

Clock clock_functions(const kernel::Shared& shared, const std::string& still,
                      const std::string& suffix, Precision real, const Dialect& dialect) {
  const auto is_slot = [&](const ScalarAssign& a) {
    return std::ranges::count(shared.slots, a.slot) > 0;
  };
  ClockText tick(shared, dialect);
  Code after;
  const std::string old = still.empty() ? "" : tick.value(still);
  std::map<std::string, std::string> moved;  // slot -> its value after the step
  std::map<std::string, std::string> before;
  for (const ScalarAssign& a : shared.clock)
    if (is_slot(a) && !still.empty()) before[a.slot] = tick.value(a.slot);
  Code text = tick.body(needed(shared, is_slot), [&](const ScalarAssign& a, const auto& name) {
    if (is_slot(a)) moved[a.slot] = name;
    return Code();
  });
  if (!still.empty()) text += code("const int moves = {} == 0.0;\n", old);
  for (const auto& [slot, name] : moved)
    text += still.empty() ? code("clock[{}] = {};\n", place(shared.slots, slot), name)
                          : code("clock[{}] = vphi_select_f64(moves, {}, {});\n",
                                 place(shared.slots, slot), name, before[slot]);
  if (text.empty()) text = "(void)clock;\n";
  Code all = Code::item("vphi_tick_" + suffix,
                        code("// One step of what all instances have in common.\n"
                             "VPHI_INLINE void vphi_tick_{}(double* clock) {{\n{}}}\n",
                             suffix, indent(text, 2)));

  ClockText pass(shared, dialect);
  std::map<std::string, std::string> passed;
  text = pass.body(needed(shared, is_slot), [&](const ScalarAssign& a, const auto& name) {
    if (is_slot(a)) passed[a.slot] = name;
    return Code();
  });
  for (const auto& [slot, name] : passed)
    text += code("clock[{}] = {};\n", place(shared.slots, slot), name);
  if (text.empty()) text = "(void)clock;\n";
  all += Code::item("vphi_pass_" + suffix,
                    code("// The same, moving or not.\n"
                         "VPHI_INLINE void vphi_pass_{}(double* clock) {{\n{}}}\n",
                         suffix, indent(text, 2)));

  ClockText row(shared, dialect);
  text = row.body(needed(shared, [&](const ScalarAssign& a) { return !is_slot(a); }),
                  [&](const ScalarAssign& a, const std::string& name) {
                    if (is_slot(a)) return Code();
                    const bool site = std::ranges::count(shared.site, a.slot) > 0;
                    const std::size_t at = place(site ? shared.site : shared.epilogue, a.slot);
                    return site ? code("row[{}] = ({}){};\n", at, type_name(real), name)
                                : code("wide[{}] = {};\n", at, name);
                  });
  if (shared.site.empty()) text += "(void)row;\n";
  if (shared.epilogue.empty()) text += "(void)wide;\n";
  if (row.reads().empty()) text += "(void)clock;\n";
  all += Code::item("vphi_row_" + suffix,
                    code("// What a step takes from it.\n"
                         "VPHI_INLINE void vphi_row_{}(const double* clock, {}* row, double* wide) "
                         "{{\n{}}}\n",
                         suffix, type_name(real), indent(text, 2)));
  all += Code(std::string("\n"));
  return {std::move(all), row.reads()};
}

}  // namespace vphi::emit
