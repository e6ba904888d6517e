#include "tools/oracle/link_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "compiler/interpret/interpret.hpp"
#include "tools/oracle/both_sides.hpp"

namespace vphi::tools {
namespace {

constexpr const char* kAxes[] = {"x", "y", "z", "t"};

/// Coordinates z_a of i z_a T_a, of a matrix in the algebra; of U(1) its imaginary part.
std::vector<long double> coordinates(const std::vector<Complex>& a, const WrittenField& links) {
  if (links.phase) return {a.at(0).imag()};
  const auto n = static_cast<std::size_t>(links.colours);
  std::vector<long double> result;
  for (int g = 0; g < links.colours * links.colours - 1; ++g) {
    const std::vector<Complex> t = link_generator(links.colours, g);
    Complex trace = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) trace += t[i * n + j] * a[j * n + i];
    result.push_back(2 * trace.imag());
  }
  return result;
}

/// Both sides, and the one gauge field.
struct Sides {
  Sides(const dsl::Resolved& resolved, const physics::System& given)
      : system(given), text(resolved), derived(given) {
    prepare_sides(resolved, given, text, derived);
    auto all = links_of(text, given);
    if (all.size() != 1) throw NotCovered{{}, "another number of gauge fields than one"};
    links.emplace(std::move(all.front()));
  }
  void show_derived() {
    for (const int array : links->arrays()) derived.arrays[array] = links->stored(array);
    derived.changed();
  }
  void put(kernel::Interpreter& kernels, const schedule::Plan& plan) {
    for (const int array : links->arrays()) {
      const auto values = links->stored(array);
      auto& buffer = kernels.buffer(plan.buffer_of.at(static_cast<std::size_t>(array)));
      for (std::size_t s = 0; s < values.size(); ++s) buffer[s] = static_cast<double>(values[s]);
    }
  }
  void take(kernel::Interpreter& kernels, const schedule::Plan& plan) {
    links->read([&](int array, int site) {
      return kernels.buffer(plan.buffer_of.at(static_cast<std::size_t>(array)))
          .at(static_cast<std::size_t>(site));
    });
  }
  std::vector<std::vector<Complex>> matrices() const {
    std::vector<std::vector<Complex>> all;
    for (int s = 0; s < text.box.sites(); ++s)
      for (int axis = 0; axis < text.box.dims; ++axis) all.push_back(links->matrix(s, axis));
    return all;
  }

  const physics::System& system;
  Written text;
  DerivedValue derived;
  std::optional<StoredLinks> links;
};

/// U V^+ of two links.
std::vector<Complex> between(const std::vector<Complex>& u, const std::vector<Complex>& v) {
  const auto n = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(u.size()))));
  std::vector<Complex> result(u.size());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k)
        result[i * n + j] += u[i * n + k] * std::conj(v[j * n + k]);
  return result;
}

// ---- flows --------------------------------------------------------------------------------------

constexpr int kLinkStates = 3;
constexpr double kSmallStep = 0x1p-14;
/// The error allowed from two small steps: (w(h/2)*4 - w(h))/h has the error h^2 times the third
/// derivative.
constexpr double kOfSmallSteps = 1e-5;

void compare_rates(Sides& sides, const physics::EquationFact& own, const physics::LinkFlow& flow,
                   std::vector<DerivativeRow>& rows) {
  const StoredLinks& links = *sides.links;
  std::vector<Filling> all;
  for (int axis = 0; axis < sides.text.box.dims; ++axis)
    all.emplace_back(DerivativeRow{
        fmt::format("{}[{}]'", links.field().name, kAxes[axis]), "its equation", 0, 0, {}});
  for (const physics::Update& update : flow.gradients)
    for (const auto& [array, value] : update.values) sides.derived.made[array] = value;
  for (unsigned state = 0; state < kLinkStates; ++state) {
    std::mt19937_64 random(911 + state);
    sides.links->draw(random);
    sides.show_derived();
    const int site = static_cast<int>(random() % static_cast<unsigned>(sides.text.box.sites()));
    for (int axis = 0; axis < sides.text.box.dims; ++axis) {
      const auto written =
          coordinates(sides.text.link_rate(own, links.field(), site, axis), links.field());
      std::vector<long double> derived(written.size());  // links without a rate stay
      for (const physics::Update& rate : flow.rates) {
        if (!rate.name.ends_with(std::string("_") + kAxes[axis])) continue;
        for (std::size_t a = 0; a < derived.size(); ++a)
          derived[a] = sides.derived.at(rate.values.at(a).second, sides.text.box.place(site));
      }
      for (std::size_t a = 0; a < written.size(); ++a)
        all[static_cast<std::size_t>(axis)].take(derived[a], written[a]);
    }
  }
  for (Filling& f : all) rows.push_back(f.done());
}

