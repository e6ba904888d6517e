// Emitted text of small kernels compared with text that was read and approved. VPHI_UPDATE=1
// rewrites the files in tests/emit/golden.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/emit/fixture.hpp"
#include "tests/support/places.hpp"

namespace vphi::emit_test {
namespace {

void compare(const std::string& name, const std::string& text) {
  const std::string path = std::string(VPHI_SOURCE_DIR) + "/tests/emit/golden/" + name;
  if (std::getenv("VPHI_UPDATE")) std::ofstream(path) << text;
  std::ifstream file(path);
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << "VPHI_UPDATE=1 accepts the new text of " << path;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

// u'' = lap(u) with u and v stepped in one sweep, and the energy.
Case wave() {
  Case c;
  c.kernel.name = "wave";
  c.kernel.comment = "u' = v, v' = lap(u)";
  c.shape({64, 64, 64});
  const int u = c.array("u", true, true, true), v = c.array("v", true, true);
  const Expr dt = c.slot("dt", 0.01), t = c.slot("t");
  c.slot("kinetic");
  Arena& m = *c.arena;
  const Expr kick = m.raw(Op::Mul, {dt, m.stencil(laplacian7(c), c.load(u))});
  const Expr kicked = m.raw(Op::Add, {c.load(v), kick});
  c.store(v, kicked);
  c.store(u, m.raw(Op::Add, {c.load(u), m.raw(Op::Mul, {dt, kicked})}));
  c.sum("kinetic", m.raw(Op::Mul, {m.rational(1, 2), kicked, kicked}));
  c.assign("t", m.raw(Op::Add, {t, dt}));
  return c;
}

emit::TargetInfo target(program::Target which, bool cpu) {
  emit::TargetInfo info;
  info.target = which;
  info.is_cpu = cpu;
  return info;
}

TEST(Golden, March) {
  const Case c = wave();
  compare("wave.cu", emit::emit(c.kernel, target(program::Target::Cuda, false), c.bindings).source);
}

TEST(Golden, Rows) {
  const Case c = wave();
  compare("wave.cpp.txt",
          emit::emit(c.kernel, target(program::Target::Native, true), c.bindings).source);
}

TEST(Golden, Sites) {
  Case c = wave();
  c.shape({3, 64, 64}, Boundary::Fixed);  // rows too short for a march
  compare("wave.cl",
          emit::emit(c.kernel, target(program::Target::OpenCL, false), c.bindings).source);
}

}  // namespace
}  // namespace vphi::emit_test
