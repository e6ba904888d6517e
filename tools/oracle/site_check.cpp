#include "tools/oracle/site_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <random>

#include "compiler/interpret/interpret.hpp"
#include "tools/oracle/both_sides.hpp"

namespace vphi::tools {
namespace {

constexpr int kSettle = 200;  ///< sweeps before the first that counts
constexpr int kOfBatch = 4;   ///< sweeps whose mean is one number for the error
constexpr int kLeast = 32;    ///< batches
constexpr int kManyPoints = 320000;
constexpr int kSitesOfSweep = 64;
constexpr double kStandardErrors = 5;
constexpr long double kPi = std::numbers::pi_v<long double>;
/// Bounds of the error allowed: a coupling that is wrong by the fraction c makes it about c.
constexpr double kRoughError = 0.06, kFineError = 0.04;

class SiteComparison {
 public:
  SiteComparison(const dsl::Resolved& resolved, const physics::System& system,
                 const physics::MarkovChain& chain)
      : system_(system), chain_(chain), text_(resolved), derived_(system), random_(1234) {
    prepare_sides(resolved, system, text_, derived_);
    plan_.emplace(plan_in_f64(system, resolved));
    kernels_.emplace(*plan_);
    kernels_->start();
    for (const physics::Variable& v : system_.variables) {
      const auto at = standing(text_, v.shown);
      if (!at) throw NotCovered{{}, "what " + v.shown + " is in the text"};
      positions_.push_back({v.array, *at});
    }
    for (const physics::Update& update : chain_.updates)
      for (const auto& [array, value] : update.values)
        for (const Position& p : positions_)
          if (p.array == array && !std::ranges::count(moving_, p.at.field))
            moving_.push_back(p.at.field);
  }

  std::vector<DerivativeRow> rows() {
    for (int sweep = 0; sweep < kSettle; ++sweep) kernels_->step();
    take();
    compare_overrelaxation();
    if (chain_.method == "overrelax") return std::move(rows_);
    compare_moved();
    for (WrittenField* field : moving_) compare_weight(*field);
    return std::move(rows_);
  }

 private:
  struct Position {
    int array = 0;
    RunPosition at;
  };
  long double& value(WrittenField& f, int site, std::size_t real) {
    return f.values[static_cast<std::size_t>(site * f.reals()) + real];
  }

  /// The state of the kernels, in the text.
  void take() {
    for (const Position& p : positions_) {
      const auto& buffer = kernels_->buffer(plan_->buffer_of.at(static_cast<std::size_t>(p.array)));
      for (int site = 0; site < text_.box.sites(); ++site) {
        const long double x = buffer.at(static_cast<std::size_t>(site));
        value(*p.at.field, site, p.at.real) = x;
        if (p.at.mirror) value(*p.at.field, site, *p.at.mirror) = x;
      }
    }
  }

  std::vector<program::Launch> overrelaxations() const {
    std::vector<program::Launch> launches;
    for (const program::Launch& launch : plan_->program.launches(0)) {
      const auto& name = plan_->kernels.at(static_cast<std::size_t>(launch.kernel)).name;
      if (name.starts_with("overrelax")) launches.push_back(launch);
    }
    return launches;
  }

