#include "compiler/schedule/steps/link_flow.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/steps/lattice_kernel.hpp"
#include "compiler/text/arithmetic.hpp"

namespace vphi::schedule {

using algebra::Arena;
using algebra::Op;
using dsl::ExprKind;
using physics::LinkFlow;
using physics::Update;
using text::ArithmeticError;
using text::Meaning;
using text::scalar_value;
using text::Value;

namespace {

constexpr int kGroup = 0;  ///< of the one variable of the head

/// `x' = f(x)` or `x' = f(x, t)`.
bool fits(const Head& head) {
  if (head.variables.size() != 1 || head.parts[0].size() != 1) return false;
  const Part& part = head.parts[0][0];
  return part.kind == Part::Kind::Hole && !part.negative &&
         std::ranges::count(part.arguments, head.variables[0]) == 1;
}

/// Array numbers in place of others, wherever an expression reads them.
Expr renumbered(Expr e, const std::map<int, int>& arrays) {
  return algebra::rewrite(e, [&](Expr node) {
    if (!node.is(Op::Load)) return node;
    const auto found = arrays.find(node->index);
    if (found == arrays.end()) return node;
    return node->arena->load(found->second, node->offset, node->span);
  });
}

class LinkFlowStepBuilder {
 public:
  LinkFlowStepBuilder(const physics::System& system, const LinkFlow& flow, Slots& slots,
                      Storage& storage, dsl::Diagnostics& diagnostics)
      : system_(system),
        flow_(flow),
        slots_(slots),
        storage_(storage),
        diagnostics_(diagnostics),
        arena_(*system.arena),
        integrator_(flow.integrator) {
    for (const Update& move : flow_.moves)
      for (const auto& [array, value] : move.values) links_.push_back(array);
    for (const Update& rate : flow_.rates) {
      std::vector<int>& axis = axes_.emplace_back();
      for (const auto& [number, value] : rate.values) axis.push_back(number);
    }
    points_.push_back(links_);
    meaning_.name = [this](const dsl::Expr& at) { return name(at); };
    meaning_.call = [this](const dsl::Expr& at, Value& value) { return call(at, value); };
  }

  std::optional<Stepping> make() {
    const auto head = read_head(integrator_, diagnostics_);
    if (!head) return std::nullopt;
    head_ = &*head;
    if (!fits(*head)) {
      diagnostics_.add(errors::unmatched(flow_.moves.front().span, integrator_.name, "U",
                                         {algebra::to_text(flow_.equation.right)}, fitting()));
      return std::nullopt;
    }
    try {
      run();
    } catch (const ArithmeticError& e) {
      diagnostics_.add(errors::cannot_evaluate(e.span, integrator_.name, e.message));
      return std::nullopt;
    } catch (const dsl::Diagnostic& diagnostic) {
      diagnostics_.add(diagnostic);
      return std::nullopt;
    }
    say();
    move_clocks(system_, slots_, storage_, result_);
    return std::move(result_);
  }

 private:
  /// Names of the integrators that fit a flow.
  std::vector<std::string> fitting() const {
    std::vector<std::string> names;
    for (const Integrator& other : system_.integrators) {
      dsl::Diagnostics silent;
      const auto head = read_head(other, silent);
      if (head && fits(*head)) names.push_back(other.name);
    }
    return names;
  }

  // ---- the text ---------------------------------------------------------------------------------

  void run() {
    result_.cycle.emplace_back();
    for (const auto& [name, value] : integrator_.options)
      options_[name] = evaluate(*value, meaning_, arena_);
    for (const auto& [name, value] : flow_.options)
      if (options_.contains(name)) options_[name] = scalar_value(value);
    for (const algebra::Number& weight : integrator_.weights) {
      dt_ = arena_.real(static_cast<long double>(system_.dt)) * arena_.number(weight);
      locals_.clear();
      for (const Statement& statement : integrator_.body) run(statement);
    }
  }

