#include "compiler/schedule/pipeline.hpp"

#include <algorithm>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/schedule_errors.hpp"

namespace vphi::schedule {

const std::vector<Pass>& passes() {
  static const std::vector<Pass> kPasses = {
      {"collect", kernel::collect},
      {"hoist", kernel::hoist},
      {"factor", kernel::factor},
      {"order", kernel::order},
  };
  return kPasses;
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names{"schedule"};
  for (const Pass& pass : passes()) names.emplace_back(pass.name);
  return names;
}

namespace {

/// Names the values whose operations have no fixed order. There must be none after the pass
/// `order`; before it, only parts that a text has ordered are fixed.
std::vector<std::string> without_order(const kernel::Kernel& kernel) {
  std::vector<std::string> found;
  std::set<const algebra::Node*> open;
  algebra::visit(kernel.values(), [&](kernel::Expr root, kernel::Expr node) {
    const algebra::Op op = node.op();
    const bool arithmetic =
        op == algebra::Op::Add || op == algebra::Op::Mul || op == algebra::Op::Pow;
    if (arithmetic && !node->fixed_order) open.insert(root.get());
  });
  const auto check = [&](kernel::Expr root, const std::string& where) {
    if (open.contains(root.get()))
      found.push_back(kernel.name + ": " + where + ": operations without an order");
  };
  for (const kernel::Store& store : kernel.stores) {
    check(store.value, "store to array " + std::to_string(store.array));
  }
  for (const kernel::Reduction& reduction : kernel.reductions) {
    check(reduction.value, "reduction " + reduction.slot);
  }
  return found;
}

/// The kernel of a loop with its shared values as stores of their own beside the others, for the
/// checks: each is looked at once, and nothing is put in another's place.
kernel::Kernel with_shared_values(const kernel::SiteLoop& loop) {
  kernel::Kernel kernel = loop.kernel;
  int unused = 0;  // a number that no array has
  for (const kernel::ArrayParam& array : kernel.arrays) unused = std::max(unused, array.array + 1);
  for (const kernel::Store& value : loop.shared) unused = std::max(unused, value.array + 1);
  for (const kernel::Store& value : loop.shared) {
    const auto known = std::ranges::find(kernel.arrays, value.array, &kernel::ArrayParam::array);
    kernel::ArrayParam& array =
        known == kernel.arrays.end() ? kernel.arrays.emplace_back() : *known;
    array.array = value.array;
    array.read = true;
    kernel.stores.push_back({unused, value.value});
    kernel::ArrayParam& own = kernel.arrays.emplace_back();
    own.array = unused++;
    own.written = true;
  }
  return kernel;
}

}  // namespace

LoopSequence sequence_of(SiteLoops loops, std::vector<kernel::ScalarAssign> finish) {
  return {std::move(loops.sweeps), std::move(loops.swaps), std::move(finish)};
}

bool run_passes(const std::vector<LoopSequence*>& chains,
                const std::vector<std::vector<kernel::ScalarAssign>*>& alone, Slots& slots,
                const std::string& stop_after, dsl::Diagnostics& diagnostics) {
  const kernel::FreshName fresh = [&](const std::string& hint) { return slots.fresh(hint); };
  const auto sound = [&](const std::string& after) {
    const std::vector<std::string>& names = slots.names();
    for (const LoopSequence* chain : chains) {
      for (const kernel::SiteLoop& loop : chain->sweeps) {
        auto findings = kernel::verify(with_shared_values(loop), names);
        if (after == passes().back().name) {
          const auto open = without_order(loop.kernel);
          findings.insert(findings.end(), open.begin(), open.end());
        }
        if (findings.empty()) continue;
        diagnostics.add(errors::broken_kernel(after, findings));
        return false;
      }
    }
    return true;
  };
  if (!sound("schedule")) return false;
  const auto inline_all = [&] {
    for (LoopSequence* chain : chains) {
      for (kernel::SiteLoop& loop : chain->sweeps) loop = kernel::inlined(std::move(loop));
    }
    return true;
  };
  if (stop_after == "schedule") return inline_all();
  const auto fix_order = [](std::vector<kernel::ScalarAssign>& assigns) {
    for (kernel::ScalarAssign& assign : assigns)
      assign.value = kernel::with_fixed_order(assign.value);
  };
  for (const Pass& pass : passes()) {
    for (LoopSequence* chain : chains) {
      for (kernel::SiteLoop& loop : chain->sweeps) loop = pass.run(std::move(loop), fresh);
      if (pass.run == kernel::order) fix_order(chain->finish);
    }
    if (pass.run == kernel::order) {
      for (std::vector<kernel::ScalarAssign>* assigns : alone) fix_order(*assigns);
    }
    if (!sound(pass.name)) return false;
    if (stop_after == pass.name) return inline_all();
  }
  return true;
}

}  // namespace vphi::schedule
