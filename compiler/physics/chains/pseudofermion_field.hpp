// One determinant in the weight of a trajectory: its field phi, X and Y, S and its slopes.
//
// What these are is said in pseudofermions.hpp. The functions stand in three files: those of a
// field in pseudofermion_field.cpp, X and Y by solves in pseudofermion_solves.cpp, and powers,
// roots and determinants below the line in pseudofermion_powers.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/physics/chains/determinant_slopes.hpp"
#include "compiler/physics/chains/pseudofermions.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/spinors/even_odd.hpp"
#include "compiler/physics/spinors/site_blocks.hpp"

namespace vphi::physics {

/// `add` brings all that the action has of this field into `to` and `slopes`.
class PseudofermionField {
 public:
  /// `below`: the determinant that this one is divided by; null: there is none. `power` is between
  /// -1 and 1 for a fraction, 1/2 for the root of a hermitian determinant without one; -1 for the
  /// weight 1/|det D|^2.
  PseudofermionField(const Motion& d, const gauge::LinkOf& link, std::string name,
                     DeterminantFactor factor, std::optional<DeterminantFactor> below,
                     long double power, Pseudofermions& to, DeterminantSlopes& slopes)
      : d_(d),
        factor_(std::move(factor)),
        below_(std::move(below)),
        link_(link),
        root_(!factor_.fraction && power > 0 && power < 1),
        inverse_(!factor_.fraction && power < 0),
        name_(std::move(name)),
        to_(to),
        slopes_(slopes) {}
  PseudofermionField(const PseudofermionField&) = delete;  // its functions point to its blocks

  void add();

 private:
  Arena& arena() const { return d_.arena(); }
  int reals() const { return 2 * d_.spins * factor_.colours; }
  /// Whether the fields are at odd sites alone. X and Y are then lifted to even sites, so that
  /// D Y = (0, phi) and adj(D) X = (0, Y): the force is that of all sites.
  bool halves() const { return factor_.parts.has_value(); }

  /// Remarks on the weight that it stands for.
  void say() const;

  /// Whether numbers of its part at the sites hold fields that move.
  static bool moves_at_site(const DeterminantFactor& factor);

  /// Adds the terms with fields in their numbers to the form by which these fields are pushed:
  /// number * Re <left, D right>.
  void add_form(const DeterminantFactor& factor, int left, int right, Expr number) const;

  /// Consecutive array numbers; their values beyond an edge have the phase of the fermion.
  int new_spinor(const std::string& what, bool memory) const;

  /// The arrays of the spinor that begins with this one.
  std::vector<int> arrays_from(int first) const;
  /// The form applied to it.
  std::vector<Expr> applied(const SpinorForm& form, int first) const;

  /// An update of this field's name and place in the text.
  Update update(const char* what, std::string shown, NewValues values) const;
  Update update(const char* what, std::string shown, int first,
                const std::vector<Expr>& values) const;

  /// A field at odd sites brought to even ones.
  std::vector<Expr> lift(const PartedOperator& op, int first) const;
  /// D of a lifted field, or its adjoint: 0 at even sites.
  std::vector<Expr> applied_at_odd(const DeterminantFactor& factor, bool adjoint, int first) const;

  // ---- local parts with links -------------------------------------------------------------------

  /// Numbers of fields of links from here on are matrices in memory (site_blocks.hpp).
  static constexpr int kHeld = 1 << 20;

  /// Null: R holds no links, or there are no halves.
  const SiteBlocks* blocks_of(const DeterminantFactor& factor) const;

  /// R and R^-1 of an R that holds links are read from memory.
  void hold_blocks(DeterminantFactor& factor, const char* prefix, std::optional<SiteBlocks>& blocks,
                   int first);

  /// R and R^-1 at the links of now.
  void add_blocks(std::vector<Update>& to) const;

  long double power() const { return factor_.fraction ? factor_.fraction->power : 1; }

  /// S has -2p log|det R| at even sites, and +2 of a denominator.
  void add_logarithms() const;
  void add_logarithm(const DeterminantFactor& factor, long double number) const;

  /// The right side of D2 phi = D1 eta, or phi = D eta itself.
  void add_field() const;

  // ---- X and Y ----------------------------------------------------------------------------------

  /// X and Y at the links of now, of D1 Y = D2 phi and adj(D1) X = Y. `kicks`: for kicks alone, so
  /// that the start may be chosen.
  void add_solutions(const LinearSystem& chosen, std::vector<Update>& to, bool kicks);

  /// D unknown = right; where the solver is made for hermitian operators by D adj(D) inner = right.
  void add_solution(const DeterminantFactor& factor, const LinearSystem& chosen, int unknown,
                    int inner, std::vector<Update>& to, bool kicks);

