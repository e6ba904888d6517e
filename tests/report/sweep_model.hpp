// A small sweep with an ensemble: averages with errors, histograms for each temperature.
#pragma once

namespace vphi::report::test {

inline constexpr const char* kSweep = R"(model bars "A particle in a well, warm and cold"
sweep T = [0.2, 0.5, 0.9]
sweep path = 1..40
var x: real
x'' = -x - x' + sqrt(2*T)*noise
init x = 0, x' ~ sqrt(T)*normal
evolve baoab, dt = 0.05, until = t > 4
every 20 steps: mean(x'^2, over = path) -> "bars.h5"
every 40 steps: histogram(x, bins = 16, low = -4, high = 4, over = path) -> "bars.h5"
energy = mean(x'^2 + x^2, over = path)
at end: energy -> "bars.h5"
plot energy against T
)";

}  // namespace vphi::report::test
