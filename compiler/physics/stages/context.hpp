// What belongs to all stages of `derive`: the model and its facts, messages, the table of
// expressions, what has been made use of, and what expressions ask for beside their values.
//
// A stage is a function that takes what the stages before it made and returns what it makes; the
// types below and in the other headers of this folder say what that is, so a stage cannot be called
// before its input is there:
//
//   Context -> Setting -> Declared -> Space -> Theory -> Equations -> Motion -> Program
//           -> Start -> Outputs -> System
//
// Each type up to Program holds what the one before it says and its own part, by value.
//
// A step that meets an error adds a diagnostic and throws Failure; `derive` catches it.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/model/options.hpp"
#include "compiler/model/system.hpp"
#include "compiler/physics/facts.hpp"
#include "compiler/physics/ledger.hpp"
#include "dsl/resolve.hpp"

namespace vphi::physics {

using algebra::Arena;
using algebra::Expr;

struct Failure {};

/// Arrays beside a state array whose displacement an equation reads (displacement.hpp); variables
/// once the equations are known.
struct Companions {
  int array = 0;
  int start = 0;     ///< its value at the start
  int winding = -1;  ///< winding number of an angle; -1: the variable is not an angle
};

/// What expressions ask for when they are read: it only grows, in the order of asking, and asking
/// twice for the same gives the same.
struct Collected {
  int arrays = 0;                       ///< numbers given out
  std::vector<ScalarVariable> scalars;  ///< in the order in which they were asked for
  std::vector<Statistic> statistics;    ///< averages over axes of the sweep and over time
  std::vector<FirstPassage> passages;
  std::vector<PairMatrix> matrices;
  std::vector<Projection> projections;
  std::vector<LinearSystem> solves;
  std::vector<RandomField> random;          ///< arrays of initial values
  std::vector<Companions> companions;       ///< of equations
  std::vector<Variable> output_companions;  ///< of outputs
  std::vector<InitialValue> output_starts;  ///< their starts
  std::vector<dsl::Span> noise_streams;     ///< where each stream of noise was written
  std::map<std::string, int> noise_places;  ///< place in the text and indices -> stream
  std::map<int, std::array<bool, 4>> antiperiodic_arrays;  ///< of solutions that are spinors
  std::map<int, dsl::Span> lines;          ///< tables of the arena that hold straight lines
  std::map<std::string, bool> swept_used;  ///< swept name -> whether a formula holds it
  std::string fixes;                       ///< scalar that counts what limits change, or empty
  std::vector<std::string> remarks;
};

struct Context {
  const dsl::Resolved& resolved;
  const CompileOptions& options;
  dsl::Diagnostics& diagnostics;
  Facts& facts;
  Ledger& ledger;
  Collected& collected;
  std::shared_ptr<Arena> expressions;

  Arena& arena() const { return *expressions; }
  [[noreturn]] void fail(dsl::Diagnostic diagnostic) const;
  /// The number of an array that nobody has yet.
  int new_array() const { return collected.arrays++; }
  void remark(std::string sentence) const { collected.remarks.push_back(std::move(sentence)); }
  Expr time() const { return arena().symbol("t"); }
};

/// Text of a node as the user wrote it.
std::string written(const Context& d, dsl::Span span);
/// The line of a potential or an action has an effect.
void use_source(const Context& d, const NamedFact& fact);
/// Clauses and constructs of families that cannot run yet: one E0901 each.
void refuse_unsupported(const Context& d);
/// Of the arithmetic, by the command line or the clause `precision`.
Precision real_precision(const Context& d);

}  // namespace vphi::physics
