#include "tools/oracle/start_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <random>

#include "compiler/algebra/transform.hpp"
#include "compiler/interpret/interpret.hpp"
#include "runtime/run/starts/random_field.hpp"
#include "tools/oracle/shown_state.hpp"
#include "tools/oracle/vacuum_power.hpp"

namespace vphi::tools {
namespace {

using dsl::ExprKind;
using program::RandomField;

constexpr std::size_t kValues = 20000;  ///< of each component, on both sides
constexpr int kMostSeeds = 4000;
/// Of sqrt(n/2) times the distance: less than one in 10^4 are as far. Of correlations sigmas.
constexpr double kFar = 2.2, kStartErrors = 5;

/// One number of a site: a component of a variable or of its rate, as run and text draw it.
struct Column {
  std::string shown;
  const dsl::Expr* text = nullptr;
  RunPosition at;
  bool rate = false;
  std::vector<double> run, written;
};

/// That number of a value of the text; a number is every component of a vector.
long double part(const Numbers& v, const Column& c) {
  return v.parts.at(v.scalar() ? 0 : c.at.real / 2).real();
}

/// The places of a word in an expression and in the definitions that it uses.
void places_of(const Written& text, const dsl::Expr& e, const std::string& word,
               std::vector<const dsl::Expr*>& found) {
  if ((e.kind == ExprKind::Name || e.kind == ExprKind::Call) && e.text == word) found.push_back(&e);
  const auto* fact = e.kind == ExprKind::Name ? text.facts().find(e.text) : nullptr;
  if (fact && fact->value) places_of(text, *fact->value, word, found);
  for (const auto& arg : e.args) places_of(text, *arg, word, found);
}

bool names(const Written& text, const dsl::Expr& e, const std::string& word) {
  std::vector<const dsl::Expr*> found;
  places_of(text, e, word, found);
  return !found.empty();
}

/// The power of `spectrum(P)` as an expression of k.
dsl::ExprPtr power_of(const dsl::Expr& call) {
  if (call.args.at(0)->kind != ExprKind::String) return call.args[0];
  auto k = std::make_shared<dsl::Expr>();
  k->kind = ExprKind::Name, k->text = "k", k->span = call.span;
  auto table = std::make_shared<dsl::Expr>();
  table->kind = ExprKind::Call, table->text = "table", table->span = call.span;
  table->args = {call.args[0], k};
  return table;
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (std::size_t i = 0, end = 0; i < order.size(); i = end) {  // equal values share their ranks
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) result[order[k]] = static_cast<double>(i + end - 1) / 2;
  }
  return result;
}

/// Of ranks, whose variance is (n^2 - 1)/12.
double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = static_cast<double>(x.size()), middle = (n - 1) / 2;
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - middle) * (y[i] - middle);
  return sum / n / ((n * n - 1) / 12);
}

/// Largest distance of the two distributions.
double distance(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double most = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double at = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= at) ++i;
    while (j < b.size() && b[j] <= at) ++j;
    most = std::max(most, std::fabs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                    static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return most;
}

class StartComparison {
 public:
  StartComparison(const dsl::Resolved& resolved, const physics::System& system)
      : resolved_(resolved),
        system_(system),
        text_(resolved),
        derived_(system),
        state_(system, text_, derived_),
        random_(6007) {}

  std::vector<DerivativeRow> rows() {
    try {
      collect();
      if (columns_.empty() && waves_.empty() && hot_.empty()) return rows_;
      if (system_.conservation) throw NotCovered{{}, "a drawn start of conservation laws"};
      plan_.emplace(plan_in_f64(system_, resolved_));
      for (const auto& field : plan_->program.random)
        if (field.kind == RandomField::Kind::File || field.kind == RandomField::Kind::Link)
          throw NotCovered{{}, "a start from a file beside one that is drawn"};
      draw();
      compare_distributions();
      compare_hot();
      for (const Column& wave : waves_) compare_waves(wave);
    } catch (const NotCovered& end) {
      rows_.push_back({"the start", "what is drawn", 0, 0, end.what});
    } catch (const std::exception& end) {
      rows_.push_back({"the start", "what is drawn", 0, 0, end.what()});
    }
    return rows_;
  }

