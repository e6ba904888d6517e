// Random numbers of the updates of a chain: each call makes draws that no other update shares.
#pragma once

#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::physics {

using algebra::Arena;
using algebra::Expr;

class Draws {
 public:
  explicit Draws(Arena& arena) : arena_(arena) {}

  /// Uniform in (0, 1).
  std::vector<Expr> uniforms(int count) {
    std::vector<Expr> result;
    for (int i = 0; i < count; ++i) result.push_back(arena_.random(algebra::Op::Uniform, next_++));
    return result;
  }
  Expr uniform() { return uniforms(1).front(); }

  /// Normal numbers, drawn in pairs from pairs of random words that no other draw shares.
  std::vector<Expr> normals(int count) {
    next_ += next_ % 2;
    std::vector<Expr> result;
    for (int i = 0; i < count; ++i) result.push_back(arena_.random(algebra::Op::Normal, next_++));
    next_ += next_ % 2;
    return result;
  }

 private:
  Arena& arena_;
  int next_ = 0;
};

}  // namespace vphi::physics
