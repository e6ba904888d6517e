// The text of one kernel's loop over rows: what fills the slots of rows.txt.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "compiler/algebra/stencil.hpp"
#include "compiler/emit/patterns/rows.hpp"

namespace vphi::emit {

inline constexpr std::int64_t kLongestRow = 2048;  // sites a buffer holds

inline std::int64_t extent(const kernel::Kernel& kernel, int axis) {
  return kernel.extent[static_cast<std::size_t>(axis)];
}

// The text of one kernel's loop over rows.
class Rows {
 public:
  explicit Rows(const Job& job) : job_(job), kernel_(job.kernel) { plan(); }

  void plan();
  std::int64_t row_count() const { return kernel_.sites() / extent(kernel_, 0); }
  std::int64_t chunk() const { return std::min(extent(kernel_, 0), kLongestRow); }
  std::int64_t chunks() const { return (extent(kernel_, 0) + chunk() - 1) / chunk(); }

  std::string width() const;
  std::string edge_functions() const;
  std::string buffers() const;
  std::string coordinates() const { return coordinates_; }
  std::string row_sums() const { return sums_; }
  std::string gather() const { return fills_; }
  std::string store() const;
  std::string put() const;
  std::string lanes() const;
  std::string add_lanes() const;
  std::string shares(std::int64_t tasks) const;

 private:
  std::string real() const { return type_name(job_.body.real); }
  std::string suffix() const { return job_.body.real == Precision::F32 ? "f32" : "f64"; }
  std::string number(double v) const {
    return literal(static_cast<long double>(v), job_.body.real);
  }
  std::string axis_index(int axis, int d);
  std::string row_pointer(std::size_t array, algebra::Offset row);
  std::string element(std::size_t array, const algebra::Offset& row, const std::string& at,
                      bool edge);
  std::string column(const Read& read, std::size_t array, const algebra::RowGroup& group);
  std::string sum(const Read& read, std::size_t array);
  bool doubled_lanes(std::size_t i) const {
    return kernel_.sum == kernel::SumKind::Kahan && kernel_.compute == Precision::F64 &&
           kernel_.reductions[i].kind == kernel::ReduceKind::Sum;
  }

  const Job& job_;
  const kernel::Kernel& kernel_;
  std::array<bool, 4> used_{};
  int reach_ = 0;  // margin of the buffers
  std::map<std::pair<int, int>, std::string> index_;
  std::map<std::string, std::string> pointers_;  // array and row -> variable
  std::map<std::string, std::string> factors_;   // variable -> sign or inside test
  std::map<std::string, std::string> columns_;   // rows added -> buffer
  std::string coordinates_, sums_, fills_, buffers_;
};

}  // namespace vphi::emit