 private:
  // ---- what is drawn

  void collect() {
    bool prepared = false;
    const auto add = [&](const dsl::Head& head, const dsl::Expr& value) {
      if (!prepared) prepare_sides(resolved_, system_, text_, derived_);
      prepared = true;
      const std::string shown =
          head.name + std::string(static_cast<std::size_t>(head.primes), '\'');
      const auto found = text_.fields.find(head.name);
      if (found == text_.fields.end()) return not_checked(shown, "what is drawn of this kind");
      if (obeys_law(head.name))
        return not_checked(shown, "what Gauss's law changes after the draw");
      WrittenField& f = found->second;
      if (f.colours > 0 || f.phase) {
        if (value.text != "hot") return not_checked(shown, "links that are drawn otherwise");
        for (StoredLinks& links : links_of(text_, system_))
          if (&links.field() == &f) hot_.push_back({std::move(links), {}, {}, {}, {}});
        return;
      }
      const bool waves = names(text_, value, "vacuum") || names(text_, value, "spectrum");
      if (f.complex)
        return not_checked(
            shown, waves ? "a complex field's fluctuations" : "complex numbers that are drawn");
      if (waves && head.primes > 0)
        return not_checked(shown, "the power of a velocity's fluctuations");
      for (int real = 0; real < f.reals(); real += 2) {
        Column c;
        c.shown = f.rows * f.columns > 1 ? fmt::format("{}[{}]", shown, real / 2) : shown;
        c.text = &value;
        c.at = {&f, static_cast<std::size_t>(real), {}};
        c.rate = head.primes > 0;
        (waves ? waves_ : columns_).push_back(c);
      }
    };
    for (const dsl::Clause* clause : resolved_.clauses("init"))
      for (const dsl::Item& item : clause->items)
        if (item.head && item.value && item.relation == dsl::Item::Relation::Drawn &&
            item.value->text != "cold")
          add(*item.head, *item.value);
    for (const dsl::Line& line : resolved_.model.lines)
      if (line.kind == dsl::Line::Kind::Definition && line.definition.drawn)
        add(line.definition.head, *line.definition.value);
  }

  /// Whether `gauss = 0` changes what was drawn of the field.
  bool obeys_law(const std::string& field) const {
    const auto changes = [&](int array) {
      if (system_.gauss_projection && system_.gauss_projection->change.contains(array)) return true;
      return std::ranges::any_of(system_.gauss, [&](const physics::GaussStart& law) {
        return law.rotation.contains(array) || std::ranges::count(law.electric, array) > 0;
      });
    };
    return std::ranges::any_of(system_.variables, [&](const physics::Variable& v) {
      const bool own = v.shown == field || v.shown.starts_with(field + "[");
      return own && changes(v.array);
    });
  }

  void not_checked(const std::string& shown, const std::string& why) {
    rows_.push_back({shown + " at the start", "what is drawn", 0, 0, why});
  }

  // ---- numbers

  /// The state of the run after its start, as the text knows it.
  void start_run(kernel::Interpreter& kernels, int number) {
    program::Program& p = plan_->program;
    p.seed = system_.seed + static_cast<std::uint64_t>(number) * 7919;
    for (const RandomField& field : p.random) {
      auto& buffer = kernels.buffer(field.buffer);
      const auto values = runtime::random_field(p, field, 1);
      std::copy(values.begin(), values.end(), buffer.begin());
    }
    if (p.ensemble_slot >= 0)
      kernels.set_scalar(p.scalars.at(static_cast<std::size_t>(p.ensemble_slot)).name, number);
    kernels.start();
    for (const physics::Variable& v : system_.variables) {
      const auto& buffer = kernels.buffer(plan_->buffer_of.at(static_cast<std::size_t>(v.array)));
      derived_.arrays[v.array].assign(buffer.begin(), buffer.end());
    }
    for (const auto& s : system_.scalars) derived_.symbols[s.symbol] = kernels.scalar(s.symbol);
    derived_.changed();
    state_.background();
    state_.show();
  }

