// Instances of a sweep: their values along its axes, and the seeds of their random numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "program/axes.hpp"

namespace vphi::program {

namespace {

/// Values that may serve as numbers of draws: whole, not negative, 2^24 at most.
bool whole_numbers(const Axis& axis) {
  for (const double v : axis.values)
    if (!(v >= 0 && v < 0x1p24) || v != std::floor(v)) return false;
  return true;
}

}  // namespace

std::int64_t SiteOrder::place(std::int64_t site, const std::array<std::int64_t, 4>& extent) const {
  std::int64_t colour = 0, cell = 0, stride = 1, sites = 1;
  for (std::size_t k = 0; k < 4; ++k) {
    const std::int64_t x = site % extent[k];
    const bool shorter = static_cast<int>(k) == axis;
    site /= extent[k];
    sites *= extent[k];
    colour += weights[k] * x;
    cell += stride * (shorter ? x / modulus : x);
    stride *= shorter ? extent[k] / modulus : extent[k];
  }
  return colour % modulus * (sites / modulus) + cell;
}

std::int64_t Program::all_instances() const {
  std::int64_t all = 1;
  for (const Axis& axis : axes) all *= static_cast<std::int64_t>(axis.values.size());
  return all;
}

std::int64_t Program::place(std::int64_t instance, std::size_t axis) const {
  for (std::size_t k = axes.size() - 1; k > axis; --k)
    instance /= static_cast<std::int64_t>(axes[k].values.size());
  return instance % static_cast<std::int64_t>(axes[axis].values.size());
}

std::string Program::unit_of(const std::string& output) const {
  for (const auto& [name, unit] : units)
    if (name == output) return unit;
  return "1";
}

std::vector<Launch> Program::with_iterations(const std::vector<Launch>& list) const {
  std::vector<Launch> all;
  for (const Launch& launch : list) {
    all.push_back(launch);
    if (launch.solve < 0) continue;
    const Solve& solve = solves[static_cast<std::size_t>(launch.solve)];
    const std::vector<Launch> iterations = with_iterations(solve.iterate);
    all.insert(all.end(), iterations.begin(), iterations.end());
    all.insert(all.end(), solve.finish.begin(), solve.finish.end());
  }
  return all;
}

EnsembleNumbers::EnsembleNumbers(const Program& program) : program_(program) {
  for (const Axis& axis : program.axes) {
    by_value_.push_back(axis.ensemble && whole_numbers(axis));
    auto radix = static_cast<std::int64_t>(axis.values.size());
    if (by_value_.back()) {
      double largest = 0;
      for (const double v : axis.values) largest = std::max(largest, v);
      radix = static_cast<std::int64_t>(largest) + 1;
    }
    radix_.push_back(radix);
  }
}

std::int64_t EnsembleNumbers::operator()(std::int64_t instance) const {
  std::int64_t number = program_.ensemble;
  for (std::size_t k = 0; k < program_.axes.size(); ++k) {
    const Axis& axis = program_.axes[k];
    if (!axis.ensemble && !axis.fresh) continue;
    const std::int64_t at = program_.place(instance, k);
    number =
        number * radix_[k] +
        (by_value_[k] ? static_cast<std::int64_t>(axis.values[static_cast<std::size_t>(at)]) : at);
  }
  return number;
}

bool scalars_by_slot(const Program& program) {
  for (const Kernel& kernel : program.kernels)
    for (const Argument& argument : kernel.arguments)
      if (argument.kind == Argument::Kind::Scalars) return argument.index == 1;
  return false;
}

std::string instance_label(const Program& program, std::int64_t instance) {
  std::string text;
  for (std::size_t k = 0; k < program.axes.size(); ++k) {
    const Axis& axis = program.axes[k];
    const auto place = static_cast<std::size_t>(program.place(instance, k));
    text += fmt::format("{}{} = {}", k > 0 ? ", " : "", axis.name, axis.values[place]);
  }
  return text;
}

std::int64_t Program::ensemble_number(std::int64_t instance) const {
  return EnsembleNumbers(*this)(instance);
}

std::string Program::where(std::int64_t instance) const {
  std::string text;
  for (std::size_t k = 0; k < axes.size(); ++k)
    text += fmt::format("{}{} = {:.6g}", k > 0 ? ", " : "", axes[k].name,
                        axes[k].values[static_cast<std::size_t>(place(instance, k))]);
  return text;
}

}  // namespace vphi::program
