// Trajectories with pseudofermions on a fixed configuration of links, momenta and fields, which a
// hash of the number makes (h below): a few lines of any language give the same numbers, so that
// actions and forces of independent programs can be compared.
//
// U_mu(s) = exp(i scale sum_a r(1 + a + G(mu + d s)) T_a), momenta sqrt(3) r(2^20 + ...), and the
// components k = colour + N(spin + ns s) of phi r(2^21 + 1 + 2k) + i r(2^21 + 2 + 2k); s is the
// site, x fastest, G the number of generators. Kernels run in the interpreter, or on a device.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/gauge/numbers.hpp"
#include "tests/physics/gauge/fixed_machine.hpp"

namespace vphi::testing {

using gauge::testing::C;
using gauge::testing::Dense;

inline double hashed(std::uint32_t n) {
  n ^= n >> 16, n *= 0x85ebca6bU;
  n ^= n >> 13, n *= 0xc2b2ae35U;
  n ^= n >> 16;
  return static_cast<double>(n) / 2147483648.0 - 1;
}

/// sum_a w_a T_a with Gell-Mann's order of the generators; 1x1 for one colour.
inline Dense in_algebra(int n, const std::vector<double>& w) {
  Dense m(n);
  if (n == 1) {
    m(0, 0) = w[0];
    return m;
  }
  std::size_t a = 0;
  for (int q = 1; q < n; ++q) {
    for (int p = 0; p < q; ++p) {
      m(p, q) += C(w[a], -w[a + 1]) * 0.5, m(q, p) += C(w[a], w[a + 1]) * 0.5;
      a += 2;
    }
    const double norm = 0.5 * w[a++] / std::sqrt(q * (q + 1) / 2.0);
    for (int p = 0; p < q; ++p) m(p, p) += norm;
    m(q, q) -= q * norm;
  }
  return m;
}

class FixedQuarks {
 public:
  FixedQuarks(const std::string& text, int colours, int dims, int sites, double scale,
              int spins = 4,                   ///< 0: without a determinant
              const std::string& device = {})  ///< empty: the interpreter
      : compiled_(compile_text(text, setup_of(device))),
        program_(*compiled_.program),
        colours_(colours),
        dims_(dims),
        sites_(sites),
        spins_(spins),
        generators_(colours == 1 ? 1 : colours * colours - 1),
        run_(fixed_machine(compiled_, device)) {
    for (int s = 0; s < sites_; ++s)
      for (int mu = 0; mu < dims_; ++mu) links_.push_back(link(s, mu, scale));
    put_links(0);
    for (int k = 0; k < reals(); ++k) {
      std::vector<double>& phi = field("phi", k);
      for (int s = 0; s < sites_; ++s)
        phi[static_cast<std::size_t>(s)] =
            hashed((1U << 21U) + 1 + static_cast<std::uint32_t>(component(k, s)));
    }
  }

  /// Begins with other links, `links(s, mu)`.
  template <class Links>
  void start_from(const Links& links) {
    for (int s = 0; s < sites_; ++s)
      for (int mu = 0; mu < dims_; ++mu)
        links_[static_cast<std::size_t>(mu + dims_ * s)] = links(s, mu);
    put_links(0);
  }

  /// The fields are at odd sites alone (`even_odd = on`); `extent`: of the box.
  void at_odd_sites(const std::vector<int>& extent) {
    odd_.assign(static_cast<std::size_t>(sites_), 0);
    for (int s = 0; s < sites_; ++s) {
      int sum = 0, rest = s;
      for (const int n : extent) sum += rest % n, rest /= n;
      odd_[static_cast<std::size_t>(s)] = sum % 2;
    }
    for (int k = 0; k < reals(); ++k)
      for (int s = 0; s < sites_; ++s)
        if (!is_odd(s)) field("phi", k)[static_cast<std::size_t>(s)] = 0;
  }
  /// phi is 0 at odd sites, and S that of all sites.
  void at_even_sites(const std::vector<int>& extent) {
    std::vector<std::vector<double>> all;
    for (int k = 0; k < reals(); ++k) all.push_back(field("phi", k));
    at_odd_sites(extent);
    for (int k = 0; k < reals(); ++k)
      for (int s = 0; s < sites_; ++s) {
        const auto i = static_cast<std::size_t>(s);
        field("phi", k)[i] = is_odd(s) ? 0 : all[static_cast<std::size_t>(k)][i];
      }
    odd_.clear();
  }
  bool is_odd(int s) const { return odd_.empty() || odd_[static_cast<std::size_t>(s)] == 1; }

