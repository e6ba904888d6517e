#include "tools/oracle/derivative_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "dsl/syntax/parse.hpp"
#include "tools/oracle/both_sides.hpp"
#include "tools/oracle/derived_value.hpp"
#include "tools/oracle/determinant_check.hpp"
#include "tools/oracle/drawn_state.hpp"
#include "tools/oracle/gauge_check.hpp"
#include "tools/oracle/lagrangian_check.hpp"
#include "tools/oracle/law_check.hpp"
#include "tools/oracle/link_check.hpp"
#include "tools/oracle/shown_state.hpp"
#include "tools/oracle/site_check.hpp"
#include "tools/oracle/solve_check.hpp"
#include "tools/oracle/start_check.hpp"
#include "tools/oracle/text/slope.hpp"
#include "tools/oracle/text/written_fluid.hpp"
#include "tools/oracle/text/written_value.hpp"
#include "tools/reduced_model.hpp"

namespace vphi::tools {
namespace {

using algebra::Expr;
using algebra::Op;
using physics::Role;
using physics::Variable;

constexpr int kStates = 3, kSites = 3;

class Comparison {
 public:
  Comparison(const dsl::Resolved& resolved, const physics::System& system)
      : resolved_(resolved),
        system_(system),
        text_(resolved),
        derived_(system),
        state_(system, text_, derived_),
        drawn_(system, text_, derived_, state_) {}

  std::vector<DerivativeRow> rows() {
    std::vector<DerivativeRow> all = rates();
    const bool still = all.size() == 1 && all[0].not_checked == kStill;
    auto solved = check_solves(resolved_, system_);
    const auto gauges = check_gauges(resolved_, system_);
    solved.insert(solved.end(), gauges.begin(), gauges.end());
    const auto determinants = check_determinants(resolved_, system_);
    const auto started = check_starts(resolved_, system_);
    if (still && !(solved.empty() && determinants.empty())) all.clear();
    all.insert(all.end(), determinants.begin(), determinants.end());
    all.insert(all.end(), solved.begin(), solved.end());
    all.insert(all.end(), started.begin(), started.end());
    return all;
  }

 private:
  static constexpr const char* kStill = "nothing moves";

  std::vector<DerivativeRow> rates() {
    if (follows_flow(resolved_)) return check_lagrangian(resolved_, system_);
    std::vector<DerivativeRow> of_laws;
    if (system_.conservation) {
      of_laws = check_laws(resolved_, system_);
      const bool fields = std::ranges::any_of(
          system_.variables, [&](const Variable& v) { return !v.frozen && !of_law(v); });
      if (!fields) return of_laws;
    }
    std::vector<DerivativeRow> of_fields = rates_of_fields();
    of_laws.insert(of_laws.end(), of_fields.begin(), of_fields.end());
    return of_laws;
  }

  std::vector<DerivativeRow> rates_of_fields() {
    const auto* trajectory = std::get_if<physics::Trajectory>(&system_.dynamics);
    try {
      if (const auto* flow = std::get_if<physics::LinkFlow>(&system_.dynamics))
        return check_flow(resolved_, system_, *flow);
      if (const auto* chain = std::get_if<physics::MarkovChain>(&system_.dynamics)) {
        if (!chain->updates.empty()) {
          const bool links = resolved_.clause("gauge") != nullptr;
          return links ? check_chain(resolved_, system_, *chain)
                       : check_site_chain(resolved_, system_, *chain);
        }
        return {not_covered("the links", kStill)};
      }
      trajectory ? prepare_kicks(*trajectory) : prepare();
    } catch (const NotCovered& end) {
      return {not_covered("the equations", end.what)};
    }
    if (compared_.empty()) return {not_covered("the equations", kStill)};
    for (int state = 0; state < kStates; ++state) {
      try {
        if (!draw(static_cast<unsigned>(state))) continue;
      } catch (const NotCovered& end) {
        return {not_covered("the equations", end.what)};
      } catch (const std::invalid_argument& end) {
        return {not_covered("the equations", end.what())};
      }
      for (std::size_t i = 0; i < compared_.size(); ++i) compare(compared_[i]);
    }
    std::vector<DerivativeRow> result;
    for (Compared& c : compared_) {
      if (c.row.not_checked.empty() && c.row.points == 0)
        c.row.not_checked = "no state where it is smooth and finite";
      if (c.row.not_checked.empty())
        c.row.deviation = c.largest > 0 ? static_cast<double>(c.difference / c.largest)
                                        : (c.difference > 0 ? 1 : 0);
      result.push_back(std::move(c.row));
    }
    return result;
  }

