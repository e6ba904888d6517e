// Meanings of names that depend on the place of an expression: local names, and words that the
// context defines.
//
// A Reading belongs to a scope and is constant while the expression is read. A word that it does
// not define has no meaning there. Global definitions are read with the Reading of the place that
// uses them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/gauge/link_paths.hpp"
#include "compiler/model/system.hpp"
#include "compiler/physics/lower/values.hpp"
#include "compiler/physics/stages/declared.hpp"
#include "dsl/syntax/ast.hpp"

namespace vphi::physics {

struct Scope;

/// Links that a definition makes, and their number in paths (LinkPath::of).
struct MadeLinks {
  int number = 0;  ///< 0: their paths are not known
  StateField field;
};

/// Words that the context of an expression defines; none by default.
struct Reading {
  /// In initial values: `vacuum`, `normal`, `uniform`, `file`. The arguments are read with the same
  /// Reading.
  std::function<Value(const dsl::Expr&, const Reading&)> random = nullptr;
  /// In an equation of motion: `derived`.
  std::function<Value()> derived = nullptr;
  /// In an action: the trace of the links along a closed path. Links are then paths (Value::path),
  /// and an expression that is not a sum of traces contains the symbol `kOpenPath`.
  std::function<Component(const LinkPath&)> trace_of = nullptr;
  /// The same in actions with other fields: links are matrices, and the trace of the product along
  /// a closed path is given by this function.
  std::function<Component(const LinkPath&)> closed_trace = nullptr;
  /// With trace_of: words join the links of several fields (gauge::kOtherLinks).
  bool joins_links = false;
  /// In an action: the links that the definition of this name makes, with the arrays that hold them
  /// along a trajectory; nothing for other names. `axes`: directions that are read; `labels`: axes
  /// for the indices behind the direction.
  std::function<std::optional<MadeLinks>(const std::string& name, const dsl::Expr& at,
                                         const std::set<int>& axes, const std::vector<int>& labels)>
      made_links = nullptr;
  /// There: the matrices of all links, those of the model and these, by their numbers.
  gauge::LinkOf links = nullptr;
  /// In the equation of links: `d(f, U)`. `axis` is -1 where no direction is written.
  std::function<Value(const dsl::Expr& f, int axis, dsl::Span span, const Scope& scope)>
      gradient_by_links = nullptr;
  /// In a right side of an equation: `noise` is allowed, and x' contains the noise in the rate of
  /// x.
  bool equation = false;
  /// In an operator: a spinor expression that is read at neighbours becomes a stage with arrays of
  /// its own, added here.
  std::vector<LinearMap::Stage>* stages = nullptr;

  static constexpr const char* kOpenPath = "links along an open path";
};

/// Value of an index: an integer, a direction (axis and sense), or a body of a pair.
struct IndexValue {
  enum class Body { None, Own, Other };
  int value = 0;
  int sign = 1;
  bool direction = false;
  Body body = Body::None;
};

/// Local names, innermost first. The names of `dynamic` scopes are visible in global definitions as
/// well.
struct Scope {
  const Scope* parent = nullptr;
  std::map<std::string, Value> values = {};
  std::map<std::string, IndexValue> indices = {};
  bool dynamic = false;
  const Reading* given = nullptr;  ///< null: the Reading of the parent

  static Scope in(const Reading& reading);
  /// The scope for a definition that is used in `scope`: its dynamic part and its Reading.
  static Scope of_definition(const Scope& scope);
  const Value* value(const std::string& name) const;
  const IndexValue* index(const std::string& name) const;
  const Reading& reading() const;
  /// The innermost dynamic scope; null where there is none.
  const Scope* dynamic_part() const;
};

}  // namespace vphi::physics
