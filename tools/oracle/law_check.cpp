#include "tools/oracle/law_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "compiler/interpret/interpret.hpp"
#include "tools/oracle/both_sides.hpp"
#include "tools/oracle/shown_state.hpp"
#include "tools/oracle/text/written_fluid.hpp"

namespace vphi::tools {
namespace {

constexpr double kExact = 1e-8;  ///< of differences where no iteration leaves more
/// A larger difference is no rest of an iteration, whatever its `tol`.
constexpr double kMostLeft = 0.01;
constexpr int kLawStates = 3;  ///< of recoveries and rates; of steps one, all of whose cells count

class LawComparison {
 public:
  LawComparison(const dsl::Resolved& resolved, const physics::System& system)
      : resolved_(resolved),
        system_(system),
        laws_(*system.conservation),
        text_(resolved),
        derived_(system) {}

  std::vector<DerivativeRow> rows() {
    if (system_.A != 1 || system_.B != 1)
      return {{"the equations", "the text", 0, 0, "conservation laws in program units"}};
    try {
      prepare();
      WrittenFluid fluid(resolved_, text_);
      fluid_ = &fluid;
      text_.cells = fluid.cells();
      find_share();
      compare_recovery();
      compare_start();
      WrittenScheme scheme(fluid);
      if (scheme.step())
        compare_step(scheme);
      else
        compare_rates(scheme);
      if (system_.noise.kind != physics::NoiseClass::None && !scheme.step()) compare_noise(scheme);
    } catch (const NotCovered& end) {
      rows_.push_back({"the equations", "the text", 0, 0, end.what});
    } catch (const std::exception& end) {
      rows_.push_back({"the equations", "the text", 0, 0, end.what()});
    }
    return rows_;
  }

 private:
  void prepare() {
    prepare_sides(resolved_, system_, text_, derived_);
    text_.step = 1e-5L;  // of derivatives in the text, d(p, eps)
    for (const auto& s : system_.scalars) derived_.symbols[s.symbol] = 0;
    for (const auto& s : system_.scalars)
      if (s.symbol == system_.time) derived_.symbols[s.symbol] = derived_.scalar(s.initial);
    text_.t = derived_.symbols[system_.time];
    text_.set_background();
    if (text_.closed()) derived_.symbols[text_.scale_factor()] = 1;
    // of the recovery: the residual of its iterations, as the compiler states it
    for (const physics::Conservation::Solved& solved : laws_.solved)
      if (solved.left > 0) allowed_ = std::max(allowed_, std::min(1000 * solved.left, kMostLeft));
  }

  int sites() const { return text_.box.sites(); }
  Place place(int site) const { return text_.box.place(site); }

  // ---- states

  /// Of each denominator, root and logarithm of the text whether it was negative and positive.
  using Signs = std::map<const dsl::Expr*, std::pair<bool, bool>>;

  Signs signs_of(const std::function<void()>& evaluate) {
    Signs signs;
    text_.guarded = [&](const dsl::Expr& at, long double value) {
      auto& [negative, positive] = signs[&at];
      negative = negative || value < 0;
      positive = positive || value > 0;
    };
    struct Shown {
      Written& text;
      ~Shown() { text.guarded = nullptr; }
    } shown{text_};
    evaluate();
    return signs;
  }

  /// Whether no value with one sign in `reference` has the other in `signs`.
  static bool keeps(const Signs& reference, const Signs& signs) {
    return std::all_of(signs.begin(), signs.end(), [&](const auto& guard) {
      const auto known = reference.find(guard.first);
      if (known == reference.end()) return true;
      const auto [negative, positive] = known->second;
      return negative == positive || (negative ? !guard.second.second : !guard.second.first);
    });
  }

  /// Nothing where the start is drawn or has no finite primitive variables here.
  std::optional<Cell> start_at(const Place& p) {
    try {
      Cell start = fluid_->recovered(fluid_->start(p), p);
      start.resize(static_cast<std::size_t>(fluid_->components(true)));
      const bool finite =
          std::all_of(start.begin(), start.end(), [](auto x) { return std::isfinite(x); });
      return finite ? std::optional(start) : std::nullopt;
    } catch (const NotCovered&) {
      return std::nullopt;
    }
  }