  enum class What { Rate, Noise, Scale, Kick, Output, Link };
  struct Compared : Coordinate {
    DerivativeRow row;
    What what = What::Rate;
    const physics::Trajectory::Level* level = nullptr;  ///< of a kick
    int kicked = -1;                                    ///< array of the momentum
    int axis = 0, generator = -1;                       ///< of links of SU(n)
    const dsl::Expr* text = nullptr;                    ///< of an output
    Expr output = {};
    long double largest = 0, difference = 0;
  };

  DerivativeRow not_covered(const std::string& what, const std::string& why) const {
    return {what, "the text", 0, 0, why};
  }

  // ---- what is compared

  void prepare() {
    prepare_sides(resolved_, system_, text_, derived_);
    noisy_ = system_.noise.kind != physics::NoiseClass::None;
    for (const Variable& v : system_.variables) {
      derived_.arrays[v.array].assign(static_cast<std::size_t>(text_.box.sites()), 0);
      if (v.frozen || state_.second_order_momentum(v)) continue;
      if (number_of_link(v) || of_law(v)) continue;
      Compared c;
      const auto at = standing(text_, v.shown);
      if (!at) {
        c.row = not_covered(v.shown, "what it is in the text");
        compared_.push_back(c);
        continue;
      }
      c.at = *at;
      c.variable = &v;
      if (v.partner >= 0 && state_.variable(v.partner) &&
          state_.second_order_momentum(*state_.variable(v.partner)))
        c.momentum = state_.variable(v.partner);
      const physics::EquationFact* own = text_.facts().equation(at->field->name);
      c.row.variable = v.shown + (c.momentum ? "''" : "'");
      c.row.source = own                                 ? "its equation"
                     : text_.hamiltonian()               ? "H"
                     : text_.facts().lagrangians.empty() ? "the potential"
                                                         : "the Lagrangian";
      compared_.push_back(c);
      if (noisy_ && own && has_noise(c.momentum ? *c.momentum : v)) {
        c.what = What::Noise;
        c.row.variable = "noise of " + c.row.variable;
        compared_.push_back(c);
      }
    }
    prepare_velocities();
    if (!system_.conservation) prepare_outputs();
    prepare_primitives();
    // beside laws it is compared with them, but where the fields' accelerations are in it
    if (text_.closed() && (!system_.conservation || text_.curves())) {
      Compared c;
      c.what = What::Scale;
      c.row.variable = state_.scale().symbol + "''";
      c.row.source = "the averages";
      compared_.push_back(c);
    }
  }

  /// Whether it is a quantity of a conservation law (law_check.hpp).
  bool of_law(const Variable& v) const {
    return system_.conservation &&
           std::ranges::count(system_.conservation->quantities, v.array) > 0;
  }

  /// `metric scale(...)`
  bool in_coordinates() const {
    const dsl::Clause* metric = resolved_.clause("metric");
    return metric && !metric->items.empty() && metric->items.front().value &&
           metric->items.front().value->text == "scale";
  }

