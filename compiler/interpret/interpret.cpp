#include "compiler/interpret/interpret.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <numbers>
#include <stdexcept>
#include <unordered_map>

#include "compiler/algebra/op_cases.hpp"
#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/stencil_columns.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/interpret/tape.hpp"
#include "compiler/kernel/draw.hpp"
#include "compiler/kernel/slabs.hpp"
#include "program/fourier_map.hpp"

namespace vphi::kernel {
namespace {

using algebra::Node;
using algebra::Offset;
using algebra::Op;

constexpr int kLanes = 8;

/// Site counted from 0 along each axis.
using Site = std::array<std::int64_t, 4>;

/// Value of `field` at `site` plus `offset`, with the kernel's boundaries.
double read_at(const Kernel& kernel, const double* field, Site site, Offset offset) {
  double sign = 1;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    const std::int64_t n = kernel.extent[axis];
    std::int64_t i = site[axis] + offset.d[axis];
    if (i < 0 || i >= n) {
      const std::int64_t wrapped = ((i % n) + n) % n;
      switch (kernel.boundary[axis]) {
        case Boundary::Periodic:
          i = wrapped;
          break;
        case Boundary::Antiperiodic:
          if (((i - wrapped) / n) % 2 != 0) sign = -sign;
          i = wrapped;
          break;
        case Boundary::Fixed:
          return kernel.fixed_value;
        case Boundary::Neumann:  // mirrored at the face between the last site and the next
          i = i < 0 ? -1 - i : 2 * n - 1 - i;
          i = std::clamp<std::int64_t>(i, 0, n - 1);
          break;
        case Boundary::Outflow:
          i = std::clamp<std::int64_t>(i, 0, n - 1);
          break;
        case Boundary::Absorbing:
          throw std::invalid_argument("the interpreter does not know this boundary");
      }
    }
    site[axis] = i;
  }
  const auto& e = kernel.extent;
  const std::int64_t at = ((site[3] * e[2] + site[2]) * e[1] + site[1]) * e[0] + site[0];
  return sign * field[at];
}

}  // namespace

struct Interpreter::State {
  explicit State(const schedule::Plan& p) : plan(p) {
    for (const program::Buffer& buffer : plan.program.buffers) {
      const auto sites = static_cast<std::size_t>(plan.program.sites() * plan.program.instances);
      current.emplace_back(sites, 0.0);
      next.emplace_back(buffer.doubled ? sites : 0, 0.0);
    }
    for (const program::Scalar& scalar : plan.program.scalars) {
      slot_of.emplace(scalar.name, static_cast<int>(scalars.size()));
      scalars.push_back(scalar.initial);
    }
    slots = scalars.size();
    for (std::int64_t i = 1; i < plan.program.instances; ++i)
      scalars.insert(scalars.end(), scalars.begin(),
                     scalars.begin() + static_cast<std::ptrdiff_t>(slots));
  }

  const schedule::Plan& plan;
  std::vector<std::vector<double>> current, next;
  std::vector<double> scalars;  ///< [instance][slot]
  std::size_t slots = 0;
  std::int64_t steps = 0;    ///< done
  bool in_place = false;     ///< sites of a colour are stored one by one, not when all are done
  std::size_t instance = 0;  ///< the one that is computed now
  std::unordered_map<std::string, int> slot_of;

  double& scalar(const std::string& name) {
    return scalars[instance * slots + static_cast<std::size_t>(slot_of.at(name))];
  }
  /// First site of the present instance.
  std::size_t origin() const { return instance * static_cast<std::size_t>(plan.program.sites()); }

  std::map<std::pair<const algebra::Arena*, int>, algebra::ColumnPlan> row_plans;

  std::size_t buffer_of(int array) const {
    return static_cast<std::size_t>(plan.buffer_of.at(static_cast<std::size_t>(array)));
  }

  const algebra::ColumnPlan& row_plan(const Node& node) {
    const auto key = std::make_pair(node.arena, node.index);
    const auto found = row_plans.find(key);
    if (found != row_plans.end()) return found->second;
    return row_plans
        .emplace(key, algebra::column_plan(algebra::row_plan(node.arena->stencil_data(node.index))))
        .first->second;
  }

