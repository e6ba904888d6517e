// A formula of the model's language, evaluated on the state of a run that goes on.
//
// The model is compiled once more with the formula as its only output. The program has the
// arrays and scalars of the run under the same names, so their values are copied into a session of
// its own; its launches bring the state to one time, as they do for every output, and the run is
// left as it is. A formula with a value at each site is a snapshot, any other a scalar. Throws
// Error of kind Model where the formula cannot be read.
#pragma once

#include <memory>
#include <string>

#include "embed/simulation.hpp"
#include "runtime/run/session.hpp"

namespace vphi::embed {

class Evaluator {
 public:
  Evaluator(const Model& model, const std::string& expression, runtime::Device& device,
            const program::Program& of_run);
  Array value(runtime::Session& run);

 private:
  void take_state(runtime::Session& run);
  const program::Output& output() const { return compilation_.program->outputs.back(); }

  Compilation compilation_;
  std::unique_ptr<runtime::Session> session_;
};

/// Axes and shape of a number at each site of each instance.
Array on_lattice(const program::Program& program);

}  // namespace vphi::embed
