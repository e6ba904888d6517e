#include "tools/oracle/determinant_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "compiler/interpret/interpret.hpp"
#include "tools/oracle/both_sides.hpp"
#include "tools/oracle/text/dense_matrix.hpp"
#include "tools/oracle/text/slope.hpp"

namespace vphi::tools {
namespace {

using algebra::Expr;
using dsl::ExprKind;
using physics::NamedFact;
using physics::Trajectory;

using Spinors = std::vector<Complex>;  ///< [site][spin][colour]

/// The operator of a call of `pseudofermion` applied to a field of the text called `argument`.
dsl::Expr applied(const dsl::Expr& call, const std::string& argument) {
  dsl::Expr image = *call.args[0];
  auto field = std::make_shared<dsl::Expr>(image);
  field->kind = ExprKind::Name;
  field->text = argument;
  image.kind = ExprKind::Call;
  image.args = {field};
  for (const dsl::NamedArgument& option : call.named)
    if (option.name != "solver" && option.name != "force" && option.name != "start" &&
        option.name != "even_odd" && option.name != "range" && option.name != "tol" &&
        option.name != "order" && option.name != "together")
      image.named.push_back(option);
  return image;
}

/// A call, and the power of |det D|^2 that is one field of it.
struct Power {
  const dsl::Expr* call = nullptr;
  long double power = 1;
};

/// One field: the calls of its numerator and denominator, and the prefix of its arrays.
struct Determinant {
  const dsl::Expr* above = nullptr;  ///< null: S = |D phi|^2 of the denominator
  const dsl::Expr* below = nullptr;  ///< null: none
  std::string name;
  /// Of `above`; another one than 1 has the power of a matrix in S.
  long double power = 1;
  /// Its field is at odd sites: X, Y and phi are those of all sites with D Y = (0, phi),
  /// adj(D) X = (0, Y), of a denominator D2 phi = (0, ...) and an X of its own.
  bool halves = false;
};

bool at_odd_sites(const dsl::Expr& call) {
  return std::ranges::any_of(call.named, [](const dsl::NamedArgument& option) {
    return option.name == "even_odd" && option.value->text == "on";
  });
}

/// What is moved by w: the link along `axis` by exp(i w T_a), or a real number of a field at sites.
struct Moved {
  int site = 0, axis = 0, a = 0;
  WrittenField* field = nullptr;
  std::size_t real = 0;
};

/// More numbers of a field than this take too long in long double.
constexpr std::size_t kMostOfPower = 48;

class DeterminantComparison {
 public:
  DeterminantComparison(const dsl::Resolved& resolved, const physics::System& system,
                        const Trajectory& trajectory)
      : resolved_(resolved),
        system_(system),
        trajectory_(trajectory),
        text_(resolved),
        derived_(system) {}

  std::vector<DerivativeRow> rows() {
    std::vector<DerivativeRow> result;
    try {
      prepare();
      for (const Trajectory::Level& level : trajectory_.levels) {
        if (level.solves.empty()) continue;
        const std::vector<Determinant> all = determinants_of(level.shown);
        for (const Determinant& one : all)
          for (DerivativeRow& row : one.power == 1 ? solutions(one) : draws_of_power(one))
            result.push_back(std::move(row));
        for (DerivativeRow& row : kicks(level, all)) result.push_back(std::move(row));
      }
    } catch (const NotCovered& end) {
      result.push_back({"determinants", "the text", 0, 0, end.what});
    } catch (const std::exception& end) {
      result.push_back({"determinants", "the text", 0, 0, end.what()});
    }
    return result;
  }

 private:
  // ---- the text

  /// The calls with their powers, in the order of the text.
  void collect(const dsl::Expr& e, long double power, std::vector<Power>& all) {
    if (e.kind == ExprKind::Call) {
      all.push_back({&e, power});
    } else if (e.kind == ExprKind::Binary && e.text == "^") {
      const Numbers exponent = text_.value(*e.args[1], Written::Given{}, nullptr);
      collect(*e.args[0], power * exponent.parts.at(0).real(), all);
    } else if (e.kind == ExprKind::Binary) {
      collect(*e.args[0], power, all);
      collect(*e.args[1], e.text == "/" ? -power : power, all);
    } else if (const NamedFact* fact = text_.facts().find(e.text); fact && fact->value) {
      collect(*fact->value, power, all);
    }
  }

