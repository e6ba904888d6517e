// Operations on expressions: derivative, substitution, evaluation, searches.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::algebra {

/// Partial derivative with respect to a leaf (Symbol, or Load with its offset). A Stencil of the
/// leaf's array is an independent quantity, and may itself be the leaf. Inside a reduction only the
/// derivative by a symbol is defined, and not inside Minimum and Maximum; otherwise throws
/// std::invalid_argument.
Expr derivative(Expr expr, Expr leaf);

/// The same with every reduction and sum over pairs held fixed. This is the dependence on the
/// site's own value, if its contribution to the sums is negligible.
Expr local_derivative(Expr expr, Expr leaf);

/// d/du(x) of the sum over all sites of `density`, u being `array`: the partial derivatives at each
/// offset (of Loads and of Stencils), shifted back. docs/rules.md rule 15. For a Total the density
/// is its argument. A stencil of a stencil throws std::invalid_argument.
Expr variation(Expr density, int array);

/// The expression with every read shifted by `offset` (Loads, arguments of Stencils, and
/// coordinates, which are not wrapped).
Expr shift(Expr expr, Offset offset);

/// Replaces subtrees, from the leaves up, and simplifies.
Expr substitute(Expr expr, const std::unordered_map<const Node*, Expr>& what);
Expr substitute(Expr expr, Expr from, Expr to);

/// Substitution in several expressions, one after the other; common parts are rebuilt once.
class Substitution {
 public:
  /// Adds a replacement. No expression before may have contained `from`.
  void add(Expr from, Expr to) { done_.insert_or_assign(from.get(), to); }
  Expr operator()(Expr expr);

 private:
  std::unordered_map<const Node*, Expr> done_;
};

/// Rebuilds the expression; `rewrite` is applied to each node after its arguments.
Expr rewrite(Expr expr, const std::function<Expr(Expr)>& rewrite);
/// The same for several expressions; common parts are rebuilt once.
std::vector<Expr> rewrite(std::span<const Expr> exprs, const std::function<Expr(Expr)>& rewrite);

/// Visits each distinct node once, arguments first.
void visit(Expr expr, const std::function<void(Expr)>& see);
/// The same for several expressions: a node that they share is visited once, with the first of
/// them.
void visit(std::span<const Expr> roots, const std::function<void(Expr root, Expr)>& see);
bool contains(Expr expr, const std::function<bool(Expr)>& test);
bool contains(std::span<const Expr> exprs, const std::function<bool(Expr)>& test);
bool depends_on(Expr expr, Expr leaf);
/// The Loads (and Stencils of Loads) an expression reads, without repetition, by creation order.
std::vector<Expr> reads(Expr expr);
std::vector<Expr> reads(std::span<const Expr> exprs);
/// Whether it is a per-site value: it contains a Load or Site that is not inside a reduction.
bool per_site(Expr expr);

/// Expands products of sums and integer powers of sums.
Expr expand(Expr expr);
/// Coefficients of expr as a polynomial in `x`: [c0, c1, ...]; nothing where it is not one.
std::optional<std::vector<Expr>> polynomial(Expr expr, Expr x, int max_degree = 12);
/// The number, where the expression is a constant after folding.
std::optional<Number> constant(Expr expr);

/// Value with leaves from the callbacks; reductions and unknown leaves throw std::invalid_argument.
struct Environment {
  std::function<double(const Node&)> leaf;  ///< Symbol, Load, Site, Stencil (whole node)
};
double evaluate(Expr expr, const Environment& environment);
/// The same with a 64-bit mantissa.
long double evaluate_long(Expr expr, const std::function<long double(const Node&)>& leaf);

// ---- printers ---------------------------------------------------------------------------------
/// Names of leaves: array number -> name, symbol -> name.
struct Names {
  std::function<std::string(const Node&)> leaf;
};
std::string to_text(Expr expr, const Names& names = {});
std::string to_latex(Expr expr, const Names& names = {});
std::string to_mathml(Expr expr, const Names& names = {});
/// The same as one mrow, without the element `math`.
std::string to_mathml_row(Expr expr, const Names& names = {});

}  // namespace vphi::algebra
