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

io::Table named(const FilledOutput& output) {
  io::Table table = kTables[static_cast<std::size_t>(output.field.kind)](output);
  table.kind = output.field.kind;
  table.name = output.field.name;
  return table;
}

}  // namespace

io::Table reduce(const Program& program, const program::FieldOutput& field, const ReadBuffer& read,
                 const std::vector<double>& scalars, int threads, const BinSums* sums) {
  return named({program, field, read, scalars, threads, nullptr, nullptr, sums});
}

io::Table reduce_part(const Program& program, const program::FieldOutput& field,
                      const ReadBuffer& read, io::Table::Part part) {
  const std::vector<double> scalars;
  return named({program, field, read, scalars, 1, nullptr, nullptr, nullptr, part});
}

io::Table reduce_between(const Program& program, const program::FieldOutput& field,
                         const Arrays& before, const Arrays& now, int threads) {
  const ReadBuffer none([](int) { return std::vector<double>(); });
  const std::vector<double> scalars;
  return named({program, field, none, scalars, threads, &before, &now});
}

void apply(const Program& program, const program::Transform& transform, const ReadBuffer& read,
           const std::function<void(int, std::vector<double>)>& write,
           fft::SharedTransform& fourier) {
  std::array<std::vector<double>, 6> components;
  for (std::size_t c = 0; c < 6; ++c) components[c] = read(transform.buffers[c]);
  transverse_traceless(grid_of(program, fourier.threads()), transform.derivative, fourier,
                       components);
  for (std::size_t c = 0; c < 6; ++c) write(transform.buffers[c], std::move(components[c]));
}

void apply(const Program& program, const program::Transform& transform, const ReadBuffer& read,
           const std::function<void(int, std::vector<double>)>& write, int threads) {
  fft::SharedTransform whole(grid_of(program, threads).box(), threads);
  apply(program, transform, read, write, whole);
}

}  // namespace vphi::observe
