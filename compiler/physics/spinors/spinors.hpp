// Spinors and operators on spinors.
//
// A spinor is a value of 4 rows (spin; n of `spinor(n)`) and one column for each colour.
// `gamma[mu]`, `gamma5`, links and their sums and products are operators on spinors: sums of terms
// number * spin (x) colour. Spin matrices are exact (gauge/clifford.hpp), so that `1 - gamma[mu]`
// is one matrix of known rank
// 2. It projects a spinor to two rows before a link is applied (docs/formulas.md 3.1). Products of
// operators are evaluated when they are applied to a spinor. The arithmetic of spinors keeps the
// order in which it is written.
//
// While an operator is recognised, a spinor has a `form`: the operators that act on the neighbours
// of the argument. Shapes that do not fit throw ShapeError.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/algebra/mover.hpp"
#include "compiler/gauge/clifford.hpp"
#include "compiler/gauge/dirac.hpp"
#include "compiler/physics/lower/values.hpp"

namespace vphi::physics {

/// weight * spin (x) colour.
struct SpinTerm {
  gauge::SpinMatrix spin;
  gauge::Complex weight;
  gauge::Matrix colour;   ///< no parts: 1
  Paths paths = nullptr;  ///< paths whose products `colour` is, where known
};
struct SpinOperator {
  std::vector<SpinTerm> terms;
};

/// A term of a linear function of psi: weight * spin (x) path applied to psi(x + at).
struct SpinorTerm {
  gauge::SpinMatrix spin;
  gauge::Complex weight;
  LinkPath path;
  algebra::Offset at;
};
struct SpinorForm {
  std::vector<SpinorTerm> terms;
};

/// The operator of a spin matrix, as a value.
Value spin_value(Arena& arena, const gauge::SpinMatrix& spin);
/// Whether the value is a spinor or an operator on spinors.
bool of_spinors(const Value& v);
/// Sums and products with a spinor or an operator.
Value add_spinors(const Value& a, const Value& b, bool minus);
Value multiply_spinors(const Value& a, const Value& b);
/// Adjoint of an operator.
Value adjoint_operator(const Value& a);
/// Shifts the form of a spinor that is read at a neighbour, its numbers by `move`.
void shift_form(Value& v, algebra::Offset offset, const algebra::Mover& move);

/// A placeholder for the argument of a linear function that is to be recognised.
Value unknown_spinor(Arena& arena, int spins, int colours);
/// The operator in terms of hops along links; nothing where a path is longer than one link.
std::optional<gauge::DiracOperator> dirac_operator(const SpinorForm& form);
/// The form of the adjoint operator: <chi, D psi> = <D^+ chi, psi>. `move` takes numbers of the
/// site to a neighbour (`around`).
SpinorForm adjoint(const SpinorForm& form, const algebra::Mover& move);
SpinorForm form_of(const gauge::DiracOperator& d);
/// A spinor as it is at a neighbour.
using SpinorMover = std::function<Value(const Value& psi, algebra::Offset offset)>;
/// The operator applied to a spinor, whose values and form at neighbours `move` gives.
Value apply(const SpinorForm& form, const gauge::LinkOf& link, const Value& psi,
            const algebra::Mover& move);
/// The same with a reader of its own for the spinor at neighbours.
Value apply(const SpinorForm& form, const gauge::LinkOf& link, const Value& psi,
            const algebra::Mover& move, const SpinorMover& spinor_at);
/// The same of a spinor in arrays.
Value apply(const SpinorForm& form, const gauge::LinkOf& link, const Value& psi);

}  // namespace vphi::physics
