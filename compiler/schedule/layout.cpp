#include "compiler/schedule/layout.hpp"

#include <algorithm>

#include "compiler/schedule/model_line.hpp"
#include "compiler/schedule/outputs/averages.hpp"
#include "compiler/schedule/outputs/initial.hpp"
#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {
namespace {

program::Buffer buffer_named(const char* name, program::Precision precision) {
  program::Buffer buffer;
  buffer.name = name;
  buffer.precision = precision;
  return buffer;
}

program::StateVariable allocate_variable(const physics::System& system, const physics::Variable& v,
                                         const dsl::Resolved& resolved, Storage& storage) {
  const auto own = system.numerics.stores.find(v.array);
  program::Buffer buffer = buffer_named(
      v.name.c_str(), own == system.numerics.stores.end() ? system.numerics.store : own->second);
  buffer.state = true;
  storage.allocate(v.array, buffer);
  const ModelLine line = line_of(resolved, v.span);
  return {static_cast<int>(storage.buffer_index(v.array)), v.shown, line.text, line.number};
}

void allocate_matrix(const physics::System& system, const physics::PairMatrix& m,
                     Storage& storage) {
  program::Buffer buffer =
      buffer_named("matrix", std::min(system.numerics.store, system.numerics.pair));
  buffer.file = m.file;
  buffer.transposed = m.transposed;
  // a block of rows may reach beyond the last row
  constexpr std::int64_t kPadding = 2048;
  buffer.elements = system.lattice.sites() * system.lattice.sites() + kPadding;
  storage.allocate(m.array, buffer);
}

program::RandomField described(const physics::RandomField& r, const Storage& storage) {
  program::RandomField field;
  field.kind = static_cast<program::RandomField::Kind>(r.kind);
  field.buffer = static_cast<int>(storage.buffer_index(r.array));
  field.stream = r.stream;
  field.velocity = r.velocity;
  field.mass2 = r.mass2;
  field.amplitude = r.amplitude;
  field.low = r.low;
  field.high = r.high;
  field.cutoff = r.cutoff;
  field.kernel_form = r.kernel_form;
  field.masses = r.masses;
  field.powers = r.powers;
  field.file = r.file;
  field.colours = r.colours;
  field.entry = r.entry;
  field.components = r.components;
  field.density = r.density;
  field.as_it_is = r.as_it_is;
  field.leading = r.leading;
  field.members = r.members;
  return field;
}

void reserve(const physics::System& system, Slots& slots) {
  for (const physics::ScalarVariable& s : system.scalars) {
    slots.add(s.symbol);
    if (is_clock(system, s.symbol)) slots.add(rest_name(s.symbol));
  }
  for (const physics::Axis& axis : system.axes) slots.add(axis.symbol, axis.values.front());
  for (const physics::OutputClause& clause : system.outputs)
    if (clause.exchange)
      for (const char* name :
           {physics::Exchange::kAbove, physics::Exchange::kBelow, physics::Exchange::kTried,
            physics::Exchange::kMade, physics::Exchange::kReplica})
        slots.add(name);
  slots.add(slot::kStep);
  slots.add(slot::kStop);
  slots.add(slot::kStarted);
  slots.add(slot::kStage);
  slots.add(slot::kLast, 1);
  reserve_slots(system, slots);
  const bool draws = moves_links(system.dynamics) || !system.noise.streams.empty();
  if (draws || kernels_of_start_draw(system))
    slots.add(slot::kEnsemble, static_cast<double>(system.ensemble));
}

}  // namespace

Layout allocate(const physics::System& system, const dsl::Resolved& resolved) {
  Layout layout{{{}, Storage(system.arrays)}, {}, {}};
  Storage& storage = layout.tables.storage;
  for (const physics::Variable& v : system.variables)
    layout.state.push_back(allocate_variable(system, v, resolved, storage));
  for (const physics::PairMatrix& m : system.matrices) allocate_matrix(system, m, storage);
  for (const physics::RandomField& r : system.random) {
    if (storage.allocated(r.array)) continue;
    program::Buffer buffer = buffer_named("random", system.numerics.store);
    buffer.scratch = true;
    storage.allocate(r.array, buffer);
  }
  for (const physics::RandomField& r : system.random)
    layout.random.push_back(described(r, storage));
  reserve(system, layout.tables.slots);
  return layout;
}

SolutionMemory::SolutionMemory(const physics::System& system, Tables& tables) {
  for (const physics::LinearSystem& solve : system.solves) {
    tables.slots.add(solve.iterations);
    tables.slots.add(solve.residual);
    for (const int array : solve.arrays) {
      if (tables.storage.allocated(array)) continue;  // a step has memory for it
      program::Buffer buffer =
          buffer_named("solution", solve.wide && !solve.at_start ? physics::Precision::F64
                                                                 : system.numerics.store);
      buffer.scratch = true;
      tables.storage.allocate(array, buffer);
    }
  }
}

}  // namespace vphi::schedule
