#include "runtime/run/fourier_map.hpp"

#include <algorithm>
#include <thread>

#include "program/fourier_map.hpp"
#include "runtime/fft/fft.hpp"

namespace vphi::runtime {
namespace {

using program::FourierMap;

bool same(const FourierMap& a, const FourierMap& b) {
  const auto terms = [](const FourierMap::Term& s, const FourierMap::Term& t) {
    return s.row == t.row && s.column == t.column && s.weight == t.weight && s.offset == t.offset &&
           s.laplacians == t.laplacians;
  };
  return a.function == b.function && a.scale == b.scale && a.from.size() == b.from.size() &&
         a.to.size() == b.to.size() && std::ranges::equal(a.matrix, b.matrix, terms);
}

}  // namespace

FourierMaps::Table FourierMaps::made(const FourierMap& map) const {
  const fft::Box box{{program_.extent[0], program_.extent[1], program_.extent[2]}};
  const auto modes = static_cast<std::size_t>(box.modes());
  Table all(map.to.size() * map.from.size());
  for (std::size_t e = 0; e < all.size(); ++e) {
    all[e].row = e / map.from.size(), all[e].column = e % map.from.size();
    all[e].re.resize(modes), all[e].im.resize(modes);
  }
  const auto fill = [&](std::int64_t first, std::int64_t last) {  // rows of modes along x
    for (std::int64_t row = first; row < last; ++row) {
      const double y = program::phase_of(row % box.n[1], box.n[1]);
      const double z = program::phase_of(row / box.n[1], box.n[2]);
      for (std::int64_t x = 0; x < box.half(); ++x) {
        const auto matrix =
            program::mode_of(map, {program::phase_of(x, box.n[0]), y, z}, program_.dx);
        const auto mode = static_cast<std::size_t>(row * box.half() + x);
        for (std::size_t e = 0; e < all.size(); ++e) {
          all[e].re[mode] = static_cast<double>(matrix[e].real());
          all[e].im[mode] = static_cast<double>(matrix[e].imag());
        }
      }
    }
  };
  const std::int64_t rows = box.n[1] * box.n[2];
  const std::int64_t workers = std::clamp<std::int64_t>(threads_, 1, rows);
  {
    std::vector<std::jthread> team;
    for (std::int64_t w = 1; w < workers; ++w)
      team.emplace_back([&, w] { fill(rows * w / workers, rows * (w + 1) / workers); });
    fill(0, rows / workers);
  }
  const auto zero = [](double value) { return value == 0; };
  for (Entry& entry : all)
    if (std::ranges::all_of(entry.im, zero)) entry.im.clear();
  std::erase_if(all, [&](const Entry& entry) {
    return entry.im.empty() && std::ranges::all_of(entry.re, zero);
  });
  return all;
}

const FourierMaps::Table& FourierMaps::table(std::size_t map) {
  for (std::size_t other = 0; !tables_[map] && other < tables_.size(); ++other)
    if (tables_[other] && same(program_.maps[map], program_.maps[other]))
      tables_[map] = tables_[other];
  if (!tables_[map]) tables_[map] = std::make_shared<const Table>(made(program_.maps[map]));
  return *tables_[map];
}

std::vector<std::vector<double>> FourierMaps::apply(std::size_t map,
                                                    std::span<const std::vector<double>> from) {
  const Table& entries = table(map);
  const fft::Box box{{program_.extent[0], program_.extent[1], program_.extent[2]}};
  const auto modes = static_cast<std::size_t>(box.modes());
  std::vector<std::vector<fft::Complex>> images(from.size());
  for (const Entry& entry : entries) {
    auto& image = images[entry.column];
    if (!image.empty()) continue;
    image.resize(modes);
    fft::forward(box, from[entry.column].data(), image.data(), threads_);
  }
  const program::FourierMap& of = program_.maps[map];
  const double scale = 1 / static_cast<double>(box.sites());
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
    auto& result = to.emplace_back(static_cast<std::size_t>(box.sites()));
    fft::inverse(box, sum.data(), result.data(), threads_);
    for (double& value : result) value *= scale;
  }
  return to;
}

}  // namespace vphi::runtime
