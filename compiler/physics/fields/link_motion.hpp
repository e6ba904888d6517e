// Links of SU(n) and their momenta under a written Hamiltonian.
//
// `gauge U: SU(n), E: su(n)`: the momentum E of a link is the matrix E_a T_a of the algebra
// (compiler/gauge/group.hpp). With w_a = dH/dE_a the link moves by U' = i w_a T_a U, and
// E_a' = -dH/ds along U -> exp(i s T_a) U, and the momentum turns by i[w, E] where w and E do not
// commute, as they do for every kinetic energy c*norm2(E[i]). Traces of loops with coefficients
// that are the same at all sites give their forces by staples (compiler/gauge/action.hpp), the rest
// of H by the chain rule through the stored numbers.
#pragma once

#include <functional>

#include "compiler/physics/stages/motion.hpp"

namespace vphi::physics {

class ProgramUnits;
class Lowerer;
struct Scope;

/// The text of an energy, which is read once more for each gauge field.
struct EnergyText {
  const Theory& reading;  ///< by which it is read
  std::function<Expr(Lowerer&, const Scope&)> read;
  bool whole;   ///< `read` gives a number that is made of totals; else a density
  Expr beside;  ///< a density that is added to it; null: none
  dsl::Span line, value;
};

/// Adds the rates of the links and momenta of one line. `density`: of all of H, whose text is
/// `text`.
void add_link_rates(const Theory& d, Expr density, const EnergyText& text, bool keep_parameters,
                    const StateField& links, const StateField& momentum, Hamiltonian& result);

/// Whether w = `velocity` and E commute at every state, as where the energy is a function of
/// norm2(E[i]). `arrays`: the numbers of E.
bool velocity_commutes(const Theory& d, const StateField& momentum,
                       const std::vector<Expr>& velocity, const std::vector<int>& arrays);

/// The motion of all links of SU(n) in program units.
std::vector<LinkMotion> link_motions(const Motion& d, ProgramUnits& units);

/// The coordinates m_a of a matrix M = m_a T_a; E0892 where M is not hermitian or has a trace, at
/// some arbitrary values of what it reads.
std::vector<Expr> algebra_coordinates(const Declared& d, const gauge::Group& group, const Value& m,
                                      const std::string& name, dsl::Span span);

}  // namespace vphi::physics
