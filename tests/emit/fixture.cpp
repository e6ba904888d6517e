#include "tests/emit/fixture.hpp"

#include <dlfcn.h>

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <stdexcept>

#include "compiler/algebra/stencil_columns.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/emit/text/body.hpp"
#include "compiler/kernel/draw.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::emit_test {

int Case::array(const std::string& name, bool read, bool written, bool next) {
  const int number = static_cast<int>(kernel.arrays.size());
  kernel.arrays.push_back({number, name, kernel.compute, read, written, next});
  bindings.buffer_of.push_back(number);
  return number;
}

Expr Case::slot(const std::string& name, double value) {
  bindings.slots.push_back(name);
  scalars.push_back(value);
  return arena->symbol(name);
}

Expr Case::load(int array, int dx, int dy, int dz) { return arena->load(array, at(dx, dy, dz)); }

int Case::stencil(const std::string& name, std::vector<Offset> offsets,
                  std::vector<std::int64_t> weights, std::int64_t denominator, int dx_power) {
  algebra::StencilData data;
  data.name = name;
  data.dims = kernel.dims;
  data.offsets = std::move(offsets);
  data.weights = std::move(weights);
  data.denominator = denominator;
  data.dx_power = dx_power;
  return arena->add_stencil(std::move(data));
}

void Case::sum(const std::string& slot, Expr value, kernel::ReduceKind kind) {
  kernel.reductions.push_back({slot, kind, value});
}

void Case::shape(std::vector<std::int64_t> extent, Boundary boundary) {
  kernel.dims = static_cast<int>(extent.size());
  kernel.extent = {1, 1, 1, 1};
  for (std::size_t i = 0; i < extent.size(); ++i) kernel.extent[i] = extent[i];
  kernel.boundary.fill(boundary);
}

void Case::precision(Precision real) {
  kernel.compute = real;
  for (kernel::ArrayParam& array : kernel.arrays) array.store = real;
}

Offset at(int dx, int dy, int dz) {
  Offset offset;
  offset.d[0] = static_cast<std::int16_t>(dx);
  offset.d[1] = static_cast<std::int16_t>(dy);
  offset.d[2] = static_cast<std::int16_t>(dz);
  return offset;
}

namespace {

int compact_laplacian(Case& c, const char* name, const std::array<std::int64_t, 4>& by_distance) {
  std::vector<Offset> offsets;
  std::vector<std::int64_t> weights;
  for (int z = -1; z <= 1; ++z)
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x) {
        const std::int64_t w = by_distance[static_cast<std::size_t>(x * x + y * y + z * z)];
        if (w == 0) continue;
        offsets.push_back(at(x, y, z));
        weights.push_back(w);
      }
  return c.stencil(name, offsets, weights);
}

}  // namespace

int laplacian27(Case& c) { return compact_laplacian(c, "iso27", {-128, 14, 3, 1}); }
int laplacian7(Case& c) { return compact_laplacian(c, "lap7", {-6, 1, 0, 0}); }

int laplacian_order4(Case& c, int dims) {
  std::vector<Offset> offsets{at(0)};
  std::vector<std::int64_t> weights{-30 * dims};
  for (int axis = 0; axis < dims; ++axis)
    for (int d : {-2, -1, 1, 2}) {
      Offset offset;
      offset.d[axis] = static_cast<std::int16_t>(d);
      offsets.push_back(offset);
      weights.push_back(d * d == 1 ? 16 : -1);
    }
  return c.stencil("order4", offsets, weights, 12, -2);
}

