#include "compiler/physics/chains/pseudofermions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/insertions.hpp"
#include "compiler/physics/chains/determinant_fields.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/spinors/even_odd.hpp"
#include "compiler/physics/spinors/linear_map.hpp"
#include "compiler/physics/spinors/site_blocks.hpp"
#include "compiler/text/solver.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;

namespace {

bool holds_fields(const SpinorTerm& term) {
  return std::ranges::any_of(std::array{term.weight.re, term.weight.im}, [](Expr part) {
    return algebra::contains(part, [](Expr node) { return node.is(Op::Load); });
  });
}

/// One determinant: its field phi, and X and Y.
class PseudofermionField {
 public:
  /// `below`: the determinant that this one is divided by; null: there is none. `power` is between
  /// -1 and 1 for a fraction, 1/2 for the root of a hermitian determinant without one; -1 for the
  /// weight 1/|det D|^2.
  PseudofermionField(const Motion& d, const gauge::LinkOf& link, std::string name,
                     DeterminantFactor factor, std::optional<DeterminantFactor> below,
                     long double power, Pseudofermions& to)
      : d_(d),
        factor_(std::move(factor)),
        below_(std::move(below)),
        link_(link),
        root_(!factor_.fraction && power > 0 && power < 1),
        inverse_(!factor_.fraction && power < 0),
        name_(std::move(name)),
        to_(to) {}
  PseudofermionField(const PseudofermionField&) = delete;  // its functions point to its blocks

  void add() {
    check_weights(factor_);
    if (below_) check_weights(*below_);
    hold_blocks(factor_, "", blocks_, kHeld);
    if (below_) hold_blocks(*below_, "below_", blocks_below_, kHeld + kHeldFields);
    add_blocks(to_.made);
    phi_ = new_spinor("phi", true);
    x_ = new_spinor("x", true);
    y_ = new_spinor("y", true);
    if (factor_.fraction) return add_fraction();
    if (root_) return add_root();
    if (inverse_) return add_inverse();
    right_ = below_ ? new_spinor("right", true) : phi_;
    if (halves()) lifted_ = new_spinor("lifted", true);
    if (halves() && below_) {
      lifted_phi_ = new_spinor("lifted_phi", true);
      lifted_x_ = new_spinor("lifted_x", true);
    }
    for (int i = 0; i < reals(); ++i) to_.drawn.push_back(y_ + i);
    add_field();
    // phi = D2^-1 D1 eta; x is not in use yet
    if (below_) add_solution(*below_, below_->solver, phi_, x_, to_.made, false);
    add_blocks(to_.for_kicks);
    add_solutions(factor_.kicks ? *factor_.kicks : factor_.solver, to_.for_kicks, true);
    if (factor_.kicks || factor_.past > 0) {
      add_blocks(to_.for_energy);
      add_solutions(factor_.solver, to_.for_energy, false);
    }
    forget_past();
    add_density();
    add_logarithms();
    add_staples();
    say();
  }

 private:
  Arena& arena() const { return d_.arena(); }
  int reals() const { return 2 * d_.spins * factor_.colours; }
  /// Whether the fields are at odd sites alone. X and Y are then lifted to even sites, so that
  /// D Y = (0, phi) and adj(D) X = (0, Y): the force is that of all sites.
  bool halves() const { return factor_.parts.has_value(); }