  /// A power is as many fields as it has wholes and one for the rest. Whole ones below the line
  /// are paired with whole ones above it, in the order of the text; all others stand alone.
  std::vector<Determinant> determinants_of(const std::string& action) {
    const NamedFact* fact = text_.facts().find(action);
    if (!fact || !fact->value) throw NotCovered{{}, "an action without a text"};
    std::vector<Power> calls;
    collect(*fact->value, 1, calls);
    std::vector<Determinant> above, alone;
    for (const bool below : {false, true}) {
      std::size_t next = 0;
      for (const Power& one : calls) {
        if ((one.power < 0) != below) continue;
        long double left = std::abs(one.power);
        for (; left > 1e-9L; left -= 1) {
          const long double power = left > 1 - 1e-9L ? 1 : left;
          if (!below) {
            above.push_back({one.call, nullptr, {}, power});
            continue;
          }
          while (next < above.size() && above[next].power != 1) ++next;
          if (power == 1 && next < above.size())
            above[next++].below = one.call;
          else if (power == 1)
            alone.push_back({nullptr, one.call, {}, 1});
          else
            alone.push_back({one.call, nullptr, {}, -power});
        }
      }
    }
    above.insert(above.end(), alone.begin(), alone.end());
    for (std::size_t i = 0; i < above.size(); ++i) {
      Determinant& one = above[i];
      one.name = i == 0 ? action : fmt::format("{}_{}", action, i + 1);
      one.halves = at_odd_sites(one.above ? *one.above : *one.below);
    }
    return above;
  }

  /// Sets the text's field of this name and returns it.
  std::string put(const std::string& name, const Spinors& values) {
    WrittenField& f = text_.declare_unknown(name, text_.spins(), colours_, true, true);
    for (std::size_t i = 0; i < values.size(); ++i) {
      f.values[2 * i] = values[i].real();
      f.values[2 * i + 1] = values[i].imag();
    }
    return name;
  }

  /// D psi at these sites; psi itself without a call.
  Spinors image(const dsl::Expr* call, const Spinors& psi, const std::vector<int>& sites) {
    Spinors result;
    if (call == nullptr) {
      for (const int s : sites)
        for (std::size_t i = 0; i < size(); ++i)
          result.push_back(psi[static_cast<std::size_t>(s) * size() + i]);
      return result;
    }
    const dsl::Expr whole = applied(*call, put("the argument of D", psi));
    for (const int s : sites) {
      const Place p = text_.box.place(s);
      const Numbers value = text_.value(whole, Written::Given{}, &p);
      if (value.parts.size() != size()) throw NotCovered{call->span, "the shape of D psi"};
      result.insert(result.end(), value.parts.begin(), value.parts.end());
    }
    return result;
  }
  Spinors image(const dsl::Expr* call, const Spinors& psi) { return image(call, psi, everywhere_); }

  std::size_t size() const { return static_cast<std::size_t>(text_.spins() * colours_); }

  // ---- the run

  void prepare() {
    prepare_sides(resolved_, system_, text_, derived_);
    for (int s = 0; s < text_.box.sites(); ++s) everywhere_.push_back(s);
    plan_.emplace(plan_in_f64(system_, resolved_));
    kernels_ = std::make_unique<kernel::Interpreter>(*plan_);
    kernels_->start();
    links_ = links_of(text_, system_);
    if (links_.size() != 1) throw NotCovered{{}, "links of several gauge fields"};
    std::mt19937_64 random(2411);
    StoredLinks& links = links_.front();
    links.draw(random);
    colours_ = links.field().phase ? 1 : links.field().colours;
    for (const int array : links.arrays()) {
      const std::vector<long double> values = links.stored(array);
      auto& buffer = kernels_->buffer(plan_->buffer_of.at(static_cast<std::size_t>(array)));
      for (std::size_t s = 0; s < values.size(); ++s) buffer[s] = static_cast<double>(values[s]);
    }
    set_matter();
    run_solves();
  }

