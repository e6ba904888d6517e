// Messages of the schedule, one function each.
//
// E0740 to E0769: integrators and their match with the equations, noise; E0862: ranks; E0324,
// E0325: Fourier space; E0901: not supported in this version. Each function returns the whole
// diagnostic.
#pragma once

#include <string>
#include <vector>

#include "compiler/text/text_errors.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::schedule::errors {

using dsl::Diagnostic;
using dsl::Span;
using text::errors::cannot_evaluate;
using text::errors::solver_text;

Diagnostic not_yet(Span at, const std::string& what);
Diagnostic no_integrator(Span at);
Diagnostic unknown_name(Span at, const std::string& name, const std::string& integrator,
                        const std::vector<std::string>& known);
Diagnostic wrong_arguments(Span at, const std::string& hole, const std::string& why);

/// `terms` in the equations of `variable` fit no part of the head; `fitting` are integrators that
/// they fit.
Diagnostic unmatched(Span at, const std::string& integrator, const std::string& variable,
                     const std::vector<std::string>& terms,
                     const std::vector<std::string>& fitting);
/// E0894: links of SU(n) with an integrator that is no composition of flows and has another head
/// than x' = f(x, t).
Diagnostic links_without_flows(Span at, const std::string& integrator, const std::string& variable,
                               const std::vector<std::string>& fitting);
Diagnostic circular_group(Span at, const std::string& integrator,
                          const std::vector<std::string>& variables);
/// A composition with negative weights for equations with noise.
Diagnostic noise_backwards(Span at, const std::string& integrator);
/// A warning: noises that do not commute.
Diagnostic noise_general(Span at, const std::string& integrator);
Diagnostic noise_calculus_unknown(Span at, const std::string& integrator);
/// A warning: the stationary variance at this step has the relative error `relative`.
Diagnostic noise_bias(Span at, const std::string& integrator, const std::string& what,
                      double relative, const std::string& where,
                      const std::vector<std::string>& better);
/// W0316: the linearised step grows by the factor `growth`, although the equations do not. `rate`
/// is that of the fastest mode; `fits` is a stable dt.
Diagnostic step_grows(Span at, const std::string& integrator, double growth, double rate,
                      const std::string& wave, double dt, double fits);
/// E0301: derivatives in these laws damp a wave with a rate that, times dt, is above the
/// integrator's limit.
Diagnostic damped_beyond_step(Span at, const std::string& laws, double dt, double rate,
                              const std::string& integrator, double limit);
/// W0615: the arithmetic of the sites, in f32 or in f64, has `after` for the number `value`.
Diagnostic rounded_number(Span at, long double value, long double after, bool single);
/// E0323: `together = steps` is not possible, for the reason `why`.
Diagnostic not_together(Span at, int steps, const std::string& why);
/// E0822: so many right sides cannot be solved in one go, for the reason `why`.
Diagnostic not_in_one_go(Span at, int columns, const std::string& why);
/// E0862: the lattice of a model cannot be shared by so many ranks. `why` completes the sentence.
Diagnostic not_cut(Span at, int ranks, const std::string& why, const std::string& way);
/// E0325: an integrator that makes transforms, where `why` forbids it.
Diagnostic no_fourier_space(Span at, const std::string& integrator, const std::string& why);
/// E0324: a spectral Laplacian in `where`, which no transform is made for.
Diagnostic spectral_elsewhere(Span at, const std::string& where);
Diagnostic option_not_used(Span at, const std::string& integrator, const std::string& option);
Diagnostic broken_kernel(const std::string& after, const std::vector<std::string>& findings);

}  // namespace vphi::schedule::errors
