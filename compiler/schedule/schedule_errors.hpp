// What can go wrong between equations and kernels, one named function for each message.
//
// E0740 to E0769: integrators and their match with the equations, noise; E0901: not yet in this
// version. Each returns the whole diagnostic; nothing is formatted elsewhere.
#pragma once

#include <string>
#include <vector>

#include "compiler/text/text_errors.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::schedule::error {

using dsl::Diagnostic;
using dsl::Span;
using text::error::cannot_evaluate;
using text::error::solver_text;

Diagnostic not_yet(Span at, const std::string& what);
Diagnostic no_integrator(Span at);
Diagnostic unknown_name(Span at, const std::string& name, const std::string& integrator,
                        const std::vector<std::string>& known);
Diagnostic wrong_arguments(Span at, const std::string& hole, const std::string& why);

/// `terms` in the equations of `variable` fit no part of the head; `fitting` integrators would do.
Diagnostic unmatched(Span at, const std::string& integrator, const std::string& variable,
                     const std::vector<std::string>& terms,
                     const std::vector<std::string>& fitting);
Diagnostic circular_group(Span at, const std::string& integrator,
                          const std::vector<std::string>& variables);
/// A composition with negative weights under noise.
Diagnostic noise_backwards(Span at, const std::string& integrator);
/// A warning: noises that do not commute.
Diagnostic noise_general(Span at, const std::string& integrator);
Diagnostic noise_calculus_unknown(Span at, const std::string& integrator);
/// A warning: the stationary state at this step is off by `relative`.
Diagnostic noise_bias(Span at, const std::string& integrator, const std::string& what,
                      double relative, const std::string& where,
                      const std::vector<std::string>& better);
/// W0316: linearised equations that grow `growth`-fold a step and should not. `rate` of their
/// fastest mode; `fits` is a dt at which they do not.
Diagnostic step_grows(Span at, const std::string& integrator, double growth, double rate,
                      const std::string& wave, double dt, double fits);
/// E0323: `together = steps` cannot be obeyed, for a reason.
Diagnostic not_together(Span at, int steps, const std::string& why);
Diagnostic option_not_used(Span at, const std::string& integrator, const std::string& option);
Diagnostic broken_kernel(const std::string& after, const std::vector<std::string>& findings);

}  // namespace vphi::schedule::error
