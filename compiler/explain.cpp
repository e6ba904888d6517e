#include "compiler/explain.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <unordered_map>

#include "compiler/algebra/names.hpp"
#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/stages/declared.hpp"

namespace vphi {
namespace {

using algebra::Expr;
using algebra::Op;

/// Values that occur at several places of long equations: a list that prints each of them once. The
/// derived equations of a viscous fluid are 6 MB without it.
class Parts {
 public:
  /// `roots`: the right sides; `taken`: whether a leaf has this name.
  Parts(const std::vector<Expr>& roots, const std::function<bool(const std::string&)>& taken) {
    std::unordered_map<const algebra::Node*, int> uses;
    std::unordered_map<const algebra::Node*, double> whole, own;  // operations, parts counted as 1
    std::vector<Expr> nodes;
    for (Expr root : roots) {
      ++uses[root.get()];
      algebra::visit(root, [&](Expr node) {
        if (!whole.emplace(node.get(), 0).second) return;
        nodes.push_back(node);
        for (Expr arg : node.args()) ++uses[arg.get()];
      });
    }
    std::ranges::sort(nodes, {}, [](Expr node) { return node->id; });
    for (Expr node : nodes) {
      double& size = whole[node.get()] = 1;
      for (Expr arg : node.args()) size += whole[arg.get()];
    }
    double all = 0;
    for (Expr root : roots) all += whole[root.get()];
    if (all < kLong) return;
    for (Expr node : nodes) {
      double& size = own[node.get()] = 1;
      for (Expr arg : node.args()) size += own[arg.get()];
      const bool inner =
          node.is(Op::Neg) || node.is(Op::Stencil) || algebra::is_condition(node.op());
      if (uses[node.get()] < 2 || size < kPart || inner) continue;
      std::string name;
      do name = "part_" + std::to_string(++count_);
      while (taken(name));
      list.emplace_back(name, named_(node));
      named_.add(node, node->arena->symbol(name));
      size = 1;
    }
  }

  Expr operator()(Expr e) { return named_(e); }

  std::vector<std::pair<std::string, Expr>> list;  ///< each of leaves and those before it

 private:
  static constexpr double kLong = 2000;  ///< operations of all equations from which parts are named
  static constexpr double kPart = 8;     ///< operations of a part

  algebra::Substitution named_;
  int count_ = 0;
};

class Gatherer {
 public:
  explicit Gatherer(const Compilation& compilation)
      : compilation_(compilation), sources_(compilation.resolved.sources()) {}

  /// The names of arrays as the user wrote them.
  algebra::Names names() const {
    return {[this](const algebra::Node& node) -> std::string {
      if (node.op != Op::Load || !compilation_.system) return "";
      if (physics::is_gradient(node.index)) {
        for (const physics::Variable& v : compilation_.system->variables) {
          if (physics::gradient_of(v.array) == node.index) {
            return "norm2(grad(" + (program_units_ ? v.name : v.shown) + "))";
          }
        }
      }
      for (const physics::Variable& v : compilation_.system->variables) {
        if (v.array == node.index) return program_units_ ? v.name : v.shown;
      }
      if (const auto& laws = compilation_.system->conservation) {
        for (const physics::Derived& value : laws->recovered) {
          if (value.array == node.index) return value.name;
        }
      }
      return "";
    }};
  }

  Formula formula(Expr e) const {
    const algebra::Names n = names();
    return {algebra::to_text(e, n), algebra::to_latex(e, n), algebra::to_mathml_row(e, n)};
  }

  Origin origin(dsl::Span span) const {
    if (span.empty() || span.file >= sources_.size() || !sources_[span.file]) return {};
    const dsl::Source& source = *sources_[span.file];
    const int line = source.position(span.begin).line;
    std::string text(source.line(line));
    text.erase(0, text.find_first_not_of(" \t"));
    return {source.name(), line, text, span.file != 0};
  }

  /// The terms of a sum with the lines they came from.
  std::vector<ExplainedTerm> terms(Expr e, bool typeset = true) const {
    std::vector<Expr> parts{e};
    if (e.is(Op::Add) || e.is(Op::Sub)) parts.assign(e.args().begin(), e.args().end());
    std::vector<ExplainedTerm> result;
    for (Expr part : parts) {
      const Formula f = typeset ? formula(part) : Formula{algebra::to_text(part, names()), "", ""};
      // a field by itself occurs in many places: its first one is not the origin of the term
      result.push_back({f, part.args().empty() ? Origin{} : origin(part->span)});
    }
    return result;
  }

  ExplainedEquation equation(const physics::ShownEquation& shown) const {
    ExplainedEquation e{left_side(shown.left), formula(shown.right), origin(shown.span), {}};
    auto parts = terms(shown.right);
    std::set<int> lines;
    for (const ExplainedTerm& t : parts) lines.insert(t.origin.line);
    if (lines.size() > 1 || (lines.size() == 1 && *lines.begin() != e.origin.line)) {
      e.terms = std::move(parts);
    }
    return e;
  }

  /// All equations; where they are long, with what they share behind them as equations of its own.
  std::vector<ExplainedEquation> equations(std::vector<physics::ShownEquation> list) const {
    std::vector<Expr> roots;
    std::set<std::string> taken;
    const algebra::Names n = names();
    for (const physics::ShownEquation& shown : list) {
      roots.push_back(shown.right);
      algebra::visit(shown.right, [&](Expr node) {
        if (!node.args().empty()) return;
        taken.insert(node.is(Op::Symbol) ? node->name : n.leaf(*node));
      });
    }
    Parts parts(roots, [&](const std::string& name) { return taken.contains(name); });
    std::vector<ExplainedEquation> result;
    for (physics::ShownEquation& shown : list) {
      shown.right = parts(shown.right);
      result.push_back(equation(shown));
    }
    for (const auto& [name, value] : parts.list)
      result.push_back({left_side(name), formula(value), origin(value->span), {}});
    return result;
  }