/// Coordinates that each link has turned by in one step of length h.
std::vector<std::vector<long double>> turned(Sides& sides, const dsl::Resolved& resolved,
                                             double h) {
  physics::System system = sides.system;
  system.dt_physical *= h / system.dt;
  system.dt = h;
  const schedule::Plan plan = plan_in_f64(system, resolved);
  kernel::Interpreter kernels(plan);
  kernels.start();
  sides.put(kernels, plan);
  sides.take(kernels, plan);  // as the buffers have them
  const auto before = sides.matrices();
  kernels.step();
  sides.take(kernels, plan);
  const auto after = sides.matrices();
  std::vector<std::vector<long double>> result;
  for (std::size_t i = 0; i < before.size(); ++i)
    result.push_back(coordinates(between(after[i], before[i]), sides.links->field()));
  return result;
}

void compare_small_steps(Sides& sides, const dsl::Resolved& resolved,
                         const physics::EquationFact& own, std::vector<DerivativeRow>& rows) {
  DerivativeRow row{sides.links->field().name + "'", "small steps of its equation", 0, 0, {}};
  row.allowed = kOfSmallSteps;
  Filling filling(row);
  std::mt19937_64 random(4099);
  sides.links->draw(random);
  const auto values = sides.links->field().values;
  const auto whole = turned(sides, resolved, kSmallStep);
  sides.links->field().values = values;
  const auto half = turned(sides, resolved, kSmallStep / 2);
  sides.links->field().values = values;
  const int dims = sides.text.box.dims;
  for (int axis = 0; axis < dims; ++axis) {
    const int site = static_cast<int>(random() % static_cast<unsigned>(sides.text.box.sites()));
    const auto written = coordinates(sides.text.link_rate(own, sides.links->field(), site, axis),
                                     sides.links->field());
    const auto i = static_cast<std::size_t>(site * dims + axis);
    for (std::size_t a = 0; a < written.size(); ++a)
      filling.take((4 * half[i][a] - whole[i][a]) / kSmallStep, written[a]);
  }
  rows.push_back(filling.done());
}

// ---- Markov chains ------------------------------------------------------------------------------

constexpr int kWarm = 40;      ///< sweeps before the first that counts
constexpr int kBatch = 4;      ///< sweeps whose mean is one number for the error
constexpr int kFewest = 16;    ///< batches
constexpr int kMost = 40000;   ///< the most links evaluated, each along one generator
constexpr int kLinks = 64;     ///< of a sweep, at most
constexpr double kErrors = 5;  ///< standard errors that a mean may deviate
/// Bounds of the error allowed: a coupling that is wrong by the fraction c makes the error 1 - 1/(1
/// + c).
constexpr double kRough = 0.075, kFine = 0.04;

/// The launches of one sweep that are overrelaxation, or those that draw.
std::vector<program::Launch> launches_of(const schedule::Plan& plan, bool overrelaxation) {
  std::vector<program::Launch> launches;
  for (const program::Launch& launch : plan.program.launches(0)) {
    const auto& name = plan.kernels.at(static_cast<std::size_t>(launch.kernel)).name;
    if (name.starts_with("overrelax") == overrelaxation) launches.push_back(launch);
  }
  return launches;
}

