// What is done with expressions: derivative, substitution, evaluation, searches.
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

/// Partial derivative with respect to a leaf (Symbol, or Load with its offset).
/// A Stencil of the leaf's own array is an independent quantity here, and may itself be the leaf.
/// Through a reduction only symbols can be varied, and not through Minimum and Maximum: throws
/// std::invalid_argument.
Expr derivative(Expr expr, Expr leaf);

/// The same with every reduction and sum over pairs held fixed: the dependence on the site's own
/// value where its share in the sums is small.
Expr local_derivative(Expr expr, Expr leaf);

/// d/du(x) of the sum over all sites of `density`, u being `array`: the partial derivatives at each
/// offset (explicit loads and stencils alike), shifted back. docs/rules.md rule 15. A density that
/// is a Total is its argument. A stencil of a stencil throws std::invalid_argument.
Expr variation(Expr density, int array);

/// Every read moved by `offset` (loads, stencil arguments; the coordinates with them, not wrapped).
Expr shift(Expr expr, Offset offset);

/// Replaces whole subtrees, bottom up, and simplifies again.
Expr substitute(Expr expr, const std::unordered_map<const Node*, Expr>& what);
Expr substitute(Expr expr, Expr from, Expr to);

/// Substitution in one expression after another: what they share is rebuilt once.
class Substitution {
 public:
  /// From here on `to` stands for `from`, which no expression before may have held.
  void add(Expr from, Expr to) { done_.insert_or_assign(from.get(), to); }
  Expr operator()(Expr expr);

 private:
  std::unordered_map<const Node*, Expr> done_;
};

/// Rebuilds the expression, each node passed through `rewrite` after its children.
Expr rewrite(Expr expr, const std::function<Expr(Expr)>& rewrite);
/// The same for several expressions: what they share is rebuilt once.
std::vector<Expr> rewrite(std::span<const Expr> exprs, const std::function<Expr(Expr)>& rewrite);

/// Visits each distinct node once, children first.
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
/// Has a Load or Site below it that is not inside a reduction: a value per site.
bool per_site(Expr expr);

/// Expanded over sums: products of sums multiplied out, integer powers of sums too.
Expr expand(Expr expr);
/// Coefficients of expr as a polynomial in `x`: [c0, c1, ...]; nothing where it is not one.
std::optional<std::vector<Expr>> polynomial(Expr expr, Expr x, int max_degree = 12);
/// Number where the expression is a constant, after folding.
std::optional<Number> constant(Expr expr);

/// Value with leaves from the callbacks; reductions and unknown leaves throw std::invalid_argument.
struct Environment {
  std::function<double(const Node&)> leaf;  ///< Symbol, Load, Site, Stencil (whole node)
};
double evaluate(Expr expr, const Environment& environment);
/// The same with a 64-bit mantissa.
long double evaluate_long(Expr expr, const std::function<long double(const Node&)>& leaf);

// ---- printers ---------------------------------------------------------------------------------
/// How leaves are named: array number -> name, symbol -> name.
struct Names {
  std::function<std::string(const Node&)> leaf;
};
std::string to_text(Expr expr, const Names& names = {});
std::string to_latex(Expr expr, const Names& names = {});
std::string to_mathml(Expr expr, const Names& names = {});
/// The same as one mrow, without the math element around it.
std::string to_mathml_row(Expr expr, const Names& names = {});

}  // namespace vphi::algebra
