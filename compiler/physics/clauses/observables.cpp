// `every` and `at end`: what is written, how often, where.
#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/exchange.hpp"
#include "compiler/physics/clauses/clock.hpp"
#include "compiler/physics/clauses/field_outputs.hpp"
#include "compiler/physics/clauses/output_errors.hpp"
#include "compiler/physics/clauses/output_names.hpp"
#include "compiler/physics/clauses/output_units.hpp"
#include "compiler/physics/clauses/surface_writer.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/outputs.hpp"
#include "dsl/messages/error.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/words/link_files.hpp"
#include "program/surface_formats.hpp"

namespace vphi::physics {

using dsl::ExprKind;
using dsl::Item;

namespace {

/// What a run counts: steps of `evolve`, trajectories or sweeps of `sample`.
std::string counted_by(const Context& d) {
  const dsl::Clause* sample = d.resolved.clause("sample");
  if (!sample) return "steps";
  const auto items = dsl::positional(*sample);
  return !items.empty() && items[0]->value->text == "hmc" ? "trajectories" : "sweeps";
}

dsl::Diagnostic counts_other(dsl::Span span, const std::string& word, const std::string& counted) {
  return dsl::error(
      "E0774", span, fmt::format("this run counts {}, no {}", counted, word), "",
      "`sample hmc` makes trajectories, other chains make sweeps, `evolve` makes steps",
      fmt::format("write `every 10 {}: ...`", counted));
}

/// `time = on` in `at end`, or in a Markov chain.
dsl::Diagnostic without_output_before(dsl::Span span) {
  dsl::Diagnostic message =
      errors::option_value(span, "time", "off here: there is no output before");
  message.hint =
      "write `every 5 steps: surface(..., time = on)`: it lies between two outputs of a "
      "clause, and a run in time has such";
  return message;
}

class OutputReader {
 public:
  OutputReader(const Program& d, Lowerer& lower, ProgramUnits& units)
      : d_(d), lower_(lower), units_(units) {}

  /// All clauses, those of `plot` last.
  Written all() {
    for (const dsl::Line& line : d_.resolved.model.lines) {
      if (line.kind != dsl::Line::Kind::Clause) continue;
      if (line.clause.keyword != "every" && line.clause.keyword != "at end") continue;
      try {
        made_.outputs.push_back(read(line.clause));
      } catch (const Failure&) {
        // reported; go on with the next clause, which may have errors as well
      }
    }
    settle_names(d_, made_.outputs, options_);
    begin_averages();
    for (const dsl::Clause* clause : d_.ledger.clauses("plot")) {
      d_.ledger.everything(*clause);
      plot(*clause);
    }
    if (auto exchange = read_exchange(d_, lower_, units_))
      made_.outputs.push_back(std::move(*exchange));
    return std::move(made_);
  }

 private:
  OutputClause read(const dsl::Clause& clause) {
    OutputClause out;
    out.span = clause.keyword_span;
    d_.ledger.use(clause);
    d_.ledger.destination(clause);
    if (clause.destination) out.file = file_of(*clause.destination);
    std::vector<const Item*> items;
    // `at end: a, b` is a list from its start, `at end, after = c: a` is not
    const bool options = !clause.items.empty() && clause.items.front().head &&
                         clause.items.front().leading == Item::Leading::Comma;
    bool in_list = clause.keyword == "at end" && !options;
    for (const Item& item : clause.items) {
      d_.ledger.use(item);
      if (item.leading == Item::Leading::Colon) in_list = true;
      const bool listed = in_list && !(item.head && item.head->name == "after");
      if (!listed) d_.ledger.words(item);
      if (listed) {
        items.push_back(&item);
      } else {
        read_head(item, out);
      }
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      // `Em[k], k = 1..8`: an index range belongs to the items before it
      std::vector<dsl::NamedArgument> ranges;
      std::size_t next = i + 1;
      while (next < items.size() && is_range(*items[next])) {
        const Item& range = *items[next++];
        dsl::NamedArgument argument;
        argument.name = range.head->name;
        argument.span = range.span;
        argument.value = range.value;
        ranges.push_back(std::move(argument));
      }
      read_item(*items[i], ranges, out);
      i = next - 1;
    }
    if (clause.destination && program::find_surface_format(clause.destination->text))
      give_columns(d_, lower_, units_, *clause.destination, out);
    return out;
  }