  /// phi of this eta by the kernels of the draw, at the links of the start: [site][spin][colour].
  std::vector<C> drawn(const std::vector<C>& eta) {
    const auto each = [&](const std::string& what, auto see) {
      for (int k = 0; k < reals(); ++k)
        for (int s = 0; s < sites_; ++s)
          see(field(what, k)[static_cast<std::size_t>(s)],
              static_cast<std::size_t>(component(k, s)));
    };
    each("y",
         [&](double& y, std::size_t i) { y = i % 2 == 0 ? eta[i / 2].real() : eta[i / 2].imag(); });
    std::vector<program::Launch> draws;
    for (const program::Launch& launch : program_.launches(0)) {
      const std::string& name = kernel_of(launch);
      for (const char* part : {"local", "inverse", "lifted_eta", "drawn"})
        if (name.starts_with(part)) draws.push_back(launch);
      if (is_energy(name)) break;
    }
    run_->launch(draws);
    std::vector<C> phi(eta.size());
    each("phi", [&](double& p, std::size_t i) { phi[i / 2] += i % 2 == 0 ? C(p, 0) : C(0, p); });
    return phi;
  }

  /// deltaH of a trajectory from fixed links and momenta; eta of the action number j is sqrt(3/2)
  /// times the numbers of phi, from 2^22 + 2^24 j on.
  double trajectory(const std::vector<std::string>& actions) {
    put_links(0);
    each_momentum([&](double& p, int s, int mu, int a) { p = momentum(place(s, mu, a)); });
    put_eta(actions);
    if (!turns_.empty()) {
      turn_momenta();
      for (const std::string& action : actions) turn(action + "_y", turns_);
    }
    std::vector<program::Launch> launches;
    for (const program::Launch& launch : program_.launches(0)) {
      if (kernel_of(launch) == "refresh") continue;
      if (kernel_of(launch) == "close") break;
      launches.push_back(launch);
    }
    run_->set_scalar("flow", 0);
    run_->launch(launches);
    return run_->scalar("deltaH");
  }

  /// The smallest and the largest eigenvalue of D adj(D) that a trajectory begins with.
  std::pair<double, double> ends() {
    put_links(0);
    put_eta({"quarks"});
    std::vector<program::Launch> launches;
    for (const program::Launch& launch : program_.launches(0)) {
      if (kernel_of(launch) == "refresh") continue;
      if (kernel_of(launch) != "energy_before") launches.push_back(launch);
      if (is_energy(kernel_of(launch))) break;
    }
    run_->launch(launches);
    return {scalar("smallest_eigenvalue_quarks"), scalar("largest_eigenvalue_quarks")};
  }

  double scalar(const std::string& name) const { return run_->scalar(name); }

  /// |phi|^2.
  double squared_field() {
    double sum = 0;
    for (int k = 0; k < reals(); ++k)
      for (const double value : field("phi", k)) sum += value * value;
    return sum;
  }
  /// The sum of |eta|^2 of these actions, which S is before a trajectory.
  double squared_eta(const std::vector<std::string>& actions) {
    put_eta(actions);
    double sum = 0;
    for (const std::string& action : actions)
      for (int k = 0; k < reals(); ++k) {
        const std::vector<double>& eta = run_->buffer(action + "_y_" + std::to_string(k + 1));
        for (int s = 0; s < sites_; ++s)
          if (is_odd(s)) sum += std::pow(eta[static_cast<std::size_t>(s)], 2);
      }
    return sum;
  }
  /// The mean of re tr P/N of the links of now.
  double plaquette(const std::vector<int>& extent) {
    std::vector<Dense> now;
    for (int s = 0; s < sites_; ++s)
      for (int mu = 0; mu < dims_; ++mu) now.push_back(present_link(s, mu));
    double sum = 0;
    for (int s = 0; s < sites_; ++s)
      for (int mu = 0; mu < dims_; ++mu)
        for (int nu = 0; nu < mu; ++nu) {
          const auto at = [&](int site, int axis) {
            return now[static_cast<std::size_t>(axis + dims_ * site)];
          };
          const Dense loop = at(s, mu) * at(next(s, mu, extent), nu) *
                             dagger(at(next(s, nu, extent), mu)) * dagger(at(s, nu));
          for (int i = 0; i < colours_; ++i) sum += loop(i, i).real();
        }
    return sum / (colours_ * sites_ * dims_ * (dims_ - 1) / 2.0);
  }
  std::size_t momenta() const { return static_cast<std::size_t>(sites_ * dims_ * generators_); }