  /// D adj(D) of the arrays from `unknown` on.
  LinearSystem square_system(const LinearSystem& chosen, const DeterminantFactor& factor,
                             int unknown) const;

  /// D unknown = right, or adj(D) unknown = right.
  void add_solve(const DeterminantFactor& factor, const LinearSystem& chosen, bool adjoint,
                 int unknown, int right, std::vector<Update>& to, bool kicks);

  /// `op`: the operator of the system, {0} the name of D.
  LinearSystem system_of(const LinearSystem& chosen, const DeterminantFactor& factor,
                         const char* op) const;

  /// The update that solves the system with this unknown and right side.
  void add_system(LinearSystem system, int unknown, int right, std::vector<Update>& to, bool kicks);

  // ---- fractions as powers ----------------------------------------------------------------------

  Expr number(long double value) const { return arena().real(value); }
  std::size_t fractions() const { return factor_.fraction->action.poles.size(); }

  /// phi = s(D adj(D)) eta, S = <phi, r(D adj(D)) phi>; X_k solves for the pole k of r, and Y_k is
  /// adj(D) X_k: dS = -2 sum_k residue_k Re <X_k, dD Y_k>.
  void add_fraction();

  /// An end of the spectrum of D adj(D) at the links of now, from eta; X is not in use yet. Returns
  /// the name of its scalar.
  std::string add_end(const char* which, int side);

  /// X_k of (D adj(D) + pole_k) X_k = right for all poles, the smallest in the operator itself.
  void add_poles(const LinearSystem& chosen, const algebra::SimpleFractions& f, int right,
                 std::vector<Update>& to);

  /// The same arrays as they are read.
  std::vector<Expr> arrays_of(int first) const;

  /// constant*of + sum_k residue_k X_k.
  std::vector<Expr> summed(const algebra::SimpleFractions& f, int of) const;

  /// The product of the field and `with` at each site, which is kept for the energy.
  Update density(const char* what, int first, const std::vector<Expr>& with) const;

  /// Y_k at all sites.
  void add_image(std::size_t k);

  // ---- roots of hermitian determinants ----------------------------------------------------------

  /// M = a - H H/a at odd sites is hermitian and positive where H^+ = -H, and |det D| is det M but
  /// for a number: S = <phi, M^-1 phi>. phi = (D eta)/sqrt(a) at odd sites, eta at all sites, since
  /// D D^+ = a M there. dS = -Re <X, dD Y>, Y and X lifted from M^-1 phi by D and adj(D).
  void add_root();

  /// D Y = (0, phi): Y is M^-1 phi at odd sites.
  void add_root_solution(const LinearSystem& chosen, std::vector<Update>& to, bool kicks);

  // ---- determinants below the line alone --------------------------------------------------------

  /// S = |D phi|^2 with phi = D^-1 eta; Y = D phi, and dS = 2 Re <Y, dD phi>. At odd sites M stands
  /// for D, and phi and Y are lifted by D and adj(D).
  void add_inverse();

  // ---- earlier solutions ------------------------------------------------------------------------

  /// The arrays of earlier solutions for this unknown, the newest first.
  const std::vector<int>& past_of(int unknown);

  /// Puts the newest solution in front of the earlier ones.
  Update remember(int unknown);

  /// A trajectory begins without earlier solutions, so that it does not depend on what ran before.
  void forget_past() const;

  // ---- S and its derivative ---------------------------------------------------------------------

  /// Adds |Y|^2 of each site to S.
  void add_density() const;

  /// The spinor that begins with this array.
  gauge::SpinorOf spinor_at(int first) const;

  /// The terms of D with links.
  static std::vector<gauge::WordTerm> words_of(const DeterminantFactor& factor);

  static bool same_words(const std::vector<gauge::WordTerm>& a,
                         const std::vector<gauge::WordTerm>& b);

  /// dS = -2 Re <X, dD1 Y> + 2 Re <X, dD2 phi>; one form of Y - phi where D1 and D2 differ at the
  /// sites alone. Fields at odd sites are lifted for each form by its own operator.
  void add_staples() const;

  /// Adds the slope of factor*(Re <left, D right> + scale*log|det R|), spinors by their first
  /// arrays.
  void add_slope(const std::vector<gauge::WordTerm>& words, int left, int right, Expr factor,
                 LogarithmSlope log = {}) const;

  const Motion& d_;
  DeterminantFactor factor_;
  std::optional<DeterminantFactor> below_;
  gauge::LinkOf link_;
  const bool root_;     ///< |det D| by a hermitian M
  const bool inverse_;  ///< 1/|det D|^2
  const std::string name_;
  Pseudofermions& to_;
  DeterminantSlopes& slopes_;
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

}  // namespace vphi::physics