  /// Volumes and areas of cells in coordinates. Primitive variables beside fields, whose equations
  /// may read them: any numbers, on both sides the same.
  void prepare_primitives() {
    if (!system_.conservation && !in_coordinates()) return;
    of_cells_.emplace(resolved_);
    of_cells_->read_box(text_.box.dims, text_.box.extent);
    of_cells_->declare(text_.box.sites());
    fluid_.emplace(resolved_, *of_cells_);
    text_.cells = fluid_->cells();
    if (!system_.conservation) return;
    const auto& recovered = system_.conservation->recovered;
    std::size_t next = recovered.size();
    for (const WrittenFluid::Name& name : fluid_->primitives())
      if (!name.beside) next -= static_cast<std::size_t>(name.size);
    for (const WrittenFluid::Name& name : fluid_->primitives())
      for (int i = 0; !name.beside && i < name.size; ++i)
        primitives_.push_back({recovered[next++].array, &text_.fields.at(name.name), i});
  }
  void draw_primitives(std::mt19937_64& random) {
    std::uniform_real_distribution<double> uniform(0.05, 0.5);
    for (const Primitive& p : primitives_) {
      auto& values = derived_.arrays[p.array];
      values.resize(static_cast<std::size_t>(text_.box.sites()));
      for (std::size_t s = 0; s < values.size(); ++s) {
        values[s] = uniform(random);
        p.field->values[s * static_cast<std::size_t>(p.field->reals()) +
                        2 * static_cast<std::size_t>(p.component)] = values[s];
      }
    }
  }

  /// Whether it is a stored number of a link of SU(n), which is compared as a matrix.
  bool number_of_link(const Variable& v) {
    const auto field = text_.fields.find(v.shown.substr(0, v.shown.find('[')));
    return field != text_.fields.end() && field->second.colours > 0;
  }

  /// w_a of U' = i w_a T_a U, for each link of SU(n).
  void prepare_velocities() {
    constexpr const char* kAxes[] = {"x", "y", "z", "t"};
    for (auto& [name, f] : text_.fields) {
      for (int axis = 0; f.colours > 0 && axis < text_.box.dims; ++axis) {
        for (int a = 0; a < f.colours * f.colours - 1; ++a) {
          Compared c;
          c.what = What::Link;
          c.row.variable = fmt::format("{}[{}]' along generator {}", name, kAxes[axis], a + 1);
          c.row.source = "H";
          c.at.field = &f;
          c.axis = axis;
          c.generator = a;
          compared_.push_back(c);
        }
      }
    }
  }

  /// 2 Im tr(T_a U' U^+) of the rates of the stored numbers; a row that is not stored follows from
  /// the others, so U' is a difference.
  long double velocity_along(const Compared& c, int site) {
    WrittenField moved = *c.at.field;
    StoredLinks links(moved, text_, system_);
    const Place p = text_.box.place(site);
    std::map<int, long double> rates;
    long double fastest = 1;
    for (const int array : links.arrays()) {
      rates[array] = derived_.at(state_.variable(array)->rate, p);
      fastest = std::max(fastest, std::fabs(rates[array]));
    }
    const auto later = [&](long double by) {
      links.read([&](int array, int at) {
        const long double here = derived_.arrays.at(array).at(static_cast<std::size_t>(at));
        return at == site ? here + by * rates.at(array) : here;
      });
      return links.matrix(site, c.axis);
    };
    const long double h = 1e-3L / fastest;
    const auto u = later(0), above = later(h), below = later(-h);
    const auto far_above = later(2 * h), far_below = later(-2 * h);
    std::vector<Complex> rate;
    for (std::size_t i = 0; i < u.size(); ++i)
      rate.push_back(slope_of_four(far_below[i], below[i], above[i], far_above[i], h));
    const auto t = link_generator(c.at.field->colours, c.generator);
    const auto n = static_cast<std::size_t>(c.at.field->colours);
    Complex trace = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k < n; ++k)
          trace += t[i * n + j] * rate[j * n + k] * std::conj(u[i * n + k]);
    return 2 * trace.imag() / state_.time_rate();
  }

  /// Numbers of outputs with time derivatives of formulas.
  void prepare_outputs() {
    std::map<std::string, const dsl::Expr*> texts;
    for (const char* keyword : {"every", "at end"})
      for (const dsl::Clause* clause : resolved_.clauses(keyword))
        for (const dsl::Item& item : clause->items)
          if (item.value)
            texts[item.head ? item.head->name : dsl::to_text(*item.value)] = item.value.get();
    for (const physics::OutputClause& clause : system_.outputs) {
      for (const physics::Observable& output : clause.observables) {
        const auto text = texts.find(output.name);
        if (output.kind || text == texts.end()) continue;
        if (!text_.differentiates(*text->second)) continue;
        Compared c;
        c.what = What::Output;
        c.row.variable = output.name;
        c.row.source = "the change along the equations";
        c.text = text->second;
        c.output = output.value;
        compared_.push_back(c);
      }
    }
  }

