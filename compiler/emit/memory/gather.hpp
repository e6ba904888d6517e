// Emits the statements that fill the `in` struct of a site: coordinates, and neighbours by index
// arithmetic.
#pragma once

#include <map>
#include <set>
#include <string>

#include "compiler/emit/text/frame.hpp"

namespace vphi::emit {

/// The site is the variable `at`. For the sites of one colour (kernel::Colours) it is number `cell`
/// among them, x fastest, where the variable `colour` is the number of the colour. Where arrays
/// have a special order of the sites (Job::order) and there are no colours, the site follows from
/// `number`: groups of `together` sites of one class alternate with such groups of the next.
class Gather {
 public:
  /// `coordinates_known`: the variables x, y, ... and `at` exist already.
  explicit Gather(const Job& job, bool coordinates_known = false, std::int64_t together = 1)
      : job_(job),
        kernel_(job.kernel),
        coordinates_known_(coordinates_known),
        together_(together) {}
  /// `strip`: the site is number k of a strip whose values and random numbers are computed already.
  Code lines(bool strip = false);
  /// The same where only the values, and no random numbers, are those of a strip.
  Code lines_of_own();
  /// So many sites before and after this one certainly lie in its row; `type`: of its place there.
  void within_row(std::int64_t before, std::int64_t after, const char* type) {
    before_ = before, after_ = after, place_type_ = type;
  }
  /// Statements from the coordinates to `out`: the lines and a call of the site function, or its
  /// pieces, each after its reads.
  Code evaluated();
  /// The same for a site of several that share the blocks of their random numbers (math/draws.hpp);
  /// `number`: which of them, where the text knows.
  Code evaluated_of_blocks(const Code& number);
  /// Reads that were written so far, and instructions on integers for their places, at least.
  int reads() const { return reads_; }
  int integers() const { return integers_; }
  /// Instructions on integers of `coloured`.
  static int integers_of_coloured(const Job& job);
  /// The part of `job.body.code` that must come before these statements.
  static Code functions(const Job& job);
  /// For a site of a colour: its coordinates and `at`, from `cell`. The same in two parts: `of_row`
  /// from `row`, the number of a row of cells along x, and `in_row` from the number in that row.
  static Code coloured(const Job& job);
  static Code of_row(const Job& job);
  static Code in_row(const Job& job);
  static Code cell_name(const kernel::Kernel& kernel, int axis);
  static std::int64_t cells(const kernel::Kernel& kernel, int axis);
  /// Statements that store `out`; `strip`: into number k of a strip.
  static Code stores(const Job& job, bool strip = false);
  /// Names of the values of a strip, as read and to be stored.
  static Code old_of_strip(const Job& job, std::size_t array) {
    return job.body.array_names[array] + "_old";
  }
  static Code next_of_strip(const Job& job, std::size_t array) {
    return job.body.array_names[array] + "_next";
  }

 private:
  Code filled(const Read& read);
  Code with_draws(Code draws);
  Code axes_filled() const;
  Code in_pieces();
  Code site_in_memory_order();
  Code own_cell() const;
  Code place(const algebra::Offset& offset, int copy);
  Code coordinates();
  Code axis_index(int axis, int d);
  Code index_within(const Code& name, int d) const;
  void count_read(const algebra::Offset& offset);
  Code row(const algebra::Offset& offset);
  Code stored(std::size_t array, const algebra::Offset& offset, int copy);
  Code value(std::size_t array, const algebra::Offset& offset, int copy = 0);
  Code sum(const Read& read, std::size_t array);

  Code n(int axis) const {
    return index_literal(job_, kernel_.extent[static_cast<std::size_t>(axis)]);
  }
  Code real() const { return type_name(job_.body.real); }
  Code number(double v) const { return literal(static_cast<long double>(v), job_.body.real); }

  const Job& job_;
  const kernel::Kernel& kernel_;
  bool coordinates_known_ = false;
  std::int64_t together_ = 1, before_ = 0, after_ = 0;
  bool strip_ = false;
  const char* place_type_ = "vphi_index";
  int integers_ = 0, reads_ = 0;
  std::map<std::pair<int, int>, Code> index_;  // axis, displacement -> variable
  std::map<Code, Code> values_;                // pointer and offset -> variable
  std::set<Code> rows_, known_;
  Code text_;
};

}  // namespace vphi::emit
