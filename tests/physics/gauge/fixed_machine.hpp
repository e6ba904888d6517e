// Launches of a program with its memory in plain sight: in the interpreter, or on a device.
//
// A buffer is a vector that the caller reads and changes. On a device it is copied there before the
// next launches and read anew behind them: a reference is valid up to the next launches.
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/interpret/interpret.hpp"
#include "runtime/run/session.hpp"
#include "tests/support/simulate.hpp"

namespace vphi::testing {

class FixedMachine {
 public:
  explicit FixedMachine(const program::Program& program) : program_(program) {}
  virtual ~FixedMachine() = default;
  virtual void launch(const std::vector<program::Launch>& launches) = 0;
  virtual std::vector<double>& buffer(int number) = 0;
  std::vector<double>& buffer(const std::string& name) {
    return buffer(number_of(program_.buffers, name));
  }
  double scalar(const std::string& name) { return slot(number_of(program_.scalars, name)); }
  void set_scalar(const std::string& name, double value) {
    set_slot(number_of(program_.scalars, name), value);
  }

 protected:
  virtual double slot(int number) = 0;
  virtual void set_slot(int number, double value) = 0;
  const program::Program& program_;

 private:
  template <class Named>
  static int number_of(const std::vector<Named>& all, const std::string& name) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].name == name) return static_cast<int>(i);
    throw std::invalid_argument("the program has no " + name);
  }
};

class InterpretedMachine : public FixedMachine {
 public:
  using FixedMachine::buffer;
  explicit InterpretedMachine(const Compilation& compiled)
      : FixedMachine(*compiled.program), run_(*compiled.plan) {
    run_.start();
  }
  void launch(const std::vector<program::Launch>& launches) override { run_.launch(launches); }
  std::vector<double>& buffer(int number) override { return run_.buffer(number); }

 private:
  double slot(int number) override { return run_.scalar(number); }
  void set_slot(int number, double value) override {
    run_.set_scalar(program_.scalars[static_cast<std::size_t>(number)].name, value);
  }
  kernel::Interpreter run_;
};

class DeviceMachine : public FixedMachine {
 public:
  using FixedMachine::buffer;
  DeviceMachine(const Compilation& compiled, runtime::Device& device)
      : FixedMachine(*compiled.program), run_(*compiled.program, device) {
    run_.start();
  }
  void launch(const std::vector<program::Launch>& launches) override {
    for (const auto& [number, values] : shown_) run_.write(number, values);
    shown_.clear();
    run_.launch(launches);
  }
  std::vector<double>& buffer(int number) override {
    const auto found = shown_.find(number);
    return found != shown_.end() ? found->second
                                 : shown_.emplace(number, run_.read(number)).first->second;
  }

 private:
  double slot(int number) override { return run_.slot(number)[0]; }
  void set_slot(int number, double value) override { run_.set_scalar(number, value); }
  runtime::Session run_;
  std::map<int, std::vector<double>> shown_;
};

/// `device`: empty for the interpreter.
inline std::unique_ptr<FixedMachine> fixed_machine(const Compilation& compiled,
                                                   const std::string& name) {
  if (name.empty()) return std::make_unique<InterpretedMachine>(compiled);
  runtime::Device* open = device(name);
  if (open == nullptr) throw std::invalid_argument("no device " + name);
  return std::make_unique<DeviceMachine>(compiled, *open);
}

}  // namespace vphi::testing
