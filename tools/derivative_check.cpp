#include "tools/derivative_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "dsl/load.hpp"
#include "dsl/walk.hpp"
#include "tools/model_copy.hpp"

namespace vphi::tools {
namespace {

using algebra::Expr;
using algebra::Node;
using algebra::Op;

constexpr int kPoints = 16;
constexpr long double kStep = 1e-3L;
constexpr const char* kName = "vphi_energy_under_test";

/// The names of the model's potentials.
std::vector<std::string> potentials(const dsl::ModelText& model) {
  std::vector<std::string> names;
  for (const auto& line : model.lines)
    if (line.kind == dsl::Line::Kind::Clause && line.clause.keyword == "potential")
      for (const auto& item : line.clause.items)
        if (item.head && item.head->form == dsl::Head::Form::Plain)
          names.push_back(item.head->name);
  return names;
}

/// Variables whose written equation stands in place of the derived one: it owes the potential
/// nothing.
std::set<std::string> written_alone(const dsl::ModelText& model) {
  std::set<std::string> names;
  for (const auto& line : model.lines) {
    if (line.kind != dsl::Line::Kind::Equation) continue;
    bool derived = false;
    dsl::for_each(line, [&](const dsl::Expr& e) {
      derived = derived || (e.kind == dsl::ExprKind::Name && e.text == "derived");
    });
    if (!derived) names.insert(line.definition.head.name);
  }
  return names;
}

/// "phi" owns what is shown as phi, re(phi), phi[0].
bool among(const std::set<std::string>& names, const std::string& shown) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    return shown == name || shown.starts_with(name + "[") ||
           shown.find("(" + name + ")") != std::string::npos ||
           shown.find("(" + name + "[") != std::string::npos;
  });
}

/// The system of the model with one output more, or nothing.
std::optional<physics::System> with_energy(const dsl::ModelText& model,
                                           const CompileOptions& options) {
  std::string sum;
  for (const auto& name : potentials(model))
    sum += (sum.empty() ? "" : " + ") + fmt::format("total({})", name);
  if (sum.empty()) return std::nullopt;
  const ModelCopy copy(model, {},
                       fmt::format("\nevery 1 steps: {} = {} -> \"v.csv\"\n", kName, sum));
  return std::move(derive_model(copy.path(), options).system);
}

/// Values of the arrays, the same at every site; scalars have some fixed positive value each.
class Uniform {
 public:
  explicit Uniform(const std::map<int, long double>& arrays) : arrays_(arrays) {}
  long double of(Expr e) const {
    return algebra::evaluate_long(e, [this](const Node& node) { return leaf(node); });
  }

 private:
  long double leaf(const Node& node) const {
    switch (node.op) {
      case Op::Load:
        return arrays_.at(node.index);
      case Op::Stencil: {
        const auto& stencil = node.arena->stencil_data(node.index);
        long double sum = 0;
        for (const auto weight : stencil.weights) sum += static_cast<long double>(weight);
        return sum == 0 ? 0
                        : sum * of(node.args[0]) / static_cast<long double>(stencil.denominator);
      }
      case Op::Symbol: {
        long double value = 1.1L;
        for (const char c : node.name) value += 0.001L * static_cast<unsigned char>(c);
        return value;
      }
      case Op::Noise:
      case Op::Normal:
      case Op::Uniform:
        return 0;  // a fluctuation is no force of the potential
      default:
        return 1;
    }
  }
  const std::map<int, long double>& arrays_;
};

}  // namespace

std::vector<DerivativeRow> check_derivatives(const std::string& path,
                                             const CompileOptions& options) {
  dsl::Diagnostics diagnostics;
  const auto model = dsl::load_model(path, diagnostics);
  const auto system = with_energy(model, options);
  if (!system) return {};
  const std::set<std::string> other = written_alone(model);
  Expr energy;
  for (const auto& clause : system->outputs)
    for (const auto& q : clause.observables)
      if (q.name == kName) energy = q.value;
  if (!energy) return {};
  energy = algebra::rewrite(energy, [](Expr e) {
    return e.is(Op::Total) || e.is(Op::Mean) ? e.arg(0) : e;  // of a uniform field; N goes into C
  });

  std::vector<DerivativeRow> rows;
  for (const auto& momentum : system->variables) {
    if (momentum.role != physics::Role::Momentum || momentum.partner < 0) continue;
    const auto field = std::find_if(system->variables.begin(), system->variables.end(),
                                    [&](const auto& v) { return v.array == momentum.partner; });
    if (field == system->variables.end() || among(other, field->shown)) continue;
    std::mt19937_64 random(12345);
    std::uniform_real_distribution<double> between(0.2, 1.8);
    std::vector<std::pair<long double, long double>> pairs;  // rate, dV/dpsi
    for (int point = 0; point < kPoints; ++point) {
      std::map<int, long double> arrays;
      for (const auto& v : system->variables)
        arrays[v.array] = v.role == physics::Role::Momentum ? 0.0L : between(random);
      const Uniform uniform(arrays);
      const long double x = arrays[field->array];
      const auto at = [&](int steps) {
        arrays[field->array] = x + steps * kStep;
        const long double value = uniform.of(energy);
        arrays[field->array] = x;
        return value;
      };
      try {
        const long double slope = (8 * (at(1) - at(-1)) - at(2) + at(-2)) / (12 * kStep);
        const long double rate = uniform.of(momentum.rate);
        if (std::isfinite(slope) && std::isfinite(rate)) pairs.emplace_back(rate, slope);
      } catch (const std::exception&) {  // a reduction, an array that is no state
        break;
      }
    }
    if (pairs.empty()) continue;
    const auto largest = *std::max_element(
        pairs.begin(), pairs.end(),
        [](const auto& a, const auto& b) { return std::abs(a.second) < std::abs(b.second); });
    if (largest.second == 0) continue;
    const long double c = largest.first / largest.second;
    DerivativeRow row{field->shown, static_cast<int>(pairs.size()), 0};
    for (const auto& [rate, slope] : pairs)
      row.deviation = std::max(
          row.deviation, static_cast<double>(std::abs(rate - c * slope) / std::abs(largest.first)));
    rows.push_back(row);
  }
  return rows;
}

}  // namespace vphi::tools
