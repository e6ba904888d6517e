// `expect`: conditions that are checked while the model runs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/fluids/curvature.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/outputs.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::ExprKind;

namespace {

dsl::ExprPtr word(const dsl::Item& item, const std::string& name) {
  for (const auto& [key, value] : item.words) {
    if (key == name) return value;
  }
  return nullptr;
}

bool mentions(const dsl::Expr& e, const std::string& name) {
  if (e.kind == ExprKind::Name && e.text == name) return true;
  for (const dsl::ExprPtr& arg : e.args) {
    if (mentions(*arg, name)) return true;
  }
  return false;
}

class Promises {
 public:
  Promises(const Program& d, Lowerer& lower, ProgramUnits& units)
      : d_(d), lower_(lower), units_(units) {}

  std::vector<Expectation> made() { return std::move(made_); }

  void read(const dsl::Item& item) {
    if (!item.value) d_.fail(errors::not_scalar_output(item.span, written(d_, item.span)));
    const dsl::Expr& e = *item.value;
    const dsl::ExprPtr within = word(item, "within");
    if (e.kind == ExprKind::Call && e.text == "conserved") {
      conserved(e, item, within);
    } else if (is_drift(e)) {
      drift(e, item);
    } else {
      condition(e, item, within);
    }
  }

 private:
  static bool is_drift(const dsl::Expr& e) {
    return e.kind == ExprKind::Binary && (e.text == "<" || e.text == "<=") &&
           e.args[0]->kind == ExprKind::Call && e.args[0]->text == "drift";
  }

  Expr scalar(const dsl::Expr& e, Expr physical) {
    const Expr v = scalar_quantity(d_, units_, physical);
    if (algebra::per_site(v)) d_.fail(errors::not_scalar_output(e.span, written(d_, e.span)));
    return v;
  }

  Expectation start(const dsl::Item& item, Expectation::Kind kind) {
    Expectation x;
    x.kind = kind;
    x.text = written(d_, item.span);
    x.span = item.span;
    return x;
  }

  // |change of total(u)| < bound * max over time of total(abs(u))       (docs/rules.md rule 24)
  void conserved(const dsl::Expr& e, const dsl::Item& item, const dsl::ExprPtr& within) {
    if (!within) {
      d_.fail(errors::option_value(item.span, "conserved", "a bound: conserved(Q) within 1e-6"));
    }
    const Expr bound = lower_.fixed(*within, "the bound");
    Arena& arena = d_.arena();
    for (const dsl::ExprPtr& arg : e.args) {
      const Value v = lower_.value(*arg);
      for (std::size_t i = 0; i < v.parts.size(); ++i) {
        const Component& c = v.parts[i];
        for (const Expr part : {c.re, c.im}) {
          if (!part) continue;
          Expectation x = start(item, Expectation::Kind::Conserved);
          std::string name = written(d_, arg->span);
          if (!v.scalar()) name += fmt::format("[{}]", i);
          if (!c.real()) name = fmt::format("{}({})", part == c.re ? "re" : "im", name);
          if (e.args.size() > 1 || !v.scalar() || !c.real())  // each check has a message of its own
            x.text = fmt::format("conserved({}) within {}", name, written(d_, within->span));
          const bool local = algebra::per_site(part);
          const Expr size = arena.make(Op::Abs, {part});
          const auto total = [&](Expr e) {
            const Program seen = as_laws_see_it(d_);
            if (d_.conservation && seen.coordinates.given()) e = e * cell_volume(seen);
            return algebra::per_site(e) ? arena.make(Op::Total, {e}) : e;
          };
          x.value = scalar(*arg, local ? total(part) : part);
          if (const Expr left = outflow(*arg, part)) x.value = x.value + left;
          x.scale = scalar(*arg, local ? total(size) : size);
          x.bound = static_cast<double>(bound->number.real);
          made_.push_back(std::move(x));
        }
      }
    }
  }

