#include "compiler/physics/chains/pseudofermion_field.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/physics/chains/sampling_errors.hpp"

namespace vphi::physics {

using algebra::Offset;

void PseudofermionField::add() {
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

void PseudofermionField::say() const {
  if (!factor_.fraction && !root_ && !inverse_)
    d_.remark(fmt::format(
        "{}: the weight |det {}|^2{}, S = {}: its force has {} paths of links, an outer product "
        "of X and {} at the end of each",
        name_, factor_.name, below_ ? "/|det " + below_->name + "|^2" : "",
        below_ ? "|D1^-1 D2 phi|^2 with phi = D2^-1 D1 eta" : "|D^-1 phi|^2 with phi = D eta",
        words_of(factor_).size() + (below_ ? words_of(*below_).size() : 0),
        below_ ? "Y or phi" : "Y"));
  if (factor_.fraction || root_)
    d_.remark(
        fmt::format("{}: the weight has the size of det {} alone, whose sign or phase is left out",
                    name_, factor_.name));
  if (factor_.fraction) {
    const DeterminantFraction& f = *factor_.fraction;
    d_.remark(fmt::format(
        "{}: |det {}|^{:.6g} by {} fractions: z^{:.6g} to {:.2g} and z^{:.6g} to "
        "{:.2g} for z from "
        "{:.6g} to {:.6g}, the eigenvalues of D adj(D){}",
        name_, factor_.name, static_cast<double>(2 * f.power), f.action.poles.size(),
        static_cast<double>(-f.power), static_cast<double>(f.action.error),
        static_cast<double>(f.power / 2), static_cast<double>(f.field.error),
        static_cast<double>(f.low), static_cast<double>(f.high), halves() ? " at odd sites" : ""));
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
                    blocks_of(factor_)       ? "which depends on its loops of links"
                    : moves_at_site(factor_) ? "which depends on the fields in its numbers"
                                             : "which is a constant"));
  if (const SiteBlocks* blocks = blocks_of(factor_))
    d_.remark(
        fmt::format("{}: R holds links. R, R^-1 and log|det R| are made of these before the solves "
                    "and kept in memory, in blocks of {} rows",
                    name_, fmt::join(rows_of_blocks(*blocks), ", ")));
  if (factor_.past > 0)
    d_.remark(
        fmt::format("{}: solves for kicks start from the best combination of the last {} "
                    "solutions of the trajectory; the one for its end starts from 0",
                    name_, factor_.past));
}

bool PseudofermionField::moves_at_site(const DeterminantFactor& factor) {
  return factor.parts && std::ranges::any_of(factor.parts->local.terms, holds_fields);
}

void PseudofermionField::add_form(const DeterminantFactor& factor, int left, int right,
                                  Expr number) const {
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

int PseudofermionField::new_spinor(const std::string& what, bool memory) const {
  const int first = d_.collected.arrays;
  for (int i = 0; i < reals(); ++i) {
    const int array = d_.new_array();
    if (memory) to_.memory.push_back({array, fmt::format("{}_{}_{}", name_, what, i + 1), true});
  }
  d_.mark_spinor(first, factor_.edges);
  return first;
}

std::vector<int> PseudofermionField::arrays_from(int first) const {
  std::vector<int> arrays;
  for (int i = 0; i < reals(); ++i) arrays.push_back(first + i);
  return arrays;
}

std::vector<Expr> PseudofermionField::applied(const SpinorForm& form, int first) const {
  const Value psi = spinor_of_arrays(arena(), first, d_.spins, factor_.colours, factor_.span);
  return real_parts(arena(), apply(form, link_, psi), true);
}

Update PseudofermionField::update(const char* what, std::string shown, NewValues values) const {
  Update made;
  made.name = fmt::format("{}_{}", what, name_);
  made.shown = std::move(shown);
  made.span = factor_.span;
  made.values = std::move(values);
  return made;
}

Update PseudofermionField::update(const char* what, std::string shown, int first,
                                  const std::vector<Expr>& values) const {
  NewValues numbered;
  for (std::size_t i = 0; i < values.size(); ++i)
    numbered.emplace_back(first + static_cast<int>(i), values[i]);
  return update(what, std::move(shown), std::move(numbered));
}

std::vector<Expr> PseudofermionField::lift(const PartedOperator& op, int first) const {
  return lifted(d_, op, link_, factor_.colours, first);
}

std::vector<Expr> PseudofermionField::applied_at_odd(const DeterminantFactor& factor, bool adjoint,
                                                     int first) const {
  if (!blocks_of(factor)) return at_odd(d_, applied(adjoint ? factor.adjoint : factor.form, first));
  const PartedOperator& parts = adjoint ? *factor.adjoint_parts : *factor.parts;
  SpinorForm held = parts.local;
  held.terms.insert(held.terms.end(), parts.hops.terms.begin(), parts.hops.terms.end());
  return at_odd(d_, applied(held, first));
}

const SiteBlocks* PseudofermionField::blocks_of(const DeterminantFactor& factor) const {
  const std::optional<SiteBlocks>& blocks = &factor == &factor_ ? blocks_ : blocks_below_;
  return blocks ? &*blocks : nullptr;
}

void PseudofermionField::hold_blocks(DeterminantFactor& factor, const char* prefix,
                                     std::optional<SiteBlocks>& blocks, int first) {
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

void PseudofermionField::add_blocks(std::vector<Update>& to) const {
  for (const auto* blocks : {&blocks_, &blocks_below_}) {
    if (!*blocks) continue;
    const std::string shown = fmt::format("the part of D at the site for {}", name_);
    to.push_back(update("local", shown, local_values(d_, **blocks, link_)));
    to.push_back(update("inverse", shown + ": its inverse at even sites, log|det| there",
                        inverse_values(d_, **blocks)));
  }
}

void PseudofermionField::add_logarithms() const {
  add_logarithm(factor_, inverse_ ? 2 : -2 * power());
  if (below_) add_logarithm(*below_, 2);
}

void PseudofermionField::add_logarithm(const DeterminantFactor& factor, long double number) const {
  const SiteBlocks* blocks = blocks_of(factor);
  Expr own, moving;  // the logarithm, and what has its derivative by fields
  if (blocks) {
    own = arena().load(blocks->logarithm);
    moving = weighed_fields(d_, *blocks, link_);
  } else if (moves_at_site(factor)) {
    const Expr all = log_of_local(d_, *factor.parts, factor.colours);
    own = moving = at_odd(d_, {arena().integer(0)}, {all}).front();
  } else {
    return;
  }
  if (moving) {
    const Expr part = gauge::times(this->number(number), moving);
    to_.form = to_.form ? gauge::plus(to_.form, part) : part;
  }
  to_.density = gauge::plus(to_.density, gauge::times(this->number(number), own));
  const Expr weight = gauge::times(this->number(-number / 2), own);
  to_.logarithm = to_.logarithm ? gauge::plus(to_.logarithm, weight) : weight;
}

void PseudofermionField::add_field() const {
  const std::string shown = fmt::format("{} eta of {}", factor_.name, name_);
  if (halves())
    to_.made.push_back(
        update("lifted_eta", shown + ": at even sites", lifted_, lift(*factor_.parts, y_)));
  to_.made.push_back(
      update("drawn", shown, right_,
             halves() ? applied_at_odd(factor_, false, lifted_) : applied(factor_.form, y_)));
}

void PseudofermionField::add_density() const {
  Expr own;
  for (const int array : arrays_from(y_)) {
    const Expr square = gauge::square(arena().load(array));
    own = own ? gauge::plus(own, square) : square;
  }
  if (halves()) own = at_odd(d_, {own}).front();
  to_.density = to_.density ? gauge::plus(to_.density, own) : own;
}

gauge::SpinorOf PseudofermionField::spinor_at(int first) const {
  return [this, first](Offset at) {
    gauge::Spinor psi{d_.spins, factor_.colours, {}};
    for (int i = 0; i < reals(); i += 2)
      psi.parts.push_back({arena().load(first + i, at), arena().load(first + i + 1, at)});
    return psi;
  };
}

std::vector<gauge::WordTerm> PseudofermionField::words_of(const DeterminantFactor& factor) {
  std::vector<gauge::WordTerm> words;
  for (const SpinorTerm& term : factor.form.terms) {
    if (term.path.word.empty()) continue;
    words.push_back(
        {term.spin, term.weight, term.path.start, term.path.word, term.at, term.path.of});
  }
  return words;
}

bool PseudofermionField::same_words(const std::vector<gauge::WordTerm>& a,
                                    const std::vector<gauge::WordTerm>& b) {
  return std::ranges::equal(a, b, [](const gauge::WordTerm& x, const gauge::WordTerm& y) {
    return x.spin == y.spin && gauge::same_number(x.weight, y.weight) && x.from == y.from &&
           x.word == y.word && x.at == y.at && x.of == y.of;
  });
}

void PseudofermionField::add_staples() const {
  add_form(factor_, x_, y_, arena().integer(-2));
  if (below_)
    add_form(*below_, halves() ? lifted_x_ : x_, halves() ? lifted_phi_ : phi_, arena().integer(2));
  const std::vector<gauge::WordTerm> words = words_of(factor_);
  if (!below_) return add_slope(words, x_, y_, arena().integer(-2), {blocks_of(factor_), 1});
  const std::vector<gauge::WordTerm> others = words_of(*below_);
  if (halves()) {
    add_slope(words, x_, y_, arena().integer(-2), {blocks_of(factor_), 1});
    return add_slope(others, lifted_x_, lifted_phi_, arena().integer(2), {blocks_of(*below_), 1});
  }
  if (same_words(words, others)) {
    const gauge::SpinorOf y = spinor_at(y_), phi = spinor_at(phi_);
    const gauge::SpinorOf rest = [&](Offset at) { return gauge::minus(y(at), phi(at)); };
    return slopes_.add(words, spinor_at(x_), rest, arena().integer(-2));
  }
  add_slope(words, x_, y_, arena().integer(-2));
  add_slope(others, x_, phi_, arena().integer(2));
}

void PseudofermionField::add_slope(const std::vector<gauge::WordTerm>& words, int left, int right,
                                   Expr factor, LogarithmSlope log) const {
  slopes_.add(words, spinor_at(left), spinor_at(right), factor, log);
}

}  // namespace vphi::physics
