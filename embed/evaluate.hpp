// Evaluates a formula of the model's language on the present state of a run.
//
// The model is compiled again with the formula as its only output. This program has the arrays and
// scalars of the run under the same names, so their values are copied into a session of its own.
// Its launches synchronise the state, as for every output; the run is not changed. A formula with a
// value at each site is a snapshot, links are a gauge configuration (complex matrices: axes
// direction, row, column, and part of the real and imaginary parts), any other is a scalar; of a
// vector it has the axis component, of a complex number part. Throws Error of kind Model where the
// formula cannot be compiled, of kind Usage for what is not one value: a list, a definition, an
// output with a table.
#pragma once

#include <memory>
#include <string>

#include "embed/simulation.hpp"
#include "runtime/run/session.hpp"

namespace vphi::embed {

/// The numbers of a scalar formula.
struct ScalarParts {
  std::vector<std::string> axes;    ///< "component" of a vector, "part" of a complex number
  std::vector<std::int64_t> shape;  ///< of these axes
  std::vector<int> slots;           ///< the last axis fastest; -1: 0
};

class Evaluator {
 public:
  Evaluator(const Model& model, const std::string& expression, runtime::Device& device,
            const program::Program& of_run);
  Array value(runtime::Session& run);

 private:
  void take_state(runtime::Session& run);
  const program::Output& output() const { return compilation_.program->outputs.back(); }

  Compilation compilation_;
  ScalarParts parts_;
  std::unique_ptr<runtime::Session> session_;
};

/// Axes and shape of a number at each site of each instance.
Array on_lattice(const program::Program& program);

}  // namespace vphi::embed
