// Estimates the error of the time step: a second run at half the step, from the same initial
// values.
//
// dt is constant in program time, so two steps of dt/2 end where one of dt does: outputs of step n
// are compared with those of step 2n. Where program time depends on a scale factor that follows the
// averages, t is itself a result with an error. The error shown for an observable q is |q(dt) -
// q(dt/2)|. For an integrator of order p the error of the result at dt is 2^p/(2^p - 1) times this
// difference to leading order (Richardson, Phil. Trans. R. Soc. A 226 (1927) 299): 2 for p = 1, 4/3
// for p = 2. Errors of the lattice spacing and of rounding that both runs have in common are not
// included.
//
// With noise both runs follow the same Brownian paths: a third run at the model's step draws
// (psi_2n + psi_2n+1)/sqrt(2) where the finer one draws psi_2n and psi_2n+1
// (schedule/integrator/brownian.hpp). The difference is then that of the steps, not the scatter of
// two samples. In a sweep it is the largest difference over its places; plots are compared point by
// point.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.hpp"
#include "runtime/run/run.hpp"
#include "tools/oracle/second_run.hpp"

namespace vphi::tools {

struct Uncertain {
  std::string name;
  double last = 0;                                     ///< difference of the last values
  double largest = 0;                                  ///< over all outputs
  double at = 0;                                       ///< time of the largest
  double scale = 0;                                    ///< largest absolute value of the observable
  std::vector<std::pair<double, double>> differences;  ///< t, |q(dt) - q(dt/2)|
};

struct ErrorCheck {
  std::vector<Uncertain> list;
  /// Largest difference of t itself at the compared outputs: nonzero where program time depends on
  /// a scale factor that follows the averages.
  double time_difference = 0;
};

/// Compiles for the same device or ranks and runs. Throws RunError where the model has no `dt`, has
/// noise with two- or three-point distributions (E0901), or fails.
ErrorCheck error_check(const std::string& path, CompileOptions options, const SecondRun& again,
                       const runtime::RunResult& shown, const runtime::RunOptions& how);

/// "name,t,difference" as a table in `out`; returns its path. Throws io::ResultsError.
std::string write_errors(const std::string& out, const std::string& model,
                         const std::vector<Uncertain>& errors);

const Uncertain* find(const std::vector<Uncertain>& list, const std::string& name);

}  // namespace vphi::tools