// pi += kick_l L phi - kick_v dV/dphi, phi += drift pi; V = phi^2/2 + q phi^2 chi^2/2.
Case preheating(std::vector<std::int64_t> extent, Precision real, bool seven) {
  Case c;
  c.kernel.name = "sweep";
  c.kernel.comment = "phi' = a^-3 pi,  pi' = a lap phi - a^3 d(V, phi)";
  c.shape(extent);
  c.kernel.compute = real;
  const int phi = c.array("phi", true, true, true), chi = c.array("chi", true, true, true);
  const int p = c.array("pi_phi", true, true), r = c.array("pi_chi", true, true);
  const Expr a = c.slot("a", 1.0), b = c.slot("b", 0.50467152);
  const Expr kl = c.slot("kick_l", 0), kv = c.slot("kick_v", 0), d = c.slot("drift", 0);
  const Expr dt = c.slot("dt", 10.0 / 32 / 40), dx = c.slot("dx", 10.0 / 32);
  const Expr grad = c.slot("gradient_sum"), pot = c.slot("potential_sum"),
             kin = c.slot("kinetic_sum");
  const Expr time = c.slot("t");
  Arena& m = *c.arena;
  const auto mul = [&](std::vector<Expr> f) { return m.raw(Op::Mul, std::move(f)); };
  const auto add = [&](std::vector<Expr> f) { return m.raw(Op::Add, std::move(f)); };
  const auto sub = [&](Expr x, Expr y) { return m.raw(Op::Sub, {x, y}); };
  const int lap = seven ? laplacian7(c) : laplacian27(c);
  const Expr u = c.load(phi), v = c.load(chi);
  const Expr lu = m.stencil(lap, u), lv = m.stencil(lap, v);
  const Expr q = m.integer(100);
  const auto mass = [&](Expr w) { return add({m.integer(1), mul({q, w, w})}); };
  const Expr vu = mul({mass(v), u}), vv = mul({q, u, u, v});
  const Expr pn = add({c.load(p), sub(mul({kl, lu}), mul({kv, vu}))});
  const Expr rn = add({c.load(r), sub(mul({kl, lv}), mul({kv, vv}))});
  const Expr un = add({u, mul({d, pn})}), vn = add({v, mul({d, rn})});
  c.store(p, pn);
  c.store(r, rn);
  c.store(phi, un);
  c.store(chi, vn);
  c.sum("gradient_sum", add({mul({un, lu}), mul({vn, lv})}));
  c.sum("potential_sum", add({mul({u, vu}), mul({mass(vn), mul({un, un})})}));
  c.sum("kinetic_sum", add({mul({pn, pn}), mul({rn, rn})}));
  // a is at n + 1/2 here, b at n: b' = M a/3 (<V> - <pi^2>/a^6), then a to the next half step.
  const Expr sites = m.integer(c.kernel.sites());
  const Expr a2 = mul({a, a}), a3 = mul({a2, a});
  const auto div = [&](Expr x, Expr y) { return m.raw(Op::Div, {x, y}); };
  const Expr mean_v = div(pot, mul({m.integer(4), sites}));
  const Expr mean_p = div(kin, sites);
  c.assign("b", add({b, mul({dt, div(a, m.integer(3)), sub(mean_v, div(mean_p, mul({a3, a3})))})}));
  const Expr half = mul({m.rational(1, 2), dt, b});
  const Expr an = add({a, half});
  c.assign("kick_l", div(mul({dt, an}), mul({m.integer(seven ? 1 : 30), dx, dx})));
  c.assign("kick_v", mul({dt, an, an, an}));
  c.assign("a", add({a, mul({dt, b})}));
  c.assign("drift", div(dt, a3));
  c.assign("t", add({time, dt}));
  const double h = c.scalars[5], x = c.scalars[6];
  c.scalars[2] = h / ((seven ? 1 : 30) * x * x);
  c.scalars[3] = h;
  c.scalars[4] = h;
  (void)grad;
  return c;
}

State random_state(const Case& c, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  State state;
  state.scalars = c.scalars;
  for (const kernel::ArrayParam& array : c.kernel.arrays) {
    state.arrays.emplace_back();
    for (auto& copy : state.arrays.back()) {
      copy.resize(static_cast<std::size_t>(c.kernel.sites()));
      for (double& value : copy) {
        value = 0.5 + 0.3 * uniform(engine);
        if (array.store == Precision::F32) value = static_cast<float>(value);
      }
    }
  }
  return state;
}

