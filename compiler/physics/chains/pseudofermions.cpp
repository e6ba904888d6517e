#include "compiler/physics/chains/pseudofermions.hpp"

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/insertions.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/spinors/even_odd.hpp"
#include "compiler/physics/spinors/linear_map.hpp"
#include "compiler/text/solver.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;

namespace {

/// One determinant: its field phi, and X and Y.
class PseudofermionField {
 public:
  PseudofermionField(const Motion& d, Lowerer& lower, const std::string& action, std::size_t number,
                     const DeterminantFactor& factor, Pseudofermions& to)
      : d_(d),
        factor_(factor),
        link_(lower.link_matrices()),
        name_(number == 0 ? action : fmt::format("{}_{}", action, number + 1)),
        to_(to) {}

  void add() {
    check_weights();
    phi_ = new_spinor("phi", true);
    x_ = new_spinor("x", true);
    y_ = new_spinor("y", true);
    for (int i = 0; i < reals(); ++i) to_.drawn.push_back(y_ + i);
    to_.made.push_back(update("drawn", fmt::format("phi = {} eta of {}", factor_.name, name_), phi_,
                              applied(factor_.form, y_)));
    add_solutions(factor_.kicks ? *factor_.kicks : factor_.solver, to_.for_kicks);
    if (factor_.kicks) add_solutions(factor_.solver, to_.for_energy);
    add_density();
    add_staples();
  }

 private:
  Arena& arena() const { return d_.arena(); }
  int reals() const { return 8 * factor_.colours; }

  /// The derivative is taken along paths alone, and numbers are moved with the site.
  void check_weights() const {
    for (const SpinorTerm& term : factor_.form.terms) {
      for (const Expr part : {term.weight.re, term.weight.im}) {
        if (algebra::contains(part, [](Expr node) { return node.is(Op::Load); }))
          d_.fail(errors::not_yet(factor_.span,
                                  "a determinant of an operator with fields in its numbers"));
        if (algebra::per_site(part))
          d_.fail(errors::not_yet(
              factor_.span,
              "a determinant of an operator with numbers that differ from site to site"));
      }
    }
  }

  /// Consecutive array numbers; their values beyond an edge have the sign of the fermion.
  int new_spinor(const char* what, bool memory) const {
    const int first = d_.collected.arrays;
    for (int i = 0; i < reals(); ++i) {
      const int array = d_.new_array();
      d_.collected.antiperiodic_arrays[array] = factor_.antiperiodic;
      if (memory) to_.memory.push_back({array, fmt::format("{}_{}_{}", name_, what, i + 1), true});
    }
    return first;
  }

  std::vector<int> arrays_from(int first) const {
    std::vector<int> arrays;
    for (int i = 0; i < reals(); ++i) arrays.push_back(first + i);
    return arrays;
  }

  std::vector<Expr> applied(const SpinorForm& form, int first) const {
    const Value psi = spinor_of_arrays(arena(), first, factor_.colours, factor_.span);
    return real_parts(arena(), apply(form, link_, psi), true);
  }

  Update update(const char* what, std::string shown, int first,
                const std::vector<Expr>& values) const {
    Update made;
    made.name = fmt::format("{}_{}", what, name_);
    made.shown = std::move(shown);
    made.span = factor_.span;
    for (std::size_t i = 0; i < values.size(); ++i)
      made.values.emplace_back(first + static_cast<int>(i), values[i]);
    return made;
  }

  // ---- X and Y ----------------------------------------------------------------------------------

