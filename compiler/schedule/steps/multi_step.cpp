#include "compiler/schedule/steps/multi_step.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/draw.hpp"
#include "compiler/kernel/rebuild.hpp"
#include "compiler/schedule/schedule.hpp"

namespace vphi::schedule {
namespace {

using algebra::Expr;
using algebra::Op;
using kernel::Kernel;
using kernel::ScalarAssign;

/// Symbols of an expression.
std::set<std::string> symbols(Expr expr) {
  std::set<std::string> names;
  algebra::visit(expr, [&](Expr node) {
    if (node.is(Op::Symbol)) names.insert(node->name);
  });
  return names;
}

/// Many instances of one site that read nothing beyond an end that is not periodic.
bool alone(const Kernel& k) {
  if (k.instances == 1 || k.sites() != 1 || kernel::sums_pairs(k)) return false;
  return std::ranges::all_of(k.boundary,
                             [](kernel::Boundary b) { return b == kernel::Boundary::Periodic; });
}

bool assigns(const Kernel& kernel, const std::string& slot) {
  return std::ranges::any_of(kernel.epilogue, [&](const auto& a) { return a.slot == slot; }) ||
         std::ranges::any_of(kernel.reductions, [&](const auto& r) { return r.slot == slot; });
}

Expr with_symbols(Expr expr, const std::map<std::string, Expr>& what) {
  if (what.empty()) return expr;
  kernel::Rebuilder rebuild([&](Expr node) -> Expr {
    if (!node.is(Op::Symbol)) return {};
    const auto found = what.find(node->name);
    return found == what.end() ? Expr{} : found->second;
  });
  return rebuild(expr);
}

class MultiStepBuilder {
 public:
  MultiStepBuilder(Plan& plan, bool single) : plan_(plan), p_(plan.program), single_(single) {}

  void prepare() {
    if (!fits() || !fuse()) return;
    stop_ = p_.stop_slot >= 0 ? p_.scalars[static_cast<std::size_t>(p_.stop_slot)].name : "";
    step_ = p_.step_slot >= 0 ? p_.scalars[static_cast<std::size_t>(p_.step_slot)].name : "";
    if (step_.empty()) return;
    find_readers();
    find_common();
    if (common_.contains(step_) && (stop_.empty() || common_.contains(stop_))) {
      inline_derived();
      stand_still();
      find_common();
      kernel().common.assign(common_.begin(), common_.end());
      kernel().still = stop_;
    }
    if (!single_) add_many();
  }

 private:
  Kernel& kernel() { return plan_.kernels[static_cast<std::size_t>(p_.step[0].kernel)]; }

  // ---- one kernel ---------------------------------------------------------------------------

  bool fits() const {
    if (p_.step.empty() || !p_.cycle.empty() || p_.sites() != 1) return false;
    for (const program::Launch& launch : p_.step) {
      const Kernel& k = plan_.kernels[static_cast<std::size_t>(launch.kernel)];
      if (!launch.swap.empty() || !alone(k) || k.steps != 1) return false;
      if (std::ranges::any_of(k.arrays, [&](const auto& a) {
            return a.next || (p_.step.size() > 1 && a.store != k.compute);
          }))
        return false;
    }
    return true;
  }

  /// Joins the launches after the first sweep, which only reduce, with it. False where one cannot
  /// be joined.
  bool fuse() {
    if (p_.step.size() == 1) return true;
    Kernel all = kernel();
    for (std::size_t i = 1; i < p_.step.size(); ++i) {
      const Kernel& next = plan_.kernels[static_cast<std::size_t>(p_.step[i].kernel)];
      if (p_.step[i].kernel == p_.step[0].kernel || !next.stores.empty()) return false;
      if (next.compute != all.compute || next.random.draws != 0) return false;
      if (!append(all, next)) return false;
    }
    kernel() = std::move(all);
    p_.step.resize(1);
    return true;
  }

