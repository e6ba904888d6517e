// Result files read by other libraries: xarray (through h5netcdf), h5py and pandas, in every group.
#include "tests/run/command.hpp"

namespace {

class NetCdf : public vphi::test::CommandTest {};

TEST_F(NetCdf, EveryGroupHasItsDimensions) {
  write("plain.vphi", R"(model plain
lattice box: 16 * 8, length = 1, boundary = periodic
field u: real
u'' = lap(u)
init u = cos(2*pi*x) + 0.1*cos(4*pi*y), u' = 0
evolve leapfrog, dt = 0.1*dx, until = step >= 32
every 4 steps: mean(u^2), var(u), min(u) -> "plain.h5"
every 8 steps: max(u), min(u), snapshot(u), slice(u, y = 0), slice(u), spectrum(u) -> "plain.h5"
at end: profile(u, along = x), histogram(u, bins = 5), histogram(u, u^2, bins = [3, 4]) -> "plain.h5"
)");
  write("swept.vphi", R"(model swept
sweep g = [1, 2]
sweep path = 1..4
lattice ring: 8, length = 1
field u: real
u' = 0.1*lap(u) + g + 0.1*noise
init u = cos(2*pi*x)
evolve euler_maruyama, dt = 0.01, until = step >= 20
every 10 steps: m = mean(u), averaged = mean(mean(u), over = path) -> "swept.h5"
at end: histogram(u, bins = 5) -> "swept.h5"
)");
  write("united.vphi", R"(model united
units GeV
param m = 2 [GeV]
lattice line: 8, length = 8 [1/GeV]
field u: real
V = m^2*u^2/2
u' = 0*u
init u = 3 [GeV] if index(x) == 2 else 0
evolve euler, dt = 0.1, until = step >= 2
every 1 steps: mean(u), rho = mean(V), largest = max(u)/m, mean(abs(x)), mean(u*dx) -> "united.h5"
at end: profile(u, along = x), snapshot(u), spectrum(u), histogram(u, bins = 2) -> "united.h5"
)");
  write("counted.vphi", R"(model counted
lattice grid: 4^3*6
gauge U: SU(2)
A(u) = 2*u
b = 1.0*(index(t) == 1)
phi = solve(A, b)
init U ~ cold
at end: profile(phi, along = t) -> "counted.h5"
)");
  for (const char* name : {"plain", "swept", "united", "counted"}) {
    const auto ran =
        vphi(std::string("run ") + name + ".vphi --device native --quiet --out " + name);
    ASSERT_EQ(ran.status, 0) << ran.error;
  }
  const std::string at = folder_.string();
  const int status =
      std::system(("/usr/bin/python3 " VPHI_SOURCE_DIR "/tests/run/check_netcdf.py " + at +
                   "/plain/plain.h5 " + at + "/swept/swept.h5 " + at + "/united/united.h5 " + at +
                   "/counted/counted.h5 >" + at + "/said.txt 2>&1")
                      .c_str());
  if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127)
    GTEST_SKIP() << "python3-h5py, -h5netcdf, -xarray, -pandas: " << text("said.txt");
  EXPECT_EQ(WEXITSTATUS(status), 0) << text("said.txt");
}

}  // namespace
