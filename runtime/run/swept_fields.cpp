#include "runtime/run/swept_fields.hpp"

#include <fmt/format.h>

#include "runtime/observe/reduce.hpp"
#include "runtime/run/ensemble.hpp"

namespace vphi::runtime {

io::Table swept_table(const program::Program& program, const program::FieldOutput& field,
                      const std::function<std::vector<double>(int, std::int64_t)>& read,
                      const std::vector<double>& scalars, int threads) {
  const std::vector<int> kept = Remaining::all_but(program, field.over);
  const Remaining left(program, kept);
  std::vector<std::vector<std::int64_t>> cells(static_cast<std::size_t>(left.size()));
  for (std::int64_t i = 0; i < program.all_instances(); ++i)
    cells[static_cast<std::size_t>(left.cell(i))].push_back(i);
  const std::size_t width = program.scalars.size();

  io::Table all;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    const auto together = [&](int buffer) {
      std::vector<double> values;
      for (const std::int64_t i : cells[cell]) {
        const std::vector<double> one = read(buffer, i);
        values.insert(values.end(), one.begin(), one.end());
      }
      return values;
    };
    const auto own = scalars.begin() +
                     static_cast<std::ptrdiff_t>(static_cast<std::size_t>(cells[cell][0]) * width);
    io::Table table = observe::reduce(program, field, together,
                                      {own, own + static_cast<std::ptrdiff_t>(width)}, threads);
    io::unpack(table);
    if (cell == 0) {
      all = std::move(table);
      continue;
    }
    if (table.shape != all.shape)
      throw RunError(
          "E0901", fmt::format("`{}` has another shape in each instance of the sweep", field.name),
          "give the number of bins or their range");
    all.values.insert(all.values.end(), table.values.begin(), table.values.end());
    for (std::size_t k = 0; k < all.numbers.size() && k < table.numbers.size(); ++k)
      all.numbers[k].second += table.numbers[k].second;
  }
  std::vector<std::int64_t> shape;
  for (const int axis : kept) {
    const program::Axis& a = program.axes[static_cast<std::size_t>(axis)];
    shape.push_back(static_cast<std::int64_t>(a.values.size()));
    all.leading.push_back(a.name);
  }
  all.shape.insert(all.shape.begin(), shape.begin(), shape.end());
  return all;
}

}  // namespace vphi::runtime
