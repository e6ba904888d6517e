// The data common to all stages of `derive`: the model and its facts, diagnostics, the table of
// expressions, the record of used clauses, and objects that expressions need in addition to their
// values.
//
// A stage is a function of the results of earlier stages. The types of the results are in the
// headers of this folder, so a stage cannot be called before its input exists:
//
//   Context -> Setting -> Declared -> Space -> Theory -> Equations -> Motion -> Program
//           -> Start -> Outputs -> System
//
// Each type up to Program derives from the one before it and adds its own part, by value.
//
// A step that meets an error adds a diagnostic and throws Failure; `derive` catches it.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/model/edge_phase.hpp"
#include "compiler/model/options.hpp"
#include "compiler/model/system.hpp"
#include "compiler/physics/facts.hpp"
#include "compiler/physics/ledger.hpp"
#include "dsl/resolve.hpp"

namespace vphi::physics {

using algebra::Arena;
using algebra::Expr;

struct Failure {};

struct Pieces;

/// What a table that the compiler makes is of: a formula and the symbol in it, the limits and the
/// tolerance, and whether it is of the inverse.
using FormulaKey = std::tuple<const algebra::Node*, const algebra::Node*, long double, long double,
                              long double, bool>;

/// Additional arrays for a state array whose displacement an equation reads (displacement.hpp).
/// They become Variables once the equations are known.
struct Companions {
  int array = 0;
  int start = 0;     ///< its value at the start
  int winding = -1;  ///< winding number of an angle; -1: the variable is not an angle
};

/// An array of a spinor beside those of state: its real parts come in pairs, (re, im).
struct SpinorPart {
  bool imaginary = false;
  EdgePhases edges;
};

/// An argument of a table for which the model does not say what holds outside.
struct TableEnds {
  Expr argument;
  double first = 0, last = 0;
  dsl::Span table;
};

/// Objects that expressions need in addition to their values. Objects are only added, in the order
/// in which expressions are read, and the same request gives the same object.
/// Of an action with determinants: S and log|det R| of each site at the end of the last trajectory.
struct ActionAtEnd {
  int action = -1, logarithm = -1;  ///< arrays; -1: no R holds links
  bool read = false;                ///< by an output
};

struct Collected {
  int arrays = 0;                       ///< array numbers in use
  std::vector<ScalarVariable> scalars;  ///< in the order of the first use
  std::vector<Statistic> statistics;    ///< averages over axes of the sweep and over time
  std::vector<FirstPassage> passages;
  std::vector<PairMatrix> matrices;
  std::vector<Projection> projections;
  std::vector<LinearSystem> solves;
  std::vector<RandomField> random;               ///< arrays of initial values
  std::vector<program::PointDensity> densities;  ///< what points are drawn from
  std::string start_kept, draws;                 ///< as System has them
  std::vector<Companions> companions;            ///< companions in equations
  std::vector<Variable> output_companions;       ///< companions in outputs
  std::vector<InitialValue> output_starts;       ///< their initial values
  std::vector<dsl::Span> noise_streams;          ///< where each stream of noise was written
  std::map<std::string, int> noise_places;       ///< place in the text and indices -> stream
  std::map<int, SpinorPart> spinor_parts;        ///< of solutions that are spinors, by array
  std::map<int, dsl::Span> lines;                ///< tables of the arena that hold straight lines
  std::vector<TableEnds> ends;                   ///< of tables without `outside`
  std::map<FormulaKey, std::shared_ptr<const Pieces>> formulas;  ///< known_function.hpp
  std::map<std::string, bool> swept_used;  ///< swept name -> whether a formula uses it
  /// Scalar that counts values changed by limits, or empty.
  std::string fixes;
  std::set<std::string> watched_actions;  ///< whose rounds, residual or force an output reads
  std::map<std::string, ActionAtEnd> actions_at_end;
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
  /// A new array number.
  int new_array() const { return collected.arrays++; }
  /// What a spinor that begins with this array gains beyond the edges; of others nothing.
  EdgePhases edges_from(int array) const {
    const auto found = collected.spinor_parts.find(array);
    return found == collected.spinor_parts.end() ? EdgePhases{} : found->second.edges;
  }
  /// All arrays from `first` on are a spinor's that gains this.
  void mark_spinor(int first, const EdgePhases& edges) const {
    for (int array = first; array < collected.arrays; ++array)
      collected.spinor_parts[array] = {(array - first) % 2 != 0, edges};
  }
  void remark(std::string sentence) const { collected.remarks.push_back(std::move(sentence)); }
  Expr time() const { return arena().symbol("t"); }
};

/// The text of the model at this span.
std::string written(const Context& d, dsl::Span span);
/// Records the line of a potential or an action as used.
void use_source(const Context& d, const NamedFact& fact);
/// Clauses and constructs of families that cannot run yet: one E0901 each.
void refuse_unsupported(const Context& d);
/// Precision of the arithmetic, from the command line or the clause `precision`.
Precision real_precision(const Context& d);

}  // namespace vphi::physics
