#include "tools/oracle/gauge_check.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/interpret/interpret.hpp"
#include "compiler/physics/chains/gauge_fixing.hpp"
#include "tools/oracle/both_sides.hpp"

namespace vphi::tools {
namespace {

using physics::LinearSystem;
using physics::NamedFact;
using SquareMatrix = std::vector<Complex>;

constexpr const char* kNamed = "gauge of ";  ///< before the name of the links in LinearSystem::name

SquareMatrix times(const SquareMatrix& x, const SquareMatrix& y, std::size_t n) {
  SquareMatrix result(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) result[i * n + j] += x[i * n + k] * y[k * n + j];
  return result;
}

SquareMatrix adjoint(const SquareMatrix& x, std::size_t n) {
  SquareMatrix result(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) result[i * n + j] = std::conj(x[j * n + i]);
  return result;
}

class GaugeComparison {
 public:
  GaugeComparison(const dsl::Resolved& resolved, const physics::System& system)
      : resolved_(resolved), system_(system), text_(resolved), derived_(system) {}

  std::vector<DerivativeRow> rows() {
    std::vector<DerivativeRow> result;
    for (const LinearSystem& solve : system_.solves) {
      if (!physics::relaxation_of(solve)) continue;
      const std::string links = solve.name.substr(std::string(kNamed).size());
      try {
        compare(solve, links, result);
      } catch (const NotCovered& end) {
        result.push_back({"theta of " + links, "its M", 0, 0, end.what});
      } catch (const std::exception& end) {
        result.push_back({"theta of " + links, "its M", 0, 0, end.what()});
      }
    }
    return result;
  }

 private:
  void compare(const LinearSystem& solve, const std::string& name,
               std::vector<DerivativeRow>& rows) {
    const NamedFact* fact = text_.facts().find(name);
    if (!fact || !fact->value || fact->value->args.size() != 2)
      throw NotCovered{solve.span, "a gauge that no definition names"};
    m_ = fact->value->args[1].get();
    const std::string base = fact->value->args[0]->args[0]->text;
    if (!text_.box.dims) prepare_sides(resolved_, system_, text_, derived_);
    std::vector<StoredLinks> all = links_of(text_, system_);
    const auto own =
        std::ranges::find_if(all, [&](const StoredLinks& one) { return one.field().name == base; });
    if (own == all.end()) throw NotCovered{solve.span, "the gauge of links of a definition"};
    StoredLinks& links = *own;
    std::mt19937_64 random(1917);
    for (StoredLinks& one : all) one.draw(random);
    n_ = static_cast<std::size_t>(links.field().phase ? 1 : links.field().colours);
    run(solve, all);
    const std::vector<SquareMatrix> g = turns(solve);
    const long double before = sum();
    const std::vector<SquareMatrix> turned = turn(links, g);
    const long double after = sum();
    Filling theta({"theta of " + name, "the slopes of its M", 0, 0, {}});
    theta.size(1e-6L);  // of D itself, whose rounding is 1e-16
    theta.take(std::sqrt(scalar(solve.residual)), std::sqrt(slopes(links)));
    DerivativeRow row = theta.done();
    if (after <= before) row.deviation = 1;  // nothing became larger
    rows.push_back(row);
    rows.push_back(made(links, name, turned));
  }

  // ---- the run

  /// All launches of the first list that finds this gauge, with a few rounds of each solve.
  void run(const LinearSystem& solve, const std::vector<StoredLinks>& all) {
    constexpr std::int64_t kRounds = 3;  // of this gauge one: what is left is far above rounding
    plan_.emplace(plan_in_f64(system_, resolved_));
    program::Program& p = plan_->program;
    for (program::Solve& one : p.solves)
      one.max = one.name == solve.name ? 1 : std::min(one.max, kRounds);
    kernels_ = std::make_unique<kernel::Interpreter>(*plan_);
    kernels_->start();
    for (const StoredLinks& links : all)
      for (const int array : links.arrays()) {
        const auto values = links.stored(array);
        for (std::size_t s = 0; s < values.size(); ++s)
          buffer(array)[s] = static_cast<double>(values[s]);
      }
    std::vector<const std::vector<program::Launch>*> lists{&p.watch_before, &p.watch,
                                                           &p.watch_then};
    for (const program::Output& output : p.outputs)
      lists.insert(lists.end(), {&output.averages, &output.before, &output.launches, &output.then});
    for (const auto* list : lists) {
      const bool finds = std::ranges::any_of(*list, [&](const program::Launch& l) {
        return l.solve >= 0 && p.solves.at(static_cast<std::size_t>(l.solve)).name == solve.name;
      });
      if (!finds) continue;
      kernels_->launch(*list);
      return;
    }
    throw NotCovered{solve.span, "a gauge that no output asks for"};
  }