  /// The sum of log|det R| at even sites after `action()`, of a local part that holds links; of the
  /// denominator too.
  double logarithm(bool below = false) {
    double sum = 0;
    for (const double own :
         run_->buffer(std::string("quarks_") + (below ? "below_" : "") + "logarithm_1"))
      sum += own;
    return sum;
  }
  /// S has weight*log|det R| of such a part, and weight_below times that of the denominator.
  void count_logarithms(double weight, double weight_below = 0) {
    logarithm_ = weight, logarithm_below_ = weight_below;
  }
  /// S is the product of phi and Y at odd sites; S has Y of all sites, though phi is at odd ones.
  void action_is_product() { product_ = true; }
  void sum_all_sites() { sums_all_ = true; }
  /// phi is 0: what is left of S is of the links alone.
  void without_fields() {
    for (int k = 0; k < reals(); ++k) std::ranges::fill(field("phi", k), 0.0);
  }

  /// S after the solves that a kick of `quarks` has, at the links exp(e p) U.
  double action(double e = 0) {
    const double own = action_of_fields(e);
    const double local = logarithm_ != 0 ? logarithm_ * logarithm() : 0;
    return own + local + (logarithm_below_ != 0 ? logarithm_below_ * logarithm(true) : 0);
  }
  /// S = |Y|^2, or of fractions.
  double action_of_fields(double e) {
    put_links(e);
    std::vector<program::Launch> solves;
    bool begun = false;
    for (const program::Launch& launch : program_.launches(0)) {
      const std::string& name = kernel_of(launch);
      const bool moves = name.starts_with("kick") || name == "next_flow" || name == "drift";
      if (moves && !solves.empty()) break;
      if (begun && !moves) solves.push_back(launch);
      begun = begun || is_energy(name);
    }
    run_->launch(solves);
    if (const auto density = density_of_fraction(); !density.empty()) {
      run_->launch(density);
      double sum = 0;
      for (const double own : run_->buffer("quarks_density")) sum += own;
      return sum;
    }
    double sum = 0;
    for (int k = 0; k < reals(); ++k) {
      const std::vector<double>&y = field("y", k), &other = field(product_ ? "phi" : "y", k);
      for (int s = 0; s < sites_; ++s)
        if (sums_all_ || is_odd(s))
          sum += y[static_cast<std::size_t>(s)] * other[static_cast<std::size_t>(s)];
    }
    return sum;
  }

  /// dS/de of the links exp(e p) U, by differences of the action.
  double slope() {
    const double e = 1e-3;
    return (8 * (action(e) - action(-e)) - action(2 * e) + action(-2 * e)) / (12 * e);
  }

  /// S of actions without fields of determinants, from H of links at rest.
  double energy(double e = 0) {
    put_links(e);
    each_momentum([](double& p, int, int, int) { p = 0; });
    std::vector<program::Launch> launches;
    for (const program::Launch& launch : program_.launches(0)) {
      const std::string& name = kernel_of(launch);
      if (name != "refresh") launches.push_back(launch);
      if (is_energy(name)) break;
    }
    run_->launch(launches);
    double sum = 0;
    for (const double own : run_->buffer("energy")) sum += own;
    return sum;
  }
  double energy_slope() {
    const double e = 1e-3;
    return (8 * (energy(e) - energy(-e)) - energy(2 * e) + energy(-2 * e)) / (12 * e);
  }

  /// The same derivative by the slopes of the kernels, along the momenta p.
  double along_momenta() {
    const std::vector<double> all = slopes();
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) sum += all[i] * momentum(i);
    return sum;
  }