namespace {

// One array's value at a displaced site, by the boundary conditions.
double value_at(const Kernel& k, const std::vector<double>& values,
                const std::array<std::int64_t, 4>& site, const Offset& offset) {
  std::int64_t index = 0, stride = 1;
  double sign = 1;
  bool inside = true;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    const std::int64_t n = k.extent[axis];
    std::int64_t x = site[axis] + offset.d[axis];
    switch (k.boundary[axis]) {
      case Boundary::Periodic:
        x = ((x % n) + n) % n;
        break;
      case Boundary::Antiperiodic:
        while (x < 0) x += n, sign = -sign;
        while (x >= n) x -= n, sign = -sign;
        break;
      case Boundary::Neumann:  // mirrored at the face between the last site and the next
        if (x < 0) x = -1 - x;
        if (x >= n) x = 2 * n - 1 - x;
        x = std::min(std::max<std::int64_t>(x, 0), n - 1);
        break;
      case Boundary::Fixed:
        inside = inside && x >= 0 && x < n;
        [[fallthrough]];
      default:
        x = std::min(std::max<std::int64_t>(x, 0), n - 1);
    }
    index += stride * x;
    stride *= n;
  }
  return inside ? sign * values[static_cast<std::size_t>(index)] : k.fixed_value;
}

}  // namespace

State reference(const Case& c, const State& start) {
  const Kernel& k = c.kernel;
  State end = start;
  std::vector<long double> totals;
  for (const kernel::Reduction& r : k.reductions)
    totals.push_back(r.kind == kernel::ReduceKind::Sum       ? 0.0L
                     : r.kind == kernel::ReduceKind::Minimum ? HUGE_VALL
                                                             : -HUGE_VALL);
  std::map<int, algebra::ColumnPlan> plans;
  std::array<std::int64_t, 4> site{};
  const auto leaf = [&](const algebra::Node& node) -> double {
    switch (node.op) {
      case Op::Symbol: {
        for (std::size_t i = 0; i < c.bindings.slots.size(); ++i)
          if (c.bindings.slots[i] == node.name) return end.scalars[i];
        throw std::invalid_argument("unknown symbol " + node.name);
      }
      case Op::Normal:
      case Op::Uniform: {
        const auto slot = [&](const std::string& name) -> double {
          for (std::size_t i = 0; i < c.bindings.slots.size(); ++i)
            if (c.bindings.slots[i] == name) return end.scalars[i];
          return 0;
        };
        const std::int64_t at =
            ((site[3] * k.extent[2] + site[2]) * k.extent[1] + site[1]) * k.extent[0] + site[0];
        const double walker = slot(k.random.instance) * static_cast<double>(k.sites());
        return kernel::draw<double>(
            k.random, node.op, node.index,
            static_cast<std::uint64_t>(walker) + static_cast<std::uint64_t>(at),
            static_cast<std::uint64_t>(slot(k.random.step)));
      }
      case Op::Site:
        return static_cast<double>(site[static_cast<std::size_t>(node.index)]);
      case Op::Load:
        return value_at(k, start.arrays[static_cast<std::size_t>(node.index)][0], site,
                        node.offset);
      case Op::Stencil: {
        const algebra::StencilData& data = node.arena->stencil_data(node.index);
        if (!plans.count(node.index))
          plans[node.index] = algebra::column_plan(algebra::row_plan(data));
        const auto& values = start.arrays[static_cast<std::size_t>(node.args[0]->index)][0];
        const double sum = algebra::sum_of_rows<double>(plans[node.index], [&](Offset o) {
          return value_at(k, values, site, algebra::sum_of(o, node.args[0]->offset));
        });
        const long double factor = emit::stencil_factor(data, k.dx);
        return factor == 1 ? sum : static_cast<double>(factor) * sum;
      }
      default:
        throw std::invalid_argument("not a leaf");
    }
  };
  const algebra::Environment environment{leaf};
  for (std::int64_t i = 0; i < k.sites(); ++i) {
    std::int64_t rest = i;
    for (std::size_t axis = 0; axis < 4; ++axis) {
      site[axis] = rest % k.extent[axis];
      rest /= k.extent[axis];
    }
    for (const kernel::Store& store : k.stores) {
      const bool next = k.arrays[static_cast<std::size_t>(store.array)].next;
      end.arrays[static_cast<std::size_t>(store.array)][next ? 1 : 0][static_cast<std::size_t>(i)] =
          algebra::evaluate(store.value, environment);
    }
    for (std::size_t r = 0; r < totals.size(); ++r) {
      const long double v = algebra::evaluate(k.reductions[r].value, environment);
      switch (k.reductions[r].kind) {
        case kernel::ReduceKind::Sum:
          totals[r] += v;
          break;
        case kernel::ReduceKind::Minimum:
          totals[r] = std::min(totals[r], v);
          break;
        case kernel::ReduceKind::Maximum:
          totals[r] = std::max(totals[r], v);
          break;
      }
    }
  }
  const auto set = [&](const std::string& slot, double value) {
    for (std::size_t i = 0; i < c.bindings.slots.size(); ++i)
      if (c.bindings.slots[i] == slot) end.scalars[i] = value;
  };
  for (std::size_t r = 0; r < totals.size(); ++r)
    set(k.reductions[r].slot, static_cast<double>(totals[r]));
  for (const kernel::ScalarAssign& assign : k.epilogue)
    set(assign.slot, algebra::evaluate(assign.value, environment));
  return end;
}