  /// "name.h5", or ildg("name") and music("name", ...): files of links and of surfaces.
  std::string file_of(const dsl::Expr& target) {
    if (target.kind == ExprKind::String) return target.text;
    const bool known = dsl::find_link_file(target.text) || target.text == dsl::kSpinorFile ||
                       program::find_surface_format(target.text);
    if (!known || target.args.size() != 1 || target.args[0]->kind != ExprKind::String) {
      d_.fail(errors::not_yet(target.span, "this kind of file"));
    }
    return target.args[0]->text + "." + target.text;
  }

  /// Every link's matrix: [mu][row][column][re, im].
  void links(const StateField& field, const dsl::Expr& e, OutputClause& out) {
    const std::size_t ending = out.file.rfind('.');
    const auto* kind = dsl::find_link_file(ending == std::string::npos
                                               ? std::string_view()
                                               : std::string_view(out.file).substr(ending + 1));
    if (kind && kind->su3_alone && field.links->group != gauge::Group{gauge::Kind::SU, 3})
      d_.fail(errors::links_in_file(e.span, std::string(kind->word), "links of SU(3) alone"));
    bool even = d_.grid.dims == 4;
    for (int axis = 0; axis < d_.grid.dims; ++axis)
      even = even && d_.grid.extent[static_cast<std::size_t>(axis)] % 2 == 0;
    if (kind && kind->even_extents && !even)
      d_.fail(errors::links_in_file(e.span, std::string(kind->word),
                                    "lattices of four even extents alone"));
    Observable o;
    o.kind = Observable::Kind::Links;
    o.name = field.name;
    o.span = e.span;
    o.form.colours = field.links->group.n;
    std::vector<Observable::Part> parts;
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      for (const Component& c : lower_.along(field, {{}, {{axis, false}}}, e.span).parts) {
        parts.push_back({units_.quantity(c.re), 1});
        parts.push_back({units_.quantity(c.im), 1});
      }
    }
    o.value = parts[0].value;
    o.more.assign(parts.begin() + 1, parts.end());
    refuse_array_in_csv(o, out);
    out.observables.push_back(std::move(o));
  }

  /// Slices, snapshots, maps of two values, links.
  void refuse_array_in_csv(const Observable& o, const OutputClause& out) {
    const bool columns = program::row_of(*o.kind).width > 0 && o.form.histogram.size() < 2;
    if (!columns && out.file.ends_with(".csv"))
      d_.fail(errors::array_in_csv(o.span, written(d_, o.span), out.file));
    refuse_in_spinor_file(o, out);
  }

  /// A file of spinors takes snapshots of them, at all sites; numbers are written beside.
  void refuse_in_spinor_file(const Observable& o, const OutputClause& out) {
    if (!out.file.ends_with(fmt::format(".{}", dsl::kSpinorFile))) return;
    const bool spinor = *o.kind == Observable::Kind::Snapshot && o.form.complex &&
                        o.form.value.size() == 2 &&
                        std::ranges::all_of(o.form.sites, [](const program::SitesOfAxis& sites) {
                          return sites.first == 0 && sites.last < 0 && sites.every == 1;
                        });
    if (!spinor) d_.fail(errors::no_spinor_in_file(o.span, written(d_, o.span), out.file));
  }

  static bool is_range(const Item& item) {
    return item.head && item.value &&
           (item.value->kind == ExprKind::Range ||
            (item.value->kind == ExprKind::Call && item.value->text == "directions"));
  }

