// Encodes numbers for a page: curves with fewer points, pictures with fewer pixels, base64.
//
// Curves keep the extrema of every merged interval, so that no peak is lost; pictures are averaged
// over blocks. Arrays are little-endian: f32 where the loss is not visible in a plot, otherwise
// f64. Pictures have 16-bit values between their lowest and highest value, linear or logarithmic.
// The page's script (templates/report/data.js) reads this format. Nothing fails.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "runtime/report/report.hpp"

namespace vphi::report {

std::string base64(std::span<const std::byte> bytes);

/// Indices of the points of a curve to keep: the first and the last, and the lowest and the highest
/// of each of `most/2` equal intervals. All, where there are at most `most`.
std::vector<std::size_t> decimate(std::span<const double> y, std::size_t most);

/// {"f": base64 of f32} or {"d": base64 of f64}: f64 where rounding to f32 moves a value by more
/// than 1e-4 of the range.
nlohmann::json encode(std::span<const double> values);

/// The plane averaged over blocks, so that no edge is longer than `longest`.
Plane shrink(const Plane& plane, int longest);

/// {"t", "step", "w", "h", "low", "high", "log", "u": base64 of u16}; logarithmic steps where all
/// values are positive and span more than three decades. 65535 stands for NaN.
nlohmann::json encode(const Plane& plane);

/// At most `most` of `count` frames: the first, the last, and others evenly between them.
std::vector<std::size_t> spread(std::size_t count, std::size_t most);

}  // namespace vphi::report
