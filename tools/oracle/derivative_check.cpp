#include "tools/oracle/derivative_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "tools/oracle/derived_value.hpp"
#include "tools/oracle/law_check.hpp"
#include "tools/oracle/written_value.hpp"
#include "tools/reduced_model.hpp"

namespace vphi::tools {
namespace {

using algebra::Expr;
using algebra::Op;
using physics::Role;
using physics::Variable;

constexpr int kStates = 3, kSites = 3;

/// Where an array of state stands in the text: a component of a variable, its real part or its
/// imaginary part.
struct RunPosition {
  WrittenField* field = nullptr;
  std::size_t real = 0;                    ///< place among WrittenField::reals()
  std::optional<std::size_t> mirror = {};  ///< of a symmetric field
};

/// "phi", "re(phi[0])", "u[0,1]".
std::optional<RunPosition> standing(Written& text, std::string shown) {
  RunPosition result;
  if (shown.starts_with("re(") || shown.starts_with("im(")) {
    result.real = shown[0] == 'i' ? 1 : 0;
    shown = shown.substr(3, shown.size() - 4);
  }
  std::size_t row = 0, column = 0;
  if (const auto bracket = shown.find('['); bracket != std::string::npos) {
    row = std::stoul(shown.substr(bracket + 1));
    if (const auto comma = shown.find(',', bracket); comma != std::string::npos)
      column = std::stoul(shown.substr(comma + 1));
    shown.resize(bracket);
  }
  const auto field = text.fields.find(shown);
  if (field == text.fields.end() || field->second.colours > 0) return std::nullopt;
  result.field = &field->second;
  const auto columns = static_cast<std::size_t>(field->second.columns);
  if (field->second.symmetric && row != column)
    result.mirror = 2 * (column * columns + row) + result.real;
  result.real += 2 * (row * columns + column);
  return result;
}

class Comparison {
 public:
  Comparison(const dsl::Resolved& resolved, const physics::System& system)
      : resolved_(resolved), system_(system), text_(resolved), derived_(system) {}