  static bool append(Kernel& all, const Kernel& next) {
    // What the scalars are when the later sweep begins.
    std::map<std::string, Expr> now;
    for (const ScalarAssign& assign : all.epilogue)
      now[assign.slot] = with_symbols(assign.value, now);
    const auto stored = [&](Expr node) -> Expr {
      if (node.is(Op::Symbol)) {
        const auto found = now.find(node->name);
        return found == now.end() ? Expr{} : found->second;
      }
      if (!node.is(Op::Load)) return {};
      for (const kernel::Store& store : all.stores)
        if (store.array == node->index) return store.value;
      return {};
    };
    for (const kernel::Reduction& reduction : next.reductions) {
      for (const ScalarAssign& assign : all.epilogue)  // it needs the value of the step before
        if (symbols(assign.value).contains(reduction.slot)) return false;
      kernel::Rebuilder rebuild(stored);
      const Expr value = rebuild(reduction.value);
      for (const kernel::Reduction& own : all.reductions)  // its own sums are not known yet
        if (symbols(value).contains(own.slot)) return false;
      all.reductions.push_back({reduction.slot, reduction.kind, value});
    }
    for (const kernel::ArrayParam& array : next.arrays) {
      const bool known =
          std::ranges::any_of(all.arrays, [&](const auto& a) { return a.array == array.array; });
      if (!known) all.arrays.push_back(array);
    }
    // a value that is stored and read again needs no reading any more
    std::set<int> read;
    const auto see = [&](Expr e) {
      for (Expr node : algebra::reads(e))
        read.insert((node.is(Op::Stencil) ? node.arg(0) : node)->index);
    };
    for (const kernel::Store& store : all.stores) see(store.value);
    for (const kernel::Reduction& reduction : all.reductions) see(reduction.value);
    for (kernel::ArrayParam& array : all.arrays) array.read = read.contains(array.array);
    std::erase_if(all.arrays, [](const auto& a) { return !a.read && !a.written; });
    all.epilogue.insert(all.epilogue.end(), next.epilogue.begin(), next.epilogue.end());
    // of two assignments to a slot the first is dropped unless one in between reads it
    for (std::size_t i = all.epilogue.size(); i-- > 0;) {
      bool overwritten = false, wanted = false;
      for (std::size_t j = i + 1; j < all.epilogue.size() && !overwritten; ++j) {
        wanted = wanted || symbols(all.epilogue[j].value).contains(all.epilogue[i].slot);
        overwritten = all.epilogue[j].slot == all.epilogue[i].slot;
      }
      if (overwritten && !wanted)
        all.epilogue.erase(all.epilogue.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return true;
  }

  // ---- who reads what -------------------------------------------------------------------------

  template <class See>
  static void expressions(const Kernel& k, const See& see) {
    for (const kernel::Store& store : k.stores) see(store.value);
    for (const kernel::Reduction& reduction : k.reductions) see(reduction.value);
    for (const ScalarAssign& assign : k.epilogue) see(assign.value);
  }

  /// Slots that anything but the step reads.
  void find_readers() {
    std::set<int> launched;
    const auto list = [&](const std::vector<program::Launch>& launches) {
      for (const program::Launch& launch : launches) launched.insert(launch.kernel);
    };
    list(p_.prologue), list(p_.watch), list(p_.watch_before), list(p_.watch_then);
    for (const program::Solve& solve : p_.solves) list(solve.iterate), list(solve.finish);
    for (const program::Output& o : p_.outputs)
      list(o.before), list(o.launches), list(o.averages), list(o.then);
    launched.erase(p_.step[0].kernel);
    const std::set<int> start = [&] {
      std::set<int> of;
      for (const program::Launch& launch : p_.prologue) of.insert(launch.kernel);
      return of;
    }();
    for (const int index : launched) {
      const Kernel& k = plan_.kernels[static_cast<std::size_t>(index)];
      if (start.contains(index)) continue;  // the start makes values, it does not use them
      expressions(k, [&](Expr e) { outside_.merge(symbols(e)); });
      for (const ScalarAssign& assign : k.epilogue) outside_.insert(assign.slot);
      if (!k.random.step.empty()) outside_.insert(k.random.step);
    }
    const auto slot = [&](int index) {
      if (index >= 0) outside_.insert(p_.scalars[static_cast<std::size_t>(index)].name);
    };
    slot(p_.step_slot), slot(p_.time_slot), slot(p_.stop_slot), slot(p_.ensemble_slot);
    const auto statistics = [&](const std::vector<program::Statistic>& of) {
      for (const program::Statistic& s : of)
        for (const int index : {s.slot, s.count_slot, s.result_slot, s.error_slot}) slot(index);
    };
    const auto scalars = [&](const std::vector<program::ScalarOutput>& of) {
      for (const program::ScalarOutput& s : of) slot(s.slot), slot(s.error_slot);
    };
    statistics(p_.watch_statistics), scalars(p_.progress);
    for (const program::Output& o : p_.outputs) {
      slot(o.after_slot), statistics(o.statistics), scalars(o.scalars);
      for (const program::FieldOutput& f : o.fields) {
        slot(f.slot), slot(f.factor_slot), slot(f.mass2_slot);
        for (const program::FieldPart& part : f.more) slot(part.slot);
      }
    }
    for (const program::Expectation& e : p_.expectations)
      slot(e.value_slot), slot(e.ok_slot), slot(e.scale_slot);
    for (const program::Axis& axis : p_.axes) slot(axis.slot);
    slot(p_.expansion.scale_slot), slot(p_.expansion.residual_slot);
  }

  // ---- what agrees in all instances -----------------------------------------------------------

  /// The largest set of slots that start equal and are only ever set from each other.
  void find_common() {
    common_.clear();
    std::set<int> differ;
    for (const program::Axis& axis : p_.axes) differ.insert(axis.slot);
    differ.insert(p_.ensemble_slot);
    const auto statistics = [&](const std::vector<program::Statistic>& of) {
      for (const program::Statistic& s : of) differ.insert({s.result_slot, s.error_slot});
    };
    statistics(p_.watch_statistics);
    for (const program::Output& o : p_.outputs) statistics(o.statistics);
    for (std::size_t i = 0; i < p_.scalars.size(); ++i)
      if (!differ.contains(static_cast<int>(i))) common_.insert(p_.scalars[i].name);
    for (const Kernel& k : plan_.kernels)
      for (const kernel::Reduction& reduction : k.reductions) common_.erase(reduction.slot);
    const auto agrees = [&](Expr e) {
      return !algebra::contains(e, [&](Expr node) {
        if (node.is(Op::Symbol)) return !common_.contains(node->name);
        return node.args().empty() && !node.is_number();
      });
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (const Kernel& k : plan_.kernels)
        for (const ScalarAssign& assign : k.epilogue)
          if (common_.contains(assign.slot) && !agrees(assign.value))
            changed = common_.erase(assign.slot) > 0 || changed;
    }
  }

  // ---- values that were made for the next step ------------------------------------------------

  /// Whether every way into a step leaves the slot with this value of the other slots.
  bool derived(std::size_t place) {
    const Kernel& k = kernel();
    const ScalarAssign& assign = k.epilogue[place];
    if (outside_.contains(assign.slot)) return false;
    const std::set<std::string> inputs = symbols(assign.value);
    if (inputs.contains(assign.slot)) return false;
    for (std::size_t i = 0; i < k.epilogue.size(); ++i) {
      if (i != place && k.epilogue[i].slot == assign.slot) return false;
      if (i > place && inputs.contains(k.epilogue[i].slot)) return false;
      if (i < place && symbols(k.epilogue[i].value).contains(assign.slot)) return false;
    }
    if (std::ranges::any_of(k.reductions, [&](const auto& r) { return inputs.contains(r.slot); }))
      return false;
    // the start: the last kernel that sets an input sets the value after it
    int last = -1;
    for (const program::Launch& launch : p_.prologue) {
      const Kernel& start = plan_.kernels[static_cast<std::size_t>(launch.kernel)];
      const bool sets =
          assigns(start, assign.slot) ||
          std::ranges::any_of(inputs, [&](const auto& s) { return assigns(start, s); });
      if (sets) last = launch.kernel;
    }
    if (last == p_.step[0].kernel) return false;
    if (last < 0) return false;
    const Kernel& start = plan_.kernels[static_cast<std::size_t>(last)];
    bool good = false;
    for (const ScalarAssign& a : start.epilogue) {
      if (inputs.contains(a.slot)) good = false;
      if (a.slot == assign.slot) good = a.value == assign.value;
    }
    if (!good) return false;
    // and no other kernel sets an input
    std::set<int> others;
    for (std::size_t i = 0; i < plan_.kernels.size(); ++i) others.insert(static_cast<int>(i));
    others.erase(p_.step[0].kernel);
    for (const program::Launch& launch : p_.prologue) others.erase(launch.kernel);
    for (const int other : others) {
      if (!used(other)) continue;
      const Kernel& o = plan_.kernels[static_cast<std::size_t>(other)];
      if (std::ranges::any_of(inputs, [&](const auto& s) { return assigns(o, s); })) return false;
    }
    return true;
  }

  /// Whether the kernel is launched anywhere.
  bool used(int index) const {
    const auto in = [&](const std::vector<program::Launch>& list) {
      return std::ranges::any_of(list, [&](const auto& l) { return l.kernel == index; });
    };
    for (const program::Solve& solve : p_.solves)
      if (in(solve.iterate) || in(solve.finish)) return true;
    if (in(p_.prologue) || in(p_.step) || in(p_.watch) || in(p_.watch_before) || in(p_.watch_then))
      return true;
    return std::ranges::any_of(p_.outputs, [&](const program::Output& o) {
      return in(o.before) || in(o.launches) || in(o.averages) || in(o.then);
    });
  }

  void inline_derived() {
    Kernel& k = kernel();
    std::map<std::string, Expr> values;
    std::set<std::string> gone;
    for (std::size_t i = 0; i < k.epilogue.size(); ++i) {
      if (!derived(i)) continue;
      values[k.epilogue[i].slot] = with_symbols(k.epilogue[i].value, values);
      gone.insert(k.epilogue[i].slot);
    }
    for (kernel::Store& store : k.stores) store.value = with_symbols(store.value, values);
    for (kernel::Reduction& reduction : k.reductions)
      reduction.value = with_symbols(reduction.value, values);
    std::erase_if(k.epilogue, [&](const auto& a) { return gone.contains(a.slot); });
    // an assignment that read such a slot after it was set finds its inputs unchanged
    for (ScalarAssign& assign : k.epilogue) assign.value = with_symbols(assign.value, values);
  }

  /// Makes the kernel run only where `stop` is 0.
  void stand_still() {
    if (stop_.empty()) return;
    Kernel& k = kernel();
    std::map<std::string, Expr> zero;
    const auto moving = [&](Expr& value) {
      if (zero.empty()) zero.emplace(stop_, value->arena->integer(0));
      value = with_symbols(value, zero);
    };
    for (kernel::Store& store : k.stores) moving(store.value);
    for (kernel::Reduction& reduction : k.reductions) moving(reduction.value);
    for (ScalarAssign& assign : k.epilogue) {
      moving(assign.value);
      if (assign.slot == stop_) break;
    }
  }

  // ---- many steps -------------------------------------------------------------------------------

  void add_many() {
    Kernel multi_step = kernel();
    multi_step.name += "_multi_step";
    multi_step.steps = kernel::steps_sharing_draws(multi_step.random);
    multi_step.steps_slot = kMultiStep;
    add_multi_step(plan_, std::move(multi_step));
  }

  Plan& plan_;
  program::Program& p_;
  bool single_;
  std::string stop_, step_;
  std::set<std::string> outside_, common_;
};

}  // namespace

void prepare_multi_step(Plan& plan, bool single) { MultiStepBuilder(plan, single).prepare(); }

void add_multi_step(Plan& plan, Kernel multi_step) {
  program::Program& p = plan.program;
  // with a table of common values single steps are part of the kernel
  p.multi_step_unit = multi_step.common.empty() ? multi_step.steps : 1;
  p.multi_step_slot = static_cast<int>(p.scalars.size());
  p.scalars.push_back({multi_step.steps_slot, static_cast<double>(multi_step.steps)});
  program::Launch launch;
  launch.kernel = static_cast<int>(plan.kernels.size());
  p.multi_step = {launch};
  program::Kernel described = p.kernels[static_cast<std::size_t>(p.step[0].kernel)];
  described.name = multi_step.name;
  p.kernels.push_back(described);
  plan.kernels.push_back(std::move(multi_step));
}

}  // namespace vphi::schedule
