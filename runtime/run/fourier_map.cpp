#include "runtime/run/fourier_map.hpp"

#include <algorithm>
#include <thread>

#include "program/fourier_cost.hpp"
#include "program/fourier_map.hpp"

namespace vphi::runtime {
namespace {

using program::FourierMap;

fft::Box whole_box(const program::Program& program) {
  const auto extent = program.whole_extent();
  return {{extent[0], extent[1], extent[2], extent[3]}};
}

}  // namespace

FourierMaps::FourierMaps(const program::Program& program, int threads)
    : program_(program),
      threads_(threads),
      transform_(whole_box(program), threads),
      tables_(program.maps.size()) {}

FourierMaps::FourierMaps(const program::Program& of_rank, comm::Comm& comm, int threads)
    : program_(of_rank),
      threads_(threads),
      transform_(whole_box(of_rank), planes_by_rank(of_rank, comm.size()), comm, threads,
                 of_rank.cut.second.ranks),
      tables_(of_rank.maps.size()) {}

FourierMaps::Table FourierMaps::made(const FourierMap& map) const {
  const fft::Box& box = transform_.box();
  const fft::SharedTransform::Columns columns = transform_.columns();
  Table all(map.to.size() * map.from.size());
  for (std::size_t e = 0; e < all.size(); ++e) {
    all[e].row = e / map.from.size(), all[e].column = e % map.from.size();
    all[e].re.resize(static_cast<std::size_t>(transform_.modes()));
    all[e].im.resize(static_cast<std::size_t>(transform_.modes()));
  }
  const auto fill = [&](std::int64_t first, std::int64_t last) {  // modes
    program::ModeMatrices matrices(map, program_.dx);
    for (std::int64_t mode = first; mode < last; ++mode) {
      const std::int64_t column = columns.first + mode % columns.count;
      std::array<double, 4> theta{program::phase_of(column % box.half(), box.n[0])};
      std::int64_t across = column / box.half();
      for (std::size_t axis = 1; axis < box.slowest(); ++axis) {
        theta[axis] = program::phase_of(across % box.n[axis], box.n[axis]);
        across /= box.n[axis];
      }
      theta[box.slowest()] = program::phase_of(mode / columns.count, box.n[box.slowest()]);
      const program::ModeMatrix& matrix = matrices.of(theta);
      const auto at = static_cast<std::size_t>(mode);
      for (std::size_t e = 0; e < all.size(); ++e) {
        all[e].re[at] = static_cast<double>(matrix[e].real());
        all[e].im[at] = static_cast<double>(matrix[e].imag());
      }
    }
  };
  const std::int64_t modes = transform_.modes();
  const std::int64_t workers =
      std::clamp<std::int64_t>(threads_, 1, std::max<std::int64_t>(1, modes));
  {
    std::vector<std::jthread> team;
    for (std::int64_t w = 1; w < workers; ++w)
      team.emplace_back([&, w] { fill(modes * w / workers, modes * (w + 1) / workers); });
    fill(0, modes / workers);
  }
  const auto zero = [](double value) { return value == 0; };
  for (Entry& entry : all)
    if (std::ranges::all_of(entry.im, zero)) entry.im.clear();
  // ranks transform the same arrays, also where a share of the factors is 0
  std::erase_if(all, [&](const Entry& entry) {
    return !transform_.anywhere(!entry.im.empty() || !std::ranges::all_of(entry.re, zero));
  });
  return all;
}

const FourierMaps::Table& FourierMaps::table(std::size_t map) {
  for (std::size_t other = 0; !tables_[map] && other < tables_.size(); ++other)
    if (tables_[other] && program::same_matrices(program_.maps[map], program_.maps[other]))
      tables_[map] = tables_[other];
  if (!tables_[map]) tables_[map] = std::make_shared<const Table>(made(program_.maps[map]));
  return *tables_[map];
}

std::vector<std::vector<double>> FourierMaps::apply(std::size_t map,
                                                    std::span<const std::vector<double>> from) {
  const Table& entries = table(map);
  std::vector<std::vector<fft::Complex>> images(from.size());
  for (const Entry& entry : entries) {
    auto& image = images[entry.column];
    if (image.empty()) image = transform_.forward(from[entry.column]);
  }
  const program::FourierMap& of = program_.maps[map];
  const double scale = 1 / static_cast<double>(transform_.box().sites());
  const auto modes = static_cast<std::size_t>(transform_.modes());
  std::vector<std::vector<double>> to;
  for (std::size_t row = 0; row < of.to.size(); ++row) {
    std::vector<fft::Complex> sum(modes);
    for (const Entry& entry : entries) {
      if (entry.row != row) continue;
      const auto& image = images[entry.column];
      for (std::size_t i = 0; i < modes; ++i) {
        const double re = entry.re[i], im = entry.im.empty() ? 0 : entry.im[i];
        sum[i] += fft::Complex(re * image[i].real() - im * image[i].imag(),
                               re * image[i].imag() + im * image[i].real());
      }
    }
    auto& result = to.emplace_back(transform_.inverse(std::move(sum)));
    for (double& value : result) value *= scale;
  }
  return to;
}

}  // namespace vphi::runtime