  void say() const {
    if (!factor_.fraction && !root_ && !inverse_)
      d_.remark(fmt::format(
          "{}: the weight |det {}|^2{}, S = {}: its force has {} paths of links, an outer product "
          "of X and {} at the end of each",
          name_, factor_.name, below_ ? "/|det " + below_->name + "|^2" : "",
          below_ ? "|D1^-1 D2 phi|^2 with phi = D2^-1 D1 eta" : "|D^-1 phi|^2 with phi = D eta",
          words_of(factor_).size() + (below_ ? words_of(*below_).size() : 0),
          below_ ? "Y or phi" : "Y"));
    if (factor_.fraction || root_)
      d_.remark(fmt::format(
          "{}: the weight has the size of det {} alone, whose sign or phase is left out", name_,
          factor_.name));
    if (factor_.fraction) {
      const DeterminantFraction& f = *factor_.fraction;
      d_.remark(
          fmt::format("{}: |det {}|^{:.6g} by {} fractions: z^{:.6g} to {:.2g} and z^{:.6g} to "
                      "{:.2g} for z from "
                      "{:.6g} to {:.6g}, the eigenvalues of D adj(D){}",
                      name_, factor_.name, static_cast<double>(2 * f.power), f.action.poles.size(),
                      static_cast<double>(-f.power), static_cast<double>(f.action.error),
                      static_cast<double>(f.power / 2), static_cast<double>(f.field.error),
                      static_cast<double>(f.low), static_cast<double>(f.high),
                      halves() ? " at odd sites" : ""));
      d_.remark(
          fmt::format("{}: each trajectory begins with both ends of this spectrum, and the "
                      "run ends where they leave the range",
                      name_));
    }
    if (inverse_)
      d_.remark(
          fmt::format("{0}: the weight 1/|det {1}|^2, S = |{1} phi|^2: phi is solved for once "
                      "a trajectory, and kicks have no solves",
                      name_, factor_.name));
    if (root_) {
      d_.remark(
          fmt::format("{}: its field is at odd sites, where M = R - H R^-1 H is hermitian and "
                      "positive: |det {}| is det M but for a number, without a rational "
                      "function",
                      name_, factor_.name));
    } else if (halves())
      d_.remark(
          fmt::format("{}: its field is at odd sites. |det {}|^2 is that of R - H R^-1 H "
                      "there times |det R|^2 at even sites, {}",
                      name_, factor_.name,
                      blocks_of(factor_)       ? "which depends on the links"
                      : moves_at_site(factor_) ? "which depends on the fields in its numbers"
                                               : "which is a constant"));
    if (const SiteBlocks* blocks = blocks_of(factor_))
      d_.remark(fmt::format(
          "{}: R holds links. R, R^-1 and log|det R| are made of these before the solves "
          "and kept in memory, in blocks of {} rows",
          name_, fmt::join(rows_of_blocks(*blocks), ", ")));
    if (factor_.past > 0)
      d_.remark(
          fmt::format("{}: solves for kicks start from the best combination of the last {} "
                      "solutions of the trajectory; the one for its end starts from 0",
                      name_, factor_.past));
  }

  static bool moves_at_site(const DeterminantFactor& factor) {
    return factor.parts && std::ranges::any_of(factor.parts->local.terms, holds_fields);
  }

  /// log|det R| is known of loops of links, or of numbers with fields, not of both.
  void check_weights(const DeterminantFactor& factor) const {
    if (!moves_at_site(factor)) return;
    if (factor.parts->inverse.terms.empty())
      d_.fail(errors::no_halves(factor.span, factor.name,
                                "the part of D at the sites holds a field that moves beside loops "
                                "of links",
                                "the field is then at all sites"));
  }

  /// Adds the terms with fields in their numbers to the form by which these fields are pushed:
  /// number * Re <left, D right>.
  void add_form(const DeterminantFactor& factor, int left, int right, Expr number) const {
    SpinorForm with;
    std::ranges::copy_if(factor.form.terms, std::back_inserter(with.terms), holds_fields);
    if (with.terms.empty()) return;
    const std::vector<Expr> image = applied(with, right);
    for (std::size_t i = 0; i < image.size(); ++i) {
      const Expr x = arena().load(left + static_cast<int>(i));
      const Expr part = gauge::times(number, gauge::times(x, image[i]));
      to_.form = to_.form ? gauge::plus(to_.form, part) : part;
    }
  }

  /// Consecutive array numbers; their values beyond an edge have the phase of the fermion.
  int new_spinor(const std::string& what, bool memory) const {
    const int first = d_.collected.arrays;
    for (int i = 0; i < reals(); ++i) {
      const int array = d_.new_array();
      if (memory) to_.memory.push_back({array, fmt::format("{}_{}_{}", name_, what, i + 1), true});
    }
    d_.mark_spinor(first, factor_.edges);
    return first;
  }

  std::vector<int> arrays_from(int first) const {
    std::vector<int> arrays;
    for (int i = 0; i < reals(); ++i) arrays.push_back(first + i);
    return arrays;
  }

  std::vector<Expr> applied(const SpinorForm& form, int first) const {
    const Value psi = spinor_of_arrays(arena(), first, d_.spins, factor_.colours, factor_.span);
    return real_parts(arena(), apply(form, link_, psi), true);
  }

  Update update(const char* what, std::string shown, NewValues values) const {
    Update made;
    made.name = fmt::format("{}_{}", what, name_);
    made.shown = std::move(shown);
    made.span = factor_.span;
    made.values = std::move(values);
    return made;
  }
  Update update(const char* what, std::string shown, int first,
                const std::vector<Expr>& values) const {
    NewValues numbered;
    for (std::size_t i = 0; i < values.size(); ++i)
      numbered.emplace_back(first + static_cast<int>(i), values[i]);
    return update(what, std::move(shown), std::move(numbered));
  }

  std::vector<Expr> lift(const PartedOperator& op, int first) const {
    return lifted(d_, op, link_, factor_.colours, first);
  }
  /// D of a lifted field, or its adjoint: 0 at even sites.
  std::vector<Expr> applied_at_odd(const DeterminantFactor& factor, bool adjoint, int first) const {
    if (!blocks_of(factor))
      return at_odd(d_, applied(adjoint ? factor.adjoint : factor.form, first));
    const PartedOperator& parts = adjoint ? *factor.adjoint_parts : *factor.parts;
    SpinorForm held = parts.local;
    held.terms.insert(held.terms.end(), parts.hops.terms.begin(), parts.hops.terms.end());
    return at_odd(d_, applied(held, first));
  }

