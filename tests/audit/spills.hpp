// Kernels of shipped models that NVIDIA's compiler keeps partly in memory, by name and reason.
#pragma once

#include <array>
#include <string_view>

namespace vphi::audit {

struct Spilling {
  std::string_view model, kernel;  ///< kernels whose names begin so
  int bytes;                       ///< stored at most
  std::string_view reason;
};

constexpr std::array kSpilling{
    Spilling{"cosmology/axion_u1.vphi", "sweep", 900, "seven rates of cubes of neighbours, f64"},
    Spilling{"cosmology/lphi4_su2u1.vphi", "first", 440, "energies of both groups, once, f64"},
    Spilling{"cosmology/lphi4_su2u1.vphi", "watch", 1300,
             "energies of both groups at outputs, f64"},
    Spilling{"gauge/nucleon.vphi", "observe_1", 8000, "all contractions of an output at a site"},
    Spilling{"gauge/nucleon.vphi", "watch", 8000, "all contractions of an output at a site"},
    Spilling{"gauge/nucleon.vphi", "solve_s1_start", 48, "several columns, once a solve"},
    Spilling{"gauge/wilson_quark.vphi", "observe_1_stage_2", 1000, "products of an output"},
    Spilling{"gauge/wilson_quark.vphi", "solve_s1_residual_2", 160, "once a solve, 120 reads"},
    Spilling{"gauge/wilson_quark.vphi", "solve_s1c2_residual_2", 160, "once a solve, 120 reads"},
    Spilling{"gauge/wilson_quark.vphi", "solve_s1_start", 120, "two columns, once a solve, f64"},
    Spilling{"gauge/wilson_quark.vphi", "solve_s1", 24, "three numbers of two columns, f64"},
    Spilling{"gauge/twisted_quark.vphi", "solve_s1_residual_2", 100, "once a solve, 120 reads"},
    Spilling{"gauge/tm4.vphi", "drift", 440, "the exponential of SU(3) in f64"},
    Spilling{"gauge/tm4.vphi", "close", 300, "the exponential of SU(3), and the energy, in f64"},
    Spilling{"gauge/tm4.vphi", "solve_", 64, "eight neighbours of a spinor in f64"},
    Spilling{"gauge/tm4.vphi", "kick_", 200, "X and Y for four axes with three rows, in f64"},
    Spilling{"gauge/tm4.vphi", "energy_", 16, "the energy in f64"},
    Spilling{"gauge/tmqcd.vphi", "energy_", 1100, "determinants, once a trajectory"},
    Spilling{"gauge/tmqcd.vphi", "kick_", 40, "X, Y and phi of all axes in f64"},
    Spilling{"gauge/one_flavour.vphi", "solve_", 400, "addresses of 50 arrays"},
    Spilling{"gauge/one_flavour.vphi", "kick_", 160, "addresses of 50 arrays"},
    Spilling{"gauge/su3_iwasaki.vphi", "heatbath_", 400, "staples of rectangles in f64"},
    Spilling{"gauge/su3_symanzik.vphi", "heatbath_", 400, "staples of rectangles in f64"},
    Spilling{"hydro/ball.vphi", "along_", 160, "15 of 3200 instructions of four cells in f64"},
    Spilling{"hydro/event2d.vphi", "initial", 40, "the start, once, f64"},
    Spilling{"hydro/event2d.vphi", "sweep_2_part", 80, "rates of all stresses, 255 registers, f64"},
    Spilling{"hydro/event2d_bulk.vphi", "initial", 32, "the start, once, f64"},
    Spilling{"hydro/event2d_bulk.vphi", "sweep_2_part", 80, "rates of all stresses, 255 registers"},
    Spilling{"hydro/event2d_bulk.vphi", "sweep_3_part", 32, "rates of all stresses, 255 registers"},
    Spilling{"hydro/fireball.vphi", "along_", 300, "as ball, with one more quantity"},
    Spilling{"hydro/event3d.vphi", "initial", 8, "the start, once, f64"},
    Spilling{"hydro/gw_sound.vphi", "sweep_", 8, "one number at 255 registers, weno5, f64"},
    Spilling{"hydro/synge.vphi", "sweep_", 24, "a row of one group, Bessel functions in f64"},
    Spilling{"noise/doublewell.vphi", "sweep", 24, "outside of the loop over steps, f64"},
};

/// Bytes that a kernel of a shipped model may store so.
constexpr int spilled_at_most(std::string_view model, std::string_view kernel) {
  for (const Spilling& row : kSpilling)
    if (row.model == model && kernel.starts_with(row.kernel)) return row.bytes;
  return 0;
}

}  // namespace vphi::audit
