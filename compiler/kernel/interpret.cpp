#include "compiler/kernel/interpret.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <unordered_map>

#include "compiler/algebra/stencil.hpp"
#include "compiler/kernel/tape.hpp"

namespace vphi::kernel {
namespace {

using algebra::Node;
using algebra::Offset;
using algebra::Op;

constexpr int kLanes = 8;

/// Site counted from 0 along each axis.
using Site = std::array<std::int64_t, 4>;

/// Value of `field` at `site` plus `offset`, with the kernel's boundaries.
double read_at(const Kernel& kernel, const std::vector<double>& field, Site site, Offset offset) {
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
        default:
          throw std::invalid_argument("the interpreter does not know this boundary");
      }
    }
    site[axis] = i;
  }
  const auto& e = kernel.extent;
  const std::int64_t at = ((site[3] * e[2] + site[2]) * e[1] + site[1]) * e[0] + site[0];
  return sign * field[static_cast<std::size_t>(at)];
}

}  // namespace

struct Interpreter::State {
  explicit State(const schedule::Plan& p) : plan(p) {
    for (const program::Buffer& buffer : plan.program.buffers) {
      const auto sites = static_cast<std::size_t>(plan.program.sites());
      current.emplace_back(sites, 0.0);
      next.emplace_back(buffer.doubled ? sites : 0, 0.0);
    }
    for (const program::Scalar& scalar : plan.program.scalars) {
      slot_of.emplace(scalar.name, static_cast<int>(scalars.size()));
      scalars.push_back(scalar.initial);
    }
  }

  const schedule::Plan& plan;
  std::vector<std::vector<double>> current, next;
  std::vector<double> scalars;
  std::unordered_map<std::string, int> slot_of;
  std::map<std::pair<const algebra::Arena*, int>, algebra::RowPlan> row_plans;

  std::size_t buffer_of(int array) const {
    return static_cast<std::size_t>(plan.buffer_of.at(static_cast<std::size_t>(array)));
  }

  const algebra::RowPlan& row_plan(const Node& node) {
    const auto key = std::make_pair(node.arena, node.index);
    const auto found = row_plans.find(key);
    if (found != row_plans.end()) return found->second;
    return row_plans.emplace(key, algebra::row_plan(node.arena->stencil_data(node.index)))
        .first->second;
  }

