#include "compiler/physics/spinors/linear_map.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <unordered_map>

#include <fmt/format.h>

#include "compiler/algebra/op_cases.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/sample.hpp"
#include "compiler/physics/lower/variation.hpp"
#include "compiler/physics/spinors/solve.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// Powers of the arrays in an expression: 0, 1, both fit (the number 0), or neither.
struct Degree {
  enum class Kind { Any, None, Linear, Broken };
  Kind kind = Kind::None;
  Expr where;  ///< Broken: the subtree that is neither
};

class DegreeReader {
 public:
  explicit DegreeReader(const std::vector<int>& arrays) : arrays_(arrays) {}

  Degree of(Expr e) {
    if (const auto known = known_.find(e.get()); known != known_.end()) return known->second;
    const Degree degree = read(e);
    known_.emplace(e.get(), degree);
    return degree;
  }

 private:
  using Kind = Degree::Kind;

  Degree read(Expr e) {
    if (e.is_zero()) return {Kind::Any, {}};
    if (e.is(Op::Load)) {
      return {std::ranges::count(arrays_, e->index) > 0 ? Kind::Linear : Kind::None, {}};
    }
    std::vector<Degree> parts;
    for (const Expr arg : e.args()) {
      parts.push_back(of(arg));
      if (parts.back().kind == Kind::Broken) return parts.back();
    }
    const auto linear = std::ranges::count(parts, Kind::Linear, &Degree::kind);
    const auto none = std::ranges::count(parts, Kind::None, &Degree::kind);
    if (linear == 0) return {Kind::None, {}};
    switch (e.op()) {
      case Op::Add:
      case Op::Sub:
        return none == 0 ? Degree{Kind::Linear, {}} : Degree{Kind::Broken, e};
      case Op::Neg:
      case Op::Stencil:
      case Op::Mean:
      case Op::Total:
        return {Kind::Linear, {}};
      case Op::Mul:
        return linear == 1 ? Degree{Kind::Linear, {}} : Degree{Kind::Broken, e};
      case Op::Div:
        return parts[1].kind == Kind::None ? Degree{Kind::Linear, {}} : Degree{Kind::Broken, e};
      case Op::Select:
        return parts[0].kind == Kind::None && none == 1 ? Degree{Kind::Linear, {}}
                                                        : Degree{Kind::Broken, e};
      case Op::Pow:
      case Op::Sqrt:
      case Op::Fma:
      case Op::Minimum:
      case Op::Maximum:
      case VPHI_DRAWS:
      case VPHI_DEVICE_FUNCTIONS:
      case VPHI_CONDITIONS:
#include "compiler/algebra/function_cases.def"
      case Op::Number:
      case Op::Symbol:
      case Op::Load:
      case Op::Site:
      case Op::Atan2:
      case Op::Min:
      case Op::Max:
      case Op::Lookup:
      case Op::PairSum:
      case Op::Count_:
        break;
    }
    return {Kind::Broken, e};
  }

  const std::vector<int>& arrays_;
  std::unordered_map<const algebra::Node*, Degree> known_;
};

/// A number for each leaf, the same at every call.
double number_for(const algebra::Node& leaf, int sample) {
  const auto& o = leaf.offset.d;
  return sample_number(
      {sample, static_cast<std::int64_t>(leaf.op), leaf.index, o[0], o[1], o[2], o[3]}, leaf.name);
}

}  // namespace

Expr not_linear(Expr value, const std::vector<int>& arrays) {
  const Degree degree = DegreeReader(arrays).of(value);
  if (degree.kind == Degree::Kind::None) return value;
  return degree.kind == Degree::Kind::Broken ? degree.where : Expr();
}

std::vector<Expr> adjoint_of(const Program& d, const LinearSystem& solve) {
  Arena& arena = d.arena();
  if (!solve.op.stages.empty()) return {};
  // a phase and conj do not commute
  if (turns_by_an_angle(d.edges_from(solve.arrays[0])) && !complex_linear(solve)) return {};
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    const Boundary b = d.grid.boundary[axis];
    if (b != Boundary::Periodic && b != Boundary::Antiperiodic) return {};
  }
  const int first = d.collected.arrays;
  d.collected.arrays += static_cast<int>(solve.arrays.size());
  Expr product = arena.integer(0);
  for (std::size_t i = 0; i < solve.op.image.size(); ++i) {
    product = product + arena.load(first + static_cast<int>(i)) * solve.op.image[i];
  }
  const algebra::Mover move = around(d.grid);
  std::vector<Expr> result;
  try {
    for (const int array : solve.arrays) {
      const Expr slope =
          applied(arena, algebra::variation(algebra::expand(product), array, move), move);
      result.push_back(algebra::rewrite(slope, [&](Expr node) {
        if (!node.is(Op::Load) || node->index < first) return node;
        const auto i = static_cast<std::size_t>(node->index - first);
        if (i >= solve.arrays.size()) return node;
        return arena.load(solve.arrays[i], node->offset, node->span);
      }));
    }
  } catch (const std::invalid_argument&) {  // a mean over the lattice inside of A
    return {};
  }
  return result;
}