  void read_head(const Item& item, OutputClause& out) {
    if (item.head && item.head->name == "after") {
      const Expr after = lower_.real(*item.value, "`after`");
      if (holds_statistics(d_, after)) {
        d_.fail(errors::not_yet(item.span, "`after` of an average or of `first`"));
      }
      out.after = by_steps(d_, scalar_quantity(d_, units_, after));
      if (algebra::per_site(out.after)) {
        d_.fail(errors::not_scalar_output(item.span, written(d_, item.span)));
      }
      return;
    }
    if (item.head || !item.value) d_.fail(errors::not_yet(item.span, "this option of `every`"));
    const std::string& word = item.count_word;
    if (word.empty()) return every_time(item, out);
    const std::string counted = counted_by(d_);
    // `sweep` and `sweeps`, `trajectory` and `trajectories`
    if (!word.starts_with("step") && word.substr(0, 5) != counted.substr(0, 5))
      d_.fail(counts_other(item.span, word, counted));
    const long double n = lower_.fixed_number(*item.value, "the number of steps");
    const std::int64_t whole = whole_number(n);  // quotients of times are rounded
    if (whole < 1) d_.fail(errors::output_between_steps(item.span, static_cast<double>(n)));
    out.every = static_cast<int>(std::min<std::int64_t>(whole, 2000000000));
  }

  /// `every 0.5: ...`
  void every_time(const Item& item, OutputClause& out) {
    const long double time = lower_.fixed_number(*item.value, "the time between two outputs");
    if (!(time > 0))
      d_.fail(errors::not_positive(item.span, "the time between two outputs",
                                   static_cast<double>(time)));
    if (d_.resolved.clause("sample")) d_.fail(errors::output_time_of_chain(item.span));
    const std::int64_t steps = counts_steps(d_) ? steps_of(d_, time) : -1;
    if (steps > 0) {
      out.every = static_cast<int>(std::min<std::int64_t>(steps, 2000000000));
      return;
    }
    const double count = static_cast<double>(time) / d_.dt_physical;
    if (counts_steps(d_) && count < 1) d_.fail(errors::output_below_step(item.span, count));
    out.interval = static_cast<double>(time);
    out.from = d_.start_time;
  }

  void read_item(const Item& item, const std::vector<dsl::NamedArgument>& ranges,
                 OutputClause& out) {
    if (!item.value) d_.fail(errors::not_scalar_output(item.span, written(d_, item.span)));
    const dsl::Expr& e = *item.value;
    std::string name = item.head ? item.head->name : dsl::to_text(e);
    if (e.kind == ExprKind::Name && e.text == "energies" && !d_.facts.find("energies")) {
      energies(out, e.span);
      return;
    }
    if (const StateField* field = e.kind == ExprKind::Name ? d_.field(e.text) : nullptr;
        field && field->links) {
      return links(*field, e, out);
    }
    if (const auto kind = field_output_kind(e); kind && !d_.facts.find(e.text)) {
      const std::size_t first = out.observables.size();
      const std::string given = item.head ? name : std::string();
      for (Observable& o : field_outputs(d_, lower_, units_, *kind, e, given)) {
        if (o.form.in_time &&
            (d_.resolved.clause("sample") || (out.every == 0 && out.interval == 0)))
          d_.fail(without_output_before(e.span));
        refuse_array_in_csv(o, out);
        out.observables.push_back(std::move(o));
      }
      note_options(e, given, out, first);
      return;
    }
    if (ranges.empty()) {
      add_scalar(name, lower_.value(e), e, out);
      return;
    }
    for (const Scope& tuple : lower_.index_tuples(e, {}, ranges, global_)) {
      std::string suffix;
      for (const dsl::NamedArgument& range : ranges) {
        suffix += fmt::format("{}{}", suffix.empty() ? "" : ",", tuple.index(range.name)->value);
      }
      const std::string base = e.kind == ExprKind::Index && !item.head ? e.args[0]->text : name;
      add_scalar(fmt::format("{}[{}]", base, suffix), lower_.value(e, tuple), e, out);
    }
  }

