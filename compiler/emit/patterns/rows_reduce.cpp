// The stores of a row, and its shares of the reductions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "compiler/emit/patterns/rows_text.hpp"

namespace vphi::emit {

Code Rows::buffers() const {
  Code text = buffers_;
  for (const std::string& member : job_.body.reduction_members)
    text += code("{} {}_row[{}];\n", real(), member, chunk());
  return text;
}

Code Rows::store() const {
  Code text;
  for (std::size_t i = 0; i < kernel_.stores.size(); ++i) {
    const std::size_t array = position(kernel_, kernel_.stores[i].array);
    const Precision store = kernel_.arrays[array].store;
    text += code("{}[at + i] = {}out.{};\n", write_pointer(job_, array),
                 store == job_.body.real ? "" : Code("(") + type_name(store) + ")",
                 job_.body.store_members[i]);
  }
  return text;
}

Code Rows::put() const {
  Code text;
  for (const std::string& member : job_.body.reduction_members)
    text += code("{0}_row[i] = out.{0};\n", member);
  return text;
}

Code Rows::lanes(Lanes kind) const {
  Code text;
  for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
    const Code& member = job_.body.reduction_members[i];
    if (kind == Lanes::Vectors && in_vectors(i)) {
      text += code("vphi_lanes {}_lane = {{0.0}};\n", member);
      if (doubled_lanes(i)) text += code("vphi_lanes {}_carry = {{0.0}};\n", member);
      continue;
    }
    const char* start = "0.0";
    if (kernel_.reductions[i].kind == kernel::ReduceKind::Minimum) start = "VPHI_INFINITY";
    if (kernel_.reductions[i].kind == kernel::ReduceKind::Maximum) start = "-VPHI_INFINITY";
    text += code("double {}_lane[8] = {{{}}};\n", member,
                 fmt::format("{}", fmt::join(std::vector<std::string>(8, start), ", ")));
    if (doubled_lanes(i)) text += code("double {}_carry[8] = {{0.0}};\n", member);
  }
  return text;
}

// Each addition of a lane waits for the one before: lanes of all sums take turns.
Code Rows::add_vectors() const {
  Code whole, rest;
  for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
    if (!in_vectors(i)) continue;
    const Code& m = job_.body.reduction_members[i];
    if (!doubled_lanes(i)) {
      whole += code("  vphi_add_lanes(&{0}_lane, {0}_row + i);\n", m);
      rest += code("  {0}_lane[j] += (double){0}_row[i + j];\n", m);
      continue;
    }
    whole += code("  vphi_accumulate_lanes(&{0}_lane, &{0}_carry, {0}_row + i);\n", m);
    rest += code(
        "  double {0}_sum = {0}_lane[j], {0}_lost = {0}_carry[j];\n"
        "  vphi_accumulate_f64(&{0}_sum, &{0}_lost, {0}_row[i + j]);\n"
        "  {0}_lane[j] = {0}_sum;\n  {0}_carry[j] = {0}_lost;\n",
        m);
  }
  if (whole.empty()) return {};
  return code(
      "for (vphi_index i = 0; i < width / 8 * 8; i += 8) {{\n{}}}\n"
      "for (vphi_index i = width / 8 * 8, j = 0; i + j < width; ++j) {{\n{}}}\n",
      whole, rest);
}

Code Rows::add_lanes() const {
  Code text = add_vectors();
  for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
    if (in_vectors(i)) continue;
    const Code& m = job_.body.reduction_members[i];
    Code add = code("{0}_lane[j] = {0}_lane[j] + (double){0}_row[i + j];", m);
    if (kernel_.reductions[i].kind == kernel::ReduceKind::Minimum)
      add = code("{0}_lane[j] = vphi_min_f64({0}_lane[j], (double){0}_row[i + j]);", m);
    if (kernel_.reductions[i].kind == kernel::ReduceKind::Maximum)
      add = code("{0}_lane[j] = vphi_max_f64({0}_lane[j], (double){0}_row[i + j]);", m);
    if (doubled_lanes(i))
      add = code("vphi_accumulate_f64(&{0}_lane[j], &{0}_carry[j], {0}_row[i + j]);", m);
    text += code(
        "for (vphi_index i = 0; i < width / 8 * 8; i += 8)\n"
        "  for (int j = 0; j < 8; ++j) {0}\n"
        "for (vphi_index i = width / 8 * 8, j = 0; i + j < width; ++j) {0}\n",
        add);
  }
  return text;
}

Code Rows::shares(std::int64_t tasks) const {
  Code text;
  for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
    const Code& m = job_.body.reduction_members[i];
    if (doubled_lanes(i))
      text += code("for (int j = 0; j < 8; ++j) {0}_lane[j] -= {0}_carry[j];\n", m);
    text += code(
        "for (int j = 4; j > 0; j /= 2)\n  for (int k = 0; k < j; ++k)\n"
        "    {0}_lane[k] = vphi_join_{1}({2}, {0}_lane[k], {0}_lane[k + j]);\n",
        m, job_.body.suffix, i);
    // ranks send what they have added, task by task
    text +=
        kernel_.planes
            ? code("partials[task * {} + {}] = {}_lane[0];\n", kernel_.reductions.size(), i, m)
            : code("partials[{} + task] = {}_lane[0];\n", static_cast<std::int64_t>(i) * tasks, m);
  }
  return text;
}

}  // namespace vphi::emit