  void run(const Statement& statement) {
    used_points_ = 0;
    const Value value = evaluate(*statement.value, meaning_, arena_);
    const bool moves = statement.name == head_->variables[0];
    if (value.group < 0) {
      if (moves)
        throw ArithmeticError{statement.span, "`" + statement.name + "` is set to a number"};
      locals_[statement.name] = value;
      return;
    }
    const int base = point_of(value, statement.span);
    if (moves && base < 0)
      throw ArithmeticError{statement.span, "links move by `x + h*y` alone: exp(h*y)*x"};
    if (moves) {
      move(base, value, 0, statement.span);
    } else if (base >= 0) {
      const auto [known, fresh] = named_points_.try_emplace(statement.name, points_.size());
      if (fresh) points_.push_back(new_links(statement.name));
      move(base, value, static_cast<int>(known->second), statement.span);
      locals_[statement.name] = point(static_cast<int>(known->second));
    } else {
      locals_[statement.name] = kept(value, register_of(statement.name), statement.name);
    }
  }

  Value name(const dsl::Expr& at) {
    if (head_->index(at.text) >= 0) return point(0);
    if (const auto local = locals_.find(at.text); local != locals_.end()) return local->second;
    if (const auto option = options_.find(at.text); option != options_.end()) return option->second;
    if (at.text == "dt") return scalar_value(dt_);
    if (at.text == "dx") return scalar_value(arena_.real(system_.lattice.dx));
    if (at.text == "t") return scalar_value(arena_.integer(0));  // no rate depends on it
    if (at.text == "pi") return scalar_value(arena_.real(3.141592653589793238462643L));
    std::vector<std::string> known = head_->variables;
    for (const auto& [local, unused] : locals_) known.push_back(local);
    for (const char* given : {"dt", "dx", "t"}) known.emplace_back(given);
    throw errors::unknown_name(at.span, at.text, integrator_.name, known);
  }

  /// The rate at a point.
  bool call(const dsl::Expr& at, Value& result) {
    const Part& hole = head_->parts[0][0];
    if (hole.name != at.text) return false;
    if (at.args.size() != hole.arguments.size())
      throw errors::wrong_arguments(
          at.span, hole.name,
          fmt::format("it takes {}, here are {}", hole.arguments.size(), at.args.size()));
    for (std::size_t i = 0; i < at.args.size(); ++i) {
      const Value argument = evaluate(*at.args[i], meaning_, arena_);
      const bool time = head_->index(hole.arguments[i]) < 0;
      if (time && argument.group < 0) continue;
      const int base = time || argument.group < 0 ? -1 : point_of(argument, at.args[i]->span);
      if (base < 0)
        throw errors::wrong_arguments(at.args[i]->span, hole.name,
                                      time ? "its argument is a time" : "its argument is a point");
      result = rate(there(base, argument, at.args[i]->span));
    }
    return true;
  }

  // ---- points and registers ---------------------------------------------------------------------

  Expr marker(int point) const { return arena_.symbol(fmt::format("point {}", point)); }

  /// A point stands in sums as its marker, the same for every coordinate.
  Value point(int number) const {
    Value value;
    value.group = kGroup;
    for (const auto& axis : axes_)
      for (const int coordinate : axis) value.arrays[coordinate] = marker(number);
    return value;
  }

  /// Number of the point that a value starts from; -1 where it is in the algebra.
  int point_of(const Value& value, dsl::Span span) const {
    int found = -1;
    for (const auto& [coordinate, e] : value.arrays) {
      for (std::size_t p = 0; p < points_.size(); ++p) {
        const Expr mark = marker(static_cast<int>(p));
        if (!algebra::depends_on(e, mark)) continue;
        const Expr slope = algebra::derivative(e, mark);
        if (!slope.is_one() || (found >= 0 && found != static_cast<int>(p)))
          throw ArithmeticError{span, "points of a group are not added: write `x + h*y`"};
        found = static_cast<int>(p);
      }
    }
    return found;
  }

