#include "compiler/physics/chains/pseudofermion_field.hpp"

#include <fmt/format.h>

#include "compiler/text/solver.hpp"

namespace vphi::physics {

void PseudofermionField::add_fraction() {
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
    add_slope(words, lifted_poles_[k], images_[k], weight,
              {k == 0 ? blocks_of(factor_) : nullptr, f.power / f.action.residues[k]});
    add_form(factor_, lifted_poles_[k], images_[k], weight);
  }
  say();
}

std::string PseudofermionField::add_end(const char* which, int side) {
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

void PseudofermionField::add_poles(const LinearSystem& chosen, const algebra::SimpleFractions& f,
                                   int right, std::vector<Update>& to) {
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

std::vector<Expr> PseudofermionField::arrays_of(int first) const {
  std::vector<Expr> loads;
  for (const int array : arrays_from(first)) loads.push_back(arena().load(array));
  return loads;
}

std::vector<Expr> PseudofermionField::summed(const algebra::SimpleFractions& f, int of) const {
  std::vector<Expr> sum;
  for (int i = 0; i < reals(); ++i) {
    Expr part = gauge::times(number(f.constant), arena().load(of + i));
    for (std::size_t k = 0; k < fractions(); ++k)
      part = gauge::plus(part, gauge::times(number(f.residues[k]), arena().load(poles_[k] + i)));
    sum.push_back(part);
  }
  return halves() ? at_odd(d_, sum) : sum;
}

Update PseudofermionField::density(const char* what, int first,
                                   const std::vector<Expr>& with) const {
  Expr sum;
  for (std::size_t i = 0; i < with.size(); ++i) {
    const Expr part = gauge::times(arena().load(first + static_cast<int>(i)), with[i]);
    sum = sum ? gauge::plus(sum, part) : part;
  }
  if (halves()) sum = at_odd(d_, {sum}).front();
  return update((std::string("density_") + what).c_str(), fmt::format("action of {}", name_), own_,
                {sum});
}

void PseudofermionField::add_image(std::size_t k) {
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

void PseudofermionField::add_root() {
  for (int i = 0; i < reals(); ++i) to_.drawn.push_back(y_ + i);
  const Expr a = factor_.parts->local.terms[0].weight.re;
  std::vector<Expr> drawn;
  for (const Expr part : applied(factor_.form, y_))
    drawn.push_back(gauge::over(part, gauge::root(a)));
  to_.made.push_back(update("drawn", fmt::format("{} eta of {} at odd sites", factor_.name, name_),
                            phi_, at_odd(d_, drawn)));
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
  add_slope(words_of(factor_), x_, y_, arena().integer(-1));
  add_form(factor_, x_, y_, arena().integer(-1));
  say();
}

void PseudofermionField::add_root_solution(const LinearSystem& chosen, std::vector<Update>& to,
                                           bool kicks) {
  LinearSystem system = chosen;
  system.positive = true;
  add_solve(factor_, system, false, y_, phi_, to, kicks);
}

void PseudofermionField::add_inverse() {
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
  add_slope(words_of(factor_), halves() ? lifted_x_ : y_, halves() ? lifted_phi_ : phi_,
            arena().integer(2), {blocks_of(factor_), 1});
  add_form(factor_, halves() ? lifted_x_ : y_, halves() ? lifted_phi_ : phi_, arena().integer(2));
  say();
}

}  // namespace vphi::physics