  void draw() {
    kernel::Interpreter kernels(*plan_);
    const std::size_t sites = static_cast<std::size_t>(text_.box.sites());
    const int seeds = std::clamp(static_cast<int>(kValues / sites), 1, kMostSeeds);
    const int runs = columns_.empty() && hot_.empty() ? 1 : seeds;
    text_.draw = [&](const std::string& word, const std::vector<long double>& x) {
      return drawn(word, x);
    };
    for (int number = 0; number < runs; ++number) {
      start_run(kernels, number);
      for (Column& c : columns_) {
        const WrittenField& f = *c.at.field;
        const auto& state = c.rate ? f.rates : f.values;
        for (std::size_t s = 0; s < sites; ++s)
          c.run.push_back(
              static_cast<double>(state.at(s * static_cast<std::size_t>(f.reals()) + c.at.real)));
      }
      for (Hot& hot : hot_) {
        if (hot.trace.size() >= kValues) continue;
        hot.links.read([&](int array, int site) {
          return derived_.arrays.at(array).at(static_cast<std::size_t>(site));
        });
        for (int site = 0; site < text_.box.sites(); ++site)
          for (int axis = 0; axis < text_.box.dims; ++axis) {
            look(hot.links.matrix(site, axis), hot.run_trace, hot.run_entry);
            look(uniform_link(hot.links.field()), hot.trace, hot.entry);
          }
      }
      if (number == 0)
        for (const Column& wave : waves_) compare_mean(wave);
    }
    for (Column& c : columns_) {
      drawing_ = &c;
      while (c.written.size() < c.run.size()) {
        for (std::size_t s = 0; s < sites; ++s) {
          const Place p = text_.box.place(static_cast<int>(s));
          const Numbers v = text_.value(*c.text, &p);
          c.written.push_back(moves(c, static_cast<int>(s)) ? static_cast<double>(part(v, c)) : 0);
        }
      }
      if (c.at.field->period > 0 && !c.rate) {
        const double period = static_cast<double>(c.at.field->period);
        for (auto* values : {&c.run, &c.written})
          for (double& x : *values) x -= period * std::floor(x / period);
      }
    }
    text_.draw = nullptr;
  }

  /// Momenta of links that are not in the box, or that stay, are 0.
  bool moves(const Column& c, int site) const {
    const WrittenField& f = *c.at.field;
    if (c.rate || f.rows != text_.box.dims) return true;
    const int axis = static_cast<int>(c.at.real) / 2 / f.columns;
    return !text_.outside(f, site, axis) && !text_.stays(f, site, axis);
  }

