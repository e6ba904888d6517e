// Emitted kernels against a slow reference, in every language, on small lattices.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/emit/fixture.hpp"

namespace vphi::emit_test {
namespace {

using kernel::ReduceKind;

Case wave_1d(Boundary boundary) {
  Case c;
  c.kernel.name = "wave";
  c.kernel.comment = "u'' = lap(u) - sin(u) */ \\\n?\?/ not a comment's end";
  c.shape({37}, boundary);
  c.kernel.dx = 0.25;
  c.kernel.fixed_value = 0.75;
  const int u = c.array("u", true, true, true), v = c.array("v", true, true);
  const Expr dt = c.slot("dt", 0.01);
  c.slot("energy");
  Arena& m = *c.arena;
  const int lap = laplacian_order4(c, 1);
  const Expr kicked = m.raw(Op::Add, {c.load(v), m.raw(Op::Mul, {dt, m.stencil(lap, c.load(u))})});
  c.store(v, kicked);
  c.store(u, m.raw(Op::Add, {c.load(u), m.raw(Op::Mul, {dt, kicked})}));
  c.sum("energy", m.raw(Op::Mul, {kicked, kicked}));
  return c;
}

// Loads at explicit offsets, coordinates, choices, extrema, in two dimensions.
Case mixture_2d(Boundary x, Boundary y, std::vector<std::int64_t> extent) {
  Case c;
  c.kernel.name = "mixture";
  c.shape(extent);
  c.kernel.boundary[0] = x;
  c.kernel.boundary[1] = y;
  c.kernel.fixed_value = -0.5;
  const int u = c.array("float", true, false), w = c.array("get_global", false, true);
  const Expr s = c.slot("}; int x", 0.3);
  c.slot("low"), c.slot("high"), c.slot("sum");
  const Expr count = c.slot("count", 4);
  Arena& m = *c.arena;
  const Expr gradient = m.raw(Op::Sub, {c.load(u, 1, -1), c.load(u, -2, 3)});
  const Expr test = m.raw(Op::And, {m.raw(Op::Less, {m.site(0), m.integer(3)}),
                                    m.raw(Op::LessEqual, {c.load(u), c.load(u, 0, 1)})});
  const Expr value =
      m.raw(Op::Select, {test, gradient, m.raw(Op::Mul, {s, m.raw(Op::Abs, {c.load(u, 0, -1)})})});
  const Expr more = m.raw(Op::Add, {value, m.raw(Op::Min, {c.load(u), c.load(u, 1)}),
                                    m.raw(Op::Mul, {m.rational(1, 3), m.site(1)})});
  c.store(w, more);
  c.sum("low", more, ReduceKind::Minimum);
  c.sum("high", more, ReduceKind::Maximum);
  c.sum("sum", value);
  c.assign("count", m.raw(Op::Add, {count, m.integer(1)}));
  c.assign("sum", m.raw(Op::Div, {m.symbol("sum"), m.symbol("count")}));
  return c;
}

Case functions(Precision real) {
  Case c;
  c.kernel.name = "functions";
  c.shape({11, 5});
  c.kernel.compute = real;
  const int u = c.array("u", true, false);
  Arena& m = *c.arena;
  std::vector<Expr> terms;
  const Expr x = c.load(u);
  for (Op op : {Op::Exp, Op::Log, Op::Sin, Op::Cos, Op::Tan, Op::Asin, Op::Acos, Op::Atan, Op::Sinh,
                Op::Cosh, Op::Tanh, Op::Asinh, Op::Atanh, Op::Abs, Op::Sign, Op::Floor, Op::Erf,
                Op::Sqrt, Op::Neg})
    terms.push_back(m.raw(op, {x}));
  terms.push_back(m.raw(Op::Acosh, {m.raw(Op::Add, {x, m.integer(1)})}));
  terms.push_back(m.raw(Op::Atan2, {x, m.integer(2)}));
  terms.push_back(m.raw(Op::Pow, {x, m.rational(5, 2)}));
  terms.push_back(m.raw(Op::Pow, {x, m.rational(7, 3)}));
  terms.push_back(m.raw(Op::Pow, {x, m.integer(-3)}));
  terms.push_back(m.raw(Op::Pow, {m.raw(Op::Add, {x, m.integer(2)}), m.integer(11)}));
  terms.push_back(m.raw(Op::Mul, {m.integer(-1), x, m.raw(Op::Pow, {x, m.integer(-1)})}));
  terms.push_back(m.raw(Op::Max, {x, m.rational(1, 2)}));
  terms.push_back(m.raw(Op::Fma, {x, x, m.integer(-1)}));
  terms.push_back(m.raw(Op::Add, terms));
  for (std::size_t i = 0; i < terms.size(); ++i)
    c.store(c.array("w" + std::to_string(i), false, true), terms[i]);
  return c;
}

Case epilogue_only() {
  Case c;
  c.kernel.name = "background";
  const Expr a = c.slot("a", 2), b = c.slot("b", 3);
  Arena& m = *c.arena;
  c.assign("a", m.raw(Op::Add, {a, b}));
  c.assign("b", m.raw(Op::Mul, {a, a}));  // the new a
  return c;
}

std::vector<std::pair<std::string, Case>> cases() {
  std::vector<std::pair<std::string, Case>> list;
  for (Boundary b : {Boundary::Periodic, Boundary::Antiperiodic, Boundary::Fixed, Boundary::Neumann,
                     Boundary::Outflow})
    list.emplace_back("wave_1d_" + std::to_string(static_cast<int>(b)), wave_1d(b));
  list.emplace_back("mixture", mixture_2d(Boundary::Periodic, Boundary::Periodic, {9, 7}));
  list.emplace_back("mixture_mixed", mixture_2d(Boundary::Antiperiodic, Boundary::Fixed, {9, 7}));
  list.emplace_back("mixture_mixed_2", mixture_2d(Boundary::Fixed, Boundary::Antiperiodic, {6, 8}));
  list.emplace_back("mixture_tiny", mixture_2d(Boundary::Periodic, Boundary::Antiperiodic, {2, 1}));
  list.emplace_back("mixture_outflow", mixture_2d(Boundary::Outflow, Boundary::Neumann, {3, 2}));
  list.emplace_back("long_rows", mixture_2d(Boundary::Antiperiodic, Boundary::Periodic, {5000, 3}));
  list.emplace_back("functions", functions(Precision::F64));
  list.emplace_back("epilogue", epilogue_only());
  list.emplace_back("preheating", preheating({16, 10, 12}, Precision::F64));
  list.emplace_back("preheating_7", preheating({5, 4, 3}, Precision::F64, true));
  Case kahan = preheating({12, 8, 4}, Precision::F64);
  kahan.kernel.sum = physics::SumKind::Kahan;
  list.emplace_back("kahan", kahan);
  list.emplace_back("functions_f32", functions(Precision::F32));
  list.emplace_back("preheating_f32", preheating({16, 10, 12}, Precision::F32));
  return list;
}

emit::TargetInfo native(bool contract = false) {
  emit::TargetInfo target;
  target.contract = contract;
  return target;
}

emit::TargetInfo opencl(bool cpu) {
  emit::TargetInfo target;
  target.target = program::Target::OpenCL;
  target.is_cpu = cpu;
  target.compute_units = 2;
  target.local_bytes = 48 * 1024;
  return target;
}

double tolerance(const std::string& name, const Case& c) {
  if (c.kernel.compute == Precision::F32) return name == "functions_f32" ? 2e-5 : 3e-6;
  return 2e-13;
}

// Without transcendental functions and contraction the fields have the bits of the reference.
void check_native(const std::string& compiler, const std::string& flags) {
  for (const auto& [name, c] : cases()) {
    SCOPED_TRACE(name);
    const State start = random_state(c, 7), expected = reference(c, start);
    const program::Kernel kernel = emit::emit(c.kernel, native(), c.bindings);
    const State got = run_native(c, kernel, start, compiler, flags);
    EXPECT_LT(difference(got, expected), tolerance(name, c)) << kernel.source;
    if (c.kernel.compute == Precision::F64 && name != "functions") {
      EXPECT_EQ(array_difference(got, expected), 0) << kernel.source;
    }
  }
}

TEST(Native, GccAgreesWithTheReference) {
  check_native("g++", "-O3 -march=native -Wall -Wextra -Werror -Wno-unknown-pragmas");
}

TEST(Native, ClangAgreesWithTheReference) {
  if (shell("clang++-19 --version").first != 0) GTEST_SKIP() << "no clang++-19";
  check_native("clang++-19",
               "-O3 -march=native -Wall -Wextra -Werror -Wno-unknown-pragmas "
               "-Wno-pass-failed -Wno-unknown-warning-option "
               "-Wno-invalid-feature-combination -ffp-contract=on");
}

TEST(Native, ContractionKeepsTheSums) {
  Case c = preheating({16, 16, 16}, Precision::F64);
  c.kernel.sum = physics::SumKind::Kahan;
  const State start = random_state(c, 3), expected = reference(c, start);
  const program::Kernel kernel = emit::emit(c.kernel, native(true), c.bindings);
  EXPECT_LT(difference(run_native(c, kernel, start, "g++", "-O3 -march=native"), expected), 1e-13);
}

TEST(OpenCL, ThreadsAndRowsAgreeWithTheReference) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  for (const auto& [name, c] : cases()) {
    for (bool cpu : {false, true}) {
      SCOPED_TRACE(name + (cpu ? " rows" : " threads"));
      const State start = random_state(c, 11), expected = reference(c, start);
      const program::Kernel kernel = emit::emit(c.kernel, opencl(cpu), c.bindings);
      write_file(name + (cpu ? "_rows.cl" : "_threads.cl"), kernel.source);
      const State got = run_opencl(c, kernel, start);
      EXPECT_LT(difference(got, expected), tolerance(name, c)) << kernel.source;
    }
  }
}

// The same numbers come out of the stand-alone C++ and OpenCL programs.
TEST(StandAlone, CompilesAndRuns) {
  const Case c = preheating({16, 16, 16}, Precision::F64);
  const program::Kernel cpp = emit::emit(c.kernel, native(), c.bindings);
  const std::string path = write_file("alone.cpp", emit::stand_alone(cpp, program::Target::Native));
  const auto [status, log] =
      shell("g++ -std=c++17 -O1 -o " + path + ".run " + path + " && " + path + ".run");
  ASSERT_EQ(status, 0) << log;
  EXPECT_NE(log.find("scalars 6: sum"), std::string::npos) << log;
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  const program::Kernel cl = emit::emit(c.kernel, opencl(true), c.bindings);
  const std::string host =
      write_file("alone_cl.cpp", emit::stand_alone(cl, program::Target::OpenCL));
  const auto [cl_status, cl_log] =
      shell("g++ -std=c++17 -O1 -o " + host + ".run " + host + " -lOpenCL && " + host + ".run");
  ASSERT_EQ(cl_status, 0) << cl_log;
  const auto number = [](const std::string& text) {
    return std::stod(text.substr(text.find("array 1: sum ") + 13));
  };
  EXPECT_NEAR(number(log), number(cl_log), 1e-9);
  const emit::TargetInfo gpu = [] {
    emit::TargetInfo target;
    target.target = program::Target::Cuda;
    target.is_cpu = false;
    return target;
  }();
  const std::string cuda = write_file(
      "alone.cu", emit::stand_alone(emit::emit(c.kernel, gpu, c.bindings), program::Target::Cuda));
  const std::string nvcc = "/usr/local/cuda/bin/nvcc";
  if (shell(nvcc + " --version").first != 0) return;
  const auto [cu_status, cu_log] = shell(nvcc + " -arch=sm_90 -o " + cuda + ".run " + cuda);
  EXPECT_EQ(cu_status, 0) << cu_log;
}

TEST(Cuda, EverythingCompiles) {
  const std::string nvcc = "/usr/local/cuda/bin/nvcc";
  if (shell(nvcc + " --version").first != 0) GTEST_SKIP() << "no nvcc";
  emit::TargetInfo target;
  target.target = program::Target::Cuda;
  target.is_cpu = false;
  for (const auto& [name, c] : cases()) {
    const program::Kernel kernel = emit::emit(c.kernel, target, c.bindings);
    const std::string path = write_file(name + ".cu", kernel.source);
    const auto [status, log] =
        shell(nvcc + " -arch=sm_90 -cubin -Xptxas -v -o " + path + ".cubin " + path);
    EXPECT_EQ(status, 0) << log << kernel.source;
    EXPECT_NE(log.find("0 bytes spill stores"), std::string::npos) << log;
    EXPECT_EQ(log.find("warning"), std::string::npos) << log;
    if (std::getenv("VPHI_SHOW")) std::cout << name << "\n" << log;
  }
}

}  // namespace
}  // namespace vphi::emit_test