  /// For each action the change of each momentum; q = q + length p gives the momentum of each q.
  void prepare_kicks(const physics::Trajectory& trajectory) {
    prepare_sides(resolved_, system_, text_, derived_);
    trajectory_ = trajectory;
    const auto zero = [&](int array) {
      derived_.arrays[array].assign(static_cast<std::size_t>(text_.box.sites()), 0);
    };
    for (const auto& memory : trajectory.memory) zero(memory.array);
    for (const Variable& v : system_.variables) zero(v.array);
    for (const physics::Trajectory::Level& level : trajectory_->levels) {
      if (!level.solves.empty()) continue;  // a determinant: determinant_check.hpp
      for (const Variable& v : system_.variables) {
        const auto at = standing(text_, v.shown);
        if (!at) continue;
        Compared c;
        c.what = What::Kick;
        c.row.variable = "change of " + v.shown + "'s momentum";
        c.row.source = level.shown;
        c.level = &level;
        c.at = *at;
        for (const auto& [array, value] : trajectory_->drift.values) {
          if (array != v.array) continue;
          algebra::visit(value, [&](Expr e) {
            if (e.is(Op::Load) && e->index != array) c.kicked = e->index;
          });
        }
        compared_.push_back(c);
      }
      prepare_links(level);
    }
  }

  void prepare_links(const physics::Trajectory::Level& level) {
    constexpr const char* kAxes[] = {"x", "y", "z", "t"};
    for (auto& [name, f] : text_.fields) {
      for (int axis = 0; f.colours > 0 && axis < text_.box.dims; ++axis) {
        for (int a = 0; a < f.colours * f.colours - 1; ++a) {
          Compared c;
          c.what = What::Kick;
          c.row.variable = fmt::format("change of {}[{}]'s momentum {}", name, kAxes[axis], a + 1);
          c.row.source = level.shown;
          c.level = &level;
          c.at.field = &f;
          c.axis = axis;
          c.generator = a;
          const std::string momentum = fmt::format("momentum_{}_{}", kAxes[axis], a + 1);
          for (const auto& memory : trajectory_->memory)
            if (memory.name == momentum) c.kicked = memory.array;
          compared_.push_back(c);
        }
      }
    }
  }

  /// Computes what the kicks of a level read, once for each state.
  void make_ready(const physics::Trajectory::Level& level) {
    if (level.before_kicks.empty()) return;
    std::vector<long double> state;
    for (const Variable& v : system_.variables) {
      const auto& values = derived_.arrays[v.array];
      state.insert(state.end(), values.begin(), values.end());
    }
    if (ready_ == &level && state == ready_at_) return;
    ready_ = &level;
    ready_at_ = std::move(state);
    for (const physics::Update& update : level.before_kicks) {
      std::vector<std::vector<long double>> made;
      for (const auto& [array, value] : update.values) {
        made.emplace_back();
        for (int s = 0; s < text_.box.sites(); ++s)
          made.back().push_back(derived_.at(value, text_.box.place(s)));
      }
      for (std::size_t i = 0; i < made.size(); ++i)
        derived_.arrays[update.values[i].first] = std::move(made[i]);
    }
  }

  /// What the kicks of a level add to a momentum, per length.
  long double kick(const Compared& c, int site) {
    derived_.symbols[physics::Trajectory::kLength] = 1;
    make_ready(*c.level);
    long double sum = 0;
    for (const physics::Update& update : c.level->kicks) {
      for (const auto& [array, value] : update.values) {
        if (array == c.kicked) sum += derived_.at(value, text_.box.place(site));
        const bool product = update.name.starts_with("product");
        for (int s = 0; product && s < text_.box.sites(); ++s)
          derived_.arrays[array][static_cast<std::size_t>(s)] =
              derived_.at(value, text_.box.place(s));
      }
    }
    return sum;
  }