  /// A real number of a field at sites that moves, and its momentum.
  struct MovedField {
    std::string shown, momentum;
    RunPosition at;
  };

  /// Random fields at sites, of the text and of the kernels.
  void set_matter() {
    std::mt19937_64 random(913);
    std::normal_distribution<double> normal;
    for (const auto& [array, value] : trajectory_.drift.values) {
      const auto variable = std::ranges::find(system_.variables, array, &physics::Variable::array);
      if (variable == system_.variables.end()) continue;
      const auto at = standing(text_, variable->shown);
      if (!at || at->field->link) continue;
      std::string momentum;
      algebra::visit(value, [&](Expr e) {
        for (const auto& memory : trajectory_.memory)
          if (e.is(algebra::Op::Load) && e->index == memory.array) momentum = memory.name;
      });
      matter_.push_back({variable->shown, momentum, *at});
      auto& buffer = kernels_->buffer(buffer_of(array));
      for (std::size_t s = 0; s < buffer.size(); ++s) {
        buffer[s] = 0.4 * normal(random);
        at->field->values[s * static_cast<std::size_t>(at->field->reals()) + at->real] = buffer[s];
      }
    }
  }

  /// The draws; eta is in the arrays of Y then. After that the solves before the first kicks.
  void run_solves() {
    std::set<std::string> kicked;
    for (const program::Launch& launch : plan_->program.launches(0)) {
      const std::string& name = plan_->kernels.at(static_cast<std::size_t>(launch.kernel)).name;
      if (name == "energy_before") {
        for (const auto& memory : trajectory_.memory)
          drawn_[memory.name] = kernels_->buffer(buffer_of(memory.array));
      }
      if (name.starts_with("kick_")) {
        for (const Trajectory::Level& level : trajectory_.levels)
          if (name.starts_with("kick_" + level.shown)) kicked.insert(level.shown);
        if (kicked.size() == trajectory_.levels.size()) return;
      }
      const bool moves = name.starts_with("kick_") || name == "drift" || name == "next_flow" ||
                         name == "energy_before";
      if (!moves) kernels_->launch({launch});
    }
  }

  int buffer_of(int array) const { return plan_->buffer_of.at(static_cast<std::size_t>(array)); }

  Spinors field(const std::string& name, const std::string& what, bool drawn = false) const {
    Spinors psi(static_cast<std::size_t>(text_.box.sites()) * size());
    for (std::size_t i = 0; i < size(); ++i) {
      const auto part = [&](std::size_t k) -> const std::vector<double>& {
        const std::string wanted = fmt::format("{}_{}_{}", name, what, k + 1);
        for (const auto& memory : trajectory_.memory)
          if (memory.name == wanted)
            return drawn ? drawn_.at(wanted) : kernels_->buffer(buffer_of(memory.array));
        throw NotCovered{{}, "which arrays hold the field"};
      };
      const auto &re = part(2 * i), &im = part(2 * i + 1);
      for (std::size_t s = 0; s < re.size(); ++s) psi[s * size() + i] = Complex(re[s], im[s]);
    }
    return psi;
  }

  // ---- what is compared

  static void take(Filling& filling, const Spinors& a, const Spinors& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      filling.take(a[i].real(), b[i].real());
      filling.take(a[i].imag(), b[i].imag());
    }
  }

  double tolerance() const {
    double most = 1e-8;
    for (const physics::LinearSystem& solve : system_.solves)
      for (const auto& [name, value] : solve.options)
        if (name == "tol" && value.is_number() && !solve.eigenvalue)
          most = std::max(most, 100 * static_cast<double>(value->number.real));
    return most;
  }

  /// phi with which the right side is D2 phi, and X of this operator.
  Spinors phi_of(const Determinant& one) const {
    return field(one.name, one.halves && one.below ? "lifted_phi" : "phi");
  }
  Spinors x_of(const Determinant& one, bool below = false) const {
    if (!one.above && !one.halves) return field(one.name, "y");
    return field(one.name, one.halves && one.below && below ? "lifted_x" : "x");
  }