  /// Primitive variables around 1, or of both signs where there are scalars alone.
  Cell around(std::mt19937_64& random) const {
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto& names = fluid_->primitives();
    const bool vectors =
        std::any_of(names.begin(), names.end(), [&](const auto& p) { return is_vector(p.name); });
    Cell cell;
    for (const auto& p : names) {
      for (int i = 0; i < p.size; ++i) {
        const double x = uniform(random);
        cell.push_back(p.relaxed                         ? 0.1 * x
                       : p.beside                        ? 0.5 * x
                       : is_vector(p.name)               ? 0.35 * x
                       : !vectors && uniform(random) < 0 ? -1 - 0.4 * x
                                                         : 1 + 0.4 * x);
      }
    }
    return cell;
  }

  static Cell nearer(const Cell& cell, const std::optional<Cell>& start, long double share) {
    if (!start || share == 1) return cell;
    Cell result = *start;
    for (std::size_t i = 0; i < cell.size(); ++i) result[i] += share * (cell[i] - result[i]);
    return result;
  }

  /// Finds how far drawn states may be from the start. W2 = 1/(1 - v^2) has a value beyond v = 1 as
  /// well, where the model has no state. Drawn states are moved nearer to the start until no
  /// denominator, root or logarithm changes its sign in between, and then by half again, since
  /// states at faces combine components of different cells.
  void find_share() {
    constexpr int kCells = 200, kPlaces = 4;
    std::mt19937_64 random(1601);
    for (int i = 0; i < kCells; ++i) {
      const Place p = place(i % sites());
      const Cell cell = around(random);
      const std::optional<Cell> start = start_at(p);
      if (!start) continue;
      const auto densities = [&](const Cell& at) {
        return signs_of([&] { fluid_->densities(at, p); });
      };
      const auto recovery = [&](const Cell& at) {
        return signs_of([&] { fluid_->recovered(fluid_->densities(at, p), p); });
      };
      const Signs of_densities = densities(*start), of_recovery = recovery(*start);
      const auto reached = [&] {
        for (int part = 1; part <= kPlaces; ++part)
          if (!keeps(of_densities, densities(nearer(cell, start, share_ * part / kPlaces))))
            return false;
        return keeps(of_recovery, recovery(nearer(cell, start, share_)));
      };
      for (int attempt = 0; attempt < 40 && !reached(); ++attempt) share_ *= 0.7L;
    }
    if (share_ < 1) share_ /= 2;
  }

  /// Quantities of random primitive variables, near each other and on the start's side of every
  /// pole.
  std::vector<Cell> drawn(unsigned seed) {
    std::mt19937_64 random(1871 + seed);
    std::vector<Cell> cells;
    for (int s = 0; s < sites(); ++s) {
      Cell quantities;
      const std::optional<Cell> start = share_ < 1 ? start_at(place(s)) : std::nullopt;
      for (int attempt = 0; attempt < 40; ++attempt) {
        quantities = fluid_->densities(nearer(around(random), start, share_), place(s));
        const Cell back = fluid_->recovered(quantities, place(s));
        if (std::all_of(back.begin(), back.end(), [](auto x) { return std::isfinite(x); })) break;
      }
      cells.push_back(std::move(quantities));
    }
    return cells;
  }
  bool is_vector(const std::string& name) const {
    const dsl::Symbol* symbol = resolved_.find(name);
    return symbol && symbol->type.base == dsl::Type::Base::Vector;
  }

  void put(const std::vector<Cell>& cells) {
    for (std::size_t c = 0; c < laws_.quantities.size(); ++c) {
      auto& array = derived_.arrays[laws_.quantities[c]];
      array.clear();
      for (const Cell& cell : cells) array.push_back(cell[c]);
    }
    put_fields(cells);
    derived_.changed();
  }