  bool has_noise(const Variable& v) const {
    return algebra::contains(v.rate, [](Expr e) { return e.is(Op::Noise); });
  }

  // ---- states

  /// Random state of both sides; false where there is none of this kind.
  bool draw(unsigned seed) {
    std::mt19937_64 random(4711 + seed);
    drawn_.variables(random);
    if (trajectory_) {
      derived_.changed();
      state_.show();
      return true;
    }
    draw_primitives(random);
    drawn_.start_scalars();
    if (of_cells_) of_cells_->t = text_.t;
    if (text_.closed() && system_.conservation) {
      if (!expand_beside_laws()) return false;
    } else if (text_.closed()) {
      return drawn_.close_background();
    }
    state_.show();
    return true;
  }

  /// Any rate of a where nothing but H holds it; R is that of a constraint that is met.
  bool expand_beside_laws() {
    derived_.symbols[state_.scale_slope().symbol] = 0.8L;
    derived_.changed();
    state_.background();
    if (text_.curves()) {
      long double beside = 0;
      for (int s = 0; s < text_.box.sites(); ++s)
        beside += fluid_->energy_density(cell(s).quantities) / text_.box.sites();
      if (!drawn_.close_background(beside)) return false;
    }
    text_.hubble_rate = along_flow(nullptr, 0, [&] { return text_.hubble; });
    return true;
  }

  FluidCell cell(int site) const {
    FluidCell result;
    const auto at = [&](int array) {
      return derived_.arrays.at(array).at(static_cast<std::size_t>(site));
    };
    for (const int array : system_.conservation->quantities) result.quantities.push_back(at(array));
    for (const Primitive& p : primitives_) result.primitives.push_back(at(p.array));
    for (const WrittenFluid::Name& name : fluid_->primitives()) {  // fields beside, in both lists
      const WrittenField& f = text_.fields.at(name.name);
      for (int i = 0; name.beside && i < name.size; ++i)
        for (Cell* list : {&result.quantities, &result.primitives})
          list->push_back(f.values[static_cast<std::size_t>(site * f.reals() + 2 * i)]);
    }
    return result;
  }

  /// Means of rho and p of fields and laws; u'' of fields in p, as derived.
  Written::Energies with_laws() {
    for (const Compared& c : compared_) {
      if (!c.momentum) continue;
      WrittenField& f = *c.at.field;
      auto& all = text_.accelerations[f.name];
      all.resize(f.values.size());
      for (int s = 0; s < text_.box.sites(); ++s)
        all[static_cast<std::size_t>(s * f.reals()) + c.at.real] = derived_rate(c, s);
    }
    Written::Energies mean = text_.energies();
    for (int s = 0; s < text_.box.sites(); ++s) {
      const Written::Energies here = fluid_->energies(cell(s), text_.box.place(s));
      mean.rho += here.rho / text_.box.sites();
      mean.p += here.p / text_.box.sites();
    }
    return mean;
  }

  // ---- rates in physical units

  /// d/dt of `f` along the System's own flow, at one site.
  long double along_flow(const Compared* c, int site, const std::function<long double()>& f) {
    struct Moved {
      long double* place;
      long double start, rate;
    };
    std::vector<Moved> moved;
    derived_.changed();
    const Place p = text_.box.place(site);
    long double h = std::numeric_limits<long double>::infinity();
    for (const auto& s : system_.scalars) {
      if (drawn_.counts(s)) continue;
      long double& value = derived_.symbols[s.symbol];
      const long double rate = derived_.scalar(s.rate);
      moved.push_back({&value, value, rate});
    }
    const long double clock = state_.time_rate();
    for (const Moved& m : moved)
      if (m.rate != 0 && m.start != 0) h = std::min(h, 1e-3L * std::fabs(m.start / m.rate));
    if (!std::isfinite(h)) h = 1e-3L;
    if (c) {
      for (const Variable* v : {c->variable, c->momentum}) {
        long double& value = derived_.arrays[v->array][static_cast<std::size_t>(site)];
        moved.push_back({&value, value, derived_.at(v->rate, p)});
      }
    }
    const auto at = [&](int steps) {
      for (const Moved& m : moved) *m.place = m.start + steps * h * m.rate;
      derived_.changed();
      state_.background();
      return f();
    };
    const long double slope = slope_of_four(at(-2), at(-1), at(1), at(2), h);
    at(0);
    return slope / clock;
  }

