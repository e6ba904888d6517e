// Prints expressions as straight-line code.
//
// The printer turns hash-consed expressions into C declarations of named temporaries: one for each
// node that is used more than once or whose text grows long. Sums and products are written from
// left to right, so the order of the arguments is the order of the operations; `x + (-c)*y` is
// written `x - c*y`, which is the same number. Conditions are `int` and are converted to numbers
// where needed. A Select is a call of vphi_select_*.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/emit/dialects/dialect.hpp"
#include "compiler/emit/text/code.hpp"
#include "compiler/kernel/choices.hpp"
#include "compiler/kernel/rounds.hpp"

namespace vphi::emit {

/// Names that are in use in one scope.
class Scope {
 public:
  /// `wish`, or `wish_2`, `wish_3`, ... where it is in use.
  std::string fresh(const std::string& wish);

 private:
  std::set<std::string> taken_;
};

/// Functions of the emitter that a text calls; they must be defined before it.
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

/// A named value: `name`, or the member `of`.`name` of a struct.
struct Leaf {
  std::string of, name;
  bool empty() const { return name.empty(); }
  std::string text() const { return of.empty() ? name : of + "." + name; }
};

class Printer {
 public:
  /// `leaf` gives the name of a node that is not computed, or an empty one. `family` gives the stem
  /// of a node's temporaries ("phi" makes phi_1); empty: w_1.
  struct Callbacks {
    std::function<Leaf(const algebra::Node&)> leaf;
    std::function<std::string(algebra::Expr)> family;
    /// For the readable form; both may be empty: a comment above the statement that computes a
    /// node, and the name of a number.
    std::function<std::string(const algebra::Node&)> note = {};
    std::function<std::string(const algebra::Node&)> constant = {};
  };
  Printer(const Dialect& dialect, Precision precision, Callbacks callbacks, Scope& scope);

  /// From now on uses approximate functions of the device (kernel::Kernel::fast).
  void approximate() { approximate_ = true; }
  /// With `approximate`: also roots, reciprocals, minima and maxima of the device (which do not
  /// propagate NaN), and positions in tables as integers (math/table_index.hpp).
  void device_extremes() { device_extremes_ = true; }
  /// From now on uses the quotients and roots of near_math_f32.txt (kernel::Kernel::written_out).
  void write_out() { written_out_ = true; }
  /// Writes these rounds as loops, each before the first use of a value of its last round.
  void roll(std::vector<kernel::Rounds> rounds);
  /// Writes the values of these choices as assignments in two arms, before the first use of one.
  void choose(std::vector<kernel::Choice> choices);
  /// Uses the functions of emit/math/sincos.hpp for sine and cosine of these angles.
  void pair_angles(std::span<const algebra::Expr> angles);
  /// Counts uses; call once for all roots of a block, before the first `number`.
  void announce(std::span<const algebra::Expr> roots);
  /// Declares temporaries for these values, in this order (emit/text/register_order.hpp). `before`
  /// is called before each of them with its index.
  void compute_in(std::span<const algebra::Expr> order,
                  const std::function<void(std::size_t)>& before);
  /// Text of the value as a number of the printer's precision.
  std::string number(algebra::Expr expr);
  /// The declarations that the value needs, and `target = value;`, in lines of at most 100 columns.
  std::string assignment(const std::string& target, algebra::Expr expr);
  /// Discards temporaries that depend on `symbol`, because it has been assigned.
  void forget(algebra::Expr symbol);
  /// Removes and returns the declarations made so far.
  std::string take_lines();
  /// Functions of the emitter called so far; `used`: all names used so far.
  const Calls& calls() const { return calls_; }
  const Names& used() const { return used_; }

 private:
  // level: 0 a name or call, 1 a product, 2 a sum, 3 a comparison, 4 a logical expression
  struct Piece {
    std::string text;
    int level = 0;
    bool condition = false;
    std::string name = {};  ///< where the text is only a name: "phi_c" of "in.phi_c"
  };
  Piece piece(algebra::Expr expr, bool root = false);
  Leaf leaf(const algebra::Node& node);
  bool is_leaf(algebra::Expr expr) { return !leaf(*expr).empty(); }
  void write_rounds(std::size_t number);
  void write_choice(std::size_t number);
  /// The text of a part with braces of its own; names made in it are unknown after it.
  std::string enclosed(const std::function<std::string()>& write);
  std::string arm(const kernel::Choice& choice, const std::vector<std::string>& names,
                  std::size_t number);
  /// How a loop notices that its values are known for all rounds to come.
  struct Watch {
    std::string begin;      ///< lines before the loop
    std::string unchanged;  ///< name of the condition that a round changes nothing; empty: unused
    std::string end;        ///< lines at the end of a round
    algebra::Expr settled;  ///< that condition, where the rounds have it (kernel::settling)
  };
  std::string round_body(const kernel::Rounds& rounds, const std::vector<std::string>& names,
                         const Watch& watched);
  std::string same(const std::string& a, const std::string& b);
  Watch watch(const kernel::Rounds& rounds, const std::vector<std::string>& names,
              const std::string& counter);
  Piece compute(algebra::Expr expr);
  Piece sum(const algebra::Node& node);
  Piece product(std::span<const algebra::Expr> factors, bool flip_sign);
  Piece power(algebra::Expr base, algebra::Expr exponent);
  Piece positive_power(algebra::Expr base, std::int64_t n);
  Piece select(const algebra::Node& node);
  Piece call(algebra::Op op, std::span<const algebra::Expr> args);
  Piece call_of(const std::string& name, std::span<const algebra::Expr> args);
  Piece minmod(const algebra::Node& node);
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
  bool near_f32() const {
    return written_out_ && !device_extremes_ && precision_ == kernel::Precision::F32;
  }
  /// The approximate functions of texts.quick are there.
  bool quick_f32() const {
    return approximate_ && !device_extremes_ && precision_ == kernel::Precision::F32;
  }
  Piece near_quotient(algebra::Expr above, algebra::Expr below);

  const Dialect& dialect_;
  Precision precision_;
  Callbacks callbacks_;
  Scope& scope_;
  std::unordered_map<const algebra::Node*, int> uses_;
  std::unordered_map<const algebra::Node*, Piece> known_;
  std::map<std::pair<std::string, std::int64_t>, std::string> powers_;
  std::unordered_map<std::string, int> counters_;
  /// Names of stored positions.
  std::unordered_map<const algebra::Node*, std::string> table_indices_;
  std::vector<kernel::Rounds> rounds_;
  std::unordered_map<const algebra::Node*, std::size_t> rolled_;  ///< last values of rounds_
  std::vector<kernel::Choice> choices_;
  std::unordered_map<const algebra::Node*, std::size_t> chosen_;  ///< selects of choices_
  /// Names of values of rounds and choices.
  std::unordered_map<const algebra::Node*, std::string> round_names_;
  std::string lines_, noted_;
  Calls calls_;
  Names used_;
  bool approximate_ = false, device_extremes_ = false, written_out_ = false;
  std::unordered_set<const algebra::Node*> paired_angles_;
};

/// Whether `expr` contains a node for which `test` is true; `memo` stores results between calls.
bool holds(algebra::Expr expr, const std::function<bool(const algebra::Node&)>& test,
           std::unordered_map<const algebra::Node*, bool>& memo);

/// An identifier from text of the model: ASCII letters, digits, single inner underscores.
std::string identifier(const std::string& name);

}  // namespace vphi::emit
