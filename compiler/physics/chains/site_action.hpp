// The action as one site sees it, for chains that update fields site by site.
//
// The action is a sum over sites of a density, S = sum_x s(x), which reads the site and its
// neighbours. Multiplied out, it is a sum of terms. A term with a field at the offsets o_1 ... o_n
// is part of S once for each of them as a function of the field at one site x: at the sites x -
// o_i. The sum of these is `at_site`; S changes by its change when the field changes at x alone.
// Sites whose separation is o_i - o_j share a term: the distribution of one depends on the other,
// and they are not updated at the same time (compiler/gauge/colouring.hpp). Everything is exact,
// also where neighbours are one site because the box is small. Nothing here fails.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/physics/stages/motion.hpp"

namespace vphi::physics {

class SiteAction {
 public:
  /// `density` as read_actions gives it (loop_actions.hpp). The box is periodic, antiperiodic
  /// for fields whose signs the density does not see (`even`), or twisted for fields whose phases
  /// it does not see (check_twists).
  SiteAction(const Motion& d, Expr density);

  /// The terms that hold the field at this site. The field is read at this site by loads without
  /// an offset, and its neighbours by others; null where no term holds it.
  Expr at_site(const StateField& field) const;
  /// Whether the density is the same after a change of the sign of all fields that are antiperiodic
  /// along the axis. The term of a site beyond the edge is then that of the site at the other end.
  bool even(int axis) const;
  /// Separations of sites that share a term, each with its negative, none twice.
  std::vector<algebra::Offset> conflicts(const StateField& field) const;

 private:
  /// Offsets at which the term reads the field, each site of the box once.
  std::vector<algebra::Offset> offsets(Expr term, const StateField& field) const;
  /// A part of the field at the end of the way, which leads back to the site: with the sign and the
  /// phase that the field has there.
  Expr after(const StateField& field, int array, algebra::Offset way) const;
  /// Whether the offset leads back to the site, around the box.
  bool returns(algebra::Offset offset) const;
  /// The offset, where turns around axes with shifted ends have moved along the others.
  std::array<std::int64_t, 4> unwound(algebra::Offset offset) const;

  const Motion& d_;
  std::vector<Expr> terms_;
};

}  // namespace vphi::physics
