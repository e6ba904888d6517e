// Derives the System of a model's text, and evaluates and prints expressions.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/derive.hpp"
#include "dsl/resolve.hpp"
#include "dsl/syntax/load.hpp"
#include "dsl/syntax/parse.hpp"

namespace vphi::physics::test {

using algebra::Expr;
using algebra::Op;

struct Derived {
  std::shared_ptr<dsl::Resolved> resolved;
  dsl::Diagnostics diagnostics;
  std::optional<System> system;
  std::string messages() const {
    return dsl::render_text(resolved->diagnostics, resolved->sources()) +
           dsl::render_text(diagnostics, resolved->sources());
  }
};

inline Derived derive_text(const std::string& text, const CompileOptions& options = {},
                           const std::string& name = "model.vphi") {
  Derived out;
  const auto source = std::make_shared<dsl::Source>(name, text);
  dsl::ModelText model = dsl::parse(source, out.diagnostics);
  std::vector<dsl::ModelText> library = dsl::load_library(out.diagnostics);
  if (!options.until.empty()) dsl::apply_end(model, library, options.until, out.diagnostics);
  out.resolved =
      std::make_shared<dsl::Resolved>(dsl::resolve(std::move(model), std::move(library)));
  if (out.diagnostics.has_errors() || out.resolved->diagnostics.has_errors()) return out;
  out.system = derive(*out.resolved, options, out.diagnostics);
  return out;
}

/// The System of a text, which must have no errors.
inline Derived derived(const std::string& text, const CompileOptions& options = {}) {
  Derived out = derive_text(text, options);
  if (!out.system) throw std::runtime_error(out.messages());
  return out;
}

inline const Variable& variable(const System& system, const std::string& name) {
  for (const Variable& v : system.variables) {
    if (v.name == name) return v;
  }
  throw std::runtime_error("no variable " + name);
}

inline const ScalarVariable& scalar(const System& system, const std::string& name) {
  for (const ScalarVariable& v : system.scalars) {
    if (v.symbol == name) return v;
  }
  throw std::runtime_error("no scalar " + name);
}

inline Expr observable(const System& system, const std::string& name) {
  for (const OutputClause& output : system.outputs) {
    for (const Observable& o : output.observables) {
      if (o.name == name) return o.value;
    }
  }
  throw std::runtime_error("no observable " + name);
}

inline Expr load(const System& system, const std::string& name) {
  return system.arena->load(variable(system, name).array);
}

/// Text with the names of the variables.
inline std::string text(const System& system, Expr e) {
  algebra::Names names;
  names.leaf = [&](const algebra::Node& node) -> std::string {
    if (node.op == Op::Load) {
      for (const Variable& v : system.variables) {
        if (v.array == node.index) return v.name;
      }
      return "#" + std::to_string(node.index);
    }
    return node.name;
  };
  return algebra::to_text(e, names);
}

/// The expression for homogeneous fields: averages are values, Laplacians are 0.
inline Expr homogeneous(Expr e) {
  return algebra::rewrite(e, [](Expr node) {
    if (node.is(Op::Mean)) return node.arg(0);
    if (node.is(Op::Stencil)) return node->arena->integer(0);
    return node;
  });
}

/// Values of a small lattice, to evaluate expressions site by site.
class SmallLattice {
 public:
  SmallLattice(const System& system, int n) : system_(system), n_(n) {
    unsigned state = 12345;
    for (const Variable& v : system.variables) {
      auto& values = fields_[v.array];
      for (int i = 0; i < sites(); ++i) {
        state = state * 1664525u + 1013904223u;
        values.push_back(0.3 + (state >> 8) / double(1 << 24));
      }
    }
  }

  int sites() const {
    int count = 1;
    for (int i = 0; i < system_.lattice.dims; ++i) count *= n_;
    return count;
  }

  double& at(int array, int site) { return fields_.at(array)[site]; }
  std::map<std::string, double> symbols;

  /// Per-site value, or a scalar with its reductions taken.
  double value(Expr e, int site = 0) const {
    algebra::Environment environment;
    environment.leaf = [&](const algebra::Node& node) { return leaf(node, site); };
    return algebra::evaluate(reduced(e), environment);
  }

  double mean(Expr e) const {
    double sum = 0;
    for (int i = 0; i < sites(); ++i) sum += value(e, i);
    return sum / sites();
  }

 private:
  /// Reductions replaced by their values.
  Expr reduced(Expr e) const {
    return algebra::rewrite(e, [&](Expr node) {
      if (node.is(Op::Mean)) return node->arena->real(mean(node.arg(0)));
      if (node.is(Op::Total)) return node->arena->real(mean(node.arg(0)) * sites());
      return node;
    });
  }

  /// The number of the neighbour; -1 beyond a fixed wall.
  int moved(int site, const algebra::Offset& o) const {
    int rest = site, result = 0, stride = 1;
    for (int axis = 0; axis < system_.lattice.dims; ++axis) {
      const int raw = rest % n_ + o.d[axis];
      if (system_.lattice.boundary[axis] == Boundary::Fixed && (raw < 0 || raw >= n_)) return -1;
      rest /= n_;
      result += ((raw % n_ + n_) % n_) * stride;
      stride *= n_;
    }
    return result;
  }

  double leaf(const algebra::Node& node, int site) const {
    if (node.op == Op::Load) {
      const int at = moved(site, node.offset);
      return at < 0 ? system_.lattice.fixed_value : fields_.at(node.index)[at];
    }
    if (node.op == Op::Symbol) return symbols.at(node.name);
    if (node.op == Op::Site) {
      int rest = site;
      for (int axis = 0; axis < node.index; ++axis) rest /= n_;
      return rest % n_;
    }
    const algebra::StencilData& s = node.arena->stencil_data(node.index);
    double sum = 0;
    for (std::size_t i = 0; i < s.offsets.size(); ++i) {
      sum += static_cast<double>(s.weights[i]) * value(node.args[0], moved(site, s.offsets[i]));
    }
    return sum / static_cast<double>(s.denominator) * std::pow(system_.lattice.dx, s.dx_power);
  }

  const System& system_;
  int n_;
  std::map<int, std::vector<double>> fields_;
};

}  // namespace vphi::physics::test