  /// Warns of an output that is only the value of the last configuration of a chain, not an average
  /// over the chain.
  void warn_of_last(const std::string& name, Expr value, dsl::Span span) {
    const auto* chain = std::get_if<MarkovChain>(&d_.dynamics);
    const auto* trajectory = std::get_if<Trajectory>(&d_.dynamics);
    const std::int64_t length = chain ? chain->sweeps : trajectory ? trajectory->count : 0;
    if (length < 2) return;
    const bool state = algebra::contains(value, [](Expr e) { return e.is(algebra::Op::Load); });
    if (!state || holds_statistics(d_, value)) return;
    d_.diagnostics.add(errors::last_configuration(span, name, trajectory ? "trajectory" : "sweep"));
  }

  /// Of outputs after each step: an average over the time since the one before has one value.
  void refuse_average_of_one(const std::string& name, Expr value, dsl::Span span) {
    const bool alone = std::ranges::any_of(d_.collected.statistics, [&](const Statistic& s) {
      return s.spans_time && s.axes.empty() &&
             algebra::depends_on(value, d_.arena().symbol(s.symbol));
    });
    if (!alone) return;
    const bool trajectories = std::holds_alternative<Trajectory>(d_.dynamics);
    const bool sweeps = std::holds_alternative<MarkovChain>(d_.dynamics);
    d_.fail(errors::average_of_one_step(span, name,
                                        trajectories ? "trajectory"
                                        : sweeps     ? "sweep"
                                                     : "step"));
  }

  void add_scalar(const std::string& name, const Value& v, const dsl::Expr& e, OutputClause& out) {
    for (std::size_t i = 0; i < v.parts.size(); ++i) {
      const std::string part_name = v.scalar() ? name : fmt::format("{}[{}]", name, i);
      const Component& c = v.parts[i];
      const auto add = [&](const std::string& shown, Expr physical) {
        Observable o;
        o.name = shown;
        o.unit = unit_of(d_, e);
        o.value = scalar_quantity(d_, units_, physical);
        o.error = error_of(d_, o.value);
        o.span = e.span;
        if (algebra::per_site(o.value)) {
          d_.fail(errors::not_scalar_output(e.span, written(d_, e.span)));
        }
        if (!out.regular() && i == 0) warn_of_last(shown, physical, e.span);
        if (out.every == 1) refuse_average_of_one(shown, o.value, e.span);
        out.observables.push_back(std::move(o));
      };
      if (c.real()) {
        add(part_name, c.re);
      } else {
        add("re(" + part_name + ")", c.re);
        add("im(" + part_name + ")", c.im);
      }
    }
  }

  /// `plot y against a`: y at the end, averaged over everything else: over the other axes, and over
  /// time unless y is a first passage or an average already.
  void plot(const dsl::Clause& clause) {
    for (const Item& item : clause.items) {
      const dsl::Expr* against = nullptr;
      for (const auto& [name, value] : item.words) {
        if (name == "against") against = value.get();
      }
      if (!item.value) continue;
      if (!against || against->text == "t") {
        d_.fail(errors::not_yet(item.span, "a plot against anything but a swept name"));
      }
      const int axis = axis_of_sweep(d_, against->text);
      if (axis < 0) continue;  // one value: there is no curve
      OutputClause out;
      out.span = clause.keyword_span;
      out.plot_against = against->text;
      out.after = out.averages_from = after_of_all();
      out.file = clause.destination ? clause.destination->text : first_file();
      const dsl::Expr& e = *item.value;
      Expr y = lower_.real(e, "what is plotted");
      if (d_.grid.present && algebra::per_site(y)) {
        d_.fail(errors::not_scalar_output(e.span, written(d_, e.span)));
      }
      std::vector<int> others;
      for (int k = 0; k < static_cast<int>(d_.axes.size()); ++k) {
        if (k != axis) others.push_back(k);
      }
      y = averaged(y, others, e.span);
      Observable o;
      o.name = title(e);
      o.unit = unit_of(d_, e);
      o.value = scalar_quantity(d_, units_, y);
      o.error = error_of(d_, o.value);
      o.span = e.span;
      out.observables.push_back(std::move(o));
      made_.outputs.push_back(std::move(out));
    }
  }

