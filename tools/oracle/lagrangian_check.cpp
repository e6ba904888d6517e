#include "tools/oracle/lagrangian_check.hpp"

#include <array>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "dsl/syntax/parse.hpp"
#include "tools/oracle/both_sides.hpp"
#include "tools/oracle/derived_value.hpp"
#include "tools/oracle/drawn_state.hpp"
#include "tools/oracle/shown_state.hpp"
#include "tools/oracle/text/slope.hpp"
#include "tools/oracle/text/written_value.hpp"

namespace vphi::tools {

using physics::Variable;

namespace {

constexpr int kDraws = 3, kTimes = 5, kNow = 2;
constexpr unsigned kSeed = 2903;

/// (8 (f(h) - f(-h)) - f(2h) + f(-2h))/12h of five values.
long double slope_of_five(const std::array<long double, kTimes>& f, long double h) {
  return slope_of_four(f[0], f[1], f[3], f[4], h);
}

class FollowedLagrangian {
 public:
  FollowedLagrangian(const dsl::Resolved& resolved, const physics::System& system)
      : resolved_(resolved),
        system_(system),
        text_(resolved),
        derived_(system),
        state_(system, text_, derived_),
        drawn_(system, text_, derived_, state_) {}

  std::vector<DerivativeRow> rows() {
    prepare_sides(resolved_, system_, text_, derived_);
    for (const Variable& v : system_.variables)
      derived_.arrays[v.array].assign(static_cast<std::size_t>(text_.box.sites()), 0);
    list();
    for (unsigned draw = 0; draw < kDraws; ++draw) {
      std::mt19937_64 random(kSeed + draw);
      drawn_.variables(random);
      drawn_.start_scalars();
      if (text_.closed() && !(text_.curves() ? close_with_curvature() : close())) continue;
      follow();
      for (Compared& c : compared_) compare(c, random);
    }
    std::vector<DerivativeRow> result;
    for (Compared& c : compared_) result.push_back(c.row.done());
    return result;
  }

 private:
  enum class What { Motion, Momentum, Equation, Scale, Output };
  struct Compared {
    What what;
    Filling row;
    Written::Coordinate at;              ///< of the text
    const Variable* variable = nullptr;  ///< a momentum of the System
    const physics::EquationFact* equation = nullptr;
    const dsl::Expr* text = nullptr;  ///< of an output
    algebra::Expr output = {};
    bool stopped = false;
  };

  // ---- what is compared

  void add(What what, const std::string& name, const std::string& source, Compared more) {
    more.what = what;
    more.row = Filling({name, source, 0, 0, {}});
    compared_.push_back(std::move(more));
  }
  static Compared none() { return {What::Motion, Filling({}), {}, nullptr, nullptr, nullptr}; }

  void list() {
    for (const Variable& v : system_.variables) {
      const auto at = v.frozen ? std::nullopt : standing(text_, v.shown);
      if (!at || ShownState::second_order_momentum(v)) continue;
      Compared c = none();
      c.at = {at->field, 0, at->real, at->mirror};
      c.variable = &v;
      WrittenField& f = *at->field;
      c.equation = text_.facts().equation(f.name);
      if (f.phase) c.at.axis = static_cast<int>(at->real / 2);
      if (c.equation)
        add(What::Equation, v.shown + (f.order == 2 ? "''" : "'"), "its equation", c);
      else if (const WrittenField* links = links_of_momentum(f))
        add(What::Momentum, v.shown, "dL/d" + links->name + "'", with_link(c, *links));
      else
        add(What::Motion, v.shown + "''", "the Lagrangian", c);
    }
    for (auto& [name, f] : text_.fields) list_matrices(name, f);
    constrained_ = text_.curves() && text_.facts().equations.empty();
    if (text_.closed())
      add(What::Scale, state_.scale().symbol + "''",
          constrained_ ? "the constraint" : "the averages", none());
    list_outputs();
  }

  void list_matrices(const std::string& name, WrittenField& f) {
    constexpr const char* kAxes[] = {"x", "y", "z", "t"};
    for (int axis = 0; f.colours > 0 && axis < text_.box.dims; ++axis) {
      for (int a = 0; a < f.colours * f.colours - 1; ++a) {
        Compared c = none();
        c.at.field = &f;
        c.at.axis = axis;
        c.at.generator = a;
        add(What::Motion, fmt::format("{}[{}]'' along generator {}", name, kAxes[axis], a + 1),
            "the Lagrangian", c);
      }
    }
  }