bool differ(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  constexpr int kSamples = 3;
  const auto value = [](Expr e, int sample) {
    return algebra::evaluate(without_stencils(e),
                             {[&](const algebra::Node& leaf) { return number_for(leaf, sample); }});
  };
  for (int sample = 0; sample < kSamples; ++sample) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double left = value(a[i], sample), right = value(b[i], sample);
      if (std::abs(left - right) > 1e-9 * (1 + std::abs(left) + std::abs(right))) return true;
    }
  }
  return false;
}

bool wants_hermitian(const LinearSystem& solve) {
  return std::ranges::any_of(solve.options, [](const auto& option) {
    return option.first == "hermitian" && !option.second.is_zero();
  });
}

bool wants_complex(const text::Solver& solver) {
  const std::function<bool(const dsl::Expr&)> within = [&](const dsl::Expr& e) {
    const bool call = e.kind == dsl::ExprKind::Call;
    if (call && (e.text == "re" || e.text == "im" || e.text == "abs" || e.text == "norm2"))
      return false;
    if (call && e.text == "dot") return true;
    return std::ranges::any_of(e.args, [&](const dsl::ExprPtr& arg) { return within(*arg); });
  };
  const auto in = [&](const text::Statement& line) { return within(*line.value); };
  return std::ranges::any_of(solver.before, in) || std::ranges::any_of(solver.iteration, in) ||
         std::ranges::any_of(solver.after, in);
}

bool complex_linear(const LinearSystem& solve) {
  std::unordered_map<std::string, double> numbers;
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  const auto number = [&](const std::string& leaf) {
    const auto [place, fresh] = numbers.try_emplace(leaf, 0);
    if (fresh) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      place->second = 0.25 + static_cast<double>(state >> 40U) / static_cast<double>(1U << 24U);
    }
    return place->second;
  };
  const auto value_at = [&](Expr part, bool times_i) {
    algebra::Environment environment;
    environment.leaf = [&](const algebra::Node& node) {
      const bool stencil = node.op == Op::Stencil;
      const algebra::Node& load = stencil ? *node.args[0] : node;
      if (load.op != Op::Load) return number(fmt::format("{}", static_cast<const void*>(&node)));
      const auto at = std::ranges::find(solve.arrays, load.index);
      const auto place = at - solve.arrays.begin();
      const bool own = at != solve.arrays.end();
      // i(re + i im): re is -im, im is re
      const auto source =
          own && times_i ? solve.arrays[static_cast<std::size_t>(place ^ 1)] : load.index;
      const double sign = own && times_i && place % 2 == 0 ? -1 : 1;
      const auto& o = load.offset.d;
      return sign * number(fmt::format("{} {} {},{},{},{}", stencil ? node.index : -1, source, o[0],
                                       o[1], o[2], o[3]));
    };
    return algebra::evaluate(part, environment);
  };
  try {
    for (std::size_t i = 0; i < solve.op.image.size(); i += 2) {
      const double re = value_at(solve.op.image[i], false),
                   im = value_at(solve.op.image[i + 1], false);
      const double off = std::fabs(value_at(solve.op.image[i], true) + im) +
                         std::fabs(value_at(solve.op.image[i + 1], true) - re);
      if (off > 1e-9 * (std::fabs(re) + std::fabs(im))) return false;
    }
  } catch (const std::invalid_argument&) {
    return true;
  }
  return true;
}

std::vector<int> arrays_of(const LinearSystem& solve) {
  std::vector<int> arrays = solve.arrays;
  for (const LinearMap::Stage& stage : solve.op.stages)
    arrays.insert(arrays.end(), stage.arrays.begin(), stage.arrays.end());
  return arrays;
}

std::vector<Expr> values_of(const LinearMap& map) {
  std::vector<Expr> values;
  for (const LinearMap::Stage& stage : map.stages)
    values.insert(values.end(), stage.values.begin(), stage.values.end());
  values.insert(values.end(), map.image.begin(), map.image.end());
  return values;
}

namespace {

/// Whether operator, solver and options are the same, apart from the arrays.
bool same_operator(const LinearSystem& a, const LinearSystem& b) {
  const std::vector<int> from = arrays_of(a), to = arrays_of(b);
  const std::vector<Expr> x = values_of(a.op), y = values_of(b.op);
  if (a.solver->span != b.solver->span || a.options != b.options || a.rows != b.rows ||
      a.wide != b.wide || a.columns != b.columns || a.antiperiodic != b.antiperiodic ||
      from.size() != to.size() || x.size() != y.size()) {
    return false;
  }
  return algebra::rewrite(x, [&](Expr node) {
           if (!node.is(Op::Load)) return node;
           const auto at = std::ranges::find(from, node->index);
           if (at == from.end()) return node;
           return node->arena->load(to[static_cast<std::size_t>(at - from.begin())], node->offset,
                                    node->span);
         }) == y;
}

}  // namespace

bool alike(const LinearSystem& a, const LinearSystem& b) {
  if (!a.beside.empty() || !b.beside.empty() || a.eigenvalue || b.eigenvalue) return false;
  return same_operator(a, b);
}

bool same_form(const LinearSystem& a, const LinearSystem& b) {
  const auto same_name = [](const auto& one, const auto& other) {
    return one.first == other.first;
  };
  return !a.eigenvalue && !b.eigenvalue && a.positive == b.positive && a.at_start == b.at_start &&
         a.past.size() == b.past.size() && a.even_odd.has_value() == b.even_odd.has_value() &&
         std::ranges::equal(a.beside, b.beside, same_name) && same_operator(a, b);
}

}  // namespace vphi::physics