  /// Fields with equations of their own: those of the cells where they are real numbers and
  /// vectors, random values of all others and of all velocities.
  void put_fields(const std::vector<Cell>& cells) {
    std::mt19937_64 random(2741);
    std::uniform_real_distribution<double> uniform(-1, 1);
    ShownState state(system_, text_, derived_);
    for (const physics::Variable& v : system_.variables) {
      if (std::ranges::count(laws_.quantities, v.array) > 0) continue;
      auto& array = derived_.arrays[v.array];
      array.resize(cells.size());
      for (long double& x : array) x = 0.5 * uniform(random);
      const auto at =
          ShownState::second_order_momentum(v) ? std::nullopt : standing(text_, v.shown);
      if (!at) continue;
      for (const auto& name : fluid_->quantities()) {
        if (!name.beside || name.name != at->field->name) continue;
        const auto c = static_cast<std::size_t>(name.first) + at->real / 2;
        for (std::size_t s = 0; s < cells.size(); ++s) array[s] = cells[s][c];
      }
    }
    derived_.changed();
    state.show();
  }

  std::string shown(const std::vector<WrittenFluid::Name>& names, std::size_t component) const {
    for (const auto& n : names) {
      const int i = static_cast<int>(component) - n.first;
      if (i < 0 || i >= n.size) continue;
      return n.size > 1 ? fmt::format("{}[{}]", n.name, i) : n.name;
    }
    return {};
  }
  DerivativeRow row(std::string what, std::string source) const {
    DerivativeRow r{std::move(what), std::move(source), 0, 0, {}};
    r.allowed = allowed_;
    return r;
  }

  // ---- recover and init

  void compare_recovery() {
    for (const physics::Derived& value : laws_.recovered) derived_.made[value.array] = value.value;
    std::vector<Filling> all;
    const auto count =
        static_cast<std::size_t>(fluid_->components(true) - fluid_->components_beside());
    for (std::size_t c = 0; c < count; ++c)
      all.emplace_back(row(shown(fluid_->primitives(), c), "recover"));
    // in the order of the System: what is solved for first, then primitives as they are declared
    const std::size_t first = laws_.recovered.size() - count;
    std::map<std::size_t, Filling> equations;
    for (std::size_t k = 0; k < fluid_->solves().size(); ++k)
      if (fluid_->solves()[k].size == 1)
        equations.emplace(k, row(fluid_->solves()[k].name + " in its equation", "solve"));
    for (unsigned state = 0; state < kLawStates; ++state) {
      const std::vector<Cell> cells = drawn(state);
      put(cells);
      for (int s = 0; s < sites(); ++s) {
        const Cell& quantities = cells[static_cast<std::size_t>(s)];
        const Cell expected = fluid_->recovered(quantities, place(s));
        const auto found = [&](std::size_t i) {
          return derived_.at(system_.arena->load(laws_.recovered[i].array), place(s));
        };
        for (std::size_t c = 0; c < count; ++c) all[c].take(found(first + c), expected[c]);
        if (equations.empty()) continue;
        const std::vector<std::vector<long double>> solutions = solved_at(place(s));
        for (auto& [k, equation] : equations) {
          equation.take(fluid_->left(quantities, k, solutions, place(s)), 0);
          equation.size(solutions.at(k).at(0));
        }
      }
    }
    for (auto& [k, equation] : equations) rows_.push_back(equation.done());
    double apart = 0;
    for (Filling& f : all) {
      rows_.push_back(f.done());
      apart = std::max(apart, rows_.back().deviation);
    }
    // the states of rates and steps are the same, most of them nearer than the bound of all
    allowed_ = std::max(kExact, std::min(allowed_, 1000 * apart));
  }

