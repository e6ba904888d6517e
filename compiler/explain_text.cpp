// The explanation as text, LaTeX, HTML with MathML, and JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <set>

#include "compiler/explain.hpp"

namespace vphi {
namespace {

std::string place(const Origin& o) {
  if (o.line == 0) return "";
  return fmt::format("{}line {}: {}", o.library ? o.file + " " : "", o.line, o.text);
}

/// A phase as text: pi, pi/2, 1.2345.
std::string phase(double x) {
  const double quarter = x / std::numbers::pi * 2;
  if (std::fabs(quarter - std::round(quarter)) > 1e-9) return fmt::format("{:.5g}", x);
  switch (static_cast<int>(std::round(quarter))) {
    case 0:
      return "0";
    case 1:
      return "pi/2";
    case 2:
      return "pi";
    default:
      return fmt::format("{:.5g}", x);
  }
}

std::string wave_vector(const ExplainedStencil& s) {
  std::string text = "(";
  for (std::size_t i = 0; i < s.largest_at.size(); ++i) {
    if (i > 0) text += ", ";
    text += phase(s.largest_at[i]);
  }
  return text + ")";
}

void equations(std::string& out, const std::vector<ExplainedEquation>& list) {
  for (const ExplainedEquation& e : list) {
    out += fmt::format("  {} = {}\n", e.left.text, e.right.text);
    std::size_t width = 0;
    for (const ExplainedTerm& t : e.terms) width = std::max(width, t.formula.text.size());
    width = std::min<std::size_t>(width, 60);
    for (const ExplainedTerm& t : e.terms) {
      if (t.origin.line == 0) continue;
      out += fmt::format("      {:<{}}  {}\n", t.formula.text, width, place(t.origin));
    }
  }
}

/// "sweep: reads phi, chi; writes phi; from lines 10, 11"
std::string traffic(const ExplainedKernel& k) {
  std::vector<std::string> parts;
  if (!k.reads.empty()) parts.push_back(fmt::format("reads {}", fmt::join(k.reads, ", ")));
  if (!k.writes.empty()) parts.push_back(fmt::format("writes {}", fmt::join(k.writes, ", ")));
  std::set<int> lines;
  for (const ExplainedTerm& t : k.terms) {
    if (!t.origin.library) lines.insert(t.origin.line);
  }
  if (!lines.empty()) {
    parts.push_back(
        fmt::format("from line{} {}", lines.size() > 1 ? "s" : "", fmt::join(lines, ", ")));
  }
  if (parts.empty()) parts.push_back("scalars only");
  return fmt::format("  {}: {}\n", k.name, fmt::join(parts, "; "));
}

std::string quality(const ExplainedStencil& s) {
  if (s.order == 0) return "not a Laplacian: " + s.problem;
  return fmt::format("order {}, leading error {}", s.order,
                     s.isotropic ? "isotropic" : "depends on the direction");
}

}  // namespace

std::string to_text(const Explanation& e) {
  std::string out = e.title.empty() ? e.model + "\n" : fmt::format("{}: {}\n", e.model, e.title);
  if (!e.physical.empty()) {
    out += "\nEquations, physical units (' is the derivative by physical time)\n";
    equations(out, e.physical);
  }
  if (!e.program.empty()) {
    out += fmt::format(
        "\nEquations, program units: psi = A*{}phi, lengths times B, d(eta) = B*a^s*dt\n",
        e.r == 0 ? "" : "a^r*");
    out += fmt::format("  A = {:.9g}, B = {:.9g}, s = {:.9g}", e.A, e.B, e.s);
    out += e.r == 0 ? "\n" : fmt::format(", r = {:.9g}\n", e.r);
    equations(out, e.program);
  }
  if (e.dx > 0) {
    out += fmt::format("  dx = {:.9g} ({:.9g} physical)", e.dx, e.dx_physical);
    if (e.dt > 0) out += fmt::format(", dt = {:.9g} ({:.9g} physical)", e.dt, e.dt_physical);
    out += '\n';
  }
  if (!e.folded.empty()) {
    out += "\nFolded into constants\n";
    for (const auto& [name, value] : e.folded) out += fmt::format("  {} = {}\n", name, value);
  }
  for (const ExplainedStencil& s : e.stencils) {
    out += s.points > 0
               ? fmt::format("\nLaplacian {}: {} points, {}\n", s.name, s.points, quality(s))
               : fmt::format("\nLaplacian {}: exact for every wave, by transforms\n", s.name);
    out += fmt::format("  k_eff^2*dx^2 = {}\n", s.symbol.text);
    out += fmt::format("  largest value {} = {:.6g} at k*dx = {}\n", s.largest, s.largest_value,
                       wave_vector(s));
    out +=
        fmt::format("  leapfrog is stable for dt < {:.5g}*dx (massless, a = 1)", s.leapfrog_limit);
    if (e.dt > 0 && e.dx > 0) out += fmt::format("; here dt = {:.5g}*dx", e.dt / e.dx);
    out += '\n';
  }
  if (!e.kernels.empty()) {
    out += "\nKernels, per site\n";
    out += fmt::format("  {:<18} {:>6} {:>6} {:>6} {:>6} {:>8} {:>9}\n", "", "loads", "stores",
                       "bytes", "flops", "special", "floor ns");
    for (const ExplainedKernel& k : e.kernels) {
      const std::string floor = k.floor_ns > 0 ? fmt::format("{:.4f}", k.floor_ns) : "-";
      out += fmt::format("  {:<18} {:>6} {:>6} {:>6} {:>6} {:>8} {:>9}\n", k.name, k.loads,
                         k.stores, k.bytes, k.flops, k.special, floor);
    }
    out += '\n';
    for (const ExplainedKernel& k : e.kernels) out += traffic(k);
  }
  if (!e.remarks.empty()) {
    out += "\nRemarks\n";
    for (const std::string& r : e.remarks) out += "  " + r + "\n";
  }
  return out;
}

std::string to_latex(const Explanation& e) {
  std::string out;
  const auto section = [&](const char* title, const std::vector<ExplainedEquation>& list) {
    if (list.empty()) return;
    out += fmt::format("\\subsection*{{{}}}\n\\begin{{align*}}\n", title);
    for (std::size_t i = 0; i < list.size(); ++i) {
      out += fmt::format("  {} &= {}{}\n", list[i].left.latex, list[i].right.latex,
                         i + 1 < list.size() ? " \\\\" : "");
    }
    out += "\\end{align*}\n";
  };
  section("Equations in physical units", e.physical);
  if (!e.program.empty()) {
    section("Equations in program units", e.program);
    out += fmt::format("with $A = {:.9g}$, $B = {:.9g}$, $s = {:.9g}$.\n", e.A, e.B, e.s);
  }
  for (const ExplainedStencil& s : e.stencils) {
    out += "\\subsection*{Laplacian}\n\\begin{align*}\n";
    out += fmt::format("  k_{{\\mathrm{{eff}}}}^{{2}}\\,\\Delta x^{{2}} &= {}\n", s.symbol.latex);
    out += fmt::format("\\end{{align*}}\nwith the largest value ${}$.\n", s.largest);
  }
  return out;
}

std::string to_mathml(const Explanation& e) {
  std::string out;
  const auto show = [&](const Formula& left, const Formula& right) {
    out += fmt::format(
        "<math xmlns=\"http://www.w3.org/1998/Math/MathML\" display=\"block\"><mrow>{}<mo>=</mo>{}"
        "</mrow></math>\n",
        left.mathml, right.mathml);
  };
  const auto section = [&](const char* title, const std::vector<ExplainedEquation>& list) {
    if (list.empty()) return;
    out += fmt::format("<h3>{}</h3>\n", title);
    for (const ExplainedEquation& equation : list) show(equation.left, equation.right);
  };
  section("Equations in physical units", e.physical);
  section("Equations in program units", e.program);
  for (const ExplainedStencil& s : e.stencils) {
    out += "<h3>Laplacian</h3>\n";
    const std::string k2 = "<msubsup><mi>k</mi><mtext>eff</mtext><mn>2</mn></msubsup>";
    const std::string dx2 = "<msup><mrow><mi>Δ</mi><mi>x</mi></mrow><mn>2</mn></msup>";
    show({"", "", k2 + dx2}, s.symbol);
  }
  return out;
}

std::string to_json(const Explanation& e) {
  using nlohmann::json;
  const auto formula = [](const Formula& f) {
    return json{{"text", f.text}, {"latex", f.latex}, {"mathml", f.mathml}};
  };
  const auto origin = [](const Origin& o) {
    if (o.line == 0) return json(nullptr);
    return json{{"file", o.file}, {"line", o.line}, {"text", o.text}};
  };
  const auto terms = [&](const std::vector<ExplainedTerm>& list) {
    json all = json::array();
    for (const ExplainedTerm& t : list) {
      all.push_back({{"term", formula(t.formula)}, {"origin", origin(t.origin)}});
    }
    return all;
  };
  const auto equations_of = [&](const std::vector<ExplainedEquation>& list) {
    json all = json::array();
    for (const ExplainedEquation& q : list) {
      all.push_back({{"left", formula(q.left)},
                     {"right", formula(q.right)},
                     {"origin", origin(q.origin)},
                     {"terms", terms(q.terms)}});
    }
    return all;
  };
  json stencils = json::array(), kernels = json::array(), folded = json::object();
  for (const auto& [name, value] : e.folded) folded[name] = value;
  for (const ExplainedStencil& s : e.stencils) {
    stencils.push_back({{"name", s.name},
                        {"points", s.points},
                        {"order", s.order},
                        {"isotropic", s.isotropic},
                        {"symmetric", s.symmetric},
                        {"symbol", formula(s.symbol)},
                        {"largest", s.largest},
                        {"largest_value", s.largest_value},
                        {"largest_at", s.largest_at},
                        {"leapfrog_limit", s.leapfrog_limit}});
  }
  for (const ExplainedKernel& k : e.kernels) {
    kernels.push_back({{"name", k.name},
                       {"comment", k.comment},
                       {"sites", k.sites},
                       {"loads", k.loads},
                       {"stores", k.stores},
                       {"bytes", k.bytes},
                       {"flops", k.flops},
                       {"special", k.special},
                       {"floor_ns", k.floor_ns},
                       {"reads", k.reads},
                       {"writes", k.writes},
                       {"terms", terms(k.terms)}});
  }
  const json all{{"model", e.model},
                 {"title", e.title},
                 {"physical", equations_of(e.physical)},
                 {"program", equations_of(e.program)},
                 {"units", {{"A", e.A}, {"B", e.B}, {"s", e.s}, {"r", e.r}}},
                 {"dx", e.dx},
                 {"dx_physical", e.dx_physical},
                 {"dt", e.dt},
                 {"dt_physical", e.dt_physical},
                 {"folded", folded},
                 {"stencils", stencils},
                 {"kernels", kernels},
                 {"remarks", e.remarks}};
  return all.dump(2);
}

}  // namespace vphi
