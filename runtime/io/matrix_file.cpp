#include "runtime/io/matrix_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "program/number_text.hpp"
#include "runtime/io/files/set_name.hpp"
#include "runtime/io/start_error.hpp"

#ifdef VPHI_HAVE_HDF5
#include "program/hdf5_read.hpp"
#endif

namespace vphi::io {

namespace {

std::vector<double> checked(std::vector<double> values, const std::string& file, std::size_t rows,
                            std::size_t columns, const std::string& found) {
  if (values.size() != rows * columns)
    throw StartError(
        fmt::format("{} holds {}; a matrix of {} x {} is needed", file, found, rows, columns));
  const auto bad = std::ranges::find_if_not(values, [](double v) { return std::isfinite(v); });
  if (bad != values.end()) {
    const auto at = static_cast<std::size_t>(bad - values.begin());
    throw StartError(fmt::format("{}: the entry of row {} and column {} is not a finite number",
                                 file, at / columns, at % columns));
  }
  return values;
}

std::vector<double> read_text(const std::string& file, std::size_t rows, std::size_t columns) {
  std::ifstream in(file);
  if (!in) throw StartError(fmt::format("{} is not there", file));
  std::vector<double> values;
  std::size_t count = 0;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    program::keep_numbers(line, ++number);
    const std::size_t before = values.size();
    for (const std::string& word : program::words_of(line)) {
      const auto v = program::number_in(word);
      if (!v)
        throw StartError(fmt::format("{}, line {}: `{}` is not a number", file, number, word));
      values.push_back(*v);
    }
    if (values.size() == before) continue;
    ++count;
    if (values.size() != before + columns)
      throw StartError(fmt::format("{} has {} numbers in row {}; a matrix of {} x {} is needed",
                                   file, values.size() - before, count, rows, columns));
  }
  return checked(std::move(values), file, rows, columns, fmt::format("{} rows", count));
}

#ifdef VPHI_HAVE_HDF5

std::vector<double> read_opened(const std::string& path, const std::string& name, std::size_t rows,
                                std::size_t columns) {
  const std::string shown = fmt::format("{}:{}", path, name);
  const hdf5::Handle file = hdf5::open_to_read(path);
  if (file < 0) throw StartError(hdf5::why_not_opened(path));
  const hdf5::Handle set = hdf5::open_set(file, name);
  if (set < 0) throw StartError(fmt::format("{} has no set `{}`", path, name));
  const auto shape = hdf5::shape_of(set);
  const bool flat = shape && shape->size() == 2;
  if (!flat || (*shape)[0] != rows || (*shape)[1] != columns)
    throw StartError(fmt::format("{} is {}; a matrix of {} x {} is needed", shown,
                                 flat ? fmt::format("{} x {}", (*shape)[0], (*shape)[1])
                                      : std::string("no set of two dimensions"),
                                 rows, columns));
  std::vector<double> values(rows * columns);
  if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    throw StartError(fmt::format("{} cannot be read", shown));
  return values;
}

std::vector<double> read_set(const std::string& path, const std::string& name, std::size_t rows,
                             std::size_t columns) {
  const auto read = [&] { return read_opened(path, name, rows, columns); };
  const auto fail = [](const std::string& message) { throw StartError(message); };
  return checked(hdf5::read_stranger(path, read, fail), fmt::format("{}:{}", path, name), rows,
                 columns, "");
}

#else

std::vector<double> read_set(const std::string& path, const std::string&, std::size_t,
                             std::size_t) {
  throw StartError(fmt::format("{}: this build reads no HDF5 (apt-get install libhdf5-dev)", path));
}

#endif

}  // namespace

std::vector<double> read_matrix(const std::string& file, std::size_t rows, std::size_t columns) {
  if (const auto name = set_name(file)) return read_set(name->path, name->set, rows, columns);
  return read_text(file, rows, columns);
}

}  // namespace vphi::io
