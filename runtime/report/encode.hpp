// Numbers small enough for a page: curves with fewer points, pictures with fewer pixels, base64.
//
// Curves keep the extrema of every stretch that is merged, so that no peak is lost; pictures are
// averaged over blocks. Arrays are little-endian: f32 where the loss cannot be seen in a plot, else
// f64; pictures are 16-bit steps between their lowest and highest value, linear or logarithmic.
// The page's script (templates/report/data.js) reads what is written here. Nothing fails.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "runtime/report/report.hpp"

namespace vphi::report {

std::string base64(std::span<const std::byte> bytes);

/// Indices to keep of a curve: the first and last point, and of each of `most/2` equal stretches
/// the lowest and the highest value. All where there are no more than `most`.
std::vector<std::size_t> decimate(std::span<const double> y, std::size_t most);

/// {"f": base64 of f32} or {"d": base64 of f64}: f64 where rounding to f32 moves a value by more
/// than 1e-4 of the range.
nlohmann::json encode(std::span<const double> values);

/// The plane averaged over blocks, so that no edge is longer than `longest`.
Plane shrink(const Plane& plane, int longest);

/// {"t", "step", "w", "h", "low", "high", "log", "u": base64 of u16}; logarithmic steps where all
/// values are positive and span more than three decades. 65535 stands for NaN.
nlohmann::json encode(const Plane& plane);

/// At most `most` of `count` frames: first, last and evenly between.
std::vector<std::size_t> spread(std::size_t count, std::size_t most);

}  // namespace vphi::report
