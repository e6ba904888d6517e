// Updates of one link: their distribution against integrals, detailed balance, invariants.
#include "compiler/gauge/heatbath.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "tests/gauge/numbers.hpp"

namespace vphi::gauge {
namespace {

using testing::C;
using testing::Dense;
using testing::Numbers;
using testing::Tape;

const Group kU1{Kind::U1, 1}, kSU2{Kind::SU, 2}, kSU3{Kind::SU, 3}, kSU4{Kind::SU, 4};

/// One link, updated again and again in fixed staples; random numbers of a generator of its own.
class Chain {
 public:
  Chain(Group group, const Dense& staples, unsigned seed)
      : group_(group), numbers_(arena_, seed), staples_(staples) {
    link_ = numbers_.element(group.n);
    u_ = numbers_.matrix(link_);
    v_ = numbers_.matrix(staples);
  }

  Arena& arena() { return arena_; }
  const Matrix& u() const { return u_; }
  const Matrix& v() const { return v_; }
  const Dense& link() const { return link_; }
  Expr uniform() { return draws_.emplace_back(numbers_.value(0.5)); }
  Expr normal() { return normals_.emplace_back(numbers_.value(0)); }
  std::vector<Expr> uniforms(int count) {
    std::vector<Expr> result;
    for (int i = 0; i < count; ++i) result.push_back(uniform());
    return result;
  }

  void set_update(const Matrix& next) {
    roots_ = testing::parts(next);
    tape_ = std::make_unique<Tape>(roots_);
    for (std::size_t i = 0; i < v_.parts.size(); ++i) {
      tape_->set(v_.parts[i].re, staples_.v[i].real());
      tape_->set(v_.parts[i].im, staples_.v[i].imag());
    }
  }
  void update() {
    for (Expr draw : draws_) tape_->set(draw, std::max(numbers_.uniform(), 0x1p-33));
    for (Expr draw : normals_) tape_->set(draw, numbers_.normal());
    for (std::size_t i = 0; i < link_.v.size(); ++i) {
      tape_->set(u_.parts[i].re, link_.v[i].real());
      tape_->set(u_.parts[i].im, link_.v[i].imag());
    }
    tape_->run();
    for (std::size_t i = 0; i < link_.v.size(); ++i)
      link_.v[i] = {(*tape_)[2 * i], (*tape_)[2 * i + 1]};
  }
  void set_link(const Dense& u) { link_ = u; }
  /// Re tr(U V)/N
  double value() const { return trace(link_ * staples_).real() / group_.n; }
  int operations() const { return testing::operations(roots_); }

