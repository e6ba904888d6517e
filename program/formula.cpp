#include "program/formula.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace vphi::program {

namespace {

using Op = Formula::Op;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Interval kAll{-kInfinity, kInfinity};
constexpr double kHalfPi = std::numbers::pi / 2;

double sign_of(double x) { return (x > 0) - (x < 0); }

enum class Shape {
  Rising,
  Falling,
  Even,  ///< rising with the size of the argument
  Sine,
  Cosine,
  Branches,  ///< rising between poles at odd multiples of pi/2
};

struct FunctionRow {
  double (*value)(double);
  Shape shape;
  double from, to;
};

constexpr FunctionRow kFunctions[] = {
#define VPHI_FORMULA_FUNCTION(operation, name, value, shape, from, to) \
  {[](double x) -> double { return value(x); }, Shape::shape, from, to},
#include "program/formula_functions.def"
};

bool is_function(Op op) { return op >= Op::Exp; }

const FunctionRow& function(Op op) {
  return kFunctions[static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::Exp)];
}

double entry(const std::vector<double>& table, double position) {
  if (!(position > 0)) return table.front();
  const auto last = static_cast<double>(table.size() - 1);
  return table[static_cast<std::size_t>(std::min(std::floor(position), last))];
}

double power_of(double a, double b) {
  return b == 2 ? a * a : b == 0.5 ? std::sqrt(a) : std::pow(a, b);
}

/// Of two values; sums, products and their like of several are made one after the other.
double joined(Op op, double a, double b) {
  if (op == Op::Sum) return a + b;
  if (op == Op::Product) return a * b;
  if (op == Op::Power) return power_of(a, b);
  if (op == Op::Min) return std::min(a, b);
  if (op == Op::Max) return std::max(a, b);
  if (op == Op::Less) return a < b;
  if (op == Op::LessEqual) return a <= b;
  if (op == Op::Equal) return a == b;
  if (op == Op::And) return a != 0 && b != 0;
  if (op == Op::Or) return a != 0 || b != 0;
  return std::atan2(a, b);
}

// ---- bounds -------------------------------------------------------------------------------------

Interval sound(Interval i) {
  if (std::isnan(i.low)) i.low = -kInfinity;
  if (std::isnan(i.high)) i.high = kInfinity;
  return i;
}

/// A product of bounds: what is 0 stays 0 beside what is not bounded.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Interval hull(std::initializer_list<double> values) {
  Interval all{kInfinity, -kInfinity};
  for (const double v : values) {
    if (std::isnan(v)) return kAll;
    all.low = std::min(all.low, v), all.high = std::max(all.high, v);
  }
  return all;
}

Interval product(Interval a, Interval b) {
  return hull(
      {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)});
}

/// The size of what lies in the interval.
Interval size_of(Interval a) {
  if (a.low >= 0) return a;
  if (a.high <= 0) return {-a.high, -a.low};
  return {0, std::max(-a.low, a.high)};
}

Interval reciprocal(Interval a) {
  if (a.low > 0 || a.high < 0) return {1 / a.high, 1 / a.low};
  if (a.low == 0 && a.high > 0) return {1 / a.high, kInfinity};
  if (a.high == 0 && a.low < 0) return {-kInfinity, 1 / a.low};
  return kAll;
}

/// Of a base that is not below 0 where it has a value.
Interval positive_power(Interval a, double n) {
  const double low = std::pow(std::max(a.low, 0.0), n), high = std::pow(std::max(a.high, 0.0), n);
  return n >= 0 ? Interval{low, high} : Interval{high, low};
}

Interval power(Interval a, Interval b) {
  if (b.low != b.high) {
    if (a.high <= 0) return kAll;
    const double low = std::max(a.low, 0.0);
    return hull({std::pow(low, b.low), std::pow(low, b.high), std::pow(a.high, b.low),
                 std::pow(a.high, b.high), low < 1 && a.high > 1 ? 1 : std::pow(low, b.low)});
  }
  const double n = b.low;
  if (n != std::floor(n)) return positive_power(a, n);
  if (n < 0) return reciprocal(power(a, {-n, -n}));
  if (std::fmod(n, 2) == 0) return positive_power(size_of(a), n);
  return {std::pow(a.low, n), std::pow(a.high, n)};
}

/// Of sine shifted so that its greatest values are at whole turns from `peak`.
Interval wave(Interval a, double low, double high, double peak) {
  constexpr double kTurn = 2 * std::numbers::pi;
  if (!(a.high - a.low < kTurn)) return {-1, 1};
  const auto holds = [&](double place) {
    return place + kTurn * std::ceil((a.low - place) / kTurn) <= a.high;
  };
  Interval result{std::min(low, high), std::max(low, high)};
  if (holds(peak)) result.high = 1;
  if (holds(peak + std::numbers::pi)) result.low = -1;
  return result;
}

Interval of_function(const FunctionRow& f, Interval a) {
  const double low = f.value(std::clamp(a.low, f.from, f.to));
  const double high = f.value(std::clamp(a.high, f.from, f.to));
  if (f.shape == Shape::Rising) return {low, high};
  if (f.shape == Shape::Falling) return {high, low};
  if (f.shape == Shape::Sine) return wave(a, low, high, kHalfPi);
  if (f.shape == Shape::Cosine) return wave(a, low, high, 0);
  if (f.shape == Shape::Even) {
    const Interval size = size_of(a);
    return {f.value(size.low), f.value(size.high)};
  }
  const auto branch = [](double x) { return std::floor(x / std::numbers::pi + 0.5); };
  return branch(a.low) == branch(a.high) ? Interval{low, high} : kAll;
}

