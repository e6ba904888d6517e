#include "compiler/schedule/ends_of_sums.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/kernel.hpp"

namespace vphi::schedule {
namespace {

using algebra::Expr;
using kernel::Kernel;
using program::Launch;
using Names = std::set<std::string>;

void add_symbols(const std::vector<Expr>& values, Names& names) {
  algebra::visit(values, [&](Expr, Expr node) {
    if (node.is(algebra::Op::Symbol)) names.insert(node->name);
  });
}

/// The scalars that a launch reads and writes.
struct Scalars {
  Names read, written;
};

/// What is done at the sites of a kernel.
void add_sites(const Kernel& kernel, Scalars& scalars) {
  add_symbols(kernel.values(), scalars.read);
  add_symbols(kernel.paired_angles, scalars.read);
  for (const std::string& name :
       {kernel.still, kernel.steps_slot, kernel.random.step, kernel.random.instance,
        kernel.colours ? kernel.colours->slot : std::string(),
        kernel.planes ? kernel.planes->origin : std::string()})
    scalars.read.insert(name);
}

/// What is done with its sums and after them.
void add_end(const Kernel& kernel, Scalars& scalars) {
  for (const kernel::Reduction& sum : kernel.reductions) scalars.written.insert(sum.slot);
  for (const kernel::ScalarAssign& assign : kernel.epilogue) {
    add_symbols({assign.value}, scalars.read);
    scalars.written.insert(assign.slot);
  }
}

bool meet(const Names& a, const Names& b) {
  return std::ranges::any_of(a, [&](const std::string& name) { return b.contains(name); });
}

/// Whether it matters which of them is first.
bool depend(const Scalars& a, const Scalars& b) {
  return meet(a.written, b.read) || meet(a.read, b.written) || meet(a.written, b.written);
}

class Placing {
 public:
  Placing(const Plan& plan, const std::map<int, int>& end_of, const std::set<int>& parts)
      : plan_(plan), end_of_(end_of), parts_(parts) {}

  std::vector<Launch> operator()(std::vector<Launch> list) {
    for (Launch& launch : list) {
      if (wanted_before(launch)) place();
      add(std::move(launch));
    }
    place();
    return std::move(made_);
  }

 private:
  bool has_end(int kernel) const { return end_of_.contains(kernel); }
  const Kernel& kernel(int number) const { return plan_.kernels[static_cast<std::size_t>(number)]; }

  bool wanted_before(const Launch& launch) const {
    if (waiting_.empty()) return false;
    if (parts_.contains(launch.kernel)) return true;
    Scalars of_launch;
    add_sites(kernel(launch.kernel), of_launch);
    if (!has_end(launch.kernel)) add_end(kernel(launch.kernel), of_launch);
    return std::ranges::any_of(waiting_, [&](int number) {
      Scalars end;
      add_end(kernel(number), end);
      return number == launch.kernel || depend(end, of_launch);
    });
  }

  void add(Launch launch) {
    const int solve = std::exchange(launch.solve, -1);
    std::vector<int> maps = std::exchange(launch.maps, {});
    if (has_end(launch.kernel)) waiting_.push_back(launch.kernel);
    const bool now = !launch.halos.empty() || solve >= 0 || !maps.empty();
    made_.push_back(std::move(launch));
    if (!now) return;
    const std::size_t at = made_.size() - 1;
    place();
    // maps write what others then see of these arrays
    if (!maps.empty() && made_.size() - 1 > at)
      made_.back().halos = std::exchange(made_[at].halos, {});
    made_.back().solve = solve;
    made_.back().maps = std::move(maps);
  }

  void place() {
    for (const int number : std::exchange(waiting_, {}))
      made_.push_back({.kernel = end_of_.at(number), .swap = {}, .halos = {}});
  }

  const Plan& plan_;
  const std::map<int, int>& end_of_;
  const std::set<int>& parts_;
  std::vector<int> waiting_;  ///< kernels whose ends are to come, in order
  std::vector<Launch> made_;
};

}  // namespace

std::vector<Launch> with_ends_of_sums(const Plan& plan, std::vector<Launch> list,
                                      const std::map<int, int>& end_of,
                                      const std::set<int>& parts) {
  return Placing(plan, end_of, parts)(std::move(list));
}

}  // namespace vphi::schedule
