// `every` and `at end`: what is written, how often, where.
#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/calculus.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/steps.hpp"
#include "compiler/physics/sweeps.hpp"
#include "dsl/parse.hpp"

namespace vphi::physics {

using dsl::ExprKind;
using dsl::Item;

namespace {

const std::map<std::string, Observable::Kind> kFieldOutputs = {
    {"spectrum", Observable::Kind::Spectrum}, {"slice", Observable::Kind::Slice},
    {"snapshot", Observable::Kind::Snapshot}, {"histogram", Observable::Kind::Histogram},
    {"profile", Observable::Kind::Profile},
};

class Outputs {
 public:
  Outputs(Derivation& d, Lowerer& lower, ProgramUnits& units)
      : d_(d), lower_(lower), units_(units) {}

  OutputClause read(const dsl::Clause& clause) {
    OutputClause out;
    out.span = clause.keyword_span;
    if (clause.target) {
      if (clause.target->kind != ExprKind::String) {
        d_.fail(errors::not_yet(clause.target->span, "this kind of file"));
      }
      out.file = clause.target->text;
    }
    std::vector<const Item*> items;
    bool in_list = clause.keyword == "at end";
    for (const Item& item : clause.items) {
      if (item.leading == Item::Leading::Colon) in_list = true;
      if (in_list) {
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
    return out;
  }

 private:
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
      out.after = scalar_quantity(d_, units_, after);
      if (algebra::per_site(out.after)) {
        d_.fail(errors::not_scalar_output(item.span, written(d_, item.span)));
      }
      return;
    }
    if (item.head || !item.value) d_.fail(errors::not_yet(item.span, "this option of `every`"));
    if (item.count_word != "step" && item.count_word != "steps") {
      d_.fail(errors::not_yet(item.span, fmt::format("output every so many {}", item.count_word)));
    }
    const auto n = lower_.fixed_integer(*item.value, "the number of steps");
    if (n < 1)
      d_.fail(errors::not_positive(item.span, "the number of steps", static_cast<double>(n)));
    out.every = static_cast<int>(std::min<std::int64_t>(n, 2000000000));
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
    const auto kind = e.kind == ExprKind::Call ? kFieldOutputs.find(e.text) : kFieldOutputs.end();
    if (kind != kFieldOutputs.end() && !d_.facts.find(e.text)) {
      field_output(kind->second, e, item.head ? name : std::string(), out);
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

  void add_scalar(const std::string& name, const Value& v, const dsl::Expr& e, OutputClause& out) {
    for (std::size_t i = 0; i < v.parts.size(); ++i) {
      const std::string part_name = v.scalar() ? name : fmt::format("{}[{}]", name, i);
      const Component& c = v.parts[i];
      const auto add = [&](const std::string& shown, Expr physical) {
        Observable o;
        o.name = shown;
        o.value = scalar_quantity(d_, units_, physical);
        o.error = error_of(d_, o.value);
        o.span = e.span;
        if (algebra::per_site(o.value)) {
          d_.fail(errors::not_scalar_output(e.span, written(d_, e.span)));
        }
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
 public:
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
      const int axis = axis_named(against->text);
      if (axis < 0) continue;  // one value: there is no curve
      OutputClause out;
      out.span = clause.keyword_span;
      out.plot_against = against->text;
      out.after = out.averages_from = after_of_all();
      out.file = clause.target ? clause.target->text : first_file();
      const dsl::Expr& e = *item.value;
      Expr y = lower_.real(e, "what is plotted");
      if (d_.grid.present && algebra::per_site(y)) {
        d_.fail(errors::not_scalar_output(e.span, written(d_, e.span)));
      }
      std::vector<int> others;
      for (int k = 0; k < static_cast<int>(d_.system.axes.size()); ++k) {
        if (k != axis) others.push_back(k);
      }
      y = averaged(y, others, e.span);
      Observable o;
      o.name = item.head ? item.head->name : dsl::to_text(e);
      o.value = scalar_quantity(d_, units_, y);
      o.error = error_of(d_, o.value);
      o.span = e.span;
      out.observables.push_back(std::move(o));
      d_.system.outputs.push_back(std::move(out));
    }
  }

  /// Averages over time begin with the outputs of their clause; those at the end of the run with
  /// the others that have an `after`, where these agree.
  void begin_averages() {
    const Expr common = after_of_all();
    d_.system.averages_from = common;
    for (OutputClause& out : d_.system.outputs) {
      out.averages_from = out.every > 0 ? out.after : common;
    }
  }

 private:
  int axis_named(const std::string& name) const {
    for (std::size_t k = 0; k < d_.system.axes.size(); ++k) {
      if (d_.system.axes[k].name == name) return static_cast<int>(k);
    }
    return -1;
  }

  Expr averaged(Expr y, const std::vector<int>& others, dsl::Span span) {
    bool time = true, done = false;
    for (const Statistic& s : d_.system.statistics) {
      if (!algebra::depends_on(y, d_.arena().symbol(s.symbol))) continue;
      if (!s.axes.empty() && s.axes != others) {
        d_.fail(errors::not_yet(span, "a plot of averages over some of the other axes"));
      }
      if (s.spans_time) time = false;
      if (!s.axes.empty()) done = true;
    }
    for (const FirstPassage& f : d_.system.passages) {
      if (algebra::depends_on(y, d_.arena().symbol(f.symbol))) time = false;
    }
    return done ? y : statistic(d_, Statistic::Kind::Mean, y, others, time, span);
  }

  /// The condition behind `after` where all outputs that have one agree.
  Expr after_of_all() const {
    Expr common;
    for (const OutputClause& out : d_.system.outputs) {
      if (!out.after) continue;
      if (common && !(common == out.after)) return Expr{};
      common = out.after;
    }
    return common;
  }

  std::string first_file() const {
    return d_.system.outputs.empty() ? std::string() : d_.system.outputs.front().file;
  }

  /// Mean energy densities: kinetic and gradient of each field, each term of the potential.
  void energies(OutputClause& out, dsl::Span span) {
    Arena& arena = d_.arena();
    const auto add = [&](const std::string& name, Expr density) {
      Observable o;
      o.name = name;
      o.value = units_.quantity(arena.make(algebra::Op::Mean, {density}));
      o.span = span;
      out.observables.push_back(std::move(o));
    };
    bool any = false;
    for (const char* part : {"kinetic", "gradient"}) {
      for (const StateField& field : d_.fields) {
        if (field.order != 2) continue;
        any = true;
        add(fmt::format("{}_{}", part, field.name),
            part[0] == 'k' ? lower_.kinetic_density(field) : lower_.gradient_density(field));
      }
    }
    for (const auto& [name, term] : d_.potential_terms) add(name, term);
    if (!any) d_.fail(errors::not_yet(span, "`energies` without second-order equations"));
  }

  void field_output(Observable::Kind kind, const dsl::Expr& e, const std::string& given,
                    OutputClause& out) {
    Observable base;
    base.kind = kind;
    if (d_.system.instances() > 1) {
      d_.fail(errors::not_yet(e.span, fmt::format("`{}` in a sweep", e.text)));
    }
    base.span = e.span;
    for (const dsl::NamedArgument& option : e.named) {
      constexpr const char* kAxes[] = {"x", "y", "z"};
      const auto number = [&] {
        return static_cast<double>(lower_.fixed_number(*option.value, option.name));
      };
      int axis = -1;
      for (int k = 0; k < 3; ++k) {
        if (option.name == kAxes[k]) axis = k;
      }
      if (axis >= 0 && kind == Observable::Kind::Slice) {
        if (axis >= d_.grid.dims) {
          d_.fail(errors::option_value(option.span, "slice", "an axis of the lattice"));
        }
        base.axis = axis;
        base.coordinate = number();
      } else if (option.name == "bins") {
        base.bins = static_cast<int>(lower_.fixed_integer(*option.value, "the number of bins"));
        if (base.bins < 1) d_.fail(errors::not_positive(option.span, "bins", base.bins));
      } else if (option.name == "low") {
        base.low = number();
      } else if (option.name == "high") {
        base.high = number();
      } else {
        d_.fail(errors::not_yet(option.span, fmt::format("`{}` of `{}`", option.name, e.text)));
      }
    }
    // in fewer than three dimensions a slice across no axis is everything
    if (kind == Observable::Kind::Slice && base.axis >= d_.grid.dims) {
      base.kind = Observable::Kind::Snapshot;
    }
    if (kind == Observable::Kind::Spectrum && !d_.grid.periodic()) {
      d_.fail(errors::not_yet(e.span, "a spectrum in a box that is not periodic"));
    }
    for (const dsl::ExprPtr& arg : e.args) {
      const Value v = lower_.value(*arg);
      const std::string inner = dsl::to_text(*arg);
      for (std::size_t i = 0; i < v.parts.size(); ++i) {
        const std::string shown = v.scalar() ? inner : fmt::format("{}[{}]", inner, i);
        const auto add = [&](const std::string& what, Expr physical) {
          Observable o = base;
          o.name = given.empty() ? fmt::format("{}({})", e.text, what)
                   : e.args.size() * v.parts.size() == 1 && v.parts[i].real()
                       ? given
                       : fmt::format("{}({})", given, what);
          o.value = units_.quantity(physical);
          if (!algebra::per_site(o.value)) {
            d_.fail(errors::not_site_output(arg->span, written(d_, arg->span)));
          }
          out.observables.push_back(std::move(o));
        };
        const Component& c = v.parts[i];
        add(c.real() ? shown : "re(" + shown + ")", c.re);
        if (!c.real()) add("im(" + shown + ")", c.im);
      }
    }
  }

  Derivation& d_;
  Lowerer& lower_;
  ProgramUnits& units_;
  const Scope global_;
};

}  // namespace

void read_outputs(Derivation& d, Lowerer& lower, ProgramUnits& units) {
  Outputs outputs(d, lower, units);
  for (const dsl::Line& line : d.resolved.model.lines) {
    if (line.kind != dsl::Line::Kind::Clause) continue;
    if (line.clause.keyword != "every" && line.clause.keyword != "at end") continue;
    try {
      d.system.outputs.push_back(outputs.read(line.clause));
    } catch (const Failure&) {
      // reported; the next clause may have something to say as well
    }
  }
  outputs.begin_averages();
  for (const dsl::Clause* clause : d.resolved.clauses("plot")) outputs.plot(*clause);
}

}  // namespace vphi::physics