  /// Replaces the links U_mu(x) by g(x) U_mu(x) g(x + mu)^+ with g at random, phi by g phi, and eta
  /// and the momenta of a trajectory likewise.
  void transform(const std::vector<int>& extent) {
    std::vector<Dense> g;
    for (int s = 0; s < sites_; ++s) {
      std::vector<double> w;
      for (int a = 0; a < generators_; ++a)
        w.push_back(2 * hashed((3U << 24U) + static_cast<std::uint32_t>(place(s, 0, a))));
      g.push_back(gauge::testing::exponential(C(0, 1) * in_algebra(colours_, w)));
    }
    turn("quarks_phi", g);
    turns_ = g;
    for (int s = 0; s < sites_; ++s) {
      for (int mu = 0; mu < dims_; ++mu) {
        Dense& u = links_[static_cast<std::size_t>(mu + dims_ * s)];
        u = g[static_cast<std::size_t>(s)] * u *
            dagger(g[static_cast<std::size_t>(next(s, mu, extent))]);
      }
    }
  }

  /// dS/dw_a of every link, from the kicks after `action()`: [site][axis][generator].
  std::vector<double> slopes() {
    each_momentum([](double& p, int, int, int) { p = 0; });
    std::vector<program::Launch> kicks;
    for (const program::Launch& launch : program_.launches(0)) {
      const std::string& name = kernel_of(launch);
      if (name == "drift" && !kicks.empty()) break;
      if (name.starts_with("kick_quarks") || name.starts_with("product_quarks"))
        kicks.push_back(launch);
    }
    run_->set_scalar("flow_length", -1);
    run_->launch(kicks);
    std::vector<double> all(static_cast<std::size_t>(sites_ * dims_ * generators_));
    each_momentum([&](double& p, int s, int mu, int a) { all[place(s, mu, a)] = p; });
    return all;
  }

  /// A trajectory, the momenta turned round, and another one with the same phi: how far the links
  /// have moved at most, and how far they are from the start in the end. Links are angles.
  std::pair<double, double> there_and_back() {
    put_links(0);
    std::vector<program::Launch> flows;
    for (const program::Launch& launch : program_.launches(0)) {
      const std::string& name = kernel_of(launch);
      if (name == "energy_after") break;
      if (is_energy(name))
        flows.clear();
      else
        flows.push_back(launch);
    }
    each_momentum([&](double& p, int s, int mu, int a) { p = momentum(place(s, mu, a)); });
    const auto gap = [&] {
      double most = 0;
      for (int mu = 0; mu < dims_; ++mu) {
        const auto& angles = run_->buffer(program_.state[static_cast<std::size_t>(mu)].buffer);
        for (int s = 0; s < sites_; ++s)
          most = std::max(
              most, std::abs(angles[static_cast<std::size_t>(s)] - std::arg(entry(s, mu, 0, 0))));
      }
      return most;
    };
    run_->set_scalar("flow", 0);
    run_->launch(flows);
    const double moved = gap();
    each_momentum([](double& p, int, int, int) { p = -p; });
    run_->set_scalar("flow", 0);
    run_->launch(flows);
    return {moved, gap()};
  }

  std::size_t place(int s, int mu, int a) const {
    return static_cast<std::size_t>(a + generators_ * (mu + dims_ * s));
  }
  double momentum(std::size_t place) const {
    return std::sqrt(3.0) * hashed((1U << 20U) + 1 + static_cast<std::uint32_t>(place));
  }
  C entry(int s, int mu, int i, int j) const {
    return links_[static_cast<std::size_t>(mu + dims_ * s)](i, j);
  }

 private:
  /// The next site along an axis.
  static int next(int s, int axis, const std::vector<int>& extent) {
    int stride = 1;
    for (int mu = 0; mu < axis; ++mu) stride *= extent[static_cast<std::size_t>(mu)];
    const int n = extent[static_cast<std::size_t>(axis)];
    return s + stride * (s / stride % n + 1 == n ? 1 - n : 1);
  }

  Dense present_link(int s, int mu) {
    const std::size_t count = stored(links_.front()).size();
    std::vector<double> v;
    for (std::size_t i = 0; i < count; ++i)
      v.push_back(run_->buffer(program_.state[static_cast<std::size_t>(mu) * count + i]
                                   .buffer)[static_cast<std::size_t>(s)]);
    Dense u(colours_);
    if (colours_ == 1) {
      u(0, 0) = std::polar(1.0, v[0]);
    } else if (colours_ == 2) {
      u(0, 0) = C(v[0], v[3]), u(0, 1) = C(v[2], v[1]);
      u(1, 0) = C(-v[2], v[1]), u(1, 1) = C(v[0], -v[3]);
    } else {
      for (std::size_t i = 0; i < u.v.size(); ++i) u.v[i] = C(v[2 * i], v[2 * i + 1]);
    }
    return u;
  }

