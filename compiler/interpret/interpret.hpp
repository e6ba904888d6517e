// A slow interpreter of kernels: the reference that the code of every device is compared with.
//
// `vphi test` runs steps of flux schemes in it (tools/oracle/law_check.cpp), the tests compare
// devices and passes with it. No stage of the compiler and no run needs it.
//
// It runs a Plan (kernels as expressions) on the host, in f32 or f64 as the kernels say, with the
// order of operations of native code: stencils by their row plan, sums as kernel.hpp describes,
// epilogues in f64. Random arrays are the caller's: write them into their buffers before `start`.
// Meant for lattices of a few thousand sites. Throws std::invalid_argument for an invalid plan (the
// verifier finds these first) or an unknown boundary.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/model/plan.hpp"

namespace vphi::kernel {

class Interpreter {
 public:
  explicit Interpreter(const schedule::Plan& plan);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  /// Computes initial values and first scalars.
  void start();
  void step(int count = 1);
  void watch();
  void output(int number);
  /// With the iterations of the solves that the launches begin.
  void launch(const std::vector<program::Launch>& launches);

  /// True: each site of a colour is stored at once. False: all are stored after the last is
  /// computed. Both give the same bits where the colours are correct (kernel::Colours).
  void colours_in_place(bool on);

  /// Current copy of a buffer of the program, [instance][site], x fastest.
  std::vector<double>& buffer(int index);
  std::vector<double>& buffer(const std::string& name);
  double scalar(int slot, std::int64_t instance = 0) const;
  double scalar(const std::string& name, std::int64_t instance = 0) const;
  void set_scalar(const std::string& name, double value, std::int64_t instance = 0);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vphi::kernel