  long double derived_rate(const Compared& c, int site) {
    if (c.what == What::Kick) return kick(c, site);
    if (c.what == What::Link) return velocity_along(c, site);
    if (c.what == What::Output) return derived_.scalar(c.output);
    if (c.what == What::Scale) {
      return along_flow(nullptr, 0,
                        [&] { return derived_.scalar(state_.scale().rate) / state_.time_rate(); });
    }
    if (c.momentum) return along_flow(&c, site, [&] { return state_.velocity(c, site); });
    const long double rate = state_.rate(*c.variable, text_.box.place(site));
    return rate / (state_.unit(*c.at.field) * state_.time_rate());
  }

  long double written_rate(const Compared& c, int site) {
    if (c.what == What::Scale) {
      const Written::Energies mean = fluid_ && text_.curves() ? with_laws() : text_.energies();
      return -text_.a / (6 * text_.planck2()) * (mean.rho + 3 * mean.p);
    }
    if (c.what == What::Output) return text_.value(*c.text, nullptr).parts.at(0).real();
    const WrittenField& f = *c.at.field;
    if (c.what == What::Link) return text_.link_velocity(f, site, c.axis, c.generator);
    if (c.what == What::Kick) {
      return c.generator < 0 ? text_.from_action(c.level->shown, f, site, c.at.real)
                             : text_.from_action(c.level->shown, f, site, c.axis, c.generator);
    }
    const physics::EquationFact* own = text_.facts().equation(f.name);
    const auto all = own                   ? text_.right_side(*own, f, site)
                     : text_.hamiltonian() ? text_.from_hamiltonian(f, site, c.at.real)
                                           : text_.from_source(f, site);
    return all.at(c.at.real);
  }

  /// Sums of the squares of the factors of each noise, per sqrt(time*volume).
  std::pair<long double, long double> noise_powers(const Compared& c, int site) {
    const Variable& v = c.momentum ? *c.momentum : *c.variable;
    const Place p = text_.box.place(site);
    std::set<int> streams;
    algebra::visit(v.rate, [&](Expr e) {
      if (e.is(Op::Noise)) streams.insert(e->index);
    });
    derived_.noise.clear();
    const long double still = derived_.at(v.rate, p);
    long double size = 1 / (state_.unit(*c.at.field) * state_.time_rate());
    if (c.momentum) {
      long double& pi = derived_.arrays[v.array][static_cast<std::size_t>(site)];
      const long double here = pi, before = state_.velocity(c, site);
      pi = here + 1;
      size = state_.velocity(c, site) - before;
      pi = here;
    }
    long double derived = 0;
    for (const int stream : streams) {
      derived_.noise = {{stream, 1}};
      const long double g = (derived_.at(v.rate, p) - still) * size;
      derived += g * g;
    }
    derived_.noise.clear();
    // dW in t and in the System's time; a site stands for dx^d
    const long double volume = std::pow(text_.box.dx, text_.box.dims);
    derived *=
        (c.momentum ? 1 : state_.time_rate() * state_.time_rate()) * volume / state_.time_rate();

    std::set<const dsl::Expr*> places;
    text_.noise = [&](const dsl::Expr& e, const Place*) {
      places.insert(&e);
      return 0.0L;
    };
    const auto& own = *text_.facts().equation(c.at.field->name);
    const long double calm = text_.right_side(own, *c.at.field, site).at(c.at.real);
    long double written = 0;
    for (const dsl::Expr* place : places) {
      text_.noise = [&](const dsl::Expr& e, const Place*) { return &e == place ? 1.0L : 0.0L; };
      const long double g = text_.right_side(own, *c.at.field, site).at(c.at.real) - calm;
      written += g * g;
    }
    text_.noise = nullptr;
    return {derived, written};
  }

