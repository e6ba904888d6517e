// How the value of a field at one site may change, and by how much that changes the action.
//
// Values are those of the field's arrays at the site, in their order. `S` below is the action as a
// function of them (SiteAction::at_site). Everything is an expression for the kernel, which has no
// branch. Nothing here fails: what the action does not allow is said with a reason.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/physics/chains/draws.hpp"
#include "compiler/physics/stages/declared.hpp"

namespace vphi::physics {

class SiteChange {
 public:
  /// `here`: S, with the present values as loads. `period`: of an angle, else 0.
  SiteChange(Arena& arena, const StateField& field, Expr here, double period);

  /// The values as they are in memory.
  std::vector<Expr> present() const;

  /// A proposal, as likely as its reverse. Of discrete values it is any other one. Else normal
  /// numbers of the width are added; an angle is brought back into its period, a vector with a norm
  /// to its length (the result depends on the angle between both alone). `width` may be null for
  /// discrete values.
  std::vector<Expr> proposed(const std::vector<Expr>& now, Expr width, Draws& draws) const;

  /// S(after) - S(before). A polynomial in one number is taken power by power, so that what does
  /// not depend on it drops out.
  Expr increase(const std::vector<Expr>& before, const std::vector<Expr>& after) const;

  /// A discrete value drawn with its weight exp(-S), whatever the present one is.
  Expr heatbath(Draws& draws) const;

  /// Of discrete values in the order of S, equal ones as they are listed, the one after or the one
  /// before: (0, 1), (2, 3), ... are pairs, or (1, 2), (3, 4), ... with the same probability. The
  /// change is as likely as its reverse, and taken with min(1, exp(-change of S)). The two values
  /// on both sides of a local field are such a pair, and values with one S.
  Expr reordered(Draws& draws) const;

  /// Values drawn with the weight exp(-S), whatever the present ones are: a normal number where S
  /// is quadratic; an angle with S = R cos(u - c) + const, or a vector of two components with a
  /// norm and S = h.n + const, from von Mises's distribution by `tries` proposals (where none is
  /// accepted, the value stays); a vector of three with a norm from its distribution on the sphere;
  /// of more components, three after three at the length that they have. `how` and `why` as below.
  std::optional<std::vector<Expr>> drawn(int tries, Draws& draws, std::string& how,
                                         std::string& why) const;

  /// The values with the same S on the other side: u - 2 S'/S'' of a quadratic S; the mirror of an
  /// angle in the direction where S = R cos(u - c) + const is least; of a vector n with a norm and
  /// S = h.n + const the vector 2 (n.h) h/h^2 - n. `how` says which; nothing, with `why`, where S
  /// has none of these forms.
  std::optional<std::vector<Expr>> mirrored(std::string& how, std::string& why) const;

 private:
  /// S with these values.
  Expr at(const std::vector<Expr>& values) const;
  /// S of one value, up to what no value changes.
  Expr level(Expr value) const;
  /// A value modulo the period.
  Expr in_period(Expr value) const;
  /// Whether the present values are inside of something without a derivative.
  bool breaks() const;
  std::optional<std::vector<Expr>> mirrored_angle(std::string& how, std::string& why) const;
  std::optional<std::vector<Expr>> mirrored_vector(std::string& how, std::string& why) const;
  /// S' and S'' of an angle where S = R cos(u - c) + const.
  std::optional<std::pair<Expr, Expr>> slopes_of_angle(std::string& why) const;
  /// h where S = h.n + const for a vector n.
  std::optional<std::vector<Expr>> field_at_vector(std::string& why) const;
  /// S' of each component and S'' where S = S''*u^2/2 + something linear.
  struct Quadratic {
    std::vector<Expr> slope;
    Expr curvature;
  };
  std::optional<Quadratic> quadratic(std::string& why) const;
  std::vector<Expr> with_norm(std::vector<Expr> values) const;

  Arena& arena_;
  const StateField& field_;
  Expr here_;
  double period_;
  /// Coefficients of S as a polynomial in the only array; empty where it is none.
  std::vector<Expr> powers_;
};

}  // namespace vphi::physics
