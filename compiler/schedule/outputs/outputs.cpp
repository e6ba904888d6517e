#include "compiler/schedule/outputs/outputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/steps/tolerance.hpp"

namespace vphi::schedule {
namespace {

using physics::Observable;

/// The outputs of one cadence, while its clauses are read.
struct Open {
  Observer observer;
  std::size_t first_clause = 0;
  std::map<std::size_t, std::vector<program::Output>> later;  ///< by stage
};

/// Coordinates count from the centre of the box: x = (i - (n - 1)/2) dx.
std::int64_t nearest_plane(const physics::Lattice& lattice, int axis, double coordinate) {
  const auto n = lattice.extent[static_cast<std::size_t>(axis)];
  const double i = coordinate / lattice.dx_physical + 0.5 * static_cast<double>(n - 1);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::llround(i)), 0, n - 1);
}

/// One clause after another, into the loops of its cadence.
class ClauseReader {
 public:
  ClauseReader(const physics::System& system, Tables& tables, dsl::Diagnostics& diagnostics)
      : system_(system), tables_(tables), diagnostics_(diagnostics) {}

  program::Output read(const physics::OutputClause& clause, int after, Open& open,
                       Averages& averages) {
    program::Output result;
    result.every = clause.every;
    result.interval = clause.interval;
    result.from = clause.from;
    result.after_slot = after;
    result.file = clause.file;
    result.statistics = averages.statistics();
    for (std::size_t k = 0; k < system_.axes.size(); ++k) {
      if (system_.axes[k].name == clause.plot_against) result.plot_axis = static_cast<int>(k);
    }
    program::Output stage = result;  // as one of a later stage begins
    stage.statistics.clear();
    stage.plot_axis = -1;
    std::map<std::size_t, std::vector<program::FieldOutput>> later;
    for (const Observable& o : clause.observables) {
      if (!o.kind) {
        result.scalars.push_back(scalar(o, open.observer, averages));
        continue;
      }
      auto [field, at] = this->field(o, open.observer, averages);
      (at == 0 ? result.fields : later[at]).push_back(std::move(field));
    }
    for (auto& [at, fields] : later) {
      program::Output& more = open.later[at].emplace_back(stage);
      more.fields = std::move(fields);
    }
    return result;
  }

 private:
  program::ScalarOutput scalar(const Observable& o, Observer& observer, Averages& averages) {
    if (averages.holds(o.value)) {
      refuse_state(averages, o.value, o.span, diagnostics_);
      return averages.output(o.name, o.value, o.error);
    }
    program::ScalarOutput scalar;
    scalar.name = o.name;
    scalar.slot = observer.scalar(o.name, o.value);
    for (std::size_t k = 0; k < system_.axes.size(); ++k)
      scalar.axes.push_back(static_cast<int>(k));
    scalar.passage = std::ranges::any_of(system_.passages, [&](const auto& first) {
      return first.condition && algebra::depends_on(o.value, system_.arena->symbol(first.symbol));
    });
    return scalar;
  }

  /// A field, and the stage that makes its arrays.
  std::pair<program::FieldOutput, std::size_t> field(const Observable& o, Observer& observer,
                                                     Averages& averages) {
    program::FieldOutput field = o.form;
    field.kind = *o.kind;
    field.name = o.name;
    // a value at every site is an array, a value of an instance a scalar
    std::vector<Expr> arrays{o.value};
    for (const Observable::Part& part : o.more) arrays.push_back(part.value);
    std::erase_if(arrays, [](Expr value) { return !algebra::per_site(value); });
    const Observer::Fields placed =
        arrays.empty() ? Observer::Fields{} : observer.fields(o.name, arrays, room());
    std::size_t next = 0;
    const auto place = [&](Expr value, int& buffer, int& slot) {
      if (algebra::per_site(value)) {
        buffer = placed.buffers[next++];
      } else if (const Expr own = averages.of_instance(value); own) {
        slot = observer.scalar(o.name, own);
        tables_.slots.set(tables_.slots.names()[static_cast<std::size_t>(slot)],
                          std::numeric_limits<double>::quiet_NaN());
      } else {
        diagnostics_.add(errors::not_yet(o.span, "a histogram of averages over the sweep"));
      }
    };
    place(o.value, field.buffer, field.slot);
    field.more.clear();
    for (const Observable::Part& part : o.more) {
      program::FieldPart& more = field.more.emplace_back();
      place(part.value, more.buffer, more.slot);
      more.weight = part.weight;
    }
    if (o.factor) field.factor_slot = observer.scalar(o.name, o.factor);
    if (o.mass2) field.mass2_slot = observer.scalar(o.name, o.mass2);
    if (program::row_of(field.kind).axis == program::OutputAxis::Across && field.axis >= 0)
      field.plane = nearest_plane(system_.lattice, field.axis, o.coordinate);
    return {std::move(field), placed.stage};
  }

  /// The number of second copies that are idle between steps: outputs borrow them, so that as many
  /// scratch arrays cost no memory. With projections or images there are no stages, since
  /// their results must stay for all outputs.
  std::size_t room() const {
    const bool images =
        system_.laplacian >= 0 && system_.arena->stencil_data(system_.laplacian).spectral;
    if (!system_.projections.empty() || images) return std::numeric_limits<std::size_t>::max();
    return static_cast<std::size_t>(
        std::ranges::count_if(tables_.storage.buffers(), &program::Buffer::doubled));
  }

  const physics::System& system_;
  Tables& tables_;
  dsl::Diagnostics& diagnostics_;
};

}  // namespace

Outputs make_outputs(const physics::System& system, const Stepping& stepping, const Checks& checks,
                     const SolutionMemory&, Tables& tables, dsl::Diagnostics& diagnostics) {
  Outputs result;
  std::vector<Averages> averages = checks.of_clauses;
  ClauseReader reader(system, tables, diagnostics);
  std::vector<Open> open;
  std::map<std::tuple<int, double, int>, std::size_t> known;  // cadence -> place in `open`
  for (std::size_t i = 0; i < system.outputs.size(); ++i) {
    const physics::OutputClause& clause = system.outputs[i];
    // an exchange has loops of its own
    const int after = clause.exchange ? -2
                      : clause.after  ? checks.after.at(clause.after.get())
                                      : -1;
    const auto [place, fresh] =
        known.try_emplace({clause.every, clause.interval, after}, open.size());
    if (fresh)
      open.push_back({Observer(system, stepping, tables.slots, tables.storage, true), i, {}});
    averages[i].inputs(open[place->second].observer);
    result.written.push_back(reader.read(clause, after, open[place->second], averages[i]));
    result.averages.push_back({averages[i].windows(true), averages[i].then()});
    if (const std::string written = slot_of_written(system, clause); !written.empty())
      result.averages.back().before.push_back({written, system.arena->symbol(system.time)});
  }
  for (Open& cadence : open) {
    Outputs::Cadence& made = result.cadences.emplace_back();
    made.first = cadence.first_clause;
    for (auto& [stage, outputs] : cadence.later) {
      made.stages.push_back(result.written.size());
      for (program::Output& output : outputs) result.written.push_back(std::move(output));
    }
  }
  for (std::size_t i = 0; i < open.size(); ++i)
    result.cadences[i].loops = open[i].observer.finish("observe_" + std::to_string(i + 1));
  return result;
}

}  // namespace vphi::schedule