  void add_solutions(const LinearSystem& chosen, std::vector<Update>& to) const {
    if (wants_hermitian(chosen)) {
      // D D^+ x = phi
      LinearSystem system = system_of(
          chosen, fmt::format("{}, X of {} adj({}) X = phi", name_, factor_.name, factor_.name));
      const int inner = new_spinor("stage", false);
      system.op.stages.push_back({arrays_from(inner), applied(factor_.adjoint, x_), -1});
      system.op.image = applied(factor_.form, inner);
      if (text::calls(*chosen.solver, "adj")) system.adjoint = system.op;
      to.push_back(solve(std::move(system), x_, phi_));
      to.push_back(update("y", fmt::format("Y = adj({}) X of {}", factor_.name, name_), y_,
                          applied(factor_.adjoint, x_)));
      return;
    }
    const bool adjoint = text::calls(*chosen.solver, "adj");
    const auto add = [&](const std::string& what, const SpinorForm& op, const SpinorForm& other,
                         int unknown, int right) {
      LinearSystem system = system_of(chosen, fmt::format("{}, {}", name_, what));
      system.op.image = applied(op, unknown);
      if (adjoint) system.adjoint.image = applied(other, unknown);
      to.push_back(solve(std::move(system), unknown, right));
    };
    add(fmt::format("Y of {} Y = phi", factor_.name), factor_.form, factor_.adjoint, y_, phi_);
    add(fmt::format("X of adj({}) X = Y", factor_.name), factor_.adjoint, factor_.form, x_, y_);
  }

  LinearSystem system_of(const LinearSystem& chosen, std::string name) const {
    LinearSystem system = chosen;
    const std::string number = std::to_string(d_.collected.solves.size() + 1);
    system.name = std::move(name);
    system.iterations = "solve_iterations_" + number;
    system.residual = "solve_residual_" + number;
    return system;
  }

  Update solve(LinearSystem system, int unknown, int right) const {
    system.arrays = arrays_from(unknown);
    for (const int array : arrays_from(right)) system.source.push_back(arena().load(array));
    Update made;
    made.name = "solve_" + name_;
    made.shown = system.name;
    made.span = factor_.span;
    made.solve = static_cast<int>(d_.collected.solves.size());
    d_.collected.solves.push_back(std::move(system));
    return made;
  }

  // ---- S and its derivative ---------------------------------------------------------------------

  void add_density() const {
    for (const int array : arrays_from(y_)) {
      const Expr square = gauge::square(arena().load(array));
      to_.density = to_.density ? gauge::plus(to_.density, square) : square;
    }
  }

  gauge::SpinorOf spinor_at(int first) const {
    return [this, first](Offset at) {
      gauge::Spinor psi{4, factor_.colours, {}};
      for (int i = 0; i < reals(); i += 2)
        psi.parts.push_back({arena().load(first + i, at), arena().load(first + i + 1, at)});
      return psi;
    };
  }

  void add_staples() const {
    std::vector<gauge::WordTerm> terms;
    for (const SpinorTerm& term : factor_.form.terms)
      terms.push_back({term.spin, term.weight, term.path.start, term.path.word, term.at});
    const gauge::WeightAt weight_at = [](const gauge::Complex& weight, Offset at) {
      return gauge::Complex{neighbour(weight.re, at), neighbour(weight.im, at)};
    };
    to_.staple.resize(static_cast<std::size_t>(d_.grid.dims));
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      const gauge::Matrix v =
          gauge::insertion_staple(terms, axis, link_, spinor_at(x_), spinor_at(y_), weight_at);
      if (v.parts.empty()) continue;
      const gauge::Matrix own = gauge::times(arena().integer(-2), v);
      gauge::Matrix& all = to_.staple[static_cast<std::size_t>(axis)];
      all = all.parts.empty() ? own : gauge::plus(all, own);
    }
  }

  const Motion& d_;
  const DeterminantFactor& factor_;
  const gauge::LinkOf link_;
  const std::string name_;
  Pseudofermions& to_;
  int phi_ = -1, x_ = -1, y_ = -1;
};

}  // namespace

Pseudofermions read_pseudofermions(const Motion& d, Lowerer& lower, const NamedAction& action) {
  Pseudofermions result;
  std::size_t number = 0;
  for (const DeterminantCall& factor : action.determinants) {
    if (factor.divides) d.fail(errors::not_yet(factor.call->span, "a quotient of determinants"));
    const DeterminantFactor read = lower.determinant_factor(*factor.call);
    PseudofermionField(d, lower, action.name, number++, read, result).add();
  }
  return result;
}

}  // namespace vphi::physics
