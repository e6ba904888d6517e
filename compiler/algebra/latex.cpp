#include "compiler/algebra/layout.hpp"
namespace vphi::algebra {
std::string to_latex(Expr e, const Names& n) { return to_text(e, n); }
std::string to_mathml(Expr e, const Names& n) { return to_text(e, n); }
}  // namespace vphi::algebra