  // ---- local parts with links -------------------------------------------------------------------

  /// Numbers of fields of links from here on are matrices in memory (site_blocks.hpp).
  static constexpr int kHeld = 1 << 20;

  const SiteBlocks* blocks_of(const DeterminantFactor& factor) const {
    const std::optional<SiteBlocks>& blocks = &factor == &factor_ ? blocks_ : blocks_below_;
    return blocks ? &*blocks : nullptr;
  }

  /// R and R^-1 of an R that holds links are read from memory.
  void hold_blocks(DeterminantFactor& factor, const char* prefix, std::optional<SiteBlocks>& blocks,
                   int first) {
    if (!factor.parts || !factor.parts->inverse.terms.empty()) return;
    blocks = site_blocks(d_, factor.parts->local, factor.colours);
    link_ = with_blocks(arena(), link_, *blocks, first);
    factor.parts->local = factor.parts->inverse = held_form(arena(), *blocks, first, false);
    factor.adjoint_parts->local = factor.adjoint_parts->inverse =
        held_form(arena(), *blocks, first, true);
    const auto hold = [&](const std::vector<int>& arrays, const std::string& what) {
      for (std::size_t i = 0; i < arrays.size(); ++i)
        to_.memory.push_back(
            {arrays[i], fmt::format("{}_{}{}_{}", name_, prefix, what, i + 1), true});
    };
    hold(blocks->arrays, "local");
    hold({blocks->logarithm}, "logarithm");
    for (std::size_t k = 0; k < blocks->traces.size(); ++k)
      hold(blocks->traces[k], fmt::format("trace_{}", k + 1));
  }

  /// R and R^-1 at the links of now.
  void add_blocks(std::vector<Update>& to) const {
    for (const auto* blocks : {&blocks_, &blocks_below_}) {
      if (!*blocks) continue;
      const std::string shown = fmt::format("the part of D at the site for {}", name_);
      to.push_back(update("local", shown, local_values(d_, **blocks, link_)));
      to.push_back(update("inverse", shown + ": its inverse at even sites, log|det| there",
                          inverse_values(d_, **blocks)));
    }
  }

  long double power() const { return factor_.fraction ? factor_.fraction->power : 1; }

  /// S has -2p log|det R| at even sites, and +2 of a denominator.
  void add_logarithms() const {
    const auto add = [&](const DeterminantFactor& factor, long double number) {
      const SiteBlocks* blocks = blocks_of(factor);
      Expr own;
      if (blocks) {
        own = arena().load(blocks->logarithm);
      } else if (moves_at_site(factor)) {
        const Expr all = log_of_local(d_, *factor.parts, factor.colours);
        own = at_odd(d_, {arena().integer(0)}, {all}).front();
        const Expr part = gauge::times(this->number(number), own);
        to_.form = to_.form ? gauge::plus(to_.form, part) : part;
      } else {
        return;
      }
      to_.density = gauge::plus(to_.density, gauge::times(this->number(number), own));
      const Expr weight = gauge::times(this->number(-number / 2), own);
      to_.logarithm = to_.logarithm ? gauge::plus(to_.logarithm, weight) : weight;
    };
    add(factor_, inverse_ ? 2 : -2 * power());
    if (below_) add(*below_, 2);
  }

  /// The right side of D2 phi = D1 eta, or phi = D eta itself.
  void add_field() const {
    const std::string shown = fmt::format("{} eta of {}", factor_.name, name_);
    if (halves())
      to_.made.push_back(
          update("lifted_eta", shown + ": at even sites", lifted_, lift(*factor_.parts, y_)));
    to_.made.push_back(
        update("drawn", shown, right_,
               halves() ? applied_at_odd(factor_, false, lifted_) : applied(factor_.form, y_)));
  }

  // ---- X and Y ----------------------------------------------------------------------------------

  /// X and Y at the links of now, of D1 Y = D2 phi and adj(D1) X = Y. `kicks`: for kicks alone, so
  /// that the start may be chosen.
  void add_solutions(const LinearSystem& chosen, std::vector<Update>& to, bool kicks) {
    if (below_ && halves())
      to.push_back(update("lifted_phi", fmt::format("phi of {} at even sites", name_), lifted_phi_,
                          lift(*below_->parts, phi_)));
    if (below_)
      to.push_back(update(
          "right", fmt::format("{} phi of {}", below_->name, name_), right_,
          halves() ? applied_at_odd(*below_, false, lifted_phi_) : applied(below_->form, phi_)));
    add_solution(factor_, chosen, y_, x_, to, kicks);
    if (!wants_hermitian(chosen)) add_solve(factor_, chosen, true, x_, y_, to, kicks);
    if (below_ && halves())
      to.push_back(update("lifted_x", fmt::format("X of {} at even sites", name_), lifted_x_,
                          lift(*below_->adjoint_parts, x_)));
  }