  /// Number of a site among those of all instances, for its random numbers.
  std::uint64_t walker(const Kernel& kernel, const Site& site) {
    const auto& e = kernel.extent;
    const std::int64_t at = ((site[3] * e[2] + site[2]) * e[1] + site[1]) * e[0] + site[0];
    const auto which = kernel.random.instance.empty()
                           ? static_cast<std::int64_t>(instance)
                           : static_cast<std::int64_t>(scalar(kernel.random.instance));
    return static_cast<std::uint64_t>(which * kernel.sites() + at);
  }

  template <class Real>
  Real stencil(const Kernel& kernel, const Node& node, const Site& site) {
    const double* field = current[buffer_of(node.args[0]->index)].data() + origin();
    const Real sum = algebra::sum_of_rows<Real>(row_plan(node), [&](Offset offset) {
      return static_cast<Real>(read_at(kernel, field, site, offset));
    });
    const algebra::StencilData& data = node.arena->stencil_data(node.index);
    if (data.denominator == 1 && data.dx_power == 0) return sum;
    const long double factor = std::pow(static_cast<long double>(kernel.dx), data.dx_power) /
                               static_cast<long double>(data.denominator);
    return static_cast<Real>(factor) * sum;
  }

  /// Every term in f64, in the order of the sites.
  double pair_sum(const Kernel& kernel, const Node& sum, const Site& site) {
    double total = 0;
    for (std::int64_t j = 0; j < kernel.extent[0]; ++j) {
      if (sum.index != 0 && j == site[0]) continue;
      total += algebra::evaluate(
          sum.args[0], {[&](const Node& leaf) -> double {
            const Site at = algebra::is_other(leaf) ? Site{j, 0, 0, 0} : site;
            if (leaf.op == Op::Load) {
              return read_at(kernel, current[buffer_of(leaf.index)].data() + origin(), at, {});
            }
            if (leaf.op == Op::Site) return static_cast<double>(at[0]);
            return scalar(leaf.name);
          }});
    }
    return total;
  }

  template <class Real>
  void evaluate(const Kernel& kernel, const Tape& tape, const Site& site,
                std::vector<Real>& values) {
    values.resize(tape.operations.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Tape::Operation& operation = tape.operations[i];
      const Node& node = *operation.node;
      switch (operation.op) {
        case Op::Number:
          values[i] = static_cast<Real>(node.number.real);
          break;
        case Op::Symbol:
          values[i] = static_cast<Real>(scalar(node.name));
          break;
        case Op::Load:
          values[i] = static_cast<Real>(
              read_at(kernel, current[buffer_of(node.index)].data() + origin(), site, node.offset));
          break;
        case Op::Site:
          values[i] = static_cast<Real>(site[static_cast<std::size_t>(node.index)]);
          break;
        case Op::Normal:
        case Op::Uniform:
          values[i] = draw<Real>(kernel.random, operation.op, node.index, walker(kernel, site),
                                 static_cast<std::uint64_t>(scalar(kernel.random.step)));
          break;
        case Op::Stencil:
          values[i] = stencil<Real>(kernel, node, site);
          break;
        case Op::PairSum:
          values[i] = static_cast<Real>(pair_sum(kernel, node, site));
          break;
        case Op::Lookup:
          values[i] = static_cast<Real>(algebra::table_entry(
              algebra::table_of(*operation.node), static_cast<double>(values[operation.args[1]])));
          break;
        case VPHI_ARITHMETIC:
        case VPHI_ORDERED_ARITHMETIC:
        case VPHI_DEVICE_FUNCTIONS:
        case VPHI_CONDITIONS:
        case VPHI_SITE_REDUCTIONS:
#include "compiler/algebra/function_cases.def"
        case Op::Noise:
        case Op::Atan2:
        case Op::Min:
        case Op::Max:
        case Op::Select:
        case Op::Count_:
          values[i] = apply<Real>(operation.op, operation.args, values);
      }
    }
  }

  /// Sum, minimum or maximum over the sites of a task, and over the tasks, as kernel.hpp says.
  struct Reducer {
    ReduceKind kind = ReduceKind::Sum;
    bool compensated = false;
    std::array<double, kLanes> lanes{}, carries{};
    double total = 0;
    bool first_task = true;