  void program_units() { program_units_ = true; }

 private:
  /// "phi''", "H^2" or "d(x)/d(eta)".
  static Formula left_side(const std::string& text) {
    const auto between = [&](std::size_t from, std::size_t to) {
      return text.substr(from, to - from);
    };
    const std::size_t over = text.find(")/d(");
    if (text.starts_with("d(") && over != std::string::npos && text.back() == ')') {
      const std::string above = between(2, over), below = between(over + 4, text.size() - 1);
      return {text,
              "\\frac{d " + algebra::latex_name(above) + "}{d " + algebra::latex_name(below) + "}",
              "<mfrac><mrow><mi>d</mi>" + algebra::mathml_name(above) + "</mrow><mrow><mi>d</mi>" +
                  algebra::mathml_name(below) + "</mrow></mfrac>"};
    }
    if (const std::size_t hat = text.find('^'); hat != std::string::npos) {
      const std::string base = between(0, hat), exponent = text.substr(hat + 1);
      return {text, algebra::latex_name(base) + "^{" + exponent + "}",
              "<msup>" + algebra::mathml_name(base) + "<mn>" + exponent + "</mn></msup>"};
    }
    return {text, algebra::latex_name(text), algebra::mathml_name(text)};
  }

  const Compilation& compilation_;
  dsl::Sources sources_;
  bool program_units_ = false;
};

ExplainedStencil explain_stencil(const algebra::StencilData& data) {
  ExplainedStencil s;
  s.name = data.name;
  s.dims = data.dims;
  s.points = data.spectral ? 0 : static_cast<int>(data.offsets.size());
  s.symmetric = algebra::is_symmetric(data);
  const algebra::Consistency c = algebra::consistency(data);
  s.order = c.laplacian && !data.spectral ? c.order : 0;
  s.isotropic = c.isotropic || data.spectral;
  s.problem = c.error;

  algebra::Arena arena;
  const Expr symbol = algebra::symbol(arena, data);
  const algebra::Names typeset{[](const algebra::Node& n) {
    return n.op == Op::Symbol ? "k_" + n.name.substr(1) : std::string();
  }};
  s.symbol = {algebra::to_text(symbol), algebra::to_latex(symbol, typeset),
              algebra::to_mathml_row(symbol, typeset)};

  const algebra::LargestEigenvalue largest = algebra::largest_eigenvalue(data);
  s.largest_value = largest.value;
  s.largest = largest.exact
                  ? algebra::to_text(arena.rational(largest.rational.num, largest.rational.den))
                  : algebra::to_text(arena.real(largest.value));
  s.largest_at.assign(largest.at.begin(), largest.at.begin() + data.dims);
  // leapfrog: omega dt < 2 with omega^2 = k_eff^2 <= largest/dx^2
  if (largest.value > 0) s.leapfrog_limit = 2 / std::sqrt(largest.value);
  return s;
}

ExplainedKernel explain_kernel(const kernel::Kernel& k, const Gatherer& gather, double bandwidth) {
  ExplainedKernel e;
  e.name = k.name;
  e.comment = k.comment;
  e.sites = k.sites();
  const kernel::Cost cost = kernel::cost(k);
  e.loads = cost.loads;
  e.stores = cost.stores;
  e.bytes = cost.bytes;
  e.flops = cost.flops;
  e.special = cost.special;
  if (bandwidth > 0) e.floor_ns = cost.bytes / bandwidth * 1e9;
  for (const kernel::ArrayParam& a : k.arrays) {
    if (a.read) e.reads.push_back(a.name);
    if (a.written) e.writes.push_back(a.name);
  }
  const auto add = [&](Expr value) {
    for (ExplainedTerm& term : gather.terms(value, false)) {
      if (term.origin.line > 0) e.terms.push_back(std::move(term));
    }
  };
  for (const kernel::Store& store : k.stores) add(store.value);
  for (const kernel::Reduction& reduction : k.reductions) add(reduction.value);
  return e;
}

}  // namespace

Explanation explain(const Compilation& compilation, const ExplainOptions& options) {
  Explanation result;
  result.model = compilation.resolved.model.name;
  result.title = compilation.resolved.model.title;
  Gatherer gather(compilation);

  if (const auto& system = compilation.system) {
    result.physical = gather.equations(system->physical);
    gather.program_units();
    result.program = gather.equations(system->program);
    result.A = system->A;
    result.B = system->B;
    result.s = system->s;
    result.r = system->r;
    result.dx = system->lattice.dx;
    result.dx_physical = system->lattice.dx_physical;
    result.dt = system->dt;
    result.dt_physical = system->dt_physical;
    result.folded = system->folded;
    result.remarks = system->remarks;
    if (system->laplacian >= 0) {
      const auto& data = system->arena->stencil_data(system->laplacian);
      result.stencils.push_back(explain_stencil(data));
    }
  }
  if (const auto& plan = compilation.plan) {
    for (const kernel::Kernel& k : plan->kernels) {
      result.kernels.push_back(explain_kernel(k, gather, options.bandwidth));
    }
    result.remarks.insert(result.remarks.end(), plan->remarks.begin(), plan->remarks.end());
  }
  return result;
}

}  // namespace vphi