  std::optional<Numbers> drawn(const std::string& word, const std::vector<long double>& x) {
    std::normal_distribution<long double> normal;
    std::uniform_real_distribution<long double> uniform;
    const auto arg = [&](std::size_t i, long double otherwise) {
      return i < x.size() ? x[i] : otherwise;
    };
    if (word == "normal") return Numbers::of(arg(0, 0) + arg(1, 1) * normal(random_));
    if (word == "uniform")
      return Numbers::of(arg(0, 0) + (arg(1, 1) - arg(0, 0)) * uniform(random_));
    if (word == "waterbag") return Numbers::of(arg(0, 1) * (2 * uniform(random_) - 1));
    if (word == "cauchy")
      return Numbers::of(arg(0, 0) + arg(1, 1) * std::tan(std::numbers::pi_v<long double> *
                                                          (uniform(random_) - 0.5L)));
    if (word == "exponential") return Numbers::of(-arg(0, 1) * std::log(1 - uniform(random_)));
    if (word == "vacuum") return Numbers::of(0);
    if (word == "spectrum") return Numbers::of(wave_);
    const WrittenField* field = drawing_ ? drawing_->at.field : nullptr;
    if (word == "hot" && field && !field->allowed.empty())
      return Numbers::of(field->allowed[random_() % field->allowed.size()]);
    if (word == "hot" && field && field->period > 0)
      return Numbers::of(field->period * uniform(random_));
    const bool direction = word == "hot" && field && field->norm > 0;
    if (word != "ball" && !direction) return std::nullopt;
    // by throwing points into a cube until one is in the ball
    const auto size = static_cast<std::size_t>(
        drawing_ ? drawing_->at.field->rows * drawing_->at.field->columns : 1);
    for (;;) {
      std::vector<Complex> parts;
      long double square = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const long double u = 2 * uniform(random_) - 1;
        square += u * u;
        parts.emplace_back(arg(0, 1) * u);
      }
      if (square > 1 || square == 0) continue;
      if (direction)
        for (Complex& part : parts) part *= field->norm / std::sqrt(square);
      return Numbers::vector(std::move(parts));
    }
  }

  // ---- links

  /// Links anywhere in the group: Re tr and the imaginary part of an entry, of run and text.
  struct Hot {
    StoredLinks links;
    std::vector<double> run_trace, run_entry, trace, entry;
  };
  static void look(const std::vector<Complex>& u, std::vector<double>& trace,
                   std::vector<double>& entry) {
    const auto n = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(u.size()))));
    long double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += u[i * n + i].real();
    // roots of unity have few values, which rounding must not part
    const auto number = [](long double x) {
      constexpr long double kFine = 0x1p30L;
      return static_cast<double>(std::round(x * kFine) / kFine) + 0.0;
    };
    trace.push_back(number(sum));
    entry.push_back(number(u[n - 1].imag()));
  }
  /// Rows of normal numbers made orthonormal in turn; the last one takes the phase of 1/det.
  std::vector<Complex> uniform_link(const WrittenField& f) {
    const std::size_t n = f.phase ? 1 : static_cast<std::size_t>(f.colours);
    if (f.roots > 0) {
      std::uniform_int_distribution<int> root(0, f.roots - 1);
      return {std::polar(1.0L, 2 * std::numbers::pi_v<long double> * root(random_) / f.roots)};
    }
    std::normal_distribution<long double> normal;
    std::vector<Complex> u(n * n);
    for (Complex& z : u) z = Complex(normal(random_), normal(random_));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        Complex along = 0;
        for (std::size_t j = 0; j < n; ++j) along += std::conj(u[k * n + j]) * u[i * n + j];
        for (std::size_t j = 0; j < n; ++j) u[i * n + j] -= along * u[k * n + j];
      }
      long double square = 0;
      for (std::size_t j = 0; j < n; ++j) square += std::norm(u[i * n + j]);
      for (std::size_t j = 0; j < n; ++j) u[i * n + j] /= std::sqrt(square);
    }
    if (f.phase) return u;
    std::vector<Complex> rows = u;  // the determinant by elimination
    Complex det = 1;
    for (std::size_t c = 0; c < n; ++c) {
      det *= rows[c * n + c];
      for (std::size_t r = c + 1; r < n; ++r) {
        const Complex by = rows[r * n + c] / rows[c * n + c];
        for (std::size_t k = c; k < n; ++k) rows[r * n + k] -= by * rows[c * n + k];
      }
    }
    for (std::size_t j = 0; j < n; ++j) u[(n - 1) * n + j] /= det;
    return u;
  }
  void compare_hot() {
    for (const Hot& hot : hot_) {
      DerivativeRow row{hot.links.field().name + " at the start",
                        "all of its group",
                        static_cast<int>(hot.run_trace.size()),
                        0,
                        {}};
      row.deviation =
          std::max(distance(hot.run_trace, hot.trace), distance(hot.run_entry, hot.entry));
      row.allowed = kFar * std::sqrt(2.0 / static_cast<double>(hot.run_trace.size()));
      rows_.push_back(row);
    }
  }

  // ---- rows

  void compare_distributions() {
    for (const Column& c : columns_) {
      DerivativeRow row{
          c.shown + " at the start", "draws of its text", static_cast<int>(c.run.size()), 0, {}};
      row.deviation = distance(c.run, c.written);
      row.allowed = kFar * std::sqrt(2.0 / static_cast<double>(c.run.size()));
      rows_.push_back(row);
    }
    if (columns_.empty()) return;
    DerivativeRow row{"correlations at the start", "draws of the text", 0, 0, {}};
    row.allowed = kStartErrors * std::sqrt(2.0 / static_cast<double>(columns_[0].run.size()));
    std::vector<std::vector<double>> run, written;
    for (const Column& c : columns_) {
      run.push_back(ranks(c.run));
      written.push_back(ranks(c.written));
    }
    const auto compare = [&](std::size_t a, std::size_t b, std::size_t shift) {
      const auto next = [&](const std::vector<double>& v) {
        std::vector<double> moved(v);
        std::rotate(moved.begin(), moved.begin() + static_cast<std::ptrdiff_t>(shift), moved.end());
        return moved;
      };
      row.deviation = std::max(row.deviation, std::fabs(correlation(run[a], next(run[b])) -
                                                        correlation(written[a], next(written[b]))));
      ++row.points;
    };
    for (int axis = 0; axis < std::max(1, text_.box.dims); ++axis) {  // and with the place
      std::vector<double> places;
      for (std::size_t i = 0; i < columns_[0].run.size(); ++i)
        places.push_back(text_.box.place(static_cast<int>(
            i % static_cast<std::size_t>(text_.box.sites())))[static_cast<std::size_t>(axis)]);
      run.push_back(ranks(places));
      written.push_back(run.back());
    }
    for (std::size_t a = 0; a < columns_.size(); ++a) {
      for (std::size_t b = a + 1; b < run.size(); ++b) compare(a, b, 0);
      if (text_.box.sites() > 1) compare(a, a, 1);
      compare(a, a, static_cast<std::size_t>(text_.box.sites()));  // of the next seed
    }
    if (columns_[0].run.size() > static_cast<std::size_t>(text_.box.sites())) rows_.push_back(row);
  }

  /// Compares the zero mode, which is the mean given beside the fluctuations.
  void compare_mean(const Column& wave) {
    const WrittenField& f = *wave.at.field;
    Filling filling({"mean of " + wave.shown + " at the start", "its text", 0, 0, {}});
    long double mean = 0, expected = 0, size = 0;
    for (int s = 0; s < text_.box.sites(); ++s) {
      const Place p = text_.box.place(s);
      const long double here = f.values.at(static_cast<std::size_t>(s * f.reals()) + wave.at.real);
      const Numbers v = text_.value(*wave.text, &p);
      mean += here / text_.box.sites();
      size = std::max(size, std::fabs(here));
      expected += part(v, wave) / text_.box.sites();
    }
    filling.size(size);
    filling.take(mean, expected);
    rows_.push_back(filling.done());
  }

  struct Drawn {
    const physics::Variable* variable = nullptr;
    const physics::InitialValue* start = nullptr;
    const physics::RandomField* field = nullptr;
    std::size_t place = 0;
    bool velocity = false;  ///< the random field is that of a rate or a momentum
  };
  Drawn waves_of(const Column& wave, physics::RandomField::Kind kind);
  void compare_spectrum(const Column& wave, const dsl::Expr& call);
  /// What the variable changes by where the random array is 1 instead of 0.
  long double response(const Column& wave, const Drawn& drawn);
  void compare_waves(const Column& wave);
  long double second_slope(WrittenField& f, std::size_t real);
  /// q' = drift*p of a pair of a written H, and -p'/q where all sites move together.
  struct Oscillator {
    long double drift = 1, stiffness = 0;
  };
  Oscillator oscillator(const Column& wave);

  const dsl::Resolved& resolved_;
  const physics::System& system_;
  Written text_;
  DerivedValue derived_;
  ShownState state_;
  std::mt19937_64 random_;
  std::vector<Column> columns_, waves_;
  const Column* drawing_ = nullptr;
  long double wave_ = 0;  ///< what `spectrum` is in the text
  std::vector<Hot> hot_;
  std::vector<DerivativeRow> rows_;
  std::optional<schedule::Plan> plan_;
};