  static Simulation setup_of(const std::string& device) {
    Simulation setup;
    if (!device.empty()) setup.device = device;
    return setup;
  }

  /// sqrt(3/2) times the numbers of phi, from 2^22 + 2^24 j on for the action number j.
  void put_eta(const std::vector<std::string>& actions) {
    for (std::size_t j = 0; j < actions.size(); ++j) {
      const auto first = (1U << 22U) + (static_cast<std::uint32_t>(j) << 24U) + 1;
      for (int k = 0; k < reals(); ++k) {
        auto& eta = run_->buffer(actions[j] + "_y_" + std::to_string(k + 1));
        for (int s = 0; s < sites_; ++s)
          eta[static_cast<std::size_t>(s)] =
              std::sqrt(1.5) * hashed(first + static_cast<std::uint32_t>(component(k, s)));
      }
    }
  }

  /// Replaces the spinors of these arrays by g of each site times them.
  void turn(const std::string& name, const std::vector<Dense>& g) {
    const auto part = [&](int spin, int colour, int im) -> std::vector<double>& {
      return run_->buffer(name + "_" + std::to_string(2 * (colour + colours_ * spin) + im + 1));
    };
    for (int s = 0; s < sites_; ++s) {
      const auto i = static_cast<std::size_t>(s);
      for (int spin = 0; spin < spins_; ++spin) {
        std::vector<C> psi, turned(static_cast<std::size_t>(colours_));
        for (int c = 0; c < colours_; ++c)
          psi.emplace_back(part(spin, c, 0)[i], part(spin, c, 1)[i]);
        for (int c = 0; c < colours_; ++c)
          for (int d = 0; d < colours_; ++d)
            turned[static_cast<std::size_t>(c)] += g[i](c, d) * psi[static_cast<std::size_t>(d)];
        for (int c = 0; c < colours_; ++c) {
          part(spin, c, 0)[i] = turned[static_cast<std::size_t>(c)].real();
          part(spin, c, 1)[i] = turned[static_cast<std::size_t>(c)].imag();
        }
      }
    }
  }
  /// p_a T_a becomes g p_a T_a g^+; tr T_a T_b is 1/2, of one colour 1.
  void turn_momenta() {
    std::vector<double> all(momenta());
    for (int s = 0; s < sites_; ++s)
      for (int mu = 0; mu < dims_; ++mu) {
        std::vector<double> p;
        for (int a = 0; a < generators_; ++a) p.push_back(momentum(place(s, mu, a)));
        const Dense& g = turns_[static_cast<std::size_t>(s)];
        const Dense moved = g * in_algebra(colours_, p) * dagger(g);
        for (int a = 0; a < generators_; ++a) {
          std::vector<double> unit(static_cast<std::size_t>(generators_));
          unit[static_cast<std::size_t>(a)] = 1;
          const Dense product = in_algebra(colours_, unit) * moved;
          double trace = 0;
          for (int c = 0; c < colours_; ++c) trace += product(c, c).real();
          all[place(s, mu, a)] = (colours_ == 1 ? 1 : 2) * trace;
        }
      }
    each_momentum([&](double& p, int s, int mu, int a) { p = all[place(s, mu, a)]; });
  }

  const std::string& kernel_of(const program::Launch& launch) const {
    return program_.kernels[static_cast<std::size_t>(launch.kernel)].name;
  }

  /// Whether a kernel sums the energy before a trajectory: on a GPU it may be one launch with what
  /// reads the same numbers, and has both names then.
  static bool is_energy(const std::string& name) { return name.ends_with("energy_before"); }

  /// The kernels that sum S of a power from its fractions; none elsewhere.
  std::vector<program::Launch> density_of_fraction() const {
    std::vector<program::Launch> found;
    for (const program::Launch& launch : program_.launches(0))
      if (kernel_of(launch).starts_with("density_phi_quarks")) found.push_back(launch);
    return found;
  }

  int reals() const { return 2 * spins_ * colours_; }

