// Kernels built by hand, a slow reference that evaluates their expressions site by site, and small
// hosts that compile and run emitted source: g++ and clang with dlopen, OpenCL through the loader.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/emit/emit.hpp"
#include "compiler/kernel/kernel.hpp"

namespace vphi::emit_test {

using algebra::Arena;
using algebra::Expr;
using algebra::Offset;
using algebra::Op;
using kernel::Kernel;
using physics::Boundary;
using physics::Precision;

struct Case {
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();
  Kernel kernel;
  emit::Bindings bindings;      ///< buffer number = array number
  std::vector<double> scalars;  ///< as bindings.slots

  int array(const std::string& name, bool read, bool written, bool next = false);
  Expr slot(const std::string& name, double value = 0);
  Expr load(int array, int dx = 0, int dy = 0, int dz = 0);
  int stencil(const std::string& name, std::vector<Offset> offsets,
              std::vector<std::int64_t> weights, std::int64_t denominator = 1, int dx_power = 0);
  void store(int array, Expr value) { kernel.stores.push_back({array, value}); }
  void sum(const std::string& slot, Expr value, kernel::ReduceKind kind = kernel::ReduceKind::Sum);
  void assign(const std::string& slot, Expr value) { kernel.epilogue.push_back({slot, value}); }
  void shape(std::vector<std::int64_t> extent, Boundary boundary = Boundary::Periodic);
  void precision(Precision real);
};

Offset at(int dx, int dy = 0, int dz = 0);
/// The 27-point Laplacian with its weights over 30 (Patra and Karttunen), as sums of integers.
int laplacian27(Case& c);
int laplacian7(Case& c);
/// The Laplacian of order 4 along the axes, with reach 2, in `dims` dimensions.
int laplacian_order4(Case& c, int dims);

/// Two coupled fields in a box that expands: one sweep of leapfrog, order C.
Case preheating(std::vector<std::int64_t> extent, Precision real, bool seven = false);

/// Copies of all arrays: [array][0 current, 1 next], always in double.
struct State {
  std::vector<std::array<std::vector<double>, 2>> arrays;
  std::vector<double> scalars;
};
State random_state(const Case& c, unsigned seed);
/// The result of a kernel, from its expressions evaluated site by site in double. Sums are taken in
/// long double in the order of the sites.
State reference(const Case& c, const State& start);

/// The same through emitted code; `launches` times without exchanging copies.
State run_native(const Case& c, const program::Kernel& kernel, const State& start,
                 const std::string& compiler, const std::string& flags);
bool opencl_available();
State run_opencl(const Case& c, const program::Kernel& kernel, const State& start);

/// CUDA source on CPU threads.
State run_cuda_on_threads(const Case& c, const program::Kernel& kernel, const State& start);

/// Largest difference over all arrays and scalars, relative to the largest value of each.
double difference(const State& a, const State& b);
/// Largest difference of the arrays alone, absolute.
double array_difference(const State& a, const State& b);

/// Compiles C++ to a library and loads it into this process. It stays loaded, so a text is compiled
/// once. `compiler`: with its options. Throws std::runtime_error with the compiler's messages.
void* shared_library(const std::string& compiler, const std::string& text);

std::string write_file(const std::string& name, const std::string& text);
/// Output and exit status of a shell command.
std::pair<int, std::string> shell(const std::string& command);

}  // namespace vphi::emit_test
