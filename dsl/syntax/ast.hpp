// The syntax tree of a model file, without anything inferred.
//
// A model is a list of lines of three kinds: definitions, equations of motion, clauses. Nodes are
// immutable after parsing and shared by pointer. The formatter prints them; the resolver
// (dsl/resolve.hpp) stores their meaning in tables keyed by the address of a node.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dsl/syntax/text.hpp"

namespace vphi::dsl {

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

enum class ExprKind {
  Number,  ///< `text` as written (2^-10 is Binary); `imaginary` for 2i
  String,  ///< `text` without quotes
  Name,    ///< `text` in ASCII (dsl/syntax/spelling.hpp); `spelling` as written
  Sign,    ///< a bare `+` or `-` as in directions(+,-): `text`
  Unary,   ///< `text` is "-" or "not"; args[0]
  Binary,  ///< `text` is + - * / ^ and or < <= > >= == != ; args[0], args[1]
  Select,  ///< args[0] if args[1] else args[2]
  Call,    ///< `text` is the function's name; args; named
  Index,   ///< args[0] is the base, args[1..] the indices
  Prime,   ///< `primes` times the time derivative of args[0]
  Shift,   ///< args[0] at the neighbour args[1] (Name, Unary minus of a Name, or List of ints)
  List,    ///< [a, b, c] and the (1,0,-1) of a shift
  Range,   ///< args[0] .. args[1], both ends included
  Unit,    ///< args[0] with the unit `text` ("GeV", "fm^2")
};

/// `name = value` or `name ~ value` inside a call. In the head of an integrator or scheme the name
/// keeps its primes: "x'".
struct NamedArgument {
  std::string name;
  Span span;  ///< of the name
  ExprPtr value;
  bool drawn = false;    ///< written with `~`
  std::string spelling;  ///< as written, where it differs from `name`
};

struct Expr {
  ExprKind kind = ExprKind::Number;
  Span span;
  std::string text;
  bool imaginary = false;
  int primes = 0;
  std::vector<ExprPtr> args;
  std::vector<NamedArgument> named;
  std::string spelling;  ///< Name, Call: as written, where it differs from `text`
  bool grouped = false;  ///< written in brackets; has no effect on the meaning
  /// Length of the longest path to a leaf; at most kMaxDepth (dsl/syntax/parser.hpp).
  int depth = 1;
};

/// Left side of a definition, an equation of motion or a clause's item:
/// `name`, `name'`, `name(args)`, `name[indices]`, `name[i]''`, `name(args)[indices]`.
struct Head {
  enum class Form { Plain, Function, Indexed };
  std::string name;
  Form form = Form::Plain;
  int primes = 0;
  std::vector<ExprPtr> args;     ///< parameters (Function) or indices (Indexed)
  std::vector<ExprPtr> indices;  ///< of a Function whose value has indices; names
  Span span;
  std::string spelling;  ///< as written, where it differs from `name`
};

/// `head = value`, `head ~ value`; an equation of motion where head.primes > 0.
struct Definition {
  Head head;
  bool drawn = false;  ///< written with `~`
  ExprPtr value;
};

/// One item of a clause. `leading`: the separator before it.
struct Item {
  enum class Relation { None, Equals, Drawn };
  enum class Leading { Start, Comma, Colon };
  Leading leading = Leading::Start;
  std::optional<Head> head;  ///< where the relation is not None
  Relation relation = Relation::None;
  ExprPtr value;                                       ///< null for an item that is only words
  std::vector<std::pair<std::string, ExprPtr>> words;  ///< by, within, against, where, ...
  std::string count_word;  ///< step steps sweep sweeps trajectory trajectories ...
  Span span;
  bool free = false;  ///< of a sweep: a parameter with one value (apply_free)
};

struct Line;

/// `keyword items [-> target] [{ body }] [where facts]`
struct Clause {
  std::string keyword;  ///< first word; "at end" is one keyword
  Span keyword_span;
  std::vector<Item> items;
  ExprPtr destination;  ///< String or Call after `->`
  bool has_body = false;
  std::vector<Line> body;
  std::vector<Definition> where;
  std::vector<std::string> comments_at_end;  ///< before the `}` of the body
  std::string comment_after;                 ///< after the `}`
};

struct Line {
  enum class Kind { Definition, Equation, Clause };
  Kind kind = Kind::Definition;
  Span span;
  Definition definition;      ///< Definition and Equation
  Clause clause;              ///< Clause
  std::string documentation;  ///< `##` text above or beside the line, without the `##`
  bool documentation_beside = false;
  std::vector<std::string> comments_above;  ///< `#` lines with the `#`, and blank lines ("")
  std::string comment_beside;               ///< with the `#`
};

/// One parsed file. A model file has one `model NAME "title"` clause first; a library file none.
struct ModelText {
  std::shared_ptr<const Source> source;
  std::string name;
  std::string title;
  std::vector<Line> lines;  ///< everything, the `model` clause included
  std::vector<std::string> comments_at_end;
};

}  // namespace vphi::dsl