    double neutral() const {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      if (kind == ReduceKind::Sum) return 0;
      return kind == ReduceKind::Minimum ? kInfinity : -kInfinity;
    }
    double join(double a, double b) const {
      if (kind == ReduceKind::Sum) return a + b;
      if (kind == ReduceKind::Minimum) return b < a ? b : a;
      return a < b ? b : a;
    }
    void begin_task() {
      lanes.fill(neutral());
      carries.fill(0);
    }
    void add(double value, std::int64_t x) {
      const auto lane = static_cast<std::size_t>(x % kLanes);
      if (!compensated) {
        lanes[lane] = join(lanes[lane], value);
        return;
      }
      const double corrected = value - carries[lane];
      const double next = lanes[lane] + corrected;
      carries[lane] = (next - lanes[lane]) - corrected;
      lanes[lane] = next;
    }
    void end_task() {
      if (compensated) {
        for (std::size_t j = 0; j < kLanes; ++j) lanes[j] -= carries[j];
      }
      for (std::size_t j = kLanes / 2; j > 0; j /= 2) {
        for (std::size_t k = 0; k < j; ++k) lanes[k] = join(lanes[k], lanes[k + j]);
      }
      total = first_task ? lanes[0] : join(total, lanes[0]);
      first_task = false;
    }
  };

  /// A kernel's expressions as tapes, made once.
  struct KernelTapes {
    Tape site;
    std::vector<int> stores, reductions;
    std::vector<std::pair<Tape, int>> epilogue;
  };

  std::vector<std::unique_ptr<KernelTapes>> ready;

  const KernelTapes& tapes_of(std::size_t kernel_index) {
    if (ready.size() < plan.kernels.size()) ready.resize(plan.kernels.size());
    auto& slot = ready[kernel_index];
    if (slot) return *slot;
    slot = std::make_unique<KernelTapes>();
    const Kernel& kernel = plan.kernels[kernel_index];
    for (const Store& store : kernel.stores) slot->stores.push_back(slot->site.add(store.value));
    for (const Reduction& reduction : kernel.reductions) {
      slot->reductions.push_back(slot->site.add(reduction.value));
    }
    for (const ScalarAssign& assign : kernel.epilogue) {
      auto& [tape, at] = slot->epilogue.emplace_back();
      at = tape.add(assign.value);
    }
    return *slot;
  }

  template <class Real>
  void sweep(const Kernel& kernel, const KernelTapes& tapes_of) {
    const auto& [tape, stores, reductions, unused] = tapes_of;
    std::vector<Reducer> reducers;
    for (const Reduction& reduction : kernel.reductions) {
      Reducer& reducer = reducers.emplace_back();
      reducer.kind = reduction.kind;
      reducer.compensated = kernel.sum == SumKind::Kahan && kernel.compute == Precision::F64 &&
                            reduction.kind == ReduceKind::Sum;
    }
    // Values are stored when every site is done: nothing that is read can be overwritten.
    std::vector<std::vector<double>> results(stores.size());
    std::vector<Real> values;
    const auto& n = kernel.extent;
    const int colour = kernel.colours ? static_cast<int>(scalar(kernel.colours->slot)) : 0;
    const auto counts = [&](const Site& site) {
      if (!kernel.colours) return true;
      const Colours& c = *kernel.colours;
      return site[static_cast<std::size_t>(c.axis)] % c.modulus == c.first_along(site, colour);
    };
    std::vector<std::size_t> places;  // of the sites of a colour
    const std::int64_t unit_length = piece_of_row(n);
    const std::int64_t in_a_row = (n[0] + unit_length - 1) / unit_length;
    const std::int64_t units = in_a_row * n[1] * n[2] * n[3];
    const std::int64_t tasks = tasks_of_rows(n, units);
    for (std::int64_t task = 0; task < tasks; ++task) {
      for (Reducer& reducer : reducers) reducer.begin_task();
      for (std::int64_t unit = units * task / tasks; unit < units * (task + 1) / tasks; ++unit) {
        const std::int64_t row = unit / in_a_row, x0 = unit % in_a_row * unit_length;
        Site site{0, row % n[1], row / n[1] % n[2], row / (n[1] * n[2])};
        for (site[0] = x0; site[0] < std::min(x0 + unit_length, n[0]); ++site[0]) {
          if (!counts(site)) continue;
          evaluate<Real>(kernel, tape, site, values);
          const auto place = static_cast<std::size_t>(row * n[0] + site[0]);
          for (std::size_t i = 0; i < reducers.size(); ++i) {
            reducers[i].add(values[static_cast<std::size_t>(reductions[i])], site[0]);
          }
          if (kernel.colours && in_place) {
            for (std::size_t i = 0; i < stores.size(); ++i) {
              store_one(kernel, kernel.stores[i].array, place,
                        values[static_cast<std::size_t>(stores[i])]);
            }
            continue;
          }
          if (kernel.colours) places.push_back(place);
          for (std::size_t i = 0; i < stores.size(); ++i) {
            results[i].push_back(values[static_cast<std::size_t>(stores[i])]);
          }
        }
      }
      for (Reducer& reducer : reducers) reducer.end_task();
    }
    for (std::size_t i = 0; i < stores.size(); ++i) {
      if (!kernel.colours) store(kernel, kernel.stores[i].array, results[i]);
      for (std::size_t k = 0; k < places.size(); ++k) {
        store_one(kernel, kernel.stores[i].array, places[k], results[i][k]);
      }
    }
    for (std::size_t i = 0; i < reducers.size(); ++i) {
      set(kernel.reductions[i].slot, reducers[i].total);
    }
  }