std::pair<int, std::string> shell(const std::string& command) {
  std::string out;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return {-1, "popen failed"};
  char buffer[4096];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, n);
  return {pclose(pipe), out};
}

std::string write_file(const std::string& name, const std::string& text) {
  static const testing::ScratchFolder folder;  // of the process, which is one test's
  const std::string path = folder / name;
  std::ofstream(path) << text;
  return path;
}

namespace {

// Bytes of a buffer in the precision the kernel stores it in, and back.
std::vector<std::byte> pack(const std::vector<double>& values, Precision precision) {
  std::vector<std::byte> bytes(values.size() * (precision == Precision::F32 ? 4 : 8));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (precision == Precision::F32) {
      const float v = static_cast<float>(values[i]);
      std::memcpy(bytes.data() + 4 * i, &v, 4);
    } else {
      std::memcpy(bytes.data() + 8 * i, &values[i], 8);
    }
  }
  return bytes;
}

void unpack(const std::vector<std::byte>& bytes, Precision precision, std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (precision == Precision::F32) {
      float v;
      std::memcpy(&v, bytes.data() + 4 * i, 4);
      values[i] = v;
    } else {
      std::memcpy(&values[i], bytes.data() + 8 * i, 8);
    }
  }
}

}  // namespace

// Packs the buffers in the order of the arguments, lets `go` run on them, unpacks.
State through_buffers(const Case& c, const program::Kernel& kernel, const State& start,
                      const std::function<void(std::vector<std::vector<std::byte>>&)>& go) {
  std::vector<std::vector<std::byte>> buffers;
  using Kind = program::Argument::Kind;
  for (const program::Argument& a : kernel.arguments) {
    const auto index = static_cast<std::size_t>(a.index);
    switch (a.kind) {
      case Kind::Current:
      case Kind::Next:
        buffers.push_back(
            pack(start.arrays[index][a.kind == Kind::Next], c.kernel.arrays[index].store));
        break;
      case Kind::Scalars:
        buffers.push_back(pack(start.scalars, Precision::F64));
        buffers.back().resize(buffers.back().size() + 8);
        break;
      case Kind::Partials:
        buffers.emplace_back(static_cast<std::size_t>(8 * kernel.partials), std::byte{0xff});
        break;
      case Kind::Counter:
        buffers.emplace_back(static_cast<std::size_t>(4 * c.kernel.instances));
        break;
      case Kind::Gathered:
      case Kind::Whole:
        throw std::logic_error("a kernel by itself has no sums of another");
    }
  }
  go(buffers);
  State end = start;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const program::Argument& a = kernel.arguments[i];
    const auto index = static_cast<std::size_t>(a.index);
    if (a.kind == Kind::Current || a.kind == Kind::Next)
      unpack(buffers[i], c.kernel.arrays[index].store, end.arrays[index][a.kind == Kind::Next]);
    if (a.kind == Kind::Scalars) unpack(buffers[i], Precision::F64, end.scalars);
    if (a.kind == Kind::Counter && buffers[i] != std::vector<std::byte>(buffers[i].size()))
      throw std::runtime_error("the counter was not left at zero");
  }
  return end;
}

