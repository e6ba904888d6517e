// `every` and `at end`: what is written, how often, where.
#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/clock.hpp"
#include "compiler/physics/clauses/output_errors.hpp"
#include "compiler/physics/clauses/output_names.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/variation.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/steps.hpp"
#include "dsl/syntax/parse.hpp"

namespace vphi::physics {

using dsl::ExprKind;
using dsl::Item;

namespace {

const std::map<std::string, Observable::Kind> kFieldOutputs = {
    {"spectrum", Observable::Kind::Spectrum},     {"slice", Observable::Kind::Slice},
    {"snapshot", Observable::Kind::Snapshot},     {"histogram", Observable::Kind::Histogram},
    {"profile", Observable::Kind::Profile},       {"correlator", Observable::Kind::Correlator},
    {"occupation", Observable::Kind::Occupation},
};

constexpr const char* kAxes[] = {"x", "y", "z", "t"};

/// The whole of a field counts: |u|^2 is summed over its components.
bool sums_components(Observable::Kind kind) {
  return kind == Observable::Kind::Spectrum || kind == Observable::Kind::Correlator ||
         kind == Observable::Kind::Occupation;
}

class Outputs {
 public:
  Outputs(Derivation& d, Lowerer& lower, ProgramUnits& units)
      : d_(d), lower_(lower), units_(units) {}

  const WrittenOptions& options() const { return options_; }

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
    return out;
  }

 private:
  /// "name.h5", or ildg("name"), nersc("name"): files of links.
  std::string file_of(const dsl::Expr& target) {
    if (target.kind == ExprKind::String) return target.text;
    const bool links = target.text == "ildg" || target.text == "nersc";
    if (!links || target.args.size() != 1 || target.args[0]->kind != ExprKind::String) {
      d_.fail(errors::not_yet(target.span, "this kind of file"));
    }
    return target.args[0]->text + "." + target.text;
  }

  /// Every link's matrix: [mu][row][column][re, im].
  void links(const StateField& field, const dsl::Expr& e, OutputClause& out) {
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
    out.observables.push_back(std::move(o));
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
    const bool sweeps =
        word == "sweep" || word == "sweeps" || word == "trajectory" || word == "trajectories";
    if (word != "step" && word != "steps" && !(sweeps && d_.resolved.clause("sample"))) {
      d_.fail(errors::not_yet(item.span, fmt::format("output every so many {}", item.count_word)));
    }
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
    const double count = static_cast<double>(time) / d_.system.dt_physical;
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

  /// A chain's value at its end that is no average over it and depends on the configuration.
  void warn_of_last(const std::string& name, Expr value, dsl::Span span) {
    const auto* chain = std::get_if<MarkovChain>(&d_.system.dynamics);
    const auto* trajectory = std::get_if<Trajectory>(&d_.system.dynamics);
    const std::int64_t length = chain ? chain->sweeps : trajectory ? trajectory->count : 0;
    if (length < 2) return;
    const bool state = algebra::contains(value, [](Expr e) { return e.is(algebra::Op::Load); });
    if (!state || holds_statistics(d_, value)) return;
    d_.diagnostics.add(errors::last_configuration(span, name, trajectory ? "trajectory" : "sweep"));
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
        if (!out.regular() && i == 0) warn_of_last(shown, physical, e.span);
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
      out.file = clause.destination ? clause.destination->text : first_file();
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
      o.name = title(e);
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
      out.averages_from = out.regular() ? out.after : common;
    }
  }