  /// The field with zeros at even sites, if those of the determinant are at odd ones.
  Spinors kept(const Determinant& one, Spinors psi) const {
    for (std::size_t i = 0; one.halves && i < psi.size(); ++i)
      if (!odd(static_cast<int>(i / size()))) psi[i] = 0;
    return psi;
  }

  bool odd(int site) const {
    int sum = 0;
    const Place p = text_.box.place(site);
    for (int axis = 0; axis < text_.box.dims; ++axis) sum += p[static_cast<std::size_t>(axis)];
    return sum % 2 == 1;
  }

  DerivativeRow row_of(const char* what, const Determinant& one, const char* source) const {
    DerivativeRow row{fmt::format("{} of {}", what, one.name), source, 0, 0, {}};
    row.allowed = tolerance();
    return row;
  }

  /// S = |D phi|^2: D phi is eta when it is drawn, and Y at the links of now.
  std::vector<DerivativeRow> solutions_below(const Determinant& one) {
    const Spinors image_of_phi = image(one.below, phi_of(one)), y = field(one.name, "y");
    Filling drawn(row_of("phi", one, "D phi is eta")), applied(row_of("Y", one, "D phi"));
    take(drawn, kept(one, image_of_phi), kept(one, field(one.name, "y", true)));
    take(applied, kept(one, y), image_of_phi);
    std::vector<DerivativeRow> rows{drawn.done(), applied.done()};
    if (one.halves) rows.push_back(lifted_row(one, kept(one, y)));
    return rows;
  }

  /// X is Y at odd sites, and adj(D) X is 0 at even ones.
  DerivativeRow lifted_row(const Determinant& one, const Spinors& y) {
    const Spinors x = x_of(one, true);
    Filling lifted(row_of("X", one, "Y; <X, D v> = 0 at even sites"));
    take(lifted, kept(one, x), y);
    std::mt19937_64 random(78);
    std::normal_distribution<double> normal;
    for (int i = 0; i < kDraws; ++i) {
      Spinors v(x.size());
      for (std::size_t k = 0; k < v.size(); ++k)
        if (!odd(static_cast<int>(k / size()))) v[k] = Complex(normal(random), normal(random));
      take(lifted, {product(x, image(one.below, v))}, {0});
    }
    return lifted.done();
  }

  /// <x, D v> against <own, v>.
  DerivativeRow adjoint_row(const Determinant& one, const dsl::Expr& call, const Spinors& x,
                            const Spinors& own) {
    Filling adjoint(row_of("X", one, "<X, D v> = <Y, v>"));
    std::mt19937_64 random(77);
    std::normal_distribution<double> normal;
    for (int i = 0; i < kDraws; ++i) {
      Spinors v(x.size());
      for (Complex& z : v) z = Complex(normal(random), normal(random));
      take(adjoint, {product(x, image(&call, v))}, {product(own, v)});
      adjoint.size(std::sqrt(std::abs(product(own, own)) * std::abs(product(v, v))) / 10);
    }
    return adjoint.done();
  }

  std::vector<DerivativeRow> solutions(const Determinant& one) {
    if (!one.above) return solutions_below(one);
    const Spinors phi = phi_of(one), y = field(one.name, "y");
    const Spinors right = image(one.below, phi), own = kept(one, y);
    const auto row = [&](const char* what, const char* source) {
      return row_of(what, one, source);
    };
    Filling drawn(row("phi", one.halves ? "Y is eta" : "D phi is that of eta"));
    if (one.halves)
      take(drawn, own, kept(one, field(one.name, "y", true)));
    else
      take(drawn, right, image(one.above, field(one.name, "y", true)));
    Filling solved(row("Y", "D Y"));
    take(solved, image(one.above, y), right);
    return {drawn.done(), solved.done(), adjoint_row(one, *one.above, x_of(one), own)};
  }

  // ---- powers

  /// The places of a field's numbers among those of all sites.
  std::vector<std::size_t> places_of(const Determinant& one) const {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < everywhere_.size() * size(); ++i)
      if (!one.halves || odd(static_cast<int>(i / size()))) places.push_back(i);
    if (places.size() > kMostOfPower)
      throw NotCovered{one.above->span,
                       fmt::format("a power of a determinant with {} numbers, at most {} here",
                                   places.size(), kMostOfPower)};
    return places;
  }

