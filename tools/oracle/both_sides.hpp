// What every comparison of `vphi test` needs: the same lattice and parameters on both sides, rows
// that are filled, and links as the text knows them and as a System stores them.
#pragma once

#include <functional>
#include <random>
#include <vector>

#include "compiler/model/plan.hpp"
#include "tools/oracle/derivative_check.hpp"
#include "tools/oracle/derived_value.hpp"
#include "tools/oracle/text/written_value.hpp"

namespace vphi::tools {

/// The lattice, declared fields, and of swept names the value in the middle.
void prepare_sides(const dsl::Resolved& resolved, const physics::System& system, Written& text,
                   DerivedValue& derived);

/// Where an array of state stands in the text: a component of a variable, its real part or its
/// imaginary part.
struct RunPosition {
  WrittenField* field = nullptr;
  std::size_t real = 0;                    ///< place among WrittenField::reals()
  std::optional<std::size_t> mirror = {};  ///< of a symmetric field
};
/// "phi", "re(phi[0])", "u[0,1]"; nothing for links of SU(n).
std::optional<RunPosition> standing(Written& text, std::string shown);

/// The kernels of the system in f64, whatever the model computes in, of the instance in the middle
/// of a sweep. Throws NotCovered where they
/// cannot be scheduled.
schedule::Plan plan_in_f64(const physics::System& system, const dsl::Resolved& resolved);

/// A row that is being filled: |difference| over the largest value.
class Filling {
 public:
  explicit Filling(DerivativeRow row) : row_(std::move(row)) {}
  void take(long double derived, long double written);
  /// The size of what is compared where its values may all be small.
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
  /// Elements of the group, each turned by each generator in turn by normal numbers times `width`;
  /// without a width anywhere in the group.
  void draw(std::mt19937_64& random, std::optional<long double> width = std::nullopt);
  /// Matrices of the text's links; of U(1) a number.
  std::vector<Complex> matrix(int site, int axis) const;
  void set_matrix(int site, int axis, const std::vector<Complex>& u);
  /// The text's links as numbers of an array of the System.
  std::vector<long double> stored(int array) const;
  const std::vector<int>& arrays() const { return arrays_; }
  /// The text's links become what the arrays hold.
  void read(const std::function<long double(int array, int site)>& value);

 private:
  std::vector<long double> reals_of(int site, int axis) const;

  WrittenField* field_;
  int sites_, dims_;
  std::vector<int> arrays_;  ///< [axis][real]
  std::size_t reals_ = 0;    ///< of a link, as stored
  bool quaternion_ = false;
};

/// All gauge fields with links in a group.
std::vector<StoredLinks> links_of(Written& text, const physics::System& system);

}  // namespace vphi::tools