  std::vector<double>& buffer(int array) {
    return kernels_->buffer(plan_->buffer_of.at(static_cast<std::size_t>(array)));
  }
  double scalar(const std::string& name) const { return kernels_->scalar(name); }

  /// g(x) from its stored numbers: an angle, a quaternion a0 + i a.sigma, or a matrix.
  std::vector<SquareMatrix> turns(const LinearSystem& solve) {
    std::vector<SquareMatrix> result;
    for (int s = 0; s < text_.box.sites(); ++s) {
      std::vector<long double> x;
      for (const int array : solve.arrays) x.push_back(buffer(array)[static_cast<std::size_t>(s)]);
      if (x.size() == 1) x = {std::cos(x[0]), std::sin(x[0])};
      if (n_ == 2 && x.size() == 4) x = {x[0], x[3], x[2], x[1], -x[2], x[1], x[0], -x[3]};
      SquareMatrix g;
      for (std::size_t i = 0; i + 1 < x.size(); i += 2) g.emplace_back(x[i], x[i + 1]);
      result.push_back(std::move(g));
    }
    return result;
  }

  // ---- the text

  int next(int site, int axis, int steps) const {
    Place p = text_.box.place(site);
    const auto k = static_cast<std::size_t>(axis);
    const int extent = text_.box.extent[k];
    p[k] = (p[k] + steps + extent) % extent;
    return text_.box.site(p);
  }

  /// Turns the links of the text; the result is [site][axis].
  std::vector<SquareMatrix> turn(StoredLinks& links, const std::vector<SquareMatrix>& g) {
    std::vector<SquareMatrix> all;
    for (int s = 0; s < text_.box.sites(); ++s)
      for (int k = 0; k < text_.box.dims; ++k) {
        const auto here = static_cast<std::size_t>(s);
        const auto there = static_cast<std::size_t>(next(s, k, 1));
        all.push_back(times(times(g[here], links.matrix(s, k), n_), adjoint(g[there], n_), n_));
        links.set_matrix(s, k, all.back());
      }
    return all;
  }

  /// Re tr M at a site.
  long double density(int site) {
    const Place p = text_.box.place(site);
    const Numbers m = text_.value(*m_, &p);
    if (m.parts.size() != n_ * n_) throw NotCovered{m_->span, "an M of another shape than links"};
    long double trace = 0;
    for (std::size_t i = 0; i < n_; ++i) trace += m.parts[i * n_ + i].real();
    return trace;
  }

  long double sum() {
    long double all = 0;
    for (int s = 0; s < text_.box.sites(); ++s) all += density(s);
    return all;
  }

  /// Multiplies the links that begin and end at a site by r and r^+.
  void turn_site(StoredLinks& links, int site, const SquareMatrix& r) {
    for (int k = 0; k < text_.box.dims; ++k) {
      links.set_matrix(site, k, times(r, links.matrix(site, k), n_));
      const int before = next(site, k, -1);
      links.set_matrix(before, k, times(links.matrix(before, k), adjoint(r, n_), n_));
    }
  }

  /// The sum over the sites whose M may read links at this site, after it was turned by r.
  long double near_turned(StoredLinks& links, int site, const SquareMatrix& r,
                          const std::vector<int>& reach) {
    const std::vector<long double> kept = links.field().values;
    turn_site(links, site, r);
    long double all = 0;
    for (const int other : reach) all += density(other);
    links.field().values = kept;
    return all;
  }

  /// Sites whose M changes when this one is turned.
  std::vector<int> reach_of(StoredLinks& links, int site) {
    std::vector<long double> old;
    for (int s = 0; s < text_.box.sites(); ++s) old.push_back(density(s));
    const std::vector<long double> kept = links.field().values;
    SquareMatrix r(n_ * n_);
    for (std::size_t i = 0; i < n_ * n_; ++i)
      r[i] = std::polar(1.0L, 0.7L + static_cast<long double>(i));
    turn_site(links, site, r);
    std::vector<int> reach;
    for (int s = 0; s < text_.box.sites(); ++s)
      if (density(s) != old[static_cast<std::size_t>(s)]) reach.push_back(s);
    links.field().values = kept;
    return reach;
  }