  /// The rates of the model with the links of a point.
  Value rate(int at) {
    const std::map<int, int> here = numbers(links_, points_[static_cast<std::size_t>(at)]);
    for (const Update& update : flow_.gradients) {
      kernel::Kernel k = kernel_of(update.name, update.shown);
      for (const auto& [array, e] : update.values) {
        if (!storage_.allocated(array)) allocate(array, update.name);
        k.stores.push_back({array, renumbered(e, here)});
      }
      add(std::move(k));
    }
    Value value;
    value.group = kGroup;
    for (const Update& update : flow_.rates)
      for (const auto& [coordinate, e] : update.values)
        value.arrays[coordinate] = renumbered(e, here);
    ++rates_;
    if (flow_.gradients.empty()) return value;
    return kept(value, scratch(), "rate");  // another rate would overwrite the gradients
  }

  /// The number of a point with links in memory: the base itself, or the base moved by `value`.
  int there(int base, const Value& value, dsl::Span span) {
    if (std::ranges::all_of(value.arrays, [&](const auto& e) { return e.second == marker(base); }))
      return base;
    if (used_points_ == spare_points_.size()) {
      spare_points_.push_back(static_cast<int>(points_.size()));
      points_.push_back(new_links("there"));
    }
    const int at = spare_points_[used_points_++];
    move(base, value, at, span);
    return at;
  }

  /// links of point `to` = exp(value - base) of those of `base`.
  void move(int base, Value value, int to, dsl::Span) {
    bool still = true;
    for (auto& [coordinate, e] : value.arrays) {
      e = algebra::substitute(e, marker(base), arena_.integer(0));
      still = still && e.is_zero();
    }
    const std::map<int, int> from = numbers(links_, points_[static_cast<std::size_t>(base)]);
    const std::map<int, int> target = numbers(links_, points_[static_cast<std::size_t>(to)]);
    if (!still && reads_links(value)) value = kept(value, scratch(), "rate");
    // one kernel for each axis, whose exponential fits into the registers of a GPU's thread
    for (const Update& update : flow_.moves) {
      kernel::Kernel k = kernel_of(update.name, update.shown);
      for (const auto& [array, e] : update.values) {
        const Expr old = arena_.load(from.contains(array) ? from.at(array) : array);
        Expr moved = still ? old : moved_along(e, value, from);
        // a run that has ended keeps its links
        if (to == 0)
          moved = arena_.raw(Op::Select, {arena_.symbol(slot::kStop), arena_.load(array), moved});
        k.stores.push_back({target.contains(array) ? target.at(array) : array, moved});
      }
      add(std::move(k));
    }
  }

  /// The coordinates of a move, and the links that it starts from, in place of its own.
  Expr moved_along(Expr e, const Value& value, const std::map<int, int>& from) const {
    return algebra::rewrite(e, [&](Expr node) {
      if (!node.is(Op::Load)) return node;
      if (const auto z = value.arrays.find(node->index); z != value.arrays.end()) return z->second;
      const auto link = from.find(node->index);
      return link == from.end() ? node : arena_.load(link->second, node->offset, node->span);
    });
  }

  bool reads_links(const Value& value) const {
    std::set<int> links;
    for (const auto& point : points_) links.insert(point.begin(), point.end());
    return std::ranges::any_of(value.arrays, [&](const auto& e) {
      return std::ranges::any_of(algebra::reads(e.second),
                                 [&](Expr leaf) { return links.contains(leaf->index); });
    });
  }

  using Register = std::map<int, int>;  ///< coordinate -> its array

  /// The value in memory: one kernel for each axis where neighbours are read, else one.
  Value kept(const Value& value, const Register& memory, const std::string& name) {
    const bool own_kernel = reads_links(value);
    kernel::Kernel k = kernel_of("register_" + name, "");
    Value result;
    result.group = kGroup;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      const Update& rate = flow_.rates[axis];
      if (own_kernel) k = kernel_of(name + rate.name.substr(rate.name.rfind('_')), rate.shown);
      for (const int coordinate : axes_[axis]) {
        const int array = memory.at(coordinate);
        k.stores.push_back({array, value.arrays.at(coordinate)});
        result.arrays[coordinate] = arena_.load(array);
      }
      if (own_kernel) add(std::move(k));
    }
    if (!own_kernel) add(std::move(k));
    return result;
  }