  void compare(Compared& c) {
    if (!c.row.not_checked.empty() || (c.generator >= 0 && c.row.points > 0)) return;
    const int sites = text_.box.sites();
    const bool once = c.what == What::Scale || c.what == What::Output;
    for (int i = 0; i < std::min(kSites, sites); ++i) {
      const int site = once ? 0 : (i * 7919 + (i == 1 ? 1 : 0)) % sites;
      try {
        if (c.what == What::Noise) {
          const auto [derived, written] = noise_powers(c, site);
          take(c, derived, written);
          continue;
        }
        const long double derived = derived_rate(c, site);
        // near a kink no step is small enough; where it is smooth the smaller ones agree
        long double best = 0, last = 0, before = 0;
        bool first = true, close = false;
        for (const long double step : {1e-3L, 1e-4L, 1e-5L}) {
          text_.step = step;
          const long double written = written_rate(c, site);
          if (first || std::fabs(written - derived) < std::fabs(best - derived)) best = written;
          close = std::fabs(best - derived) <= 1e-10L * std::fabs(derived);
          before = first ? written : last;
          last = written;
          first = false;
          if (close) break;
        }
        text_.step = 1e-3L;
        const bool smooth = close || std::fabs(last - before) <= 1e-5L * std::fabs(last);
        if (smooth) take(c, derived, best);
      } catch (const NotCovered& end) {
        c.row.not_checked = end.what;
      } catch (const std::exception& end) {
        c.row.not_checked = end.what();
      }
      text_.step = 1e-3L;
      // links have many components, each at a site and in a state of its own
      if (!c.row.not_checked.empty() || once || c.generator >= 0) return;
    }
  }

  static void take(Compared& c, long double derived, long double written) {
    if (!std::isfinite(derived) || !std::isfinite(written)) return;
    ++c.row.points;
    c.largest = std::max(c.largest, std::fabs(written));
    c.difference = std::max(c.difference, std::fabs(derived - written));
  }

  const dsl::Resolved& resolved_;
  const physics::System& system_;
  Written text_;
  DerivedValue derived_;
  ShownState state_;
  DrawnState drawn_;
  std::vector<Compared> compared_;
  struct Primitive {
    int array = 0;
    WrittenField* field = nullptr;
    int component = 0;
  };
  std::vector<Primitive> primitives_;
  std::optional<Written> of_cells_;  ///< for the scale factors of `fluid_`
  std::optional<WrittenFluid> fluid_;
  std::optional<physics::Trajectory> trajectory_;
  const physics::Trajectory::Level* ready_ = nullptr;  ///< whose values before kicks are there
  std::vector<long double> ready_at_;                  ///< the state that they are of
  bool noisy_ = false;
};

}  // namespace

std::vector<DerivativeRow> check_derivatives(const dsl::Resolved& resolved,
                                             const physics::System& system) {
  return Comparison(resolved, system).rows();
}

std::vector<DerivativeRow> check_derivatives(const std::string& path,
                                             const CompileOptions& options) {
  // small enough for sums over all sites at every point; wide enough for the stencils
  constexpr Most kFew{{9, 5, 4, 4}, 6, 2};
  constexpr Most kEven{{8, 4, 4, 4}, 6, 2};  // for colours of chains
  CompileOptions own = options;
  own.lattice.clear();
  // where a box of a fixed length has steps that are too large in so few cells
  constexpr Most kMore{{16, 8, 6, 4}, 6, 2}, kMany{{32, 16, 8, 4}, 6, 2};
  Compilation compilation = derive_model(path, made_small(path, own, kFew));
  for (const Most& most : {kEven, kMore, kMany})
    if (!compilation.system) compilation = derive_model(path, made_small(path, own, most));
  if (!compilation.system) compilation = derive_model(path, made_small(path, options));
  if (!compilation.system) return {};
  return check_derivatives(compilation.resolved, *compilation.system);
}

}  // namespace vphi::tools
