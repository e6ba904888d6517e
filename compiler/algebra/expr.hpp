// Expressions: the one node type of the compiler.
//
// Everything from the potential to the body of a kernel is an `Expr`: an immutable, hash-consed
// node that lives in an `Arena`. Equal expressions are the same pointer, so common subexpressions
// are found by construction. Values are real scalars; complex numbers, vectors and matrices are
// replaced by components when the model text is lowered (compiler/physics/lower/lower.hpp).
//
// Sums and products are n-ary and canonical: sorted by node number, numeric factors collected,
// equal terms and equal bases merged. Subtraction is a term with coefficient -1, division a power
// -1. Kernel passes rewrite them to Sub, Div, Sqrt, Fma when the order of operations is fixed
// (compiler/kernel/passes.hpp); from there on the args are evaluated from left to right.
//
// A draw (Normal, Uniform) is one random number for each site, instance and step, independent of
// all others: a function of (seed, draw number, instance, site + offset, step) and of nothing else.
// Two nodes with the same draw number and offset are therefore the same number.
//
// A node stores the span of the model text that it came from. The span does not affect equality:
// equal nodes have the span of the first.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/syntax/text.hpp"

namespace vphi::algebra {

enum class Op : std::uint8_t {
  // leaves
  Number,   ///< exact rational or long double
  Symbol,   ///< a named scalar: background, time, kept parameter, reduction result
  Load,     ///< lattice array number `index` at the relative site `offset`
  Site,     ///< integer coordinate of the site along axis `index`, counted from 0
  Noise,    ///< white noise number `index` of an equation, unit in time; never in a kernel
  Normal,   ///< random number of draw `index`: mean 0, variance 1; see above
  Uniform,  ///< the same in (0, 1)
  // canonical arithmetic
  Add,
  Mul,
  Pow,
  // ordered arithmetic, made by kernel passes only
  Neg,
  Sub,
  Div,
  Sqrt,
  Fma,
  // what devices have functions of their own for, made by the passes of kernel/device.hpp only
  Minmod,      ///< of three: the smallest in size where all signs agree, else 0
  TableIndex,  ///< args: x, low, high, whole numbers: floor(x), within low and high
// functions of one argument
#define VPHI_FUNCTION(operation, ...) operation,
#include "dsl/functions.def"
  // several arguments
  Atan2,
  Min,
  Max,
  Less,
  LessEqual,
  Equal,
  And,
  Or,
  Not,     ///< conditions have the value 0 or 1
  Select,  ///< args: condition, value, otherwise
  Lookup,  ///< args: number of a table of the arena, position; the entry at floor(position), the
           ///< first or last one where that lies outside
  // lattice
  Stencil,  ///< linear operator number `index` of the arena applied to args[0]
  PairSum,  ///< sum over all sites j of args[0], a function of this site and of j (pairs.hpp);
            ///< `index` 1: without the site itself
  Mean,
  Total,
  Minimum,
  Maximum,  ///< reductions over all sites: give a scalar
  Count_
};

/// An exact rational, reduced, with positive denominator. Operations report an overflow and do not
/// wrap around.
struct Rational {
  std::int64_t num = 0;
  std::int64_t den = 1;
  friend bool operator==(const Rational&, const Rational&) = default;
};

/// A number: exact as long as it can be, then 64-bit-mantissa floating point.
struct Number {
  bool exact = true;
  Rational rational;
  long double real = 0;  ///< the value, also of an exact number
};

struct Offset {
  std::int16_t d[4] = {0, 0, 0, 0};
  friend bool operator==(const Offset&, const Offset&) = default;
  bool zero() const { return !d[0] && !d[1] && !d[2] && !d[3]; }
};

/// A linear operator as integer weights over one common denominator, times dx^power.
/// (L u)(x) = dx^dx_power / denominator * sum_i weight_i u(x + offset_i)
struct StencilData {
  std::string name;
  int dims = 3;
  std::vector<Offset> offsets;
  std::vector<std::int64_t> weights;
  std::int64_t denominator = 1;
  int dx_power = -2;
  dsl::Span span;
  /// The Laplacian whose symbol is -k^2 itself, made in Fourier space. Offsets and weights are
  /// those of two neighbours an axis, which have its moments; no value is computed from them.
  bool spectral = false;
};

class Arena;
class NodeMap;
struct Node;

/// The table that a Lookup reads.
const std::vector<double>& table_of(const Node& lookup);
/// The entry of a table at a position, as defined for Op::Lookup; NaN gives the first.
double table_entry(const std::vector<double>& table, double position);

/// Handle of a node; cheap to copy, comparable by identity.
class Expr {
 public:
  Expr() = default;
  explicit Expr(const Node* node) : node_(node) {}
  explicit operator bool() const { return node_ != nullptr; }
  const Node& operator*() const { return *node_; }
  const Node* operator->() const { return node_; }
  const Node* get() const { return node_; }
  friend bool operator==(Expr a, Expr b) { return a.node_ == b.node_; }
  Op op() const;
  std::span<const Expr> args() const;
  Expr arg(int i) const;
  bool is(Op op) const;
  bool is_number() const;
  bool is_zero() const;
  bool is_one() const;

