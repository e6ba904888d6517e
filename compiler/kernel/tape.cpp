#include "compiler/kernel/tape.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "compiler/algebra/transform.hpp"

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
    case Op::Exp:
      return std::exp(v(0));
    case Op::Log:
      return std::log(v(0));
    case Op::Sin:
      return std::sin(v(0));
    case Op::Cos:
      return std::cos(v(0));
    case Op::Tan:
      return std::tan(v(0));
    case Op::Asin:
      return std::asin(v(0));
    case Op::Acos:
      return std::acos(v(0));
    case Op::Atan:
      return std::atan(v(0));
    case Op::Sinh:
      return std::sinh(v(0));
    case Op::Cosh:
      return std::cosh(v(0));
    case Op::Tanh:
      return std::tanh(v(0));
    case Op::Asinh:
      return std::asinh(v(0));
    case Op::Acosh:
      return std::acosh(v(0));
    case Op::Atanh:
      return std::atanh(v(0));
    case Op::Abs:
      return std::abs(v(0));
    case Op::Sign:
      return static_cast<Real>((v(0) > 0) - (v(0) < 0));
    case Op::Floor:
      return std::floor(v(0));
    case Op::Erf:
      return std::erf(v(0));
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
    default:
      throw std::invalid_argument("no operation for an interpreter: " +
                                  std::string(algebra::info(op).name));
  }
}

template float apply(Op, const std::vector<int>&, const std::vector<float>&);
template double apply(Op, const std::vector<int>&, const std::vector<double>&);

}  // namespace vphi::kernel