  /// D unknown = right; where the solver is made for hermitian operators by D adj(D) inner = right.
  void add_solution(const DeterminantFactor& factor, const LinearSystem& chosen, int unknown,
                    int inner, std::vector<Update>& to, bool kicks) {
    if (!wants_hermitian(chosen))
      return add_solve(factor, chosen, false, unknown, right_, to, kicks);
    LinearSystem system = square_system(chosen, factor, inner);
    if (text::calls(*chosen.solver, "adj")) system.adjoint = system.op;
    add_system(std::move(system), inner, right_, to, kicks);
    const std::string shown = fmt::format("adj({}) of the solution for {}", factor.name, name_);
    if (!halves()) {
      to.push_back(
          update(unknown == phi_ ? "phi" : "y", shown, unknown, applied(factor.adjoint, inner)));
    } else if (unknown == phi_) {
      to.push_back(update("phi", shown, unknown, applied_at_odd(factor, true, inner)));
    } else {
      to.push_back(update("y_odd", shown, lifted_, applied_at_odd(factor, true, inner)));
      to.push_back(update("y", fmt::format("Y of {} at even sites", name_), unknown,
                          lift(*factor.parts, lifted_)));
    }
  }

  /// D adj(D) of the arrays from `unknown` on.
  LinearSystem square_system(const LinearSystem& chosen, const DeterminantFactor& factor,
                             int unknown) const {
    LinearSystem system = system_of(chosen, factor, "{0} adj({0})");
    system.positive = true;
    const int first = d_.collected.arrays;
    if (halves()) {
      system.op =
          odd_square(d_, *factor.parts, *factor.adjoint_parts, link_, factor.colours, unknown);
      system.even_odd =
          odd_square_system(d_, *factor.parts, *factor.adjoint_parts, link_, factor.colours);
      d_.mark_spinor(first, factor_.edges);
    } else {
      const int stage = new_spinor("stage", false);
      system.op.stages.push_back({arrays_from(stage), applied(factor.adjoint, unknown), -1});
      system.op.image = applied(factor.form, stage);
    }
    return system;
  }

  /// D unknown = right, or adj(D) unknown = right.
  void add_solve(const DeterminantFactor& factor, const LinearSystem& chosen, bool adjoint,
                 int unknown, int right, std::vector<Update>& to, bool kicks) {
    LinearSystem system = system_of(chosen, factor, adjoint ? "adj({0})" : "{0}");
    const SpinorForm &op = adjoint ? factor.adjoint : factor.form,
                     &other = adjoint ? factor.form : factor.adjoint;
    system.op.image = applied(op, unknown);
    if (text::calls(*chosen.solver, "adj")) system.adjoint.image = applied(other, unknown);
    if (halves()) {
      const int first = d_.collected.arrays;
      const PartedOperator &parts = adjoint ? *factor.adjoint_parts : *factor.parts,
                           &others = adjoint ? *factor.parts : *factor.adjoint_parts;
      system.even_odd = odd_system(d_, parts, others, link_, factor.colours);
      d_.mark_spinor(first, factor_.edges);
    }
    add_system(std::move(system), unknown, right, to, kicks);
  }

  /// `op`: the operator of the system, {0} the name of D.
  LinearSystem system_of(const LinearSystem& chosen, const DeterminantFactor& factor,
                         const char* op) const {
    LinearSystem system = chosen;
    const std::string number = std::to_string(d_.collected.solves.size() + 1);
    system.name = fmt::format("{}, {} X = B", name_, fmt::format(fmt::runtime(op), factor.name));
    system.iterations = "solve_iterations_" + number;
    system.residual = "solve_residual_" + number;
    return system;
  }

  void add_system(LinearSystem system, int unknown, int right, std::vector<Update>& to,
                  bool kicks) {
    system.arrays = arrays_from(unknown);
    for (const int array : arrays_from(right)) system.source.push_back(arena().load(array));
    if (halves() && right == y_) system.source = at_odd(d_, system.source);
    const bool starts = kicks && factor_.past > 0;
    if (starts)
      for (const int first : past_of(unknown)) system.past.push_back(arrays_from(first));
    Update made;
    made.name = "solve_" + name_;
    made.shown = system.name;
    made.span = factor_.span;
    made.solve = static_cast<int>(d_.collected.solves.size());
    d_.collected.solves.push_back(std::move(system));
    to.push_back(std::move(made));
    if (starts) to.push_back(remember(unknown));
  }

  // ---- fractions as powers ----------------------------------------------------------------------

  Expr number(long double value) const { return arena().real(value); }
  std::size_t fractions() const { return factor_.fraction->action.poles.size(); }

