// Messages about initial values (E0724 to E0728, E0870, E0871, E0876, E0877, E0879).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

Diagnostic init_not_state(Span span, const std::string& name);
/// `init gauss = ...` where `why`.
Diagnostic gauss_not_obeyed(Span span, const std::string& why, const std::string& fix);
/// `z ~ normal` of a complex z: a warning.
Diagnostic only_real_part(Span span, const std::string& name);
Diagnostic init_twice(Span span, const std::string& name, Span first);
Diagnostic start_given_twice(Span span, const std::string& quantity, const std::string& primitive,
                             Span other);
Diagnostic init_circle(Span span, const std::string& name);
Diagnostic vacuum_not_homogeneous(Span span, const std::string& name);
/// E0735: `vacuum` where the prescribed scale factor is 0.
Diagnostic vacuum_at_singularity(Span span, const std::string& scale, double time);
/// P(k) of `spectrum` is below 0, infinite or not a number.
Diagnostic spectrum_not_positive(Span span, double k, double value);
/// The file has powers from `first` to `last`, the box wave numbers from `least` to `largest`.
Diagnostic spectrum_beyond_file(Span span, const std::string& file, double first, double last,
                                double least, double largest);
/// The density of `density` is below 0, infinite or not a number at a place of so many components;
/// of none: at the distance at[0].
Diagnostic no_density(Span span, const std::array<double, 3>& at, int components, double value);
/// No bound of it was found about this place.
Diagnostic density_without_bound(Span span, const std::array<double, 3>& at, int components);
/// It reads what is not known of a place and an instance.
Diagnostic density_not_of_place(Span span);
Diagnostic density_is_zero(Span span, double reach);
/// Not of bodies, or of vectors with more than three components.
Diagnostic density_of_no_points(Span span, const std::string& name);
Diagnostic no_room_for_points(Span span, int points, double apart, double reach);
/// `keep` where no number is drawn.
Diagnostic kept_start_not_drawn(Span span);
Diagnostic random_not_here(Span span, const std::string& name);

}  // namespace vphi::physics::errors
