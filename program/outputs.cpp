// The names of the columns of outputs.
#include "program/outputs.hpp"

#include <fmt/format.h>

#include "program/program.hpp"

namespace vphi::program {

std::string Program::along(int axis) const {
  const std::string name(1, "xyzt"[axis]);
  return counted ? "index(" + name + ")" : name;
}

std::vector<std::string> Program::columns_of(const FieldOutput& field) const {
  const OutputRow& row = row_of(field.kind);
  if (field.histogram.size() > 1) return {};
  std::vector<std::string> names;
  if (row.shape == OutputShape::Elements) {
    for (const char* before : {"", "n_"}) {
      if (field.in_time) names.push_back(fmt::format("{}t", before));
      for (int axis = 0; axis < dims; ++axis)
        names.push_back(fmt::format("{}{}", before, "xyzt"[axis]));
    }
    names.insert(names.end(), field.carried.begin(), field.carried.end());
    return names;
  }
  for (std::size_t i = 0; i < row.width; ++i) names.emplace_back(row.column[i].name);
  if (!names.empty() && names[0].empty()) names[0] = field.axis < 0 ? "r" : along(field.axis);
  return names;
}

}  // namespace vphi::program