  /// phi = s(D adj(D)) eta, S = <phi, r(D adj(D)) phi>; X_k solves for the pole k of r, and Y_k is
  /// adj(D) X_k: dS = -2 sum_k residue_k Re <X_k, dD Y_k>.
  void add_fraction() {
    const DeterminantFraction& f = *factor_.fraction;
    right_ = phi_;
    own_ = d_.new_array();
    to_.memory.push_back({own_, name_ + "_density", true});
    if (halves()) lifted_ = new_spinor("lifted", true);
    for (std::size_t k = 0; k < fractions(); ++k) {
      const std::string number = std::to_string(k + 1);
      poles_.push_back(k == 0 ? x_ : new_spinor("x" + number, true));
      if (halves()) lifted_poles_.push_back(k == 0 ? x_ : new_spinor("lifted_x" + number, true));
      images_.push_back(new_spinor("y" + number, true));
    }
    if (!halves()) lifted_poles_ = poles_;
    for (int i = 0; i < reals(); ++i) to_.drawn.push_back(y_ + i);
    to_.smallest.push_back(add_end("smallest", -1));
    to_.largest.push_back(add_end("largest", 1));
    add_poles(f.field_solver, f.field, y_, to_.made);
    to_.made.push_back(update("phi", fmt::format("phi of {}", name_), phi_, summed(f.field, y_)));
    to_.made.push_back(density("eta", y_, arrays_of(y_)));
    add_blocks(to_.for_kicks);
    add_poles(factor_.kicks ? *factor_.kicks : factor_.solver, f.action, phi_, to_.for_kicks);
    for (std::size_t k = 0; k < fractions(); ++k) add_image(k);
    add_blocks(to_.for_energy);
    add_poles(factor_.solver, f.action, phi_, to_.for_energy);
    to_.for_energy.push_back(density("phi", phi_, summed(f.action, phi_)));
    const Expr own = arena().load(own_);
    to_.density = to_.density ? gauge::plus(to_.density, own) : own;
    add_logarithms();
    const std::vector<gauge::WordTerm> words = words_of(factor_);
    for (std::size_t k = 0; k < fractions(); ++k) {
      const Expr weight = number(-2 * f.action.residues[k]);
      add_staple(words, spinor_at(lifted_poles_[k]), spinor_at(images_[k]), weight,
                 {k == 0 ? blocks_of(factor_) : nullptr, f.power / f.action.residues[k]});
      add_form(factor_, lifted_poles_[k], images_[k], weight);
    }
    say();
  }

  /// An end of the spectrum of D adj(D) at the links of now, from eta; X is not in use yet. Returns
  /// the name of its scalar.
  std::string add_end(const char* which, int side) {
    const DeterminantFraction& f = *factor_.fraction;
    LinearSystem system = square_system(f.ends, factor_, x_);
    for (auto& [name, value] : system.options)
      if (name == text::kSide) value = arena().integer(side);
    system.name = fmt::format("{}, the {} eigenvalue of {} adj({}){}", name_, which, factor_.name,
                              factor_.name, halves() ? " at odd sites" : "");
    const std::string scalar = fmt::format("{}_eigenvalue_{}", which, name_);
    system.eigenvalue = {scalar, static_cast<double>(f.low), static_cast<double>(f.high)};
    add_system(std::move(system), x_, y_, to_.made, false);
    return scalar;
  }

  /// X_k of (D adj(D) + pole_k) X_k = right for all poles, the smallest in the operator itself.
  void add_poles(const LinearSystem& chosen, const algebra::SimpleFractions& f, int right,
                 std::vector<Update>& to) {
    LinearSystem system = square_system(chosen, factor_, x_);
    const Expr pole = number(f.poles[0]);
    const auto shift = [&](LinearMap& map, const std::vector<int>& arrays, bool odd) {
      for (std::size_t i = 0; i < arrays.size(); ++i) {
        const Expr more = gauge::times(pole, arena().load(arrays[i]));
        map.image[i] = gauge::plus(map.image[i], odd ? at_odd(d_, {more}).front() : more);
      }
    };
    shift(system.op, arrays_from(x_), halves());
    if (system.even_odd) {
      shift(system.even_odd->op, system.even_odd->arrays, false);
      if (!system.even_odd->adjoint.image.empty())
        shift(system.even_odd->adjoint, system.even_odd->arrays, false);
    }
    if (text::calls(*chosen.solver, "adj")) system.adjoint = system.op;
    for (std::size_t k = 1; k < fractions(); ++k)
      system.beside[text::shifted_name(chosen.solver->unknown, static_cast<int>(k))] =
          arrays_from(poles_[k]);
    add_system(std::move(system), x_, right, to, false);
  }

  std::vector<Expr> arrays_of(int first) const {
    std::vector<Expr> loads;
    for (const int array : arrays_from(first)) loads.push_back(arena().load(array));
    return loads;
  }

