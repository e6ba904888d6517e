#include "compiler/physics/chains/pseudofermion_field.hpp"

#include <fmt/format.h>

#include "compiler/physics/spinors/linear_map.hpp"
#include "compiler/text/solver.hpp"
#include "compiler/text/squares.hpp"

namespace vphi::physics {

void PseudofermionField::add_solutions(const LinearSystem& chosen, std::vector<Update>& to,
                                       bool kicks) {
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

void PseudofermionField::add_solution(const DeterminantFactor& factor, const LinearSystem& chosen,
                                      int unknown, int inner, std::vector<Update>& to, bool kicks) {
  if (!wants_hermitian(chosen)) return add_solve(factor, chosen, false, unknown, right_, to, kicks);
  LinearSystem system = square_system(chosen, factor, inner);
  if (text::calls(*chosen.solver, "adj")) system.adjoint = system.op;
  system.solver = text::for_squares(*system.solver);
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

LinearSystem PseudofermionField::square_system(const LinearSystem& chosen,
                                               const DeterminantFactor& factor, int unknown) const {
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

void PseudofermionField::add_solve(const DeterminantFactor& factor, const LinearSystem& chosen,
                                   bool adjoint, int unknown, int right, std::vector<Update>& to,
                                   bool kicks) {
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

LinearSystem PseudofermionField::system_of(const LinearSystem& chosen,
                                           const DeterminantFactor& factor, const char* op) const {
  LinearSystem system = chosen;
  const std::string number = std::to_string(d_.collected.solves.size() + 1);
  system.name = fmt::format("{}, {} X = B", name_, fmt::format(fmt::runtime(op), factor.name));
  system.iterations = "solve_iterations_" + number;
  system.residual = "solve_residual_" + number;
  return system;
}

void PseudofermionField::add_system(LinearSystem system, int unknown, int right,
                                    std::vector<Update>& to, bool kicks) {
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

const std::vector<int>& PseudofermionField::past_of(int unknown) {
  std::vector<int>& past = past_[unknown];
  while (std::ssize(past) < factor_.past)
    past.push_back(
        new_spinor(fmt::format("{}_past_{}", unknown == x_ ? "x" : "y", past.size() + 1), true));
  return past;
}

Update PseudofermionField::remember(int unknown) {
  Update shift = update("remember", fmt::format("the last solutions for {}", name_), 0, {});
  int newer = unknown;
  for (const int first : past_of(unknown)) {
    for (int i = 0; i < reals(); ++i) shift.values.emplace_back(first + i, arena().load(newer + i));
    newer = first;
  }
  return shift;
}

void PseudofermionField::forget_past() const {
  if (past_.empty()) return;
  Update none = update("forget", fmt::format("no solutions for {} yet", name_), 0, {});
  for (const auto& [unknown, past] : past_)
    for (const int first : past)
      for (int i = 0; i < reals(); ++i) none.values.emplace_back(first + i, arena().integer(0));
  to_.made.push_back(std::move(none));
}

}  // namespace vphi::physics
