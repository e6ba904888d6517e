// Determinants in the weight of a trajectory, by fields with a Gaussian weight (pseudofermions).
//
// |det D|^2 is the integral over phi of exp(-S), S = |D^-1 phi|^2. At the start of a trajectory phi
// = D eta is drawn, eta with the weight exp(-|eta|^2); then phi stands still while the links move.
// With Y = D^-1 phi and X = D^-+ Y
//   dS = -2 Re <X, dD Y>,
// whatever D is: the kick is the derivative of the text of D with X and Y fixed
// (compiler/gauge/insertions.hpp). X and Y come from the solver of the call: from D D^+ X = phi and
// Y = D^+ X where it is made for hermitian operators, from D Y = phi and D^+ X = Y elsewhere. The
// solves, X, Y and S are in f64 whatever the fields are. A product of determinants has a field for
// each factor. A quotient |det D1|^2/|det D2|^2 has S = |D1^-1 D2 phi|^2 with phi = D2^-1 D1 eta
// (Hasenbusch, hep-lat/0107019). |det D|^(2p) with 0 < p < 1 has S = <phi, r(D D^+) phi>, r a sum
// of fractions that is about z^-p on the range of the eigenvalues (algebra/fractional_power.hpp),
// and a pair X_k, Y_k for each of its poles (hep-lat/0608015). At the start of each trajectory both
// ends of the spectrum are estimated from eta, and the run ends where they leave the range. A
// denominator without a numerator has S = |D phi|^2; its root is that of p < 0, r about z^|p|.
// Numbers of D may hold fields at sites that move as well (a Yukawa coupling): the force on them is
// the derivative of the same form.
//
// `even_odd = on` (spinors/even_odd.hpp): phi and eta are at odd sites and D is replaced by
// M = R - H R^-1 H there; |det D|^2 = |det R|^2 |det M|^2. An R with links
// (spinors/site_blocks.hpp) adds -2 log|det R| at even sites to S, and its slope to the insertions.
// The fields are lifted to even sites, so that D Y = (0, phi) and D^+ X = (0, Y); then <X, dM Y> at
// odd sites is <X, dD Y> at all sites, and kicks are the same as without it.
//
// Where R is a positive number and H^+ = -H, M is hermitian and |det D| is det M but for a number:
// the power 1/2 has S = <phi, M^-1 phi> without fractions.
//
// `start = past(k)`: solves for kicks start from the best combination of the last k solutions
// (schedule/solver). The history is empty at the start of a trajectory; the solve at its end starts
// from 0.
#pragma once

#include <map>
#include <vector>

#include "compiler/physics/chains/loop_actions.hpp"
#include "compiler/physics/chains/trajectory_links.hpp"

namespace vphi::physics {

struct Pseudofermions {
  std::vector<Trajectory::Memory> memory;
  /// Arrays that hold eta at the start: drawn with variance 1/2, all else follows.
  std::vector<int> drawn;
  std::vector<Update> made;        ///< phi = D eta
  std::vector<Update> for_kicks;   ///< X and Y at the links of now
  std::vector<Update> for_energy;  ///< the same with the solver of the acceptance; empty: as above
  /// Names of the scalars with the ends of the spectrum, of each field with a fraction.
  std::vector<std::string> smallest, largest;
  Expr density;    ///< S of all fields at a site
  Expr logarithm;  ///< log|det R| of it: that of the determinants' weight; null: no R holds links
  /// By number of links (TrajectoryLinks) and axis: -dS/dt = Re tr(A U V); no parts: 0.
  std::map<int, std::vector<gauge::Matrix>> staples;
  /// The terms of S's derivative with fields in their numbers: dS by such a field is that of this
  /// density, X and Y fixed. Null: no number holds a field.
  Expr form;
};

/// The fields of an action that is a determinant, for a trajectory of the links.
Pseudofermions read_pseudofermions(const Motion& d, Lowerer& lower, const NamedAction& action,
                                   const TrajectoryLinks& links);

}  // namespace vphi::physics