  int any(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  /// Values of all fields that move, one after the other.
  std::vector<long double> state() const {
    std::vector<long double> all;
    for (const WrittenField* f : moving_) all.insert(all.end(), f->values.begin(), f->values.end());
    return all;
  }

  void compare_overrelaxation() {
    const auto launches = overrelaxations();
    if (launches.empty()) return;
    Filling filling({"S after overrelaxation", "S before", 0, 0, {}});
    if (chain_.method == "overrelax") {  // nothing has drawn the state: it is set here
      std::normal_distribution<double> normal;
      for (const Position& p : positions_) {
        if (!std::ranges::count(moving_, p.at.field) || p.at.field->norm > 0) continue;
        auto& buffer = kernels_->buffer(plan_->buffer_of.at(static_cast<std::size_t>(p.array)));
        for (double& x : buffer) x = 1 + normal(random_);
      }
      take();
    }
    const long double before = text_.action();
    const auto old = state();
    kernels_->launch(launches);
    take();
    filling.take(text_.action(), before);
    filling.size(static_cast<long double>(text_.box.sites()));
    const auto now = state();
    std::size_t moved = 0;
    for (std::size_t i = 0; i < old.size(); ++i) moved += old[i] != now[i] ? 1 : 0;
    if (moved * 10 < old.size() && moved < static_cast<std::size_t>(text_.box.sites()) / 2)
      filling.stop("hardly a value has moved");
    rows_.push_back(filling.done());
  }

  /// Every component of every field that moves takes another value somewhere; discrete values are
  /// those allowed, vectors have their length.
  void compare_moved() {
    std::vector<bool> moved(positions_.size());
    bool allowed = true;
    for (int sweep = 0; sweep < kOfBatch * kLeast; ++sweep) {
      std::vector<std::vector<double>> before;
      for (const Position& p : positions_)
        before.push_back(kernels_->buffer(plan_->buffer_of.at(static_cast<std::size_t>(p.array))));
      kernels_->step();
      for (std::size_t i = 0; i < positions_.size(); ++i)
        if (before[i] !=
            kernels_->buffer(plan_->buffer_of.at(static_cast<std::size_t>(positions_[i].array))))
          moved[i] = true;
      take();
      for (WrittenField* f : moving_) allowed = allowed && permitted(*f);
    }
    for (WrittenField* f : moving_) {
      int all = 0, changed = 0;
      for (std::size_t i = 0; i < positions_.size(); ++i) {
        if (positions_[i].at.field != f) continue;
        ++all;
        changed += moved[i] ? 1 : 0;
      }
      Filling filling({"numbers of " + f->name + " that are drawn", "numbers at a site", 0, 0, {}});
      filling.take(changed, all);
      rows_.push_back(filling.done());
      if (f->allowed.empty() && f->norm == 0) continue;
      Filling values({f->norm > 0 ? "the length of " + f->name : "the values of " + f->name,
                      "its line",
                      0,
                      0,
                      {}});
      values.take(allowed ? 1 : 0, 1);
      rows_.push_back(values.done());
    }
  }

  bool permitted(WrittenField& f) {
    for (int site = 0; site < text_.box.sites(); ++site) {
      if (!f.allowed.empty() &&
          std::find(f.allowed.begin(), f.allowed.end(), value(f, site, 0)) == f.allowed.end())
        return false;
      if (f.norm == 0) continue;
      long double square = 0;
      for (int i = 0; i < f.reals(); i += 2)
        square += std::pow(value(f, site, static_cast<std::size_t>(i)), 2);
      if (std::fabs(std::sqrt(square) / f.norm - 1) > 1e-12L) return false;
    }
    return true;
  }

  /// Means that must vanish, at one site: the first of the identities, then the others, with a 1
  /// and with each neighbour.
  struct Point {
    std::vector<long double> values;
    std::vector<long double> sizes;  ///< what a wrong coupling would change the means by
    void add(std::size_t i, long double value, long double size) {
      if (i >= values.size()) {
        values.resize(i + 1);
        sizes.resize(i + 1);
      }
      values[i] += value;
      sizes[i] += size;
    }
  };

  /// Values of the neighbours of a site along each axis.
  std::vector<int> neighbours(int site) const {
    std::vector<int> result;
    for (int axis = 0; axis < text_.box.dims; ++axis) {
      const auto k = static_cast<std::size_t>(axis);
      for (const int step : {1, -1}) {
        Place p = text_.box.place(site);
        p[k] += step;
        p = text_.box.after_shifts(p);
        for (std::size_t j = 0; j < 4; ++j)
          p[j] = (p[j] % text_.box.extent[j] + text_.box.extent[j]) % text_.box.extent[j];
        if (text_.box.site(p) != site) result.push_back(text_.box.site(p));
      }
    }
    return result;
  }

  /// A direction w in which the value moves: `move` sets the value at w, `with(y)` gives the first
  /// two derivatives at w = 0 of a product with the neighbour y.
  template <typename Move, typename With>
  void slopes(Point& point, WrittenField& f, int site, const Move& move, const With& with) {
    const long double h = text_.step;
    std::array<long double, 3> s{};
    for (int k = -1; k <= 1; ++k) {
      move(k * h);
      s[static_cast<std::size_t>(k + 1)] = text_.action_near(f, site);
    }
    move(0);
    const long double first = (s[2] - s[0]) / (2 * h);
    const long double second = ((s[2] - s[1]) - (s[1] - s[0])) / (h * h);
    point.add(0, first * first - second, first * first);
    point.add(1, first, std::fabs(first));
    std::size_t i = 2;
    for (const int y : neighbours(site)) {
      const std::pair<long double, long double> g = with(y);
      point.add(i++, first * g.first - g.second, std::fabs(first * g.first) + std::fabs(g.second));
    }
  }

  Point point(WrittenField& f, int site) {
    Point sum;
    if (!f.allowed.empty()) {
      exchange(sum, f, site);
      return sum;
    }
    const auto rows = static_cast<std::size_t>(f.rows);
    for (std::size_t i = 0; f.norm > 0 && i < rows; ++i)
      for (std::size_t j = i + 1; j < rows; ++j) {
        const long double x = value(f, site, 2 * i), y = value(f, site, 2 * j);
        slopes(
            sum, f, site,
            [&](long double w) {
              value(f, site, 2 * i) = w == 0 ? x : std::cos(w) * x - std::sin(w) * y;
              value(f, site, 2 * j) = w == 0 ? y : std::sin(w) * x + std::cos(w) * y;
            },
            [&](int other) {
              const long double u = value(f, other, 2 * i), v = value(f, other, 2 * j);
              return std::pair(x * v - y * u, -x * u - y * v);
            });
      }
    for (int number = 0; f.norm == 0 && number < f.reals(); number += f.complex ? 1 : 2) {
      const auto real = static_cast<std::size_t>(number);
      long double& u = value(f, site, real);
      const long double here = u;
      slopes(
          sum, f, site, [&](long double w) { u = here + w; },
          [&](int other) {
            const long double v = value(f, other, real), turn = 2 * kPi / f.period;
            if (f.period == 0) return std::pair(v, 0.0L);
            return std::pair(-turn * std::sin(turn * (here - v)),
                             -turn * turn * std::cos(turn * (here - v)));
          });
    }
    return sum;
  }

  /// Over all other values: a pair of values is met as often from either of its states.
  void exchange(Point& point, WrittenField& f, int site) {
    long double& s = value(f, site, 0);
    const long double here = s, before = text_.action_near(f, site);
    const auto [least, most] = std::minmax_element(f.allowed.begin(), f.allowed.end());
    const long double middle = (*least + *most) / 2, half = (*most - *least) / 2;
    for (const long double other : f.allowed) {
      if (other == here) continue;
      s = other;
      const long double change = text_.action_near(f, site) - before;
      const long double share = 1 / (1 + std::exp(change));
      const long double even = std::tanh(change / 2) * share, odd = other > here ? share : -share;
      point.add(0, even, std::fabs(even * change) / 2);
      point.add(1, odd, share / 2);
      std::size_t i = 2;
      for (const int y : neighbours(site)) {
        const long double g = (value(f, y, 0) - middle) / half;
        point.add(i++, odd * g, share * std::fabs(g) / 2);
      }
    }
    s = here;
  }

  void compare_weight(WrittenField& f) {
    const bool discrete = !f.allowed.empty();
    DerivativeRow row{discrete ? "<f(D)> of exchanged " + f.name : "<g dS/dw - dg/dw> of " + f.name,
                      "S",
                      0,
                      0,
                      {}};
    std::vector<std::vector<long double>> means;  // [batch][identity]
    std::vector<long double> sizes;
    const int sites = std::min(kSitesOfSweep, text_.box.sites());
    double worst = 0;
    while (row.points < kManyPoints) {
      Point batch;
      for (int sweep = 0; sweep < kOfBatch; ++sweep) {
        kernels_->step();
        take();
        for (int i = 0; i < sites; ++i) {
          const Point p = point(f, any(text_.box.sites()));
          for (std::size_t k = 0; k < p.values.size(); ++k) batch.add(k, p.values[k], p.sizes[k]);
          ++row.points;
        }
      }
      means.push_back(batch.values);
      sizes.resize(batch.values.size());
      for (std::size_t k = 0; k < sizes.size(); ++k) sizes[k] += batch.sizes[k];
      if (means.size() < kLeast || means.size() % 8 != 0) continue;
      // the identity that is furthest off, or else the one that is known worst
      const auto n = static_cast<long double>(means.size());
      bool off = false, known = true, decided = true;
      worst = row.deviation = row.allowed = 0;
      for (std::size_t k = 0; k < sizes.size(); ++k) {
        long double mean = 0, error = 0;
        for (const auto& all : means) mean += all[k] / n;
        for (const auto& all : means) error += (all[k] - mean) * (all[k] - mean);
        error = std::sqrt(error / (n * (n - 1)));
        const long double size = sizes[k] / n, away = std::fabs(mean);
        const long double within = kStandardErrors * error;
        if (size == 0) continue;  // nothing depends on it
        off = off || away > 2 * within;
        known = known && within < kFineError * size;
        decided = decided && away < within / 2 && within < kRoughError * size;
        const auto ratio = static_cast<double>(within > 0 ? away / within : (away > 0 ? 1e9L : 0));
        worst = std::max(worst, static_cast<double>(within / size));
        if (ratio < row.deviation / std::max(row.allowed, 1e-300) && row.allowed > 0) continue;
        row.deviation = static_cast<double>(away / size);
        row.allowed = static_cast<double>(within / size);
      }
      if (off || known || decided) break;
    }
    row.source = fmt::format("S, {} sweeps of {}", means.size() * kOfBatch, chain_.method);
    if (!(worst < kRoughError) && !(row.deviation >= row.allowed))
      row.not_checked = fmt::format("a mean is known to {:.2g} of its parts alone after {} sweeps",
                                    worst / kStandardErrors, means.size() * kOfBatch);
    rows_.push_back(std::move(row));
  }

  const physics::System& system_;
  const physics::MarkovChain& chain_;
  Written text_;
  DerivedValue derived_;
  std::mt19937_64 random_;
  std::optional<schedule::Plan> plan_;
  std::optional<kernel::Interpreter> kernels_;
  std::vector<Position> positions_;
  std::vector<WrittenField*> moving_;
  std::vector<DerivativeRow> rows_;
};

}  // namespace

std::vector<DerivativeRow> check_site_chain(const dsl::Resolved& resolved,
                                            const physics::System& system,
                                            const physics::MarkovChain& chain) {
  return SiteComparison(resolved, system, chain).rows();
}

}  // namespace vphi::tools