  /// constant*of + sum_k residue_k X_k.
  std::vector<Expr> summed(const algebra::SimpleFractions& f, int of) const {
    std::vector<Expr> sum;
    for (int i = 0; i < reals(); ++i) {
      Expr part = gauge::times(number(f.constant), arena().load(of + i));
      for (std::size_t k = 0; k < fractions(); ++k)
        part = gauge::plus(part, gauge::times(number(f.residues[k]), arena().load(poles_[k] + i)));
      sum.push_back(part);
    }
    return halves() ? at_odd(d_, sum) : sum;
  }

  /// The product of the field and `with` at each site, which is kept for the energy.
  Update density(const char* what, int first, const std::vector<Expr>& with) const {
    Expr sum;
    for (std::size_t i = 0; i < with.size(); ++i) {
      const Expr part = gauge::times(arena().load(first + static_cast<int>(i)), with[i]);
      sum = sum ? gauge::plus(sum, part) : part;
    }
    if (halves()) sum = at_odd(d_, {sum}).front();
    return update((std::string("density_") + what).c_str(), fmt::format("action of {}", name_),
                  own_, {sum});
  }

  /// Y_k at all sites.
  void add_image(std::size_t k) {
    auto& to = to_.for_kicks;
    const std::string shown = fmt::format("Y of the fraction {} of {}", k + 1, name_);
    const int x = lifted_poles_[k];
    if (!halves()) return to.push_back(update("y", shown, images_[k], applied(factor_.adjoint, x)));
    if (k > 0)
      to.push_back(update("lifted_x", fmt::format("X of {} at even sites", name_), x,
                          lift(*factor_.adjoint_parts, poles_[k])));
    to.push_back(update("y_odd", shown, lifted_, applied_at_odd(factor_, true, x)));
    to.push_back(update("y", shown + " at even sites", images_[k], lift(*factor_.parts, lifted_)));
  }

  // ---- roots of hermitian determinants
  // ------------------------------------------------------------

  /// M = a - H H/a at odd sites is hermitian and positive where H^+ = -H, and |det D| is det M but
  /// for a number: S = <phi, M^-1 phi>. phi = (D eta)/sqrt(a) at odd sites, eta at all sites, since
  /// D D^+ = a M there. dS = -Re <X, dD Y>, Y and X lifted from M^-1 phi by D and adj(D).
  void add_root() {
    for (int i = 0; i < reals(); ++i) to_.drawn.push_back(y_ + i);
    const Expr a = factor_.parts->local.terms[0].weight.re;
    std::vector<Expr> drawn;
    for (const Expr part : applied(factor_.form, y_))
      drawn.push_back(gauge::over(part, gauge::root(a)));
    to_.made.push_back(update("drawn",
                              fmt::format("{} eta of {} at odd sites", factor_.name, name_), phi_,
                              at_odd(d_, drawn)));
    add_root_solution(factor_.solver, to_.made, false);
    add_root_solution(factor_.kicks ? *factor_.kicks : factor_.solver, to_.for_kicks, true);
    to_.for_kicks.push_back(update("x", fmt::format("X of {} at even sites", name_), x_,
                                   lift(*factor_.adjoint_parts, y_)));
    if (factor_.kicks || factor_.past > 0) add_root_solution(factor_.solver, to_.for_energy, false);
    forget_past();
    Expr own;
    for (int i = 0; i < reals(); ++i) {
      const Expr part = gauge::times(arena().load(phi_ + i), arena().load(y_ + i));
      own = own ? gauge::plus(own, part) : part;
    }
    to_.density = to_.density ? gauge::plus(to_.density, own) : own;
    add_staple(words_of(factor_), spinor_at(x_), spinor_at(y_), arena().integer(-1));
    add_form(factor_, x_, y_, arena().integer(-1));
    say();
  }

  /// D Y = (0, phi): Y is M^-1 phi at odd sites.
  void add_root_solution(const LinearSystem& chosen, std::vector<Update>& to, bool kicks) {
    LinearSystem system = chosen;
    system.positive = true;
    add_solve(factor_, system, false, y_, phi_, to, kicks);
  }

  // ---- determinants below the line alone --------------------------------------------------------

