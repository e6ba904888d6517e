// Gamma matrices and Dirac operators against explicit sums over a small box.
#include "compiler/gauge/dirac.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/gauge/walks.hpp"

namespace vphi::gauge {
namespace {

using testing::C;
using testing::Dense;
using testing::Field;
using testing::Numbers;

const GammaBasis kBases[] = {GammaBasis::Chiral, GammaBasis::DeGrandRossi};

TEST(Clifford, BothBases) {
  for (const GammaBasis basis : kBases) {
    const Gammas g = gammas(basis);
    EXPECT_FALSE(clifford_violation(g));
    const Gaussian sign{basis == GammaBasis::Chiral ? -1 : 1, 0};
    EXPECT_EQ(g[0] * g[1] * g[2] * g[3], sign * gamma5());
    for (const SpinMatrix& m : g) EXPECT_EQ(m * gamma5() + gamma5() * m, SpinMatrix{});
    Gammas wrong = g;
    wrong[2] = g[1];
    EXPECT_EQ(clifford_violation(wrong), (std::array{1, 2}));
    wrong[2] = Gaussian{0, 1} * g[2];
    EXPECT_EQ(clifford_violation(wrong), (std::array{2, 2}));
  }
}

/// (1 - gamma_x) psi of the chiral basis: e0 + i e3, e1 + i e2, -i of the second, -i of the first.
TEST(Clifford, ProjectorsHaveRankTwo) {
  for (const GammaBasis basis : kBases) {
    for (const SpinMatrix& g : gammas(basis)) {
      for (const int sign : {1, -1}) {
        const SpinMatrix m = spin_identity() + Gaussian{sign, 0} * g;
        const auto f = factorised(m);
        ASSERT_TRUE(f);
        EXPECT_EQ(f->rank, 2);
        SpinMatrix back;
        for (int i = 0; i < 4; ++i)
          for (int j = 0; j < 4; ++j)
            for (std::size_t r = 0; r < 2; ++r)
              back.at(i, j) = back.at(i, j) + f->rebuild[static_cast<std::size_t>(i)][r] *
                                                  f->project[r][static_cast<std::size_t>(j)];
        EXPECT_EQ(back, m);
      }
    }
  }
  const auto f = factorised(spin_identity() + Gaussian{-1, 0} * gammas(GammaBasis::Chiral)[0]);
  EXPECT_EQ(f->project[0], (std::array<Gaussian, 4>{{{1, 0}, {}, {}, {0, 1}}}));
  EXPECT_EQ(f->project[1], (std::array<Gaussian, 4>{{{}, {1, 0}, {0, 1}, {}}}));
  EXPECT_EQ(f->rebuild[2], (std::vector<Gaussian>{{}, {0, -1}}));
  EXPECT_EQ(f->rebuild[3], (std::vector<Gaussian>{{0, -1}, {}}));
  EXPECT_EQ(factorised(gamma5())->rank, 4);
}

/// A box of links and spinors, D psi from full matrices.
class Box2 {
 public:
  static constexpr int kColours = 3;
  Box2(Arena& arena, GammaBasis basis)
      : numbers(arena, 4),
        field(numbers, kColours, {2, 2, 2, 2}),
        kappa(numbers.value(0.14)),
        twist(numbers.value(0.31)),
        g(gammas(basis)),
        d(twisted_wilson(g, 4, kappa, twist)) {}

  using Spinors = std::map<std::array<int, 4>, std::vector<C>>;
  static std::array<int, 4> key(Offset o) {
    std::array<int, 4> k{};
    for (std::size_t i = 0; i < 4; ++i) k[i] = ((o.d[i] % 2) + 2) % 2;
    return k;
  }
  Spinors random() {
    Spinors s;
    each([&](Offset o) {
      auto& v = s[key(o)];
      for (int i = 0; i < 4 * kColours; ++i) v.emplace_back(numbers.normal(), numbers.normal());
    });
    return s;
  }
  SpinorOf expressions(const Spinors& s) {
    const auto known = std::make_shared<std::map<std::array<int, 4>, Spinor>>();
    return [this, &s, known](Offset o) {
      Spinor& m = (*known)[key(o)];
      if (m.parts.empty()) {
        m = {4, kColours, {}};
        for (const C& z : s.at(key(o)))
          m.parts.push_back({numbers.value(z.real()), numbers.value(z.imag())});
      }
      return m;
    };
  }
  template <class See>
  static void each(See see) {
    for (int i = 0; i < 16; ++i) {
      Offset o;
      for (int k = 0; k < 4; ++k) o.d[k] = static_cast<std::int16_t>(i >> k & 1);
      see(o);
    }
  }
  /// (1 + 2i kappa mu g5 - kappa H) psi, the definition.
  std::vector<C> reference(Offset o, const Spinors& psi, double mu_sign = 1) {
    const double k = numbers.of(kappa), mu = mu_sign * numbers.of(twist);
    std::vector<C> result(4 * kColours);
    for (int s = 0; s < 4; ++s)
      for (int c = 0; c < kColours; ++c)
        result[static_cast<std::size_t>(3 * s + c)] =
            (C(1) + C(0, s < 2 ? 2 * k * mu : -2 * k * mu)) *
            psi.at(key(o))[static_cast<std::size_t>(3 * s + c)];
    for (int axis = 0; axis < 4; ++axis) {
      for (const int sign : {1, -1}) {
        Offset to = o;
        to.d[axis] = static_cast<std::int16_t>(to.d[axis] + sign);
        const Dense u = sign > 0 ? field.at(axis, o).value : dagger(field.at(axis, to).value);
        for (int s = 0; s < 4; ++s)
          for (int t = 0; t < 4; ++t) {
            const Gaussian e = g[static_cast<std::size_t>(axis)].at(s, t);
            const C spin = C(s == t ? 1 : 0) - static_cast<double>(sign) * C(e.re, e.im);
            for (int a = 0; a < kColours; ++a)
              for (int b = 0; b < kColours; ++b)
                result[static_cast<std::size_t>(3 * s + a)] -=
                    k * spin * u(a, b) * psi.at(key(to))[static_cast<std::size_t>(3 * t + b)];
          }
      }
    }
    return result;
  }
  std::vector<C> values(const Spinor& psi) {
    std::vector<C> result;
    for (const Complex& z : psi.parts) result.push_back(numbers.of(z));
    return result;
  }
  static double gap(const std::vector<C>& a, const std::vector<C>& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
    return most;
  }

