// An observer of a running simulation: the live page, a notebook, a test.
//
// The run loop gives an Onlooker the values of each output and asks it between two chunks of steps
// (about a tenth of a second apart) whether to continue. Calls come from the thread of the run;
// their arguments are valid during the call only. Fields are copied only while `attending`, so an
// unobserved run has no extra cost; rows of series are a few numbers and always given. The caller
// of `run` owns it; it must outlive the run, and an exception from it ends the run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/io/results.hpp"

namespace vphi::runtime {

struct ExpectationResult;
struct Progress;

enum class Wish {
  GoOn,
  Pause,  ///< no further step until another wish; the time is not counted
  Stop,   ///< finish as after an interruption: results are complete up to here
};

class Onlooker {
 public:
  virtual ~Onlooker() = default;

  /// Whether fields are worth copying now.
  virtual bool attending() const = 0;
  /// One output's scalars, as io::ResultFile gets them.
  virtual void scalars(std::span<const std::string> names, const io::Moment& at,
                       std::span<const double> values) = 0;
  /// What is made of fields. Snapshots of a whole lattice are not told.
  virtual void table(const io::Table& table, const io::Moment& at) = 0;
  /// The expectations as they stand after an output.
  virtual void checks(const std::vector<ExpectationResult>& results) = 0;
  /// Between two chunks of steps; called again every 50 ms while it answers Pause.
  virtual Wish between(const Progress& now) = 0;
};

}  // namespace vphi::runtime