Interval truth(bool surely, bool possibly) { return {surely ? 1.0 : 0.0, possibly ? 1.0 : 0.0}; }

/// The entries between two positions, or all where these are many.
Interval entries(const std::vector<double>& table, Interval position) {
  constexpr double kMany = 256;
  const auto last = static_cast<double>(table.size() - 1);
  double low = std::clamp(std::floor(position.low), 0.0, last);
  double high = std::clamp(std::floor(position.high), 0.0, last);
  if (!(high - low < kMany)) low = 0, high = last;
  const auto [least, most] =
      std::minmax_element(table.begin() + static_cast<std::ptrdiff_t>(low),
                          table.begin() + static_cast<std::ptrdiff_t>(high) + 1);
  return {*least, *most};
}

/// An angle: exact bounds where x > 0, else all angles.
Interval angle(Interval y, Interval x) {
  if (!(x.low > 0)) return {-std::numbers::pi, std::numbers::pi};
  return hull({std::atan2(y.low, x.low), std::atan2(y.low, x.high), std::atan2(y.high, x.low),
               std::atan2(y.high, x.high)});
}

Interval joined(Op op, Interval a, Interval b) {
  if (op == Op::Sum) return {a.low + b.low, a.high + b.high};
  if (op == Op::Product) return product(a, b);
  if (op == Op::Power) return power(a, b);
  if (op == Op::Min) return {std::min(a.low, b.low), std::min(a.high, b.high)};
  if (op == Op::Max) return {std::max(a.low, b.low), std::max(a.high, b.high)};
  if (op == Op::Less) return truth(a.high < b.low, a.low < b.high);
  if (op == Op::LessEqual) return truth(a.high <= b.low, a.low <= b.high);
  if (op == Op::Equal)
    return truth(a.low == b.high && a.high == b.low, a.low <= b.high && b.low <= a.high);
  if (op == Op::And) return truth(a.low > 0 && b.low > 0, a.high > 0 && b.high > 0);
  if (op == Op::Or) return truth(a.low > 0 || b.low > 0, a.high > 0 || b.high > 0);
  return angle(a, b);
}

/// Of two values of which a condition, 0 or 1, takes one.
Interval chosen(Interval condition, Interval yes, Interval no) {
  if (condition.low > 0) return yes;
  if (condition.high <= 0) return no;
  return {std::min(yes.low, no.low), std::max(yes.high, no.high)};
}

std::size_t fewest_arguments(Op op) {
  if (op <= Op::Input) return 0;
  if (op == Op::Lookup || op == Op::Not || is_function(op)) return 1;
  return op == Op::Select ? 3 : 2;
}

}  // namespace

double value(const Formula& formula, std::span<const double> inputs) {
  std::vector<double> results;
  results.reserve(formula.steps.size());
  const auto made = [&](const Formula::Step& step) -> double {
    const auto of = [&](std::size_t i) { return results[static_cast<std::size_t>(step.of[i])]; };
    const auto place = static_cast<std::size_t>(step.index);
    if (step.op == Op::Number) return step.number;
    if (step.op == Op::Input) return inputs[place];
    if (step.op == Op::Lookup) return entry(formula.tables[place], of(0));
    if (step.op == Op::Not) return of(0) == 0;
    if (step.op == Op::Select) return of(0) != 0 ? of(1) : of(2);
    if (is_function(step.op)) return function(step.op).value(of(0));
    double result = joined(step.op, of(0), of(1));
    for (std::size_t i = 2; i < step.of.size(); ++i) result = joined(step.op, result, of(i));
    return result;
  };
  for (const Formula::Step& step : formula.steps) results.push_back(made(step));
  return results.back();
}

Interval range(const Formula& formula, std::span<const Interval> box) {
  std::vector<Interval> results;
  results.reserve(formula.steps.size());
  const auto made = [&](const Formula::Step& step) -> Interval {
    const auto of = [&](std::size_t i) { return results[static_cast<std::size_t>(step.of[i])]; };
    const auto place = static_cast<std::size_t>(step.index);
    if (step.op == Op::Number) return {step.number, step.number};
    if (step.op == Op::Input) return box[place];
    if (step.op == Op::Lookup) return entries(formula.tables[place], of(0));
    if (step.op == Op::Not) return truth(of(0).high <= 0, of(0).low <= 0);
    if (step.op == Op::Select) return chosen(of(0), of(1), of(2));
    if (is_function(step.op)) return of_function(function(step.op), of(0));
    Interval result = joined(step.op, of(0), of(1));
    for (std::size_t i = 2; i < step.of.size(); ++i) result = joined(step.op, result, of(i));
    return result;
  };
  for (const Formula::Step& step : formula.steps) results.push_back(sound(made(step)));
  return results.back();
}

bool is_sound(const Formula& formula, int inputs) {
  for (std::size_t i = 0; i < formula.steps.size(); ++i) {
    const Formula::Step& step = formula.steps[i];
    const std::size_t least = fewest_arguments(step.op);
    if (step.of.size() < least || (least == 1 && step.of.size() != 1)) return false;
    for (const int of : step.of)
      if (of < 0 || of >= static_cast<int>(i)) return false;
    if (step.op == Op::Input && (step.index < 0 || step.index >= inputs)) return false;
    if (step.op == Op::Lookup && (step.index < 0 || step.index >= std::ssize(formula.tables)))
      return false;
  }
  return !formula.steps.empty() &&
         std::ranges::none_of(formula.tables, [](const auto& table) { return table.empty(); });
}

}  // namespace vphi::program