  /// Outputs that read a rate, the name of a momentum, or an energy that holds f*R.
  void list_outputs() {
    for (const char* keyword : {"every", "at end"}) {
      for (const dsl::Clause* clause : resolved_.clauses(keyword)) {
        for (const dsl::Item& item : clause->items) {
          if (!item.value) continue;
          const std::string name = item.head ? item.head->name : dsl::to_text(*item.value);
          std::set<std::string> seen;
          const physics::Observable* output = output_named(name);
          if (!output || !reads_motion(*item.value, seen)) continue;
          Compared c = none();
          c.text = item.value.get();
          c.output = output->value;
          add(What::Output, name, "its text", c);
        }
      }
    }
  }

  const physics::Observable* output_named(const std::string& name) const {
    for (const physics::OutputClause& clause : system_.outputs)
      for (const physics::Observable& output : clause.observables)
        if (!output.kind && output.name == name) return &output;
    return nullptr;
  }

  bool reads_motion(const dsl::Expr& e, std::set<std::string>& seen) const {
    if (e.kind == dsl::ExprKind::Prime) return true;
    const auto field = text_.fields.find(e.text);
    if (e.kind == dsl::ExprKind::Name && field != text_.fields.end())
      return links_of_momentum(field->second) != nullptr;
    const physics::NamedFact* fact = text_.facts().find(e.text);
    const bool energy = e.text == "rho" || e.text == "p" || e.text == "w";
    if (energy && !fact && text_.curves()) return true;
    if (fact && fact->value && seen.insert(e.text).second && reads_motion(*fact->value, seen))
      return true;
    return std::any_of(e.args.begin(), e.args.end(),
                       [&](const auto& arg) { return reads_motion(*arg, seen); });
  }

  /// The links that this field of a `gauge` line is the momentum of; null: it is none.
  const WrittenField* links_of_momentum(const WrittenField& f) const {
    if (!f.link || f.phase || f.colours > 0) return nullptr;
    const physics::FieldFact* own = text_.facts().field(f.name);
    for (const auto& [name, other] : text_.fields) {
      const physics::FieldFact* fact = text_.facts().field(name);
      if ((other.phase || other.colours > 0) && own && fact && fact->line == own->line)
        return &other;
    }
    return nullptr;
  }

  /// The coordinate that the number of a momentum belongs to.
  Compared with_link(Compared c, const WrittenField& links) {
    const std::size_t number = c.at.real / 2;
    const auto columns = static_cast<std::size_t>(c.at.field->columns);
    c.at.field = &text_.fields.at(links.name);
    c.at.axis = static_cast<int>(number / columns);
    c.at.generator = static_cast<int>(number % columns);
    return c;
  }

  // ---- the state

  void show() {
    derived_.changed();
    state_.background();
    state_.show();
    for (StoredLinks& links : links_of(text_, system_))
      links.read([&](int array, int site) {
        return derived_.arrays.at(array).at(static_cast<std::size_t>(site));
      });
    show_rates();
  }

  /// Rates of what has a momentum of another kind than u'.
  void show_rates() {
    const long double clock = state_.time_rate();
    for (const Variable& v : system_.variables) {
      const auto at = v.frozen ? std::nullopt : standing(text_, v.shown);
      const bool shown = at && v.partner >= 0 && state_.variable(v.partner) &&
                         ShownState::second_order_momentum(*state_.variable(v.partner));
      if (!at || shown || at->field->order != 2) continue;
      WrittenField& f = *at->field;
      for (int s = 0; s < text_.box.sites(); ++s) {
        const auto first = static_cast<std::size_t>(s * f.reals());
        const long double rate = state_.rate(v, text_.box.place(s)) / (state_.unit(f) * clock);
        f.rates[first + at->real] = rate;
        if (at->mirror) f.rates[first + *at->mirror] = rate;
      }
    }
    for (StoredLinks& links : links_of(text_, system_))
      if (!links.field().phase) show_speeds(links, clock);
  }

  /// Rates of the arrays at each site; `fastest` becomes the largest that there is.
  std::map<int, std::vector<long double>> rates_of(const std::vector<const Variable*>& moving,
                                                   long double& fastest) {
    std::vector<algebra::Expr> all;
    for (const Variable* v : moving) all.push_back(v->rate);
    std::map<int, std::vector<long double>> rates;
    for (int s = 0; s < text_.box.sites(); ++s) {
      const auto here = derived_.all_at(all, text_.box.place(s));
      for (std::size_t i = 0; i < moving.size(); ++i) {
        rates[moving[i]->array].push_back(here[i]);
        fastest = std::max(fastest, std::fabs(here[i]));
      }
    }
    return rates;
  }