 private:
  const Node* node_ = nullptr;
};

/// A node is small, and what few kinds have stands elsewhere in the arena: passes over hundreds of
/// thousands of nodes take the time of reading them from memory.
struct Node {
  Op op;
  /// Of Add, Mul, Pow made by raw(): arguments are in the order of evaluation.
  bool fixed_order;
  bool per_site;     ///< it contains a Load or Site that is not inside a reduction
  bool settled;      ///< its span is final (Arena::settle)
  std::uint32_t id;  ///< number in the order of creation; arguments have smaller ones
  Arena* arena;
  std::span<const Expr> args;
  const Number& number;     ///< Number; 0 of others
  const std::string& name;  ///< Symbol; empty for others
  int index;                ///< Load: array; Site: axis; Stencil: operator; Noise, draws: number
  /// Of Loads and draws; for a Site, only the mark of the other site of a pair (pairs.hpp).
  Offset offset;
  dsl::Span span;
};

inline Op Expr::op() const { return node_->op; }
inline std::span<const Expr> Expr::args() const { return node_->args; }
inline Expr Expr::arg(int i) const { return node_->args[static_cast<std::size_t>(i)]; }
inline bool Expr::is(Op op) const { return node_->op == op; }
inline bool Expr::is_number() const { return node_->op == Op::Number; }
inline bool Expr::is_zero() const { return is_number() && node_->number.real == 0; }
inline bool Expr::is_one() const { return is_number() && node_->number.real == 1; }

class Arena {
 public:
  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  Expr integer(std::int64_t value);
  Expr rational(std::int64_t num, std::int64_t den);
  Expr real(long double value);
  Expr number(const Number& value);
  Expr symbol(std::string_view name, dsl::Span span = {});
  Expr load(int array, Offset offset = {}, dsl::Span span = {});
  Expr site(int axis, Offset offset = {});
  /// Op::Noise, Op::Normal or Op::Uniform number `index`.
  Expr random(Op op, int index, Offset offset = {}, dsl::Span span = {});
  Expr stencil(int index, Expr argument, dsl::Span span = {});

  /// Any operation; simplifies (canonical forms, constant folding, identities of the op table).
  Expr make(Op op, std::vector<Expr> args, dsl::Span span = {});
  /// The node as given, without any rewriting: for kernel passes that fix the order.
  Expr raw(Op op, std::vector<Expr> args, dsl::Span span = {});

  /// Gives the node a span where it has none (leaves excepted: they occur everywhere).
  Expr mark(Expr expr, dsl::Span span);
  /// Sets the span even where the node has one, and makes it final. A node inherits a span from an
  /// argument, which another line may have created earlier. Only for nodes created since the arena
  /// had the size `since`; a final span does not change.
  Expr settle(Expr expr, dsl::Span span, std::size_t since);
  /// Number of nodes, which is the id of the next one.
  std::size_t size() const;

  /// What kernel::with_fixed_order has made of nodes of this arena: it makes the same of them
  /// again.
  NodeMap& in_fixed_order();

  /// For the canonical forms only (simplify.hpp): args are already in their final order.
  Expr canonical(Op op, std::span<const Expr> args, dsl::Span span, int index = 0);

  int add_stencil(StencilData data);  ///< equal ones get the same number
  const StencilData& stencil_data(int index) const;

  int add_table(std::vector<double> values);  ///< equal ones get the same number
  const std::vector<double>& table_data(int index) const;
  /// An entry of a table; its derivative by the position is 0.
  Expr lookup(int table, Expr position);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator-(Expr a);
Expr pow(Expr base, Expr exponent);
Expr pow(Expr base, int exponent);

/// One row for each operation: name, arity, and what the passes need to know of it.
struct OpInfo {
  Op op;
  std::string_view name;  ///< name in the language, or an internal one
  int arity;              ///< -1: any
  bool transcendental;    ///< libraries differ in its rounding
  int flops;              ///< cost model
  int special;            ///< special-function-unit operations
};
const OpInfo& info(Op op);
/// The function called `name` in the language, or Op::Count_.
Op op_named(std::string_view name);

}  // namespace vphi::algebra