  /// The mean of tr(D D^+)/n: of SU(n) 2/n times the squares of the slopes along i T_a, of U(1) the
  /// square of the slope along i.
  long double slopes(StoredLinks& links) {
    const Place origin = text_.box.place(0);
    std::vector<Place> reach;
    for (const int s : reach_of(links, 0)) reach.push_back(text_.box.place(s));
    const int n = static_cast<int>(n_), count = n == 1 ? 1 : n * n - 1;
    long double all = 0;
    for (int s = 0; s < text_.box.sites(); ++s) {
      std::vector<int> sites;
      for (const Place& p : reach) {
        Place at = text_.box.place(s);
        for (std::size_t k = 0; k < at.size(); ++k)
          at[k] = (at[k] + p[k] - origin[k] + text_.box.extent[k]) % text_.box.extent[k];
        sites.push_back(text_.box.site(at));
      }
      for (int a = 0; a < count; ++a) {
        SquareMatrix up(n_ * n_), down(n_ * n_);
        if (n == 1) {
          up[0] = Complex(0, 1), down[0] = Complex(0, -1);
        } else {
          const SquareMatrix t = link_generator(n, a);
          for (std::size_t i = 0; i < t.size(); ++i) {
            const Complex one = i % (n_ + 1) == 0 ? 1 : 0;
            up[i] = one + Complex(0, 1) * t[i];
            down[i] = one - Complex(0, 1) * t[i];
          }
        }
        const long double slope =
            (near_turned(links, s, up, sites) - near_turned(links, s, down, sites)) / 2;
        all += slope * slope;
      }
    }
    return (n == 1 ? 1 : 2.0L / n) * all / text_.box.sites();
  }

  /// V from the run against g U g^+@mu.
  DerivativeRow made(StoredLinks& links, const std::string& name,
                     const std::vector<SquareMatrix>& turned) {
    Filling filling({name, "g U g^+", 0, 0, {}});
    const auto& first = links.arrays();
    const std::size_t reals = first.size() / static_cast<std::size_t>(text_.box.dims);
    std::vector<bool> there(static_cast<std::size_t>(text_.box.dims));
    std::map<int, int> place;  // array of U -> array of V
    for (int k = 0; k < text_.box.dims; ++k)
      for (const LinearSystem& solve : system_.solves) {
        if (solve.name != fmt::format("{} along {}", name, algebra::kAxisNames[k])) continue;
        there[static_cast<std::size_t>(k)] = std::ranges::any_of(solve.arrays, [&](int array) {
          return std::ranges::any_of(buffer(array), [](double x) { return x != 0; });
        });
        for (std::size_t i = 0; i < reals; ++i)
          place[first[static_cast<std::size_t>(k) * reals + i]] = solve.arrays[i];
      }
    links.read([&](int array, int site) -> long double {
      const auto to = place.find(array);
      return to == place.end() ? 0 : buffer(to->second)[static_cast<std::size_t>(site)];
    });
    for (int s = 0; s < text_.box.sites(); ++s)
      for (int k = 0; k < text_.box.dims; ++k) {
        if (!there[static_cast<std::size_t>(k)]) continue;
        const SquareMatrix v = links.matrix(s, k);
        const SquareMatrix& w = turned[static_cast<std::size_t>(s * text_.box.dims + k)];
        for (std::size_t i = 0; i < v.size(); ++i) {
          filling.take(v[i].real(), w[i].real());
          filling.take(v[i].imag(), w[i].imag());
        }
      }
    return filling.done();
  }

  const dsl::Resolved& resolved_;
  const physics::System& system_;
  Written text_;
  DerivedValue derived_;
  const dsl::Expr* m_ = nullptr;
  std::size_t n_ = 1;
  std::optional<schedule::Plan> plan_;
  std::unique_ptr<kernel::Interpreter> kernels_;
};

}  // namespace

std::vector<DerivativeRow> check_gauges(const dsl::Resolved& resolved,
                                        const physics::System& system) {
  return GaugeComparison(resolved, system).rows();
}

}  // namespace vphi::tools
