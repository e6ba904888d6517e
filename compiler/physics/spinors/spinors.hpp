// Spinors and what acts on them.
//
// A spinor is a value of 4 rows (spin) and one column for each colour. `gamma[mu]`, `gamma5`, links
// and their sums and products are operators on spinors: sums of terms spin (x) colour with a number
// before each. Spin matrices are exact (gauge/clifford.hpp), so that `1 - gamma[mu]` is one matrix
// whose rank 2 is found: it projects a spinor to half of it before a link is applied
// (docs/formulas.md 3.1). Products stand until a spinor is met; arithmetic of spinors is ordered as
// it is written.
//
// While an operator is recognised a spinor carries its `form`: what acts on which neighbour of the
// argument. Shapes that do not fit are ShapeErrors.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "compiler/gauge/clifford.hpp"
#include "compiler/gauge/dirac.hpp"
#include "compiler/physics/lower/values.hpp"

namespace vphi::physics {

/// weight * spin (x) colour.
struct SpinTerm {
  gauge::SpinMatrix spin;
  gauge::Complex weight;
  gauge::Matrix colour;                            ///< no parts: 1
  std::shared_ptr<const LinkPath> path = nullptr;  ///< whose product `colour` is, where known
};
struct SpinOperator {
  std::vector<SpinTerm> terms;
};

/// What a linear function makes of its argument psi: sum of weight*spin (x) path psi(x + at).
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
/// Whether this value is a spinor or acts on spinors.
bool of_spinors(const Value& v);
/// Sums and products in which a spinor or an operator takes part.
Value add_spinors(const Value& a, const Value& b, bool minus);
Value multiply_spinors(const Value& a, const Value& b);
/// Adjoint of an operator.
Value adjoint_operator(const Value& a);
/// A spinor's value at a neighbour: its form moves along.
void shift_form(Value& v, algebra::Offset offset);

/// The argument of a linear function that is to be recognised.
Value unknown_spinor(Arena& arena, int colours);
/// The operator in terms of hops along links; nothing where a path is longer than one link.
std::optional<gauge::DiracOperator> dirac_operator(const SpinorForm& form);
/// The form of the adjoint operator: <chi, D psi> = <D^+ chi, psi>.
SpinorForm adjoint(const SpinorForm& form);
SpinorForm form_of(const gauge::DiracOperator& d);
/// The operator applied to a spinor.
Value apply(const SpinorForm& form, const gauge::LinkOf& link, const Value& psi);

}  // namespace vphi::physics