  /// S = |D phi|^2 with phi = D^-1 eta; Y = D phi, and dS = 2 Re <Y, dD phi>. At odd sites M stands
  /// for D, and phi and Y are lifted by D and adj(D).
  void add_inverse() {
    for (int i = 0; i < reals(); ++i) to_.drawn.push_back(y_ + i);
    right_ = y_;
    if (halves()) {
      lifted_ = new_spinor("lifted", true);
      lifted_phi_ = new_spinor("lifted_phi", true);
      lifted_x_ = new_spinor("lifted_x", true);
    }
    add_solution(factor_, factor_.solver, phi_, x_, to_.made, false);
    add_blocks(to_.for_kicks);
    const auto add = [&](const char* what, const std::string& shown, int first,
                         const std::vector<Expr>& values) {
      to_.for_kicks.push_back(update(what, shown + name_, first, values));
    };
    if (halves()) {
      add("lifted_phi", "phi at even sites for ", lifted_phi_, lift(*factor_.parts, phi_));
      add("y", "D phi of ", y_, applied_at_odd(factor_, false, lifted_phi_));
      add("lifted_x", "Y at even sites for ", lifted_x_, lift(*factor_.adjoint_parts, y_));
    } else {
      add("y", "D phi of ", y_, applied(factor_.form, phi_));
    }
    add_density();
    add_logarithms();
    add_staple(words_of(factor_), spinor_at(halves() ? lifted_x_ : y_),
               spinor_at(halves() ? lifted_phi_ : phi_), arena().integer(2),
               {blocks_of(factor_), 1});
    add_form(factor_, halves() ? lifted_x_ : y_, halves() ? lifted_phi_ : phi_, arena().integer(2));
    say();
  }

  // ---- earlier solutions ------------------------------------------------------------------------

  /// The arrays of earlier solutions for this unknown, the newest first.
  const std::vector<int>& past_of(int unknown) {
    std::vector<int>& past = past_[unknown];
    while (std::ssize(past) < factor_.past)
      past.push_back(
          new_spinor(fmt::format("{}_past_{}", unknown == x_ ? "x" : "y", past.size() + 1), true));
    return past;
  }

  Update remember(int unknown) {
    Update shift = update("remember", fmt::format("the last solutions for {}", name_), 0, {});
    int newer = unknown;
    for (const int first : past_of(unknown)) {
      for (int i = 0; i < reals(); ++i)
        shift.values.emplace_back(first + i, arena().load(newer + i));
      newer = first;
    }
    return shift;
  }

  /// A trajectory begins without earlier solutions, so that it does not depend on what ran before.
  void forget_past() const {
    if (past_.empty()) return;
    Update none = update("forget", fmt::format("no solutions for {} yet", name_), 0, {});
    for (const auto& [unknown, past] : past_)
      for (const int first : past)
        for (int i = 0; i < reals(); ++i) none.values.emplace_back(first + i, arena().integer(0));
    to_.made.push_back(std::move(none));
  }

  // ---- S and its derivative ---------------------------------------------------------------------

  void add_density() const {
    Expr own;
    for (const int array : arrays_from(y_)) {
      const Expr square = gauge::square(arena().load(array));
      own = own ? gauge::plus(own, square) : square;
    }
    if (halves()) own = at_odd(d_, {own}).front();
    to_.density = to_.density ? gauge::plus(to_.density, own) : own;
  }

  gauge::SpinorOf spinor_at(int first) const {
    return [this, first](Offset at) {
      gauge::Spinor psi{d_.spins, factor_.colours, {}};
      for (int i = 0; i < reals(); i += 2)
        psi.parts.push_back({arena().load(first + i, at), arena().load(first + i + 1, at)});
      return psi;
    };
  }

  static std::vector<gauge::WordTerm> words_of(const DeterminantFactor& factor) {
    std::vector<gauge::WordTerm> words;
    for (const SpinorTerm& term : factor.form.terms) {
      if (term.path.word.empty()) continue;
      words.push_back(
          {term.spin, term.weight, term.path.start, term.path.word, term.at, term.path.of});
    }
    return words;
  }

  static bool same_words(const std::vector<gauge::WordTerm>& a,
                         const std::vector<gauge::WordTerm>& b) {
    return std::ranges::equal(a, b, [](const gauge::WordTerm& x, const gauge::WordTerm& y) {
      return x.spin == y.spin && gauge::same_number(x.weight, y.weight) && x.from == y.from &&
             x.word == y.word && x.at == y.at && x.of == y.of;
    });
  }

  /// dS = -2 Re <X, dD1 Y> + 2 Re <X, dD2 phi>; one form of Y - phi where D1 and D2 differ at the
  /// sites alone. Fields at odd sites are lifted for each form by its own operator.
  void add_staples() const {
    add_form(factor_, x_, y_, arena().integer(-2));
    if (below_)
      add_form(*below_, halves() ? lifted_x_ : x_, halves() ? lifted_phi_ : phi_,
               arena().integer(2));
    const std::vector<gauge::WordTerm> words = words_of(factor_);
    const gauge::SpinorOf x = spinor_at(x_), y = spinor_at(y_), phi = spinor_at(phi_);
    if (!below_) return add_staple(words, x, y, arena().integer(-2), {blocks_of(factor_), 1});
    const std::vector<gauge::WordTerm> others = words_of(*below_);
    if (halves()) {
      add_staple(words, x, y, arena().integer(-2), {blocks_of(factor_), 1});
      return add_staple(others, spinor_at(lifted_x_), spinor_at(lifted_phi_), arena().integer(2),
                        {blocks_of(*below_), 1});
    }
    if (same_words(words, others)) {
      const gauge::SpinorOf rest = [y, phi](Offset at) { return gauge::minus(y(at), phi(at)); };
      return add_staple(words, x, rest, arena().integer(-2));
    }
    add_staple(words, x, y, arena().integer(-2));
    add_staple(others, x, phi, arena().integer(2));
  }

