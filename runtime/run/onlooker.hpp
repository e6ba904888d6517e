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
  Pause,  ///< no further step until another wish; the pause is not counted as running time
  Stop,   ///< finish as after an interruption: results are complete up to here
};

class Onlooker {
 public:
  virtual ~Onlooker() = default;

  /// Whether the fields are used, so that they must be copied.
  virtual bool attending() const = 0;
  /// The scalars of one output, as for io::ResultFile.
  virtual void scalars(std::span<const std::string> names, const io::Moment& at,
                       std::span<const double> values) = 0;
  /// A result of fields. Snapshots of a whole lattice are not passed on.
  virtual void table(const io::Table& table, const io::Moment& at) = 0;
  /// The state of the expectations after an output.
  virtual void checks(const std::vector<ExpectationResult>& results) = 0;
  /// Called between two chunks of steps, and every 50 ms while it returns Pause.
  virtual Wish between(const Progress& now) = 0;
};

}  // namespace vphi::runtime
