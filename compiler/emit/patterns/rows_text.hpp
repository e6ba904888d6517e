// The text of a kernel's loop over rows: fills the slots of rows.txt.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/algebra/stencil_columns.hpp"
#include "compiler/emit/patterns/rows.hpp"
#include "compiler/kernel/slabs.hpp"

namespace vphi::emit {

inline std::int64_t extent(const kernel::Kernel& kernel, int axis) {
  return kernel.extent[static_cast<std::size_t>(axis)];
}

// The text of one kernel's loop over rows.
class Rows {
 public:
  explicit Rows(const Job& job) : job_(job), kernel_(job.kernel) { plan(); }

  void plan();
  /// Sites of a row that are walked.
  std::int64_t length() const { return kernel_.walked()[0]; }
  /// The first of them in memory: others where ranks share the sites of a single row.
  std::int64_t first_site() const {
    return kernel_.planes && kernel_.planes->axis == 0 ? kernel_.planes->first : 0;
  }
  std::int64_t row_count() const { return kernel_.walked_sites() / length(); }
  std::int64_t chunk() const { return std::min(length(), kernel::piece_of_row(kernel_.whole())); }
  std::int64_t chunks() const { return (length() + chunk() - 1) / chunk(); }

  Code width() const;
  /// 0 where the pieces of a row have different lengths.
  std::int64_t constant_width() const { return chunks() == 1 ? length() : 0; }
  Code edge_functions() const;
  Code buffers() const;
  Code coordinates() const { return coordinates_; }
  Code row_sums() const { return sums_; }
  Code gather() const { return fills_; }
  Code store() const;
  Code put() const;
  /// What the eight lanes of a sum are: vectors, where the compiler has them and add_lanes() adds,
  /// or arrays, which clang did not keep in registers (two compensated sums: 0.6 of 3 ns a site).
  enum class Lanes { Vectors, Arrays };
  Code lanes(Lanes kind = Lanes::Vectors) const;
  Code add_lanes() const;
  Code shares(std::int64_t tasks) const;

 private:
  Code real() const { return type_name(job_.body.real); }
  Code suffix() const { return job_.body.real == Precision::F32 ? "f32" : "f64"; }
  Code number(double v) const { return literal(static_cast<long double>(v), job_.body.real); }
  Code axis_index(int axis, int d);
  Code row_pointer(std::size_t array, algebra::Offset row);
  Code element(std::size_t array, const algebra::Offset& row, const Code& at, bool edge);
  /// Whether a read of this row goes across an end with numbers of its own (rows_ends.cpp).
  bool crosses_end(const algebra::Offset& row) const;
  /// Points to x0 of such a row, or of memory of the task with what lies beyond the end.
  Code row_with_ends(std::size_t array, const algebra::Offset& row);
  Code row_of_fixed(Precision store);
  Code fixed_number();
  Code with_sign(const Code& value, const Code& sign) const;
  /// A sum of rows: as a buffer, or at `i` only.
  struct Column {
    Code text;
    bool buffer = false;
  };
  /// The rows of a group added up at a place; `edge`: where they may have to wrap.
  Code added(std::size_t array, const algebra::RowGroup& group, const Code& at, bool edge);
  Column column(const Read& read, std::size_t array, const algebra::RowGroup& group);
  Code sum(const Read& read, std::size_t array);
  /// The stores of weighted sums of rows: in the row, beyond its ends, and from its other end.
  struct Columns {
    Code inside, below, above, turned;
  };
  Code fill_rows() const;
  Code column_sum(const Read& read, std::size_t array, const algebra::ColumnPlan& plan);
  Code fill_columns(std::size_t array, const algebra::RowPlan& plan, const Columns& columns);
  Code added_rows(std::size_t array, const algebra::RowPlan& plan, const Code& at, bool edge);
  Code weighted(const algebra::RowWeights& weights) const;
  /// Whether a row is a whole circle in one piece: what is beyond an end is at the other one.
  bool circle() const {
    return kernel_.boundary[0] == physics::Boundary::Periodic && chunks() == 1 &&
           length() == extent(kernel_, 0) && reach_ <= length();
  }
  /// The margins of a buffer of such a row, at the distance i.
  Code turned(const Code& name) const;
  Code add_vectors() const;
  bool in_vectors(std::size_t i) const {
    return job_.dialect.tasks() && kernel_.reductions[i].kind == kernel::ReduceKind::Sum;
  }
  bool doubled_lanes(std::size_t i) const {
    return kernel_.sum == kernel::SumKind::Kahan && kernel_.compute == Precision::F64 &&
           kernel_.reductions[i].kind == kernel::ReduceKind::Sum;
  }

  const Job& job_;
  const kernel::Kernel& kernel_;
  std::array<bool, 4> used_{};
  int reach_ = 0;       // margin of the buffers
  bool edges_ = false;  // numbers beyond the ends of a row are read
  bool fixed_ = false;  // the number beyond fixed ends has a name
  std::set<Precision> fixed_rows_;
  std::map<std::pair<int, int>, Code> index_;
  std::map<Code, Code> pointers_;               // array and row -> variable
  std::map<Code, Code> factors_;                // variable -> sign or inside test
  std::map<std::string, std::string> columns_;  // sum of rows -> buffer
  std::vector<Columns> rows_;                   // stores of the buffers of columns_
  Code coordinates_, sums_, fills_, buffers_;
};

}  // namespace vphi::emit