/// V'' where the whole box has the value beside the fluctuations.
long double StartComparison::second_slope(WrittenField& f, std::size_t real) {
  const auto before = f.values;
  const auto energy = [&](long double by) {
    for (std::size_t i = real; i < f.values.size(); i += static_cast<std::size_t>(f.reals()))
      f.values[i] = before[i] + by;
    const long double v = text_.mean_density();
    f.values = before;
    return v;
  };
  const long double h = 1e-3L * f.scale;
  return ((energy(h) - energy(0)) - (energy(0) - energy(-h))) / (h * h);
}

StartComparison::Oscillator StartComparison::oscillator(const Column& wave) {
  const physics::Variable* variable = waves_of(wave, physics::RandomField::Kind::Vacuum).variable;
  const auto partner = std::ranges::find(system_.variables, variable ? variable->partner : -1,
                                         &physics::Variable::array);
  const auto at =
      partner == system_.variables.end() ? std::nullopt : standing(text_, partner->shown);
  if (!at) throw NotCovered{{}, "the partner of `" + wave.shown + "`"};
  WrittenField &q = *wave.at.field, &p = *at->field;
  /// Slope of what H gives for `of` at the first site, where `moved` changes at some sites.
  const auto slope = [&](const WrittenField& of, std::size_t entry, WrittenField& moved,
                         std::size_t real, int sites) {
    const long double h = 1e-3L * moved.scale;
    const auto before = moved.values;
    const auto rate = [&](long double by) {
      for (int s = 0; s < sites; ++s)
        moved.values[static_cast<std::size_t>(s * moved.reals()) + real] += by;
      const long double value = text_.from_hamiltonian(of, 0).at(entry);
      moved.values = before;
      return value;
    };
    return (rate(h) - rate(-h)) / (2 * h);
  };
  return {slope(q, wave.at.real, p, at->real, 1),
          -slope(p, at->real, q, wave.at.real, text_.box.sites())};
}