  static Spinors chosen(const Spinors& all, const std::vector<std::size_t>& places) {
    Spinors some;
    for (const std::size_t place : places) some.push_back(all[place]);
    return some;
  }

  /// (D D^+)^q of the field: of M M^+ at odd sites, whose inverse is a part of that of D.
  Dense power_of_square(const Determinant& one, const std::vector<std::size_t>& places,
                        long double q) {
    const std::size_t all = everywhere_.size() * size(), n = places.size();
    Dense d(all * all);
    for (std::size_t j = 0; j < all; ++j) {
      Spinors unit(all);
      unit[j] = 1;
      const Spinors column = image(one.above, unit);
      for (std::size_t i = 0; i < all; ++i) d[i * all + j] = column[i];
    }
    const Dense back = inverse_of(std::move(d), all);
    Dense part(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) part[i * n + j] = back[places[i] * all + places[j]];
    return power_of(square_of(part, n), n, -q);
  }

  /// Whether S has a rational function; else M itself is hermitian and positive.
  bool by_fractions(const Determinant& one) const {
    return std::ranges::any_of(trajectory_.memory, [&](const auto& memory) {
      return memory.name == one.name + "_density";
    });
  }

  /// phi = (D D^+)^(p/2) eta; without a rational function D Y is phi at odd sites.
  std::vector<DerivativeRow> draws_of_power(const Determinant& one) {
    const std::vector<std::size_t> places = places_of(one);
    const Spinors phi = field(one.name, "phi");
    if (!by_fractions(one)) {
      Filling solved(row_of("Y", one, "D Y"));
      take(solved, image(one.above, field(one.name, "y")), kept(one, phi));
      return {solved.done()};
    }
    Filling drawn(row_of("phi", one, "(D adj(D))^(p/2) eta"));
    drawn.allow(allowed_of_power(one, 10));
    take(drawn, chosen(phi, places),
         product_of(power_of_square(one, places, one.power / 2),
                    chosen(field(one.name, "y", true), places)));
    return {drawn.done()};
  }

  /// `times` the error of the rational function that the call asks for, at least the tolerance.
  double allowed_of_power(const Determinant& one, double times) {
    double tol = 1e-11;
    for (const dsl::NamedArgument& option : one.above->named) {
      if (option.name == "order")
        throw NotCovered{option.span, "a power of a determinant with a number of fractions"};
      if (option.name == "tol") {
        const Numbers given = text_.value(*option.value, Written::Given{}, nullptr);
        tol = static_cast<double>(given.parts.at(0).real());
      }
    }
    return std::max(tolerance(), times * tol);
  }

  static Complex product(const Spinors& a, const Spinors& b) {
    Complex sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::conj(a[i]) * b[i];
    return sum;
  }

