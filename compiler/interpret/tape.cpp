#include "compiler/interpret/tape.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "compiler/algebra/op_cases.hpp"
#include "compiler/algebra/transform.hpp"
#include "dsl/functions.hpp"

namespace vphi::kernel {

using algebra::Op;

int Tape::add(algebra::Expr expr) {
  algebra::visit(expr, [this](algebra::Expr node) {
    if (index.contains(node.get())) return;
    Operation operation{node.op(), {}, node.get()};
    for (algebra::Expr arg : node.args()) operation.args.push_back(index.at(arg.get()));
    index.emplace(node.get(), static_cast<int>(operations.size()));
    operations.push_back(std::move(operation));
  });
  return index.at(expr.get());
}

template <class Real>
Real apply(Op op, const std::vector<int>& args, const std::vector<Real>& values) {
  const auto v = [&](std::size_t i) { return values[static_cast<std::size_t>(args[i])]; };
  const auto fold = [&](auto combine) {
    Real result = v(0);
    for (std::size_t i = 1; i < args.size(); ++i) result = combine(result, v(i));
    return result;
  };
  switch (op) {
    case Op::Add:
      return fold([](Real a, Real b) { return a + b; });
    case Op::Mul:
      return fold([](Real a, Real b) { return a * b; });
    case Op::Pow:
      return std::pow(v(0), v(1));
    case Op::Neg:
      return -v(0);
    case Op::Sub:
      return v(0) - v(1);
    case Op::Div:
      return v(0) / v(1);
    case Op::Sqrt:
      return std::sqrt(v(0));
    case Op::Fma:
      return std::fma(v(0), v(1), v(2));
    case Op::Minmod:
      return std::fmax(std::fmin(Real(0), std::fmax(v(1), v(2))),
                       std::fmin(v(0), std::fmax(Real(0), std::fmin(v(1), v(2)))));
    case Op::TableIndex:
      return std::fmin(std::fmax(std::floor(v(0)), v(1)), v(2));
#define VPHI_FUNCTION(operation, name, value, ...) \
  case Op::operation:                              \
    return value(v(0));
#include "dsl/functions.def"
    case Op::Atan2:
      return std::atan2(v(0), v(1));
    case Op::Min:
      return fold([](Real a, Real b) { return b < a ? b : a; });
    case Op::Max:
      return fold([](Real a, Real b) { return a < b ? b : a; });
    case Op::Less:
      return v(0) < v(1);
    case Op::LessEqual:
      return v(0) <= v(1);
    case Op::Equal:
      return v(0) == v(1);
    case Op::And:
      return fold([](Real a, Real b) { return static_cast<Real>(a != 0 && b != 0); });
    case Op::Or:
      return fold([](Real a, Real b) { return static_cast<Real>(a != 0 || b != 0); });
    case Op::Not:
      return v(0) == 0;
    case Op::Select:
      return v(0) != 0 ? v(1) : v(2);
    case VPHI_DRAWS:
    case VPHI_SITE_REDUCTIONS:
    case Op::Number:
    case Op::Symbol:
    case Op::Load:
    case Op::Site:
    case Op::Lookup:
    case Op::Stencil:
    case Op::PairSum:
    case Op::Count_:
      break;
  }
  throw std::invalid_argument("no operation for an interpreter: " +
                              std::string(algebra::info(op).name));
}

template float apply(Op, const std::vector<int>&, const std::vector<float>&);
template double apply(Op, const std::vector<int>&, const std::vector<double>&);

}  // namespace vphi::kernel
