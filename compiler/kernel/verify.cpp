// Checks the structure of a kernel; run after every pass.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {
namespace {

using algebra::Op;

class Verifier {
 public:
  Verifier(const Kernel& kernel, const std::vector<std::string>& slots)
      : kernel_(kernel), known_(slots.begin(), slots.end()) {}

  std::vector<std::string> run() {
    arrays();
    for (const Store& store : kernel_.stores) {
      const std::string where = fmt::format("store to array {}", store.array);
      const ArrayParam* array = kernel_.find(store.array);
      if (!array || !array->written) say("{}: the array is not declared as written", where);
      root(store.value, where, true);
    }
    for (const Reduction& reduction : kernel_.reductions) {
      const std::string where = "reduction " + reduction.slot;
      slot(reduction.slot, where);
      root(reduction.value, where, true);
    }
    for (const ScalarAssign& assign : kernel_.epilogue) {
      const std::string where = "scalar " + assign.slot;
      slot(assign.slot, where);
      root(assign.value, where, false);
    }
    expressions();
    neighbours();
    return std::move(errors_);
  }

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    errors_.push_back(kernel_.name + ": " + fmt::format(format, std::forward<Args>(args)...));
  }

  void arrays() {
    std::unordered_set<int> numbers;
    for (const ArrayParam& array : kernel_.arrays) {
      if (!numbers.insert(array.array).second) say("array {} is listed twice", array.array);
      if (array.next && !array.written) say("array {} is never stored but has `next`", array.array);
    }
    std::unordered_set<int> stored;
    for (const Store& store : kernel_.stores) {
      if (!stored.insert(store.array).second) say("array {} is stored twice", store.array);
    }
  }

  void slot(const std::string& name, const std::string& where) {
    if (!known_.contains(name)) say("{}: unknown slot `{}`", where, name);
  }

  void root(Expr value, const std::string& where, bool at_site) {
    if (!value) return say("{}: no value", where);
    if (!at_site && value->per_site) say("{}: a value per site in the epilogue", where);
    roots_.push_back(value);
    where_.emplace(value.get(), where);
  }

  void expressions() {
    algebra::visit(roots_, [&](Expr root, Expr node) {
      const std::string& where = where_.at(root.get());
      const Op op = node.op();
      if (op == Op::Symbol) slot(node->name, where);
      if (op == Op::Site && (node->index < 0 || node->index >= kernel_.dims)) {
        say("{}: axis {} does not exist", where, node->index);
      }
      if (op == Op::Noise) say("{}: white noise inside a kernel", where);
      if (op == Op::Load) {
        const ArrayParam* array = kernel_.find(node->index);
        if (!array || !array->read) say("{}: array {} is not declared as read", where, node->index);
      }
      if (op == Op::Stencil && !(node.arg(0).is(Op::Load) && node.arg(0)->offset.zero())) {
        say("{}: a stencil is applied to something else than an array", where);
      }
      if (op >= Op::Mean && op <= Op::Maximum) say("{}: a mean inside a kernel", where);
    });
  }

  /// The distinct reads of the stored and reduced values.
  std::vector<Expr> site_reads(bool with_reductions) const {
    std::vector<Expr> values = kernel_.values();
    if (!with_reductions) values.resize(kernel_.stores.size());
    std::erase(values, Expr());
    return algebra::reads(values);
  }

  /// Reads away from the site itself of an array that this kernel overwrites need a second buffer.
  void neighbours() {
    if (kernel_.colours) return colours();
    for (Expr read : site_reads(true)) {
      const Expr load = read.is(Op::Stencil) ? read.arg(0) : read;
      if (!load.is(Op::Load)) continue;
      const bool away = read.is(Op::Stencil) || !load->offset.zero();
      const ArrayParam* array = kernel_.find(load->index);
      if (away && array && array->written && !array->next) {
        say("array {} is read at neighbours and overwritten", load->index);
      }
    }
  }

  /// The sites of a colour can be counted, and none of them reads what another one stores.
  void colours() {
    const Colours& c = *kernel_.colours;
    slot(c.slot, "the number of the colour");
    const auto of = [](const auto& list, int axis) { return list[static_cast<std::size_t>(axis)]; };
    if (c.modulus < 1 || c.axis < 0 || c.axis >= kernel_.dims || c.inverse() < 0 ||
        of(kernel_.extent, c.axis) % c.modulus != 0) {
      return say("the sites of a colour cannot be counted along axis {}", c.axis);
    }
    for (int axis = 0; axis < kernel_.dims; ++axis) {
      if (of(c.weights, axis) * of(kernel_.extent, axis) % c.modulus != 0)
        say("the colours do not close around axis {}", axis);
    }
    for (const ArrayParam& array : kernel_.arrays) {
      if (array.next) say("array {} has a second buffer in a sweep over a colour", array.array);
    }
    for (Expr read : site_reads(false)) {
      const Expr load = read.is(Op::Stencil) ? read.arg(0) : read;
      const ArrayParam* array = load.is(Op::Load) ? kernel_.find(load->index) : nullptr;
      if (!array || !array->written) continue;
      if (read.is(Op::Stencil)) {
        say("array {} is read by a stencil and overwritten", load->index);
        continue;
      }
      int shift = 0;
      bool here = true;
      for (int axis = 0; axis < kernel_.dims; ++axis) {
        const int d = load->offset.d[axis];
        shift += of(c.weights, axis) * d;
        here = here && d % of(kernel_.extent, axis) == 0;
      }
      if (!here && shift % c.modulus == 0)
        say("array {} is read at a site of the same colour and overwritten", load->index);
    }
  }

  const Kernel& kernel_;
  std::unordered_set<std::string> known_;
  std::vector<Expr> roots_;
  std::unordered_map<const algebra::Node*, std::string> where_;
  std::vector<std::string> errors_;
};

}  // namespace

std::vector<std::string> verify(const Kernel& kernel, const std::vector<std::string>& slots) {
  return Verifier(kernel, slots).run();
}

}  // namespace vphi::kernel