void* shared_library(const std::string& compiler, const std::string& text) {
  static std::map<std::string, void*> open;
  void*& library = open[compiler + "\n" + text];
  if (library) return library;
  const std::string source = write_file("library_" + std::to_string(open.size()) + ".cpp", text);
  const auto [status, log] = shell(compiler + " -shared -fPIC -o " + source + ".so " + source);
  if (status != 0) throw std::runtime_error(compiler + " failed:\n" + log + "\n" + text);
  library = dlopen((source + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  return library;
}

State run_native(const Case& c, const program::Kernel& kernel, const State& start,
                 const std::string& compiler, const std::string& flags) {
  void* library = shared_library(compiler + " " + flags + " -std=c++17", kernel.source);
  const auto task =
      reinterpret_cast<void (*)(void* const*, long)>(dlsym(library, kernel.entry.c_str()));
  const auto finish =
      kernel.finish.empty()
          ? nullptr
          : reinterpret_cast<void (*)(void* const*)>(dlsym(library, kernel.finish.c_str()));
  if (!task || (!kernel.finish.empty() && !finish)) throw std::runtime_error("no such function");
  State end = through_buffers(c, kernel, start, [&](auto& buffers) {
    std::vector<void*> pointers;
    for (auto& buffer : buffers) pointers.push_back(buffer.data());
    for (long i = 0; i < static_cast<long>(kernel.grid[0]); ++i) task(pointers.data(), i);
    if (finish) finish(pointers.data());
  });
  return end;
}

double difference(const State& a, const State& b) {
  double worst = 0;
  const auto compare = [&](const std::vector<double>& x, const std::vector<double>& y) {
    double largest = 1e-300, gap = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      largest = std::max(largest, std::fabs(y[i]));
      gap = std::max(gap, std::isnan(x[i]) != std::isnan(y[i]) ? HUGE_VAL : std::fabs(x[i] - y[i]));
    }
    worst = std::max(worst, gap / largest);
    if (std::getenv("VPHI_SHOW") && gap > 1e-9 * largest) printf("gap %g of %g\n", gap, largest);
  };
  for (std::size_t i = 0; i < a.arrays.size(); ++i)
    for (std::size_t copy = 0; copy < 2; ++copy) compare(a.arrays[i][copy], b.arrays[i][copy]);
  for (std::size_t i = 0; i < a.scalars.size(); ++i) compare({a.scalars[i]}, {b.scalars[i]});
  return worst;
}

double array_difference(const State& a, const State& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.arrays.size(); ++i)
    for (std::size_t copy = 0; copy < 2; ++copy)
      for (std::size_t j = 0; j < a.arrays[i][copy].size(); ++j)
        worst = std::max(worst, std::fabs(a.arrays[i][copy][j] - b.arrays[i][copy][j]));
  return worst;
}

}  // namespace vphi::emit_test