  Register& register_of(const std::string& name) {
    Register& memory = registers_[name];
    if (!memory.empty()) return memory;
    for (const auto& axis : axes_) {
      for (const int coordinate : axis) {
        memory[coordinate] = storage_.number();
        allocate(memory[coordinate], name);
      }
    }
    return memory;
  }
  /// Memory for a rate that a move uses at once.
  Register& scratch() { return register_of(kScratch); }
  static constexpr const char* kScratch = "rate ";

  std::vector<int> new_links(const std::string& name) {
    std::vector<int> arrays;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      arrays.push_back(storage_.number());
      allocate(arrays.back(), name);
    }
    return arrays;
  }

  void allocate(int array, const std::string& name) {
    program::Buffer buffer;
    buffer.name = name.substr(0, name.find(' '));
    buffer.precision = system_.numerics.store;
    storage_.allocate(array, buffer);
    ++memory_;
  }

  static std::map<int, int> numbers(const std::vector<int>& from, const std::vector<int>& to) {
    std::map<int, int> result;
    for (std::size_t i = 0; i < from.size(); ++i)
      if (from[i] != to[i]) result[from[i]] = to[i];
    return result;
  }

  // ---- kernels ----------------------------------------------------------------------------------

  kernel::Kernel kernel_of(const std::string& name, const std::string& shown) const {
    kernel::Kernel k = lattice_kernel(system_, name);
    k.comment = shown;
    return k;
  }

  /// Runs the kernel next; an equal kernel that exists already is used again.
  void add(kernel::Kernel kernel) {
    const auto same = [](const kernel::Store& a, const kernel::Store& b) {
      return a.array == b.array && a.value == b.value;
    };
    std::vector<int>& order = result_.cycle.front();
    for (std::size_t p = 0; p < result_.parts.size(); ++p) {
      const kernel::Kernel& known = result_.parts[p].sweeps.sweeps.front().kernel;
      if (std::ranges::equal(known.stores, kernel.stores, same))
        return order.push_back(static_cast<int>(p));
    }
    declare_arrays(kernel, storage_);
    const std::string base = kernel.name;
    for (int n = 2; !names_.insert(kernel.name).second; ++n)
      kernel.name = fmt::format("{}_{}", base, n);
    order.push_back(static_cast<int>(result_.parts.size()));
    FluxPart& part = result_.parts.emplace_back();
    part.sweeps.sweeps.push_back({std::move(kernel), {}, {}});
    part.sweeps.swaps.emplace_back();
  }

  void say() {
    for (const Update& update : flow_.gradients) result_.remarks.insert(update.shown);
    for (const Update& rate : flow_.rates) result_.remarks.insert(rate.shown);
    result_.remarks.insert(fmt::format(
        "a step of the flow by {}: {} evaluations of the rate, {} launches of {} kernels, {} "
        "numbers a site beside the links",
        integrator_.name, rates_, result_.cycle.front().size(), result_.parts.size(), memory_));
  }

  const physics::System& system_;
  const LinkFlow& flow_;
  Slots& slots_;
  Storage& storage_;
  dsl::Diagnostics& diagnostics_;
  Arena& arena_;
  const Integrator& integrator_;
  const Head* head_ = nullptr;
  Meaning meaning_;
  Expr dt_;
  std::vector<int> links_;                ///< arrays of the links that move
  std::vector<std::vector<int>> axes_;    ///< coordinates of each rate
  std::vector<std::vector<int>> points_;  ///< arrays of each point; the first is x
  std::vector<int> spare_points_;         ///< of arguments, taken anew by each line
  std::size_t used_points_ = 0;
  std::map<std::string, std::size_t> named_points_;
  std::map<std::string, Register> registers_;
  std::map<std::string, Value> locals_, options_;
  std::set<std::string> names_;
  int rates_ = 0;
  std::size_t memory_ = 0;
  Stepping result_;
};

}  // namespace

std::optional<Stepping> make_link_flow_step(const physics::System& system, const LinkFlow& flow,
                                            Slots& slots, Storage& storage,
                                            dsl::Diagnostics& diagnostics) {
  return LinkFlowStepBuilder(system, flow, slots, storage, diagnostics).make();
}

}  // namespace vphi::schedule
