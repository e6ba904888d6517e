#include "compiler/physics/fluids/fluid_states.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::ExprKind;

double evaluated(Expr e, const Numbers& numbers, Expr open, double value) {
  return algebra::evaluate(e, {[&](const algebra::Node& leaf) -> double {
                             if (leaf.op == Op::Load) return numbers.at(leaf.index);
                             if (open && &leaf == open.get()) return value;
                             return leaf.op == Op::Symbol ? 1 : 0;
                           }});
}

namespace {

class MadeOf {
 public:
  MadeOf(const Space& d, Lowerer& lower) : d_(d), lower_(lower) {}

  void read(const dsl::Expr& e) {
    for (const dsl::ExprPtr& part : e.args) read(*part);
    if (e.kind == ExprKind::Call) {
      const dsl::Builtin* known = dsl::find_builtin(e.text);
      if (known && known->rule == dsl::Rule::RealFunction) add(e);
    }
    const bool names = e.kind == ExprKind::Name || e.kind == ExprKind::Call;
    const NamedFact* fact = names ? d_.facts.find(e.text) : nullptr;
    if (!fact || !fact->value) return;
    if (fact->kind == NamedFact::Kind::Function && e.kind == ExprKind::Call) add(e);
    if (fact->kind != NamedFact::Kind::Definition || !seen_.insert(e.text).second) return;
    read(*fact->value);
    add(e);
  }
  const std::vector<Expr>& values() const { return values_; }

 private:
  void add(const dsl::Expr& e) {
    for (const Component& part : lower_.value(e).parts) {
      if (part.real() && part.re->per_site) values_.push_back(part.re);
    }
  }
  const Space& d_;
  Lowerer& lower_;
  std::set<std::string> seen_;
  std::vector<Expr> values_;
};

}  // namespace

std::vector<Expr> made_of(const Space& d, Lowerer& lower) {
  MadeOf made(d, lower);
  for (const dsl::Clause* clause : d.resolved.clauses("conserve")) {
    if (const dsl::Item* law = law_of(*clause)) made.read(*law->value);
  }
  return made.values();
}

bool TrialStates::is_vector(const StateField& field) const {
  const dsl::Symbol* symbol = d_.resolved.find(field.name);
  return symbol && symbol->type.base == dsl::Type::Base::Vector;
}

bool TrialStates::complete(TrialState& state) const {
  bool finite = std::ranges::all_of(
      parts_, [&](Expr part) { return std::isfinite(evaluated(part, state.primitives)); });
  for (const Law& law : laws_) {
    for (std::size_t i = 0; i < law.arrays.size(); ++i) {
      const double value = evaluated(law.density.parts[i].re, state.primitives);
      finite = finite && std::isfinite(value);
      state.quantities[law.arrays[i]] = value;
    }
  }
  return finite;
}

std::vector<TrialState> TrialStates::drawn(int count) const {
  std::mt19937_64 random(20140105);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal;
  std::vector<TrialState> states;
  for (int attempt = 0; attempt < 20 * count && std::ssize(states) < count; ++attempt) {
    TrialState state;
    for (const StateField& field : d_.fields) {
      if (!field.primitive) continue;
      if (field.rows == 1 && field.cells.size() == 1 && !is_vector(field)) {
        state.primitives[field.arrays[0]] = std::pow(10.0, 6 * uniform(random) - 3);
        continue;
      }
      std::vector<double> direction;
      double square = 0;
      for (std::size_t i = 0; i < field.arrays.size(); ++i) {
        direction.push_back(normal(random));
        square += direction.back() * direction.back();
      }
      const double length =
          attempt % 2 == 0 ? uniform(random) : 1 - std::pow(10.0, -3 * uniform(random));
      for (std::size_t i = 0; i < field.arrays.size(); ++i) {
        state.primitives[field.arrays[i]] = length * direction[i] / std::sqrt(square);
      }
    }
    if (complete(state)) states.push_back(std::move(state));
  }
  return states;
}

std::vector<TrialState> TrialStates::hard(const std::vector<TrialState>& states) const {
  std::mt19937_64 random(19871118);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<TrialState> result;
  const auto add = [&](TrialState state) {
    if (complete(state)) result.push_back(std::move(state));
  };
  for (TrialState state : states) {
    double first = 0;
    int numbers = 0;
    for (const StateField& field : d_.fields) {
      if (!field.primitive || field.cells.size() != 1 || is_vector(field)) continue;
      double& value = state.primitives.at(field.arrays[0]);
      if (numbers++ == 0) {
        first = value;
      } else {
        value = first * (1 - std::pow(10.0, -8 * uniform(random)));
      }
    }
    if (numbers > 1) add(state);
    bool vectors = false;
    for (const StateField& field : d_.fields) {
      if (!field.primitive || !is_vector(field)) continue;
      double square = 0;
      for (const int array : field.arrays) square += std::pow(state.primitives.at(array), 2);
      const double length = 1 - std::pow(10.0, -6 * uniform(random));
      for (const int array : field.arrays) state.primitives.at(array) *= length / std::sqrt(square);
      vectors = true;
    }
    if (vectors) add(state);
  }
  return result;
}

}  // namespace vphi::physics
