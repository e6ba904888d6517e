// Random expressions of all operations that have a value, and points at which they are evaluated.
#pragma once

#include <random>

#include "compiler/algebra/transform.hpp"

namespace vphi::algebra::testing {

/// Random trees of every operation with a value.
class Trees {
 public:
  Trees(Arena& arena, unsigned seed) : arena_(arena), random_(seed) {}

  Expr tree(int depth) {
    if (depth == 0 || pick(8) == 0) return leaf();
    static constexpr Op functions[] = {Op::Exp,  Op::Log,   Op::Sin,   Op::Cos,   Op::Tan,
                                       Op::Asin, Op::Acos,  Op::Atan,  Op::Sinh,  Op::Cosh,
                                       Op::Tanh, Op::Asinh, Op::Acosh, Op::Atanh, Op::Abs,
                                       Op::Sign, Op::Erf,   Op::Sqrt,  Op::Neg,   Op::Floor};
    static constexpr Op pairs[] = {Op::Add, Op::Sub, Op::Mul, Op::Div,
                                   Op::Pow, Op::Min, Op::Max, Op::Atan2};
    switch (pick(4)) {
      case 0:
        return arena_.make(functions[pick(std::size(functions))], {tree(depth - 1)});
      case 1:
        return arena_.make(Op::Mul, {tree(depth - 1), tree(depth - 1), tree(depth - 1)});
      case 2:
        if (pick(3) == 0) {
          const Expr condition = arena_.make(Op::Less, {tree(depth - 1), leaf()});
          return arena_.make(Op::Select, {condition, tree(depth - 1), tree(depth - 1)});
        }
        return pow(tree(depth - 1), static_cast<int>(pick(7)) - 3);
      default:
        return arena_.make(pairs[pick(std::size(pairs))], {tree(depth - 1), tree(depth - 1)});
    }
  }

  Expr leaf() {
    static constexpr const char* names[] = {"x", "y", "z"};
    if (pick(4) == 0) return arena_.rational(static_cast<std::int64_t>(pick(19)) - 9, 4);
    return arena_.symbol(names[pick(3)]);
  }

  std::size_t pick(std::size_t count) { return random_() % count; }
  long double value() { return std::uniform_real_distribution<double>(0.1, 2)(random_); }

 private:
  Arena& arena_;
  std::mt19937 random_;
};

struct Point {
  long double x[3];
  long double of(Expr e) const {
    return evaluate_long(e, [this](const Node& n) { return x[n.name[0] - 'x']; });
  }
};

}  // namespace vphi::algebra::testing
