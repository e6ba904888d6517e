// A real function of a few numbers as plain data: what the host evaluates at run time, point by
// point and over boxes.
//
// The operations stand in order and read results of earlier ones; the last is the value. Over a box
// of inputs `range` gives bounds that no value in it exceeds, by interval arithmetic: bounds of a
// sum are sums of bounds, and so on. They are as wide as that arithmetic makes them, infinite at
// worst, and narrow with the box.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace vphi::program {

struct Formula {
  enum class Op {
    Number,
    Input,   ///< input number `index`
    Lookup,  ///< of a position: entry of table number `index` at floor(position), within its ends
    Sum,
    Product,
    Power,
    Min,
    Max,
    Less,
    LessEqual,
    Equal,
    And,
    Or,
    Not,
    Select,  ///< condition, value, otherwise; conditions are 0 or 1
    Atan2,
  // of one argument, a row each
#define VPHI_FORMULA_FUNCTION(operation, ...) operation,
#include "program/formula_functions.def"
  };
  struct Step {
    Op op = Op::Number;
    std::vector<int> of = {};  ///< numbers of earlier steps
    int index = 0;
    double number = 0;

    bool operator==(const Step&) const = default;
  };
  std::vector<Step> steps;
  std::vector<std::vector<double>> tables;

  bool operator==(const Formula&) const = default;
};

/// Names of the operations, in the order of their values; those of functions are the language's.
inline constexpr std::string_view kFormulaOps[] = {
    "number", "input",      "lookup", "sum", "product", "power", "min",    "max",
    "less",   "less_equal", "equal",  "and", "or",      "not",   "select", "atan2",
#define VPHI_FORMULA_FUNCTION(operation, name, ...) name,
#include "program/formula_functions.def"
};

struct Interval {
  double low = 0, high = 0;
};

/// The value at these inputs. Precondition: is_sound.
double value(const Formula& formula, std::span<const double> inputs);
/// Bounds of the values over a box of inputs, where they are numbers. Precondition: is_sound.
Interval range(const Formula& formula, std::span<const Interval> box);

/// Whether it has a value, of operations with their arguments before them and of so many inputs.
bool is_sound(const Formula& formula, int inputs);

}  // namespace vphi::program
