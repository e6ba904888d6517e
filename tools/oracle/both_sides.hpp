// Functions common to the comparisons of `vphi test`: equal lattice and parameters for text and
// System, rows of results, and links in the form of the text and in the form that a System stores.
#pragma once

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "compiler/model/plan.hpp"
#include "tools/oracle/derivative_check.hpp"
#include "tools/oracle/derived_value.hpp"
#include "tools/oracle/text/written_value.hpp"

namespace vphi::tools {

/// Sets the lattice, declared fields, and for swept names the middle value.
void prepare_sides(const dsl::Resolved& resolved, const physics::System& system, Written& text,
                   DerivedValue& derived);

/// The part of a variable of the text that an array of state holds: real or imaginary part of a
/// component.
struct RunPosition {
  WrittenField* field = nullptr;
  std::size_t real = 0;                    ///< index among WrittenField::reals()
  std::optional<std::size_t> mirror = {};  ///< index of the mirrored component of a symmetric field
};
/// "phi", "re(phi[0])", "u[0,1]"; nothing for links of SU(n).
std::optional<RunPosition> standing(Written& text, std::string shown);

/// The kernels of the system in f64, whatever the precision of the model, for the middle instance
/// of a sweep. Throws NotCovered where they cannot be scheduled.
schedule::Plan plan_in_f64(const physics::System& system, const dsl::Resolved& resolved);

/// Collects the differences of a row: |difference| over the largest value.
class Filling {
 public:
  explicit Filling(DerivativeRow row) : row_(std::move(row)) {}
  void take(long double derived, long double written);
  /// Accepts a difference of so much, if less is accepted so far.
  void allow(double difference) { row_.allowed = std::max(row_.allowed, difference); }
  /// Sets the scale of the compared values, where all of them may be small.
  void size(long double value);
  void stop(const std::string& why) { row_.not_checked = why; }
  DerivativeRow done();

 private:
  DerivativeRow row_;
  long double largest_ = 0, difference_ = 0;
};

/// The links of one gauge field on both sides. Stored are angles of U(1), quaternions, all rows of
/// a matrix, or all but the last of SU(2) and SU(3).
class StoredLinks {
 public:
  StoredLinks(WrittenField& field, const Written& text, const physics::System& system);
  WrittenField& field() const { return *field_; }
  int generators() const;
  /// Sets random links: products of rotations by each generator, by normal numbers times `width`.
  /// Without a width they are distributed over the whole group.
  void draw(std::mt19937_64& random, std::optional<long double> width = std::nullopt);
  /// The matrix of a link of the text; for U(1) a number.
  std::vector<Complex> matrix(int site, int axis) const;
  void set_matrix(int site, int axis, const std::vector<Complex>& u);
  /// The links of the text as numbers of an array of the System.
  std::vector<long double> stored(int array) const;
  const std::vector<int>& arrays() const { return arrays_; }
  /// Sets the links of the text from the arrays.
  void read(const std::function<long double(int array, int site)>& value);

 private:
  std::vector<long double> reals_of(int site, int axis) const;

  WrittenField* field_;
  int sites_, dims_;
  std::vector<int> arrays_;  ///< [axis][real]
  std::size_t reals_ = 0;    ///< stored numbers of a link
  bool quaternion_ = false;
};

/// All gauge fields with links in a group.
std::vector<StoredLinks> links_of(Written& text, const physics::System& system);

}  // namespace vphi::tools
