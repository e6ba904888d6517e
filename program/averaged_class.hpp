// Averages over a class of instances, `mean(x, over = event, where = ...)`, as scalars of a Program
// that belong to the scalar that is averaged.
#pragma once

#include <optional>
#include <string>

#include "program/program.hpp"

namespace vphi::program {

/// The initial value of the scalar NAME_by is the slot of a number of each instance, by which the
/// members are found: those where it is not 0, or where NAME_from and NAME_to are there too those
/// whose share of smaller numbers lies between their initial values.
struct AveragedClass {
  int by = -1;
  bool ranked = false;
  double from = 0, to = 1;

  static std::string by_name(const std::string& averaged) { return averaged + "_by"; }
  static std::string from_name(const std::string& averaged) { return averaged + "_from"; }
  static std::string to_name(const std::string& averaged) { return averaged + "_to"; }
};

/// The class of a statistic over axes; nothing: it is of all instances.
inline std::optional<AveragedClass> class_of(const Program& program, const Statistic& statistic) {
  const auto number = [&](const std::string& name) -> std::optional<double> {
    for (const Scalar& scalar : program.scalars)
      if (scalar.name == name) return scalar.initial;
    return std::nullopt;
  };
  const std::string& averaged = program.scalars.at(static_cast<std::size_t>(statistic.slot)).name;
  const auto by = number(AveragedClass::by_name(averaged));
  if (!by) return std::nullopt;
  AveragedClass made{.by = static_cast<int>(*by)};
  const auto from = number(AveragedClass::from_name(averaged));
  const auto to = number(AveragedClass::to_name(averaged));
  if (from && to) made.ranked = true, made.from = *from, made.to = *to;
  return made;
}

}  // namespace vphi::program