/// The first value of the variable at the start, and the waves that it reads.
StartComparison::Drawn StartComparison::waves_of(const Column& wave,
                                                 physics::RandomField::Kind kind) {
  Drawn drawn;
  const physics::Variable* variable = nullptr;
  for (const physics::Variable& v : system_.variables)
    if (const auto at = standing(text_, v.shown); at && at->field == wave.at.field &&
                                                  at->real == wave.at.real && !variable &&
                                                  !ShownState::second_order_momentum(v))
      variable = &v;
  drawn.variable = variable;
  for (const auto& value : system_.initial)
    if (variable && value.array == variable->array && !drawn.start) drawn.start = &value;
  for (std::size_t i = 0; drawn.start && i < system_.random.size(); ++i) {
    const auto& random = system_.random[i];
    const bool read = algebra::contains(drawn.start->value, [&](algebra::Expr e) {
      return e.is(algebra::Op::Load) && e->index == random.array;
    });
    if (!read || random.kind != kind) continue;
    drawn.velocity = drawn.velocity || random.velocity;
    if (random.velocity) continue;
    drawn.field = &random;
    drawn.place = i;
  }
  return drawn;
}

long double StartComparison::response(const Column& wave, const Drawn& drawn) {
  const auto value = [&](long double random) {
    for (const auto& r : system_.random)
      derived_.arrays[r.array].assign(static_cast<std::size_t>(text_.box.sites()), 0);
    derived_.arrays[drawn.field->array].assign(static_cast<std::size_t>(text_.box.sites()), random);
    derived_.changed();
    return derived_.at(drawn.start->value, Place{}) / state_.unit(*wave.at.field);
  };
  return value(1) - value(0);
}

