#include "tools/oracle/determinant_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <set>

#include "compiler/interpret/interpret.hpp"
#include "tools/oracle/both_sides.hpp"

namespace vphi::tools {
namespace {

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
        option.name != "order")
      image.named.push_back(option);
  return image;
}

/// One field: the calls of its numerator and denominator, and the prefix of its arrays.
struct Determinant {
  const dsl::Expr* above = nullptr;
  const dsl::Expr* below = nullptr;  ///< null: none
  std::string name;
  /// Its field is at odd sites: X, Y and phi are those of all sites with D Y = (0, phi),
  /// adj(D) X = (0, Y), of a denominator D2 phi = (0, ...) and an X of its own.
  bool halves = false;
};

bool at_odd_sites(const dsl::Expr& call) {
  return std::ranges::any_of(call.named, [](const dsl::NamedArgument& option) {
    return option.name == "even_odd" && option.value->text == "on";
  });
}

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
          for (DerivativeRow& row : solutions(one)) result.push_back(std::move(row));
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

  void collect(const dsl::Expr& e, bool divides, std::vector<const dsl::Expr*>& above,
               std::vector<const dsl::Expr*>& below) const {
    if (e.kind == ExprKind::Call) {
      (divides ? below : above).push_back(&e);
    } else if (e.kind == ExprKind::Binary && e.text == "^") {
      throw NotCovered{e.span, "a power of a determinant"};
    } else if (e.kind == ExprKind::Binary) {
      collect(*e.args[0], divides, above, below);
      collect(*e.args[1], divides != (e.text == "/"), above, below);
    } else if (const NamedFact* fact = text_.facts().find(e.text); fact && fact->value) {
      collect(*fact->value, divides, above, below);
    }
  }

  std::vector<Determinant> determinants_of(const std::string& action) const {
    const NamedFact* fact = text_.facts().find(action);
    if (!fact || !fact->value) throw NotCovered{{}, "an action without a text"};
    std::vector<const dsl::Expr*> above, below;
    collect(*fact->value, false, above, below);
    if (below.size() > above.size())
      throw NotCovered{below[above.size()]->span, "a determinant that stands alone below the line"};
    std::vector<Determinant> result;
    for (std::size_t i = 0; i < above.size(); ++i)
      result.push_back({above[i], i < below.size() ? below[i] : nullptr,
                        i == 0 ? action : fmt::format("{}_{}", action, i + 1),
                        at_odd_sites(*above[i])});
    return result;
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
    run_solves();
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
        if (name == "tol" && value.is_number())
          most = std::max(most, 100 * static_cast<double>(value->number.real));
    return most;
  }

  /// phi with which the right side is D2 phi, and X of this operator.
  Spinors phi_of(const Determinant& one) const {
    return field(one.name, one.halves && one.below ? "lifted_phi" : "phi");
  }
  Spinors x_of(const Determinant& one, bool below = false) const {
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

  std::vector<DerivativeRow> solutions(const Determinant& one) {
    const Spinors phi = phi_of(one), x = x_of(one), y = field(one.name, "y");
    const Spinors right = image(one.below, phi), own = kept(one, y);
    const auto row = [&](const char* what, const char* source) {
      DerivativeRow r{fmt::format("{} of {}", what, one.name), source, 0, 0, {}};
      r.allowed = tolerance();
      return r;
    };
    Filling drawn(row("phi", one.halves ? "Y is eta" : "D phi is that of eta"));
    if (one.halves)
      take(drawn, own, kept(one, field(one.name, "y", true)));
    else
      take(drawn, right, image(one.above, field(one.name, "y", true)));
    Filling solved(row("Y", "D Y"));
    take(solved, image(one.above, y), right);
    Filling adjoint(row("X", "<X, D v> = <Y, v>"));
    std::mt19937_64 random(77);
    std::normal_distribution<double> normal;
    for (int i = 0; i < kDraws; ++i) {
      Spinors v(x.size());
      for (Complex& z : v) z = Complex(normal(random), normal(random));
      take(adjoint, {product(x, image(one.above, v))}, {product(own, v)});
      adjoint.size(std::sqrt(std::abs(product(own, own)) * std::abs(product(v, v))) / 10);
    }
    return {drawn.done(), solved.done(), adjoint.done()};
  }

  static Complex product(const Spinors& a, const Spinors& b) {
    Complex sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::conj(a[i]) * b[i];
    return sum;
  }

  /// The momenta that the kicks of a level give to links at rest.
  std::vector<DerivativeRow> kicks(const Trajectory::Level& level,
                                   const std::vector<Determinant>& all) {
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
      for (const int site : {0, text_.box.sites() - 1}) {
        const std::vector<int> near = readers(all, site, axis);
        const bool stays = text_.stays(links_.front().field(), site, axis);
        for (int a = 0; a < links_.front().generators(); ++a)
          filling.take(momentum(kAxes[axis], a, site), stays ? 0 : slope(all, near, site, axis, a));
      }
      result.push_back(filling.done());
    }
    return result;
  }

  double momentum(const char* axis, int a, int site) const {
    const std::string name = fmt::format("momentum_{}_{}", axis, a + 1);
    for (const auto& memory : trajectory_.memory)
      if (memory.name == name)
        return kernels_->buffer(buffer_of(memory.array))[static_cast<std::size_t>(site)];
    throw NotCovered{{}, "the momenta of the links"};
  }

  /// exp(i w T_a) U in place of U while `work` runs.
  template <class Work>
  auto turned(int site, int axis, int a, long double w, Work work) {
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
        sum += logarithm(*one.above, s);
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

  /// The sites where an operator reads this link.
  std::vector<int> readers(const std::vector<Determinant>& all, int site, int axis) {
    const Spinors still = forms(all, everywhere_);
    const Spinors moved = turned(site, axis, 0, 0.5L, [&] { return forms(all, everywhere_); });
    std::set<int> sites;
    for (std::size_t i = 0; i < still.size(); ++i)
      if (std::abs(moved[i] - still[i]) > 0)
        sites.insert(static_cast<int>(i / size()) % text_.box.sites());
    return {sites.begin(), sites.end()};
  }

  /// d/dw of 2 Re <X, D1 Y> - 2 Re <X, D2 phi> + 2 log|det R1| - 2 log|det R2|.
  long double slope(const std::vector<Determinant>& all, const std::vector<int>& sites, int site,
                    int axis, int a) {
    Spinors x;
    for (const Determinant& one : all) {
      for (const bool below : {false, true}) {
        const Spinors own = image(nullptr, x_of(one, below), sites);
        x.insert(x.end(), own.begin(), own.end());
      }
    }
    const bool moves = logarithms(all, sites) !=
                       turned(site, axis, a, 0.5L, [&] { return logarithms(all, sites); });
    const auto at = [&](long double w) {
      return turned(site, axis, a, w, [&] {
        const long double local = moves ? logarithms(all, sites) : 0;
        return 2 * (product(x, forms(all, sites)).real() + local);
      });
    };
    const long double h = 1e-3L;
    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
  }

  static constexpr int kDraws = 3;

  const dsl::Resolved& resolved_;
  const physics::System& system_;
  const Trajectory& trajectory_;
  Written text_;
  DerivedValue derived_;
  std::vector<StoredLinks> links_;
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