  Numbers numbers;
  Field field;
  Expr kappa, twist;
  Gammas g;
  DiracOperator d;
};

LinkOf from(Box2& box, Offset o) {
  return [&box, o](int axis, Offset at) { return box.field.at(axis, o + at).matrix; };
}
SpinorOf from(const SpinorOf& psi, Offset o) {
  return [psi, o](Offset at) { return psi(o + at); };
}

TEST(Dirac, TwistedWilson) {
  for (const GammaBasis basis : kBases) {
    Arena arena;
    Box2 box(arena, basis);
    const auto psi = box.random();
    const SpinorOf e = box.expressions(psi);
    const Offset o{{1, 0, 1, 1}};
    EXPECT_LT(Box2::gap(box.values(apply(box.d, from(box, o), from(e, o))), box.reference(o, psi)),
              1e-13);
  }
}

TEST(Dirac, AdjointAndGamma5) {
  Arena arena;
  Box2 box(arena, GammaBasis::Chiral);
  const auto psi = box.random(), chi = box.random();
  const SpinorOf p = box.expressions(psi), q = box.expressions(chi);
  const DiracOperator dagger = adjoint(box.d);
  C left = 0, right = 0;
  Box2::each([&](Offset o) {
    const auto a = box.values(apply(box.d, from(box, o), from(p, o))),
               b = box.values(apply(dagger, from(box, o), from(q, o)));
    for (std::size_t i = 0; i < a.size(); ++i) {
      left += std::conj(chi.at(Box2::key(o))[i]) * a[i];
      right += std::conj(b[i]) * psi.at(Box2::key(o))[i];
    }
  });
  EXPECT_LT(std::abs(left - right), 1e-11);
  // D(mu)^+ = gamma5 D(-mu) gamma5; without the twist D is gamma5-hermitian
  const DiracOperator other = twisted_wilson(box.g, 4, box.kappa, negative(box.twist));
  EXPECT_TRUE(same(dagger, between_gamma5(other)));
  EXPECT_FALSE(same(dagger, between_gamma5(box.d)));
  const DiracOperator wilson = twisted_wilson(box.g, 4, box.kappa, arena.integer(0));
  EXPECT_TRUE(same(adjoint(wilson), between_gamma5(wilson)));
}

TEST(Dirac, LocalInverse) {
  Arena arena;
  Box2 box(arena, GammaBasis::DeGrandRossi);
  const auto psi = box.random();
  const SpinorOf e = box.expressions(psi);
  DiracOperator inverse;
  const auto found = local_inverse(box.d);
  ASSERT_TRUE(found);
  inverse.local = *found;
  EXPECT_LT(
      Box2::gap(box.values(apply_local(inverse, apply_local(box.d, e({})))), psi.at({0, 0, 0, 0})),
      1e-14);
  inverse.local.push_back({box.g[0], {arena.integer(1), arena.integer(0)}});
  EXPECT_FALSE(local_inverse(inverse));
}

/// 1320 operations of a hop over all directions: 8 projections and products, 7 sums.
TEST(Dirac, HopsTakeHalfSpinors) {
  Arena arena;
  Box2 box(arena, GammaBasis::Chiral);
  const auto psi = box.random();
  DiracOperator hops = twisted_wilson(box.g, 4, arena.integer(-1), arena.integer(0));
  EXPECT_EQ(testing::operations(
                testing::parts(apply_hops(hops, from(box, {}), from(box.expressions(psi), {})))),
            1320);
}

TEST(Dirac, ForceIsTheSlope) {
  for (const GammaBasis basis : kBases) {
    Arena arena;
    Box2 box(arena, basis);
    const auto psi = box.random(), chi = box.random();
    const SpinorOf x = box.expressions(psi), y = box.expressions(chi);
    const auto whole = [&] {
      double sum = 0;
      Box2::each([&](Offset o) {
        const auto d = box.reference(o, psi);
        for (std::size_t i = 0; i < d.size(); ++i)
          sum += (std::conj(chi.at(Box2::key(o))[i]) * d[i]).real();
      });
      return sum;
    };
    for (int axis = 0; axis < 4; ++axis) {
      const Dense w = box.numbers.of(force_of(box.d, axis, from(box, {}), x, y));
      Dense a = box.numbers.any(3);
      a = C(0.5) * (a + C(-1) * dagger(a));
      const Dense u = box.field.at(axis, {}).value;
      const auto at = [&](double h) {
        box.field.set(axis, {}, testing::exponential(C(h) * a) * u);
        return whole();
      };
      const double h = 1e-3, slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
      box.field.set(axis, {}, u);
      EXPECT_NEAR(trace(a * w).real(), slope, 1e-8) << axis;
    }
  }
}

}  // namespace
}  // namespace vphi::gauge
