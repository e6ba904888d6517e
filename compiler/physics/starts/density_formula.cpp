#include "compiler/physics/starts/density_formula.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace vphi::physics {

namespace {

using algebra::Expr;
using algebra::Op;
using program::Formula;

/// Operations of several arguments; functions have the names of the language.
std::optional<Formula::Op> operation(Op op) {
  constexpr std::pair<Op, Formula::Op> kOperations[] = {{Op::Add, Formula::Op::Sum},
                                                        {Op::Mul, Formula::Op::Product},
                                                        {Op::Pow, Formula::Op::Power},
                                                        {Op::Min, Formula::Op::Min},
                                                        {Op::Max, Formula::Op::Max},
                                                        {Op::Less, Formula::Op::Less},
                                                        {Op::LessEqual, Formula::Op::LessEqual},
                                                        {Op::Equal, Formula::Op::Equal},
                                                        {Op::And, Formula::Op::And},
                                                        {Op::Or, Formula::Op::Or},
                                                        {Op::Not, Formula::Op::Not},
                                                        {Op::Select, Formula::Op::Select},
                                                        {Op::Atan2, Formula::Op::Atan2}};
  for (const auto& [own, made] : kOperations)
    if (own == op) return made;
  const auto begin = std::begin(program::kFormulaOps);
  const auto found = std::find(begin + static_cast<int>(Formula::Op::Exp),
                               std::end(program::kFormulaOps), algebra::info(op).name);
  if (found == std::end(program::kFormulaOps)) return std::nullopt;
  return static_cast<Formula::Op>(found - begin);
}

class Maker {
 public:
  explicit Maker(const std::vector<Expr>& inputs) {
    for (const Expr input : inputs) {
      Formula::Step step{.op = Formula::Op::Input, .index = static_cast<int>(known_.size())};
      known_.emplace(input.get(), push(std::move(step)));
    }
  }

  /// The number of the step with its value.
  std::optional<int> step(Expr e) {
    if (const auto found = known_.find(e.get()); found != known_.end()) return found->second;
    Formula::Step made;
    if (e.is_number()) {
      made.number = static_cast<double>(e->number.real);
    } else if (e.is(Op::Lookup)) {
      made.op = Formula::Op::Lookup;
      made.index = static_cast<int>(formula.tables.size());
      const auto position = step(e.arg(1));
      if (!position) return std::nullopt;
      formula.tables.push_back(algebra::table_of(*e));
      made.of = {*position};
    } else {
      const auto op = operation(e.op());
      if (!op || e.args().empty()) return std::nullopt;
      made.op = *op;
      for (const Expr arg : e.args()) {
        const auto of = step(arg);
        if (!of) return std::nullopt;
        made.of.push_back(*of);
      }
    }
    const int number = push(std::move(made));
    known_.emplace(e.get(), number);
    return number;
  }

  Formula formula;

 private:
  int push(Formula::Step step) {
    formula.steps.push_back(std::move(step));
    return static_cast<int>(formula.steps.size()) - 1;
  }
  std::unordered_map<const algebra::Node*, int> known_;
};

}  // namespace

std::optional<Formula> formula_of(Expr e, const std::vector<Expr>& inputs) {
  Maker maker(inputs);
  const auto last = maker.step(e);
  if (!last) return std::nullopt;
  // the value is the last step
  if (*last + 1 != static_cast<int>(maker.formula.steps.size()))
    maker.formula.steps.push_back({.op = Formula::Op::Max, .of = {*last, *last}});
  return std::move(maker.formula);
}

}  // namespace vphi::physics
