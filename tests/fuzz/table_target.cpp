// A table of numbers that a model reads, as HDF5 where the bytes begin so, else as text: a table
// whose axes rise and whose numbers are finite, or a message.
#include <cmath>
#include <cstring>

#include "compiler/physics/tables/table_file.hpp"
#include "scratch_file.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vphi;
  const bool hdf5 = size > 8 && std::memcmp(data + 1, "HDF", 3) == 0;
  const fuzz::ScratchFile file(data, size, hdf5 ? ".h5" : ".txt");
  for (const std::size_t arguments : {1U, 2U})
    for (const char* set : {"", ":2", ":p"}) try {
        const physics::TableData table = physics::read_table("", file.path() + set, arguments);
        fuzz::must(table.axes.size() == arguments, "a table has the axes that were asked for");
        std::size_t count = 1;
        for (const auto& axis : table.axes) {
          count *= axis.size();
          for (std::size_t i = 1; i < axis.size(); ++i)
            fuzz::must(axis[i] > axis[i - 1], "the arguments of a table rise");
        }
        fuzz::must(table.values.size() == count, "a table is full");
        for (const double value : table.values)
          fuzz::must(std::isfinite(value), "a table holds numbers");
      } catch (const physics::TableError&) {
        // said so
      }
  return 0;
}
