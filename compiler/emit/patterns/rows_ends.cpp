// What lies beyond the ends of the axes across a row, on processors.
//
// The kernels of one rank and of several must have the same bits. Several ranks find what lies
// beyond an end in their ghosts, as numbers of an array. Were it a choice between a number of the
// array and a constant or a product with a sign here, the compiler would draw arithmetic into the
// choice, and then fuse other products with sums than it does without it. So the sites of a row
// read it from memory too: at an end, from a row that the task has made.
#include "compiler/emit/patterns/rows_text.hpp"

namespace vphi::emit {

using algebra::Offset;
using physics::Boundary;

bool Rows::crosses_end(const Offset& row) const {
  if (!job_.dialect.tasks()) return false;
  for (int axis = 1; axis < kernel_.dims; ++axis) {
    const Boundary end = kernel_.boundary[static_cast<std::size_t>(axis)];
    const bool own = end == Boundary::Fixed || end == Boundary::Antiperiodic;
    if (own && row.d[axis] != 0) return true;
  }
  return false;
}

Code Rows::row_with_ends(std::size_t array, const Offset& row) {
  const Code there = row_pointer(array, row), name = there + "_here";
  Code& known = pointers_[name];
  if (!known.empty()) return known;
  known = name;
  Code inside, sign;
  for (int axis = 1; axis < kernel_.dims; ++axis) {
    if (row.d[axis] == 0) continue;
    const Boundary end = kernel_.boundary[static_cast<std::size_t>(axis)];
    const Code index = axis_index(axis, row.d[axis]);
    if (end == Boundary::Antiperiodic) sign += (sign.empty() ? "" : "*") + index + "_sign";
    if (end == Boundary::Fixed) inside += (inside.empty() ? "" : " & ") + index + "_inside";
  }
  const Precision store = kernel_.arrays[array].store;
  const Code type = type_name(store);
  Code own = there + " + x0";
  if (!inside.empty()) own = code("{} ? {} : {}", inside, own, row_of_fixed(store));
  coordinates_ += code("VPHI_GLOBAL const {}* {} = {};\n", type, name, own);
  if (sign.empty()) return name;
  buffers_ += code("{} {}_turned[{}];\n", type, there, chunk());
  coordinates_ += code(
      "if ({0} < 0) {{\n  for (vphi_index i = 0; i < width; ++i) {1}_turned[i] = -{2}[i];\n"
      "  {2} = {1}_turned;\n}}\n",
      sign, there, name);
  return name;
}

// Memory of a task with what lies beyond fixed ends.
Code Rows::row_of_fixed(Precision store) {
  const Code name = store == Precision::F32 ? "vphi_fixed_row_f32" : "vphi_fixed_row_f64";
  if (!fixed_rows_.insert(store).second) return name;
  const Code value = fixed_number();
  buffers_ += code("{0} {1}[{2}];\nfor (vphi_index i = 0; i < {2}; ++i) {1}[i] = ({0}){3};\n",
                   type_name(store), name, chunk(), value);
  return name;
}

// Its value is hidden from the compiler of a processor, for the same reason.
Code Rows::fixed_number() {
  const Code value = number(kernel_.fixed_value);
  if (!job_.dialect.tasks()) return value;
  if (!std::exchange(fixed_, true))
    buffers_ += code(
        "volatile {0} vphi_fixed_in_memory = {1};\nconst {0} vphi_fixed = vphi_fixed_in_memory;\n",
        real(), value);
  return "vphi_fixed";
}

Code Rows::with_sign(const Code& value, const Code& sign) const {
  if (!job_.dialect.tasks()) return value + "*" + sign;
  return code("vphi_with_sign_{}({}, {})", suffix(), value, sign);
}

}  // namespace vphi::emit