  /// What the System makes of the names that are solved for, in the order of the text.
  std::vector<std::vector<long double>> solved_at(const Place& p) {
    std::vector<std::vector<long double>> solutions;
    for (const WrittenSolve& solve : fluid_->solves()) {
      std::vector<long double>& parts = solutions.emplace_back();
      for (const physics::Conservation::Solved& solved : laws_.solved)
        if (solved.name == solve.name)
          for (const int array : solved.arrays)
            parts.push_back(derived_.at(system_.arena->load(array), p));
    }
    return solutions;
  }

  void compare_start() {
    std::vector<Filling> all;
    for (std::size_t c = 0; c < laws_.quantities.size(); ++c)
      all.emplace_back(row(shown(fluid_->quantities(), c) + " at the start", "init"));
    DerivedValue start(system_);  // later values are made of earlier ones
    start.symbols = derived_.symbols;
    for (const physics::InitialValue& value : system_.initial)
      start.made[value.array] = value.value;
    try {
      for (int s = 0; s < sites(); ++s) {
        const Cell expected = fluid_->start(place(s));
        for (std::size_t c = 0; c < all.size(); ++c)
          all[c].take(start.at(system_.arena->load(laws_.quantities[c]), place(s)), expected.at(c));
      }
    } catch (const NotCovered& end) {
      rows_.push_back({"the start", "init", 0, 0, end.what});
      return;
    } catch (const std::invalid_argument& end) {
      rows_.push_back({"the start", "init", 0, 0, end.what()});
      return;
    }
    for (Filling& f : all) rows_.push_back(f.done());
  }

  // ---- the scheme

  /// Compares a right side: U' of the System's variables, and the flux out of an open box.
  void compare_rates(WrittenScheme& scheme) {
    for (const physics::AxisScheme& sweep : laws_.sweeps)
      for (const physics::Derived& line : sweep.lines) derived_.made[line.array] = line.value;
    ShownState background(system_, text_, derived_);
    std::optional<Filling> expansion;
    if (text_.closed()) {
      if (!text_.curves()) expansion.emplace(row(text_.scale_factor() + "''", "the averages"));
      derived_.symbols[background.scale().symbol] = 1.3L;
      derived_.symbols[background.scale_slope().symbol] = 0.8L;
      derived_.changed();
      background.background();
    }
    const std::string source = "the text of " + scheme.name();
    const std::size_t count = laws_.quantities.size();
    std::vector<Filling> all, lost;
    for (std::size_t c = 0; c < count; ++c) {
      all.emplace_back(row(shown(fluid_->quantities(), c) + "'", source));
      lost.emplace_back(row("what leaves the box of " + shown(fluid_->quantities(), c), source));
    }
    std::vector<Place> places;
    for (int s = 0; s < sites(); ++s) places.push_back(place(s));
    for (unsigned state = 0; state < kLawStates; ++state) {
      std::vector<Cell> cells = drawn(state);
      for (int s = 0; s < sites(); ++s)
        cells[static_cast<std::size_t>(s)] =
            fluid_->limited(cells[static_cast<std::size_t>(s)], place(s));
      put(cells);
      if (expansion) compare_expansion(background, cells, *expansion);
      std::vector<Cell> fluxes;
      auto expected = scheme.rates(cells, places, &fluxes);
      if (const auto step = step_of(cells)) {  // the System's rates are those of one step
        for (auto* rates : {&expected, &fluxes})
          for (Cell& cell : *rates)
            for (long double& rate : cell) rate *= *step;
      }
      for (std::size_t c = 0; c < count; ++c) {
        const int array = laws_.quantities[c];
        long double out = 0, size = 0;
        for (std::size_t s = 0; s < places.size(); ++s) {
          all[c].take(derived_.at(rate_of(array), places[s]), expected[s][c]);
          const long double volume = fluid_->in_coordinates() ? fluid_->volume(places[s]) : 1;
          out -= volume * fluxes[s][c];
          size += std::fabs(volume * fluxes[s][c]);
        }
        const auto scalar = laws_.outflow.find(array);
        if (scalar == laws_.outflow.end()) continue;
        for (const auto& s : system_.scalars)
          if (s.symbol == scalar->second) lost[c].take(derived_.scalar(s.rate), out);
        lost[c].size(size);
      }
    }
    if (expansion) rows_.push_back(expansion->done());
    for (Filling& f : all) rows_.push_back(f.done());
    for (Filling& f : lost)
      if (!laws_.outflow.empty()) rows_.push_back(f.done());
  }