  /// Place of the number k of a site's spinor: arrays have spin outside, colour inside, re and im.
  int component(int k, int s) const {
    const int spin = k / 2 / colours_, colour = k / 2 % colours_;
    return 2 * (colour + colours_ * (spin + spins_ * s)) + k % 2;
  }
  std::vector<double>& field(const std::string& what, int k) {
    return run_->buffer("quarks_" + what + "_" + std::to_string(k + 1));
  }

  Dense link(int s, int mu, double scale) const {
    std::vector<double> w;
    for (int a = 0; a < generators_; ++a)
      w.push_back(scale * hashed(1 + static_cast<std::uint32_t>(place(s, mu, a))));
    return gauge::testing::exponential(C(0, 1) * in_algebra(colours_, w));
  }

  void put_links(double e) {
    for (int s = 0; s < sites_; ++s) {
      for (int mu = 0; mu < dims_; ++mu) {
        std::vector<double> p;
        for (int a = 0; a < generators_; ++a) p.push_back(e * momentum(place(s, mu, a)));
        const Dense u = gauge::testing::exponential(C(0, 1) * in_algebra(colours_, p)) *
                        links_[static_cast<std::size_t>(mu + dims_ * s)];
        const std::vector<double> numbers = stored(u);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          const auto k = static_cast<std::size_t>(mu) * numbers.size() + i;
          run_->buffer(program_.state[k].buffer)[static_cast<std::size_t>(s)] = numbers[i];
        }
      }
    }
  }

  std::vector<double> stored(const Dense& u) const {
    if (colours_ == 1) return {std::arg(u(0, 0))};
    if (colours_ == 2) return {u(0, 0).real(), u(0, 1).imag(), u(0, 1).real(), u(0, 0).imag()};
    std::vector<double> numbers;
    for (const C& z : u.v) numbers.push_back(z.real()), numbers.push_back(z.imag());
    return numbers;
  }

  template <class See>
  void each_momentum(See see) {
    static constexpr const char* kAxes = "xyzt";
    for (int mu = 0; mu < dims_; ++mu) {
      for (int a = 0; a < generators_; ++a) {
        auto& p = run_->buffer(std::string("momentum_") + kAxes[mu] + "_" + std::to_string(a + 1));
        for (int s = 0; s < sites_; ++s) see(p[static_cast<std::size_t>(s)], s, mu, a);
      }
    }
  }

  Compilation compiled_;
  const program::Program& program_;
  int colours_, dims_, sites_, spins_, generators_;
  std::unique_ptr<FixedMachine> run_;
  std::vector<Dense> links_;
  std::vector<Dense> turns_;  ///< of a gauge transformation; empty: none
  std::vector<int> odd_;      ///< 1 at odd sites; empty: the fields are at all sites
  double logarithm_ = 0, logarithm_below_ = 0;
  bool product_ = false, sums_all_ = false;
};

/// S of fixed fields, the square of its slopes and the slope along the momenta, by an independent
/// program; of SU(3) on 4 x 2 x 6 x 4 also the slopes of U_x(0), generator 1, and U_t(1,0,2,3),
/// generator 8.
struct KnownForces {
  double s, squares, along;
  double first = 0, last = 0;
};

/// All within `tolerance` of their values, or of 1 where these are smaller; `su3`: the two slopes
/// too.
/// Returns the slope along the momenta.
inline double expect_slopes(const FixedQuarks& quarks, const std::vector<double>& slopes,
                            const KnownForces& known, double tolerance, bool su3) {
  double squares = 0, along = 0;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    squares += slopes[i] * slopes[i];
    along += slopes[i] * quarks.momentum(i);
  }
  const auto near = [&](double slope, double value) {
    EXPECT_NEAR(slope, value, tolerance * std::max(1.0, std::abs(value)));
  };
  near(squares, known.squares);
  near(along, known.along);
  if (su3) {
    near(slopes[quarks.place(0, 0, 0)], known.first);
    near(slopes[quarks.place(1 + 4 * 2 * (2 + 6 * 3), 3, 7)], known.last);
  }
  return along;
}

/// Returns the slope along the momenta.
inline double expect_forces(FixedQuarks& quarks, const KnownForces& known, bool su3) {
  EXPECT_NEAR(quarks.action(), known.s, 1e-9 * known.s);
  return expect_slopes(quarks, quarks.slopes(), known, 1e-9, su3);
}

}  // namespace vphi::testing
