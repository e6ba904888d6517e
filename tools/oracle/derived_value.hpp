// The equations of a System evaluated on its own lattice, with a 64-bit mantissa.
//
// The compiler's side of `vphi test`: derived expressions as numbers. The caller sets the state;
// averages and sums over pairs are recomputed after `changed`. An expression without a value throws
// std::invalid_argument.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "compiler/model/system.hpp"
#include "compiler/physics/tables/table_file.hpp"
#include "tools/oracle/text/written_value.hpp"

namespace vphi::tools {

class DerivedValue {
 public:
  explicit DerivedValue(const physics::System& system) : system_(system) {}

  std::map<int, std::vector<long double>> arrays;
  std::map<std::string, long double> symbols;
  std::map<int, long double> noise;  ///< value of each stream here; 0 for others
  /// Where it is given: the value of a stream at a place, instead of these.
  std::function<long double(int stream, const Place& place)> noise_at;
  /// Arrays without memory: computed at each place from others, also beyond the boundaries.
  std::map<int, algebra::Expr> made;

  /// Must be called after state or symbols were set.
  void changed() {
    reduced_.clear();
    made_.clear();
  }
  long double at(algebra::Expr e, const Place& place);
  /// The values of several there; what they share is evaluated once.
  std::vector<long double> all_at(const std::vector<algebra::Expr>& all, const Place& place);
  /// A scalar's rate or initial value.
  long double scalar(algebra::Expr e) { return at(e, Place{}); }

 private:
  /// `other`: the second body of a pair; null outside of pairs.
  long double value(algebra::Expr e, const Place& place, const Place* other,
                    std::unordered_map<const algebra::Node*, long double>& known);
  /// -k^2 of each wave of the argument along every axis, as sums of cosines.
  long double by_waves(algebra::Expr argument, const Place& place, const Place* other);
  long double load(const algebra::Node& node, const Place& place, const Place* other) const;
  long double entry(int array, int row, int column) const;
  int sites() const { return static_cast<int>(system_.lattice.sites()); }
  Place place(int site) const;

  const physics::System& system_;
  std::unordered_map<const algebra::Node*, long double> reduced_;
  std::map<std::pair<int, Place>, long double> made_;
  mutable std::map<int, physics::Matrix> matrices_;  ///< matrices of files
};

}  // namespace vphi::tools