  /// The momenta that the kicks of a level give to links at rest.
  std::vector<DerivativeRow> kicks(const Trajectory::Level& level,
                                   const std::vector<Determinant>& all) {
    std::vector<Determinant> whole, powers;
    for (const Determinant& one : all) (one.power == 1 ? whole : powers).push_back(one);
    for (const auto& memory : trajectory_.memory)
      if (memory.name.starts_with("momentum_"))
        std::ranges::fill(kernels_->buffer(buffer_of(memory.array)), 0.0);
    kernels_->set_scalar(Trajectory::kLength, 1);
    std::set<int> done;
    for (const program::Launch& launch : plan_->program.launches(0)) {
      const std::string& name = plan_->kernels.at(static_cast<std::size_t>(launch.kernel)).name;
      const auto named = [&](const physics::Update& update) { return update.name == name; };
      const bool own =
          std::ranges::any_of(level.kicks, named) ||
          (name.starts_with("carried_") && std::ranges::any_of(level.before_kicks, named));
      if (own && done.insert(launch.kernel).second) kernels_->launch({launch});
    }
    std::vector<DerivativeRow> result;
    constexpr const char* kAxes[] = {"x", "y", "z", "t"};
    for (int axis = 0; axis < text_.box.dims; ++axis) {
      const std::string link = fmt::format("{}[{}]", links_.front().field().name, kAxes[axis]);
      Filling filling({fmt::format("change of {}'s momenta", link), level.shown, 0, 0, {}});
      // slopes of a rational function are less accurate than its values
      for (const Determinant& one : powers) filling.allow(allowed_of_power(one, 1000));
      for (const int site : {0, text_.box.sites() - 1}) {
        const bool stays = text_.stays(links_.front().field(), site, axis);
        for (int a = 0; a < links_.front().generators(); ++a) {
          const std::string momentum = fmt::format("momentum_{}_{}", kAxes[axis], a + 1);
          filling.take(momentum_at(momentum, site),
                       stays ? 0 : slope_of_all(whole, powers, {site, axis, a}));
        }
      }
      result.push_back(filling.done());
    }
    for (const MovedField& one : matter_) {
      if (std::ranges::none_of(level.kicks, [&](const physics::Update& kick) {
            return kick.name == fmt::format("kick_{}_numbers", level.shown);
          }))
        break;
      Filling filling({fmt::format("change of {}'s momentum", one.shown), level.shown, 0, 0, {}});
      for (const Determinant& power : powers) filling.allow(allowed_of_power(power, 1000));
      for (const int site : {0, text_.box.sites() - 1})
        filling.take(momentum_at(one.momentum, site),
                     slope_of_all(whole, powers, {site, 0, 0, one.at.field, one.at.real}));
      result.push_back(filling.done());
    }
    return result;
  }

  double momentum_at(const std::string& name, int site) const {
    for (const auto& memory : trajectory_.memory)
      if (memory.name == name)
        return kernels_->buffer(buffer_of(memory.array))[static_cast<std::size_t>(site)];
    throw NotCovered{{}, "the momenta"};
  }

  long double slope_of_all(const std::vector<Determinant>& whole,
                           const std::vector<Determinant>& powers, const Moved& moved) {
    long double sum = whole.empty() ? 0 : slope(whole, readers(whole, moved), moved);
    for (const Determinant& one : powers) sum += slope_of_power(one, moved);
    return sum;
  }

  /// What is moved stands at w while `work` runs.
  template <class Work>
  auto turned(const Moved& moved, long double w, Work work) {
    const auto [site, axis, a, field, real] = moved;
    if (field != nullptr) {
      long double& number = field->values[static_cast<std::size_t>(site * field->reals()) + real];
      const long double before = number;
      number += w;
      const auto value = work();
      number = before;
      return value;
    }
    StoredLinks& links = links_.front();
    const std::vector<Complex> u = links.matrix(site, axis);
    links.set_matrix(site, axis,
                     links.field().phase
                         ? std::vector<Complex>{u[0] * Complex(std::cos(w), std::sin(w))}
                         : rotated_link(u, colours_, a, w));
    const auto value = work();
    links.set_matrix(site, axis, u);
    return value;
  }