  void store(const Kernel& kernel, int array, std::vector<double>& values) {
    const ArrayParam* param = kernel.find(array);
    if (!param) throw std::invalid_argument("store to an undeclared array");
    if (param->store == Precision::F32) {
      for (double& value : values) value = static_cast<float>(value);
    }
    auto& field = (param->next ? next : current)[buffer_of(array)];
    std::copy(values.begin(), values.end(), field.begin() + static_cast<std::ptrdiff_t>(origin()));
  }

  void store_one(const Kernel& kernel, int array, std::size_t place, double value) {
    const ArrayParam* param = kernel.find(array);
    if (!param) throw std::invalid_argument("store to an undeclared array");
    if (param->store == Precision::F32) value = static_cast<float>(value);
    current[buffer_of(array)][origin() + place] = value;
  }

  void set(const std::string& name, double value) { scalar(name) = value; }

  void epilogue(const Kernel& kernel, const KernelTapes& tapes_of) {
    std::vector<double> values;
    for (std::size_t i = 0; i < kernel.epilogue.size(); ++i) {
      const auto& [tape, at] = tapes_of.epilogue[i];
      evaluate<double>(kernel, tape, {}, values);
      set(kernel.epilogue[i].slot, values[static_cast<std::size_t>(at)]);
    }
  }

  void swap_next(const Kernel& kernel) {
    for (const ArrayParam& array : kernel.arrays) {
      const auto buffer = static_cast<std::size_t>(buffer_of(array.array));
      if (array.next) std::swap(current[buffer], next[buffer]);
    }
  }

  void run(const program::Launch& launch) {
    const auto index = static_cast<std::size_t>(launch.kernel);
    const Kernel& kernel = plan.kernels.at(index);
    const KernelTapes& tapes = tapes_of(index);
    const auto instances = static_cast<std::size_t>(plan.program.instances);
    for (instance = 0; instance < instances; ++instance) {
      if (!kernel.still.empty() && scalar(kernel.still) != 0) continue;
      for (std::int64_t step = 0; step < kernel.together; ++step) {
        if (step > 0) swap_next(kernel);  // what the step before has stored
        if (!kernel.stores.empty() || !kernel.reductions.empty()) {
          if (kernel.compute == Precision::F32) {
            sweep<float>(kernel, tapes);
          } else {
            sweep<double>(kernel, tapes);
          }
        }
        epilogue(kernel, tapes);
      }
    }
    instance = 0;
    for (const int buffer : launch.swap) {
      std::swap(current[static_cast<std::size_t>(buffer)], next[static_cast<std::size_t>(buffer)]);
    }
  }

  // ---- maps in Fourier space: sums of waves, axis by axis ---------------------------------------

  using Modes = std::vector<std::complex<double>>;