  /// a'' of the energies of fields and laws.
  void compare_expansion(ShownState& background, const std::vector<Cell>& cells, Filling& row) {
    Written::Energies mean = text_.energies();
    for (int s = 0; s < sites(); ++s) {
      const Cell& quantities = cells[static_cast<std::size_t>(s)];
      const Written::Energies here =
          fluid_->energies({quantities, fluid_->recovered(quantities, place(s))}, place(s));
      mean.rho += here.rho / sites();
      mean.p += here.p / sites();
    }
    const long double rate = derived_.scalar(background.scale_slope().rate);
    row.take(rate / background.time_rate(),
             -text_.a / (6 * text_.planck2()) * (mean.rho + 3 * mean.p));
  }

  /// Compares what the noise of the text adds to a right side. Each stream has a random number at
  /// each site.
  void compare_noise(WrittenScheme& scheme) {
    const std::vector<dsl::Span>& streams = system_.noise.streams;
    const auto number = [&](std::size_t place_in_text, const Place& p) {
      std::mt19937_64 random(place_in_text * 7919 + static_cast<std::size_t>(text_.box.site(p)));
      return std::uniform_real_distribution<double>(-1, 1)(random);
    };
    std::set<std::size_t> begins;
    for (const dsl::Span& span : streams) begins.insert(span.begin);
    std::vector<Filling> all;
    for (std::size_t c = 0; c < laws_.quantities.size(); ++c)
      all.emplace_back(row("noise of " + shown(fluid_->quantities(), c), "the text"));
    if (begins.size() < streams.size())
      for (Filling& f : all) f.stop("one `noise` of the text that has several components");
    std::vector<Place> places;
    for (int s = 0; s < sites(); ++s) places.push_back(place(s));
    const std::vector<Cell> cells = drawn(0);
    put(cells);
    const long double lengths = std::pow(text_.box.dx, static_cast<long double>(text_.box.dims));
    const long double volume =
        lengths * (fluid_->in_coordinates() ? fluid_->volume(places.front()) : 1);
    const auto still = scheme.rates(cells, places);
    text_.noise = [&](const dsl::Expr& at, const Place* p) -> long double {
      return p ? number(at.span.begin, *p) : throw NotCovered{at.span, "noise without a place"};
    };
    const auto moved = scheme.rates(cells, places);
    text_.noise = nullptr;
    for (std::size_t c = 0; c < all.size(); ++c) {
      const algebra::Expr rate = rate_of(laws_.quantities[c]);
      for (std::size_t s = 0; s < places.size(); ++s) {
        derived_.noise_at = nullptr;
        const long double calm = derived_.at(rate, places[s]);
        derived_.noise_at = [&](int stream, const Place& p) {
          return number(streams.at(static_cast<std::size_t>(stream)).begin, p);
        };
        const long double noisy = derived_.at(rate, places[s]);
        all[c].take((noisy - calm) * std::sqrt(volume), moved[s][c] - still[s][c]);
      }
      derived_.noise_at = nullptr;
    }
    for (Filling& f : all) rows_.push_back(f.done());
  }

  /// `dt` of a model whose step depends on the state; nothing where it is a number.
  std::optional<long double> step_of(const std::vector<Cell>& cells) {
    const dsl::Clause* evolve = resolved_.clause("evolve");
    const dsl::ExprPtr dt = evolve ? dsl::option(*evolve, "dt") : nullptr;
    if (!dt || system_.dt != 1) return std::nullopt;
    std::vector<FluidCell> states;
    for (int s = 0; s < sites(); ++s) {
      const Cell& quantities = cells[static_cast<std::size_t>(s)];
      states.push_back({quantities, fluid_->recovered(quantities, place(s))});
    }
    const long double step = fluid_->over_cells(*dt, states);
    return std::fabs(step - 1) > 1e-12L ? std::optional(step) : std::nullopt;
  }