  /// U' as a difference of matrices whose stored numbers follow their rates.
  void show_speeds(const StoredLinks& links, long double clock) {
    WrittenField& f = links.field();
    long double fastest = 1;
    std::vector<const Variable*> moving;
    for (const int array : links.arrays()) moving.push_back(state_.variable(array));
    const auto rates = rates_of(moving, fastest);
    const long double h = 1e-3L / fastest;
    std::array<WrittenField, kTimes> moved;
    for (int k = 0; k < kTimes; ++k) {
      WrittenField& to = moved[static_cast<std::size_t>(k)];
      to = f;
      StoredLinks(to, text_, system_).read([&](int array, int site) {
        const auto s = static_cast<std::size_t>(site);
        return derived_.arrays.at(array)[s] +
               static_cast<long double>(k - kNow) * h * rates.at(array)[s];
      });
    }
    for (std::size_t i = 0; i < f.rates.size(); ++i) {
      std::array<long double, kTimes> values{};
      for (std::size_t k = 0; k < kTimes; ++k) values[k] = moved[k].values[i];
      f.rates[i] = slope_of_five(values, h) / clock;
    }
  }

  /// Sets the slope of a so that 3 M^2 H^2 is the mean energy density, which does not depend on it.
  bool close() {
    long double& slope = derived_.symbols[state_.scale_slope().symbol];
    slope = 0;
    show();
    const long double square = text_.mean_density() / (3 * text_.planck2());
    if (!(square > 0)) return false;
    const long double still = text_.hubble;
    slope = 1;
    derived_.changed();
    state_.background();
    slope = (std::sqrt(square) - still) / (text_.hubble - still);
    return true;
  }

  /// The same with f*R in rho, which then depends on H. Of large fields no H may be a root.
  bool close_with_curvature() {
    constexpr int kTries = 12;
    for (int i = 0; i < kTries; ++i) {
      if (drawn_.close_background()) return true;
      for (const Variable& v : system_.variables)
        for (long double& x : derived_.arrays[v.array]) x /= 2;
    }
    return false;
  }

  /// The text at five times, a small step of the program's time apart.
  void follow() {
    const auto arrays = derived_.arrays;
    const auto symbols = derived_.symbols;
    derived_.changed();
    std::map<std::string, long double> of_scalars;
    long double fastest = 1;
    std::vector<const Variable*> moving;
    for (const Variable& v : system_.variables)
      if (!v.frozen) moving.push_back(&v);
    const auto rates = rates_of(moving, fastest);
    for (const auto& s : system_.scalars)
      if (!drawn_.counts(s)) of_scalars[s.symbol] = derived_.scalar(s.rate);
    for (const auto& [symbol, rate] : of_scalars)
      if (symbol != system_.time)  // which is in other units
        fastest = std::max(fastest, std::fabs(rate));
    const long double h = 1e-3L / fastest;
    for (int k = 0; k < kTimes; ++k) {
      const long double by = static_cast<long double>(k - kNow) * h;
      for (const auto& [array, rate] : rates)
        for (std::size_t s = 0; s < rate.size(); ++s)
          derived_.arrays[array][s] = arrays.at(array)[s] + by * rate[s];
      for (const auto& [symbol, rate] : of_scalars)
        derived_.symbols[symbol] = symbols.at(symbol) + by * rate;
      show();
      times_[static_cast<std::size_t>(k)] = {text_.fields, text_.t, text_.a, text_.hubble};
    }
    derived_.arrays = arrays;
    derived_.symbols = symbols;
    show();
    length_ = h * state_.time_rate();
    if (text_.curves()) tell_accelerations();
  }

  /// H' and u'' of the text are those of the flow.
  void tell_accelerations() {
    const auto slope = [&](const std::function<long double(const Moment&)>& of) {
      std::array<long double, kTimes> values{};
      for (std::size_t k = 0; k < kTimes; ++k) values[k] = of(times_[k]);
      return slope_of_five(values, length_);
    };
    text_.hubble_rate = slope([](const Moment& m) { return m.hubble; });
    for (const auto& [name, f] : text_.fields) {
      auto& own = text_.accelerations[name];
      own.clear();
      for (std::size_t i = 0; i < f.rates.size(); ++i)
        own.push_back(slope([&](const Moment& m) { return m.fields.at(name).rates[i]; }));
    }
  }

  void at_time(int k) {
    const Moment& m = times_[static_cast<std::size_t>(k)];
    for (auto& [name, f] : text_.fields) {
      f.values = m.fields.at(name).values;
      f.rates = m.fields.at(name).rates;
    }
    text_.t = m.t, text_.a = m.a, text_.hubble = m.hubble;
  }