 private:
  /// As the line says it: the name of an output is not spelled out.
  std::string title(const dsl::Expr& e) const {
    dsl::Diagnostics none;
    const auto text = std::make_shared<const dsl::Source>("plot", written(d_, e.span));
    const dsl::ExprPtr read = dsl::parse_expression(text, none);
    return dsl::to_text(read ? *read : e);
  }

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
      if (f.condition && algebra::depends_on(y, d_.arena().symbol(f.symbol))) time = false;
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
        if (!d_.gravitates(field)) continue;
        any = true;
        add(fmt::format("{}_{}", part, field.name),
            part[0] == 'k' ? lower_.kinetic_density(field) : lower_.gradient_density(field));
      }
    }
    for (const auto& [name, term] : d_.potential_terms) add(name, term);
    if (!any) d_.fail(errors::not_yet(span, "`energies` without second-order equations"));
  }

  // ---- options
  // ---------------------------------------------------------------------------------------

  [[noreturn]] void bad_value(const dsl::NamedArgument& option, const std::string& expected) {
    d_.fail(errors::option_value(option.span, option.name, expected));
  }

  int axis_of(const std::string& word) const {
    for (int k = 0; k < 4; ++k) {
      if (word == kAxes[k] && k < d_.grid.dims) return k;
    }
    return -1;
  }

  std::int64_t whole(const dsl::NamedArgument& option, std::int64_t low, std::int64_t high) {
    const auto n = lower_.fixed_integer(*option.value, fmt::format("`{}`", option.name));
    if (n < low || n > high)
      bad_value(option, fmt::format("a whole number from {} to {}", low, high));
    return n;
  }

  bool switched(const dsl::NamedArgument& option) {
    const std::string& word = option.value->text;
    if (word != "on" && word != "off") bad_value(option, "on or off");
    return word == "on";
  }

  void spectrum_option(Observable& base, const dsl::NamedArgument& option) {
    program::SpectrumForm& form = base.form.spectrum;
    const std::string& word = option.value->text;
    if (option.name == "type") {
      form.type = static_cast<int>(whole(option, 1, 2));
    } else if (option.name == "version") {
      form.version = static_cast<int>(whole(option, 1, 3));
    } else if (option.name == "cross") {
      form.cross = switched(option);
    } else if (option.name == "weights") {
      if (word != "sharp" && word != "defrost") bad_value(option, "sharp or defrost");
      form.two_bins = word == "defrost";
    } else if (option.name == "k") {
      if (word != "lattice" && word != "effective") bad_value(option, "lattice or effective");
      if (word == "effective") form.laplacian = {symbol_of(d_.laplacian)};
    } else if (option.name == "factor") {
      base.factor = scalar(*option.value, "`factor`");
    } else if (option.name == "mass") {
      const Expr mass = scalar(*option.value, "`mass`");
      base.mass2 = mass * mass;
    }
  }

  Expr scalar(const dsl::Expr& e, const std::string& what) {
    const Expr value = units_.quantity(lower_.real(e, what));
    if (algebra::per_site(value)) d_.fail(errors::not_scalar_output(e.span, written(d_, e.span)));
    return value;
  }

  /// Symbol of the model's Laplacian times dx^2.
  program::Symbol symbol_of(int stencil) {
    const algebra::StencilData& data = d_.arena().stencil_data(stencil);
    program::Symbol symbol;
    for (std::size_t i = 0; i < data.offsets.size(); ++i) {
      const auto& o = data.offsets[i].d;
      symbol.offsets.push_back({o[0], o[1], o[2], o[3]});
      symbol.weights.push_back(static_cast<double>(data.weights[i]) /
                               static_cast<double>(data.denominator));
    }
    return symbol;
  }

  /// `bins`, `low`, `high`, `scale`: a number for all axes, or a list with one for each.
  void histogram_option(Observable& base, const dsl::NamedArgument& option) {
    auto& axes = base.form.histogram;
    const bool list = option.value->kind == ExprKind::List;
    if (list && option.value->args.size() != axes.size())
      bad_value(option, fmt::format("one value for each of the {} axes", axes.size()));
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const dsl::Expr& e = list ? *option.value->args[i] : *option.value;
      if (option.name == "scale") {
        if (e.text != "log" && e.text != "linear") bad_value(option, "linear or log");
        axes[i].log = e.text == "log";
      } else if (option.name == "bins") {
        const auto bins = lower_.fixed_integer(e, "the number of bins");
        if (bins < 1 || bins > 65536) bad_value(option, "1 to 65536 bins");
        axes[i].bins = static_cast<int>(bins);
      } else {
        const bool low = option.name == "low";
        const auto number = static_cast<double>(lower_.fixed_number(e, option.name));
        (low ? axes[i].low : axes[i].high) = number;
        (low ? axes[i].find_low : axes[i].find_high) = false;
      }
    }
  }

  void check_histogram(const Observable& base, const dsl::Expr& e) {
    for (const program::HistogramAxis& axis : base.form.histogram) {
      if (!axis.find_low && !axis.find_high && !(axis.low < axis.high))
        d_.fail(errors::option_value(e.span, "high", "a number above `low`"));
      if (axis.log && ((!axis.find_low && axis.low <= 0) || (!axis.find_high && axis.high <= 0)))
        d_.fail(errors::option_value(e.span, "low", "a positive number where the scale is log"));
    }
  }

  void along(Observable& base, const dsl::NamedArgument& option) {
    const std::string& word = option.value->text;
    base.form.axis = axis_of(word);
    if (base.form.axis < 0 && word != "r") bad_value(option, "r or an axis of the lattice");
  }

  void read_option(Observable& base, const dsl::Expr&, const dsl::NamedArgument& option) {
    using Kind = Observable::Kind;
    const std::string& name = option.name;
    if (base.kind == Kind::Slice) {
      const int axis = axis_of(name);
      if (axis < 0) d_.fail(errors::option_value(option.span, "slice", "an axis of the lattice"));
      base.form.axis = axis;
      base.coordinate = static_cast<double>(lower_.fixed_number(*option.value, name));
    } else if (name == "over" && base.kind == Kind::Histogram) {
      std::vector<dsl::ExprPtr> names = option.value->args;
      if (option.value->kind != ExprKind::List) names = {option.value};
      for (const dsl::ExprPtr& axis : names) {
        if (axis->text == "time") {
          d_.fail(errors::not_yet(axis->span, "a histogram over time"));
        }
        // picked by --set an axis is gone: the histogram is of what is left
        if (const int k = axis_named(axis->text); k >= 0) base.form.over.push_back(k);
      }
      over_ = true;
    } else if (base.kind == Kind::Histogram) {
      histogram_option(base, option);
    } else if (name == "along") {
      along(base, option);
    } else if (name == "bins") {
      base.form.bins = static_cast<int>(whole(option, 1, 1 << 20));
    } else {
      spectrum_option(base, option);
    }
  }

  // ---- values of fields
  // -------------------------------------------------------------------------------

  using Parts = std::vector<Observable::Part>;

  /// Distinct real components with the number of times each occurs.
  Parts components(const Value& v, double norm = 1) {
    Parts parts;
    const auto add = [&](Expr physical) {
      const Expr value = units_.quantity(physical);
      for (Observable::Part& part : parts) {
        if (part.value == value) {
          part.weight += norm;
          return;
        }
      }
      parts.push_back({value, norm});
    };
    for (const Component& c : v.parts) {
      add(c.re);
      if (!c.real()) add(c.im);
    }
    std::erase_if(parts, [&](const Observable::Part& part) {
      return parts.size() > 1 && !algebra::per_site(part.value);
    });
    return parts;
  }

  /// Every component in its order; of complex values the real part before the imaginary one.
  Parts all_components(const Value& v) {
    Parts parts;
    for (const Component& c : v.parts) {
      parts.push_back({units_.quantity(c.re), 1});
      if (v.complex()) parts.push_back({c.im ? units_.quantity(c.im) : d_.arena().integer(0), 1});
    }
    return parts;
  }

  static void set_parts(Observable& o, const Parts& parts) {
    o.value = parts[0].value;
    o.form.weight = parts[0].weight;
    o.more.assign(parts.begin() + 1, parts.end());
  }

  void need_per_site(const Observable& o, dsl::Span span) {
    bool fine = algebra::per_site(o.value);
    for (const Observable::Part& part : o.more) fine = fine && algebra::per_site(part.value);
    if (!fine) d_.fail(errors::not_site_output(span, written(d_, span)));
  }

  /// `histogram(..., over = path)` of a value that an instance has once: a first passage, an
  /// average over time. Each instance counts once.
  bool counts_instances(Expr value) const { return over_ && !algebra::per_site(value); }

  /// f', or with the Hubble term f' + H f, which is (a f)' in conformal time but for a^2.
  Value rate_of(const Value& v, bool hubble, dsl::Span span) {
    Value rate = lower_.time_derivative(v, span);
    for (std::size_t i = 0; hubble && i < rate.parts.size(); ++i) {
      const auto add = [&](Expr& part, Expr of) {
        if (of) part = part + d_.hubble() * of;
      };
      add(rate.parts[i].re, v.parts[i].re);
      add(rate.parts[i].im, v.parts[i].im);
    }
    return rate;
  }

  /// f and f' of a field and what its particles are counted with (runtime/observe/spectrum.hpp).
  void occupation(Observable& o, const dsl::Expr& arg, bool hubble) {
    const Value v = lower_.value(arg);
    const StateField* field = arg.kind == ExprKind::Name ? d_.field(arg.text) : nullptr;
    if (field && field->order != 2)
      d_.fail(errors::not_yet(arg.span, "the occupation number of a first-order field"));
    const double norm = field ? field->norm() : v.complex() ? 2 : 1;
    Parts parts = components(v, norm);
    const Parts rates = components(rate_of(v, hubble, arg.span), norm);
    if (parts.size() != rates.size())
      d_.fail(errors::not_yet(arg.span, "the occupation number of this"));
    parts.insert(parts.end(), rates.begin(), rates.end());
    set_parts(o, parts);
    Arena& arena = d_.arena();
    o.factor = units_.quantity(d_.expanding() ? d_.scale() : arena.integer(1));
    if (o.mass2) return;
    if (!field) d_.fail(errors::option_value(arg.span, "mass", "the mass of what is not a field"));
    // <V''>, averaged over the components; of a complex field along each canonical direction
    Expr sum = arena.integer(0);
    for (const int array : field->arrays) {
      if (!d_.potential) break;
      const Expr slope = variation(d_, d_.potential, Functional::Density, array, arg.span) /
                         arena.integer(field->norm());
      sum = sum + algebra::local_derivative(slope, arena.load(array));
    }
    sum = sum / arena.integer(static_cast<std::int64_t>(field->arrays.size()));
    o.mass2 = units_.quantity(algebra::per_site(sum) ? arena.make(algebra::Op::Mean, {sum}) : sum);
  }

  void field_output(Observable::Kind kind, const dsl::Expr& e, const std::string& given,
                    OutputClause& out) {
    using Kind = Observable::Kind;
    Observable base;
    base.kind = kind;
    base.span = e.span;
    bool cross = false, map = false, hubble = false;
    over_ = false;
    for (const dsl::NamedArgument& option : e.named) {
      if (option.name == "hubble") {
        hubble = switched(option);
        if (hubble && !d_.expanding()) bad_value(option, "off: nothing expands");
      }
      cross = cross || (option.name == "cross" && switched(option));
      map = map || (option.name == "bins" && option.value->kind == ExprKind::List);
    }
    map = map && kind == Kind::Histogram;
    if (kind == Kind::Histogram) base.form.histogram.resize(map ? e.args.size() : 1);
    if (kind == Kind::Profile || kind == Kind::Spectrum) base.form.axis = 0;
    if (kind == Kind::Correlator) base.form.axis = -1;
    for (const dsl::NamedArgument& option : e.named) read_option(base, e, option);
    check_histogram(base, e);
    const std::size_t first = out.observables.size();
    program::SpectrumForm& form = base.form.spectrum;
    if (!form.laplacian.empty() && form.version == 1) form.version = 2;
    // in fewer than three dimensions a slice across no axis is everything
    if (kind == Kind::Slice && base.form.axis >= d_.grid.dims) base.form.axis = -1;
    if (sums_components(kind)) {
      if (!d_.periodic())
        d_.fail(errors::not_yet(e.span, fmt::format("`{}` in a box that is not periodic", e.text)));
      if (d_.grid.dims > 3)
        d_.fail(errors::not_yet(e.span, fmt::format("`{}` in four dimensions", e.text)));
    }
    if ((cross || map) && e.args.size() != 2)
      d_.fail(errors::wrong_shape(e.span, fmt::format("this `{}` is of two values", e.text)));
    if (cross || map) {
      pair_output(base, e, given, out);
      note_options(e, given, out, first);
      return;
    }
    for (const dsl::ExprPtr& arg : e.args) {
      const std::string inner = dsl::to_text(*arg);
      const Value v = lower_.value(*arg);
      const auto add = [&](const std::string& what, bool alone, const Parts& parts) {
        Observable o = base;
        o.name = given.empty() ? fmt::format("{}({})", e.text, what)
                 : alone       ? given
                               : fmt::format("{}({})", given, what);
        if (kind == Kind::Occupation) {
          occupation(o, *arg, hubble);
        } else {
          set_parts(o, parts);
        }
        if (!counts_instances(parts[0].value)) need_per_site(o, arg->span);
        out.observables.push_back(std::move(o));
      };
      if (sums_components(kind)) {
        add(inner, e.args.size() == 1, components(v));
        continue;
      }
      if (kind == Kind::Snapshot) {
        base.form.value.clear();
        if (!v.scalar()) base.form.value.push_back(v.rows);
        if (v.columns > 1) base.form.value.push_back(v.columns);
        base.form.complex = v.complex();
        add(inner, e.args.size() == 1, all_components(v));
        continue;
      }
      for (std::size_t i = 0; i < v.parts.size(); ++i) {
        const std::string shown = v.scalar() ? inner : fmt::format("{}[{}]", inner, i);
        const Component& c = v.parts[i];
        const bool alone = e.args.size() * v.parts.size() == 1 && c.real();
        add(c.real() ? shown : "re(" + shown + ")", alone, {{units_.quantity(c.re), 1}});
        if (!c.real()) add("im(" + shown + ")", false, {{units_.quantity(c.im), 1}});
      }
    }
    note_options(e, given, out, first);
  }

  /// Of the outputs from number `first` on.
  void note_options(const dsl::Expr& e, const std::string& given, const OutputClause& out,
                    std::size_t first) {
    if (e.named.empty()) return;
    std::string text;
    for (const dsl::NamedArgument& option : e.named)
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", option.name,
                          dsl::to_text(*option.value));
    for (std::size_t i = first; i < out.observables.size(); ++i)
      options_[{d_.system.outputs.size(), i}] = {text, !given.empty()};
  }

  /// Two values that make one output: a cross spectrum, a map of counts.
  void pair_output(const Observable& base, const dsl::Expr& e, const std::string& given,
                   OutputClause& out) {
    Observable o = base;
    o.name = given.empty() ? fmt::format("{}({}, {})", e.text, dsl::to_text(*e.args[0]),
                                         dsl::to_text(*e.args[1]))
                           : given;
    o.value = units_.quantity(lower_.real(*e.args[0], "what is counted"));
    o.more = {{units_.quantity(lower_.real(*e.args[1], "what is counted")), 1}};
    if (!counts_instances(o.value) && !counts_instances(o.more[0].value)) need_per_site(o, e.span);
    out.observables.push_back(std::move(o));
  }

  Derivation& d_;
  Lowerer& lower_;
  ProgramUnits& units_;
  bool over_ = false;  ///< the output being read is over axes of the sweep
  WrittenOptions options_;
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
  settle_names(d, outputs.options());
  outputs.begin_averages();
  for (const dsl::Clause* clause : d.ledger.clauses("plot")) {
    d.ledger.everything(*clause);
    outputs.plot(*clause);
  }
}

}  // namespace vphi::physics
