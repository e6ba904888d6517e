// A slow interpreter of kernels: the oracle that every back end is compared with.
//
// `vphi test` runs steps of flux schemes in it (tools/oracle/law_check.cpp), the tests compare
// devices and passes with it. No stage of the compiler and no run needs it.
//
// It runs a Plan (kernels as expressions) on the host, in f32 or f64 as the kernels say, with the
// order of operations of native code: stencils by their row plan, sums as kernel.hpp describes,
// epilogues in f64. Random arrays are the caller's: write them into their buffers before `start`.
// Meant for lattices of a few thousand sites. Throws std::invalid_argument for a plan that is not
// sound (the verifier finds those first) or a boundary it does not know.
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

  /// Initial values and first scalars.
  void start();
  void step(int count = 1);
  void watch();
  void output(int number);
  void launch(const std::vector<program::Launch>& launches);

  /// Whether the sites of a colour are stored one by one: else all together when every one is done.
  /// Both give the same bits where the colours are right (kernel::Colours).
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