void compare_overrelaxation(Sides& sides, kernel::Interpreter& kernels, const schedule::Plan& plan,
                            std::vector<DerivativeRow>& rows) {
  const auto launches = launches_of(plan, true);
  if (launches.empty()) return;
  Filling filling({"S after overrelaxation", "S before", 0, 0, {}});
  std::mt19937_64 random(77);
  sides.links->draw(random);
  sides.put(kernels, plan);
  sides.take(kernels, plan);
  const long double before = sides.text.action();
  const auto old = sides.matrices();
  kernels.launch(launches);
  sides.take(kernels, plan);
  filling.take(sides.text.action(), before);
  long double moved = 0;
  const auto now = sides.matrices();
  for (std::size_t i = 0; i < old.size(); ++i)
    for (std::size_t k = 0; k < old[i].size(); ++k) moved += std::norm(now[i][k] - old[i][k]);
  if (moved < 0.01L * static_cast<long double>(old.size())) filling.stop("no link has moved");
  rows.push_back(filling.done());
}

/// Links along each axis are drawn anew, if not all of them in one sweep.
void compare_moved(Sides& sides, kernel::Interpreter& kernels, const schedule::Plan& plan,
                   std::vector<DerivativeRow>& rows) {
  const auto launches = launches_of(plan, false);
  std::vector<bool> moved(static_cast<std::size_t>(sides.text.box.dims));
  for (int sweep = 0; sweep < kWarm; ++sweep) {
    kernels.step();
    sides.take(kernels, plan);
    const auto before = sides.matrices();
    kernels.launch(launches);
    sides.take(kernels, plan);
    const auto after = sides.matrices();
    for (std::size_t i = 0; i < before.size(); ++i)
      if (after[i] != before[i]) moved[i % moved.size()] = true;
  }
  Filling filling({"axes along which links of " + sides.links->field().name + " are drawn",
                   "the axes of the lattice",
                   0,
                   0,
                   {}});
  filling.take(std::count(moved.begin(), moved.end(), true), sides.text.box.dims);
  rows.push_back(filling.done());
}

/// Links of Z(N), from one root to another: D is the change of S, and t/(1 + exp(D)) with
/// t = tanh(D/2) has the mean 0, since a pair of roots is met as often from either of them.
void compare_roots(Sides& sides, kernel::Interpreter& kernels, const schedule::Plan& plan,
                   const std::string& method, std::vector<DerivativeRow>& rows) {
  std::mt19937_64 random(1234);
  compare_moved(sides, kernels, plan, rows);
  const WrittenField& links = sides.links->field();
  const auto any = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  DerivativeRow row{"<f(D)> of exchanged " + links.name, "S", 0, 0, {}};
  std::vector<long double> means;
  long double size = 0, mean = 0, error = 0;
  const int count = std::min(kLinks, sides.text.box.sites() * sides.text.box.dims);
  while (row.points < 3 * kMost) {
    long double sum = 0;
    for (int sweep = 0; sweep < kBatch; ++sweep) {
      kernels.step();
      sides.take(kernels, plan);
      for (int i = 0; i < count; ++i, ++row.points) {
        const int site = any(sides.text.box.sites()), axis = any(sides.text.box.dims);
        for (int n = 1; n < links.roots; ++n) {
          const long double change = sides.text.turned_by(
              links, site, axis, 2 * std::numbers::pi_v<long double> * n / links.roots);
          const long double f = std::tanh(change / 2) / (1 + std::exp(change));
          sum += f;
          size += std::fabs(f * change) / 2;
        }
      }
    }
    means.push_back(sum);
  }
  const auto n = static_cast<long double>(means.size());
  for (const long double x : means) mean += x / n;
  for (const long double x : means) error += (x - mean) * (x - mean);
  error = std::sqrt(error / (n * (n - 1)));
  size /= n;
  row.source = fmt::format("S, {} sweeps of {}", means.size() * kBatch, method);
  row.deviation = static_cast<double>(std::fabs(mean) / size);
  row.allowed = static_cast<double>(kErrors * error / size);
  if (!(row.allowed < kRough) && !(row.deviation >= row.allowed))
    row.not_checked = fmt::format("its mean is known to {:.2g} alone", row.allowed / kErrors);
  rows.push_back(std::move(row));
}