  template <class Real>
  Real stencil(const Kernel& kernel, const Node& node, const Site& site) {
    const std::vector<double>& field = current[buffer_of(node.args[0]->index)];
    const Real sum = algebra::apply<Real>(row_plan(node), [&](Offset offset) {
      return static_cast<Real>(read_at(kernel, field, site, offset));
    });
    const algebra::StencilData& data = node.arena->stencil_data(node.index);
    if (data.denominator == 1 && data.dx_power == 0) return sum;
    const long double factor = std::pow(static_cast<long double>(kernel.dx), data.dx_power) /
                               static_cast<long double>(data.denominator);
    return static_cast<Real>(factor) * sum;
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
          values[i] = static_cast<Real>(scalars[static_cast<std::size_t>(slot_of.at(node.name))]);
          break;
        case Op::Load:
          values[i] =
              static_cast<Real>(read_at(kernel, current[buffer_of(node.index)], site, node.offset));
          break;
        case Op::Site:
          values[i] = static_cast<Real>(site[static_cast<std::size_t>(node.index)]);
          break;
        case Op::Stencil:
          values[i] = stencil<Real>(kernel, node, site);
          break;
        default:
          values[i] = apply<Real>(operation.op, operation.args, values);
      }
    }
  }

  /// Sum, minimum or maximum over the sites, in the order of kernel.hpp.
  struct Reducer {
    ReduceKind kind = ReduceKind::Sum;
    std::array<double, kLanes> lanes{};
    double total = 0;
    double extreme = 0;
    bool first = true;

    void add(double value, std::int64_t x) {
      if (kind == ReduceKind::Sum) {
        lanes[static_cast<std::size_t>(x % kLanes)] += value;
      } else if (first || (kind == ReduceKind::Minimum ? value < extreme : extreme < value)) {
        extreme = value;
      }
      first = false;
    }
    void end_plane() {
      const auto& l = lanes;
      total += ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]));
      lanes = {};
    }
    double result() const { return kind == ReduceKind::Sum ? total : extreme; }
  };

  template <class Real>
  void sweep(const Kernel& kernel) {
    Tape tape;
    std::vector<int> stores, reductions;
    for (const Store& store : kernel.stores) stores.push_back(tape.add(store.value));
    std::vector<Reducer> reducers;
    for (const Reduction& reduction : kernel.reductions) {
      reductions.push_back(tape.add(reduction.value));
      reducers.emplace_back().kind = reduction.kind;
    }
    // Values are stored when every site is done: nothing that is read can be overwritten.
    std::vector<std::vector<double>> results(stores.size());
    std::vector<Real> values;
    const auto& n = kernel.extent;
    const int last = std::max(kernel.dims - 1, 1);
    Site site{};
    for (site[3] = 0; site[3] < n[3]; ++site[3]) {
      for (site[2] = 0; site[2] < n[2]; ++site[2]) {
        for (site[1] = 0; site[1] < n[1]; ++site[1]) {
          for (site[0] = 0; site[0] < n[0]; ++site[0]) {
            evaluate<Real>(kernel, tape, site, values);
            for (std::size_t i = 0; i < stores.size(); ++i) {
              results[i].push_back(values[static_cast<std::size_t>(stores[i])]);
            }
            for (std::size_t i = 0; i < reducers.size(); ++i) {
              reducers[i].add(values[static_cast<std::size_t>(reductions[i])], site[0]);
            }
          }
          if (last <= 1) end_planes(reducers);
        }
        if (last == 2) end_planes(reducers);
      }
      if (last == 3) end_planes(reducers);
    }
    for (std::size_t i = 0; i < stores.size(); ++i)
      store(kernel, kernel.stores[i].array, results[i]);
    for (std::size_t i = 0; i < reducers.size(); ++i) {
      set(kernel.reductions[i].slot, reducers[i].result());
    }
  }

  static void end_planes(std::vector<Reducer>& reducers) {
    for (Reducer& reducer : reducers) reducer.end_plane();
  }

  void store(const Kernel& kernel, int array, std::vector<double>& values) {
    const ArrayParam* param = kernel.find(array);
    if (!param) throw std::invalid_argument("store to an undeclared array");
    if (param->store == Precision::F32) {
      for (double& value : values) value = static_cast<float>(value);
    }
    (param->next ? next : current)[buffer_of(array)] = std::move(values);
  }

  void set(const std::string& name, double value) {
    scalars[static_cast<std::size_t>(slot_of.at(name))] = value;
  }

  void epilogue(const Kernel& kernel) {
    for (const ScalarAssign& assign : kernel.epilogue) {
      Tape tape;
      const int at = tape.add(assign.value);
      std::vector<double> values;
      evaluate<double>(kernel, tape, {}, values);
      set(assign.slot, values[static_cast<std::size_t>(at)]);
    }
  }

  void run(const program::Launch& launch) {
    const Kernel& kernel = plan.kernels.at(static_cast<std::size_t>(launch.kernel));
    if (!kernel.stores.empty() || !kernel.reductions.empty()) {
      if (kernel.compute == Precision::F32) {
        sweep<float>(kernel);
      } else {
        sweep<double>(kernel);
      }
    }
    epilogue(kernel);
    for (const int buffer : launch.swap) {
      std::swap(current[static_cast<std::size_t>(buffer)], next[static_cast<std::size_t>(buffer)]);
    }
  }
};

Interpreter::Interpreter(const schedule::Plan& plan) : state_(std::make_unique<State>(plan)) {}
Interpreter::~Interpreter() = default;

void Interpreter::launch(const std::vector<program::Launch>& launches) {
  for (const program::Launch& l : launches) state_->run(l);
}
void Interpreter::start() { launch(state_->plan.program.prologue); }
void Interpreter::step(int count) {
  for (int i = 0; i < count; ++i) launch(state_->plan.program.step);
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
double Interpreter::scalar(int slot) const {
  return state_->scalars.at(static_cast<std::size_t>(slot));
}
double Interpreter::scalar(const std::string& name) const {
  return scalar(state_->slot_of.at(name));
}
void Interpreter::set_scalar(const std::string& name, double value) { state_->set(name, value); }

}  // namespace vphi::kernel