  /// The amount that has left through the walls of an open box (docs/rules.md rule 24); null where
  /// nothing can.
  Expr outflow(const dsl::Expr& e, Expr part) {
    if (!d_.conservation || d_.periodic()) return {};
    const Conservation& c = *d_.conservation;
    const bool quantity = part.is(Op::Load) && part->offset.zero() &&
                          std::ranges::count(c.quantities, part->index) > 0;
    if (!quantity) d_.fail(errors::not_yet(e.span, "the flux of this through an open boundary"));
    if (c.step && (d_.coordinates.moving || d_.expanding())) {
      d_.fail(errors::not_yet(e.span,
                              "the flux through an open boundary of a scheme that is a step, where "
                              "scale factors change with t"));
    }
    const auto found = c.outflow.find(part->index);
    if (found == c.outflow.end()) {
      d_.fail(errors::not_yet(e.span,
                              "the flux through an open boundary of a scheme that is not "
                              "written as differences between faces"));
    }
    return d_.arena().symbol(found->second);
  }

  void drift(const dsl::Expr& e, const dsl::Item& item) {
    const dsl::Expr& quantity = *e.args[0]->args[0];
    Expectation x = start(item, Expectation::Kind::Drift);
    x.value = scalar(quantity, lower_.real(quantity, "what drifts"));
    if (holds_statistics(d_, x.value)) {
      d_.fail(errors::not_yet(quantity.span, "the drift of an average over time or sweeps"));
    }
    x.bound = static_cast<double>(lower_.fixed_number(*e.args[1], "the bound"));
    made_.push_back(std::move(x));
  }

  void condition(const dsl::Expr& e, const dsl::Item& item, const dsl::ExprPtr& within) {
    Arena& arena = d_.arena();
    Expectation x = start(item, Expectation::Kind::Condition);
    if (within && (e.kind != ExprKind::Binary || e.text != "==")) {
      d_.fail(errors::not_yet(within->span, "`within` behind anything but `==`"));
    }
    if (within && mentions(*within, "sigma")) {
      within_error(e, *within, x);
    } else if (within) {
      const Expr left = scalar(*e.args[0], lower_.real(*e.args[0], "the left side"));
      const Expr right = scalar(*e.args[1], lower_.real(*e.args[1], "the right side"));
      const Expr width = scalar(*within, lower_.real(*within, "the tolerance"));
      x.value = left;
      x.ok = arena.make(Op::LessEqual, {arena.make(Op::Abs, {left - right}), width});
    } else {
      x.ok = scalar(e, lower_.real(e, "a promise"));
      const bool compared =
          e.kind == ExprKind::Binary && e.args.size() == 2 && e.text != "and" && e.text != "or";
      x.value = compared ? scalar(*e.args[0], lower_.real(*e.args[0], "the left side")) : x.ok;
    }
    // an average grows while the run goes, and a first passage has no value before it
    x.at_end = x.at_end || holds_statistics(d_, x.ok);
    made_.push_back(std::move(x));
  }

  // |left - right| <= n*sigma, sigma the standard error of the difference. A side that is not an
  // average is averaged over time and over every ensemble axis (docs/rules.md rule 13).
  void within_error(const dsl::Expr& e, const dsl::Expr& within, Expectation& x) {
    Arena& arena = d_.arena();
    const Expr left = lower_.real(*e.args[0], "the left side");
    const Expr right = lower_.real(*e.args[1], "the right side");
    Expr difference = left - right;
    Expr shown = left;  // the value in the summary of the run, also for a mean
    if (!holds_statistics(d_, difference)) {
      std::vector<int> ensembles;
      for (std::size_t k = 0; k < d_.axes.size(); ++k) {
        if (!d_.collected.swept_used[d_.axes[k].name]) ensembles.push_back(static_cast<int>(k));
      }
      if (d_.grid.present && algebra::per_site(difference)) {
        d_.fail(errors::not_scalar_output(e.span, written(d_, e.span)));
      }
      difference = statistic(d_, Statistic::Kind::Mean, difference, ensembles, true, e.span);
      shown = algebra::constant(right)
                  ? difference + right
                  : statistic(d_, Statistic::Kind::Mean, left, ensembles, true, e.span);
    }
    x.value = scalar(*e.args[0], shown);
    const Expr error = error_of(d_, difference);
    if (!error) d_.fail(errors::not_yet(e.span, "the statistical error of this"));
    Scope scope;
    scope.values.emplace("sigma", Value::of(error));
    const Expr width = lower_.real(within, "the tolerance", scope);
    const Expr size = arena.make(Op::Abs, {scalar(e, difference)});
    x.ok = arena.make(Op::LessEqual, {size, scalar(within, width)});
    x.scale = scalar(e, error);  // the error is compared only where it exists
    x.at_end = true;
  }