  /// Averages over time begin with the outputs of their clause. Averages at the end of the run
  /// without an `after` take the one of the other outputs, where these agree.
  void begin_averages() {
    const Expr common = after_of_all();
    made_.averages_from = common;
    for (OutputClause& out : made_.outputs) {
      out.averages_from = out.regular() ? out.after : common;
    }
  }

  /// The expression as written, without the name of an output expanded.
  std::string title(const dsl::Expr& e) const {
    dsl::Diagnostics none;
    const auto text = std::make_shared<const dsl::Source>("plot", written(d_, e.span));
    const dsl::ExprPtr read = dsl::parse_expression(text, none);
    return dsl::to_text(read ? *read : e);
  }

  Expr averaged(Expr y, const std::vector<int>& others, dsl::Span span) {
    bool time = true, done = false;
    for (const Statistic& s : d_.collected.statistics) {
      if (!algebra::depends_on(y, d_.arena().symbol(s.symbol))) continue;
      if (!s.axes.empty() && s.axes != others) {
        d_.fail(errors::not_yet(span, "a plot of averages over some of the other axes"));
      }
      if (s.spans_time) time = false;
      if (!s.axes.empty()) done = true;
    }
    for (const FirstPassage& f : d_.collected.passages) {
      if (f.condition && algebra::depends_on(y, d_.arena().symbol(f.symbol))) time = false;
    }
    return done ? y : statistic(d_, Statistic::Kind::Mean, y, others, time, span);
  }

  /// The condition behind `after` where all outputs that have one agree.
  Expr after_of_all() const {
    Expr common;
    for (const OutputClause& out : made_.outputs) {
      if (!out.after) continue;
      if (common && !(common == out.after)) return Expr{};
      common = out.after;
    }
    return common;
  }

  std::string first_file() const {
    return made_.outputs.empty() ? std::string() : made_.outputs.front().file;
  }

  /// Notes the options of the outputs from number `first` on.
  void note_options(const dsl::Expr& e, const std::string& given, const OutputClause& out,
                    std::size_t first) {
    if (e.named.empty()) return;
    std::string text;
    for (const dsl::NamedArgument& option : e.named)
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", option.name,
                          dsl::to_text(*option.value));
    for (std::size_t i = first; i < out.observables.size(); ++i)
      options_[{made_.outputs.size(), i}] = {text, !given.empty()};
  }

  /// Mean energy densities: kinetic and gradient of each field, each term of the potential.
  void energies(OutputClause& out, dsl::Span span) {
    const auto add = [&](const std::string& name, Expr density) {
      Observable o;
      o.name = name;
      o.value = units_.quantity(mean_over_volume(d_, density));
      o.span = span;
      out.observables.push_back(std::move(o));
    };
    if (d_.lagrangian) {
      add("kinetic", lower_.lagrangian_kinetic());
      add("gradient", lower_.lagrangian_gradient());
      add("potential", lower_.lagrangian_potential());
      return;
    }
    bool any = false;
    for (const char* part : {"kinetic", "gradient"}) {
      for (const StateField& field : d_.fields) {
        if (!d_.gravitates(field)) continue;
        any = true;
        add(fmt::format("{}_{}", part, field.name),
            part[0] == 'k' ? lower_.kinetic_density(field) : lower_.gradient_density(field));
      }
    }
    for (const auto& [name, term] : d_.potential_terms) add(name, term);
    if (!any) d_.fail(errors::not_yet(span, "`energies` without second-order equations"));
  }

  const Program& d_;
  Lowerer& lower_;
  ProgramUnits& units_;
  Written made_;
  WrittenOptions options_;
  const Scope global_;
};

}  // namespace

Written read_written(const Program& d, Lowerer& lower, ProgramUnits& units) {
  return OutputReader(d, lower, units).all();
}

}  // namespace vphi::physics
