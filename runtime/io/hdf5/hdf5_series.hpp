// Series in an HDF5 file: data sets with a dimension for the rows and one for each axis of the
// sweep.
//
// /series/NAME [time, axis, ...] grows along its first dimension, /errors/NAME with it. Series that
// the same clauses write share their times, /series/time, and steps, /series/step; others have
// time_2, step_2 and so on. The attribute "times" of a series names its own. Times and the axes of
// the sweep (/axes/NAME) are dimension scales, with links in the groups that use them. Existing
// data sets are continued after their last row. Only for builds with HDF5. The caller owns the
// file. Throws ResultsError.
#pragma once

#include <hdf5.h>

#include <map>
#include <string>
#include <vector>

#include "runtime/io/results.hpp"

namespace vphi::io {

class Hdf5Series {
 public:
  /// `name`: of the file, as the program's outputs have it.
  Hdf5Series(hid_t file, const program::Program& program, const std::string& name);
  ~Hdf5Series();
  Hdf5Series(const Hdf5Series&) = delete;
  Hdf5Series& operator=(const Hdf5Series&) = delete;

  /// Adds a row. Rows are buffered until there are many of them, or until `flush`.
  void add(const Moment& at, std::span<const Swept> values);
  void flush();
  void plot(const std::string& name, const std::string& against, std::span<const double> x,
            std::span<const double> y, std::span<const double> error);
  /// Path of the scale of an axis of the sweep.
  std::string axis(std::size_t number);
  /// Whether this class writes the group; such groups contain data sets, not groups of moments.
  static bool owns(const std::string& group);

 private:
  /// Times and steps that several series share.
  struct Clock {
    std::string link, step_link;
    hid_t times = -1, steps = -1;
    hsize_t count = 0;  ///< rows in the file
    std::int64_t last_step = -1;
    std::vector<double> new_times = {};
    std::vector<std::int64_t> new_steps = {};
  };
  struct Series {
    hid_t values = -1, errors = -1;
    std::size_t clock = 0, width = 1;  ///< index of its Clock, and numbers in a row
    std::vector<hsize_t> row;
    std::vector<double> new_values = {}, new_errors = {};
  };
  using Writers = std::vector<std::size_t>;  ///< numbers of the outputs that write a series

  Series& series(const Swept& value);
  std::size_t clock(const Writers& writers);
  void open(Series& series, const std::string& link, bool errors);
  void create(Series& series, const Swept& value, const std::string& link);
  hid_t growing(const std::string& path, const std::vector<hsize_t>& row, hid_t type);
  void append(hid_t set, hsize_t count, const std::vector<hsize_t>& row, hid_t type,
              const void* data, hsize_t rows);

  hid_t file_;
  const program::Program& program_;
  std::map<std::string, Writers> writers_;
  std::map<Writers, std::size_t> clock_of_;
  std::vector<Clock> clocks_;
  std::map<std::string, Series> series_;
  std::size_t waiting_ = 0;  ///< numbers
};

/// A valid name of a link: a slash would separate groups, and "." means the group itself.
std::string link_name(std::string name);

}  // namespace vphi::io