void compare_weight(Sides& sides, kernel::Interpreter& kernels, const schedule::Plan& plan,
                    const std::string& method, std::vector<DerivativeRow>& rows) {
  std::mt19937_64 random(1234);
  sides.links->draw(random, 0.3L);
  sides.put(kernels, plan);
  compare_moved(sides, kernels, plan, rows);
  std::vector<long double> means, curvatures;
  const auto any = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  DerivativeRow row{"<(dS/dw)^2 - d2S/dw2> of " + sides.links->field().name, "S", 0, 0, {}};
  long double mean = 0, error = 0, curvature = 0;
  const int links = std::min(kLinks, sides.text.box.sites() * sides.text.box.dims);
  for (int batch = 0; row.points < kMost; ++batch) {
    long double sum = 0, second = 0;
    for (int sweep = 0; sweep < kBatch; ++sweep) {
      kernels.step();
      sides.take(kernels, plan);
      for (int i = 0; i < links; ++i) {
        const auto slope =
            sides.text.along_link(sides.links->field(), any(sides.text.box.sites()),
                                  any(sides.text.box.dims), any(sides.links->generators()));
        sum += slope.first * slope.first - slope.second;
        second += slope.second;
        ++row.points;
      }
    }
    means.push_back(sum / (kBatch * links));
    curvatures.push_back(second / (kBatch * links));
    const auto n = static_cast<long double>(means.size());
    mean = curvature = error = 0;
    for (std::size_t i = 0; i < means.size(); ++i) {
      mean += means[i] / n;
      curvature += curvatures[i] / n;
    }
    for (const long double x : means) error += (x - mean) * (x - mean);
    error = std::sqrt(error / (n * (n - 1)));
    if (batch + 1 < kFewest) continue;
    // go on while the result is undecided
    const long double off = std::fabs(mean), allowed = kErrors * error;
    if (off > 2 * allowed || allowed < kFine * std::fabs(curvature)) break;
    if (off < allowed / 2 && allowed < kRough * std::fabs(curvature)) break;
  }
  row.source = fmt::format("S, {} sweeps of {}", means.size() * kBatch, method);
  row.deviation = static_cast<double>(std::fabs(mean / curvature));
  row.allowed = static_cast<double>(kErrors * error / std::fabs(curvature));
  // without a curvature there is nothing to compare with; a mean far off is found however rough
  if (!(row.allowed < kRough) && !(row.deviation >= row.allowed))
    row.not_checked = fmt::format("its mean is known to {:.2g} of d2S/dw2 alone after {} sweeps",
                                  row.allowed / kErrors, means.size() * kBatch);
  rows.push_back(std::move(row));
}

}  // namespace

std::vector<DerivativeRow> check_flow(const dsl::Resolved& resolved, const physics::System& system,
                                      const physics::LinkFlow& flow) {
  std::vector<DerivativeRow> rows;
  Sides sides(resolved, system);
  const physics::EquationFact* own = sides.text.facts().equation(sides.links->field().name);
  if (!own) throw NotCovered{{}, "links that flow without an equation"};
  compare_rates(sides, *own, flow, rows);
  compare_small_steps(sides, resolved, *own, rows);
  return rows;
}

std::vector<DerivativeRow> check_chain(const dsl::Resolved& resolved, const physics::System& system,
                                       const physics::MarkovChain& chain) {
  std::vector<DerivativeRow> rows;
  Sides sides(resolved, system);
  const schedule::Plan plan = plan_in_f64(system, resolved);
  kernel::Interpreter kernels(plan);
  kernels.start();
  compare_overrelaxation(sides, kernels, plan, rows);
  if (sides.links->field().roots > 0)
    compare_roots(sides, kernels, plan, chain.method, rows);
  else if (chain.method != "overrelax")
    compare_weight(sides, kernels, plan, chain.method, rows);
  return rows;
}

}  // namespace vphi::tools
