// Messages about waves of conservation laws that grow, and densities that determine no state.
#include "compiler/physics/fluids/wave_errors.hpp"

#include <fmt/format.h>

#include "dsl/messages/error.hpp"

namespace vphi::physics::errors {

using dsl::error;

Diagnostic state_not_determined(Span law, const std::string& name, const std::string& place,
                                const std::string& further, double signal) {
  return error(
      "E0794", law, "several states have the same densities",
      fmt::format("`{}` and the other densities have no inverse at {}", name, place),
      fmt::format("det(dU/dP) of the densities U and the primitive variables P changes its sign on "
                  "the way from rest to {}: two states have the densities of one, and signals are "
                  "infinitely fast between them. Signals of that matter at rest have the speed "
                  "{:.4g}",
                  further, signal),
      "make signals slower than all velocities that the densities allow: with 1/sqrt(1 - v^2), a "
      "pressure that rises by less than the energy density, dp/deps < 1");
}

namespace {

std::string shown_velocity(std::complex<double> velocity) {
  return std::abs(velocity.real()) > 1e-6 * velocity.imag()
             ? fmt::format("{:.4g} +- {:.4g}i", velocity.real(), velocity.imag())
             : fmt::format("+-{:.4g}i", velocity.imag());
}

}  // namespace

Diagnostic waves_grow(Span law, const std::string& carrier, std::complex<double> velocity,
                      const std::string& axis, const std::string& state, bool at_start) {
  const std::string where =
      at_start ? "the start has this state" : "as in every random state that was tried";
  return error(
      "E0848", law, "short waves grow without bound",
      fmt::format("signals along {} have the velocities {} at {}; {}", axis,
                  shown_velocity(velocity), state, where),
      "velocities of signals are the eigenvalues of dF/dU of fluxes F and densities U; of a pair "
      "that is not real one grows as exp(k*|c|*t), the faster the finer the lattice",
      carrier.empty()
          ? std::string("write a pressure that rises with the density, dp/deps > 0, in every state "
                        "of the start; where it has to fall, terms that damp short waves belong to "
                        "the laws")
          : fmt::format("all are real if `{0}` stands still: its target has the other sign than "
                        "one that damps. Write a positive coefficient, `{0}` relaxing towards "
                        "-eta*d(v, x) with eta > 0",
                        carrier));
}

Diagnostic target_drives(Span law, const std::string& name, double with, double without,
                         const std::string& state) {
  Diagnostic d = error(
      "W0849", law, fmt::format("waves grow by the target of `{}`", name),
      fmt::format("signals have the speed {:.4g}, and {:.4g} if it stood still, at {}", with,
                  without, state),
      "what relaxes damps waves where it makes signals faster; where it makes them slower, it "
      "drives what it should damp (Whitham's condition)",
      "change the sign of the target: a stress relaxes towards -eta*d(v, x), a heat current "
      "towards -kappa*d(T, x), with positive coefficients");
  d.severity = dsl::Severity::Warning;
  return d;
}

Diagnostic diffusion_grows(Span law, const std::string& laws, const std::string& state) {
  return error("E0848", law, "short waves grow without bound",
               fmt::format("terms with derivatives of {} drive them, at {}", laws, state),
               "a flux against the gradient, -D*grad(u) with D > 0, damps waves; with it, waves "
               "grow as exp(|D|*k^2*t), the faster the finer the lattice",
               "write viscosities and conductivities that are positive");
}

}  // namespace vphi::physics::errors
