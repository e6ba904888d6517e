// Straight-line code from expressions.
//
// The printer turns hash-consed expressions into C declarations of named temporaries: one for each
// node that is used more than once or whose text grows long. Sums and products are written from
// left to right, so the order of the arguments is the order of the operations; `x + (-c)*y` is
// written `x - c*y`, which is the same number. Conditions are `int`, and become numbers where one
// is wanted. The only choice is a call of vphi_select_*.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/emit/dialects/dialect.hpp"
#include "compiler/emit/text/code.hpp"

namespace vphi::emit {

/// Names that are already taken in one scope.
class Scope {
 public:
  /// `wish` or, where that is taken, `wish_2`, `wish_3`, ...
  std::string fresh(const std::string& wish);

 private:
  std::set<std::string> taken_;
};

/// Functions of the emitter's own that a text calls, which have to stand before it.
struct Calls {
  bool turns_f32 = false, turns_f64 = false;  ///< vphi_sin_*, vphi_cos_* (sincos.hpp)
  bool unit_log = false;                      ///< unit_log.hpp
  bool turns(Precision precision) const {
    return precision == Precision::F32 ? turns_f32 : turns_f64;
  }
  void add(const Calls& other) {
    turns_f32 = turns_f32 || other.turns_f32;
    turns_f64 = turns_f64 || other.turns_f64;
    unit_log = unit_log || other.unit_log;
  }
};

/// A value that has a name: `name`, or as a member of a struct `of`.`name`.
struct Leaf {
  std::string of, name;
  bool empty() const { return name.empty(); }
  std::string text() const { return of.empty() ? name : of + "." + name; }
};

class Printer {
 public:
  /// `leaf` gives the C text of nodes that need no computing, or an empty one.
  /// `family` names the temporaries of a node ("phi" makes phi_1); empty: w_1.
  struct Callbacks {
    std::function<Leaf(const algebra::Node&)> leaf;
    std::function<std::string(algebra::Expr)> family;
    /// For people, and both may be left out: a comment above the statement that computes a node,
    /// and the name of a number.
    std::function<std::string(const algebra::Node&)> note = {};
    std::function<std::string(const algebra::Node&)> constant = {};
  };
  Printer(const Dialect& dialect, Precision precision, Callbacks callbacks, Scope& scope);

  /// Approximate functions of the device from now on (kernel::Kernel::fast).
  void approximate() { approximate_ = true; }
  /// With them: roots, reciprocals, minima and maxima of the device too (a NaN does not pass
  /// through those), and places in tables as integers (math/table_index.hpp).
  void device_extremes() { device_extremes_ = true; }
  /// Quotients and roots by the functions of near_math_f32.txt from now on
  /// (kernel::Kernel::written_out).
  void write_out() { written_out_ = true; }
  /// Where sine and cosine of one angle are wanted: the functions of emit/math/sincos.hpp.
  void share_sincos() { share_sincos_ = true; }
  /// Counts uses; call once for all roots of a block, before the first `number`.
  void announce(std::span<const algebra::Expr> roots);
  /// Declares what has to be declared of these values now, in this order
  /// (emit/text/register_order.hpp); `before` is called ahead of each with its place.
  void compute_in(std::span<const algebra::Expr> order,
                  const std::function<void(std::size_t)>& before);
  /// Text of the value as a number of the printer's precision.
  std::string number(algebra::Expr expr);
  /// The declarations that the value needs, and `target = value;`, both within 100 columns.
  std::string assignment(const std::string& target, algebra::Expr expr);
  /// Forgets what has been computed from `symbol` (it is assigned now).
  void forget(algebra::Expr symbol);
  /// The declarations made so far; taken out.
  std::string take_lines();
  /// What has been called so far: functions that have to stand before, and all by name.
  const Calls& calls() const { return calls_; }
  const Names& used() const { return used_; }

 private:
  // level: 0 a name or call, 1 a product, 2 a sum, 3 a comparison, 4 a logical expression
  struct Piece {
    std::string text;
    int level = 0;
    bool condition = false;
    std::string name = {};  ///< where the text is a name alone: "phi_c" of "in.phi_c"
  };
  Piece piece(algebra::Expr expr, bool root = false);
  Piece compute(algebra::Expr expr);
  Piece sum(const algebra::Node& node);
  Piece product(std::span<const algebra::Expr> factors, bool flip_sign);
  Piece power(algebra::Expr base, algebra::Expr exponent);
  Piece positive_power(algebra::Expr base, std::int64_t n);
  Piece select(const algebra::Node& node);
  Piece call(algebra::Op op, std::span<const algebra::Expr> args);
  Piece call_of(const std::string& name, std::span<const algebra::Expr> args);
  Piece extreme(const algebra::Node& node, const char* name);
  Piece logical(const algebra::Node& node);
  std::string held_table_index(algebra::Expr expr);
  std::string index(algebra::Expr expr);
  std::string operand(algebra::Expr expr, int level);
  std::string condition(algebra::Expr expr);
  Piece named(algebra::Expr expr, const Piece& value);
  std::string note(algebra::Expr expr);
  std::string name_it(const std::string& wish, const Piece& value);
  std::string one() const;
  std::string suffixed(const char* name);
  std::string quotient(const std::string& above, const std::string& below);
  std::string reciprocal_root(algebra::Expr of);
  std::string root_function();
  Piece near_quotient(algebra::Expr above, algebra::Expr below);

  const Dialect& dialect_;
  Precision precision_;
  Callbacks callbacks_;
  Scope& scope_;
  std::unordered_map<const algebra::Node*, int> uses_;
  std::unordered_map<const algebra::Node*, Piece> known_;
  std::map<std::pair<std::string, std::int64_t>, std::string> powers_;
  std::unordered_map<std::string, int> counters_;
  std::unordered_map<const algebra::Node*, std::string> table_indices_;  ///< names of held places
  std::string lines_, noted_;
  Calls calls_;
  Names used_;
  bool approximate_ = false, device_extremes_ = false, written_out_ = false;
  bool share_sincos_ = false;
  std::unordered_map<const algebra::Node*, int>
      sincos_uses_;    ///< angle -> 1: its sine, 2: its cosine
  bool both_ = false;  ///< of some angle
};

/// Whether `expr` holds a node for which `test` is true; memoised by the caller's map.
bool holds(algebra::Expr expr, const std::function<bool(const algebra::Node&)>& test,
           std::unordered_map<const algebra::Node*, bool>& memo);

/// ASCII identifier part made of user's text: letters, digits, single inner underscores.
std::string identifier(const std::string& name);

}  // namespace vphi::emit
