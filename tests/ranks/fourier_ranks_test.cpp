// Maps in Fourier space on the devices of ranks that share a lattice, against the host's of the
// whole lattice. OpenCL's processor device, with transforms and messages of the host: what GPUs add
// are cuFFT and their own way of sending.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "runtime/comm/team.hpp"
#include "runtime/device/opencl/opencl.hpp"
#include "runtime/run/fourier_map.hpp"

namespace vphi::runtime {
namespace {

using program::Precision;

constexpr int kRanks = 2;

/// A real field in f32, one in f64, and a map with real and complex factors of both.
program::Program whole_program(std::array<std::int64_t, 4> extent) {
  program::Program p;
  p.extent = extent, p.dims = extent[2] > 1 ? 3 : 2;
  p.dx = p.dx_physical = 0.4;
  p.buffers.resize(2);
  p.buffers[0].precision = Precision::F64, p.buffers[1].precision = Precision::F32;
  program::FourierMap map;
  map.name = "coupled", map.function = program::FourierMap::Function::Exp, map.scale = 0.3;
  map.from = {0, 1}, map.to = {0, 1};
  map.matrix = {{0, 0, 1, {}, 1}, {0, 1, 0.5, {1}, 0}, {1, 0, -2, {}, 0}};
  p.maps = {map};
  return p;
}

/// With a ghost below and two above.
program::Program part_of(program::Program p, int rank) {
  const int axis = p.extent[2] > 1 ? 2 : 1;
  p.cut.axis = axis, p.cut.whole = p.extent[static_cast<std::size_t>(axis)], p.cut.slab = 2;
  p.cut.ghost = {1, 2};
  p.cut.own = p.cut.planes(kRanks, rank).count;
  p.extent[static_cast<std::size_t>(axis)] = p.cut.own + 3;
  return p;
}

std::vector<double> values_of(const program::Program& p, int buffer) {
  std::vector<double> values(static_cast<std::size_t>(p.sites()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double at = static_cast<double>(i);
    values[i] = std::sin(0.7 * at + buffer) + std::cos(0.013 * at * at);
    if (buffer == 1) values[i] = static_cast<float>(values[i]);
  }
  return values;
}

void put(Device& device, BufferHandle to, const std::vector<double>& values, Precision precision) {
  if (precision == Precision::F64) return device.upload(to, 0, std::as_bytes(std::span(values)));
  const std::vector<float> narrow(values.begin(), values.end());
  device.upload(to, 0, std::as_bytes(std::span(narrow)));
}

std::vector<double> get(Device& device, BufferHandle from, std::size_t count, Precision precision) {
  std::vector<double> values(count);
  std::vector<float> narrow(count);
  if (precision == Precision::F64) {
    device.download(std::as_writable_bytes(std::span(values)), from, 0);
    return values;
  }
  device.download(std::as_writable_bytes(std::span(narrow)), from, 0);
  return {narrow.begin(), narrow.end()};
}

void compare(std::array<std::int64_t, 4> extent) {
  const program::Program whole = whole_program(extent);
  const std::vector<std::vector<double>> fields{values_of(whole, 0), values_of(whole, 1)};
  const auto expected = FourierMaps(whole, 1).apply(0, fields);
  comm::Team team(kRanks);
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < kRanks; ++rank)
    ranks.emplace_back([&, rank] {
      const auto comm = team.comm(rank);
      const auto device = open_device("opencl");
      const program::Program part = part_of(whole, rank);
      LatticeRanks lattice(part, *device, *comm);
      const auto planes = part.cut.own + 3;
      const auto plane = static_cast<std::size_t>(part.sites() / planes);
      const auto first = static_cast<std::size_t>(lattice.first()) * plane,
                 own = static_cast<std::size_t>(part.cut.own) * plane;
      std::vector<BufferHandle> memory;
      std::vector<std::vector<double>> full;
      for (std::size_t b = 0; b < 2; ++b) {
        full.emplace_back(static_cast<std::size_t>(part.sites()),
                          std::numeric_limits<double>::quiet_NaN());
        std::copy_n(fields[b].begin() + static_cast<std::ptrdiff_t>(first), own,
                    full[b].begin() + static_cast<std::ptrdiff_t>(plane));
        memory.push_back(device->allocate(full[b].size() * sizeof(double)));
        put(*device, memory[b], full[b], part.buffers[b].precision);
      }
      {
        DeviceFourierMaps maps(part, *device, 1, DeviceFourierMaps::Transform::Host, &lattice);
        const bool ready = maps.ready();
        EXPECT_TRUE(ready) << maps.why();
        if (ready) maps.apply(0, memory, memory);
        for (std::size_t b = 0; ready && b < 2; ++b) {
          const Precision precision = part.buffers[b].precision;
          const auto made = get(*device, memory[b], full[b].size(), precision);
          const double bound = precision == Precision::F64 ? 1e-12 : 1e-5;
          for (std::size_t i = 0; i < made.size(); ++i) {
            const bool ghost = i < plane || i >= plane + own;
            if (ghost)
              ASSERT_TRUE(std::isnan(made[i])) << i;
            else
              ASSERT_NEAR(made[i], expected[b][first + i - plane], bound) << b << ", " << i;
          }
        }
      }
      for (const BufferHandle handle : memory) device->free(handle);
    });
}

TEST(FourierRanks, MapsOnDevicesAreTheHosts) {
  std::string why;
  if (list_opencl(&why).empty()) GTEST_SKIP() << "no OpenCL device here: " << why;
  compare({32, 8, 12, 1});
  compare({9, 24, 10, 1});
  compare({48, 10, 1, 1});
}

}  // namespace
}  // namespace vphi::runtime
