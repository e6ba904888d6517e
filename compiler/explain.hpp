// The derived equations, kernels and costs of a model in readable form: `vphi explain`.
//
// `explain` gathers everything into plain data (strings and numbers, ready for JSON); the printers
// below turn that into text, LaTeX and MathML. Nothing is derived here: equations come from the
// System, costs from the kernels of the Plan, the properties of the Laplacian from its weights.
// Parts that a compilation lacks (the plan where the schedule failed) are empty.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/compile.hpp"

namespace vphi {

/// One formula in three notations.
struct Formula {
  std::string text, latex, mathml;  ///< mathml: one mrow
};

/// A place in a text: the model's, or that of a library file.
struct Origin {
  std::string file;  ///< name of the source; empty: unknown
  int line = 0;
  std::string text;      ///< the line, without leading blanks
  bool library = false;  ///< not a line of the model itself
};

/// One term of a sum and the line it came from.
struct ExplainedTerm {
  Formula formula;
  Origin origin;
};

struct ExplainedEquation {
  Formula left, right;
  Origin origin;
  std::vector<ExplainedTerm> terms;  ///< set where the terms come from more than one line
};

struct ExplainedStencil {
  std::string name;
  int dims = 0;
  int points = 0;          ///< 0: made by transforms
  int order = 0;           ///< error O(dx^order); 0: no Laplacian
  bool isotropic = false;  ///< the leading error is isotropic
  bool symmetric = false;
  std::string problem;  ///< the reason where it is not a Laplacian
  Formula symbol;       ///< k_eff^2 dx^2 of kx, ky, kz, each times dx
  std::string largest;  ///< largest eigenvalue times dx^2: "92/15"
  double largest_value = 0;
  std::vector<double> largest_at;  ///< k dx
  double leapfrog_limit = 0;       ///< dt/dx at a = 1, massless
};

struct ExplainedKernel {
  std::string name, comment;
  std::int64_t sites = 0;
  int loads = 0, stores = 0, bytes = 0, flops = 0, special = 0;
  double floor_ns = 0;  ///< per site, from the bytes; 0: no bandwidth given
  std::vector<std::string> reads, writes;
  std::vector<ExplainedTerm> terms;  ///< of stores and reductions, where a line is known; text only
};

struct Explanation {
  std::string model, title;
  std::vector<ExplainedEquation> physical, program;
  double A = 1, B = 1, s = 0, r = 0;  ///< psi = A a^r phi, B x, d(eta) = B a^s dt
  double dx = 0, dx_physical = 0, dt = 0, dt_physical = 0;
  std::vector<std::pair<std::string, double>> folded;
  std::vector<ExplainedStencil> stencils;
  std::vector<ExplainedKernel> kernels;
  std::vector<std::string> remarks;
};

struct ExplainOptions {
  double bandwidth = 0;  ///< bytes per second of the device; 0: unknown
};

Explanation explain(const Compilation& compilation, const ExplainOptions& options = {});

std::string to_text(const Explanation& explanation);
/// A fragment for a document with amsmath: sections and align environments.
std::string to_latex(const Explanation& explanation);
/// A fragment of HTML with MathML.
std::string to_mathml(const Explanation& explanation);
std::string to_json(const Explanation& explanation);

inline std::string explain_text(const Compilation& c, const ExplainOptions& o = {}) {
  return to_text(explain(c, o));
}
inline std::string explain_latex(const Compilation& c, const ExplainOptions& o = {}) {
  return to_latex(explain(c, o));
}
inline std::string explain_mathml(const Compilation& c, const ExplainOptions& o = {}) {
  return to_mathml(explain(c, o));
}

}  // namespace vphi
