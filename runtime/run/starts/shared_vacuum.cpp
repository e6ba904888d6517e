#include "runtime/run/starts/shared_vacuum.hpp"

#include <algorithm>
#include <memory>

#include "runtime/comm/messages.hpp"
#include "runtime/parallel.hpp"
#include "runtime/run/starts/vacuum_parts.hpp"

namespace vphi::runtime {
namespace {

using std::int64_t;

/// Numbers `first` to `first + count` along an axis of the octant.
struct Range {
  int64_t first = 0, count = 0;
};

/// Planes of an octant for this rank, an even number unless they are the last: lines are
/// transformed in pairs, and these are the pairs of one device.
Range planes_of_rank(int64_t planes, int ranks, int rank) {
  const int64_t pairs = (planes + 1) / 2;
  const auto start = [&](int64_t r) { return std::min(planes, pairs * r / ranks * 2); };
  return {start(rank), start(rank + 1) - start(rank)};
}

/// Rows of the octant with the amplitudes of a rank's columns, which are modes (x, y), again whole
/// pairs: n_y and N_y - n_y have the same.
Range rows_of_columns(const fft::Box& box, const fft::SharedTransform::Columns& columns) {
  if (columns.count == 0) return {};
  const int64_t ny = box.n[1], first = columns.first / box.half(),
                last = (columns.first + columns.count - 1) / box.half();
  const auto near = [&](int64_t y) { return std::min(y, ny - y); };
  const int64_t least = std::min(near(first), near(last)),
                most =
                    first <= ny / 2 && ny / 2 <= last ? ny / 2 : std::max(near(first), near(last));
  const int64_t begin = least / 2 * 2, end = std::min((most + 2) / 2 * 2, ny / 2 + 1);
  return {begin, end - begin};
}

/// The correlator at own planes of the octant, transformed along x and y.
std::vector<double> own_planes_of_octant(const Vacuum& v, const Range& planes, int threads) {
  OctantShape shape(v.box);
  shape.half[2] = planes.count;
  const VacuumCorrelator correlator(v);
  std::vector<double> octant(static_cast<std::size_t>(shape.size()));
  parallel_ranges(planes.count, threads, [&](int64_t begin, int64_t end) {
    for (int64_t z = begin; z < end; ++z)
      for (int64_t y = 0; y < shape.half[1]; ++y)
        for (int64_t x = 0; x < shape.half[0]; ++x)
          octant[(z * shape.half[1] + y) * shape.half[0] + x] = correlator(x, y, planes.first + z);
  });
  for (int axis = 0; axis < 2; ++axis) even_transform(shape, axis, octant, threads);
  return octant;
}

/// All planes of the rows of this rank, of own planes of all rows.
std::vector<double> to_rows(const fft::SharedTransform& transform, comm::Comm& comm,
                            const std::vector<double>& of_planes) {
  const fft::Box& box = transform.box();
  const OctantShape shape(box);
  std::vector<int64_t> given, taken;
  std::vector<Range> rows;
  const Range planes = planes_of_rank(shape.half[2], comm.size(), comm.rank());
  for (int r = 0; r < comm.size(); ++r) {
    rows.push_back(rows_of_columns(box, transform.columns_of_rank(r)));
    given.push_back(planes.count * rows.back().count * shape.half[0]);
  }
  const Range own = rows[static_cast<std::size_t>(comm.rank())];
  for (int r = 0; r < comm.size(); ++r)
    taken.push_back(planes_of_rank(shape.half[2], comm.size(), r).count * own.count *
                    shape.half[0]);
  comm::Messages<double> to(given), from(taken);
  double* next = to.data();
  for (const Range& wanted : rows)
    for (int64_t z = 0; z < planes.count; ++z)
      next = std::copy_n(of_planes.data() + (z * shape.half[1] + wanted.first) * shape.half[0],
                         wanted.count * shape.half[0], next);
  comm.each_to_each(to.given(), from.taken());
  return from.release();
}

}  // namespace

ModeAmplitude shared_amplitude(const Vacuum& v, const fft::SharedTransform& transform,
                               comm::Comm& comm, int threads) {
  if (!by_correlator(v)) return amplitude_by_formula(v);
  OctantShape shape(v.box);
  const Range planes = planes_of_rank(shape.half[2], comm.size(), comm.rank()),
              rows = rows_of_columns(v.box, transform.columns());
  auto octant = to_rows(transform, comm, own_planes_of_octant(v, planes, threads));
  shape.half[1] = rows.count;
  even_transform(shape, 2, octant, threads);
  const double scale = correlator_scale(v);
  for (double& c : octant) c *= scale;
  if (rows.first == 0 && rows.count > 0) octant[0] = 0;  // the zero mode is the homogeneous value
  const auto kept = std::make_shared<const std::vector<double>>(std::move(octant));
  return [kept, rows, half = shape.half[0]](const std::array<int64_t, 4>& n) {
    return (*kept)[static_cast<std::size_t>((n[2] * rows.count + n[1] - rows.first) * half + n[0])];
  };
}

std::vector<double> shared_field(const Vacuum& v, const ModeAmplitude& amplitude,
                                 fft::SharedTransform& transform, int threads) {
  const auto [first, count] = transform.columns();
  const std::size_t slowest = v.box.slowest();
  std::vector<fft::Complex> modes(static_cast<std::size_t>(transform.modes()));
  parallel_ranges(fft::planes_of(v.box), threads,
                  [&, first = first, count = count](int64_t begin, int64_t end) {
                    for (int64_t along = begin; along < end; ++along)
                      for (int64_t c = 0; c < count; ++c) {
                        std::array<int64_t, 4> n{(first + c) % v.box.half()}, near;
                        n[slowest] = along;
                        int64_t rest = (first + c) / v.box.half();
                        for (std::size_t axis = 1; axis < slowest; ++axis) {
                          n[axis] = rest % v.box.n[axis];
                          rest /= v.box.n[axis];
                        }
                        near = n;
                        for (std::size_t axis = 1; axis < 4; ++axis)
                          near[axis] = std::min(n[axis], v.box.n[axis] - n[axis]);
                        modes[static_cast<std::size_t>(along * count + c)] =
                            amplitude(near) * mode_noise(v, n);
                      }
                  });
  return transform.inverse(std::move(modes));
}

}  // namespace vphi::runtime