/// Power by shells of modes.
void StartComparison::compare_waves(const Column& wave) {
  std::vector<const dsl::Expr*> spectra;
  places_of(text_, *wave.text, "spectrum", spectra);
  const bool vacuum_too = names(text_, *wave.text, "vacuum");
  if (spectra.size() + (vacuum_too ? 1 : 0) > 1)
    return not_checked("power of " + wave.shown, "the power of a sum of waves");
  if (!spectra.empty()) return compare_spectrum(wave, *spectra[0]);
  DerivativeRow row{"power of " + wave.shown + " at the start", "vacuum", 0, 0, {}};
  const Drawn drawn = waves_of(wave, physics::RandomField::Kind::Vacuum);
  const auto* const field = drawn.field;
  if (!field) {
    if (drawn.velocity)
      row.not_checked = "the power of a velocity's fluctuations";
    else if (drawn.start)
      row.points = 1, row.deviation = 1;  // no fluctuations at all
    else
      row.not_checked = "where it starts";
    rows_.push_back(row);
    return;
  }
  VacuumStart vacuum{drawn.place, field->kernel_form, field->cutoff, response(wave, drawn)};
  // q/sqrt(drift) is the canonical coordinate
  const Oscillator own = text_.hamiltonian() ? oscillator(wave) : Oscillator{};
  vacuum.response /= std::sqrt(own.drift);
  vacuum.mass2 = (text_.hamiltonian() ? own.drift * own.stiffness
                                      : second_slope(*wave.at.field, wave.at.real)) -
                 9.0L / 4 * text_.hubble * text_.hubble;
  vacuum.dx = text_.box.dx;
  vacuum.dims = text_.box.dims;
  if (field->cutoff != 0) row.not_checked = "a vacuum with a cutoff of its own";
  judge_power(vacuum_power(plan_->program, vacuum), field->kernel_form, kStartErrors, row);
  rows_.push_back(row);
}

/// The same of `spectrum(P)`, with P of the text and its factor there.
void StartComparison::compare_spectrum(const Column& wave, const dsl::Expr& call) {
  DerivativeRow row{"power of " + wave.shown + " at the start", "spectrum", 0, 0, {}};
  const Drawn drawn = waves_of(wave, physics::RandomField::Kind::Spectrum);
  if (!drawn.field) {
    if (drawn.start)
      row.points = 1, row.deviation = 1;  // no waves at all
    else
      row.not_checked = "where it starts";
    rows_.push_back(row);
    return;
  }
  const Place origin{};
  text_.draw = [&](const std::string& word, const std::vector<long double>&) {
    return word == "spectrum" ? std::optional(Numbers::of(wave_)) : std::nullopt;
  };
  const auto written = [&](long double value) {
    wave_ = value;
    return part(text_.value(*wave.text, &origin), wave);
  };
  const long double factor = written(1) - written(0);
  wave_ = 0;
  text_.draw = nullptr;
  const dsl::ExprPtr power = power_of(call);
  const auto expected = [&](long double k) {
    Written::Given given;
    given.values.emplace("k", Numbers::of(k));
    return factor * factor * text_.value(*power, given, nullptr).parts.at(0).real();
  };
  judge_power(
      spectrum_power(plan_->program, drawn.place, response(wave, drawn), text_.box.dx, expected),
      false, kStartErrors, row);
  rows_.push_back(row);
}

}  // namespace

std::vector<DerivativeRow> check_starts(const dsl::Resolved& resolved,
                                        const physics::System& system) {
  return StartComparison(resolved, system).rows();
}

}  // namespace vphi::tools