 private:
  Arena arena_;
  Group group_;
  Numbers numbers_;
  Dense staples_, link_;
  Matrix u_, v_;
  std::vector<Expr> draws_, normals_, roots_;
  std::unique_ptr<Tape> tape_;
};

/// Mean over a chain with its error from 50 bins.
struct Mean {
  double value = 0, error = 0;
};
Mean mean_of(int updates, const std::function<double()>& next) {
  constexpr int kBins = 50;
  double sum = 0, squares = 0;
  for (int b = 0; b < kBins; ++b) {
    double bin = 0;
    for (int i = 0; i < updates / kBins; ++i) bin += next();
    bin /= updates / kBins;
    sum += bin;
    squares += bin * bin;
  }
  const double mean = sum / kBins;
  return {mean, std::sqrt((squares / kBins - mean * mean) / (kBins - 1))};
}

/// <Re tr U>/N of the weight exp((beta/N) Re tr U): the plaquette of two dimensions,
/// d ln z/d beta with z = sum_n det I_(n+i-j)(beta/N) (U(1): I_1/I_0).
double plaquette(Group group, double beta) {
  const auto bessel = [](int n, double x) { return std::cyl_bessel_i(std::abs(n), x); };
  if (group.kind == Kind::U1) return bessel(1, beta) / bessel(0, beta);
  const auto log_z = [&](double b) {
    double z = 0;
    for (int n = -12; n <= 12; ++n) {
      Dense m(group.n);
      for (int i = 0; i < group.n; ++i)
        for (int j = 0; j < group.n; ++j) m(i, j) = bessel(n + i - j, b / group.n);
      z += testing::determinant(m).real();
    }
    return std::log(z);
  };
  const double h = 1e-4;
  return (log_z(beta + h) - log_z(beta - h)) / (2 * h);
}

Expr strength(Chain& chain, Group group, double beta) {
  return chain.arena().real(static_cast<long double>(beta) / group.n);
}

TEST(Heatbath, PlaquettesOfTheReference) {  // docs/formulas.md 2.7
  EXPECT_NEAR(plaquette(kU1, 2), 0.6977746580, 1e-8);
  EXPECT_NEAR(plaquette(kSU2, 4), 0.6580472674, 1e-8);
  EXPECT_NEAR(plaquette(kSU3, 1), 0.0601265548, 1e-8);
  EXPECT_NEAR(plaquette(kSU3, 6), 0.4225317397, 1e-8);
}

TEST(Heatbath, MeansOfOneLink) {
  struct Case {
    Group group;
    double beta;
    Heatbath options;
  };
  const auto kp = Proposal::KennedyPendleton;
  const Case cases[] = {
      {kU1, 0.05, {1, kp}},
      {kU1, 1, {3, kp}},
      {kU1, 4, {2, kp}},
      {kU1, 40, {2, kp}},
      {kSU2, 1, {1, kp}},
      {kSU2, 4, {1, kp}},
      {kSU2, 4, {8, kp}},
      {kSU2, 0.01, {2, Proposal::Creutz}},
      {kSU2, 1, {2, Proposal::Creutz}},
      {kSU2, 1, {3, Proposal::Either}},
      {kSU2, 4, {2, Proposal::Either}},
      {kSU3, 1, {4, kp}},
      {kSU3, 1, {2, Proposal::Either}},
      {kSU3, 6, {2, kp}},
      {kSU3, 20, {1, kp}},
      {kSU4, 8, {2, kp}},
  };
  unsigned seed = 1;
  for (const Case& c : cases) {
    Chain chain(c.group, testing::one(c.group.n), ++seed);
    chain.set_update(heatbath(c.group, chain.u(), chain.v(), strength(chain, c.group, c.beta),
                              chain.uniforms(heatbath_draws(c.group, c.options)), c.options));
    const int updates = 40000;
    const Mean mean = mean_of(updates, [&] {
      chain.update();
      return chain.value();
    });
    EXPECT_NEAR(mean.value, plaquette(c.group, c.beta), 4 * mean.error + 1e-12)
        << c.group.n << " " << c.beta << " " << c.options.proposals;
    EXPECT_LT(mean.error, 0.02);
    const Dense u = chain.link();
    EXPECT_LT(distance(u * dagger(u), testing::one(u.n)), 1e-10);
  }
}

/// chi^2 of `bins` classes that should be equally full.
double chi_square(const std::vector<int>& bins) {
  double total = 0, sum = 0;
  for (const int n : bins) total += n;
  const double expected = total / static_cast<double>(bins.size());
  for (const int n : bins) sum += (n - expected) * (n - expected) / expected;
  return sum;
}

/// Distribution function of a density on [-1, 1] by the midpoint rule.
std::vector<double> distribution(const std::function<double(double)>& density) {
  constexpr int kCells = 20000;
  std::vector<double> sums{0};
  for (int i = 0; i < kCells; ++i)
    sums.push_back(sums.back() + density(-1 + (2.0 * i + 1) / kCells));
  for (double& s : sums) s /= sums.back();
  return sums;
}
double at(const std::vector<double>& sums, double x) {
  const double cell = (x + 1) / 2 * static_cast<double>(sums.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(std::max(cell, 0.0)), sums.size() - 2);
  return sums[i] + (cell - static_cast<double>(i)) * (sums[i + 1] - sums[i]);
}

/// What is accepted has the target law, whatever the link was; the rest is kept. 40 classes: chi^2
/// is above 80 once in 10^4 times.
TEST(Heatbath, LawOfAcceptedDrawsSU2) {
  unsigned seed = 100;
  for (const auto proposal : {Proposal::KennedyPendleton, Proposal::Creutz, Proposal::Either}) {
    for (const double alpha : {0.03, 0.7, 1.2, 3.0, 12.0}) {
      Arena scratch;
      Numbers numbers(scratch, ++seed);
      const double k = 1.7;
      Chain chain(kSU2, C(k) * numbers.element(2), seed);
      const Heatbath options{2, proposal};
      chain.set_update(heatbath(kSU2, chain.u(), chain.v(),
                                chain.arena().real(static_cast<long double>(alpha / (2 * k))),
                                chain.uniforms(heatbath_draws(kSU2, options)), options));
      const Dense start = chain.link();
      const auto target =
          distribution([&](double x) { return std::sqrt(1 - x * x) * std::exp(alpha * (x - 1)); });
      std::vector<int> bins(40);
      int kept = 0;
      const int samples = 20000;
      for (int i = 0; i < samples; ++i) {
        chain.set_link(start);
        chain.update();
        if (chain.link().v == start.v) {
          ++kept;
          continue;
        }
        ++bins[std::min<std::size_t>(39,
                                     static_cast<std::size_t>(40 * at(target, chain.value() / k)))];
      }
      if (kept > samples - 2000) continue;  // Kennedy and Pendleton at alpha = 0.03
      EXPECT_LT(chi_square(bins), 80) << static_cast<int>(proposal) << " " << alpha;
      if (proposal == Proposal::Either) {
        EXPECT_LT(kept, 0.12 * samples) << alpha;
      }
    }
  }
}

TEST(Heatbath, LawOfAcceptedDrawsU1) {
  for (const double kappa : {0.0, 0.02, 1.0, 6.0, 50.0}) {
    const C v = std::polar(kappa > 0 ? 2.5 : 0.0, 0.8);
    Dense staples(1);
    staples(0, 0) = v;
    Chain chain(kU1, staples, 5);
    const Heatbath options{3, {}};
    chain.set_update(heatbath(kU1, chain.u(), chain.v(),
                              chain.arena().real(static_cast<long double>(kappa / 2.5)),
                              chain.uniforms(heatbath_draws(kU1, options)), options));
    const Dense start = chain.link();
    const auto target =
        distribution([&](double x) { return std::exp(kappa * (std::cos(M_PI * x) - 1)); });
    std::vector<int> bins(40);
    int kept = 0;
    for (int i = 0; i < 40000; ++i) {
      chain.set_link(start);
      chain.update();
      if (chain.link().v == start.v) {
        ++kept;
        continue;
      }
      const C turned = kappa > 0 ? chain.link()(0, 0) * v : chain.link()(0, 0);
      ++bins[std::min<std::size_t>(
          39, static_cast<std::size_t>(40 * at(target, std::arg(turned) / M_PI)))];
    }
    EXPECT_LT(chi_square(bins), 80) << kappa;
    EXPECT_LT(kept, 0.06 * 40000) << kappa;  // (1 - 0.66)^3 at most
  }
}

/// The chance that nothing is accepted is the same for every start: needed for exactness.
TEST(Heatbath, KeepingDoesNotDependOnTheLink) {
  Arena scratch;
  Numbers numbers(scratch, 3);
  const Dense v = C(1.3) * numbers.element(2);
  const Heatbath options{1, Proposal::KennedyPendleton};
  Chain chain(kSU2, v, 9);
  chain.set_update(heatbath(kSU2, chain.u(), chain.v(), chain.arena().real(0.5L),
                            chain.uniforms(heatbath_draws(kSU2, options)), options));
  double least = 1, most = 0;
  for (const Dense& start :
       {dagger(C(1 / 1.3) * v), C(-1) * dagger(C(1 / 1.3) * v), testing::one(2)}) {
    int kept = 0;
    for (int i = 0; i < 20000; ++i) {
      chain.set_link(start);
      chain.update();
      kept += distance(chain.link(), start) == 0;
    }
    least = std::min(least, kept / 20000.0);
    most = std::max(most, kept / 20000.0);
  }
  EXPECT_LT(most - least, 0.02);
  EXPECT_GT(least, 0.1);
}

/// Staples of no particular form: heatbath and Metropolis agree on the mean weight.
TEST(Heatbath, AgreesWithMetropolis) {
  for (const Group group : {kU1, kSU3}) {
    Arena scratch;
    Numbers numbers(scratch, 21);
    const Dense v = C(group.n == 1 ? 1.0 : 0.8) * numbers.any(group.n);
    Chain hot(group, v, 31), walk(group, v, 32);
    const Heatbath options{2, Proposal::Either};
    const Expr beta = hot.arena().rational(2, 1);
    hot.set_update(heatbath(group, hot.u(), hot.v(), beta,
                            hot.uniforms(heatbath_draws(group, options)), options));
    Arena& arena = walk.arena();
    std::vector<Expr> normals;
    for (int a = 0; a < group.generators(); ++a) normals.push_back(walk.normal());
    const Matrix step = near_identity(group, normals, arena.real(0.6L), 16);
    const Matrix proposed = times(step, walk.u());
    const Expr increase =
        times(arena.integer(-2), trace_of_product(minus(proposed, walk.u()), walk.v()).re);
    walk.set_update(metropolis(walk.u(), proposed, increase, walk.uniform()));
    const Mean a = mean_of(40000, [&] {
      hot.update();
      return hot.value();
    });
    const Mean b = mean_of(200000, [&] {
      walk.update();
      return walk.value();
    });
    EXPECT_NEAR(a.value, b.value, 4 * std::hypot(a.error, b.error)) << group.n;
    EXPECT_LT(b.error, 0.02);
  }
}

TEST(Overrelaxation, KeepsTheWeight) {
  unsigned seed = 40;
  for (const Group group : {kU1, kSU2, kSU3, kSU4}) {
    Arena scratch;
    Numbers numbers(scratch, ++seed);
    Chain chain(group, group.n == 2 ? C(2.1) * numbers.element(2) : numbers.any(group.n), seed);
    chain.set_update(overrelaxed(group, chain.u(), chain.v()));
    const double before = chain.value();
    const Dense start = chain.link();
    chain.update();
    EXPECT_NEAR(chain.value(), before, 1e-13);
    EXPECT_GT(distance(chain.link(), start), 0.1);
    EXPECT_LT(distance(chain.link() * dagger(chain.link()), testing::one(group.n)), 1e-13);
    if (group.n <= 2) {  // one reflection: twice is nothing
      chain.update();
      EXPECT_LT(distance(chain.link(), start), 1e-13);
    }
    Chain alone(group, C(0) * testing::one(group.n), seed);
    alone.set_update(overrelaxed(group, alone.u(), alone.v()));
    const Dense there = alone.link();
    alone.update();
    EXPECT_LT(distance(alone.link(), there), 1e-15);
  }
}

TEST(Heatbath, Costs) {
  Chain chain(kSU3, testing::one(3), 1);
  const Heatbath options{2, Proposal::KennedyPendleton};
  EXPECT_EQ(heatbath_draws(kSU3, options), 30);
  chain.set_update(
      heatbath(kSU3, chain.u(), chain.v(), strength(chain, kSU3, 6), chain.uniforms(30), options));
  EXPECT_LT(chain.operations(), 1150);
  chain.set_update(overrelaxed(kSU3, chain.u(), chain.v()));
  EXPECT_LT(chain.operations(), 800);
  Chain quaternions(kSU2, testing::one(2), 1);
  const LinkType type{kSU2, Storage::Quaternion};
  const Matrix u = load(type, quaternions.uniforms(4)), v = load(type, quaternions.uniforms(4));
  quaternions.set_update(overrelaxed(kSU2, u, v));
  EXPECT_LT(quaternions.operations(), 90);
}

}  // namespace
}  // namespace vphi::gauge