  /// log|det R| at even sites, which the force has beside a pair of X and Y; null: it has not.
  struct Logarithm {
    const SiteBlocks* blocks;
    long double scale;  ///< in units of the pair
  };

  /// Adds the slope of factor*(Re <left, D right> + scale*log|det R|).
  void add_staple(const std::vector<gauge::WordTerm>& words, const gauge::SpinorOf& left,
                  const gauge::SpinorOf& right, Expr factor, Logarithm log = {nullptr, 1}) const {
    using gauge::operator+;
    const gauge::MiddleAt middle = [&, move = around(d_.grid)](const gauge::WordTerm& term,
                                                               Offset site) {
      const gauge::Complex weight{move(term.weight.re, site), move(term.weight.im, site)};
      gauge::Matrix m = gauge::colour_outer(term.spin, right(term.at + site), left(site));
      if (log.blocks && term.at.zero()) {
        const gauge::Matrix trace = trace_at(arena(), *log.blocks, term.spin, site);
        m = gauge::plus(m, log.scale == 1 ? trace : gauge::times(number(log.scale), trace));
      }
      return gauge::times(weight, m);
    };
    std::map<int, std::vector<gauge::WordTerm>> by_links;
    for (const gauge::WordTerm& word : words) by_links[word.of].push_back(word);
    for (const auto& [of, own_words] : by_links) {
      const gauge::LinkOf link = gauge::links_of_field(link_, of);
      std::vector<gauge::Matrix>& staple = to_.staples[of];
      staple.resize(static_cast<std::size_t>(d_.grid.dims));
      for (int axis = 0; axis < d_.grid.dims; ++axis) {
        const gauge::Matrix v = gauge::insertion_staple(own_words, axis, link, middle);
        if (v.parts.empty()) continue;
        const gauge::Matrix own = gauge::times(factor, v);
        gauge::Matrix& all = staple[static_cast<std::size_t>(axis)];
        all = all.parts.empty() ? own : gauge::plus(all, own);
      }
    }
  }

  const Motion& d_;
  DeterminantFactor factor_;
  std::optional<DeterminantFactor> below_;
  gauge::LinkOf link_;
  const bool root_;     ///< |det D| by a hermitian M
  const bool inverse_;  ///< 1/|det D|^2
  const std::string name_;
  Pseudofermions& to_;
  int phi_ = -1, x_ = -1, y_ = -1;
  int right_ = -1;  ///< D2 phi, or phi
  /// Of fields at odd sites: one on its way to even sites, phi and X lifted by D2.
  int lifted_ = -1, lifted_phi_ = -1, lifted_x_ = -1;
  /// Of a fraction: S at each site, and by pole X (at odd sites where there are halves), X lifted,
  /// Y.
  int own_ = -1;
  std::optional<SiteBlocks> blocks_, blocks_below_;  ///< of local parts that hold links
  std::vector<int> poles_, lifted_poles_, images_;
  std::map<int, std::vector<int>> past_;  ///< unknown -> earlier solutions
};

}  // namespace

Pseudofermions read_pseudofermions(const Motion& d, Lowerer& lower, const NamedAction& action,
                                   const TrajectoryLinks& links) {
  const Reading reading = links.reading();
  const std::vector<DeterminantField> fields = determinant_fields(d, lower, action);
  Pseudofermions result;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const DeterminantField& field = fields[i];
    const std::string name = i == 0 ? action.name : fmt::format("{}_{}", action.name, i + 1);
    const long double power = field.power == -1 ? 1 : field.power;
    const DeterminantFactor top =
        lower.determinant_factor(*field.call, reading, power, field.beside_fraction);
    if (std::ranges::all_of(top.form.terms, [](const SpinorTerm& t) {
          return t.path.word.empty() && !holds_fields(t);
        }))
      d.diagnostics.add(errors::determinant_without_links(field.call->span, top.name));
    std::optional<DeterminantFactor> bottom;
    if (field.below) bottom = lower.determinant_factor(*field.below, reading);
    if (bottom && bottom->edges != top.edges)
      d.fail(
          errors::not_yet(field.below->span, "a quotient of fermions with different boundaries"));
    if (bottom && bottom->parts.has_value() != top.parts.has_value())
      d.fail(errors::not_yet(field.below->span,
                             "a quotient of which one determinant alone has `even_odd = on`"));
    PseudofermionField(d, links.link(), name, top, std::move(bottom), field.power, result).add();
  }
  return result;
}

}  // namespace vphi::physics
