// Prints formulas: signs, fractions, roots and the order of factors as in a textbook. One walk over
// the expression (notation.cpp) serves all notations; a notation (text.cpp, latex.cpp, mathml.cpp)
// defines the text of each construct.
//
// Shared subexpressions are printed wherever they occur, so the text can be much longer than the
// graph. Below a depth of 100 and after 20000 nodes an ellipsis is printed instead.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/algebra/transform.hpp"

namespace vphi::algebra {

/// Precedence of the operator of a printed piece, lowest first.
enum class Binding { Select, Or, And, Not, Compare, Sum, Minus, Product, Power, Atom };

struct Piece {
  std::string text;
  Binding binding = Binding::Atom;
  std::size_t exponent_at = 0;  ///< position of an exponent that is not at the end: sin^2(x)
};

/// One notation. All arguments are printed pieces.
class Notation {
 public:
  virtual ~Notation() = default;
  virtual std::string digits(const std::string& number) const = 0;  ///< "12", "1.5e-7"
  virtual std::string name(const std::string& symbol) const = 0;
  virtual std::string parentheses(const std::string& inner) const = 0;
  virtual std::string minus(const std::string& term) const = 0;
  /// first + second - third; `minus[i]`: whether term i is subtracted.
  virtual std::string sum(const std::vector<std::string>& terms,
                          const std::vector<bool>& minus) const = 0;
  virtual std::string product(const std::vector<std::string>& factors) const = 0;
  virtual Piece fraction(const Piece& above, const Piece& below) const = 0;
  virtual Piece power(const Piece& base, const Piece& exponent) const = 0;
  virtual Piece root(const Piece& inner) const = 0;
  virtual Piece call(Op op, const std::vector<std::string>& args) const = 0;
  virtual std::string compare(Op op, const std::string& a, const std::string& b) const = 0;
  virtual Piece select(const Piece& condition, const Piece& value,
                       const Piece& otherwise) const = 0;
  virtual Piece stencil(const StencilData& data, const Piece& argument) const = 0;
  /// A field at a neighbouring site; `field` is a finished name.
  virtual std::string neighbour(const std::string& field, const Offset& offset) const = 0;
  virtual std::string ellipsis() const = 0;
  /// Whether fractions are stacked (LaTeX, MathML), not written with a slash.
  virtual bool stacked() const = 0;
};

Piece lay_out(Expr expr, const Names& names, const Notation& notation);

/// "x", "-y" for a step along one axis, "(1,0,-1)" else.
std::string direction(const Offset& offset);

/// A value as the shortest decimal that gives the same double.
std::string shortest(long double value);

}  // namespace vphi::algebra
