#include "compiler/physics/clauses/field_outputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/box_errors.hpp"
#include "compiler/physics/clauses/output_units.hpp"
#include "compiler/physics/clauses/twists.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/lower/variation.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/spinors/edges.hpp"
#include "compiler/physics/spinors/solve_errors.hpp"
#include "compiler/physics/stages/program.hpp"
#include "dsl/syntax/parse.hpp"
#include "program/wave_numbers.hpp"

namespace vphi::physics {

using dsl::ExprKind;
using program::OutputArrays, program::OutputAxis;

namespace {

/// Whether the output sums |u|^2 over all components of a field.
bool sums_components(OutputArrays arrays) {
  return arrays == OutputArrays::Summed || arrays == OutputArrays::WithRates;
}

class FieldOutputs {
 public:
  FieldOutputs(const Program& d, Lowerer& lower, ProgramUnits& units)
      : d_(d), lower_(lower), units_(units) {}

  std::vector<Observable> read(Observable::Kind kind, const dsl::Expr& e,
                               const std::string& given) {
    std::vector<Observable> out;
    const program::OutputRow& row = program::row_of(kind);
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
    if (row.arrays == OutputArrays::Carried) {
      out.push_back(surface(std::move(base), e, given));
      return out;
    }
    const bool counted = row.arrays == OutputArrays::Counted;
    map = map && counted;
    if (counted) base.form.histogram.resize(map ? e.args.size() : 1);
    if (row.axis == OutputAxis::Along) base.form.axis = 0;
    if (row.axis == OutputAxis::ByDistance) base.form.axis = -1;
    for (const dsl::NamedArgument& option : e.named) read_option(base, e, option);
    check_histogram(base, e);
    program::SpectrumForm& form = base.form.spectrum;
    if (!form.laplacian.empty()) refuse_first_version(e);
    if ((!form.laplacian.empty() || form.single) && form.version == 1) form.version = 2;
    if (form.single && !program::WaveNumbers::of(d_.grid.extent))
      d_.fail(errors::not_yet(e.span, "`bins = single` in a box of so many wave numbers"));
    if (form.single)
      for (const dsl::NamedArgument& option : e.named)
        if (option.name == "version" || option.name == "weights")
          bad_value(option, "left out: with bins = single no modes of different k share a bin");
    // in fewer than three dimensions a slice without a plane is the whole lattice
    if (row.axis == OutputAxis::Across && base.form.axis >= d_.grid.dims) base.form.axis = -1;
    if (sums_components(row.arrays)) {
      if (d_.grid.shifted()) d_.fail(errors::shifted_box(e.span, quoted(e), d_.grid.span));
      if (has_ends())
        d_.fail(errors::not_yet(e.span, fmt::format("`{}` in a box that is not periodic", e.text)));
      for (const dsl::ExprPtr& arg : e.args) check_periodic(e, *arg);
    }
    if ((cross || map) && e.args.size() != 2)
      d_.fail(errors::wrong_shape(e.span, fmt::format("this `{}` is of two values", e.text)));
    if (cross || map) {
      out.push_back(pair_output(base, e, given));
      return out;
    }
    for (const dsl::ExprPtr& arg : e.args) {
      const std::string inner = dsl::to_text(*arg);
      const Value v = lower_.value(*arg);
      const auto add = [&](const std::string& what, bool alone, const Parts& parts) {
        Observable o = base;
        o.name = given.empty() ? fmt::format("{}({})", e.text, what)
                 : alone       ? given
                               : fmt::format("{}({})", given, what);
        o.unit = units_of(d_, o, *arg);
        if (row.arrays == OutputArrays::WithRates) {
          occupation(o, *arg, hubble);
        } else {
          set_parts(o, parts);
        }
        if (sums_components(row.arrays)) check_phases(o, *arg, e.text);
        if (!counts_instances(parts[0].value)) need_per_site(o, arg->span);
        out.push_back(std::move(o));
      };
      if (sums_components(row.arrays)) {
        add(inner, e.args.size() == 1, components(v));
        continue;
      }
      if (row.arrays == OutputArrays::Whole) {
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
    return out;
  }

 private:
  // ---- options ----------------------------------------------------------------------------------

  static std::string quoted(const dsl::Expr& e) { return "`" + e.text + "`"; }

  /// Waves and distances around the box are those of periodic values.
  void check_periodic(const dsl::Expr& output, const dsl::Expr& arg) {
    for (const Component& part : lower_.value(arg).parts)
      if (gains_phase(d_, part.re) || (part.im && gains_phase(d_, part.im)))
        d_.fail(errors::phase_in_output(arg.span, output.text));
  }

  [[noreturn]] void bad_value(const dsl::NamedArgument& option, const std::string& expected) {
    d_.fail(errors::option_value(option.span, option.name, expected));
  }

  /// Bins of effective wave numbers have no k of their own.
  void refuse_first_version(const dsl::Expr& e) {
    for (const dsl::NamedArgument& option : e.named)
      if (option.name == "version" && whole(option, 1, 3) == 1)
        bad_value(option, "2 or 3 with k = effective, the mean of the k of a bin");
  }

  int axis_of(const std::string& word) const {
    for (int k = 0; k < 4; ++k) {
      if (word == algebra::kAxisNames[k] && k < d_.grid.dims) return k;
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
      const bool spectral =
          d_.laplacian >= 0 && d_.arena().stencil_data(d_.laplacian).spectral;  // k itself
      if (word == "effective") d_.ledger.choice("laplacian");
      if (word == "effective" && !spectral) form.laplacian = {symbol_of(d_.laplacian)};
    } else if (option.name == "factor") {
      base.factor = scalar(*option.value, "`factor`");
    } else if (option.name == "mass") {
      const Expr mass = scalar(*option.value, "`mass`");
      base.mass2 = mass * mass;
    } else if (option.name != "hubble") {  // read with the first of them
      unread(option);
    }
  }

  /// An option that a row of program/outputs.def allows has no meaning here.
  [[noreturn]] static void unread(const dsl::NamedArgument& option) {
    throw std::logic_error("program/outputs.def: nothing reads the option `" + option.name + "`");
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
      } else if (option.name == "low") {
        axes[i].low = static_cast<double>(lower_.fixed_number(e, option.name));
        axes[i].find_low = false;
      } else if (option.name == "high") {
        axes[i].high = static_cast<double>(lower_.fixed_number(e, option.name));
        axes[i].find_high = false;
      } else {
        unread(option);
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

  /// `every = 4`, or one number for each axis; `x = [-1, 1]`: from the nearest site to -1 to that
  /// to 1.
  void sites_option(Observable& base, const dsl::NamedArgument& option) {
    const auto dims = static_cast<std::size_t>(d_.grid.dims);
    const bool list = option.value->kind == ExprKind::List;
    if (option.name == "every") {
      if (list && option.value->args.size() != dims)
        bad_value(option, fmt::format("a number, or one for each of the {} axes", dims));
      for (std::size_t axis = 0; axis < dims; ++axis) {
        const dsl::Expr& e = list ? *option.value->args[axis] : *option.value;
        const auto every = lower_.fixed_integer(e, "`every`");
        if (every < 1 || every > d_.grid.extent[axis])
          bad_value(option, fmt::format("whole numbers from 1 to the sites of an axis ({})",
                                        d_.grid.extent[axis]));
        base.form.sites[axis].every = every;
      }
      return;
    }
    const int axis = axis_of(option.name);
    if (axis < 0)
      d_.fail(errors::option_value(option.span, "snapshot", "an axis of the lattice, or `every`"));
    if (!list || option.value->args.size() != 2)
      bad_value(option, "two coordinates: from where and to where");
    const auto a = static_cast<std::size_t>(axis);
    const std::int64_t n = d_.grid.extent[a];
    const double dx = static_cast<double>(d_.grid.dx->number.real);
    const double half = 0.5 * dx * static_cast<double>(n);
    std::array<double, 2> ends{};
    for (std::size_t i = 0; i < 2; ++i)
      ends[i] = static_cast<double>(lower_.fixed_number(*option.value->args[i], option.name));
    if (!(ends[0] <= ends[1]) || ends[0] < -half * (1 + 1e-9) || ends[1] > half * (1 + 1e-9))
      bad_value(option,
                fmt::format("two coordinates of the box, from {:.6g} to {:.6g}, the smaller "
                            "one first",
                            -half, half));
    const auto nearest = [&](double x) {
      const double site = std::round(x / dx + 0.5 * static_cast<double>(n - 1));
      return std::clamp(static_cast<std::int64_t>(site), std::int64_t{0}, n - 1);
    };
    base.form.sites[a].first = nearest(ends[0]);
    base.form.sites[a].last = nearest(ends[1]);
  }

  void along(Observable& base, const dsl::NamedArgument& option) {
    const std::string& word = option.value->text;
    base.form.axis = axis_of(word);
    if (base.form.axis < 0 && word != "r") bad_value(option, "r or an axis of the lattice");
  }

  void read_option(Observable& base, const dsl::Expr& e, const dsl::NamedArgument& option) {
    const program::OutputRow& row = program::row_of(*base.kind);
    const bool counted = row.arrays == OutputArrays::Counted;
    const std::string& name = option.name;
    if (*base.kind == Observable::Kind::Snapshot) {
      sites_option(base, option);
    } else if (row.axis == OutputAxis::Across) {
      const int axis = axis_of(name);
      if (axis < 0)
        d_.fail(errors::option_value(option.span, std::string(row.name), "an axis of the lattice"));
      if (e.named.size() > 1)
        d_.fail(errors::option_value(e.span, std::string(row.name),
                                     "one plane, across one axis; part of the box is "
                                     "`snapshot(u, x = [0, 0], y = [1, 1])`"));
      base.form.axis = axis;
      base.coordinate = static_cast<double>(lower_.fixed_number(*option.value, name));
      const double half = 0.5 * static_cast<double>(d_.grid.dx->number.real) *
                          static_cast<double>(d_.grid.extent[static_cast<std::size_t>(axis)]);
      if (!(std::abs(base.coordinate) <= half * (1 + 1e-9)))
        bad_value(option,
                  fmt::format("a coordinate in the box, from {:.6g} to {:.6g}", -half, half));
    } else if (name == "over" && counted) {
      std::vector<dsl::ExprPtr> names = option.value->args;
      if (option.value->kind != ExprKind::List) names = {option.value};
      for (const dsl::ExprPtr& axis : names) {
        if (axis->text == "time") {
          d_.fail(errors::not_yet(axis->span, "a histogram over time"));
        }
        // an axis whose value --set picks does not exist any more: the histogram is over the axes
        // left
        if (const int k = axis_of_sweep(d_, axis->text); k >= 0) base.form.over.push_back(k);
      }
      over_ = true;
    } else if (counted) {
      histogram_option(base, option);
    } else if (name == "along") {
      along(base, option);
    } else if (name == "bins" && *base.kind == Observable::Kind::Spectrum) {
      if (option.value->text != "shells" && option.value->text != "single")
        bad_value(option, "shells or single");
      base.form.spectrum.single = option.value->text == "single";
    } else if (name == "bins") {
      base.form.bins = static_cast<int>(whole(option, 1, 1 << 20));
    } else {
      spectrum_option(base, option);
    }
  }

  // ---- values of fields -------------------------------------------------------------------------

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

  /// Fills in f and f' of a field and the numbers its occupation number needs
  /// (runtime/observe/spectrum.hpp).
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

  /// Two values that make one output: a cross spectrum, a map of counts.
  Observable pair_output(const Observable& base, const dsl::Expr& e, const std::string& given) {
    Observable o = base;
    o.name = given.empty() ? fmt::format("{}({}, {})", e.text, dsl::to_text(*e.args[0]),
                                         dsl::to_text(*e.args[1]))
                           : given;
    o.unit = units_of(d_, o, *e.args[0]);
    o.value = units_.quantity(lower_.real(*e.args[0], "what is counted"));
    o.more = {{units_.quantity(lower_.real(*e.args[1], "what is counted")), 1}};
    if (!counts_instances(o.value) && !counts_instances(o.more[0].value)) need_per_site(o, e.span);
    return o;
  }

  /// The surface where a value has a level, with what its elements carry.
  Observable surface(Observable o, const dsl::Expr& e, const std::string& given) {
    if (e.args.size() != 1)
      d_.fail(
          errors::wrong_shape(e.span, "a surface is of one value; `carry = [...]` names others"));
    o.name = given.empty() ? fmt::format("{}({})", e.text, dsl::to_text(*e.args[0])) : given;
    if (d_.grid.shifted()) d_.fail(errors::shifted_box(e.span, quoted(e), d_.grid.span));
    check_periodic(e, *e.args[0]);
    o.value = units_.quantity(lower_.real(*e.args[0], "what has a level"));
    need_per_site(o, e.args[0]->span);
    std::vector<dsl::ExprPtr> carried;
    for (const dsl::NamedArgument& option : e.named) {
      if (option.name == "level") {
        o.factor = scalar(*option.value, "`level`");
      } else if (option.name == "time") {
        o.form.in_time = switched(option);
      } else if (option.name == "carry") {
        carried = option.value->args;
        if (option.value->kind != ExprKind::List) carried = {option.value};
      } else {
        unread(option);
      }
    }
    if (!o.factor)
      d_.fail(errors::option_value(e.span, "level", "the value on the surface: `level = ...`"));
    if (o.form.in_time && d_.grid.dims > 3)
      d_.fail(errors::not_yet(e.span, "a surface in time and four dimensions"));
    std::vector<std::string> units;
    for (const dsl::ExprPtr& arg : carried) carry(o, *arg, units);
    o.unit = units_of_surface(d_, o, units);
    open_axes(o);
    return o;
  }

  void carry(Observable& o, const dsl::Expr& e, std::vector<std::string>& units) {
    const std::string text = dsl::to_text(e);
    if (text.find(',') != std::string::npos)
      d_.fail(errors::option_value(
          e.span, "carry", fmt::format("names: the column of `{}` needs one, so define it", text)));
    const Value v = lower_.value(e);
    for (std::size_t i = 0; i < v.parts.size(); ++i) {
      const auto columns = static_cast<std::size_t>(v.columns);
      std::string name = text;
      if (v.columns > 1)
        name += fmt::format("[{}][{}]", i / columns, i % columns);
      else if (!v.scalar())
        name += fmt::format("[{}]", i);
      const auto add = [&](const std::string& column, Expr value) {
        o.form.carried.push_back(column);
        o.more.push_back({units_.quantity(value ? value : d_.arena().integer(0)), 1});
        units.push_back(unit_of(d_, e));
        if (!algebra::per_site(o.more.back().value))
          d_.fail(errors::not_site_output(e.span, written(d_, e.span)));
      };
      const Component& c = v.parts[i];
      if (!v.complex()) {
        add(name, c.re);
      } else {
        add("re(" + name + ")", c.re);
        add("im(" + name + ")", c.im);
      }
    }
  }

  /// Whether the box or a field of it has a boundary that is neither periodic nor twisted.
  bool has_ends() const {
    const auto periodic = [](Walls walls) {
      walls.twist = {};
      return walls.periodic(4);
    };
    return !periodic(d_.grid) || !std::ranges::all_of(d_.fields, [&](const StateField& field) {
      return periodic(d_.walls_of(field.arrays[0]));
    });
  }

  /// Waves of the box are those of a periodic value.
  void check_phases(const Observable& o, const dsl::Expr& e, const std::string& what) const {
    for (const StateField& field : d_.fields) {
      for (int axis = 0; axis < d_.grid.dims; ++axis) {
        const auto jumps = [&](Expr value) { return !periodic_across_twist(d_, value, axis); };
        if (field.spinor || !field.walls.twist[static_cast<std::size_t>(axis)]) continue;
        if (jumps(o.value) || std::ranges::any_of(o.more, [&](const Observable::Part& part) {
              return jumps(part.value);
            }))
          d_.fail(errors::twisted_waves(e.span, what, dsl::to_text(e), algebra::kAxisNames[axis]));
      }
    }
  }

  /// Axes along which the value is not periodic.
  void open_axes(Observable& o) const {
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      const auto k = static_cast<std::size_t>(axis);
      bool open = d_.grid.boundary[k] != Boundary::Periodic;
      algebra::visit(o.value, [&](Expr part) {
        if (part->op == algebra::Op::Load)
          open = open || d_.walls_of(part->index).boundary[k] != Boundary::Periodic ||
                 d_.walls_of(part->index).twist[k];
        if (part->op == algebra::Op::Site) open = open || part->index == axis;
      });
      if (open) o.form.open_axes.push_back(axis);
    }
  }

  const Program& d_;
  Lowerer& lower_;
  ProgramUnits& units_;
  bool over_ = false;  ///< the output being read is over axes of the sweep
};

}  // namespace

std::optional<Observable::Kind> field_output_kind(const dsl::Expr& e) {
  const program::OutputRow* row =
      e.kind == ExprKind::Call ? program::output_named(e.text) : nullptr;
  return row != nullptr ? std::optional(row->kind) : std::nullopt;
}

std::vector<Observable> field_outputs(const Program& d, Lowerer& lower, ProgramUnits& units,
                                      Observable::Kind kind, const dsl::Expr& e,
                                      const std::string& given) {
  return FieldOutputs(d, lower, units).read(kind, e, given);
}

int axis_of_sweep(const Setting& d, const std::string& name) {
  for (std::size_t k = 0; k < d.axes.size(); ++k) {
    if (d.axes[k].name == name) return static_cast<int>(k);
  }
  return -1;
}

}  // namespace vphi::physics