  /// log|det R| at a site, R what the operator makes there of a spinor of this site.
  long double logarithm(const dsl::Expr& call, int site) {
    const std::size_t n = size();
    std::vector<Complex> r(n * n);
    for (std::size_t j = 0; j < n; ++j) {
      Spinors unit(static_cast<std::size_t>(text_.box.sites()) * n);
      unit[static_cast<std::size_t>(site) * n + j] = 1;
      const Spinors column = image(&call, unit, {site});
      for (std::size_t i = 0; i < n; ++i) r[i * n + j] = column[i];
    }
    long double sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
      std::size_t pivot = k;
      for (std::size_t i = k; i < n; ++i)
        if (std::abs(r[i * n + k]) > std::abs(r[pivot * n + k])) pivot = i;
      for (std::size_t j = 0; j < n; ++j) std::swap(r[k * n + j], r[pivot * n + j]);
      sum += std::log(std::abs(r[k * n + k]));
      for (std::size_t i = k + 1; i < n; ++i) {
        const Complex f = r[i * n + k] / r[k * n + k];
        for (std::size_t j = k; j < n; ++j) r[i * n + j] -= f * r[k * n + j];
      }
    }
    return sum;
  }

  /// The sum of log|det R1| - log|det R2| over these even sites, of fields at odd ones.
  long double logarithms(const std::vector<Determinant>& all, const std::vector<int>& sites) {
    long double sum = 0;
    for (const Determinant& one : all) {
      if (!one.halves) continue;
      for (const int s : sites) {
        if (odd(s)) continue;
        if (one.above) sum += logarithm(*one.above, s);
        if (one.below) sum -= logarithm(*one.below, s);
      }
    }
    return sum;
  }

  /// D1 Y and -D2 phi of all determinants, one after the other.
  Spinors forms(const std::vector<Determinant>& all, const std::vector<int>& sites) {
    Spinors result;
    for (const Determinant& one : all) {
      const Spinors own = image(one.above, field(one.name, "y"), sites);
      Spinors less = image(one.below, phi_of(one), sites);
      for (Complex& z : less) z = -z;
      result.insert(result.end(), own.begin(), own.end());
      result.insert(result.end(), less.begin(), less.end());
    }
    return result;
  }

  /// The sites where an operator reads what is moved.
  std::vector<int> readers(const std::vector<Determinant>& all, const Moved& moved) {
    const Spinors still = forms(all, everywhere_);
    const Spinors other = turned(moved, 0.5L, [&] { return forms(all, everywhere_); });
    std::set<int> sites;
    for (std::size_t i = 0; i < still.size(); ++i)
      if (std::abs(other[i] - still[i]) > 0)
        sites.insert(static_cast<int>(i / size()) % text_.box.sites());
    return {sites.begin(), sites.end()};
  }

  /// d/dw of 2 Re <X, D1 Y> - 2 Re <X, D2 phi> + 2 log|det R1| - 2 log|det R2|.
  long double slope(const std::vector<Determinant>& all, const std::vector<int>& sites,
                    const Moved& moved) {
    Spinors x;
    for (const Determinant& one : all) {
      for (const bool below : {false, true}) {
        const Spinors own = image(nullptr, x_of(one, below), sites);
        x.insert(x.end(), own.begin(), own.end());
      }
    }
    const bool moves =
        logarithms(all, sites) != turned(moved, 0.5L, [&] { return logarithms(all, sites); });
    const auto at = [&](long double w) {
      return turned(moved, w, [&] {
        const long double local = moves ? logarithms(all, sites) : 0;
        return 2 * (product(x, forms(all, sites)).real() + local);
      });
    };
    return slope_at_zero(1e-3L, at);
  }

  /// -d/dw of <phi, (D D^+)^-p phi> - 2p log|det R|.
  long double slope_of_power(const Determinant& one, const Moved& moved) {
    const std::vector<std::size_t> places = places_of(one);
    const Spinors phi = chosen(field(one.name, "phi"), places);
    const auto at = [&](long double w) {
      return turned(moved, w, [&] {
        const Spinors other = product_of(power_of_square(one, places, -one.power), phi);
        return product(phi, other).real() - 2 * one.power * logarithms({one}, everywhere_);
      });
    };
    return -slope_at_zero(1e-3L, at);
  }

  static constexpr int kDraws = 3;

  const dsl::Resolved& resolved_;
  const physics::System& system_;
  const Trajectory& trajectory_;
  Written text_;
  DerivedValue derived_;
  std::vector<StoredLinks> links_;
  std::vector<MovedField> matter_;
  int colours_ = 1;
  std::vector<int> everywhere_;
  std::optional<schedule::Plan> plan_;
  std::unique_ptr<kernel::Interpreter> kernels_;
  std::map<std::string, std::vector<double>> drawn_;  ///< buffers at the start of the trajectory
};

}  // namespace

std::vector<DerivativeRow> check_determinants(const dsl::Resolved& resolved,
                                              const physics::System& system) {
  const auto* trajectory = std::get_if<Trajectory>(&system.dynamics);
  if (!trajectory || std::ranges::all_of(trajectory->levels, [](const Trajectory::Level& level) {
        return level.solves.empty();
      }))
    return {};
  return DeterminantComparison(resolved, system, *trajectory).rows();
}

}  // namespace vphi::tools
