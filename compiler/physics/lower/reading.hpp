// What names stand for where an expression is read: local names, and what the text around gives.
//
// A Reading is given with the scope and constant while the expression is read: what stands in no
// Reading has no meaning there. Global definitions are read in the Reading of the place that names
// them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/model/system.hpp"
#include "compiler/physics/lower/values.hpp"
#include "dsl/syntax/ast.hpp"

namespace vphi::physics {

struct Scope;

/// What the text around an expression gives it; by itself nothing.
struct Reading {
  /// `vacuum`, `normal`, `uniform`, `file`: of initial values. Its arguments are read in the same
  /// Reading.
  std::function<Value(const dsl::Expr&, const Reading&)> random = nullptr;
  /// `derived`, of an equation of motion.
  std::function<Value()> derived = nullptr;
  /// The trace of the links along a closed path, of an action. Links then are paths (Value::path),
  /// and what is not a sum of traces keeps the symbol `kOpenPath`.
  std::function<Component(const LinkPath&)> trace_of = nullptr;
  /// The same where actions hold other fields too: links are matrices, and of a closed path's
  /// product the trace is this.
  std::function<Component(const LinkPath&)> closed_trace = nullptr;
  /// `d(f, U)` of links, of their equation. `axis` is -1 where no direction is written.
  std::function<Value(const dsl::Expr& f, int axis, dsl::Span span, const Scope& scope)>
      gradient_by_links = nullptr;
  /// A right side: `noise` has a meaning, and x' holds that of x.
  bool equation = false;
  /// Of an operator: a spinor that is read at neighbours has arrays of its own, made here.
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

/// Local names, innermost first. `dynamic` scopes are seen by global definitions as well.
struct Scope {
  const Scope* parent = nullptr;
  std::map<std::string, Value> values = {};
  std::map<std::string, IndexValue> indices = {};
  bool dynamic = false;
  const Reading* given = nullptr;  ///< null: that of the parent

  static Scope in(const Reading& reading);
  /// For definitions that are named in `scope`: its dynamic part and its Reading.
  static Scope of_definition(const Scope& scope);
  const Value* value(const std::string& name) const;
  const IndexValue* index(const std::string& name) const;
  const Reading& reading() const;
  /// The innermost scope that global definitions see; null where there is none.
  const Scope* dynamic_part() const;
};

}  // namespace vphi::physics