  const Program& d_;
  Lowerer& lower_;
  ProgramUnits& units_;
  std::vector<Expectation> made_;
};

/// Smallest relative change of a sum over the sites that the arithmetic can show. Each term is
/// rounded by itself, so the errors of N terms add up like a random walk: u/sqrt(N) of the sum. A
/// plain sum rounds its own value as well, which costs u. (Higham, Accuracy and Stability of
/// Numerical Algorithms, sections 2.8 and 4.2.)
double resolution(const Motion& d) {
  const double unit = d.numerics.real == Precision::F32 ? 0x1p-24 : 0x1p-53;
  const double terms = unit / std::sqrt(static_cast<double>(d.grid.sites()));
  return d.numerics.sum == SumKind::Plain ? unit + terms : terms;
}

void warn_unresolved(const Motion& d, const std::vector<Expectation>& made) {
  const double least = resolution(d);
  const bool single = d.numerics.real == Precision::F32;
  for (const Expectation& x : made) {
    if (x.kind == Expectation::Kind::Condition || x.bound >= least) continue;
    d.diagnostics.add(errors::unresolved_promise(x.span, x.bound, least, single));
  }
}

}  // namespace

std::vector<Expectation> read_expectations(const Program& d, Lowerer& lower, ProgramUnits& units) {
  Promises promises(d, lower, units);
  for (const dsl::Clause* clause : d.ledger.clauses("expect")) {
    d.ledger.everything(*clause);
    for (const dsl::Item& item : clause->items) {
      try {
        promises.read(item);
      } catch (const Failure&) {
        // reported
      }
    }
  }
  std::vector<Expectation> made = promises.made();
  warn_unresolved(d, made);
  return made;
}

Watched watch_progress(const Program& d, Lowerer& lower, ProgramUnits& units) {
  Watched result;
  // fields exchange energy with what the laws conserve
  if (d.conservation && d.background.metric != Metric::SelfConsistent) return result;
  Arena& arena = d.arena();
  bool second_order = false;
  for (const StateField& field : d.fields) second_order = second_order || field.order == 2;
  Observable o;
  if (d.background.metric == Metric::SelfConsistent) {
    // K/(a^2 H^2) = <rho>/(3 M^2 H^2) - 1
    o.name = "friedmann";
    const Expr density = arena.make(Op::Mean, {lower.energy_density()});
    const Expr rate2 = algebra::pow(d.hubble(), 2);
    o.value = units.quantity(hubble2(d, density) / rate2 - arena.integer(1));
    // where H and rho pass through 0 together, the densities of radiation, matter, kinetic and
    // gradient energy are still positive
    Expr positive = arena.integer(0);
    if (const auto laws = energy_of_laws(d)) positive = positive + laws->density;
    const Background& b = d.background;
    if (b.radiation) positive = positive + b.radiation * algebra::pow(d.scale(), -4);
    if (b.matter) positive = positive + b.matter * algebra::pow(d.scale(), -3);
    for (const StateField& field : d.fields) {
      if (!d.gravitates(field) || field.hamiltonian) continue;
      positive = positive + lower.kinetic_density(field) + lower.gradient_density(field);
    }
    Expr scale = rate2;
    if (!positive.is_zero()) scale = scale + hubble2(d, arena.make(Op::Mean, {positive}));
    result.friedmann = units.quantity((hubble2(d, density) - rate2) / scale);
    result.scale_factor = d.background.scale;
  } else if (d.hamiltonian) {
    o.name = "energy drift";
    o.drift = true;
    o.value = units.quantity(arena.make(Op::Total, {d.hamiltonian_density}));
  } else if (second_order && (d.potential || d.lagrangian) && !d.expanding() &&
             !d.coordinates.moving) {
    o.name = "energy drift";
    o.drift = true;
    o.value = units.quantity(mean_over_volume(d, lower.energy_density()));
  } else {
    return result;
  }
  result.progress.push_back(std::move(o));
  return result;
}

}  // namespace vphi::physics
