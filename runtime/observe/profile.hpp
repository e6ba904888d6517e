// Averages at equal coordinate or distance, and two-point functions.
//
// Coordinates count from the centre of the box, x = (i - (N - 1)/2) dx. By distance, bin l contains
// the sites at distances in [l - 1/2, l + 1/2) dx, and its r is their mean distance. A correlator
// is connected:
//   C(r) = <(f(x) - <f>) (g(x + r) - <g>)>_x = 1/N^2 sum_{k != 0} conj(f~) g~ exp(i k r)
// in a periodic box, by one transform forth and one back; distances are to the nearest image. Both
// directions of an axis are averaged.
#pragma once

#include <span>
#include <vector>

#include "runtime/observe/modes.hpp"

namespace vphi::observe {

struct ProfilePoint {
  double x = 0, mean = 0, count = 0;
};

/// Coordinates of a profile along an axis: measured from the middle of the box, or numbers of sites
/// from 0.
enum class Origin { Middle, FirstSite };
/// The profile along an axis, averaged over the others.
std::vector<ProfilePoint> axis_profile(const Grid& grid, std::span<const double> values, int axis,
                                       Origin origin = Origin::Middle);
/// The profile as a function of the distance from the centre of the box.
std::vector<ProfilePoint> radial_profile(const Grid& grid, std::span<const double> values);

/// C of every separation, x fastest, from conj(f~) g~ of every mode (its zero mode is ignored).
std::vector<double> correlations(const Grid& grid, std::vector<fft::Complex> products);
/// conj(f~) g~, summed over components by the caller.
void add_product(const Grid& grid, std::span<const double> f, std::span<const double> g,
                 double weight, std::vector<fft::Complex>& products);

std::vector<ProfilePoint> axis_correlator(const Grid& grid, const std::vector<double>& c, int axis);
std::vector<ProfilePoint> radial_correlator(const Grid& grid, const std::vector<double>& c);

}  // namespace vphi::observe
