// The cost of a site, counted by hand: flops, and instructions with an fma as one.
#include <gtest/gtest.h>

#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {
namespace {

using algebra::Arena;
using algebra::Op;

struct Counted {
  int flops, instructions, special;
  bool operator==(const Counted&) const = default;
};

void PrintTo(const Counted& c, std::ostream* out) {
  *out << c.flops << " flops, " << c.instructions << " instructions, " << c.special << " special";
}

struct Sites {
  Arena arena;
  Expr u = arena.load(0), v = arena.load(1), w = arena.load(2), x = arena.load(3);

  Counted count(Expr value) {
    Kernel kernel;
    kernel.stores.push_back({0, value});
    const Cost c = cost(kernel);
    return {c.flops, c.instructions, c.special};
  }
};

TEST(Cost, AProductAndItsSumAreOneInstruction) {
  Sites s;
  EXPECT_EQ(s.count(s.u * s.v), (Counted{1, 1, 0}));
  EXPECT_EQ(s.count(s.u * s.v + s.w), (Counted{2, 1, 0}));
  EXPECT_EQ(s.count(s.u * s.v + s.w * s.x), (Counted{3, 2, 0}));  // an fma and a product
  EXPECT_EQ(s.count(s.arena.make(Op::Fma, {s.u, s.v, s.w})), (Counted{2, 1, 0}));
}

TEST(Cost, AProductWithTwoTakersIsMadeByItself) {
  Sites s;
  const Expr product = s.u * s.v;
  // product; product + w; (product + x); times each other
  EXPECT_EQ(s.count((product + s.w) * (product + s.x)), (Counted{4, 4, 0}));
}

TEST(Cost, QuotientsAreNoInstructionsOfTheSameUnit) {
  Sites s;
  EXPECT_EQ(s.count(s.arena.raw(Op::Add, {s.arena.raw(Op::Div, {s.u, s.v}), s.w})),
            (Counted{1, 1, 1}));
}

}  // namespace
}  // namespace vphi::kernel
