#include "embed/same_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "compiler/algebra/transform.hpp"
#include "embed/error.hpp"
#include "program/json.hpp"

namespace vphi::embed {
namespace {

using program::Launch;
using program::Program;

void check_shape(const Compilation& then, const Compilation& now, const std::string& name) {
  for (const physics::Axis& axis : then.system->axes)
    if (axis.name == name && !axis.free)
      throw Error(fmt::format("`{}` is swept: each instance has its own value", name),
                  "another run with other values of the sweep");
  if (then.program->instances != now.program->instances)
    throw Error(fmt::format("with several values of `{}` there would be several states", name),
                "one number, or a sweep in a run of its own");
  if (then.program->extent != now.program->extent)
    throw Error(fmt::format("`{}` is part of the lattice's shape", name),
                "another run with `lattice` or `set`");
}

void check_units(const Compilation& then, const Compilation& now, const std::string& name) {
  const physics::System &a = *then.system, &b = *now.system;
  const bool units = a.A != b.A || a.B != b.B || a.s != b.s || a.r != b.r ||
                     a.lattice.dx != b.lattice.dx || a.lattice.dx_physical != b.lattice.dx_physical;
  if (units)
    throw Error(fmt::format("the state is stored in units that depend on `{}`", name),
                "a start from arrays: `init=` with the fields of this run, and `set` with the new "
                "value");
  if (a.dt != b.dt || a.dt_physical != b.dt_physical)
    throw Error(
        fmt::format("dt depends on `{}`, and the state stands between two of its steps", name),
        fmt::format("a dt in the model that is written without `{}`", name));
}

/// The kernels without renewing ones, which a program may have or not.
std::vector<program::Kernel> usual_kernels(const Program& p) {
  std::set<int> renewing;
  for (const auto* list : {&p.renewed_averages, &p.renewed_scalars})
    for (const Launch& launch : *list) renewing.insert(launch.kernel);
  std::vector<program::Kernel> usual;
  for (std::size_t k = 0; k < p.kernels.size(); ++k)
    if (!renewing.contains(static_cast<int>(k))) usual.push_back(p.kernels[k]);
  return usual;
}

void check_memory(const Program& then, const Program& now, const std::string& name) {
  const auto same_buffer = [](const program::Buffer& a, const program::Buffer& b) {
    return a.name == b.name && a.precision == b.precision && a.home == b.home && a.lane == b.lane &&
           a.scratch == b.scratch && a.file == b.file && a.elements == b.elements;
  };
  const auto same_argument = [](const program::Argument& a, const program::Argument& b) {
    return a.kind == b.kind && a.index == b.index;
  };
  const auto same_kernel = [&](const program::Kernel& a, const program::Kernel& b) {
    return a.name == b.name && std::ranges::equal(a.arguments, b.arguments, same_argument);
  };
  const auto named = [](const auto& a, const auto& b) { return a.name == b.name; };
  if (std::ranges::equal(then.buffers, now.buffers, same_buffer) &&
      std::ranges::equal(then.scalars, now.scalars, named) &&
      std::ranges::equal(usual_kernels(then), usual_kernels(now), same_kernel))
    return;
  throw Error(fmt::format("with this value of `{}` the compiled program has other arrays, scalars "
                          "or kernels, which the state does not fit",
                          name),
              fmt::format("`{}` as a free parameter, which has one program for all values: "
                          "free=[\"{}\"]",
                          name, name));
}

/// Kernels that are launched after the start.
std::set<int> later_kernels(Program p) {
  std::set<int> kernels;
  for (auto* list : {&p.prologue, &p.renewed_averages, &p.renewed_scalars, &p.kept_values})
    list->clear();
  const auto add = [&](const std::vector<Launch>& list) {
    for (const Launch& launch : p.with_iterations(list)) kernels.insert(launch.kernel);
  };
  p.each_list([&](std::vector<Launch>& list) { add(list); });
  add(p.multi_step);
  add(p.together);
  return kernels;
}

/// The program without its start and without the values of its axes.
std::string after_the_start(Program p) {
  const std::set<int> later = later_kernels(p);
  for (std::size_t k = 0; k < p.kernels.size(); ++k) {
    program::Kernel& kernel = p.kernels[k];
    kernel.notes.clear();
    if (!later.contains(static_cast<int>(k))) kernel = program::Kernel();
  }
  p.prologue.clear(), p.random.clear(), p.parameters.clear();
  for (program::Scalar& scalar : p.scalars) scalar.initial = 0;
  for (program::Axis& axis : p.axes) axis.values.assign(axis.values.size(), 0);
  p.step_growth = {}, p.expansion.explained = 0;
  p.kernels = usual_kernels(p);
  return program::to_json(p, -1);
}

bool reads(const kernel::Kernel& k, const std::string& symbol) {
  const auto in = [&](const algebra::Expr& value) {
    return algebra::contains(value, [&](const algebra::Expr& node) {
      return node.is(algebra::Op::Symbol) && node->name == symbol;
    });
  };
  return std::ranges::any_of(k.values(), in) ||
         std::ranges::any_of(k.epilogue, [&](const auto& a) { return in(a.value); }) ||
         std::ranges::any_of(k.stages, [&](const auto& stage) { return reads(stage, symbol); });
}

/// Whether a free parameter whose values differ is read after the start.
bool free_one_acts(const Compilation& then, const Compilation& now) {
  const std::set<int> later = later_kernels(*now.program);
  for (std::size_t a = 0; a < now.system->axes.size(); ++a) {
    const physics::Axis& axis = now.system->axes[a];
    if (!axis.free || axis.values == then.system->axes[a].values) continue;
    for (const int k : later)
      if (reads(now.plan->kernels[static_cast<std::size_t>(k)], axis.symbol)) return true;
  }
  return false;
}

}  // namespace

void check_same_state(const Compilation& then, const Compilation& now, const std::string& name) {
  check_shape(then, now, name);
  check_units(then, now, name);
  check_memory(*then.program, *now.program, name);
  if (after_the_start(*then.program) != after_the_start(*now.program) || free_one_acts(then, now))
    return;
  const auto same_values = [](const physics::Axis& a, const physics::Axis& b) {
    return a.values == b.values;
  };
  if (then.program->parameters == now.program->parameters &&
      std::ranges::equal(then.system->axes, now.system->axes, same_values))
    return;  // it has this value already
  throw Error(fmt::format("`{}` enters the start alone, which this run has behind it", name),
              "another run with this value");
}

}  // namespace vphi::embed