  /// How fast a value of the text changes along the System's flow.
  long double along_flow(const std::function<long double()>& f) {
    std::array<long double, kTimes> values{};
    for (int k = 0; k < kTimes; ++k) {
      if (k == kNow) continue;
      at_time(k);
      values[static_cast<std::size_t>(k)] = f();
    }
    at_time(kNow);
    return slope_of_five(values, length_);
  }

  // ---- comparisons

  void compare(Compared& c, std::mt19937_64& random) {
    if (c.stopped) return;
    const auto site = static_cast<int>(random() % static_cast<unsigned>(text_.box.sites()));
    try {
      compare_at(c, site);
    } catch (const NotCovered& end) {
      c.row.stop(end.what);
      c.stopped = true;
    } catch (const std::exception& end) {
      c.row.stop(end.what());
      c.stopped = true;
    }
  }

  long double volume() const { return text_.a * text_.a * text_.a; }

  void compare_at(Compared& c, int site) {
    c.at.site = site;
    switch (c.what) {
      case What::Motion: {
        if (c.at.axis >= 0 && text_.stays(*c.at.field, site, c.at.axis)) return;
        if (c.at.axis >= 0 && text_.outside(*c.at.field, site, c.at.axis)) return;
        const auto momentum = [&] { return volume() * text_.lagrangian_slope(c.at, true); };
        c.row.take(along_flow(momentum), volume() * text_.lagrangian_slope(c.at, false));
        break;
      }
      case What::Momentum: {
        if (text_.stays(*c.at.field, site, c.at.axis)) return;
        if (text_.outside(*c.at.field, site, c.at.axis)) return;
        c.row.take(state_.stored(*c.variable, site), volume() * text_.lagrangian_slope(c.at, true));
        break;
      }
      case What::Equation: {
        const WrittenField& f = *c.at.field;
        const auto first = static_cast<std::size_t>(site * f.reals()) + c.at.real;
        const long double rate = f.order == 2 ? along_flow([&] { return c.at.field->rates[first]; })
                                              : state_.rate(*c.variable, text_.box.place(site)) /
                                                    (state_.unit(f) * state_.time_rate());
        c.row.take(rate, text_.right_side(*c.equation, f, site).at(c.at.real));
        break;
      }
      case What::Scale: {
        const long double change = along_flow([&] { return text_.a * text_.hubble; });
        c.row.take(change, constrained_ ? slope_kept() : slope_by_pressure());
        break;
      }
      case What::Output:
        c.row.size(size_of_terms(*c.text));
        c.row.take(derived_.scalar(c.output), text_.value(*c.text, nullptr).parts.at(0).real());
        break;
    }
  }

  /// What the first term of a difference is: it may be the rounding of its terms.
  long double size_of_terms(const dsl::Expr& e) {
    const bool sum = e.kind == dsl::ExprKind::Binary && (e.text == "+" || e.text == "-");
    return std::fabs(text_.value(sum ? *e.args[0] : e, nullptr).parts.at(0).real());
  }
  long double slope_by_pressure() {
    const Written::Energies mean = text_.energies();
    return -text_.a / (6 * text_.planck2()) * (mean.rho + 3 * mean.p);
  }
  /// a'' with which 3 M^2 H^2 stays the mean energy density, where nothing but the Lagrangian moves
  /// the fields.
  long double slope_kept() {
    const long double change = along_flow([&] { return text_.mean_density(); });
    const long double h = text_.hubble;
    return text_.a * (change / (6 * text_.planck2() * h) + h * h);
  }

  struct Moment {
    std::map<std::string, WrittenField> fields;
    long double t = 0, a = 1, hubble = 0;
  };

  const dsl::Resolved& resolved_;
  const physics::System& system_;
  Written text_;
  DerivedValue derived_;
  ShownState state_;
  DrawnState drawn_;
  std::vector<Compared> compared_;
  std::array<Moment, kTimes> times_;
  bool constrained_ = false;
  long double length_ = 1;  ///< of t from one of them to the next
};

}  // namespace

bool follows_flow(const dsl::Resolved& resolved) {
  if (!resolved.clause("lagrangian")) return false;
  return resolved.clause("gauge") || (!resolved.clause("conserve") && Written(resolved).curves());
}

std::vector<DerivativeRow> check_lagrangian(const dsl::Resolved& resolved,
                                            const physics::System& system) {
  try {
    return FollowedLagrangian(resolved, system).rows();
  } catch (const NotCovered& end) {
    return {{"the equations", "the Lagrangian", 0, 0, end.what}};
  } catch (const std::invalid_argument& end) {
    return {{"the equations", "the Lagrangian", 0, 0, end.what()}};
  }
}

}  // namespace vphi::tools