  /// sum_x f(x) exp(sign*2 pi i n x/N) along every axis.
  Modes summed(Modes values, double sign) const {
    const auto& extent = plan.program.extent;
    std::size_t stride = 1;
    for (std::size_t axis = 0; axis < 4; ++axis) {
      const auto n = static_cast<std::size_t>(extent[axis]);
      std::vector<std::complex<double>> wave(n);
      for (std::size_t i = 0; i < n; ++i)
        wave[i] = std::polar(
            1.0, sign * 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
      Modes sums(values.size());
      for (std::size_t site = 0; site < values.size(); ++site) {
        const std::size_t mode = site / stride % n, first = site - mode * stride;
        for (std::size_t i = 0; i < n; ++i)
          sums[site] += wave[mode * i % n] * values[first + i * stride];
      }
      values = std::move(sums);
      stride *= n;
    }
    return values;
  }

  void make(const program::FourierMap& map) {
    const program::Program& p = plan.program;
    const auto sites = static_cast<std::size_t>(p.sites());
    for (std::int64_t i = 0; i < p.instances; ++i) {
      instance = static_cast<std::size_t>(i);
      if (p.stop_slot >= 0 &&
          scalars[instance * slots + static_cast<std::size_t>(p.stop_slot)] != 0)
        continue;
      std::vector<Modes> from, to(map.to.size(), Modes(sites));
      for (const int b : map.from) {
        const auto& values = current[static_cast<std::size_t>(b)];
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(origin());
        from.push_back(summed({first, first + static_cast<std::ptrdiff_t>(sites)}, -1));
      }
      for (std::size_t mode = 0; mode < sites; ++mode) {
        std::array<double, 4> theta{};
        auto rest = static_cast<std::int64_t>(mode);
        for (std::size_t axis = 0; axis < 4; ++axis) {
          theta[axis] = program::phase_of(rest % p.extent[axis], p.extent[axis]);
          rest /= p.extent[axis];
        }
        const program::ModeMatrix matrix = program::mode_of(map, theta, p.dx);
        for (std::size_t r = 0; r < to.size(); ++r)
          for (std::size_t c = 0; c < from.size(); ++c)
            to[r][mode] += std::complex<double>(matrix[r * from.size() + c]) * from[c][mode];
      }
      for (std::size_t r = 0; r < to.size(); ++r) {
        const Modes values = summed(std::move(to[r]), 1);
        const auto b = static_cast<std::size_t>(map.to[r]);
        const bool single = p.buffers[b].precision == program::Precision::F32;
        for (std::size_t site = 0; site < sites; ++site) {
          const double value = values[site].real() / static_cast<double>(sites);
          current[b][origin() + site] = single ? static_cast<float>(value) : value;
        }
      }
    }
    instance = 0;
  }
};

Interpreter::Interpreter(const schedule::Plan& plan) : state_(std::make_unique<State>(plan)) {}
Interpreter::~Interpreter() = default;

void Interpreter::launch(const std::vector<program::Launch>& launches) {
  const program::Program& p = state_->plan.program;
  for (const program::Launch& l : launches) {
    state_->run(l);
    for (const int map : l.maps) state_->make(p.maps.at(static_cast<std::size_t>(map)));
    if (l.solve < 0) continue;
    const program::Solve& solve = p.solves.at(static_cast<std::size_t>(l.solve));
    const auto running = [&] {
      for (std::int64_t i = 0; i < p.instances; ++i)
        if (scalar(solve.done_slot, i) == 0) return true;
      return false;
    };
    for (std::int64_t i = 0; i < solve.max && running(); ++i) launch(solve.iterate);
    launch(solve.finish);
  }
}
void Interpreter::colours_in_place(bool on) { state_->in_place = on; }
void Interpreter::start() { launch(state_->plan.program.prologue); }
void Interpreter::step(int count) {
  for (int i = 0; i < count; ++i) launch(state_->plan.program.launches(state_->steps++));
}
void Interpreter::watch() { launch(state_->plan.program.watch); }
void Interpreter::output(int number) {
  launch(state_->plan.program.outputs.at(static_cast<std::size_t>(number)).launches);
}

std::vector<double>& Interpreter::buffer(int index) {
  return state_->current.at(static_cast<std::size_t>(index));
}
std::vector<double>& Interpreter::buffer(const std::string& name) {
  const auto& buffers = state_->plan.program.buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].name == name) return state_->current[i];
  }
  throw std::invalid_argument("no buffer is called " + name);
}
double Interpreter::scalar(int slot, std::int64_t instance) const {
  return state_->scalars.at(static_cast<std::size_t>(instance) * state_->slots +
                            static_cast<std::size_t>(slot));
}
double Interpreter::scalar(const std::string& name, std::int64_t instance) const {
  return scalar(state_->slot_of.at(name), instance);
}
void Interpreter::set_scalar(const std::string& name, double value, std::int64_t instance) {
  const auto slot = static_cast<std::size_t>(state_->slot_of.at(name));
  state_->scalars.at(static_cast<std::size_t>(instance) * state_->slots + slot) = value;
}

}  // namespace vphi::kernel