  std::vector<DerivativeRow> rows() {
    if (system_.conservation) return check_laws(resolved_, system_);
    const auto* trajectory = std::get_if<physics::Trajectory>(&system_.dynamics);
    if (moves_links(system_.dynamics) && !trajectory)
      return {not_covered("the chain", "links are drawn or flow, not moved by forces")};
    try {
      trajectory ? prepare_kicks(*trajectory) : prepare();
    } catch (const NotCovered& end) {
      return {not_covered("the equations", end.what)};
    }
    if (compared_.empty()) return {not_covered("the equations", "nothing moves")};
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

 private:
  enum class What { Rate, Noise, Scale, Kick };
  struct Compared {
    DerivativeRow row;
    What what = What::Rate;
    const Variable* variable = nullptr;  ///< the coordinate of a second-order equation
    const Variable* momentum = nullptr;  ///< of second order: of its partner
    const physics::Trajectory::Level* level = nullptr;  ///< of a kick
    int kicked = -1;                                    ///< array of the momentum
    int axis = 0, generator = -1;                       ///< of links of SU(n)
    RunPosition at;
    long double largest = 0, difference = 0;
  };

  DerivativeRow not_covered(const std::string& what, const std::string& why) const {
    return {what, "the text", 0, 0, why};
  }

  const Variable* variable(int array) const {
    for (const Variable& v : system_.variables)
      if (v.array == array) return &v;
    return nullptr;
  }

  // ---- what is compared

  void prepare_box() {
    std::array<int, 4> extent{1, 1, 1, 1};
    for (std::size_t k = 0; k < 4; ++k) extent[k] = static_cast<int>(system_.lattice.extent[k]);
    for (const physics::Axis& axis : system_.axes) {
      const double value = axis.values.at(axis.values.size() / 2);
      text_.swept[axis.name] = value;
      derived_.symbols[axis.symbol] = value;
    }
    text_.read_box(resolved_.clause("lattice") ? system_.lattice.dims : 0, extent);
    text_.declare(text_.box.sites());
  }

  void prepare() {
    prepare_box();
    noisy_ = system_.noise.kind != physics::NoiseClass::None;
    for (const Variable& v : system_.variables) {
      derived_.arrays[v.array].assign(static_cast<std::size_t>(text_.box.sites()), 0);
      if (v.frozen || second_order_momentum(v)) continue;
      Compared c;
      const auto at = standing(text_, v.shown);
      if (!at) {
        c.row = not_covered(v.shown, "what it is in the text");
        compared_.push_back(c);
        continue;
      }
      c.at = *at;
      c.variable = &v;
      if (v.partner >= 0 && variable(v.partner) && second_order_momentum(*variable(v.partner)))
        c.momentum = variable(v.partner);
      const physics::EquationFact* own = text_.facts().equation(at->field->name);
      c.row.variable = v.shown + (c.momentum ? "''" : "'");
      c.row.source = own ? "its equation" : text_.hamiltonian() ? "H" : "the potential";
      compared_.push_back(c);
      if (noisy_ && own && has_noise(c.momentum ? *c.momentum : v)) {
        c.what = What::Noise;
        c.row.variable = "noise of " + c.row.variable;
        compared_.push_back(c);
      }
    }
    if (text_.closed()) {
      Compared c;
      c.what = What::Scale;
      c.row.variable = scale().symbol + "''";
      c.row.source = "the averages";
      compared_.push_back(c);
    }
  }

  /// Of each action the change of each momentum; q = q + length p says which is whose.
  void prepare_kicks(const physics::Trajectory& trajectory) {
    prepare_box();
    trajectory_ = trajectory;
    const auto zero = [&](int array) {
      derived_.arrays[array].assign(static_cast<std::size_t>(text_.box.sites()), 0);
    };
    for (const auto& memory : trajectory.memory) zero(memory.array);
    for (const Variable& v : system_.variables) zero(v.array);
    for (const physics::Trajectory::Level& level : trajectory_->levels) {
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

  /// Random links on both sides, as the System stores them: by quaternions, all rows or all but
  /// one.
  void draw_links(std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    for (auto& [name, f] : text_.fields) {
      if (f.colours == 0) continue;
      std::vector<const Variable*> own;
      for (const Variable& v : system_.variables)
        if (v.name == name || v.name.starts_with(name + "_")) own.push_back(&v);
      const auto n = static_cast<std::size_t>(f.colours);
      const std::size_t dims = static_cast<std::size_t>(text_.box.dims), reals = own.size() / dims;
      const bool quaternion = n == 2 && reals == 4 && !text_.facts().field(name)->store;
      for (int s = 0; s < text_.box.sites(); ++s) {
        for (std::size_t axis = 0; axis < dims; ++axis) {
          const auto u = random_link(f.colours, [&] { return normal(random); });
          std::vector<long double> stored;
          for (const Complex z : u) {
            stored.push_back(z.real());
            stored.push_back(z.imag());
          }
          const auto first = static_cast<std::ptrdiff_t>(s * f.reals()) +
                             static_cast<std::ptrdiff_t>(axis * 2 * n * n);
          std::copy(stored.begin(), stored.end(), f.values.begin() + first);
          // a0 + i a.sigma
          if (quaternion) stored = {stored[0], stored[3], stored[2], stored[1]};
          for (std::size_t i = 0; i < reals; ++i)
            derived_.arrays[own.at(axis * reals + i)->array][static_cast<std::size_t>(s)] =
                stored.at(i);
        }
      }
    }
  }

  /// What the kicks of a level add to a momentum, per length.
  long double kick(const Compared& c, int site) {
    derived_.symbols[physics::Trajectory::kLength] = 1;
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

  static bool second_order_momentum(const Variable& v) {
    return v.role == Role::Momentum && v.shown.find('\'') != std::string::npos;
  }
  const physics::ScalarVariable& scale() const { return system_.scalars.front(); }
  const physics::ScalarVariable& scale_slope() const { return system_.scalars.at(1); }

  // ---- states

  long double unit(const WrittenField& f) const {
    return f.phase ? 1 : static_cast<long double>(system_.A);
  }
  bool powers(const Compared& c) const { return c.momentum && system_.r != 0; }
  long double power(const Compared& c) const {
    return powers(c) ? std::pow(text_.a, static_cast<long double>(system_.r)) : 1;
  }

  /// Random state of both sides; false where there is none of this kind.
  bool draw(unsigned seed) {
    std::mt19937_64 random(4711 + seed);
    std::uniform_real_distribution<double> between(0.2, 1.8);
    std::uniform_real_distribution<double> around(0, 1);
    for (const Variable& v : system_.variables) {
      const bool counter = v.frozen && v.name.starts_with("turns_of_");
      const auto at = standing(text_, v.shown);
      for (long double& x : derived_.arrays[v.array]) {
        x = counter                    ? 0
            : v.period > 0             ? v.period * around(random)
            : second_order_momentum(v) ? between(random) - 1
                                       : between(random);
        if (at && at->field->phase) x = 2 * std::numbers::pi * around(random);
      }
    }
    if (trajectory_) {
      draw_links(random);
      derived_.changed();
      show();
      return true;
    }
    start_scalars();
    if (text_.closed()) return close_background();
    show();
    return true;
  }

  /// Time some steps on; in a closed background a = 1.3.
  void start_scalars() {
    auto& symbols = derived_.symbols;
    derived_.changed();
    for (const auto& s : system_.scalars) symbols[s.symbol] = 1.3L;
    std::vector<const physics::ScalarVariable*> clock;
    for (std::size_t i = text_.closed() ? 2 : 0; i < system_.scalars.size(); ++i)
      clock.push_back(&system_.scalars[i]);
    if (text_.closed()) symbols[scale_slope().symbol] = 0;
    for (const auto* s : clock) symbols[s->symbol] = derived_.scalar(s->initial);
    constexpr int kParts = 400;
    const long double h = 10 * static_cast<long double>(system_.dt) / kParts;
    const auto rates = [&] {
      derived_.changed();
      std::vector<long double> result;
      for (const auto* s : clock) result.push_back(derived_.scalar(s->rate));
      return result;
    };
    for (int part = 0; part < kParts; ++part) {  // Runge and Kutta
      std::vector<long double> start;
      for (const auto* s : clock) start.push_back(symbols[s->symbol]);
      const auto move = [&](const std::vector<long double>& by, long double length) {
        for (std::size_t i = 0; i < clock.size(); ++i)
          symbols[clock[i]->symbol] = start[i] + length * by[i];
      };
      const auto k1 = rates();
      move(k1, h / 2);
      const auto k2 = rates();
      move(k2, h / 2);
      const auto k3 = rates();
      move(k3, h);
      const auto k4 = rates();
      std::vector<long double> k(k1.size());
      for (std::size_t i = 0; i < k.size(); ++i) k[i] = (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]) / 6;
      move(k, h);
    }
    derived_.changed();
    background();
  }

  /// What the text calls t, a and H, of the System's scalars.
  void background() {
    text_.t = derived_.symbols.at(system_.time);
    text_.set_background();
    if (!text_.closed()) return;
    text_.a = derived_.symbols.at(scale().symbol);
    text_.hubble = derived_.scalar(scale().rate) / (text_.a * time_rate());
  }
  long double time_rate() {
    for (const auto& s : system_.scalars)
      if (s.symbol == system_.time) return derived_.scalar(s.rate);
    return 1;
  }

  /// The slope of a for which 3 M^2 H^2 is the mean energy density; false where none is found.
  bool close_background() {
    long double& slope = derived_.symbols[scale_slope().symbol];
    const auto miss = [&](long double value) {
      slope = value;
      derived_.changed();
      background();
      show();
      const long double rho = text_.energies().rho;
      return text_.hubble * text_.hubble - rho / (3 * text_.planck2());
    };
    long double x = 0, y = 1, fx = miss(x), fy = miss(y);
    // H grows with the slope: the first sign change, then secants
    for (int i = 0; i < 200 && std::isfinite(fy) && fy < 0; ++i) fy = miss(y *= 2);
    for (int i = 0; i < 200 && std::isfinite(fy) && fy > 1e3L * std::fabs(fx); ++i) {
      const long double half = y / 2, f = miss(half);
      if (f < 0) break;
      y = half;
      fy = f;
    }
    if (!(fx < 0) || !(fy > 0)) return false;
    for (int i = 0; i < 200 && fy != 0; ++i) {
      const long double z = (x + y) / 2, f = miss(z);
      (f < 0 ? x : y) = z;
      (f < 0 ? fx : fy) = f;
    }
    miss(y);
    return true;
  }

  /// The state of the System as the text sees it.
  void show() {
    for (const Variable& v : system_.variables) {
      const auto at = standing(text_, v.shown);
      if (!at || second_order_momentum(v) || (v.frozen && v.partner >= 0)) continue;
      WrittenField& f = *at->field;
      Compared c;
      c.variable = &v;
      c.at = *at;
      const Variable* partner = v.partner >= 0 ? variable(v.partner) : nullptr;
      if (partner && second_order_momentum(*partner)) c.momentum = partner;
      f.scale = 1 / unit(f);
      for (int s = 0; s < text_.box.sites(); ++s) {
        const auto first = static_cast<std::size_t>(s * f.reals());
        const long double value =
            derived_.arrays[v.array][static_cast<std::size_t>(s)] / (unit(f) * power(c));
        f.values[first + at->real] = value;
        if (at->mirror) f.values[first + *at->mirror] = value;
        if (!c.momentum) continue;
        const long double rate = velocity(c, s);
        f.rates[first + at->real] = rate;
        if (at->mirror) f.rates[first + *at->mirror] = rate;
      }
    }
  }

  /// du/dt of psi = A a^r u, from the rate of the coordinate.
  long double velocity(const Compared& c, int site) {
    const Place p = text_.box.place(site);
    long double rate = derived_.at(c.variable->rate, p);
    if (powers(c)) {
      const long double slope =
          text_.closed() ? derived_.scalar(scale().rate) / text_.a : text_.hubble * time_rate();
      rate -= static_cast<long double>(system_.r) * slope *
              derived_.arrays[c.variable->array][static_cast<std::size_t>(site)];
    }
    return rate / (unit(*c.at.field) * power(c) * time_rate());
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
      long double& value = derived_.symbols[s.symbol];
      const long double rate = derived_.scalar(s.rate);
      moved.push_back({&value, value, rate});
    }
    const long double clock = time_rate();
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
      background();
      return f();
    };
    const long double slope = (8 * (at(1) - at(-1)) - at(2) + at(-2)) / (12 * h);
    at(0);
    return slope / clock;
  }

  long double derived_rate(const Compared& c, int site) {
    if (c.what == What::Kick) return kick(c, site);
    if (c.what == What::Scale) {
      return along_flow(nullptr, 0, [&] { return derived_.scalar(scale().rate) / time_rate(); });
    }
    if (c.momentum) return along_flow(&c, site, [&] { return velocity(c, site); });
    const long double rate = derived_.at(c.variable->rate, text_.box.place(site));
    return rate / (unit(*c.at.field) * time_rate());
  }

  long double written_rate(const Compared& c, int site) {
    if (c.what == What::Scale) {
      const Written::Energies mean = text_.energies();
      return -text_.a / (6 * text_.planck2()) * (mean.rho + 3 * mean.p);
    }
    const WrittenField& f = *c.at.field;
    if (c.what == What::Kick) {
      return c.generator < 0 ? text_.from_action(c.level->shown, f, site, c.at.real)
                             : text_.from_action(c.level->shown, f, site, c.axis, c.generator);
    }
    const physics::EquationFact* own = text_.facts().equation(f.name);
    const auto all = own                   ? text_.right_side(*own, f, site)
                     : text_.hamiltonian() ? text_.from_hamiltonian(f, site)
                                           : text_.from_potential(f, site);
    return all.at(c.at.real);
  }

  /// Sums of the squares of what multiplies each noise, per sqrt(time*volume).
  std::pair<long double, long double> noise_powers(const Compared& c, int site) {
    const Variable& v = c.momentum ? *c.momentum : *c.variable;
    const Place p = text_.box.place(site);
    std::set<int> streams;
    algebra::visit(v.rate, [&](Expr e) {
      if (e.is(Op::Noise)) streams.insert(e->index);
    });
    derived_.noise.clear();
    const long double still = derived_.at(v.rate, p);
    long double size = 1 / (unit(*c.at.field) * time_rate());
    if (c.momentum) {
      long double& pi = derived_.arrays[v.array][static_cast<std::size_t>(site)];
      const long double here = pi, before = velocity(c, site);
      pi = here + 1;
      size = velocity(c, site) - before;
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
    derived *= (c.momentum ? 1 : time_rate() * time_rate()) * volume / time_rate();

    std::set<const dsl::Expr*> places;
    text_.noise = [&](const dsl::Expr& e) {
      places.insert(&e);
      return 0.0L;
    };
    const auto& own = *text_.facts().equation(c.at.field->name);
    const long double calm = text_.right_side(own, *c.at.field, site).at(c.at.real);
    long double written = 0;
    for (const dsl::Expr* place : places) {
      text_.noise = [&](const dsl::Expr& e) { return &e == place ? 1.0L : 0.0L; };
      const long double g = text_.right_side(own, *c.at.field, site).at(c.at.real) - calm;
      written += g * g;
    }
    text_.noise = nullptr;
    return {derived, written};
  }

  void compare(Compared& c) {
    if (!c.row.not_checked.empty() || (c.generator >= 0 && c.row.points > 0)) return;
    const int sites = text_.box.sites();
    for (int i = 0; i < std::min(kSites, sites); ++i) {
      const int site = c.what == What::Scale ? 0 : (i * 7919 + (i == 1 ? 1 : 0)) % sites;
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
      if (!c.row.not_checked.empty() || c.what == What::Scale || c.generator >= 0) return;
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
  std::vector<Compared> compared_;
  std::optional<physics::Trajectory> trajectory_;
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
  CompileOptions own = options;
  own.lattice.clear();
  Compilation compilation = derive_model(path, made_small(path, own, kFew));
  if (!compilation.system) compilation = derive_model(path, made_small(path, options));
  if (!compilation.system) return {};
  return check_derivatives(compilation.resolved, *compilation.system);
}

}  // namespace vphi::tools
