#include "runtime/observe/reduce.hpp"

#include <array>

#include "runtime/observe/transverse.hpp"

namespace vphi::observe {

using program::Program;

namespace {

using MakeTable = io::Table (*)(const FilledOutput&);

/// In the order of program::OutputKind.
constexpr MakeTable kTables[] = {
#define VPHI_OUTPUT(kind, ...) table_of<program::OutputKind::kind>,
#define VPHI_WRITTEN VPHI_OUTPUT
#include "program/outputs.def"
};

}  // namespace

io::Table reduce(const Program& program, const program::FieldOutput& field, const ReadBuffer& read,
                 const std::vector<double>& scalars, int threads) {
  io::Table table =
      kTables[static_cast<std::size_t>(field.kind)]({program, field, read, scalars, threads});
  table.kind = field.kind;
  table.name = field.name;
  return table;
}

void apply(const Program& program, const program::Transform& transform, const ReadBuffer& read,
           const std::function<void(int, const std::vector<double>&)>& write, int threads) {
  std::array<std::vector<double>, 6> components;
  for (std::size_t c = 0; c < 6; ++c) components[c] = read(transform.buffers[c]);
  transverse_traceless(grid_of(program, threads), transform.derivative, components);
  for (std::size_t c = 0; c < 6; ++c) write(transform.buffers[c], components[c]);
}

}  // namespace vphi::observe
