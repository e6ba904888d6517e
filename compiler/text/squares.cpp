#include "compiler/text/squares.hpp"

#include <map>
#include <string>
#include <utility>

namespace vphi::text {

namespace {

using dsl::ExprKind;
using dsl::ExprPtr;

bool calls_with(const dsl::Expr& e, const std::string& function, std::size_t count) {
  return e.kind == ExprKind::Call && e.text == function && e.args.size() == count &&
         e.named.empty();
}

ExprPtr call(const char* function, ExprPtr argument) {
  dsl::Expr e;
  e.kind = ExprKind::Call;
  e.text = function;
  e.span = argument->span;
  e.depth = argument->depth + 1;
  e.args.push_back(std::move(argument));
  return std::make_shared<const dsl::Expr>(std::move(e));
}

/// Which names hold the operator's product with which other name, line by line.
class Products {
 public:
  explicit Products(std::string op) : op_(std::move(op)) {}

  void set(const std::string& name, const dsl::Expr& value) {
    std::erase_if(of_, [&](const auto& one) { return one.first == name || one.second == name; });
    if (calls_with(value, op_, 1) && value.args[0]->kind == ExprKind::Name &&
        value.args[0]->text != name)
      of_[name] = value.args[0]->text;
  }

  ExprPtr rewritten(const ExprPtr& e) const {
    if (const ExprPtr p = squared(*e)) return call("total", call("norm2", call(kHalfway, p)));
    std::vector<ExprPtr> args;
    for (const ExprPtr& arg : e->args) args.push_back(rewritten(arg));
    if (args == e->args) return e;
    dsl::Expr changed = *e;
    changed.args = std::move(args);
    return std::make_shared<const dsl::Expr>(std::move(changed));
  }

 private:
  /// p, of total(re(dot(p, q))) or total(re(dot(q, p))) with q = A(p); null for others.
  ExprPtr squared(const dsl::Expr& e) const {
    if (!calls_with(e, "total", 1) || !calls_with(*e.args[0], "re", 1)) return nullptr;
    const dsl::Expr& dot = *e.args[0]->args[0];
    if (!calls_with(dot, "dot", 2)) return nullptr;
    for (const int first : {0, 1}) {
      const ExprPtr& p = dot.args[static_cast<std::size_t>(first)];
      const ExprPtr& q = dot.args[static_cast<std::size_t>(1 - first)];
      if (p->kind != ExprKind::Name || q->kind != ExprKind::Name) continue;
      if (const auto found = of_.find(q->text); found != of_.end() && found->second == p->text)
        return p;
    }
    return nullptr;
  }

  const std::string op_;
  std::map<std::string, std::string> of_;  ///< q -> p
};

}  // namespace

std::shared_ptr<const Solver> for_squares(const Solver& solver) {
  Solver result = solver;
  Products products(solver.op);
  for (Statement& line : result.iteration) {
    if (!line.index.empty()) continue;  // name[k]: of shifts
    line.value = products.rewritten(line.value);
    products.set(line.name, *line.value);
  }
  return std::make_shared<const Solver>(std::move(result));
}

}  // namespace vphi::text
