// Averages at equal coordinate or distance, and two-point functions.
//
// Coordinates count from the centre of the box, x = (i - (N - 1)/2) dx. By distance, bin l contains
// the sites at distances in [l - 1/2, l + 1/2) dx, and its r is their mean distance. A correlator
// is connected:
//   C(r) = <(f(x) - <f>) (g(x + r) - <g>)>_x = 1/N^2 sum_{k != 0} conj(f~) g~ exp(i k r)
// in a periodic box, by one transform forth and one back; distances are to the nearest image. Both
// directions of an axis are averaged.
//
// Sums are made over the planes of the slowest axis, and those of all planes added in order: the
// same bits with any number of threads, and of ranks that share the planes.
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

// Sums over sites by bin: position (in units of dx), value, count. `planes`: the values of the
// planes that the transform's rank has (SharedTransform::planes), x fastest. Called by all of its
// ranks; the first has the sums.
/// A bin for each coordinate along an axis; it has no position.
BinSums axis_sums(const Grid& grid, fft::SharedTransform& transform, std::span<const double> planes,
                  int axis);
/// By the distance from the centre of the box, or, in a periodic box, from its first site.
enum class From { Centre, FirstSite };
BinSums distance_sums(const Grid& grid, fft::SharedTransform& transform,
                      std::span<const double> planes, From from);
/// The sites of an axis through the first site, a bin each.
BinSums on_axis(const Grid& grid, fft::SharedTransform& transform, std::span<const double> planes,
                int axis);

/// The profile along an axis, averaged over the others.
std::vector<ProfilePoint> axis_profile(const Grid& grid, const BinSums& sums,
                                       Origin origin = Origin::Middle);
/// By distance: a profile, or a correlator.
std::vector<ProfilePoint> radial_profile(const Grid& grid, const BinSums& sums);
std::vector<ProfilePoint> axis_correlator(const Grid& grid, const BinSums& on_axis);

/// C of the separations of own planes, from conj(f~) g~ of own modes (the zero mode is ignored).
std::vector<double> correlations(const Grid& grid, fft::SharedTransform& transform,
                                 std::vector<fft::Complex> products);
/// conj(f~) g~ of own modes, of own sites; summed over components by the caller.
void add_product(fft::SharedTransform& transform, std::span<const double> f,
                 std::span<const double> g, double weight, std::vector<fft::Complex>& products);

}  // namespace vphi::observe