  algebra::Expr rate_of(int array) const {
    for (const physics::Variable& v : system_.variables)
      if (v.array == array) return v.rate;
    throw std::invalid_argument("a quantity without a rate");
  }

  /// Compares a step: the kernels as scheduled, in f64, with the text.
  void compare_step(WrittenScheme& scheme) {
    const schedule::Plan plan = plan_in_f64(system_, resolved_);
    const std::vector<Cell> cells = drawn(0);
    kernel::Interpreter kernels(plan);
    kernels.start();
    const auto buffer = [&](int array) -> std::vector<double>& {
      return kernels.buffer(plan.buffer_of.at(static_cast<std::size_t>(array)));
    };
    std::vector<Cell> rounded = cells;  // the same numbers on both sides
    for (std::size_t c = 0; c < laws_.quantities.size(); ++c) {
      std::vector<double>& values = buffer(laws_.quantities[c]);
      for (std::size_t s = 0; s < cells.size(); ++s) {
        values[s] = static_cast<double>(cells[s][c]);
        rounded[s][c] = values[s];
      }
    }
    kernels.step();
    const dsl::Clause* evolve = resolved_.clause("evolve");
    const dsl::ExprPtr dt = evolve ? dsl::option(*evolve, "dt") : nullptr;
    if (!dt) throw std::invalid_argument("a step without a length");
    const long double length = text_.value(*dt, nullptr).parts.at(0).real();
    const std::vector<Cell> expected = scheme.advanced(rounded, length);
    const std::string source = "a step of " + scheme.name() + " from the text";
    for (std::size_t c = 0; c < laws_.quantities.size(); ++c) {
      Filling filling(row(shown(fluid_->quantities(), c) + " after a step", source));
      const std::vector<double>& values = buffer(laws_.quantities[c]);
      for (std::size_t s = 0; s < cells.size(); ++s) filling.take(values[s], expected[s][c]);
      rows_.push_back(filling.done());
    }
    for (const auto& [array, name] : laws_.outflow) {
      const auto c = static_cast<std::size_t>(
          std::find(laws_.quantities.begin(), laws_.quantities.end(), array) -
          laws_.quantities.begin());
      const auto asked =
          std::find_if(plan.program.scalars.begin(), plan.program.scalars.end(),
                       [&](const program::Scalar& scalar) { return scalar.name == name; });
      const bool judged = std::any_of(
          system_.expectations.begin(), system_.expectations.end(), [&](const auto& promise) {
            return promise.kind == physics::Expectation::Kind::Conserved && reads(promise, name);
          });
      if (asked == plan.program.scalars.end() || !judged) continue;
      Filling filling(row("what left the box of " + shown(fluid_->quantities(), c), source));
      filling.take(kernels.scalar(name), scheme.lost().at(c));
      for (const Cell& cell : rounded) filling.size(cell[c]);
      rows_.push_back(filling.done());
    }
  }

  static bool reads(const physics::Expectation& promise, const std::string& scalar) {
    const auto in = [&](algebra::Expr e) {
      return e && algebra::contains(e, [&](algebra::Expr node) {
               return node.is(algebra::Op::Symbol) && node->name == scalar;
             });
    };
    return in(promise.value) || in(promise.ok) || in(promise.scale);
  }

  const dsl::Resolved& resolved_;
  const physics::System& system_;
  const physics::Conservation& laws_;
  Written text_;
  DerivedValue derived_;
  WrittenFluid* fluid_ = nullptr;
  double allowed_ = kExact;
  long double share_ = 1;  ///< of the way from the start to what is drawn
  std::vector<DerivativeRow> rows_;
};

}  // namespace

std::vector<DerivativeRow> check_laws(const dsl::Resolved& resolved,
                                      const physics::System& system) {
  return LawComparison(resolved, system).rows();
}

}  // namespace vphi::tools
