// A program written by hand for the processor: a wave on a line, kick and drift in one sweep.
//
//   pi += dt (phi[i+1] - 2 phi[i] + phi[i-1])/dx^2,   phi += dt pi,
// with phi in two copies, pi in place, energy and step count in the scalar block. It exercises the
// runtime without the compiler.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string>

#include "program/program.hpp"

namespace vphi::test {

enum Slot { kStep, kTime, kStop, kEnergy, kOk, kEnd, kMeanPhi, kSlots };
enum Array { kPhi, kPi, kNoise, kCopy };

struct WaveOptions {
  std::int64_t sites = 64;
  double dt = 0.5;  ///< dx = 1
  std::int64_t steps = 100;
  double end = 0;  ///< > 0: stop at this time
  int mode = 3;
  bool random = false;   ///< phi starts as noise instead of a cosine
  int poison_step = -1;  ///< pi of site 5 becomes NaN in this step
  program::Precision precision = program::Precision::F64;
};

inline program::Program wave_program(const WaveOptions& o) {
  using namespace program;
  const std::string real = o.precision == Precision::F32 ? "float" : "double";
  const std::string head = "#include <cmath>\nconstexpr long n = " + std::to_string(o.sites) +
                           ";\nusing real = " + real +
                           ";\nconstexpr double dt = " + std::to_string(o.dt) + ";\n";
  const auto current = [](int b) { return Argument{Argument::Kind::Current, b}; };
  const Argument scalars{Argument::Kind::Scalars, 0};

  Program p;
  p.model = "wave";
  p.model_text = "model wave\nphi'' = lap(phi)\n";
  p.compiler_version = "by hand";
  p.dims = 1;
  p.extent = {o.sites, 1, 1, 1};
  p.dt = p.dt_physical = o.dt;
  p.seed = 7;
  p.parameters = {{"speed", 1.0}};
  p.buffers = {{"phi", o.precision, true, true, false},
               {"pi_phi", o.precision, false, true, false},
               {"noise", o.precision, false, false, true},
               {"copy", o.precision, false, false, true}};
  for (const char* name : {"step", "t", "stop", "energy", "ok", "end", "mean"})
    p.scalars.push_back({name, 0});
  p.scalars[kEnd].initial = o.end > 0 ? o.end : 1e300;
  p.state = {{kPhi, "phi", "", 0}, {kPi, "phi'", "phi'' = lap(phi)", 2}};
  p.step_slot = kStep, p.time_slot = kTime, p.stop_slot = kStop;
  p.steps = o.steps;

  const auto add = [&](std::string name, std::vector<Argument> arguments, std::string body) {
    Kernel k;
    k.name = name;
    k.entry = "vphi_" + name;
    k.arguments = std::move(arguments);
    k.source = head + "extern \"C\" void " + k.entry + "(void* const* a, long) {\n" + body + "}\n";
    k.bytes = 4 * (o.precision == Precision::F32 ? 4 : 8);
    p.kernels.push_back(k);
    return Launch{static_cast<int>(p.kernels.size()) - 1, {}};
  };
  const std::string wave =
      fmt::format("{:.17g}", 2 * std::numbers::pi * o.mode / static_cast<double>(o.sites));
  p.prologue = {
      add("init", {current(kPhi), current(kPi), current(kNoise)},
          "  real* phi = (real*)a[0]; real* pi = (real*)a[1]; real* noise = (real*)a[2];\n"
          "  for (long i = 0; i < n; ++i) {\n    phi[i] = " +
              (o.random ? "noise[i]" : "std::cos(" + wave + "*i)") + ";\n    pi[i] = 0;\n  }\n")};
  if (o.random) p.random = {{RandomField::Kind::Normal, kNoise, 4}};
  p.step = {
      add("step", {current(kPhi), {Argument::Kind::Next, kPhi}, current(kPi), scalars},
          "  const real* phi = (real*)a[0]; real* next = (real*)a[1]; real* pi = (real*)a[2];\n"
          "  double* s = (double*)a[3];\n"
          "  const double h = s[2] != 0 ? 0 : dt;\n"
          "  for (long i = 0; i < n; ++i) {\n"
          "    const real l = phi[(i + 1)%n] - 2*phi[i] + phi[(i + n - 1)%n];\n"
          "    pi[i] += h*l;\n    next[i] = phi[i] + h*pi[i];\n  }\n"
          "  if (s[0] == " +
              std::to_string(o.poison_step) +
              ") pi[5] = NAN;\n"
              "  if (s[2] == 0) { s[0] += 1; s[1] = s[0]*dt; s[2] = s[1] > s[5] ? 1 : 0; }\n")};
  p.step[0].swap = {kPhi};
  p.watch = {add("watch", {current(kPhi), current(kPi), scalars},
                 "  const real* phi = (real*)a[0]; const real* pi = (real*)a[1];\n"
                 "  double* s = (double*)a[2];\n  double e = 0, m = 0;\n"
                 "  for (long i = 0; i < n; ++i) {\n"
                 "    const double up = phi[(i + 1)%n], here = phi[i], was = here - dt*pi[i];\n"
                 "    const double was_up = up - dt*pi[(i + 1)%n];\n"
                 // the discrete energy that kick and drift keep: gradients at both time levels
                 "    e += pi[i]*(double)pi[i]/2 + (up - here)*(was_up - was)/2; m += here;\n"
                 "  }\n  s[3] = e; s[4] = std::isfinite(e); s[6] = m/n;\n")};
  p.progress = {{"energy", kEnergy}};
  p.expectations = {{Expectation::Kind::Drift, "drift(energy) < 1e-12", kEnergy, -1, -1, 1e-12},
                    {Expectation::Kind::Condition, "finite", kEnergy, kOk, -1, 0}};
  Output out;
  out.every = 10;
  out.scalars = {{"energy", kEnergy}, {"mean(phi)/2", kMeanPhi}};
  out.file = "wave.h5";
  Output arrays;
  arrays.every = 50;
  arrays.launches = {add("copy", {current(kPhi), current(kCopy)},
                         "  const real* phi = (real*)a[0]; real* out = (real*)a[1];\n"
                         "  for (long i = 0; i < n; ++i) out[i] = phi[i];\n")};
  for (auto kind :
       {FieldOutput::Kind::Spectrum, FieldOutput::Kind::Snapshot, FieldOutput::Kind::Histogram})
    arrays.fields.emplace_back().kind = kind;
  arrays.fields.emplace_back().kind = FieldOutput::Kind::Slice;
  for (FieldOutput& field : arrays.fields) {
    field.name = "phi";
    field.buffer = kCopy;
    field.axis = 0;
    field.plane = 7;
    if (field.kind == FieldOutput::Kind::Histogram) field.histogram.emplace_back().bins = 16;
  }
  arrays.file = "wave.h5";
  p.outputs = {out, arrays};
  return p;
}

/// cos(k i) cos(Omega n dt) in the kick-drift variables: phi(n) with phi(0) at rest a half kick
/// ago.
inline double wave_exact(const WaveOptions& o, std::int64_t site, std::int64_t step) {
  const double k = 2 * std::numbers::pi * o.mode / static_cast<double>(o.sites);
  const double keff = 2 * std::sin(k / 2);
  // phi(n+1) - 2 phi(n) + phi(n-1) = -dt^2 keff^2 phi(n), phi(1) = (1 - dt^2 keff^2) phi(0)
  const double omega_dt = 2 * std::asin(o.dt * keff / 2);
  const double n = static_cast<double>(step);
  const double shift =
      omega_dt / 2;  // pi = 0 half a step before: cos(Omega (n + 1/2))/cos(Omega/2)
  return std::cos(k * static_cast<double>(site)) * std::cos(omega_dt * n + shift) / std::cos(shift);
}

}  // namespace vphi::test
